//! Monte Carlo certificates against enumeration, exact values and their own promises.
//!
//! Seeds are fixed, so every test is deterministic. Where a test would fail by bad luck under other
//! seeds, a comment says how likely that is.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

use dpbounds_bounds::privacy::correlated::monte_carlo::{
    Certificate, Method, Settings, certify, estimate, forward, forward_lower, forward_pilot,
    interrupted, log_likelihood_ratio, plain, reverse, samples_needed,
};
use dpbounds_bounds::privacy::{Order, Pair};
use dpbounds_bounds::{BoundError, Warrant};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use serde_json::Value;

const ORACLES: &str = include_str!("../../tests/oracles/privacy_correlated.json");

fn oracles(kind: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(ORACLES).unwrap();
    all.into_iter().filter(|case| case["kind"] == kind).collect()
}

fn number(case: &Value, name: &str) -> f64 {
    case[name].as_f64().unwrap_or_else(|| panic!("{name} in {case}"))
}

fn pair_of(case: &Value) -> Pair {
    let steps = case["T"].as_u64().unwrap();
    Pair::new(number(case, "r"), number(case, "kappa"), number(case, "lam"), steps).unwrap()
}

fn always(_: f64) -> bool {
    true
}

/// `log Σ_y r^{|y|} (1−r)^{T−|y|} exp((⟨Cy, x⟩ − |Cy|²/2)/κ²)` over all `2^T` patterns.
fn enumerated(pair: &Pair, x: &[f64]) -> f64 {
    let variance = pair.noise_multiplier().powi(2);
    let logs: Vec<f64> = (0u32..1 << x.len())
        .map(|pattern| {
            let (mut mean, mut exponent, mut log) = (0.0, 0.0, 0.0);
            for (step, &value) in x.iter().enumerate() {
                let present = pattern >> step & 1 == 1;
                mean = pair.lambda() * mean + f64::from(u8::from(present));
                exponent += mean * value - 0.5 * mean * mean;
                log += if present { pair.rate().ln() } else { (-pair.rate()).ln_1p() };
            }
            log + exponent / variance
        })
        .collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + logs.iter().map(|log| (log - top).exp()).sum::<f64>().ln()
}

#[test]
fn log_likelihood_ratios_enclose_the_oracles() {
    let cases = oracles("llr");
    assert_eq!(cases.len(), 15);
    for case in &cases {
        let x: Vec<f64> =
            case["x"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let pair = pair_of(case);
        let (exact, tilde) = (number(case, "L"), number(case, "L_tilde"));
        // L is the logarithm of a number that may be near 1.
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-11 * b.abs() + 2e-14;
        assert!(close(enumerated(&pair, &x), exact), "{case}");
        let ratio = log_likelihood_ratio(&pair, &x).unwrap();
        let rounding = 1e-13 * (1.0 + exact.abs());
        assert!(ratio.lower <= exact + rounding, "{ratio:?} {case}");
        assert!(ratio.upper >= exact - rounding, "{ratio:?} {case}");
        assert!(ratio.without_overlap >= ratio.upper, "{ratio:?} {case}");
        assert!(close(ratio.without_overlap, tilde), "{ratio:?} {case}");
        // About as tight as the prototype, whose smallest cell was half as large.
        let width = number(case, "proto_L_up_ratio097") - number(case, "proto_L_lo_ratio097");
        assert!(ratio.upper - ratio.lower <= 2.0 * width + 1e-5, "{ratio:?} {case}");
    }
}

#[test]
fn log_likelihood_ratios_enclose_random_enumerations() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for trial in 0..400 {
        let lambda = [0.0, 1e-6, 0.05, 0.3, 0.5, 0.618, 0.9, 0.97, 0.995][trial % 9];
        // Down to noise at which the exponents overflow in linear scale.
        let noise = [0.03, 0.2, 0.7, 2.0, 30.0][trial % 5];
        let rate = [1e-9, 0.01, 0.2, 0.9, 0.999_999][trial % 7 % 5];
        let steps = 1 + trial % 8;
        let pair = Pair::new(rate, noise, lambda, steps as u64).unwrap();
        let spread = noise * [0.5, 1.0, 4.0][trial % 3];
        let x: Vec<f64> = (0..steps)
            .map(|_| rng.random::<f64>() * 2.0 + spread * rng.sample::<f64, _>(StandardNormal))
            .collect();
        let exact = enumerated(&pair, &x);
        let ratio = log_likelihood_ratio(&pair, &x).unwrap();
        let rounding = 1e-12 * (1.0 + exact.abs());
        assert!(ratio.lower <= exact + rounding && exact - rounding <= ratio.upper, "{trial}");
        assert!(ratio.upper <= ratio.without_overlap, "{trial}");
        if lambda == 0.0 {
            assert_eq!(ratio.lower, ratio.upper);
            assert_eq!(ratio.upper, ratio.without_overlap);
            assert!((ratio.upper - exact).abs() <= rounding);
        }
        if noise >= 2.0 {
            // A few per cent of what the overlap does in all.
            let overlap = ratio.without_overlap - exact;
            assert!(ratio.upper - ratio.lower < 1e-3 + 0.08 * overlap, "{trial} {ratio:?}");
        }
    }
}

#[test]
fn the_rounded_lower_ratio_is_convex_and_increasing() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for trial in 0..600 {
        let lambda = [0.2, 0.5, 0.9, 0.98][trial % 4];
        let noise = [0.5, 1.0, 3.0][trial % 3];
        let steps = [2, 5, 30][trial % 3];
        let pair = Pair::new([0.02, 0.3][trial % 2], noise, lambda, steps).unwrap();
        let mut draw = |scale: f64| -> Vec<f64> {
            (0..steps).map(|_| scale * rng.sample::<f64, _>(StandardNormal)).collect()
        };
        let (x, step) = (draw(noise), draw(noise * [0.3, 3.0][trial % 2]));
        let lower = |point: &[f64]| log_likelihood_ratio(&pair, point).unwrap().lower;
        let at =
            |sign: f64| lower(&x.iter().zip(&step).map(|(a, b)| a + sign * b).collect::<Vec<_>>());
        let slack = at(1.0) + at(-1.0) - 2.0 * lower(&x);
        assert!(slack >= -1e-11 * (1.0 + at(1.0).abs() + at(-1.0).abs()), "{trial}: {slack}");
        let mut raised = x.clone();
        raised[trial % x.len()] += 0.3;
        assert!(lower(&raised) >= lower(&x), "{trial}");
    }
}

/// Upper limits over 1,000 seeds, none of them below the exact value; returns how often the mean
/// was.
fn never_below(exact: f64, mut limit: impl FnMut(u64) -> Certificate) -> usize {
    let mut low_means = 0;
    // Below an exact value of 0 nothing can fall.
    let seeds = if exact > 0.0 { 1000 } else { 10 };
    for seed in 0..seeds {
        let certificate = limit(seed);
        assert!(certificate.upper >= exact, "seed {seed}: {certificate:?} below {exact}");
        assert!((0.0..=1.0).contains(&certificate.upper));
        low_means += usize::from(certificate.mean < exact);
    }
    low_means
}

// Each limit fails with probability 1e-6, the whole test with at most 9·1000·5·1e-6 = 0.045.
#[test]
fn limits_are_on_their_side_of_exact_values_over_a_thousand_seeds() {
    let cases = oracles("delta_exact");
    assert_eq!(cases.len(), 9);
    let (mut forwards, mut low_means) = (0, 0);
    for case in &cases {
        let (pair, epsilon, tolerance) = (pair_of(case), number(case, "eps"), number(case, "tol"));
        let exact = number(case, "delta_PQ").max(0.0) - tolerance;
        let reversed = number(case, "delta_QP").max(0.0) - tolerance;
        let settings = |seed| Settings {
            replica_order: Some(2),
            reverse_samples: 128,
            ..Settings::new(400, 1e-6, seed)
        };
        let few = |seed| Settings { samples: 96, ..settings(seed) };
        // Only where order 2 has weights small enough for so few samples.
        if samples_needed(&pair, epsilon, 0.9, &settings(0)).unwrap() <= 400 {
            forwards += 1;
            low_means += never_below(exact, |seed| {
                let lower = forward_lower(&pair, epsilon, &settings(seed), &always).unwrap();
                assert!(lower <= exact + 2.0 * tolerance, "seed {seed}: {lower} above {exact}");
                forward(&pair, epsilon, 0.9, &settings(seed), &always).unwrap()
            });
        }
        never_below(exact, |seed| {
            plain(&pair, Order::Forward, epsilon, 0.9, &few(seed), &always).unwrap()
        });
        never_below(reversed, |seed| {
            plain(&pair, Order::Reverse, epsilon, 0.9, &few(seed), &always).unwrap()
        });
        never_below(reversed, |seed| reverse(&pair, epsilon, &few(seed), &always).unwrap());
    }
    // The margin does the work: without it about half of the limits would be wrong.
    assert!(forwards >= 4 && low_means > 250 * forwards, "{low_means} of {forwards}");
}

// The probability of an upper limit below, or a lower one above, is 1e-6 each: 8e-6.
#[test]
fn limits_close_in_on_exact_values() {
    let cases = oracles("delta_exact");
    for id in ["delta_exact_026", "delta_exact_029"] {
        let case = cases.iter().find(|case| case["id"] == id).unwrap();
        let (pair, epsilon) = (pair_of(case), number(case, "eps"));
        let settings = Settings::new(100_000, 1e-6, 3);
        let (exact, back) = (number(case, "delta_PQ"), number(case, "delta_QP"));
        let above = forward(&pair, epsilon, 0.1, &settings, &always).unwrap();
        let below = forward_lower(&pair, epsilon, &settings, &always).unwrap();
        assert!(exact <= above.upper && above.upper < 1.1 * exact, "{above:?}");
        assert!(below <= exact && below > 0.9 * exact, "{below}");
        let reversed = reverse(&pair, epsilon, &settings, &always).unwrap();
        // The extrapolated tail is that of a normal law, which costs something at large δ.
        assert!(back <= reversed.upper && reversed.upper < 1.5 * back, "{reversed:?}");
        let direct = plain(&pair, Order::Reverse, epsilon, 0.1, &settings, &always).unwrap();
        assert!(back <= direct.upper && direct.upper < 1.1 * back, "{direct:?}");
    }
}

// Without correlation the accountant of independent steps gives δ = 1e-5 at noise 1.41483.
// Wrong with probability 1e-6.
#[test]
fn independent_steps_agree_with_the_exact_accountant() {
    let pair = Pair::new(0.01, 1.41483, 0.0, 1000).unwrap();
    let settings = Settings::new(20_000, 1e-6, 4);
    let limit = forward(&pair, 1.0, 1e-5, &settings, &always).unwrap();
    assert!(limit.upper > 0.999e-5 && limit.upper < 1.15e-5, "{limit:?}");
    assert!((limit.mean / 1e-5 - 1.0).abs() < 0.05, "{limit:?}");
}

// The negative control: mean and standard error of the weights are both far too small.
#[test]
fn a_normal_interval_would_be_wrong_where_the_certificate_refuses() {
    let cases = oracles("replica_is_check");
    assert_eq!(cases.len(), 2);
    for case in &cases {
        let (pair, epsilon) = (pair_of(case), number(case, "eps"));
        let exact = number(case, "delta_PQ");
        let settings = Settings {
            replica_order: Some(case["alpha"].as_u64().unwrap()),
            ..Settings::new(40_000, 1e-6, 5)
        };
        let needed = samples_needed(&pair, epsilon, exact, &settings).unwrap() as f64;
        let from_oracle = 500.0 * number(case, "M") / exact;
        // The chain rounds strictly up, also where λn happens to be a cell; the prototype did not.
        assert!((0.999..1.5).contains(&(needed / from_oracle)), "{needed} {from_oracle}");
        let limit = forward(&pair, epsilon, exact, &settings, &always);
        if number(case, "M") > 1.0 {
            let pilot = forward_pilot(&pair, epsilon, &settings, &always).unwrap();
            assert!(pilot.value + 6.0 * pilot.standard_error < exact, "{pilot:?}");
            let Err(BoundError::Unproven { request, .. }) = limit else { panic!("{limit:?}") };
            assert!(request.contains("40000") && request.contains("it needs 6"), "{request}");
        } else {
            let limit = limit.unwrap();
            assert!(limit.upper >= exact && limit.upper < 1.2 * exact, "{limit:?}");
        }
    }
}

// Wrong with probability 1e-6 over other seeds.
#[test]
fn both_orders_are_certified_with_their_shares_of_the_failure_probability() {
    let pair = Pair::new(0.1, 2.0, 0.9, 3).unwrap();
    let settings = Settings { attempt: 2, ..Settings::new(20_000, 1e-6, 6) };
    let both = certify(&pair, 0.5, 0.01, &settings, &always).unwrap();
    assert_eq!(both.forward.failure_probability, 1e-6 / 16.0);
    assert_eq!(both.reverse.failure_probability, 1e-6 / 16.0);
    assert_eq!(both.upper(), both.forward.upper.max(both.reverse.upper));
    assert_eq!(both.forward.method, Method::ReplicaImportance);
    assert_eq!(both.reverse.method, Method::Ehrhard);
    assert!(matches!(both.forward.warrant(), Warrant::Confidence(level) if level < 1.0));
    // Another attempt, another purpose or another pair use other random numbers.
    let again = certify(&pair, 0.5, 0.01, &Settings { attempt: 3, ..settings }, &always).unwrap();
    assert_ne!(both.forward.mean, again.forward.mean);
    let pilot = forward_pilot(&pair, 0.5, &settings, &always).unwrap();
    assert_ne!(both.forward.mean, pilot.value);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let pair = Pair::new(0.05, 3.0, 0.7, 40).unwrap();
    // Not a multiple of sixteen.
    let settings = Settings::new(5_003, 1e-6, 7);
    let all = || {
        (
            certify(&pair, 0.5, 0.05, &settings, &always).unwrap(),
            forward_lower(&pair, 0.5, &settings, &always).unwrap(),
            plain(&pair, Order::Forward, 0.5, 0.1, &settings, &always).unwrap(),
            estimate(&pair, 0.5, &settings, &always).unwrap(),
        )
    };
    let with = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(all)
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(5));
}

// An estimate may be off; 6 standard errors are exceeded with probability below 1e-8.
#[test]
fn the_estimate_is_near_and_never_more_than_an_estimate() {
    let pair = Pair::new(0.05, 3.0, 0.7, 40).unwrap();
    let settings = Settings::new(20_000, 0.5, 8);
    let guess = estimate(&pair, 1.0, &settings, &always).unwrap();
    let replicas = forward_pilot(&pair, 1.0, &settings, &always).unwrap();
    let scatter = guess.standard_error.hypot(replicas.standard_error);
    assert!((guess.value - replicas.value).abs() < 6.0 * scatter, "{guess:?} {replicas:?}");
    assert_eq!(guess.warrant(), Warrant::Estimate);
    // A start that is too tame says so instead of returning 0.
    let far = Pair::new(1e-6, 50.0, 0.5, 3).unwrap();
    assert!(matches!(
        estimate(&far, 5.0, &Settings::new(200, 0.5, 8), &always),
        Err(BoundError::Unproven { .. })
    ));
}

#[test]
fn a_watch_sees_progress_and_stops() {
    let pair = Pair::new(0.1, 2.0, 0.5, 5).unwrap();
    let settings = Settings::new(5_000, 1e-6, 9);
    let seen = std::sync::Mutex::new(Vec::new());
    let watch = |done: f64| {
        seen.lock().unwrap().push(done);
        true
    };
    certify(&pair, 1.0, 0.05, &settings, &watch).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.len() > 10 && seen.iter().all(|done| (0.0..=1.0).contains(done)));
    assert!(seen.contains(&0.0) && seen.contains(&1.0));
    let half = |done: f64| done < 0.3;
    for error in [
        certify(&pair, 1.0, 0.05, &settings, &half).map(|_| ()).unwrap_err(),
        reverse(&pair, 1.0, &settings, &half).map(|_| ()).unwrap_err(),
        plain(&pair, Order::Reverse, 1.0, 0.1, &settings, &half).map(|_| ()).unwrap_err(),
        estimate(&pair, 1.0, &settings, &half).map(|_| ()).unwrap_err(),
    ] {
        assert!(interrupted(&error), "{error}");
    }
}

#[test]
fn degenerate_and_hopeless_arguments_are_answered() {
    let settings = Settings::new(1000, 1e-6, 10);
    for pair in [Pair::new(0.0, 1.0, 0.5, 10).unwrap(), Pair::new(0.3, 1.0, 0.5, 0).unwrap()] {
        let both = certify(&pair, 0.0, 1e-5, &settings, &always).unwrap();
        assert_eq!(both.upper(), 0.0);
        assert_eq!(both.forward.warrant(), Warrant::Proven);
        let x = vec![0.3; pair.steps() as usize];
        assert_eq!(log_likelihood_ratio(&pair, &x).unwrap().without_overlap, 0.0);
        assert_eq!(estimate(&pair, 0.0, &settings, &always).unwrap().value, 0.0);
    }
    let good = Pair::new(0.1, 2.0, 0.5, 5).unwrap();
    let refused = [
        Pair::new(1.0, 2.0, 0.5, 5).unwrap(),
        Pair::new(0.1, 2.0, 0.999_999, 5).unwrap(),
        Pair::new(0.1, 2.0, 0.5, 1 << 30).unwrap(),
        // Rounding errors beyond the tolerance.
        Pair::new(0.1, 1e-7, 0.5, 50).unwrap(),
        Pair::new(0.1, 1e-200, 0.5, 50).unwrap(),
    ];
    for pair in &refused {
        assert!(certify(pair, 1.0, 0.1, &settings, &always).is_err(), "{pair:?}");
        assert!(reverse(pair, 1.0, &settings, &always).is_err(), "{pair:?}");
        assert!(plain(pair, Order::Forward, 1.0, 0.1, &settings, &always).is_err(), "{pair:?}");
    }
    for epsilon in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(certify(&good, epsilon, 0.1, &settings, &always).is_err());
    }
    for delta in [0.0, 1.0, f64::NAN] {
        assert!(forward(&good, 1.0, delta, &settings, &always).is_err());
    }
    for wrong in [
        Settings { samples: 1, ..settings },
        Settings { samples: 0, ..settings },
        Settings { reverse_samples: 10_000_000_001, ..settings },
        Settings { failure_probability: 0.0, ..settings },
        Settings { failure_probability: f64::NAN, ..settings },
        Settings { replica_order: Some(1), ..settings },
        Settings { replica_order: Some(121), ..settings },
    ] {
        assert!(certify(&good, 1.0, 0.1, &wrong, &always).is_err(), "{wrong:?}");
    }
    assert!(plain(&good, Order::Forward, 1.0, 1e-5, &settings, &always).is_err());
    assert!(log_likelihood_ratio(&good, &[0.0; 4]).is_err());
    assert!(log_likelihood_ratio(&good, &[f64::NAN; 5]).is_err());
    // No privacy at all, and none needed.
    let bare = Pair::new(0.5, 0.05, 0.5, 3).unwrap();
    let exposed = plain(&bare, Order::Forward, 1.0, 0.5, &settings, &always).unwrap();
    assert!(exposed.upper >= 0.875 && exposed.upper <= 1.0, "{exposed:?}");
    let safe = reverse(&good, 700.0, &settings, &always).unwrap();
    assert!(safe.upper > 0.0 && safe.upper < 1e-100, "{safe:?}");
}
