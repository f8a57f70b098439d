//! Theorem 5 and Corollary 6: PAC-Bayes bounds with a private prior, by enumeration.

use dpbounds_bounds::max_information::FailureLevel;
use dpbounds_bounds::pac_bayes::{
    catoni, complexity, kl_inverse_lower, kl_inverse_upper, relaxations,
};

use super::super::claim::{Claim, Level, Method};
use super::super::measured::{CheckError, Measured, Slacks, value};
use super::mechanisms::frontier;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::max_information("M-5", "Theorem 5")
        .states("kl(R̂(ρ)‖R(ρ)) <= (KL(ρ‖π) + κ + log(4 sqrt n/δ))/n for all ρ at once, π learned by the algorithm, except with probability δ")
        .checked(Method::BruteForce, |level| {
            Measured::of(failures(level, Form::AnyPosterior, 1.0)?, RAN)
        }),
    Claim::max_information("M-6", "Corollary 6")
        .states("kl(R̂(π)‖R(π)) <= (κ + log(4 sqrt n/δ))/n for the learned π itself, except with probability δ")
        .checked(Method::BruteForce, |level| {
            Measured::of(failures(level, Form::Model, 1.0)?, RAN)
        }),
];

/// Ours.
pub(super) const OURS: &[Claim] = &[
    Claim::ours("kl-inverse", "pac-bayes.md")
        .states("the kl inverses solve kl(q‖p) = C, and McAllester's, the quadratic, the λ and Catoni's form are never below them")
        .checked(Method::Inequality, |_| {
            Measured::of(inverses(1.0)?, "21 risks from 0 to 1, 9 complexities from 1e-6 to 3; identity to 1e-6")
        }),
    Claim::ours("private-model-one-sided", "pac-bayes.md")
        .states("for ρ = π, R(π) <= R̂(π) or kl(R̂(π)‖R(π)) <= (κ + log(2/δ))/n, except with probability δ; on both sides with log(4/δ)")
        .checked(Method::BruteForce, |level| {
            let one = failures(level, Form::ModelAbove, 1.0)?;
            Measured::of(one.and(failures(level, Form::ModelAround, 1.0)?), RAN)
        }),
];

/// The inverses with a factor of the complexity of the relaxations.
fn inverses(share: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for step in 0..=20 {
        let risk = f64::from(step) / 20.0;
        for complexity in [1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.3, 1.0, 3.0] {
            let upper = value(&kl_inverse_upper(risk, complexity)?)?;
            let lower = value(&kl_inverse_lower(risk, complexity)?)?;
            slacks.at_most(lower, risk * (1.0 + 1e-12));
            slacks.at_most(risk, upper);
            for side in [lower, upper] {
                // Next to 0 and 1 the inverse has no digits left to tell.
                if side > 1e-6 && side < 1.0 - 1e-6 {
                    slacks.equal(kl(risk, side), complexity, complexity, 1e-6);
                }
            }
            let relaxed = [
                relaxations::mcallester(risk, share * complexity)?,
                relaxations::quadratic(risk, share * complexity)?,
                relaxations::lambda_optimised(risk, share * complexity)?,
                catoni::at_complexity(risk, share * complexity, 1.0)?,
            ];
            for bound in relaxed {
                slacks.at_most(upper, value(&bound)?);
            }
        }
    }
    Ok(slacks)
}

const RAN: &str = "10 to 40 coins with three biases, two predictors, the majority through randomised response, exact \
                   max-information κ at δ/2, exact failure probability, δ = 0.05, 0.3; ρ on a grid";

fn kl(q: f64, p: f64) -> f64 {
    let part = |q: f64, p: f64| if q > 0.0 { q * (q / p).ln() } else { 0.0 };
    part(q, p) + part(1.0 - q, 1.0 - p)
}

/// What is bounded, and at what price.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// Every ρ, on both sides, as printed.
    AnyPosterior,
    /// The learned π, on both sides, as printed.
    Model,
    /// The learned π, from above, without the square-root term.
    ModelAbove,
    /// The learned π, on both sides, without the square-root term.
    ModelAround,
}

impl Form {
    /// `n` times the right side, without KL(ρ‖π).
    fn price(self, n: u32, kappa: f64, delta: f64) -> Result<f64, CheckError> {
        let count = f64::from(n);
        Ok(match self {
            Self::AnyPosterior | Self::Model => kappa + (4.0 * count.sqrt() / delta).ln(),
            Self::ModelAbove => {
                count * value(&complexity::private_model(n.into(), kappa, delta, delta / 2.0)?)?
            }
            Self::ModelAround => kappa + (4.0 / delta).ln(),
        })
    }
}

/// The probability that the bound with `share` of its right side fails for some ρ, against δ.
fn failures(level: Level, form: Form, share: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for n in level.pick_from::<[u32]>(&[10, 40], &[10, 20, 40, 100]) {
        for p in [0.5_f64, 0.3, 0.05] {
            for epsilon in [0.2_f64, 1.0, 4.0] {
                for delta in [0.05, 0.3] {
                    // Atoms: the number of ones among the records, and the released bit.
                    let keep = 1.0 / (1.0 + (-epsilon).exp());
                    let mut log_choose = 0.0;
                    let mut masses = Vec::new();
                    for k in 0..=*n {
                        if k > 0 {
                            log_choose += (f64::from(n - k + 1) / f64::from(k)).ln();
                        }
                        let log =
                            log_choose + f64::from(k) * p.ln() + f64::from(n - k) * (-p).ln_1p();
                        masses.push(log.exp());
                    }
                    let one = |k: u32| if 2 * k > *n { keep } else { 1.0 - keep };
                    let marginal: f64 = (0..=*n).map(|k| masses[k as usize] * one(k)).sum();
                    let atoms = (0..=*n).flat_map(|k| {
                        let mass = masses[k as usize];
                        [
                            (mass * one(k), mass * marginal),
                            (mass * (1.0 - one(k)), mass * (1.0 - marginal)),
                        ]
                    });
                    let at = FailureLevel::from_beta(delta / 2.0)?;
                    let kappa = frontier(atoms.collect(), at).max(0.0);
                    let count = f64::from(*n);
                    let price = form.price(*n, kappa, delta)?;
                    let mut failed = 0.0;
                    for k in 0..=*n {
                        for bit in [true, false] {
                            // Predictor 1 errs on zeros, predictor 0 on ones; ρ is the weight of 1.
                            let prior = if bit { 0.8 } else { 0.2 };
                            let fails = (0..=20).any(|step| {
                                let any = form == Form::AnyPosterior;
                                let rho = if any { f64::from(step) / 20.0 } else { prior };
                                let empirical = rho * (1.0 - f64::from(k) / count)
                                    + (1.0 - rho) * f64::from(k) / count;
                                let risk = rho * (1.0 - p) + (1.0 - rho) * p;
                                (form != Form::ModelAbove || risk > empirical)
                                    && kl(empirical, risk)
                                        > share * (kl(rho, prior) + price) / count
                            });
                            let mass = if bit { one(k) } else { 1.0 - one(k) };
                            failed += if fails { masses[k as usize] * mass } else { 0.0 };
                        }
                    }
                    slacks.at_most_of(failed, delta, delta);
                }
            }
        }
    }
    Ok(slacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_complexity_is_caught() {
        assert!(failures(Level::Quick, Form::AnyPosterior, 0.1).unwrap().close().unwrap() < 0.0);
        assert!(failures(Level::Quick, Form::Model, 0.02).unwrap().close().unwrap() < 0.0);
        assert!(failures(Level::Quick, Form::ModelAbove, 0.02).unwrap().close().unwrap() < 0.0);
        assert!(failures(Level::Quick, Form::ModelAround, 0.02).unwrap().close().unwrap() < 0.0);
        assert!(inverses(1.0).unwrap().close().unwrap() >= 0.0);
        assert!(inverses(0.7).unwrap().close().unwrap() < 0.0);
    }
}
