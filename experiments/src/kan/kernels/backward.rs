//! The gradient of the batch, the noise and the update in one pass over the weights.

use pulp::{Simd, WithSimd};

use crate::kan::Real;

/// `scale·(now − lambda·before)` is subtracted from the weights.
pub(crate) struct Noise<'a, F> {
    pub(crate) now: &'a [F],
    pub(crate) before: &'a [F],
    pub(crate) lambda: F,
    pub(crate) scale: F,
}

/// `W −= step·Σ_e h(x_e) ⊗ g_e + noise` for the rows of some inputs; returns `Σ (W − start)²` over them.
///
/// `g` has rows of `width` units for every example, scaled as they enter the gradient. Shapes as in
/// [`super::Forward`].
pub(crate) struct Backward<'a, F, const K1: usize> {
    pub(crate) weights: &'a mut [F],
    pub(crate) start: &'a [F],
    pub(crate) noise: Option<Noise<'a, F>>,
    pub(crate) width: usize,
    pub(crate) size: usize,
    pub(crate) first: usize,
    pub(crate) inputs: usize,
    pub(crate) examples: usize,
    pub(crate) spans: &'a [u16],
    pub(crate) values: &'a [[F; K1]],
    pub(crate) g: &'a [F],
    pub(crate) step: F,
    /// Room for the examples sorted by span, and the ends of the spans.
    pub(crate) order: &'a mut Vec<u32>,
    pub(crate) ends: &'a mut Vec<u32>,
}

impl<F: Real, const K1: usize> WithSimd for Backward<'_, F, K1> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> f64 {
        let lanes = size_of::<F::Vector<S>>() / size_of::<F>();
        let vectors = self.width / lanes;
        let mut distance = 0.0;
        for input in 0..self.inputs {
            self.sort(input);
            let mut tile = 0;
            let mut squares = F::splat(simd, F::default());
            while tile + 4 <= vectors {
                squares = self.tile::<S, 4>(simd, input, vectors, tile, squares);
                tile += 4;
            }
            while tile < vectors {
                squares = self.tile::<S, 1>(simd, input, vectors, tile, squares);
                tile += 1;
            }
            distance += F::sum(simd, squares).to_f64();
        }
        distance
    }
}

impl<F: Real, const K1: usize> Backward<'_, F, K1> {
    /// Sorts the examples by the span of one input, keeping their order.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // batches below 2^32
    fn sort(&mut self, input: usize) {
        let spans = &self.spans[input * self.examples..][..self.examples];
        let ends = &mut self.ends[..];
        ends.fill(0);
        for span in spans {
            ends[usize::from(*span)] += 1;
        }
        let mut sum = 0;
        for end in ends.iter_mut() {
            let count = *end;
            *end = sum;
            sum += count;
        }
        for (example, span) in spans.iter().enumerate() {
            let place = &mut ends[usize::from(*span)];
            self.order[*place as usize] = example as u32;
            *place += 1;
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        input: usize,
        vectors: usize,
        tile: usize,
        mut squares: F::Vector<S>,
    ) -> F::Vector<S> {
        let zero = F::splat(simd, F::default());
        let g = F::vectors::<S>(self.g);
        let values = &self.values[input * self.examples..][..self.examples];
        let mut sums = [[zero; N]; K1];
        let mut begin = 0;
        for span in 0..self.ends.len() {
            let end = self.ends[span] as usize;
            for example in &self.order[begin..end] {
                let example = *example as usize;
                let row = &g[example * vectors + tile..][..N];
                let active = &values[example];
                for k in 0..K1 {
                    let value = F::splat(simd, active[k]);
                    for n in 0..N {
                        sums[k][n] = F::mul_add(simd, value, row[n], sums[k][n]);
                    }
                }
            }
            begin = end;
            squares = self.update(simd, (input, span), (vectors, tile), &sums[0], squares);
            // The function that ends with this span is done; the others move up.
            for k in 1..K1 {
                sums[k - 1] = sums[k];
            }
            sums[K1 - 1] = [zero; N];
        }
        for (k, sum) in sums[..K1 - 1].iter().enumerate() {
            let row = self.ends.len() + k;
            squares = self.update(simd, (input, row), (vectors, tile), sum, squares);
        }
        squares
    }

    #[inline(always)]
    fn update<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        (input, function): (usize, usize),
        (vectors, tile): (usize, usize),
        sum: &[F::Vector<S>; N],
        mut squares: F::Vector<S>,
    ) -> F::Vector<S> {
        let at = ((self.first + input) * self.size + function) * vectors + tile;
        let step = F::splat(simd, -self.step);
        let weights = &mut F::vectors_mut::<S>(self.weights)[at..at + N];
        let start = &F::vectors::<S>(self.start)[at..at + N];
        for n in 0..N {
            weights[n] = F::mul_add(simd, step, sum[n], weights[n]);
        }
        if let Some(noise) = &self.noise {
            let now = &F::vectors::<S>(noise.now)[at..at + N];
            let before = &F::vectors::<S>(noise.before)[at..at + N];
            let (lambda, scale) = (F::splat(simd, -noise.lambda), F::splat(simd, -noise.scale));
            for n in 0..N {
                let xi = F::mul_add(simd, lambda, before[n], now[n]);
                weights[n] = F::mul_add(simd, scale, xi, weights[n]);
            }
        }
        for n in 0..N {
            let moved = F::minus(simd, weights[n], start[n]);
            squares = F::mul_add(simd, moved, moved, squares);
        }
        squares
    }
}
