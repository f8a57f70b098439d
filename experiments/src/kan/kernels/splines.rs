//! Spline features of some inputs for all examples of a batch.

use pulp::{Simd, WithSimd};

use super::order::{room, sort};
use crate::kan::Real;

/// The polynomials of spans that are alike, up to the next such run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<F, const K1: usize> {
    /// The first span.
    pub(crate) first: F,
    /// `functions[k][power]` in the position `u` within a span.
    pub(crate) functions: [[F; K1]; K1],
}

/// From `x[i][e]` the values `[i][e][k]` of the active functions, the sum of their squares over inputs, and
/// the examples in the order of their spans; rows of `stride` examples, a multiple of 16.
pub(crate) struct Splines<'a, F, const K1: usize> {
    pub(crate) runs: &'a [Run<F, K1>],
    pub(crate) total_spans: u16,
    pub(crate) stride: usize,
    pub(crate) x: &'a [F],
    /// Of which the last are idle.
    pub(crate) examples: usize,
    /// Room for the spans of an input.
    pub(crate) spans: &'a mut [u16],
    /// [`super::Order`], as it will be.
    pub(crate) order: &'a mut [u32],
    pub(crate) bounds: &'a mut [(u32, u32)],
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
        if self.examples == 0 {
            self.bounds.fill((0, 0));
            return;
        }
        let lanes = size_of::<F::Vector<S>>() / size_of::<F>();
        let (scaled, position) = (&mut *self.scaled, &mut *self.position);
        let half = F::from_f64(0.5 * f64::from(self.total_spans));
        let last = F::from_f64(f64::from(self.total_spans - 1));
        let total_spans = usize::from(self.total_spans);
        let orders = self.order.chunks_exact_mut(room(self.examples, total_spans));
        let orders = orders.zip(self.bounds.chunks_exact_mut(total_spans));
        let values = self.values.as_chunks_mut::<K1>().0.chunks_exact_mut(self.stride);
        for ((x, (order, bounds)), values) in
            self.x.chunks_exact(self.stride).zip(orders).zip(values)
        {
            for (((x, span), scaled), position) in
                x.iter().zip(&mut *self.spans).zip(&mut *scaled).zip(&mut *position)
            {
                *scaled = *x * half + half;
                (*span, *position) = F::locate(*scaled, last);
            }
            sort(&self.spans[..self.examples], order, bounds);
            let vectors = F::vectors::<S>(scaled).iter().zip(F::vectors::<S>(position));
            let outputs = F::vectors_mut::<S>(self.squares).iter_mut();
            for (((scaled, u), square), values) in
                vectors.zip(outputs).zip(values.chunks_exact_mut(lanes))
            {
                let mut active = [*u; K1];
                for (index, run) in self.runs.iter().enumerate() {
                    let inside = F::at_least(simd, *scaled, F::splat(simd, run.first));
                    for (active, function) in active.iter_mut().zip(&run.functions) {
                        let here = horner(simd, function, *u);
                        *active =
                            if index == 0 { here } else { F::select(simd, inside, here, *active) };
                    }
                }
                let mut by_function = [[F::default(); MOST_LANES]; K1];
                for (row, active) in by_function.iter_mut().zip(active) {
                    *square = F::mul_add(simd, active, active, *square);
                    F::vectors_mut::<S>(row)[0] = active;
                }
                for (e, values) in values.iter_mut().enumerate() {
                    for (value, row) in values.iter_mut().zip(&by_function) {
                        *value = row[e];
                    }
                }
            }
        }
    }
}

/// Lanes of the widest vectors.
const MOST_LANES: usize = 16;

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
