//! Standard normal numbers by the method of Box and Muller, in straight-line code that vectorises.
//!
//! For simulation: floating-point samplers are no protection against an adversary who sees the low bits
//! of a released model (Mironov 2012).

use pulp::{Simd, WithSimd};

use super::chacha::{BLOCKS, Keystream, WORDS};
use super::fused;
use crate::kan::Real;

/// Lanes that go together: the first half of a block takes the cosines, the second half the sines.
const LANES: usize = BLOCKS;

/// Standard normal numbers from a keystream.
pub(crate) struct Normals<'a, F> {
    pub(crate) keystream: Keystream,
    pub(crate) out: &'a mut [F],
}

impl<F: Real> WithSimd for Normals<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut words = [0; WORDS];
        for (group, out) in (0..).zip(self.out.chunks_mut(WORDS / F::RANDOM_WORDS)) {
            self.keystream.group(simd, group, &mut words);
            F::normals::<S>(&words, out);
        }
    }
}

/// Normals from a word each; blocks of 32.
#[inline(always)]
pub(crate) fn single(words: &[u32; WORDS], out: &mut [f32], fuse: bool) {
    let (blocks, _) = words.as_chunks::<LANES>();
    for (pair, out) in blocks.chunks_exact(2).zip(out.chunks_mut(2 * LANES)) {
        let mut normals = [0.0; 2 * LANES];
        for i in 0..LANES {
            // In (0, 1], half a step above zero.
            #[allow(clippy::cast_precision_loss)]
            let uniform = fused(pair[0][i] as f32, 2.328_306_4e-10, 1.164_153_2e-10, fuse);
            let radius = (-2.0 * log_single(uniform, fuse)).max(0.0).sqrt();
            let (cos, sin) = turn_single(pair[1][i], fuse);
            normals[i] = radius * cos;
            normals[LANES + i] = radius * sin;
        }
        out.copy_from_slice(&normals[..out.len()]);
    }
}

/// Normals from two words each; blocks of 32.
#[inline(always)]
pub(crate) fn double(words: &[u32; WORDS], out: &mut [f64], fuse: bool) {
    let (blocks, _) = words.as_chunks::<LANES>();
    for (four, out) in blocks.chunks_exact(4).zip(out.chunks_mut(2 * LANES)) {
        let mut normals = [0.0; 2 * LANES];
        for i in 0..LANES {
            let long = |low: usize| u64::from(four[low][i]) | u64::from(four[low + 1][i]) << 32;
            // In (0, 1], on a lattice of 2^-52.
            let uniform = 2.0 - f64::from_bits((long(0) >> 12) | 0x3ff0_0000_0000_0000);
            let radius = (-2.0 * log_double(uniform, fuse)).max(0.0).sqrt();
            let (cos, sin) = turn_double(long(2), fuse);
            normals[i] = radius * cos;
            normals[LANES + i] = radius * sin;
        }
        out.copy_from_slice(&normals[..out.len()]);
    }
}

/// `log x` for normal `x` in (0, 1].
#[inline(always)]
fn log_single(x: f32, fuse: bool) -> f32 {
    const SERIES: [f32; 9] = [
        7.037_683_6e-2,
        -1.151_461e-1,
        1.167_699_9e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_7e-1,
        2.000_071_5e-1,
        -2.499_999_4e-1,
        3.333_333_1e-1,
    ];
    // Mantissa in [√½, √2).
    let bits = x.to_bits().wrapping_sub(0x3f35_04f3);
    #[allow(clippy::cast_possible_wrap, clippy::cast_precision_loss)]
    let exponent = ((bits as i32) >> 23) as f32;
    let f = f32::from_bits((bits & 0x007f_ffff).wrapping_add(0x3f35_04f3)) - 1.0;
    let z = f * f;
    let mut p = SERIES[0];
    for coefficient in &SERIES[1..] {
        p = fused(p, f, *coefficient, fuse);
    }
    let p = fused(exponent, -2.121_944_4e-4, p * f * z, fuse);
    fused(exponent, 0.693_359_375, f + fused(z, -0.5, p, fuse), fuse)
}

/// `log x` for normal `x` in (0, 1].
#[inline(always)]
fn log_double(x: f64, fuse: bool) -> f64 {
    const SERIES: [f64; 7] = [
        1.479_819_860_511_658_6e-1,
        1.531_383_769_920_937_3e-1,
        1.818_357_216_161_805e-1,
        2.222_219_843_214_978_4e-1,
        2.857_142_874_366_239e-1,
        3.999_999_999_940_942e-1,
        6.666_666_666_666_735e-1,
    ];
    const BASE: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits().wrapping_sub(BASE);
    // The exponent as an integer in the low bits of a shifted double: no conversion is needed.
    #[allow(clippy::cast_possible_wrap, clippy::cast_precision_loss)]
    let exponent = ((bits as i64) >> 52) as i32;
    let exponent = f64::from(exponent);
    let f = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(BASE)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut p = SERIES[0];
    for coefficient in &SERIES[1..] {
        p = fused(p, z, *coefficient, fuse);
    }
    let log = fused(p * z, s, s + s, fuse);
    fused(exponent, std::f64::consts::LN_2, log, fuse)
}

/// Cosine and sine of a uniform angle: two bits choose the quadrant, the others the place in it.
#[inline(always)]
fn turn_single(word: u32, fuse: bool) -> (f32, f32) {
    #[allow(clippy::cast_possible_wrap, clippy::cast_precision_loss)]
    let angle = ((word & !3) as i32 as f32) * (std::f32::consts::FRAC_PI_4 / 2_147_483_648.0);
    let z = angle * angle;
    let sin = fused(-1.951_529_6e-4, z, 8.332_161e-3, fuse);
    let sin = fused(fused(sin, z, -1.666_665_5e-1, fuse) * z, angle, angle, fuse);
    let cos = fused(2.443_315_7e-5, z, -1.388_731_6e-3, fuse);
    let cos = fused(cos, z, 4.166_664_6e-2, fuse);
    let cos = fused(cos * z, z, fused(z, -0.5, 1.0, fuse), fuse);
    let (x, y) = if word & 1 == 1 { (sin, cos) } else { (cos, sin) };
    let turned = ((word >> 1) & 1) << 31;
    let swapped = turned ^ ((word & 1) << 31);
    (f32::from_bits(x.to_bits() ^ swapped), f32::from_bits(y.to_bits() ^ turned))
}

/// As [`turn_single`].
#[inline(always)]
fn turn_double(word: u64, fuse: bool) -> (f64, f64) {
    const SIN: [f64; 6] = [
        1.589_623_015_765_465_7e-10,
        -2.505_074_776_285_780_7e-8,
        2.755_731_362_138_572_5e-6,
        -1.984_126_982_958_953_9e-4,
        8.333_333_333_322_119e-3,
        -1.666_666_666_666_663e-1,
    ];
    const COS: [f64; 6] = [
        -1.135_853_652_138_768_2e-11,
        2.087_570_084_197_473e-9,
        -2.755_731_417_929_674e-7,
        2.480_158_728_885_171_8e-5,
        -1.388_888_888_887_305_6e-3,
        4.166_666_666_666_659e-2,
    ];
    let place = f64::from_bits((word >> 12) | 0x3ff0_0000_0000_0000) - 1.5;
    let angle = place * std::f64::consts::FRAC_PI_2;
    let z = angle * angle;
    let (mut sin, mut cos) = (SIN[0], COS[0]);
    for i in 1..6 {
        sin = fused(sin, z, SIN[i], fuse);
        cos = fused(cos, z, COS[i], fuse);
    }
    let sin = fused(sin * z, angle, angle, fuse);
    let cos = fused(cos * z, z, fused(z, -0.5, 1.0, fuse), fuse);
    let (x, y) = if word & 1 == 1 { (sin, cos) } else { (cos, sin) };
    let turned = ((word >> 1) & 1) << 63;
    let swapped = turned ^ ((word & 1) << 63);
    (f64::from_bits(x.to_bits() ^ swapped), f64::from_bits(y.to_bits() ^ turned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_turns_agree_with_the_library() {
        for step in 1..=5000_u32 {
            let x = f64::from(step) / 5000.0;
            #[allow(clippy::cast_possible_truncation)]
            let narrow = x as f32;
            for fuse in [false, true] {
                assert!((log_double(x, fuse) - x.ln()).abs() < 4e-16 * (1.0 + x.ln().abs()), "{x}");
                let error = log_single(narrow, fuse) - narrow.ln();
                assert!(error.abs() < 3e-7 * (1e-1 + narrow.ln().abs()), "{x} {error}");
                let word = u64::from(step).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let (cos, sin) = turn_double(word, fuse);
                assert!((cos.hypot(sin) - 1.0).abs() < 1e-15);
                #[allow(clippy::cast_possible_truncation)]
                let (cos, sin) = turn_single((word >> 32) as u32, fuse);
                assert!((cos.hypot(sin) - 1.0).abs() < 3e-7);
            }
        }
        assert_eq!(log_double(1.0, true), 0.0);
        assert_eq!(log_single(1.0, true), 0.0);
    }
}
