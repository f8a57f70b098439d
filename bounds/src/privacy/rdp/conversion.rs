//! From RDP curves to (ε, δ).

use super::{fixed_size::Curve, poisson::log_moment};
use crate::domain;
use crate::error::Result;
use crate::round::round_up;

/// Largest order that the searches try.
const LARGEST_ORDER: f64 = 16_384.0;

/// `D + log((α−1)/α) − (log δ + log α)/(α−1)` for `D = ε(α)`, raised by the rounding of its parts.
fn converted_epsilon(order: f64, divergence: f64, log_delta: f64) -> f64 {
    let (excess, log_order) = (order - 1.0, order.ln());
    let value = divergence + (-1.0 / order).ln_1p() - (log_delta + log_order) / excess;
    let parts = divergence + 1.0 + (log_order - log_delta) / excess;
    let raised = value + 1e-15 * parts;
    if raised.is_nan() { f64::INFINITY } else { raised }
}

/// The same condition solved for `log δ`, raised likewise.
fn converted_log_delta(order: f64, divergence: f64, epsilon: f64) -> f64 {
    let excess = order - 1.0;
    let value = excess * (divergence - epsilon + (-1.0 / order).ln_1p()) - order.ln();
    let raised = value + 1e-15 * (excess * (divergence + epsilon) + 64.0);
    if raised.is_nan() { 0.0 } else { raised.min(0.0) }
}

/// The smallest ε that an RDP curve gives at δ; every point of the curve is valid, the best one counts.
///
/// `ε = D + log((α−1)/α) − (log δ + log α)/(α−1)`, minimised over the points `(α, D)`, not below 0 and
/// rounded up.
///
/// `curve`: pairs of an order `α > 1` and the RDP `D >= 0` (nats) of **all** steps together; `+inf` is
/// allowed. `delta` in [0, 1]: 0 gives `+inf`, 1 gives 0. An empty curve gives `+inf`.
///
/// # Source
/// Canonne, Kamath and Steinke (2020), Proposition 12.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::rdp;
/// let curve = (2..60).map(|order| (f64::from(order), 0.02 * f64::from(order)));
/// let epsilon = rdp::epsilon_from_curve(curve, 1e-5)?;
/// assert!(epsilon > 0.66 && epsilon < 0.9);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn epsilon_from_curve(curve: impl IntoIterator<Item = (f64, f64)>, delta: f64) -> Result<f64> {
    let log_delta = domain::probability("delta", delta)?.ln();
    let mut best = f64::INFINITY;
    for (order, divergence) in curve {
        check_point(order, divergence)?;
        best = best.min(converted_epsilon(order, divergence, log_delta));
    }
    Ok(if delta == 1.0 { 0.0 } else { round_up(best.max(0.0)) })
}

/// The smallest δ that an RDP curve gives at ε, rounded up; see [`epsilon_from_curve`].
///
/// `δ = exp((α−1)(D − ε)) (1 − 1/α)^{α−1}/α`. `epsilon >= 0` (nats). An empty curve gives 1.
///
/// # Source
/// Canonne, Kamath and Steinke (2020), Proposition 12.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::rdp;
/// let delta = rdp::delta_from_curve([(8.0, 0.2), (16.0, 0.4)], 1.5)?;
/// assert!(delta > 1e-9 && delta < 1e-5);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn delta_from_curve(curve: impl IntoIterator<Item = (f64, f64)>, epsilon: f64) -> Result<f64> {
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let mut best = 0.0_f64;
    for (order, divergence) in curve {
        check_point(order, divergence)?;
        best = best.min(converted_log_delta(order, divergence, epsilon));
    }
    Ok(outward(best))
}

fn check_point(order: f64, divergence: f64) -> Result<()> {
    domain::order_minus_one("order", order)?;
    if divergence != f64::INFINITY {
        domain::non_negative("divergence", divergence)?;
    }
    Ok(())
}

/// `e^x` for the logarithm of a δ, rounded up and never below 1e-300.
fn outward(log_delta: f64) -> f64 {
    (log_delta.exp() * (1.0 + 1e-12 * (1.0 - log_delta.max(-1e3)))).clamp(1e-300, 1.0)
}

/// ε of `steps` Poisson-subsampled Gaussian steps at δ through RDP, rounded up.
///
/// A proven bound for add/remove and zero-out, typically 1 to 1.5 times the exact ε, in microseconds.
/// The best order is sought among whole orders up to 16384 and, where it is small, between them.
///
/// `sampling_rate` in [0, 1], `noise_multiplier >= 0` (noise over sensitivity), `steps <= 2^53`, `delta`
/// in [0, 1]. No steps or a rate of 0 give 0; otherwise no noise or `delta = 0` gives `+inf`.
///
/// # Source
/// Mironov, Talwar and Zhang (2019) with Canonne, Kamath and Steinke (2020); docs/theory/accounting.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::rdp;
/// let epsilon = rdp::poisson_epsilon(0.01, 1.0, 1000, 1e-5)?;
/// assert!(epsilon > 1.828 && epsilon < 2.2);
/// assert_eq!(rdp::poisson_epsilon(0.01, 1.0, 0, 1e-5)?, 0.0);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn poisson_epsilon(
    sampling_rate: f64,
    noise_multiplier: f64,
    steps: u64,
    delta: f64,
) -> Result<f64> {
    let run = Run::new(sampling_rate, noise_multiplier, steps)?;
    run.epsilon(delta, |order| log_moment(run.rate, run.sigma, order), true)
}

/// δ of `steps` Poisson-subsampled Gaussian steps at ε through RDP, rounded up.
///
/// Arguments as in [`poisson_epsilon`], `epsilon >= 0` (nats). Without noise the result is
/// `1 − (1−q)^T`, the probability that the record takes part at all.
///
/// # Source
/// Mironov, Talwar and Zhang (2019) with Canonne, Kamath and Steinke (2020); docs/theory/accounting.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::rdp;
/// let epsilon = rdp::poisson_epsilon(0.01, 1.0, 1000, 1e-5)?;
/// assert!((rdp::poisson_delta(0.01, 1.0, 1000, epsilon)? / 1e-5 - 1.0).abs() < 1e-3);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn poisson_delta(
    sampling_rate: f64,
    noise_multiplier: f64,
    steps: u64,
    epsilon: f64,
) -> Result<f64> {
    let run = Run::new(sampling_rate, noise_multiplier, steps)?;
    run.delta(epsilon, |order| log_moment(run.rate, run.sigma, order), true)
}

/// ε of `steps` Gaussian steps on fixed-size batches under replace-one at δ through RDP, rounded up.
///
/// Uses the curve of [`super::fixed_size_thm27`]; `noise_multiplier = κ/2`. Other arguments and
/// degenerate cases as in [`poisson_epsilon`].
///
/// # Source
/// Wang, Balle and Kasiviswanathan (2019) with Canonne, Kamath and Steinke (2020).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// // κ = 2 on the sum of gradients of norm 1.
/// let epsilon = dpbounds_bounds::privacy::rdp::fixed_size_epsilon(0.01, 1.0, 1000, 1e-5)?;
/// assert!(epsilon > 3.5 && epsilon < 3.6);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn fixed_size_epsilon(
    sampling_rate: f64,
    noise_multiplier: f64,
    steps: u64,
    delta: f64,
) -> Result<f64> {
    let run = Run::new(sampling_rate, noise_multiplier, steps)?;
    let mut curve = Curve::checked(sampling_rate, noise_multiplier, true)?;
    run.epsilon(delta, |order| run.at_most_gaussian(order, curve.log_moment(order)), false)
}

/// δ of `steps` Gaussian steps on fixed-size batches under replace-one at ε through RDP, rounded up.
///
/// Arguments as in [`fixed_size_epsilon`], `epsilon >= 0` (nats).
///
/// # Source
/// Wang, Balle and Kasiviswanathan (2019) with Canonne, Kamath and Steinke (2020).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let delta = dpbounds_bounds::privacy::rdp::fixed_size_delta(0.01, 1.0, 1000, 3.6)?;
/// assert!(delta > 1e-6 && delta < 1e-5);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn fixed_size_delta(
    sampling_rate: f64,
    noise_multiplier: f64,
    steps: u64,
    epsilon: f64,
) -> Result<f64> {
    let run = Run::new(sampling_rate, noise_multiplier, steps)?;
    let mut curve = Curve::checked(sampling_rate, noise_multiplier, true)?;
    run.delta(epsilon, |order| run.at_most_gaussian(order, curve.log_moment(order)), false)
}

/// The checked arguments of a run.
#[derive(Clone, Copy)]
struct Run {
    rate: f64,
    sigma: f64,
    steps: f64,
}

impl Run {
    fn new(rate: f64, sigma: f64, steps: u64) -> Result<Self> {
        Ok(Self {
            rate: domain::probability("sampling_rate", rate)?,
            sigma: domain::non_negative("noise_multiplier", sigma)?,
            steps: if steps == 0 { 0.0 } else { domain::count("steps", steps)? },
        })
    }

    /// Rényi divergences are quasi-convex, so sampling never does worse than the full batch.
    fn at_most_gaussian(&self, order: f64, log_moment: f64) -> f64 {
        log_moment.min(round_up(order * (order - 1.0) / 2.0 / self.sigma / self.sigma))
    }

    fn never_exposed(&self) -> bool {
        self.steps == 0.0 || self.rate == 0.0
    }

    fn epsilon(
        &self,
        delta: f64,
        mut log_moment: impl FnMut(f64) -> f64,
        between: bool,
    ) -> Result<f64> {
        let log_delta = domain::probability("delta", delta)?.ln();
        if self.never_exposed() || delta == 1.0 {
            return Ok(0.0);
        }
        if self.sigma == 0.0 || delta == 0.0 {
            return Ok(f64::INFINITY);
        }
        let best = smallest_over_orders(
            |order| {
                let divergence = self.steps * log_moment(order) / (order - 1.0);
                converted_epsilon(order, divergence, log_delta)
            },
            between,
        );
        Ok(round_up(round_up(best.max(0.0))))
    }

    fn delta(
        &self,
        epsilon: f64,
        mut log_moment: impl FnMut(f64) -> f64,
        between: bool,
    ) -> Result<f64> {
        let epsilon = domain::non_negative("epsilon", epsilon)?;
        if self.never_exposed() {
            return Ok(0.0);
        }
        if self.sigma == 0.0 {
            return Ok(round_up(-(self.steps * (-self.rate).ln_1p()).exp_m1()).min(1.0));
        }
        let best = smallest_over_orders(
            |order| {
                let divergence = self.steps * log_moment(order) / (order - 1.0);
                converted_log_delta(order, divergence, epsilon)
            },
            between,
        );
        Ok(outward(best))
    }
}

/// The smallest value seen of an objective in the order: whole orders on a geometric ladder, then around
/// the best of them, then, if `between`, among small fractional orders. Every order is valid.
fn smallest_over_orders(mut objective: impl FnMut(f64) -> f64, between: bool) -> f64 {
    let mut best = (2.0, objective(2.0));
    let (mut order, mut half_step) = (2.0, false);
    let (mut left, mut right) = (2.0, 3.0);
    while order < LARGEST_ORDER {
        // 2, 3, 4, 6, 8, 12, 16, …
        let next = if half_step { order / 3.0 * 4.0 } else { order * 1.5 };
        half_step = !half_step;
        let value = objective(next);
        if value < best.1 {
            (left, best) = (order, (next, value));
        } else if value > best.1 || value.is_infinite() {
            right = next;
            break;
        }
        order = next;
        right = next;
    }
    while right - left > 2.0 {
        let (low, high) = (((left + best.0) / 2.0).floor(), ((best.0 + right) / 2.0).ceil());
        let mut moved = false;
        for (candidate, is_low) in [(low, true), (high, false)] {
            if candidate <= left || candidate >= right || candidate == best.0 {
                continue;
            }
            let value = objective(candidate);
            if value < best.1 {
                if is_low {
                    right = best.0
                } else {
                    left = best.0
                }
                best = (candidate, value);
                moved = true;
                break;
            }
            if is_low {
                left = candidate
            } else {
                right = candidate
            }
            moved = true;
        }
        if !moved {
            break;
        }
    }
    if !between || best.0 > 8.0 {
        return best.1;
    }
    // Golden section in log(α − 1); a handful of steps are worth more than the last digit.
    let (mut a, mut b, tries) = if best.0 == 2.0 {
        (1e-4_f64.ln(), 2f64.ln(), 22)
    } else {
        ((best.0 - 2.0).ln(), best.0.ln(), 10)
    };
    let ratio = 0.618_033_988_749_894_9;
    let mut at = |log_excess: f64| objective(1.0 + log_excess.exp());
    let (mut c, mut d) = (b - ratio * (b - a), a + ratio * (b - a));
    let (mut at_c, mut at_d) = (at(c), at(d));
    let mut smallest = best.1.min(at_c).min(at_d);
    for _ in 0..tries {
        if at_c < at_d {
            (b, d, at_d) = (d, c, at_c);
            c = b - ratio * (b - a);
            at_c = at(c);
            smallest = smallest.min(at_c);
        } else {
            (a, c, at_c) = (c, d, at_d);
            d = a + ratio * (b - a);
            at_d = at(d);
            smallest = smallest.min(at_d);
        }
    }
    smallest
}
