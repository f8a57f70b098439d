//! The second layer: outputs and their derivatives, from the activations.

use pulp::{Simd, WithSimd};

use crate::kan::Real;

/// Examples that share what is loaded of the second layer.
const PAIR: usize = 2;

/// From `v = act(a)` (in place of which `α = act'(a) s_j'(v)` is written) the sums over units of
/// `s_j(v_j)` and `α_j²` for every example, an even number of them.
///
/// `table[span][power][unit]`: the polynomial of `s_j` on each span, of the position `u` in [0, 1].
pub(crate) struct Unit<'a, F, const K1: usize> {
    pub(crate) table: &'a [F],
    pub(crate) spans: usize,
    pub(crate) width: usize,
    /// `act'(a) = slope[0] + slope[1]·v + slope[2]·v²`.
    pub(crate) slope: [F; 3],
    pub(crate) values: &'a mut [F],
    pub(crate) outputs: &'a mut [F],
    pub(crate) squares: &'a mut [F],
}

impl<F: Real, const K1: usize> WithSimd for Unit<'_, F, K1> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = size_of::<F::Vector<S>>() / size_of::<F>();
        let vectors = self.width / lanes;
        let table = F::vectors::<S>(self.table);
        let values = F::vectors_mut::<S>(self.values);
        let number = |value: f64| F::splat(simd, F::from_f64(value));
        let half = number(0.5 * self.spans as f64);
        let (one, zero) = (number(1.0), number(0.0));
        let mut slope = [zero; 3];
        for (splat, slope) in slope.iter_mut().zip(self.slope) {
            *splat = F::splat(simd, slope);
        }
        let outputs = self.outputs.as_chunks_mut::<PAIR>().0.iter_mut();
        let squares = self.squares.as_chunks_mut::<PAIR>().0;
        for ((values, outputs), squares) in
            values.chunks_exact_mut(PAIR * vectors).zip(outputs).zip(squares)
        {
            let (mut output, mut square) = ([zero; PAIR], [zero; PAIR]);
            for unit in 0..vectors {
                let v = [values[unit], values[vectors + unit]];
                let mut scaled = [zero; PAIR];
                for e in 0..PAIR {
                    scaled[e] = F::mul_add(simd, v[e], half, half);
                }
                let mut position = scaled;
                let mut polynomial = [[zero; PAIR]; K1];
                for (power, coefficient) in polynomial.iter_mut().enumerate() {
                    *coefficient = [table[power * vectors + unit]; PAIR];
                }
                let mut start = zero;
                for span in 1..self.spans {
                    start = F::mul_add(simd, one, one, start);
                    let mut inside = [F::at_least(simd, scaled[0], start); PAIR];
                    for e in 0..PAIR {
                        inside[e] = F::at_least(simd, scaled[e], start);
                        let here = F::minus(simd, scaled[e], start);
                        position[e] = F::select(simd, inside[e], here, position[e]);
                    }
                    let block = &table[span * K1 * vectors..][..K1 * vectors];
                    for (power, coefficient) in polynomial.iter_mut().enumerate() {
                        let here = block[power * vectors + unit];
                        for e in 0..PAIR {
                            coefficient[e] = F::select(simd, inside[e], here, coefficient[e]);
                        }
                    }
                }
                for e in 0..PAIR {
                    // Horner for the value and the derivative together.
                    let mut value = polynomial[K1 - 1][e];
                    let mut derivative = zero;
                    for power in (0..K1 - 1).rev() {
                        derivative = F::mul_add(simd, derivative, position[e], value);
                        value = F::mul_add(simd, value, position[e], polynomial[power][e]);
                    }
                    let factor = F::mul_add(simd, slope[2], v[e], slope[1]);
                    let factor = F::mul_add(simd, factor, v[e], slope[0]);
                    let alpha = F::times(simd, F::times(simd, derivative, half), factor);
                    values[e * vectors + unit] = alpha;
                    output[e] = F::mul_add(simd, value, one, output[e]);
                    square[e] = F::mul_add(simd, alpha, alpha, square[e]);
                }
            }
            for e in 0..PAIR {
                outputs[e] = F::sum(simd, output[e]);
                squares[e] = F::sum(simd, square[e]);
            }
        }
    }
}
