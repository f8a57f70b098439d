//! δ and ε of a composed distribution, on the safe side.

use super::compose::largest_weight;
use super::grid::Grid;
use super::loss::Side;
use super::mixture::UNIT;

/// `T` steps: tilted masses of the cells with all error bounds.
#[derive(Debug, Clone)]
pub(super) struct Composed {
    pub side: Side,
    pub grid: Grid,
    pub cells: Vec<f64>,
    pub theta: f64,
    /// The true mass of a cell at loss `L` is `cell·e^{log_scale − θL}`.
    pub log_scale: f64,
    /// Error bound of one cell.
    pub noise: f64,
    /// Bounds of the tilted mass below and above the window.
    pub below: f64,
    pub above: f64,
    /// Largest finite loss of the sum.
    pub highest: f64,
    /// Probability that some step has infinite loss.
    pub infinite: f64,
    /// Error bound of the loss of the sum.
    pub shift: f64,
}

/// Sums over the cells from the top down to one at loss `L`, relative to `e^{log_scale − θ·reference}`.
#[derive(Debug, Clone, Copy)]
struct Level {
    loss: f64,
    /// `Σ m (1 − e^{L − loss})`, the value of δ at this loss.
    delta: f64,
    /// `Σ m e^{L − loss}`.
    rest: f64,
}

impl Level {
    /// δ at an `epsilon` between this level and the one below.
    fn delta_at(&self, epsilon: f64) -> f64 {
        self.delta + self.rest * -(epsilon - self.loss).min(0.0).exp_m1()
    }

    /// Where δ at or below this level equals `target`, if no cell lies between.
    fn epsilon_at(&self, target: f64) -> f64 {
        let share = (target - self.delta) / self.rest;
        if share < 1.0 { self.loss + (-share.max(0.0)).ln_1p() } else { f64::NEG_INFINITY }
    }
}

impl Composed {
    /// Goes down from the top cell until `stop` returns a value.
    fn descend<R>(
        &self,
        reference: f64,
        mut stop: impl FnMut(&Level, f64) -> Option<R>,
    ) -> Option<R> {
        let decay = (-self.grid.width).exp();
        let gain = -(-self.grid.width).exp_m1();
        let factor = (self.theta * self.grid.width).exp();
        let last = self.cells.len().checked_sub(1)?;
        let (mut delta, mut rest, mut weight) = (0.0, 0.0, 0.0);
        for (i, &cell) in self.cells.iter().enumerate().rev() {
            let loss = self.grid.at(i);
            // Exact now and then, so that the errors of the products do not pile up, and wherever a
            // product would stay at 0 after an underflow.
            weight = if i % 128 == 127 || i == last || !(weight > 1e-250) {
                (-self.theta * (loss - reference)).exp()
            } else {
                weight * factor
            };
            let value = match self.side {
                Side::Upper => cell.max(0.0) + self.noise,
                Side::Lower => (cell - self.noise).max(0.0),
            };
            if i == last && self.side == Side::Upper {
                delta = self.above * weight;
            }
            delta += gain * rest;
            rest *= decay;
            if value > 0.0 {
                rest += value * weight;
            }
            if let Some(found) = stop(&Level { loss, delta, rest }, weight) {
                return Some(found);
            }
        }
        None
    }

    /// Most that tilted `mass` at unknown places can contribute to δ at `epsilon`, relative to
    /// `e^{log_scale − θ·reference}`.
    fn anywhere(&self, mass: f64, epsilon: f64, reference: f64) -> f64 {
        if mass == 0.0 {
            return 0.0;
        }
        let exponent = -self.theta * (epsilon - reference);
        mass * largest_weight(self.theta) * exponent.exp()
    }

    /// What folding may have added to the cells of a lower bound.
    fn folded_at(&self, epsilon: f64, reference: f64) -> f64 {
        match self.side {
            Side::Upper => 0.0,
            Side::Lower => self.anywhere(self.below + self.above, epsilon, reference),
        }
    }

    /// A bound of `δ(epsilon)` on this side.
    pub fn delta(&self, epsilon: f64) -> f64 {
        let epsilon = match self.side {
            Side::Upper => epsilon - self.shift,
            Side::Lower => epsilon + self.shift,
        };
        if epsilon >= self.highest {
            return if self.side == Side::Upper { self.infinite } else { 0.0 };
        }
        let mut nearest: Option<Level> = None;
        let found = self.descend(epsilon, |level, _| {
            if level.loss > epsilon {
                nearest = Some(*level);
                return None;
            }
            // Above the top cell there is only what lies above the window.
            Some(nearest.map_or(level.delta, |above| above.delta_at(epsilon)))
        });
        let relative = found.unwrap_or_else(|| {
            let inside = nearest.map_or(0.0, |above| above.delta_at(epsilon));
            // The window ends above ε, so what lies below it may count.
            let below = if self.side == Side::Upper { self.below } else { 0.0 };
            inside + self.anywhere(below, epsilon, epsilon)
        });
        let relative = (relative - self.folded_at(epsilon, epsilon)).max(0.0);
        let exponent = self.theta * epsilon;
        let rounding = 1e-12 + 4.0 * UNIT * exponent.abs();
        let finite = relative * (self.log_scale - exponent).exp();
        match self.side {
            Side::Upper => {
                let total = finite * (1.0 + rounding) + self.infinite;
                if total < 1.0 { total } else { 1.0 }
            }
            Side::Lower => {
                let total = finite * (1.0 - rounding);
                if total > 0.0 { total.min(1.0) } else { 0.0 }
            }
        }
    }

    /// A bound of `ε(delta)` on this side, at least 0; `reference` is a guess of it.
    pub fn epsilon(&self, delta: f64, reference: f64) -> f64 {
        // Numbers relative to a guess that is far off would overflow.
        let fitting = (self.log_scale - delta.ln()) / self.theta;
        let far = (self.theta * (fitting - reference)).abs() > 200.0;
        let reference = if far && fitting.is_finite() { fitting } else { reference };
        let exponent = self.theta * reference;
        let rounding = 1e-12 + 4.0 * UNIT * exponent.abs();
        let (target, unknown) = match self.side {
            Side::Upper => {
                let target = delta * (1.0 - rounding) - self.infinite;
                (target, if target > 0.0 { self.highest.max(0.0) } else { f64::INFINITY })
            }
            Side::Lower => (delta * (1.0 + rounding), 0.0),
        };
        let log_target = target.ln() - (self.log_scale - exponent);
        if !(log_target.abs() < 690.0) {
            return unknown;
        }
        let target = log_target.exp();
        let mut previous: Option<Level> = None;
        let found = self.descend(reference, |level, weight| {
            let extra = self.folded_at(level.loss, reference);
            if level.delta - extra >= target || level.loss <= 0.0 {
                return Some(match (previous, level.loss > 0.0) {
                    (Some(above), _) => above.epsilon_at(target + extra),
                    (None, false) if level.delta < target => level.epsilon_at(target + extra),
                    (None, _) => unknown,
                });
            }
            previous = Some(*level);
            // Weights beyond this would overflow; δ is still below the target here.
            (weight > 1e290).then_some(if self.side == Side::Upper { level.loss } else { 0.0 })
        });
        let epsilon = found.unwrap_or_else(|| match (self.side, previous) {
            (_, None) => 0.0,
            // δ is below the target at the end of the window.
            (Side::Upper, Some(level)) if self.below > 0.0 => level.loss,
            (Side::Upper, Some(level)) => level.epsilon_at(target),
            // What folded is largest at the smallest ε.
            (Side::Lower, Some(level)) => level.epsilon_at(target + self.folded_at(0.0, reference)),
        });
        let rounding = self.shift + epsilon.abs() * 1e-13;
        match self.side {
            Side::Upper => (epsilon + rounding).max(0.0),
            Side::Lower => (epsilon - rounding).max(0.0),
        }
    }
}
