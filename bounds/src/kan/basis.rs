//! B-splines on [−1, 1] as one polynomial per span.

use super::polynomial;
use crate::error::{BoundError, Result, Shown};

/// Where the knots lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Knots {
    /// Uniform inside [−1, 1], the ends repeated `degree + 1` times: `Σ b_i = 1` and `h(±1)` is a unit
    /// vector. The theory speaks of these.
    Clamped,
    /// Uniform and extended beyond [−1, 1], as in most KAN libraries.
    Cardinal,
}

/// A basis `h(v) = (b_0(v), .., b_{p−1}(v))` of B-splines of one degree on equal spans of [−1, 1].
///
/// On every span `degree + 1` functions are active; they are stored as polynomials of the position
/// `u` in [0, 1] within the span. Right-continuous inside, the last span closed.
///
/// # Source
/// arXiv 2605.12648, Section 3; Cox and de Boor's recursion.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{Knots, SplineBasis};
/// let basis = SplineBasis::new(3, 6, Knots::Clamped)?;
/// let h = basis.values(0.3);
/// assert!((h.iter().sum::<f64>() - 1.0).abs() < 1e-15);
/// assert_eq!(basis.spans(), 3);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SplineBasis {
    degree: usize,
    size: usize,
    kind: Knots,
    knots: Vec<f64>,
    /// `pieces[span][function]`: coefficients of `1, u, .., u^degree`.
    pieces: Vec<Vec<Vec<f64>>>,
}

/// Largest degree: the recursion is exact to rounding far beyond any use.
const LARGEST_DEGREE: usize = 12;
const LARGEST_SIZE: usize = 4096;

impl SplineBasis {
    /// `degree` k in 1..=12, `size` p in k + 1..=4096 functions, `p − k` spans.
    ///
    /// # Errors
    /// [`BoundError::OutOfRange`] for a degree or size out of range.
    pub fn new(degree: usize, size: usize, kind: Knots) -> Result<Self> {
        #[allow(clippy::cast_precision_loss)]
        let refuse = |parameter, value: usize, allowed, remedy| {
            Err(BoundError::OutOfRange { parameter, value: Shown(value as f64), allowed, remedy })
        };
        if !(1..=LARGEST_DEGREE).contains(&degree) {
            return refuse("degree", degree, "1 to 12", "use 3 for cubic splines");
        }
        if !(degree + 1..=LARGEST_SIZE).contains(&size) {
            return refuse(
                "size",
                size,
                "degree + 1 to 4096 functions",
                "add basis functions or lower the degree",
            );
        }
        let knots = knots(degree, size, kind);
        let pieces = (0..size - degree).map(|span| pieces(&knots, degree, span)).collect();
        Ok(Self { degree, size, kind, knots, pieces })
    }

    /// The degree k.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The number of functions p.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Where the knots lie.
    #[must_use]
    pub fn kind(&self) -> Knots {
        self.kind
    }

    /// The number of spans, `p − k`.
    #[must_use]
    pub fn spans(&self) -> usize {
        self.size - self.degree
    }

    /// Width of a span, `2/(p − k)`.
    #[must_use]
    pub fn span_width(&self) -> f64 {
        #[allow(clippy::cast_precision_loss)]
        let spans = self.spans() as f64;
        2.0 / spans
    }

    /// The knots, `p + k + 1` in increasing order.
    #[must_use]
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// Coefficients of `1, u, .., u^k` on `span` for the active function `span + index`, `index` in 0..=k.
    ///
    /// # Panics
    /// If there is no such span or function.
    #[must_use]
    pub fn piece(&self, span: usize, index: usize) -> &[f64] {
        &self.pieces[span][index]
    }

    /// The span of `v`, clamped into [−1, 1], and the position within it.
    #[must_use]
    pub fn locate(&self, v: f64) -> (usize, f64) {
        let scaled = (v.clamp(-1.0, 1.0) + 1.0) / self.span_width();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..=spans
        let span = (scaled as usize).min(self.spans() - 1);
        #[allow(clippy::cast_precision_loss)]
        let position = scaled - span as f64;
        (span, position)
    }

    /// `h(v)`, all `p` values.
    #[must_use]
    pub fn values(&self, v: f64) -> Vec<f64> {
        self.derivative(v, 0)
    }

    /// `h^{(order)}(v)`, all `p` values; at a knot from the right, at 1 from the left.
    #[must_use]
    pub fn derivative(&self, v: f64, order: u32) -> Vec<f64> {
        let (span, u) = self.locate(v);
        #[allow(clippy::cast_possible_wrap)]
        let scale = self.span_width().powi(-(order as i32));
        let mut all = vec![0.0; self.size];
        for (index, piece) in self.pieces[span].iter().enumerate() {
            let mut derived = piece.clone();
            for _ in 0..order {
                derived = polynomial::derivative(&derived);
            }
            all[span + index] = scale * polynomial::value(&derived, u);
        }
        all
    }

    /// The Greville abscissae `ξ_i = (t_{i+1} + .. + t_{i+k})/k`: `Σ ξ_i b_i(v) = v`.
    #[must_use]
    pub fn greville(&self) -> Vec<f64> {
        #[allow(clippy::cast_precision_loss)]
        let degree = self.degree as f64;
        let mean = |i: usize| self.knots[i + 1..=i + self.degree].iter().sum::<f64>() / degree;
        (0..self.size).map(mean).collect()
    }
}

fn knots(degree: usize, size: usize, kind: Knots) -> Vec<f64> {
    #[allow(clippy::cast_precision_loss)]
    let at = |i: usize| {
        let inner = (i as f64 - degree as f64) / (size - degree) as f64;
        match kind {
            Knots::Clamped => (2.0 * inner - 1.0).clamp(-1.0, 1.0),
            Knots::Cardinal => 2.0 * inner - 1.0,
        }
    };
    (0..=size + degree).map(at).collect()
}

/// The active functions of a span by Cox and de Boor's recursion on polynomials of `u`.
fn pieces(knots: &[f64], degree: usize, span: usize) -> Vec<Vec<f64>> {
    let cell = span + degree;
    let (left, width) = (knots[cell], knots[cell + 1] - knots[cell]);
    // `(v − t)/w` and `(t − v)/w` as polynomials of u; 0/0 is 0.
    let ramp = |from: f64, over: f64, sign: f64| {
        if over > 0.0 { [sign * (left - from) / over, sign * width / over] } else { [0.0, 0.0] }
    };
    let mut functions = vec![vec![1.0]];
    for order in 1..=degree {
        let mut next = vec![vec![0.0; order + 1]; order + 1];
        for (index, lower) in functions.iter().enumerate() {
            // This one is number `cell − order + 1 + index` of degree `order − 1`.
            let first = cell + 1 + index - order;
            let (start, end) = (knots[first], knots[first + order]);
            let falling = polynomial::product(lower, &ramp(end, end - start, -1.0));
            let rising = polynomial::product(lower, &ramp(start, end - start, 1.0));
            polynomial::add(&mut next[index], &falling);
            polynomial::add(&mut next[index + 1], &rising);
        }
        functions = next;
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_a_partition_of_unity_and_reproduce_the_identity() {
        for (degree, size) in [(1, 2), (1, 5), (2, 3), (2, 7), (3, 4), (3, 6), (5, 11), (7, 8)] {
            for kind in [Knots::Clamped, Knots::Cardinal] {
                let basis = SplineBasis::new(degree, size, kind).unwrap();
                let greville = basis.greville();
                for step in 0..=40 {
                    let v = -1.0 + f64::from(step) / 20.0;
                    let h = basis.values(v);
                    assert!(h.iter().all(|b| *b >= -1e-15), "{degree} {size} {v}");
                    assert!((h.iter().sum::<f64>() - 1.0).abs() < 1e-13, "{degree} {size} {v}");
                    let identity: f64 = h.iter().zip(&greville).map(|(b, x)| b * x).sum();
                    assert!((identity - v).abs() < 1e-13, "{degree} {size} {v}: {identity}");
                }
            }
        }
    }

    #[test]
    fn cardinal_cubics_have_the_familiar_pieces() {
        let basis = SplineBasis::new(3, 6, Knots::Cardinal).unwrap();
        let sixths = [[1.0, -3.0, 3.0, -1.0], [4.0, 0.0, -6.0, 3.0], [1.0, 3.0, 3.0, -3.0]];
        for span in 0..3 {
            for (index, expected) in sixths.iter().enumerate() {
                for (coefficient, sixth) in basis.piece(span, index).iter().zip(expected) {
                    assert!((coefficient - sixth / 6.0).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        for (degree, size) in [(0, 3), (13, 20), (3, 3), (3, 5000)] {
            assert!(SplineBasis::new(degree, size, Knots::Clamped).is_err());
        }
    }
}
