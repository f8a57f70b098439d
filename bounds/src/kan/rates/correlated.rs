//! A_corr: the risk rate with correlated noise.

use super::windows::with_window_checks;
use super::{Checked, RISK_RATE, Run, paper};
use crate::error::Result;
use crate::warrant::Bound;

/// `1/(γ²ηT) + 1/(γ sqrt(BT)) + η(1/B+1/T) + (1−λ)κ/(B sqrt T)·(1/γ + η sqrt(md/B)) + ((1−λ)²+λ²η) η κ² m d/B²`.
///
/// Polylogarithmic factors and constants are suppressed. The width window and the step-size condition
/// are checks with constant 1.
///
/// # Source
/// arXiv 2605.12648, Theorem 4.1.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::{Warrant, kan::rates::{Run, a_corr}};
/// let run = Run {
///     gamma: 0.5, step_size: 0.1, steps: 1000, batch: 100, width: 1000, dimension: 10,
///     kappa: 2.0, lambda: 0.5, n: 10_000, delta: 1e-5,
/// };
/// assert_eq!(a_corr(&run)?.warrant, Warrant::Rate);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn a_corr(run: &Run) -> Result<Bound> {
    let r = Checked::new(run)?;
    let initial = 1.0 / (r.gamma * r.gamma * r.eta * r.steps);
    let batch_linear = 1.0 / (r.gamma * (r.batch * r.steps).sqrt());
    let batch_square = r.eta * (1.0 / r.batch + 1.0 / r.steps);
    let lagged = (1.0 - r.lambda) * r.kappa / (r.batch * r.steps.sqrt());
    let noise_linear = lagged / r.gamma;
    let noise_batch = lagged * (r.eta * (r.width * r.dimension / r.batch).sqrt());
    let noise_square = if r.kappa == 0.0 {
        0.0
    } else {
        r.noise_factor() * r.eta * r.kappa * r.kappa * r.width * r.dimension / (r.batch * r.batch)
    };
    let total = initial + batch_linear + batch_square + noise_linear + noise_batch + noise_square;
    let rate = Bound::rate(RISK_RATE, total, paper("Theorem 4.1, A_corr"))?
        .with_term("initialisation 1/(gamma^2 eta T)", initial)
        .with_term("mini-batch, linear 1/(gamma sqrt(BT))", batch_linear)
        .with_term("mini-batch, quadratic eta (1/B + 1/T)", batch_square)
        .with_term("noise, linear (1-lambda) kappa/(gamma B sqrt T)", noise_linear)
        .with_term("noise x mini-batch (1-lambda) kappa eta sqrt(md)/(B^1.5 sqrt T)", noise_batch)
        .with_term(
            "noise, quadratic ((1-lambda)^2 + lambda^2 eta) eta kappa^2 md/B^2",
            noise_square,
        );
    Ok(with_window_checks(rate, r))
}
