//! Pure ε-DP: the classic bound, Theorem 1 at δ = 0, and the bounded-range bound.

mod bounded_range;
mod classic;
mod theorem1;

pub use bounded_range::{bounded_range, bounded_range_hs};
pub use classic::classic;
pub use theorem1::{theorem1, theorem1_sqrt};

use super::FailureLevel;
use crate::error::Result;
use crate::warrant::Bound;

/// The smallest of all pure-DP bounds; the others are its alternatives.
///
/// `n` records (1 to 2^53), `epsilon` of replace-one pure DP (nats, >= 0), failure level `β`.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, pure_dp};
/// let bound = pure_dp::best(1000, 0.1, FailureLevel::from_beta(0.05)?)?;
/// assert!(bound.alternatives.iter().all(|other| other.value >= bound.value));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn best(n: u64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    Bound::best_of(vec![
        bounded_range_hs(n, epsilon, level)?,
        bounded_range(n, epsilon, level)?,
        theorem1(n, epsilon, level)?,
        classic(n, epsilon, level)?,
    ])
}
