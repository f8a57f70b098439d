//! The quadratic branch (6b) of Theorem 2 with the printed `v` and with the sharper `v*`.

use super::Setting;
use crate::error::Result;
use crate::max_information::{FailureLevel, MAX_INFORMATION, ours, paper};
use crate::solve::minimize;
use crate::warrant::{Bound, Quantity, Source};

const VARIANCE: Quantity = Quantity { name: "variance_proxy", unit: "nats" };

/// `v(b1) = (n/8)(ε + log(4/b1)/(α−1))²`, the printed variance proxy.
///
/// `n` records (1 to 2^53), `alpha > 1`, `epsilon >= 0` (nats), `b1` a part of the failure level.
///
/// # Source
/// arXiv 2605.26222, (106)–(108), reconstructed; re-derived in docs/theory/max-information.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let v = renyi::v(60_000, 32.0, 0.01, FailureLevel::from_beta(0.0125)?)?;
/// assert!((v.value.unwrap() / 288.340_162_288_559_27 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn v(n: u64, alpha: f64, epsilon: f64, b1: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, alpha, epsilon)?;
    Bound::upper_bound(VARIANCE, printed_v(setting, b1), paper("Theorem 8, v"))
}

/// `v*(b1) = (n/(2h²)) asinh²( sqrt((e^{hε} − 1)/b1) )`, `h = α − 1`; at most [`v`].
///
/// `n` records (1 to 2^53), `alpha > 1`, `epsilon >= 0` (nats), `b1` a part of the failure level.
///
/// # Source
/// Ours, read off the proof of Theorem 8 of arXiv 2605.26222; docs/theory/max-information.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let v = renyi::v_star(60_000, 32.0, 0.01, FailureLevel::from_beta(0.0125)?)?;
/// assert!((v.value.unwrap() / 177.804_342_425_405_16 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn v_star(n: u64, alpha: f64, epsilon: f64, b1: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, alpha, epsilon)?;
    Bound::upper_bound(VARIANCE, setting.v_star(b1.log_inverse()), ours("v* (docs/theory)"))
}

fn printed_v(setting: Setting, b1: FailureLevel) -> f64 {
    let Setting { n, h, epsilon } = setting;
    n / 8.0 * (epsilon + b1.log_inverse_of_share(0.25) / h).powi(2)
}

/// `V + 2 sqrt(V L2) + L2/h`.
fn sub_gamma(variance: f64, h: f64, log_inverse: f64) -> f64 {
    variance + 2.0 * (variance * log_inverse).sqrt() + log_inverse / h
}

fn sub_gamma_bound(variance: f64, h: f64, log_inverse: f64, source: Source) -> Result<Bound> {
    Ok(Bound::upper_bound(MAX_INFORMATION, sub_gamma(variance, h, log_inverse), source)?
        .with_term("v", variance)
        .with_term("2 sqrt(v log(1/b2))", 2.0 * (variance * log_inverse).sqrt())
        .with_term("log(1/b2)/(alpha-1)", log_inverse / h))
}

/// The quadratic branch as printed: `v + 2 sqrt(v log(2/β)) + log(2/β)/(α−1)` with `v` at `b1 = β/2`.
///
/// `n` records (1 to 2^53), replace-one `(alpha, epsilon)`-RDP in both directions, failure level `β`.
///
/// # Source
/// arXiv 2605.26222, Theorem 2, second branch of (6).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let bound = renyi::theorem2_quadratic(60_000, 32.0, 0.01, FailureLevel::from_beta(0.025)?)?;
/// assert!((bound.value.unwrap() / 359.573_409_816_523_74 - 1.0).abs() < 1e-13);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn theorem2_quadratic(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, alpha, epsilon)?;
    let half = level.log_inverse_of_share(0.5);
    let variance =
        setting.n / 8.0 * (epsilon + level.log_inverse_of_share(0.125) / setting.h).powi(2);
    sub_gamma_bound(variance, setting.h, half, paper("Theorem 2, eq. (6) quadratic"))
}

/// Theorem 2: the smaller of [`super::linear`] and [`theorem2_quadratic`].
///
/// `n` records (1 to 2^53), replace-one `(alpha, epsilon)`-RDP in both directions, failure level `β`.
///
/// # Source
/// arXiv 2605.26222, Theorem 2, eq. (6).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let bound = renyi::theorem2(1000, 64.0, 0.0, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 4.329_492_064_822_655 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn theorem2(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let linear = super::linear(n, alpha, epsilon, level)?;
    let quadratic = theorem2_quadratic(n, alpha, epsilon, level)?;
    let mut smaller = Bound::best_of(vec![linear, quadratic])?;
    smaller.alternatives.clear();
    Ok(smaller)
}

/// The quadratic branch with `v*` at the even split `b1 = b2 = β/2`.
///
/// `n` records (1 to 2^53), replace-one `(alpha, epsilon)`-RDP in both directions, failure level `β`.
///
/// # Source
/// Ours; docs/theory/max-information.md (Rényi DP).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let bound = renyi::v_star_half(50_000, 2.0, 0.001, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 1111.826_616_988_999 - 1.0).abs() < 1e-13);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn v_star_half(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, alpha, epsilon)?;
    let half = level.log_inverse_of_share(0.5);
    let source = ours("Theorem 2 quadratic with v*, even split");
    sub_gamma_bound(setting.v_star(half), setting.h, half, source)
}

/// The quadratic branch with `v*` and the split `b1 = sβ`, `b2 = (1−s)β` optimised.
///
/// `n` records (1 to 2^53), replace-one `(alpha, epsilon)`-RDP in both directions, failure level `β`.
///
/// # Source
/// Ours; docs/theory/max-information.md (Rényi DP): every split is valid.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let bound = renyi::v_star_split(60_000, 32.0, 0.01, FailureLevel::from_beta(0.025)?)?;
/// assert!((bound.value.unwrap() / 194.245_887_559_670_76 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn v_star_split(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let setting = Setting::new(n, alpha, epsilon)?;
    let at = |logit: f64| {
        let (b1, b2) = split_levels(level, logit);
        sub_gamma(setting.v_star(b1), setting.h, b2)
    };
    let found = minimize(at, -60.0, 60.0)?;
    let (b1, b2) = split_levels(level, found.argument);
    let source = ours("Theorem 2 quadratic with v*, split optimised");
    sub_gamma_bound(setting.v_star(b1), setting.h, b2, source)
}

/// `(log(1/b1), log(1/b2))` for `b1 = sβ`, `b2 = (1−s)β`, `s = 1/(1+e^{−logit})`.
pub(super) fn split_levels(level: FailureLevel, logit: f64) -> (f64, f64) {
    let softplus = |x: f64| if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() };
    (level.log_inverse() + softplus(-logit), level.log_inverse() + softplus(logit))
}

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;

    #[test]
    fn v_star_is_never_above_v_and_a_better_split_never_hurts() {
        for alpha in [1.001, 1.5, 8.0, 400.0] {
            for epsilon in [0.0, 1e-6, 0.03, 5.0] {
                for beta in [1e-12, 0.01, 0.6] {
                    let get = |bound: Result<Bound>| bound.unwrap().value.unwrap();
                    let at = level(beta);
                    let star = get(v_star(50, alpha, epsilon, at));
                    assert!(star <= get(v(50, alpha, epsilon, at)) * (1.0 + 1e-14));
                    let (half, best) = (
                        get(v_star_half(50, alpha, epsilon, at)),
                        get(v_star_split(50, alpha, epsilon, at)),
                    );
                    assert!(
                        best <= half * (1.0 + 1e-13),
                        "{alpha} {epsilon} {beta}: {best} {half}"
                    );
                    assert!(
                        half <= get(theorem2_quadratic(50, alpha, epsilon, at)) * (1.0 + 1e-13)
                    );
                }
            }
        }
    }
}
