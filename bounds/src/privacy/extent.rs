//! The longest run or largest batch that a noise allows.

use super::account::one_step;
use super::closed_form::KAPPA;
use super::correlated::transfer::Resolution;
use super::rung::Rung;
use super::{
    Effort, Method, Plan, Question, Relation, Route, Sampler, Target, account, pld, route,
};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::warrant::{Bound, Check, Comparison, Quantity, Source, Warrant};

/// What a noise allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The largest number of steps `T`.
    Steps,
    /// The largest batch `B`.
    Batch,
}

/// The largest `T` (or `B`) for which a run with noise `kappa` still meets the target, by the best of the
/// methods that apply; the other entry of `plan` that is sought is ignored.
///
/// The answer was verified; 0 if not even one step (or a batch of one) meets it.
///
/// # Source
/// Ours; docs/theory/accounting.md.
///
/// # Errors
/// As [`super::calibrate`]; [`BoundError::OutOfRange`] if the search has no end, as for huge noise.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Effort, Extent, Plan, Relation, Sampler, Target, largest};
/// let plan = Plan { n: 10_000, batch: 100, steps: 1, lambda: 0.0,
///     sampler: Sampler::Poisson, relation: Relation::AddRemove };
/// let target = Target { epsilon: 1.0, delta: 1e-5 };
/// let steps = largest(Extent::Steps, &plan, 1.4149, target, &Effort::default())?;
/// assert_eq!(steps.value.unwrap(), 1000.0);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn largest(
    extent: Extent,
    plan: &Plan,
    kappa: f64,
    target: Target,
    effort: &Effort<'_>,
) -> Result<Bound> {
    let target = target.check()?;
    domain::positive(KAPPA.name, kappa)?;
    let quantity = match extent {
        Extent::Steps => Quantity { name: "steps", unit: "count" },
        Extent::Batch => Quantity { name: "batch", unit: "records" },
    };
    let limit = match extent {
        Extent::Steps if plan.sampler == Sampler::Stream => plan.n / plan.batch.max(1),
        Extent::Steps => 1 << 40,
        Extent::Batch if plan.sampler == Sampler::Stream => plan.n / plan.steps.max(1),
        // Under add/remove a fixed-size batch leaves at least one record out.
        Extent::Batch if plan.sampler == Sampler::Fixed && plan.relation == Relation::AddRemove => {
            plan.n.saturating_sub(1)
        }
        Extent::Batch => plan.n,
    };
    let at = |value: u64| match extent {
        Extent::Steps => Plan { steps: value, ..*plan },
        Extent::Batch => Plan { batch: value, ..*plan },
    };
    if limit == 0 {
        route(&at(1))?; // says why not even one fits
    }
    let mut last = None;
    // Every Monte Carlo certificate of the search has fresh random numbers and its own share of the
    // failure probability, so that all of them hold together.
    let mut certificates = effort.monte_carlo;
    let mut meets = |value: u64| -> Result<bool> {
        let plan = at(value);
        let effort = Effort { monte_carlo: certificates, ..*effort };
        let delta = fast_upper_delta(&plan, kappa, target, &effort)?;
        certificates.attempt += 1;
        if delta <= target.delta {
            last = Some((value, delta));
        }
        Ok(delta <= target.delta)
    };
    let (mut good, mut bad) = (0, 1);
    while bad <= limit && meets(bad)? {
        good = bad;
        bad = if bad == limit { limit + 1 } else { (2 * bad).min(limit) };
    }
    while bad - good > 1 && bad <= limit {
        let middle = good + (bad - good) / 2;
        if meets(middle)? { good = middle } else { bad = middle }
    }
    if good == 1 << 40 {
        return Err(BoundError::OutOfRange {
            parameter: KAPPA.name,
            value: crate::error::Shown(kappa),
            allowed: "noise that a trillion steps use up",
            remedy: "lower kappa or the target",
        });
    }
    #[allow(clippy::cast_precision_loss)] // below 2^53
    let value = good as f64;
    let statement = "largest value that verifies (docs/theory/accounting.md)";
    let mut bound = Bound::lower_bound(quantity, value, Source::new("ours", statement))?;
    bound.lower = Some(value);
    if effort.method == Method::L3 {
        bound.warrant = Warrant::Confidence(1.0 - effort.monte_carlo.failure_probability);
    }
    if let Some((_, delta)) = last.filter(|(at, _)| *at == good) {
        let check = Check::new("delta at this value", delta, Comparison::AtMost, target.delta);
        bound = bound.with_check(check);
    }
    Ok(bound)
}

/// The best upper bound on δ that is cheap enough for a search.
fn fast_upper_delta(
    plan: &Plan,
    kappa: f64,
    Target { epsilon, delta }: Target,
    effort: &Effort<'_>,
) -> Result<f64> {
    let plan = &plan.simplified();
    let route = route(plan)?;
    let method = match (effort.method, route) {
        (Method::Auto, Route::Profile(_)) => Method::Pld,
        (Method::Auto, Route::Pair { .. }) if plan.lambda == 0.0 => Method::Pld,
        (Method::Auto, Route::Gaussian { .. }) => Method::L1,
        (Method::Auto, _) => Method::L2td,
        (method, _) => method,
    };
    let by = |method| {
        let effort = Effort { method, ..*effort };
        let bound = account(plan, kappa, Question::DeltaAt { epsilon }, &effort)?;
        Ok::<_, BoundError>(bound.upper.unwrap_or(1.0))
    };
    match method {
        Method::Pld => {
            let sharp = pld::upper_delta(&one_step(plan, route, kappa)?, plan.steps, epsilon)?;
            // Runs beyond the lattice of the loss distribution have cheaper proofs.
            if sharp <= delta || effort.method != Method::Auto {
                return Ok(sharp);
            }
            let mut best = sharp.min(by(Method::L1b)?);
            if matches!(route, Route::Pair { .. }) {
                best = best.min(by(Method::Rdp)?);
            }
            Ok(best)
        }
        Method::Rdp | Method::L3 | Method::ClosedForm => by(method),
        _ => {
            let rung = Rung::new(method, plan, route, Resolution::COARSE)?;
            Ok(rung.profile(kappa, epsilon)?(epsilon))
        }
    }
}
