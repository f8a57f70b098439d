//! An exactly solvable mechanism: signs released through Gaussian noise.
//!
//! `S ∈ {−1,+1}^n` with independent entries, `P(+1) = p`; the release is `c·sum(S) + N(0,1)` with
//! `c = 1/(2σ)`, so that `σ` is the noise relative to the replace-one sensitivity. Every bound for
//! the Gaussian mechanism lies above the exact value computed here.

use super::{FailureLevel, MAX_INFORMATION, ours};
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::solve::bracket_positive;
use crate::warrant::{Bound, Quantity};

/// Largest number of records: the cost grows with its square.
pub const MAX_RECORDS: u64 = 100;

/// The mixture of Gaussians that the release is.
struct Toy {
    /// Mean of the release given the number of `+1`s.
    means: Vec<f64>,
    /// Log probability of that number.
    log_masses: Vec<f64>,
}

impl Toy {
    fn new(n: u64, sigma: f64, p: f64) -> Result<Self> {
        if !(1..=MAX_RECORDS).contains(&n) {
            #[allow(clippy::cast_precision_loss)] // only shown
            return Err(BoundError::OutOfRange {
                parameter: "n",
                value: Shown(n as f64),
                allowed: "an integer from 1 to 100 for the exact toy mechanism",
                remedy: "use the Gaussian bounds for more records",
            });
        }
        if !(1e-3..=1e3).contains(&sigma) {
            return Err(BoundError::OutOfRange {
                parameter: "sigma",
                value: Shown(sigma),
                allowed: "[0.001, 1000] for the exact toy mechanism",
                remedy: "use the Gaussian bounds for other noise",
            });
        }
        let p = domain::open_probability("p", p)?;
        #[allow(clippy::cast_precision_loss)]
        let records = n as f64;
        let scale = 0.5 / sigma;
        let mut toy = Self { means: Vec::new(), log_masses: Vec::new() };
        let mut log_binomial = 0.0;
        for k in 0..=n {
            #[allow(clippy::cast_precision_loss)]
            let count = k as f64;
            if k > 0 {
                log_binomial += ((records - count + 1.0) / count).ln();
            }
            toy.means.push(scale * (2.0 * count - records));
            toy.log_masses.push(log_binomial + count * p.ln() + (records - count) * (-p).ln_1p());
        }
        Ok(toy)
    }

    /// Information density of the release `y` with the data sets of `k` positive signs, and its slope.
    fn density(&self, k: usize, y: f64) -> (f64, f64) {
        let exponents =
            self.means.iter().zip(&self.log_masses).map(|(m, l)| l + m * y - m * m / 2.0);
        let largest = exponents.clone().fold(f64::NEG_INFINITY, f64::max);
        let (mut total, mut weighted) = (0.0, 0.0);
        for (exponent, mean) in exponents.zip(&self.means) {
            let weight = (exponent - largest).exp();
            total += weight;
            weighted += weight * mean;
        }
        let mean = self.means[k];
        (mean * y - mean * mean / 2.0 - largest - total.ln(), mean - weighted / total)
    }

    /// The interval on which the information density of `k` exceeds `threshold`: it is concave in `y`.
    fn interval(&self, k: usize, threshold: f64) -> Option<(f64, f64)> {
        let last = self.means.len() - 1;
        let exceeds = |y: f64| self.density(k, y).0 > threshold;
        let centre = self.means[k];
        if k == 0 || k == last {
            // Monotone with limit −log p_k.
            if -self.log_masses[k] <= threshold {
                return None;
            }
            let sign = if k == 0 { -1.0 } else { 1.0 };
            let inside = if exceeds(centre) { centre } else { expand(centre, sign, exceeds)? };
            let edge = self.crossing(k, threshold, inside, -sign);
            return Some(if k == 0 { (f64::NEG_INFINITY, edge) } else { (edge, f64::INFINITY) });
        }
        let inside = if exceeds(centre) { centre } else { self.top(k)? };
        if !exceeds(inside) {
            return None;
        }
        let (low, high) =
            (self.crossing(k, threshold, inside, -1.0), self.crossing(k, threshold, inside, 1.0));
        Some((low, high))
    }

    /// Where the density of an interior `k` is largest.
    fn top(&self, k: usize) -> Option<f64> {
        let rising = |y: f64| self.density(k, y).1 > 0.0;
        let left = expand(self.means[k], -1.0, rising)?;
        let right = expand(self.means[k], 1.0, |y| !rising(y))?;
        Some(refine(left, right, rising))
    }

    /// Where the density falls to `threshold` in the direction `sign` from `inside`; infinite beyond any
    /// double. Newton's method from outside a concave function's level set stays outside.
    fn crossing(&self, k: usize, threshold: f64, inside: f64, sign: f64) -> f64 {
        let Some(mut y) = expand(inside, sign, |y| self.density(k, y).0 <= threshold) else {
            return sign * f64::INFINITY;
        };
        for _ in 0..100 {
            let (density, slope) = self.density(k, y);
            let step = (density - threshold) / slope;
            if !step.is_finite() || step.abs() <= 1e-16 * (1.0 + y.abs()) {
                break;
            }
            y -= step;
        }
        y
    }

    /// `H(k) = E_P (1 − e^{k−ι})_+`.
    fn hockey_stick(&self, threshold: f64) -> f64 {
        let mut total = 0.0;
        for k in 0..self.means.len() {
            let Some((low, high)) = self.interval(k, threshold) else { continue };
            let product: f64 = self
                .means
                .iter()
                .zip(&self.log_masses)
                .map(|(mean, log_mass)| {
                    (log_mass + threshold).exp() * gaussian_mass(low, high, *mean)
                })
                .sum();
            total += self.log_masses[k].exp() * (gaussian_mass(low, high, self.means[k]) - product);
        }
        total.max(0.0)
    }
}

/// Steps away from `start` until `done` holds; `None` beyond any distance that matters.
fn expand(start: f64, sign: f64, done: impl Fn(f64) -> bool) -> Option<f64> {
    let mut step = 1.0;
    while step < 1e300 {
        if done(start + sign * step) {
            return Some(start + sign * step);
        }
        step *= 2.0;
    }
    None
}

/// The last point from `inside` towards `outside` at which `holds`.
fn refine(inside: f64, outside: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut good, mut bad) = (inside, outside);
    for _ in 0..200 {
        let middle = 0.5 * (good + bad);
        if middle == good || middle == bad {
            break;
        }
        if holds(middle) { good = middle } else { bad = middle }
    }
    good
}

/// Mass of `N(mean, 1)` on `(low, high)`, computed on the nearer tail.
fn gaussian_mass(low: f64, high: f64, mean: f64) -> f64 {
    let upper_tail = |y: f64| 0.5 * libm::erfc((y - mean) * std::f64::consts::FRAC_1_SQRT_2);
    if low > mean {
        upper_tail(low) - upper_tail(high)
    } else {
        let lower_tail = |y: f64| 0.5 * libm::erfc((mean - y) * std::f64::consts::FRAC_1_SQRT_2);
        if high < mean {
            lower_tail(high) - lower_tail(low)
        } else {
            1.0 - lower_tail(low) - upper_tail(high)
        }
    }
}

/// `H(k) = E_P (1 − e^{k−ι})_+` of the toy mechanism at `threshold = k`: the smallest `β` with `I^β <= k`.
///
/// `n` records (1 to 100), `sigma` in [0.001, 1000] relative to the replace-one sensitivity, `p` in (0, 1),
/// `threshold` any finite number (nats).
///
/// # Source
/// Ours; docs/theory/max-information.md (exact toy).
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let beta = dpbounds_bounds::max_information::toy::beta(1, 1.0, 0.5, 0.2)?;
/// assert!((beta.value.unwrap() / 0.097_947_253_138_322_37 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn beta(n: u64, sigma: f64, p: f64, threshold: f64) -> Result<Bound> {
    const HOCKEY_STICK: Quantity = Quantity { name: "failure_level", unit: "probability" };
    let toy = Toy::new(n, sigma, p)?;
    let value = toy.hockey_stick(domain::finite("threshold", threshold)?);
    Bound::exact(HOCKEY_STICK, value, ours("exact toy mechanism (docs/theory)"))
}

/// `max(0, I^β)` of the toy mechanism, exact up to rounding.
///
/// `n` records (1 to 100), `sigma` in [0.001, 1000] relative to the replace-one sensitivity, `p` in (0, 1),
/// failure level `β` of at least 1e-14 (below, the difference that defines it is lost to rounding).
///
/// # Source
/// Ours; docs/theory/max-information.md (exact toy).
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, toy};
/// let exact = toy::max_info(1, 1.0, 0.5, FailureLevel::from_beta(0.05)?)?;
/// assert!((exact.value.unwrap() / 0.327_127_953_465_658_3 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn max_info(n: u64, sigma: f64, p: f64, level: FailureLevel) -> Result<Bound> {
    let toy = Toy::new(n, sigma, p)?;
    let beta = level.probability();
    if beta < 1e-14 {
        return Err(BoundError::OutOfRange {
            parameter: "beta",
            value: Shown(beta),
            allowed: "[1e-14, 1) for the exact toy mechanism",
            remedy: "raise beta, or use the Gaussian bounds",
        });
    }
    let source = ours("exact toy mechanism (docs/theory)");
    if toy.hockey_stick(0.0) <= beta {
        return Bound::exact(MAX_INFORMATION, 0.0, source);
    }
    let mut high = 1.0;
    while toy.hockey_stick(high) > beta {
        high *= 2.0;
    }
    let value = bracket_positive(|k| toy.hockey_stick(k) <= beta, 0.0, high)
        .map_or(f64::NAN, |bracket| bracket.above);
    Bound::exact(MAX_INFORMATION, value, source)
}
