//! Bound A: the group-privacy term without its factor.

use super::Setting;
use crate::error::Result;
use crate::max_information::{FailureLevel, ours};
use crate::warrant::Bound;

/// Bound A: `I^β <= n ε` for an (ε, δ)-DP mechanism and `β >= n δ`.
///
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]), failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (A).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let level = FailureLevel::from_beta(0.025)?;
/// assert_eq!(approximate_dp::a(60_000, 0.01, 1e-8, level)?.value, Some(600.0));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn a(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, epsilon, delta, level)?;
    let source = ours("bound A (docs/theory/max-information.md)");
    if !setting.is_bounded() {
        return Ok(setting.refused(source, "beta >= n*delta"));
    }
    let value = setting.n * epsilon;
    Ok(setting.bound(value, source)?.with_term("n eps", value))
}
