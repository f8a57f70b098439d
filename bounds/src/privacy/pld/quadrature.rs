//! Quadrature on [0, 1] and exponentials of small arguments.

/// Nodes and weights of three-point Gauss–Legendre quadrature on [0, 1].
pub(super) const LEGENDRE_3: [(f64, f64); 3] = [
    (0.112_701_665_379_258_31, 0.277_777_777_777_777_78),
    (0.5, 0.444_444_444_444_444_44),
    (0.887_298_334_620_741_69, 0.277_777_777_777_777_78),
];

/// Nodes and weights of eight-point Gauss–Legendre quadrature on [0, 1].
pub(super) const LEGENDRE_8: [(f64, f64); 8] = [
    (0.019_855_071_751_231_884, 0.050_614_268_145_188_130),
    (0.101_666_761_293_186_63, 0.111_190_517_226_687_24),
    (0.237_233_795_041_835_51, 0.156_853_322_938_943_64),
    (0.408_282_678_752_175_10, 0.181_341_891_689_180_99),
    (0.591_717_321_247_824_90, 0.181_341_891_689_180_99),
    (0.762_766_204_958_164_49, 0.156_853_322_938_943_64),
    (0.898_333_238_706_813_37, 0.111_190_517_226_687_24),
    (0.980_144_928_248_768_12, 0.050_614_268_145_188_130),
];

/// `e^x − 1` for `|x| <= 0.1`, relative error below 1e-15; inlined, so that loops over it vectorise.
#[inline]
pub(super) fn small_exp_m1(x: f64) -> f64 {
    const INVERSE: [f64; 9] = [
        1.0 / 2.0,
        1.0 / 3.0,
        1.0 / 4.0,
        1.0 / 5.0,
        1.0 / 6.0,
        1.0 / 7.0,
        1.0 / 8.0,
        1.0 / 9.0,
        1.0 / 10.0,
    ];
    x * INVERSE.iter().rev().fold(1.0, |sum, inverse| 1.0 + x * inverse * sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_integrate_polynomials_and_the_exponential_is_exact() {
        for power in 0..16 {
            let exact = 1.0 / f64::from(power + 1);
            let rule = |nodes: &[(f64, f64)]| -> f64 {
                nodes.iter().map(|(x, w)| w * x.powi(power)).sum::<f64>()
            };
            assert!((rule(&LEGENDRE_8) - exact).abs() < 1e-15, "{power}");
            assert!(power > 5 || (rule(&LEGENDRE_3) - exact).abs() < 1e-15, "{power}");
        }
        for i in -100..=100 {
            let x = f64::from(i) * 1e-3;
            let error = (small_exp_m1(x) - x.exp_m1()).abs();
            assert!(error <= 4e-16 * x.abs(), "{x}: {error}");
        }
    }
}
