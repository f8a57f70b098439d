//! Finite mechanisms with exact privacy and exact max-information.

use dpbounds_bounds::max_information::FailureLevel;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A mechanism on binary records: one row of output probabilities for every data set, record i its bit i.
#[derive(Debug)]
pub(super) struct Mechanism {
    pub records: usize,
    rows: Vec<Vec<f64>>,
}

impl Mechanism {
    fn new(records: usize, row: impl FnMut(usize) -> Vec<f64>) -> Self {
        let rows = (0..1 << records).map(row).map(|row| normalised(&row)).collect();
        Self { records, rows }
    }

    /// Every record is kept with odds `e^ε : 1`.
    pub(super) fn randomised_response(records: usize, epsilon: f64) -> Self {
        Self::new(records, |data| {
            let same = |y: usize| records as i32 - (data ^ y).count_ones() as i32;
            (0..1 << records).map(|y| (epsilon * f64::from(same(y))).exp()).collect()
        })
    }

    /// The majority through randomised response.
    pub(super) fn majority(records: usize, epsilon: f64) -> Self {
        Self::new(records, |data| {
            let yes = 2 * data.count_ones() as usize > records;
            if yes { vec![1.0, epsilon.exp()] } else { vec![epsilon.exp(), 1.0] }
        })
    }

    /// The majority through randomised response, or with probability `delta` one record in the clear.
    pub(super) fn leak(records: usize, epsilon: f64, delta: f64) -> Self {
        let flip = 1.0 / (1.0 + epsilon.exp());
        Self::new(records, |data| {
            let one = if 2 * data.count_ones() as usize > records { 1.0 - flip } else { flip };
            let mut row = vec![(1.0 - one) * (1.0 - delta), one * (1.0 - delta)];
            for record in 0..records {
                let bit = data >> record & 1;
                let share = delta / records as f64;
                row.extend([share * (1 - bit) as f64, share * bit as f64]);
            }
            row
        })
    }

    /// Independent log-normal weights.
    pub(super) fn random(records: usize, outputs: usize, scale: f64, rng: &mut ChaCha8Rng) -> Self {
        Self::new(records, |_| {
            let draw = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
            (0..outputs).map(|_| (scale * draw(rng)).exp()).collect()
        })
    }

    /// Pairs of rows of data sets that differ in one record, in both orders.
    fn neighbours(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        (0..self.rows.len()).flat_map(move |data| {
            (0..self.records)
                .map(move |record| (&self.rows[data][..], &self.rows[data ^ (1 << record)][..]))
        })
    }

    /// The smallest δ at ε.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let growth = epsilon.exp();
        let of = |(a, b): (&[f64], &[f64])| -> f64 {
            a.iter().zip(b).map(|(a, b)| (a - growth * b).max(0.0)).sum()
        };
        let worst = self.neighbours().map(of).fold(0.0, f64::max);
        if worst < 1e-15 { 0.0 } else { worst }
    }

    /// The smallest ε of pure privacy; infinite where supports differ.
    pub(super) fn pure_epsilon(&self) -> f64 {
        let of = |(a, b): (&[f64], &[f64])| -> f64 {
            let positive = a.iter().zip(b).filter(|(a, _)| **a > 0.0);
            positive.map(|(a, b)| (a / b).ln()).fold(0.0, f64::max)
        };
        self.neighbours().map(of).fold(0.0, f64::max)
    }

    /// The Rényi divergence of the worst pair.
    pub(super) fn renyi(&self, alpha: f64) -> f64 {
        let of = |(a, b): (&[f64], &[f64])| -> f64 {
            if a.iter().zip(b).any(|(a, b)| *a > 0.0 && *b == 0.0) {
                return f64::INFINITY;
            }
            let positive = a.iter().zip(b).filter(|(a, _)| **a > 0.0);
            let sum: f64 =
                positive.map(|(a, b)| (alpha * a.ln() + (1.0 - alpha) * b.ln()).exp()).sum();
            sum.ln() / (alpha - 1.0)
        };
        self.neighbours().map(of).fold(0.0, f64::max)
    }

    /// The exact max-information for independent records with `P(1) = p`.
    pub(super) fn max_information(&self, p: f64, level: FailureLevel) -> f64 {
        let prior: Vec<f64> = (0..self.rows.len())
            .map(|data| {
                let ones = data.count_ones() as i32;
                p.powi(ones) * (1.0 - p).powi(self.records as i32 - ones)
            })
            .collect();
        let outputs = self.rows[0].len();
        let marginal: Vec<f64> = (0..outputs)
            .map(|y| prior.iter().zip(&self.rows).map(|(p, row)| p * row[y]).sum())
            .collect();
        let atoms = prior
            .iter()
            .zip(&self.rows)
            .flat_map(|(p, row)| row.iter().zip(&marginal).map(move |(r, m)| (p * r, p * m)));
        frontier(atoms.collect(), level)
    }
}

/// `log max (P(O) − β)/Q(O)` over events, from the atoms `(P, Q)`.
pub(super) fn frontier(mut atoms: Vec<(f64, f64)>, level: FailureLevel) -> f64 {
    atoms.retain(|(joint, _)| *joint > 0.0);
    atoms.sort_by(|a, b| (b.0 / b.1).total_cmp(&(a.0 / a.1)));
    let (mut joint, mut product, mut best) = (0.0, 0.0, f64::NEG_INFINITY);
    for (p, q) in atoms {
        joint += p;
        product += q;
        best = best.max((joint - level.probability()) / product);
    }
    best.ln()
}

fn normalised(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// Textbook mechanisms and random ones on 1 to 4 records.
pub(super) fn mechanisms(count: usize, seed: u64) -> Vec<Mechanism> {
    let mut rng = super::super::lab::rng(seed);
    let mut all = Vec::new();
    for records in 1..=4 {
        for epsilon in [0.1, 0.5, 1.5] {
            all.push(Mechanism::randomised_response(records, epsilon));
            all.push(Mechanism::majority(records, epsilon));
        }
        for delta in [1e-4, 1e-2, 0.1] {
            all.push(Mechanism::leak(records, 0.05, delta));
            all.push(Mechanism::leak(records, 0.5, delta));
        }
        for _ in 0..count {
            let scale = [0.02, 0.2, 1.0][rng.random_range(0..3)];
            let outputs = rng.random_range(2..=8);
            all.push(Mechanism::random(records, outputs, scale, &mut rng));
        }
    }
    all
}
