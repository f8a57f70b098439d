//! The linear branch (6a) of Theorem 2.

use super::Setting;
use crate::error::Result;
use crate::max_information::{FailureLevel, MAX_INFORMATION, ours, paper};
use crate::special::hockey_stick_exponent;
use crate::warrant::Bound;

/// `I^β <= n (ε + log(1/β)/(α−1))` for an (α, ε)-RDP mechanism.
///
/// `n` records (1 to 2^53), replace-one `(alpha, epsilon)`-RDP with `alpha > 1` and `epsilon >= 0`
/// (nats) in both directions for the whole release, failure level `β`.
///
/// # Source
/// arXiv 2605.26222, Theorem 2, first branch of (6).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let bound = renyi::linear(60_000, 32.0, 0.01, FailureLevel::from_beta(0.025)?)?;
/// assert!((bound.value.unwrap() / 7739.766_685_381_812 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn linear(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let Setting { n, h, epsilon } = Setting::new(n, alpha, epsilon)?;
    let (privacy, failure) = (n * epsilon, n * (level.log_inverse() / h));
    Ok(Bound::upper_bound(MAX_INFORMATION, privacy + failure, paper("Theorem 2, eq. (6) linear"))?
        .with_term("n eps", privacy)
        .with_term("n log(1/beta)/(alpha-1)", failure))
}

/// [`linear`] with the hockey-stick conversion: adds `(n/h) hs(h/n) <= 0`, `h = α − 1`.
///
/// Arguments as in [`linear`].
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (Rényi DP, HS conversion).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let level = FailureLevel::from_beta(0.025)?;
/// assert!(renyi::linear_hs(60, 32.0, 0.01, level)?.value < renyi::linear(60, 32.0, 0.01, level)?.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn linear_hs(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let Setting { n, h, epsilon } = Setting::new(n, alpha, epsilon)?;
    let (linear, gain) =
        (n * epsilon + level.log_inverse() * (n / h), hockey_stick_exponent(h / n) * (n / h));
    let source = ours("Theorem 2 linear with hockey-stick conversion");
    Bound::upper_bound_of_parts(MAX_INFORMATION, linear + gain, linear - gain, source)
}
