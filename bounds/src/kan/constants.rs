//! Bounds of the gradient and the Hessian of the output, at three levels.

use super::enclosure::span_forms;
use super::network::{norm2, positive_size};
use super::{Activation, Network, SplineBasis, SupNorms, number, summation};
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::round::round_up;

/// `C_0 = sup_{x > 0} (1 − e^{−x})²/x`, attained where `e^x = 1 + 2x`, rounded up.
///
/// The logistic loss is self-bounding: `l'(u)² = (1 − e^{−l})² ≤ C_0 l`.
///
/// # Source
/// Ours.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::SELF_BOUNDING_CONSTANT;
/// let x = 1.256_431_208_626_169_7_f64;
/// let value = (-x).exp_m1().powi(2) / x;
/// assert!(SELF_BOUNDING_CONSTANT >= value && SELF_BOUNDING_CONSTANT - value < 1e-15);
/// ```
pub const SELF_BOUNDING_CONSTANT: f64 = 0.407_264_377_589_073_9;

/// Bounds of the output over all weights, for inputs with `||h(x)||²/d` up to the given value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// `G ≥ ||∇_W f||`.
    pub gradient: f64,
    /// `ν ≥ ||∇²_W f||`.
    pub curvature: f64,
}

impl Constants {
    /// `β = G²/4 + ν`: the loss `l(y f)` is β-smooth in the weights. Rounded up.
    #[must_use]
    pub fn smoothness(&self) -> f64 {
        round_up(self.gradient * self.gradient / 4.0 + self.curvature)
    }

    fn rounded(gradient: f64, curvature: f64) -> Result<Self> {
        if gradient.is_finite() && curvature.is_finite() {
            return Ok(Self { gradient: round_up(gradient), curvature: round_up(curvature) });
        }
        Err(BoundError::Numerical { what: "G and nu", detail: "more than the largest double" })
    }
}

/// Level R: suprema of the derivatives of every unit, `L_j ≥ sup |φ_j'|` and `K_j ≥ sup |φ_j''|`.
///
/// The supremum is over all preactivations, so over all weights. Failure probability 0, for any fixed second layer.
///
/// A derivative lies in the hull of its Bernstein coefficients on every piece of a span; these are linear in `c_j`
/// and are formed in the coordinates of the span. Rounding errors are bounded and added.
///
/// # Source
/// Ours.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{Activation, Initialisation, Knots, RealisedConstants, SplineBasis, initialise};
/// let basis = SplineBasis::new(3, 6, Knots::Clamped)?;
/// let (network, _) = initialise(basis, Activation::Tanh, 1, 100, Initialisation::Greville, 1)?;
/// let realised = RealisedConstants::of(&network, 32)?;
/// let constants = realised.constants(1.0)?;
/// // s_j(v) = ±v: those of tanh, up to the overshoot of the enclosure.
/// assert!((1.0..1.001).contains(&constants.gradient));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RealisedConstants {
    /// `L_j`, m values.
    pub slopes: Vec<f64>,
    /// `K_j`, m values.
    pub curvatures: Vec<f64>,
}

impl RealisedConstants {
    /// The suprema of every unit, each span cut in `pieces` (1..=4096; 32 overshoots by at most 0.3 % and 0.8 % on
    /// 7000 random units, 64 by half of that or less).
    ///
    /// # Errors
    /// [`BoundError::Unproven`] for degree 1 with interior knots, where `φ'` jumps; [`BoundError::OutOfRange`] for
    /// `pieces` out of range.
    pub fn of(network: &Network, pieces: usize) -> Result<Self> {
        let basis = network.basis();
        ensure_smooth(basis)?;
        ensure_pieces(pieces)?;
        let forms = span_forms(basis, network.activation(), pieces);
        let (mut slopes, mut curvatures) = (Vec::new(), Vec::new());
        for row in network.second_layer().chunks_exact(basis.size()) {
            let (mut slope, mut curvature) = (0.0_f64, 0.0_f64);
            for form in &forms {
                let active = &row[form.span..=form.span + basis.degree()];
                slope = slope.max(form.slope.largest(active));
                curvature = curvature.max(form.curvature.largest(active));
            }
            slopes.push(round_up(slope));
            curvatures.push(round_up(curvature));
        }
        Ok(Self { slopes, curvatures })
    }

    /// `G = sqrt(mean_j L_j²) sqrt(h2)` and `ν = max_j K_j h2/sqrt(m)`, rounded up.
    ///
    /// `feature_norm2` h2 in [0, 1] bounds `||h(x)||²/d` over the inputs in question: [`super::feature_norm2`] for
    /// a domain, [`super::Linearisation::feature_norm2`] for a sample.
    ///
    /// # Errors
    /// [`BoundError`] for `feature_norm2` outside [0, 1] or constants that overflow.
    pub fn constants(&self, feature_norm2: f64) -> Result<Constants> {
        let h2 = domain::probability("feature_norm2", feature_norm2)?;
        let width = number(self.slopes.len());
        let mean = norm2(&self.slopes) / width;
        let largest = self.curvatures.iter().copied().fold(0.0, f64::max);
        Constants::rounded((mean * h2).sqrt(), largest * h2 / width.sqrt())
    }
}

/// Level V: from the norms of the rows of the second layer only.
///
/// `G = sup ||act' h'|| · ||c|| sqrt(h2)/sqrt(m)` and
/// `ν = sup ||act'² h'' + act'' h'|| · max_j ||c_j|| h2/sqrt(m)`, rounded up; the suprema from Bernstein forms on
/// spans cut in `pieces` (1..=4096). Never below level R with as many pieces. Failure probability 0.
///
/// # Source
/// Ours.
///
/// # Errors
/// As [`RealisedConstants::of`] and [`RealisedConstants::constants`].
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{Activation, Knots, Network, SplineBasis, vector_constants};
/// let basis = SplineBasis::new(1, 2, Knots::Clamped)?;
/// let network = Network::new(basis, Activation::Tanh, 1, vec![-1.0, 0.0])?;
/// let constants = vector_constants(&network, 64, 1.0)?;
/// assert!((0.5_f64.sqrt()..0.7073).contains(&constants.gradient));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn vector_constants(network: &Network, pieces: usize, feature_norm2: f64) -> Result<Constants> {
    let basis = network.basis();
    ensure_smooth(basis)?;
    ensure_pieces(pieces)?;
    let h2 = domain::probability("feature_norm2", feature_norm2)?;
    let (mut slope, mut curvature) = (0.0_f64, 0.0_f64);
    for form in span_forms(basis, network.activation(), pieces) {
        slope = slope.max(form.slope.largest_norm());
        curvature = curvature.max(form.curvature.largest_norm());
    }
    let rows: Vec<f64> = network.second_layer().chunks_exact(basis.size()).map(norm2).collect();
    let largest = rows.iter().copied().fold(0.0, f64::max).sqrt();
    let width = number(network.width());
    let gradient = slope * (summation::sum(&rows) / width * h2).sqrt();
    Constants::rounded(gradient, curvature * largest * h2 / width.sqrt())
}

/// Level W: the worst case of the paper, for a Gaussian second layer, each constant with failure probability `delta`.
///
/// `G = B'_s B_b B'_b p (4 sqrt(p) + 2 sqrt(log(2/δ)/m))` and
/// `ν = B_b² (B''_s B'_b + B'_s² B''_b) p^{3/2} (4 sqrt(p) + 2 sqrt(log(2m/δ)))/sqrt(m)`, rounded up.
///
/// `norms` of the basis, `size` p its functions, `width` m, `delta` in (0, 1).
///
/// # Source
/// arXiv 2605.12648, equations (4) and (5).
///
/// # Errors
/// [`BoundError`] for a size of 0, `delta` out of range, or constants that overflow.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{Activation, Knots, SplineBasis, SupNorms, worst_case_constants};
/// let norms = SupNorms::of(&SplineBasis::new(3, 4, Knots::Clamped)?)?;
/// let constants = worst_case_constants(&norms, Activation::Tanh, 4, 1000, 0.01)?;
/// assert!((constants.gradient - 48.873_474_499_217_31).abs() < 1e-9);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn worst_case_constants(
    norms: &SupNorms,
    activation: Activation,
    size: usize,
    width: usize,
    delta: f64,
) -> Result<Constants> {
    positive_size("size", size)?;
    positive_size("width", width)?;
    let delta = domain::open_probability("delta", delta)?;
    let (p, m) = (number(size), number(width));
    let (act_slope, act_curvature) = (activation.largest_slope(), activation.largest_curvature());
    let log = (2.0_f64 / delta).ln();
    let spread = 4.0 * p.sqrt() + 2.0 * (log / m).sqrt();
    let gradient = act_slope * norms.function * norms.function_slope * p * spread;
    let spread = 4.0 * p.sqrt() + 2.0 * (log + m.ln()).sqrt();
    let unit =
        act_curvature * norms.function_slope + act_slope * act_slope * norms.function_curvature;
    let square = norms.function * norms.function;
    Constants::rounded(gradient, square * unit * p * p.sqrt() * spread / m.sqrt())
}

fn ensure_smooth(basis: &SplineBasis) -> Result<()> {
    if basis.degree() > 1 || basis.spans() == 1 {
        return Ok(());
    }
    Err(BoundError::Unproven {
        request: format!("a curvature bound for degree 1 with {} functions", basis.size()),
        why: "the second layer has kinks at the interior knots, so the gradient jumps",
        nearest: "degree 1 with 2 functions, or degree 2 or more",
    })
}

fn ensure_pieces(pieces: usize) -> Result<()> {
    if (1..=4096).contains(&pieces) {
        return Ok(());
    }
    Err(BoundError::OutOfRange {
        parameter: "pieces",
        value: Shown(number(pieces)),
        allowed: "1 to 4096",
        remedy: "use 32 or 64",
    })
}
