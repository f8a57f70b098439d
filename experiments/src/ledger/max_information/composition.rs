//! Lemma B.11 of arXiv 2605.26222: the records of a data set, one after the other.

use rand::RngExt;

use super::super::claim::{Claim, Level, Method};
use super::super::lab::{random_law, rng};
use super::super::measured::{CheckError, Measured, Slacks};
use super::lemmas::psi_of;

pub(super) const CLAIMS: &[Claim] = &[Claim::max_information(
    "M-B.11",
    "Lemma B.11 (read off the proof of Theorem 8)",
)
.states("E exp(λι − b_λ Σ v_i) <= 1 with v_i = ψ(J_i−1)/(2(α−1)²) and b_λ = λ + (α−1)λ²/((α−1)−λ)")
.checked(Method::BruteForce, composition)];

fn composition(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(1000, 50_000);
    Measured::of(
        compositions(cases, 1.0),
        format!(
            "{cases} random mechanisms on 1 to 3 biased bits with 2 to 5 outputs, α from 1.05 to 10, λ over its range, all outcomes"
        ),
    )
}

/// The lemma with a factor of `v_i`.
fn compositions(cases: usize, factor: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(18);
    for _ in 0..cases {
        let (records, outputs) = (rng.random_range(1..=3_usize), rng.random_range(2..=5));
        let p: f64 = rng.random_range(0.05..0.95);
        let rows: Vec<Vec<f64>> =
            (0..1 << records).map(|_| random_law(&mut rng, outputs)).collect();
        let h: f64 = rng.random_range(0.05..9.0);
        let lambda = h * rng.random_range(0.02..0.98);
        let price = lambda + h * lambda * lambda / (h - lambda);
        let chance = |bit: usize| if bit == 1 { p } else { 1.0 - p };
        let prior =
            |data: usize| (0..records).map(|record| chance(data >> record & 1)).product::<f64>();
        // Mass of an output together with the first bits of the data.
        let mass = |y: usize, known: usize, bits: usize| -> f64 {
            let agrees = |data: &usize| data & ((1 << known) - 1) == bits & ((1 << known) - 1);
            (0..1 << records).filter(agrees).map(|data| prior(data) * rows[data][y]).sum()
        };
        let mut average = 0.0;
        for (data, row) in rows.iter().enumerate() {
            for (y, likelihood) in row.iter().enumerate() {
                let mut exponent = 0.0;
                for record in 0..records {
                    let before = mass(y, record, data);
                    let weight = |bit: usize| {
                        let bits = (data & ((1 << record) - 1)) | bit << record;
                        mass(y, record + 1, bits) / before / chance(bit)
                    };
                    let moment = |power: f64| -> f64 {
                        (0..2).map(|bit| chance(bit) * weight(bit).powf(power)).sum()
                    };
                    let product = moment(1.0 + h) * moment(-h);
                    let v = factor * psi_of((product - 1.0).max(0.0)) / (2.0 * h * h);
                    exponent += lambda * weight(data >> record & 1).ln() - price * v;
                }
                average += prior(data) * likelihood * exponent.exp();
            }
        }
        slacks.at_most(average, 1.0);
    }
    slacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_variance_is_caught() {
        assert!(compositions(300, 1.0).close().unwrap() >= 0.0);
        assert!(compositions(300, 0.4).close().unwrap() < 0.0);
    }
}
