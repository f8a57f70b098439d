//! The ladder of bounds for correlated noise against exact enumeration and reference values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dpbounds_bounds::privacy::correlated::ladder::{
    fixed_zero_out, linear_test, mixture::Mixture, participation_cap, replica, reverse_jensen,
};
use dpbounds_bounds::privacy::{Order, Pair, gaussian, participation_norm};
use dpbounds_bounds::special::Binomial;
use serde_json::Value;

fn oracle(kind: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/oracles/privacy_correlated.json");
    let all: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let found: Vec<Value> = all.into_iter().filter(|case| case["kind"] == kind).collect();
    assert!(!found.is_empty(), "{kind}");
    found
}

fn number(case: &Value, name: &str) -> f64 {
    case[name].as_f64().unwrap_or_else(|| panic!("{name} in {case}"))
}

fn pair_of(case: &Value) -> Pair {
    let rate = case["r"].as_f64().unwrap_or_else(|| number(case, "B") / number(case, "n"));
    let noise = case["kappa"].as_f64().unwrap_or(1.0);
    Pair::new(rate, noise, case["lam"].as_f64().unwrap_or(0.0), case["T"].as_u64().unwrap())
        .unwrap()
}

fn with_noise(pair: &Pair, noise: f64) -> Pair {
    Pair::new(pair.rate(), noise, pair.lambda(), pair.steps()).unwrap()
}

/// Deterministic numbers in [0, 1).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn pair(&mut self, steps: u64) -> Pair {
        let lambda = [0.0, 0.2, 0.5, 0.8, 0.95, 0.995][(self.next() * 6.0) as usize];
        let noise = self.between(0.4_f64.ln(), 5.0_f64.ln()).exp();
        Pair::new(self.between(0.02, 0.6), noise, lambda, steps).unwrap()
    }
}

/// All patterns `y` as (probability, `Cy`, number of ones).
fn patterns(pair: &Pair) -> Vec<(f64, Vec<f64>, u32)> {
    let (steps, rate) = (pair.steps() as u32, pair.rate());
    (0..1_u32 << steps)
        .map(|bits| {
            let mut row = 0.0;
            let means = (0..steps)
                .map(|t| {
                    row = pair.lambda() * row + f64::from(bits >> t & 1);
                    row
                })
                .collect();
            let ones = bits.count_ones();
            let weight = rate.powi(ones as i32) * (1.0 - rate).powi((steps - ones) as i32);
            (weight, means, ones)
        })
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `E_Q (dP/dQ)^α` by enumerating all α-tuples of patterns.
fn exact_log_moment(pair: &Pair, order: u32) -> f64 {
    let all = patterns(pair);
    let scale = pair.noise_multiplier().powi(-2);
    fn sum(all: &[(f64, Vec<f64>, u32)], scale: f64, left: u32, total: &[f64]) -> f64 {
        if left == 0 {
            return 1.0;
        }
        let part = |(weight, means, _): &(f64, Vec<f64>, u32)| {
            let next: Vec<f64> = total.iter().zip(means).map(|(a, b)| a + b).collect();
            weight * (scale * dot(total, means)).exp() * sum(all, scale, left - 1, &next)
        };
        all.iter().map(part).sum()
    }
    sum(&all, scale, order, &vec![0.0; pair.steps() as usize]).ln()
}

/// `log Z_α` and `log W` without any rounding of `q`, or with `q` replaced by `round(q)`.
fn unrounded(pair: &Pair, order: u32, round: impl Fn(f64) -> f64 + Copy) -> (f64, f64) {
    let scale = pair.noise_multiplier().powi(-2);
    let gram: Vec<f64> = (0..pair.steps())
        .map(|v| (v..pair.steps()).map(|t| pair.lambda().powi(2 * (t - v) as i32)).sum())
        .collect();
    let law = Binomial::new(f64::from(order), pair.rate());
    fn attract(
        q: f64,
        gram: &[f64],
        scale: f64,
        lambda: f64,
        law: &dyn Fn(u32) -> f64,
        order: u32,
        round: impl Fn(f64) -> f64 + Copy,
    ) -> f64 {
        let Some((&g, rest)) = gram.split_first() else { return 1.0 };
        let part = |n: u32| {
            let count = f64::from(n);
            let exponent = scale * g * (0.5 * count * (count - 1.0) + count * q);
            let next = round(lambda * (q + count));
            law(n) * exponent.exp() * attract(next, rest, scale, lambda, law, order, round)
        };
        (0..=order).map(part).sum()
    }
    let mass = |n: u32| law.log_mass(f64::from(n)).exp();
    let z = attract(0.0, &gram, scale, pair.lambda(), &mass, order, round);
    let bernoulli = |n: u32| if n == 0 { 1.0 - pair.rate() } else { pair.rate() };
    let w = attract(0.0, &gram, -scale, pair.lambda(), &bernoulli, 1, round);
    (z.ln(), w.ln())
}

/// Both hockey sticks for `T <= 2` by a trapezoidal rule.
fn exact_delta(pair: &Pair, epsilon: f64) -> (f64, f64) {
    let all = patterns(pair);
    let sigma = pair.noise_multiplier();
    let cells = 360;
    let axis = |t: usize| -> Vec<f64> {
        let last = all.iter().map(|pattern| pattern.1[t]).fold(0.0, f64::max);
        let (low, high) = (-8.5 * sigma, last + 8.5 * sigma);
        (0..=cells).map(|i| low + (high - low) * f64::from(i) / f64::from(cells)).collect()
    };
    let second = if pair.steps() == 2 { axis(1) } else { vec![0.0] };
    let first = axis(0);
    let mut cell = (first[1] - first[0]) / sigma / (2.0 * std::f64::consts::PI).sqrt();
    if second.len() > 1 {
        cell *= (second[1] - second[0]) / sigma / (2.0 * std::f64::consts::PI).sqrt();
    }
    let (mut forward, mut reverse) = (0.0, 0.0);
    for &x in &first {
        for &y in &second {
            let point = [x, y];
            let density = (-0.5 * (x * x + y * y) / sigma / sigma).exp() * cell;
            let ratio: f64 = all
                .iter()
                .map(|(weight, means, _)| {
                    weight * ((dot(means, &point) - 0.5 * dot(means, means)) / sigma / sigma).exp()
                })
                .sum();
            forward += density * (ratio - epsilon.exp()).max(0.0);
            reverse += density * (1.0 - epsilon.exp() * ratio).max(0.0);
        }
    }
    (forward, reverse)
}

fn mixture_delta(pair: &Pair, epsilon: f64) -> f64 {
    let law = Mixture::new(pair.rate(), pair.lambda(), pair.steps()).unwrap();
    law.delta(pair.noise_multiplier(), epsilon).unwrap()
}

#[test]
fn exact_values_lie_between_the_linear_test_and_every_upper_bound() {
    for case in oracle("delta_exact") {
        let (pair, epsilon) = (pair_of(&case), number(&case, "eps"));
        let tolerance = number(&case, "tol");
        let forward = number(&case, "delta_PQ").max(0.0);
        let reverse = number(&case, "delta_QP").max(0.0);
        let id = &case["id"];
        for (order, exact, name) in [
            (Order::Forward, forward, "linear_lower_PQ"),
            (Order::Reverse, reverse, "linear_lower_QP"),
        ] {
            let lower = linear_test::delta(&pair, epsilon, order);
            let expected = number(&case, name);
            assert!((lower - expected).abs() <= 1e-9 * expected + 1e-12, "{id} {lower} {expected}");
            assert!(lower <= exact + tolerance, "{id}");
            assert!(participation_cap::delta(&pair, epsilon) + tolerance >= exact, "{id}");
        }
        let mixed = mixture_delta(&pair, epsilon);
        assert!(mixed + tolerance >= forward.max(reverse), "{id}");
        assert!(mixed <= number(&case, "L1b_upper") * 1.02, "{id}: {mixed}");
        let moments = replica::delta(&pair, epsilon);
        assert!(moments + tolerance >= forward, "{id}");
        assert!(moments <= number(&case, "L2_upper_PQ") * 1.02, "{id}: {moments}");
        assert!(reverse_jensen::delta(&pair, epsilon) + tolerance >= reverse, "{id}");
    }
}

#[test]
fn random_pairs_of_two_steps_are_never_above_an_upper_bound() {
    let mut draws = Draws(7);
    for _ in 0..24 {
        let pair = draws.pair(if draws.0.is_multiple_of(3) { 1 } else { 2 });
        let epsilon = draws.between(0.0, 2.0);
        let (forward, reverse) = exact_delta(&pair, epsilon);
        let below = |bound: f64, exact: f64| bound >= exact * (1.0 - 2e-3) - 1e-7;
        let context = format!("{pair:?} {epsilon} {forward} {reverse}");
        assert!(below(participation_cap::delta(&pair, epsilon), forward.max(reverse)), "{context}");
        assert!(below(mixture_delta(&pair, epsilon), forward.max(reverse)), "{context}");
        assert!(below(replica::delta(&pair, epsilon), forward), "{context}");
        assert!(below(reverse_jensen::delta(&pair, epsilon), reverse), "{context}");
        assert!(below(forward, linear_test::delta(&pair, epsilon, Order::Forward)), "{context}");
        assert!(below(reverse, linear_test::delta(&pair, epsilon, Order::Reverse)), "{context}");
    }
}

#[test]
fn replica_moments_bound_the_enumerated_ones_and_stay_close_to_the_unrounded_chain() {
    for case in oracle("moment") {
        let (pair, order) = (pair_of(&case), case["alpha"].as_u64().unwrap() as u32);
        let value = replica::log_moment(&pair, order);
        let sharp = number(&case, "log_Zhat") + f64::from(order) * number(&case, "log_selfcorr");
        let rounded =
            number(&case, "proto_logZ_rounded") + f64::from(order) * number(&case, "log_selfcorr");
        assert!(value >= sharp && sharp >= number(&case, "log_moment"), "{}", case["id"]);
        assert!(value <= rounded + 0.1, "{}: {value} {rounded}", case["id"]);
        let (z, w) = unrounded(&pair, order, |q| q);
        assert!((z + f64::from(order) * w - sharp).abs() < 1e-9);
        let exact = exact_log_moment(&pair, order);
        assert!((exact / number(&case, "log_moment") - 1.0).abs() < 1e-9);
    }
    let mut draws = Draws(11);
    for round in 0..80 {
        let pair = draws.pair(1 + round % 4);
        let order = 2 + (round / 4 % 3) as u32;
        let value = replica::log_moment(&pair, order);
        let exact = exact_log_moment(&pair, order);
        let (z, w) = unrounded(&pair, order, |q| q);
        let sharp = z + f64::from(order) * w;
        assert!(
            value >= sharp * (1.0 - 1e-12) && sharp >= exact * (1.0 - 1e-9),
            "{pair:?} {order}"
        );
        assert!(value <= sharp * 1.15 + 1e-9, "{pair:?} {order}: {value} {sharp}");
        if pair.lambda() == 0.0 {
            assert!((value / exact - 1.0).abs() < 1e-9, "{pair:?}");
        }
    }
}

#[test]
fn wrong_variants_of_the_moment_bound_would_be_caught() {
    let pair = Pair::new(0.5, 3.0, 0.9, 4).unwrap();
    let order = 3;
    let (z, w) = unrounded(&pair, order, |q| q);
    let exact = exact_log_moment(&pair, order);
    // q rounded down in Z: no longer an upper bound.
    let (down, _) = unrounded(&pair, order, |_| 0.0);
    assert!(down + f64::from(order) * w < exact, "{down} {w} {exact}");
    // On a fine grid the same mistake is small, but below the unrounded chain, which is checked elsewhere.
    let grid_below =
        |q: f64| if q > 0.0 { 0.97_f64.powf((q.ln() / 0.97_f64.ln()).ceil()) } else { q };
    let (fine, _) = unrounded(&pair, order, grid_below);
    assert!(fine < z - 1e-3 * z.abs() && replica::log_moment(&pair, order) > z + 3.0 * w);
    // q rounded up in W: below the value that Harris' inequality proves.
    let (_, up) = unrounded(&pair, order, |q| (q / 2.0).ceil() * 2.0);
    let value = replica::log_moment(&pair, order);
    assert!(z + f64::from(order) * up < z + f64::from(order) * w - 0.1);
    assert!(value >= z + f64::from(order) * w);
    // The self-repulsion to the first power only: much larger than what is returned.
    assert!(value < z + w - 0.05, "{value} {}", z + w);
}

#[test]
fn the_participation_cap_reproduces_its_calibrations() {
    for case in oracle("max_norm") {
        let (lambda, steps, k) = (number(&case, "lam"), case["T"].as_u64(), case["k"].as_u64());
        let norm = participation_norm(lambda, steps.unwrap(), k.unwrap()).unwrap();
        assert!((norm / number(&case, "value") - 1.0).abs() < 1e-12, "{}", case["id"]);
    }
    for case in oracle("L0_L1") {
        let (pair, epsilon) = (pair_of(&case), number(&case, "eps"));
        let (mut low, mut high) = (1.0_f64, 1000.0_f64);
        while high / low > 1.0 + 1e-9 {
            let middle = (low * high).sqrt();
            let value = participation_cap::delta(&with_noise(&pair, middle), epsilon);
            if value > number(&case, "delta") { low = middle } else { high = middle }
        }
        assert!((high / number(&case, "L1") - 1.0).abs() < 1e-6, "{}: {high}", case["id"]);
    }
}

#[test]
fn the_participation_cap_searches_all_counts_and_keeps_tiny_tails() {
    for (rate, noise, lambda, steps, epsilon) in
        [(0.01, 20.0, 0.0, 1000, 1.0), (0.05, 60.0, 0.8, 200, 0.5), (0.3, 9.0, 0.5, 40, 2.0)]
    {
        let pair = Pair::new(rate, noise, lambda, steps).unwrap();
        let law = Binomial::new(steps as f64, rate);
        let mut best = f64::INFINITY;
        let mut tail = 0.0;
        for k in (0..=steps).rev() {
            let part = if k == 0 {
                0.0
            } else {
                let norm = participation_norm(lambda, steps, k).unwrap();
                gaussian::delta_at(norm / noise, epsilon).unwrap().value.unwrap()
            };
            best = best.min(tail + (1.0 - tail) * part);
            tail += law.log_mass(k as f64).exp();
        }
        let value = participation_cap::delta(&pair, epsilon);
        assert!((value / best - 1.0).abs() < 1e-8, "{value} {best}");
    }
    // The best tail is near 1e-29 here; one minus a distribution function has no such digits.
    let pair = Pair::new(0.01, 300.0, 0.0, 1000).unwrap();
    let value = participation_cap::delta(&pair, 1.0);
    let law = Binomial::new(1000.0, 0.01);
    let complement: f64 = 1.0 - (0..=60).map(|k| law.log_mass(f64::from(k)).exp()).sum::<f64>();
    assert!(value > 0.0 && value < 1e-28, "{value:e}");
    assert!(!(complement > 0.0 && complement < 1e-20), "{complement:e}");
}

#[test]
fn the_mixture_is_exact_at_lambda_zero_and_close_to_enumeration_otherwise() {
    let pair = Pair::new(0.01, 8.0, 0.0, 1000).unwrap();
    let law = Binomial::new(1000.0, 0.01);
    let part = |k: u32| {
        let mu = f64::from(k).sqrt() / 8.0;
        law.log_mass(f64::from(k)).exp() * gaussian::delta_at(mu, 1.0).unwrap().value.unwrap()
    };
    let direct: f64 = (1..=200).map(part).sum();
    assert!((mixture_delta(&pair, 1.0) / direct - 1.0).abs() < 1e-9);

    let mut draws = Draws(23);
    for _ in 0..12 {
        let pair = draws.pair(9);
        let epsilon = draws.between(0.0, 1.5);
        let direct: f64 = patterns(&pair)
            .iter()
            .filter(|pattern| pattern.2 > 0)
            .map(|(weight, means, _)| {
                let mu = dot(means, means).sqrt() / pair.noise_multiplier();
                weight * gaussian::delta_at(mu, epsilon).unwrap().value.unwrap()
            })
            .sum();
        let value = mixture_delta(&pair, epsilon);
        assert!(value >= direct * (1.0 - 1e-12), "{pair:?} {epsilon}: {value} {direct}");
        assert!(value <= direct * 1.25 + 1e-9, "{pair:?} {epsilon}: {value} {direct}");
    }
}

#[test]
fn the_mixture_improves_on_the_cap_at_every_size() {
    for (lambda, steps) in [(0.5, 1000), (0.9, 1000), (0.99, 3000), (0.9, 100_000)] {
        let law = Mixture::new(0.01, lambda, steps).unwrap();
        let mut previous = 1.0;
        for noise in [4.0, 20.0, 60.0, 300.0] {
            let pair = Pair::new(0.01, noise, lambda, steps).unwrap();
            let value = law.delta(noise, 1.0).unwrap();
            assert!(value <= participation_cap::delta(&pair, 1.0), "{lambda} {steps} {noise}");
            assert!(value <= previous && value > 0.0);
            previous = value;
            let lower = linear_test::delta(&pair, 1.0, Order::Forward);
            assert!(lower <= value, "{lambda} {steps} {noise}");
        }
    }
}

#[test]
fn the_reverse_bound_certifies_the_listed_settings() {
    let table = [
        (1000, 8.0, 0.3, 0.670),
        (1000, 8.0, 0.5, 0.849),
        (1000, 8.0, 0.8, 1.793),
        (1000, 4.0, 0.8, 2.400),
        (100, 1.0, 0.5, 1.288),
        (100, 1.0, 0.8, 2.844),
        (100, 4.0, 0.5, 0.854),
        (100, 4.0, 0.8, 1.757),
    ];
    for (steps, epsilon, lambda, noise) in table {
        let pair = Pair::new(0.01, noise, lambda, steps).unwrap();
        let value = reverse_jensen::delta(&pair, epsilon);
        assert!(value < 1e-5, "{steps} {epsilon} {lambda}: {value}");
    }
    // Not certified there, by the same list.
    for (epsilon, noise) in [(2.0, 1.576), (4.0, 1.077)] {
        let pair = Pair::new(0.01, noise, 0.5, 1000).unwrap();
        assert!(reverse_jensen::delta(&pair, epsilon) > 1e-5);
    }
    for (steps, rate, lambda, noise, epsilon) in
        [(3, 0.3, 0.9, 2.0, 0.25), (2, 0.5, 0.95, 3.0, 0.1)]
    {
        let pair = Pair::new(rate, noise, lambda, steps).unwrap();
        let value = reverse_jensen::delta(&pair, epsilon);
        assert!(value <= 0.107_15 && value > 0.1, "{value}");
    }
}

#[test]
fn the_linear_test_reproduces_its_largest_refuted_noise() {
    for case in oracle("linear_lower_kappa") {
        let (pair, epsilon) = (pair_of(&case), number(&case, "eps"));
        let (lambda, delta) = (pair.lambda(), number(&case, "delta"));
        let noise =
            linear_test::largest_refuted_noise(pair.rate(), lambda, pair.steps(), epsilon, delta);
        let noise = noise.unwrap().unwrap();
        let tolerance = number(&case, "tol");
        assert!((noise / number(&case, "kappa") - 1.0).abs() < tolerance, "{noise}");
        // It ends on the side that is refuted.
        let at = with_noise(&pair, noise);
        let lower = Order::ALL.map(|order| linear_test::delta(&at, epsilon, order));
        assert!(lower[0].max(lower[1]) > delta);
        assert!((linear_test::epsilon(&at, delta).unwrap() / epsilon - 1.0).abs() < 1e-6);
    }
    let none = linear_test::largest_refuted_noise(0.0, 0.5, 10, 1.0, 1e-5).unwrap();
    assert_eq!(none, None);
    assert_eq!(linear_test::largest_refuted_noise(0.5, 0.5, 0, 1.0, 1e-5).unwrap(), None);
}

#[test]
fn fixed_size_batches_refute_sensitivity_one_under_zero_out() {
    for case in oracle("fixed_size_counterexample") {
        let (pair, epsilon) = (pair_of(&case), number(&case, "eps"));
        let value = fixed_zero_out::delta(&pair, epsilon, Order::Forward);
        let expected = number(&case, "fixed_size_pair");
        assert!((value / expected - 1.0).abs() < number(&case, "tol"), "{value} {expected}");
        assert!(value <= expected * (1.0 + 1e-9));
        let single = linear_test::delta(&pair, epsilon, Order::Forward);
        assert!((single / number(&case, "F8_PQ") - 1.0).abs() < 1e-6, "{single}");
    }
    // The setting that independent noise of 1.4148 would make (1, 1e-5)-private.
    let pair = Pair::new(0.01, 1.4148, 0.0, 1000).unwrap();
    let value = fixed_zero_out::delta(&pair, 1.0, Order::Forward);
    assert!(value > 1e-6 && value < 0.05, "{value}");
    let correlated = Pair::new(0.01, 12.35, 0.9, 1000).unwrap();
    for order in Order::ALL {
        let value = fixed_zero_out::delta(&correlated, 0.5, order);
        assert!(value > 1e-4 && value < 0.1, "{order:?} {value}");
    }
}

#[test]
fn lower_bounds_on_epsilon_survive_extreme_noise() {
    for noise in [1e-160, 1e-3, 0.1, 3.0, 1e6] {
        let pair = Pair::new(0.3, noise, 0.9, 20).unwrap();
        let value = linear_test::epsilon(&pair, 1e-6).unwrap();
        assert!(value >= 0.0 && !value.is_nan(), "{noise}");
        assert_eq!(value > 1.0, noise < 3.5, "{noise}: {value}");
    }
    let pair = Pair::new(0.3, 1.0, 0.9, 20).unwrap();
    assert!(linear_test::epsilon(&pair, 0.0).is_err());
    assert!(linear_test::largest_refuted_noise(0.3, 1.0, 20, 1.0, 1e-6).is_err());
    assert!(Mixture::new(0.3, 0.5, 20).unwrap().delta(0.0, 1.0).is_err());
}

#[test]
fn extreme_and_degenerate_pairs_give_probabilities() {
    for (rate, lambda, steps) in [
        (0.0, 0.5, 100),
        (1.0, 0.5, 100),
        (0.3, 0.9, 0),
        (1e-9, 0.3, 1_000_000),
        (0.5, 0.0, 1_000_000),
        (0.01, 0.9999, 1_000_000),
        (0.999, 0.7, 50),
        (0.2, 1e-200, 30),
    ] {
        let cheap = steps <= 100 || lambda == 0.0;
        let law = (steps <= 100).then(|| Mixture::new(rate, lambda, steps).unwrap());
        for noise in [1e-160, 0.01, 1.0, 1e4, 1e160] {
            let pair = Pair::new(rate, noise, lambda, steps).unwrap();
            for epsilon in [0.0, 1e-3, 5.0, 2000.0, -1.0, f64::NAN] {
                let mut upper = vec![
                    participation_cap::delta(&pair, epsilon),
                    reverse_jensen::delta(&pair, epsilon),
                ];
                upper.extend(law.as_ref().map(|law| law.delta(noise, epsilon).unwrap()));
                if cheap {
                    upper.push(replica::delta(&pair, epsilon));
                }
                for order in Order::ALL {
                    let lower = linear_test::delta(&pair, epsilon, order);
                    assert!((0.0..=1.0).contains(&lower), "{pair:?} {epsilon}: {lower}");
                    let most = if order == Order::Forward { upper[0] } else { upper[1] };
                    assert!(lower <= most, "{pair:?} {epsilon} {order:?}: {lower} {most}");
                }
                let context = format!("{pair:?} {epsilon}: {upper:?}");
                assert!(upper.iter().all(|value| (0.0..=1.0).contains(value)), "{context}");
                if epsilon.is_nan() && steps > 0 && rate > 0.0 {
                    assert!(upper.iter().all(|&value| value == 1.0), "{context}");
                }
            }
        }
    }
}
