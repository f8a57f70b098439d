//! The RDP curve of one Gaussian step on a Poisson batch under replace-one.

use super::profile_integral::ProfileBound;
use super::replace_one::ReplaceOne;
use crate::error::Result;

/// RDP `ε(α)` of one Gaussian step on a Poisson batch under **replace-one**, rounded up.
///
/// `ε(α) = log(1 + α(α−1) ∫_0^∞ (e^{(α−1)e} + e^{−αe}) f(e^e) de) / (α−1)` with the privacy profile
/// `f(γ) = q[(1−β) H_a(N(1/κ,1) ‖ N(0,1)) + β H_a(N(2/κ,1) ‖ N(0,1))]`, `a = 1 + (γ−1)/q`, `β = γ/a`, which bounds
/// both orders of every pair. Never above the full batch, `2α/κ²`.
///
/// `sampling_rate = q` in [0, 1], `kappa = κ >= 0` the noise standard deviation on the **sum** of clipped
/// gradients over the clipping norm (0 gives `+inf`), `order = α` in (1, 1e6]. Result in nats.
///
/// # Source
/// Profile: Balle, Barthe and Gaboardi (2018), advanced joint convexity. Integral: ours; proof in
/// docs/theory/renyi-replace-one.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::rdp;
/// let epsilon = rdp::poisson_replace_one(0.1, 62.0, 32.0)?;
/// assert!(epsilon > 1.665e-4 && epsilon < 1.683e-4); // no curve is below 1.665e-4
/// assert!(epsilon < rdp::fixed_size_thm9(0.1, 31.0, 32.0)? / 600.0);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn poisson_replace_one(sampling_rate: f64, kappa: f64, order: f64) -> Result<f64> {
    ReplaceOne::checked(sampling_rate, kappa)?.at(order, PROFILE)
}

/// [`poisson_replace_one`] at many orders; they share the profile, so that a curve costs little more
/// than one order.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::rdp;
/// let curve = rdp::poisson_replace_one_curve(0.1, 62.0, &[2.0, 32.0])?;
/// assert_eq!(curve[1], rdp::poisson_replace_one(0.1, 62.0, 32.0)?);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn poisson_replace_one_curve(
    sampling_rate: f64,
    kappa: f64,
    orders: &[f64],
) -> Result<Vec<f64>> {
    ReplaceOne::checked(sampling_rate, kappa)?.curve(orders, PROFILE)
}

/// `q(1 − β)` and `qβ` with `β = q + (1 − q)/a`.
const PROFILE: ProfileBound = ProfileBound {
    weights: |rate, u| {
        let complement = -(-u).exp_m1() * (1.0 - rate);
        [rate * complement, rate * (rate + (1.0 - rate) * (-u).exp())]
    },
    largest_first: |rate| rate * (1.0 - rate),
};
