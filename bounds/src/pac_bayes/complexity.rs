//! The right-hand side of a PAC-Bayes bound, in nats per record.

use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::warrant::{Bound, Quantity, Source};

const COMPLEXITY: Quantity = Quantity { name: "complexity", unit: "nats per record" };

fn bound(n: f64, parts: &[(&'static str, f64)], source: Source) -> Result<Bound> {
    let total: f64 = parts.iter().map(|(_, value)| value).sum();
    if total < 0.0 {
        return Err(BoundError::OutOfRange {
            parameter: "max_information",
            value: Shown(total),
            allowed: "a value that leaves a non-negative complexity",
            remedy: "a max-information is never below log(1 - beta); check its level",
        });
    }
    let bound = Bound::upper_bound(COMPLEXITY, total / n, source)?;
    Ok(parts.iter().fold(bound, |bound, &(name, value)| bound.with_term(name, value / n)))
}

/// Theorem 5: `[KL + κ + log(4 sqrt(n)/δ)]/n` with `κ >= I^{δ/2}`, for every posterior at once.
///
/// `n` records in the empirical risk, `kl >= 0` (nats), `max_information = κ` at level `δ/2` (nats),
/// total failure probability `delta` in (0, 1).
///
/// # Source
/// arXiv 2605.26222, Theorem 5, eq. (14), reconstructed and proved in docs/theory/pac-bayes.md.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let c = dpbounds_bounds::pac_bayes::complexity::private_prior(60_000, 0.0, 1381.0, 0.05)?;
/// assert!((c.value.unwrap() / 0.023_181_384_609_254_6 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn private_prior(n: u64, kl: f64, max_information: f64, delta: f64) -> Result<Bound> {
    let half = domain::open_probability("delta", delta)? / 2.0;
    split(n, kl, max_information, delta, half, "Theorem 5, eq. (14)")
}

/// The general split: `[KL + I^b + log(2 sqrt(n)/(δ − b))]/n`; `b = δ/2` is Theorem 5.
///
/// `n` records in the empirical risk, `kl >= 0` (nats), `max_information` at level `level = b` (nats),
/// `0 < level < delta < 1`.
///
/// # Source
/// Ours; docs/theory/pac-bayes.md (general split).
///
/// # Errors
/// [`BoundError`] for an argument out of range or a level that uses up `delta`.
///
/// # Examples
/// ```
/// use dpbounds_bounds::pac_bayes::complexity;
/// let even = complexity::private_prior(1000, 3.0, 10.0, 0.05)?;
/// let same = complexity::private_prior_at_level(1000, 3.0, 10.0, 0.05, 0.025)?;
/// assert!((even.value.unwrap() / same.value.unwrap() - 1.0).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn private_prior_at_level(
    n: u64,
    kl: f64,
    max_information: f64,
    delta: f64,
    level: f64,
) -> Result<Bound> {
    split(n, kl, max_information, delta, level, "general split of eq. (14)")
}

fn split(
    n: u64,
    kl: f64,
    max_information: f64,
    delta: f64,
    level: f64,
    statement: &'static str,
) -> Result<Bound> {
    let records = domain::count("n", n)?;
    let kl = domain::non_negative("kl", kl)?;
    let left = remaining(delta, level)?;
    let max_information = possible(max_information, level)?;
    let confidence = 2f64.ln() + 0.5 * records.ln() - left.ln();
    bound(
        records,
        &[("KL/n", kl), ("max-information/n", max_information), ("confidence/n", confidence)],
        Source::new("arXiv 2605.26222", statement),
    )
}

/// A max-information is never below `log(1 − b)`.
fn possible(max_information: f64, level: f64) -> Result<f64> {
    let value = domain::finite("max_information", max_information)?;
    if value >= (-level).ln_1p() * (1.0 + 1e-12) {
        return Ok(value);
    }
    Err(BoundError::OutOfRange {
        parameter: "max_information",
        value: Shown(value),
        allowed: "at least log(1 - level)",
        remedy: "no mechanism has less; check the value and its level",
    })
}

/// `δ − b`, the failure probability left for the PAC-Bayes bound itself.
pub(crate) fn remaining(delta: f64, level: f64) -> Result<f64> {
    let delta = domain::open_probability("delta", delta)?;
    let level = domain::open_probability("level", level)?;
    if level >= delta {
        return Err(BoundError::Conflict {
            parameter: "level",
            value: Shown(level),
            other: "delta",
            other_value: Shown(delta),
            requirement: "the level of the max-information must be below the total failure probability",
        });
    }
    Ok(delta - level)
}

/// For a privately trained (randomised) model itself, upper side only: `[I^b + log(1/(δ−b))]/n`.
///
/// No square-root term: the model is fixed before the sample under the product law, so Chernoff's
/// bound applies. `n` records in the empirical risk, `max_information` at `level = b` (nats),
/// `0 < level < delta < 1`; the usual level is `delta/2`.
///
/// # Source
/// Ours, the one-sided form of Corollary 6, eq. (15); proof in docs/theory/pac-bayes.md.
///
/// # Errors
/// [`BoundError`] for an argument out of range or a level that uses up `delta`.
///
/// # Examples
/// ```
/// use dpbounds_bounds::pac_bayes::complexity;
/// let one_sided = complexity::private_model(60_000, 1381.0, 0.05, 0.025)?;
/// assert!(one_sided.value < complexity::private_prior(60_000, 0.0, 1381.0, 0.05)?.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn private_model(n: u64, max_information: f64, delta: f64, level: f64) -> Result<Bound> {
    let records = domain::count("n", n)?;
    let confidence = -remaining(delta, level)?.ln();
    let max_information = possible(max_information, level)?;
    bound(
        records,
        &[("max-information/n", max_information), ("confidence/n", confidence)],
        Source::new("ours", "one-sided form of Corollary 6, eq. (15) (docs/theory/pac-bayes.md)"),
    )
}

/// Data-independent prior: `[KL + log(2 sqrt(n)/δ)]/n`.
///
/// `n` records in the empirical risk, `kl >= 0` (nats), failure probability `delta` in (0, 1).
///
/// # Source
/// Maurer (2004), Seeger (2002); (13) in arXiv 2605.26222.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let c = dpbounds_bounds::pac_bayes::complexity::seeger(60_000, 5000.0, 0.05)?;
/// assert!((c.value.unwrap() / 0.083_486_498_822_911_93 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn seeger(n: u64, kl: f64, delta: f64) -> Result<Bound> {
    let records = domain::count("n", n)?;
    let kl = domain::non_negative("kl", kl)?;
    let delta = domain::open_probability("delta", delta)?;
    let confidence = 2f64.ln() + 0.5 * records.ln() - delta.ln();
    bound(
        records,
        &[("KL/n", kl), ("confidence/n", confidence)],
        Source::new("Seeger 2002, Maurer 2004", "(13) in arXiv 2605.26222"),
    )
}

/// A fixed, data-independent (randomised) model, upper side only: `log(1/δ)/n` (Chernoff).
///
/// `n` records in the empirical risk, failure probability `delta` in (0, 1).
///
/// # Source
/// Chernoff's bound for averages of independent [0, 1]-valued losses.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let c = dpbounds_bounds::pac_bayes::complexity::fixed_model(100, 0.05)?;
/// assert!((c.value.unwrap() - 20f64.ln() / 100.0).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn fixed_model(n: u64, delta: f64) -> Result<Bound> {
    let records = domain::count("n", n)?;
    let delta = domain::open_probability("delta", delta)?;
    bound(records, &[("confidence/n", -delta.ln())], Source::new("Chernoff", "kl form"))
}
