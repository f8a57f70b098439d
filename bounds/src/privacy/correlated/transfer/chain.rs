//! One step of the transfer: how the state (position, damping) and the likelihood ratio change.

use nalgebra::DMatrix;

use super::damping::{Damping, Split};
use super::positions::Positions;
use super::{Repulsion, Resolution};
use crate::privacy::{Order, Pair};

/// Relative distance of the Gram diagonal from its limit at which the limit (or the value reached)
/// takes its place.
const STATIONARY: f64 = 3e-4;
/// Most tables before the chain is treated as stationary.
const OPENING_TABLES: f64 = 128.0;
/// Largest grids: positions (their transition matrix is square) and states.
const LARGEST_WIDTH: f64 = 3000.0;
const LARGEST_STATE: f64 = 40_000.0;

/// The tables of one step. Arrays run over damping nodes, then positions.
pub(super) struct Step {
    /// `log o`, the odds of participation after damping.
    pub(super) log_odds: Vec<f64>,
    /// `log γ >= 0`: how much less future the state after a participation has.
    pub(super) log_gamma: Vec<f64>,
    /// `log(1 + o/γ)`.
    pub(super) log_normaliser: Vec<f64>,
    /// Where damping goes without and with a participation.
    pub(super) idle: Vec<Split>,
    pub(super) joined: Vec<Split>,
    /// The largest growth of the log ratio in this step.
    pub(super) largest_growth: f64,
}

/// Steps that share their tables.
pub(super) struct Phase {
    pub(super) step: Step,
    pub(super) repeat: u64,
    /// The Gram diagonal of the tables. Phases of equal value differ in γ only.
    pub(super) gram: f64,
}

/// The discretised process of one pair in one order, latest step first.
pub(super) struct Chain {
    pub(super) pair: Pair,
    pub(super) order: Order,
    pub(super) positions: Positions,
    pub(super) damping: Damping,
    pub(super) phases: Vec<Phase>,
    /// Of the resolution, for the inversion.
    pub(super) smoothing: f64,
}

impl Chain {
    /// `None` if the grids would be too large.
    pub(super) fn new(
        pair: &Pair,
        order: Order,
        repulsion: Repulsion,
        resolution: Resolution,
    ) -> Option<Self> {
        let (lambda, sigma) = (pair.lambda(), pair.noise_multiplier());
        let limit = pair.gram_diagonal(pair.horizon());
        let deviation = limit.sqrt();
        let spacing = resolution.spacing;
        let (lowest, highest) = match order {
            Order::Forward => {
                let above = (2.0 * (pair.horizon().ln() + 30.0)).sqrt();
                (5.5 * deviation, 3.0 * limit / sigma + above * deviation)
            }
            // What falls below the grid counts whole in this order, so it has to be nothing.
            Order::Reverse => {
                let log_visits = 41.0 + pair.horizon().ln();
                let lowest = (2.0 * variance_proxy(spacing) * log_visits).sqrt() * deviation;
                (lowest, limit / sigma + 6.0 * deviation)
            }
        };
        let dropped = repulsion == Repulsion::Dropped || lambda == 0.0;
        let increment = scaled_gram(limit, order, spacing) / (sigma * sigma);
        let width = Positions::size(spacing, lowest, highest);
        let dampings =
            if dropped { 1.0 } else { Damping::size(lambda, increment, resolution.damping_ratio) };
        // Written so that a size that is not a number is too large.
        if !(width <= LARGEST_WIDTH && width * dampings <= LARGEST_STATE) {
            return None;
        }
        let positions = Positions::new(lambda, spacing, lowest, highest);
        let damping = if dropped {
            Damping::dropped()
        } else {
            Damping::kept(order, lambda, increment, resolution.damping_ratio)
        };
        let smoothing = resolution.smoothing;
        let mut chain =
            Self { pair: *pair, order, positions, damping, phases: Vec::new(), smoothing };
        chain.phases = chain.build_phases();
        Some(chain)
    }

    /// Number of states.
    pub(super) fn states(&self) -> usize {
        self.positions.nodes.len() * self.damping.nodes.len()
    }

    /// Multiplications that one frequency takes, about: the steps until growth has settled, real and
    /// imaginary part.
    pub(super) fn work(&self) -> f64 {
        let (lambda, horizon) = (self.pair.lambda(), self.pair.horizon());
        let memory = if lambda > 0.0 { (20.0 + horizon.ln()) / -lambda.ln() } else { 0.0 };
        #[allow(clippy::cast_precision_loss)]
        let width = self.positions.nodes.len() as f64;
        #[allow(clippy::cast_precision_loss)]
        let states = self.states() as f64;
        2.25 * (memory + 16.0).min(horizon) * width * states
    }

    /// `T log(1 − r)`, which is kept outside the recursion.
    pub(super) fn base(&self) -> f64 {
        self.pair.horizon() * (-self.pair.rate()).ln_1p()
    }

    /// Probability that the chain ever leaves the grid below, counted in the reverse order only.
    pub(super) fn escape(&self) -> f64 {
        match self.order {
            Order::Forward => 0.0,
            Order::Reverse => {
                let deviation = self.pair.gram_diagonal(self.pair.horizon()).sqrt();
                let proxy = variance_proxy(self.positions.spacing);
                let ever_beyond = |node: f64| {
                    let distance = node / deviation;
                    self.pair.horizon() * (-distance * distance / (2.0 * proxy)).exp()
                };
                let nodes = &self.positions.nodes;
                // Every visit to the top restarts the chain there.
                ever_beyond(nodes[0]) * (1.0 + ever_beyond(nodes[nodes.len() - 1])) * (1.0 + 1e-9)
            }
        }
    }

    /// The Gram diagonal of the step with `rows_left` rows to the end: never above the true one in the
    /// forward order, never below in the reverse order.
    fn gram_schedule(&self) -> Vec<(f64, u64)> {
        let pair = &self.pair;
        let (lambda, steps) = (pair.lambda(), pair.steps());
        if lambda == 0.0 {
            return vec![(1.0, steps)];
        }
        let settled = (STATIONARY.ln() / (2.0 * lambda.ln())).ceil().max(1.0);
        let group = (settled.min(pair.horizon()) / OPENING_TABLES).ceil();
        let mut schedule = Vec::new();
        let mut done = 0u64;
        while done < steps {
            #[allow(clippy::cast_precision_loss)] // at most 2^53
            let first = done as f64 + 1.0;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let length = if first >= settled { steps - done } else { group as u64 };
            let length = length.min(steps - done);
            #[allow(clippy::cast_precision_loss)]
            let last = (done + length) as f64;
            let gram = match self.order {
                Order::Forward => pair.gram_diagonal(first),
                Order::Reverse => pair.gram_diagonal(last),
            };
            schedule.push((gram, length));
            done += length;
        }
        schedule
    }

    fn build_phases(&self) -> Vec<Phase> {
        let schedule = self.gram_schedule();
        let steady = schedule.last().map_or(1.0, |(gram, _)| *gram);
        let futures = self.futures(steady);
        let closing = futures.len() as u64;
        let mut phases = Vec::new();
        let mut left = self.pair.steps();
        for (gram, length) in schedule {
            // The last steps have their own γ, one table each.
            let regular = length.min(left.saturating_sub(closing));
            if regular > 0 {
                let gamma = futures.last().map_or(&[][..], |gamma| gamma);
                phases.push(Phase { step: self.step(gram, gamma), repeat: regular, gram });
            }
            for remaining in (left - length + 1..=left - regular).rev() {
                #[allow(clippy::cast_possible_truncation)] // below the number of tables
                let gamma = &futures[remaining as usize - 1];
                phases.push(Phase { step: self.step(gram, gamma), repeat: 1, gram });
            }
            left -= length;
        }
        phases
    }

    /// `log γ` for the last steps, the entry of index `k` for the step with `k` steps after it; the last
    /// entry serves all earlier steps. Any `γ > 0` is valid; this one is the ratio of the expected
    /// futures of the two atoms.
    fn futures(&self, gram: f64) -> Vec<Vec<f64>> {
        let states = self.states();
        let mut all = vec![vec![0.0; states]];
        if self.damping.nodes.len() == 1 {
            return all;
        }
        let memory = 5.0 / (1.0 - self.pair.lambda());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let wanted = (memory + 5.0).min(self.pair.horizon()) as usize;
        // Over a long run the exact futures of the last steps do not matter.
        let keep_all = self.pair.horizon() <= 8.0 * memory;
        let plain = self.step(gram, &all[0]);
        let width = self.positions.nodes.len();
        let mut future = vec![1.0; states];
        for _ in 1..wanted {
            future = self.expected_future(&plain, &future);
            let mut gamma = vec![0.0; states];
            for d in 0..self.damping.nodes.len() {
                for c in 0..width {
                    let idle = interpolate(&future, plain.idle[d], width, c);
                    let joined = interpolate(&future, plain.joined[d], width, c);
                    let log = (idle / joined).ln();
                    // Both futures may have underflowed.
                    gamma[d * width + c] = if log > 0.0 { log.min(600.0) } else { 0.0 };
                }
            }
            if keep_all { all.push(gamma) } else { all[0] = gamma }
        }
        all
    }

    /// One backward step of the expected likelihood ratio, scaled to a largest value of 1.
    pub(super) fn expected_future(&self, step: &Step, future: &[f64]) -> Vec<f64> {
        let odds: Vec<f64> = step.log_odds.iter().map(|log| log.min(600.0).exp()).collect();
        let mut next = self.after_update(step, None, &odds, future);
        next = self.before_move(&self.positions.kernel, &next);
        let largest = next.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        next.iter_mut().for_each(|value| *value /= largest);
        next
    }

    /// `u(z, D) = w f(z, D idle) + o f(z, D joined)`, `w = 1` if not given.
    pub(super) fn after_update(
        &self,
        step: &Step,
        idle_weights: Option<&[f64]>,
        joined_weights: &[f64],
        future: &[f64],
    ) -> Vec<f64> {
        let width = self.positions.nodes.len();
        let mut out = vec![0.0; future.len()];
        for d in 0..self.damping.nodes.len() {
            for c in 0..width {
                let at = d * width + c;
                let idle = interpolate(future, step.idle[d], width, c);
                let joined = interpolate(future, step.joined[d], width, c);
                out[at] = idle_weights.map_or(idle, |weights| weights[at] * idle)
                    + joined_weights[at] * joined;
            }
        }
        out
    }

    /// `Σ_z K(z' → z) f(z, D)`.
    pub(super) fn before_move(&self, kernel: &DMatrix<f64>, future: &[f64]) -> Vec<f64> {
        let width = self.positions.nodes.len();
        let view = nalgebra::DMatrixView::from_slice(future, width, self.damping.nodes.len());
        let mut out = DMatrix::zeros(width, self.damping.nodes.len());
        out.gemm_tr(1.0, kernel, &view, 0.0);
        out.as_slice().to_vec()
    }

    fn step(&self, gram: f64, log_gamma: &[f64]) -> Step {
        let (lambda, sigma, rate) =
            (self.pair.lambda(), self.pair.noise_multiplier(), self.pair.rate());
        let gram = scaled_gram(gram, self.order, self.positions.spacing);
        let prior = rate.ln() - (-rate).ln_1p();
        let increment = gram / (sigma * sigma);
        let mut log_odds = Vec::with_capacity(self.states());
        for damping in &self.damping.nodes {
            for z in &self.positions.nodes {
                log_odds.push(prior + z / sigma - 0.5 * increment - lambda * damping);
            }
        }
        let log_normaliser: Vec<f64> =
            log_odds.iter().zip(log_gamma).map(|(o, g)| softplus(o - g)).collect();
        let largest_growth =
            log_normaliser.iter().zip(log_gamma).map(|(n, g)| n + g).fold(0.0, f64::max);
        let split = |shift: f64| {
            let nodes = self.damping.nodes.iter();
            nodes.map(|damping| self.damping.split(lambda * damping + shift)).collect()
        };
        Step {
            log_odds,
            log_gamma: log_gamma.to_vec(),
            log_normaliser,
            idle: split(0.0),
            joined: split(increment),
            largest_growth,
        }
    }
}

/// In the reverse order the two-point noise of the position grid is paid for by a larger Gram matrix
/// (Hoeffding's lemma, `h²/4` relative). Rounding goes to the side of the order.
fn scaled_gram(gram: f64, order: Order, spacing: f64) -> f64 {
    match order {
        Order::Forward => gram * (1.0 - 1e-12),
        Order::Reverse => gram * (1.0 + 0.25 * spacing * spacing) * (1.0 + 1e-12),
    }
}

/// Variance proxy of one innovation with its two-point noise.
fn variance_proxy(spacing: f64) -> f64 {
    1.0 + 0.25 * spacing * spacing
}

fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

fn interpolate(values: &[f64], split: Split, width: usize, position: usize) -> f64 {
    let low = values[split.cell * width + position];
    if split.weight == 0.0 {
        return low;
    }
    (1.0 - split.weight) * low + split.weight * values[(split.cell + 1) * width + position]
}
