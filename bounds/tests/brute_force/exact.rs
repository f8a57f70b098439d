//! Finite mechanisms with exact privacy and exact max-information.

use dpbounds_bounds::max_information::FailureLevel;

/// A mechanism on `records` records of a finite alphabet: one row of output probabilities for
/// every data set, data sets numbered in base `alphabet` (record 0 is the lowest digit).
pub struct Mechanism {
    pub name: String,
    pub records: usize,
    pub alphabet: usize,
    rows: Vec<Vec<f64>>,
}

impl Mechanism {
    /// Rows are normalised; every row needs the same length.
    pub fn new(name: &str, records: usize, alphabet: usize, weights: Vec<Vec<f64>>) -> Self {
        assert_eq!(weights.len(), alphabet.pow(u32::try_from(records).unwrap()));
        let rows = weights.into_iter().map(|row| normalised(&row)).collect();
        Self { name: name.into(), records, alphabet, rows }
    }

    /// Ordered pairs of data sets that differ in one record.
    fn neighbours(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        let places =
            (0..self.records).map(|record| self.alphabet.pow(u32::try_from(record).unwrap()));
        (0..self.rows.len()).flat_map(move |index| {
            places.clone().flat_map(move |place| {
                let digit = index / place % self.alphabet;
                (0..self.alphabet).filter(move |other| *other != digit).map(move |other| {
                    let neighbour = index - digit * place + other * place;
                    (&self.rows[index][..], &self.rows[neighbour][..])
                })
            })
        })
    }

    /// The smallest δ at ε under replace-one: the hockey-stick divergence of the worst pair.
    pub fn delta(&self, epsilon: f64) -> f64 {
        let growth = epsilon.exp();
        let worst = self
            .neighbours()
            .map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - growth * b).max(0.0)).sum::<f64>())
            .fold(0.0, f64::max);
        if worst < 1e-15 { 0.0 } else { worst }
    }

    /// The smallest ε of pure DP; infinite where supports differ.
    pub fn pure_epsilon(&self) -> f64 {
        let logs = self.neighbours().flat_map(|(a, b)| {
            a.iter().zip(b).filter(|(a, _)| **a > 0.0).map(|(a, b)| (a / b).ln())
        });
        logs.fold(0.0, f64::max)
    }

    /// The Rényi divergence of the worst pair; both orders of each pair are visited.
    pub fn renyi(&self, alpha: f64) -> f64 {
        let divergence = |a: &[f64], b: &[f64]| {
            if a.iter().zip(b).any(|(a, b)| *a > 0.0 && *b == 0.0) {
                return f64::INFINITY;
            }
            let positive = a.iter().zip(b).filter(|(a, _)| **a > 0.0);
            let exponents: Vec<_> =
                positive.map(|(a, b)| alpha * a.ln() + (1.0 - alpha) * b.ln()).collect();
            let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = exponents.iter().map(|x| (x - largest).exp()).sum();
            (largest + sum.ln()) / (alpha - 1.0)
        };
        self.neighbours().map(|(a, b)| divergence(a, b)).fold(0.0, f64::max)
    }

    /// The prior of independent records; record `i` has the law `laws[i]`.
    pub fn prior(&self, laws: &[Vec<f64>]) -> Vec<f64> {
        assert_eq!(laws.len(), self.records);
        (0..self.rows.len())
            .map(|index| {
                let mut rest = index;
                laws.iter()
                    .map(|law| {
                        let digit = rest % self.alphabet;
                        rest /= self.alphabet;
                        law[digit]
                    })
                    .product()
            })
            .collect()
    }

    /// Everything about the joint law that max-information depends on.
    pub fn frontier(&self, prior: &[f64]) -> Frontier {
        let outputs = self.rows[0].len();
        let marginal: Vec<f64> = (0..outputs)
            .map(|y| prior.iter().zip(&self.rows).map(|(p, row)| p * row[y]).sum())
            .collect();
        let mut atoms: Vec<(f64, f64)> = Vec::new();
        for (p, row) in prior.iter().zip(&self.rows) {
            atoms.extend(row.iter().zip(&marginal).map(|(r, m)| (p * r, p * m)));
        }
        Frontier::new(atoms)
    }
}

/// `(P(O), Q(O))` for the Neyman–Pearson events `O`: prefixes in the order of `dP/dQ`.
pub struct Frontier(Vec<(f64, f64)>);

impl Frontier {
    /// From the atoms `(P, Q)` of the two laws; atoms of equal ratio may be merged.
    pub fn new(mut atoms: Vec<(f64, f64)>) -> Self {
        atoms.retain(|(joint, _)| *joint > 0.0);
        atoms.sort_by(|a, b| (b.0 / b.1).total_cmp(&(a.0 / a.1)));
        let (mut joint, mut product) = (0.0, 0.0);
        let prefixes = atoms.into_iter().map(|(p, q)| {
            joint += p;
            product += q;
            (joint, product)
        });
        Self(prefixes.collect())
    }

    /// `log max (P(O) − β)/Q(O)`: the exact max-information, possibly negative.
    pub fn max_information(&self, level: FailureLevel) -> f64 {
        let beta = level.probability();
        self.0.iter().map(|(p, q)| (p - beta) / q).fold(f64::NEG_INFINITY, f64::max).ln()
    }
}

pub fn normalised(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

pub fn level(beta: f64) -> FailureLevel {
    FailureLevel::from_beta(beta).unwrap()
}
