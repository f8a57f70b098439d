//! Labelled examples.

use super::Real;
use crate::train::TrainError;

/// Labelled examples in the precision of the engine.
#[derive(Debug, Clone)]
pub struct Examples<F> {
    /// Row-major `n x d`, in [−1, 1].
    features: Vec<F>,
    /// `n` labels, −1 or 1.
    labels: Vec<F>,
    inputs: usize,
    /// How often each example stands in the sample; once each if there are none.
    copies: Option<Vec<u64>>,
}

impl<F: Real> Examples<F> {
    /// `features` row-major `n x inputs` in [−1, 1], `labels` −1 or 1.
    ///
    /// # Errors
    /// [`TrainError::Shape`] if the lengths do not fit, [`TrainError::Value`] for a number out of range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_experiments::kan::Examples;
    /// let examples = Examples::<f32>::new(vec![0.1, -0.5, 0.7, 0.2], vec![1.0, -1.0], 2)?;
    /// assert_eq!(examples.len(), 2);
    /// # Ok::<(), dpbounds_experiments::train::TrainError>(())
    /// ```
    pub fn new(features: Vec<F>, labels: Vec<F>, inputs: usize) -> Result<Self, TrainError> {
        if inputs == 0 || labels.is_empty() || features.len() != labels.len() * inputs {
            return Err(TrainError::Shape {
                what: "features",
                found: features.len(),
                expected: labels.len() * inputs,
            });
        }
        let outside = |value: &&F| !(value.to_f64().abs() <= 1.0);
        if let Some(value) = features.iter().find(outside) {
            return Err(TrainError::Value {
                what: "a feature",
                value: value.to_f64(),
                allowed: "[-1, 1]: scale the data first",
            });
        }
        if let Some(label) = labels.iter().find(|label| label.to_f64().abs() != 1.0) {
            return Err(TrainError::Value {
                what: "a label",
                value: label.to_f64(),
                allowed: "-1 or 1: choose two classes",
            });
        }
        Ok(Self { features, labels, inputs, copies: None })
    }

    /// The same examples, each of them so many times in the sample. In a full batch an example then counts that often,
    /// which is the sum over its copies; other samplers draw from records that are written out.
    ///
    /// # Errors
    /// [`TrainError::Shape`] if there is not one number for each example, [`TrainError::Value`] for a 0.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_experiments::kan::Examples;
    /// let examples = Examples::<f64>::new(vec![0.1, -0.5], vec![1.0, -1.0], 1)?;
    /// let million = examples.with_copies(vec![500_000; 2])?;
    /// assert_eq!((million.len(), million.records()), (2, 1_000_000));
    /// # Ok::<(), dpbounds_experiments::train::TrainError>(())
    /// ```
    pub fn with_copies(self, copies: Vec<u64>) -> Result<Self, TrainError> {
        if copies.len() != self.len() {
            return Err(TrainError::Shape {
                what: "copies",
                found: copies.len(),
                expected: self.len(),
            });
        }
        if copies.contains(&0) {
            return Err(TrainError::Value {
                what: "a number of copies",
                value: 0.0,
                allowed: "1 or more: leave the example out",
            });
        }
        Ok(Self { copies: Some(copies), ..self })
    }

    /// The number of different examples.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The number of records n, copies counted.
    #[must_use]
    pub fn records(&self) -> usize {
        let sum = |copies: &Vec<u64>| copies.iter().copied().fold(0, u64::saturating_add);
        self.copies
            .as_ref()
            .map_or(self.len(), |copies| usize::try_from(sum(copies)).unwrap_or(usize::MAX))
    }

    /// How often each example stands in the sample, if they are counted.
    #[must_use]
    pub fn copies(&self) -> Option<&[u64]> {
        self.copies.as_deref()
    }

    /// How often an example stands in the sample.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // below 2^32, which is checked in training
    pub fn weight(&self, index: usize) -> f64 {
        self.copies.as_ref().map_or(1.0, |copies| copies[index] as f64)
    }

    /// The input dimension d.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The labels.
    #[must_use]
    pub fn labels(&self) -> &[F] {
        &self.labels
    }

    /// The inputs of one example.
    #[must_use]
    pub fn row(&self, index: usize) -> &[F] {
        &self.features[index * self.inputs..][..self.inputs]
    }
}
