//! The smallest noise κ that meets (ε, δ) by statements that need no accountant.

use super::gaussian::largest_mu;
use super::{Relation, Sampler, closed_form};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::solve::power_by_doubling;
use crate::warrant::{Bound, Source};

/// A training run whose noise is sought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Number of records `n` (a public lower bound under add/remove).
    pub n: u64,
    /// Batch size `B`, the fixed divisor.
    pub batch: u64,
    /// Number of noisy steps `T`.
    pub steps: u64,
    /// Noise correlation λ in [0, 1).
    pub lambda: f64,
    /// How batches are drawn.
    pub sampler: Sampler,
    /// Which data sets are neighbours.
    pub relation: Relation,
}

/// The privacy to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// ε in nats, `> 0`.
    pub epsilon: f64,
    /// δ in (0, 1).
    pub delta: f64,
}

/// Which statements may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// The smallest proven value of all.
    Auto,
    /// Theorem F.12 (and, next to it, the claim of Theorem D.9).
    ClosedForm,
}

/// `κ` from (ε, δ): the smallest proven value first, the others as alternatives.
///
/// * Theorem F.12 inside its domain (Poisson, fixed-size and full batches).
/// * The Gaussian bound `κ = s·norm/μ(ε, δ)`: `norm` is the largest norm of the noise-whitened
///   participation of one record ([`participation_norm`]), `s` its sensitivity. Exact for full
///   batches; for Poisson and fixed-size batches it ignores amplification by sampling.
/// * The number of Theorem D.9 where it is stated, as a claim without warrant.
///
/// # Errors
/// [`BoundError::Unproven`] for a sampler and relation without a proof, other variants for arguments
/// out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Method, Plan, Relation, Sampler, Target, calibrate};
/// let plan = Plan {
///     n: 1_000_000, batch: 1_000_000, steps: 252, lambda: 0.5,
///     sampler: Sampler::Full, relation: Relation::ZeroOut,
/// };
/// let kappa = calibrate(&plan, Target { epsilon: 0.64, delta: 1e-6 }, Method::Auto)?;
/// assert!(kappa.value.unwrap() < 205.0);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn calibrate(plan: &Plan, target: Target, method: Method) -> Result<Bound> {
    let Plan { n, batch, steps, lambda, sampler, relation } = *plan;
    domain::positive("epsilon", target.epsilon)?;
    domain::open_probability("delta", target.delta)?;
    domain::noise_correlation("lambda", lambda)?;
    check_batch(plan)?;
    let sensitivity = sensitivity(sampler, relation)?;
    let Target { epsilon, delta } = target;
    let mut bounds = Vec::new();
    if closed_form::covers(sampler, relation) {
        bounds.push(closed_form::f12(n, batch, steps, epsilon, delta, lambda)?);
    } else if method == Method::ClosedForm {
        return Err(BoundError::Unproven {
            request: format!("method closed-form with sampler {sampler}"),
            why: "Theorem F.12 is proved for batches drawn anew in each step",
            nearest: "method auto, which uses the exact Gaussian bound for a stream",
        });
    }
    if method == Method::Auto {
        bounds.push(gaussian(plan, target, sensitivity)?);
        bounds.extend(closed_form_from_the_domain(plan, target)?);
    }
    if (sampler, relation, lambda) == (Sampler::Fixed, Relation::ReplaceOne, 0.0) {
        bounds.push(closed_form::d9_claim(n, batch, steps, epsilon, delta)?);
    }
    Bound::best_of(bounds)
}

/// Theorem F.12 for a smaller ε and a longer run inside its domain, which imply what is asked for: a
/// smaller ε is a stronger guarantee, and a run is the beginning of a longer one.
fn closed_form_from_the_domain(plan: &Plan, target: Target) -> Result<Option<Bound>> {
    let Plan { n, batch, steps, lambda, sampler, relation } = *plan;
    let rate = domain::batch_of("batch", batch, "n", n)?;
    if !closed_form::covers(sampler, relation) {
        return Ok(None);
    }
    let epsilon = target.epsilon.min(1.0);
    let least = (3.0 * (2f64.ln() - target.delta.ln()) / rate).ceil();
    for extra in [0.0, 1.0] {
        // Rounding may leave the first one just outside.
        let Ok(least) = domain::whole("steps", least + extra) else { return Ok(None) };
        let longer = least.max(steps);
        if longer == steps && epsilon == target.epsilon {
            return Ok(None);
        }
        let mut bound = closed_form::f12(n, batch, longer, epsilon, target.delta, lambda)?;
        if bound.value.is_some() {
            bound.source.statement =
                format!("Theorem F.12 at epsilon = {epsilon} and {longer} steps, which imply it")
                    .into();
            return Ok(Some(bound));
        }
    }
    Ok(None)
}

fn check_batch(plan: &Plan) -> Result<()> {
    domain::batch_of("batch", plan.batch, "n", plan.n)?;
    if plan.sampler == Sampler::Full && plan.batch != plan.n {
        #[allow(clippy::cast_precision_loss)] // checked above
        return Err(BoundError::Conflict {
            parameter: "batch",
            value: crate::error::Shown(plan.batch as f64),
            other: "n",
            other_value: crate::error::Shown(plan.n as f64),
            requirement: "a full batch has n records; set batch to n or choose another sampler",
        });
    }
    if plan.sampler == Sampler::Stream
        && plan.batch.checked_mul(plan.steps).is_none_or(|used| used > plan.n)
    {
        #[allow(clippy::cast_precision_loss)]
        return Err(BoundError::Conflict {
            parameter: "steps",
            value: crate::error::Shown(plan.steps as f64),
            other: "batch",
            other_value: crate::error::Shown(plan.batch as f64),
            requirement: "a stream uses each record once, so steps * batch is at most n; lower either",
        });
    }
    if plan.sampler == Sampler::Fixed
        && plan.relation == Relation::AddRemove
        && plan.batch == plan.n
    {
        return Err(BoundError::Unproven {
            request: "sampler fixed with batch = n under add-remove".into(),
            why: "removing a record leaves fewer records than the batch needs",
            nearest: "sampler full",
        });
    }
    Ok(())
}

/// How far one record moves the sum of clipped gradients, in clipping norms.
fn sensitivity(sampler: Sampler, relation: Relation) -> Result<f64> {
    match (sampler, relation) {
        (Sampler::Stream, Relation::AddRemove) => Err(BoundError::Unproven {
            request: "sampler stream under add-remove".into(),
            why: "adding a record shifts every later batch",
            nearest: "sampler stream under zero-out or replace-one",
        }),
        // A record that joins a fixed-size batch displaces another one.
        (Sampler::Fixed, Relation::AddRemove) | (_, Relation::ReplaceOne) => Ok(2.0),
        _ => Ok(1.0),
    }
}

fn gaussian(plan: &Plan, target: Target, sensitivity: f64) -> Result<Bound> {
    let participations = if plan.sampler == Sampler::Stream { 1 } else { plan.steps };
    let norm = participation_norm(plan.lambda, plan.steps, participations)?;
    let value = sensitivity * norm / largest_mu(target.epsilon, target.delta)?;
    let statement = match plan.sampler {
        Sampler::Full => "Gaussian mechanism, exact for full batches (docs/theory/privacy.md)",
        Sampler::Stream => "Gaussian mechanism, one participation (docs/theory/privacy.md)",
        _ => "Gaussian mechanism without amplification by sampling (docs/theory/privacy.md)",
    };
    Bound::upper_bound(closed_form::KAPPA, value, Source::new("ours", statement))
}

/// `max ‖Cy‖` over participation patterns `y` with at most `participations` ones, `C_{tu} = λ^{t−u}`, attained by the first steps.
///
/// `lambda` in [0, 1), `steps = T >= participations >= 1`.
///
/// # Source
/// Ours; docs/theory/privacy.md (largest participation).
///
/// # Errors
/// [`BoundError::OutOfRange`] or [`BoundError::Conflict`] for arguments out of range.
///
/// # Examples
/// ```
/// let norm = dpbounds_bounds::privacy::participation_norm(0.5, 5, 2)?;
/// assert!((norm / 1.997_068_163_583_807_2 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn participation_norm(lambda: f64, steps: u64, participations: u64) -> Result<f64> {
    let lambda = domain::noise_correlation("lambda", lambda)?;
    let count = domain::count("participations", participations)?;
    let total = domain::count("steps", steps)?;
    if participations > steps {
        return Err(BoundError::Conflict {
            parameter: "participations",
            value: crate::error::Shown(count),
            other: "steps",
            other_value: crate::error::Shown(total),
            requirement: "a record joins each step at most once; lower participations",
        });
    }
    if lambda == 0.0 {
        return Ok(count.sqrt());
    }
    // Rows of Cy: geometric sums for the first `count` steps, then geometric decay.
    let one = Rows {
        count: 1.0,
        log: lambda.ln(),
        row: 1.0,
        weighted: lambda,
        powers: lambda * lambda,
        total: 1.0,
    };
    let rising = power_by_doubling(count, Rows::then, one);
    let after = total - count;
    let decay = if after == 0.0 { 0.0 } else { power_by_doubling(after, Rows::then, one).powers };
    Ok((rising.total + rising.row * rising.row * decay).sqrt())
}

/// A block of `t` participations: `t`, `log λ`, the last row `r_t = 1 + λ r_{t−1}`, `Σ λ^j r_j`, `Σ λ^{2j}` and `Σ r_j²`
/// over `j <= t`. All sums have positive terms.
#[derive(Clone, Copy)]
struct Rows {
    count: f64,
    log: f64,
    row: f64,
    weighted: f64,
    powers: f64,
    total: f64,
}

impl Rows {
    /// This block followed by another one: its rows are `r_j + λ^j r_t`.
    fn then(self, next: Self) -> Self {
        // Powers from the exponent: squaring them would double their error at every level.
        let power = |count: f64| (count * self.log).exp();
        let own = power(self.count);
        Self {
            count: self.count + next.count,
            log: self.log,
            row: next.row + power(next.count) * self.row,
            weighted: self.weighted + own * (next.weighted + self.row * next.powers),
            powers: self.powers + own * own * next.powers,
            total: self.total
                + next.total
                + 2.0 * self.row * next.weighted
                + self.row * self.row * next.powers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_matches_a_direct_sum() {
        for lambda in [0.1, 0.9, 0.999, 0.999_999] {
            for (steps, count) in [(1, 1), (50, 1), (400, 37), (3000, 3000)] {
                let (mut row, mut total) = (0.0, 0.0);
                for t in 0..steps {
                    row = lambda * row + if t < count { 1.0 } else { 0.0 };
                    total += row * row;
                }
                let value = participation_norm(lambda, steps, count).unwrap();
                let direct = f64::sqrt(total);
                assert!(
                    (value / direct - 1.0).abs() < 1e-11,
                    "{lambda} {steps} {count}: {value} {direct}"
                );
            }
        }
    }
}
