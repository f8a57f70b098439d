//! Pre-activations: spline features times the first layer.

use pulp::{Simd, WithSimd};

use crate::kan::Real;

/// `pre[e][j] (+)= Σ_i Σ_k values[i][e][k] · weights[(first + i)·size + spans[i][e] + k][j]`.
///
/// Rows of `width` units, a multiple of 16. `K1 = degree + 1` functions are active per feature.
pub(crate) struct Forward<'a, F, const K1: usize> {
    pub(crate) weights: &'a [F],
    pub(crate) width: usize,
    pub(crate) size: usize,
    pub(crate) first: usize,
    pub(crate) inputs: usize,
    pub(crate) examples: usize,
    pub(crate) spans: &'a [u16],
    pub(crate) values: &'a [[F; K1]],
    pub(crate) pre: &'a mut [F],
    /// Whether to add to what stands there.
    pub(crate) accumulate: bool,
}

impl<F: Real, const K1: usize> WithSimd for Forward<'_, F, K1> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let lanes = size_of::<F::Vector<S>>() / size_of::<F>();
        let vectors = self.width / lanes;
        let mut tile = 0;
        while tile + 4 <= vectors {
            self.tile::<S, 4>(simd, vectors, tile);
            tile += 4;
        }
        while tile < vectors {
            self.tile::<S, 1>(simd, vectors, tile);
            tile += 1;
        }
    }
}

impl<F: Real, const K1: usize> Forward<'_, F, K1> {
    #[inline(always)]
    fn tile<S: Simd, const N: usize>(&mut self, simd: S, vectors: usize, tile: usize) {
        let mut example = 0;
        while example + 2 <= self.examples {
            self.examples::<S, N, 2>(simd, vectors, tile, example);
            example += 2;
        }
        if example < self.examples {
            self.examples::<S, N, 1>(simd, vectors, tile, example);
        }
    }

    /// `E` examples and `N` vectors of units, kept in registers over all inputs.
    #[inline(always)]
    fn examples<S: Simd, const N: usize, const E: usize>(
        &mut self,
        simd: S,
        vectors: usize,
        tile: usize,
        example: usize,
    ) {
        let weights = F::vectors::<S>(self.weights);
        let mut sums = [[F::splat(simd, F::default()); N]; E];
        if self.accumulate {
            let pre = F::vectors::<S>(self.pre);
            for (e, sum) in sums.iter_mut().enumerate() {
                sum.copy_from_slice(&pre[(example + e) * vectors + tile..][..N]);
            }
        }
        for input in 0..self.inputs {
            let at = input * self.examples + example;
            let (spans, values) = (&self.spans[at..at + E], &self.values[at..at + E]);
            for e in 0..E {
                let row = (self.first + input) * self.size + usize::from(spans[e]);
                let block = &weights[row * vectors + tile..][..(K1 - 1) * vectors + N];
                for k in 0..K1 {
                    let value = F::splat(simd, values[e][k]);
                    let row = &block[k * vectors..][..N];
                    for n in 0..N {
                        sums[e][n] = F::mul_add(simd, value, row[n], sums[e][n]);
                    }
                }
            }
        }
        let pre = F::vectors_mut::<S>(self.pre);
        for (e, sum) in sums.iter().enumerate() {
            pre[(example + e) * vectors + tile..][..N].copy_from_slice(sum);
        }
    }
}
