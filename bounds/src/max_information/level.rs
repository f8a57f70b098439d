//! The failure level `β` of an approximate max-information, kept as `log(1/β)`.

use crate::domain;
use crate::error::{BoundError, Result, Shown};

/// A failure level `β` in (0, 1). Holds `log(1/β)`, so values far below 1e-300 are possible.
///
/// ```
/// use dpbounds_bounds::max_information::FailureLevel;
/// let tiny = FailureLevel::from_log_beta(-1e5)?;
/// assert_eq!(tiny.log_inverse(), 1e5);
/// assert_eq!(tiny.probability(), 0.0); // below the smallest double; all bounds use the logarithm
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailureLevel {
    probability: f64,
    log_inverse: f64,
}

impl FailureLevel {
    /// From the probability itself.
    ///
    /// # Errors
    /// [`BoundError::OutOfRange`] unless `0 < beta < 1`.
    pub fn from_beta(beta: f64) -> Result<Self> {
        let probability = domain::open_probability("beta", beta)?;
        Ok(Self { probability, log_inverse: -probability.ln() })
    }

    /// From the natural logarithm of the probability.
    ///
    /// # Errors
    /// [`BoundError::OutOfRange`] unless `log_beta` is finite and negative.
    pub fn from_log_beta(log_beta: f64) -> Result<Self> {
        if log_beta < 0.0 && log_beta.is_finite() {
            // Rounded down: a smaller level is the safe side of every threshold.
            let probability = (log_beta.exp() * (1.0 - 4.0 * f64::EPSILON)).max(0.0);
            Ok(Self { probability, log_inverse: -log_beta })
        } else {
            Err(BoundError::OutOfRange {
                parameter: "log_beta",
                value: Shown(log_beta),
                allowed: "a finite number < 0",
                remedy: "give the natural logarithm of a probability below 1",
            })
        }
    }

    /// `log(1/β)`, positive, in nats.
    #[must_use]
    pub fn log_inverse(self) -> f64 {
        self.log_inverse
    }

    /// `β`; 0 where it is below the smallest double.
    #[must_use]
    pub fn probability(self) -> f64 {
        self.probability
    }

    /// `log(1 − β)`, the smallest value a max-information at this level can have.
    pub(crate) fn log_complement(self) -> f64 {
        if self.log_inverse > 0.5 {
            (-self.probability).ln_1p()
        } else {
            (-(-self.log_inverse).exp_m1()).ln()
        }
    }

    /// `log(1/(β·fraction))`.
    pub(crate) fn log_inverse_of_share(self, fraction: f64) -> f64 {
        self.log_inverse - fraction.ln()
    }

    /// `log(1/(β − lost))` with `lost = e^{log_lost}`; `None` unless `β > lost`.
    pub(crate) fn log_inverse_minus(self, log_lost: f64) -> Option<f64> {
        let log_ratio = log_lost + self.log_inverse;
        if log_ratio < 0.0 { Some(self.log_inverse - (-log_ratio.exp()).ln_1p()) } else { None }
    }
}
