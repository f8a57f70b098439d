//! Our accountant against exact divergences.

use dpbounds_bounds::privacy::{
    Effort, Method as Rung, Plan, Question, Relation, Sampler, account,
};

use super::super::claim::{Claim, Level, Method};
use super::super::measured::{CheckError, Measured, Slacks};
use super::closed_form::largest_norm;
use super::densities::{Mixture, hockey_stick};
use super::lambda_gain;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours("participation-norm", "privacy.md")
        .states("the largest ‖Cy‖ with k participations is attained by the first k steps")
        .checked(Method::BruteForce, largest_norm),
    Claim::ours("accountant-correlated", "accounting.md, L1 to L2TD")
        .states("every rung of the ladder is above the exact δ of correlated noise, and the lower side below it")
        .checked(Method::ExactDensities, correlated),
    Claim::ours("accountant-L3", "accounting.md, L3")
        .states("the Monte Carlo certificate for correlated noise is above the exact δ, up to its failure probability")
        .checked(Method::ExactDensities, |_| {
            Measured::of(
                two_steps(&[Rung::L3], 0.5, 1.0)?,
                "two steps, Poisson batches, r = 0.1, 0.3, 0.5, ε = 0.1, 0.5, 1, failure probability 1e-6, one seed; quadrature in the plane to 1e-4",
            )
        }),
    Claim::ours("lambda-gain", "accounting.md, does λ > 0 help?")
        .states("the factors by which correlated noise of the same privacy changes the noise terms of the risk bound")
        .checked(Method::ExactDensities, lambda_gain::check),
    Claim::ours("accountant-independent", "accounting.md")
        .states("loss distributions and RDP are above the exact δ of independent noise, and the lower side below it")
        .checked(Method::ExactDensities, independent),
    Claim::ours("accountant-fixed-size", "privacy.md, section 4")
        .states("the bracket for fixed-size batches under zero-out contains the δ of the data sets that refute F.8")
        .checked(Method::Witness, fixed_size),
];

/// The exact δ of two steps with Poisson batches, the larger order.
pub(super) fn exact(r: f64, kappa: f64, lambda: f64, epsilon: f64) -> f64 {
    let mixture: Mixture = vec![
        ((1.0 - r) * (1.0 - r), vec![0.0, 0.0]),
        (r * (1.0 - r), vec![1.0, lambda]),
        ((1.0 - r) * r, vec![0.0, 1.0]),
        (r * r, vec![1.0, 1.0 + lambda]),
    ];
    let nothing: Mixture = vec![(1.0, vec![0.0, 0.0])];
    hockey_stick(&mixture, &nothing, kappa, epsilon)
        .max(hockey_stick(&nothing, &mixture, kappa, epsilon))
}

/// Relative error of the quadrature.
pub(super) const QUADRATURE: f64 = 1e-4;

/// Two steps on Poisson batches of ten records.
pub(super) fn two_step_plan(batch: u64, lambda: f64) -> Plan {
    Plan {
        n: 10,
        batch,
        steps: 2,
        lambda,
        sampler: Sampler::Poisson,
        relation: Relation::AddRemove,
    }
}

/// Two steps with Poisson batches against the exact δ.
fn two_steps(rungs: &[Rung], lambda: f64, scale: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for (batch, kappa) in [(1, 1.0), (3, 0.8), (5, 2.0)] {
        let plan = two_step_plan(batch, lambda);
        for epsilon in [0.1, 0.5, 1.0] {
            let truth = exact(batch as f64 / 10.0, kappa, lambda, epsilon);
            for rung in rungs {
                let effort = Effort { method: *rung, ..Effort::default() };
                let bound = account(&plan, scale * kappa, Question::DeltaAt { epsilon }, &effort)?;
                // A certificate with a confidence has a value and no surely upper side.
                if let Some(upper) = bound.upper.or(bound.value) {
                    slacks.at_most(truth * (1.0 - QUADRATURE), upper);
                }
                if let Some(lower) = bound.lower {
                    slacks.at_most(lower * (1.0 - QUADRATURE), truth);
                }
            }
        }
    }
    Ok(slacks)
}

fn correlated(level: Level) -> Result<Measured, CheckError> {
    let rungs = [Rung::L1, Rung::L1b, Rung::L2, Rung::L2t, Rung::L2td];
    let mut slacks = Slacks::new();
    for lambda in level.pick_from::<[f64]>(&[0.5], &[0.2, 0.5, 0.9]) {
        slacks = slacks.and(two_steps(&rungs, *lambda, 1.0)?);
    }
    Measured::of(
        slacks,
        "two steps, Poisson batches, r = 0.1, 0.3, 0.5, ε = 0.1, 0.5, 1, L1, L1b, L2, L2T and L2TD; quadrature in the plane to 1e-4",
    )
}

fn independent(_: Level) -> Result<Measured, CheckError> {
    Measured::of(
        two_steps(&[Rung::Pld, Rung::Rdp, Rung::Auto], 0.0, 1.0)?,
        "two steps, Poisson batches, r = 0.1, 0.3, 0.5, ε = 0.1, 0.5, 1; quadrature in the plane to 1e-4",
    )
}

fn fixed_size(_: Level) -> Result<Measured, CheckError> {
    let mut slacks = Slacks::new();
    for (n, batch) in [(1000, 10), (100, 10), (20, 10)] {
        let r = batch as f64 / n as f64;
        let blend = |shift: f64| -> Mixture { vec![(1.0 - r, vec![0.0]), (r, vec![shift])] };
        let reached = hockey_stick(&blend(2.0), &blend(1.0), 1.0, 1.0);
        let plan = Plan {
            n,
            batch,
            steps: 1,
            lambda: 0.0,
            sampler: Sampler::Fixed,
            relation: Relation::ZeroOut,
        };
        let bound = account(&plan, 1.0, Question::DeltaAt { epsilon: 1.0 }, &Effort::default())?;
        slacks.at_most(reached * (1.0 - 1e-6), bound.upper.unwrap_or(1.0));
        slacks.at_most(bound.lower.unwrap_or(0.0) * (1.0 - 1e-6), reached);
    }
    Measured::of(slacks, "one step, κ = 1, ε = 1, B = 10, n = 1000, 100, 20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noise_that_is_a_fifth_too_large_is_caught() {
        assert!(two_steps(&[Rung::Pld], 0.0, 1.2).unwrap().close().unwrap() < 0.0);
        assert!(two_steps(&[Rung::L2td], 0.5, 1.2).unwrap().close().unwrap() < 0.0);
    }
}
