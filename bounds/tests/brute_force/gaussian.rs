//! The Gaussian bounds above the exact max-information of signs released through Gaussian noise.

use dpbounds_bounds::max_information::renyi::RenyiCurve;
use dpbounds_bounds::max_information::{FailureLevel, gaussian, renyi, toy};
use dpbounds_bounds::{Bound, Result};

use crate::exact::level;
use crate::expected;
use crate::ledger::Ledger;

type OfNu = fn(f64, FailureLevel) -> Result<Bound>;

const OF_NU: [(&str, OfNu); 4] = [
    ("eq. (7)", gaussian::eq7),
    ("eq. (7) hs", gaussian::eq7_hs),
    ("eq. (8)", gaussian::eq8),
    ("eq. (9)", gaussian::eq9),
];

#[test]
fn gaussian_bounds_are_above_the_exact_toy() {
    let mut ledger = Ledger::default();
    for n in [1_u64, 2, 5, 20] {
        for sigma in [0.3, 1.0, 3.0, 10.0] {
            let nu = gaussian::nu(n, sigma).unwrap();
            let curve = RenyiCurve::gaussian(sigma).unwrap();
            for p in [0.5, 0.1] {
                for beta in [1e-6, 1e-3, 0.05, 0.3] {
                    let exact = toy::max_info(n, sigma, p, level(beta)).unwrap();
                    let place = || format!("n={n} sigma={sigma} p={p} beta={beta}");
                    let Some(exact) = exact.lower.filter(|exact| *exact > 0.0) else {
                        continue; // clamped at 0, while the true value may be negative
                    };
                    for (name, bound) in OF_NU {
                        ledger.check(name, exact, bound(nu, level(beta)), place);
                    }
                    let best = gaussian::best(n, sigma, level(beta));
                    ledger.check("Gaussian best", exact, best, place);
                    let over_curve = renyi::best_over_curve(n, &curve, level(beta));
                    ledger.check("Renyi curve", exact, over_curve, place);
                    let theorem2 = curve.points().iter().map(|point| {
                        renyi::theorem2(n, point.alpha, point.epsilon, level(beta)).unwrap()
                    });
                    let smallest = Bound::best_of(theorem2.collect());
                    ledger.check("Theorem 2 curve", exact, smallest, place);
                }
            }
        }
    }
    ledger.close(&expected::GAUSSIAN);
}

/// Density of the release given `k` positive signs, and the information density there.
fn density(k: usize, y: f64, means: &[f64], masses: &[f64]) -> (f64, f64) {
    let kernel = |mean: f64| (-0.5 * (y - mean) * (y - mean)).exp();
    let mixture: f64 = means.iter().zip(masses).map(|(mean, mass)| mass * kernel(*mean)).sum();
    let normal = kernel(means[k]);
    (normal / std::f64::consts::TAU.sqrt(), (normal / mixture).ln())
}

/// The toy itself by quadrature on a grid: `E_P (1 − e^{k−ι})_+` at its max-information is β.
#[test]
fn the_exact_toy_agrees_with_quadrature() {
    const POINTS: u32 = 20_000;
    for (n, sigma, p) in [(1_usize, 0.3, 0.5), (2, 1.0, 0.1), (5, 1.0, 0.5), (5, 3.0, 0.1)] {
        let means: Vec<f64> =
            (0..=n).map(|k| (2.0 * k as f64 - n as f64) / (2.0 * sigma)).collect();
        let mut masses = vec![1.0];
        for _ in 0..n {
            masses.push(0.0);
            for k in (1..masses.len()).rev() {
                masses[k] = (1.0 - p) * masses[k] + p * masses[k - 1];
            }
            masses[0] *= 1.0 - p;
        }
        let (low, high) = (means[0] - 9.0, means[n] + 9.0);
        let step = (high - low) / f64::from(POINTS);
        for beta in [1e-3, 0.05, 0.3] {
            let value = toy::max_info(n as u64, sigma, p, level(beta)).unwrap().value.unwrap();
            let mut hockey_stick = 0.0;
            for i in 0..=POINTS {
                let y = low + f64::from(i) * step;
                for k in 0..=n {
                    let (density, information) = density(k, y, &means, &masses);
                    if information > value {
                        hockey_stick +=
                            masses[k] * density * step * -(value - information).exp_m1();
                    }
                }
            }
            assert!(
                if value > 0.0 {
                    (hockey_stick / beta - 1.0).abs() < 1e-5
                } else {
                    hockey_stick <= beta
                },
                "n={n} sigma={sigma} p={p} beta={beta}: {hockey_stick} at {value}"
            );
            let direct = toy::beta(n as u64, sigma, p, value).unwrap().value.unwrap();
            assert!((direct - hockey_stick).abs() < 1e-5 * beta, "{direct} {hockey_stick}");
        }
    }
}
