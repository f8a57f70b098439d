//! The standard normal distribution in its tails.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Beyond this argument the continued fraction of the Mills ratio converges quickly.
const CONTINUED_FRACTION_FROM: f64 = 4.0;

/// Φ(x), relative accuracy 1e-15 on both sides.
///
/// ```
/// assert!((dpbounds_bounds::special::normal_cdf(-5.0) / 2.866_515_718_791_939e-7 - 1.0).abs() < 1e-13);
/// ```
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// log Φ(x) without underflow.
///
/// ```
/// let log = dpbounds_bounds::special::log_normal_cdf(-100.0);
/// assert!((log + 5_005.524_208_694_205).abs() < 1e-9);
/// ```
#[must_use]
pub fn log_normal_cdf(x: f64) -> f64 {
    if x > 0.0 {
        (-normal_cdf(-x)).ln_1p()
    } else {
        mills_ratio(-x).ln() - 0.5 * x * x - 0.5 * (2.0 * PI).ln()
    }
}

/// The Mills ratio `m(z) = (1 − Φ(z))/φ(z)`, for `z >= −37`.
///
/// ```
/// assert!((dpbounds_bounds::special::mills_ratio(0.0) - (std::f64::consts::PI / 2.0).sqrt()).abs() < 1e-15);
/// ```
#[must_use]
pub fn mills_ratio(z: f64) -> f64 {
    if z > CONTINUED_FRACTION_FROM {
        1.0 / (z + fraction_tail(z))
    } else {
        (PI / 2.0).sqrt() * (0.5 * z * z).exp() * libm::erfc(z * FRAC_1_SQRT_2)
    }
}

/// `1/(z + 2/(z + 3/(z + …)))`: the part of the continued fraction behind `1/(z + ·)`.
fn fraction_tail(z: f64) -> f64 {
    (1..=60).rev().fold(0.0, |tail, k| f64::from(k) / (z + tail))
}

/// `1 − z m(z) = −m'(z)`, positive, without cancellation for large `z`.
pub(crate) fn mills_slope(z: f64) -> f64 {
    if z > CONTINUED_FRACTION_FROM {
        let tail = fraction_tail(z);
        tail / (z + tail)
    } else {
        1.0 - z * mills_ratio(z)
    }
}

/// `m(z) − m(z + width)`, positive, to full relative accuracy also for a tiny `width >= 0`.
///
/// ```
/// use dpbounds_bounds::special::mills_ratio_difference;
/// let tiny = mills_ratio_difference(0.0, 1e-12);
/// assert!((tiny / 1e-12 - 1.0).abs() < 1e-11);
/// ```
#[must_use]
pub fn mills_ratio_difference(z: f64, width: f64) -> f64 {
    // A width over which m changes by a good part of itself: the plain difference is accurate.
    if width > 1.0 + z.max(0.0) / 2.0 {
        return mills_ratio(z) - mills_ratio(z + width);
    }
    let half = width / 2.0;
    let centre = z + half;
    half * GAUSS_LEGENDRE_10
        .iter()
        .map(|&(node, weight)| {
            weight * (mills_slope(centre - half * node) + mills_slope(centre + half * node))
        })
        .sum::<f64>()
}

/// Positive nodes and weights of ten-point Gauss–Legendre quadrature on [−1, 1].
const GAUSS_LEGENDRE_10: [(f64, f64); 5] = [
    (0.148_874_338_981_631_21, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_36),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mills_ratio_matches_reference_values_and_is_continuous() {
        // 30-digit values of sqrt(pi/2) erfcx(z/sqrt 2)
        for (z, value) in [
            (-2.0, 18.100_247_711_126_153),
            (1.0, 0.655_679_542_418_798_5),
            (3.9, 0.242_109_334_721_059_87),
            (4.1, 0.231_426_432_869_754_07),
            (10.0, 0.099_028_596_471_731_92),
            (1e6, 9.999_999_999_99e-7),
        ] {
            assert!((mills_ratio(z) / value - 1.0).abs() < 4e-15, "{z}: {}", mills_ratio(z));
        }
    }
}
