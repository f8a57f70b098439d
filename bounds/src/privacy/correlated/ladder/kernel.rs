//! The Gaussian hockey stick at any ε and the outward rounding of the ladder.

use crate::privacy::gaussian::log_delta;

/// `BW(μ, ε) = H_{e^ε}(N(μ,1)‖N(0,1))` for `μ >= 0` and any real ε, in [0, 1], not rounded outward.
pub(super) fn hockey_stick(mu: f64, epsilon: f64) -> f64 {
    if mu.is_nan() || epsilon.is_nan() {
        return 1.0;
    }
    if epsilon < 0.0 {
        // H_a = 1 − a + a H_{1/a}, the two orders of a Gaussian pair being equal.
        return (-epsilon.exp_m1() + epsilon.exp() * hockey_stick(mu, -epsilon)).clamp(0.0, 1.0);
    }
    if mu == 0.0 || epsilon == f64::INFINITY {
        return 0.0;
    }
    if mu > 1e100 {
        return 1.0;
    }
    let value = log_delta(mu, epsilon).exp();
    if value.is_nan() { 0.0 } else { value.min(1.0) }
}

/// Relative error that every evaluation of the ladder stays below.
const MARGIN: f64 = 2e-11;

/// An upper bound of δ from a computed one: raised, at least 1e-300, at most 1.
pub(super) fn upper(value: f64) -> f64 {
    if value.is_nan() { 1.0 } else { (value * (1.0 + MARGIN)).clamp(1e-300, 1.0) }
}

/// A factor that raises a positive number by more than the rounding error of a few operations.
pub(super) const RAISE: f64 = 1.0 + 1e-13;
/// A factor that lowers it.
pub(super) const LOWER: f64 = 1.0 - 1e-13;
