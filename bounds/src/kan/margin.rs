//! The margin of the gradient features at the initial weights.

use nalgebra::DMatrix;

use super::minimal_norm::{self, Solution};
use super::{Linearisation, ensure_finite, ensure_length, network::positive_size, number};
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::round::RELATIVE_MARGIN;
use crate::warrant::{Bound, Quantity, Source};

/// When the solver stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginOptions {
    /// Relative width of the bracket at which it stops, in (0, 1).
    pub tolerance: f64,
    /// Largest number of iterations; the bracket is valid whenever the solver stops.
    pub iterations: u64,
}

impl Default for MarginOptions {
    fn default() -> Self {
        Self { tolerance: 1e-9, iterations: 1_000_000 }
    }
}

/// A bracket of the margin and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Margin {
    /// Proven lower side, rounding included; 0 if no positive one was found.
    pub lower: f64,
    /// Proven upper side, rounding included.
    pub upper: f64,
    /// The convex weights β that give both sides; a weight of 0 means that the record does not support the margin.
    pub weights: Vec<f64>,
    /// Iterations of the solver.
    pub iterations: u64,
    /// Whether the solver stopped because the bracket was narrow, or the margin within rounding of 0.
    pub converged: bool,
}

/// The margin.
const NTK_MARGIN: Quantity = Quantity { name: "ntk_margin", unit: "gradient norm" };

impl Margin {
    /// The bracket with its warrant. A lower side of 0 means that Assumption "separable" of the paper is not shown.
    ///
    /// # Errors
    /// None for a margin that [`ntk_margin`] or [`margin_of_gram`] returned.
    pub fn bound(&self) -> Result<Bound> {
        let source = Source::new("arXiv 2605.12648", "NTK separability margin, by duality");
        Bound::bracket(NTK_MARGIN, self.lower, self.upper, source)
    }
}

/// The NTK margin `γ = max_{||u|| ≤ 1} min_i <g_i, u>` with `g_i = y_i ∇f_{W_0}(x_i)`, in a bracket.
///
/// Multiplicities do not matter. A contradictory sample has margin exactly 0.
///
/// # Source
/// arXiv 2605.12648, Section 4. Solver as in [`margin_of_gram`].
///
/// # Errors
/// [`BoundError`] for options out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{
///     Activation, Initialisation, Knots, Linearisation, MarginOptions, Sample, SplineBasis, initialise, ntk_margin,
/// };
/// let basis = SplineBasis::new(1, 2, Knots::Clamped)?;
/// let (network, weights) = initialise(basis, Activation::Tanh, 1, 2000, Initialisation::Greville, 1)?;
/// let sample = Sample::new(1, vec![-0.95, -0.7, 0.7, 0.95], vec![-1.0, -1.0, 1.0, 1.0])?;
/// let linearisation = Linearisation::at(&network, &weights, &sample)?;
/// let margin = ntk_margin(&linearisation, MarginOptions::default())?;
/// assert!(margin.lower > 0.374_045 && margin.upper < 0.374_046);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn ntk_margin(linearisation: &Linearisation<'_>, options: MarginOptions) -> Result<Margin> {
    let sample = linearisation.sample;
    let mut margin = margin_of_gram(linearisation.gram(), sample.len(), options)?;
    if sample.is_contradictory() {
        (margin.lower, margin.upper, margin.converged) = (0.0, 0.0, true);
    }
    Ok(margin)
}

/// The margin of `n` vectors with the Gram matrix `Q` (n x n, symmetric, positive semidefinite).
///
/// By duality `γ = min_β ||Σ β_i g_i||` over convex weights. For every β,
/// `min_i (Qβ)_i/sqrt(βᵀQβ) ≤ γ ≤ sqrt(βᵀQβ)`. Rounding is allowed for by `1e-12 max_i Q_ii` in `Qβ` and `βᵀQβ`.
/// If the lower side is not positive at convergence γ is 0 up to rounding, and `lower` is 0.
///
/// The solver moves weight from the worst supporting vector to the best one with exact line search; from time to time
/// it minimises over the affine hull of the supporting vectors.
///
/// # Source
/// Mitchell, Demyanov and Malozemov 1974 (pairwise Frank–Wolfe); Wolfe 1976 for the hull.
///
/// # Errors
/// [`BoundError`] for a matrix of the wrong size, not finite or not symmetric, a negative diagonal, or options out of
/// range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{MarginOptions, margin_of_gram};
/// let margin = margin_of_gram(&[1.0, 0.0, 0.0, 1.0], 2, MarginOptions::default())?;
/// assert!(margin.lower < 0.5_f64.sqrt() && margin.upper > 0.5_f64.sqrt());
/// assert_eq!(margin.weights, [0.5, 0.5]);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn margin_of_gram(gram: &[f64], n: usize, options: MarginOptions) -> Result<Margin> {
    positive_size("n", n)?;
    ensure_length("gram matrix", gram.len(), "n n", n.saturating_mul(n), "give n x n numbers")?;
    ensure_finite("gram matrix", gram)?;
    domain::open_probability("tolerance", options.tolerance)?;
    let gram = DMatrix::from_column_slice(n, n, gram);
    for (index, own) in gram.diagonal().iter().enumerate() {
        domain::non_negative("diagonal of the gram matrix", *own)?;
        for other in 0..index {
            let difference = gram[(index, other)] - gram[(other, index)];
            let size = (own * gram[(other, other)]).sqrt();
            if !(difference.abs() <= RELATIVE_MARGIN * size) {
                return Err(BoundError::OutOfRange {
                    parameter: "asymmetry of the gram matrix",
                    value: Shown(difference.abs()),
                    allowed: "at most 1e-12 of the diagonal",
                    remedy: "give a symmetric matrix",
                });
            }
        }
    }
    Ok(bracket(&gram, minimal_norm::solve(&gram, options)))
}

/// Both sides from the weights, whatever they are.
fn bracket(gram: &DMatrix<f64>, solution: Solution) -> Margin {
    let Solution { weights, iterations, converged } = solution;
    let noise = RELATIVE_MARGIN * gram.diagonal().max();
    let products = gram * &weights;
    let square = weights.dot(&products).max(0.0) + noise;
    let lower = ((products.min() - noise) / square.sqrt()).max(0.0);
    let rounding = 1.0 + number(8) * f64::EPSILON;
    Margin {
        lower: lower / rounding,
        upper: square.sqrt() * rounding,
        weights: weights.as_slice().to_vec(),
        iterations,
        converged,
    }
}
