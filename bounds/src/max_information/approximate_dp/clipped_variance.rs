//! Bound C: the constant 1/8 of pure DP, without an additive term, for a larger threshold.

use super::Setting;
use crate::error::Result;
use crate::max_information::search::{Conversion, search};
use crate::max_information::{FailureLevel, ours};
use crate::warrant::{Bound, Source};

fn evaluate(setting: Setting, conversion: Conversion, source: Source) -> Result<Bound> {
    let Setting { n, epsilon, level, .. } = setting;
    if epsilon == 0.0 && setting.is_bounded() {
        return setting.bound(0.0, source);
    }
    let share = setting.lost_share();
    if !setting.is_bounded() || 9.0 * share >= 1.0 - 1e-9 {
        // Nearer to the edge the threshold is lost to rounding.
        return Ok(setting.refused(source, "beta > 9*n*delta"));
    }
    // Searched over t = log(λε): the threshold β − n(5 + 4e^{λε})δ is positive below the upper end.
    let highest =
        if share == 0.0 { 60.0 } else { ((1.0 / share - 9.0) / 4.0).ln_1p().ln().min(60.0) };
    // λ itself stays between 1e-290 and 1e290.
    let highest = highest.min((epsilon * 1e290).ln());
    let low = (epsilon * 1e-290).ln().max(-60.0).min(highest);
    let at = |t: f64| {
        let scaled = t.exp();
        let lambda = scaled / epsilon;
        let lost = if share == 0.0 { 0.0 } else { share * (5.0 + 4.0 * scaled.exp()) };
        let log_inverse = level.log_inverse() - (-lost.min(1.0)).ln_1p();
        // λ(1+λ)ε² n/8, with λε formed once
        (lambda, n * scaled * (epsilon + scaled) / 8.0 + log_inverse)
    };
    search(at, conversion, low, highest)?.bound(source)
}

/// Bound C: `I^β <= inf_λ n(1+λ)ε²/8 + log(1/b0(λ))/λ`, `b0(λ) = β − n(5 + 4e^{λε})δ > 0`; needs `β > 9 n δ`.
///
/// At δ = 0 this is Theorem 1 of the paper for pure DP.
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]), failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (C).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let bound = approximate_dp::c(1000, 0.05, 1e-6, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 2.316_016_175_497_141_5 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn c(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, epsilon, delta, level)?;
    evaluate(setting, Conversion::Tail, ours("bound C (docs/theory/max-information.md)"))
}

/// [`c`] with the hockey-stick conversion. Never larger.
///
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]), failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (C, HS conversion).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let level = FailureLevel::from_beta(0.05)?;
/// let plain = approximate_dp::c(1000, 0.05, 1e-6, level)?;
/// assert!(approximate_dp::c_hs(1000, 0.05, 1e-6, level)?.value <= plain.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn c_hs(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, epsilon, delta, level)?;
    evaluate(setting, Conversion::HockeyStick, ours("bound C with hockey-stick conversion"))
}
