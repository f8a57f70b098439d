//! The two floating-point types of the engine, with their vectors.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use dpbounds_bounds::kan::Network;
use pulp::{Arch, Simd};

use super::kernels::{WORDS, noise, tanh};
use super::step::{Core, core};

/// `f32` or `f64`: one source for both.
pub trait Real: Vectors {
    /// The nearest value.
    fn from_f64(value: f64) -> Self;
    /// The value itself.
    fn to_f64(self) -> f64;
}

/// What the kernels need of a floating-point type and its vectors.
pub trait Vectors:
    Copy
    + Default
    + Debug
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// A vector register of an instruction set.
    type Vector<S: Simd>: Copy;
    /// A comparison of two vectors.
    type Mask<S: Simd>: Copy;
    /// Random words for one normal number.
    const RANDOM_WORDS: usize;

    /// Splits a number >= 0 into a whole part of at most `last` and the rest.
    fn locate(self, last: Self) -> (u16, Self);

    /// A slice as vectors; the length is a multiple of the lanes.
    fn vectors<S: Simd>(slice: &[Self]) -> &[Self::Vector<S>];
    /// A slice as vectors; the length is a multiple of the lanes.
    fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Vector<S>];
    /// All lanes equal.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    /// `a − b`.
    fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a·b`.
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a·b + c`, fused where the instruction set does it.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// `a >= b`.
    fn at_least<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Mask<S>;
    /// `yes` where the mask holds, else `no`.
    fn select<S: Simd>(
        simd: S,
        mask: Self::Mask<S>,
        yes: Self::Vector<S>,
        no: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// Sum of the lanes.
    fn sum<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;

    /// `tanh(scale·x)` in place.
    fn tanh_all<S: Simd>(values: &mut [Self], scale: Self);
    /// A network with the room that a step needs; `None` for a degree above 7. Here and not generic, so
    /// that the kernels are compiled once.
    fn core(network: &Network, arch: Arch) -> Option<Box<dyn Core<Self>>>;
    /// Independent standard normal numbers from random words, `RANDOM_WORDS` for each.
    fn normals<S: Simd>(words: &[u32; WORDS], out: &mut [Self]);
}

macro_rules! real {
    ($type:ident, $vector:ident, $mask:ident, $words:literal, $shift:literal, $tanh:path, $normals:path,
     $as_simd:ident, $as_mut_simd:ident, $splat:ident, $sub:ident, $mul:ident,
     $mul_add:ident, $at_least:ident, $select:ident, $sum:ident) => {
        impl Real for $type {
            #[allow(clippy::cast_possible_truncation, clippy::cast_lossless)]
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            #[allow(clippy::cast_lossless)]
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }

        impl Vectors for $type {
            type Vector<S: Simd> = S::$vector;
            type Mask<S: Simd> = S::$mask;
            const RANDOM_WORDS: usize = $words;

            #[allow(clippy::cast_possible_truncation)] // below 2^16
            #[inline(always)]
            fn locate(self, last: Self) -> (u16, Self) {
                let whole = (self + $shift) - $shift;
                let whole = if whole > self { whole - 1.0 } else { whole };
                let whole = if whole > last { last } else { whole };
                // The low bits of the sum are the whole number; a conversion would not vectorise.
                ((whole + $shift).to_bits() as u16, self - whole)
            }
            #[inline(always)]
            fn vectors<S: Simd>(slice: &[Self]) -> &[Self::Vector<S>] {
                S::$as_simd(slice).0
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Vector<S>] {
                S::$as_mut_simd(slice).0
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S> {
                simd.$splat(value)
            }
            #[inline(always)]
            fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn at_least<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Mask<S> {
                simd.$at_least(a, b)
            }
            #[inline(always)]
            fn select<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                yes: Self::Vector<S>,
                no: Self::Vector<S>,
            ) -> Self::Vector<S> {
                simd.$select(mask, yes, no)
            }
            #[inline(always)]
            fn sum<S: Simd>(simd: S, a: Self::Vector<S>) -> Self {
                simd.$sum(a)
            }
            #[inline(always)]
            fn tanh_all<S: Simd>(values: &mut [Self], scale: Self) {
                for value in values {
                    *value = $tanh(scale * *value, !S::IS_SCALAR);
                }
            }
            fn core(network: &Network, arch: Arch) -> Option<Box<dyn Core<Self>>> {
                core(network, arch)
            }
            #[inline(always)]
            fn normals<S: Simd>(words: &[u32; WORDS], out: &mut [Self]) {
                $normals(words, out, !S::IS_SCALAR);
            }
        }
    };
}

real!(
    f32,
    f32s,
    m32s,
    1,
    8_388_608.0,
    tanh::single,
    noise::single,
    as_simd_f32s,
    as_mut_simd_f32s,
    splat_f32s,
    sub_f32s,
    mul_f32s,
    mul_add_e_f32s,
    greater_than_or_equal_f32s,
    select_f32s,
    reduce_sum_f32s
);
real!(
    f64,
    f64s,
    m64s,
    2,
    4_503_599_627_370_496.0,
    tanh::double,
    noise::double,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    sub_f64s,
    mul_f64s,
    mul_add_e_f64s,
    greater_than_or_equal_f64s,
    select_f64s,
    reduce_sum_f64s
);
