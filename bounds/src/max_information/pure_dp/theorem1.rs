//! Theorem 1 of the paper at δ = 0.

use crate::domain;
use crate::error::Result;
use crate::max_information::{FailureLevel, MAX_INFORMATION, paper};
use crate::warrant::Bound;

/// `I^β <= n ε²/8 + ε sqrt(n log(1/β)/2)`: the second branch of Theorem 1 for pure DP.
///
/// `n` records (1 to 2^53), `epsilon` of replace-one pure DP (nats, >= 0), failure level `β`.
///
/// # Source
/// arXiv 2605.26222, Theorem 1 with δ = 0; re-proved as bound C at δ = 0 in docs/theory/max-information.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, pure_dp};
/// let bound = pure_dp::theorem1_sqrt(1, 1.0, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 1.348_873_415_340_408_3 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn theorem1_sqrt(n: u64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let n = domain::count("n", n)?;
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let mean = n * epsilon * epsilon / 8.0;
    let deviation = epsilon * (n * level.log_inverse() / 2.0).sqrt();
    Ok(Bound::upper_bound(MAX_INFORMATION, mean + deviation, paper("Theorem 1, delta = 0"))?
        .with_term("n eps^2/8", mean)
        .with_term("eps sqrt(n log(1/beta)/2)", deviation))
}

/// `I^β <= min{ n ε, n ε²/8 + ε sqrt(n log(1/β)/2) }`: Theorem 1 for pure DP.
///
/// `n` records (1 to 2^53), `epsilon` of replace-one pure DP (nats, >= 0), failure level `β`.
///
/// # Source
/// arXiv 2605.26222, Theorem 1 with δ = 0.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, pure_dp};
/// let bound = pure_dp::theorem1(1, 1.0, FailureLevel::from_beta(0.05)?)?;
/// assert_eq!(bound.value, Some(1.0));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn theorem1(n: u64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let quadratic = theorem1_sqrt(n, epsilon, level)?;
    let linear = domain::count("n", n)? * domain::non_negative("epsilon", epsilon)?;
    if quadratic.value.is_some_and(|value| value <= linear) {
        return Ok(quadratic);
    }
    Ok(Bound::upper_bound(MAX_INFORMATION, linear, paper("Theorem 1, delta = 0"))?
        .with_term("n eps", linear))
}
