//! Moments `E S^s` of the likelihood ratio `S` of a chain, for real and complex `s`.

use nalgebra::DMatrix;
use rayon::prelude::*;

use super::chain::{Chain, Step};

/// Frequencies that go through the recursion together.
const LANES: usize = 4;
/// Steps between two tests for convergence.
const CHECK_EVERY: u64 = 8;
/// A lane below this share of the real moment no longer matters.
const NEGLIGIBLE: f64 = 1e-9;
/// Error relative to the real moment at which the remaining equal steps are taken at once.
const CONVERGED: f64 = 1e-8;
/// Spread of the growth over the states that rounding leaves.
const ROUNDING_SPREAD: f64 = 2e-14;
/// States below this share of the whole are left out of comparisons, and may be flushed to zero. What
/// this can cost is bounded by [`super::underflow`].
pub(super) const FLOOR: f64 = 1e-270;
/// Values that are flushed to zero; the whole is kept above 1e-15.
const SMALLEST: f64 = 1e-290;

/// `E S^{a + iω} / E S^a` with a bound on the error of the ratio.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ratio {
    pub(super) re: f64,
    pub(super) im: f64,
    pub(super) error: f64,
}

/// Measures over (damping, position) stored one position grid a column; lane 0 is real, the others
/// have a real and an imaginary block of columns.
struct Lanes {
    values: DMatrix<f64>,
    scratch: DMatrix<f64>,
    dampings: usize,
    /// Complex lanes still followed; the later ones are negligible.
    alive: usize,
}

/// `E[S^s; branch]` factors of one step for every lane, arrays over (damping, position).
pub(super) struct Weights {
    idle: Vec<Vec<f64>>,
    joined: Vec<Vec<f64>>,
}

/// `log E S^a`, an upper bound up to [`super::underflow`], or `None` where a single step overflows.
pub(super) fn log_real_moment(chain: &Chain, exponent: f64) -> Option<f64> {
    follow(chain, exponent, |_, _| ())
}

/// As [`log_real_moment`], reporting the logarithm after every step that is made, by their number.
pub(super) fn follow(
    chain: &Chain,
    exponent: f64,
    mut report: impl FnMut(f64, f64),
) -> Option<f64> {
    let overflow = |step: &Step| ((exponent - 1.0).abs() + 1.0) * step.largest_growth > 600.0;
    if chain.phases.iter().any(|phase| overflow(&phase.step)) {
        return None;
    }
    let mut lanes = Lanes::new(chain, 0);
    let (mut log_scale, mut made) = (0.0, 0.0);
    for phase in &chain.phases {
        let weights = Weights::new(&phase.step, exponent, 0.0, 0.0, 0);
        let mut left = phase.repeat;
        while left > 0 {
            let check = left > CHECK_EVERY && left.is_multiple_of(CHECK_EVERY);
            let before = check.then(|| lanes.values.clone());
            lanes.advance(chain, &phase.step, &weights);
            left -= 1;
            made += 1.0;
            report(made, log_scale + lanes.total(0).ln());
            if let Some((low, high)) = before.and_then(|before| lanes.growth(&before)) {
                #[allow(clippy::cast_precision_loss)]
                let remaining = left as f64;
                let spread = high / low - 1.0;
                if spread * remaining < CONVERGED || spread < ROUNDING_SPREAD {
                    log_scale += remaining * high.ln();
                    made += remaining;
                    left = 0;
                    report(made, log_scale + lanes.total(0).ln());
                }
            }
            log_scale += lanes.rescale();
        }
    }
    let slack = chain.pair.horizon() * rounding_of_a_step(chain, exponent, 0.0);
    Some(log_scale + lanes.total(0).ln() + slack)
}

/// The ratios at frequencies `ω_j = j·spacing`, `j = 0..count`, for the exponents `a ± iω_j`.
pub(super) fn ratios(chain: &Chain, exponent: f64, spacing: f64, count: usize) -> Vec<Ratio> {
    let batches: Vec<usize> = (1..count).step_by(LANES).collect();
    let one = Ratio { re: 1.0, im: 0.0, error: 0.0 };
    let rest = batches.par_iter().flat_map_iter(|first| {
        let lanes = LANES.min(count - first);
        batch(chain, exponent, spacing, *first, lanes)
    });
    let mut all = vec![one];
    all.extend(rest.collect::<Vec<_>>());
    all
}

fn batch(chain: &Chain, exponent: f64, spacing: f64, first: usize, count: usize) -> Vec<Ratio> {
    let mut lanes = Lanes::new(chain, count);
    let mut errors = vec![0.0; count];
    #[allow(clippy::cast_precision_loss)]
    let (lowest, highest) = (first as f64 * spacing, (first + count) as f64 * spacing);
    let mut taken = 0u64;
    for phase in &chain.phases {
        let weights = Weights::new(&phase.step, exponent, lowest, spacing, lanes.alive);
        let mut left = phase.repeat;
        while left > 0 {
            taken += 1;
            let check = taken.is_multiple_of(CHECK_EVERY);
            let before = check.then(|| lanes.values.clone());
            lanes.advance(chain, &phase.step, &weights);
            left -= 1;
            if let Some(before) = before {
                lanes.drop_negligible(&mut errors);
                if lanes.alive == 0 {
                    return finish(chain, &lanes, &errors, (exponent, highest));
                }
                left -= lanes.take_equal_steps(&before, left, &mut errors);
            }
            lanes.rescale();
        }
    }
    finish(chain, &lanes, &errors, (exponent, highest))
}

fn finish(
    chain: &Chain,
    lanes: &Lanes,
    errors: &[f64],
    (exponent, frequency): (f64, f64),
) -> Vec<Ratio> {
    let rounding = chain.pair.horizon() * rounding_of_a_step(chain, exponent, frequency);
    let real = lanes.total(0);
    let ratio = |(lane, error): (usize, &f64)| {
        let error = error + rounding;
        if lane >= lanes.alive {
            return Ratio { re: 0.0, im: 0.0, error };
        }
        let (re, im) = (lanes.total(1 + 2 * lane), lanes.total(2 + 2 * lane));
        Ratio { re: re / real, im: im / real, error }
    };
    errors.iter().enumerate().map(ratio).collect()
}

/// Rounding of one step relative to the real moment at `exponent`: sums over positions, the two
/// branches, the arguments of the exponentials and phases, the transition probabilities.
pub(super) fn rounding_of_a_step(chain: &Chain, exponent: f64, frequency: f64) -> f64 {
    let nodes = &chain.positions.nodes;
    #[allow(clippy::cast_precision_loss)]
    let terms = nodes.len() as f64 + 64.0;
    let growth = chain.phases.iter().map(|phase| phase.step.largest_growth).fold(0.0, f64::max);
    let sigma = chain.pair.noise_multiplier();
    let farthest = nodes[nodes.len() - 1].max(-nodes[0]) / sigma;
    let gram = chain.phases.iter().map(|phase| phase.gram).fold(0.0, f64::max) / (sigma * sigma);
    let damped = chain.damping.nodes.last().map_or(0.0, |top| chain.pair.lambda() * top);
    let arguments = (exponent.abs() + 2.0) * (farthest + gram + damped + growth);
    let phases = frequency * (farthest + growth);
    f64::EPSILON * (terms + 8.0 * (arguments + phases)) + chain.positions.rounding()
}

impl Lanes {
    fn new(chain: &Chain, complex: usize) -> Self {
        let dampings = chain.damping.nodes.len();
        let blocks = 1 + 2 * complex;
        let mut values = DMatrix::zeros(chain.positions.nodes.len(), dampings * blocks);
        // S = 1 at position 0 without damping.
        values[(chain.positions.origin, 0)] = 1.0;
        for lane in 0..complex {
            values[(chain.positions.origin, dampings * (1 + 2 * lane))] = 1.0;
        }
        let scratch = values.clone();
        Self { values, scratch, dampings, alive: complex }
    }

    fn columns(&self) -> usize {
        self.dampings * (1 + 2 * self.alive)
    }

    /// Sum of one block of columns.
    fn total(&self, block: usize) -> f64 {
        self.values.columns(block * self.dampings, self.dampings).sum()
    }

    /// One move of the position, then one update of damping and ratio.
    fn advance(&mut self, chain: &Chain, step: &Step, weights: &Weights) {
        let columns = self.columns();
        self.scratch.columns_mut(0, columns).gemm(
            1.0,
            &chain.positions.kernel,
            &self.values.columns(0, columns),
            0.0,
        );
        let width = chain.positions.nodes.len();
        let moved = self.scratch.as_slice();
        let out = &mut self.values.as_mut_slice()[..columns * width];
        out.fill(0.0);
        let mut product = vec![0.0; 2 * width];
        for d in 0..self.dampings {
            let table = d * width..(d + 1) * width;
            for (factors, split) in
                [(&weights.idle, step.idle[d]), (&weights.joined, step.joined[d])]
            {
                let column = d * width;
                multiply_real(
                    &moved[column..column + width],
                    &factors[0][table.clone()],
                    &mut product[..width],
                );
                deposit(out, &product[..width], split, 0, width);
                for lane in 0..self.alive {
                    let block = 1 + 2 * lane;
                    let re = (block * self.dampings + d) * width;
                    let im = ((block + 1) * self.dampings + d) * width;
                    let (product_re, product_im) = product.split_at_mut(width);
                    multiply_complex(
                        (&moved[re..re + width], &moved[im..im + width]),
                        (&factors[block][table.clone()], &factors[block + 1][table.clone()]),
                        product_re,
                        product_im,
                    );
                    deposit(out, product_re, split, block * self.dampings, width);
                    deposit(out, product_im, split, (block + 1) * self.dampings, width);
                }
            }
        }
        // Numbers near the end of the range slow the arithmetic down.
        for value in out {
            if value.abs() < SMALLEST {
                *value = 0.0;
            }
        }
    }

    /// Smallest and largest growth of the real measure over its states in one step.
    fn growth(&self, before: &DMatrix<f64>) -> Option<(f64, f64)> {
        let cells = self.dampings * self.values.nrows();
        let (after, before) = (&self.values.as_slice()[..cells], &before.as_slice()[..cells]);
        let floor = after.iter().copied().fold(0.0, f64::max) * FLOOR;
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for (new, old) in after.iter().zip(before) {
            if *new > floor {
                if *old <= 0.0 {
                    return None;
                }
                low = low.min(new / old);
                high = high.max(new / old);
            }
        }
        Some((low, high)).filter(|(low, _)| *low > 0.0)
    }

    /// `max |f_j| / f_0` over the states, of a complex measure `f_j` given by its two blocks.
    fn share(&self, difference: impl Fn(usize) -> (f64, f64)) -> f64 {
        let cells = self.dampings * self.values.nrows();
        let real = &self.values.as_slice()[..cells];
        let floor = real.iter().copied().fold(0.0, f64::max) * FLOOR;
        let mut largest = 0.0_f64;
        for (cell, weight) in real.iter().enumerate() {
            if *weight > floor {
                let (re, im) = difference(cell);
                largest = largest.max((re / weight).hypot(im / weight));
            }
        }
        largest
    }

    fn drop_negligible(&mut self, errors: &mut [f64]) {
        let cells = self.dampings * self.values.nrows();
        while self.alive > 0 {
            let at = (2 * self.alive - 1) * cells;
            let values = self.values.as_slice();
            let share = self.share(|cell| (values[at + cell], values[at + cells + cell]));
            if share > NEGLIGIBLE {
                return;
            }
            errors[self.alive - 1] += share;
            self.alive -= 1;
        }
    }

    /// If every lane grows by one factor to within the tolerance, multiplies by its power and returns
    /// the number of steps taken.
    fn take_equal_steps(&mut self, before: &DMatrix<f64>, left: u64, errors: &mut [f64]) -> u64 {
        if left < 2 * CHECK_EVERY {
            return 0;
        }
        #[allow(clippy::cast_precision_loss)]
        let remaining = left as f64;
        let Some((low, high)) = self.growth(before) else { return 0 };
        let spread = high / low - 1.0;
        let settled = |error: f64| error * remaining < CONVERGED || error < ROUNDING_SPREAD;
        if !settled(spread) {
            return 0;
        }
        let cells = self.dampings * self.values.nrows();
        let sum = |values: &[f64], block: usize| -> f64 {
            values[block * cells..(block + 1) * cells].iter().sum()
        };
        let (values, old) = (self.values.as_slice(), before.as_slice());
        let growth = sum(values, 0) / sum(old, 0);
        let mut factors = Vec::with_capacity(self.alive);
        for (lane, error) in errors[..self.alive].iter_mut().enumerate() {
            let block = 1 + 2 * lane;
            let after = (sum(values, block), sum(values, block + 1));
            let prior = (sum(old, block), sum(old, block + 1));
            let (re, im) = divide(after, prior);
            let at = block * cells;
            let residual = self.share(|cell| {
                let (x, y) = (old[at + cell], old[at + cells + cell]);
                (
                    values[at + cell] - (re * x - im * y),
                    values[at + cells + cell] - (re * y + im * x),
                )
            });
            if !settled(residual) {
                return 0;
            }
            // Later steps multiply the residual by at most the growth of the real measure; the second
            // half pays for a modulus above that growth, which is cut.
            *error += 2.01 * remaining * (residual + spread);
            let modulus = (re.hypot(im) / growth).min(1.0);
            let size = (remaining * modulus.ln()).exp();
            let angle = remaining * im.atan2(re);
            factors.push((size * angle.cos(), size * angle.sin()));
        }
        for (lane, (re, im)) in factors.into_iter().enumerate() {
            let at = (1 + 2 * lane) * cells;
            let (left, right) = self.values.as_mut_slice()[at..at + 2 * cells].split_at_mut(cells);
            for (x, y) in left.iter_mut().zip(right) {
                (*x, *y) = (re * *x - im * *y, re * *y + im * *x);
            }
        }
        left
    }

    /// Brings the real measure back to a size around 1; returns the logarithm taken out.
    fn rescale(&mut self) -> f64 {
        let total = self.total(0);
        if (1e-15..1e15).contains(&total) || total <= 0.0 {
            return 0.0;
        }
        // A power of two, so that nothing is rounded.
        let factor = total.log2().round().exp2();
        let columns = self.columns();
        self.values.columns_mut(0, columns).scale_mut(1.0 / factor);
        factor.ln()
    }
}

impl Weights {
    /// The factors of the real lane.
    pub(super) fn real(&self) -> (&[f64], &[f64]) {
        (&self.idle[0], &self.joined[0])
    }

    /// Lane 0 has the real exponent, lane `j` the frequency `lowest + (j − 1)·spacing` on top of it.
    pub(super) fn new(
        step: &Step,
        exponent: f64,
        lowest: f64,
        spacing: f64,
        complex: usize,
    ) -> Self {
        let states = step.log_odds.len();
        let blocks = 1 + 2 * complex;
        let mut idle = vec![vec![0.0; states]; blocks];
        let mut joined = vec![vec![0.0; states]; blocks];
        for at in 0..states {
            let (odds, gamma) = (step.log_odds[at], step.log_gamma[at]);
            let normaliser = step.log_normaliser[at];
            // Probability 1/(1 + o/γ) and o/γ times that; S grows by 1 + o/γ and γ times that.
            let size = ((exponent - 1.0) * normaliser).exp();
            let size_joined = ((exponent - 1.0) * (normaliser + gamma) + odds).exp();
            idle[0][at] = size;
            joined[0][at] = size_joined;
            if complex > 0 {
                fill_lanes(&mut idle, at, size, normaliser, lowest, spacing);
                fill_lanes(&mut joined, at, size_joined, normaliser + gamma, lowest, spacing);
            }
        }
        Self { idle, joined }
    }
}

fn fill_lanes(
    blocks: &mut [Vec<f64>],
    at: usize,
    size: f64,
    growth: f64,
    lowest: f64,
    spacing: f64,
) {
    let (sin, cos) = (lowest * growth).sin_cos();
    let (mut re, mut im) = (size * cos, size * sin);
    let (turn_im, turn_re) = (spacing * growth).sin_cos();
    for pair in blocks[1..].chunks_exact_mut(2) {
        pair[0][at] = re;
        pair[1][at] = im;
        (re, im) = (re * turn_re - im * turn_im, re * turn_im + im * turn_re);
    }
}

fn multiply_real(values: &[f64], factors: &[f64], out: &mut [f64]) {
    for ((product, value), factor) in out.iter_mut().zip(values).zip(factors) {
        *product = value * factor;
    }
}

fn multiply_complex(
    (re, im): (&[f64], &[f64]),
    (factor_re, factor_im): (&[f64], &[f64]),
    out_re: &mut [f64],
    out_im: &mut [f64],
) {
    let width = out_re.len();
    let (re, im) = (&re[..width], &im[..width]);
    let (factor_re, factor_im) = (&factor_re[..width], &factor_im[..width]);
    let out_im = &mut out_im[..width];
    for i in 0..width {
        out_re[i] = re[i] * factor_re[i] - im[i] * factor_im[i];
        out_im[i] = re[i] * factor_im[i] + im[i] * factor_re[i];
    }
}

/// Adds a column to the two damping columns it is split between.
fn deposit(
    out: &mut [f64],
    column: &[f64],
    split: super::damping::Split,
    first: usize,
    width: usize,
) {
    let shares = [(split.cell, 1.0 - split.weight), (split.cell + 1, split.weight)];
    for (cell, share) in shares {
        if share > 0.0 {
            let start = (first + cell) * width;
            for (sum, value) in out[start..start + width].iter_mut().zip(column) {
                *sum += share * value;
            }
        }
    }
}

fn divide((a, b): (f64, f64), (c, d): (f64, f64)) -> (f64, f64) {
    let size = c * c + d * d;
    ((a * c + b * d) / size, (b * c - a * d) / size)
}

#[cfg(test)]
mod tests;
