//! DP-SGD in which records take part in many steps: Theorem 2 over the whole replace-one Rényi curve.
//!
//! The release of a step is the **sum** of gradients clipped to `ζ` plus `σζZ`; the parameters depend on the
//! data only through the releases; `σ`, `ζ`, `T` and the sampler are fixed in advance. For runs that use each
//! record once, [`super::streaming`] is an alternative.

use super::renyi::{RenyiCurve, best_over_curve};
use super::{FailureLevel, MAX_INFORMATION, ours};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::warrant::{Bound, Check, Comparison};

/// Max-information of DP-SGD on Poisson batches.
///
/// The minimum over the orders of [`RenyiCurve::poisson_dp_sgd`] and over the splits of `β`.
///
/// `n` records (1 to 2^53), each in a batch with probability `sampling_rate = q` in (0, 1], `sigma > 0` the
/// noise on the sum over the clipping norm, `steps = T` (1 to 2^53), failure level `β`. Result in nats.
///
/// # Source
/// Ours; docs/theory/renyi-replace-one.md for the curve, docs/theory/max-information.md (Rényi DP) for
/// the conversion.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, dp_sgd};
/// let level = FailureLevel::from_beta(0.025)?;
/// let bound = dp_sgd::poisson(12_000, 0.1, 62.0, 60, level)?;
/// assert!((bound.value.unwrap() - 23.0).abs() < 0.1);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn poisson(
    n: u64,
    sampling_rate: f64,
    sigma: f64,
    steps: u64,
    level: FailureLevel,
) -> Result<Bound> {
    domain::count("n", n)?;
    let curve = RenyiCurve::poisson_dp_sgd(sampling_rate, sigma, steps);
    let bound = named(n, curve, level, "DP-SGD on Poisson batches")?;
    Ok(bound.with_check(Check::new("sampling rate <= 1", sampling_rate, Comparison::AtMost, 1.0)))
}

/// Max-information of several DP-SGD runs on Poisson batches of the same records, all of them released.
///
/// The minimum over the orders of [`RenyiCurve::poisson_dp_sgd_runs`] and over the splits of `β`. It pays for a
/// search: whatever is chosen among the runs is a function of the release. Later runs may depend on earlier ones.
///
/// `n` records (1 to 2^53), `runs` of sampling rate, noise and steps as in [`poisson`], failure level `β`.
///
/// # Source
/// Ours; docs/theory/renyi-replace-one.md and docs/theory/max-information.md (Rényi DP).
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range or no run.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, dp_sgd};
/// let level = FailureLevel::from_beta(0.025)?;
/// let one = dp_sgd::poisson(12_000, 0.1, 62.0, 60, level)?;
/// let two = dp_sgd::poisson_runs(12_000, &[(0.1, 62.0, 60); 2], level)?;
/// assert!(two.value > one.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn poisson_runs(n: u64, runs: &[(f64, f64, u64)], level: FailureLevel) -> Result<Bound> {
    domain::count("n", n)?;
    if runs.is_empty() {
        return Err(BoundError::Input {
            parameter: "runs".into(),
            problem: "there is no run; give at least one".into(),
        });
    }
    let curve = RenyiCurve::poisson_dp_sgd_runs(runs);
    named(n, curve, level, "DP-SGD runs on Poisson batches")
}

/// Max-information of DP-SGD on batches of fixed size, drawn anew without replacement in each step.
///
/// The minimum over the orders of [`RenyiCurve::fixed_size_dp_sgd`] and over the splits of `β`.
///
/// `n` records (1 to 2^53), `batch <= n` of them in each step, the others as in [`poisson`].
///
/// # Source
/// Ours; docs/theory/renyi-replace-one.md and docs/theory/max-information.md (Rényi DP).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] or [`crate::BoundError::Conflict`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, dp_sgd};
/// let level = FailureLevel::from_beta(0.025)?;
/// let bound = dp_sgd::fixed_size(12_000, 1200, 62.0, 60, level)?;
/// assert!((bound.value.unwrap() - 23.2).abs() < 0.1);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[allow(clippy::cast_precision_loss)] // batch <= n <= 2^53
pub fn fixed_size(
    n: u64,
    batch: u64,
    sigma: f64,
    steps: u64,
    level: FailureLevel,
) -> Result<Bound> {
    let curve = RenyiCurve::fixed_size_dp_sgd(n, batch, sigma, steps);
    let bound = named(n, curve, level, "DP-SGD on batches of fixed size")?;
    Ok(bound.with_check(Check::new("batch <= n", batch as f64, Comparison::AtMost, n as f64)))
}

/// Max-information of DP-SGD on the whole data set in every step.
///
/// The minimum over the orders of [`RenyiCurve::full_batch_dp_sgd`] and over the splits of `β`.
///
/// `n` records (1 to 2^53), the others as in [`poisson`].
///
/// # Source
/// Ours; docs/theory/max-information.md (Rényi DP).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, dp_sgd};
/// let level = FailureLevel::from_beta(0.025)?;
/// let bound = dp_sgd::full_batch(12_000, 620.0, 60, level)?;
/// assert!((bound.value.unwrap() - 22.8).abs() < 0.1);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn full_batch(n: u64, sigma: f64, steps: u64, level: FailureLevel) -> Result<Bound> {
    domain::count("n", n)?;
    named(n, RenyiCurve::full_batch_dp_sgd(sigma, steps), level, "DP-SGD on the whole data set")
}

/// No value, with the reason, where the noise is so small that no divergence is a number.
fn named(n: u64, curve: Result<RenyiCurve>, level: FailureLevel, run: &str) -> Result<Bound> {
    let curve = match curve {
        Err(BoundError::Numerical { detail, .. }) => {
            return Ok(Bound::refused(MAX_INFORMATION, ours("DP-SGD (replace-one)"), detail));
        }
        other => other?,
    };
    let mut bound = best_over_curve(n, &curve, level)?;
    bound.source.work = "ours".into();
    bound.source.statement = format!("{run} (replace-one): {}", bound.source.statement).into();
    Ok(bound)
}
