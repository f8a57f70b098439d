//! The RDP curve of one Gaussian step on a batch of fixed size, drawn without replacement.

use std::f64::consts::{LN_2, PI};

use super::poisson::{LogMasses, ScaledSum};
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::round::round_up;

/// Above this order only the terms without central moments are used.
const LARGEST_CENTRAL_ORDER: f64 = 256.0;
/// Above this order the sum is not evaluated.
const LARGEST_ORDER: f64 = 1e6;

/// RDP `ε(α)` of one step on a fixed-size batch under replace-one by Theorem 9, rounded up.
///
/// `ε(α) = log(1 + Σ_{j=2}^α C(α,j) q^j t_j)/(α−1)` with `t_2 = min{4(e^{1/σ²} − 1), 2e^{1/σ²}}` and
/// `t_j = 2 e^{j(j−1)/(2σ²)}` for whole α; between whole orders the log-moment is interpolated linearly,
/// which is valid because it is convex.
///
/// `sampling_rate = q = B/n` in [0, 1], `noise_multiplier = σ = κ/2 >= 0` (relative to the sensitivity
/// 2 of replace-one; 0 gives `+inf`), `order = α` in (1, 1e6]. At `q = 1` the whole batch is used and the
/// result is that of the Gaussian mechanism.
///
/// # Source
/// Wang, Balle and Kasiviswanathan (2019), Theorem 9.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let epsilon = dpbounds_bounds::privacy::rdp::fixed_size_thm9(0.01, 1.0, 3.0)?;
/// assert!((epsilon / 8.348_726_849_544_128e-4 - 1.0).abs() < 1e-9);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn fixed_size_thm9(sampling_rate: f64, noise_multiplier: f64, order: f64) -> Result<f64> {
    let mut curve = Curve::checked(sampling_rate, noise_multiplier, false)?;
    let excess = check_order(order)?;
    Ok(round_up(curve.log_moment(order) / excess))
}

/// RDP `ε(α)` of one step on a fixed-size batch under replace-one by Theorem 27, rounded up.
///
/// As [`fixed_size_thm9`] with `t_j = min{ 4 sqrt(B(2⌊j/2⌋) B(2⌈j/2⌉)), 2e^{j(j−1)/(2σ²)} }` for `j >= 3`
/// and `α <= 256`, where `B(l) = E (P/Q − 1)^l` is the central moment of the likelihood ratio of the
/// Gaussian mechanism. The even moments are computed without cancellation and rounded up. Never larger
/// than Theorem 9.
///
/// Arguments as in [`fixed_size_thm9`].
///
/// # Source
/// Wang, Balle and Kasiviswanathan (2019), Theorem 27 in the extended version.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let epsilon = dpbounds_bounds::privacy::rdp::fixed_size_thm27(0.1, 2.0, 8.0)?;
/// assert!((epsilon / 0.052_690_263_529_051 - 1.0).abs() < 1e-7);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn fixed_size_thm27(sampling_rate: f64, noise_multiplier: f64, order: f64) -> Result<f64> {
    let mut curve = Curve::checked(sampling_rate, noise_multiplier, true)?;
    let excess = check_order(order)?;
    Ok(round_up(curve.log_moment(order) / excess))
}

/// `α − 1` of an order that the curves for sampled batches take.
pub(super) fn check_order(order: f64) -> Result<f64> {
    let excess = domain::order_minus_one("order", order)?;
    if order > LARGEST_ORDER {
        return Err(BoundError::OutOfRange {
            parameter: "order",
            value: Shown(order),
            allowed: "(1, 1e6]",
            remedy: "a smaller order gives the better conversion",
        });
    }
    Ok(excess)
}

/// The curve at one rate and noise; remembers the central moments it has computed.
pub(super) struct Curve {
    rate: f64,
    sigma: f64,
    central: bool,
    /// `log B(2i)` at place `i`.
    moments: Vec<Option<f64>>,
}

impl Curve {
    pub(super) fn checked(rate: f64, sigma: f64, central: bool) -> Result<Self> {
        Ok(Self {
            rate: domain::probability("sampling_rate", rate)?,
            sigma: domain::non_negative("noise_multiplier", sigma)?,
            central,
            moments: Vec::new(),
        })
    }

    /// `(α−1) ε(α)`, rounded up.
    pub(super) fn log_moment(&mut self, order: f64) -> f64 {
        if self.rate == 0.0 {
            return 0.0;
        }
        if self.sigma == 0.0 {
            return f64::INFINITY;
        }
        let gaussian = order * (order - 1.0) / 2.0 / self.sigma / self.sigma;
        if self.rate == 1.0 {
            return round_up(gaussian);
        }
        let floor = order.floor();
        let below = if floor == 1.0 { 0.0 } else { self.whole_order(floor) };
        if floor == order {
            return below;
        }
        let above = self.whole_order(order.ceil());
        if above == f64::INFINITY {
            return above;
        }
        round_up(below + (order - floor) * (above - below))
    }

    fn whole_order(&mut self, order: f64) -> f64 {
        let scale = 0.5 / self.sigma / self.sigma;
        let central = self.central && order <= LARGEST_CENTRAL_ORDER;
        // C(α,j) q^j from binomial masses at a rate for which they do not underflow: any base works.
        let mut masses = LogMasses::new(order, 0.5);
        let log_rate = self.rate.ln();
        let mut total = ScaledSum::new();
        let mut size = order;
        let mut j = 2.0;
        while j <= order {
            let exponent = j * (j - 1.0) * scale;
            let plain = LN_2 + exponent;
            let term = if j == 2.0 {
                plain.min(2.0 * LN_2 + log_expm1(exponent))
            } else if central {
                plain.min(self.central_term(j))
            } else {
                plain
            };
            size = size.max(exponent).max(-j * log_rate);
            total.add(masses.at(j) + order * LN_2 + j * log_rate + term);
            j += 1.0;
        }
        if size == f64::INFINITY {
            return size;
        }
        let log_sum = total.log() + 2e-15 * (size + 64.0);
        if log_sum > 40.0 { log_sum } else { log_sum.exp().ln_1p() }
    }

    /// `log 4 sqrt(B(2⌊j/2⌋) B(2⌈j/2⌉))`, or `+inf` where `2e^{j(j−1)/(2σ²)}` is certainly not larger.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // j <= 257
    fn central_term(&mut self, j: f64) -> f64 {
        let (low, high) = ((j / 2.0).floor() as usize, (j / 2.0).ceil() as usize);
        // (w−1)^l >= w^l − l w^{l−1} for even l, so B(l) is at least half of its leading term here.
        let least = 2.0 * (j / 2.0).floor();
        if least.ln() - (least - 1.0) / self.sigma / self.sigma < -LN_2 {
            return f64::INFINITY;
        }
        2.0 * LN_2 + 0.5 * (self.log_central_moment(low) + self.log_central_moment(high))
    }

    fn log_central_moment(&mut self, half: usize) -> f64 {
        if self.moments.len() <= half {
            self.moments.resize(half + 1, None);
        }
        if let Some(known) = self.moments[half] {
            return known;
        }
        #[allow(clippy::cast_precision_loss)] // small
        let value = log_even_central_moment(2.0 * half as f64, self.sigma);
        self.moments[half] = Some(value);
        value
    }
}

/// `log(e^x − 1)`.
fn log_expm1(x: f64) -> f64 {
    if x > 40.0 { x } else { x.exp_m1().ln() }
}

/// `log E (e^{t/σ − 1/(2σ²)} − 1)^l`, `t ~ N(0, 1)`, for even `l`, rounded up.
///
/// Trapezoidal rule on a non-negative entire function. The characteristic function of each of the `l + 1`
/// exponentials gives the error bound `2 e^{−ω²/2} 2^l e^{l(l−1)/(2σ²)}` at `ω = 2π/h` and below it at the
/// multiples of `ω`.
fn log_even_central_moment(power: f64, sigma: f64) -> f64 {
    const REACH: f64 = 12.0;
    let largest = power * (power - 1.0) / 2.0 / sigma / sigma;
    // B(l) >= (E (w−1)²)^{l/2} by Jensen, and e^x − 1 >= x; the square of a large σ overflows.
    let inverse = 1.0 / sigma / sigma;
    let least = 0.5 * power * if inverse > 1e-300 { log_expm1(inverse) } else { -2.0 * sigma.ln() };
    let needed = 36.0 + power * LN_2 + largest - least;
    let step = 2.0 * PI / (2.0 * needed).sqrt();
    // The logarithmic slope l/σ · w/(w−1) − t is at most l/σ + l/(t − 1/(2σ)) − t <= −REACH from here.
    let top = power / sigma + REACH + power.sqrt() + 0.5 / sigma;
    let log_height = |node: f64| {
        let exponent = (node - 0.5 / sigma) / sigma;
        let log_distance = if exponent > 40.0 { exponent } else { exponent.exp_m1().abs().ln() };
        power * log_distance - 0.5 * node * node
    };
    let mut total = ScaledSum::new();
    // Left of the reach the height is below 1; powers of a narrow law live far out in the density.
    let bottom = -(REACH * REACH + 2.0 * (-least).max(0.0)).sqrt();
    let mut node = bottom;
    let mut size = 0.0_f64;
    while node <= top {
        let log = log_height(node);
        size = size.max(0.5 * node * node);
        total.add(log);
        node += step;
    }
    let scale = step.ln() - 0.5 * (2.0 * PI).ln();
    let value = total.log() + scale + 2e-15 * (size + 2.0 * power + 64.0);
    let aliasing = 1.01_f64.ln() + LN_2 + power * LN_2 + largest - 2.0 * (PI / step).powi(2);
    let left = -0.5 * bottom * bottom + LN_2;
    let right = log_height(node) + scale - (-(-REACH * step).exp_m1()).ln();
    let mut with_errors = ScaledSum::new();
    [value, aliasing, left, right].into_iter().for_each(|part| with_errors.add(part));
    with_errors.log()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::Binomial;

    #[test]
    fn central_moments_of_huge_noise_are_those_of_the_linear_term() {
        for sigma in [1e150, 1e153, 6.9e172, 1e307] {
            // E (t/σ)^4 = 3/σ^4.
            let expected = 3.0_f64.ln() - 4.0 * f64::ln(sigma);
            let value = log_even_central_moment(4.0, sigma);
            assert!(value >= expected && value < expected + 1e-6, "{sigma}: {value} {expected}");
        }
    }

    #[test]
    fn central_moments_match_direct_sums_where_those_do_not_cancel() {
        for (power, sigma) in [(2.0, 1.0), (4.0, 0.7), (8.0, 1.5), (2.0, 50.0), (20.0, 1.0)] {
            let law = Binomial::new(power, 0.5);
            let mut sum = 0.0;
            for k in 0..=power as u32 {
                let k = f64::from(k);
                let sign = if (power - k) % 2.0 == 0.0 { 1.0 } else { -1.0 };
                let choose = (law.log_mass(k) + power * LN_2).exp().round();
                // Subtracting the constant 1 changes nothing in a difference.
                sum += sign * choose * (k * (k - 1.0) / 2.0 / sigma / sigma).exp_m1();
            }
            let value = log_even_central_moment(power, sigma).exp();
            assert!((value / sum - 1.0).abs() < 1e-9, "{power} {sigma}: {value} {sum}");
        }
    }

    #[test]
    fn central_moments_approach_those_of_a_normal_law_at_large_noise() {
        // E t^l / σ^l (1 + O(l²/σ²)), (2m−1)!! for l = 2m.
        let double_factorial: f64 = (1..=20).map(|i| f64::from(2 * i - 1).ln()).sum();
        let value = log_even_central_moment(40.0, 1e4) + 40.0 * 1e4f64.ln();
        assert!((value - double_factorial).abs() < 1e-3, "{value} {double_factorial}");
    }
}
