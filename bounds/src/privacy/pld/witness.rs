//! Lower bounds: the worst runs known for fixed-size batches and for replace-one.
//!
//! All gradients lie along one direction, so a step is a mixture of two Gaussians on the line in either
//! run. Any partition of the line is a post-processing, whatever the shape of the loss: a cell with
//! masses `p` and `u` becomes an atom at `log(p/u)`.

use super::chords::{Bin, Chords, Tail};
use super::convex::polygon_below;
use super::grid::Grid;
use super::loss::{LossDistribution, Side};
use super::mixture::{DENSITY_AT_ZERO, Mixture, UNIT};
use super::quadrature::LEGENDRE_3;
use super::sketch::Sketch;
use crate::privacy::Order;

/// Masses below this have lost digits.
const SMALLEST: f64 = 1e-300;

/// `(1−r)N(0,1) + rN(a,1)` against `(1−r)N(0,1) + rN(b,1)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witness {
    first: Mixture,
    second: Mixture,
}

impl Witness {
    pub fn new(rate: f64, first: f64, second: f64) -> Self {
        Self { first: Mixture::new(rate, first), second: Mixture::new(rate, second) }
    }

    fn loss(&self, z: f64) -> f64 {
        self.first.loss(z) - self.second.loss(z)
    }

    /// Range outside of which both runs have less mass than `exp(log_tail)`.
    pub fn range(&self, log_tail: f64) -> (f64, f64) {
        let reach = super::mixture::normal_quantile_from_above(log_tail);
        let ends = [0.0, self.first.mu, self.second.mu];
        let low = ends.into_iter().fold(f64::INFINITY, f64::min) - reach;
        (low, ends.into_iter().fold(f64::NEG_INFINITY, f64::max) + reach)
    }

    pub fn sketch(&self, order: Order, log_tail: f64) -> Sketch {
        let (low, high) = self.range(log_tail);
        let constant = DENSITY_AT_ZERO.ln();
        let sketch = Sketch::from_line(low, high, |z| {
            (constant - 0.5 * z * z + self.first.loss(z), self.loss(z))
        });
        if order == Order::Forward { sketch } else { sketch.exchanged() }
    }

    fn density(mixture: &Mixture, z: f64) -> f64 {
        let shifted = z - mixture.mu;
        let sum =
            mixture.keep() * (-0.5 * z * z).exp() + mixture.rate * (-0.5 * shifted * shifted).exp();
        sum * DENSITY_AT_ZERO
    }

    /// Masses of the first run and losses of the cells of a partition fine against `width`.
    fn atoms(&self, order: Order, width: f64, log_tail: f64) -> (Vec<(f64, f64)>, f64) {
        let (low, high) = self.range(log_tail);
        let mut atoms = Vec::new();
        let slope = |mixture: &Mixture, z: f64| {
            let excess = mixture.excess(z);
            mixture.mu.abs() * if excess < 1e300 { excess / (mixture.keep() + excess) } else { 1.0 }
        };
        let centres = [0.0, self.first.mu, self.second.mu];
        let reach = super::mixture::normal_quantile_from_above(log_tail);
        let mut z = low;
        while z < high {
            // Between the Gaussians there may be nothing for long.
            let near = |centre: f64| centre - reach <= z && z <= centre + reach;
            if !centres.into_iter().any(near) {
                let ahead = centres.into_iter().map(|centre| centre - reach);
                z = ahead.filter(|&start| start > z).fold(high, f64::min);
                continue;
            }
            // Gaussians further away have no density in double precision.
            let distances = centres.into_iter().map(|centre| (z - centre).abs());
            let steepness = 1.0 + distances.filter(|&d| d < 40.0).fold(0.0, f64::max);
            let change = slope(&self.first, z) + slope(&self.second, z);
            let piece = (0.03 / steepness).min(width / (4.0 * change));
            let (mut first, mut second) = (0.0, 0.0);
            for (node, weight) in LEGENDRE_3 {
                let at = z + node * piece;
                first += weight * piece * Self::density(&self.first, at);
                second += weight * piece * Self::density(&self.second, at);
            }
            let (mass, other) =
                if order == Order::Forward { (first, second) } else { (second, first) };
            if mass > SMALLEST {
                // More mass in the other run only makes the loss smaller.
                atoms.push((mass, (mass / other.max(SMALLEST)).ln()));
            }
            // A piece below the resolution of `z` would never end.
            z = if z + piece > z { z + piece } else { z.next_up() };
        }
        let furthest = low.abs().max(high.abs()) + self.first.mu.abs() + self.second.mu.abs();
        (atoms, UNIT * (200.0 + 4.0 * furthest * furthest))
    }

    /// A lattice distribution below this pair.
    pub fn lower(&self, order: Order, width: f64, log_tail: f64) -> LossDistribution {
        let (atoms, error) = self.atoms(order, width, log_tail);
        let chords = collect(&atoms, width, error);
        let mass = polygon_below(&chords);
        LossDistribution::from_masses(Side::Lower, chords.grid, mass, 0.0)
            .with_errors(error, 2.0 * error)
    }
}

/// Chord masses and gaps of a discrete distribution given by masses and losses.
fn collect(atoms: &[(f64, f64)], width: f64, error: f64) -> Chords {
    let ends = atoms
        .iter()
        .fold((0.0_f64, 0.0_f64), |(low, high), &(_, loss)| (low.min(loss), high.max(loss)));
    let first = (ends.0 / width).floor() - 1.0;
    let last = (ends.1 / width).floor() + 3.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded by the caller
    let (first, bins) = (first as i64, (last - first) as usize);
    let grid = Grid { origin: 0.0, first, width };
    let (step, growth) = (width.exp_m1(), width.exp());
    let mut mass = vec![0.0; bins + 1];
    let mut gap = vec![0.0; bins];
    let mut given = vec![Bin::default(); bins];
    for &(atom, loss) in atoms {
        #[allow(clippy::cast_possible_truncation)]
        let i = ((loss / width).floor() as i64 - first).unsigned_abs() as usize;
        let offset = (loss - grid.at(i)).clamp(0.0, width);
        let up = offset.exp_m1() / step;
        let scaled = atom * (-offset).exp();
        mass[i] += scaled * (1.0 - up);
        mass[i + 1] += scaled * up * growth;
        given[i].to_lower += scaled * (1.0 - up);
        given[i].to_upper += scaled * up * growth;
        // The chord over one atom is highest above the profile at the atom.
        gap[i] += scaled * up * (1.0 - up) * step;
    }
    let gap = given.iter().zip(&gap).map(|(bin, &gap)| bin.gap(step, growth, gap)).collect();
    Chords {
        grid,
        mass,
        gap,
        below: Tail::default(),
        above: Tail::default(),
        mass_error: error,
        loss_error: 2.0 * error,
    }
}
