//! Lemmas C.1 to C.3 and the step of C.13 that uses (10): one step of the shifted iterate, and all steps together.

use super::super::claim::{Claim, Level, Method, Verdict};
use super::super::lab::Lab;
use super::super::linear::{dot, minus, norm, plus, square};
use super::super::measured::{CheckError, Measured, Slacks};
use super::super::walk::{Moment, Run, distance, walk};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::kan("K-C.1", "Lemma C.1")
        .states("the exact expansion (6) of ‖U_t − W*‖² for U_t = W_t + η c Z_t")
        .checked(Method::Identity, shifted_identity),
    Claim::kan("K-C.2", "Lemma C.2")
        .states("(2/3) L_S(W) <= <∇L_S(W), W−W*> + (4/3) L_S(W*) if ν ‖W−W*‖² <= 1/2")
        .checked(Method::Inequality, localized_comparator),
    Claim::kan("K-C.3", "Lemma C.3")
        .states("with (7), (10) and η <= 1/(12β): ‖U_t − W*‖ <= R_bar, and the average risk is at most its bound")
        .checked(Method::Inequality, bootstrap),
    Claim::kan("K-C.13", "Theorem C.13")
        .states("Theorem 4.1 with its verification of (10); its step (ii) bounds −2λη²c<g,Z> by (η/3) L_S and a multiple of βλ²η³c²‖Z‖²")
        .checked(Method::Inequality, correlated_cross_term)
        .erratum(&["E9"], Verdict::HoldsCorrected),
];

/// Runs on the small network with noise, by seed.
fn small_run(seed: u64) -> Run {
    let lambda = [0.6, 0.0, 1.0, 0.3][(seed % 4) as usize];
    Run { eta: 0.2, c: 0.02, lambda, batch: 5, poisson: false, steps: 30, radius: None, seed }
}

/// Every step of runs of the small network.
pub(in super::super) fn small_runs(
    count: usize,
    mut visit: impl FnMut(&Lab, &Run, &Moment<'_>) -> Result<(), CheckError>,
) -> Result<(), CheckError> {
    for seed in 1..=count as u64 {
        let lab = Lab::small(seed)?;
        let run = small_run(seed);
        walk(&lab, &run, |moment| visit(&lab, &run, moment))?;
    }
    Ok(())
}

fn shifted_identity(level: Level) -> Result<Measured, CheckError> {
    let runs = level.pick(4, 100);
    Measured::of(
        identity(runs, 2.0)?,
        format!(
            "every one of 30 steps of {runs} runs, 64 cubic units, n = 20, B = 5, λ in 0, 0.3, 0.6, 1; tolerance 1e-13"
        ),
    )
}

/// (6) with the factor of `λη²c<g,Z>`, printed as 2.
fn identity(runs: usize, cross: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    small_runs(runs, |lab, run, m| {
        let Run { eta, c, lambda, .. } = *run;
        let (u, z, delta) = (m.shifted(run), m.noise_before, m.deviation());
        let away = minus(&u, &lab.target);
        let left = distance(&m.shifted_next(run), &lab.target).powi(2);
        let right = square(&away)
            - 2.0 * eta * dot(m.gradient, &minus(m.weights, &lab.target))
            - 2.0 * eta * dot(&delta, &away)
            - 2.0 * (1.0 - lambda) * eta * c * dot(z, &away)
            + eta * eta * square(&plus(m.gradient, 1.0, &delta))
            + ((1.0 - lambda) * eta * c).powi(2) * square(z)
            + 2.0 * (1.0 - lambda) * eta * eta * c * dot(&delta, z)
            - cross * lambda * eta * eta * c * dot(m.gradient, z);
        slacks.equal(left, right, left, 1e-13);
        Ok(())
    })?;
    Ok(slacks)
}

fn localized_comparator(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(300, 20_000);
    Measured::of(
        localized(cases, 2.0 / 3.0)?,
        format!(
            "{cases} random networks, comparators along random directions and gradients with ν D² up to 1/2"
        ),
    )
}

/// The lemma with `share` for 2/3.
fn localized(cases: usize, share: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..cases as u64 {
        let lab = Lab::random(seed)?;
        let shares = lab.full();
        let look = lab.look(&lab.start)?;
        let gradient = lab.gradient(&look, &shares);
        let risk = dot(&shares, &look.losses);
        let ahead = minus(&lab.target, &lab.start);
        let longest = (0.5 / lab.constants.curvature).sqrt();
        for direction in [&ahead, &gradient, &gradient.iter().map(|g| -g).collect()] {
            for part in [0.01, 0.3, 1.0] {
                let factor = part * longest / norm(direction).max(1e-300);
                let other = plus(&lab.start, factor, direction);
                let target = dot(&shares, &lab.look(&other)?.losses);
                let slope = dot(&gradient, &minus(&lab.start, &other));
                let scale = risk + target + slope.abs();
                slacks.at_most_of(share * risk, slope + 4.0 / 3.0 * target, scale);
            }
        }
    }
    Ok(slacks)
}

fn bootstrap(level: Level) -> Result<Measured, CheckError> {
    let runs = level.pick(6, 60);
    Measured::of(
        bootstraps(runs, 12.0)?,
        format!(
            "{runs} runs of 30 steps, 2000 units, n = 16, B = 8 or 16, λ in 0, 0.5, 1, realised constants and realised \
             sums of the good events; R_bar from (10) with equality"
        ),
    )
}

/// The lemma with the factor of βλ²η³c², printed as 12.
fn bootstraps(runs: usize, smooth: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    let lab = Lab::wide(2000, 4, 6.0)?;
    let beta = lab.smoothness();
    let tau = distance(&lab.target, &lab.start);
    let target = dot(&lab.full(), &lab.look(&lab.target)?.losses);
    for seed in 0..runs as u64 {
        let run = Run {
            eta: 0.2,
            c: 0.008,
            lambda: [0.0, 0.5, 1.0][(seed % 3) as usize],
            batch: if seed % 2 == 0 { 8 } else { 16 },
            poisson: false,
            steps: 30,
            radius: None,
            seed,
        };
        let Run { eta, c, lambda, .. } = run;
        let (mut sum, mut most, mut v_delta, mut v_z, mut z) =
            (0.0_f64, 0.0_f64, 0.0, 0.0, 0.0_f64);
        let (mut risk, mut farthest) = (0.0, 0.0_f64);
        walk(&lab, &run, |m| {
            let away = minus(&m.shifted(&run), &lab.target);
            let delta = m.deviation();
            sum += -2.0 * eta * dot(&delta, &away)
                - 2.0 * (1.0 - lambda) * eta * c * dot(m.noise_before, &away)
                + 2.0 * (1.0 - lambda) * eta * eta * c * dot(&delta, m.noise_before);
            most = most.max(sum);
            v_delta += square(&delta);
            v_z += square(m.noise_before);
            z = z.max(norm(m.noise_before));
            risk += dot(&lab.full(), &m.look.losses) / run.steps as f64;
            farthest = farthest.max(distance(&m.shifted_next(&run), &lab.target));
            Ok(())
        })?;
        let steps = run.steps as f64;
        let noise = ((1.0 - lambda).powi(2) * eta * eta
            + smooth * beta * lambda * lambda * eta.powi(3))
            * c
            * c
            * v_z;
        let radius2 =
            tau * tau + 8.0 / 3.0 * eta * steps * target + most + 2.0 * eta * eta * v_delta + noise;
        let reach = radius2.sqrt() + eta * c * z;
        if eta > 1.0 / (12.0 * beta) || lab.constants.curvature * reach * reach > 0.5 {
            continue; // the hypotheses fail
        }
        slacks.at_most(farthest, radius2.sqrt());
        let bound = 8.0 * target
            + 3.0 * (tau * tau + most) / (eta * steps)
            + 6.0 * eta * v_delta / steps
            + 3.0 * noise / (eta * steps);
        slacks.at_most(risk, bound);
    }
    Ok(slacks)
}

fn correlated_cross_term(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(200, 5000);
    let printed = cross_terms(cases, 2.0)?.close()?;
    Measured::corrected(
        None,
        cross_terms(cases, 12.0)?,
        format!(
            "{cases} random networks with noise along the gradient, of the worst length, with the factor 12 of (10); the \
             factor 2 of C.13 (ii) has slack {printed:.2}. The rate itself suppresses constants; its explicit form is \
             certificate P (entry cert-P)"
        ),
    )
}

/// `2λη²c‖g‖‖Z‖ <= (η/3) L + factor β λ²η³c²‖Z‖²` for Z along −g.
fn cross_terms(cases: usize, factor: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..cases as u64 {
        let lab = Lab::random(seed)?;
        let shares = lab.full();
        let look = lab.look(&lab.start)?;
        let slope = norm(&lab.gradient(&look, &shares));
        let risk = dot(&shares, &look.losses);
        let beta = lab.smoothness();
        let (lambda, eta) = (0.7, 1.0 / (12.0 * beta));
        // x = c‖Z‖ at which the quadratic is closest to the linear term.
        let x = slope / (factor * beta * lambda * eta);
        let left = 2.0 * lambda * eta * eta * slope * x;
        let right = eta / 3.0 * risk + factor * beta * lambda * lambda * eta.powi(3) * x * x;
        slacks.at_most_of(left, right, left + right);
    }
    // Units that are all alike: ‖∇f‖ reaches G, and the loss is where ‖∇l‖² = C_0 G² l.
    let (gradient, slope) = (1.0_f64, 1.0 - (-1.256_431_208_626_17_f64).exp());
    let beta = gradient * gradient / 4.0;
    let (eta, lambda) = (1.0 / (12.0 * beta), 1.0);
    let x = slope * gradient / (factor * beta * lambda * eta);
    let left = 2.0 * lambda * eta * eta * slope * gradient * x;
    let right = eta / 3.0 * 1.256_431_208_626_17 + factor * beta * eta.powi(3) * x * x;
    slacks.at_most_of(left, right, left + right);
    Ok(slacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_cross_term_breaks_the_identity() {
        assert!(identity(2, 2.0).unwrap().close().unwrap() > 0.5);
        assert!(identity(2, 1.0).unwrap().close().unwrap() < 0.0);
    }

    #[test]
    fn two_thirds_cannot_be_raised_beyond_one() {
        assert!(localized(40, 2.0 / 3.0).unwrap().close().unwrap() >= 0.0);
        assert!(localized(40, 1.5).unwrap().close().unwrap() < 0.0);
    }

    /// E9.
    #[test]
    fn the_printed_constant_of_c_13_is_caught() {
        assert!(cross_terms(5, 12.0).unwrap().close().unwrap() >= 0.0);
        assert!(cross_terms(5, 2.0).unwrap().close().unwrap() < 0.0);
    }
}
