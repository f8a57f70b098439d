//! L2: moments of the likelihood ratio by independent replicas of the participation.

use super::chain::{Chain, block_length};
use super::kernel::{hockey_stick, upper};
use crate::privacy::Pair;
use crate::special::{Binomial, hockey_stick_exponent};

/// Largest order of the search.
const LARGEST_ORDER: u32 = 120;

/// Upper bound on `log E_Q (dP/dQ)^α` for a whole order `α >= 2`; `+inf` where none was found.
///
/// `log Z_α + α log W` by Harris' inequality: `Z_α` has the attraction of `α` independent copies of the
/// participation among all of them and, with it, to themselves; `W` is the expected self-repulsion of
/// one copy. Both by a backward recursion over a grid of the accumulated participation, rounded up in
/// `Z_α` and down in `W`. λ = 0 gives the moments of the subsampled Gaussian exactly.
///
/// `order = 0` or 1 gives 0, which is exact.
///
/// # Source
/// Ours; docs/theory/accounting.md (L2).
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Pair, correlated::ladder::replica};
/// let pair = Pair::new(0.3, 1.5, 0.5, 4)?;
/// let moment = replica::log_moment(&pair, 2);
/// assert!(moment > 0.572_276 && moment < 0.92); // exact value below
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[must_use]
pub fn log_moment(pair: &Pair, order: u32) -> f64 {
    Moments::of(pair, FINE).log_moment(order)
}

/// Upper bound on `H_{e^ε}(P‖Q)`, the **forward** order only.
///
/// `min_α E_Q(dP/dQ)^α e^{−(α−1)ε} (1/α)(1−1/α)^{α−1}` over whole `α` in 2..=120 by local search; every
/// order is valid. `epsilon` any real number (nats); result in [0, 1]. Milliseconds for λ up to 0.9, about
/// a second at 0.99.
///
/// # Source
/// Ours; docs/theory/accounting.md (L2), conversion of Canonne, Kamath and Steinke (2020).
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Pair, correlated::ladder::replica};
/// let pair = Pair::new(0.02, 0.6, 0.2, 2)?;
/// let delta = replica::delta(&pair, 2.0);
/// assert!(delta > 7.98e-5 && delta < 4.2e-3);
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
    // The search runs on a coarse grid, from below: small orders are cheap and the first to be finite.
    let coarse = climb(&Moments::of(pair, COARSE), epsilon, 2, 1, 16);
    let best = climb(&Moments::of(pair, FINE), epsilon, coarse.0, 1, 1);
    let padding = 1e-12 * (1.0 + best.1.abs() + f64::from(best.0) * epsilon.abs());
    upper((best.1 + padding).min(0.0).exp())
}

/// A local search over the orders: (order, `log δ`). Strides double up to `longest` while they help.
fn climb(moments: &Moments, epsilon: f64, from: u32, first: u32, longest: u32) -> (u32, f64) {
    let mut known: Vec<Option<f64>> = vec![None; LARGEST_ORDER as usize + 1];
    let mut log_delta = |order: u32| -> f64 {
        if !(2..=LARGEST_ORDER).contains(&order) {
            return f64::INFINITY;
        }
        *known[order as usize].get_or_insert_with(|| {
            let excess = f64::from(order - 1);
            moments.log_moment(order) - excess * epsilon + hockey_stick_exponent(excess)
        })
    };
    let mut best = (from, log_delta(from));
    let mut stride = first;
    loop {
        let mut moved = false;
        for candidate in [best.0 + stride, best.0.saturating_sub(stride)] {
            let value = log_delta(candidate);
            if value < best.1 {
                best = (candidate, value);
                moved = true;
                break;
            }
        }
        if moved {
            stride = (stride * 2).min(longest);
        } else if stride > 1 {
            stride /= 2;
        } else {
            return best;
        }
    }
}

/// What does not depend on the order.
struct Moments<'a> {
    pair: &'a Pair,
    weight: f64,
    block: f64,
    repulsion: f64,
    spacing: Spacing,
}

/// Spacing of the grid states and the smallest of them.
#[derive(Clone, Copy)]
struct Spacing {
    ratio: f64,
    floor: f64,
}

const FINE: Spacing = Spacing { ratio: 0.97, floor: 5e-3 };
const COARSE: Spacing = Spacing { ratio: 0.9, floor: 3e-2 };

impl<'a> Moments<'a> {
    fn of(pair: &'a Pair, spacing: Spacing) -> Self {
        let weight = pair.noise_multiplier().powi(-2);
        let block = block_length(pair, 0.02);
        let mut moments = Self { pair, weight, block, repulsion: 0.0, spacing };
        let degenerate = pair.steps() == 0 || pair.rate() == 0.0 || pair.rate() == 1.0;
        if !degenerate {
            moments.repulsion = moments.chain(1.0).repulsion(weight * (1.0 - 1e-15));
        }
        moments
    }

    fn chain(&self, replicas: f64) -> Chain<'_> {
        let (pair, block) = (self.pair, self.block);
        let Spacing { ratio, floor } = self.spacing;
        Chain { pair, replicas, block, ratio, floor }
    }

    fn log_moment(&self, order: u32) -> f64 {
        let (pair, replicas) = (self.pair, f64::from(order));
        if order < 2 || pair.steps() == 0 || pair.rate() == 0.0 {
            return 0.0;
        }
        if !self.weight.is_finite() {
            return f64::INFINITY;
        }
        if pair.rate() == 1.0 {
            let Ok(norm) =
                crate::privacy::participation_norm(pair.lambda(), pair.steps(), pair.steps())
            else {
                return f64::INFINITY;
            };
            return 0.5 * replicas * (replicas - 1.0) * norm * norm * self.weight * (1.0 + 1e-10);
        }
        if pair.lambda() == 0.0 {
            return self.independent(replicas);
        }
        let attraction = self.chain(replicas).attraction(self.weight * (1.0 + 1e-15), 0.0);
        attraction + replicas * self.repulsion
    }

    /// `T log1p Σ_{k>=2} P(Bin(α,r) = k) expm1(k(k−1)/(2σ²))`.
    fn independent(&self, replicas: f64) -> f64 {
        let law = Binomial::new(replicas, self.pair.rate());
        let (mut sum, mut k) = (0.0, 2.0);
        let mut log_large = f64::NEG_INFINITY;
        while k <= replicas {
            let exponent = 0.5 * k * (k - 1.0) * self.weight;
            if exponent > 500.0 {
                log_large = crate::special::log_add_exp(log_large, law.log_mass(k) + exponent);
            } else {
                sum += law.log_mass(k).exp() * exponent.exp_m1();
            }
            k += 1.0;
        }
        let step = crate::special::log_add_exp(f64::ln_1p(sum), log_large);
        let step = if log_large == f64::NEG_INFINITY { f64::ln_1p(sum) } else { step };
        self.pair.horizon() * step * (1.0 + 1e-11)
    }
}
