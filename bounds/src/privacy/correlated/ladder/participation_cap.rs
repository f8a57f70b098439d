//! L1: the best cap on the number of participations.

use super::kernel::{hockey_stick, upper};
use crate::privacy::{Pair, participation_norm};
use crate::special::Binomial;

/// Upper bound on δ of the pair at ε, valid in both orders.
///
/// `min_k P(Bin(T,r) > k) + P(Bin(T,r) <= k) BW(norm_k/σ, ε)`, where `norm_k` is the largest norm of the
/// whitened participation with at most `k` ones ([`participation_norm`]) and BW the Gaussian hockey
/// stick. No amplification by sampling beyond the cap.
///
/// `epsilon` any real number (nats); result in [0, 1]. `T` up to 2^53: a bisection finds where tail and
/// Gaussian part cross, a local search does the rest, and every `k` is valid.
///
/// # Source
/// Ours; docs/theory/accounting.md (L1).
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Pair, correlated::ladder::participation_cap};
/// let pair = Pair::new(0.01, 19.632_84, 0.0, 1000)?;
/// let delta = participation_cap::delta(&pair, 1.0);
/// assert!((delta / 1e-5 - 1.0).abs() < 1e-4);
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
    let all = gaussian_part(pair, epsilon, pair.horizon());
    if pair.rate() == 1.0 {
        return upper(all);
    }
    let law = Binomial::new(pair.horizon(), pair.rate());
    let bound = |k: f64| {
        if k >= pair.horizon() {
            return all;
        }
        let tail = upper_tail(&law, pair, k);
        tail + (1.0 - tail).max(0.0) * gaussian_part(pair, epsilon, k)
    };
    // Below the mean the tail alone is about one half or more.
    let start = (pair.horizon() * pair.rate()).floor().min(pair.horizon());
    let (mut low, mut high) = (start, pair.horizon());
    while high - low > 1.0 {
        let middle = low + ((high - low) / 2.0).floor();
        let tail = upper_tail(&law, pair, middle);
        if tail > gaussian_part(pair, epsilon, middle) { low = middle } else { high = middle }
    }
    let mut best = (high, bound(high));
    let mut stride = ((pair.horizon() - start) / 4.0).floor().max(1.0);
    loop {
        let mut moved = false;
        for candidate in [best.0 - stride, best.0 + stride] {
            if candidate < start || candidate > pair.horizon() {
                continue;
            }
            let value = bound(candidate);
            if value < best.1 {
                best = (candidate, value);
                moved = true;
                break;
            }
        }
        if !moved {
            if stride == 1.0 {
                break;
            }
            stride = (stride / 2.0).floor();
        }
    }
    upper(best.1.min(all))
}

/// `BW(norm_k/σ, ε)`, the norm raised by its evaluation error.
fn gaussian_part(pair: &Pair, epsilon: f64, k: f64) -> f64 {
    if k == 0.0 {
        return hockey_stick(0.0, epsilon);
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count up to 2^53
    let norm = participation_norm(pair.lambda(), pair.steps(), k as u64);
    // An error cannot occur for 1 <= k <= T; 1 is valid all the same.
    norm.map_or(1.0, |norm| hockey_stick(norm * (1.0 + 2e-11) / pair.noise_multiplier(), epsilon))
}

/// `P(Bin(T,r) > k)` for `k` not below the mean by more than 1, rounded up.
fn upper_tail(law: &Binomial, pair: &Pair, k: f64) -> f64 {
    let (trials, odds) = (pair.horizon(), pair.rate() / (1.0 - pair.rate()));
    let mut j = k + 1.0;
    if j > trials {
        return 0.0;
    }
    let (mut sum, mut term) = (1.0, 1.0);
    loop {
        let ratio = (trials - j) / (j + 1.0) * odds;
        term *= ratio;
        sum += term;
        j += 1.0;
        // The ratios fall, so the rest is at most a geometric series.
        if ratio < 1.0 && term * ratio / (1.0 - ratio) < 1e-16 * sum {
            break;
        }
        if j >= trials {
            break;
        }
    }
    (law.log_mass(k + 1.0).exp() * sum * (1.0 + 1e-11) + 1e-305).min(1.0)
}
