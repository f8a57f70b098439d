//! Theorem 4: streaming DP-SGD, eqs. (10)–(12).
//!
//! `T` steps on disjoint batches of `m` records, each record used once; the release of a step is the
//! **sum** of gradients clipped to `ζ` plus `σζZ`; `ν = m/(4σ²)`. Batches, `T`, `m`, `σ`, `ζ` are fixed in
//! advance without looking at the data. All hypotheses: docs/theory/max-information.md.

use super::gaussian::{infimum, infimum_hs};
use super::{FailureLevel, MAX_INFORMATION, ours, paper};
use crate::domain;
use crate::error::Result;
use crate::warrant::Bound;

/// Eq. (10): `2Tν + inf_λ [log(1/β) − (T/2) log(1 − 4(λ+λ²)ν)]/λ`.
///
/// `nu = m/(4σ²) >= 0` with `σ` relative to the clipping norm on the sum, `steps = T` (1 to 2^53),
/// failure level `β`.
///
/// # Source
/// arXiv 2605.26222, Theorem 4, eq. (10).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, streaming};
/// let level = FailureLevel::from_beta(0.025)?;
/// let bound = streaming::eq10(250.0 / (4.0 * 10.0 * 10.0), 240, level)?;
/// assert!((bound.value.unwrap() - 707.5).abs() < 0.05);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn eq10(nu: f64, steps: u64, level: FailureLevel) -> Result<Bound> {
    let nu = domain::non_negative("nu", nu)?;
    let steps = domain::count("steps", steps)?;
    let search = if nu == 0.0 {
        0.0
    } else {
        steps / 2.0 * infimum(4.0 * nu, 2.0 * level.log_inverse() / steps)
    };
    let mean = 2.0 * steps * nu;
    Ok(Bound::upper_bound(MAX_INFORMATION, mean + search, paper("Theorem 4, eq. (10)"))?
        .with_term("2 T nu", mean)
        .with_term("inf over lambda", search))
}

/// [`eq10`] with the hockey-stick conversion. Never larger.
///
/// Arguments as in [`eq10`].
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (HS conversion).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, streaming};
/// let level = FailureLevel::from_beta(0.025)?;
/// assert!(streaming::eq10_hs(0.625, 240, level)?.value < streaming::eq10(0.625, 240, level)?.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn eq10_hs(nu: f64, steps: u64, level: FailureLevel) -> Result<Bound> {
    let nu = domain::non_negative("nu", nu)?;
    let steps = domain::count("steps", steps)?;
    let source = ours("Theorem 4, eq. (10) with hockey-stick conversion");
    if nu == 0.0 {
        return Bound::upper_bound(MAX_INFORMATION, level.log_complement(), source);
    }
    let found = infimum_hs(4.0 * nu, steps / 2.0, level.log_inverse())?;
    let mean = 2.0 * steps * nu;
    Ok(found
        .plus(mean)
        .bound(source)?
        .with_term("2 T nu", mean)
        .with_term("inf over lambda", found.value))
}

/// Eq. (11): `4Tν + 2(ν + sqrt(ν²+ν))L + 2 sqrt((4ν²+2ν)TL)`, `L = log(1/β)`.
///
/// Arguments as in [`eq10`].
///
/// # Source
/// arXiv 2605.26222, Theorem 4, eq. (11).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, streaming};
/// let bound = streaming::eq11(1e-12, 1, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 1.088_696_819_994_205_3e-5 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn eq11(nu: f64, steps: u64, level: FailureLevel) -> Result<Bound> {
    let nu = domain::non_negative("nu", nu)?;
    let steps = domain::count("steps", steps)?;
    let l = level.log_inverse();
    let mean = 4.0 * steps * nu;
    let linear = 2.0 * (nu + nu.sqrt() * (nu + 1.0).sqrt()) * l;
    let root = 2.0 * nu.sqrt() * (4.0 * nu + 2.0).sqrt() * (steps * l).sqrt();
    Ok(Bound::upper_bound(MAX_INFORMATION, mean + linear + root, paper("Theorem 4, eq. (11)"))?
        .with_term("4 T nu", mean)
        .with_term("2 (nu + sqrt(nu^2 + nu)) L", linear)
        .with_term("2 sqrt((4 nu^2 + 2 nu) T L)", root))
}

/// Eq. (12): `4(T + L + sqrt(TL))ν + 2(L + sqrt(2TL)) sqrt ν`, `L = log(1/β)`.
///
/// Arguments as in [`eq10`].
///
/// # Source
/// arXiv 2605.26222, Theorem 4, eq. (12).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, streaming};
/// let level = FailureLevel::from_beta(0.5)?;
/// let bound = streaming::eq12(1000.0, 1_000_000_000, level)?;
/// assert!((bound.value.unwrap() / 4.000_107_668_390_381_6e12 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn eq12(nu: f64, steps: u64, level: FailureLevel) -> Result<Bound> {
    let nu = domain::non_negative("nu", nu)?;
    let steps = domain::count("steps", steps)?;
    let l = level.log_inverse();
    let linear = 4.0 * (steps + l + (steps * l).sqrt()) * nu;
    let root = 2.0 * (l + (2.0 * steps * l).sqrt()) * nu.sqrt();
    Ok(Bound::upper_bound(MAX_INFORMATION, linear + root, paper("Theorem 4, eq. (12)"))?
        .with_term("4 (T + L + sqrt(TL)) nu", linear)
        .with_term("2 (L + sqrt(2TL)) sqrt(nu)", root))
}

/// `ν = m/(4σ²)` for batches of `batch = m` records.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
pub fn nu(batch: u64, sigma: f64) -> Result<f64> {
    let batch = domain::count("batch", batch)?;
    let sigma = domain::positive("sigma", sigma)?;
    Ok((batch / sigma / sigma / 4.0).max(f64::MIN_POSITIVE)) // never 0: the release depends on the data
}

/// The smallest bound for streaming DP-SGD with independent noise; the others are alternatives.
///
/// `batch = m` records (1 to 2^53), `steps = T`, `sigma > 0` relative to the clipping norm on the
/// sum, failure level `β`.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, streaming};
/// let best = streaming::best(250, 240, 10.0, FailureLevel::from_beta(0.025)?)?;
/// assert!(best.value.unwrap() < 707.5);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn best(batch: u64, steps: u64, sigma: f64, level: FailureLevel) -> Result<Bound> {
    let nu = nu(batch, sigma)?;
    Bound::best_of(vec![
        eq10_hs(nu, steps, level)?,
        eq10(nu, steps, level)?,
        eq11(nu, steps, level)?,
        eq12(nu, steps, level)?,
    ])
}
