//! A network at its initial weights, seen from a sample.

use nalgebra::{DMatrix, DMatrixView};

use super::{Network, Output, Sample, number};
use crate::error::{BoundError, Result, Shown};
use crate::round::round_up;

/// Everything the margin and the comparator need of `(c, W_0)` and a sample: `n²(m + dp)` operations, never a vector
/// of all parameters.
///
/// `Q_ik = y_i y_k <α_i, α_k> <h_i, h_k>/(md)` is the Gram matrix of the vectors `g_i = y_i ∇f_{W_0}(x_i)`.
///
/// # Source
/// arXiv 2605.12648, Section 4 (the NTK features at the initialisation).
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{Activation, Initialisation, Knots, Linearisation, Sample, SplineBasis, initialise};
/// let basis = SplineBasis::new(1, 2, Knots::Clamped)?;
/// let (network, weights) = initialise(basis, Activation::Tanh, 1, 50, Initialisation::Gaussian, 1)?;
/// let sample = Sample::new(1, vec![-0.9, 0.9], vec![-1.0, 1.0])?;
/// let linearisation = Linearisation::at(&network, &weights, &sample)?;
/// let gradient = network.gradient(&weights, &network.features(&[-0.9])?)?;
/// assert!((linearisation.gram()[0] - gradient.norm().powi(2)).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Linearisation<'a> {
    pub(super) network: &'a Network,
    pub(super) sample: &'a Sample,
    /// `a_j(x_i)`, m x n, one record a column.
    pub(super) preactivations: DMatrix<f64>,
    /// `φ_j'(a_j(x_i))`, m x n.
    pub(super) slopes: DMatrix<f64>,
    /// `<h_i, h_k>`, n x n.
    pub(super) feature_products: DMatrix<f64>,
    /// `Q`, n x n.
    pub(super) gram: DMatrix<f64>,
    outputs: Vec<f64>,
}

impl<'a> Linearisation<'a> {
    /// The network at `weights` (`m x dp`, row-major) on `sample`.
    ///
    /// # Errors
    /// [`BoundError`] for weights of the wrong length or not finite, a sample of another dimension, or more than 2^30
    /// numbers in one array.
    pub fn at(network: &'a Network, weights: &[f64], sample: &'a Sample) -> Result<Self> {
        network.ensure_weights(weights)?;
        super::ensure_finite("weights", weights)?;
        if sample.dimension() != network.inputs() {
            return Err(BoundError::Conflict {
                parameter: "dimension of the sample",
                value: Shown(number(sample.dimension())),
                other: "inputs of the network",
                other_value: Shown(number(network.inputs())),
                requirement: "they have to be equal",
            });
        }
        let (width, count, rows) = (network.width(), network.feature_count(), sample.len());
        for size in [rows, count, width] {
            super::ensure_memory("records", rows, size)?;
        }
        let mut features = Vec::with_capacity(rows * count);
        for index in 0..rows {
            features.extend(network.features(sample.input(index))?);
        }
        let features = DMatrix::from_vec(count, rows, features);
        let weights = DMatrixView::from_slice(weights, count, width).transpose();
        let preactivations = weights * &features / number(network.inputs()).sqrt();
        let mut slopes = Vec::with_capacity(width * rows);
        let mut outputs = Vec::with_capacity(rows);
        for index in 0..rows {
            let column = preactivations.column(index);
            let Output { value, slopes: own } = network.output_at(column.as_slice())?;
            slopes.extend(own);
            outputs.push(value);
        }
        let slopes = DMatrix::from_vec(width, rows, slopes);
        let feature_products = products(&features);
        let slope_products = products(&slopes);
        let scale = number(width) * number(network.inputs());
        let labels = sample.labels();
        let gram = DMatrix::from_fn(rows, rows, |i, k| {
            labels[i] * labels[k] * slope_products[(i, k)] * feature_products[(i, k)] / scale
        });
        super::ensure_finite("gram matrix", gram.as_slice())?;
        Ok(Self { network, sample, preactivations, slopes, feature_products, gram, outputs })
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        self.network
    }

    /// The sample.
    #[must_use]
    pub fn sample(&self) -> &Sample {
        self.sample
    }

    /// `f_{W_0}(x_i)`, n values.
    #[must_use]
    pub fn outputs(&self) -> &[f64] {
        &self.outputs
    }

    /// `Q`, n x n and symmetric.
    #[must_use]
    pub fn gram(&self) -> &[f64] {
        self.gram.as_slice()
    }

    /// `max_i ||h(x_i)||²/d`, rounded up, at most 1.
    #[must_use]
    pub fn feature_norm2(&self) -> f64 {
        let largest = self.feature_products.diagonal().max();
        round_up(largest / number(self.network.inputs())).min(1.0)
    }
}

/// `MᵀM`, exactly symmetric.
fn products(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut product = matrix.transpose() * matrix;
    product.fill_lower_triangle_with_upper_triangle();
    product
}
