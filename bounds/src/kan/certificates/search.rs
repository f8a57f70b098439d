//! The search over schedules, comparators and failure probabilities.

use super::certify::{Claim, Failures, Route};
use super::setting::{Evaluated, Losses, Plan, Setting};
use super::training::count;
use super::{short_above, short_below};
use crate::error::{BoundError, Result};
use crate::kan::{Linearisation, SELF_BOUNDING_CONSTANT, free_comparator, number};
use crate::solve::minimize;
use crate::warrant::{Alternative, Bound};

/// A comparator by its horizon.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) horizon: f64,
    pub(super) losses: Losses,
    coefficients: Vec<f64>,
}

/// The best of a search.
pub(super) struct Chosen {
    pub(super) route: Route,
    pub(super) comparator: Candidate,
    pub(super) evaluated: Evaluated,
    pub(super) failures: Failures,
    /// The other routes.
    pub(super) alternatives: Vec<Alternative>,
    /// All comparators that were looked at.
    pub(super) comparators: Vec<Candidate>,
}

/// One evaluation.
#[derive(Clone)]
pub(super) struct Try {
    pub(super) plan: Plan,
    /// Which of the comparators.
    pub(super) place: usize,
    pub(super) evaluated: Evaluated,
    score: Score,
}

/// Smaller is better: a value before none, among none the smallest violation.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Score {
    Value(f64),
    Violation(f64),
}

impl Score {
    fn of(bound: &Bound) -> Self {
        match bound.value {
            Some(value) => Self::Value(value),
            None => Self::Violation(bound.checks.iter().filter(|check| !check.holds).fold(
                0.0,
                |sum, check| {
                    let size = check.left.abs().max(check.right.abs()).max(f64::MIN_POSITIVE);
                    sum + (check.slack.abs() / size).min(2.0)
                },
            )),
        }
    }
}

pub(super) fn search(setting: &Setting<'_>, seen: &Linearisation<'_>) -> Result<Chosen> {
    let question = setting.question;
    let mut comparators = comparators(seen, &horizons(setting, seen))?;
    let mut found: Vec<(Route, Try)> = Vec::new();
    let mut refusal = None;
    for &route in &question.routes {
        match best(setting, route, &comparators, &grid(setting, route, 1), &question.failures) {
            Ok(one) => found.push((route, one)),
            // Theorem S covers most: what it refuses says more than what the others do.
            Err(error) if question.routes.len() > 1 && is_refusal(&error) => {
                if route == Route::S || refusal.is_none() {
                    refusal = Some(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
    let order = |a: &(Route, Try), b: &(Route, Try)| {
        a.1.score.partial_cmp(&b.1.score).unwrap_or(std::cmp::Ordering::Equal)
    };
    let Some((route, mut leader)) = found.iter().cloned().min_by(order) else {
        return Err(refusal.unwrap_or(BoundError::Numerical {
            what: "certificate",
            detail: "no schedule of the search was within range",
        }));
    };
    if question.horizons.is_none() {
        refine(setting, route, seen, &mut comparators, &mut leader)?;
    }
    let mut failures = question.failures;
    if question.divide_failures && leader.evaluated.bound.value.is_some() {
        failures = divide(setting, route, &mut leader, &comparators)?;
    }
    let alternatives = found
        .into_iter()
        .filter(|(other, _)| *other != route)
        .map(|(_, one)| one.evaluated.bound.into())
        .collect();
    let Try { place, evaluated, .. } = leader;
    let comparator = comparators[place].clone();
    Ok(Chosen { route, comparator, evaluated, failures, alternatives, comparators })
}

/// Whether a route has no proof for the question, so that others may answer.
fn is_refusal(error: &BoundError) -> bool {
    matches!(error, BoundError::Unproven { .. })
}

const FIRST: f64 = 3.0;
const LAST: f64 = 3000.0;

/// `count` points from 3 to 3000, equally spaced on a log scale.
fn geometric(points: usize) -> Vec<f64> {
    let ratio = (LAST / FIRST).ln() / number(points - 1);
    (0..points).map(|index| short_above(FIRST * libm::exp(ratio * number(index)), 6)).collect()
}

/// Fewer comparators where each takes long: Newton steps are cubic in the number of inputs.
fn horizons(setting: &Setting<'_>, seen: &Linearisation<'_>) -> Vec<f64> {
    let question = setting.question;
    if let Some(given) = &question.horizons {
        let mut given = given.clone();
        given.sort_by(f64::total_cmp);
        return given;
    }
    let (rows, width) = (number(seen.sample().len()), number(seen.network().width()));
    let work = rows * width * (rows + 60.0) + 5.0 * rows.powi(3);
    let points = if work < 2e7 {
        45
    } else if work < 5e8 {
        17
    } else {
        9
    };
    let mut all = geometric(points);
    if let (Some(eta), Some(steps)) = (question.schedule.step_size, question.schedule.steps) {
        all.push(eta * count(steps));
        all.sort_by(f64::total_cmp);
    }
    all
}

fn comparators(seen: &Linearisation<'_>, horizons: &[f64]) -> Result<Vec<Candidate>> {
    let mut all: Vec<Candidate> = Vec::new();
    for &horizon in horizons {
        let start = all.last().map(|before| before.coefficients.as_slice());
        all.push(candidate(seen, horizon, start)?);
    }
    Ok(all)
}

fn candidate(seen: &Linearisation<'_>, horizon: f64, start: Option<&[f64]>) -> Result<Candidate> {
    let found = free_comparator(seen, horizon, start)?;
    let losses =
        Losses { distance: found.distance, mean: found.mean_loss, largest: found.largest_loss };
    Ok(Candidate { horizon, losses, coefficients: found.coefficients })
}

/// The schedules of the search, every `stride`-th horizon.
pub(super) fn grid(setting: &Setting<'_>, route: Route, stride: usize) -> Vec<Plan> {
    let schedule = setting.question.schedule;
    let landscape = setting.landscape;
    let square = landscape.gradient * landscape.gradient;
    let sharp = 1.0 / (SELF_BOUNDING_CONSTANT * square);
    // The paper's routes need η ≤ 1/(12β).
    let paper = (1.0 - 1e-9) / (12.0 * landscape.smoothness);
    let sizes: Vec<f64> = match (schedule.step_size, route) {
        (Some(eta), _) => vec![eta],
        (None, Route::P | Route::D) => [0.25, 0.5, 1.0].map(|share| share * paper).to_vec(),
        (None, Route::S | Route::SGd) => [0.1, 0.2, 0.4, 0.7].map(|share| share * sharp).to_vec(),
    };
    let sizes = sizes.into_iter().filter(|eta| eta.is_finite() && *eta > 0.0);
    let mut plans = Vec::new();
    for eta in sizes {
        if let Some(steps) = schedule.steps {
            plans.push(Plan { step_size: eta, steps });
            continue;
        }
        for horizon in geometric(45).into_iter().step_by(stride) {
            plans.extend(plan(setting, route, horizon, eta));
        }
    }
    plans
}

/// The schedule of about this step size whose horizon is `horizon`; with exactly this step size if it was given.
fn plan(setting: &Setting<'_>, route: Route, horizon: f64, eta: f64) -> Option<Plan> {
    let schedule = setting.question.schedule;
    let steps = horizon / eta;
    // Rounded up where the step size is at its limit.
    let steps = if matches!(route, Route::P | Route::D) { steps.ceil() } else { steps.round() };
    let steps = crate::domain::whole("steps", steps.max(2.0)).ok()?;
    if schedule.most_steps.is_some_and(|most| steps > most) {
        return None;
    }
    let step_size =
        if schedule.step_size.is_some() { eta } else { short_below(horizon / count(steps), 6) };
    Some(Plan { step_size, steps })
}

/// The best of all schedules with all comparators.
pub(super) fn best(
    setting: &Setting<'_>,
    route: Route,
    comparators: &[Candidate],
    plans: &[Plan],
    failures: &Failures,
) -> Result<Try> {
    let mut best: Option<Try> = None;
    let mut fault = None;
    for &plan in plans {
        let cap = setting.cap(plan, failures)?;
        for (place, candidate) in comparators.iter().enumerate() {
            match setting.evaluate(route, plan, cap, candidate.losses, failures) {
                Ok(evaluated) => {
                    let score = Score::of(&evaluated.bound);
                    if best.as_ref().is_none_or(|best| score < best.score) {
                        best = Some(Try { plan, place, evaluated, score });
                    }
                }
                Err(error @ BoundError::Numerical { .. }) => {
                    fault.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
    }
    best.ok_or_else(|| {
        fault.unwrap_or(BoundError::Input {
            parameter: "most_steps".into(),
            problem: "no allowed number of steps reaches a horizon of the search; allow more steps or larger ones, or \
                      give both the step size and the steps"
                .into(),
        })
    })
}

const REFINEMENTS: usize = 2;

/// Adds comparators and schedules between the best ones and their neighbours.
fn refine(
    setting: &Setting<'_>,
    route: Route,
    seen: &Linearisation<'_>,
    comparators: &mut Vec<Candidate>,
    leader: &mut Try,
) -> Result<()> {
    let failures = setting.question.failures;
    for _ in 0..REFINEMENTS {
        let here = comparators[leader.place].horizon;
        let neighbour = |larger: bool| {
            let beyond = comparators
                .iter()
                .map(|one| one.horizon)
                .filter(|other| if larger { *other > here } else { *other < here });
            let nearest = |a: f64, b: f64| if (a < b) == larger { a } else { b };
            beyond.reduce(nearest).map(|other| short_above((other * here).sqrt(), 6))
        };
        let start = comparators[leader.place].coefficients.clone();
        for horizon in [neighbour(false), neighbour(true)].into_iter().flatten() {
            comparators.push(candidate(seen, horizon, Some(&start))?);
        }
        let Plan { step_size, steps } = leader.plan;
        let horizon = step_size * count(steps);
        let mut plans = vec![leader.plan];
        if !setting.question.schedule.is_given() && setting.question.schedule.steps.is_none() {
            plans.extend(
                [0.8, 0.9, 1.1, 1.25]
                    .iter()
                    .filter_map(|share| plan(setting, route, horizon * share, step_size)),
            );
        }
        let next = best(setting, route, comparators, &plans, &failures)?;
        if next.score < leader.score {
            *leader = next;
        }
    }
    Ok(())
}

/// Divides the failure probabilities anew, one coordinate after the other.
///
/// For an expectation every one is free: its price is part of the value. Otherwise the total stays what it was.
fn divide(
    setting: &Setting<'_>,
    route: Route,
    leader: &mut Try,
    comparators: &[Candidate],
) -> Result<Failures> {
    const SWEEPS: usize = 3;
    let given = setting.question.failures;
    let losses = comparators[leader.place].losses;
    let plan = leader.plan;
    let free = setting.question.claim != Claim::Probability;
    let total = given.noise + given.batches + given.transfer + given.comparator.unwrap_or(0.0);
    let spend = |logs: &[f64; 4]| -> Failures {
        let parts = logs.map(libm::exp);
        let scale = if free { 1.0 } else { total / parts.iter().sum::<f64>() };
        let part = |index: usize| (parts[index] * scale).clamp(1e-300, 0.5);
        Failures {
            noise: part(0),
            batches: part(1),
            transfer: part(2),
            comparator: given.comparator.map(|_| part(3)),
            counts: if free { part(3) } else { given.counts },
        }
    };
    let value = |logs: &[f64; 4]| -> Result<f64> {
        let failures = spend(logs);
        let evaluated =
            setting.evaluate(route, plan, setting.cap(plan, &failures)?, losses, &failures)?;
        Ok(evaluated.bound.value.unwrap_or(f64::INFINITY))
    };
    let last = if free { given.counts } else { given.comparator.unwrap_or(1e-300) };
    let mut logs = [given.noise, given.batches, given.transfer, last].map(f64::ln);
    for _ in 0..SWEEPS {
        for index in 0..4 {
            if index == 3 && !free && given.comparator.is_none() {
                continue;
            }
            let at = |log: f64| {
                let mut moved = logs;
                moved[index] = log;
                value(&moved).unwrap_or(f64::INFINITY)
            };
            let found = minimize(at, -40.0, -1.0)?;
            if found.value < at(logs[index]) {
                logs[index] = found.argument;
            }
        }
    }
    let failures = spend(&logs);
    let evaluated =
        setting.evaluate(route, plan, setting.cap(plan, &failures)?, losses, &failures)?;
    let score = Score::of(&evaluated.bound);
    if score < leader.score {
        (leader.evaluated, leader.score) = (evaluated, score);
        return Ok(failures);
    }
    Ok(given)
}
