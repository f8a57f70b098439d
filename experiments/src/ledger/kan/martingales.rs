//! Lemmas C.6 to C.10, D.10 and D.12: what batches and noise add up to.

use super::super::claim::{Claim, Level, Method};
use super::super::lab::Lab;
use super::super::linear::{dot, minus, norm, plus, square};
use super::super::measured::{CheckError, Measured, Slacks};
use super::super::walk::{Run, distance, walk};
use super::concentration::log_chi_square_tail;
use super::lemmas::subsets;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::kan("K-C.6", "Lemma C.6")
        .states("Σ ‖Δ_t‖² of the stopped run is at most 2TG²/B + 8G² log(1/δ), except with probability δ")
        .checked(Method::Frequency, |level| frequency(level, Event::Squares)),
    Claim::kan("K-C.7", "Lemma C.7")
        .states("max |M¹_k| <= 4 sqrt2 η G R_bar sqrt(T log(2/δ)/B), except with probability δ")
        .checked(Method::Frequency, |level| frequency(level, Event::Batches)),
    Claim::kan("K-C.8", "Lemma C.8")
        .states("max |M²_k| <= 4(1−λ) η c R_bar sqrt(T log(2/δ)), except with probability δ")
        .checked(Method::Frequency, |level| frequency(level, Event::Noise)),
    Claim::kan("K-C.9", "Lemma C.9")
        .states("max |M³_k| <= 4(1−λ) η² c G sqrt(V_Z log(2/δ)/B) jointly with the Gaussian event, except with probability δ")
        .checked(Method::Frequency, |level| frequency(level, Event::Cross)),
    Claim::kan("K-C.10", "Lemma C.10")
        .states("max |M¹+M²+M³| <= M_pot jointly with the Gaussian event, except with probability δ more")
        .checked(Method::Frequency, |level| frequency(level, Event::All)),
    Claim::kan("K-D.10", "Lemma D.10")
        .states("E Δ_t = 0 and E ‖Δ_t‖² <= G²/B given the past, for batches without replacement")
        .checked(Method::BruteForce, batch_moments),
    Claim::kan("K-D.12", "Lemma D.12")
        .states("the four tails (a) to (d) of the projected run with independent noise, with 6 sqrt2 and log(2/δ) for the constant of (c), (d)")
        .checked(Method::Frequency, projected_tails),
];

/// Which sum is compared with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Event {
    Squares,
    Batches,
    Noise,
    Cross,
    All,
}

const DELTA: f64 = 0.1;

/// Constants of a limit: a factor for all, and whether the logarithms are one-sided.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Limits {
    pub linear: f64,
    pub one_sided: bool,
}

const PRINTED: Limits = Limits { linear: 1.0, one_sided: false };

fn frequency(level: Level, event: Event) -> Result<Measured, CheckError> {
    let seeds = level.pick(200, 4000);
    let slacks = exceedances(seeds, event, PRINTED)?;
    Measured::of(
        slacks,
        format!(
            "{seeds} seeds of 20 steps, 64 cubic units, n = 20, B = 5, λ = 0.4, δ = {DELTA}, stopped at R_bar = 1.5 τ"
        ),
    )
}

/// How often the sum of `event` exceeds its limit.
pub(in super::super) fn exceedances(
    seeds: usize,
    event: Event,
    limits: Limits,
) -> Result<Slacks, CheckError> {
    let lab = Lab::small(1)?;
    let gradient = lab.constants.gradient;
    let radius = 1.5 * distance(&lab.target, &lab.start);
    let mut outside = 0;
    for seed in 0..seeds as u64 {
        let run = Run {
            eta: 0.2,
            c: 0.05,
            lambda: 0.4,
            batch: 5,
            poisson: false,
            steps: 20,
            radius: None,
            seed,
        };
        let Run { eta, c, lambda, .. } = run;
        let (steps, batch) = (run.steps as f64, run.batch as f64);
        let parameters = lab.parameters() as f64;
        let z = parameters.sqrt() + (2.0 * (2.0 * steps / DELTA).ln()).sqrt();
        let log_z = (2.0 / DELTA).ln();
        let mean = (steps - 1.0) * parameters;
        let v_z = mean + 2.0 * (mean * log_z).sqrt() + 2.0 * log_z;
        let mut inside = true;
        let mut gaussian = true;
        let (mut squares, mut noise_squares) = (0.0, 0.0);
        let mut sums = [0.0_f64; 3];
        let mut largest = [0.0_f64; 4]; // of M¹, M², M³ and their sum
        walk(&lab, &run, |m| {
            let away = minus(&m.shifted(&run), &lab.target);
            inside &= norm(&away) <= radius;
            gaussian &= norm(m.noise) <= z;
            noise_squares += square(m.noise_before);
            if inside {
                let delta = m.deviation();
                squares += square(&delta);
                sums[0] += -2.0 * eta * dot(&delta, &away);
                sums[1] += -2.0 * (1.0 - lambda) * eta * c * dot(m.noise_before, &away);
                sums[2] += 2.0 * (1.0 - lambda) * eta * eta * c * dot(&delta, m.noise_before);
            }
            let size = |sum: f64| if limits.one_sided { sum } else { sum.abs() };
            for (most, sum) in
                largest.iter_mut().zip([sums[0], sums[1], sums[2], sums.iter().sum()])
            {
                *most = most.max(size(sum));
            }
            Ok(())
        })?;
        gaussian &= noise_squares <= v_z;
        let log = |factor: f64| {
            let factor = if limits.one_sided { factor / 2.0 } else { factor };
            (factor / DELTA).ln()
        };
        let first = 4.0 * 2.0_f64.sqrt() * eta * gradient * radius;
        let second = 4.0 * (1.0 - lambda) * eta * c * radius;
        let third = 4.0 * (1.0 - lambda) * eta * eta * c * gradient;
        let of_batches = |log: f64| first * (steps * log / batch).sqrt();
        let of_noise = |log: f64| second * (steps * log).sqrt();
        let of_cross = |log: f64| third * (v_z * log / batch).sqrt();
        let (sum, limit, counts) = match event {
            Event::Squares => {
                let limit = 2.0 * steps * gradient.powi(2) / batch
                    + 8.0 * gradient.powi(2) * (1.0 / DELTA).ln();
                (squares, limit, true)
            }
            Event::Batches => (largest[0], of_batches(log(2.0)), true),
            Event::Noise => (largest[1], of_noise(log(2.0)), true),
            Event::Cross => (largest[2], of_cross(log(2.0)), gaussian),
            Event::All => {
                let log = log(6.0);
                (largest[3], of_batches(log) + of_noise(log) + of_cross(log), gaussian)
            }
        };
        outside += usize::from(counts && sum > limits.linear * limit);
    }
    let mut slacks = Slacks::new();
    slacks.frequency(outside, seeds, DELTA)?;
    Ok(slacks)
}

fn batch_moments(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(60, 2000);
    Measured::of(
        moments(cases, 1.0)?,
        format!("all batches of {cases} random networks on 2 to 6 records, realised G"),
    )
}

/// The lemma with a factor of G²/B.
fn moments(cases: usize, factor: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..cases as u64 {
        let lab = Lab::random(seed)?;
        let look = lab.look(&lab.start)?;
        let gradient = lab.gradient(&look, &lab.full());
        let limit = lab.constants.gradient.powi(2);
        for batch in 1..=lab.len() {
            let deviations: Vec<Vec<f64>> = subsets(lab.len(), batch)
                .map(|chosen| minus(&lab.gradient(&look, &lab.shares(&chosen, batch)), &gradient))
                .collect();
            let count = deviations.len() as f64;
            let mut mean = vec![0.0; gradient.len()];
            for deviation in &deviations {
                mean = plus(&mean, 1.0 / count, deviation);
            }
            let variance = deviations.iter().map(|d| square(d)).sum::<f64>() / count;
            slacks.equal(norm(&mean), 0.0, limit.sqrt(), 1e-12);
            slacks.at_most(variance, factor * limit / batch as f64);
        }
    }
    Ok(slacks)
}

fn projected_tails(level: Level) -> Result<Measured, CheckError> {
    let seeds = level.pick(200, 4000);
    Measured::of(
        projected(seeds, 6.0 * 2.0_f64.sqrt())?,
        format!(
            "(a), (c), (d): {seeds} seeds of 20 projected steps, 64 cubic units, n = 20, B = 5, δ = {DELTA}; (b): the exact \
             chi-square tail"
        ),
    )
}

fn projected(seeds: usize, constant: f64) -> Result<Slacks, CheckError> {
    let lab = Lab::small(2)?;
    let gradient = lab.constants.gradient;
    let radius = distance(&lab.target, &lab.start);
    let mut outside = [0; 3];
    let mut slacks = Slacks::new();
    for seed in 0..seeds as u64 {
        let run = Run {
            eta: 0.2,
            c: 0.05,
            lambda: 0.0,
            batch: 5,
            poisson: false,
            steps: 20,
            radius: Some(radius),
            seed,
        };
        let (steps, batch) = (run.steps as f64, run.batch as f64);
        let (mut squares, mut batches, mut noise) = (0.0, 0.0_f64, 0.0_f64);
        walk(&lab, &run, |m| {
            let (delta, away) = (m.deviation(), minus(m.weights, &lab.target));
            squares += square(&delta);
            batches += -3.0 * dot(&delta, &away);
            noise += -3.0 * run.c * dot(m.noise, &away);
            Ok(())
        })?;
        let log = (2.0 / DELTA).ln();
        let limit =
            2.0 * steps * gradient.powi(2) / batch + 8.0 * gradient.powi(2) * (1.0 / DELTA).ln();
        outside[0] += usize::from(squares > limit);
        let limit = constant * gradient * radius * (steps * log / batch).sqrt();
        outside[1] += usize::from(batches.abs() > limit);
        let limit = constant * run.c * radius * (steps * log).sqrt();
        outside[2] += usize::from(noise.abs() > limit);
    }
    for events in outside {
        slacks.frequency(events, seeds, DELTA)?;
    }
    for (degrees, delta) in [(640_usize * 20, 0.1_f64), (64, 1e-6), (12_000, 1e-9)] {
        let (d, log) = (degrees as f64, -delta.ln());
        let limit = d + 2.0 * (d * log).sqrt() + 2.0 * log;
        slacks.at_most_of(log_chi_square_tail(degrees, limit).exp(), delta, delta);
    }
    Ok(slacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_without_their_constants_are_caught() {
        for event in [Event::Batches, Event::Noise, Event::Cross, Event::All] {
            let small = Limits { linear: 0.02, ..PRINTED };
            assert!(exceedances(40, event, small).unwrap().close().unwrap() < 0.0, "{event:?}");
        }
        let tiny = Limits { linear: 0.002, ..PRINTED };
        assert!(exceedances(40, Event::Squares, tiny).unwrap().close().unwrap() < 0.0);
        // E12: C_clip = 10 G, but the limit of C_clip = G.
        let clipped = Limits { linear: 0.1, ..PRINTED };
        assert!(exceedances(40, Event::Noise, clipped).unwrap().close().unwrap() < 0.0);
        assert!(moments(20, 1.0).unwrap().close().unwrap() >= 0.0);
        assert!(moments(20, 0.01).unwrap().close().unwrap() < 0.0);
        assert!(projected(40, 0.02).unwrap().close().unwrap() < 0.0);
    }
}
