//! A privacy-loss distribution on a lattice, above or below the true one.

use super::chords::Chords;
use super::convex;
use super::grid::Grid;

/// Which side of the truth a number is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The pair dominates the true one: its δ is never smaller.
    Upper,
    /// The pair is dominated by the true one: its δ is never larger.
    Lower,
}

/// Masses of the first distribution at the losses of a grid, and at +infinity.
#[derive(Debug, Clone)]
pub(super) struct LossDistribution {
    pub side: Side,
    pub grid: Grid,
    pub log_mass: Vec<f64>,
    pub infinite: f64,
    /// Relative error of a mass, and error of the loss of one step, from rounding.
    pub mass_error: f64,
    pub loss_error: f64,
}

impl LossDistribution {
    /// The pair of the chord interpolation. Mass below the lattice moves up to its first point, mass
    /// above it moves to +infinity.
    pub fn upper(chords: &Chords) -> Self {
        let mut mass = chords.mass.clone();
        if let Some(lowest) = mass.first_mut() {
            *lowest += chords.below.first_run;
        }
        Self::new(Side::Upper, chords, mass, chords.above.first_run)
    }

    /// The pair of a convex polygon below the profile. Mass below the lattice is dropped, mass above
    /// it moves down to its last point.
    pub fn lower(chords: &Chords) -> Self {
        Self::new(Side::Lower, chords, convex::polygon_below(chords), 0.0)
    }

    fn new(side: Side, chords: &Chords, mass: Vec<f64>, infinite: f64) -> Self {
        Self::from_masses(side, chords.grid, mass, infinite)
            .with_errors(chords.mass_error, chords.loss_error)
    }

    pub fn from_masses(side: Side, grid: Grid, mass: Vec<f64>, infinite: f64) -> Self {
        let start = mass.iter().position(|&m| m > 0.0).unwrap_or(0);
        let end = mass.iter().rposition(|&m| m > 0.0).map_or(start, |last| last + 1);
        let log_mass = mass[start..end].iter().map(|m| m.max(0.0).ln()).collect();
        let grid = grid.without(start);
        Self { side, grid, log_mass, infinite, mass_error: 0.0, loss_error: 0.0 }
    }

    pub fn with_errors(self, mass_error: f64, loss_error: f64) -> Self {
        Self { mass_error, loss_error, ..self }
    }

    /// `log Σ m_i e^{θ L_i}`.
    pub fn log_moment(&self, theta: f64) -> f64 {
        let mut highest = f64::NEG_INFINITY;
        let exponent = |i: usize, log: f64| log + theta * self.grid.at(i);
        for (i, &log) in self.log_mass.iter().enumerate() {
            highest = highest.max(exponent(i, log));
        }
        if highest == f64::NEG_INFINITY {
            return highest;
        }
        let mut sum = 0.0;
        for (i, &log) in self.log_mass.iter().enumerate() {
            let relative = exponent(i, log) - highest;
            // Terms this small are beyond the rounding error of the sum.
            if relative > -60.0 {
                sum += relative.exp();
            }
        }
        highest + sum.ln()
    }

    /// The largest finite loss.
    pub fn highest(&self) -> f64 {
        self.log_mass.len().checked_sub(1).map_or(f64::NEG_INFINITY, |last| self.grid.at(last))
    }

    /// The smallest and largest loss as lattice indices.
    pub fn range(&self) -> (i64, i64) {
        #[allow(clippy::cast_possible_wrap)] // a vector has fewer than 2^63 entries
        (self.grid.first, self.grid.first + self.log_mass.len() as i64 - 1)
    }
}
