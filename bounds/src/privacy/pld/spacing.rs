//! How fine a lattice has to be, and how fine one query can afford.
//!
//! Nothing here carries a guarantee: every width gives a valid bound.

use super::account::{Accountant, Goal, Outlook};
use super::compose::LARGEST;
use super::loss::Side;
use super::sketch::{Saddle, Sketch};
use super::step::{Kind, OneStep};

/// Work of one query, in cells of a transform: about a second.
pub(super) const WORK: f64 = 6e6;

/// Cells that a lattice may have even when all work is done, so that there always is an answer.
const LEAST: f64 = 32_768.0;

/// `−log δ` beyond which δ itself matters less and less: 1e-15.6.
const SMALL: f64 = 36.0;

/// What is left of the work of a query. Its unit is counted, not timed, so results do not depend on
/// the machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    left: f64,
    share: f64,
}

impl Budget {
    /// One lattice may take `share` of what is left.
    pub fn new(work: f64, share: f64) -> Self {
        Self { left: work, share }
    }

    pub fn spend(&mut self, work: f64) {
        self.left -= work;
    }

    pub fn is_spent(&self) -> bool {
        self.left <= 0.0
    }

    /// The work that one lattice may take.
    fn allowance(&self) -> f64 {
        #[allow(clippy::cast_precision_loss)] // 2^23
        let largest = LARGEST as f64;
        (self.left * self.share).clamp(LEAST, largest)
    }
}

/// How much wider than asked for a bracket of a tiny δ may be.
pub(super) fn leniency(goal: Goal, log_delta: f64) -> f64 {
    match goal {
        Goal::DeltaAt(_) => (log_delta.max(-700.0) / SMALL).powi(2).max(1.0),
        Goal::EpsilonAt(_) => 1.0,
    }
}

/// Work of one lattice point, in cells of a transform.
fn work_per_point(kind: Kind) -> f64 {
    if kind == Kind::Poisson { 2.0 } else { 6.0 }
}

/// Work of a lattice of so many points, in cells of a transform.
pub(super) fn work_of(step: &OneStep, points: usize) -> f64 {
    #[allow(clippy::cast_precision_loss)] // at most 2^23
    let points = points as f64;
    // Integration over the two Gaussians takes pieces as short as the inverse of their distance.
    points * work_per_point(step.kind) + 320.0 * step.full_shift()
}

impl Accountant {
    /// A lattice width at which the chords cost less than `tolerance`, relative to the result, and
    /// whether it is the finest one that the query can afford.
    ///
    /// A chord adds at most `f(1−f)h²` to the second moment of a loss, `f` its place in the bin; variance `v` of
    /// the sum costs `v(1+θ)/2` in ε and θ times that in log δ.
    pub(super) fn width(
        &self,
        side: Side,
        outlook: &Outlook,
        goal: Goal,
        tolerance: f64,
        log_tail: f64,
    ) -> (f64, bool) {
        let Saddle { theta, epsilon, deviation, log_delta } = outlook.saddle;
        let theta = theta.max(0.3 / deviation);
        let tolerance = tolerance * leniency(goal, log_delta);
        let error = match goal {
            Goal::EpsilonAt(_) => tolerance * epsilon.max(0.02 * deviation),
            Goal::DeltaAt(_) => tolerance / theta,
        };
        let variance = 2.0 * error / (self.count * (1.0 + theta));
        let cluster = self.step.cluster(side, outlook.order, 2.0 * variance.sqrt());
        let width = outlook.sketch.spacing(outlook.saddle.theta, cluster, variance);
        // Where a single step decides, its own loss is the one that must not move.
        let width = width.min(2.0 * (variance * self.count).sqrt());
        let range = self.step.loss_range(side, outlook.order, self.extent(outlook, log_tail));
        let allowance = self.budget.allowance();
        let points = allowance / work_per_point(self.step.kind);
        let finest = 1.05 * (outlook.window / allowance).max(range / points);
        // However narrow the range is: moving every loss by a width costs at most T widths.
        let harmless = error / self.count;
        let coarsest = (range / 48.0).max(harmless).min(30.0).max(finest);
        let width = width.max(harmless);
        (width.clamp(finest, coarsest), width <= finest)
    }
}

impl Sketch {
    /// The width at which chords add `variance` to that of a tilted step, with a lattice point at
    /// `cluster`, where most losses of a rarely used record are: they move for next to nothing.
    fn spacing(&self, theta: f64, cluster: f64, variance: f64) -> f64 {
        let atoms = self.tilted(theta, cluster);
        let added = |width: f64| -> f64 {
            let most = 0.25 * width * width;
            let of = |distance: f64| {
                if distance < width { (distance * (width - distance)).min(most) } else { most }
            };
            atoms.iter().map(|&(weight, distance)| weight * of(distance)).sum()
        };
        // No atom adds more than a quarter of the squared width.
        let mut low = 2.0 * variance.sqrt();
        if !(low > 0.0 && low.is_finite()) {
            return low;
        }
        let mut high = low;
        for _ in 0..40 {
            if added(high) > variance {
                break;
            }
            low = high;
            high *= 2.0;
        }
        for _ in 0..8 {
            let middle = (low * high).sqrt();
            if added(middle) > variance { high = middle } else { low = middle }
        }
        low
    }
}
