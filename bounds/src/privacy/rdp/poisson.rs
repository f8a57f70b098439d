//! The RDP curve of one Poisson-subsampled Gaussian step.

use std::f64::consts::PI;

use crate::domain;
use crate::error::Result;
use crate::round::round_up;
use crate::special::{
    Binomial, expm1_excess, log_add_exp, log_normal_cdf, log1p_excess, mills_ratio,
};

/// Above this order the sum over participations is replaced by a bound of it.
const LARGEST_SUMMED_ORDER: f64 = 1e5;
/// Above this number of nodes a fractional order is interpolated between its integer neighbours.
const MOST_NODES: f64 = 60_000.0;
/// Standard deviations beyond which the quadrature stops on either side.
const REACH: f64 = 14.0;

/// RDP `ε(α)` of one Poisson-subsampled Gaussian step, rounded up.
///
/// `ε(α) = log E_{x~N(0,σ²)}[(1 − q + q e^{(2x−1)/(2σ²)})^α] / (α − 1)`, the larger of the two orders of
/// the pair, so it serves add/remove and zero-out. Whole orders are summed exactly; other orders are
/// integrated by a trapezoidal rule whose error bound is added, so neither is below the truth. The
/// log-moment is formed without its leading 1, so that orders next to 1 keep their digits.
///
/// `sampling_rate = q` in [0, 1], `noise_multiplier = σ >= 0` (noise over sensitivity; 0 gives `+inf`),
/// `order = α > 1`. Result in nats. Two regions have bounds instead of the curve: whole orders above
/// 1e5, and fractional orders at `σ` below about 0.01 (linear interpolation of the log-moment, which is
/// convex).
///
/// # Source
/// Mironov, Talwar and Zhang (2019); evaluation and error bound in docs/theory/accounting.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::rdp;
/// let epsilon = rdp::poisson(0.01, 1.0, 2.0)?;
/// assert!((epsilon / 1.718_134_220_745_479e-4 - 1.0).abs() < 1e-7);
/// // Order 1 is the relative entropy; there is no cancellation on the way to it.
/// let near = rdp::poisson(0.01, 1.0, 1.0 + 1e-8)?;
/// assert!((near / rdp::poisson(0.01, 1.0, 1.0 + 1e-6)? - 1.0).abs() < 1e-5);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn poisson(sampling_rate: f64, noise_multiplier: f64, order: f64) -> Result<f64> {
    let rate = domain::probability("sampling_rate", sampling_rate)?;
    let sigma = domain::non_negative("noise_multiplier", noise_multiplier)?;
    let excess = domain::order_minus_one("order", order)?;
    Ok(round_up(log_moment(rate, sigma, order) / excess))
}

/// `log E_Q[(P/Q)^α] = (α − 1) ε(α)`, rounded up; arguments already checked.
pub(super) fn log_moment(rate: f64, sigma: f64, order: f64) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    if sigma == 0.0 {
        return f64::INFINITY;
    }
    if rate == 1.0 {
        return round_up((order - 1.0) * order / 2.0 / sigma / sigma);
    }
    if order.fract() == 0.0 {
        return whole_order(rate, sigma, order);
    }
    if order < LARGEST_SUMMED_ORDER
        && let Some(value) = (Integrand { rate, sigma, order }).log_moment()
    {
        return value;
    }
    // Log-moments are convex in the order and 0 at order 1.
    let floor = order.floor();
    let below = if floor == 1.0 { 0.0 } else { whole_order(rate, sigma, floor) };
    let above = whole_order(rate, sigma, order.ceil());
    if above == f64::INFINITY {
        return above;
    }
    round_up(below + (order - floor) * (above - below))
}

/// `log1p( Σ_{k>=2} C(α,k) (1−q)^{α−k} q^k expm1(k(k−1)/(2σ²)) )`.
fn whole_order(rate: f64, sigma: f64, order: f64) -> f64 {
    let scale = 0.5 / sigma / sigma;
    if order > LARGEST_SUMMED_ORDER {
        // k − 1 <= α − 1 in every term.
        let exponent = (order - 1.0) * scale;
        let mixed = log_add_exp((-rate).ln_1p(), rate.ln() + exponent);
        return round_up(order * mixed);
    }
    let mut masses = LogMasses::new(order, rate);
    let mut total = ScaledSum::new();
    let mut size = 0.0_f64;
    let mut k = 2.0;
    while k <= order {
        let exponent = k * (k - 1.0) * scale;
        let log_mass = masses.at(k);
        size = size.max(exponent).max(-log_mass);
        let grown = if exponent > 40.0 { exponent } else { exponent.exp_m1().ln() };
        total.add(log_mass + grown);
        k += 1.0;
    }
    log1p_exp(padded(total.log(), size))
}

/// `log(1 + e^x)`.
fn log1p_exp(x: f64) -> f64 {
    if x > 40.0 { x } else { x.exp().ln_1p() }
}

/// A logarithm raised by the rounding of exponents up to `size`.
fn padded(log_value: f64, size: f64) -> f64 {
    if size == f64::INFINITY { size } else { log_value + 2e-15 * (size + 64.0) }
}

/// `log P(Bin(α, q) = k)` for consecutive `k`, by ratios between exact values.
pub(super) struct LogMasses {
    law: Binomial,
    trials: f64,
    log_odds: f64,
    current: f64,
}

/// Ratios before the next exact value; their rounding stays below the padding.
const RATIOS: f64 = 16.0;

impl LogMasses {
    pub(super) fn new(trials: f64, rate: f64) -> Self {
        let log_odds = rate.ln() - (-rate).ln_1p();
        Self { law: Binomial::new(trials, rate), trials, log_odds, current: 0.0 }
    }

    /// The value at `k`, called with `k` = 2, 3, 4, …
    pub(super) fn at(&mut self, k: f64) -> f64 {
        if k % RATIOS == 0.0 || k == 2.0 {
            self.current = self.law.log_mass(k);
        } else {
            self.current += ((self.trials - k + 1.0) / k).ln() + self.log_odds;
        }
        self.current
    }
}

/// A sum of exponentials kept relative to its largest exponent.
pub(super) struct ScaledSum {
    largest: f64,
    sum: f64,
}

impl ScaledSum {
    pub(super) fn new() -> Self {
        Self { largest: f64::NEG_INFINITY, sum: 0.0 }
    }

    pub(super) fn add(&mut self, exponent: f64) {
        if exponent <= self.largest {
            if exponent.is_finite() {
                self.sum += (exponent - self.largest).exp();
            }
        } else {
            self.sum = self.sum * (self.largest - exponent).exp() + 1.0;
            self.largest = exponent;
        }
    }

    pub(super) fn log(&self) -> f64 {
        if self.largest.is_infinite() { self.largest } else { self.largest + self.sum.ln() }
    }
}

/// `(1+u)^α − 1 − αu` under the standard normal, `u = q expm1(t/σ − 1/(2σ²))`. It has the mean of
/// `(P/Q)^α − 1` because `u` has mean 0, and it is non-negative, so nothing cancels in its integral.
struct Integrand {
    rate: f64,
    sigma: f64,
    order: f64,
}

/// The integrand without the density at one node.
enum Height {
    Plain(f64),
    /// The logarithm of a slightly larger value.
    Log(f64),
}

impl Integrand {
    fn height(&self, node: f64) -> Height {
        let exponent = (node - 0.5 / self.sigma) / self.sigma;
        let u = self.rate * exponent.exp_m1();
        let log_ratio = if exponent > 30.0 {
            self.rate.ln() + exponent + ((1.0 / self.rate - 1.0) * (-exponent).exp()).ln_1p()
        } else {
            u.ln_1p()
        };
        let beta = self.order - 1.0;
        if log_ratio > 30.0 {
            // u may overflow: 1 + u is taken out as a factor.
            let growth = beta * log_ratio;
            let per_ratio = if growth > 600.0 {
                growth
            } else {
                (beta * (log_ratio - 1.0 + (-log_ratio).exp()) + expm1_excess(growth)).ln()
            };
            return Height::Log(log_ratio + per_ratio);
        }
        if self.order * log_ratio > 600.0 {
            // The subtracted 1 + αu is positive and negligible here.
            return Height::Log(self.order * log_ratio);
        }
        Height::Plain(self.excess(u, log_ratio))
    }

    /// `(α−1) [(1+u) log(1+u) − u] + (1+u) [e^{(α−1) log(1+u)} − 1 − (α−1) log(1+u)]`: two
    /// non-negative parts.
    fn excess(&self, u: f64, log_ratio: f64) -> f64 {
        let beta = self.order - 1.0;
        let entropy =
            if u < 0.5 { u * u - (1.0 + u) * log1p_excess(u) } else { (1.0 + u) * log_ratio - u };
        beta * entropy + (1.0 + u) * expm1_excess(beta * log_ratio)
    }

    /// `None` if the integral needs too many nodes.
    fn log_moment(&self) -> Option<f64> {
        let rough = self.rate * self.rate * (self.order - 1.0).min(1.0);
        let mut accuracy = 36.0 - rough.ln() + (1.0 + self.sigma * self.sigma).ln();
        for _ in 0..3 {
            let (log_value, log_error) = self.integrate(accuracy)?;
            if log_error < log_value - 31.0 {
                return Some(log1p_exp(log_add_exp(log_value, log_error)));
            }
            accuracy += log_error - log_value + 34.0;
        }
        None
    }

    /// `log(E − 1)` by the trapezoidal rule with an error of about `e^{−accuracy}`, and the logarithm of
    /// a bound on the discretisation and truncation error.
    ///
    /// The integrand is analytic in `|Im t| < πσ` and there at most `e^{y²/2}` times
    /// `(1−q+q e^{Re})^α + 1 + α|u|`; hence the classical bound `2M/(e^{2πa/h} − 1)`.
    fn integrate(&self, accuracy: f64) -> Option<(f64, f64)> {
        let widest = PI * self.sigma;
        let gaussian_step = PI * (2.0 / accuracy).sqrt();
        let step = if 2.0 * PI / gaussian_step <= widest {
            gaussian_step
        } else {
            2.0 * PI * widest / (accuracy + 0.5 * widest * widest)
        };
        let strip = widest.min(2.0 * PI / step);
        let top = self.order / self.sigma + REACH;
        if !((top + REACH) / step <= MOST_NODES) {
            return None;
        }
        let (mut plain, mut scaled) = (0.0, ScaledSum::new());
        let mut size = 0.5 * REACH * REACH;
        let mut node = -REACH;
        while node <= top {
            match self.height(node) {
                Height::Plain(value) => plain += value * (-0.5 * node * node).exp(),
                Height::Log(log) => {
                    size = size.max(log).max(0.5 * node * node);
                    scaled.add(log - 0.5 * node * node);
                }
            }
            node += step;
        }
        let log_scale = step.ln() - 0.5 * (2.0 * PI).ln();
        let log_value = padded(log_add_exp(plain.ln(), scaled.log()) + log_scale, size);
        // Right of the last node the logarithm falls with slope REACH at least; left of the first one
        // the height is at most its limit at u = −q.
        let next = match self.height(node) {
            Height::Plain(value) => value.ln(),
            Height::Log(log) => log,
        };
        let right = next - 0.5 * node * node + log_scale - (-(-REACH * step).exp_m1()).ln();
        let limit = self.excess(-self.rate, (-self.rate).ln_1p()).ln();
        let density = -0.5 * REACH * REACH - 0.5 * (2.0 * PI).ln();
        let left = limit + log_normal_cdf(-REACH).max(density + (mills_ratio(REACH) + step).ln());
        let moment = log_add_exp(log_value, (2.0 + 2.0 * self.order * self.rate).ln());
        let decay = 2.0 * PI * strip / step;
        let aliasing = 2f64.ln() + 0.5 * strip * strip + moment - decay - (-(-decay).exp()).ln_1p();
        Some((log_value, log_add_exp(aliasing, log_add_exp(left, right))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadrature_and_sum_agree_at_whole_orders() {
        for (rate, sigma) in [(0.01, 1.0), (1e-6, 0.7), (0.3, 0.3), (0.9, 20.0), (0.999, 1.0)] {
            for order in [2.0, 3.0, 7.0, 40.0] {
                let sum = whole_order(rate, sigma, order);
                let integral = Integrand { rate, sigma, order }.log_moment().unwrap();
                assert!((integral / sum - 1.0).abs() < 2e-12, "{rate} {sigma} {order}");
            }
        }
    }

    #[test]
    fn the_curve_is_continuous_into_its_fallbacks() {
        let interpolated = log_moment(0.2, 0.004, 2.5);
        assert!(Integrand { rate: 0.2, sigma: 0.004, order: 2.5 }.log_moment().is_none());
        assert!(whole_order(0.2, 0.004, 2.0) < interpolated);
        assert!(interpolated < whole_order(0.2, 0.004, 3.0));
        let summed = whole_order(0.2, 30.0, 1e5);
        let bounded = whole_order(0.2, 30.0, 1e5 + 1.0);
        assert!(summed < bounded && bounded < summed * 1.01, "{summed} {bounded}");
        assert_eq!(log_moment(0.2, 1e-200, 2.5), f64::INFINITY);
    }
}
