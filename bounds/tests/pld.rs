//! The loss distributions at known hard inputs and against closed forms. The brackets of independent
//! accountants are compared in tests/privacy_oracles.rs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dpbounds_bounds::privacy::pld::{OneStep, delta, epsilon};

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
