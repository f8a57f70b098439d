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

/// How far a lattice reaches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Logarithm of the mass that one step may lose.
    pub log_tail: f64,
    /// Losses further below 0 than this make no difference under the tilt of the composition.
    pub depth: f64,
}

/// A step on a lattice for one order. What both sides need is computed once.
pub(super) struct Lattice {
    step: OneStep,
    order: Order,
    width: f64,
    extent: Extent,
    chords: Option<Chords>,
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

    /// The part of the line that matters when the first distribution of the order may lose
    /// `exp(log_tail)` in each step.
    fn range(&self, distance: f64, order: Order, log_tail: f64) -> (f64, f64) {
        let reach = normal_quantile_from_above(log_tail);
        let high = match order {
            Order::Forward => self.mixture(distance).quantile_from_above(log_tail),
            Order::Reverse => reach,
        };
        (-reach, high)
    }

    pub(super) fn sketch(&self, side: Side, order: Order, log_tail: f64) -> Sketch {
        match self.kind {
            Kind::Poisson | Kind::FixedReplaceOne => {
                let mixture = self.mixture(self.distance());
                let (low, high) = self.range(self.distance(), order, log_tail);
                let sketch = Sketch::mixture(&mixture, low, high);
                if self.kind == Kind::FixedReplaceOne && side == Side::Upper {
                    let centre = mixture.keep() * (2.0 * normal_cdf(mixture.mu / 2.0) - 1.0);
                    return sketch.symmetric(centre.ln());
                }
                if order == Order::Forward { sketch } else { sketch.exchanged() }
            }
            Kind::PoissonReplaceOne | Kind::FixedZeroOut => self.witness().sketch(order, log_tail),
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

    /// The part of the line that a lattice of the pair covers.
    fn covered(&self, order: Order, extent: Extent) -> (f64, f64) {
        let (low, high) = self.range(self.distance(), order, extent.log_tail);
        let deep = || self.mixture(self.distance()).node(extent.depth).map_or(high, |node| node.z);
        // In this order the losses are the negative ones of the mixture.
        (low, if order == Order::Reverse { high.min(deep().max(low + 1.0)) } else { high })
    }

    /// How far apart the smallest and the largest loss of one step are.
    pub(super) fn loss_range(&self, side: Side, order: Order, extent: Extent) -> f64 {
        let mixture = self.mixture(self.distance());
        let pair = self.kind == Kind::Poisson
            || (self.kind == Kind::FixedReplaceOne && side == Side::Lower);
        if pair {
            let (low, high) = self.covered(order, extent);
            return mixture.loss(high) - mixture.loss(low);
        }
        2.0 * mixture.loss(self.range(self.distance(), Order::Forward, extent.log_tail).1)
    }

    /// The loss through which a lattice of this width goes.
    pub(super) fn cluster(&self, side: Side, order: Order, width: f64) -> f64 {
        match (self.kind, side) {
            (Kind::Poisson, _) | (Kind::FixedReplaceOne, Side::Lower) => {
                let centre = self.mixture(self.distance()).centre(width);
                if order == Order::Forward { centre } else { -centre }
            }
            _ => 0.0,
        }
    }

    /// The largest loss that one step can have at all.
    pub(super) fn largest_loss(&self, order: Order) -> f64 {
        match (self.kind, order) {
            (Kind::Poisson, Order::Reverse) => -self.mixture(1.0).infimum * (1.0 + 1e-15),
            _ => f64::INFINITY,
        }
    }
}

impl Lattice {
    pub fn new(step: OneStep, order: Order, width: f64, extent: Extent) -> Self {
        Self { step, order, width, extent, chords: None }
    }

    fn pair(&mut self) -> &Chords {
        let chords = match self.chords.take() {
            Some(chords) => chords,
            None => {
                let mixture = self.step.mixture(self.step.distance());
                let (low, high) = self.step.covered(self.order, self.extent);
                let centre = mixture.centre(self.width);
                let chords = Chords::new(&mixture, centre, self.width, low, high);
                if self.order == Order::Forward { chords } else { chords.exchanged() }
            }
        };
        self.chords.insert(chords)
    }

    /// `r H_a(distance)` for `α >= 1`.
    fn half(&self, distance: f64) -> Half {
        let (low, high) = self.step.range(distance, Order::Forward, self.extent.log_tail);
        let mixture = self.step.mixture(distance);
        Half::of_mixture(&Chords::new(&mixture, 0.0, self.width, low, high))
    }

    /// The distribution on a side.
    pub fn distribution(&mut self, side: Side) -> LossDistribution {
        let rate = self.step.rate();
        match (self.step.kind, side) {
            (Kind::Poisson, Side::Upper) => LossDistribution::upper(self.pair()),
            (Kind::Poisson | Kind::FixedReplaceOne, Side::Lower) => {
                LossDistribution::lower(self.pair())
            }
            (Kind::PoissonReplaceOne | Kind::FixedZeroOut, Side::Lower) => {
                self.step.witness().lower(self.order, self.width, self.extent.log_tail)
            }
            (Kind::FixedReplaceOne, Side::Upper) => {
                let half = self.half(2.0);
                half.pair(&half)
            }
            (Kind::PoissonReplaceOne, Side::Upper) => {
                let half = Half::blend(rate, &self.half(1.0), &self.half(2.0));
                half.pair(&half)
            }
            (Kind::FixedZeroOut, Side::Upper) => {
                let one = self.half(1.0);
                let blend = Half::blend(rate, &self.half(2.0), &one);
                match self.order {
                    Order::Forward => blend.pair(&one),
                    Order::Reverse => one.pair(&blend),
                }
            }
        }
    }
}
