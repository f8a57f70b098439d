//! The inequalities behind Theorem S: S.1 to S.4.

use dpbounds_bounds::kan::{
    Activation, Knots, Network, RealisedConstants, SELF_BOUNDING_CONSTANT, SplineBasis,
};
use rand::RngExt;

use super::super::claim::{Claim, Method};
use super::super::kan::small_runs;
use super::super::lab::{Lab, normals, rng};
use super::super::linear::{dot, minus, norm, plus, square};
use super::super::measured::{CheckError, Measured, Slacks};
use super::super::walk::{Run, distance};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours("S.1", "certificates.md, S.1")
        .states("<v, W−W*> >= L_B(W) − q S_B(W) − L_B(W*), q = ν D_x²/2, for any weights and batch")
        .checked(Method::Inequality, |level| {
            let cases = level.pick(300, 20_000);
            Measured::of(
                linearisation(cases, 1.0)?,
                format!("{cases} random networks with random batches and three directions each, and a network that attains it within 2 %"),
            )
        }),
    Claim::ours("S.2", "certificates.md, S.2")
        .states("‖∇L_B‖² <= G² S_B² <= C_0 G² L_B")
        .checked(Method::Inequality, |level| {
            let cases = level.pick(300, 20_000);
            Measured::of(self_bounding(cases, SELF_BOUNDING_CONSTANT)?, format!("{cases} random networks with random batches, and the loss that attains C_0"))
        }),
    Claim::ours("S.3", "certificates.md, S.3")
        .states("|<v, Z>| <= G S_B max ‖Z h‖/‖h‖, and that maximum is at most z_x for Gaussian Z, except with probability δ_X")
        .checked(Method::Frequency, |level| {
            let runs = level.pick(80, 2000);
            Measured::of(noise_seen(runs, 1.0)?, format!("every one of 30 steps of {runs} runs, 64 cubic units, n = 20, B = 5, δ_X = 0.2"))
        }),
    Claim::ours("S.4", "certificates.md, S.4")
        .states("the expansion of ‖U_t − W*‖² with the batch gradient")
        .checked(Method::Identity, |level| {
            let runs = level.pick(4, 100);
            Measured::of(identity(runs, 2.0)?, format!("every one of 30 steps of {runs} runs, 64 cubic units, n = 20, B = 5, λ in 0, 0.3, 0.6, 1; tolerance 1e-13"))
        }),
];

/// Shares of a random batch.
fn random_shares(seed: u64, rows: usize) -> Vec<f64> {
    let mut rng = rng(seed.wrapping_add(77));
    let raw: Vec<f64> = (0..rows).map(|_| rng.random_range(0.01..1.0)).collect();
    let total: f64 = raw.iter().sum();
    raw.iter().map(|share| share / total).collect()
}

/// S.1 with a factor of ν.
fn linearisation(cases: usize, factor: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    let mut compare =
        |lab: &Lab, shares: &[f64], direction: &[f64], length: f64| -> Result<(), CheckError> {
            let other = plus(&lab.start, length / norm(direction).max(1e-300), direction);
            let (look, target) = (lab.look(&lab.start)?, lab.look(&other)?);
            let away = minus(&lab.start, &other);
            let q = factor * lab.constants.curvature * lab.reach(&away).powi(2) / 2.0;
            let (risk, slope) = (dot(shares, &look.losses), dot(shares, &look.slopes));
            let left = risk - q * slope - dot(shares, &target.losses);
            let right = dot(&lab.gradient(&look, shares), &away);
            // In units of the error term, or of the risks where that is too small to see.
            slacks.at_most_of(left, right + 1e-13 * risk, (q * slope).max(1e-3 * risk));
            Ok(())
        };
    for seed in 0..cases as u64 {
        let lab = Lab::random(seed)?;
        let shares = random_shares(seed, lab.features.len());
        let gradient = lab.gradient(&lab.look(&lab.start)?, &shares);
        let mut rng = rng(seed);
        let random = normals(&mut rng, lab.parameters());
        let length = 0.01 * 1000.0_f64.powf(rng.random());
        let back: Vec<f64> = gradient.iter().map(|g| -g).collect();
        for direction in [&random, &gradient, &back] {
            compare(&lab, &shares, direction, length)?;
        }
    }
    let (lab, direction) = attaining()?;
    compare(&lab, &[1.0], &direction, 1e-3 * norm(&direction))?;
    Ok(slacks)
}

/// Pairs of units where |φ''| is largest, moved apart: the first order cancels, the second adds up.
fn attaining() -> Result<(Lab, Vec<f64>), CheckError> {
    let width = 40;
    let second = [-1.0, 1.0].repeat(width);
    let basis = SplineBasis::new(1, 2, Knots::Clamped)?;
    let network = Network::new(basis, Activation::Tanh, 1, second)?;
    let place = (1.0_f64 / 3.0).sqrt().atanh();
    let start = [0.0, place].repeat(width);
    let direction = [0.0, 1.0, 0.0, -1.0].repeat(width / 2);
    let lab = Lab {
        features: vec![network.features(&[1.0])?],
        labels: vec![-1.0],
        records: vec![0],
        constants: RealisedConstants::of(&network, 256)?.constants(1.0)?,
        target: start.clone(),
        network,
        start,
    };
    Ok((lab, direction))
}

fn self_bounding(cases: usize, constant: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..cases as u64 {
        let lab = Lab::random(seed)?;
        let shares = random_shares(seed, lab.features.len());
        let look = lab.look(&lab.start)?;
        let g2 = lab.constants.gradient.powi(2);
        let (risk, slope) = (dot(&shares, &look.losses), dot(&shares, &look.slopes));
        slacks.at_most(square(&lab.gradient(&look, &shares)), g2 * slope * slope);
        slacks.at_most(g2 * slope * slope, constant * g2 * risk);
    }
    for step in 1..4000 {
        let loss = f64::from(step) / 400.0;
        slacks.at_most((-loss).exp_m1().powi(2), constant * loss);
    }
    Ok(slacks)
}

fn noise_seen(runs: usize, factor: f64) -> Result<Slacks, CheckError> {
    let delta = 0.2_f64;
    let mut slacks = Slacks::new();
    let mut largest = vec![0.0_f64; runs];
    let mut limit = 0.0;
    small_runs(runs, |lab, run: &Run, m| {
        if m.noise_before.iter().all(|z| *z == 0.0) {
            return Ok(());
        }
        let seen = lab.reach(m.noise_before);
        let slope = m.batch_loss().1;
        let right = factor * lab.constants.gradient * slope * seen;
        slacks.at_most(dot(m.batch_gradient, m.noise_before).abs(), right);
        let place = (run.seed - 1) as usize;
        largest[place] = largest[place].max(seen);
        let count = (lab.len() * (run.steps - 1)) as f64;
        limit = (lab.network.width() as f64).sqrt() + (2.0 * (count / delta).ln()).sqrt();
        Ok(())
    })?;
    let outside = largest.iter().filter(|seen| **seen > factor * limit).count();
    slacks.frequency(outside, runs, delta)?;
    Ok(slacks)
}

fn identity(runs: usize, cross: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    small_runs(runs, |lab, run, m| {
        let Run { eta, c, lambda, .. } = *run;
        let (u, z) = (m.shifted(run), m.noise_before);
        let away = minus(&u, &lab.target);
        let left = distance(&m.shifted_next(run), &lab.target).powi(2);
        let right = square(&away)
            - 2.0 * eta * dot(m.batch_gradient, &minus(m.weights, &lab.target))
            - 2.0 * (1.0 - lambda) * eta * c * dot(z, &away)
            + eta * eta * square(m.batch_gradient)
            + ((1.0 - lambda) * eta * c).powi(2) * square(z)
            - cross * lambda * eta * eta * c * dot(m.batch_gradient, z);
        slacks.equal(left, right, left, 1e-13);
        Ok(())
    })?;
    Ok(slacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_constants_are_caught() {
        assert!(linearisation(30, 1.0).unwrap().close().unwrap() >= 0.0);
        assert!(linearisation(0, 0.95).unwrap().close().unwrap() < 0.0);
        // 1/4, the largest l'', in place of C_0.
        assert!(self_bounding(0, 0.25).unwrap().close().unwrap() < 0.0);
        assert!(self_bounding(0, 0.4072).unwrap().close().unwrap() < 0.0);
        assert!(noise_seen(2, 0.3).unwrap().close().unwrap() < 0.0);
        assert!(identity(2, 1.0).unwrap().close().unwrap() < 0.0);
    }
}
