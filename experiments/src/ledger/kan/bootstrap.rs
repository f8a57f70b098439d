//! Lemma C.11, Lemma D.11 and Theorem D.13: whole runs below their bounds.

use dpbounds_bounds::kan::certificates::{
    Anchor, BudgetD, BudgetP, CertificateD, CertificateP, Landscape, PaperForm, Training,
    certificate_d, certificate_p,
};
use dpbounds_bounds::privacy::Sampler;

use super::super::claim::{Claim, Level, Method};
use super::super::lab::Lab;
use super::super::linear::{dot, minus, plus, square};
use super::super::measured::{CheckError, Measured, Slacks, value};
use super::super::walk::{Run, distance, walk};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::kan("K-C.11", "Lemma C.11")
        .states("with the limits of C.5 to C.10 the average risk is at most its bound, except with probability δ_Z + δ_Δ + δ_pot")
        .checked(Method::Frequency, correlated_run),
    Claim::kan("K-D.11", "Lemma D.11")
        .states("one projected step with independent noise: L_S(W) <= 4 L_S(W*) + (3/(2η))(‖W−W*‖² − ‖W⁺−W*‖²) + 6η‖Δ‖² + ..")
        .checked(Method::Inequality, projected_step),
    Claim::kan("K-D.13", "Theorem D.13")
        .states("the average risk of projected DP-SGD with independent noise is at most the sum of six terms, except with probability δ")
        .checked(Method::Frequency, independent_run),
];

/// The average training risk of a run.
pub(in super::super) fn average_risk(lab: &Lab, run: &Run) -> Result<f64, CheckError> {
    let full = lab.full();
    let mut risk = 0.0;
    walk(lab, run, |m| {
        risk += dot(&full, &m.look.losses) / run.steps as f64;
        Ok(())
    })?;
    Ok(risk)
}

pub(in super::super) fn anchor(lab: &Lab) -> Result<Anchor, CheckError> {
    let loss = dot(&lab.full(), &lab.look(&lab.target)?.losses);
    Ok(Anchor { distance: distance(&lab.target, &lab.start) * (1.0 + 1e-12), loss })
}

pub(in super::super) fn training(lab: &Lab, run: &Run) -> Training {
    let (batch, records) = (run.batch as u64, lab.len() as u64);
    let sampler = match (run.poisson, batch == records) {
        (_, true) => Sampler::Full,
        (true, _) => Sampler::Poisson,
        _ => Sampler::Fixed,
    };
    Training {
        batch,
        sampler,
        lambda: run.lambda,
        noise: run.c,
        radius: run.radius,
        ..Training::full_batch(run.eta, run.steps as u64, records)
    }
}

const DELTA: f64 = 0.3;

fn correlated_run(level: Level) -> Result<Measured, CheckError> {
    let (lab, run) = correlated_setting()?;
    let bound = correlated_bound(&lab, &run)?;
    let seeds = level.pick(18, 200);
    Measured::of(
        exceeding(&lab, &run, bound, seeds, DELTA)?,
        format!(
            "{seeds} seeds of {} steps, {} units, n = 4000, B = 400, λ = 0.5, δ = {DELTA} in all, realised constants: bound \
             {bound:.3}",
            run.steps,
            lab.network.width()
        ),
    )
}

fn correlated_setting() -> Result<(Lab, Run), CheckError> {
    let lab = Lab::wide(2000, 1000, 4.0)?;
    let run = Run {
        eta: 0.05,
        c: 1e-3,
        lambda: 0.5,
        batch: 400,
        poisson: false,
        steps: 80,
        radius: None,
        seed: 0,
    };
    Ok((lab, run))
}

fn correlated_bound(lab: &Lab, run: &Run) -> Result<f64, CheckError> {
    let certificate = certificate_p(&CertificateP {
        landscape: Landscape::from(lab.constants),
        parameters: lab.parameters() as u64,
        comparator: anchor(lab)?,
        training: training(lab, run),
        form: PaperForm::Verbatim,
        budget: BudgetP::equal(DELTA),
    })?;
    value(&certificate.bound)
}

/// How often the average risk exceeds the bound, and how far below it stays.
fn exceeding(
    lab: &Lab,
    run: &Run,
    bound: f64,
    seeds: usize,
    delta: f64,
) -> Result<Slacks, CheckError> {
    let mut outside = 0;
    for seed in 0..seeds as u64 {
        outside += usize::from(average_risk(lab, &Run { seed, ..*run })? > bound);
    }
    let mut slacks = Slacks::new();
    slacks.frequency(outside, seeds, delta)?;
    Ok(slacks)
}

fn projected_step(level: Level) -> Result<Measured, CheckError> {
    let runs = level.pick(6, 60);
    Measured::of(
        projected_steps(runs, 4.0, 1.5)?,
        format!(
            "every one of 30 steps of {runs} projected runs, 2000 units, n = 16, B = 4 or 16, λ = 0, 4νR_*² <= 1/2"
        ),
    )
}

/// The lemma with its factors of `L_S(W*)` and of the telescoping difference.
fn projected_steps(runs: usize, target: f64, difference: f64) -> Result<Slacks, CheckError> {
    let lab = Lab::wide(2000, 4, 1.0)?;
    let (tau, nu) = (distance(&lab.target, &lab.start), lab.constants.curvature);
    let mut slacks = Slacks::new();
    let loss = anchor(&lab)?.loss;
    for seed in 0..runs as u64 {
        let eta = 0.9 / (12.0 * lab.smoothness());
        let run = Run {
            eta,
            c: 1e-3,
            lambda: 0.0,
            batch: if seed % 2 == 0 { 4 } else { 16 },
            poisson: false,
            steps: 30,
            radius: Some(tau),
            seed,
        };
        if 4.0 * nu * tau * tau > 0.5 {
            continue; // the hypotheses fail
        }
        walk(&lab, &run, |m| {
            let away = minus(m.weights, &lab.target);
            let delta = m.deviation();
            let pushed = plus(&delta, run.c, m.noise);
            let before = square(&away);
            let after = square(&minus(m.next, &lab.target));
            let right = target * loss
                + difference / eta * (before - after)
                + 6.0 * eta * square(&delta)
                + 6.0 * eta * run.c * run.c * square(m.noise)
                - 3.0 * dot(&pushed, &away);
            let risk = dot(&lab.full(), &m.look.losses);
            slacks.at_most(risk, right);
            Ok(())
        })?;
    }
    Ok(slacks)
}

fn independent_run(level: Level) -> Result<Measured, CheckError> {
    let (lab, run) = independent_setting()?;
    let bound = independent_bound(&lab, &run)?;
    let seeds = level.pick(18, 200);
    Measured::of(
        exceeding(&lab, &run, bound, seeds, DELTA)?,
        format!(
            "{seeds} seeds of {} steps, {} units, n = 4000, B = 400, λ = 0, δ = {DELTA} in all, the constants of certificate \
             D: bound {bound:.3}",
            run.steps,
            lab.network.width()
        ),
    )
}

fn independent_setting() -> Result<(Lab, Run), CheckError> {
    let lab = Lab::wide(2000, 1000, 1.0)?;
    let radius = distance(&lab.target, &lab.start) * (1.0 + 1e-9);
    let run = Run {
        eta: 0.05,
        c: 1e-3,
        lambda: 0.0,
        batch: 400,
        poisson: false,
        steps: 80,
        radius: Some(radius),
        seed: 0,
    };
    Ok((lab, run))
}

fn independent_bound(lab: &Lab, run: &Run) -> Result<f64, CheckError> {
    let certificate = certificate_d(&CertificateD {
        landscape: Landscape::from(lab.constants),
        parameters: lab.parameters() as u64,
        comparator: anchor(lab)?,
        training: training(lab, run),
        budget: BudgetD::equal(DELTA),
    })?;
    value(&certificate.bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_above_a_bound_is_caught() {
        let (lab, run) = independent_setting().unwrap();
        let run = Run { steps: 20, ..run };
        let risk = average_risk(&lab, &run).unwrap();
        assert!(exceeding(&lab, &run, 0.9 * risk, 12, DELTA).unwrap().close().unwrap() < 0.0);
    }

    #[test]
    fn smaller_factors_of_the_projected_step_are_caught() {
        assert!(projected_steps(1, 4.0, 1.5).unwrap().close().unwrap() >= 0.0);
        assert!(projected_steps(2, 0.2, 0.1).unwrap().close().unwrap() < 0.0);
    }
}
