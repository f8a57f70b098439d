//! δ and ε of a run: choice of tilt and lattice, refinement until the bracket is narrow.

use super::compose::{Composer, LARGEST, WINDOW_NATS};
use super::composed::Composed;
use super::loss::{LossDistribution, Side};
use super::model::{Extent, Lattice};
use super::sketch::{Saddle, Sketch};
use super::step::{Kind, OneStep};
use crate::error::Result;
use crate::privacy::{Bracket, Order};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// ε at this δ.
    EpsilonAt(f64),
    /// δ at this ε.
    DeltaAt(f64),
}

/// Relative mass, of δ, that truncation may move over the whole run.
const TRUNCATED: f64 = 1e-6;

/// The smallest mass that is kept apart from 0.
const LOG_SMALLEST: f64 = -690.0;

/// One order of one side: where its bulk and its tail are.
struct Outlook {
    order: Order,
    sketch: Sketch,
    saddle: Saddle,
    /// The tilt of the composition.
    tilt: f64,
    /// Width of the window in nats of loss.
    window: f64,
}

/// Accounts for `steps` equal steps.
pub(super) struct Accountant {
    composer: Composer,
    step: OneStep,
    steps: u64,
    count: f64,
}

impl Accountant {
    /// For a step with `0 < rate < 1` and `noise > 0`, and `steps >= 1`.
    pub fn new(step: OneStep, steps: u64) -> Self {
        #[allow(clippy::cast_precision_loss)] // at most 2^53
        let count = steps as f64;
        Self { composer: Composer::new(), step, steps, count }
    }

    /// Accounts for another step, keeping what was prepared for the transforms.
    pub fn set_step(&mut self, step: OneStep) {
        self.step = step;
    }

    /// What the lattice has to cover when each step may lose a mass of `exp(log_tail)`.
    fn extent(&self, outlook: &Outlook, log_tail: f64) -> Extent {
        // A sum with one loss below minus the largest possible sum is negative.
        let highest = self.count * self.step.largest_loss(outlook.order);
        Extent { log_tail, depth: (60.0 / outlook.tilt).min(highest) }
    }

    fn outlook(&self, side: Side, order: Order, goal: Goal, log_tail: f64) -> Outlook {
        self.outlook_of(self.step.sketch(side, order, log_tail), order, goal)
    }

    fn outlook_of(&self, sketch: Sketch, order: Order, goal: Goal) -> Outlook {
        let saddle = match goal {
            Goal::EpsilonAt(delta) => sketch.at_delta(self.count, delta.ln()),
            Goal::DeltaAt(epsilon) => sketch.at_epsilon(self.count, epsilon),
        };
        let tilt = sketch.gentle_tilt(self.count, &saddle);
        let reach = |sign| sketch.chernoff(self.count, tilt, WINDOW_NATS, sign).1;
        let window = reach(1.0) + reach(-1.0);
        let window = if window.is_finite() { window } else { 0.0 };
        Outlook { order, sketch, saddle, tilt, window }
    }

    /// Logarithm of the mass that one step may lose.
    pub fn log_tail(&self, log_delta: f64) -> f64 {
        (log_delta + TRUNCATED.ln() - self.count.ln()).clamp(LOG_SMALLEST, -14.0)
    }

    /// Logarithm of the mass that one step may lose, for the goal.
    ///
    /// δ is not known beforehand, and it is estimated badly when masses far smaller than it are kept: their
    /// moments are the largest. So the estimate starts with a short range and extends it as needed.
    fn tail_for(&self, side: Side, orders: &[Order], goal: Goal) -> f64 {
        let epsilon = match goal {
            Goal::EpsilonAt(delta) => return self.log_tail(delta.ln()),
            Goal::DeltaAt(epsilon) => epsilon,
        };
        let mut log_tail = self.log_tail(-2.0);
        for _ in 0..30 {
            let log_delta = self.rough_log_delta(side, orders, epsilon, log_tail);
            // The approximation may be off by some nats where few steps matter.
            let next = self.log_tail(log_delta.min(0.0) - 3.0);
            if next >= log_tail {
                break;
            }
            log_tail = next;
        }
        log_tail
    }

    /// A lattice width at which the chords cost less than `tolerance`, relative to the result, and
    /// whether it is the finest one that the transforms can hold.
    ///
    /// A chord adds at most `f(1−f)h²/2` to the second moment of a step, `f` the place in the bin; this costs
    /// `T h² (1+θ)/12` in ε and θ times that in log δ.
    fn width(
        &self,
        side: Side,
        outlook: &Outlook,
        goal: Goal,
        tolerance: f64,
        log_tail: f64,
    ) -> (f64, bool) {
        let Saddle { theta, epsilon, deviation, .. } = outlook.saddle;
        let theta = theta.max(0.3 / deviation);
        let error = match goal {
            Goal::EpsilonAt(_) => tolerance * epsilon.max(0.02 * deviation),
            Goal::DeltaAt(_) => tolerance / theta,
        };
        let width = (8.0 * error / (self.count * (1.0 + theta))).sqrt();
        let range = self.step.loss_range(side, outlook.order, self.extent(outlook, log_tail));
        // Points of a lattice cost more memory than cells of a window.
        let points = if self.step.kind == Kind::Poisson { LARGEST / 4 } else { LARGEST / 16 };
        #[allow(clippy::cast_precision_loss)] // 2^23
        let finest = 1.05 * (outlook.window / LARGEST as f64).max(range / points as f64);
        // However narrow the range is: moving every loss by a width costs at most T widths.
        let harmless = error / self.count;
        let coarsest = (range / 48.0).max(harmless).min(30.0).max(finest);
        let width = width.max(harmless);
        (width.clamp(finest, coarsest), width <= finest)
    }

    fn composed(
        &mut self,
        single: &LossDistribution,
        outlook: &Outlook,
        theta: f64,
    ) -> Result<Option<Composed>> {
        self.composer.compose(single, self.steps, theta, &outlook.sketch)
    }

    /// The bound of one order on one side, trivial if the window does not fit.
    fn evaluate(
        &mut self,
        single: &LossDistribution,
        outlook: &Outlook,
        goal: Goal,
    ) -> Result<f64> {
        let value = self.evaluate_lattice(single, outlook, goal)?;
        let largest = self.count * self.step.largest_loss(outlook.order);
        Ok(match (single.side, goal) {
            (Side::Upper, Goal::EpsilonAt(_)) => value.min(largest),
            (Side::Upper, Goal::DeltaAt(epsilon)) if epsilon >= largest => 0.0,
            _ => value,
        })
    }

    fn evaluate_lattice(
        &mut self,
        single: &LossDistribution,
        outlook: &Outlook,
        goal: Goal,
    ) -> Result<f64> {
        let side = single.side;
        let unknown = match (side, goal) {
            (Side::Lower, _) => 0.0,
            (Side::Upper, Goal::EpsilonAt(_)) => f64::INFINITY,
            (Side::Upper, Goal::DeltaAt(_)) => 1.0,
        };
        // More than this would only separate neighbouring cells.
        let steepest = 1.0 / single.grid.width;
        let theta = outlook.tilt.min(steepest);
        let Some(composed) = self.composed(single, outlook, theta)? else { return Ok(unknown) };
        let delta = match goal {
            Goal::DeltaAt(epsilon) => return Ok(composed.delta(epsilon)),
            Goal::EpsilonAt(delta) => delta,
        };
        let epsilon = composed.epsilon(delta, outlook.saddle.epsilon);
        // A tilt far from the one that fits the result leaves too much to the error terms.
        let reference = if epsilon.is_finite() { epsilon } else { 2.0 * outlook.saddle.epsilon };
        let better = outlook.sketch.at_epsilon(self.count, reference);
        let better_theta = outlook.sketch.gentle_tilt(self.count, &better).min(steepest);
        if (better_theta - theta).abs() * better.deviation.min(outlook.saddle.deviation) < 2.0 {
            return Ok(epsilon);
        }
        let Some(again) = self.composed(single, outlook, better_theta)? else {
            return Ok(epsilon);
        };
        let second = again.epsilon(delta, reference);
        Ok(match side {
            Side::Upper => epsilon.min(second),
            Side::Lower => epsilon.max(second),
        })
    }

    /// The bound of one side: the larger of `orders`.
    fn side(&mut self, side: Side, orders: &[Order], goal: Goal, tolerance: f64) -> Result<f64> {
        let mut log_tail = self.tail_for(side, orders, goal);
        let mut best: Option<f64> = None;
        for _ in 0..8 {
            let value = self.side_within(side, orders, goal, tolerance, log_tail)?;
            let better = match side {
                Side::Upper => f64::min,
                Side::Lower => f64::max,
            };
            best = Some(best.map_or(value, |best| better(best, value)));
            let Some(deeper) = self.deeper(goal, value, log_tail) else { break };
            log_tail = deeper;
        }
        Ok(best.unwrap_or(f64::NAN))
    }

    fn side_within(
        &mut self,
        side: Side,
        orders: &[Order],
        goal: Goal,
        tolerance: f64,
        log_tail: f64,
    ) -> Result<f64> {
        let mut largest = 0.0_f64;
        for &order in orders {
            let mut outlook = self.outlook(side, order, goal, log_tail);
            let (mut width, _) = self.width(side, &outlook, goal, tolerance, log_tail);
            let extent = self.extent(&outlook, log_tail);
            let mut single = Lattice::new(self.step, order, width, extent).distribution(side);
            // The sketch of a profile is one of another pair; the lattice itself says more.
            let rough = side == Side::Upper && self.step.sketch_is_rough();
            for _ in 0..if rough { 3 } else { 0 } {
                outlook = self.outlook_of(Sketch::of_lattice(&single), order, goal);
                let (suited, _) = self.width(side, &outlook, goal, tolerance, log_tail);
                if suited > 0.7 * width {
                    break;
                }
                width = suited;
                single = Lattice::new(self.step, order, width, extent).distribution(side);
            }
            largest = largest.max(self.evaluate(&single, &outlook, goal)?);
        }
        Ok(largest)
    }

    /// The upper side of the larger order.
    pub fn upper(&mut self, goal: Goal, tolerance: f64) -> Result<f64> {
        self.side(Side::Upper, self.step.orders(Side::Upper), goal, tolerance)
    }

    /// A lower side of the larger order.
    pub fn lower(&mut self, goal: Goal, tolerance: f64) -> Result<f64> {
        self.side(Side::Lower, self.step.orders(Side::Lower), goal, tolerance)
    }

    /// `log δ` at `epsilon` by the saddlepoint approximation.
    pub fn rough_log_delta(
        &self,
        side: Side,
        orders: &[Order],
        epsilon: f64,
        log_tail: f64,
    ) -> f64 {
        let rough = |order: &Order| {
            let sketch = self.step.sketch(side, *order, log_tail);
            sketch.at_epsilon(self.count, epsilon).log_delta
        };
        orders.iter().map(rough).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Both sides of the larger of `orders`.
    pub fn bracket(&mut self, orders: &[Order], goal: Goal, tolerance: f64) -> Result<Bracket> {
        match self.step.kind {
            Kind::Poisson => self.refined(orders, goal, tolerance),
            Kind::FixedZeroOut => self.apart(orders, orders, goal, tolerance),
            // Symmetric statements.
            Kind::PoissonReplaceOne | Kind::FixedReplaceOne => {
                let (upper, lower) = (self.step.orders(Side::Upper), self.step.orders(Side::Lower));
                self.apart(upper, lower, goal, tolerance)
            }
        }
    }

    /// Two sides that come from different pairs.
    fn apart(
        &mut self,
        upper: &[Order],
        lower: &[Order],
        goal: Goal,
        tolerance: f64,
    ) -> Result<Bracket> {
        let upper = self.side(Side::Upper, upper, goal, tolerance / 20.0)?;
        let lower = self.side(Side::Lower, lower, goal, tolerance / 20.0)?;
        Ok(Bracket { lower: lower.min(upper), upper })
    }

    /// Two sides of one pair, refined until the bracket is narrow.
    fn refined(&mut self, orders: &[Order], goal: Goal, tolerance: f64) -> Result<Bracket> {
        let mut log_tail = self.tail_for(Side::Upper, orders, goal);
        let mut tracks = Vec::with_capacity(orders.len());
        for &order in orders {
            let outlook = self.outlook(Side::Upper, order, goal, log_tail);
            let mut track = Track {
                outlook,
                tolerance: tolerance / 2.0,
                last: false,
                upper: f64::INFINITY,
                lattice: None,
            };
            self.follow(&mut track, goal, log_tail)?;
            tracks.push(track);
        }
        let mut lower = 0.0_f64;
        let (mut best, mut vain) = (f64::INFINITY, 0);
        loop {
            let upper = tracks.iter().map(|track| track.upper).fold(0.0, f64::max);
            // The order with the smaller upper side can hardly have the larger lower side.
            let Some(leading) = tracks.iter_mut().find(|track| track.upper == upper) else {
                return Ok(Bracket { lower, upper });
            };
            if let Some(mut lattice) = leading.lattice.take() {
                let single = lattice.distribution(Side::Lower);
                let side = self.evaluate(&single, &leading.outlook, goal)?;
                lower = lower.max(side.min(upper));
            }
            let bracket = Bracket { lower, upper };
            let excess = bracket.relative_width() / tolerance;
            let negligible = match goal {
                Goal::EpsilonAt(_) => upper < 1e-6 * leading.outlook.saddle.deviation,
                Goal::DeltaAt(_) => upper < 1e-290,
            };
            // Where the masses of a step decay slowly, rounding limits what the transform can resolve.
            vain = if excess > 0.8 * best { vain + 1 } else { 0 };
            best = best.min(excess);
            if excess <= 1.0 || leading.last || negligible || vain >= 2 {
                return Ok(bracket);
            }
            leading.tolerance *= (0.6 / excess).clamp(0.04, 0.5);
            let deeper = self.log_tail(upper.ln().min(0.0) - 8.0);
            if matches!(goal, Goal::DeltaAt(_)) && deeper < log_tail {
                // The range of losses was chosen by an estimate of δ that was too large.
                log_tail = deeper;
                leading.outlook = self.outlook(Side::Upper, leading.outlook.order, goal, log_tail);
            }
            self.follow(leading, goal, log_tail)?;
        }
    }

    /// A longer range of losses, if the present one was chosen by an estimate of δ that was too large.
    fn deeper(&self, goal: Goal, value: f64, log_tail: f64) -> Option<f64> {
        let deeper = self.log_tail(value.ln().min(0.0) - 5.0);
        (matches!(goal, Goal::DeltaAt(_)) && deeper < log_tail - 3.0).then_some(deeper)
    }

    /// The upper side at the width of the track.
    fn follow(&mut self, track: &mut Track, goal: Goal, log_tail: f64) -> Result<()> {
        let outlook = &track.outlook;
        let largest = self.count * self.step.largest_loss(outlook.order);
        if matches!(goal, Goal::DeltaAt(epsilon) if epsilon >= largest) {
            (track.upper, track.last) = (0.0, true);
            return Ok(());
        }
        let (width, last) = self.width(Side::Upper, outlook, goal, track.tolerance, log_tail);
        track.last = last;
        let mut lattice =
            Lattice::new(self.step, outlook.order, width, self.extent(outlook, log_tail));
        let single = lattice.distribution(Side::Upper);
        track.upper = track.upper.min(self.evaluate(&single, outlook, goal)?);
        track.lattice = Some(lattice);
        Ok(())
    }
}

/// One order on its way to a narrow bracket.
struct Track {
    outlook: Outlook,
    /// What the lattice may add to the result, relative.
    tolerance: f64,
    /// Whether the lattice is the finest one.
    last: bool,
    upper: f64,
    /// The lattice on which the lower side was not computed yet.
    lattice: Option<Lattice>,
}
