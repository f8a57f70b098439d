//! What the moment recursion may lose below the smallest numbers of the arithmetic.
//!
//! In every step, mass below [`FLOOR`] times the whole may be flushed to zero or left out of a test
//! for convergence. Each such loss is worth at most the largest value that a unit of mass in any one
//! state can grow to, which a backward recursion gives.

use super::chain::Chain;
use super::moments::{FLOOR, Weights, follow};

/// What bounding the growth by its last value may add to the logarithm.
const SETTLED: f64 = 1.0;

/// A piecewise linear function of the step, by its corners.
#[derive(Default)]
pub(super) struct Trace {
    corners: Vec<(f64, f64)>,
}

impl Trace {
    pub(super) fn push(&mut self, step: f64, value: f64) {
        self.corners.push((step, value));
    }

    fn at(&self, step: f64) -> f64 {
        let above = self.corners.partition_point(|(corner, _)| *corner < step);
        let above = above.min(self.corners.len() - 1);
        let (right, high) = self.corners[above];
        if above == 0 || right <= step {
            return high;
        }
        let (left, low) = self.corners[above - 1];
        low + (high - low) * (step - left) / (right - left)
    }
}

/// Bound on the lost share of `E S^s` at the real exponent `s`.
pub(super) fn lost_share(chain: &Chain, exponent: f64) -> Option<f64> {
    let mut totals = Trace::default();
    totals.push(0.0, 0.0);
    let log_moment = follow(chain, exponent, |step, log_total| totals.push(step, log_total))?;
    let values = largest_values(chain, exponent);
    let horizon = chain.pair.horizon();
    let loss_at = |step: f64| {
        let step = step.clamp(0.0, horizon - 1.0);
        totals.at(step).max(totals.at(step + 1.0)) + values.at(horizon - 1.0 - step)
    };
    let steps = totals.corners.iter().map(|(step, _)| *step);
    let corners = steps.chain(values.corners.iter().map(|(after, _)| horizon - 1.0 - after));
    let worst =
        corners.flat_map(|step| [step - 1.0, step].map(loss_at)).fold(f64::NEG_INFINITY, f64::max);
    #[allow(clippy::cast_precision_loss)]
    let losses = chain.states() as f64 * horizon;
    let share = losses * FLOOR * (worst - log_moment).exp();
    (!share.is_nan()).then_some(share)
}

/// For `k` steps after it, the logarithm of the largest value of a unit of mass before or after the
/// update of a step.
fn largest_values(chain: &Chain, exponent: f64) -> Trace {
    let mut future = vec![1.0; chain.states()];
    let mut log_scale = 0.0;
    let mut trace = Trace::default();
    let mut after = 0.0;
    for phase in chain.phases.iter().rev() {
        let weights = Weights::new(&phase.step, exponent, 0.0, 0.0, 0);
        let (idle, joined) = weights.real();
        let mut left = phase.repeat;
        while left > 0 {
            let updated = chain.after_update(&phase.step, Some(idle), joined, &future);
            let next = chain.before_move(&chain.positions.kernel, &updated);
            let largest = updated.iter().chain(&future).copied().fold(0.0, f64::max);
            let value = log_scale + largest.ln();
            trace.push(after, value);
            let (low, high) = growth(&next, &future);
            let scale = next.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            future = next;
            future.iter_mut().for_each(|value| *value /= scale);
            log_scale += scale.ln();
            left -= 1;
            after += 1.0;
            #[allow(clippy::cast_precision_loss)]
            let remaining = left as f64;
            if left > 1 && (high / low).ln() * remaining < SETTLED {
                trace.push(after, value + high.ln());
                trace.push(after + remaining - 1.0, value + remaining * high.ln());
                log_scale += remaining * high.ln();
                after += remaining;
                left = 0;
            }
        }
    }
    trace
}

/// Smallest and largest growth over the states whose value matters.
fn growth(next: &[f64], future: &[f64]) -> (f64, f64) {
    let floor = 1e-200 * next.iter().copied().fold(0.0, f64::max);
    let counted = next.iter().zip(future).filter(|(new, _)| **new > floor);
    let ratios = counted.map(|(new, old)| if *old > 0.0 { new / old } else { f64::INFINITY });
    ratios.fold((f64::INFINITY, 0.0), |(low, high), ratio| (low.min(ratio), high.max(ratio)))
}
