//! The gradient of the batch, the noise and the update in one pass over the weights.

use pulp::{Simd, WithSimd};

use super::{Order, together};
use crate::kan::Real;

/// `scale·(now − lambda·before)` is subtracted from the weights.
#[derive(Debug, Clone, Copy)]
pub struct Noise<'a, F> {
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
    pub(crate) stride: usize,
    pub(crate) order: Order<'a>,
    pub(crate) values: &'a [F],
    pub(crate) g: &'a [F],
    pub(crate) step: F,
}

impl<F: Real, const K1: usize> WithSimd for Backward<'_, F, K1> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let vectors = self.width / (size_of::<F::Vector<S>>() / size_of::<F>());
        match together::<F::Vector<S>>(vectors, K1) {
            4 => self.tiles::<S, 4>(simd, vectors),
            2 => self.tiles::<S, 2>(simd, vectors),
            _ => self.tiles::<S, 1>(simd, vectors),
        }
    }
}

impl<F: Real, const K1: usize> Backward<'_, F, K1> {
    #[inline(always)]
    fn tiles<S: Simd, const N: usize>(self, simd: S, vectors: usize) -> f64 {
        let zero = F::splat(simd, F::default());
        let tiles = vectors / N;
        let row = self.size * tiles;
        let skip = self.first * row;
        let g = F::vectors::<S>(self.g).as_chunks::<N>().0;
        let mut update = Update::<F, S, N> {
            weights: &mut F::vectors_mut::<S>(self.weights).as_chunks_mut::<N>().0[skip..],
            start: &F::vectors::<S>(self.start).as_chunks::<N>().0[skip..],
            step: F::splat(simd, -self.step),
            now: &[],
            before: &[],
            lambda: zero,
            scale: zero,
            squares: [zero; N],
        };
        if let Some(noise) = self.noise {
            update.now = &F::vectors::<S>(noise.now).as_chunks::<N>().0[skip..];
            update.before = &F::vectors::<S>(noise.before).as_chunks::<N>().0[skip..];
            update.lambda = F::splat(simd, -noise.lambda);
            update.scale = F::splat(simd, -noise.scale);
        }
        let mut distance = 0.0;
        let values = self.values.as_chunks::<K1>().0;
        for input in 0..self.inputs {
            let values = &values[input * self.stride..][..self.examples];
            let (order, bounds) = self.order.of(input);
            update.squares = [zero; N];
            for tile in 0..tiles {
                let mut sums = [[zero; N]; K1];
                for (span, (begin, end)) in bounds.iter().enumerate() {
                    for example in &order[*begin as usize..*end as usize] {
                        let example = *example as usize;
                        let values = &values[example];
                        let g = &g[example * tiles + tile];
                        for k in 0..K1 {
                            let value = F::splat(simd, values[k]);
                            for n in 0..N {
                                sums[k][n] = F::mul_add(simd, value, g[n], sums[k][n]);
                            }
                        }
                    }
                    update.apply(simd, input * row + span * tiles + tile, &sums[0]);
                    // The function that ends with this span is done; the others move up.
                    for k in 1..K1 {
                        sums[k - 1] = sums[k];
                    }
                    sums[K1 - 1] = [zero; N];
                }
                for (k, sum) in sums[..K1 - 1].iter().enumerate() {
                    let function = bounds.len() + k;
                    update.apply(simd, input * row + function * tiles + tile, sum);
                }
            }
            for sum in update.squares {
                distance += F::sum(simd, sum).to_f64();
            }
        }
        distance
    }
}

/// What an update of a row of the weights needs; without noise, `now` and `before` are empty.
struct Update<'a, F: Real, S: Simd, const N: usize> {
    weights: &'a mut [[F::Vector<S>; N]],
    start: &'a [[F::Vector<S>; N]],
    step: F::Vector<S>,
    now: &'a [[F::Vector<S>; N]],
    before: &'a [[F::Vector<S>; N]],
    lambda: F::Vector<S>,
    scale: F::Vector<S>,
    squares: [F::Vector<S>; N],
}

impl<F: Real, S: Simd, const N: usize> Update<'_, F, S, N> {
    #[inline(always)]
    fn apply(&mut self, simd: S, at: usize, sum: &[F::Vector<S>; N]) {
        let (weights, start) = (&mut self.weights[at], &self.start[at]);
        for n in 0..N {
            weights[n] = F::mul_add(simd, self.step, sum[n], weights[n]);
        }
        if !self.now.is_empty() {
            let (now, before) = (&self.now[at], &self.before[at]);
            for n in 0..N {
                let xi = F::mul_add(simd, self.lambda, before[n], now[n]);
                weights[n] = F::mul_add(simd, self.scale, xi, weights[n]);
            }
        }
        for n in 0..N {
            let moved = F::minus(simd, weights[n], start[n]);
            self.squares[n] = F::mul_add(simd, moved, moved, self.squares[n]);
        }
    }
}
