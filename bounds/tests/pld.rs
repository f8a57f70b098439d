//! The loss distributions against the brackets of independent accountants, and known hard inputs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dpbounds_bounds::privacy::pld::{OneStep, calibrate, delta, epsilon, upper_delta};
use serde_json::Value;

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/oracles/privacy_peers.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn input(case: &Value, name: &str) -> f64 {
    case["inputs"][name].as_f64().unwrap()
}

/// Relative grid and rounding noise of the references.
const NOISE: f64 = 2e-3;

#[test]
fn brackets_meet_those_of_other_accountants() {
    let (mut epsilons, mut deltas, mut fixed, mut noises) = (0, 0, 0, 0);
    for case in cases() {
        let (lower, upper) = (case["lower"].as_f64(), case["upper"].as_f64());
        let name = case["id"].as_str().unwrap();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let steps = || input(&case, "steps") as u64;
        let poisson = || {
            OneStep::poisson(input(&case, "sampling_rate"), input(&case, "noise_multiplier"))
                .unwrap()
        };
        let ours = match case["function"].as_str().unwrap() {
            "poisson_gaussian_epsilon" => {
                epsilons += 1;
                let ours = epsilon(&poisson(), steps(), input(&case, "delta")).unwrap();
                let allowed = if steps() <= 10_000 { 1e-3 } else { 1e-2 };
                if ours.lower >= 0.02 {
                    assert!(ours.relative_width() <= allowed, "{name}: {ours:?}");
                }
                ours
            }
            "poisson_gaussian_delta" if case["value"].as_f64().unwrap() > 1e-11 => {
                deltas += 1;
                delta(&poisson(), steps(), input(&case, "epsilon")).unwrap()
            }
            "fixed_size_gaussian_epsilon" => {
                fixed += 1;
                let rate = input(&case, "batch") / input(&case, "n");
                let kappa = 2.0 * input(&case, "noise_multiplier");
                let step = OneStep::fixed_replace_one(rate, kappa).unwrap();
                let ours = epsilon(&step, steps(), input(&case, "delta")).unwrap();
                assert!(ours.upper <= upper.unwrap() * (1.0 + NOISE), "{name}: {ours:?}");
                ours
            }
            "poisson_gaussian_noise_multiplier" => {
                noises += 1;
                let (e, d) = (input(&case, "epsilon"), input(&case, "delta"));
                let make = |noise: f64| OneStep::poisson(input(&case, "sampling_rate"), noise);
                let ours = calibrate(make, steps(), e, d).unwrap();
                let reached = upper_delta(&make(ours.upper).unwrap(), steps(), e).unwrap();
                assert!(reached <= d, "{name}: {reached}");
                assert!((ours.upper / upper.unwrap() - 1.0).abs() < 5e-4, "{name}: {ours:?}");
                ours
            }
            _ => continue,
        };
        assert!(ours.lower <= ours.upper, "{name}: {ours:?}");
        if let Some(lower) = lower {
            assert!(ours.upper >= lower * (1.0 - 1e-6), "{name}: {ours:?} below {lower}");
        }
        if let Some(upper) = upper {
            assert!(ours.lower <= upper * (1.0 + 1e-6), "{name}: {ours:?} above {upper}");
        }
    }
    assert!(epsilons > 130 && deltas > 60 && fixed > 15 && noises > 5);
}

/// Values that central-limit accountants give for these runs lie outside the brackets.
#[test]
fn central_limit_values_are_refuted() {
    for (rate, noise, steps, at, wrong) in [
        (0.2, 3.0, 50, 1.0 / 48_000.0, 1.838),
        (0.01, 1.0, 1000, 1e-5, 1.618),
        (0.001, 0.5, 1000, 1e-5, 0.852),
    ] {
        let step = OneStep::poisson(rate, noise).unwrap();
        let ours = epsilon(&step, steps, at).unwrap();
        assert!(ours.lower > wrong, "{ours:?}");
    }
}

#[test]
fn inputs_that_break_other_accountants() {
    let poisson = |rate, noise| OneStep::poisson(rate, noise).unwrap();
    let tiny = epsilon(&poisson(0.00033, 4.0), 10_000, 1.1e-18).unwrap();
    assert!(tiny.upper < 0.0676 && tiny.lower > 0.066, "{tiny:?}");
    let small = epsilon(&poisson(0.00033, 4.0), 10_000, 1e-10).unwrap();
    // A coarser grid gives 0.04476.
    assert!(small.lower > 0.0440 && small.upper <= 0.04476, "{small:?}");
    assert_eq!(epsilon(&poisson(0.01, 10.0), 10, 0.5).unwrap().upper, 0.0);
    let steep = epsilon(&poisson(0.1, 0.3), 100, 1e-5).unwrap();
    assert!(steep.lower > 106.05 && steep.upper < 106.25, "{steep:?}");
    assert_eq!(epsilon(&poisson(0.1, 1.0), 0, 1e-5).unwrap().upper, 0.0);
    assert_eq!(epsilon(&poisson(0.0, 1.0), 100, 1e-5).unwrap().upper, 0.0);
    let long = epsilon(&poisson(1e-4, 1.0), 1_000_000, 1e-8).unwrap();
    assert!(long.lower > 0.6456 && long.upper < 0.6600, "{long:?}");
    assert!(OneStep::poisson(f64::NAN, 1.0).is_err());
    assert!(epsilon(&poisson(0.1, 1.0), 10, f64::NAN).is_err());
}

/// One step of the subsampled Gaussian in closed form.
#[test]
fn one_step_agrees_with_its_closed_form() {
    for (rate, noise, e) in [(0.01, 1.0, 0.3), (0.2, 0.7, 1.0), (0.5, 2.0, 0.1)] {
        // δ = (1−q)Φ̄(x) + qΦ̄(x − 1/σ) − e^ε Φ̄(x) at the threshold of the likelihood ratio.
        let (rate, noise, e): (f64, f64, f64) = (rate, noise, e);
        let x = noise * (((e.exp() - 1.0) / rate + 1.0).ln() + 0.5 / (noise * noise));
        let tail = |x: f64| 0.5 * statrs::function::erf::erfc(x / 2f64.sqrt());
        let exact = (1.0 - rate) * tail(x) + rate * tail(x - 1.0 / noise) - e.exp() * tail(x);
        let ours = delta(&OneStep::poisson(rate, noise).unwrap(), 1, e).unwrap();
        assert!(ours.lower <= exact * (1.0 + 1e-8), "{ours:?} {exact}");
        assert!(ours.upper >= exact * (1.0 - 1e-8), "{ours:?} {exact}");
        assert!(ours.upper <= exact * 1.01, "{ours:?} {exact}");
    }
}
