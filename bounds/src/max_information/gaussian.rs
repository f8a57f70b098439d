//! Theorem 3: the Gaussian mechanism, eqs. (7)–(9), and the solver of its infimum.
//!
//! The mechanism releases `Ψ(S) + σΔZ` with `Δ` the **replace-one** sensitivity; `ν = n/(4σ²)`.

use super::renyi::best_over_orders;
use super::search::{Conversion, Searched, search};
use super::{FailureLevel, MAX_INFORMATION, ours, paper};
use crate::domain;
use crate::error::Result;
use crate::solve::bracket_positive;
use crate::special::{expm1_excess, log1p_excess};
use crate::warrant::{Bound, Quantity};

/// `r_ν = sqrt(1/4 + 1/ν) − 1/2`, the end of the range of λ in (7); `nu > 0`.
///
/// # Source
/// arXiv 2605.26222, Theorem 3.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] unless `nu` is positive and finite.
///
/// # Examples
/// ```
/// let r = dpbounds_bounds::max_information::gaussian::r_nu(1e-12)?;
/// assert!((r / 999_999.500_000_125 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn r_nu(nu: f64) -> Result<f64> {
    Ok(range_end(domain::positive("nu", nu)?))
}

pub(super) fn range_end(nu: f64) -> f64 {
    2.0 / (nu + nu.sqrt() * (nu + 4.0).sqrt())
}

/// `−log(1 − (λ+λ²)ν)` at `λ = r x`, `x = 1 − e^{−u}`, without cancellation near `λ = r`.
fn negative_log(nu: f64, r: f64, x: f64, u: f64) -> f64 {
    let lambda = r * x;
    let y = (lambda * nu) * (1.0 + lambda);
    if y < 0.5 { -(-y).ln_1p() } else { u - (r / (1.0 + r) * x).ln_1p() }
}

/// `J(ν, L) = inf_{0<λ<r_ν} [L − log(1 − (λ+λ²)ν)]/λ` for `ν > 0`, `L > 0`.
///
/// The stationarity condition is the root of an increasing function of `u = −log(1 − λ/r)`; the
/// value is stationary there, so the root's rounding error enters squared. Any `u` is valid.
pub(super) fn infimum(nu: f64, log_inverse: f64) -> f64 {
    let r = range_end(nu);
    let q = r / (1.0 + r);
    let residual = |u: f64| {
        let x = -(-u).exp_m1();
        let w = q * x / (1.0 + q * x);
        expm1_excess(u) + log1p_excess(-w) - log_inverse
    };
    let slope = |u: f64| {
        let x = -(-u).exp_m1();
        let z = q * x;
        u.exp_m1() + q * (1.0 - x) * z / (1.0 + z)
    };
    // Newton from the right of the root of an increasing convex function descends to it.
    let mut u = (log_inverse.ln_1p() + 1.0).min((2.0 * log_inverse).sqrt());
    for _ in 0..60 {
        let step = residual(u) / slope(u);
        if !(step.abs() > 1e-12 * u) || !(u - step > 0.0) {
            break;
        }
        u -= step;
    }
    let x = -(-u).exp_m1();
    (log_inverse + negative_log(nu, r, x, u)) / (r * x)
}

/// `inf_λ [L − weight·log(1 − (λ+λ²)ν) + hs(λ)]/λ`: the same with the hockey-stick conversion.
pub(super) fn infimum_hs(nu: f64, weight: f64, log_inverse: f64) -> Result<Searched> {
    let r = range_end(nu);
    let at = |t: f64| {
        let u = t.exp();
        let x = -(-u).exp_m1();
        (r * x, log_inverse + weight * negative_log(nu, r, x, u))
    };
    search(at, Conversion::HockeyStick, -60.0, 8.0)
}

/// Eq. (7): `I^β <= ν + inf_{0<λ<r_ν} [log(1/β) − log(1 − (λ+λ²)ν)]/λ`.
///
/// `nu = n/(4σ²) >= 0` with `σ` relative to the replace-one sensitivity, failure level `β`.
///
/// # Source
/// arXiv 2605.26222, Theorem 3, eq. (7).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, gaussian};
/// let bound = gaussian::eq7(1e-12, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 5.014_263_976_834_581e-6 - 1.0).abs() < 1e-13);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn eq7(nu: f64, level: FailureLevel) -> Result<Bound> {
    let nu = domain::non_negative("nu", nu)?;
    let search = if nu == 0.0 { 0.0 } else { infimum(nu, level.log_inverse()) };
    Ok(Bound::upper_bound(MAX_INFORMATION, nu + search, paper("Theorem 3, eq. (7)"))?
        .with_term("nu", nu)
        .with_term("inf over lambda", search))
}

/// [`eq7`] with the hockey-stick conversion; never larger, and negative for `ν → 0` as the exact value.
///
/// Arguments as in [`eq7`].
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (HS conversion).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, gaussian};
/// let bound = gaussian::eq7_hs(1e-12, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / -0.051_293_294_366_550_536 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn eq7_hs(nu: f64, level: FailureLevel) -> Result<Bound> {
    let nu = domain::non_negative("nu", nu)?;
    let source = ours("Theorem 3, eq. (7) with hockey-stick conversion");
    if nu == 0.0 {
        // The release is independent of the data: the exact value.
        return Bound::upper_bound(MAX_INFORMATION, level.log_complement(), source);
    }
    let found = infimum_hs(nu, 1.0, level.log_inverse())?;
    Ok(found.plus(nu).bound(source)?.with_term("nu", nu).with_term("inf over lambda", found.value))
}

/// Eq. (8): `2ν + (ν/2 + sqrt(ν²/4 + ν)) L + sqrt(2(ν² + 2ν)L)`, `L = log(1/β)`.
///
/// Arguments as in [`eq7`].
///
/// # Source
/// arXiv 2605.26222, Theorem 3, eq. (8).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, gaussian};
/// let bound = gaussian::eq8(1e-12, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 6.457_372_536_625_938_2e-6 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn eq8(nu: f64, level: FailureLevel) -> Result<Bound> {
    let nu = domain::non_negative("nu", nu)?;
    let l = level.log_inverse();
    let linear = (nu / 2.0 + nu.sqrt() * (nu / 4.0 + 1.0).sqrt()) * l;
    let root = (2.0 * l).sqrt() * nu.sqrt() * (nu + 2.0).sqrt();
    Ok(Bound::upper_bound(MAX_INFORMATION, 2.0 * nu + linear + root, paper("Theorem 3, eq. (8)"))?
        .with_term("2 nu", 2.0 * nu)
        .with_term("(nu/2 + sqrt(nu^2/4 + nu)) L", linear)
        .with_term("sqrt(2 (nu^2 + 2 nu) L)", root))
}

/// Eq. (9): `(2 + sqrt(2L) + L) ν + (L + 2 sqrt L) sqrt ν`, `L = log(1/β)`.
///
/// Arguments as in [`eq7`].
///
/// # Source
/// arXiv 2605.26222, Theorem 3, eq. (9).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, gaussian};
/// let bound = gaussian::eq9(1e-12, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 6.457_376_482_237_665_8e-6 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn eq9(nu: f64, level: FailureLevel) -> Result<Bound> {
    let nu = domain::non_negative("nu", nu)?;
    let l = level.log_inverse();
    let linear = (2.0 + (2.0 * l).sqrt() + l) * nu;
    let root = (l + 2.0 * l.sqrt()) * nu.sqrt();
    Ok(Bound::upper_bound(MAX_INFORMATION, linear + root, paper("Theorem 3, eq. (9)"))?
        .with_term("(2 + sqrt(2L) + L) nu", linear)
        .with_term("(L + 2 sqrt(L)) sqrt(nu)", root))
}

/// `ν = n/(4σ²)`.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
pub fn nu(n: u64, sigma: f64) -> Result<f64> {
    let n = domain::count("n", n)?;
    let sigma = domain::positive("sigma", sigma)?;
    Ok((n / sigma / sigma / 4.0).max(f64::MIN_POSITIVE)) // never 0: the release depends on the data
}

/// The smallest bound for the Gaussian mechanism: Theorem 3 and the Rényi route, which is
/// sometimes below it (docs/errata.md, M1). The others are alternatives.
///
/// `n` records (1 to 2^53), `sigma > 0` relative to the replace-one sensitivity, failure level `β`.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, gaussian};
/// let best = gaussian::best(60_000, 10.0, FailureLevel::from_beta(0.025)?)?;
/// assert!(best.value.unwrap() < 937.0); // the Renyi route; eq. (7) gives 1141
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn best(n: u64, sigma: f64, level: FailureLevel) -> Result<Bound> {
    let nu = nu(n, sigma)?;
    let mut bounds = vec![eq7_hs(nu, level)?, eq7(nu, level)?, eq8(nu, level)?, eq9(nu, level)?];
    bounds.extend(best_over_orders(n, |alpha| alpha / sigma / sigma / 2.0, level));
    Bound::best_of(bounds)
}

/// The smallest noise multiplier for which eq. (7) is at most `target`.
///
/// `n` records (1 to 2^53), `target > 0` in nats, failure level `β`. The answer is rounded up and
/// eq. (7) holds at it.
///
/// # Source
/// arXiv 2605.26222, Theorem 3, eq. (7), inverted: the bound decreases in `sigma`.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, gaussian};
/// let level = FailureLevel::from_beta(0.025)?;
/// let sigma = gaussian::noise_for_target(60_000, 50.0, level)?.certified_upper()?;
/// let check = gaussian::eq7(gaussian::nu(60_000, sigma)?, level)?;
/// assert!(check.value.unwrap() <= 50.0);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn noise_for_target(n: u64, target: f64, level: FailureLevel) -> Result<Bound> {
    const NOISE: Quantity = Quantity { name: "noise_multiplier", unit: "replace-one sensitivity" };
    let records = domain::count("n", n)?;
    let target = domain::positive("target", target)?;
    let enough = |sigma: f64| {
        let nu = records / sigma / sigma / 4.0;
        nu == 0.0 || nu + infimum(nu, level.log_inverse()) <= target
    };
    let source = paper("Theorem 3, eq. (7), inverted");
    match bracket_positive(enough, 1e-150, 1e150) {
        Some(bracket) => Bound::upper_bound(NOISE, bracket.above, source),
        None => Ok(Bound::refused(NOISE, source, "no noise up to 1e150 meets the target")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::minimize;

    #[test]
    fn the_solver_reaches_the_minimum_of_its_objective() {
        for nu in [1e-30, 1e-12, 1e-3, 0.7, 15.0, 1e6, 1e20] {
            for l in [1e-12, 1e-3, 0.05, 3.0, 700.0, 1e5] {
                let r = range_end(nu);
                let slow = minimize(
                    |t| {
                        let u = f64::exp(t);
                        let x = -(-u).exp_m1();
                        (l + negative_log(nu, r, x, u)) / (r * x)
                    },
                    -60.0,
                    13.0,
                )
                .unwrap()
                .value;
                let fast = infimum(nu, l);
                assert!((fast / slow - 1.0).abs() < 1e-12, "nu {nu} L {l}: {fast} {slow}");
            }
        }
    }
}
