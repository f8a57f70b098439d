//! Bounds D and D′: the additive form of the paper, with constants that are proved.

use super::Setting;
use crate::domain;
use crate::error::Result;
use crate::max_information::{FailureLevel, ours};
use crate::solve::minimize;
use crate::special::randomized_response_log_moment;
use crate::warrant::{Bound, Source};

/// `c_λ = (1 + 1/λ) e^{λε} (5 + 4e^{λε})`, the constant of bound D.
///
/// `lambda > 0` (moment order), `epsilon >= 0` (nats). Source: ours, docs/theory/max-information.md (D).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let c = dpbounds_bounds::max_information::approximate_dp::c_lambda_d(3.0, 1e-8)?;
/// assert!((c / 12.000_000_52 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn c_lambda_d(lambda: f64, epsilon: f64) -> Result<f64> {
    domain::positive("lambda", lambda)?;
    domain::non_negative("epsilon", epsilon)?;
    Ok(constant_d(lambda, epsilon))
}

/// `c′_λ = e^{−ε}[1 + tanh(ε(λ+½)) coth(ε/2)]/(2λ)`, the constant of bound D′.
///
/// `lambda > 0` (moment order), `epsilon >= 0` (nats). Source: ours, docs/theory/max-information.md (D′).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let c = dpbounds_bounds::max_information::approximate_dp::c_lambda_d_prime(0.5, 0.1)?;
/// assert!((c / 2.710_006_841_446_966_3 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn c_lambda_d_prime(lambda: f64, epsilon: f64) -> Result<f64> {
    domain::positive("lambda", lambda)?;
    domain::non_negative("epsilon", epsilon)?;
    Ok(constant_d_prime(lambda, epsilon))
}

fn constant_d(lambda: f64, epsilon: f64) -> f64 {
    let growth = (lambda * epsilon).exp();
    (1.0 + 1.0 / lambda) * growth * (5.0 + 4.0 * growth)
}

fn constant_d_prime(lambda: f64, epsilon: f64) -> f64 {
    if epsilon == 0.0 {
        return (1.0 + lambda) / lambda;
    }
    let ratio = (epsilon * (lambda + 0.5)).tanh() / (epsilon / 2.0).tanh();
    (-epsilon).exp() * (1.0 + ratio) / (2.0 * lambda)
}

const NEEDS: &str = "beta > n*delta";

/// The objective at one split: `b0 = share·(β − nδ)` for the tail, the rest for Markov's inequality.
struct Split {
    log_inverse_tail: f64,
    correction: f64,
}

impl Split {
    /// `(nδ/b1) c`, also where the constant overflows and the factor is 0.
    fn additive(&self, constant: f64) -> f64 {
        if self.correction == 0.0 { 0.0 } else { self.correction * constant }
    }
}

fn split(setting: Setting, log_inverse: f64, share: f64) -> Split {
    let log_inverse_markov = log_inverse - (1.0 - share).ln();
    let correction = if setting.delta == 0.0 {
        0.0
    } else {
        (setting.n.ln() + setting.delta.ln() + log_inverse_markov).exp()
    };
    Split { log_inverse_tail: log_inverse - share.ln(), correction }
}

fn minimum_d(setting: Setting, at: &Split) -> Result<f64> {
    let Setting { n, epsilon, .. } = setting;
    // Beyond λ = 100/ε the constant alone exceeds e^200. At ε = 0 it no longer depends on λ
    // beyond 1/λ and the objective falls to its limit.
    let highest = if epsilon > 0.0 { (100.0 / epsilon).ln() } else { 60.0 };
    let objective = |t: f64| {
        let lambda = t.exp();
        n * (1.0 + lambda) * epsilon * epsilon / 8.0
            + at.log_inverse_tail / lambda
            + at.additive(constant_d(lambda, epsilon))
    };
    Ok(minimize(objective, highest.min(0.0) - 60.0, highest)?.value)
}

fn minimum_d_prime(setting: Setting, at: &Split) -> Result<f64> {
    let Setting { n, epsilon, .. } = setting;
    let highest = if epsilon > 0.0 { (100.0 / epsilon).ln() } else { 60.0 };
    let objective = |t: f64| {
        let lambda = t.exp();
        (n * randomized_response_log_moment(lambda, epsilon) + at.log_inverse_tail) / lambda
            + at.additive(constant_d_prime(lambda, epsilon))
    };
    Ok(minimize(objective, highest.min(0.0) - 60.0, highest)?.value)
}

fn half_split(
    setting: Setting,
    source: Source,
    minimum: fn(Setting, &Split) -> Result<f64>,
) -> Result<Bound> {
    match setting.log_inverse_threshold(1.0) {
        Some(log_inverse) => {
            let value = minimum(setting, &split(setting, log_inverse, 0.5))?;
            setting.bound(value, source)
        }
        None => Ok(setting.refused(source, NEEDS)),
    }
}

/// Bound D at the even split `b0 = b1 = (β − nδ)/2`: `inf_λ n(1+λ)ε²/8 + log(1/b0)/λ + (nδ/b1) c_λ`.
///
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]), failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (D).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let bound = approximate_dp::d(1000, 0.05, 1e-6, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 3.075_761_641_548_310_3 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn d(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, epsilon, delta, level)?;
    half_split(setting, ours("bound D (docs/theory/max-information.md)"), minimum_d)
}

/// Bound D′ at the even split; never better than B+, kept for comparison.
///
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]), failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (D′).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let bound = approximate_dp::d_prime(1000, 0.05, 1e-6, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 5.610_103_094_303_94 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn d_prime(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, epsilon, delta, level)?;
    half_split(setting, ours("bound D' (docs/theory/max-information.md)"), minimum_d_prime)
}

/// Bound D with the split of `β − nδ` optimised as well. At most [`d`].
///
/// `n` records (1 to 2^53), replace-one `epsilon` (nats, >= 0) and `delta` (in [0, 1]), failure level `β`.
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (D): every split is valid.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, approximate_dp};
/// let level = FailureLevel::from_beta(0.05)?;
/// let even = approximate_dp::d(1000, 0.05, 1e-6, level)?;
/// assert!(approximate_dp::d_split(1000, 0.05, 1e-6, level)?.value <= even.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn d_split(n: u64, epsilon: f64, delta: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, epsilon, delta, level)?;
    let source = ours("bound D, split optimised (docs/theory/max-information.md)");
    let Some(log_inverse) = setting.log_inverse_threshold(1.0) else {
        return Ok(setting.refused(source, NEEDS));
    };
    let at = |logit: f64| {
        let share = 1.0 / (1.0 + (-logit).exp());
        minimum_d(setting, &split(setting, log_inverse, share)).unwrap_or(f64::NAN)
    };
    let even = at(0.0);
    let value = minimize(at, -20.0, 20.0)?.value.min(even);
    setting.bound(value, source)
}
