//! Closed relaxations of the kl inverse: Pinsker, quadratic and λ form.
//!
//! All take the complexity `c` of [`super::complexity`] and bound the risk from above; none is below
//! the kl inverse. Values above 1 are vacuous and returned as they are.

use super::RISK;
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::warrant::{Bound, Quantity, Source};

fn arguments(risk: f64, complexity: f64) -> Result<(f64, f64)> {
    Ok((domain::probability("risk", risk)?, domain::non_negative("complexity", complexity)?))
}

/// Pinsker/McAllester: `q + sqrt(c/2)`.
///
/// `risk = q` in [0, 1], `complexity = c >= 0` (nats per record).
///
/// # Source
/// McAllester (1999) with Maurer's constant; Pinsker's inequality.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let risk = dpbounds_bounds::pac_bayes::relaxations::mcallester(0.0, 0.01)?;
/// assert!((risk.value.unwrap() / 0.070_710_678_118_654_75 - 1.0).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn mcallester(risk: f64, complexity: f64) -> Result<Bound> {
    let (q, c) = arguments(risk, complexity)?;
    let spread = (c / 2.0).sqrt();
    Ok(Bound::upper_bound(RISK, q + spread, Source::new("McAllester 1999", "Pinsker form"))?
        .with_term("risk", q)
        .with_term("sqrt(c/2)", spread))
}

/// Quadratic: `( sqrt(q + c/2) + sqrt(c/2) )²`, the root of `p = q + sqrt(2pc)`.
///
/// `risk = q` in [0, 1], `complexity = c >= 0` (nats per record).
///
/// # Source
/// Rivasplata et al. (2019); docs/theory/pac-bayes.md.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let risk = dpbounds_bounds::pac_bayes::relaxations::quadratic(0.0, 0.01)?;
/// assert!((risk.value.unwrap() / 0.02 - 1.0).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn quadratic(risk: f64, complexity: f64) -> Result<Bound> {
    let (q, c) = arguments(risk, complexity)?;
    let value = ((q + c / 2.0).sqrt() + (c / 2.0).sqrt()).powi(2);
    Bound::upper_bound(RISK, value, Source::new("Rivasplata et al. 2019", "quadratic form"))
}

const THIEMANN: Source = Source::new("Thiemann et al. 2017", "lambda form");

/// λ form: `q/(1−λ/2) + c/(λ(1−λ/2))`, for all λ in (0, 2) at once.
///
/// `risk = q` in [0, 1], `complexity = c >= 0` (nats per record), `lambda` in (0, 2).
///
/// # Source
/// Thiemann et al. (2017).
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let risk = dpbounds_bounds::pac_bayes::relaxations::lambda(0.0, 0.01, 1.0)?;
/// assert!((risk.value.unwrap() / 0.02 - 1.0).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn lambda(risk: f64, complexity: f64, lambda: f64) -> Result<Bound> {
    let (q, c) = arguments(risk, complexity)?;
    if !(lambda > 0.0 && lambda < 2.0) {
        return Err(BoundError::OutOfRange {
            parameter: "lambda",
            value: Shown(lambda),
            allowed: "(0, 2), both ends excluded",
            remedy: "leave it out to use the best value",
        });
    }
    let shrink = 1.0 - lambda / 2.0;
    let (empirical, penalty) = (q / shrink, c / (lambda * shrink));
    Ok(Bound::upper_bound(RISK, empirical + penalty, THIEMANN)?
        .with_term("risk/(1 - lambda/2)", empirical)
        .with_term("c/(lambda (1 - lambda/2))", penalty))
}

/// The best λ of the λ form: `2/(sqrt(2q/c + 1) + 1)`.
///
/// `risk = q` in [0, 1], `complexity = c > 0` (nats per record).
///
/// # Source
/// Thiemann et al. (2017).
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let best = dpbounds_bounds::pac_bayes::relaxations::lambda_star(0.0, 0.01)?;
/// assert_eq!(best.value, Some(1.0));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn lambda_star(risk: f64, complexity: f64) -> Result<Bound> {
    const LAMBDA: Quantity = Quantity { name: "lambda", unit: "1" };
    let q = domain::probability("risk", risk)?;
    let c = domain::positive("complexity", complexity)?;
    Bound::exact(LAMBDA, 2.0 / ((2.0 * q / c + 1.0).sqrt() + 1.0), THIEMANN)
}

/// The λ form at its best λ, chosen after seeing the data; equals [`quadratic`].
///
/// `risk = q` in [0, 1], `complexity = c > 0` (nats per record).
///
/// # Source
/// Thiemann et al. (2017): the form holds for all λ at once.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::pac_bayes::relaxations;
/// let (one, two) = (relaxations::lambda_optimised(0.1, 0.02)?, relaxations::quadratic(0.1, 0.02)?);
/// assert!((one.value.unwrap() / two.value.unwrap() - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn lambda_optimised(risk: f64, complexity: f64) -> Result<Bound> {
    let q = domain::probability("risk", risk)?;
    let c = domain::positive("complexity", complexity)?;
    lambda(q, c, 2.0 / ((2.0 * q / c + 1.0).sqrt() + 1.0))
}
