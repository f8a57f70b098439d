//! Theorems 3 and 4: the Gaussian mechanism and streaming DP-SGD, against exact densities.

use dpbounds_bounds::Bound;
use dpbounds_bounds::max_information::{FailureLevel, correlated, gaussian, streaming, toy};

use super::super::claim::{Claim, Level, Method};
use super::super::measured::{CheckError, Measured, Slacks};

type Result<T> = std::result::Result<T, CheckError>;
type OfNu = fn(f64, FailureLevel) -> dpbounds_bounds::Result<Bound>;
type OfSteps = fn(f64, u64, FailureLevel) -> dpbounds_bounds::Result<Bound>;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::max_information("M-3", "Theorem 3")
        .states("max-information of the Gaussian mechanism is at most (7), (8) and (9), ν = n/(4σ²), and (7) <= (8) <= (9)")
        .checked(Method::ExactDensities, gaussian_mechanism),
    Claim::max_information("M-4", "Theorem 4")
        .states("max-information of streaming DP-SGD is at most (10), (11) and (12), ν = m/(4σ²), and (10) <= (11) <= (12)")
        .checked(Method::ExactDensities, streaming_sgd),
];

/// Ours.
pub(super) const OURS: &[Claim] = &[
    Claim::ours("max-info-gaussian-hs", "max-information.md, section 2.4")
        .states("(7) and (10) with the hockey-stick conversion are above the exact max-information, and below (7) and (10)")
        .checked(Method::ExactDensities, |level| {
            let mut slacks = against_toy(&[gaussian::eq7_hs], 1.0)?;
            slacks = slacks.and(against_density(level, &[streaming::eq10_hs], 0.0, 1.0)?);
            ordered(&mut slacks, &[gaussian::eq7_hs, gaussian::eq7])?;
            Measured::of(slacks, "as M-3 and M-4")
        }),
    Claim::ours("max-info-correlated", "max-information.md, section 6")
        .states("streaming DP-SGD with noise Z_t − λZ_{t−1}: max-information is at most the bound in ‖C‖_F and the determinant")
        .checked(Method::ExactDensities, |level| {
            let half: [OfSteps; 2] = [
                |nu, steps, at| correlated::bound(nu, steps, 0.5, at),
                |nu, steps, at| correlated::bound_hs(nu, steps, 0.5, at),
            ];
            Measured::of(
                against_density(level, &half, 0.5, 1.0)?,
                "one and two steps with batches of 1 to 4 signs, λ = 0.5, σ = 1, 3, exact densities by quadrature",
            )
        }),
];

const BETAS: [f64; 4] = [1e-6, 1e-3, 0.05, 0.3];

/// Every bound above the exact max-information of signs released through Gaussian noise.
fn against_toy(bounds: &[OfNu], share: f64) -> Result<Slacks> {
    let mut slacks = Slacks::new();
    for n in [1, 2, 5, 20] {
        for sigma in [0.3, 1.0, 3.0, 10.0] {
            for p in [0.5, 0.1] {
                for beta in BETAS {
                    let at = FailureLevel::from_beta(beta)?;
                    // Clamped at 0, while the true value may be negative.
                    let exact = toy::max_info(n, sigma, p, at)?.lower.filter(|exact| *exact > 0.0);
                    let Some(exact) = exact else { continue };
                    for bound in bounds {
                        if let Some(upper) = bound(gaussian::nu(n, sigma)?, at)?.upper {
                            slacks.at_most(exact, share * upper);
                        }
                    }
                }
            }
        }
    }
    Ok(slacks)
}

/// Each of the bounds at most the next one.
fn ordered(slacks: &mut Slacks, bounds: &[OfNu]) -> Result<()> {
    for exponent in -8..=8 {
        let nu = 10.0_f64.powf(f64::from(exponent) / 2.0);
        for beta in BETAS {
            let at = FailureLevel::from_beta(beta)?;
            for pair in bounds.windows(2) {
                let (low, high) = (pair[0](nu, at)?, pair[1](nu, at)?);
                if let (Some(low), Some(high)) = (low.value, high.value) {
                    slacks.at_most(low, high);
                }
            }
        }
    }
    Ok(())
}

fn gaussian_mechanism(_: Level) -> Result<Measured> {
    let bounds: [OfNu; 3] = [gaussian::eq7, gaussian::eq8, gaussian::eq9];
    let mut slacks = against_toy(&bounds, 1.0)?;
    ordered(&mut slacks, &bounds)?;
    Measured::of(
        slacks,
        "sums of 1 to 20 signs through noise σ = 0.3 to 10, 2 priors, 4 levels, exact; the order of the forms for ν from 1e-4 to 1e4",
    )
}

fn streaming_sgd(level: Level) -> Result<Measured> {
    let bounds: [OfSteps; 3] = [streaming::eq10, streaming::eq11, streaming::eq12];
    let mut slacks = against_density(level, &bounds, 0.0, 1.0)?;
    for exponent in -6..=4 {
        let nu = 10.0_f64.powf(f64::from(exponent) / 2.0);
        for steps in [1, 10, 1000] {
            let at = FailureLevel::from_beta(0.01)?;
            for pair in bounds.windows(2) {
                let (low, high) = (pair[0](nu, steps, at)?, pair[1](nu, steps, at)?);
                if let (Some(low), Some(high)) = (low.value, high.value) {
                    slacks.at_most(low, high);
                }
            }
        }
    }
    Measured::of(
        slacks,
        "one and two steps with disjoint batches of 1 to 4 signs, σ = 1, 3, exact densities by quadrature (the adaptive \
         form is attacked in the tests of the calculators); the order of the forms",
    )
}

/// Probabilities of 0..=m positive signs.
fn masses(m: usize, p: f64) -> Vec<f64> {
    let mut masses = vec![1.0];
    for _ in 0..m {
        masses.push(0.0);
        for k in (1..masses.len()).rev() {
            masses[k] = (1.0 - p) * masses[k] + p * masses[k - 1];
        }
        masses[0] *= 1.0 - p;
    }
    masses
}

/// `E_P (1 − e^{k−ι})_+` at the bound `k` is at most β: batches of signs, released sums `C s + σ Z`.
fn against_density(level: Level, bounds: &[OfSteps], lambda: f64, share: f64) -> Result<Slacks> {
    let points = level.pick(160, 600);
    let mut slacks = Slacks::new();
    for (m, sigma, p) in [(1_usize, 1.0, 0.5), (2, 1.0, 0.5), (4, 3.0, 0.5), (3, 3.0, 0.2)] {
        let masses = masses(m, p);
        let sum = |k: usize| (2.0 * k as f64 - m as f64) / sigma;
        let nu = streaming::nu(m as u64, sigma)?;
        for steps in [1_u64, 2] {
            // Means of the whitened release for every pair of batches.
            let mut laws: Vec<(f64, f64, f64)> = Vec::new();
            for (k, mass) in masses.iter().enumerate() {
                if steps == 1 {
                    laws.push((*mass, sum(k), 0.0));
                    continue;
                }
                let second = masses.iter().enumerate();
                laws.extend(
                    second.map(|(j, other)| (mass * other, sum(k), lambda * sum(k) + sum(j))),
                );
            }
            let reach = (1.0 + lambda) * m as f64 / sigma + 7.0;
            let step = 2.0 * reach / points as f64;
            let second = if steps == 1 { 0..=0 } else { 0..=points };
            for beta in [1e-3, 0.05, 0.3] {
                let at = FailureLevel::from_beta(beta)?;
                let mut limits = Vec::new();
                for bound in bounds {
                    if let Some(upper) = bound(nu, steps, at)?.upper {
                        limits.push(share * upper);
                    }
                }
                let mut reached = vec![0.0; limits.len()];
                for i in 0..=points {
                    for j in second.clone() {
                        let x = -reach + i as f64 * step;
                        let y = if steps == 1 { 0.0 } else { -reach + j as f64 * step };
                        let kernel = |(_, a, b): &(f64, f64, f64)| {
                            (-0.5 * ((x - a).powi(2) + (y - b).powi(2))).exp()
                        };
                        let all: f64 = laws.iter().map(|law| law.0 * kernel(law)).sum();
                        for law in &laws {
                            let own = kernel(law);
                            for (limit, sum) in limits.iter().zip(&mut reached) {
                                *sum += law.0 * (own - limit.exp() * all).max(0.0);
                            }
                        }
                    }
                }
                let cell = step / std::f64::consts::TAU.sqrt();
                let cell = if steps == 1 { cell } else { cell * cell };
                for sum in reached {
                    slacks.at_most_of(sum * cell, beta, beta);
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
    fn smaller_bounds_are_caught() {
        assert!(against_toy(&[gaussian::eq7], 0.3).unwrap().close().unwrap() < 0.0);
        let slacks = against_density(Level::Quick, &[streaming::eq10], 0.0, 0.2).unwrap();
        assert!(slacks.close().unwrap() < 0.0);
        let mut wrong_order = Slacks::new();
        ordered(&mut wrong_order, &[gaussian::eq9, gaussian::eq7]).unwrap();
        assert!(wrong_order.close().unwrap() < 0.0);
    }
}
