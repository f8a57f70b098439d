//! The grid on which the Gaussian chain `c_v = x_v + λ c_{v+1}` is followed.

use nalgebra::DMatrix;

use crate::special::mills_slope;

/// Transitions below this count as none.
const SMALLEST: f64 = 1e-300;

/// Nodes `z = c/σ`, equally spaced, with the transition probabilities between them.
///
/// A transition draws `X ~ N(λ z', 1)` and moves it at random to its two neighbouring nodes, mean
/// preserved; what falls below the first node goes to the first, above the last to the last.
pub(super) struct Positions {
    pub(super) spacing: f64,
    pub(super) nodes: Vec<f64>,
    /// Index of the node 0, where the chain starts.
    pub(super) origin: usize,
    /// `kernel[(to, from)]`.
    pub(super) kernel: DMatrix<f64>,
}

impl Positions {
    pub(super) fn new(lambda: f64, spacing: f64, lowest: f64, highest: f64) -> Self {
        let (below, above) = ((lowest / spacing).ceil(), (highest / spacing).ceil());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small and positive
        let (origin, count) = (below as usize, (below + above) as usize + 1);
        #[allow(clippy::cast_precision_loss)]
        let nodes: Vec<f64> = (0..count).map(|i| (i as f64 - below) * spacing).collect();
        let kernel = DMatrix::from_fn(count, count, |to, from| {
            transition(&nodes, spacing, to, lambda * nodes[from])
        });
        Self { spacing, nodes, origin, kernel }
    }

    /// How many nodes a grid would have; as a number, since it may be huge.
    pub(super) fn size(spacing: f64, lowest: f64, highest: f64) -> f64 {
        (lowest / spacing).ceil() + (highest / spacing).ceil() + 1.0
    }

    /// Relative rounding error of one transition probability, a second difference over steps of
    /// `spacing`. At most half of this against 60-digit values, distances up to 37.
    pub(super) fn rounding(&self) -> f64 {
        f64::EPSILON * (64.0 / (self.spacing * self.spacing) + 1000.0)
    }
}

/// Expectation of the hat function of node `to` under `N(mean, 1)`.
fn transition(nodes: &[f64], spacing: f64, to: usize, mean: f64) -> f64 {
    let last = nodes.len() - 1;
    let weight = if to == last {
        (expected_excess(nodes[last - 1] - mean) - expected_excess(nodes[last] - mean)) / spacing
    } else if to == 0 {
        (expected_excess(mean - nodes[1]) - expected_excess(mean - nodes[0])) / spacing
    } else {
        // Calls above the mean and puts below it: differences of small numbers on both sides.
        let distance = (nodes[to] - mean).abs();
        (expected_excess(distance - spacing) - 2.0 * expected_excess(distance)
            + expected_excess(distance + spacing))
            / spacing
    };
    // Numbers near the end of the range slow the arithmetic down.
    if weight > SMALLEST { weight } else { 0.0 }
}

/// `E(N − a)_+ = φ(a)(1 − a m(a))` for a standard normal `N`, `m` the Mills ratio.
fn expected_excess(a: f64) -> f64 {
    const INVERSE_ROOT_TAU: f64 = 0.398_942_280_401_432_7;
    if a < -30.0 {
        return -a;
    }
    INVERSE_ROOT_TAU * (-0.5 * a * a).exp() * mills_slope(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions_sum_to_one_and_keep_the_mean_inside_the_grid() {
        let grid = Positions::new(0.7, 0.1, 8.0, 9.0);
        for from in [grid.origin, grid.origin + 20, grid.origin - 30] {
            let column = grid.kernel.column(from);
            let total: f64 = column.iter().sum();
            assert!((total - 1.0).abs() < 1e-12, "{total}");
            let mean: f64 = column.iter().zip(&grid.nodes).map(|(p, z)| p * z).sum();
            assert!((mean - 0.7 * grid.nodes[from]).abs() < 1e-8, "{mean}");
            let square: f64 = column.iter().zip(&grid.nodes).map(|(p, z)| p * z * z).sum();
            let variance = square - mean * mean;
            assert!(variance > 1.0 && variance < 1.0 + 0.01 / 4.0, "{variance}");
        }
    }
}
