//! A labelled sample with multiplicities.

use std::collections::HashMap;

use super::ensure_length;
use super::network::positive_size;
use crate::domain;
use crate::error::{BoundError, Result, Shown};

/// Records `(x_i, y_i)`, each counted `multiplicity` times.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::Sample;
/// let sample = Sample::new(1, vec![0.5, -0.2, 0.5], vec![1.0, -1.0, 1.0])?.merged();
/// assert_eq!((sample.len(), sample.multiplicities()), (2, &[2, 1][..]));
/// assert_eq!(sample.shares(), [2.0 / 3.0, 1.0 / 3.0]);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    dimension: usize,
    inputs: Vec<f64>,
    labels: Vec<f64>,
    multiplicities: Vec<u64>,
}

impl Sample {
    /// Records of `dimension` d inputs in [−1, 1], row-major `n x d`, with labels ±1, each counted once.
    ///
    /// # Errors
    /// [`BoundError`] for an empty sample, lengths that do not fit, an input outside [−1, 1] or a label that is not
    /// ±1.
    pub fn new(dimension: usize, inputs: Vec<f64>, labels: Vec<f64>) -> Result<Self> {
        let multiplicities = vec![1; labels.len()];
        Self::with_multiplicities(dimension, inputs, labels, multiplicities)
    }

    /// As [`Sample::new`], record `i` counted `multiplicities[i]` times, 1 or more.
    ///
    /// # Errors
    /// As [`Sample::new`], and for a multiplicity of 0 or more than 2^53 records.
    pub fn with_multiplicities(
        dimension: usize,
        inputs: Vec<f64>,
        labels: Vec<f64>,
        multiplicities: Vec<u64>,
    ) -> Result<Self> {
        positive_size("dimension", dimension)?;
        positive_size("labels", labels.len())?;
        let expected = labels.len().saturating_mul(dimension);
        ensure_length("inputs", inputs.len(), "n d", expected, "inputs are n x d, row-major")?;
        let count = labels.len();
        ensure_length("multiplicities", multiplicities.len(), "labels", count, "one per record")?;
        let refuse = |parameter, value, allowed, remedy| {
            Err(BoundError::OutOfRange { parameter, value: Shown(value), allowed, remedy })
        };
        if let Some(x) = inputs.iter().find(|x| !(-1.0..=1.0).contains(*x)) {
            return refuse("input", *x, "[-1, 1]", "scale the inputs");
        }
        if let Some(y) = labels.iter().find(|y| y.abs() != 1.0) {
            return refuse("label", *y, "-1 or 1", "recode the labels");
        }
        let mut total: u64 = 0;
        for multiplicity in &multiplicities {
            domain::count("multiplicity", *multiplicity)?;
            total = total.saturating_add(*multiplicity);
        }
        domain::count("records", total)?;
        Ok(Self { dimension, inputs, labels, multiplicities })
    }

    /// The same sample with equal records merged and their multiplicities added, in the order of first appearance.
    #[must_use]
    pub fn merged(&self) -> Self {
        let mut places: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut merged = Self {
            dimension: self.dimension,
            inputs: Vec::new(),
            labels: Vec::new(),
            multiplicities: Vec::new(),
        };
        for index in 0..self.len() {
            let mut key = self.key(index);
            key.push(self.labels[index].to_bits());
            let next = merged.labels.len();
            let place = *places.entry(key).or_insert(next);
            if place == next {
                merged.inputs.extend_from_slice(self.input(index));
                merged.labels.push(self.labels[index]);
                merged.multiplicities.push(0);
            }
            merged.multiplicities[place] += self.multiplicities[index];
        }
        merged
    }

    /// Whether some input occurs with both labels: no classifier then fits the sample, and its margin is 0.
    #[must_use]
    pub fn is_contradictory(&self) -> bool {
        let mut seen: HashMap<Vec<u64>, f64> = HashMap::new();
        (0..self.len()).any(|index| {
            let label = self.labels[index];
            *seen.entry(self.key(index)).or_insert(label) != label
        })
    }

    /// The number of rows, not counting multiplicities.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never: a sample has a record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The number of records n, multiplicities counted.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.multiplicities.iter().sum()
    }

    /// The input dimension d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Input `index`, d numbers.
    ///
    /// # Panics
    /// If there is no such record.
    #[must_use]
    pub fn input(&self, index: usize) -> &[f64] {
        &self.inputs[index * self.dimension..(index + 1) * self.dimension]
    }

    /// The bits of record `index`, equal for equal records.
    pub(super) fn record(&self, index: usize) -> (Vec<u64>, f64) {
        (self.key(index), self.labels[index])
    }

    /// The labels ±1.
    #[must_use]
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// How often every record counts.
    #[must_use]
    pub fn multiplicities(&self) -> &[u64] {
        &self.multiplicities
    }

    /// The weight of every row, multiplicity over n; they sum to 1.
    #[must_use]
    pub fn shares(&self) -> Vec<f64> {
        #[allow(clippy::cast_precision_loss)] // at most 2^53
        let (total, share) = (self.records() as f64, |m: &u64| *m as f64);
        self.multiplicities.iter().map(|m| share(m) / total).collect()
    }

    /// The bits of an input, both zeros alike.
    fn key(&self, index: usize) -> Vec<u64> {
        self.input(index).iter().map(|x| (x + 0.0).to_bits()).collect()
    }
}
