//! From the losses of the batches to the training risk, with high probability.

use super::expectation::statement;
use super::{
    Guarantee, Optimisation, TRAINING_RISK, Training, failure_check, ours, with_checks,
    without_value,
};
use crate::domain;
use crate::error::Result;
use crate::solve::minimize;
use crate::warrant::Bound;

/// `(1/T) Σ_t L_S(W_{t−1}) ≤ (y A + (U/(BT)) log(1/δ))/(1 − e^{−y})` at the best y, except with probability
/// `δ_bad + δ`. A full batch needs no transfer and loses nothing.
///
/// `largest` U bounds every loss while the good event lasts: `max_i l_i(W*) + G D` with `D`
/// [`Optimisation::reach`], in nats and ≥ 0; `failure` δ in (0, 1).
///
/// # Source
/// Ours; proof in docs/theory/certificates.md.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range, or a stream of batches.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{
///     Anchor, BatchCap, BudgetS, Extent, Landscape, TheoremS, Training, in_high_probability, theorem_s,
/// };
/// use dpbounds_bounds::privacy::Sampler;
/// let training = Training { batch: 64, sampler: Sampler::Fixed, ..Training::full_batch(0.5, 184, 4000) };
/// let losses = theorem_s(&TheoremS {
///     landscape: Landscape { gradient: 0.98, curvature: 0.0105, smoothness: 0.26 },
///     extent: Extent { width: 5000, parameters: 10_000, noise_dimension: 10_000, inputs: 4 },
///     comparator: Anchor { distance: 4.76, loss: 0.16 },
///     training,
///     batches: BatchCap::EXACT,
///     budget: BudgetS::equal(4e-3),
/// })?;
/// let risk = in_high_probability(&losses, &training, 7.3, 1e-3)?;
/// assert!(risk.value > losses.bound.value && risk.value < Some(0.6));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn in_high_probability(
    optimisation: &Optimisation,
    training: &Training,
    largest: f64,
    failure: f64,
) -> Result<Bound> {
    let numbers = training.checked()?;
    training.ensure_fresh_batches("the transfer to the training risk")?;
    let largest = domain::non_negative("largest", largest)?;
    let log = -domain::open_probability("failure", failure)?.ln();
    if training.is_full() {
        return Ok(optimisation.bound.clone());
    }
    let total = optimisation.failure + failure;
    let source = ours(&statement(optimisation), Guarantee::of_failure(total));
    let Some(average) = optimisation.bound.upper else {
        return Ok(without_value(TRAINING_RISK, source, optimisation));
    };
    let price = largest * log / (numbers.batch * numbers.steps);
    let objective = |log_y: f64| {
        let y = libm::exp(log_y);
        (y * average + price) / -libm::expm1(-y)
    };
    let found = minimize(objective, -30.0, 8.0)?;
    let y = libm::exp(found.argument);
    let share = -libm::expm1(-y);
    let bound = Bound::upper_bound(TRAINING_RISK, found.value, source)?
        .with_term("losses along the training y A/(1 - e^-y)", y * average / share)
        .with_term("transfer (U/(BT)) log(1/delta)/(1 - e^-y)", price / share);
    // The failure of the certificate and of the transfer together, in place of the former alone.
    let checks = optimisation.bound.checks.iter().filter(|check| {
        failure_check(optimisation.failure).is_none_or(|own| own.name != check.name)
    });
    Ok(with_checks(bound, checks.cloned().chain(failure_check(total))))
}
