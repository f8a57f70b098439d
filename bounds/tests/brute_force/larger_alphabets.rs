//! Records that are not binary nor identically distributed; hill climbing towards a violation.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::exact::{Mechanism, level, normalised};
use crate::expected;
use crate::families::{APPROXIMATE, PURE, RENYI, is_slow};
use crate::ledger::Ledger;
use crate::mechanisms::normal;

/// A point of the search: log weights of the outputs and the laws of the records.
#[derive(Clone)]
struct Point {
    log_weights: Vec<Vec<f64>>,
    laws: Vec<Vec<f64>>,
}

/// What is held fixed during one climb.
struct Climb {
    records: usize,
    alphabet: usize,
    epsilon: f64,
    beta: f64,
    alpha: f64,
    /// Which bound is driven towards the exact value.
    target: &'static str,
}

impl Climb {
    fn new(records: usize, alphabet: usize, rng: &mut ChaCha8Rng) -> Self {
        fn pick<T: Copy>(from: &[T], rng: &mut ChaCha8Rng) -> T {
            from[rng.random_range(0..from.len())]
        }
        Self {
            records,
            alphabet,
            epsilon: pick(&[0.02, 0.1, 0.3, 0.8, 1.5], rng),
            beta: pick(&[1e-4, 0.01, 0.05, 0.2, 0.5], rng),
            alpha: pick(&[1.1, 1.5, 2.0, 3.0, 8.0, 30.0], rng),
            target: pick(&["B+ hs", "C", "D", "BR hs", "gamma half hs"], rng),
        }
    }

    fn start(&self, outputs: usize, rng: &mut ChaCha8Rng) -> (f64, Point) {
        let scale = [0.05, 0.3, 1.0, 3.0][rng.random_range(0..4)];
        let data_sets = self.alphabet.pow(u32::try_from(self.records).unwrap());
        let row = |rng: &mut ChaCha8Rng| (0..outputs).map(|_| scale * normal(rng)).collect();
        let law = |rng: &mut ChaCha8Rng| {
            let spread = [3.0, 1.0, 0.4][rng.random_range(0..3)];
            let weight = |rng: &mut ChaCha8Rng| (spread * normal(rng)).exp();
            normalised(&(0..self.alphabet).map(|_| weight(rng)).collect::<Vec<_>>())
        };
        let log_weights = (0..data_sets).map(|_| row(rng)).collect();
        (scale, Point { log_weights, laws: (0..self.records).map(|_| law(rng)).collect() })
    }

    fn step(point: &Point, scale: f64, rng: &mut ChaCha8Rng) -> Point {
        let mut next = point.clone();
        let size = scale * [0.02, 0.2, 1.0][rng.random_range(0..3)];
        for weight in next.log_weights.iter_mut().flatten() {
            if rng.random_bool(0.3) {
                *weight += size * normal(rng);
            }
        }
        for law in &mut next.laws {
            let moved: Vec<f64> =
                law.iter().map(|p| (p * (0.2 * normal(rng)).exp()).max(1e-6)).collect();
            *law = normalised(&moved);
        }
        next
    }

    /// Checks every bound at a point; the distance of the target bound from the exact value.
    fn attack(&self, point: &Point, ledger: &mut Ledger) -> f64 {
        let Self { records, alphabet, epsilon, beta, alpha, target } = *self;
        let weights =
            point.log_weights.iter().map(|row| row.iter().map(|w| w.exp()).collect()).collect();
        let mechanism = Mechanism::new("hill climbing", records, alphabet, weights);
        let frontier = mechanism.frontier(&mechanism.prior(&point.laws));
        let (n, at) = (records as u64, level(beta));
        let exact = frontier.max_information(at);
        let delta = mechanism.delta(epsilon);
        let (pure, order) = (mechanism.pure_epsilon(), mechanism.renyi(alpha));
        let place =
            || format!("{records} of {alphabet} {epsilon} {delta:e} {alpha} {order:e} {beta}");
        let mut distance = f64::INFINITY;
        let mut see = |name, answer| {
            let upper = ledger.check(name, exact, answer, place);
            if name == target {
                distance = upper.map_or(f64::INFINITY, |u| (u - exact) / (exact.abs() + 1e-3));
            }
        };
        for (name, bound) in APPROXIMATE.into_iter().filter(|(name, _)| !is_slow(name)) {
            see(name, bound(n, epsilon, delta, at));
        }
        for (name, bound) in PURE {
            see(name, bound(n, pure, at));
        }
        for (name, bound) in RENYI.into_iter().filter(|(name, _)| !is_slow(name)) {
            see(name, bound(n, alpha, order, at));
        }
        distance
    }
}

#[test]
fn hill_climbing_finds_no_violation() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let mut ledger = Ledger::default();
    for (records, alphabet, outputs, climbs) in [(1, 3, 4, 24), (1, 5, 6, 12), (2, 3, 4, 16)] {
        for _ in 0..climbs {
            let climb = Climb::new(records, alphabet, &mut rng);
            let (scale, mut point) = climb.start(outputs, &mut rng);
            let mut distance = climb.attack(&point, &mut ledger);
            for _ in 0..30 {
                let next = Climb::step(&point, scale, &mut rng);
                let reached = climb.attack(&next, &mut ledger);
                if reached < distance {
                    (distance, point) = (reached, next);
                }
            }
        }
    }
    ledger.close(&expected::HILL_CLIMBING);
}
