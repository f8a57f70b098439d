//! A_non: the risk rate without noise.

use super::windows::with_window_checks;
use super::{Checked, RISK_RATE, Run, paper};
use crate::error::Result;
use crate::warrant::Bound;

/// `1/(γ²ηT) + 1/(γ sqrt(BT)) + η/B`. Ignores κ and λ: there is no noise.
///
/// # Source
/// arXiv 2605.12648, A_non.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Run, a_corr, a_non};
/// let run = Run {
///     gamma: 0.5, step_size: 0.1, steps: 1000, batch: 100, width: 1000, dimension: 10,
///     kappa: 0.0, lambda: 0.0, n: 10_000, delta: 1e-5,
/// };
/// assert!(a_non(&run)?.value <= a_corr(&run)?.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn a_non(run: &Run) -> Result<Bound> {
    let r = Checked::new(&Run { kappa: 0.0, lambda: 0.0, ..*run })?;
    let initial = 1.0 / (r.gamma * r.gamma * r.eta * r.steps);
    let batch_linear = 1.0 / (r.gamma * (r.batch * r.steps).sqrt());
    let batch_square = r.eta / r.batch;
    let total = initial + batch_linear + batch_square;
    let rate = Bound::rate(RISK_RATE, total, paper("A_non (no noise)"))?
        .with_term("initialisation 1/(gamma^2 eta T)", initial)
        .with_term("mini-batch, linear 1/(gamma sqrt(BT))", batch_linear)
        .with_term("mini-batch, quadratic eta/B", batch_square);
    Ok(with_window_checks(rate, r))
}
