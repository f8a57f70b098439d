//! The hyperbolic tangent in straight-line code, so that a loop of them becomes vector instructions.

use super::fused;

/// To a few units in the last place: the rational function of degree 13 over 6 that most libraries use.
#[inline(always)]
pub(crate) fn single(x: f32, fuse: bool) -> f32 {
    const NUMERATOR: [f32; 7] = [
        -2.760_768_5e-16,
        2.000_188e-13,
        -8.604_672e-11,
        5.122_297e-8,
        1.485_722_4e-5,
        6.372_619_3e-4,
        4.893_525e-3,
    ];
    const DENOMINATOR: [f32; 4] = [1.198_258_4e-6, 1.185_347_1e-4, 2.268_434_6e-3, 4.893_525_2e-3];
    let x = x.clamp(-7.905_311, 7.905_311);
    let z = x * x;
    let mut p = NUMERATOR[0];
    for coefficient in &NUMERATOR[1..] {
        p = fused(p, z, *coefficient, fuse);
    }
    let mut q = DENOMINATOR[0];
    for coefficient in &DENOMINATOR[1..] {
        q = fused(q, z, *coefficient, fuse);
    }
    p * x * reciprocal(q, fuse)
}

/// `1/x` for normal `x > 0`, to a unit in the last place: a vector division takes longer.
#[inline(always)]
fn reciprocal(x: f32, fuse: bool) -> f32 {
    // Within 5.1 %, then 1.4e-4, then 2e-8.
    let r = f32::from_bits(0x7ef3_11c7_u32.wrapping_sub(x.to_bits()));
    let error = fused(-x, r, 1.0, fuse);
    let r = fused(fused(error, error, error, fuse), r, r, fuse);
    fused(fused(-x, r, 1.0, fuse), r, r, fuse)
}

/// `1 − 2/(e^{2x} + 1)`, absolute error below 3e-16.
#[inline(always)]
pub(crate) fn double(x: f64, fuse: bool) -> f64 {
    1.0 - 2.0 / (exp((x + x).clamp(-40.0, 40.0), fuse) + 1.0)
}

/// `e^y` for `|y| <= 700`, by a power of two and a Taylor polynomial.
#[inline(always)]
pub(super) fn exp(y: f64, fuse: bool) -> f64 {
    const LN2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    /// Adding this rounds to an integer, which then stands in the low bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let shifted = fused(y, std::f64::consts::LOG2_E, SHIFT, fuse);
    let n = shifted - SHIFT;
    let r = fused(n, -LN2[1], fused(n, -LN2[0], y, fuse), fuse);
    let mut p = 1.0 / 6_227_020_800.0;
    for factorial in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        p = fused(p, r, 1.0 / factorial, fuse);
    }
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    p * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library() {
        for step in -4000..=4000 {
            let x = f64::from(step) / 200.0;
            for fuse in [false, true] {
                assert!((double(x, fuse) - x.tanh()).abs() < 4e-16, "{x}");
                #[allow(clippy::cast_possible_truncation)]
                let error = f64::from(single(x as f32, fuse)) - f64::from(x as f32).tanh();
                assert!(error.abs() < 4e-7 * x.tanh().abs() + 1e-12, "{x} {error}");
            }
        }
    }
}
