//! Both orders at once, with the failure probability shared between orders and attempts.

use super::certificate::{Certificate, Settings};
use super::ehrhard::reverse;
use super::importance::forward;
use super::sampling::Watch;
use crate::error::Result;
use crate::privacy::Pair;

/// Upper limits of both orders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certified {
    /// `H(P‖Q)`.
    pub forward: Certificate,
    /// `H(Q‖P)`.
    pub reverse: Certificate,
}

impl Certified {
    /// The larger of the two limits: the certified δ.
    #[must_use]
    pub fn upper(&self) -> f64 {
        self.forward.upper.max(self.reverse.upper)
    }

    /// The probability that this attempt is wrong in either order.
    #[must_use]
    pub fn failure_probability(&self) -> f64 {
        self.forward.failure_probability + self.reverse.failure_probability
    }
}

/// Upper confidence limits of δ in both orders.
///
/// Attempt number `k = settings.attempt` spends `β/2^{k+2}` on each order, so that all attempts of
/// a calibration together, each with its own random numbers, fail with probability at most `β =
/// settings.failure_probability`: `Σ_k 2·β/2^{k+2} = β`. Noise, orders and numbers of samples of an
/// attempt may depend on earlier attempts and on pilots, not on the attempt itself.
///
/// `epsilon >= 0` (nats); `delta` in (0, 1) is the δ to be certified, which decides whether the
/// samples suffice (see [`forward`]). The forward order takes `settings.samples`, the reverse one
/// `settings.reverse_samples`. Compare [`Certified::upper`] with δ yourself.
///
/// # Source
/// docs/theory/accounting.md, "Calibration".
///
/// # Errors
/// As [`forward`] and [`reverse`].
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, certify};
/// let pair = Pair::new(0.1, 2.0, 0.9, 2)?;
/// let both = certify(&pair, 0.25, 0.01, &Settings::new(20_000, 1e-6, 1), &|_| true)?;
/// assert!(both.upper() < 0.01);
/// assert!(both.failure_probability() <= 5e-7);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn certify(
    pair: &Pair,
    epsilon: f64,
    delta: f64,
    settings: &Settings,
    watch: Watch<'_>,
) -> Result<Certified> {
    settings.check()?;
    let halvings = f64::from(settings.attempt) + 2.0;
    let share = Settings {
        failure_probability: settings.failure_probability * (-halvings).exp2(),
        ..*settings
    };
    #[allow(clippy::cast_precision_loss)] // for display
    let first =
        settings.samples as f64 / (settings.samples as f64 + settings.reverse_samples as f64);
    Ok(Certified {
        forward: forward(pair, epsilon, delta, &share, &|done| watch(first * done))?,
        reverse: reverse(pair, epsilon, &share, &|done| watch(first + (1.0 - first) * done))?,
    })
}
