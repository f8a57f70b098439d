//! `α` independent copies of the participation bits, tilted by their overlap: the proposal of the
//! forward certificate.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::kernel::Lane;
use super::occupancy_grid::{FINE, OccupancyGrid};
use super::precondition;
use crate::error::{BoundError, Result};
use crate::privacy::Pair;
use crate::special::{Binomial, hockey_stick_exponent};

/// Smallest positive cell of the chain: rounding up costs efficiency only.
const SMALLEST: f64 = 1e-2;
/// Coarser cells for comparing orders.
const COARSE: f64 = 0.93;
/// Orders that are tried.
pub(super) const ORDERS: std::ops::RangeInclusive<u64> = 2..=120;
/// Most entries of the table of future normalisers (256 MB).
const MOST_ENTRIES: usize = 1 << 25;
/// Terms smaller than `e^{−40}` of the largest do not change a double.
const NEGLIGIBLE: f64 = -40.0;
/// The table is continued by a constant per step once all steps together err by less than this.
const DEFECT: f64 = 1e-9;

/// The chain `n_t ~ Bin(α, r)` weighted by `exp(κ^{−2} Σ_t G_tt [n_t(n_t−1)/2 + n_t q_t])`,
/// `q_{t+1} = λ(q_t + n_t)` rounded up, and normalised by its table of futures.
#[derive(Debug)]
pub(super) struct ReplicaChain {
    lambda: f64,
    noise: f64,
    steps: usize,
    order: usize,
    grid: OccupancyGrid,
    /// `log P(Bin(α, r) = n)`.
    log_mass: Vec<f64>,
    /// Next state by `n` and state; the last state is `q = 0`.
    next: Vec<usize>,
    /// `G/κ²` by the number of rows left, from 0.
    strength: Vec<f64>,
    /// Logarithm of the future normaliser by rows left and state.
    future: Vec<Vec<f64>>,
    /// Probability of `n = 0` by rows left (from 1) and state.
    absent: Vec<Vec<f64>>,
    /// What every further row adds to `future`.
    growth: f64,
    /// `log Z_α` as computed.
    pub log_normaliser: f64,
    /// Bound on the logarithmic error of the weight `Z_α w` of a path.
    pub defect: f64,
    /// Bound on the distance in total variation between the sampled and the intended paths.
    pub deviation: f64,
}

impl ReplicaChain {
    /// For a pair with `0 < r < 1`, at least one step and an order `α >= 2`.
    pub(super) fn new(pair: &Pair, order: u64) -> Result<Self> {
        Self::with_ratio(pair, order, FINE)
    }

    fn with_ratio(pair: &Pair, order: u64, ratio: f64) -> Result<Self> {
        let steps = precondition::steps(pair)?;
        let copies = usize::try_from(order).unwrap_or(usize::MAX);
        let alpha = precondition::real(copies);
        let grid = OccupancyGrid::new(pair.lambda(), ratio, SMALLEST, alpha)?;
        let law = Binomial::new(alpha, pair.rate());
        let states = grid.len() + 1;
        let mut next = Vec::with_capacity((copies + 1) * states);
        for n in 0..=copies {
            for state in 0..states {
                let from = Some(state).filter(|&cell| cell < grid.len());
                next.push(match from {
                    _ if grid.len() == 0 => 0,
                    None if n == 0 => grid.len(),
                    Some(cell) if n == 0 => grid.absent_up(cell),
                    _ => grid.up(from, precondition::real(n)),
                });
            }
        }
        let inverse_variance = pair.noise_multiplier().powi(2).recip();
        let mut strength = precondition::gram(pair, steps);
        strength.push(0.0);
        strength.iter_mut().for_each(|gram| *gram *= inverse_variance);
        strength.reverse();
        let mut chain = Self {
            lambda: pair.lambda(),
            noise: pair.noise_multiplier(),
            steps,
            order: copies,
            grid,
            log_mass: (0..=copies).map(|n| law.log_mass(precondition::real(n))).collect(),
            next,
            strength,
            future: vec![vec![0.0; states]],
            absent: Vec::new(),
            growth: 0.0,
            log_normaliser: 0.0,
            defect: 0.0,
            deviation: 0.0,
        };
        chain.fill(alpha)?;
        Ok(chain)
    }

    /// The table of futures, until it is long enough or only grows by a constant.
    ///
    /// The map from one row to the next is monotone and commutes with constants, so it is a
    /// contraction in the largest difference: once a row is the previous one plus a constant up to
    /// `d`, continuing it by the constant errs by at most `d` per step.
    fn fill(&mut self, alpha: f64) -> Result<()> {
        let states = self.grid.len() + 1;
        let horizon = precondition::real(self.steps);
        let (mut extrapolated, mut largest) = (0.0, 1.0f64);
        for left in 1..=self.steps {
            if left * states > MOST_ENTRIES {
                return Err(BoundError::Unproven {
                    request: format!("importance sampling of {} correlated steps", self.steps),
                    why: "the table of futures would take more than 256 MB",
                    nearest: "fewer steps, a smaller lambda, or a deterministic bound",
                });
            }
            let (row, absent) = self.row(left);
            let old = &self.future[left - 1];
            let growth = row[states - 1] - old[states - 1];
            let differs = row.iter().zip(old).map(|(new, old)| (new - old - growth).abs());
            let differs = differs.fold(0.0, f64::max);
            largest = row.iter().fold(largest, |size, value| size.max(value.abs()));
            self.future.push(row);
            self.absent.push(absent);
            let constant = self.strength[left] == self.strength[self.steps];
            if constant && left < self.steps && differs * horizon <= DEFECT {
                self.growth = growth;
                self.continue_absent();
                extrapolated = differs * horizon;
                break;
            }
        }
        let kept = self.future.len() - 1;
        let rest = precondition::real(self.steps - kept) * self.growth;
        self.log_normaliser = self.future[kept][states - 1] + rest;
        let reach = alpha * (alpha / 2.0 + self.grid.cells().first().copied().unwrap_or(0.0));
        let size = largest + self.strength[self.steps] * reach + alpha;
        let rounding = horizon * 4.0 * f64::EPSILON * size;
        self.defect = extrapolated + rounding;
        self.deviation = (alpha + 2.0) * rounding;
        if self.log_normaliser.is_finite() && self.defect < 1.0 {
            return Ok(());
        }
        Err(BoundError::Unproven {
            request: format!("importance sampling at replica order {}", self.order),
            why: "the normaliser of the replicas is out of the range of double precision",
            nearest: "a lower order or more noise",
        })
    }

    /// `log P(n) + κ^{−2} G [n(n−1)/2 + n q]`.
    fn log_weight(&self, left: usize, state: usize, n: usize) -> f64 {
        let count = precondition::real(n);
        let overlap = self.grid.cells().get(state).copied().unwrap_or(0.0);
        self.log_mass[n] + self.strength[left] * count * (0.5 * (count - 1.0) + overlap)
    }

    fn after(&self, state: usize, n: usize) -> usize {
        self.next[n * (self.grid.len() + 1) + state]
    }

    /// One row of futures and the probabilities of `n = 0`.
    fn row(&self, left: usize) -> (Vec<f64>, Vec<f64>) {
        let later = &self.future[left - 1];
        let mut terms = vec![0.0; self.order + 1];
        (0..=self.grid.len())
            .map(|state| {
                let mut top = f64::NEG_INFINITY;
                for (n, term) in terms.iter_mut().enumerate() {
                    *term = self.log_weight(left, state, n) + later[self.after(state, n)];
                    top = top.max(*term);
                }
                let relevant = terms.iter().map(|term| term - top).filter(|&d| d > NEGLIGIBLE);
                let value = top + relevant.map(f64::exp).sum::<f64>().ln();
                (value, (terms[0] - value).exp())
            })
            .unzip()
    }

    /// The probabilities of `n = 0` for all rows beyond the table.
    fn continue_absent(&mut self) {
        let left = self.future.len();
        let probabilities =
            (0..=self.grid.len()).map(|state| self.log_conditional(left, state, 0).exp()).collect();
        self.absent.push(probabilities);
    }

    /// `log P(n | state)` with `left` rows left.
    fn log_conditional(&self, left: usize, state: usize, n: usize) -> f64 {
        let kept = self.future.len() - 1;
        let (here, later, growth) = if left <= kept {
            (&self.future[left], &self.future[left - 1], 0.0)
        } else {
            (&self.future[kept], &self.future[kept], self.growth)
        };
        self.log_weight(left, state, n) + later[self.after(state, n)] - here[state] - growth
    }

    /// Draws a path `n` and the output `x = C n + κ z` into one lane; returns `log w <= 0`,
    /// `w = exp(−κ^{−2} Σ n_t G_tt (q_up − q))` with `q` exact.
    pub(super) fn sample(&self, rng: &mut ChaCha8Rng, outputs: &mut [Lane], lane: usize) -> f64 {
        let (mut state, mut overlap, mut log_weight) = (self.grid.len(), 0.0, 0.0);
        for (row, left) in outputs.iter_mut().zip((1..=self.steps).rev()) {
            let n = self.draw(rng, state, left);
            let count = precondition::real(n);
            if n > 0 {
                let rounded = self.grid.cells().get(state).copied().unwrap_or(0.0);
                log_weight -= self.strength[left] * count * (rounded - overlap);
            }
            let mean = overlap + count;
            overlap = self.lambda * mean;
            state = self.after(state, n);
            row[lane] = mean + self.noise * rng.sample::<f64, _>(StandardNormal);
        }
        log_weight
    }

    fn draw(&self, rng: &mut ChaCha8Rng, state: usize, left: usize) -> usize {
        let absent = self.absent[left.min(self.absent.len()) - 1][state];
        let mut rest = rng.random::<f64>() - absent;
        if rest < 0.0 {
            return 0;
        }
        for n in 1..=self.order {
            rest -= self.log_conditional(left, state, n).exp();
            if rest < 0.0 {
                return n;
            }
        }
        // The probabilities add up to a little less than 1: the rest belongs to the bulk.
        0
    }

    /// `log M`, `M = Z_α e^{−(α−1)ε} (1/α)(1 − 1/α)^{α−1}`: no weighted sample is larger.
    pub(super) fn log_largest(&self, epsilon: f64) -> f64 {
        let above_one = precondition::real(self.order - 1);
        self.log_normaliser - above_one * epsilon + hockey_stick_exponent(above_one)
    }
}

/// The order with the smallest `M`, found on a coarser grid.
pub(super) fn best_order(pair: &Pair, epsilon: f64) -> Result<u64> {
    let mut seen: Vec<(u64, f64)> = Vec::new();
    let mut log_largest = |order: u64| -> Result<f64> {
        if let Some(&(_, value)) = seen.iter().find(|(known, _)| *known == order) {
            return Ok(value);
        }
        let value = match ReplicaChain::with_ratio(pair, order, COARSE) {
            Ok(chain) => chain.log_largest(epsilon),
            // An order out of range is merely not the best one.
            Err(_) if order > *ORDERS.start() => f64::INFINITY,
            Err(error) => return Err(error),
        };
        seen.push((order, value));
        Ok(value)
    };
    let (mut best, mut stride) = (*ORDERS.start(), 8);
    while stride > 0 {
        let here = log_largest(best)?;
        let up = (best + stride).min(*ORDERS.end());
        let down = best.saturating_sub(stride).max(*ORDERS.start());
        if log_largest(up)? < here {
            best = up;
        } else if log_largest(down)? < here {
            best = down;
        } else {
            stride /= 2;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::correlated::monte_carlo::kernel::LANES;
    use crate::privacy::correlated::monte_carlo::sampling::{Purpose, Streams};

    #[allow(clippy::type_complexity)]
    /// Oracle values of `log Z_α` without rounding, and as the prototype rounded it.
    const MOMENTS: [(u64, f64, f64, f64, u64, f64, f64, f64); 4] = [
        (4, 0.5, 0.3, 1.5, 2, 0.572_276_756_746_787_7, 1.045_217_470_363_813_7, 1.056_369_017_2),
        (4, 0.9, 0.2, 3.0, 2, 0.128_155_425_767_828_18, 0.234_324_214_766_261_17, 0.237_484_652_5),
        (4, 0.5, 0.3, 1.5, 3, 2.656_289_428_460_506_3, 4.336_389_654_814_117, 4.449_931_446_7),
        (3, 0.8, 0.4, 2.0, 4, 6.062_502_888_024_576, 8.191_260_303_816_119, 8.276_195_126_3),
    ];

    #[test]
    fn the_normaliser_is_above_the_moment_and_near_the_prototype() {
        for (steps, lambda, rate, noise, order, moment, exact, prototype) in MOMENTS {
            let pair = Pair::new(rate, noise, lambda, steps).unwrap();
            let chain = ReplicaChain::new(&pair, order).unwrap();
            assert!(moment < exact && exact <= chain.log_normaliser + 1e-12);
            assert!(chain.log_normaliser < prototype + 0.1, "{} {prototype}", chain.log_normaliser);
            assert!(chain.defect < 1e-10 && chain.deviation < 1e-9);
        }
    }

    /// The weights undo the rounding: `E Z w` is the unrounded normaliser. Five standard errors are
    /// exceeded with probability 6e-7 per case.
    #[test]
    fn the_weights_undo_the_rounding() {
        for (steps, lambda, rate, noise, order, _, exact, _) in MOMENTS {
            let pair = Pair::new(rate, noise, lambda, steps).unwrap();
            let chain = ReplicaChain::new(&pair, order).unwrap();
            let mut rng = Streams::new(5, Purpose::Forward, 0, None).chunk(0);
            let mut outputs = vec![[0.0; LANES]; steps as usize];
            let weights: Vec<f64> = (0..20_000)
                .map(|_| {
                    let log = chain.sample(&mut rng, &mut outputs, 3);
                    assert!(log <= 1e-12);
                    (chain.log_normaliser + log - exact).exp()
                })
                .collect();
            let moments = super::super::bernstein::Moments::of(&weights);
            let error = (moments.mean - 1.0).abs();
            assert!(error < 5.0 * moments.standard_error() + 1e-9, "{error} {moments:?}");
        }
    }

    #[test]
    fn continuing_by_a_constant_is_within_the_defect() {
        let pair = Pair::new(0.02, 2.5, 0.5, 400).unwrap();
        let chain = ReplicaChain::new(&pair, 6).unwrap();
        assert!(chain.future.len() < 200);
        // The same recursion without the shortcut.
        let states = chain.grid.len() + 1;
        let mut full = chain;
        let (shortcut, defect) = (full.log_normaliser, full.defect);
        full.future.truncate(1);
        for left in 1..=400 {
            let (row, absent) = full.row(left);
            let total: f64 = (0..=6)
                .map(|n| {
                    let later = full.future[left - 1][full.after(states - 1, n)];
                    (full.log_weight(left, states - 1, n) + later - row[states - 1]).exp()
                })
                .sum();
            assert!((total - 1.0).abs() < 1e-13 && absent[states - 1] < 1.0);
            full.future.push(row);
        }
        let exact = full.future[400][states - 1];
        assert!((shortcut - exact).abs() <= defect, "{shortcut} {exact} {defect}");
        assert!(defect < 3e-9);
    }

    #[test]
    fn the_best_order_is_a_local_minimum() {
        let pair = Pair::new(0.01, 2.56, 0.5, 300).unwrap();
        let best = best_order(&pair, 1.0).unwrap();
        let log_largest =
            |order| ReplicaChain::with_ratio(&pair, order, COARSE).unwrap().log_largest(1.0);
        assert!(log_largest(best) <= log_largest(best - 1));
        assert!(log_largest(best) <= log_largest(best + 1));
    }
}
