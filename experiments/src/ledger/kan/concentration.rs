//! Lemmas C.4, C.5 and C.18: tails, most of them exact.

use dpbounds_bounds::special::Binomial;

use super::super::claim::{Claim, Level, Method};
use super::super::measured::{CheckError, Measured, Slacks};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::kan("K-C.4", "Lemma C.4")
        .states("‖G‖² <= d + 2 sqrt(d log(1/δ)) + 2 log(1/δ) for a Gaussian vector, except with probability δ")
        .checked(Method::ExactDensities, chi_square),
    Claim::kan("K-C.5", "Lemma C.5")
        .states("max ‖Z_t‖ <= sqrt N + sqrt(2 log(2T/δ)) and Σ ‖Z_{t−1}‖² <= V_Z, except with probability δ")
        .checked(Method::ExactDensities, gaussian_noises),
    Claim::kan("K-C.18", "Lemma C.18")
        .states("Freedman: a martingale with steps |X| <= L and variance <= v stays below sqrt(2v log(1/δ)) + (2L/3) log(1/δ)")
        .checked(Method::ExactDensities, freedman),
];

/// `log P(χ²_d > x)` for even d: a Poisson sum.
pub(super) fn log_chi_square_tail(degrees: usize, x: f64) -> f64 {
    let half = x / 2.0;
    let (mut term, mut terms) = (0.0, Vec::with_capacity(degrees / 2));
    for j in 0..degrees / 2 {
        if j > 0 {
            term += (half / j as f64).ln();
        }
        terms.push(term);
    }
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln() - half
}

const DELTAS: [f64; 5] = [0.5, 0.1, 1e-3, 1e-6, 1e-12];

fn chi_square(_: Level) -> Result<Measured, CheckError> {
    Measured::of(
        chi_squares(2.0),
        "the exact tail for d = 2, 4, 10, 100, 1000, 10000 and δ from 0.5 to 1e-12",
    )
}

/// The lemma with the factor of the square root, printed as 2.
fn chi_squares(root: f64) -> Slacks {
    let mut slacks = Slacks::new();
    for degrees in [2, 4, 10, 100, 1000, 10_000] {
        for delta in DELTAS {
            let (d, log) = (degrees as f64, -delta.ln());
            let limit = d + root * (d * log).sqrt() + 2.0 * log;
            slacks.at_most_of(log_chi_square_tail(degrees, limit).exp(), delta, delta);
        }
    }
    slacks
}

fn gaussian_noises(_: Level) -> Result<Measured, CheckError> {
    Measured::of(
        noises(2.0),
        "exact tails and the union over steps for N = 4, 64, 1000, T = 2, 30, 1000 and δ from 0.5 to 1e-12",
    )
}

/// The lemma with the factor in `log(factor T/δ)` of the norm, printed as 2.
fn noises(factor: f64) -> Slacks {
    let mut slacks = Slacks::new();
    for parameters in [4, 64, 1000] {
        for steps in [2_usize, 30, 1000] {
            for delta in DELTAS {
                let n = parameters as f64;
                let z = n.sqrt() + (2.0 * (factor * steps as f64 / delta).ln()).max(0.0).sqrt();
                let total = (steps - 1) * parameters;
                let log = (2.0 / delta).ln();
                let v = total as f64 + 2.0 * (total as f64 * log).sqrt() + 2.0 * log;
                // max over T norms: at most T times one tail, at least the independent maximum.
                let one = log_chi_square_tail(parameters, z * z).exp();
                let norms = -((steps as f64) * (-one).ln_1p()).exp_m1();
                let sums = log_chi_square_tail(total, v).exp();
                slacks.at_most_of(norms + sums, delta, delta);
            }
        }
    }
    slacks
}

fn freedman(_: Level) -> Result<Measured, CheckError> {
    Measured::of(
        freedmans(2.0),
        "exact tails of centred binomial sums for T = 1 to 10000, p = 0.5, 0.1, 0.01 and δ from 0.5 to 1e-12",
    )
}

/// The lemma with the factor of v, printed as 2.
fn freedmans(factor: f64) -> Slacks {
    let mut slacks = Slacks::new();
    for trials in [1_u32, 5, 50, 1000, 10_000] {
        for p in [0.5, 0.1, 0.01] {
            for delta in DELTAS {
                // X_t = Bernoulli(p) − p.
                let (count, log) = (f64::from(trials), -delta.ln());
                let (largest, v) = (1.0 - p, count * p * (1.0 - p));
                let limit = count * p + (factor * v * log).sqrt() + 2.0 * largest / 3.0 * log;
                let law = Binomial::new(count, p);
                let first = limit.ceil() as u32;
                let tail: f64 = (first..=trials).map(|k| law.log_mass(f64::from(k)).exp()).sum();
                slacks.at_most_of(tail, delta, delta);
            }
        }
    }
    slacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_constants_are_caught() {
        assert!(chi_squares(2.0).close().unwrap() >= 0.0);
        assert!(chi_squares(1.0).close().unwrap() < 0.0);
        assert!(noises(2.0).close().unwrap() >= 0.0);
        assert!(noises(1e-3).close().unwrap() < 0.0);
        assert!(freedmans(2.0).close().unwrap() >= 0.0);
        assert!(freedmans(1.0).close().unwrap() < 0.0);
    }

    #[test]
    fn the_tail_of_two_degrees_is_exponential() {
        assert!((log_chi_square_tail(2, 7.0) + 3.5).abs() < 1e-15);
    }
}
