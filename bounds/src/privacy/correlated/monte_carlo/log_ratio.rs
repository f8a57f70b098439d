//! The log-likelihood ratio of given outputs, enclosed.

use super::kernel::{Kernel, LANES, Side};
use super::{TAU, precondition};
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::privacy::Pair;

/// Bounds on `L(x) = log dP/dQ(x)`; see [`log_likelihood_ratio`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// `L_lo <= L`: the overlap rounded up.
    pub lower: f64,
    /// `L_up >= L`: the overlap rounded down.
    pub upper: f64,
    /// `L̃ >= L_up`: no overlap at all, `Σ_v log(1 − r + r e^{(c_v − G_vv/2)/κ²})`.
    pub without_overlap: f64,
}

/// Encloses the log-likelihood ratio of the pair at the output `x`.
///
/// `L(x) = log Σ_y r^{|y|} (1−r)^{T−|y|} exp(κ^{−2} Σ_v y_v [c_v − G_vv/2 − G_vv q_v])` with `c_v =
/// x_v + λ c_{v+1}`, `q_{v+1} = λ(q_v + y_v)` and `κ` the noise multiplier of the pair; `x` has one
/// finite number per step, in units of the sensitivity. Rounding `q` on a grid of ratio 0.97 gives
/// `lower <= L <= upper <= without_overlap`, in nats; at λ = 0 the three are equal. Each is right
/// to the 1e-7 that every certificate of this module allows for (in practice to 1e-12), and moved
/// outwards where the error could be larger.
///
/// # Source
/// docs/theory/accounting.md, "The pair and its coordinates".
///
/// # Errors
/// [`BoundError::Conflict`] if `x` does not have one number per step, [`BoundError::OutOfRange`]
/// for one that is not finite, [`BoundError::Unproven`] at full participation (`r = 1`), for more
/// than 2^20 steps and for λ above about 0.9997.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::log_likelihood_ratio;
/// // One step: L = log(1 − r + r e^{(x − 1/2)/κ²}).
/// let ratio = log_likelihood_ratio(&Pair::new(0.1, 2.0, 0.5, 1)?, &[1.5])?;
/// assert!((ratio.upper - (0.9 + 0.1 * 0.25f64.exp()).ln()).abs() < 1e-14);
/// assert!((ratio.lower - ratio.upper).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn log_likelihood_ratio(pair: &Pair, x: &[f64]) -> Result<LogRatio> {
    if x.len() as u64 != pair.steps() {
        return Err(BoundError::Conflict {
            parameter: "x (length)",
            value: Shown(precondition::real(x.len())),
            other: "steps",
            other_value: Shown(pair.horizon()),
            requirement: "an output has one number per step",
        });
    }
    for &value in x {
        domain::finite("x", value)?;
    }
    if precondition::trivial(pair) {
        return Ok(LogRatio { lower: 0.0, upper: 0.0, without_overlap: 0.0 });
    }
    precondition::amplified(pair)?;
    let one_side = |side| {
        let kernel = Kernel::new(pair, side)?;
        let mut work = kernel.workspace();
        for (row, &value) in work.outputs.iter_mut().zip(x) {
            *row = [value; LANES];
        }
        Ok(kernel.evaluate(&mut work))
    };
    let (up, low): (_, _) = (one_side(Side::Upper)?, one_side(Side::Lower)?);
    // Within half the tolerance the numbers are reported as they are.
    let slack = up.slack[0].max(low.slack[0]);
    let widening = if slack > TAU / 2.0 { slack } else { 0.0 };
    let ratio = LogRatio {
        lower: low.ratio[0] - widening,
        upper: up.ratio[0] + widening,
        without_overlap: up.without_overlap[0] + widening,
    };
    if ratio.lower.is_finite() && ratio.without_overlap.is_finite() {
        Ok(ratio)
    } else {
        Err(BoundError::Numerical {
            what: "log-likelihood ratio",
            detail: "the output or the noise is outside the range of double precision",
        })
    }
}
