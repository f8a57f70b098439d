//! The analytic Gaussian mechanism (Balle and Wang 2018): δ, ε and noise, each from the other two.
//!
//! `δ(μ, ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)` with `μ = 1/noise_multiplier`; the noise multiplier is the
//! noise standard deviation over the sensitivity of the relation at hand.

use crate::domain;
use crate::error::{BoundError, Result};
use crate::solve::bracket_positive;
use crate::special::{mills_ratio, mills_ratio_difference, normal_cdf};
use crate::warrant::{Bound, Quantity, Source};

pub(crate) const DELTA: Quantity = Quantity { name: "delta", unit: "probability" };
pub(crate) const EPSILON: Quantity = Quantity { name: "epsilon", unit: "nats" };
pub(crate) const NOISE: Quantity = Quantity { name: "noise_multiplier", unit: "sensitivity" };
const MU: Quantity = Quantity { name: "mu", unit: "sensitivity / noise" };

const SOURCE: Source = Source::new("Balle and Wang 2018", "Theorem 8");

/// `log δ(μ, ε)` for `μ > 0` and any `ε >= 0`.
///
/// With `a = μ/2 − ε/μ` and the Mills ratio `m`: `δ = φ(a) [m(−a) − m(μ−a)]`, without overflow at any ε
/// and without cancellation at tiny μ; for large `a` it is `Φ(a) − φ(a) m(μ−a)` with a small second part.
pub(crate) fn log_delta(mu: f64, epsilon: f64) -> f64 {
    let a = mu / 2.0 - epsilon / mu;
    let log_density = -0.5 * a * a - 0.5 * (2.0 * std::f64::consts::PI).ln();
    if a > 2.0 {
        (normal_cdf(a) - log_density.exp() * mills_ratio(mu - a)).ln()
    } else {
        mills_ratio_difference(-a, mu).ln() + log_density
    }
}

/// δ of the Gaussian mechanism at `mu` = sensitivity / noise.
///
/// `mu >= 0`, `epsilon >= 0` (nats). Both sides of the value are given; a δ below the smallest double is
/// answered by 0 with an `upper` of 1e-300, and the term `log(delta)` keeps the exact size.
///
/// # Source
/// Balle and Wang (2018), Theorem 8; evaluation in docs/theory/privacy.md.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let delta = dpbounds_bounds::privacy::gaussian::delta_at(0.3, 1.0)?;
/// assert!((delta.value.unwrap() / 5.488_749_644_612_937e-5 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn delta_at(mu: f64, epsilon: f64) -> Result<Bound> {
    let mu = domain::non_negative("mu", mu)?;
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    if mu == 0.0 || epsilon / mu == f64::INFINITY {
        return Bound::exact(DELTA, 0.0, SOURCE);
    }
    if epsilon > 1e9 {
        let reason =
            "delta at epsilon above 1e9 is lost to rounding; no privacy is left there anyway";
        return Ok(Bound::refused(DELTA, SOURCE, reason));
    }
    let log_value = log_delta(mu, epsilon);
    let mut bound = Bound::exact(DELTA, log_value.exp().clamp(0.0, 1.0), SOURCE)?;
    bound.upper = bound.upper.map(|side| side.clamp(1e-300, 1.0));
    if log_value.is_finite() {
        bound = bound.with_term("log(delta)", log_value);
    }
    Ok(bound)
}

/// δ of the Gaussian mechanism from its noise multiplier.
///
/// `noise_multiplier > 0` (noise / sensitivity), `epsilon >= 0` (nats). See [`delta_at`].
///
/// # Source
/// Balle and Wang (2018), Theorem 8.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let delta = dpbounds_bounds::privacy::gaussian::delta(1.0, 20.0)?;
/// assert!((delta.value.unwrap() / 2.664_706_705_365_497_7e-86 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn delta(noise_multiplier: f64, epsilon: f64) -> Result<Bound> {
    delta_at(1.0 / domain::positive("noise_multiplier", noise_multiplier)?, epsilon)
}

/// The smallest ε of the Gaussian mechanism at δ; 0 where δ is at least the total variation.
///
/// `noise_multiplier > 0` (noise / sensitivity), `delta` in (0, 1).
///
/// # Source
/// Balle and Wang (2018), Theorem 8, inverted; the upper side satisfies it.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let epsilon = dpbounds_bounds::privacy::gaussian::epsilon(1.0, 1e-6)?;
/// assert!((epsilon.value.unwrap() / 4.886_554_117_462_212 - 1.0).abs() < 1e-12);
/// assert_eq!(dpbounds_bounds::privacy::gaussian::epsilon(5.0, 0.1)?.value, Some(0.0));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn epsilon(noise_multiplier: f64, delta: f64) -> Result<Bound> {
    let mu = 1.0 / domain::positive("noise_multiplier", noise_multiplier)?;
    let target = domain::open_probability("delta", delta)?.ln();
    let meets = |epsilon: f64| mu == 0.0 || log_delta(mu, epsilon) <= target;
    if meets(0.0) {
        return Bound::exact(EPSILON, 0.0, SOURCE);
    }
    match bracket_positive(meets, 0.0, 1e300) {
        Some(bracket) => Bound::exact(EPSILON, bracket.above, SOURCE),
        None => Ok(Bound::refused(
            EPSILON,
            SOURCE,
            "no epsilon up to 1e300 meets delta at this noise; raise the noise",
        )),
    }
}

/// The smallest noise multiplier that gives (ε, δ).
///
/// `epsilon >= 0` (nats), `delta` in (0, 1).
///
/// # Source
/// Balle and Wang (2018), Theorem 8, inverted; the upper side satisfies it.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let noise = dpbounds_bounds::privacy::gaussian::noise_multiplier(1.0, 1e-6)?;
/// assert!((noise.value.unwrap() / 4.224_678_889_326_835 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn noise_multiplier(epsilon: f64, delta: f64) -> Result<Bound> {
    let mu = largest_mu(epsilon, delta)?;
    Bound::exact(NOISE, 1.0 / mu, SOURCE)
}

/// The largest `μ` = sensitivity / noise that gives (ε, δ), rounded down.
///
/// `epsilon >= 0` (nats), `delta` in (0, 1).
///
/// # Source
/// Balle and Wang (2018), Theorem 8, inverted; the lower side satisfies it.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let mu = dpbounds_bounds::privacy::gaussian::mu(2.0, 1e-9)?;
/// assert!((mu.value.unwrap() / 0.351_549_815_897_780_5 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn mu(epsilon: f64, delta: f64) -> Result<Bound> {
    Bound::exact(MU, largest_mu(epsilon, delta)?, SOURCE)
}

pub(crate) fn largest_mu(epsilon: f64, delta: f64) -> Result<f64> {
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let target = domain::open_probability("delta", delta)?.ln();
    bracket_positive(|mu| log_delta(mu, epsilon) > target, 1e-307, 1e160)
        .map(|bracket| bracket.below)
        .filter(|&mu| mu > 1e-306)
        .ok_or(BoundError::Numerical {
            what: "Gaussian noise multiplier",
            detail: "epsilon and delta are outside the range of double precision",
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_epsilons_match_reference_values() {
        for (epsilon, mu, delta) in [
            (800.0, 40.0, 0.490_032_664_811_698_7),
            (2000.0, 60.0, 4.047_146_261_154_395_6e-4),
            (800.0, 30.0, 6.774_581_869_721_8e-32),
        ] {
            let value = delta_at(mu, epsilon).unwrap().value.unwrap();
            assert!((value / delta - 1.0).abs() < 1e-12, "{epsilon} {mu}: {value}");
        }
        for (epsilon, sigma) in [(50.0, 0.156_592_870_4), (500.0, 0.036_692_644_5)] {
            let value = noise_multiplier(epsilon, 1e-6).unwrap().value.unwrap();
            assert!((value / sigma - 1.0).abs() < 1e-9, "{epsilon}: {value}");
        }
    }

    #[test]
    fn the_inverses_satisfy_the_target_on_their_safe_side() {
        for epsilon_target in [0.0, 1e-9, 0.3, 8.0, 300.0] {
            for delta_target in [1e-300, 1e-12, 1e-3, 0.4, 0.999] {
                let noise = noise_multiplier(epsilon_target, delta_target).unwrap().upper.unwrap();
                let got = delta(noise, epsilon_target).unwrap().value.unwrap();
                assert!(got <= delta_target, "{epsilon_target} {delta_target}: {got}");
                let epsilon_back = epsilon(noise, delta_target).unwrap().value.unwrap();
                assert!(epsilon_back <= epsilon_target * (1.0 + 1e-12) + 1e-300);
            }
        }
    }

    #[test]
    fn delta_decreases_in_epsilon_and_increases_in_mu() {
        let mut previous = f64::INFINITY;
        for step in 0..400 {
            let now = log_delta(0.7, f64::from(step) * 0.1);
            assert!(now < previous, "{step}");
            previous = now;
        }
        previous = f64::NEG_INFINITY;
        for step in 1..400 {
            let now = log_delta(f64::from(step) * 0.02, 1.3);
            assert!(now > previous, "{step}: {now} {previous}");
            previous = now;
        }
    }
}
