//! Spline features of examples: for every input a span and the `degree + 1` active values.

use dpbounds_bounds::kan::SplineBasis;

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

/// The polynomials of a basis in the precision of the engine.
pub(super) struct Pieces<F, const K1: usize> {
    /// `pieces[span][function][power]`; one span where all are alike.
    pieces: Vec<[[F; K1]; K1]>,
    spans: usize,
    half: F,
}

impl<F: Real, const K1: usize> Pieces<F, K1> {
    #[allow(clippy::cast_precision_loss)] // few spans
    pub(super) fn new(basis: &SplineBasis) -> Self {
        let of_span = |span: usize| {
            let mut functions = [[F::default(); K1]; K1];
            for (index, function) in functions.iter_mut().enumerate() {
                for (to, from) in function.iter_mut().zip(basis.piece(span, index)) {
                    *to = F::from_f64(*from);
                }
            }
            functions
        };
        let spans = basis.spans();
        let mut pieces: Vec<_> = (0..spans).map(of_span).collect();
        if pieces.iter().all(|piece| *piece == pieces[0]) {
            pieces.truncate(1);
        }
        Self { pieces, spans, half: F::from_f64(0.5 * spans as f64) }
    }

    /// The span of `x` and the active values there.
    #[inline(always)]
    pub(super) fn at(&self, x: F) -> (u16, [F; K1]) {
        let scaled = x * self.half + self.half;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..=spans
        let span = (scaled.to_f64() as usize).min(self.spans - 1);
        #[allow(clippy::cast_precision_loss)]
        let u = scaled - F::from_f64(span as f64);
        let functions = &self.pieces[if self.pieces.len() == 1 { 0 } else { span }];
        let mut values = [F::default(); K1];
        for (value, function) in values.iter_mut().zip(functions) {
            let mut sum = function[K1 - 1];
            for power in (0..K1 - 1).rev() {
                sum = sum * u + function[power];
            }
            *value = sum;
        }
        #[allow(clippy::cast_possible_truncation)] // at most 4095 spans
        (span as u16, values)
    }
}
