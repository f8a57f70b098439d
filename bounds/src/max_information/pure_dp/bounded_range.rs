//! The bounded-range bound: contains both branches of Theorem 1 for pure DP.

use crate::domain;
use crate::error::Result;
use crate::max_information::search::{Conversion, Searched, invert_moment};
use crate::max_information::{FailureLevel, ours};
use crate::special::bounded_range_log_moment;
use crate::warrant::Bound;

fn evaluate(n: u64, epsilon: f64, level: FailureLevel, conversion: Conversion) -> Result<Bound> {
    let n = domain::count("n", n)?;
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let statement = match conversion {
        Conversion::Tail => "bounded-range bound BR (docs/theory/max-information.md)",
        Conversion::HockeyStick => "bounded-range bound BR with hockey-stick conversion",
    };
    let found = if epsilon == 0.0 {
        Searched::ZERO
    } else {
        invert_moment(
            |lambda| n * bounded_range_log_moment(lambda, epsilon),
            level.log_inverse(),
            conversion,
            epsilon,
            n * epsilon,
        )?
    };
    found.bound(ours(statement))
}

/// `I^β <= inf_{λ>0} [n B(λ) + log(1/β)]/λ`, `B` from [`bounded_range_log_moment`], for an ε-DP mechanism.
///
/// At most both branches of Theorem 1; the limit `λ → ∞` is `n ε`.
/// `n` records (1 to 2^53), `epsilon` of replace-one pure DP (nats, >= 0), failure level `β`.
///
/// # Source
/// Ours after Dong, Durfee and Rogers (2020); proof in docs/theory/max-information.md (BR).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, pure_dp};
/// let bound = pure_dp::bounded_range(1, 1.0, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 0.967_883_721_422_370_2 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn bounded_range(n: u64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    evaluate(n, epsilon, level, Conversion::Tail)
}

/// [`bounded_range`] with the hockey-stick conversion: `inf_λ [n B(λ) + log(1/β) + hs(λ)]/λ`. Never larger.
///
/// `n` records (1 to 2^53), `epsilon` of replace-one pure DP (nats, >= 0), failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (BR, HS conversion).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, pure_dp};
/// let bound = pure_dp::bounded_range_hs(1, 1.0, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 0.613_247_548_442_864_5 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn bounded_range_hs(n: u64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    evaluate(n, epsilon, level, Conversion::HockeyStick)
}
