//! Upper bounds from privacy profiles of one step (advanced joint convexity).
//!
//! A pointwise bound of the profile must not be composed as it is: its lower convex hull on the lattice is
//! the profile of a pair, and pairs compose (Zhu, Dong, Wang 2022). For `α < 1` the bound is
//! `1 − α + α f_rev(1/α)`, the mirror image of the bound of the opposite order.

use super::chords::Chords;
use super::convex::lower_hull;
use super::grid::Grid;
use super::loss::{LossDistribution, Side};
use super::mixture::UNIT;

/// Values `f(e^{ih})` for `i >= 0` and the masses of the kinks at `i >= 1`, flat after the last point.
pub(super) struct Half {
    width: f64,
    values: Vec<f64>,
    mass: Vec<f64>,
    mass_error: f64,
    loss_error: f64,
}

impl Half {
    /// `r H_a(m) = H_α((1−r)N(0) + rN(m) ‖ N(0))`, `a = 1 + (α−1)/r`, for `α >= 1`.
    pub fn of_mixture(chords: &Chords) -> Self {
        #[allow(clippy::cast_possible_truncation)]
        let zero = chords.grid.first.unsigned_abs() as usize; // the origin is 0
        let width = chords.grid.width;
        let mut mass = chords.mass[zero..].to_vec();
        mass[0] = 0.0;
        let (gain, decay) = (-(-width).exp_m1(), (-width).exp());
        let mut values = vec![chords.above.first_run; mass.len()];
        let mut rest = 0.0;
        for i in (0..mass.len() - 1).rev() {
            rest = mass[i + 1] + decay * rest;
            values[i] = values[i + 1] + gain * rest;
        }
        Self { width, values, mass, mass_error: chords.mass_error, loss_error: chords.loss_error }
    }

    /// `(1−β) first + β second` with `β = αr/(r + α − 1)`.
    pub fn blend(rate: f64, first: &Self, second: &Self) -> Self {
        let width = first.width;
        let length = first.values.len().max(second.values.len());
        // Flat after the last point: an upper bound, since profiles decrease.
        let at = |half: &Self, i: usize| half.values[i.min(half.values.len() - 1)];
        let values: Vec<f64> = (0..length)
            .map(|i| {
                let excess = Grid { origin: 0.0, first: 0, width }.at(i).exp_m1().min(1e300);
                let beta = rate * (1.0 + excess) / (rate + excess);
                let rest = (1.0 - rate) * (excess / (rate + excess));
                rest * at(first, i) + beta * at(second, i)
            })
            .collect();
        let (step, growth) = (width.exp_m1(), width.exp());
        let mass = (0..length)
            .map(|i| {
                if i == 0 {
                    return 0.0;
                }
                let right = values.get(i + 1).map_or(0.0, |next| next - values[i]);
                (right - growth * (values[i] - values[i - 1])) / step
            })
            .collect();
        #[allow(clippy::cast_precision_loss)]
        let rounding = UNIT * 8.0 * length as f64;
        Self {
            width,
            values,
            mass,
            mass_error: first.mass_error.max(second.mass_error) + rounding,
            loss_error: first.loss_error.max(second.loss_error),
        }
    }

    /// The pair whose profile is this one for `α >= 1`, and mirrors `reverse` for `α < 1`.
    pub fn pair(&self, reverse: &Self) -> LossDistribution {
        let grid = Grid { origin: 0.0, first: 0, width: self.width };
        let infinite = self.values.last().copied().unwrap_or(0.0);
        let below = reverse.mass.len() - 1;
        let mirrored =
            reverse.mass.iter().enumerate().skip(1).map(|(i, mass)| mass * (-grid.at(i)).exp());
        let mut mass: Vec<f64> = mirrored.collect();
        mass.reverse();
        // Everything else is at loss 0; the profile is 1 at α = 0.
        let others: f64 = mass.iter().sum::<f64>() + self.mass.iter().sum::<f64>() + infinite;
        mass.push(1.0 - others);
        mass.extend(&self.mass[1..]);
        lower_hull(&mut mass, self.width);
        for mass in &mut mass {
            *mass = mass.max(0.0);
        }
        // The sum over all atoms loses at most this much of the mass at 0.
        mass[below] += 1e-15;
        let grid = grid.mirrored(below + 1);
        LossDistribution::from_masses(Side::Upper, grid, mass, infinite).with_errors(
            self.mass_error.max(reverse.mass_error),
            self.loss_error.max(reverse.loss_error),
        )
    }
}
