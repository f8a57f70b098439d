//! Products of row-major matrices.

use nalgebra::{DMatrixView, DMatrixViewMut, Dyn};

/// A row-major matrix, or its transpose.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub data: &'a [f32],
    /// Columns as stored.
    pub columns: usize,
    pub transposed: bool,
}

impl<'a> Operand<'a> {
    pub fn plain(data: &'a [f32], columns: usize) -> Self {
        Self { data, columns, transposed: false }
    }

    pub fn transposed(data: &'a [f32], columns: usize) -> Self {
        Self { data, columns, transposed: true }
    }

    /// Columns of what it stands for.
    fn inner(self) -> usize {
        if self.transposed { self.data.len() / self.columns } else { self.columns }
    }

    fn view(self) -> DMatrixView<'a, f32, Dyn, Dyn> {
        let rows = self.data.len() / self.columns;
        if self.transposed {
            DMatrixView::from_slice_with_strides(self.data, self.columns, rows, 1, self.columns)
        } else {
            DMatrixView::from_slice_with_strides(self.data, rows, self.columns, self.columns, 1)
        }
    }
}

/// Below this many rows or columns nalgebra leaves matrixmultiply for loops that do not support strides.
const SMALL: usize = 8;

/// `out = a b`; `out` is row-major with `columns` columns.
pub(super) fn multiply(out: &mut [f32], columns: usize, a: Operand<'_>, b: Operand<'_>) {
    let (rows, inner) = (out.len() / columns, a.inner());
    if rows.min(columns).min(inner) > SMALL {
        let mut out = DMatrixViewMut::from_slice_with_strides_mut(out, rows, columns, columns, 1);
        out.gemm(1.0, &a.view(), &b.view(), 0.0);
    } else {
        multiply_small(out, columns, inner, a, b);
    }
}

fn multiply_small(out: &mut [f32], columns: usize, inner: usize, a: Operand<'_>, b: Operand<'_>) {
    let at = |operand: Operand<'_>, row: usize, column: usize| {
        let (row, column) = if operand.transposed { (column, row) } else { (row, column) };
        operand.data[row * operand.columns + column]
    };
    for (i, row) in out.chunks_exact_mut(columns).enumerate() {
        row.fill(0.0);
        for k in 0..inner {
            let factor = at(a, i, k);
            row.iter_mut().enumerate().for_each(|(j, sum)| *sum += factor * at(b, k, j));
        }
    }
}

/// Sum of squares, in an order that vectorises and does not depend on threads.
pub(super) fn square_sum(values: &[f32]) -> f64 {
    const LANES: usize = 16;
    let mut lanes = [0.0_f32; LANES];
    let (groups, rest) = values.as_chunks::<LANES>();
    for group in groups {
        for (lane, value) in lanes.iter_mut().zip(group) {
            *lane += value * value;
        }
    }
    let whole: f64 = lanes.iter().map(|&lane| f64::from(lane)).sum();
    whole + rest.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_every_shape_agree_with_the_definition() {
        let number = |i: usize| ((i * 7919) % 101) as f32 / 50.0 - 1.0;
        for (m, n, k) in [(1, 1, 1), (3, 20, 9), (20, 3, 9), (20, 20, 4), (9, 9, 9), (37, 23, 41)] {
            let a: Vec<f32> = (0..m * k).map(number).collect();
            let b: Vec<f32> = (0..k * n).map(|i| number(i + 13)).collect();
            for (a_transposed, b_transposed) in [(false, false), (true, false), (false, true)] {
                let place = |transposed: bool, i: usize, j: usize, rows: usize, columns: usize| {
                    if transposed { j * rows + i } else { i * columns + j }
                };
                let mut out = vec![9.0; m * n];
                let left =
                    if a_transposed { Operand::transposed(&a, m) } else { Operand::plain(&a, k) };
                let right =
                    if b_transposed { Operand::transposed(&b, k) } else { Operand::plain(&b, n) };
                multiply(&mut out, n, left, right);
                for i in 0..m {
                    for j in 0..n {
                        let sum: f64 = (0..k)
                            .map(|l| {
                                f64::from(a[place(a_transposed, i, l, m, k)])
                                    * f64::from(b[place(b_transposed, l, j, k, n)])
                            })
                            .sum();
                        assert!((f64::from(out[i * n + j]) - sum).abs() < 1e-4, "{m} {n} {k}");
                    }
                }
            }
        }
    }
}
