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
        Ok(Self { features, labels, inputs })
    }

    /// The number of examples n.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.labels.len()
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
