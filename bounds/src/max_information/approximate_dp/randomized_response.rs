//! Bounds B and B+: every clipped likelihood ratio is dominated by randomised response.

use super::Setting;
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::max_information::search::{Conversion, Searched, invert_moment};
use crate::max_information::{FailureLevel, MAX_INFORMATION, ours};
use crate::special::{Binomial, randomized_response_log_moment};
use crate::warrant::{Bound, Source};

const NEEDS: &str = "beta > n*delta (beta = n*delta gives n*epsilon)";

/// Largest number of records for the exact composition, which visits every count.
pub const MAX_COMPOSITION: u64 = 1_000_000;

fn chernoff(n: f64, epsilon: f64, log_inverse: f64, conversion: Conversion) -> Result<Searched> {
    if epsilon == 0.0 {
        return Ok(Searched::ZERO);
    }
    invert_moment(
        |lambda| n * randomized_response_log_moment(lambda, epsilon),
        log_inverse,
        conversion,
        epsilon,
        n * epsilon,
    )
}

fn b_plus_with(setting: Setting, conversion: Conversion, source: Source) -> Result<Bound> {
    let Setting { n, epsilon, .. } = setting;
    match setting.log_inverse_threshold(1.0) {
        Some(log_inverse) => chernoff(n, epsilon, log_inverse, conversion)?.bound(source),
        None if setting.is_bounded() => setting.bound(n * epsilon, source),
        None => Ok(setting.refused(source, NEEDS)),
    }
}

/// Bound B+: `I^β <= inf_{λ>0} [n R(λ) + log(1/(β − nδ))]/λ`, `R` from [`randomized_response_log_moment`].
///
/// No additive term; at most `n ε`, its value at `β = n δ`.
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]), failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (B+).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let bound = approximate_dp::b_plus(1000, 0.05, 1e-6, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 5.127_314_456_103_125 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn b_plus(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, epsilon, delta, level)?;
    b_plus_with(setting, Conversion::Tail, ours("bound B+ (docs/theory/max-information.md)"))
}

/// [`b_plus`] with the hockey-stick conversion. Never larger.
///
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]), failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (B+, HS conversion).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let level = FailureLevel::from_beta(0.05)?;
/// let plain = approximate_dp::b_plus(1000, 0.05, 2e-5, level)?;
/// let sharper = approximate_dp::b_plus_hs(1000, 0.05, 2e-5, level)?;
/// assert!(sharper.value <= plain.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn b_plus_hs(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, epsilon, delta, level)?;
    b_plus_with(setting, Conversion::HockeyStick, ours("bound B+ with hockey-stick conversion"))
}

/// Bound B, weaker than [`b_plus`]: the same with `β − n(1+e^{−ε})δ` in place of `β − nδ`.
///
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]), failure level `β`.
///
/// # Source
/// Ours; docs/theory/max-information.md (B).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let bound = approximate_dp::b(1000, 0.05, 1e-6, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 5.139_875_330_629_412 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn b(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, epsilon, delta, level)?;
    let source = ours("bound B (docs/theory/max-information.md)");
    match setting.log_inverse_threshold(1.0 + (-epsilon).exp()) {
        Some(log_inverse) => {
            chernoff(setting.n, epsilon, log_inverse, Conversion::Tail)?.bound(source)
        }
        None => Ok(setting.refused(source, "beta > n*(1 + exp(-epsilon))*delta")),
    }
}

/// The exact form of [`b_plus`]: the max-information of `n`-fold randomised response at `β − nδ`.
///
/// `n` records (1 to [`MAX_COMPOSITION`]), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]),
/// failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (B+, exact form).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let level = FailureLevel::from_beta(0.05)?;
/// let exact = approximate_dp::b_plus_exact(1000, 0.05, 1e-6, level)?;
/// assert!(exact.value <= approximate_dp::b_plus_hs(1000, 0.05, 1e-6, level)?.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn b_plus_exact(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    composable(n)?;
    let setting = Setting::new(n, epsilon, delta, level)?;
    let source = ours("bound B+, exact form (docs/theory/max-information.md)");
    match setting.log_inverse_threshold(1.0) {
        Some(_) if delta == 0.0 => {
            setting.bound(composition(n, epsilon, level.probability()), source)
        }
        Some(log_inverse) => setting.bound(composition(n, epsilon, (-log_inverse).exp()), source),
        None if setting.is_bounded() => setting.bound(setting.n * epsilon, source),
        None => Ok(setting.refused(source, NEEDS)),
    }
}

/// The smallest `k >= 0` with `Σ_j C(n,j) [p^j q^{n−j} − e^k p^{n−j} q^j]_+ <= β`, `p = 1/(1+e^{−ε})`, `q = 1 − p`.
///
/// `n` records (1 to [`MAX_COMPOSITION`]), `epsilon` (nats, >= 0), level `beta` in (0, 1).
///
/// # Source
/// Ours; docs/theory/max-information.md (B+, exact form by prefixes).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let level = FailureLevel::from_beta(0.05)?;
/// let bound = approximate_dp::randomized_response_composition(1, 1.0, level)?;
/// assert!((bound.value.unwrap() / 0.929_154_729_532_477_8 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn randomized_response_composition(n: u64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    composable(n)?;
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let value = composition(n, epsilon, level.probability());
    let source = ours("exact composition of randomised response (docs/theory/max-information.md)");
    Bound::upper_bound(MAX_INFORMATION, value, source)
}

fn composable(n: u64) -> Result<()> {
    if (1..=MAX_COMPOSITION).contains(&n) {
        return Ok(());
    }
    #[allow(clippy::cast_precision_loss)] // only shown
    Err(BoundError::OutOfRange {
        parameter: "n",
        value: Shown(n as f64),
        allowed: "an integer from 1 to 1000000 for the exact composition",
        remedy: "use the moment form of bound B+ for more records",
    })
}

/// Neyman–Pearson by prefixes: `max_k log((A_k − β)/B_k)` over the prefixes `{j >= k}` with `A_k > β`.
///
/// Small values come from `A − B − β`, with the difference formed term by term.
fn composition(n: u64, epsilon: f64, beta: f64) -> f64 {
    #[allow(clippy::cast_precision_loss)] // at most MAX_COMPOSITION
    let records = n as f64;
    let limit = records * epsilon;
    if beta < 1e-260 || limit.is_infinite() {
        return limit; // the masses underflow, or the ratios overflow: the limit is always valid
    }
    let law = Binomial::with_log_odds(records, epsilon);
    let (mut mass, mut difference, mut reference, mut best) = (0.0, 0.0, 0.0, 0.0_f64);
    // Log of the running reference mass, because e^{−(2j−n)ε} underflows long before the ratio matters.
    let mut log_scale = f64::NEG_INFINITY;
    for j in (0..=n).rev() {
        #[allow(clippy::cast_precision_loss)]
        let count = j as f64;
        let log_term = law.log_mass(count);
        let log_ratio = (2.0 * count - records) * epsilon;
        mass += log_term.exp();
        difference -= log_term.exp() * (-log_ratio).exp_m1();
        if log_term - log_ratio > log_scale {
            reference *= (log_scale - log_term + log_ratio).exp();
            log_scale = log_term - log_ratio;
        }
        reference += (log_term - log_ratio - log_scale).exp();
        if mass > beta {
            let relative = (difference - beta) / (reference * log_scale.exp());
            best = best.max(if relative.abs() < 0.5 {
                relative.ln_1p()
            } else {
                (mass - beta).ln() - reference.ln() - log_scale
            });
        }
    }
    best.min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_is_b_plus_at_the_inflated_delta() {
        let level = FailureLevel::from_beta(0.05).unwrap();
        let (epsilon, delta) = (0.3_f64, 1e-6);
        let inflated = (1.0 + (-epsilon).exp()) * delta;
        let plus = b_plus(1000, epsilon, inflated, level).unwrap().value.unwrap();
        let plain = b(1000, epsilon, delta, level).unwrap().value.unwrap();
        assert!((plus / plain - 1.0).abs() < 1e-13);
    }

    #[test]
    fn the_exact_form_is_below_both_conversions() {
        for n in [1, 5, 100, 5000] {
            for epsilon in [0.01, 0.3, 2.0, 30.0] {
                for beta in [1e-9, 1e-3, 0.3] {
                    let level = FailureLevel::from_beta(beta).unwrap();
                    let get = |f: fn(u64, f64, f64, FailureLevel) -> Result<Bound>| {
                        f(n, epsilon, 0.0, level).unwrap().value.unwrap()
                    };
                    let (exact, hs, tail) = (get(b_plus_exact), get(b_plus_hs), get(b_plus));
                    let margin = 1e-10 * (1.0 + hs.abs());
                    assert!(exact <= hs.max(0.0) + margin, "{n} {epsilon} {beta}: {exact} {hs}");
                    assert!(hs <= tail + margin);
                }
            }
        }
    }
}
