//! Spline features of some inputs for all examples of a batch.

use pulp::{Simd, WithSimd};

use crate::kan::Real;

/// The polynomials of spans that are alike, up to the next such run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<F, const K1: usize> {
    /// The first span.
    pub(crate) first: F,
    /// `functions[k][power]` in the position `u` within a span.
    pub(crate) functions: [[F; K1]; K1],
}

/// From `x[i][e]` the span, the values `[i][k][e]` of the active functions, and the sum of their squares
/// over inputs; rows of `stride` examples, a multiple of 16.
pub(crate) struct Splines<'a, F, const K1: usize> {
    pub(crate) runs: &'a [Run<F, K1>],
    pub(crate) total_spans: u16,
    pub(crate) stride: usize,
    pub(crate) x: &'a [F],
    pub(crate) spans: &'a mut [u16],
    pub(crate) values: &'a mut [F],
    /// Added to.
    pub(crate) squares: &'a mut [F],
    /// Room for a row of `x` in spans, and of positions within them.
    pub(crate) scaled: &'a mut [F],
    pub(crate) position: &'a mut [F],
}

impl<F: Real, const K1: usize> WithSimd for Splines<'_, F, K1> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.stride == 0 {
            return;
        }
        let (scaled, position) = (&mut *self.scaled, &mut *self.position);
        let half = F::from_f64(0.5 * f64::from(self.total_spans));
        let last = F::from_f64(f64::from(self.total_spans - 1));
        let rows = self.x.chunks_exact(self.stride).zip(self.spans.chunks_exact_mut(self.stride));
        for ((x, spans), values) in rows.zip(self.values.chunks_exact_mut(K1 * self.stride)) {
            for (((x, span), scaled), position) in
                x.iter().zip(spans).zip(&mut *scaled).zip(&mut *position)
            {
                *scaled = *x * half + half;
                (*span, *position) = F::locate(*scaled, last);
            }
            let (scaled, position) = (F::vectors::<S>(scaled), F::vectors::<S>(position));
            let values = F::vectors_mut::<S>(values);
            for (index, run) in self.runs.iter().enumerate() {
                let first = F::splat(simd, run.first);
                for (k, row) in values.chunks_exact_mut(position.len()).enumerate() {
                    for ((value, scaled), u) in row.iter_mut().zip(scaled).zip(position) {
                        let here = horner(simd, &run.functions[k], *u);
                        let inside = F::at_least(simd, *scaled, first);
                        *value =
                            if index == 0 { here } else { F::select(simd, inside, here, *value) };
                    }
                }
            }
            let squares = F::vectors_mut::<S>(self.squares);
            for row in values.chunks_exact(position.len()) {
                for (square, value) in squares.iter_mut().zip(row) {
                    *square = F::mul_add(simd, *value, *value, *square);
                }
            }
        }
    }
}

#[inline(always)]
fn horner<F: Real, S: Simd, const K1: usize>(
    simd: S,
    coefficients: &[F; K1],
    u: F::Vector<S>,
) -> F::Vector<S> {
    let mut value = F::splat(simd, coefficients[K1 - 1]);
    for power in (0..K1 - 1).rev() {
        value = F::mul_add(simd, value, u, F::splat(simd, coefficients[power]));
    }
    value
}
