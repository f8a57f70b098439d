//! The accountant by name: runs with independent steps, and whole training runs.

use super::parameters::*;
use super::{Arguments, Entry, entry};
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::privacy::gaussian::{DELTA as DELTA_OF_RUN, EPSILON as EPSILON_OF_RUN, NOISE};
use crate::privacy::pld::{self, OneStep};
use crate::privacy::{
    Bracket, Effort, Method, Plan, Question, Target, Verdict, account, audit, calibrate, rdp,
};
use crate::warrant::{Bound, Check, Comparison, Quantity, Source};

const DOCS: &str = "ours, docs/theory/accounting.md";
const RENYI_DOCS: &str = "ours, docs/theory/renyi-replace-one.md";
const MIRONOV: &str = "Mironov, Talwar and Zhang 2019";
const WANG: &str = "Wang, Balle and Kasiviswanathan 2019";
const PLD: Source = Source::new("ours", "privacy-loss distribution (docs/theory/accounting.md)");
const RDP: Source = Source::new(MIRONOV, "Renyi differential privacy, all orders");
const WBK: Source = Source::new(WANG, "Theorem 27");
const NO_EPSILON: &str = "no finite epsilon holds at this delta: at delta = 0, or without noise, nothing hides \
     the record; raise delta or the noise";

const RENYI: Quantity = Quantity { name: "renyi_epsilon", unit: "nats" };

/// A bracket as a bound; an infinite upper side is a refusal.
fn bracketed(quantity: Quantity, bracket: Bracket) -> Result<Bound> {
    if bracket.upper == f64::INFINITY {
        return Ok(Bound::refused(quantity, PLD, NO_EPSILON));
    }
    Bound::bracket(quantity, bracket.lower, bracket.upper, PLD)
}

fn poisson_step(a: &Arguments<'_>) -> Result<OneStep> {
    OneStep::poisson(a.number("sampling_rate")?, a.number("noise_multiplier")?)
}

/// Below this noise one participation gives the record away (ε in the thousands): a lattice for the
/// losses would be huge, and RDP says as much in no time.
const LEAST_LATTICE_NOISE: f64 = 0.02;

fn needs_no_lattice(noise: f64) -> bool {
    noise > 0.0 && noise < LEAST_LATTICE_NOISE
}

fn poisson_epsilon(a: &Arguments<'_>) -> Result<Bound> {
    let (step, steps) = (poisson_step(a)?, a.count("steps")?);
    let delta = domain::probability("delta", a.number("delta")?)?;
    if needs_no_lattice(step.noise()) {
        let upper = rdp::poisson_epsilon(step.rate(), step.noise(), steps, delta)?;
        return one_sided(EPSILON_OF_RUN, upper, RDP);
    }
    bracketed(EPSILON_OF_RUN, pld::epsilon(&step, steps, delta)?)
}

fn poisson_delta(a: &Arguments<'_>) -> Result<Bound> {
    delta_of_steps(&poisson_step(a)?, a.count("steps")?, a.number("epsilon")?)
}

/// A δ that is certainly below this is not worth a lattice that resolves it.
const NEGLIGIBLE_DELTA: f64 = 1e-25;

/// δ of Poisson batches as a bracket.
pub(super) fn delta_of_steps(step: &OneStep, steps: u64, epsilon: f64) -> Result<Bound> {
    if step.noise() > 0.0 {
        let upper = rdp::poisson_delta(step.rate(), step.noise(), steps, epsilon)?;
        if needs_no_lattice(step.noise()) || upper < NEGLIGIBLE_DELTA {
            return one_sided(DELTA_OF_RUN, upper, RDP);
        }
    }
    bracketed(DELTA_OF_RUN, pld::delta(step, steps, epsilon)?)
}

fn one_sided(quantity: Quantity, upper: f64, source: Source) -> Result<Bound> {
    if upper == f64::INFINITY {
        return Ok(Bound::refused(quantity, source, NO_EPSILON));
    }
    let mut bound = Bound::upper_bound(quantity, upper, source)?;
    bound.upper = bound.value;
    Ok(bound)
}

fn poisson_noise(a: &Arguments<'_>) -> Result<Bound> {
    let (rate, steps) = (a.number("sampling_rate")?, a.count("steps")?);
    let epsilon = domain::non_negative("epsilon", a.number("epsilon")?)?;
    if epsilon > 1e4 {
        return Err(BoundError::OutOfRange {
            parameter: "epsilon",
            value: Shown(epsilon),
            allowed: "[0, 1e4]",
            remedy: "no privacy is left there; the Gaussian entries take any epsilon",
        });
    }
    let delta = domain::open_probability("delta", a.number("delta")?)?;
    let make = |noise: f64| OneStep::poisson(rate, noise);
    bracketed(NOISE, pld::calibrate(make, steps, epsilon, delta)?)
}

fn fixed_size_epsilon(a: &Arguments<'_>) -> Result<Bound> {
    let rate = domain::batch_of("batch", a.count("batch")?, "n", a.count("n")?)?;
    let noise = domain::non_negative("noise_multiplier", a.number("noise_multiplier")?)?;
    let delta = domain::probability("delta", a.number("delta")?)?;
    // The noise multiplier is relative to the sensitivity 2 of replace-one.
    let (step, steps) = (OneStep::fixed_replace_one(rate, 2.0 * noise)?, a.count("steps")?);
    if needs_no_lattice(noise) {
        let upper = rdp::fixed_size_epsilon(rate, noise, steps, delta)?;
        return one_sided(EPSILON_OF_RUN, upper, WBK);
    }
    bracketed(EPSILON_OF_RUN, pld::epsilon(&step, steps, delta)?)
}

fn curve(a: &Arguments<'_>, of: fn(f64, f64, f64) -> Result<f64>, source: Source) -> Result<Bound> {
    let sampling_rate = a.number("sampling_rate")?;
    let value = of(sampling_rate, a.number("noise_multiplier")?, a.number("order")?)?;
    Bound::upper_bound(RENYI, value, source)
}

fn replace_one(a: &Arguments<'_>, of: fn(f64, f64, f64) -> Result<f64>) -> Result<Bound> {
    let value = of(a.number("sampling_rate")?, a.number("kappa")?, a.number("order")?)?;
    Bound::upper_bound(RENYI, value, Source::new("ours", "integral of the replace-one profile"))
}

fn plan(a: &Arguments<'_>) -> Result<Plan> {
    Ok(Plan {
        n: a.count("n")?,
        batch: a.count("batch")?,
        steps: a.steps_up_to(10_000_000, "0 to 1e7")?,
        lambda: a.optional_number("lambda")?.unwrap_or(0.0),
        sampler: a.word("sampler")?.parse()?,
        relation: a.word("relation")?.parse()?,
    })
}

fn effort(a: &Arguments<'_>) -> Result<Effort<'static>> {
    let method = a.optional_word("method")?.map_or(Ok(Method::Auto), str::parse)?;
    Ok(Effort { method, ..Effort::default() })
}

fn target(a: &Arguments<'_>) -> Result<Target> {
    Ok(Target { epsilon: a.number("epsilon")?, delta: a.number("delta")? })
}

fn account_epsilon(a: &Arguments<'_>) -> Result<Bound> {
    let question = Question::EpsilonAt { delta: a.number("delta")? };
    account(&plan(a)?, a.number("kappa")?, question, &effort(a)?)
}

fn account_delta(a: &Arguments<'_>) -> Result<Bound> {
    let question = Question::DeltaAt { epsilon: a.number("epsilon")? };
    account(&plan(a)?, a.number("kappa")?, question, &effort(a)?)
}

/// The bracket of ε at the target's δ, with the verdict as the statement.
fn audit_kappa(a: &Arguments<'_>) -> Result<Bound> {
    let target = target(a)?;
    let found = audit(&plan(a)?, a.number("kappa")?, target, &Effort::default())?;
    let statement = match found.verdict {
        Verdict::Violated => format!("violated by: {}", found.witness.description()),
        verdict => verdict.name().into(),
    };
    let source = Source { work: "ours".into(), statement: statement.into() };
    let Some(upper) = found.epsilon_upper else {
        let reason = format!(
            "{}: no finite epsilon was proven; explicit data sets reach epsilon = {}",
            source.statement, found.epsilon_lower
        );
        return Ok(Bound::refused(EPSILON_OF_RUN, source, reason));
    };
    let mut bound = Bound::bracket(EPSILON_OF_RUN, found.epsilon_lower.min(upper), upper, source)?
        .with_term("delta reached", found.delta_lower);
    if let Some(kappa) = found.sufficient_kappa {
        bound = bound.with_term("sufficient kappa", kappa);
    }
    // A check that fails is an answer here, and no reason to withhold the bracket.
    let claim = |name, side| Check::new(name, side, Comparison::AtMost, target.epsilon);
    bound.checks.push(claim("proven epsilon <= claimed epsilon", upper));
    bound.checks.push(claim("epsilon reached <= claimed epsilon", found.epsilon_lower));
    Ok(bound)
}

const POISSON_RUN: &[Parameter] = &[SAMPLING_RATE, RUN_NOISE, RUN_STEPS, DELTA];
const POISSON_RUN_AT_EPSILON: &[Parameter] = &[SAMPLING_RATE, RUN_NOISE, RUN_STEPS, EPSILON];
const POISSON_TARGET: &[Parameter] = &[SEARCHED_EPSILON, OPEN_DELTA, SAMPLING_RATE, RUN_STEPS];
const FIXED_RUN: &[Parameter] = &[N, KAN_BATCH, RUN_NOISE, RUN_STEPS, DELTA];
const CURVE: &[Parameter] = &[SAMPLING_RATE, RUN_NOISE, RENYI_ORDER];
const FIXED_CURVE: &[Parameter] = &[SAMPLING_RATE, RUN_NOISE, FIXED_SIZE_ORDER];
const REPLACE_ONE_CURVE: &[Parameter] = &[SAMPLING_RATE, KAPPA, FIXED_SIZE_ORDER];
const LAMBDA: Parameter = UNIT_CORRELATION.optional();
const HOW: Parameter = METHOD.optional();
const SPENT: &[Parameter] =
    &[N, KAN_BATCH, LADDER_STEPS, KAPPA, DELTA, LAMBDA, SAMPLER, RELATION, HOW];
const SPENT_AT_EPSILON: &[Parameter] =
    &[N, KAN_BATCH, LADDER_STEPS, KAPPA, EPSILON, LAMBDA, SAMPLER, RELATION, HOW];
const CALIBRATED: &[Parameter] =
    &[N, KAN_BATCH, LADDER_STEPS, POSITIVE_EPSILON, OPEN_DELTA, LAMBDA, SAMPLER, RELATION, HOW];
const CLAIMED_KAPPA: Parameter = Parameter { range: "> 0", ..KAPPA };
const CLAIM: &[Parameter] = &[
    N,
    KAN_BATCH,
    LADDER_STEPS,
    CLAIMED_KAPPA,
    POSITIVE_EPSILON,
    OPEN_DELTA,
    LAMBDA,
    SAMPLER,
    RELATION,
];

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        "poisson_gaussian_epsilon",
        "epsilon of Poisson batches under add-remove or zero-out, independent steps",
        POISSON_RUN,
        DOCS,
        poisson_epsilon,
    ),
    entry(
        "poisson_gaussian_delta",
        "delta of Poisson batches under add-remove or zero-out, independent steps",
        POISSON_RUN_AT_EPSILON,
        DOCS,
        poisson_delta,
    ),
    entry(
        "poisson_gaussian_noise_multiplier",
        "noise of Poisson batches under add-remove or zero-out, independent steps",
        POISSON_TARGET,
        DOCS,
        poisson_noise,
    ),
    entry(
        "fixed_size_gaussian_epsilon",
        "epsilon of fixed-size batches under replace-one, independent steps; noise = kappa/2",
        FIXED_RUN,
        DOCS,
        fixed_size_epsilon,
    ),
    entry(
        "poisson_gaussian_rdp",
        "Renyi epsilon of one step with Poisson batches",
        CURVE,
        MIRONOV,
        |a| curve(a, rdp::poisson, Source::new(MIRONOV, "subsampled Gaussian")),
    ),
    entry(
        "fixed_size_gaussian_rdp_thm9",
        "Renyi epsilon of one step with fixed-size batches, replace-one; noise = kappa/2",
        FIXED_CURVE,
        WANG,
        |a| curve(a, rdp::fixed_size_thm9, Source::new(WANG, "Theorem 9")),
    ),
    entry("fixed_size_gaussian_rdp_thm27", "the same by central moments", FIXED_CURVE, WANG, |a| {
        curve(a, rdp::fixed_size_thm27, Source::new(WANG, "Theorem 27"))
    }),
    entry(
        "poisson_gaussian_rdp_replace_one",
        "Renyi epsilon of one step with Poisson batches, replace-one",
        REPLACE_ONE_CURVE,
        RENYI_DOCS,
        |a| replace_one(a, rdp::poisson_replace_one),
    ),
    entry(
        "fixed_size_gaussian_rdp_replace_one",
        "the same with fixed-size batches",
        REPLACE_ONE_CURVE,
        RENYI_DOCS,
        |a| replace_one(a, rdp::fixed_size_replace_one),
    ),
    entry(
        "full_batch_gaussian_rdp_replace_one",
        "the same with all records",
        &[KAPPA, RENYI_ORDER],
        "Mironov 2017, Corollary 3",
        |a| {
            let value = rdp::full_batch_replace_one(a.number("kappa")?, a.number("order")?)?;
            Bound::upper_bound(RENYI, value, Source::new("Mironov 2017", "Corollary 3"))
        },
    ),
    entry(
        "account_epsilon",
        "epsilon that a run spends at delta, as a bracket",
        SPENT,
        DOCS,
        account_epsilon,
    ),
    entry(
        "account_delta",
        "delta that a run spends at epsilon, as a bracket",
        SPENT_AT_EPSILON,
        DOCS,
        account_delta,
    ),
    entry(
        "calibrate_kappa",
        "smallest kappa known to suffice, by the best method that applies, evaluated once more",
        CALIBRATED,
        DOCS,
        |a| calibrate(&plan(a)?, target(a)?, &effort(a)?),
    ),
    entry(
        "audit_kappa",
        "epsilon at a claimed kappa, and whether the claim is certified, violated or undecided",
        CLAIM,
        DOCS,
        audit_kappa,
    ),
];
