//! What correlated noise changes in the noise terms of the risk bound.

use dpbounds_bounds::kan::rates::{Run, a_corr};
use dpbounds_bounds::privacy::{
    Bracket, Effort, LambdaGain, Method, Target, calibrate, lambda_gain,
};

use super::super::claim::Level;
use super::super::measured::{CheckError, Measured, Slacks};
use super::accountant::{QUADRATURE, exact, two_step_plan};

/// Step size η.
const ETA: f64 = 0.3;

pub(super) fn check(level: Level) -> Result<Measured, CheckError> {
    let lambdas = level.pick_from::<[f64]>(&[0.5], &[0.2, 0.5, 0.9]);
    let mut slacks = noise_terms(lambda_gain)?;
    for lambda in lambdas {
        slacks = slacks.and(two_steps(level, *lambda, 1.0)?);
    }
    Measured::of(
        slacks,
        format!(
            "two steps, Poisson batches, r = 0.1, 0.3, ε up to 1, δ = 0.01, λ = {lambdas:?}: the factors of the exact \
             noises lie between the floors and the proven ones; quadrature in the plane to 1e-4; ratios of the noise \
             terms of A_corr to 1e-9"
        ),
    )
}

/// The factors against the ratios of the terms of A_corr themselves.
fn noise_terms(
    gain: fn(f64, f64, Bracket, Bracket) -> dpbounds_bounds::Result<LambdaGain>,
) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for (lambda, kappa, reference) in [(0.2, 2.0, 1.9), (0.5, 3.0, 2.0), (0.9, 9.0, 1.0)] {
        let terms = |lambda: f64, kappa: f64| -> Result<[f64; 3], CheckError> {
            let run = Run {
                gamma: 0.5,
                step_size: ETA,
                steps: 1000,
                batch: 100,
                width: 1000,
                dimension: 10,
                kappa,
                lambda,
                n: 10_000,
                delta: 1e-5,
            };
            let rate = a_corr(&run)?;
            let of = |start: &str| {
                let term = rate.terms.iter().find(|term| term.name.as_ref().starts_with(start));
                term.map(|term| term.value).ok_or_else(|| {
                    CheckError::Empty(format!("A_corr has no term that starts with {start:?}"))
                })
            };
            Ok([of("noise, linear")?, of("noise x mini-batch")?, of("noise, quadratic")?])
        };
        let (with, without) = (terms(lambda, kappa)?, terms(0.0, reference)?);
        let found = gain(lambda, ETA, Bracket::exact(kappa), Bracket::exact(reference))?;
        let wanted = [found.linear, found.linear, found.quadratic];
        for ((with, without), factor) in with.iter().zip(without).zip(wanted) {
            slacks.equal(with / without, factor, factor, 1e-9);
        }
    }
    Ok(slacks)
}

/// The factors of calibrated noises, those at λ times `scale`, around the factors of the exact noises.
fn two_steps(level: Level, lambda: f64, scale: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for batch in [1, 3] {
        for epsilon in level.pick_from::<[f64]>(&[1.0], &[0.5, 1.0]) {
            let target = Target { epsilon: *epsilon, delta: 0.01 };
            let rate = batch as f64 / 10.0;
            let proven = |lambda: f64, method: Method| -> Result<Bracket, CheckError> {
                let plan = two_step_plan(batch, lambda);
                let effort = Effort { method, ..Effort::without_clock() };
                let bound = calibrate(&plan, target, &effort)?;
                let sides = bound.lower.zip(bound.value);
                let (lower, upper) = sides.ok_or_else(|| {
                    CheckError::Empty(format!("no bracket of the noise at lambda = {lambda}"))
                })?;
                Ok(Bracket { lower, upper })
            };
            let reference = proven(0.0, Method::Pld)?;
            let own = proven(lambda, Method::L2td)?;
            let own = Bracket { lower: scale * own.lower, upper: scale * own.upper };
            let found = lambda_gain(lambda, ETA, own, reference)?;
            let (truth, truth_reference) =
                (smallest_noise(rate, lambda, target), smallest_noise(rate, 0.0, target));
            let least = lambda_gain(
                lambda,
                ETA,
                Bracket::exact(truth.lower),
                Bracket::exact(truth_reference.upper),
            )?;
            let most = lambda_gain(
                lambda,
                ETA,
                Bracket::exact(truth.upper),
                Bracket::exact(truth_reference.lower),
            )?;
            slacks.at_most(least.linear_floor, found.linear);
            slacks.at_most(least.quadratic_floor, found.quadratic);
            slacks.at_most(found.linear_floor, most.linear);
            slacks.at_most(found.quadratic_floor, most.quadratic);
        }
    }
    Ok(slacks)
}

/// The noise at which the exact δ of two steps is the one wanted, up to the error of the quadrature: bisection to 5e-6.
fn smallest_noise(rate: f64, lambda: f64, target: Target) -> Bracket {
    let root = |delta: f64| {
        let (mut low, mut high) = (0.1_f64, 20.0_f64);
        for _ in 0..20 {
            let middle = (low * high).sqrt();
            if exact(rate, middle, lambda, target.epsilon) > delta {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low, high)
    };
    let lower = root(target.delta * (1.0 + QUADRATURE)).0;
    Bracket { lower, upper: root(target.delta * (1.0 - QUADRATURE)).1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second factor without its `λ² η`.
    fn forgetful(
        lambda: f64,
        step_size: f64,
        noise: Bracket,
        reference: Bracket,
    ) -> dpbounds_bounds::Result<LambdaGain> {
        let gain = lambda_gain(lambda, step_size, noise, reference)?;
        Ok(LambdaGain { quadratic: gain.linear * gain.linear, ..gain })
    }

    #[test]
    fn a_forgotten_term_and_a_wrong_noise_are_caught() {
        assert!(noise_terms(lambda_gain).unwrap().close().unwrap() >= 0.0);
        assert!(noise_terms(forgetful).unwrap().close().unwrap() < 0.0);
        assert!(two_steps(Level::Quick, 0.5, 0.7).unwrap().close().unwrap() < 0.0);
        assert!(two_steps(Level::Quick, 0.5, 1.5).unwrap().close().unwrap() < 0.0);
    }
}
