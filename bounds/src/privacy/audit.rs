//! Is a claimed noise private enough? Certified, violated with a witness, or undecided.

use super::account::linear_epsilon;
use super::closed_form::KAPPA;
use super::lower::{self, LargestStep, Witness};
use super::{Effort, Method, Plan, Question, Route, Target, account, calibrate, route};
use crate::domain;
use crate::error::Result;

/// The outcome of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A proven upper bound on ε is at most the claim.
    Certified,
    /// Explicit data sets spend more than the claim.
    Violated,
    /// Neither was shown.
    Undecided,
}

impl Verdict {
    /// `certified`, `violated` or `undecided`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::Violated => "violated",
            Self::Undecided => "undecided",
        }
    }
}

/// What an audit found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Audit {
    /// The claimed noise on the sum of clipped gradients, in clipping norms.
    pub kappa: f64,
    /// The outcome.
    pub verdict: Verdict,
    /// Proven upper bound on ε at the target's δ (nats); `None` if no finite one was found.
    pub epsilon_upper: Option<f64>,
    /// ε that the witness reaches at the target's δ (nats).
    pub epsilon_lower: f64,
    /// δ that the witness reaches at the target's ε.
    pub delta_lower: f64,
    /// The data sets behind the lower sides.
    pub witness: Witness,
    /// The smallest κ known to suffice for the target.
    pub sufficient_kappa: Option<f64>,
    /// The claimed κ over the smallest one known to suffice.
    pub over_calibration: Option<f64>,
}

/// Audits the claim that noise `kappa > 0` meets the target.
///
/// Only proven upper bounds certify, only lower bounds from explicit neighbouring data sets refute.
///
/// # Source
/// Ours; docs/theory/accounting.md (audits and witnesses).
///
/// # Errors
/// As [`calibrate`].
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Effort, Plan, Relation, Sampler, Target, Verdict, audit, closed_form};
/// let plan = Plan { n: 10_000, batch: 100, steps: 100, lambda: 0.0,
///     sampler: Sampler::Fixed, relation: Relation::ReplaceOne };
/// let target = Target { epsilon: 4.0, delta: 1e-5 };
/// let claimed = closed_form::d9_formula(10_000, 100, 100, 4.0, 1e-5)?;
/// let found = audit(&plan, claimed, target, &Effort::default())?;
/// assert_eq!(found.verdict, Verdict::Violated);
/// assert!(found.epsilon_lower > 38.0 && found.delta_lower > 0.2);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn audit(plan: &Plan, kappa: f64, target: Target, effort: &Effort<'_>) -> Result<Audit> {
    let target = target.check()?;
    domain::positive(KAPPA.name, kappa)?;
    let route = route(plan)?;
    let Target { epsilon, delta } = target;
    let auto = Effort { method: Method::Auto, ..*effort };
    // Loose and instant first: closed forms often leave so much room that it certifies them.
    let cheap = Effort { method: Method::L1b, ..*effort };
    let mut spent = account(plan, kappa, Question::EpsilonAt { delta }, &cheap)?;
    if plan.lambda == 0.0 || !spent.upper.is_some_and(|upper| upper <= epsilon) {
        spent = account(plan, kappa, Question::EpsilonAt { delta }, &auto)?;
    }
    let reached = account(plan, kappa, Question::DeltaAt { epsilon }, &cheap)?;
    let mut epsilon_lower = spent.lower.unwrap_or(0.0);
    let mut delta_lower = reached.lower.unwrap_or(0.0);
    if !matches!(route, Route::Gaussian { .. }) {
        epsilon_lower = epsilon_lower.max(linear_epsilon(plan, route, kappa, delta)?);
        delta_lower = delta_lower.max(lower::delta(plan, route, kappa, epsilon)?);
        if let Some(step) = LargestStep::new(plan, route, kappa)? {
            epsilon_lower = epsilon_lower.max(step.epsilon(delta));
            delta_lower = delta_lower.max(step.delta(epsilon));
        }
    }
    if plan.lambda == 0.0 {
        let tight = account(plan, kappa, Question::DeltaAt { epsilon }, &auto)?;
        delta_lower = delta_lower.max(tight.lower.unwrap_or(0.0));
    }
    let certified = spent.upper.is_some_and(|upper| upper <= epsilon)
        || reached.upper.is_some_and(|upper| upper <= delta);
    let verdict = if certified {
        Verdict::Certified
    } else if epsilon_lower > epsilon || delta_lower > delta {
        Verdict::Violated
    } else {
        Verdict::Undecided
    };
    let sufficient = calibrate(plan, target, &auto)?.value;
    Ok(Audit {
        kappa,
        verdict,
        epsilon_upper: spent.upper,
        epsilon_lower,
        delta_lower,
        witness: lower::witness(plan, route),
        sufficient_kappa: sufficient,
        over_calibration: sufficient.filter(|value| *value > 0.0).map(|value| kappa / value),
    })
}
