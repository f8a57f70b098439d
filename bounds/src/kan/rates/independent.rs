//! A_van: the risk rate with independent noise and its logarithms.

use super::windows::with_window_checks;
use super::{Checked, RISK_RATE, Run, paper};
use crate::error::Result;
use crate::warrant::Bound;

/// `(log²T + log(n/δ))/(γ²ηT) + l1 l2/(γ sqrt(BT)) + l1 l2 κ/(γ B sqrt T) + η l1 (1/B + l1/T) + η m d l1² κ²/B²`
/// with `l1 = log(1/δ)`, `l2 = log T + sqrt(log(n/δ))`. Ignores λ: the noise is independent.
///
/// # Source
/// arXiv 2605.12648, A_van; needs a clipping norm of the order of the gradient bound (docs/errata.md, E12).
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::{Warrant, kan::rates::{Run, a_van}};
/// let run = Run {
///     gamma: 0.5, step_size: 0.1, steps: 1000, batch: 100, width: 1000, dimension: 10,
///     kappa: 2.0, lambda: 0.0, n: 10_000, delta: 1e-5,
/// };
/// assert_eq!(a_van(&run)?.warrant, Warrant::Rate);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn a_van(run: &Run) -> Result<Bound> {
    let r = Checked::new(&Run { lambda: 0.0, ..*run })?;
    let l1 = -r.delta.ln();
    let log_ratio = (r.n / r.delta).ln();
    let log_steps = r.steps.ln();
    let l12 = l1 * (log_steps + log_ratio.sqrt());
    let initial = (log_steps * log_steps + log_ratio) / (r.gamma * r.gamma * r.eta * r.steps);
    let batch_linear = l12 / (r.gamma * (r.batch * r.steps).sqrt());
    let noise_linear = l12 * r.kappa / (r.gamma * r.batch * r.steps.sqrt());
    let batch_square = r.eta * l1 * (1.0 / r.batch + l1 / r.steps);
    let noise_square = if r.kappa == 0.0 {
        0.0
    } else {
        r.eta * r.width * r.dimension * l1 * l1 * r.kappa * r.kappa / (r.batch * r.batch)
    };
    let total = initial + batch_linear + noise_linear + batch_square + noise_square;
    let rate = Bound::rate(RISK_RATE, total, paper("A_van (independent noise)"))?
        .with_term("initialisation (log^2 T + log(n/delta))/(gamma^2 eta T)", initial)
        .with_term("mini-batch, linear l1 l2/(gamma sqrt(BT))", batch_linear)
        .with_term("noise, linear l1 l2 kappa/(gamma B sqrt T)", noise_linear)
        .with_term("mini-batch, quadratic eta l1 (1/B + l1/T)", batch_square)
        .with_term("noise, quadratic eta md l1^2 kappa^2/B^2", noise_square);
    Ok(with_window_checks(rate, r))
}
