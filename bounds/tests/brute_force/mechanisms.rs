//! The mechanisms under attack: textbook ones, the leak of the impossibility statement, random tables.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::exact::Mechanism;

/// A standard normal variable (Box and Muller).
pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

fn bits(data_set: usize, n: usize) -> Vec<usize> {
    (0..n).map(|i| data_set >> i & 1).collect()
}

/// One row per binary data set.
fn table(name: String, n: usize, row: impl Fn(&[usize], usize) -> Vec<f64>) -> Mechanism {
    let rows = (0..1 << n).map(|s| row(&bits(s, n), bits(s, n).iter().sum())).collect();
    Mechanism::new(&name, n, 2, rows)
}

/// Mechanisms on `n` binary records.
pub fn binary(n: usize, rng: &mut ChaCha8Rng) -> Vec<Mechanism> {
    let mut all = Vec::new();
    for epsilon in [0.1_f64, 0.5, 1.5] {
        all.push(randomised_response(n, epsilon));
        all.push(geometric(n, epsilon));
        all.push(majority(n, epsilon));
    }
    for delta in [1e-4, 1e-2, 0.1] {
        for epsilon in [0.05, 0.5] {
            all.push(leak(n, epsilon, delta));
        }
    }
    for scale in [0.02, 0.2, 1.0] {
        for outputs in [2, 5, 12] {
            all.push(random(n, outputs, scale, rng));
            all.push(linear(n, outputs, scale, rng));
        }
    }
    all
}

/// Every bit is kept with probability `e^ε/(1+e^ε)`.
fn randomised_response(n: usize, epsilon: f64) -> Mechanism {
    let flip = 1.0 / (1.0 + epsilon.exp());
    table(format!("randomised response {epsilon}"), n, |x, _| {
        let same = |y: usize| (0..n).filter(|i| x[*i] == y >> i & 1).count();
        let power = |p: f64, k: usize| p.powi(i32::try_from(k).unwrap());
        (0..1 << n).map(|y| power(1.0 - flip, same(y)) * power(flip, n - same(y))).collect()
    })
}

/// The sum with two-sided geometric noise, cut off three steps outside.
fn geometric(n: usize, epsilon: f64) -> Mechanism {
    table(format!("geometric {epsilon}"), n, |_, sum| {
        let distance = |k: usize| (k as f64 - 3.0 - sum as f64).abs();
        (0..n + 7).map(|k| (-epsilon * distance(k)).exp()).collect()
    })
}

/// The majority bit through randomised response.
fn majority(n: usize, epsilon: f64) -> Mechanism {
    let flip = 1.0 / (1.0 + epsilon.exp());
    table(format!("majority {epsilon}"), n, |_, sum| {
        if 2 * sum > n { vec![flip, 1.0 - flip] } else { vec![1.0 - flip, flip] }
    })
}

/// The majority bit, or with probability `delta` one record in the clear.
fn leak(n: usize, epsilon: f64, delta: f64) -> Mechanism {
    let flip = 1.0 / (1.0 + epsilon.exp());
    table(format!("leak {epsilon} {delta}"), n, |x, sum| {
        let one = if 2 * sum > n { 1.0 - flip } else { flip };
        let mut row = vec![(1.0 - one) * (1.0 - delta), one * (1.0 - delta)];
        row.extend(x.iter().flat_map(|bit| {
            let revealed = |value: usize| if *bit == value { delta / n as f64 } else { 0.0 };
            [revealed(0), revealed(1)]
        }));
        row
    })
}

/// Independent log-normal weights.
fn random(n: usize, outputs: usize, scale: f64, rng: &mut ChaCha8Rng) -> Mechanism {
    let weights =
        (0..1 << n).map(|_| (0..outputs).map(|_| (scale * normal(rng)).exp()).collect()).collect();
    Mechanism::new(&format!("random {outputs} {scale}"), n, 2, weights)
}

/// Log weights linear in the data, with a few outputs that are five times too likely.
fn linear(n: usize, outputs: usize, scale: f64, rng: &mut ChaCha8Rng) -> Mechanism {
    let slopes: Vec<Vec<f64>> =
        (0..n).map(|_| (0..outputs).map(|_| normal(rng)).collect()).collect();
    let rows = (0..1 << n)
        .map(|data_set| {
            let x = bits(data_set, n);
            let exponent = |y: usize| (0..n).map(|i| x[i] as f64 * slopes[i][y]).sum::<f64>();
            (0..outputs)
                .map(|y| {
                    let spike = if rng.random_bool(0.02) { 5.0 } else { 1.0 };
                    (scale * exponent(y)).exp() * spike
                })
                .collect()
        })
        .collect();
    Mechanism::new(&format!("linear {outputs} {scale}"), n, 2, rows)
}

/// With probability `n delta` one of the `n` records (of `alphabet` values) in the clear, else a
/// blank: (0, delta)-DP, and without any finite bound below `n delta` as the alphabet grows.
pub fn pure_leak(n: usize, alphabet: usize, delta: f64) -> Mechanism {
    let rows = (0..alphabet.pow(u32::try_from(n).unwrap()))
        .map(|data_set| {
            let mut row = vec![0.0; n * alphabet + 1];
            row[n * alphabet] = 1.0 - n as f64 * delta;
            let mut rest = data_set;
            for record in 0..n {
                row[record * alphabet + rest % alphabet] = delta;
                rest /= alphabet;
            }
            row
        })
        .collect();
    Mechanism::new(&format!("leak over {alphabet} values"), n, alphabet, rows)
}
