//! What a run spends: ε at δ, or δ at ε, as a bracket.

use std::time::Instant;

use super::closed_form::KAPPA;
use super::correlated::monte_carlo;
use super::correlated::transfer::Resolution;
use super::pld::{self, OneStep};
use super::rung::{self, Rung};
use super::{Bracket, Effort, Method, Pair, Plan, Profile, Route, lower, rdp, route};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::warrant::{Bound, Quantity, Source, Warrant};

const EPSILON: Quantity = Quantity { name: "epsilon", unit: "nats" };
const DELTA: Quantity = Quantity { name: "delta", unit: "probability" };
const PLD: Source = Source::new("ours", "privacy-loss distribution (docs/theory/accounting.md)");
const RDP: Source =
    Source::new("Mironov, Talwar and Zhang 2019", "Renyi differential privacy, all orders");
const WBK: Source = Source::new("Wang, Balle and Kasiviswanathan 2019", "Theorem 27");
const TRIVIAL: Source = Source::new("ours", "nothing is released (docs/theory/accounting.md)");
const NO_NOISE: &str = "without noise a batch that holds the record gives it away, so no finite epsilon \
     holds at this delta; set kappa > 0";
const NO_EPSILON: &str = "no finite epsilon was proven at this delta; raise delta or kappa";

/// What is asked about a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Question {
    /// The smallest ε at this δ in [0, 1].
    EpsilonAt {
        /// δ, a probability.
        delta: f64,
    },
    /// The smallest δ at this ε `>= 0`.
    DeltaAt {
        /// ε in nats.
        epsilon: f64,
    },
}

impl Question {
    fn check(self) -> Result<()> {
        match self {
            Self::EpsilonAt { delta } => domain::probability("delta", delta),
            Self::DeltaAt { epsilon } => domain::non_negative("epsilon", epsilon),
        }
        .map(|_| ())
    }

    fn quantity(self) -> Quantity {
        match self {
            Self::EpsilonAt { .. } => EPSILON,
            Self::DeltaAt { .. } => DELTA,
        }
    }
}

/// The privacy that a run with noise `kappa` spends, as a proven bracket: `value` and `upper` are
/// guaranteed, `lower` is reached by explicit data sets.
///
/// The best proven value leads, the other rungs that apply are `alternatives`. λ = 0: privacy-loss
/// distributions and RDP. λ > 0: the ladder L1, L1b, L2, L2T, L2TD. Full batches and streams: exact.
/// [`Method::L3`] answers δ at ε with a [`Warrant::Confidence`].
///
/// `kappa >= 0` is the noise standard deviation on the sum of clipped gradients in clipping norms.
///
/// # Source
/// Ours; docs/theory/accounting.md.
///
/// # Errors
/// [`BoundError::Unproven`] for a sampler, relation, λ or method without a proof, other variants for
/// arguments out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Effort, Plan, Question, Relation, Sampler, account};
/// let plan = Plan { n: 10_000, batch: 100, steps: 1000, lambda: 0.0,
///     sampler: Sampler::Poisson, relation: Relation::AddRemove };
/// let spent = account(&plan, 1.0, Question::EpsilonAt { delta: 1e-5 }, &Effort::default())?;
/// assert!(spent.lower.unwrap() > 1.826 && spent.upper.unwrap() < 1.829);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn account(plan: &Plan, kappa: f64, question: Question, effort: &Effort<'_>) -> Result<Bound> {
    domain::non_negative(KAPPA.name, kappa)?;
    question.check()?;
    let plan = &plan.simplified();
    let route = route(plan)?;
    if effort.method == Method::ClosedForm {
        return Err(rung::refusal(effort.method, route));
    }
    if let Some(bound) = without_accounting(plan, route, kappa, question)? {
        return Ok(bound);
    }
    let mut bounds = Vec::new();
    for method in methods(effort.method, route, plan.lambda) {
        (effort.progress)(&method.to_string());
        bounds.push(answer(plan, route, kappa, question, method, effort)?);
    }
    // Every lower side holds, also that of a method whose upper side another one beats.
    let lower = lower_side(plan, route, kappa, question)?;
    let known = bounds.iter().filter_map(|bound| bound.lower).fold(lower, f64::max);
    let mut best = Bound::best_of(bounds)?;
    if best.warrant == Warrant::Proven || best.warrant.confidence().is_some() {
        best.lower = Some(best.value.map_or(known, |value| known.min(value)));
    }
    Ok(best)
}

/// The methods that answer for a route, the one expected to be best last.
pub(super) fn methods(asked: Method, route: Route, lambda: f64) -> Vec<Method> {
    match (asked, route) {
        (Method::Auto, Route::Gaussian { .. }) => vec![Method::L1],
        (Method::Auto, Route::Pair { .. }) if lambda > 0.0 => {
            vec![Method::L1, Method::L1b, Method::L2, Method::L2t, Method::L2td]
        }
        (Method::Auto, Route::Triangle { .. }) => vec![Method::L1, Method::L1b, Method::L2td],
        (Method::Auto, Route::Pair { .. } | Route::Profile(Profile::FixedReplaceOne)) => {
            vec![Method::L1b, Method::Rdp, Method::Pld]
        }
        (Method::Auto, Route::Profile(_)) => vec![Method::L1b, Method::Pld],
        (method, _) => vec![method],
    }
}

/// Runs that release nothing, runs without noise, and questions with an obvious answer.
fn without_accounting(
    plan: &Plan,
    route: Route,
    kappa: f64,
    question: Question,
) -> Result<Option<Bound>> {
    let quantity = question.quantity();
    if plan.steps == 0 {
        return Bound::exact(quantity, 0.0, TRIVIAL).map(Some);
    }
    match question {
        Question::EpsilonAt { delta } if delta >= 1.0 => {
            return Bound::exact(quantity, 0.0, Source::new("ours", "delta = 1 allows everything"))
                .map(Some);
        }
        Question::EpsilonAt { delta } if delta <= 0.0 => {
            let reason = "Gaussian noise gives no finite epsilon at delta = 0; give a delta > 0";
            return Ok(Some(Bound::refused(quantity, PLD, reason)));
        }
        _ => {}
    }
    if kappa > 0.0 {
        return Ok(None);
    }
    #[allow(clippy::cast_precision_loss)] // checked by the plan
    let participates = match route {
        Route::Gaussian { .. } => 1.0,
        _ => -(plan.steps as f64 * (-plan.rate()?).ln_1p()).exp_m1(),
    };
    let source = Source::new("ours", "probability that the record takes part (no noise)");
    match question {
        Question::DeltaAt { .. } => Bound::exact(quantity, participates, source).map(Some),
        Question::EpsilonAt { delta } if participates * (1.0 + 1e-12) <= delta => {
            Bound::exact(quantity, 0.0, source).map(Some)
        }
        Question::EpsilonAt { .. } => Ok(Some(Bound::refused(quantity, source, NO_NOISE))),
    }
}

fn answer(
    plan: &Plan,
    route: Route,
    kappa: f64,
    question: Question,
    method: Method,
    effort: &Effort<'_>,
) -> Result<Bound> {
    let quantity = question.quantity();
    match method {
        Method::Pld => {
            let step = one_step(plan, route, kappa)?;
            let Bracket { lower, upper } = match question {
                Question::EpsilonAt { delta } => pld::epsilon(&step, plan.steps, delta)?,
                Question::DeltaAt { epsilon } => {
                    let Bracket { lower, upper } = pld::delta(&step, plan.steps, epsilon)?;
                    // Calibrations rest on the one-sided evaluation: an account of their noise agrees.
                    let one_sided = pld::upper_delta(&step, plan.steps, epsilon)?;
                    Bracket { lower, upper: upper.min(one_sided) }
                }
            };
            finish(quantity, Some(lower), upper, PLD)
        }
        Method::Rdp => {
            let (source, value) = renyi(plan, route, kappa, question)?;
            finish(quantity, None, value, source)
        }
        Method::L3 => monte_carlo(plan, route, kappa, question, effort),
        _ => {
            let (rung, value) = on_finer_grids(plan, route, kappa, question, method, effort)?;
            let exact = matches!(route, Route::Gaussian { .. });
            let lower = exact.then_some(value * (1.0 - 1e-9)).filter(|lower| lower.is_finite());
            finish(quantity, lower, value, rung.source())
        }
    }
}

/// The best value of a rung on finer and finer grids, while time is left.
fn on_finer_grids(
    plan: &Plan,
    route: Route,
    kappa: f64,
    question: Question,
    method: Method,
    effort: &Effort<'_>,
) -> Result<(Rung, f64)> {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut rung = Rung::new(method, plan, route, Resolution::COARSE)?;
    for &(resolution, name) in rung::grids(effort.method, method) {
        let begun = Instant::now();
        (effort.progress)(name);
        rung = rung.with_resolution(resolution);
        let value = match question {
            Question::DeltaAt { epsilon } => rung.profile(kappa, epsilon)?(epsilon),
            Question::EpsilonAt { delta } => epsilon_at(&rung, plan, route, kappa, delta, effort)?,
        };
        best = best.min(value);
        // A finer grid takes up to five times as long as the one before.
        if start.elapsed() + 5 * begun.elapsed() > effort.budget {
            break;
        }
    }
    Ok((rung, best))
}

fn finish(quantity: Quantity, lower: Option<f64>, upper: f64, source: Source) -> Result<Bound> {
    let mut bound = Bound::bracket(quantity, lower.unwrap_or(0.0), upper, source)?;
    if lower.is_none() {
        bound.lower = None;
    }
    if bound.value.is_none() {
        bound.reason = Some(NO_EPSILON.into());
    }
    Ok(bound)
}

/// Width of the last re-centring of a transfer bound, relative to ε.
const RECENTRED: f64 = 0.02;
/// No ε above this is searched for, by bounds and by witnesses.
const LARGEST_EPSILON: f64 = 1e300;
const LARGEST_WITNESSED_EPSILON: f64 = 1e12;

/// The smallest ε found with `δ(ε) <= delta` on a rung; `+inf` if there is none.
fn epsilon_at(
    rung: &Rung,
    plan: &Plan,
    route: Route,
    kappa: f64,
    delta: f64,
    effort: &Effort<'_>,
) -> Result<f64> {
    let mut around = 1.0;
    if !rung.is_sharp_everywhere() {
        let plain = Rung::new(Method::L1b, plan, route, Resolution::COARSE)?;
        around = smallest_epsilon(&plain.profile(kappa, 1.0)?, delta).min(1e3);
    }
    let mut best = f64::INFINITY;
    let begun = Instant::now();
    for _ in 0..5 {
        let epsilon = smallest_epsilon(&rung.profile(kappa, around)?, delta);
        best = best.min(epsilon);
        let settled = (epsilon - around).abs() <= RECENTRED * around.max(1e-3);
        let late = begun.elapsed() > effort.budget;
        if rung.is_sharp_everywhere() || settled || late || !epsilon.is_finite() {
            break;
        }
        around = epsilon;
    }
    Ok(best)
}

fn smallest_epsilon(profile: &rung::Profile<'_>, delta: f64) -> f64 {
    if profile(0.0) <= delta {
        return 0.0;
    }
    let (mut above, mut below) = (0.0, 1.0);
    while profile(below) > delta {
        if below > LARGEST_EPSILON {
            return f64::INFINITY;
        }
        above = below;
        below *= 2.0;
    }
    while below - above > 1e-9 * below {
        let middle = 0.5 * (above + below);
        if profile(middle) > delta { above = middle } else { below = middle }
    }
    below
}

/// The step that dominates a run with λ = 0.
pub(super) fn one_step(plan: &Plan, route: Route, kappa: f64) -> Result<OneStep> {
    let rate = plan.rate()?;
    match route {
        _ if plan.lambda > 0.0 => Err(rung::refusal(Method::Pld, route)),
        Route::Pair { sensitivity } => OneStep::poisson(rate, kappa / sensitivity),
        Route::Profile(Profile::PoissonReplaceOne) => OneStep::poisson_replace_one(rate, kappa),
        Route::Profile(Profile::FixedReplaceOne) => OneStep::fixed_replace_one(rate, kappa),
        Route::Profile(Profile::FixedZeroOut) => OneStep::fixed_zero_out(rate, kappa),
        Route::Gaussian { participations: 0 | 1, .. } if plan.steps > 1 => {
            Err(rung::refusal(Method::Pld, route))
        }
        Route::Gaussian { sensitivity, .. } => OneStep::poisson(1.0, kappa / sensitivity),
        Route::Triangle { .. } => Err(rung::refusal(Method::Pld, route)),
    }
}

fn renyi(plan: &Plan, route: Route, kappa: f64, question: Question) -> Result<(Source, f64)> {
    let (rate, steps) = (plan.rate()?, plan.steps);
    match route {
        Route::Pair { sensitivity } if plan.lambda == 0.0 => {
            let sigma = kappa / sensitivity;
            let value = match question {
                Question::EpsilonAt { delta } => rdp::poisson_epsilon(rate, sigma, steps, delta)?,
                Question::DeltaAt { epsilon } => rdp::poisson_delta(rate, sigma, steps, epsilon)?,
            };
            Ok((RDP, value))
        }
        Route::Profile(Profile::FixedReplaceOne) => {
            let sigma = kappa / 2.0;
            let value = match question {
                Question::EpsilonAt { delta } => {
                    rdp::fixed_size_epsilon(rate, sigma, steps, delta)?
                }
                Question::DeltaAt { epsilon } => {
                    rdp::fixed_size_delta(rate, sigma, steps, epsilon)?
                }
            };
            Ok((WBK, value))
        }
        _ => Err(rung::refusal(Method::Rdp, route)),
    }
}

fn monte_carlo(
    plan: &Plan,
    route: Route,
    kappa: f64,
    question: Question,
    effort: &Effort<'_>,
) -> Result<Bound> {
    let Route::Pair { sensitivity } = route else {
        return Err(rung::refusal(Method::L3, route));
    };
    let Question::DeltaAt { epsilon } = question else {
        return Err(BoundError::Unproven {
            request: "epsilon at a given delta by method l3".into(),
            why: "a Monte Carlo certificate bounds delta at an epsilon fixed beforehand",
            nearest: "delta at a given epsilon by method l3, or method l2td",
        });
    };
    let pair = Pair::new(plan.rate()?, kappa / sensitivity, plan.lambda, plan.steps)?;
    let coarse = Rung::new(Method::L2td, plan, route, Resolution::COARSE)?;
    let scale = coarse.profile(kappa, epsilon)?(epsilon).clamp(1e-300, 0.999);
    let certified = monte_carlo::certify(&pair, epsilon, scale, &effort.monte_carlo, &|_| true)?;
    let confidence = 1.0 - certified.failure_probability();
    let mut bound = Bound::upper_bound(DELTA, certified.upper().min(1.0), L3)?;
    bound.warrant = Warrant::Confidence(confidence);
    Ok(bound
        .with_term("forward", certified.forward.upper)
        .with_term("reverse", certified.reverse.upper))
}

pub(super) const L3: Source = Source::new(
    "ours",
    "L3 importance sampling and Ehrhard limits; wrong only with the stated probability over the \
     accountant's own seeds (docs/theory/accounting.md)",
);

/// The part of the bracket from below that no method above supplies.
fn lower_side(plan: &Plan, route: Route, kappa: f64, question: Question) -> Result<f64> {
    if let Route::Gaussian { .. } = route {
        return Ok(0.0);
    }
    let step = lower::LargestStep::new(plan, route, kappa)?;
    match question {
        Question::DeltaAt { epsilon } => {
            let event = step.map_or(0.0, |step| step.delta(epsilon));
            Ok(lower::delta(plan, route, kappa, epsilon)?.max(event))
        }
        Question::EpsilonAt { delta } => {
            let event = step.map_or(0.0, |step| step.epsilon(delta));
            Ok(linear_epsilon(plan, route, kappa, delta)?.max(event))
        }
    }
}

/// The largest ε at which the linear statistic still shows more than `delta`.
pub(super) fn linear_epsilon(plan: &Plan, route: Route, kappa: f64, delta: f64) -> Result<f64> {
    let shows =
        |epsilon: f64| Ok::<_, BoundError>(lower::delta(plan, route, kappa, epsilon)? > delta);
    if !shows(0.0)? {
        return Ok(0.0);
    }
    let (mut shown, mut open) = (0.0, 1.0);
    while shows(open)? {
        if open > LARGEST_WITNESSED_EPSILON {
            return Ok(open);
        }
        shown = open;
        open *= 2.0;
    }
    while open - shown > 1e-6 * open {
        let middle = 0.5 * (shown + open);
        if shows(middle)? { shown = middle } else { open = middle }
    }
    Ok(shown)
}
