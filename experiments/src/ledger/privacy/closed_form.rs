//! Lemmas F.10, F.11 and Theorems F.12, 5.1: the closed form for correlated noise (errata E4, E5).

use dpbounds_bounds::privacy::{
    Effort, Method as Rung, Plan, Question, Relation, Sampler, account, closed_form,
    participation_norm,
};
use dpbounds_bounds::special::Binomial;

use super::super::claim::{Claim, Level, Method, Verdict};
use super::super::measured::{CheckError, Measured, Slacks, value};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::kan("K-F.10", "Lemma F.10")
        .states("a record takes part more than rT + sqrt(3rT log(1/(c δ))) times with probability at most c δ, if rT > 3 log(1/(c δ))")
        .checked(Method::ExactDensities, participations),
    Claim::kan("K-F.11", "Lemma F.11")
        .states("‖Cy‖ <= ((1−λ^T)/(1−λ)) sqrt τ for at most τ participations")
        .checked(Method::BruteForce, participation_norms),
    Claim::kan("K-F.12", "Theorem F.12")
        .states("κ² = 8((1−λ^T)/(1−λ))²(rT + sqrt(3rT log(2/δ))) log(2.5/δ)/ε² gives (ε, δ)-DP for ε, δ <= 1, rT >= 3 log(2/δ)")
        .checked(Method::ExactDensities, certified),
    Claim::kan("K-5.1", "Theorem 5.1")
        .states("Theorem F.12 in the main text, without its hypotheses and for λ > 0 only")
        .checked(Method::ExactDensities, main_text)
        .erratum(&["E1", "E4"], Verdict::HoldsCorrected),
];

fn participations(_: Level) -> Result<Measured, CheckError> {
    Measured::of(
        exact_tails(3.0),
        "exact binomial tails for T = 100 to 100000, r = 0.01 to 0.9 and c δ from 0.1 to 1e-9",
    )
}

/// The lemma with the factor in the root, printed as 3.
fn exact_tails(factor: f64) -> Slacks {
    let mut slacks = Slacks::new();
    for steps in [100_u32, 1000, 10_000, 100_000] {
        for r in [0.01, 0.1, 0.5, 0.9] {
            for level in [0.1_f64, 1e-3, 1e-5, 1e-9] {
                let (mean, log) = (r * f64::from(steps), -level.ln());
                if mean <= 3.0 * log {
                    continue;
                }
                let cap = (mean + (factor * mean * log).sqrt()).floor() as u32;
                let law = Binomial::new(f64::from(steps), r);
                let last = steps.min(cap.saturating_add(20_000));
                let tail: f64 = (cap + 1..=last).map(|k| law.log_mass(f64::from(k)).exp()).sum();
                slacks.at_most_of(tail, level, level);
            }
        }
    }
    slacks
}

fn participation_norms(level: Level) -> Result<Measured, CheckError> {
    let steps = level.pick(10, 14);
    Measured::of(
        norms(steps, false, 1.0)?,
        format!("all participation patterns of 1 to {steps} steps, λ = 0, 0.3, 0.9, 0.99"),
    )
}

/// `share` of the printed limit, or of our exact largest norm.
fn norms(largest: usize, exact: bool, share: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for lambda in [0.0_f64, 0.3, 0.9, 0.99] {
        for steps in 1..=largest {
            let mut by_count = vec![0.0_f64; steps + 1];
            for bits in 0_u32..1 << steps {
                let (mut row, mut total) = (0.0, 0.0);
                for t in 0..steps {
                    row = lambda * row + f64::from(bits >> t & 1);
                    total += row * row;
                }
                let count = bits.count_ones() as usize;
                by_count[count] = by_count[count].max(total.sqrt());
            }
            for (count, reached) in by_count.iter().copied().enumerate().skip(1) {
                if exact {
                    let norm = participation_norm(lambda, steps as u64, count as u64)?;
                    slacks.equal(share * norm, reached, reached, 1e-10);
                } else {
                    let sum = (1.0 - lambda.powi(steps as i32)) / (1.0 - lambda);
                    slacks.at_most(reached, share * sum * (count as f64).sqrt());
                }
            }
        }
    }
    Ok(slacks)
}

/// Our exact norm.
pub(super) fn largest_norm(level: Level) -> Result<Measured, CheckError> {
    let steps = level.pick(10, 14);
    Measured::of(
        norms(steps, true, 1.0)?,
        format!(
            "all participation patterns of 1 to {steps} steps, λ = 0, 0.3, 0.9, 0.99; tolerance 1e-10"
        ),
    )
}

/// n, B, T, ε, δ, λ inside the hypotheses.
type Setting = (u64, u64, u64, f64, f64, f64);
const SETTINGS: &[Setting] = &[
    (100, 10, 1000, 1.0, 1e-5, 0.0),
    (100, 10, 1000, 1.0, 1e-5, 0.5),
    (1000, 1000, 100, 0.5, 1e-6, 0.0),
    (1000, 500, 200, 1.0, 1e-6, 0.9),
];
const MORE_SETTINGS: &[Setting] = &[
    (100, 10, 1000, 1.0, 1e-5, 0.0),
    (100, 10, 1000, 1.0, 1e-5, 0.5),
    (1000, 1000, 100, 0.5, 1e-6, 0.0),
    (1000, 500, 200, 1.0, 1e-6, 0.9),
    (10_000, 100, 10_000, 1.0, 1e-6, 0.0),
    (10_000, 1000, 1000, 0.1, 1e-8, 0.3),
    (10_000, 5000, 100, 1.0, 1e-4, 0.99),
    (50, 25, 64, 0.9, 1e-2, 0.7),
];

/// δ that our accountant proves at the noise, for fixed-size batches and replaced records.
fn spent(setting: &Setting, share: f64) -> Result<(f64, f64), CheckError> {
    let (n, batch, steps, epsilon, delta, lambda) = *setting;
    let kappa = value(&closed_form::f12(n, batch, steps, epsilon, delta, lambda)?)?;
    let sampler = if n == batch { Sampler::Full } else { Sampler::Fixed };
    let plan = Plan { n, batch, steps, lambda, sampler, relation: Relation::ReplaceOne };
    // A cheap rung is enough: the closed form leaves much room.
    let effort = Effort { method: Rung::L1b, ..Effort::default() };
    let bound = account(&plan, share * kappa, Question::DeltaAt { epsilon }, &effort)?;
    Ok((bound.upper.unwrap_or(1.0), delta))
}

fn certified_settings(settings: &[Setting], share: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for setting in settings {
        let (upper, delta) = spent(setting, share)?;
        slacks.at_most_of(upper, delta, delta);
    }
    Ok(slacks)
}

fn certified(level: Level) -> Result<Measured, CheckError> {
    let settings = level.pick_from(SETTINGS, MORE_SETTINGS);
    Measured::of(
        certified_settings(settings, 1.0)?,
        format!(
            "the δ that our accountant proves at this noise in {} settings with λ from 0 to 0.99, fixed-size and full batches, \
             replaced records",
            settings.len()
        ),
    )
}

fn main_text(level: Level) -> Result<Measured, CheckError> {
    let settings = level.pick_from(SETTINGS, MORE_SETTINGS);
    Measured::corrected(
        None,
        certified_settings(settings, 1.0)?,
        format!(
            "{} settings inside the hypotheses of F.12, λ = 0 among them; the constants are suppressed in the main text, and \
             its proof goes through F.8 (E1), which F.12 does not need",
            settings.len()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_constants_are_caught() {
        assert!(exact_tails(3.0).close().unwrap() >= 0.0);
        assert!(exact_tails(0.5).close().unwrap() < 0.0);
        assert!(norms(6, false, 1.0).unwrap().close().unwrap() >= 0.0);
        // Attained without correlation.
        assert!(norms(6, false, 0.99).unwrap().close().unwrap() < 0.0);
        // A tenth of the noise.
        assert!(certified_settings(&SETTINGS[2..3], 0.1).unwrap().close().unwrap() < 0.0);
    }
}
