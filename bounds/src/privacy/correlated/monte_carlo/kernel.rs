//! Log-likelihood ratios of sixteen outputs at a time, the overlap `q` rounded to one side.

use super::log_domain;
use super::occupancy_grid::{FINE, OccupancyGrid, SMALLEST};
use super::precondition;
use crate::error::Result;
use crate::privacy::Pair;

/// Outputs evaluated together; the inner loops run over them and vectorise.
pub(super) const LANES: usize = 16;
/// One number for each of the outputs.
pub(super) type Lane = [f64; LANES];

/// Most entries of the table of repulsion factors (32 MB); steps share rows beyond.
const MOST_FACTORS: usize = 1 << 22;
/// A state is rescaled before it can have grown by more than this.
const GROWTH: f64 = 1e150;
/// An exponent above this is left to the log domain.
const LARGEST_EXPONENT: f64 = 320.0;
/// Masses below this are dropped, since subnormal numbers are slow; the whole state is at least 1.
const SMALLEST_MASS: f64 = 1e-200;
/// Repulsion factors below this are raised to it (upper) or their paths left out (lower).
const SMALLEST_FACTOR: f64 = 1e-100;
/// All dropped masses of all steps together are below `e^{−430}` times `e^{L̃}`: at most 2^20 steps
/// and 2^16 cells lose `1e−200` of a state that grows by no more than the product which makes up
/// `e^{L̃}`. Up to this value of `L̃ − L` that is `e^{−50}` of the result; beyond, the log domain
/// takes over.
const LOG_HARMLESS: f64 = 380.0;

/// To which side `q` is rounded, and with it on which side of `L` the result lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// `q` down, `L_up >= L`.
    Upper,
    /// `q` up, `L_lo <= L`; convex in the output.
    Lower,
}

/// Neighbouring cells that participation sends to the same cell.
#[derive(Debug)]
pub(super) struct Group {
    pub target: usize,
    pub start: usize,
    pub end: usize,
}

/// A pair prepared for one side.
#[derive(Debug)]
pub(super) struct Kernel {
    pub side: Side,
    pub lambda: f64,
    pub inverse_variance: f64,
    pub grid: OccupancyGrid,
    pub groups: Vec<Group>,
    /// `G_vv`, first step first.
    pub gram: Vec<f64>,
    log_odds: f64,
    log_absent: f64,
    row_of_step: Vec<usize>,
    factors: Vec<f64>,
    /// Most masses that a step adds into one cell, apart from a few.
    pub widest: f64,
}

/// Memory of one thread.
#[derive(Debug)]
pub(super) struct Workspace {
    /// The outputs, step by step; overwritten by [`Kernel::evaluate`].
    pub outputs: Vec<Lane>,
    cells: Vec<Lane>,
}

/// Results for sixteen outputs.
#[derive(Debug)]
pub(super) struct Ratios {
    /// `L_up` or `L_lo`.
    pub ratio: Lane,
    /// `L_tilde`, without any overlap.
    pub without_overlap: Lane,
    /// A bound on the rounding error of each of them.
    pub slack: Lane,
}

impl Kernel {
    /// For a pair with `0 < r < 1`, at least one step and not too many of them.
    pub(super) fn new(pair: &Pair, side: Side) -> Result<Self> {
        let steps = precondition::steps(pair)?;
        let grid = OccupancyGrid::new(pair.lambda(), FINE, SMALLEST, 1.0)?;
        let mut groups: Vec<Group> = Vec::new();
        for cell in 0..grid.len() {
            let target = match side {
                Side::Upper => grid.down(cell),
                Side::Lower => grid.up(Some(cell), 1.0),
            };
            match groups.last_mut() {
                Some(group) if group.target == target => group.end = cell + 1,
                _ => groups.push(Group { target, start: cell, end: cell + 1 }),
            }
        }
        let gram = precondition::gram(pair, steps);
        let inverse_variance = pair.noise_multiplier().powi(2).recip();
        let rows = MOST_FACTORS / grid.len().max(1);
        let (row_of_step, levels) = levels(&gram, rows.max(1), side);
        let factor = |level: f64, cell: &f64| {
            let factor = (-level * cell * inverse_variance).exp();
            match side {
                Side::Upper => factor.max(SMALLEST_FACTOR),
                Side::Lower if factor < SMALLEST_FACTOR => 0.0,
                Side::Lower => factor,
            }
        };
        let factors = levels
            .iter()
            .flat_map(|&level| grid.cells().iter().map(move |cell| factor(level, cell)))
            .collect();
        let widest = groups.iter().map(|group| group.end - group.start).max().unwrap_or(0);
        let rate = pair.rate();
        #[allow(clippy::cast_precision_loss)] // at most MOST_CELLS
        let widest = (widest + grid.shift()) as f64;
        Ok(Self {
            side,
            lambda: pair.lambda(),
            inverse_variance,
            grid,
            groups,
            gram,
            log_odds: rate.ln() - (-rate).ln_1p(),
            log_absent: pair.horizon() * (-rate).ln_1p(),
            row_of_step,
            factors,
            widest,
        })
    }

    /// `e^{−G g_j/κ²}` of all cells, as rounded for this side.
    fn factors(&self, level: usize) -> &[f64] {
        &self.factors[level * self.grid.len()..(level + 1) * self.grid.len()]
    }

    /// Steps in order, each with its factors.
    pub(super) fn factors_by_step(&self) -> impl Iterator<Item = &[f64]> {
        self.row_of_step.iter().map(|&level| self.factors(level))
    }

    /// Memory for one thread.
    pub(super) fn workspace(&self) -> Workspace {
        let outputs = vec![[0.0; LANES]; self.gram.len()];
        let cells = vec![[0.0; LANES]; self.room() + self.grid.len()];
        Workspace { outputs, cells }
    }

    /// By how many cells the window can slide before it has to be copied back.
    fn room(&self) -> usize {
        let shift = self.grid.shift().max(1);
        shift * self.grid.len().div_ceil(shift)
    }

    /// The ratios of `work.outputs`, which are used up.
    pub(super) fn evaluate(&self, work: &mut Workspace) -> Ratios {
        let (size, peak) = self.exponents(&mut work.outputs);
        let mut ratios =
            Ratios { ratio: [0.0; LANES], without_overlap: [0.0; LANES], slack: self.slack(&size) };
        for lane in 0..LANES {
            if !(peak[lane] <= LARGEST_EXPONENT) {
                self.in_logs(work, lane, &mut ratios);
                work.outputs.iter_mut().for_each(|row| row[lane] = f64::NEG_INFINITY);
            }
        }
        let (log_mass, log_growth) = self.sweep(work);
        for lane in 0..LANES {
            if !(peak[lane] <= LARGEST_EXPONENT) {
                continue;
            }
            ratios.ratio[lane] = log_mass[lane];
            ratios.without_overlap[lane] = log_growth[lane];
            if log_growth[lane] - log_mass[lane] > LOG_HARMLESS {
                self.in_logs(work, lane, &mut ratios);
            }
        }
        for lane in 0..LANES {
            // Equal numbers may come out in the wrong order by rounding.
            let ratio = ratios.ratio[lane].min(ratios.without_overlap[lane]);
            ratios.ratio[lane] = ratio + self.log_absent;
            ratios.without_overlap[lane] += self.log_absent;
        }
        ratios
    }

    /// One lane in the log domain.
    fn in_logs(&self, work: &Workspace, lane: usize, ratios: &mut Ratios) {
        let exponents: Vec<f64> = work.outputs.iter().map(|row| row[lane]).collect();
        let result = log_domain::evaluate(self, &exponents);
        ratios.ratio[lane] = result.log_mass;
        ratios.without_overlap[lane] = result.log_growth;
        ratios.slack[lane] += result.slack;
    }

    /// Rounding error: every operation on masses once per step, and the exponents, whose own error
    /// grows with the memory of `c`.
    fn slack(&self, size: &Lane) -> Lane {
        let operations = precondition::real(self.gram.len()) * (self.widest + 32.0);
        size.map(|size| {
            let exponents = size * 8.0 / (1.0 - self.lambda);
            f64::EPSILON * (operations + exponents - 2.0 * self.log_absent)
        })
    }

    /// Replaces `x_v` by `log(r/(1−r)) + (c_v − G_vv/2)/κ²`, `c_v = x_v + λ c_{v+1}`; returns the
    /// sum of the sizes that went into it and the largest value.
    fn exponents(&self, outputs: &mut [Lane]) -> (Lane, Lane) {
        let (mut carry, mut size) = ([0.0; LANES], [0.0; LANES]);
        let mut peak = [f64::NEG_INFINITY; LANES];
        for (row, &gram) in outputs.iter_mut().zip(&self.gram).rev() {
            #[allow(clippy::needless_range_loop)] // five arrays in step
            for lane in 0..LANES {
                carry[lane] = row[lane] + self.lambda * carry[lane];
                size[lane] += (carry[lane].abs() + gram) * self.inverse_variance;
                row[lane] = self.log_odds + (carry[lane] - 0.5 * gram) * self.inverse_variance;
                // NaN is skipped here, but stays in `size` and with it in the slack.
                peak[lane] = peak[lane].max(row[lane]);
            }
        }
        (size, peak)
    }

    /// `log Σ_y` over rounded paths and `log Π_v (1 + e_v)`, both in units of `(1 − r)^T`.
    ///
    /// The cells sit in a window of a longer array: a step without participation moves it by
    /// `shift` places, and the cells that leave it at the lower end are added to the state 0 or to
    /// the last cell. The targets of participation lie before the sources that are still to be
    /// read.
    fn sweep(&self, work: &mut Workspace) -> (Lane, Lane) {
        let count = self.grid.len();
        let shift = self.grid.shift();
        let mut start = self.room();
        work.cells.iter_mut().for_each(|cell| *cell = [0.0; LANES]);
        let mut state = Mass { zero: [1.0; LANES], log_scale: [0.0; LANES] };
        let (mut growth, mut log_growth) = ([1.0; LANES], [0.0; LANES]);
        for (row, &level) in work.outputs.iter().zip(&self.row_of_step) {
            let odds = row.map(f64::exp);
            let mut grown = growth;
            multiply(&mut grown, &odds);
            if grown.iter().any(|&value| value > GROWTH) {
                add_log(&mut log_growth, &growth);
                state.rescale(&mut work.cells[start..start + count]);
                grown = [1.0; LANES];
                multiply(&mut grown, &odds);
            }
            growth = grown;
            if count == 0 {
                continue;
            }
            if start < shift {
                work.cells.copy_within(start..start + count, self.room());
                work.cells[..self.room()].fill([0.0; LANES]);
                start = self.room();
            }
            let factors = self.factors(level);
            self.step(&mut work.cells[start - shift..start + count], factors, &odds, &mut state);
            start -= shift;
        }
        add_log(&mut log_growth, &growth);
        if count == 0 {
            return (log_growth, log_growth);
        }
        let total = state.total(&work.cells[start..start + count]);
        add_log(&mut state.log_scale, &total);
        (state.log_scale, log_growth)
    }

    /// One step; `window` starts `shift` cells before the present state.
    fn step(&self, window: &mut [Lane], factors: &[f64], odds: &Lane, state: &mut Mass) {
        let (count, shift) = (self.grid.len(), self.grid.shift());
        for group in &self.groups {
            let mut sum = [0.0; LANES];
            let sources = &window[shift + group.start..shift + group.end];
            for (cell, &factor) in sources.iter().zip(&factors[group.start..group.end]) {
                for lane in 0..LANES {
                    sum[lane] += factor * cell[lane];
                }
            }
            deposit(&mut window[group.target], odds, &sum);
        }
        deposit(&mut window[self.grid.one()], odds, &state.zero);
        let (kept, gone) = window.split_at_mut(count);
        let receiver = match self.side {
            Side::Upper => &mut state.zero,
            Side::Lower => &mut kept[count - 1],
        };
        for cell in gone {
            for lane in 0..LANES {
                receiver[lane] += cell[lane];
            }
        }
    }
}

/// The part of the state that is not in cells.
struct Mass {
    zero: Lane,
    log_scale: Lane,
}

impl Mass {
    fn total(&self, cells: &[Lane]) -> Lane {
        let mut total = self.zero;
        for cell in cells {
            for lane in 0..LANES {
                total[lane] += cell[lane];
            }
        }
        total
    }

    fn rescale(&mut self, cells: &mut [Lane]) {
        let total = self.total(cells);
        add_log(&mut self.log_scale, &total);
        for cell in cells.iter_mut().chain([&mut self.zero]) {
            for lane in 0..LANES {
                let scaled = cell[lane] / total[lane];
                cell[lane] = if scaled < SMALLEST_MASS { 0.0 } else { scaled };
            }
        }
    }
}

fn multiply(product: &mut Lane, odds: &Lane) {
    for lane in 0..LANES {
        product[lane] *= 1.0 + odds[lane];
    }
}

fn add_log(sum: &mut Lane, value: &Lane) {
    for lane in 0..LANES {
        sum[lane] += value[lane].ln();
    }
}

fn deposit(cell: &mut Lane, odds: &Lane, mass: &Lane) {
    for lane in 0..LANES {
        let sum = cell[lane] + odds[lane] * mass[lane];
        cell[lane] = if sum < SMALLEST_MASS { 0.0 } else { sum };
    }
}

/// For every step its row of factors, and the `G` of each row: steps with equal `G` share one, and
/// where there would be more than `most` rows, neighbouring ones share the `G` that errs to the
/// right side.
fn levels(gram: &[f64], most: usize, side: Side) -> (Vec<usize>, Vec<f64>) {
    let mut distinct = Vec::new();
    let mut of_step = Vec::with_capacity(gram.len());
    for &level in gram {
        if distinct.last() != Some(&level) {
            distinct.push(level);
        }
        of_step.push(distinct.len() - 1);
    }
    let shared = distinct.len().div_ceil(most).max(1);
    let rows = distinct
        .chunks(shared)
        .map(|chunk| {
            // G falls from step to step, and L with G.
            let kept = if side == Side::Upper { chunk.last() } else { chunk.first() };
            kept.copied().unwrap_or(1.0)
        })
        .collect();
    (of_step.into_iter().map(|level| level / shared).collect(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_rows_err_to_their_side() {
        let pair = Pair::new(0.1, 1.0, 0.9, 60).unwrap();
        let gram = precondition::gram(&pair, 60);
        for most in [1, 7, 59, 60, 1000] {
            for side in [Side::Upper, Side::Lower] {
                let (of_step, rows) = levels(&gram, most, side);
                assert!(rows.len() <= most);
                for (&level, &exact) in of_step.iter().zip(&gram) {
                    match side {
                        Side::Upper => assert!(rows[level] <= exact),
                        Side::Lower => assert!(rows[level] >= exact),
                    }
                    assert!(most < 60 || rows[level] == exact);
                }
            }
        }
    }

    /// Sixteen outputs of mixed size at once, each also alone through the log domain.
    #[test]
    fn linear_and_log_domain_agree_lane_by_lane() {
        for (lambda, noise, steps) in [(0.0, 0.8, 30), (0.5, 0.4, 300), (0.9, 1.1, 50)] {
            let pair = Pair::new(0.1, noise, lambda, steps).unwrap();
            for side in [Side::Upper, Side::Lower] {
                let kernel = Kernel::new(&pair, side).unwrap();
                let mut work = kernel.workspace();
                for (step, row) in work.outputs.iter_mut().enumerate() {
                    for (lane, value) in row.iter_mut().enumerate() {
                        let wave = (step * (lane + 3)) as f64 * 0.7;
                        *value = wave.sin() * noise + lane as f64 * 0.4 - 1.0;
                    }
                }
                let mut exponents = work.outputs.clone();
                kernel.exponents(&mut exponents);
                let ratios = kernel.evaluate(&mut work);
                for lane in 0..LANES {
                    let alone: Vec<f64> = exponents.iter().map(|row| row[lane]).collect();
                    let logs = log_domain::evaluate(&kernel, &alone);
                    let expected = logs.log_mass + kernel.log_absent;
                    let error = (ratios.ratio[lane] - expected).abs();
                    assert!(error < 1e-11 * (1.0 + expected.abs()), "{lane}: {error} {expected}");
                    // The bounds on the rounding errors hold, and suffice outside the log domain.
                    assert!(error <= ratios.slack[lane] + logs.slack, "{lane}: {error}");
                    let linear = logs.log_growth - logs.log_mass < LOG_HARMLESS;
                    assert!(!linear || ratios.slack[lane] < 1e-9);
                    let tilde = logs.log_growth + kernel.log_absent;
                    assert!(
                        (ratios.without_overlap[lane] - tilde).abs() < 1e-11 * (1.0 + tilde.abs())
                    );
                }
            }
        }
    }
}
