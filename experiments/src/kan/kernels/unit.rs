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
    /// `act'(a) = slope[0] + slope[1]·v + slope[2]·v²`.
    pub(crate) slope: [F; 3],
    pub(crate) values: &'a mut [F],
    pub(crate) outputs: &'a mut [F],
    pub(crate) squares: &'a mut [F],
    /// Room for two vectors an example: the sums of each lane.
    pub(crate) lanes: &'a mut [F],
}

impl<F: Real, const K1: usize> WithSimd for Unit<'_, F, K1> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let zero = [F::splat(simd, F::default()); K1];
        // A few polynomials stay in registers, if their number is known when this is compiled.
        match self.spans {
            1 => self.pass(simd, &mut [zero; 1]),
            2 => self.pass(simd, &mut [zero; 2]),
            3 => self.pass(simd, &mut [zero; 3]),
            4 => self.pass(simd, &mut [zero; 4]),
            spans => self.pass(simd, &mut vec![zero; spans]),
        }
    }
}

impl<F: Real, const K1: usize> Unit<'_, F, K1> {
    /// `pieces`: room for the polynomials of as many units as a vector has lanes.
    #[inline(always)]
    fn pass<S: Simd>(self, simd: S, pieces: &mut [[F::Vector<S>; K1]]) {
        let vectors = self.width * size_of::<F>() / size_of::<F::Vector<S>>();
        let table = F::vectors::<S>(self.table);
        let values = F::vectors_mut::<S>(self.values);
        let half = 0.5 * pieces.len() as f64;
        let mut slope = [F::splat(simd, F::default()); 3];
        for (splat, slope) in slope.iter_mut().zip(self.slope) {
            // The derivative is by the position, which moves by `half` when `v` moves by one.
            *splat = F::splat(simd, slope * F::from_f64(half));
        }
        let half = F::splat(simd, F::from_f64(half));
        let one = F::splat(simd, F::from_f64(1.0));
        self.lanes.fill(F::default());
        let sums = F::vectors_mut::<S>(self.lanes).as_chunks_mut::<2>().0;
        for unit in 0..vectors {
            for (span, piece) in pieces.iter_mut().enumerate() {
                for (power, coefficient) in piece.iter_mut().enumerate() {
                    *coefficient = table[(span * K1 + power) * vectors + unit];
                }
            }
            for (values, sums) in values.chunks_exact_mut(vectors).zip(&mut *sums) {
                let v = values[unit];
                let scaled = F::mul_add(simd, v, half, half);
                let mut position = scaled;
                let mut polynomial = pieces[0];
                let mut start = one;
                for piece in &pieces[1..] {
                    let inside = F::at_least(simd, scaled, start);
                    position = F::select(simd, inside, F::minus(simd, scaled, start), position);
                    for k in 0..K1 {
                        polynomial[k] = F::select(simd, inside, piece[k], polynomial[k]);
                    }
                    start = F::mul_add(simd, one, one, start);
                }
                // Horner for the value and the derivative together.
                let mut derivative = polynomial[K1 - 1];
                let mut value = F::mul_add(simd, derivative, position, polynomial[K1 - 2]);
                for power in (0..K1 - 2).rev() {
                    derivative = F::mul_add(simd, derivative, position, value);
                    value = F::mul_add(simd, value, position, polynomial[power]);
                }
                let factor = F::mul_add(simd, slope[2], v, slope[1]);
                let factor = F::mul_add(simd, factor, v, slope[0]);
                let alpha = F::times(simd, derivative, factor);
                values[unit] = alpha;
                sums[0] = F::mul_add(simd, value, one, sums[0]);
                sums[1] = F::mul_add(simd, alpha, alpha, sums[1]);
            }
        }
        for ((sums, output), square) in sums.iter().zip(self.outputs).zip(self.squares) {
            *output = F::sum(simd, sums[0]);
            *square = F::sum(simd, sums[1]);
        }
    }
}
