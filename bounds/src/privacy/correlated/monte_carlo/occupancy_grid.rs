//! The grid on which the overlap `q` of past participations with the present step is rounded.

use crate::error::{BoundError, Result};

/// Ratio of neighbouring cells; at 0.97 the two roundings of the log-likelihood ratio differ by
/// 0.1–0.8 %.
pub(super) const FINE: f64 = 0.97;
/// Smallest positive cell for the log-likelihood ratio.
pub(super) const SMALLEST: f64 = 2e-3;

/// Beyond this many cells one sample takes longer than anybody waits (λ above about 0.9997).
const MOST_CELLS: f64 = 65_536.0;

/// Distance in cells below which a computed index may lie on the wrong side of a grid point; there
/// the further cell is taken, so that rounding is strict without trusting the logarithm.
const INDEX_MARGIN: f64 = 1e-9;

/// The state 0 and the cells `g_j = λ^{1 + (j − j₀)/m}`, falling in `j`.
///
/// The cells are these real numbers, not their doubles: `λ g_j = g_{j+m}` and `g_{j₀} = λ` then
/// hold exactly, and only the exponentials taken at a cell carry a rounding error.
#[derive(Debug, Clone)]
pub(super) struct OccupancyGrid {
    lambda: f64,
    log_lambda: f64,
    per_factor: f64,
    cells: Vec<f64>,
    shift: usize,
    one: usize,
}

impl OccupancyGrid {
    /// Cells of ratio about `ratio` from above `copies·λ/(1 − λ)`, which no path of `copies`
    /// records exceeds, down to `smallest`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below MOST_CELLS
    pub(super) fn new(lambda: f64, ratio: f64, smallest: f64, copies: f64) -> Result<Self> {
        let log_lambda = lambda.ln();
        if lambda == 0.0 {
            let cells = Vec::new();
            return Ok(Self { lambda, log_lambda, per_factor: 1.0, cells, shift: 0, one: 0 });
        }
        let per_factor = (log_lambda / ratio.ln()).ceil().max(1.0);
        let above = (per_factor * (copies.ln() - (-lambda).ln_1p()) / -log_lambda + 1e-6).ceil();
        let below = (per_factor * (lambda / smallest).ln() / -log_lambda).floor().max(1.0);
        if !(above + below < MOST_CELLS) {
            return Err(BoundError::Unproven {
                request: format!("a Monte Carlo bound at lambda = {lambda}"),
                why: "lambda is so close to 1 that the grid of overlaps has more than 65536 cells",
                nearest: "lambda up to 0.9997, or a deterministic bound",
            });
        }
        let (one, count) = (above as usize, (above + below) as usize + 1);
        let cells = (0..count)
            .map(|j| (log_lambda * (1.0 + (index(j) - above) / per_factor)).exp())
            .collect();
        // A move by more cells than there are leaves the grid either way.
        let shift = (per_factor as usize).min(count);
        Ok(Self { lambda, log_lambda, per_factor, cells, shift, one })
    }

    /// The cells, falling; none at λ = 0.
    pub(super) fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// By how many cells a step without participation moves, exactly.
    pub(super) fn shift(&self) -> usize {
        self.shift
    }

    /// The cell `λ = λ(0 + 1)`, reached exactly from the state 0.
    pub(super) fn one(&self) -> usize {
        self.one
    }

    fn position(&self, value: f64) -> f64 {
        index(self.one) + self.per_factor * (value / self.lambda).ln() / self.log_lambda
    }

    fn clamped(&self, position: f64) -> usize {
        let last = index(self.len() - 1);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a cell of the grid
        let cell = position.clamp(0.0, last) as usize;
        cell
    }

    /// A cell not below `λ(q + count)`, `q` the state `from` (`None` is 0) and `count >= 1`.
    ///
    /// The first cell is not below `copies·λ/(1 − λ)`, so the clamp at the top never rounds down.
    pub(super) fn up(&self, from: Option<usize>, count: f64) -> usize {
        match from {
            None if count == 1.0 => self.one,
            _ => {
                let position = self.position(self.lambda * (self.value(from) + count));
                self.clamped((position - INDEX_MARGIN * (1.0 + position.abs())).floor())
            }
        }
    }

    /// A cell not above `λ(g_from + 1)`; there is one, because that is above `g_{j₀} = λ`.
    pub(super) fn down(&self, from: usize) -> usize {
        let position = self.position(self.lambda * (self.cells[from] + 1.0));
        let cell = self.clamped((position + INDEX_MARGIN * (1.0 + position.abs())).ceil());
        cell.min(self.one)
    }

    /// Where a step without participation leads: down to the state 0 (`None`) below the last cell.
    pub(super) fn absent_down(&self, from: usize) -> Option<usize> {
        Some(from + self.shift).filter(|&cell| cell < self.len())
    }

    /// Where a step without participation leads: kept in the last cell from there on.
    pub(super) fn absent_up(&self, from: usize) -> usize {
        (from + self.shift).min(self.len() - 1)
    }

    fn value(&self, state: Option<usize>) -> f64 {
        state.map_or(0.0, |cell| self.cells[cell])
    }
}

#[allow(clippy::cast_precision_loss)] // below MOST_CELLS
fn index(cell: usize) -> f64 {
    cell as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_on_its_side_and_the_top_is_closed() {
        for lambda in [1e-300, 1e-4, 0.1, 0.2, 0.5, 0.618_033_988_75, 0.9, 0.97, 0.999] {
            for copies in [1.0, 2.0, 7.0] {
                let grid = OccupancyGrid::new(lambda, FINE, SMALLEST, copies).unwrap();
                let cells = grid.cells();
                assert!((cells[grid.one()] / lambda - 1.0).abs() < 1e-12);
                assert!(cells[0] > copies * lambda / (1.0 - lambda) * (1.0 - 1e-12), "{lambda}");
                for j in 0..grid.len() {
                    let down = grid.down(j);
                    assert!(cells[down] < lambda * (cells[j] + 1.0) * (1.0 + 1e-12));
                    // Not needlessly far: the next cell up would be too high.
                    assert!(down == 0 || cells[down - 1] > lambda * (cells[j] + 1.0) * 0.999_999);
                    let mut count = 1.0;
                    while count <= copies {
                        let up = grid.up(Some(j), count);
                        assert!(cells[up] > lambda * (cells[j] + count) * (1.0 - 1e-12));
                        assert!(cells[grid.up(None, count)] > lambda * count * (1.0 - 1e-12));
                        count += 1.0;
                    }
                    if let Some(next) = grid.absent_down(j) {
                        assert!((cells[next] / (lambda * cells[j]) - 1.0).abs() < 1e-12);
                        assert_eq!(next, grid.absent_up(j));
                    } else {
                        assert!(cells[grid.absent_up(j)] > lambda * cells[j] * (1.0 - 1e-12));
                    }
                }
            }
        }
        assert!(OccupancyGrid::new(0.99999, FINE, SMALLEST, 1.0).is_err());
    }
}
