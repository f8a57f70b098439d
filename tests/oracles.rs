//! Every vendored reference value against the catalogue.

use std::borrow::Cow;

use dpbounds_bounds::catalogue::{self, Arguments, Value};
use dpbounds_bounds::privacy::closed_form;
use dpbounds_bounds::{Bound, Result, Warrant};
use serde_json::Value as Json;

pub const MAX_INFORMATION: &str = include_str!("oracles/max_information.json");
const GAUSSIAN: &str = include_str!("oracles/gaussian.json");
const ORDER_FORM: &str = include_str!("oracles/order_form.json");
const CLOSED_FORM: &str = include_str!("oracles/closed_form.json");

/// Relative tolerance of values that come from a search; closed forms have to meet 1e-14.
const SEARCH: f64 = 1e-12;

/// Functions whose value is an explicit formula. The bounds on rounding differ where the formula
/// itself amplifies rounding: those stay with the tolerance of searches.
const EXPLICIT: [&str; 14] = [
    "max_info_pure_dp_thm1_sqrt",
    "max_info_pure_dp_classic",
    "approx_dp_c_lambda_d_prime",
    "max_info_approx_dp_a",
    "max_info_renyi_linear",
    "renyi_v",
    "max_info_gaussian_eq8",
    "max_info_gaussian_eq9",
    "gaussian_r_nu",
    "max_info_streaming_eq11",
    "max_info_streaming_eq12",
    "pac_bayes_complexity",
    "pac_bayes_mcallester",
    "pac_bayes_quadratic",
];

pub fn rows(text: &str) -> Vec<Json> {
    serde_json::from_str(text).unwrap()
}

pub fn reference(row: &Json) -> f64 {
    match &row["value"] {
        Json::String(digits) => digits.parse().unwrap(),
        number => number.as_f64().unwrap(),
    }
}

fn inputs(row: &Json) -> Vec<(Cow<'_, str>, Value)> {
    let value = |json: &Json| match json {
        Json::Array(items) => {
            Value::List(items.iter().map(|item| item.as_f64().unwrap()).collect())
        }
        Json::String(word) => Value::Word(word.clone()),
        number => Value::Number(number.as_f64().unwrap()),
    };
    let object = row["inputs"].as_object().unwrap();
    object.iter().map(|(name, json)| (Cow::from(name.as_str()), value(json))).collect()
}

/// What the catalogue answers to `function` with `inputs`.
pub fn ask(row: &Json) -> Result<Bound> {
    let name = row["function"].as_str().unwrap();
    let entry = catalogue::find(name).unwrap_or_else(|| panic!("{name} is not in the catalogue"));
    let inputs = inputs(row);
    entry.evaluate(&Arguments::new(entry, &inputs)?)
}

/// The same where an answer is expected.
pub fn evaluate(row: &Json) -> Bound {
    ask(row).unwrap_or_else(|error| panic!("{row}: {error}"))
}

fn tolerance(row: &Json) -> f64 {
    row["tolerance"].as_f64().unwrap_or_else(|| {
        if EXPLICIT.contains(&row["function"].as_str().unwrap()) { 1e-14 } else { SEARCH }
    })
}

/// What is wrong with an answer to an oracle row, if anything.
pub fn fault(row: &Json, value: Option<f64>, upper: Option<f64>) -> Option<String> {
    let (id, expected) = (&row["id"], reference(row));
    let Some(value) = value else {
        return expected.is_finite().then(|| format!("{id}: no value, expected {expected}"));
    };
    if expected.is_infinite() {
        return Some(format!("{id}: {value}, but no finite bound exists"));
    }
    let error = (value - expected).abs();
    if error > tolerance(row) * expected.abs() {
        return Some(format!(
            "{id} {}: {value}, expected {expected}, relative error {:.1e}",
            row["function"],
            error / expected.abs()
        ));
    }
    // The certified side has to be on the right side of the truth.
    upper.filter(|upper| *upper < expected).map(|upper| format!("{id}: upper {upper} < {expected}"))
}

fn check_all(text: &str) {
    let rows = rows(text);
    assert!(rows.len() > 20);
    let faults: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let bound = evaluate(row);
            fault(row, bound.value, bound.upper)
        })
        .collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), rows.len(), faults.join("\n"));
}

#[test]
fn max_information_and_pac_bayes() {
    check_all(MAX_INFORMATION);
}

#[test]
fn analytic_gaussian_mechanism() {
    check_all(GAUSSIAN);
}

#[test]
fn order_form_rates_and_their_warrant() {
    check_all(ORDER_FORM);
    assert!(rows(ORDER_FORM).iter().all(|row| evaluate(row).warrant == Warrant::Rate));
}

#[test]
fn infinite_references_are_refused_with_the_reason() {
    let infinite: Vec<_> =
        rows(MAX_INFORMATION).into_iter().filter(|row| reference(row).is_infinite()).collect();
    assert!(infinite.len() >= 5);
    for row in infinite {
        let reason = evaluate(&row).reason.unwrap();
        assert!(reason.contains("beta") && reason.contains("n*delta"), "{reason}");
    }
}

#[test]
fn closed_form_noise_with_and_without_its_domain() {
    for row in rows(CLOSED_FORM) {
        let input = |name: &str| row["inputs"][name].as_f64().unwrap();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let count = |name: &str| input(name) as u64;
        let (n, batch, steps) = (count("n"), count("batch"), count("steps"));
        let (epsilon, delta, lambda) = (input("epsilon"), input("delta"), input("lambda"));
        // One of the two source files holds the squares.
        let close = |value: f64, key: &str| {
            let (value, expected) = match row[key].as_f64() {
                Some(expected) => (value, expected),
                None => (value * value, row[format!("{key}_squared")].as_f64().unwrap()),
            };
            assert!((value / expected - 1.0).abs() <= 1e-12, "{}: {value} {expected}", row["id"]);
        };
        close(closed_form::f12_formula(n, batch, steps, epsilon, delta, lambda).unwrap(), "f12");
        close(closed_form::d9_formula(n, batch, steps, epsilon, delta).unwrap(), "d9");
        let proven = closed_form::f12(n, batch, steps, epsilon, delta, lambda).unwrap();
        if let Some(in_domain) = row["f12_in_domain"].as_bool() {
            assert_eq!(proven.value.is_some(), in_domain, "{}", row["id"]);
        }
        let claim = closed_form::d9_claim(n, batch, steps, epsilon, delta).unwrap();
        assert!(claim.warrant == Warrant::Estimate && claim.upper.is_none());
    }
}
