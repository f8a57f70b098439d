//! Pre-activations: spline features times the first layer.

use pulp::{Simd, WithSimd};

use super::{Order, together};
use crate::kan::Real;

/// Examples that go together, so that their pre-activations stay near.
const TOGETHER: usize = 128;

/// `pre[e][j] (+)= Σ_i Σ_k values[i][e][k] · weights[(first + i)·size + s + k][j]` with the span `s` of `e`.
///
/// Rows of `width` units, a multiple of 16. `K1 = degree + 1` functions are active per feature. The
/// examples of a span follow each other, so that its weights are loaded once for all of them.
pub(crate) struct Forward<'a, F, const K1: usize> {
    pub(crate) weights: &'a [F],
    pub(crate) width: usize,
    pub(crate) size: usize,
    pub(crate) first: usize,
    pub(crate) inputs: usize,
    pub(crate) examples: usize,
    pub(crate) stride: usize,
    pub(crate) order: Order<'a>,
    pub(crate) values: &'a [F],
    pub(crate) pre: &'a mut [F],
    /// Whether to add to what stands there.
    pub(crate) accumulate: bool,
    /// Room for a number per input and span.
    pub(crate) cursors: &'a mut [u32],
}

impl<F: Real, const K1: usize> WithSimd for Forward<'_, F, K1> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let vectors = self.width / (size_of::<F::Vector<S>>() / size_of::<F>());
        match together::<F::Vector<S>>(vectors, K1) {
            4 => self.tiles::<S, 4>(simd, vectors),
            2 => self.tiles::<S, 2>(simd, vectors),
            _ => self.tiles::<S, 1>(simd, vectors),
        }
    }
}

impl<F: Real, const K1: usize> Forward<'_, F, K1> {
    #[inline(always)]
    fn tiles<S: Simd, const N: usize>(self, simd: S, vectors: usize) {
        let tiles = vectors / N;
        if !self.accumulate {
            self.pre.fill(F::default());
        }
        let weights = F::vectors::<S>(self.weights).as_chunks::<N>().0;
        let weights = &weights[self.first * self.size * tiles..];
        let pre = F::vectors_mut::<S>(self.pre).as_chunks_mut::<N>().0;
        let values = self.values.as_chunks::<K1>().0;
        for tile in 0..tiles {
            for (cursor, (begin, _)) in self.cursors.iter_mut().zip(self.order.bounds) {
                *cursor = *begin;
            }
            for last in (0..self.examples).step_by(TOGETHER).map(|first| first + TOGETHER) {
                for input in 0..self.inputs {
                    let values = &values[input * self.stride..][..self.examples];
                    let (order, bounds) = self.order.of(input);
                    let cursors = &mut self.cursors[input * bounds.len()..][..bounds.len()];
                    for (span, (cursor, (_, end))) in cursors.iter_mut().zip(bounds).enumerate() {
                        let mut rows = [[F::splat(simd, F::default()); N]; K1];
                        for (k, row) in rows.iter_mut().enumerate() {
                            *row = weights[(input * self.size + span + k) * tiles + tile];
                        }
                        let mut done = 0;
                        for example in &order[*cursor as usize..*end as usize] {
                            let example = *example as usize;
                            if example >= last {
                                break;
                            }
                            done += 1;
                            let values = &values[example];
                            let pre = &mut pre[example * tiles + tile];
                            let mut sum = *pre;
                            for k in 0..K1 {
                                let value = F::splat(simd, values[k]);
                                for n in 0..N {
                                    sum[n] = F::mul_add(simd, value, rows[k][n], sum[n]);
                                }
                            }
                            *pre = sum;
                        }
                        *cursor += done;
                    }
                }
            }
        }
    }
}
