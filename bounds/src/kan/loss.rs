//! The logistic loss.

/// `log(1 + e^{−u})` of a margin `u = y f(x)`, in nats; accurate for both signs, never overflows.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::logistic_loss;
/// assert_eq!(logistic_loss(0.0), std::f64::consts::LN_2);
/// assert_eq!(logistic_loss(-1e300), 1e300);
/// ```
#[must_use]
pub fn logistic_loss(margin: f64) -> f64 {
    libm::log1p(libm::exp(-margin.abs())) + (-margin).max(0.0)
}

/// `|l'(u)| = 1/(1 + e^u)` of a margin `u = y f(x)`, in [0, 1].
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{logistic_loss, logistic_slope};
/// // s = 1 − e^{−l}
/// assert!((logistic_slope(0.3) + (-logistic_loss(0.3)).exp_m1()).abs() < 1e-15);
/// ```
#[must_use]
pub fn logistic_slope(margin: f64) -> f64 {
    let small = libm::exp(-margin.abs());
    (if margin > 0.0 { small } else { 1.0 }) / (1.0 + small)
}
