//! Strategies and comparisons shared by the properties.

use dpbounds_bounds::max_information::FailureLevel;
use dpbounds_bounds::{Bound, Result};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A configuration without files: the same cases in every run.
pub fn config(seed: u64, cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

pub fn log_uniform(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

pub fn count(high: f64) -> impl Strategy<Value = u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    log_uniform(1.0, high).prop_map(|x| x.round() as u64)
}

pub fn records() -> impl Strategy<Value = u64> {
    prop_oneof![count(1e5), count(9e15)]
}

/// A failure level: ordinary, tiny, far below the smallest double, or close to 1.
pub fn levels() -> impl Strategy<Value = FailureLevel> {
    prop_oneof![
        log_uniform(1e-12, 0.5).prop_map(|beta| FailureLevel::from_beta(beta).unwrap()),
        log_uniform(1e-300, 0.5).prop_map(|beta| FailureLevel::from_beta(beta).unwrap()),
        log_uniform(1.0, 1e5).prop_map(|l| FailureLevel::from_log_beta(-l).unwrap()),
        log_uniform(1e-10, 0.5).prop_map(|rest| FailureLevel::from_beta(1.0 - rest).unwrap()),
    ]
}

pub fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![
        log_uniform(1e-300, 0.5),
        0.001..0.999_f64,
        log_uniform(1e-14, 0.5).prop_map(|rest| 1.0 - rest),
    ]
}

/// `(n, epsilon, delta, level)` or `(n, alpha, epsilon, level)`.
pub type OfTwo = fn(u64, f64, f64, FailureLevel) -> Result<Bound>;
/// `(n, epsilon, level)`.
pub type OfOne = fn(u64, f64, FailureLevel) -> Result<Bound>;
/// `(nu, steps, level)`.
pub type OfSteps = fn(f64, u64, FailureLevel) -> Result<Bound>;
/// `(nu, level)`.
pub type OfNu = fn(f64, FailureLevel) -> Result<Bound>;

/// The value; infinite where there is none.
pub fn value(bound: Result<Bound>) -> f64 {
    bound.unwrap().value.unwrap_or(f64::INFINITY)
}

/// Relative allowance for two values that are each accurate to 1e-12.
const ROUNDING: f64 = 2e-12;

/// Whether `smaller <= larger` up to rounding.
pub fn at_most(smaller: f64, larger: f64) -> bool {
    smaller <= larger + ROUNDING * smaller.abs().min(larger.abs()) + 1e-13 * larger.abs().min(1.0)
        || larger == f64::INFINITY
}

pub fn close(a: f64, b: f64, relative: f64) -> bool {
    a == b || (a - b).abs() <= relative * a.abs().max(b.abs())
}

/// `prop_assert!(at_most(..))` with both values in the message.
macro_rules! ordered {
    ($($smaller:expr),+ => $larger:expr) => {{
        let larger = $larger;
        $(
            let smaller = $smaller;
            proptest::prop_assert!(
                $crate::support::at_most(smaller, larger),
                "{} = {smaller:e} above {} = {larger:e}",
                stringify!($smaller),
                stringify!($larger)
            );
        )+
    }};
}
pub(crate) use ordered;
