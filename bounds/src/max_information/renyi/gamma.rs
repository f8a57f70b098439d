//! The gamma form: the moment bound behind the quadratic branch, inverted without relaxation.

use super::Setting;
use crate::error::Result;
use crate::max_information::search::{Conversion, Searched, search};
use crate::max_information::{FailureLevel, ours};
use crate::special::log1p_excess;
use crate::warrant::Bound;

/// `inf_{0<x<1} v + [2h²v(−log(1−x) − x) + L2 (+ hs(hx))]/(hx)`, searched over `log(−log(1−x))`.
pub(super) fn gamma_value(
    variance: f64,
    h: f64,
    log_inverse: f64,
    conversion: Conversion,
) -> Result<Searched> {
    let at = |t: f64| {
        let u = t.exp();
        let x = -(-u).exp_m1();
        let excess = if x > 0.1 { u - x } else { log1p_excess(-x) };
        let lambda = h * x;
        let curvature = 2.0 * h * h * variance * excess;
        (lambda, lambda * variance + curvature + log_inverse)
    };
    search(at, conversion, -60.0, 7.0)
}

fn half(n: u64, alpha: f64, epsilon: f64, level: FailureLevel, how: Conversion) -> Result<Bound> {
    let setting = Setting::new(n, alpha, epsilon)?;
    let half = level.log_inverse_of_share(0.5);
    let found = gamma_value(setting.v_star(half), setting.h, half, how)?;
    let statement = match how {
        Conversion::Tail => "gamma form of Theorem 2, even split",
        Conversion::HockeyStick => {
            "gamma form of Theorem 2 with hockey-stick conversion, even split"
        }
    };
    found.bound(ours(statement))
}

/// The gamma form at `b1 = b2 = β/2`:
/// `inf_{0<x<1} v* + [2h²v*(−log(1−x) − x) + log(2/β)]/(hx)`, `h = α − 1`. At most the quadratic branch with `v*`.
///
/// `n` records (1 to 2^53), replace-one `(alpha, epsilon)`-RDP in both directions, failure level `β`.
///
/// # Source
/// Ours, read off (154) of arXiv 2605.26222; proof in docs/theory/max-information.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let bound = renyi::gamma_half(60_000, 32.0, 0.01, FailureLevel::from_beta(0.025)?)?;
/// assert!((bound.value.unwrap() / 233.724_898_569_051_3 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn gamma_half(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    half(n, alpha, epsilon, level, Conversion::Tail)
}

/// [`gamma_half`] with the hockey-stick conversion. Never larger.
///
/// `n` records (1 to 2^53), replace-one `(alpha, epsilon)`-RDP in both directions, failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let bound = renyi::gamma_half_hs(50_000, 2.0, 0.001, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 1106.741_880_512_632_1 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn gamma_half_hs(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    half(n, alpha, epsilon, level, Conversion::HockeyStick)
}
