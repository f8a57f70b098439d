//! A lower bound on δ for fixed-size batches under zero-out: `2 Bin + N` against `Bin + N`.

use super::kernel::{LOWER, RAISE};
use super::linear_test::{Window, squared_weight};
use crate::privacy::{Order, Pair};
use crate::solve::minimize;
use crate::special::normal_cdf;

/// Lower bound on δ of a run with fixed-size batches under **zero-out** at ε, in the given order.
///
/// All other records have gradient −u, the record has +u or nothing: every draw displaces a −u, so the
/// counting statistic of the linear test has mean `2 Bin(T, r)` with the record and `Bin(T, r)` without
/// it. [`Order::Forward`] has the record in the first run. The bound is the hockey stick at the best
/// threshold found; any threshold is valid.
///
/// `pair` carries `r = B/n`, `σ = κ` (noise on the sum over the clipping norm), λ and T. `epsilon` any
/// real number (nats); result in [0, 1], rounded down.
///
/// # Source
/// Ours; docs/theory/accounting.md (witness W2; the counterexample to amplification with sensitivity 1).
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Order, Pair, correlated::ladder::fixed_zero_out};
/// let pair = Pair::new(0.01, 1.0, 0.0, 1)?;
/// let lower = fixed_zero_out::delta(&pair, 1.0, Order::Forward);
/// assert!((lower / 1.692_727_274_7e-4 - 1.0).abs() < 1e-6);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[must_use]
pub fn delta(pair: &Pair, epsilon: f64, order: Order) -> f64 {
    let Some(window) = Window::of(pair) else { return 0.0 };
    let spread = squared_weight(pair).sqrt() * RAISE * pair.noise_multiplier();
    if epsilon.is_nan() || spread > 1e150 || epsilon > 700.0 {
        return 0.0;
    }
    let witness = Witness { window, spread, epsilon, order };
    let last = witness.window.masses.last().map_or(0.0, |&(k, _)| k);
    // Thresholds worth trying, and then the best bracket again.
    let (low, high) = (-12.0 * spread, 2.0 * last + 12.0 * spread);
    let count = 60;
    let at = |index: i32| low + (high - low) * f64::from(index) / f64::from(count);
    let mut best = (0, 0.0);
    for index in 0..=count {
        let value = witness.bound(at(index));
        if value > best.1 {
            best = (index, value);
        }
    }
    let around = (at(best.0 - 1), at(best.0 + 1));
    let width = spread.min(high - low);
    let refined =
        minimize(|x| -witness.bound(x * width).max(0.0), around.0 / width, around.1 / width);
    refined.map_or(best.1, |found| best.1.max(-found.value)).clamp(0.0, 1.0)
}

struct Witness {
    window: Window,
    spread: f64,
    epsilon: f64,
    order: Order,
}

impl Witness {
    fn bound(&self, threshold: f64) -> f64 {
        let s = self.spread;
        let (toward, winner, loser) = match self.order {
            Order::Forward => (1.0, 2.0, 1.0),
            Order::Reverse => (-1.0, 1.0, 2.0),
        };
        let mass = |multiple: f64| -> f64 {
            let part =
                |&(k, p): &(f64, f64)| p * normal_cdf(toward * (multiple * k - threshold) / s);
            self.window.masses.iter().map(part).sum()
        };
        let gain = mass(winner);
        // Dropped counts may all fall into the event of the subtracted law.
        let loss = self.epsilon.exp() * (mass(loser) + self.window.below + self.window.above);
        let value = gain - loss - 1e-12 * (1.0 + self.epsilon.abs() * 1e-3) * (gain + loss);
        if gain > 1e-290 && value > 0.0 { value * LOWER } else { 0.0 }
    }
}
