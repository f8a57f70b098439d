//! The second layer: outputs and their derivatives, from the activations.

use pulp::{Simd, WithSimd};

use crate::kan::Real;

/// From `v = act(a)` (in place of which `α = act'(a) s_j'(v)` is written) the sums over units of
/// `s_j(v_j)` and `α_j²` for every example.
///
/// `table[span][power][unit]`: the polynomial of `s_j` on each span, of the position `u` in [0, 1].
pub(crate) struct Unit<'a, F, const K1: usize> {
    pub(crate) table: &'a [F],
    pub(crate) spans: usize,
    pub(crate) width: usize,
    pub(crate) examples: usize,
    /// `act'(a) = slope.0 + slope.1·v + slope.2·v²`.
    pub(crate) slope: (F, F, F),
    pub(crate) values: &'a mut [F],
    pub(crate) outputs: &'a mut [F],
    pub(crate) squares: &'a mut [F],
}

impl<F: Real, const K1: usize> WithSimd for Unit<'_, F, K1> {
    type Output = ();

    #[inline(always)]
    #[allow(clippy::cast_precision_loss)] // few spans
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = size_of::<F::Vector<S>>() / size_of::<F>();
        let vectors = self.width / lanes;
        let table = F::vectors::<S>(self.table);
        let values = F::vectors_mut::<S>(self.values);
        let number = |value: f64| F::splat(simd, F::from_f64(value));
        let half = number(0.5 * self.spans as f64);
        let (one, zero) = (number(1.0), number(0.0));
        let slope = [self.slope.0, self.slope.1, self.slope.2].map(|s| F::splat(simd, s));
        for example in 0..self.examples {
            let (mut output, mut square) = (zero, zero);
            for unit in 0..vectors {
                let at = example * vectors + unit;
                let v = values[at];
                let scaled = F::mul_add(simd, v, half, half);
                let mut position = scaled;
                let mut polynomial = [zero; K1];
                for (power, coefficient) in polynomial.iter_mut().enumerate() {
                    *coefficient = table[power * vectors + unit];
                }
                for span in 1..self.spans {
                    let start = number(span as f64);
                    let inside = F::at_least(simd, scaled, start);
                    position = F::select(simd, inside, F::minus(simd, scaled, start), position);
                    let block = &table[span * K1 * vectors..][..K1 * vectors];
                    for (power, coefficient) in polynomial.iter_mut().enumerate() {
                        let here = block[power * vectors + unit];
                        *coefficient = F::select(simd, inside, here, *coefficient);
                    }
                }
                // Horner for the value and the derivative together.
                let mut value = polynomial[K1 - 1];
                let mut derivative = zero;
                for power in (0..K1 - 1).rev() {
                    derivative = F::mul_add(simd, derivative, position, value);
                    value = F::mul_add(simd, value, position, polynomial[power]);
                }
                let slope = F::mul_add(simd, F::mul_add(simd, slope[2], v, slope[1]), v, slope[0]);
                let alpha = F::times(simd, F::times(simd, derivative, half), slope);
                values[at] = alpha;
                output = F::mul_add(simd, value, one, output);
                square = F::mul_add(simd, alpha, alpha, square);
            }
            self.outputs[example] = F::sum(simd, output);
            self.squares[example] = F::sum(simd, square);
        }
    }
}
