//! From a certificate that holds except for a bad event to an expectation.

use std::f64::consts::LN_2;

use super::{
    EXPECTED_RISK, Guarantee, Landscape, Optimisation, Training, ours, with_checks, without_value,
};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::round::RELATIVE_MARGIN;
use crate::warrant::Bound;

/// `F ≥ |f_W(x)|` over the ball of the projection: `max |f_{W_0}| + G R_*`.
///
/// `initial` the largest `|f_{W_0}(x)|` over the inputs in question, ≥ 0.
///
/// # Source
/// Ours.
///
/// # Errors
/// [`BoundError`] for an argument out of range; [`BoundError::Unproven`] if the iterates are not projected.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{Landscape, Training, largest_output};
/// let landscape = Landscape { gradient: 0.7, curvature: 0.01, smoothness: 0.14 };
/// let run = Training::full_batch(0.5, 100, 4);
/// assert!(largest_output(&landscape, &run, 0.1).is_err());
/// assert_eq!(largest_output(&landscape, &Training { radius: Some(10.0), ..run }, 0.1)?, 7.1);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn largest_output(landscape: &Landscape, training: &Training, initial: f64) -> Result<f64> {
    training.checked()?;
    let Some(radius) = training.radius else {
        return Err(BoundError::Unproven {
            request: "an expectation without a projection".into(),
            why: "on the bad event nothing bounds the loss of iterates that are not projected",
            nearest: "a statement with probability, or a projection radius R_*",
        });
    };
    let initial = domain::non_negative("initial", initial)?;
    let output = initial + landscape.checked()?.gradient * radius;
    domain::finite("largest output", output)
}

/// `E (1/T) Σ_t L_S(W_{t−1}) ≤ A + (log 2 + F) δ_bad`: the weights are independent of the batch drawn after them, and a
/// loss is at most `log 2 + F`.
///
/// `output` F from [`largest_output`]; it is not needed if nothing can fail.
///
/// # Source
/// Ours; proof in docs/theory/certificates.md.
///
/// # Errors
/// [`BoundError`] for an argument out of range, a stream of batches, or an output that is missing.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{
///     Anchor, Landscape, TheoremSGd, Training, in_expectation, theorem_s_gd,
/// };
/// let landscape = Landscape { gradient: 0.69, curvature: 0.0075, smoothness: 0.1266 };
/// let training = Training::full_batch(1.0, 378, 4);
/// let comparator = Anchor { distance: 8.0, loss: 0.075 };
/// let surely = theorem_s_gd(&TheoremSGd { landscape, comparator, training })?;
/// // Nothing is random.
/// assert_eq!(in_expectation(&surely, &training, None)?.value, surely.bound.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn in_expectation(
    optimisation: &Optimisation,
    training: &Training,
    output: Option<f64>,
) -> Result<Bound> {
    training.checked()?;
    training.ensure_fresh_batches("an expectation")?;
    let source = ours(&statement(optimisation), Guarantee::Expectation);
    let (Some(path), Some(upper)) = (optimisation.bound.value, optimisation.bound.upper) else {
        return Ok(without_value(EXPECTED_RISK, source, optimisation));
    };
    let bad = bad_event(optimisation, output)?;
    let bound = Bound::upper_bound_of_parts(
        EXPECTED_RISK,
        path + bad,
        (upper - path) / RELATIVE_MARGIN + bad,
        source,
    )?;
    let bound = bound
        .with_term("losses along the training", path)
        .with_term("bad event (log 2 + F) delta_bad", bad);
    Ok(with_checks(bound, optimisation.bound.checks.iter().cloned()))
}

/// `(log 2 + F) δ_bad`.
pub(super) fn bad_event(optimisation: &Optimisation, output: Option<f64>) -> Result<f64> {
    if optimisation.failure == 0.0 {
        return Ok(0.0);
    }
    let Some(output) = output else {
        return Err(BoundError::Input {
            parameter: "output".into(),
            problem: "missing; a certificate that can fail needs the largest output".into(),
        });
    };
    let output = domain::non_negative("output", output)?;
    Ok((LN_2 + output) * optimisation.failure)
}

/// The statement that the certificate started from, without its guarantee.
pub(super) fn statement(optimisation: &Optimisation) -> String {
    let whole = &optimisation.bound.source.statement;
    let end = whole.find([';', '(']).unwrap_or(whole.len());
    whole[..end].trim_end_matches(", constants ours").trim_end().to_owned()
}
