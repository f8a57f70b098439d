//! The exponent of the conversion from moments to hockey sticks.

/// `λ log λ − (1+λ) log(1+λ)` for `λ > 0`: the logarithm of `sup_z e^{−λz}(1 − e^{−z})`.
///
/// Non-positive; 0 at `λ = 0`. Source: the RDP conversion of Canonne, Kamath and Steinke (2020).
///
/// ```
/// use dpbounds_bounds::special::hockey_stick_exponent;
/// assert!((hockey_stick_exponent(1.0) + 2.0 * 2f64.ln()).abs() < 1e-15);
/// ```
#[must_use]
pub fn hockey_stick_exponent(lambda: f64) -> f64 {
    if lambda <= 0.0 {
        0.0
    } else if lambda > 1.0 {
        -lambda.ln() - (1.0 + lambda) * (1.0 / lambda).ln_1p()
    } else {
        lambda * lambda.ln() - (1.0 + lambda) * lambda.ln_1p()
    }
}
