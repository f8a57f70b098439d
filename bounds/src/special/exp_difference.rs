//! Differences and sums of exponentials.

/// `e^u − 1 − u`, non-negative, to full relative accuracy.
///
/// ```
/// assert!((dpbounds_bounds::special::expm1_excess(1e-8) - 5e-17).abs() < 1e-24);
/// ```
#[must_use]
pub fn expm1_excess(u: f64) -> f64 {
    if u.abs() > 0.3 {
        return u.exp_m1() - u;
    }
    let series = (3..=14).rev().fold(1.0, |sum, k| 1.0 + u / f64::from(k) * sum);
    u * u / 2.0 * series
}

/// `log(e^a + e^b)` without overflow.
///
/// ```
/// assert!((dpbounds_bounds::special::log_add_exp(1000.0, 1000.0) - 1000.0 - 2f64.ln()).abs() < 1e-12);
/// ```
#[must_use]
pub fn log_add_exp(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// `log(e^a − e^b)` for `a >= b`; minus infinity where they are equal.
///
/// ```
/// assert_eq!(dpbounds_bounds::special::log_sub_exp(3.0, 3.0), f64::NEG_INFINITY);
/// ```
#[must_use]
pub fn log_sub_exp(a: f64, b: f64) -> f64 {
    if b == f64::NEG_INFINITY {
        return a;
    }
    let gap = b - a;
    // log(1 − e^gap): the better of the two forms on either side of log 2.
    a + if gap > -std::f64::consts::LN_2 { (-gap.exp_m1()).ln() } else { (-gap.exp()).ln_1p() }
}
