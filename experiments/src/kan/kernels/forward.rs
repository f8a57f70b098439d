//! Pre-activations: spline features times the first layer.

use pulp::{Simd, WithSimd};

use crate::kan::Real;

/// Examples that go together; rows of pre-activations are padded to a multiple of them.
pub(crate) const TOGETHER: usize = 4;

/// `pre[e][j] (+)= Σ_i Σ_k values[i][e][k] · weights[(first + i)·size + spans[i][e] + k][j]`.
///
/// Rows of `width` units and of `stride` examples, both multiples of 16. `K1 = degree + 1` functions are
/// active per feature.
pub(crate) struct Forward<'a, F, const K1: usize> {
    pub(crate) weights: &'a [F],
    pub(crate) width: usize,
    pub(crate) size: usize,
    pub(crate) first: usize,
    pub(crate) inputs: usize,
    pub(crate) stride: usize,
    pub(crate) spans: &'a [u16],
    pub(crate) values: &'a [F],
    pub(crate) pre: &'a mut [F],
    /// Whether to add to what stands there.
    pub(crate) accumulate: bool,
}

impl<F: Real, const K1: usize> WithSimd for Forward<'_, F, K1> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let vectors = self.width / (size_of::<F::Vector<S>>() / size_of::<F>());
        // As many sums as fit the registers.
        if size_of::<F::Vector<S>>() >= 64 && vectors.is_multiple_of(4) {
            self.tiles::<S, 4>(simd, vectors);
        } else if vectors.is_multiple_of(2) {
            self.tiles::<S, 2>(simd, vectors);
        } else {
            self.tiles::<S, 1>(simd, vectors);
        }
    }
}

impl<F: Real, const K1: usize> Forward<'_, F, K1> {
    #[inline(always)]
    fn tiles<S: Simd, const N: usize>(self, simd: S, vectors: usize) {
        let tiles = vectors / N;
        let weights = F::vectors::<S>(self.weights).as_chunks::<N>().0;
        let weights = &weights[self.first * self.size * tiles..];
        let pre = F::vectors_mut::<S>(self.pre).as_chunks_mut::<N>().0;
        // Rows of equal length: one check of an index serves for all active functions.
        let reach = weights.len() - (K1 - 1) * tiles;
        let mut functions = [weights; K1];
        for (k, rows) in functions.iter_mut().enumerate() {
            *rows = &weights[k * tiles..][..reach];
        }
        let values = self.values.as_chunks::<K1>().0;
        for tile in 0..tiles {
            for (group, pre) in pre.chunks_exact_mut(TOGETHER * tiles).enumerate() {
                let at = group * TOGETHER;
                let mut sums = [[F::splat(simd, F::default()); N]; TOGETHER];
                if self.accumulate {
                    for (e, sum) in sums.iter_mut().enumerate() {
                        *sum = pre[e * tiles + tile];
                    }
                }
                let rows = self.spans.chunks_exact(self.stride);
                let rows = rows.zip(values.chunks_exact(self.stride));
                let mut first = tile;
                for (spans, values) in rows.take(self.inputs) {
                    let spans = &spans[at..][..TOGETHER];
                    let values = &values[at..][..TOGETHER];
                    // One by one: a loop would keep the sums in memory.
                    let [a, b, c, d] = &mut sums;
                    let row = |e: usize| first + usize::from(spans[e]) * tiles;
                    add_example::<F, S, N, K1>(simd, &functions, row(0), &values[0], a);
                    add_example::<F, S, N, K1>(simd, &functions, row(1), &values[1], b);
                    add_example::<F, S, N, K1>(simd, &functions, row(2), &values[2], c);
                    add_example::<F, S, N, K1>(simd, &functions, row(3), &values[3], d);
                    first += self.size * tiles;
                }
                for (e, sum) in sums.iter().enumerate() {
                    pre[e * tiles + tile] = *sum;
                }
            }
        }
    }
}

#[inline(always)]
fn add_example<F: Real, S: Simd, const N: usize, const K1: usize>(
    simd: S,
    functions: &[&[[F::Vector<S>; N]]; K1],
    row: usize,
    values: &[F; K1],
    sum: &mut [F::Vector<S>; N],
) {
    for k in 0..K1 {
        let value = F::splat(simd, values[k]);
        let row = &functions[k][row];
        for n in 0..N {
            sum[n] = F::mul_add(simd, value, row[n], sum[n]);
        }
    }
}
