//! `z − log(1+z)` without cancellation.

/// `z − log(1+z)` for `z > −1`, non-negative, to full relative accuracy; `+inf` for `z <= −1`.
///
/// The binary and the Gaussian Kullback–Leibler divergence are sums of this function.
///
/// ```
/// use dpbounds_bounds::special::log1p_excess;
/// assert!((log1p_excess(1e-9) - 5e-19).abs() < 1e-27);
/// assert_eq!(log1p_excess(-1.0), f64::INFINITY);
/// ```
#[must_use]
pub fn log1p_excess(z: f64) -> f64 {
    if z <= -1.0 {
        return f64::INFINITY;
    }
    if z == f64::INFINITY {
        return z;
    }
    if z.abs() >= 0.1 {
        return z - z.ln_1p();
    }
    // log(1+z) = 2 atanh(r) with r = z/(2+z), and z − 2r = z r.
    let r = z / (2.0 + z);
    let square = r * r;
    let series = (1..=8).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    z * r - 2.0 * r * square * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_power_series_and_across_the_switch() {
        for z in [1e-12, -1e-6, 0.02] {
            let series: f64 = (2..40)
                .map(|k| if k % 2 == 0 { 1.0 } else { -1.0 } * f64::powi(z, k) / f64::from(k))
                .sum();
            assert!((log1p_excess(z) / series - 1.0).abs() < 1e-14, "{z}");
        }
        for z in [0.1_f64, -0.1] {
            let below = log1p_excess(z * (1.0 - 1e-15));
            assert!((below / log1p_excess(z) - 1.0).abs() < 1e-13);
        }
    }
}
