//! Reading tests/oracles/kan.json.

use std::sync::LazyLock;

use dpbounds_bounds::kan::{Activation, Knots, Network, SplineBasis};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use serde_json::Value;

static KAN: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../tests/oracles/kan.json")).unwrap()
});

pub fn key(name: &str) -> &'static Value {
    &KAN[name]
}

pub fn rows(name: &str) -> &'static [Value] {
    key(name).as_array().unwrap()
}

pub fn real(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[allow(clippy::cast_possible_truncation)]
pub fn size(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// All numbers of a nested array, row-major.
pub fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        number => vec![real(number)],
    }
}

pub fn basis(row: &Value) -> SplineBasis {
    SplineBasis::new(size(&row["deg"]), size(&row["p"]), Knots::Clamped).unwrap()
}

pub fn activation(row: &Value) -> Activation {
    if row["act"] == "sigmoid" { Activation::Sigmoid } else { Activation::Tanh }
}

pub fn network(row: &Value) -> (Network, Vec<f64>) {
    let second_layer = flat(&row["c"]);
    let network = Network::new(basis(row), activation(row), size(&row["d"]), second_layer).unwrap();
    (network, flat(&row["W"]))
}

pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * size, "{what}: {a:e} and {b:e}");
    }
}

/// A configuration of properties without files: the same cases in every run.
pub fn config(seed: u64, cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
