//! Exponential moments of interacting participations along the steps, by backward recursion.

use super::grid::{Grid, Rounding};
use super::kernel::{LOWER, RAISE};
use crate::privacy::Pair;
use crate::special::Binomial;

/// Elementary operations after which the recursion is extrapolated.
const BUDGET: f64 = 5e8;

/// A chain of blocks of `block` steps. Each block draws `n ~ Bin(trials, r)` with `trials = replicas · block`;
/// the exponent is `weight · G · (n(n−1)/2 + n q + own·n)` for attraction and
/// `−weight · G · λ^{block−1} (n(n−1)/2 + n q)` for repulsion.
pub(super) struct Chain<'a> {
    pub(super) pair: &'a Pair,
    pub(super) replicas: f64,
    pub(super) block: f64,
    /// Geometric spacing of the states and the smallest of them.
    pub(super) ratio: f64,
    pub(super) floor: f64,
}

/// The length of a block over which the memory changes by about `share`, and of at most one in fifty steps.
pub(super) fn block_length(pair: &Pair, share: f64) -> f64 {
    (share / (1.0 - pair.lambda())).min(pair.horizon() / 50.0).floor().max(1.0)
}

/// One block of the recursion with its tables.
struct Step {
    /// For each state and `n`: half of the interaction and the next state.
    interaction: Vec<f64>,
    next: Vec<u32>,
    log_mass: Vec<f64>,
    width: usize,
    /// The states that can be reached from rest. The others may grow faster and must not count.
    reached: Vec<usize>,
}

impl Step {
    /// The states to which any number of blocks lead from `rest`, itself included.
    fn reached_from(rest: usize, next: &[u32], width: usize) -> Vec<usize> {
        let mut known = vec![false; next.len() / width];
        let mut waiting = vec![rest];
        known[rest] = true;
        while let Some(state) = waiting.pop() {
            for &to in &next[state * width..(state + 1) * width] {
                if !std::mem::replace(&mut known[to as usize], true) {
                    waiting.push(to as usize);
                }
            }
        }
        (0..known.len()).filter(|&state| known[state]).collect()
    }

    /// `log Σ_n exp(log_mass + factor · interaction + after)` for every reached state, rounded up.
    fn apply(&self, factor: f64, after: &[f64], before: &mut [f64], terms: &mut [f64]) {
        for &state in &self.reached {
            let value = &mut before[state];
            let row = state * self.width..(state + 1) * self.width;
            let (mut largest, mut size) = (f64::NEG_INFINITY, 0.0);
            let table = self.interaction[row.clone()].iter().zip(&self.next[row]);
            for ((term, mass), (&interaction, &next)) in
                terms.iter_mut().zip(&self.log_mass).zip(table)
            {
                let exponent = factor * interaction;
                *term = mass + exponent + after[next as usize];
                if *term > largest {
                    largest = *term;
                    size = exponent.abs() - mass + after[next as usize].abs();
                }
            }
            if largest == f64::INFINITY {
                *value = largest;
                continue;
            }
            // A dropped term is below e^{−40} of the sum; the padding covers all of them, and the rounding
            // of the parts of an exponent.
            let sum: f64 =
                terms.iter().map(|t| t - largest).filter(|&t| t > -40.0).map(f64::exp).sum();
            *value = largest + sum.ln() + 1e-15 * (size + 4.0) + 5e-18 * terms.len() as f64;
        }
    }
}

impl Chain<'_> {
    /// `log E exp(weight Σ G [n(n−1)/2 + n q + own·n])` with `q` rounded up: an upper bound, maybe `+inf`.
    pub(super) fn attraction(&self, weight: f64, own: f64) -> f64 {
        let lambda = self.pair.lambda();
        let decay = lambda.powf(self.block) * RAISE;
        let top = self.replicas * lambda / (1.0 - lambda) * (1.0 + 1e-12);
        if decay >= 1.0 {
            return f64::INFINITY;
        }
        let Some(grid) = Grid::new(decay, lambda, top, self.floor, self.ratio, Rounding::Up) else {
            return f64::INFINITY;
        };
        let step = self.tabulate(&grid, |n, q| 0.5 * n * (n - 1.0) + n * q + own * n);
        // Steps before the first one only add to the exponent.
        let blocks = (self.pair.horizon() / self.block).ceil();
        let gram = |block: f64| {
            // First row of the block, counted from the end.
            self.pair.gram_diagonal((block + 1.0) * self.block) * RAISE
        };
        self.run(&grid, &step, blocks, |block| weight * gram(block), weight * gram(blocks))
    }

    /// `log E exp(−weight Σ G [n(n−1)/2 + n q])` with `q` rounded down: an upper bound.
    pub(super) fn repulsion(&self, weight: f64) -> f64 {
        let lambda = self.pair.lambda();
        if lambda == 0.0 {
            return 0.0;
        }
        let decay = lambda.powf(self.block) * LOWER;
        let inside = if self.block == 1.0 { 1.0 } else { lambda.powf(self.block - 1.0) * LOWER };
        let top = self.replicas * lambda / (1.0 - lambda);
        let entry = if self.block == 1.0 { lambda } else { decay };
        let Some(grid) = Grid::new(decay, entry, top, self.floor, self.ratio, Rounding::Down)
        else {
            return 0.0;
        };
        let step = self.tabulate(&grid, |n, q| -inside * (0.5 * n * (n - 1.0) + n * q));
        // Steps left out only subtract from the exponent.
        let blocks = (self.pair.horizon() / self.block).floor();
        let gram = |block: f64| self.pair.gram_diagonal(block * self.block + 1.0) * LOWER;
        // Earlier rows have a larger G and would repel more than the one reached.
        let reached = |block: f64| weight * gram(block);
        self.run(&grid, &step, blocks, reached, f64::NAN).min(0.0)
    }

    fn tabulate(&self, grid: &Grid, interaction: impl Fn(f64, f64) -> f64) -> Step {
        let trials = self.replicas * self.block;
        let law = Binomial::new(trials, self.pair.rate());
        let (mut counts, mut n) = (Vec::new(), 0.0);
        while n <= trials {
            counts.push(n);
            n += 1.0;
        }
        let width = counts.len();
        let mut table = Vec::with_capacity(width * grid.len());
        let mut next = Vec::with_capacity(width * grid.len());
        for state in 0..grid.len() {
            for &n in &counts {
                table.push(interaction(n, grid.value(state)));
                #[allow(clippy::cast_possible_truncation)] // at most 30 001 states
                next.push(grid.next(state, n) as u32);
            }
        }
        let log_mass = counts.iter().map(|&n| law.log_mass(n)).collect();
        let reached = Step::reached_from(grid.len() - 1, &next, width);
        Step { interaction: table, next, log_mass, width, reached }
    }

    /// The recursion over `blocks` blocks, from the last to the first. Once an application adds nearly the
    /// same to every state, or the budget is used up, the rest is bounded: the operator is monotone and
    /// commutes with constants, so it never adds more than its largest addition so far. That application
    /// uses `limit`, a factor at least as bad as all earlier ones (NaN: the current one is).
    fn run(
        &self,
        grid: &Grid,
        step: &Step,
        blocks: f64,
        factor: impl Fn(f64) -> f64,
        limit: f64,
    ) -> f64 {
        let mut after = vec![0.0; grid.len()];
        let mut before = after.clone();
        let mut terms = vec![0.0; step.width];
        let work = (step.reached.len() * step.width) as f64;
        let rest_state = grid.len() - 1;
        let mut block = 0.0;
        while block < blocks {
            let current = factor(block);
            let used =
                if limit.is_nan() || current < limit * (1.0 - 1e-9) { current } else { limit };
            let spent = (block + 2.0) * work > BUDGET;
            let used = if spent && !limit.is_nan() { limit } else { used };
            step.apply(used, &after, &mut before, &mut terms);
            std::mem::swap(&mut after, &mut before);
            block += 1.0;
            if after[rest_state] == f64::INFINITY {
                return f64::INFINITY;
            }
            if limit.is_nan() || used == limit {
                let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
                for &state in &step.reached {
                    let added = after[state] - before[state];
                    if added.is_nan() {
                        (most, least) = (f64::INFINITY, f64::NEG_INFINITY);
                        break;
                    }
                    most = most.max(added);
                    least = least.min(added);
                }
                let left = blocks - block;
                let defect = left * (most - least);
                if spent || defect <= 1e-3 + 1e-5 * (after[rest_state] + left * most).abs() {
                    let rest = if left > 0.0 { left * most } else { 0.0 };
                    return after[rest_state] + rest + 1e-13 * rest.abs();
                }
            }
        }
        after[rest_state]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `E e^{θ‖Cy‖²}` and `E e^{−w Σ_{u<v} y_u G_uv y_v}` over all patterns.
    fn enumerated(pair: &Pair, theta: f64, weight: f64) -> (f64, f64) {
        let (mut attraction, mut repulsion) = (0.0, 0.0);
        for bits in 0..1_u32 << pair.steps() {
            let (mut row, mut norm2, mut alone, mut mass) = (0.0, 0.0, 0.0, 1.0);
            for t in 0..pair.steps() {
                let y = f64::from(bits >> t & 1);
                row = pair.lambda() * row + y;
                norm2 += row * row;
                alone += y * pair.gram_diagonal((pair.steps() - t) as f64);
                mass *= if y == 1.0 { pair.rate() } else { 1.0 - pair.rate() };
            }
            attraction += mass * (theta * norm2).exp();
            repulsion += mass * (-weight * 0.5 * (norm2 - alone)).exp();
        }
        (attraction.ln(), repulsion.ln())
    }

    #[test]
    fn blocks_of_every_length_bound_the_enumeration() {
        for (lambda, steps, rate) in [(0.9, 7, 0.3), (0.97, 10, 0.1), (0.995, 11, 0.5)] {
            let pair = Pair::new(rate, 1.0, lambda, steps).unwrap();
            for weight in [0.002, 0.05, 0.3] {
                let (attraction, repulsion) = enumerated(&pair, weight / 2.0, weight);
                for block in [1.0, 2.0, 3.0, 4.0] {
                    let chain =
                        Chain { pair: &pair, replicas: 1.0, block, ratio: 0.97, floor: 1e-3 };
                    let up = chain.attraction(weight, 0.5);
                    let down = chain.repulsion(weight);
                    let context = format!("{lambda} {weight} {block}: {up} {attraction}");
                    assert!(up >= attraction && down >= repulsion, "{context}");
                    assert!(down <= 0.0 && (block > 1.0 || up < 1.2 * attraction), "{context}");
                }
            }
        }
    }

    #[test]
    fn a_long_run_is_the_sum_of_its_stationary_growth() {
        let pair = |steps| Pair::new(0.02, 1.0, 0.8, steps).unwrap();
        let log = |steps| {
            let pair = pair(steps);
            let chain = Chain { pair: &pair, replicas: 3.0, block: 1.0, ratio: 0.97, floor: 1e-3 };
            (chain.attraction(0.2, 0.0), chain.repulsion(0.2))
        };
        let (short, middle, long) = (log(500), log(1000), log(1500));
        assert!(((long.0 - middle.0) / (middle.0 - short.0) - 1.0).abs() < 1e-2);
        assert!(((long.1 - middle.1) / (middle.1 - short.1) - 1.0).abs() < 1e-2);
        assert!(log(1_000_000).0 >= (long.0 - middle.0) * 1.99e3);
    }
}
