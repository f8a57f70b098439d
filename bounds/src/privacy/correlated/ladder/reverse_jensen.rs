//! L2R(ρ): the reverse order by Jensen's inequality with a free participation probability.

use super::kernel::{RAISE, hockey_stick, upper};
use crate::privacy::{Pair, participation_norm};
use crate::solve::{minimize, power_by_doubling};
use crate::special::log1p_excess;

/// The ratios ρ/r with which the search starts.
const RATIOS: [f64; 18] =
    [1e-3, 5e-3, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.5];

/// Upper bound on `H_{e^ε}(Q‖P)`, the **reverse** order only.
///
/// `min_ρ BW( ρ‖C1‖/σ, ε − ρ(1−ρ) tr G/(2σ²) − T KL(ρ‖r) )` over ρ in [0, 1], `G = C'C`. Every ρ is
/// valid; ρ = 0 gives `1 − e^ε (1−r)^T`. Useful where ε is large against the second argument's loss.
///
/// `epsilon` any real number (nats); result in [0, 1]. `O(log T)` for the sums, all with positive terms.
///
/// # Source
/// Ours; docs/theory/accounting.md (L2R).
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Pair, correlated::ladder::reverse_jensen};
/// let pair = Pair::new(0.01, 1.757, 0.8, 100)?;
/// assert!(reverse_jensen::delta(&pair, 4.0) < 1e-5);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[must_use]
pub fn delta(pair: &Pair, epsilon: f64) -> f64 {
    if epsilon.is_nan() {
        return 1.0;
    }
    if pair.steps() == 0 || pair.rate() == 0.0 {
        return hockey_stick(0.0, epsilon);
    }
    let Ok(norm) = participation_norm(pair.lambda(), pair.steps(), pair.steps()) else {
        return 1.0; // cannot happen: steps >= 1
    };
    let jensen = Jensen {
        steps: pair.horizon(),
        rate: pair.rate(),
        mean: norm * (1.0 + 2e-11) / pair.noise_multiplier(),
        half_trace: 0.5 * gram_trace(pair) * (1.0 + 1e-11) / pair.noise_multiplier().powi(2),
        epsilon,
    };
    if pair.rate() == 1.0 {
        return upper(hockey_stick(jensen.mean, epsilon));
    }
    let absent = jensen.steps * (-pair.rate()).ln_1p() * RAISE;
    let never = -(epsilon + absent - 1e-15 * (epsilon.abs() - absent)).exp_m1();
    let mut best = never.max(0.0);
    let (mut centre, mut at) = (f64::INFINITY, 0);
    for (index, ratio) in RATIOS.iter().enumerate() {
        let value = jensen.bound(ratio * pair.rate());
        if value < centre {
            (centre, at) = (value, index);
        }
    }
    best = best.min(centre);
    let low = (RATIOS[at.saturating_sub(1)] * pair.rate()).ln();
    let high = (RATIOS[(at + 1).min(RATIOS.len() - 1)] * pair.rate()).min(1.0).ln();
    // The logarithm keeps the slope where the bound is tiny.
    let objective = |log_rho: f64| jensen.bound(log_rho.exp().min(1.0)).max(1e-300).ln();
    if let Ok(found) = minimize(objective, low, high.max(low)) {
        best = best.min(found.value.exp() * (1.0 + 1e-12));
    }
    upper(best)
}

struct Jensen {
    steps: f64,
    rate: f64,
    mean: f64,
    half_trace: f64,
    epsilon: f64,
}

impl Jensen {
    /// 1 for a ρ that is not a probability.
    fn bound(&self, rho: f64) -> f64 {
        if !(rho > 0.0 && rho <= 1.0) {
            return 1.0;
        }
        let loss = rho * (1.0 - rho) * self.half_trace + self.steps * self.divergence(rho);
        let threshold = self.epsilon - loss * (1.0 + 1e-11) - 1e-14 * self.epsilon.abs();
        hockey_stick(rho * self.mean, threshold)
    }

    /// `KL(ρ‖r)` as `Σ p (z − log(1+z))` with `z = q/p − 1`, whose terms are non-negative.
    fn divergence(&self, rho: f64) -> f64 {
        let gap = self.rate - rho;
        let hit = rho * log1p_excess(gap / rho);
        if rho == 1.0 {
            -self.rate.ln()
        } else {
            hit + (1.0 - rho) * log1p_excess(-gap / (1.0 - rho))
        }
    }
}

/// `tr G = Σ_{k=1}^T Σ_{j<k} λ^{2j}` by doubling.
pub(super) fn gram_trace(pair: &Pair) -> f64 {
    if pair.lambda() == 0.0 {
        return pair.horizon();
    }
    let log_square = 2.0 * pair.lambda().ln();
    let one = Trace { count: 1.0, powers: 1.0, total: 1.0 };
    let join = |first: Trace, next: Trace| {
        let shift = (first.count * log_square).exp();
        Trace {
            count: first.count + next.count,
            powers: first.powers + shift * next.powers,
            total: first.total + next.count * first.powers + shift * next.total,
        }
    };
    power_by_doubling(pair.horizon(), join, one).total
}

/// `k`, `Σ_{j<k} λ^{2j}` and the sum of the latter over all shorter lengths and this one.
#[derive(Clone, Copy)]
struct Trace {
    count: f64,
    powers: f64,
    total: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_matches_a_direct_sum() {
        for lambda in [0.0, 1e-3, 0.5, 0.99, 0.9999, 0.999_999_9] {
            for steps in [1_u64, 2, 7, 1000, 30_001] {
                let pair = Pair::new(0.1, 1.0, lambda, steps).unwrap();
                let (mut power, mut row, mut total) = (1.0, 0.0, 0.0);
                for _ in 0..steps {
                    row += power;
                    power *= lambda * lambda;
                    total += row;
                }
                let value = gram_trace(&pair);
                assert!((value / total - 1.0).abs() < 1e-11, "{lambda} {steps}: {value} {total}");
            }
        }
    }
}
