//! (ε, δ)-DP: bounds A, B, B+, C, D and D′ (ours), their minimum, and the regime without a finite bound.
//!
//! The printed form of Theorem 1/9 of the paper for δ > 0 is not implemented: its constant is
//! unreadable in every copy available to us (docs/errata.md, M3). The bounds here replace it and
//! contain its pure-DP case.

mod additive;
mod clipped_variance;
mod linear;
mod randomized_response;

pub use additive::{c_lambda_d, c_lambda_d_prime, d, d_prime, d_split};
pub use clipped_variance::{c, c_hs};
pub use linear::a;
pub use randomized_response::{
    MAX_COMPOSITION, b, b_plus, b_plus_exact, b_plus_hs, randomized_response_composition,
};

use super::{FailureLevel, MAX_INFORMATION, pure_dp};
use crate::domain;
use crate::error::{Result, Shown};
use crate::warrant::{Bound, Source};

/// The smallest of all bounds for an (ε, δ)-DP mechanism; the others are its alternatives.
///
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]) of the whole
/// release, failure level `β`. For `β < n δ` no finite bound exists and the answer says so.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let bound = approximate_dp::best(60_000, 0.01, 1e-8, FailureLevel::from_beta(0.025)?)?;
/// assert!(bound.value.unwrap() < 4.187); // bound C leads
/// let none = approximate_dp::best(1000, 0.05, 1e-4, FailureLevel::from_beta(0.05)?)?;
/// assert!(none.value.is_none() && none.reason.unwrap().contains("no finite bound"));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn best(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let mut bounds = vec![
        b_plus_hs(n, epsilon, delta, level)?,
        b_plus(n, epsilon, delta, level)?,
        c_hs(n, epsilon, delta, level)?,
        c(n, epsilon, delta, level)?,
        d_split(n, epsilon, delta, level)?,
        d(n, epsilon, delta, level)?,
        a(n, epsilon, delta, level)?,
    ];
    if n <= EXACT_UP_TO {
        bounds.push(b_plus_exact(n, epsilon, delta, level)?);
    }
    if delta == 0.0 {
        bounds.push(pure_dp::best(n, epsilon, level)?);
    }
    let mut best = Bound::best_of(bounds)?;
    if best.value.is_none() {
        best.alternatives.clear();
    }
    Ok(best)
}

/// Up to this many records the exact form of B+ takes well under a millisecond.
const EXACT_UP_TO: u64 = 10_000;

/// The checked arguments of an (ε, δ)-DP mechanism at a failure level.
#[derive(Clone, Copy)]
struct Setting {
    n: f64,
    epsilon: f64,
    delta: f64,
    level: FailureLevel,
}

impl Setting {
    fn new(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Self> {
        Ok(Self {
            n: domain::count("n", n)?,
            epsilon: domain::non_negative("epsilon", epsilon)?,
            delta: domain::probability("delta", delta)?,
            level,
        })
    }

    /// `β − n δ` with one rounding, so that its sign is that of the exact difference.
    fn excess(self) -> f64 {
        (-self.n).mul_add(self.delta, self.level.probability())
    }

    /// Whether `β >= n δ`: otherwise no finite bound exists.
    fn is_bounded(self) -> bool {
        self.delta == 0.0 || self.excess() >= 0.0
    }

    /// `n δ / β`.
    fn lost_share(self) -> f64 {
        if self.delta == 0.0 {
            0.0
        } else {
            (self.n.ln() + self.delta.ln() + self.level.log_inverse()).exp()
        }
    }

    /// `log(1/(β − factor n δ))`, or `None` unless the difference is positive.
    fn log_inverse_threshold(self, factor: f64) -> Option<f64> {
        if self.delta == 0.0 {
            return Some(self.level.log_inverse());
        }
        if !self.is_bounded() {
            return None;
        }
        if self.level.probability() > 1e-290 {
            let left = (-self.n * factor).mul_add(self.delta, self.level.probability());
            if left <= 0.0 {
                return None;
            }
            let share = factor * self.lost_share();
            // Where little is lost the logarithm of β itself keeps its digits, also next to β = 1.
            let kept =
                if share < 0.5 { self.level.log_inverse() - (-share).ln_1p() } else { -left.ln() };
            return Some(kept);
        }
        self.level.log_inverse_minus((self.n * factor).ln() + self.delta.ln())
    }

    fn bound(self, value: f64, source: Source) -> Result<Bound> {
        Bound::upper_bound(MAX_INFORMATION, value, source)
    }

    /// No value: either no finite bound exists at all, or this statement needs a larger `β`.
    fn refused(self, source: Source, needs: &str) -> Bound {
        let beta = if self.level.probability() == 0.0 {
            format!("exp(-{})", Shown(self.level.log_inverse()))
        } else {
            Shown(self.level.probability()).to_string()
        };
        let lost = Shown::short(self.n * self.delta);
        let reason = if self.is_bounded() {
            format!("this statement needs {needs}; here beta = {beta} and n*delta = {lost}")
        } else {
            format!(
                "no finite bound exists because beta = {beta} is below n*delta = {lost}: releasing \
                 one record with that probability is (0, delta)-DP; lower delta or raise beta"
            )
        };
        Bound::refused(MAX_INFORMATION, source, reason)
    }
}
