//! The largest feature norm over a domain of inputs.

use super::network::{norm2, positive_size};
use super::{SplineBasis, number, polynomial};
use crate::error::Result;
use crate::round::round_up;

/// Where the inputs lie, as far as it is public.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputDomain {
    /// `|x_i| ≤ 1` for every coordinate.
    Cube,
    /// `||x||_2 ≤ 1`.
    Ball,
}

/// An upper bound of `sup ||h(x)||²/d` over the domain, at most 1.
///
/// Cube: 1 (attained by clamped knots at the corners). Ball: with `g(s) = max ||h(±sqrt s)||²` and any `b ≥ 0`,
/// `(1/d) Σ g(x_i²) ≤ max_s (g(s) − b s) + b/d`; the best `b` is the slope at `1/d` of the least concave majorant of
/// `g`. Every piece of `g` is replaced by an upper bound from its Bernstein coefficients, so the result is never
/// below the supremum.
///
/// `inputs` d at least 1.
///
/// # Source
/// Ours.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for `inputs = 0`.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{InputDomain, Knots, SplineBasis, feature_norm2};
/// let basis = SplineBasis::new(3, 4, Knots::Clamped)?;
/// assert_eq!(feature_norm2(&basis, 30, InputDomain::Cube)?, 1.0);
/// assert!((feature_norm2(&basis, 30, InputDomain::Ball)? - 0.336).abs() < 1e-3);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn feature_norm2(basis: &SplineBasis, inputs: usize, domain: InputDomain) -> Result<f64> {
    positive_size("inputs", inputs)?;
    if domain == InputDomain::Cube || inputs == 1 {
        return Ok(1.0);
    }
    let cells = cells(basis);
    let share = 1.0 / number(inputs);
    let slope = majorant_slope(&cells, share);
    let bound = cells.iter().map(|(start, top)| top + slope * (share - start));
    Ok(round_up(bound.fold(0.0, f64::max)).min(1.0))
}

/// For every cell of `|v|` the left end of `s = v²` and an upper bound of `||h(v)||²`, sorted by the first.
fn cells(basis: &SplineBasis) -> Vec<(f64, f64)> {
    const PIECES: usize = 128;
    let mut all = Vec::new();
    for span in 0..basis.spans() {
        for part in 0..2 * PIECES {
            // An even number of pieces: zero is an end of one. Rounding of the ends is covered below.
            let from = number(part) / number(2 * PIECES);
            let width = 1.0 / number(2 * PIECES);
            let columns: Vec<Vec<f64>> = (0..=basis.degree())
                .map(|index| {
                    let piece = polynomial::substitute(basis.piece(span, index), from, width);
                    polynomial::bernstein(&piece)
                })
                .collect();
            // The curve h(v) lies in the hull of these points, the norm is convex.
            let norm = |row: usize| norm2(&columns.iter().map(|c| c[row]).collect::<Vec<_>>());
            let top = (0..=basis.degree()).map(norm).fold(0.0, f64::max);
            let at = |u: f64| (number(span) + u) * basis.span_width() - 1.0;
            let nearest = at(from).abs().min(at(from + width).abs());
            let start = (nearest - 1e-15).max(0.0).powi(2);
            all.push((start, (top + 1e-11).min(1.0)));
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// The slope, at least 0, of the least concave majorant of the points at `share`.
fn majorant_slope(cells: &[(f64, f64)], share: f64) -> f64 {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for &(x, y) in cells {
        while let [.., a, b] = hull[..] {
            if (b.1 - a.1) * (x - a.0) <= (y - a.1) * (b.0 - a.0) {
                hull.pop();
            } else {
                break;
            }
        }
        hull.push((x, y));
    }
    let edge = hull.windows(2).find(|pair| pair[1].0 >= share && pair[1].0 > pair[0].0);
    edge.map_or(0.0, |pair| ((pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)).max(0.0))
}
