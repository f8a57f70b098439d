//! Theorem S-GD: descent on the whole sample without noise.

use super::{
    Anchor, Guarantee, Landscape, Optimisation, TRAINING_RISK, Training, clipping_check,
    ensure_representable, ours, radius_check, step_check, with_checks,
};
use crate::error::{BoundError, Result};
use crate::kan::SELF_BOUNDING_CONSTANT;
use crate::warrant::{Bound, Check, Comparison};

/// The arguments of [`theorem_s_gd`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TheoremSGd {
    /// Constants over all weights, for the inputs of the sample.
    pub landscape: Landscape,
    /// τ and `L* = L_S(W*)`, in nats.
    pub comparator: Anchor,
    /// The run: full batches, no noise.
    pub training: Training,
}

/// Theorem S-GD: `(1/T) Σ_{t<T} L_S(W_t) ≤ (τ²/T + 2η L*)/coef`, `coef = 2η(1−q) − C_0 η² G²`, `q = ν τ²/2`.
///
/// Hypotheses: full batches without noise; `η ≤ 2/β`; `coef > 0`; `C_clip ≥ G`; and a projection, if there is one, at
/// `R_* ≥ 2τ + min{2η² G T L*/coef, sqrt(2η² T L*/(coef (1 − ηβ/2)))}`. Holds in every run.
///
/// # Source
/// Ours; proof in docs/theory/certificates.md.
///
/// # Errors
/// [`BoundError::Unproven`] for noise or smaller batches; otherwise as [`super::theorem_s`].
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{Anchor, Landscape, TheoremSGd, Training, theorem_s_gd};
/// let certificate = theorem_s_gd(&TheoremSGd {
///     landscape: Landscape { gradient: 0.69, curvature: 0.0075, smoothness: 0.1266 },
///     comparator: Anchor { distance: 8.0, loss: 0.075 },
///     training: Training::full_batch(1.0, 378, 4),
/// })?;
/// assert!((certificate.bound.value.unwrap() - 0.240_790_155_360_243_8).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn theorem_s_gd(arguments: &TheoremSGd) -> Result<Optimisation> {
    let TheoremSGd { landscape, comparator, training } = *arguments;
    let steps = training.checked()?.steps;
    let (landscape, comparator) = (landscape.checked()?, comparator.checked()?);
    if !training.is_full() || training.is_noisy() {
        return Err(BoundError::Unproven {
            request: "Theorem S-GD with noise or smaller batches".into(),
            why: "its proof needs the training risk to fall in every step",
            nearest: "Theorem S, or full batches without noise",
        });
    }
    let (eta, tau) = (training.step_size, comparator.distance);
    let q = landscape.curvature * tau * tau / 2.0;
    let square_part = SELF_BOUNDING_CONSTANT * (eta * landscape.gradient).powi(2);
    let coefficient = 2.0 * eta * (1.0 - q) - square_part;
    ensure_representable(&[q, coefficient, 2.0 * eta * comparator.loss])?;
    let positive = Check::new(
        "coef = 2 eta (1 - nu tau^2/2) - C0 eta^2 G^2, positive beyond rounding",
        coefficient,
        Comparison::Above,
        2e-9 * eta,
    );
    let (initial, loss) = (tau * tau / steps, 2.0 * eta * comparator.loss);
    let value = if positive.holds { (initial + loss) / coefficient } else { 0.0 };
    let condition = (2.0 * eta * (1.0 + q) + square_part) / coefficient;
    let descent = step_check("descent: eta <= 2/beta", &training, 2.0 / landscape.smoothness);
    let radius = if positive.holds && descent.holds {
        let level = loss / coefficient;
        let by_gradients = eta * landscape.gradient * steps * level;
        let room = 1.0 - eta * landscape.smoothness / 2.0;
        let by_descent = if room > 0.0 { (steps * eta * level / room).sqrt() } else { f64::MAX };
        (2.0 * tau + by_gradients.min(by_descent)).min(f64::MAX)
    } else {
        f64::MAX
    };
    let guarantee = Guarantee::Surely;
    let source = ours("Theorem S-GD", guarantee);
    let bound =
        Bound::upper_bound_of_parts(TRAINING_RISK, value, value * condition.max(1.0), source)?
            .with_term("initialisation tau^2/(T coef)", initial / coefficient)
            .with_term("comparator 2 eta L*/coef", loss / coefficient);
    let checks = [
        Some(positive),
        Some(descent),
        clipping_check(&training, &landscape),
        radius_check(&training, radius),
    ];
    let bound = with_checks(bound, checks.into_iter().flatten());
    Ok(Optimisation { bound, guarantee, distance: tau, reach: tau, radius, failure: 0.0 })
}
