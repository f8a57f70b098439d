//! What leaves the position grid above, in the forward order.
//!
//! Moving `X = z_N + d` down to the last node `z_N` loses at most a factor `e^{bd}` of the likelihood
//! ratio, `b` the largest slope of its logarithm. The mass so lost, weighted by the ratio, is followed
//! to the end and added whole: `(e^L − e^ε)_+ <= e^L`. On its way it may leave the grid again, and is
//! then multiplied by `e^{bd}` in place.

use nalgebra::DMatrix;

use super::chain::{Chain, Phase};
use super::moments::{FLOOR, rounding_of_a_step};
use crate::privacy::Order;

/// Steps with equal tables after which the growth of a recursion is bounded by its last value.
const EXPLICIT_STEPS: usize = 4096;
/// What that bound may add to the logarithm of the overflow before [`EXPLICIT_STEPS`].
const SETTLED: f64 = 0.05;

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
        let run = Run::new(chain)?;
        let arriving = run.arriving();
        let futures = run.futures();
        let paired: f64 = arriving.opening.iter().zip(&futures.opening).map(|(a, f)| dot(a, f)).sum();
        let horizon = chain.pair.horizon();
        // Mass too small for the arithmetic, in any state of any step.
        #[allow(clippy::cast_precision_loss)]
        let flushed = FLOOR * chain.states() as f64 * horizon * arriving.largest * futures.largest;
        let rounding = horizon * rounding_of_a_step(chain, 1.0, 0.0);
        let overflow = (paired + steady_sum(&arriving, &futures, run.steady_steps) + flushed)
            * (1.0 + rounding);
        let mass = Self { total: arriving.total, overflow };
        (mass.total.is_finite() && mass.overflow.is_finite()).then_some(mass)
    }
}

/// The run as an opening of explicit steps and a number of steps with equal tables.
struct Run<'a> {
    chain: &'a Chain,
    opening: Vec<&'a Phase>,
    steady: &'a Phase,
    steady_steps: u64,
    /// `E[e^{bd} − 1; d > 0]` by the node before the move.
    excess: Vec<f64>,
}

/// One row over the dampings for every step, and the growth after the last explicit one.
struct Series {
    /// In the order of the process.
    opening: Vec<Vec<f64>>,
    /// In the order of the recursion.
    steady: Vec<Vec<f64>>,
    log_growth: f64,
    /// `E_Q e^L` at the end, of the mass recursion.
    total: f64,
    /// Bound on every value met.
    largest: f64,
}

impl<'a> Run<'a> {
    fn new(chain: &'a Chain) -> Option<Self> {
        let steady = chain.phases.last()?;
        // Phases of equal Gram diagonal differ in γ only, which plays no role here.
        let differs = |phase: &&Phase| phase.gram.to_bits() != steady.gram.to_bits();
        let opening: Vec<&Phase> = chain.phases.iter().take_while(differs).collect();
        let steady_steps = chain.phases[opening.len()..].iter().map(|phase| phase.repeat).sum();
        let (lambda, sigma) = (chain.pair.lambda(), chain.pair.noise_multiplier());
        let slope = (1.0 - (chain.pair.horizon() * lambda.ln()).exp()) / ((1.0 - lambda) * sigma);
        let excess = chain.positions.excess(lambda, slope * (1.0 + 1e-12));
        Some(Self { chain, opening, steady, steady_steps, excess })
    }

    /// The probability of no participation, and the odds times it.
    fn weights(&self, phase: &Phase) -> (f64, Vec<f64>) {
        let keep = 1.0 - self.chain.pair.rate();
        let odds = phase.step.log_odds.iter().map(|log| keep * log.min(600.0).exp()).collect();
        (keep, odds)
    }

    /// The ratio-weighted mass that arrives above the grid.
    fn arriving(&self) -> Series {
        let chain = self.chain;
        let mut mass = DMatrix::zeros(chain.positions.nodes.len(), chain.damping.nodes.len());
        mass[(chain.positions.origin, 0)] = 1.0;
        let mut largest = 1.0_f64;
        let row = |mass: &DMatrix<f64>| -> Vec<f64> {
            let above =
                |column: usize| mass.column(column).iter().zip(&self.excess).map(|(m, e)| m * e).sum();
            (0..mass.ncols()).map(above).collect()
        };
        let mut opening = Vec::new();
        for phase in &self.opening {
            let weights = self.weights(phase);
            for _ in 0..phase.repeat {
                opening.push(row(&mass));
                mass = update(chain, phase, &weights, &(&chain.positions.kernel * &mass));
                largest = largest.max(mass.sum());
            }
        }
        let weights = self.weights(self.steady);
        let mut steady = Vec::new();
        let (mut left, mut log_growth) = (self.steady_steps, 0.0);
        while left > 0 {
            steady.push(row(&mass));
            let before = mass.clone();
            mass = update(chain, self.steady, &weights, &(&chain.positions.kernel * &mass));
            largest = largest.max(mass.sum());
            left -= 1;
            let (low, high) = growth(mass.as_slice(), before.as_slice());
            if stops(steady.len(), left, low, high) {
                log_growth = high.ln();
                break;
            }
        }
        let rest = power(log_growth, left);
        Series { opening, steady, log_growth, total: mass.sum() * rest, largest: largest * rest.max(1.0) }
    }

    /// What a unit of mass becomes that is placed at the last node after the move of a step.
    fn futures(&self) -> Series {
        let chain = self.chain;
        let width = chain.positions.nodes.len();
        let mut kernel = chain.positions.kernel.clone();
        for (weight, excess) in kernel.row_mut(width - 1).iter_mut().zip(&self.excess) {
            *weight += excess;
        }
        let mut future = vec![1.0; chain.states()];
        let mut largest = 1.0_f64;
        let mut advance = |phase: &Phase, (keep, odds): &(f64, Vec<f64>), future: &[f64]| {
            let idle = vec![*keep; odds.len()];
            let updated = chain.after_update(&phase.step, Some(&idle), odds, future);
            let next = chain.before_move(&kernel, &updated);
            largest = updated.iter().chain(&next).copied().fold(largest, f64::max);
            let row: Vec<f64> = updated.iter().skip(width - 1).step_by(width).copied().collect();
            (row, next)
        };
        let weights = self.weights(self.steady);
        let mut steady = Vec::new();
        let (mut left, mut log_growth) = (self.steady_steps, 0.0);
        while left > 0 {
            let (row, next) = advance(self.steady, &weights, &future);
            steady.push(row);
            left -= 1;
            let (low, high) = growth(&next, &future);
            future = next;
            if stops(steady.len(), left, low, high) {
                log_growth = high.ln();
                break;
            }
        }
        let rest = power(log_growth, left);
        future.iter_mut().for_each(|value| *value *= rest);
        let mut opening = Vec::new();
        for phase in self.opening.iter().rev() {
            let weights = self.weights(phase);
            for _ in 0..phase.repeat {
                let (row, next) = advance(phase, &weights, &future);
                opening.push(row);
                future = next;
            }
        }
        opening.reverse();
        Series { opening, steady, log_growth, total: 0.0, largest: largest * rest.max(1.0) }
    }
}

/// `Σ_j <arriving at j, future of the steps after j>` over the steps with equal tables.
fn steady_sum(arriving: &Series, futures: &Series, steps: u64) -> f64 {
    let at = |series: &Series, step: u64| {
        let last = series.steady.len() as u64 - 1;
        #[allow(clippy::cast_possible_truncation)] // at most `last`
        let row = series.steady[step.min(last) as usize].clone();
        (row, power(series.log_growth, step.saturating_sub(last)))
    };
    let product = |step: u64| {
        let (row, grown) = at(arriving, step);
        let (future, future_grown) = at(futures, steps - 1 - step);
        dot(&row, &future) * grown * future_grown
    };
    let (first, last) = (arriving.steady.len() as u64, futures.steady.len() as u64);
    if steps <= first + last {
        return (0..steps).map(product).sum();
    }
    // In between both rows are the last ones and the logarithm is linear in the step.
    #[allow(clippy::cast_precision_loss)]
    let between = (steps - first - last) as f64 * product(first).max(product(steps - last - 1));
    (0..first).chain(steps - last..steps).map(product).sum::<f64>() + between
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `e^{log_growth·steps}`, 1 for no steps.
fn power(log_growth: f64, steps: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    if steps == 0 { 1.0 } else { (log_growth * steps as f64).exp() }
}

fn stops(explicit: usize, left: u64, low: f64, high: f64) -> bool {
    #[allow(clippy::cast_precision_loss)]
    let spread = (high / low).ln() * left as f64;
    spread < SETTLED || explicit >= EXPLICIT_STEPS
}

/// The update of one step without randomisation: participation multiplies the mass by its odds.
fn update(
    chain: &Chain,
    phase: &Phase,
    (keep, odds): &(f64, Vec<f64>),
    moved: &DMatrix<f64>,
) -> DMatrix<f64> {
    let width = chain.positions.nodes.len();
    let mut out = DMatrix::zeros(moved.nrows(), moved.ncols());
    for d in 0..moved.ncols() {
        for (split, joins) in [(phase.step.idle[d], false), (phase.step.joined[d], true)] {
            for c in 0..width {
                let weight = if joins { odds[d * width + c] } else { *keep };
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
