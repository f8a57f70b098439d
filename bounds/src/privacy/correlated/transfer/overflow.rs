//! What leaves the position grid above, in the forward order.
//!
//! The recursion moves `X > z_N` down to the last node `z_N`. A path that ever does so is bounded by its
//! likelihood ratio, `(e^L − e^ε)_+ <= e^L`: the ratio-weighted mass that arrives above, times its
//! expected growth to the end. From a position `z'` and damping `D` before the step that leaves, both
//! together are
//!
//! ```text
//! E[e^{q(X/σ − λD) − q²G/(2σ²)}; X > z_N] = E e^{qx − q²γ/2} Φ(λz' + q/σ − z_N),
//! x = λ(z'/σ − D),  γ = λ²G'/σ²,
//! ```
//!
//! where `q = y_v + λ y_{v−1} + …` is what the earlier steps may still add, and `G`, `G'` are the Gram
//! diagonals of this step and the one after it.

use nalgebra::DMatrix;

use super::chain::{Chain, Phase};
use super::moments::{FLOOR, rounding_of_a_step};
use crate::privacy::{Order, Pair};
use crate::special::normal_cdf;

/// Steps with equal tables after which the growth of the mass is bounded by its last value.
const EXPLICIT_STEPS: u64 = 4096;
/// What that bound may add to the logarithm of the overflow before [`EXPLICIT_STEPS`].
const SETTLED: f64 = 1e-3;
/// Growth of `γ` after which the worth of what leaves is computed anew.
const RENEWED: f64 = 1.25;

/// `E_Q e^L` of the discretised chain, and a bound on what left the grid.
pub(super) struct Mass {
    pub(super) total: f64,
    pub(super) overflow: f64,
}

impl Mass {
    /// `None` where they overflow.
    pub(super) fn new(chain: &Chain) -> Option<Self> {
        if chain.order == Order::Reverse {
            return Some(Self { total: 0.0, overflow: 0.0 });
        }
        let mut run = Run::new(chain);
        let steady = chain.phases.last()?.gram.to_bits();
        let mut steady_left: u64 = chain
            .phases
            .iter()
            .filter(|phase| phase.gram.to_bits() == steady)
            .map(|phase| phase.repeat)
            .sum();
        let explicit_until = steady_left.saturating_sub(EXPLICIT_STEPS);
        'run: for phase in &chain.phases {
            let odds = run.odds(phase);
            // Phases of equal Gram diagonal differ in γ of the randomisation only: no role here.
            let is_steady = phase.gram.to_bits() == steady;
            for _ in 0..phase.repeat {
                let (low, high) = run.step(phase, &odds);
                if is_steady {
                    steady_left -= 1;
                    #[allow(clippy::cast_precision_loss)]
                    let left = steady_left as f64;
                    if (high / low).ln() * left < SETTLED || steady_left <= explicit_until {
                        run.take_steps(left, high);
                        break 'run;
                    }
                }
            }
        }
        let rounding = chain.pair.horizon() * rounding_of_a_step(chain, 1.0, 0.0);
        let mass = Self { total: run.mass.sum(), overflow: run.overflow * (1.0 + 2.0 * rounding) };
        (mass.total.is_finite() && mass.overflow.is_finite()).then_some(mass)
    }
}

/// The ratio-weighted mass of the paths that have not left the grid, factor `1 − r` included.
struct Run<'a> {
    chain: &'a Chain,
    mass: DMatrix<f64>,
    overflow: f64,
    earlier: Earlier,
    /// The worth of a unit of mass, and the Gram diagonal `G'` it was computed for.
    worth: DMatrix<f64>,
    gram: f64,
    rows: f64,
}

impl<'a> Run<'a> {
    fn new(chain: &'a Chain) -> Self {
        let mut mass = DMatrix::zeros(chain.positions.nodes.len(), chain.damping.nodes.len());
        mass[(chain.positions.origin, 0)] = 1.0;
        let earlier = Earlier::new(&chain.pair);
        let worth = DMatrix::zeros(0, 0);
        Self { chain, mass, overflow: 0.0, earlier, worth, gram: -1.0, rows: 0.0 }
    }

    fn odds(&self, phase: &Phase) -> Vec<f64> {
        let keep = 1.0 - self.chain.pair.rate();
        phase.step.log_odds.iter().map(|log| keep * log.min(600.0).exp()).collect()
    }

    /// One step; the smallest and largest growth of the mass over the states.
    fn step(&mut self, phase: &Phase, odds: &[f64]) -> (f64, f64) {
        let chain = self.chain;
        let gram = if self.rows == 0.0 { 0.0 } else { chain.pair.gram_diagonal(self.rows) };
        self.rows += 1.0;
        // A smaller G' gives a larger worth.
        if self.gram < 0.0 || gram > RENEWED * self.gram {
            self.worth = self.earlier.worth(chain, gram * (1.0 - 1e-12));
            self.gram = gram;
        }
        self.overflow += self.worth.dot(&self.mass) + self.flushed();
        let moved = &chain.positions.kernel * &self.mass;
        let before = std::mem::replace(&mut self.mass, DMatrix::zeros(0, 0));
        self.mass = update(chain, phase, odds, &moved);
        growth(self.mass.as_slice(), before.as_slice())
    }

    /// The remaining equal steps at once, each with at most this growth.
    fn take_steps(&mut self, steps: f64, growth: f64) {
        if steps > 0.0 {
            let whole = (steps * growth.ln()).exp();
            self.overflow += steps * whole.max(1.0) * (self.worth.dot(&self.mass) + self.flushed());
            self.mass *= whole;
        }
    }

    /// Mass too small for the arithmetic in any state: grows by at most the largest ratio.
    fn flushed(&self) -> f64 {
        #[allow(clippy::cast_precision_loss)]
        let states = self.mass.len() as f64;
        FLOOR * states * self.mass.sum().max(1.0) * self.earlier.largest_growth(self.chain)
    }
}

/// A law on nodes that is not below that of `q = y_v + λ y_{v−1} + …`.
struct Earlier {
    nodes: Vec<f64>,
    weights: Vec<f64>,
}

impl Earlier {
    fn new(pair: &Pair) -> Self {
        /// Node spacing, and the smallest positive node.
        const RATIO: f64 = 0.97;
        const LOWEST: f64 = 2e-3;
        let (lambda, rate, horizon) = (pair.lambda(), pair.rate(), pair.horizon());
        if lambda < LOWEST {
            // All earlier steps but the first add less than `λ/(1 − λ)`.
            let rest = lambda / (1.0 - lambda);
            return Self { nodes: vec![rest, 1.0 + rest], weights: vec![1.0 - rate, rate] };
        }
        // A step without participation moves by a whole number of nodes.
        let shift = (lambda.ln() / RATIO.ln()).ceil();
        let log_ratio = lambda.ln() / shift;
        let top = 1.0 / (1.0 - lambda) * (1.0 + 1e-12);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // some hundreds
        let (shift, count) =
            (shift as usize, ((LOWEST / top).ln() / log_ratio).ceil() as usize + 1);
        // From the largest down: node `i` is `top·ratio^i`, and 0 at the end.
        #[allow(clippy::cast_precision_loss)]
        let mut nodes: Vec<f64> = (0..count).map(|i| top * (log_ratio * i as f64).exp()).collect();
        nodes.push(0.0);
        let memory = (1e-3_f64.ln() / lambda.ln()).ceil();
        let mut weights = vec![0.0; nodes.len()];
        // A long past is at most the largest possible one, forgotten after `memory` steps.
        let start = if horizon > memory { 0 } else { count };
        weights[start] = 1.0;
        let idle = |i: usize| if i == count { count } else { (i + shift).min(count - 1) };
        let joined: Vec<usize> = nodes
            .iter()
            .map(|q| {
                let after = (1.0 + lambda * q) * (1.0 + 1e-12);
                nodes.partition_point(|node| *node >= after).max(1) - 1
            })
            .collect();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        for _ in 0..memory.min(horizon) as usize {
            let mut next = vec![0.0; nodes.len()];
            for (i, weight) in weights.iter().enumerate() {
                next[idle(i)] += (1.0 - rate) * weight;
                next[joined[i]] += rate * weight;
            }
            weights = next;
        }
        // From the smallest up; nodes closer than the ratio are merged upwards.
        let mut merged: (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for (node, weight) in nodes.iter().zip(&weights) {
            match (merged.0.last(), merged.1.last_mut()) {
                (Some(kept), Some(sum)) if *node > RATIO * kept => *sum += weight,
                _ => {
                    merged.0.push(*node);
                    merged.1.push(*weight);
                }
            }
        }
        let law = merged.0.into_iter().zip(merged.1).filter(|(_, weight)| *weight > 0.0);
        let (mut nodes, mut weights): (Vec<f64>, Vec<f64>) = law.unzip();
        nodes.reverse();
        weights.reverse();
        Self { nodes, weights }
    }

    /// `E[growth to the end; above the grid]` of a unit of mass before a step, by its state, `gram` the
    /// Gram diagonal of the step after it.
    fn worth(&self, chain: &Chain, gram: f64) -> DMatrix<f64> {
        let (lambda, sigma) = (chain.pair.lambda(), chain.pair.noise_multiplier());
        let curvature = lambda * lambda * gram / (sigma * sigma);
        let (positions, dampings) = (&chain.positions.nodes, &chain.damping.nodes);
        let last = positions[positions.len() - 1];
        let mut worth = DMatrix::zeros(positions.len(), dampings.len());
        for (row, z) in positions.iter().enumerate() {
            let leaves: Vec<f64> =
                self.nodes.iter().map(|q| normal_cdf(lambda * z + q / sigma - last)).collect();
            for (column, damping) in dampings.iter().enumerate() {
                let slope = lambda * (z / sigma - damping);
                let best = if curvature > 0.0 { slope / curvature } else { slope * f64::INFINITY };
                // The largest value up to each node: increasing, as the law of q requires.
                let (mut low, mut largest) = (0.0, 0.0_f64);
                let terms = self.nodes.iter().zip(&self.weights).zip(&leaves);
                worth[(row, column)] = terms
                    .map(|((high, weight), leaves)| {
                        let q = if best > low { best.min(*high) } else { low };
                        largest = largest.max((q * (slope - 0.5 * curvature * q)).exp() * leaves);
                        low = *high;
                        weight * largest
                    })
                    .sum();
            }
        }
        worth
    }

    /// The largest expected growth to the end from any state of the grid.
    fn largest_growth(&self, chain: &Chain) -> f64 {
        let top = chain.positions.nodes[chain.positions.nodes.len() - 1];
        let slope = top / chain.pair.noise_multiplier();
        let terms = self.nodes.iter().zip(&self.weights);
        terms.map(|(q, weight)| weight * (q * slope).exp()).sum()
    }
}

/// The update of one step without randomisation: participation multiplies the mass by its odds.
fn update(chain: &Chain, phase: &Phase, odds: &[f64], moved: &DMatrix<f64>) -> DMatrix<f64> {
    let (width, keep) = (chain.positions.nodes.len(), 1.0 - chain.pair.rate());
    let mut out = DMatrix::zeros(moved.nrows(), moved.ncols());
    for d in 0..moved.ncols() {
        for (split, joins) in [(phase.step.idle[d], false), (phase.step.joined[d], true)] {
            for c in 0..width {
                let weight = if joins { odds[d * width + c] } else { keep };
                let value = weight * moved[(c, d)];
                out[(c, split.cell)] += (1.0 - split.weight) * value;
                if split.weight > 0.0 {
                    out[(c, split.cell + 1)] += split.weight * value;
                }
            }
        }
    }
    out
}

/// Smallest and largest growth over the states that are not negligible.
fn growth(after: &[f64], before: &[f64]) -> (f64, f64) {
    let floor = FLOOR * after.iter().copied().fold(0.0, f64::max);
    let counted = after.iter().zip(before).filter(|(new, _)| **new > floor);
    let ratios = counted.map(|(new, old)| if *old > 0.0 { new / old } else { f64::INFINITY });
    ratios.fold((f64::INFINITY, 0.0), |(low, high), ratio| (low.min(ratio), high.max(ratio)))
}
