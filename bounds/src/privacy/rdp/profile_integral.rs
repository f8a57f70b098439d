//! The Rényi divergence of one step from upper bounds of its privacy profile.
//!
//! `E_Q (P/Q)^α = 1 + α(α−1) ∫_1^∞ [γ^{α−2} H_γ(P‖Q) + γ^{−α−1} H_γ(Q‖P)] dγ`. Both profiles are convex in `γ`
//! and below a bound `f`, so the chords of `f` over any nodes are above them, and the integral of the
//! chords has a closed form. What lies beyond the last node is bounded by Gaussian tails. Proof:
//! docs/theory/renyi-replace-one.md.

use crate::privacy::gaussian::log_delta;
use crate::round::round_up;
use crate::special::{log_add_exp, log_normal_cdf};

/// Distance of the first nodes, in standard deviations of the loss of the wider Gaussian pair.
const STEP: f64 = 0.01;
/// From here on the distance grows in proportion to the place.
const UNIFORM_UP_TO: f64 = 12.0;
/// Distance of the later nodes over their place.
const GROWTH: f64 = 1.0 / 400.0;
/// Sensitivities over the noise for which the nodes are resolved; others are left to the full batch.
const RESOLVED: std::ops::Range<f64> = 1e-100..1e4;
/// Relative error of the profile, the weights and their sum together.
const ROUNDING: f64 = 2e-12;

/// A bound of the privacy profile of one step, of both orders of the pair, at `γ = 1 − q + q e^u`:
/// `f = w_1 H_{e^u}(N(1/κ,1) ‖ N(0,1)) + w_2 H_{e^u}(N(2/κ,1) ‖ N(0,1))`. `w_1` may increase in `u`, `w_2` may not.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProfileBound {
    /// `w_1, w_2` at the sampling rate and `u >= 0`.
    pub weights: fn(rate: f64, u: f64) -> [f64; 2],
    /// The largest `w_1` at the sampling rate.
    pub largest_first: fn(rate: f64) -> f64,
}

/// A place `γ = e^loss` and the bound there.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// `u` over `2/κ`.
    place: f64,
    loss: f64,
    /// Loss of the next node minus this one.
    width: f64,
    log_profile: f64,
    /// Profile of the next node over this one.
    ratio: f64,
}

/// The profile bound at nodes shared by all orders up to the largest.
#[derive(Debug, Clone)]
pub(super) struct ProfileIntegral {
    rate: f64,
    kappa: f64,
    bound: ProfileBound,
    largest_order: f64,
    nodes: Vec<Node>,
}

impl ProfileIntegral {
    /// `rate` in (0, 1), `kappa > 0`.
    pub fn new(rate: f64, kappa: f64, largest_order: f64, bound: ProfileBound) -> Self {
        let mut integral = Self { rate, kappa, bound, largest_order, nodes: Vec::new() };
        if RESOLVED.contains(&integral.far()) {
            integral.place_nodes();
        }
        integral
    }

    /// `2/κ`: the replace-one sensitivity over the noise.
    fn far(&self) -> f64 {
        2.0 / self.kappa
    }

    fn place_nodes(&mut self) {
        let last = self.last_place(self.largest_order);
        let mut place = 0.0;
        let mut log_profile = self.log_profile(0.0);
        while place < last {
            let step = if place < UNIFORM_UP_TO { STEP } else { GROWTH * place };
            let (u, width_of_u) = (self.far() * place, self.far() * step);
            let log_next = self.log_profile(self.far() * (place + step));
            self.nodes.push(Node {
                place,
                loss: loss(self.rate, u),
                width: (share(self.rate, u) * width_of_u.exp_m1()).ln_1p(),
                log_profile,
                ratio: (log_next - log_profile).exp(),
            });
            place += step;
            log_profile = log_next;
        }
    }

    /// Where the chords end and the tail begins: beyond the mass of the moment, or where the loss and `u`
    /// differ by a constant so nearly that the bound of the tail is as good.
    fn last_place(&self, order: f64) -> f64 {
        let beyond_the_mass = order * self.far() + 12.0;
        let straight = ((order / self.rate).ln() + 7.0) / self.far();
        beyond_the_mass.min(straight).max(12.0)
    }

    fn log_profile(&self, u: f64) -> f64 {
        let [near, far] = (self.bound.weights)(self.rate, u);
        let far = far.ln() + log_delta(self.far(), u);
        if near > 0.0 { log_add_exp(near.ln() + log_delta(1.0 / self.kappa, u), far) } else { far }
    }

    /// `(α−1) ε(α)`, rounded up; never above that of the full batch.
    pub fn log_moment(&self, order: f64) -> f64 {
        let gaussian = round_up(2.0 * order * (order - 1.0) / self.kappa / self.kappa);
        if self.nodes.is_empty() || order > self.largest_order {
            return gaussian;
        }
        let log_excess = self.log_excess(order);
        let log_moment = if log_excess > 40.0 { log_excess } else { log_excess.exp().ln_1p() };
        let log_moment = round_up(log_moment);
        // A NaN would come from numbers beyond double precision; the full batch stays valid.
        if log_moment < gaussian { log_moment } else { gaussian }
    }

    /// `log α(α−1) ∫ (e^{(α−1)e} + e^{−αe}) f de` over losses `e >= 0`, rounded up.
    fn log_excess(&self, order: f64) -> f64 {
        let excess = order - 1.0;
        let last = self.last_place(order);
        let nodes = &self.nodes[..self.nodes.partition_point(|node| node.place < last)];
        let Some(end) = nodes.last() else { return f64::INFINITY };
        let height = |node: &Node| excess * (node.loss + node.width) + node.log_profile;
        let (mut top, mut size) = (f64::NEG_INFINITY, 0.0);
        for node in nodes {
            let here = height(node);
            if here > top {
                (top, size) = (here, excess * node.loss - node.log_profile);
            }
        }
        let mut sum = 0.0;
        for node in nodes {
            let forward = (height(node) - top).exp();
            let backward = (node.log_profile - order * node.loss - top).exp();
            if forward < NEGLIGIBLE && backward < NEGLIGIBLE {
                // The weights of the two ends add up to at most 1.
                sum += (forward + backward) * node.width;
                continue;
            }
            let rising = Weights::from_the_right(excess * node.width, node.width);
            let falling = Weights::from_the_left(order * node.width, node.width);
            sum += node.width
                * (forward * (rising.left + rising.right * node.ratio)
                    + backward * (falling.left + falling.right * node.ratio));
        }
        let chords = sum.ln() + top + order.ln() + excess.ln();
        log_add_exp(padded(chords, size), self.log_tail(order, end))
    }

    /// The part beyond the last node. From there the loss rises by at most as much as `u`.
    fn log_tail(&self, order: f64, end: &Node) -> f64 {
        let excess = order - 1.0;
        let place = end.place + if end.place < UNIFORM_UP_TO { STEP } else { GROWTH * end.place };
        let u = self.far() * place;
        let loss = end.loss + end.width;
        let weights =
            [(self.bound.largest_first)(self.rate), (self.bound.weights)(self.rate, u)[1]];
        let mut total = f64::NEG_INFINITY;
        for (weight, mu) in weights.into_iter().zip([1.0 / self.kappa, self.far()]) {
            if weight > 0.0 {
                let moment = order * excess / 2.0 * mu * mu;
                let beyond = log_normal_cdf((order - 0.5) * mu - u / mu);
                let forward = weight.ln() + excess * (loss - u) + moment + beyond;
                let backward = weight.ln() + log_delta(mu, u) - order * loss + excess.ln();
                total = log_add_exp(total, padded(log_add_exp(forward, backward), moment));
            }
        }
        total
    }
}

/// A logarithm raised by the rounding of its parts, of a size up to `size`.
fn padded(log_value: f64, size: f64) -> f64 {
    log_value + ROUNDING + 4e-15 * (size.abs() + 64.0)
}

/// Heights below this, relative to the largest, need no exact weights.
const NEGLIGIBLE: f64 = 1e-20;

/// `log(1 − q + q e^u)` for `u >= 0`.
fn loss(rate: f64, u: f64) -> f64 {
    if u < 40.0 { (rate * u.exp_m1()).ln_1p() } else { u + (rate + (1.0 - rate) * (-u).exp()).ln() }
}

/// `q e^u / (1 − q + q e^u)`, the slope of [`loss`].
fn share(rate: f64, u: f64) -> f64 {
    rate / (rate + (1.0 - rate) * (-u).exp())
}

/// What the two ends of a chord weigh in the mean over `t` in [0, 1] of `e^{−ct}` times the chord.
#[derive(Debug, Clone, Copy)]
struct Weights {
    left: f64,
    right: f64,
}

impl Weights {
    /// `t` counts from the left end.
    fn from_the_left(decay: f64, width: f64) -> Self {
        let right = far_end(-decay, width);
        Self { left: (mean_exp(-decay) - right).max(0.0), right }
    }

    /// `t` counts from the right end.
    fn from_the_right(decay: f64, width: f64) -> Self {
        let left = far_end(-decay, -width);
        Self { left, right: (mean_exp(-decay) - left).max(0.0) }
    }
}

/// `∫_0^1 e^{yt} dt = (e^y − 1)/y`.
fn mean_exp(y: f64) -> f64 {
    if y.abs() < 1e-9 { 1.0 + y / 2.0 } else { y.exp_m1() / y }
}

/// `∫_0^1 e^{yt} (e^{dt} − 1)/(e^d − 1) dt` for `y <= 0` and `y + d <= 0`: the weight of the end at `t = 1`.
fn far_end(y: f64, d: f64) -> f64 {
    let shifted = y + d;
    if y.abs() < 0.5 && d.abs() < 0.5 {
        // Divided differences of the series of (e^y − 1)/y.
        let (mut power, mut difference, mut factorial, mut sum) = (1.0, 1.0, 2.0, 0.5);
        for k in 2..20 {
            power *= y;
            difference = shifted * difference + power;
            factorial *= f64::from(k + 1);
            sum += difference / factorial;
        }
        sum / mean_exp(d)
    } else if y.abs() > 0.1 && shifted.abs() > 0.1 {
        (y * y.exp() - y.exp_m1() / mean_exp(d)) / (y * shifted)
    } else {
        (mean_exp(shifted) - mean_exp(y)) / d.exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Midpoint rule with many nodes.
    fn plain(y: f64, d: f64) -> f64 {
        let count = 200_000;
        let sum: f64 = (0..count)
            .map(|i| {
                let t = (f64::from(i) + 0.5) / f64::from(count);
                (y * t).exp() * (d * t).exp_m1() / d.exp_m1()
            })
            .sum();
        sum / f64::from(count)
    }

    #[test]
    fn weights_are_the_integrals_of_the_two_ends() {
        for (decay, width) in [
            (1e-6, 1e-7),
            (0.3, 0.2),
            (0.49, 0.49),
            (0.51, 0.3),
            (0.7, 1e-4),
            (3.0, 0.01),
            (40.0, 2.0),
            (2.0, 1.95),
            (300.0, 0.1),
            (0.0, 0.9),
        ] {
            for (y, d) in [(-decay, -width), (-decay, width)] {
                if y + d > 0.0 {
                    continue;
                }
                let (value, expected) = (far_end(y, d), plain(y, d));
                assert!((value / expected - 1.0).abs() < 1e-7, "{y} {d}: {value} {expected}");
            }
        }
    }

    #[test]
    fn branches_meet() {
        for (decay, width) in [(0.5, 0.1), (0.5, 1e-9), (0.5, 0.49), (0.6, 0.5)] {
            for d in [width, -width] {
                let inside = far_end(-decay * (1.0 - 1e-12), d * (1.0 - 1e-12));
                let outside = far_end(-decay * (1.0 + 1e-12), d * (1.0 + 1e-12));
                assert!((inside / outside - 1.0).abs() < 1e-10, "{decay} {d}");
            }
        }
    }
}
