//! δ and ε of a run of equal steps.

use super::account::{Accountant, Goal};
use super::degenerate::Case;
use super::step::OneStep;
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::privacy::{Bracket, Order};

/// Relative width at which a bracket of ε is narrow enough.
const EPSILON_TOLERANCE: f64 = 3e-4;
/// Relative width at which a bracket of δ is narrow enough.
const DELTA_TOLERANCE: f64 = 3e-3;
/// What discretisation may add to a one-sided ε, relative.
const UPPER_EPSILON_TOLERANCE: f64 = 1e-4;
/// What discretisation may add to a one-sided δ, relative.
pub(super) const UPPER_DELTA_TOLERANCE: f64 = 3e-4;

pub(super) fn checked_steps(steps: u64) -> Result<()> {
    if steps > 0 {
        domain::count("steps", steps)?;
    }
    Ok(())
}

/// A δ anywhere in [0, 1] or above; above 1 nothing is asked for.
pub(super) fn checked_delta(delta: f64) -> Result<f64> {
    if delta >= 0.0 {
        Ok(delta)
    } else {
        Err(BoundError::OutOfRange {
            parameter: "delta",
            value: Shown(delta),
            allowed: "a number >= 0",
            remedy: "give a failure probability",
        })
    }
}

/// A bracket of the smallest δ such that the run is (ε, δ)-private: `max_orders H_{e^ε}`.
///
/// `steps = T <= 2^53`, `epsilon >= 0` (nats). Both sides hold for the exact real numbers; `lower` is
/// reached by a run that is written down in docs/theory/privacy.md. For [`OneStep::poisson`] the two
/// sides converge, and the bracket is refined to a relative width of 3e-3, wider by `(log δ/36)²` for δ
/// below 1e-15, unless that would take more than about a second of work: it is then as wide as the work
/// allows. For the other steps the distance between the two includes what theory does not know.
///
/// # Source
/// Koskela, Jälkö, Honkela 2020 (Fourier accountant); Doroshenko et al. 2022 (connect the dots); lower
/// polygon, tilt and error accounting: ours, docs/theory/privacy.md.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::pld::{OneStep, delta};
/// let step = OneStep::poisson(0.01, 1.0)?;
/// let delta = delta(&step, 1000, 1.8279)?;
/// assert!(delta.lower < 1.01e-5 && delta.upper > 0.99e-5);
/// assert!(delta.relative_width() < 3e-3);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn delta(step: &OneStep, steps: u64, epsilon: f64) -> Result<Bracket> {
    delta_of(step, &Order::ALL, steps, epsilon)
}

/// [`delta`] of one order, each order composed with itself.
///
/// The statements for replace-one are symmetric and give the same bracket for both orders.
///
/// # Source
/// As for [`delta`].
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Order, pld};
/// let step = pld::OneStep::poisson(0.01, 1.0)?;
/// let remove = pld::delta_in_order(&step, Order::Forward, 1000, 1.0)?;
/// let add = pld::delta_in_order(&step, Order::Reverse, 1000, 1.0)?;
/// assert!(add.upper < remove.lower);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn delta_in_order(step: &OneStep, order: Order, steps: u64, epsilon: f64) -> Result<Bracket> {
    delta_of(step, &[order], steps, epsilon)
}

fn delta_of(step: &OneStep, orders: &[Order], steps: u64, epsilon: f64) -> Result<Bracket> {
    checked_steps(steps)?;
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let case = Case::of(step, steps);
    let known = case.delta(epsilon);
    if case.is_settled() {
        return Ok(known);
    }
    let computed =
        Accountant::new(*step, steps).bracket(orders, Goal::DeltaAt(epsilon), DELTA_TOLERANCE)?;
    Ok(case.within(computed, known))
}

/// A bracket of the smallest ε such that the run is (ε, δ)-private, at least 0.
///
/// `steps = T <= 2^53`, `delta >= 0`; the answer is 0 for `delta >= 1` and +inf for `delta = 0`. For
/// [`OneStep::poisson`] the bracket is refined to a relative width of 3e-4, unless that would take more
/// than about a second of work. `lower` is 0 where δ is at least the total variation.
///
/// # Source
/// As for [`delta`].
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::pld::{OneStep, epsilon};
/// let bracket = epsilon(&OneStep::poisson(0.01, 1.0)?, 1000, 1e-5)?;
/// assert!(bracket.lower < 1.82824 && 1.82797 < bracket.upper);
/// assert!(bracket.relative_width() < 3e-4);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn epsilon(step: &OneStep, steps: u64, delta: f64) -> Result<Bracket> {
    epsilon_of(step, &Order::ALL, steps, delta)
}

/// [`epsilon`] of one order, each order composed with itself.
///
/// # Source
/// As for [`delta`].
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Order, pld};
/// let step = pld::OneStep::poisson(0.01, 1.0)?;
/// let add = pld::epsilon_in_order(&step, Order::Reverse, 1000, 1e-5)?;
/// assert!(add.lower < 1.41667 && 1.41202 < add.upper);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn epsilon_in_order(step: &OneStep, order: Order, steps: u64, delta: f64) -> Result<Bracket> {
    epsilon_of(step, &[order], steps, delta)
}

fn epsilon_of(step: &OneStep, orders: &[Order], steps: u64, delta: f64) -> Result<Bracket> {
    checked_steps(steps)?;
    let delta = checked_delta(delta)?;
    let case = Case::of(step, steps);
    let known = case.epsilon(delta)?;
    if case.is_settled() || known.lower == known.upper {
        return Ok(known);
    }
    let computed =
        Accountant::new(*step, steps).bracket(orders, Goal::EpsilonAt(delta), EPSILON_TOLERANCE)?;
    Ok(case.within(computed, known))
}

/// The upper side of [`delta`], without the lower side and without refinement: what the lattice adds
/// is about 3e-4 of the value or less where about a second of work suffices.
///
/// # Source
/// As for [`delta`].
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::pld::{OneStep, upper_delta};
/// let delta = upper_delta(&OneStep::poisson(0.01, 1.0)?, 1000, 1.8279)?;
/// assert!((delta / 1e-5 - 1.0).abs() < 1e-2);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn upper_delta(step: &OneStep, steps: u64, epsilon: f64) -> Result<f64> {
    checked_steps(steps)?;
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let case = Case::of(step, steps);
    let known = case.delta(epsilon);
    if case.is_settled() {
        return Ok(known.upper);
    }
    let upper = Accountant::new(*step, steps)
        .upper(Goal::DeltaAt(epsilon), UPPER_DELTA_TOLERANCE)?
        .min(known.upper);
    Ok(upper)
}

/// The upper side of [`epsilon`], without the lower side and without refinement: what the lattice adds
/// is about 1e-4 of the value or less where about a second of work suffices.
///
/// # Source
/// As for [`delta`].
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::pld::{OneStep, upper_epsilon};
/// let step = OneStep::poisson(0.2, 3.0)?;
/// let epsilon = upper_epsilon(&step, 50, 1.0 / 48_000.0)?;
/// assert!(1.9605 < epsilon && epsilon < 1.9620);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn upper_epsilon(step: &OneStep, steps: u64, delta: f64) -> Result<f64> {
    checked_steps(steps)?;
    let delta = checked_delta(delta)?;
    let case = Case::of(step, steps);
    let known = case.epsilon(delta)?;
    if case.is_settled() || known.lower == known.upper {
        return Ok(known.upper);
    }
    let upper = Accountant::new(*step, steps)
        .upper(Goal::EpsilonAt(delta), UPPER_EPSILON_TOLERANCE)?
        .min(known.upper);
    Ok(upper)
}
