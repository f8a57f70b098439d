//! The pair of a run with correlated noise by name: exact ratios, and the rungs of the ladder.

use super::accountant::delta_of_steps;
use super::parameters::*;
use super::{Arguments, Entry, entry, replay};
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::privacy::closed_form::KAPPA as KAPPA_OF_RUN;
use crate::privacy::correlated::ladder::{
    fixed_zero_out, linear_test, mixture::Mixture, participation_cap, replica, reverse_jensen,
};
use crate::privacy::correlated::monte_carlo::log_likelihood_ratio;
use crate::privacy::correlated::transfer::{Repulsion, Resolution, Transfer};
use crate::privacy::gaussian::{self, DELTA as DELTA_OF_PAIR};
use crate::privacy::{
    Effort, Method, Order, Pair, Plan, Relation, Sampler, Target, calibrate, participation_norm,
    pld,
};
use crate::warrant::{Bound, Quantity, Source};

const DOCS: &str = "ours, docs/theory/accounting.md";
const RATIO: Quantity = Quantity { name: "log_likelihood_ratio", unit: "nats" };
const MOMENT_OF_RATIO: Quantity = Quantity { name: "log_moment", unit: "nats" };

fn pair(a: &Arguments<'_>) -> Result<Pair> {
    let lambda = a.optional_number("lambda")?.unwrap_or(0.0);
    let steps = a.steps_up_to(10_000_000, LADDER_STEPS.range)?;
    Pair::new(a.number("sampling_rate")?, a.number("kappa")?, lambda, steps)
}

/// Where a transfer bound takes seconds rather than minutes.
fn is_quick(pair: &Pair) -> bool {
    pair.steps() <= 10_000 && pair.noise_multiplier() >= 0.2 && pair.lambda() <= 0.95
}

/// `L(x)`: by its definition for short runs, enclosed by rounding the overlaps for longer ones.
fn llr(a: &Arguments<'_>) -> Result<Bound> {
    let x = a.list("x")?;
    let steps = a.optional_count("steps")?.unwrap_or(x.len() as u64);
    let lambda = a.optional_number("lambda")?.unwrap_or(0.0);
    let pair = Pair::new(a.number("sampling_rate")?, a.number("kappa")?, lambda, steps)?;
    for &value in x {
        domain::finite("x", value)?;
    }
    let enclosed = log_likelihood_ratio(&pair, x);
    if x.len() as u64 != steps || steps > replay::MOST_STEPS {
        let found = enclosed?;
        let source = Source::new("ours", "overlaps rounded both ways (docs/theory/accounting.md)");
        let (lower, upper) = (found.lower.min(found.upper), found.upper);
        return Ok(Bound::bracket(RATIO, lower, upper, source)?
            .with_term("without overlap", found.without_overlap));
    }
    let source = Source::new("ours", "all participation patterns (docs/theory/accounting.md)");
    let exact = replay::log_ratio(&pair, x);
    if !(exact.value.is_finite() && exact.error.is_finite()) {
        let reason = "the exponents overflow at this noise; raise kappa or shrink x";
        return Ok(Bound::refused(RATIO, source, reason));
    }
    let (lower, upper) = (exact.value - exact.error, exact.value + exact.error);
    let mut bound = Bound::bracket(RATIO, lower, upper, source)?;
    bound.value = Some(exact.value);
    // Refused only where every step is taken, and then nothing can be said without the overlap.
    if let Ok(found) = enclosed
        && found.without_overlap.is_finite()
    {
        bound = bound.with_term("without overlap", found.without_overlap);
    }
    Ok(bound)
}

/// A δ that is certainly below this is not worth a finer rung.
const NEGLIGIBLE_DELTA: f64 = 1e-25;

/// Rungs that take no time, for one order of the pair.
fn cheap_rungs(pair: &Pair, order: Order, epsilon: f64) -> Result<Vec<(f64, &'static str)>> {
    let mixture = Mixture::new(pair.rate(), pair.lambda(), pair.steps())?;
    let mixture = mixture.delta(pair.noise_multiplier(), epsilon)?;
    let special = match order {
        Order::Forward => (replica::delta(pair, epsilon), "L2 replica moments"),
        Order::Reverse => (reverse_jensen::delta(pair, epsilon), "L2R Jensen"),
    };
    let cap = (participation_cap::delta(pair, epsilon), "L1 participation cap");
    Ok(vec![cap, (mixture, "L1b mixture over participations"), special])
}

/// The best rung of one order between the linear test and 1.
fn one_order(pair: &Pair, order: Order, epsilon: f64) -> Result<Bound> {
    let mut all = cheap_rungs(pair, order, epsilon)?;
    let mut lower = linear_test::delta(pair, epsilon, order);
    let least = all.iter().map(|rung| rung.0).fold(1.0, f64::min);
    // The likelihood ratio is at least (1 − r)^T.
    if order == Order::Reverse && epsilon >= -pair.horizon() * (-pair.rate()).ln_1p() {
        all.push((0.0, "smallest likelihood ratio"));
    } else if least >= NEGLIGIBLE_DELTA && is_quick(pair) {
        if pair.lambda() == 0.0 {
            let step = pld::OneStep::poisson(pair.rate(), pair.noise_multiplier())?;
            let bracket = pld::delta_in_order(&step, order, pair.steps(), epsilon)?;
            lower = lower.max(bracket.lower);
            all.push((bracket.upper, "privacy-loss distribution"));
        } else {
            let bound = Transfer::new(pair, order, epsilon, Repulsion::Kept, Resolution::FINE)?;
            all.push((bound.delta(epsilon), "L2TD transfer bound"));
        }
    }
    let rung = |(value, name): (f64, &'static str)| {
        let statement = format!("{name} (docs/theory/accounting.md)").into();
        let source = Source { work: "ours".into(), statement };
        let value = value.min(1.0);
        Bound::bracket(DELTA_OF_PAIR, lower.min(value), value, source)
    };
    Bound::best_of(all.into_iter().map(rung).collect::<Result<_>>()?)
}

fn correlated_delta(a: &Arguments<'_>) -> Result<Bound> {
    let pair = pair(a)?;
    let epsilon = domain::non_negative("epsilon", a.number("epsilon")?)?;
    let word = a.optional_word("order")?.unwrap_or("both");
    if pair.rate() == 1.0 || pair.rate() == 0.0 || pair.steps() == 0 {
        return without_amplification(&pair, epsilon);
    }
    match word {
        "forward" => one_order(&pair, Order::Forward, epsilon),
        "reverse" => one_order(&pair, Order::Reverse, epsilon),
        "both" => {
            let [forward, reverse] = Order::ALL.map(|order| one_order(&pair, order, epsilon));
            let (forward, reverse) = (forward?, reverse?);
            let sides = [forward.value, reverse.value].map(|value| value.unwrap_or(1.0));
            // Either lower side holds for the larger of the two.
            let known = forward.lower.unwrap_or(0.0).max(reverse.lower.unwrap_or(0.0));
            let mut larger = if sides[0] >= sides[1] { forward } else { reverse };
            larger.lower = larger.value.map(|value| known.min(value));
            Ok(larger.with_term("forward", sides[0]).with_term("reverse", sides[1]))
        }
        _ => Err(BoundError::Input {
            parameter: "order".into(),
            problem: format!("{word:?} is unknown; expected both, forward or reverse"),
        }),
    }
}

/// A record that is always or never in the batch: exactly Gaussian.
fn without_amplification(pair: &Pair, epsilon: f64) -> Result<Bound> {
    let norm = if pair.rate() == 0.0 || pair.steps() == 0 {
        0.0
    } else {
        participation_norm(pair.lambda(), pair.steps(), pair.steps())?
    };
    gaussian::delta_at(norm / pair.noise_multiplier(), epsilon)
}

fn transfer(a: &Arguments<'_>, repulsion: Repulsion, statement: &'static str) -> Result<Bound> {
    let pair = pair(a)?;
    if !is_quick(&pair) {
        return Err(BoundError::OutOfRange {
            parameter: "lambda",
            value: Shown(pair.lambda()),
            allowed: "at most 0.95, with at most 1e4 steps and kappa at least 0.2",
            remedy: "correlated_delta answers there by the cheaper rungs",
        });
    }
    let epsilon = domain::non_negative("epsilon", a.number("epsilon")?)?;
    // Short runs with many overlaps are asked for here: they need finer dampings than long ones.
    let mut resolution = Resolution { damping_ratio: 0.2, ..Resolution::FINEST };
    if let Some(spacing) = a.optional_number("spacing")? {
        if !(0.05..=1.0).contains(&spacing) {
            return Err(BoundError::OutOfRange {
                parameter: "spacing",
                value: Shown(spacing),
                allowed: "[0.05, 1]",
                remedy: "leave it out for the resolution of answers",
            });
        }
        resolution.spacing = spacing;
    }
    if let Some(spacing) = a.optional_number("h_L")? {
        domain::positive("h_L", spacing)?;
    }
    if pair.rate() == 1.0 {
        return without_amplification(&pair, epsilon);
    }
    let mut upper = replica::delta(&pair, epsilon);
    let mut source = Source::new("ours", "L2 replica moments (docs/theory/accounting.md)");
    if upper >= NEGLIGIBLE_DELTA {
        let bound = Transfer::new(&pair, Order::Forward, epsilon, repulsion, resolution)?;
        (upper, source) = (bound.delta(epsilon), Source::new("ours", statement));
    }
    let mut bound = Bound::upper_bound(DELTA_OF_PAIR, upper, source)?;
    bound.upper = Some(upper);
    Ok(bound)
}

fn moment(a: &Arguments<'_>) -> Result<Bound> {
    let alpha = a.count("alpha")?;
    let order = u32::try_from(alpha).ok().filter(|order| (1..=1000).contains(order));
    let Some(order) = order else {
        return Err(BoundError::OutOfRange {
            parameter: "alpha",
            value: Shown(a.number("alpha")?),
            allowed: "a whole number from 1 to 1000",
            remedy: "orders above 120 hardly ever give the best bound",
        });
    };
    let pair = pair(a)?;
    let source = Source::new("ours", "L2 replica moments (docs/theory/accounting.md)");
    if pair.lambda() > 0.99 && pair.steps() > 1 {
        let reason = "the replica moments take too long for lambda above 0.99; lower lambda";
        return Ok(Bound::refused(MOMENT_OF_RATIO, source, reason));
    }
    Bound::upper_bound(MOMENT_OF_RATIO, replica::log_moment(&pair, order), source)
}

fn linear_lower_kappa(a: &Arguments<'_>) -> Result<Bound> {
    let rate = domain::batch_of("batch", a.count("batch")?, "n", a.count("n")?)?;
    let lambda = a.optional_number("lambda")?.unwrap_or(0.0);
    let (epsilon, delta) = (a.number("epsilon")?, a.number("delta")?);
    let steps = a.steps_up_to(10_000_000, LADDER_STEPS.range)?;
    let refuted = linear_test::largest_refuted_noise(rate, lambda, steps, epsilon, delta)?;
    let source = Source::new("ours", "linear test (docs/theory/accounting.md)");
    Bound::lower_bound(KAPPA_OF_RUN, refuted.unwrap_or(0.0), source)
}

fn fixed_size_counterexample(a: &Arguments<'_>) -> Result<Bound> {
    let pair = pair(a)?;
    let epsilon = domain::non_negative("epsilon", a.number("epsilon")?)?;
    let [forward, reverse] = Order::ALL.map(|order| fixed_zero_out::delta(&pair, epsilon, order));
    let source =
        Source::new("ours", "other gradients -u, the record +u against 0 (docs/errata.md E1)");
    let mut bound = Bound::lower_bound(DELTA_OF_PAIR, forward.max(reverse), source)?;
    bound.lower = bound.value;
    Ok(bound.with_term("forward", forward).with_term("reverse", reverse))
}

fn participation_cap_kappa(a: &Arguments<'_>) -> Result<Bound> {
    let plan = Plan {
        n: a.count("n")?,
        batch: a.count("batch")?,
        steps: a.steps_up_to(10_000_000, LADDER_STEPS.range)?,
        lambda: a.optional_number("lambda")?.unwrap_or(0.0),
        sampler: Sampler::Poisson,
        relation: Relation::AddRemove,
    };
    let target = Target { epsilon: a.number("epsilon")?, delta: a.number("delta")? };
    calibrate(&plan, target, &Effort { method: Method::L1, ..Effort::default() })
}

const LAMBDA: Parameter = UNIT_CORRELATION.optional();
const ANY_STEPS: Parameter = RUN_STEPS.optional();
const PAIR: &[Parameter] = &[LADDER_STEPS, LAMBDA, SAMPLING_RATE, PAIR_KAPPA, EPSILON];
const PAIR_IN_ORDER: &[Parameter] =
    &[LADDER_STEPS, LAMBDA, SAMPLING_RATE, PAIR_KAPPA, EPSILON, PAIR_ORDER.optional()];
const PAIR_ON_GRID: &[Parameter] = &[
    TRANSFER_STEPS,
    TRANSFER_CORRELATION.optional(),
    SAMPLING_RATE,
    TRANSFER_KAPPA,
    EPSILON,
    POSITION_SPACING.optional(),
    RATIO_SPACING.optional(),
];
const TARGET_OF_RUN: &[Parameter] = &[N, KAN_BATCH, LADDER_STEPS, LAMBDA, EPSILON, OPEN_DELTA];
const POSITIVE_TARGET_OF_RUN: &[Parameter] =
    &[N, KAN_BATCH, LADDER_STEPS, LAMBDA, POSITIVE_EPSILON, OPEN_DELTA];

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        "llr",
        "log-likelihood ratio of the pair at an output; exact up to 16 steps",
        &[ANY_STEPS, LAMBDA, SAMPLING_RATE, PAIR_KAPPA, OUTPUTS],
        DOCS,
        llr,
    ),
    entry(
        "correlated_delta",
        "delta of the pair, between the linear test and the best deterministic rung (L2TD as far as transfer_repulsion_upper goes)",
        PAIR_IN_ORDER,
        DOCS,
        correlated_delta,
    ),
    entry(
        "lambda0_pld",
        "delta of the pair at lambda = 0, as a bracket",
        &[RUN_STEPS, SAMPLING_RATE, PAIR_KAPPA, EPSILON],
        DOCS,
        |a| {
            let kappa = domain::positive("kappa", a.number("kappa")?)?;
            let step = pld::OneStep::poisson(a.number("sampling_rate")?, kappa)?;
            delta_of_steps(&step, a.count("steps")?, a.number("epsilon")?)
        },
    ),
    entry(
        "transfer_upper",
        "delta of the pair, forward order, by the transfer bound L2T; h_L has no effect",
        PAIR_ON_GRID,
        DOCS,
        |a| transfer(a, Repulsion::Dropped, "L2T transfer bound (docs/theory/accounting.md)"),
    ),
    entry(
        "transfer_repulsion_upper",
        "delta of the pair, forward order, by the transfer bound L2TD; h_L has no effect",
        PAIR_ON_GRID,
        DOCS,
        |a| transfer(a, Repulsion::Kept, "L2TD transfer bound (docs/theory/accounting.md)"),
    ),
    entry(
        "moment",
        "logarithm of a moment of the likelihood ratio, from above (L2)",
        &[LADDER_STEPS, LAMBDA, SAMPLING_RATE, PAIR_KAPPA, REPLICAS],
        DOCS,
        moment,
    ),
    entry(
        "kappa_l1",
        "smallest kappa that the participation cap L1 proves, at sensitivity 1",
        POSITIVE_TARGET_OF_RUN,
        DOCS,
        participation_cap_kappa,
    ),
    entry(
        "linear_lower_kappa",
        "largest kappa that the linear test refutes, at sensitivity 1",
        TARGET_OF_RUN,
        DOCS,
        linear_lower_kappa,
    ),
    entry(
        "fixed_size_counterexample",
        "delta that fixed-size batches reach under zero-out, whatever is claimed",
        PAIR,
        DOCS,
        fixed_size_counterexample,
    ),
];
