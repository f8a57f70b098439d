//! The derivatives of a unit as Bernstein forms that are linear in its second layer.

use super::{Activation, SplineBasis, number, polynomial};

/// Bernstein coefficients of `φ'` and `φ''` on the pieces of one span, as linear forms of the active row of `c`.
///
/// On every piece the derivative of every unit lies between the smallest and the largest of its coefficients, and so
/// does, as a vector, `act' h'` in the hull of the rows.
pub(super) struct SpanForms {
    pub(super) span: usize,
    /// Rows of `degree + 1` numbers.
    pub(super) slope: Forms,
    pub(super) curvature: Forms,
}

/// Linear forms and, per active function, a bound of their rounding error.
pub(super) struct Forms {
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) error: Vec<f64>,
}

impl Forms {
    /// A bound of `max_r |<row_r, c>|`, rounding included.
    pub(super) fn largest(&self, active: &[f64]) -> f64 {
        let dot = |row: &Vec<f64>| row.iter().zip(active).map(|(m, c)| m * c).sum::<f64>().abs();
        let error: f64 = self.error.iter().zip(active).map(|(e, c)| e * c.abs()).sum();
        self.rows.iter().map(dot).fold(0.0, f64::max) + error
    }

    /// A bound of the largest Euclidean norm of a row, rounding included.
    pub(super) fn largest_norm(&self) -> f64 {
        let norm = |row: &Vec<f64>| row.iter().map(|m| m * m).sum::<f64>().sqrt();
        self.rows.iter().map(norm).fold(0.0, f64::max) + norm(&self.error)
    }
}

/// The forms of every span that meets the range of the activation, each span cut in `pieces`.
pub(super) fn span_forms(
    basis: &SplineBasis,
    activation: Activation,
    pieces: usize,
) -> Vec<SpanForms> {
    let spans = number(basis.spans());
    let (low, high) = activation.range();
    let mut all = Vec::new();
    for span in 0..basis.spans() {
        // Exact: ±1 and 0 are multiples of half a span.
        let from = (0.5 * (low + 1.0) * spans - number(span)).max(0.0);
        let to = (0.5 * (high + 1.0) * spans - number(span)).min(1.0);
        if from < to {
            let cuts = Cuts { from, width: (to - from) / number(pieces), pieces };
            let forms = |derivative| forms(basis, activation, span, cuts, derivative);
            all.push(SpanForms { span, slope: forms(1), curvature: forms(2) });
        }
    }
    all
}

#[derive(Clone, Copy)]
struct Cuts {
    from: f64,
    width: f64,
    pieces: usize,
}

fn forms(
    basis: &SplineBasis,
    activation: Activation,
    span: usize,
    cuts: Cuts,
    derivative: u32,
) -> Forms {
    let rows_with = |sign| rows(basis, activation, span, cuts, derivative, sign);
    let magnitudes = rows_with(Sign::Dropped);
    // The same operations on absolute values bound every intermediate result; the number of roundings along one
    // path is at most quadratic in the degree, and a knot is off by a unit in the last place of 1, not of the span.
    let degree = number(basis.degree());
    let unit = f64::EPSILON * (64.0 + 4.0 * degree * degree + 2.0 * number(basis.spans()));
    let largest = |index: usize| magnitudes.iter().map(|row| row[index]).fold(0.0, f64::max);
    let error = (0..=basis.degree()).map(|index| unit * largest(index)).collect();
    Forms { rows: rows_with(Sign::Kept), error }
}

#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Kept,
    Dropped,
}

fn rows(
    basis: &SplineBasis,
    activation: Activation,
    span: usize,
    cuts: Cuts,
    derivative: u32,
    sign: Sign,
) -> Vec<Vec<f64>> {
    let width = basis.span_width();
    let left = number(span) * width - 1.0;
    // Without signs `left` counts as the two terms it is made of.
    let origin = if sign == Sign::Kept { left } else { 2.0 + left };
    let signed = |coefficients: &[f64]| -> Vec<f64> {
        let drop = |a: &f64| if sign == Sign::Kept { *a } else { a.abs() };
        coefficients.iter().map(drop).collect()
    };
    let act = |coefficients| polynomial::substitute(&signed(coefficients), origin, width);
    let (slope, curvature) =
        (act(activation.slope_polynomial()), act(activation.curvature_polynomial()));
    let column = |index: usize| -> Vec<f64> {
        let piece = signed(basis.piece(span, index));
        let whole = chain(&piece, width, &slope, &curvature, derivative);
        let part = |cut: usize| {
            let origin = cuts.from + number(cut) * cuts.width;
            polynomial::bernstein(&polynomial::substitute(&whole, origin, cuts.width))
        };
        (0..cuts.pieces).flat_map(part).collect()
    };
    let columns: Vec<Vec<f64>> = (0..=basis.degree()).map(column).collect();
    let count = columns.first().map_or(0, Vec::len);
    (0..count).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

/// `act' b'` or `act'² b'' + act'' b'` as polynomials of the position in the span.
fn chain(piece: &[f64], width: f64, slope: &[f64], curvature: &[f64], derivative: u32) -> Vec<f64> {
    let scaled = |polynomial: &[f64]| -> Vec<f64> {
        polynomial::derivative(polynomial).iter().map(|a| a / width).collect()
    };
    let first = scaled(piece);
    if derivative == 1 {
        return polynomial::product(slope, &first);
    }
    let mut sum = polynomial::product(curvature, &first);
    let mut second = scaled(&first);
    if second.is_empty() {
        // A higher formal degree tightens the enclosure.
        second.push(0.0);
    }
    let square = polynomial::product(slope, slope);
    let added = polynomial::product(&square, &second);
    sum.resize(sum.len().max(added.len()), 0.0);
    polynomial::add(&mut sum, &added);
    sum
}
