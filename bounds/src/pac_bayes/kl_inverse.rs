//! The binary Kullback–Leibler divergence and its inverses.

use super::RISK;
use crate::domain;
use crate::error::Result;
use crate::special::log1p_excess;
use crate::warrant::{Bound, Quantity, Source};

const SEEGER: Source = Source::new("Seeger 2002", "inverse of the binary KL divergence");

/// `kl(q‖p) = q log(q/p) + (1−q) log((1−q)/(1−p))` in nats, `0 log 0 = 0`.
///
/// `q`, `p` in [0, 1]. No value where it is infinite (`p` is 0 or 1 and `q` is not).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let kl = dpbounds_bounds::pac_bayes::kl_bernoulli(0.5, 0.500_000_1)?;
/// assert!((kl.value.unwrap() / 1.999_999_997_894_616_6e-14 - 1.0).abs() < 1e-13);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn kl_bernoulli(q: f64, p: f64) -> Result<Bound> {
    const DIVERGENCE: Quantity = Quantity { name: "kl", unit: "nats" };
    const SOURCE: Source = Source::new("definition", "binary KL divergence");
    let q = domain::probability("q", q)?;
    let p = domain::probability("p", p)?;
    let value = kl(q, p);
    if value.is_infinite() {
        let reason = "kl(q||p) is infinite: p excludes an outcome that q allows";
        return Ok(Bound::refused(DIVERGENCE, SOURCE, reason));
    }
    Bound::exact(DIVERGENCE, value, SOURCE)
}

fn kl(q: f64, p: f64) -> f64 {
    match (q, p) {
        (q, p) if q == p => 0.0,
        (_, 0.0 | 1.0) => f64::INFINITY,
        (0.0, p) => -(-p).ln_1p(),
        (1.0, p) => -p.ln(),
        (q, p) => excess(q, p - q, p) + excess(1.0 - q, q - p, 1.0 - p),
    }
}

/// `weight·φ(shift/weight)` with `φ(z) = z − log(1+z)` and `target = weight + shift`: by the logarithms
/// themselves where the two differ much.
fn excess(weight: f64, shift: f64, target: f64) -> f64 {
    if shift.abs() > weight / 2.0 {
        shift - weight * (target.ln() - weight.ln())
    } else {
        weight * log1p_excess(shift / weight)
    }
}

/// `s = −log((1−p)/(1−q))` for `p = sup{p >= q: kl(q‖p) <= b}`, given `q` and `c = 1 − q`, both positive.
///
/// In `s` the divergence is `q φ(d/q) + c (s + e^{−s} − 1)` with `d = p − q = c(1 − e^{−s})`: convex and
/// increasing with slope `d/p` and curvature `q(c − d)/p²`, solved by Halley's method.
fn log_ratio(q: f64, c: f64, b: f64) -> f64 {
    let b = b.max(1e-150); // a larger complexity is the safe side, and its squares do not underflow
    // From kl >= c s + q log q: an upper end, close where b is large.
    let log_q = if q > 0.5 { (-c).ln_1p() } else { q.ln() };
    let mut s = (b - q * log_q) / c;
    // The expansion of the inverse at small b.
    let small = ((2.0 * q * c * b).sqrt() + (1.0 - 2.0 * q) * 2.0 * b / 3.0) / c;
    if small > 0.0 && small < 0.98 {
        s = s.min(-(-small).ln_1p());
    }
    if s == f64::INFINITY {
        return s;
    }
    for _ in 0..100 {
        let shrink = (-s).exp_m1();
        let d = -c * shrink;
        let p = q + d;
        let tail = if s < 0.25 { log1p_excess(shrink) } else { s + shrink };
        let residual = excess(q, d, p) + c * tail - b;
        let (slope, curvature) = (d / p, ((c - d) / p) * (q / p));
        let newton = residual / slope;
        let step = newton / (1.0 - 0.5 * newton * curvature / slope).max(0.5);
        s -= step;
        if !(step.abs() > s * 1e-5) {
            break; // cubic convergence: the next step is below rounding
        }
    }
    s
}

/// `p − q` for the upper inverse.
fn upper_shift(risk: f64, complexity: f64) -> f64 {
    if risk == 1.0 || complexity == 0.0 {
        0.0
    } else if risk == 0.0 {
        -(-complexity).exp_m1()
    } else {
        let rest = 1.0 - risk;
        -rest * (-log_ratio(risk, rest, complexity)).exp_m1()
    }
}

pub(crate) fn upper(risk: f64, complexity: f64) -> f64 {
    (risk + upper_shift(risk, complexity)).min(1.0)
}

/// `sup{p in [q, 1]: kl(q‖p) <= b}`: the largest risk compatible with empirical risk `q` at complexity `b`.
///
/// `risk = q` in [0, 1], `complexity = b >= 0` (nats per record).
///
/// # Source
/// Seeger (2002); evaluation in docs/theory/pac-bayes.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let risk = dpbounds_bounds::pac_bayes::kl_inverse_upper(0.7, 1e-12)?;
/// assert!((risk.value.unwrap() / 0.700_000_648_073_803_1 - 1.0).abs() < 1e-15);
/// assert_eq!(risk.quantity, "risk");
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn kl_inverse_upper(risk: f64, complexity: f64) -> Result<Bound> {
    let risk = domain::probability("risk", risk)?;
    let complexity = domain::non_negative("complexity", complexity)?;
    let mut bound = Bound::upper_bound(RISK, upper(risk, complexity), SEEGER)?;
    bound.upper = bound.upper.map(|side| side.min(1.0));
    Ok(bound)
}

/// `1 − p` for the upper inverse `p`, to full relative accuracy where `p` is close to 1; a lower bound.
///
/// `risk` in [0, 1], `complexity >= 0` (nats per record).
///
/// # Source
/// Seeger (2002); evaluation in docs/theory/pac-bayes.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let rest = dpbounds_bounds::pac_bayes::kl_inverse_upper_complement(0.0, 50.0)?;
/// assert!((rest.value.unwrap() / (-50f64).exp() - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn kl_inverse_upper_complement(risk: f64, complexity: f64) -> Result<Bound> {
    const REST: Quantity = Quantity { name: "one_minus_risk", unit: "probability" };
    let risk = domain::probability("risk", risk)?;
    let complexity = domain::non_negative("complexity", complexity)?;
    let value = if risk == 1.0 {
        0.0
    } else if complexity == 0.0 {
        1.0 - risk
    } else if risk == 0.0 {
        (-complexity).exp()
    } else {
        let rest = 1.0 - risk;
        rest * (-log_ratio(risk, rest, complexity)).exp()
    };
    Bound::lower_bound(REST, value, SEEGER)
}

/// `inf{p in [0, q]: kl(q‖p) <= b}`: the smallest risk compatible with empirical risk `q`.
///
/// `risk = q` in [0, 1], `complexity = b >= 0` (nats per record).
///
/// # Source
/// Seeger (2002); evaluation in docs/theory/pac-bayes.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let risk = dpbounds_bounds::pac_bayes::kl_inverse_lower(0.3, 50.0)?;
/// assert!((risk.value.unwrap() / 5.410_902_365_062_712_2e-74 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn kl_inverse_lower(risk: f64, complexity: f64) -> Result<Bound> {
    let risk = domain::probability("risk", risk)?;
    let complexity = domain::non_negative("complexity", complexity)?;
    let value = if risk == 0.0 || complexity == 0.0 {
        risk
    } else if risk == 1.0 {
        (-complexity).exp()
    } else {
        risk * (-log_ratio(1.0 - risk, risk, complexity)).exp()
    };
    Bound::lower_bound(RISK, value, SEEGER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distant_arguments_keep_their_digits() {
        for (q, p, value) in [
            (0.5, 1e-12, 13.122_363_377_404_829),
            (0.5, 1.0 - 1e-12, 13.122_374_438_387_234),
            (1e-12, 0.5, 0.693_147_180_531_314_3),
        ] {
            assert!((kl(q, p) / value - 1.0).abs() < 1e-14, "{q} {p}: {}", kl(q, p));
        }
    }

    #[test]
    fn the_inverse_inverts() {
        for q in [1e-300, 1e-12, 1e-3, 0.2, 0.5, 0.9, 1.0 - 1e-9] {
            for b in [1e-15, 1e-8, 1e-3, 0.1, 1.0, 5.0] {
                let p = upper(q, b);
                assert!(p > q || p == 1.0 || b < 1e-14);
                if p < 1.0 - 1e-6 && b > 1e-12 {
                    // d kl / d p times one ulp of p bounds what rounding p can change.
                    let sensitivity = (p - q) / (p * (1.0 - p)) * p * 4e-16 / b;
                    assert!((kl(q, p) / b - 1.0).abs() < 1e-12 + 4.0 * sensitivity, "{q} {b} {p}");
                }
            }
        }
    }
}
