//! RDP curves and conversions against independent formulas; the reference curves are compared in
//! tests/privacy_oracles.rs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dpbounds_bounds::privacy::rdp;

/// Ten-thousand-point trapezoidal rule of the plain moment, at settings where it does not cancel.
fn plain_moment(rate: f64, sigma: f64, order: f64) -> f64 {
    let (low, high, count) = (-14.0, order / sigma + 14.0, 10_000);
    let step = (high - low) / f64::from(count);
    let sum: f64 = (0..=count)
        .map(|index| {
            let t = low + f64::from(index) * step;
            let ratio = 1.0 - rate + rate * ((t - 0.5 / sigma) / sigma).exp();
            (order * ratio.ln() - 0.5 * t * t).exp()
        })
        .sum();
    sum * step / (2.0 * std::f64::consts::PI).sqrt()
}

#[test]
fn fractional_orders_match_a_plain_integral() {
    for (rate, sigma) in [(0.3, 0.8), (0.5, 2.0), (0.05, 0.6), (0.9, 1.0)] {
        for order in [1.3, 1.9, 2.25, 6.7, 19.5] {
            let expected = plain_moment(rate, sigma, order).ln() / (order - 1.0);
            let value = rdp::poisson(rate, sigma, order).unwrap();
            assert!((value / expected - 1.0).abs() < 1e-9, "{rate} {sigma} {order}");
        }
    }
}

#[test]
fn the_curve_is_increasing_and_convex_in_its_log_moment() {
    for (rate, sigma) in [(0.01, 1.0), (0.2, 0.15), (1e-4, 0.5), (0.7, 30.0), (0.02, 0.03)] {
        let orders: Vec<f64> = (0..60).map(|i| 1.0 + 0.17 * f64::from(i + 1)).collect();
        let value = |order| rdp::poisson(rate, sigma, order).unwrap();
        for window in orders.windows(3) {
            let moments: Vec<f64> = window.iter().map(|&a| (a - 1.0) * value(a)).collect();
            assert!(value(window[0]) <= value(window[1]) * (1.0 + 1e-9), "{rate} {sigma}");
            let middle = 0.5 * (moments[0] + moments[2]);
            assert!(moments[1] <= middle * (1.0 + 1e-9), "{rate} {sigma} {window:?}");
        }
    }
}

#[test]
fn orders_next_to_one_approach_the_relative_entropy() {
    // q = 1e-3, σ = 1: entropy ≈ q² E(w−1)²/2 − q³ E(w−1)³/6.
    let near = rdp::poisson(1e-3, 1.0, 1.0 + 1e-8).unwrap();
    let third = 3f64.exp() - 3.0 * 1f64.exp() + 2.0;
    let expected = 0.5e-6 * 1f64.exp_m1() - 1e-9 * third / 6.0;
    assert!((near / expected - 1.0).abs() < 5e-5, "{near:e}");
    let nearer = rdp::poisson(1e-3, 1.0, 1.0 + 1e-12).unwrap();
    assert!((near / nearer - 1.0).abs() < 1e-7);
}

#[test]
fn theorem_27_is_never_worse_than_theorem_9_and_both_exceed_poisson_at_its_lower_bound() {
    for (rate, sigma) in [(0.01, 1.0), (0.1, 2.0), (0.004, 0.5), (0.3, 10.0)] {
        for order in [2.0, 3.0, 5.5, 17.0, 64.0, 200.0, 256.0] {
            let nine = rdp::fixed_size_thm9(rate, sigma, order).unwrap();
            let general = rdp::fixed_size_thm27(rate, sigma, order).unwrap();
            assert!(general <= nine * (1.0 + 1e-11), "{rate} {sigma} {order}");
            // Others at −1, record at +1: one step contains the Poisson pair at twice the mean.
            let poisson = rdp::poisson(rate, sigma, order).unwrap();
            assert!(poisson <= general * (1.0 + 1e-11), "{rate} {sigma} {order}");
        }
    }
}

#[test]
fn epsilons_of_the_trap_list() {
    let small = rdp::poisson_epsilon(0.000_33, 4.0, 10_000, 1.1e-18).unwrap();
    assert!(small > 0.0675 && small <= 0.1459, "{small}");
    assert_eq!(rdp::poisson_epsilon(0.01, 10.0, 10, 0.5).unwrap(), 0.0);
    let large = rdp::poisson_epsilon(0.1, 0.3, 100, 1e-5).unwrap();
    assert!(large > 106.0 && large < 160.0, "{large}");
    let middle = rdp::poisson_epsilon(0.2, 3.0, 50, 1.0 / 48_000.0).unwrap();
    assert!(middle > 1.9605 && middle < 2.4, "{middle}");
    let single = rdp::poisson_epsilon(1.0, 1.0, 1, 1e-5).unwrap();
    assert!((single - 4.73).abs() < 0.01, "{single}");
    let fixed = rdp::fixed_size_epsilon(0.01, 1.0, 1000, 1e-5).unwrap();
    assert!((fixed - 3.576).abs() < 2e-3, "{fixed}");
    let long = rdp::poisson_epsilon(1e-4, 1.0, 1_000_000, 1e-8).unwrap();
    assert!(long > 0.6456 && long < 1.1, "{long}");
    let strong = rdp::poisson_epsilon(0.1, 0.1092, 100, 1e-5).unwrap();
    assert!(strong > 990.0 && strong < 1400.0, "{strong}");
}

#[test]
fn degenerate_inputs() {
    assert_eq!(rdp::poisson(0.0, 1.0, 2.0).unwrap(), 0.0);
    assert_eq!(rdp::poisson(0.1, 0.0, 2.0).unwrap(), f64::INFINITY);
    assert!((rdp::poisson(1.0, 2.0, 3.0).unwrap() - 0.375).abs() < 1e-11);
    for epsilon in [rdp::poisson_epsilon, rdp::fixed_size_epsilon] {
        assert_eq!(epsilon(0.1, 1.0, 0, 1e-5).unwrap(), 0.0);
        assert_eq!(epsilon(0.0, 1.0, 9, 1e-5).unwrap(), 0.0);
        assert_eq!(epsilon(0.0, 0.0, 9, 0.0).unwrap(), 0.0);
        assert_eq!(epsilon(0.1, 0.0, 9, 1e-5).unwrap(), f64::INFINITY);
        assert_eq!(epsilon(0.1, 1.0, 9, 0.0).unwrap(), f64::INFINITY);
        assert_eq!(epsilon(0.1, 1.0, 9, 1.0).unwrap(), 0.0);
        for (rate, sigma, delta) in [(f64::NAN, 1.0, 0.1), (1.1, 1.0, 0.1), (0.1, -1.0, 0.1)] {
            assert!(epsilon(rate, sigma, 9, delta).is_err());
        }
        assert!(epsilon(0.1, 1.0, 9, f64::NAN).is_err());
    }
    for delta in [rdp::poisson_delta, rdp::fixed_size_delta] {
        assert_eq!(delta(0.1, 1.0, 0, 1.0).unwrap(), 0.0);
        assert!((delta(0.1, 0.0, 2, 1.0).unwrap() - 0.19).abs() < 1e-10);
        assert!(delta(0.1, 1.0, 2, -1.0).is_err());
        assert!(delta(0.1, 1.0, 2, 1e6).unwrap() > 0.0);
    }
    assert!(rdp::poisson(0.1, 1.0, 1.0).is_err());
    assert!(rdp::fixed_size_thm9(0.1, 1.0, 1e7).is_err());
    assert_eq!(rdp::epsilon_from_curve([], 1e-5).unwrap(), f64::INFINITY);
    assert_eq!(rdp::delta_from_curve([], 1.0).unwrap(), 1.0);
    assert!(rdp::epsilon_from_curve([(2.0, f64::NAN)], 1e-5).is_err());
    assert_eq!(rdp::epsilon_from_curve([(2.0, f64::INFINITY)], 1e-5).unwrap(), f64::INFINITY);
}

#[test]
fn epsilon_and_delta_are_inverse_and_below_every_point_of_the_curve() {
    for (rate, sigma, steps) in [(0.01, 1.0, 1000), (0.3, 4.0, 20), (1e-3, 0.6, 5000)] {
        for delta in [1e-3, 1e-6, 1e-12] {
            let epsilon = rdp::poisson_epsilon(rate, sigma, steps, delta).unwrap();
            let back = rdp::poisson_delta(rate, sigma, steps, epsilon).unwrap();
            assert!((back / delta).ln().abs() < 1e-2, "{rate} {sigma} {delta}: {back}");
            let curve = (2..200).map(|order| {
                let order = f64::from(order);
                (order, steps as f64 * rdp::poisson(rate, sigma, order).unwrap())
            });
            let on_the_grid = rdp::epsilon_from_curve(curve, delta).unwrap();
            assert!(epsilon <= on_the_grid * (1.0 + 1e-9), "{epsilon} {on_the_grid}");
        }
    }
}
