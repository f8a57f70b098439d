//! Replace-one Rényi curves of sampled batches and the max-information made from them: reference values, exact
//! pairs that no curve may be below, exact max-information of small mechanisms, and the published formula.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::f64::consts::PI;

use dpbounds_bounds::max_information::renyi::{RenyiCurve, RenyiPoint};
use dpbounds_bounds::max_information::{FailureLevel, dp_sgd, toy};
use dpbounds_bounds::privacy::{Relation, rdp};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

fn density(y: f64) -> f64 {
    (-0.5 * y * y).exp() / (2.0 * PI).sqrt()
}

/// A Gaussian mixture with unit variance: pairs (weight, mean).
type Mixture = Vec<(f64, f64)>;

fn at(mixture: &Mixture, y: f64) -> f64 {
    mixture.iter().map(|&(weight, mean)| weight * density(y - mean)).sum()
}

/// Rényi divergence by the trapezoidal rule on `E_Q[r^α − 1 − α(r − 1)]`, which has no cancelling parts.
fn divergence(p: &Mixture, q: &Mixture, order: f64) -> f64 {
    let farthest = p.iter().chain(q).fold(0.0f64, |far, &(_, mean)| far.max(mean.abs()));
    let reach = 12.0 + (2.0 * order + 1.0) * farthest;
    let count = 6000;
    let step = 2.0 * reach / f64::from(count);
    let mut sum = 0.0;
    for i in 0..=count {
        let y = f64::from(i) * step - reach;
        let (p, q) = (at(p, y), at(q, y));
        if q > 0.0 {
            let log_ratio = ((p - q) / q).ln_1p();
            let excess = if (order * log_ratio).abs() < 1e-3 {
                let x = (p - q) / q;
                q * order * (order - 1.0) / 2.0
                    * x
                    * x
                    * (1.0 + (order - 2.0) / 3.0 * x * (1.0 + (order - 3.0) / 4.0 * x))
            } else if order * log_ratio < 600.0 {
                q * (order * log_ratio).exp_m1() - order * (p - q)
            } else {
                (order * log_ratio + q.ln()).exp()
            };
            sum += excess;
        }
    }
    (sum * step).ln_1p() / (order - 1.0)
}

/// What one step may look like: common mean with probability `1 − q`, else the mean of the record.
fn pair(rate: f64, others: f64, record: f64, replacement: f64, kappa: f64) -> [Mixture; 2] {
    [record, replacement].map(|mean| vec![(1.0 - rate, others / kappa), (rate, mean / kappa)])
}

#[test]
fn table_of_one_step() {
    // Values of the quadrature of +1 against −1, and of a Riemann sum with 200,000 nodes.
    for (rate, kappa, order, lower, poisson, fixed) in [
        (0.1, 62.0, 2.0, 1.041e-5, 1.051e-5, 1.065e-5),
        (0.1, 62.0, 32.0, 1.665e-4, 1.682e-4, 1.705e-4),
        (0.05, 70.7, 128.0, 1.280e-4, 1.293e-4, 1.309e-4),
        (0.01, 6.2, 32.0, 1.665e-4, 1.868e-4, 2.217e-4),
    ] {
        let [p, q] = pair(rate, 0.0, 1.0, -1.0, kappa);
        let truth = divergence(&p, &q, order);
        assert!((truth / lower - 1.0).abs() < 1e-3, "{truth}");
        let value = rdp::poisson_replace_one(rate, kappa, order).unwrap();
        assert!(value > truth && value < poisson * 1.0005 && value > poisson * 0.98, "{value:e}");
        let value = rdp::fixed_size_replace_one(rate, kappa, order).unwrap();
        assert!(value > truth && value < fixed * 1.0005 && value > fixed * 0.98, "{value:e}");
    }
}

#[test]
fn no_pair_of_one_step_exceeds_the_curves() {
    let mut rng = ChaCha8Rng::seed_from_u64(60);
    let mut attacked = 0;
    while attacked < 300 {
        let rate = rng.random_range(1e-3f64.ln()..0.0).exp();
        let kappa = rng.random_range(0.4f64.ln()..100f64.ln()).exp();
        let order = 1.0 + rng.random_range(0.05f64.ln()..40f64.ln()).exp();
        let poisson = rdp::poisson_replace_one(rate, kappa, order).unwrap();
        let fixed = rdp::fixed_size_replace_one(rate, kappa, order).unwrap();
        if (order - 1.0) * fixed > 200.0 {
            continue; // beyond the quadrature
        }
        attacked += 1;
        let mut extremes = vec![(0.0, 1.0, -1.0), (0.0, 1.0, 0.0)];
        extremes.push((0.0, rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)));
        for (others, record, replacement) in extremes {
            let [p, q] = pair(rate, others, record, replacement, kappa);
            for truth in [divergence(&p, &q, order), divergence(&q, &p, order)] {
                assert!(truth <= poisson, "{rate} {kappa} {order}: {truth:e} {poisson:e}");
            }
        }
        // With fixed size another record takes the place.
        for others in [-1.0, 0.0, rng.random_range(-1.0..1.0)] {
            let [p, q] = pair(rate, others, 1.0, -1.0, kappa);
            for truth in [divergence(&p, &q, order), divergence(&q, &p, order)] {
                assert!(truth <= fixed, "{rate} {kappa} {order}: {truth:e} {fixed:e}");
            }
        }
    }
}

/// `log` of the integral of the profile against its weights, by lower and upper Riemann sums.
fn riemann(rate: f64, kappa: f64, order: f64, poisson: bool) -> [f64; 2] {
    use dpbounds_bounds::privacy::gaussian::delta_at;
    let profile = |e: f64| {
        let a = 1.0 + e.exp_m1() / rate;
        let delta = |mu: f64| delta_at(mu, a.ln()).unwrap().value.unwrap();
        let beta = e.exp() / a;
        let inside = delta(2.0 / kappa);
        rate * if poisson { (1.0 - beta) * delta(1.0 / kappa) + beta * inside } else { inside }
    };
    let weight = |e: f64| ((order - 1.0) * e).exp() + (-order * e).exp();
    let count = 20_000;
    let end = (rate * (2.0 / kappa * (12.0 + 2.0 * order / kappa)).exp_m1()).ln_1p();
    let step = end / f64::from(count);
    let values: Vec<_> = (0..=count).map(|i| profile(f64::from(i) * step)).collect();
    let (mut low, mut high) = (0.0, 0.0);
    for i in 0..count as usize {
        let (left, right) = (weight(i as f64 * step), weight((i + 1) as f64 * step));
        low += values[i + 1] * left.min(right);
        high += values[i] * left.max(right);
    }
    [low, high].map(|sum| (order * (order - 1.0) * sum * step).ln_1p() / (order - 1.0))
}

#[test]
fn curves_lie_between_riemann_sums_of_the_same_profile() {
    for (rate, kappa) in [(0.1, 62.0), (0.01, 2.0), (0.5, 3.0), (0.001, 8.0)] {
        for order in [1.3, 2.0, 5.5, 20.0] {
            let [low, high] = riemann(rate, kappa, order, true);
            let value = rdp::poisson_replace_one(rate, kappa, order).unwrap();
            assert!(low < value && value < high, "{rate} {kappa} {order}: {low} {value} {high}");
            let [low, high] = riemann(rate, kappa, order, false);
            let value = rdp::fixed_size_replace_one(rate, kappa, order).unwrap();
            assert!(low < value && value < high, "{rate} {kappa} {order}: {low} {value} {high}");
        }
    }
}

#[test]
fn curves_are_between_the_relations_and_below_the_published_formula() {
    for rate in [1e-4, 0.01, 0.1, 0.7] {
        for kappa in [0.5, 1.0, 4.0, 62.0, 3000.0] {
            let orders: Vec<f64> = vec![2.0, 3.0, 7.0, 32.0, 100.0, 255.0, 1000.0, 4096.0];
            let poisson = rdp::poisson_replace_one_curve(rate, kappa, &orders).unwrap();
            let fixed = rdp::fixed_size_replace_one_curve(rate, kappa, &orders).unwrap();
            for (i, &order) in orders.iter().enumerate() {
                let full = rdp::full_batch_replace_one(kappa, order).unwrap();
                let published = rdp::fixed_size_thm9(rate, kappa / 2.0, order).unwrap();
                let add_remove = rdp::poisson(rate, kappa, order).unwrap();
                assert!(add_remove < poisson[i], "{rate} {kappa} {order}");
                assert!(poisson[i] <= fixed[i] * (1.0 + 1e-11), "{rate} {kappa} {order}");
                assert!(fixed[i] <= full && fixed[i] <= published, "{rate} {kappa} {order}");
                let single = rdp::fixed_size_replace_one(rate, kappa, order).unwrap();
                assert_eq!(fixed[i], single);
            }
        }
    }
}

#[test]
fn the_whole_data_set_is_the_limit_of_both_samplers() {
    for kappa in [2.0, 20.0, 1e5] {
        for order in [1.001, 2.0, 64.0] {
            let full = rdp::full_batch_replace_one(kappa, order).unwrap();
            for value in [
                rdp::poisson_replace_one(1.0 - 1e-9, kappa, order).unwrap(),
                rdp::fixed_size_replace_one(1.0 - 1e-9, kappa, order).unwrap(),
            ] {
                assert!(value <= full && value > full * (1.0 - 1e-4), "{kappa} {order}: {value}");
            }
            assert_eq!(rdp::poisson_replace_one(1.0, kappa, order).unwrap(), full);
        }
    }
}

#[test]
fn ends_of_the_range_and_refusals() {
    assert_eq!(rdp::poisson_replace_one(0.0, 1.0, 2.0).unwrap(), 0.0);
    assert_eq!(rdp::poisson_replace_one(0.1, 0.0, 2.0).unwrap(), f64::INFINITY);
    for kappa in [1e-300, 1e-5, 1e5, 1e120, 1e300] {
        for (rate, order) in [(1e-300, 1.0 + 1e-12), (0.5, 1e6), (1.0 - 1e-16, 3.0)] {
            let value = rdp::poisson_replace_one(rate, kappa, order).unwrap();
            assert!(value >= 0.0 && value <= rdp::full_batch_replace_one(kappa, order).unwrap());
        }
    }
    assert!(rdp::poisson_replace_one(1.1, 1.0, 2.0).is_err());
    assert!(rdp::poisson_replace_one(0.1, -1.0, 2.0).is_err());
    assert!(rdp::fixed_size_replace_one(0.1, 1.0, 1.0).is_err());
    assert!(rdp::fixed_size_replace_one(0.1, 1.0, 2e6).is_err());
    let points = vec![RenyiPoint { alpha: 2.0, epsilon: 0.1 }];
    for relation in [Relation::AddRemove, Relation::ZeroOut] {
        let error = RenyiCurve::of_relation(relation, points.clone()).unwrap_err().to_string();
        assert!(error.contains("replace-one") && error.contains(&relation.to_string()), "{error}");
    }
    let level = FailureLevel::from_beta(0.05).unwrap();
    assert!(dp_sgd::poisson(0, 0.1, 1.0, 1, level).is_err());
    assert!(dp_sgd::poisson(10, 0.1, 0.0, 1, level).is_err());
    assert!(dp_sgd::fixed_size(10, 11, 1.0, 1, level).is_err());
    assert!(dp_sgd::full_batch(10, 1.0, 0, level).is_err());
    let noiseless = dp_sgd::poisson(10, 0.5, 1e-200, 1, level).unwrap();
    assert!(noiseless.value.is_none() && noiseless.reason.unwrap().contains("raise sigma"));
}

#[test]
fn table_of_max_information() {
    let level = FailureLevel::from_beta(0.025).unwrap();
    for (n, effective, steps, rate, full, poisson, fixed) in [
        (12_000, 80.0, 60, 0.1, 22.84, 23.03, 23.27),
        (12_000, 80.0, 60, 0.01, 22.84, 32.3, f64::INFINITY),
        (60_000, 160.0, 60, 0.1, 26.9, 27.0, f64::INFINITY),
        (60_000, 160.0, 60, 0.01, 26.9, 28.3, f64::INFINITY),
        (60_000, 100.0, 200, 0.05, 57.0, 57.5, 58.2),
    ] {
        let noise = effective * f64::from(steps).sqrt();
        let steps = u64::from(steps as u32);
        let value = dp_sgd::full_batch(n, noise, steps, level).unwrap().value.unwrap();
        assert!(value < full && value > 0.97 * full, "{value}");
        let sigma = noise * rate;
        let sampled = dp_sgd::poisson(n, rate, sigma, steps, level).unwrap().value.unwrap();
        assert!(sampled < poisson && sampled > value, "{sampled}");
        let batch = (n as f64 * rate).round() as u64;
        let sized = dp_sgd::fixed_size(n, batch, sigma, steps, level).unwrap().value.unwrap();
        assert!(sized < fixed && sized > sampled, "{sized}");
    }
}

/// `P(Bin(trials, p) = k)`.
fn binomial(trials: usize, p: f64, k: usize) -> f64 {
    let choose = (1..=k).fold(1.0, |c, i| c * (trials + 1 - i) as f64 / i as f64);
    choose * p.powi(k as i32) * (1.0 - p).powi((trials - k) as i32)
}

/// Law of the sum over a batch of `ups` records +1 and `n − ups` records −1, in units of the noise.
fn sums(n: usize, ups: usize, sigma: f64, sampling: Sampling) -> Mixture {
    let mut law = Vec::new();
    for i in 0..=ups {
        for j in 0..=n - ups {
            let weight = match sampling {
                Sampling::Poisson(rate) => binomial(ups, rate, i) * binomial(n - ups, rate, j),
                Sampling::Fixed(batch) if i + j == batch => {
                    binomial(ups, 0.5, i) * binomial(n - ups, 0.5, j) / binomial(n, 0.5, batch)
                }
                Sampling::Fixed(_) => 0.0,
            };
            law.push((weight, (i as f64 - j as f64) / sigma));
        }
    }
    law
}

#[derive(Clone, Copy)]
enum Sampling {
    Poisson(f64),
    Fixed(usize),
}

/// The smallest `k >= 0` with `E_P(1 − e^{k−ι})_+ <= β` for fair ±1 records and two steps, in the second of
/// which the sign of every gradient is that of the first release.
fn two_adaptive_steps(n: usize, sigma: f64, sampling: Sampling, beta: f64) -> f64 {
    let nodes: Vec<f64> =
        (0..=240).map(|i| (f64::from(i) - 120.0) / 120.0 * (7.0 + n as f64 / sigma)).collect();
    let step = nodes[1] - nodes[0];
    let laws: Vec<Vec<f64>> = (0..=n)
        .map(|ups| {
            let law = sums(n, ups, sigma, sampling);
            nodes.iter().map(|&y| at(&law, y) * step).collect()
        })
        .collect();
    let prior: Vec<f64> = (0..=n).map(|ups| binomial(n, 0.5, ups)).collect();
    let mut cells = Vec::new(); // P mass and Q mass of a cell
    for (first, &y) in nodes.iter().enumerate() {
        for second in 0..nodes.len() {
            let masses: Vec<f64> = (0..=n)
                .map(|ups| laws[ups][first] * laws[if y > 0.0 { ups } else { n - ups }][second])
                .collect();
            let mean: f64 = masses.iter().zip(&prior).map(|(mass, weight)| mass * weight).sum();
            cells.extend(
                masses.iter().zip(&prior).map(|(mass, weight)| (mass * weight, mean * weight)),
            );
        }
    }
    let excess = |k: f64| -> f64 { cells.iter().map(|(p, q)| (p - k.exp() * q).max(0.0)).sum() };
    let (mut low, mut high) = (0.0, 50.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if excess(middle) > beta { low = middle } else { high = middle }
    }
    high
}

#[test]
fn the_exact_max_information_of_small_adaptive_runs_stays_below() {
    let level = |beta| FailureLevel::from_beta(beta).unwrap();
    for (n, sigma) in [(1, 1.0), (3, 1.5), (5, 0.8)] {
        for beta in [0.3, 0.02] {
            for rate in [0.3, 0.9] {
                let exact = two_adaptive_steps(n, sigma, Sampling::Poisson(rate), beta);
                let bound = dp_sgd::poisson(n as u64, rate, sigma, 2, level(beta)).unwrap();
                assert!(exact > 0.0 && exact < bound.value.unwrap(), "{n} {sigma} {beta} {rate}");
            }
            for batch in 1..=n {
                let exact = two_adaptive_steps(n, sigma, Sampling::Fixed(batch), beta);
                let bound =
                    dp_sgd::fixed_size(n as u64, batch as u64, sigma, 2, level(beta)).unwrap();
                assert!(exact < bound.value.unwrap(), "{n} {sigma} {beta} {batch}");
            }
            let exact = toy::max_info(n as u64, sigma / 2.0, 0.5, level(beta)).unwrap();
            let bound = dp_sgd::full_batch(n as u64, sigma, 1, level(beta)).unwrap();
            assert!(exact.value.unwrap() < bound.value.unwrap(), "{n} {sigma} {beta}");
        }
    }
}

#[test]
fn max_information_falls_with_noise_and_rises_with_steps_and_never_exceeds_the_full_batch() {
    let level = FailureLevel::from_beta(0.025).unwrap();
    let value = |rate, sigma, steps| {
        dp_sgd::poisson(5000, rate, sigma, steps, level).unwrap().value.unwrap()
    };
    for rate in [0.01, 0.2, 1.0] {
        for sigma in [2.0, 40.0] {
            let here = value(rate, sigma, 50);
            assert!(value(rate, sigma * 1.5, 50) < here && here < value(rate, sigma, 100));
            let full = dp_sgd::full_batch(5000, sigma, 50, level).unwrap().value.unwrap();
            assert!(here <= full * (1.0 + 1e-3), "{rate} {sigma}: {here} {full}");
        }
    }
}
