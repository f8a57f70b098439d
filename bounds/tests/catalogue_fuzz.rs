//! Every entry of the catalogue on random inputs in and out of range: an error or a sound bound,
//! never a panic, a NaN, an infinity or a hang.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use dpbounds_bounds::catalogue::{self, Arguments, Entry, Kind, Parameter, Value};
use dpbounds_bounds::{Bound, BoundError, Warrant};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

type Inputs = Vec<(Cow<'static, str>, Value)>;

const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

/// Numbers that no parameter expects, or that sit on the end of a range.
const AWKWARD: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    1.0 - f64::EPSILON / 2.0,
    1.0 + f64::EPSILON,
    TWO_TO_53,
    TWO_TO_53 + 2.0,
    1e308,
    -1e308,
    700.0,
];

/// Which numbers are drawn.
#[derive(Clone, Copy, PartialEq)]
enum Diet {
    /// The whole documented range, log-uniform.
    InRange,
    /// The same, but one number in four comes from [`AWKWARD`].
    Mixed,
}

fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    rng.random_range(low.ln()..=high.ln()).exp().clamp(low, high)
}

/// A probability in (0, 1), near both ends and in the middle.
fn probability(rng: &mut ChaCha8Rng) -> f64 {
    match rng.random_range(0..4) {
        0 => log_uniform(rng, 1e-300, 1.0 - 1e-16),
        1 => 1.0 - log_uniform(rng, 1e-15, 0.5),
        2 => log_uniform(rng, 1e-12, 0.5),
        _ => rng.random_range(1e-9..1.0 - 1e-9),
    }
}

fn count(rng: &mut ChaCha8Rng) -> f64 {
    let high = if rng.random_bool(0.5) { 1e6 } else { TWO_TO_53 };
    log_uniform(rng, 1.0, high).round()
}

/// A positive number: half of the time of a size that occurs, else anything a double can hold.
fn positive(rng: &mut ChaCha8Rng) -> f64 {
    if rng.random_bool(0.5) { log_uniform(rng, 1e-6, 1e3) } else { log_uniform(rng, 1e-300, 1e300) }
}

/// Entries whose work grows with the run: they meet runs that occur, and awkward numbers among them.
const ACCOUNTANT: [&str; 16] = [
    "poisson_gaussian_epsilon",
    "poisson_gaussian_delta",
    "poisson_gaussian_noise_multiplier",
    "fixed_size_gaussian_epsilon",
    "account_epsilon",
    "account_delta",
    "calibrate_kappa",
    "audit_kappa",
    "correlated_delta",
    "lambda0_pld",
    "transfer_upper",
    "transfer_repulsion_upper",
    "moment",
    "kappa_l1",
    "linear_lower_kappa",
    "fixed_size_counterexample",
];

/// Entries that search: seconds each, so they are called less often.
const SEARCHING: [&str; 6] = [
    "account_epsilon",
    "account_delta",
    "calibrate_kappa",
    "audit_kappa",
    "correlated_delta",
    "transfer_repulsion_upper",
];

/// Transfer bounds inside a search take long; bounds/tests/accounting.rs has some of them.
fn searches_whole_runs(entry: &Entry) -> bool {
    SEARCHING.contains(&entry.name) && entry.parameters.iter().any(|p| p.name == "sampler")
}

/// A number that occurs in a small run.
fn of_a_run(parameter: &Parameter, rng: &mut ChaCha8Rng) -> f64 {
    match parameter.name {
        "n" => log_uniform(rng, 2.0, 1e5).round(),
        "batch" => log_uniform(rng, 1.0, 1e3).round(),
        "steps" if rng.random_bool(0.1) => 0.0,
        "steps" => log_uniform(rng, 1.0, 12.0).round(),
        "sampling_rate" => log_uniform(rng, 1e-4, 0.7),
        "kappa" | "noise_multiplier" => log_uniform(rng, 0.7, 100.0),
        "lambda" if rng.random_bool(0.4) => 0.0,
        "lambda" => rng.random_range(0.0..0.6),
        "epsilon" => log_uniform(rng, 0.05, 8.0),
        "delta" => log_uniform(rng, 1e-9, 0.1),
        "spacing" => rng.random_range(0.2..1.0),
        "alpha" => log_uniform(rng, 1.0, 30.0).round(),
        _ => in_range(parameter, rng),
    }
}

/// A number from the documented range, which the parameter states in words.
fn in_range(parameter: &Parameter, rng: &mut ChaCha8Rng) -> f64 {
    match parameter.range {
        "1 to 1000" => log_uniform(rng, 1.0, 1000.0).round(),
        _ if parameter.kind == Kind::Count => count(rng),
        "greater than 1, at most 1e6" => 1.0 + log_uniform(rng, 1e-12, 1e6 - 1.0),
        "[0.05, 1]" => log_uniform(rng, 0.05, 1.0),
        "[0, 1]" if rng.random_bool(0.1) => f64::from(u8::from(rng.random_bool(0.5))),
        ">= 0" if rng.random_bool(0.1) => 0.0,
        "> 1" | "each > 1, no repetition" => 1.0 + log_uniform(rng, 1e-12, 1e12),
        "(0, 2)" => 2.0 * probability(rng),
        "finite" if rng.random_bool(0.5) => -positive(rng),
        range if range.contains("1)") || range.contains("1]") || range == "(0, delta)" => {
            probability(rng)
        }
        _ => positive(rng),
    }
}

fn number(parameter: &Parameter, small: bool, diet: Diet, rng: &mut ChaCha8Rng) -> f64 {
    if diet == Diet::Mixed && rng.random_bool(0.25) {
        let value = AWKWARD[rng.random_range(0..AWKWARD.len())];
        return if rng.random_bool(0.2) { f64::from_bits(rng.random()) } else { value };
    }
    if small { of_a_run(parameter, rng) } else { in_range(parameter, rng) }
}

fn argument(
    parameter: &Parameter,
    small: bool,
    diet: Diet,
    length: usize,
    rng: &mut ChaCha8Rng,
) -> Value {
    match parameter.kind {
        Kind::Word => {
            let known: Vec<&str> = parameter
                .range
                .split([',', ' '])
                .filter(|word| !matches!(*word, "" | "or" | "(default)"))
                // Samples and searches over transfer bounds have tests of their own.
                .filter(|word| !matches!(*word, "l3" | "l2td"))
                .collect();
            let strange = diet == Diet::Mixed && rng.random_bool(0.2);
            let words = if strange { &["", "Poisson", "l4"][..] } else { &known };
            Value::Word(words[rng.random_range(0..words.len())].into())
        }
        Kind::List => {
            let extra = usize::from(diet == Diet::Mixed && rng.random_bool(0.1));
            Value::List((0..length + extra).map(|_| number(parameter, small, diet, rng)).collect())
        }
        _ => Value::Number(number(parameter, small, diet, rng)),
    }
}

/// Arguments of one call; orderings between arguments (batch <= n, level < delta, …) hold half of
/// the time so that the calculators behind them are reached.
fn inputs(entry: &Entry, diet: Diet, rng: &mut ChaCha8Rng) -> Inputs {
    let length = rng.random_range(usize::from(diet == Diet::InRange)..6);
    let small = ACCOUNTANT.contains(&entry.name);
    let mut inputs: Inputs = Vec::new();
    for parameter in entry.parameters {
        let searched = parameter.name == "lambda" && searches_whole_runs(entry);
        if parameter.optional && (searched || rng.random_bool(0.4)) {
            continue;
        }
        let alias = parameter.aliases.first().filter(|_| rng.random_bool(0.3));
        let name = alias.copied().unwrap_or(parameter.name);
        let value = if name.starts_with("log_") && !(diet == Diet::Mixed && rng.random_bool(0.2)) {
            Value::Number(-log_uniform(rng, 1e-12, 1e5))
        } else {
            argument(parameter, small, diet, length, rng)
        };
        inputs.push((name.into(), value));
    }
    if rng.random_bool(0.7) {
        order(entry, &mut inputs, &["B", "batch"], &["n"]);
        order(entry, &mut inputs, &["errors"], &["draws"]);
        order(entry, &mut inputs, &["k", "participations"], &["T", "steps"]);
        order(entry, &mut inputs, &["level"], &["delta"]);
        order(entry, &mut inputs, &["variance"], &["c"]);
    }
    inputs
}

/// Swaps two arguments that are in the wrong order.
fn order(entry: &Entry, inputs: &mut Inputs, small: &[&str], large: &[&str]) {
    // Of streaming runs `batch` is not bounded by anything.
    if !entry.parameters.iter().any(|parameter| large.contains(&parameter.name)) {
        return;
    }
    let place =
        |names: &[&str], inputs: &Inputs| inputs.iter().position(|(n, _)| names.contains(&&**n));
    let (Some(i), Some(j)) = (place(small, inputs), place(large, inputs)) else { return };
    if let (Value::Number(a), Value::Number(b)) = (&inputs[i].1, &inputs[j].1)
        && a > b
    {
        let (a, b) = (*a, *b);
        inputs[i].1 = Value::Number(b);
        inputs[j].1 = Value::Number(a);
    }
}

/// What is wrong with an answer.
fn fault(bound: &Bound, inputs: &Inputs) -> Option<String> {
    let Bound { value, lower, upper, .. } = bound;
    if value.is_some() == bound.reason.is_some() {
        return Some(format!("value {value:?} with reason {:?}", bound.reason));
    }
    if value.is_none() && (lower.is_some() || upper.is_some()) {
        return Some("a side without a value".into());
    }
    let terms = bound.terms.iter().map(|term| term.value);
    let checks = bound.checks.iter().flat_map(|check| [check.left, check.right, check.slack]);
    let others = bound.alternatives.iter().filter_map(|other| other.value);
    let sides = [value, lower, upper].into_iter().flatten().copied();
    let mut all = sides.chain(terms).chain(checks).chain(others);
    if let Some(number) = all.find(|number| !number.is_finite()) {
        return Some(format!("{number} in {bound:?}"));
    }
    if let Some(value) = value {
        if lower.is_some_and(|lower| lower > *value) || upper.is_some_and(|upper| upper < *value) {
            return Some(format!("sides {lower:?} {upper:?} do not enclose {value}"));
        }
        let claims = matches!(bound.warrant, Warrant::Proven | Warrant::Confidence(_));
        if claims != (lower.is_some() || upper.is_some()) {
            return Some(format!("{:?} with sides {lower:?} {upper:?}", bound.warrant));
        }
        if bound.quantity == "max_information" && *value < smallest_possible(inputs) {
            return Some(format!("{value} is below log(1 - beta)"));
        }
    }
    if bound.alternatives.iter().any(|other| other.value.is_some() == other.reason.is_some()) {
        return Some("an alternative without value and reason, or with both".into());
    }
    let text = serde_json::to_string(bound).unwrap();
    match serde_json::from_str::<Bound>(&text) {
        Ok(same) if same == *bound => None,
        other => Some(format!("does not survive serialisation: {other:?}")),
    }
}

/// `log(1 − β)`, less a margin for rounding: no max-information is smaller.
fn smallest_possible(inputs: &Inputs) -> f64 {
    let log_beta = inputs.iter().find_map(|(name, value)| match (&**name, value) {
        ("beta", Value::Number(beta)) => Some(beta.ln()),
        ("log_beta", Value::Number(log)) => Some(*log),
        _ => None,
    });
    log_beta.map_or(f64::NEG_INFINITY, |log| {
        let smallest = if log > -0.5 { (-log.exp_m1()).ln() } else { (-log.exp()).ln_1p() };
        smallest * (1.0 + 1e-9) - 1e-15
    })
}

struct Tally {
    faults: Vec<String>,
    answers: usize,
    slowest: (Duration, String),
}

fn attack(seed: u64, diet: Diet, rounds: usize, searching: bool) -> Tally {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut tally =
        Tally { faults: Vec::new(), answers: 0, slowest: (Duration::ZERO, String::new()) };
    for _ in 0..rounds {
        let chosen = |entry: &&Entry| SEARCHING.contains(&entry.name) == searching;
        for entry in catalogue::entries().filter(chosen) {
            let inputs = inputs(entry, diet, &mut rng);
            let call = format!("{} {inputs:?}", entry.name);
            let started = Instant::now();
            let answer = catch_unwind(AssertUnwindSafe(|| {
                entry.evaluate(&Arguments::new(entry, &inputs).unwrap())
            }));
            let elapsed = started.elapsed();
            if elapsed > tally.slowest.0 {
                tally.slowest = (elapsed, call.clone());
            }
            let fault = match answer {
                Err(_) => Some("panic".into()),
                Ok(Ok(bound)) => {
                    tally.answers += usize::from(bound.value.is_some());
                    fault(&bound, &inputs)
                }
                Ok(Err(BoundError::Numerical { what, detail })) if diet == Diet::InRange => {
                    Some(format!("{what}: {detail}"))
                }
                Ok(Err(error)) => error.to_string().is_empty().then(|| "empty message".into()),
            };
            tally.faults.extend(fault.map(|fault| format!("{call}: {fault}")));
        }
    }
    tally
}

fn conclude(tally: &Tally, answers: usize) {
    println!("{} answers, slowest {:?}", tally.answers, tally.slowest);
    let shown: Vec<_> = tally.faults.iter().take(40).cloned().collect();
    assert!(shown.is_empty(), "{}, the first:\n{}", tally.faults.len(), shown.join("\n"));
    assert!(tally.answers > answers, "only {} answers", tally.answers);
}

#[test]
fn the_documented_range_gives_a_bound_or_a_reason() {
    conclude(&attack(1, Diet::InRange, 200, false), 2000);
}

#[test]
fn numbers_out_of_range_give_an_error_or_a_bound() {
    conclude(&attack(2, Diet::Mixed, 150, false), 1500);
}

#[test]
fn searches_in_range_give_a_bound_or_a_reason() {
    conclude(&attack(3, Diet::InRange, 25, true), 50);
}

#[test]
fn searches_out_of_range_give_an_error_or_a_bound() {
    conclude(&attack(4, Diet::Mixed, 60, true), 30);
}
