//! The classical bound for pure DP: a baseline.

use crate::domain;
use crate::error::Result;
use crate::max_information::{FailureLevel, MAX_INFORMATION};
use crate::warrant::{Bound, Source};

/// `I^β <= n ε²/2 + ε sqrt(n log(2/β)/2)` for an ε-DP mechanism.
///
/// `n` records (1 to 2^53), `epsilon` of replace-one pure DP (nats, >= 0), failure level `β`.
///
/// # Source
/// Dwork et al. (2015), quoted as (4) in arXiv 2605.26222.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, pure_dp};
/// let bound = pure_dp::classic(50_000, 0.5, FailureLevel::from_beta(1e-10)?)?;
/// assert!((bound.value.unwrap() / 6635.024_334_543_451 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn classic(n: u64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let n = domain::count("n", n)?;
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let mean = n * epsilon * epsilon / 2.0;
    let deviation = epsilon * (n * level.log_inverse_of_share(0.5) / 2.0).sqrt();
    let source = Source::new("Dwork et al. 2015", "pure-DP bound, (4) in arXiv 2605.26222");
    Ok(Bound::upper_bound(MAX_INFORMATION, mean + deviation, source)?
        .with_term("n eps^2/2", mean)
        .with_term("eps sqrt(n log(2/beta)/2)", deviation))
}
