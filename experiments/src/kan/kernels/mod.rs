//! The inner loops of a training step. Plain functions in front, vector instructions behind: the best
//! instruction set is chosen at run time, and all give the same answers up to rounding.

mod backward;
mod chacha;
mod clip;
mod forward;
pub(crate) mod noise;
mod order;
mod splines;
pub(crate) mod tanh;
mod unit;

pub(crate) use backward::{Backward, Noise};
pub(crate) use chacha::{Keystream, WORDS};
pub(crate) use clip::Clip;
pub(crate) use forward::Forward;
pub(crate) use noise::Normals;
pub(crate) use order::{Order, room};
pub(crate) use splines::{Run, Splines};
pub(crate) use unit::Unit;

use pulp::{Arch, Simd, WithSimd};

use super::Real;

/// How many of a row's vectors go together, 4, 2 or 1, so that those of `functions` rows fit the registers.
#[inline(always)]
const fn together<V>(vectors: usize, functions: usize) -> usize {
    if size_of::<V>() >= 64 && functions <= 5 && vectors.is_multiple_of(4) {
        4
    } else if vectors.is_multiple_of(2) {
        2
    } else {
        1
    }
}

/// `a·b + c`, by one instruction where there is one.
#[inline(always)]
pub(crate) fn fused<F: MulAdd>(a: F, b: F, c: F, fuse: bool) -> F {
    if fuse { a.fused(b, c) } else { a.plain(b, c) }
}

/// The two ways to multiply and add.
pub(crate) trait MulAdd: Copy {
    fn fused(self, b: Self, c: Self) -> Self;
    fn plain(self, b: Self, c: Self) -> Self;
}

macro_rules! mul_add {
    ($type:ident) => {
        impl MulAdd for $type {
            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn plain(self, b: Self, c: Self) -> Self {
                self * b + c
            }
        }
    };
}
mul_add!(f32);
mul_add!(f64);

/// `tanh(scale·x)` in place.
pub(crate) fn tanh_all<F: Real>(arch: Arch, values: &mut [F], scale: F) {
    struct Op<'a, F>(&'a mut [F], F);
    impl<F: Real> WithSimd for Op<'_, F> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            F::tanh_all::<S>(self.0, self.1);
        }
    }
    arch.dispatch(Op(values, scale));
}

/// Row `r` times `factors[r]`, in place; rows of `width` numbers.
pub(crate) fn scale_rows<F: Real>(arch: Arch, rows: &mut [F], width: usize, factors: &[F]) {
    struct Op<'a, F>(&'a mut [F], usize, &'a [F]);
    impl<F: Real> WithSimd for Op<'_, F> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (row, factor) in self.0.chunks_exact_mut(self.1).zip(self.2) {
                for value in row {
                    *value = *value * *factor;
                }
            }
        }
    }
    arch.dispatch(Op(rows, width, factors));
}

/// Row `r` plus `factors[r]` times row `r` of `other`, in place; rows of `width` numbers.
pub(crate) fn add_scaled<F: Real>(
    arch: Arch,
    rows: &mut [F],
    width: usize,
    factors: &[F],
    other: &[F],
) {
    struct Op<'a, F>(&'a mut [F], usize, &'a [F], &'a [F]);
    impl<F: Real> WithSimd for Op<'_, F> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let rows = self.0.chunks_exact_mut(self.1).zip(self.3.chunks_exact(self.1));
            for ((row, other), factor) in rows.zip(self.2) {
                for (value, other) in row.iter_mut().zip(other) {
                    *value = *value + *factor * *other;
                }
            }
        }
    }
    arch.dispatch(Op(rows, width, factors, other));
}

/// `w = start + (w − start)·factor`.
pub(crate) fn shrink_towards<F: Real>(arch: Arch, weights: &mut [F], start: &[F], factor: F) {
    struct Op<'a, F>(&'a mut [F], &'a [F], F);
    impl<F: Real> WithSimd for Op<'_, F> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (weight, start) in self.0.iter_mut().zip(self.1) {
                *weight = *start + (*weight - *start) * self.2;
            }
        }
    }
    arch.dispatch(Op(weights, start, factor));
}
