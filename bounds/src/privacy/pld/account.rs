//! δ and ε of a run: choice of tilt and lattice, refinement until the bracket is narrow.

use super::compose::{Composer, WINDOW_NATS};
use super::composed::Composed;
use super::loss::{LossDistribution, Side};
use super::model::{Extent, Lattice};
use super::sketch::{Saddle, Sketch};
use super::spacing::{Budget, WORK, leniency, work_of};
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
pub(super) struct Outlook {
    pub order: Order,
    pub sketch: Sketch,
    pub saddle: Saddle,
    /// The tilt of the composition.
    pub tilt: f64,
    /// Width of the window in nats of loss.
    pub window: f64,
}

impl Outlook {
    /// How far this order is behind another one, as a relative error that does no harm; 0 if it is not.
    ///
    /// A quarter of the distance, since both are approximations.
    fn behind(&self, leader: &Saddle, goal: Goal) -> f64 {
        let Saddle { epsilon, log_delta, deviation, .. } = self.saddle;
        let (distance, most) = match goal {
            Goal::EpsilonAt(_) => ((leader.epsilon - epsilon) / epsilon.max(0.02 * deviation), 0.5),
            Goal::DeltaAt(_) => (leader.log_delta - log_delta, 2.0),
        };
        if distance > 0.0 { (0.25 * distance).min(most) } else { 0.0 }
    }
}

/// The orders' outlooks, the one that seems to decide first.
fn leader_first(mut outlooks: Vec<Outlook>, goal: Goal) -> Vec<Outlook> {
    let key = |outlook: &Outlook| match goal {
        Goal::EpsilonAt(_) => outlook.saddle.epsilon,
        Goal::DeltaAt(_) => outlook.saddle.log_delta,
    };
    outlooks.sort_by(|a, b| key(b).total_cmp(&key(a)));
    outlooks
}

/// Accounts for `steps` equal steps.
pub(super) struct Accountant {
    composer: Composer,
    pub(super) step: OneStep,
    steps: u64,
    pub(super) count: f64,
    pub(super) budget: Budget,
}

impl Accountant {
    /// For a step with `0 < rate < 1` and `noise > 0`, and `steps >= 1`.
    pub fn new(step: OneStep, steps: u64) -> Self {
        #[allow(clippy::cast_precision_loss)] // at most 2^53
        let count = steps as f64;
        // A third: an upper side, a lower side, and something to refine with.
        let budget = Budget::new(WORK, 0.33);
        Self { composer: Composer::new(), step, steps, count, budget }
    }

    /// The same with another budget.
    pub fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Whether the budget is spent: further answers are rough.
    pub fn is_spent(&self) -> bool {
        self.budget.is_spent()
    }

    /// Accounts for another step, keeping what was prepared for the transforms.
    pub fn set_step(&mut self, step: OneStep) {
        self.step = step;
    }

    /// What the lattice has to cover when each step may lose a mass of `exp(log_tail)`.
    pub(super) fn extent(&self, outlook: &Outlook, log_tail: f64) -> Extent {
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
            // A range that is too short says far too little, so not all the way at once.
            log_tail = next.max(1.4 * log_tail);
        }
        log_tail
    }

    fn composed(
        &mut self,
        single: &LossDistribution,
        outlook: &Outlook,
        theta: f64,
    ) -> Result<Option<Composed>> {
        let composed = self.composer.compose(single, self.steps, theta, &outlook.sketch)?;
        #[allow(clippy::cast_precision_loss)] // at most 2^23
        self.budget.spend(composed.as_ref().map_or(0, |composed| composed.cells.len()) as f64);
        Ok(composed)
    }

    /// The distribution of one step on a side, at the cost of its points.
    fn distribution(&mut self, lattice: &mut Lattice, side: Side) -> LossDistribution {
        let single = lattice.distribution(side);
        self.budget.spend(work_of(&self.step, single.log_mass.len()));
        single
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
        let outlooks =
            orders.iter().map(|&order| self.outlook(side, order, goal, log_tail)).collect();
        let outlooks = leader_first(outlooks, goal);
        let leader = outlooks.first().map(|outlook| outlook.saddle);
        let mut largest = 0.0_f64;
        for (i, outlook) in outlooks.into_iter().enumerate() {
            let behind = leader.map_or(0.0, |leader| outlook.behind(&leader, goal));
            // The larger of two lower sides is hardly the one that is far behind.
            if side == Side::Lower && behind > 0.05 && largest > 0.0 {
                continue;
            }
            if i > 0 && behind > tolerance {
                let rough = self.order_within(side, &outlook, goal, behind, log_tail)?;
                if rough <= largest {
                    continue;
                }
            }
            let value = self.order_within(side, &outlook, goal, tolerance, log_tail)?;
            largest = largest.max(value);
        }
        Ok(largest)
    }

    /// One order at the width that the tolerance asks for.
    fn order_within(
        &mut self,
        side: Side,
        outlook: &Outlook,
        goal: Goal,
        tolerance: f64,
        log_tail: f64,
    ) -> Result<f64> {
        let order = outlook.order;
        let (mut width, _) = self.width(side, outlook, goal, tolerance, log_tail);
        let extent = self.extent(outlook, log_tail);
        let mut single =
            self.distribution(&mut Lattice::new(self.step, order, width, extent), side);
        if side == Side::Lower || !self.step.sketch_is_rough() {
            return self.evaluate(&single, outlook, goal);
        }
        // The sketch of a profile is one of another pair; the lattice itself says more.
        let mut own = self.outlook_of(Sketch::of_lattice(&single), order, goal);
        for _ in 0..3 {
            let (suited, _) = self.width(side, &own, goal, tolerance, log_tail);
            if suited > 0.7 * width {
                break;
            }
            width = suited;
            single = self.distribution(&mut Lattice::new(self.step, order, width, extent), side);
            own = self.outlook_of(Sketch::of_lattice(&single), order, goal);
        }
        self.evaluate(&single, &own, goal)
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

    /// Two sides of one pair, refined until the bracket is narrow or the budget is spent.
    fn refined(&mut self, orders: &[Order], goal: Goal, tolerance: f64) -> Result<Bracket> {
        let mut log_tail = self.tail_for(Side::Upper, orders, goal);
        let outlooks =
            orders.iter().map(|&order| self.outlook(Side::Upper, order, goal, log_tail)).collect();
        let outlooks = leader_first(outlooks, goal);
        let leader = outlooks.first().map(|outlook| outlook.saddle);
        let wanted = tolerance / 2.0;
        let mut tracks = Vec::with_capacity(orders.len());
        for outlook in outlooks {
            let behind = leader.map_or(0.0, |leader| outlook.behind(&leader, goal));
            let tolerance = wanted.max(behind);
            let mut track = Track::new(outlook, tolerance);
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
            if leading.tolerance > wanted && !leading.last {
                // It was thought to be behind.
                leading.tolerance = wanted;
                if self.follow(leading, goal, log_tail)? {
                    continue;
                }
            }
            if let Some(mut lattice) = leading.lattice.take() {
                let single = self.distribution(&mut lattice, Side::Lower);
                let side = self.evaluate(&single, &leading.outlook, goal)?;
                lower = lower.max(side.min(upper));
            }
            let bracket = Bracket { lower, upper };
            let accepted = tolerance * leniency(goal, upper.ln());
            let excess = bracket.relative_width() / accepted;
            let negligible = match goal {
                Goal::EpsilonAt(_) => upper < 1e-6 * leading.outlook.saddle.deviation,
                Goal::DeltaAt(_) => upper < 1e-290,
            };
            // Where the masses of a step decay slowly, rounding limits what the transform can resolve.
            vain = if excess > 0.8 * best { vain + 1 } else { 0 };
            best = best.min(excess);
            if excess <= 1.0 || leading.last || negligible || vain >= 2 || self.is_spent() {
                return Ok(bracket);
            }
            leading.tolerance *= (0.6 / excess).clamp(0.04, 0.5);
            let deeper = self.log_tail(upper.ln().min(0.0) - 8.0);
            if matches!(goal, Goal::DeltaAt(_)) && deeper < log_tail {
                // The range of losses was chosen by an estimate of δ that was too large.
                log_tail = deeper;
                leading.outlook = self.outlook(Side::Upper, leading.outlook.order, goal, log_tail);
                leading.width = f64::INFINITY;
            }
            if !self.follow(leading, goal, log_tail)? {
                return Ok(bracket);
            }
        }
    }

    /// A longer range of losses, if the present one was chosen by an estimate of δ that was too large.
    fn deeper(&self, goal: Goal, value: f64, log_tail: f64) -> Option<f64> {
        let deeper = self.log_tail(value.ln().min(0.0) - 5.0);
        (matches!(goal, Goal::DeltaAt(_)) && deeper < log_tail - 3.0).then_some(deeper)
    }

    /// The upper side at the width of the track; false if the query cannot afford a finer lattice.
    fn follow(&mut self, track: &mut Track, goal: Goal, log_tail: f64) -> Result<bool> {
        let outlook = &track.outlook;
        let largest = self.count * self.step.largest_loss(outlook.order);
        if matches!(goal, Goal::DeltaAt(epsilon) if epsilon >= largest) {
            (track.upper, track.last) = (0.0, true);
            return Ok(true);
        }
        let (width, last) = self.width(Side::Upper, outlook, goal, track.tolerance, log_tail);
        track.last = last;
        if !(width < 0.9 * track.width) {
            return Ok(false);
        }
        track.width = width;
        let extent = self.extent(outlook, log_tail);
        let mut lattice = Lattice::new(self.step, outlook.order, width, extent);
        let single = self.distribution(&mut lattice, Side::Upper);
        track.upper = track.upper.min(self.evaluate(&single, &track.outlook, goal)?);
        track.lattice = Some(lattice);
        Ok(true)
    }
}

/// One order on its way to a narrow bracket.
struct Track {
    outlook: Outlook,
    /// What the lattice may add to the result, relative.
    tolerance: f64,
    /// The width of the finest lattice so far.
    width: f64,
    /// Whether the query can afford no finer one.
    last: bool,
    upper: f64,
    /// The lattice on which the lower side was not computed yet.
    lattice: Option<Lattice>,
}

impl Track {
    fn new(outlook: Outlook, tolerance: f64) -> Self {
        Self {
            outlook,
            tolerance,
            width: f64::INFINITY,
            last: false,
            upper: f64::INFINITY,
            lattice: None,
        }
    }
}
