//! From a step to lattice distributions above and below it, and to a sketch of them.

use super::chords::Chords;
use super::loss::{LossDistribution, Side};
use super::mixture::normal_quantile_from_above;
use super::profile::Half;
use super::sketch::Sketch;
use super::step::{Kind, OneStep};
use super::witness::Witness;
use crate::privacy::Order;
use crate::special::normal_cdf;

/// A step on a lattice. What both orders and both sides need is computed once.
pub(super) struct Lattice {
    step: OneStep,
    width: f64,
    log_tail: f64,
    chords: Option<Chords>,
    exchanged: Option<Chords>,
    halves: Option<[Half; 2]>,
}

impl OneStep {
    /// The distance between the two Gaussians of the pair that the step builds on.
    fn distance(&self) -> f64 {
        if self.kind == Kind::Poisson { 1.0 } else { 2.0 }
    }

    /// The run that is known to be bad, where the dominating pair is not one itself.
    fn witness(&self) -> Witness {
        let mu = 1.0 / self.noise();
        let second = if self.kind == Kind::PoissonReplaceOne { (mu, -mu) } else { (2.0 * mu, mu) };
        Witness::new(self.rate(), second.0, second.1)
    }

    /// The losses that matter when a mass of `exp(log_tail)` may be lost in each step.
    fn range(&self, distance: f64, log_tail: f64) -> (f64, f64) {
        let high = self.mixture(distance).quantile_from_above(log_tail);
        (-normal_quantile_from_above(log_tail), high)
    }

    pub(super) fn sketch(&self, side: Side, order: Order, log_tail: f64) -> Sketch {
        match self.kind {
            Kind::Poisson | Kind::FixedReplaceOne => {
                let mixture = self.mixture(self.distance());
                let (low, high) = self.range(self.distance(), log_tail);
                let sketch = Sketch::mixture(&mixture, low, high);
                if self.kind == Kind::FixedReplaceOne && side == Side::Upper {
                    let centre = mixture.keep() * (2.0 * normal_cdf(mixture.mu / 2.0) - 1.0);
                    return sketch.symmetric(centre.ln());
                }
                if order == Order::Forward { sketch } else { sketch.exchanged() }
            }
            Kind::PoissonReplaceOne | Kind::FixedZeroOut => {
                self.witness().sketch(order, log_tail)
            }
        }
    }

    /// Whether the sketch of the upper side belongs to the witness instead.
    pub(super) fn sketch_is_rough(&self) -> bool {
        matches!(self.kind, Kind::PoissonReplaceOne | Kind::FixedZeroOut)
    }

    /// The orders that may differ on this side.
    pub(super) fn orders(&self, side: Side) -> &'static [Order] {
        match (self.kind, side) {
            (Kind::PoissonReplaceOne, _) | (Kind::FixedReplaceOne, Side::Upper) => {
                &[Order::Forward]
            }
            _ => &Order::ALL,
        }
    }

    /// Smallest and largest loss of one step.
    pub(super) fn loss_range(&self, log_tail: f64) -> (f64, f64) {
        let mixture = self.mixture(self.distance());
        let (low, high) = self.range(self.distance(), log_tail);
        match self.kind {
            Kind::Poisson => (mixture.loss(low), mixture.loss(high)),
            _ => (-mixture.loss(high), mixture.loss(high)),
        }
    }
}

impl Lattice {
    pub fn new(step: OneStep, width: f64, log_tail: f64) -> Self {
        Self { step, width, log_tail, chords: None, exchanged: None, halves: None }
    }

    fn build(&self, distance: f64, origin: f64) -> Chords {
        let (low, high) = self.step.range(distance, self.log_tail);
        Chords::new(&self.step.mixture(distance), origin, self.width, low, high)
    }

    fn chords(&mut self, order: Order) -> &Chords {
        let forward = match self.chords.take() {
            Some(chords) => chords,
            None => self.build(self.step.distance(), self.step.mixture(self.step.distance()).centre(self.width)),
        };
        let forward = self.chords.insert(forward);
        match order {
            Order::Forward => forward,
            Order::Reverse => self.exchanged.get_or_insert_with(|| forward.exchanged()),
        }
    }

    /// The distribution on a side; `order` matters where [`OneStep::orders`] has both.
    pub fn distribution(&mut self, side: Side, order: Order) -> LossDistribution {
        let kind = self.step.kind;
        match (kind, side) {
            (Kind::Poisson, Side::Upper) => LossDistribution::upper(self.chords(order)),
            (Kind::Poisson | Kind::FixedReplaceOne, Side::Lower) => {
                LossDistribution::lower(self.chords(order))
            }
            (Kind::FixedReplaceOne, Side::Upper) => {
                let half = Half::of_mixture(&self.build(2.0, 0.0));
                half.pair(&half)
            }
            (Kind::PoissonReplaceOne | Kind::FixedZeroOut, Side::Lower) => {
                self.step.witness().lower(order, self.width, self.log_tail)
            }
            (Kind::PoissonReplaceOne | Kind::FixedZeroOut, Side::Upper) => {
                let halves = match self.halves.take() {
                    Some(halves) => halves,
                    None => self.build_halves(),
                };
                let [forward, reverse] = &halves;
                let pair = match order {
                    Order::Forward => forward.pair(reverse),
                    Order::Reverse => reverse.pair(forward),
                };
                self.halves = Some(halves);
                pair
            }
        }
    }

    /// The profiles of the two orders.
    fn build_halves(&self) -> [Half; 2] {
        let rate = self.step.rate();
        let half = |distance: f64| Half::of_mixture(&self.build(distance, 0.0));
        let (one, two) = (half(1.0), half(2.0));
        if self.step.kind == Kind::PoissonReplaceOne {
            [Half::blend(rate, &one, &two), Half::blend(rate, &one, &two)]
        } else {
            [Half::blend(rate, &two, &one), one]
        }
    }
}
