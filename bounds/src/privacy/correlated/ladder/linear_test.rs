//! The linear test: a **lower** bound on δ from the one statistic that counts participations.

use super::kernel::{LOWER, RAISE};
use crate::domain;
use crate::error::Result;
use crate::privacy::{Order, Pair};
use crate::special::{Binomial, log_normal_cdf, normal_cdf};

/// Lower bound on δ of the pair at ε in the given order.
///
/// With `w = C^{-T} 1` the statistic `<w, x>` is `Bin(T, r) + N(0, s²)` under P and `N(0, s²)` under Q,
/// `s² = σ² ((T−1)(1−λ)² + 1)`. The bound is the hockey stick of these two laws at one threshold: any
/// threshold is valid and the best one, where the likelihood ratio is `e^{±ε}`, is used. Dropped
/// binomial masses count against the bound.
///
/// `epsilon` any real number (nats); result in [0, 1], rounded down. Exact for `T = 1`.
///
/// # Source
/// Ours; docs/theory/accounting.md (linear test).
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Order, Pair, correlated::ladder::linear_test};
/// let pair = Pair::new(0.2, 1.0, 0.5, 2)?;
/// let lower = linear_test::delta(&pair, 0.5, Order::Forward);
/// assert!((lower / 0.044_639_522_175_183 - 1.0).abs() < 1e-8);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[must_use]
pub fn delta(pair: &Pair, epsilon: f64, order: Order) -> f64 {
    Statistic::of(pair).map_or(0.0, |statistic| statistic.delta(epsilon, order))
}

/// Lower bound on ε of the pair at δ: no smaller ε can be guaranteed, in the worse of both orders.
///
/// The largest ε at which [`delta`] still exceeds `delta`, 0 if there is none. `delta` in (0, 1).
///
/// # Source
/// Ours; docs/theory/accounting.md (linear test).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for δ out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Pair, correlated::ladder::linear_test};
/// let pair = Pair::new(0.01, 1.0, 0.5, 1000)?;
/// let epsilon = linear_test::epsilon(&pair, 1e-5)?;
/// assert!(epsilon > 2.0 && epsilon < 4.0);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn epsilon(pair: &Pair, delta: f64) -> Result<f64> {
    let delta = domain::open_probability("delta", delta)?;
    let Some(statistic) = Statistic::of(pair) else { return Ok(0.0) };
    if !statistic.exceeds(delta, 0.0) {
        return Ok(0.0);
    }
    // Relative accuracy 1e-9 is plenty; the side that is refuted is returned.
    let (mut refuted, mut open) = (0.0, 1.0);
    while statistic.exceeds(delta, open) {
        refuted = open;
        open *= 2.0;
        if open > 1e300 {
            return Ok(refuted);
        }
    }
    while open - refuted > 1e-9 * open {
        let middle = 0.5 * (refuted + open);
        if statistic.exceeds(delta, middle) { refuted = middle } else { open = middle }
    }
    Ok(refuted)
}

/// The largest noise multiplier that the linear test refutes: with it, or less, (ε, δ) is violated.
///
/// `None` if no noise multiplier above 1e-100 is refuted, as for a rate of 0. `rate` in [0, 1], `lambda`
/// in [0, 1), `steps <= 2^53`, `epsilon >= 0` (nats), `delta` in (0, 1).
///
/// # Source
/// Ours; docs/theory/accounting.md (`k_lin`).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::correlated::ladder::linear_test;
/// let noise = linear_test::largest_refuted_noise(0.05, 0.9, 200, 2.0, 1e-5)?;
/// assert!((noise.unwrap() / 12.520_177 - 1.0).abs() < 2e-4);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn largest_refuted_noise(
    rate: f64,
    lambda: f64,
    steps: u64,
    epsilon: f64,
    delta: f64,
) -> Result<Option<f64>> {
    let pair = Pair::new(rate, 1.0, lambda, steps)?;
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let delta = domain::open_probability("delta", delta)?;
    let Some(statistic) = Statistic::of(&pair) else { return Ok(None) };
    let holds = |noise: f64| {
        let scaled = statistic.with_noise(noise);
        !scaled.exceeds(delta, epsilon)
    };
    // Doubling and bisection in the logarithm.
    let (mut refuted, mut met) = (1.0, 1.0);
    if holds(1.0) {
        while holds(refuted) {
            met = refuted;
            refuted /= 4.0;
            if refuted < 1e-100 {
                return Ok(None);
            }
        }
    } else {
        while !holds(met) {
            refuted = met;
            met *= 4.0;
            if met > 1e150 {
                return Ok(Some(refuted));
            }
        }
    }
    while met / refuted - 1.0 > 1e-10 {
        let middle = (refuted * met).sqrt();
        if holds(middle) { met = middle } else { refuted = middle }
    }
    Ok(Some(refuted))
}

/// `Bin(T, r) + N(0, s²)` against `N(0, s²)`.
struct Statistic {
    window: Window,
    /// `s` at noise multiplier 1, and `s`.
    unit: f64,
    spread: f64,
}

/// The binomial masses that matter, and bounds of the rest.
pub(super) struct Window {
    /// Count and mass.
    pub(super) masses: Vec<(f64, f64)>,
    /// Bound of the mass of smaller counts.
    pub(super) below: f64,
    /// Bound of the mass of larger counts.
    pub(super) above: f64,
}

impl Window {
    pub(super) fn of(pair: &Pair) -> Option<Self> {
        let (trials, rate) = (pair.horizon(), pair.rate());
        if trials == 0.0 || rate == 0.0 {
            return None;
        }
        if rate == 1.0 {
            return Some(Self { masses: vec![(trials, 1.0)], below: 0.0, above: 0.0 });
        }
        const LEAST: f64 = -92.0; // log of a mass near 1e-40
        let law = Binomial::new(trials, rate);
        let mode = ((trials + 1.0) * rate).floor().clamp(0.0, trials);
        let mut masses = Vec::new();
        let mut below = 0.0;
        let mut k = mode;
        loop {
            let log = law.log_mass(k);
            if log < LEAST && k < mode {
                // Masses fall at least geometrically from here; the crude count is enough.
                below = trials * log.exp();
                break;
            }
            masses.push((k, log.exp()));
            if k == 0.0 {
                break;
            }
            k -= 1.0;
        }
        masses.reverse();
        let mut above = 0.0;
        k = mode + 1.0;
        while k <= trials {
            let log = law.log_mass(k);
            if log < LEAST {
                above = trials * log.exp();
                break;
            }
            masses.push((k, log.exp()));
            k += 1.0;
        }
        Some(Self { masses, below: below * 1.01, above: above * 1.01 })
    }
}

/// `s²` over `σ²`: the squared norm of `w`.
pub(super) fn squared_weight(pair: &Pair) -> f64 {
    (pair.horizon() - 1.0) * (1.0 - pair.lambda()).powi(2) + 1.0
}

impl Statistic {
    fn of(pair: &Pair) -> Option<Self> {
        let window = Window::of(pair)?;
        // More noise is a weaker test, so raising s is safe.
        let unit = squared_weight(pair).sqrt() * RAISE;
        Some(Self { window, unit, spread: unit * pair.noise_multiplier() })
    }

    fn with_noise(&self, noise: f64) -> Scaled<'_> {
        Scaled { window: &self.window, spread: self.unit * noise }
    }

    fn delta(&self, epsilon: f64, order: Order) -> f64 {
        Scaled { window: &self.window, spread: self.spread }.delta(epsilon, order)
    }

    fn exceeds(&self, delta: f64, epsilon: f64) -> bool {
        Scaled { window: &self.window, spread: self.spread }.exceeds(delta, epsilon)
    }
}

struct Scaled<'a> {
    window: &'a Window,
    spread: f64,
}

impl Scaled<'_> {
    fn exceeds(&self, delta: f64, epsilon: f64) -> bool {
        Order::ALL.iter().any(|&order| self.delta(epsilon, order) > delta)
    }

    fn delta(&self, epsilon: f64, order: Order) -> f64 {
        if epsilon.is_nan() || self.spread > 1e150 {
            return 0.0;
        }
        let threshold = self.threshold(if order == Order::Forward { epsilon } else { -epsilon });
        self.at_threshold(threshold, epsilon, order)
    }

    /// The bound at any threshold, rounded down.
    fn at_threshold(&self, threshold: f64, epsilon: f64, order: Order) -> f64 {
        let s = self.spread;
        let mass = |toward: f64| -> f64 {
            let part = |&(k, p): &(f64, f64)| p * normal_cdf(toward * (k - threshold) / s);
            self.window.masses.iter().map(part).sum()
        };
        let (gain, loss) = if order == Order::Forward {
            (mass(1.0), (epsilon + log_normal_cdf(-threshold / s)).exp())
        } else {
            // Dropped counts enter with e^ε: smaller ones at most like count 0, larger ones like the
            // largest kept.
            let last = self.window.masses.last().map_or(0.0, |&(k, _)| k);
            let dropped = self.window.below * normal_cdf(threshold / s)
                + self.window.above * normal_cdf((threshold - last) / s);
            let kept = mass(-1.0) + dropped;
            let loss = if kept > 0.0 { (epsilon + kept.ln()).exp() } else { 0.0 };
            (normal_cdf(threshold / s), loss)
        };
        // An underflow must not turn into a gain: below 1e-290 nothing is claimed.
        if !(gain > 1e-290) {
            return 0.0;
        }
        let rounding = 1e-12 * (1.0 + epsilon.abs() * 1e-3) * (gain + loss);
        let value = gain - loss - rounding;
        if value > 0.0 { (value * LOWER).min(1.0) } else { 0.0 }
    }

    /// Where `log Σ p_k e^{(kx − k²/2)/s²} = level`, by Newton's method on a convex increasing function;
    /// far to the left if the level is below its infimum. Accuracy only affects sharpness.
    fn threshold(&self, level: f64) -> f64 {
        let square = self.spread * self.spread;
        let first = self.window.masses.first().map_or(0.0, |&(k, _)| k);
        let mut x = {
            // Right of the root: one component alone reaches the level there.
            let (k, p) = self.window.masses.iter().fold((0.0, 0.0), |best, &(k, p)| {
                if p > best.1 && k > 0.0 { (k, p) } else { best }
            });
            if p == 0.0 {
                return f64::NEG_INFINITY;
            }
            (level - p.ln()) * square / k + k / 2.0
        };
        let floor = -40.0 * self.spread - 1.0;
        for _ in 0..100 {
            let (value, slope) = self.log_ratio(x, square);
            if !(slope > 0.0) || (first == 0.0 && !value.is_finite()) {
                break;
            }
            let step = (value - level) / slope;
            if !step.is_finite() {
                break;
            }
            x -= step;
            if x < floor {
                return floor;
            }
            if step.abs() < 1e-9 * self.spread {
                break;
            }
        }
        x
    }

    fn log_ratio(&self, x: f64, square: f64) -> (f64, f64) {
        let exponent = |k: f64| k * (x - k / 2.0) / square;
        let log_term = |&(k, p): &(f64, f64)| p.ln() + exponent(k);
        let largest = self.window.masses.iter().map(log_term).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut weighted) = (0.0, 0.0);
        for mass in &self.window.masses {
            let term = (log_term(mass) - largest).exp();
            sum += term;
            weighted += term * mass.0;
        }
        (largest + sum.ln(), weighted / sum / square)
    }
}
