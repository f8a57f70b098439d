//! The RDP curve of one Gaussian step on a batch of fixed size under replace-one.

use super::profile_integral::ProfileBound;
use super::replace_one::ReplaceOne;
use crate::error::Result;

/// RDP `ε(α)` of one Gaussian step on a batch of fixed size, drawn without replacement, under
/// **replace-one**, rounded up.
///
/// `ε(α) = log(1 + α(α−1) ∫_0^∞ (e^{(α−1)e} + e^{−αe}) f(e^e) de) / (α−1)` with the privacy profile
/// `f(γ) = q H_a(N(2/κ,1) ‖ N(0,1))`, `a = 1 + (γ−1)/q`, which bounds both orders of every pair. Never above the
/// full batch, `2α/κ²`; hundreds of times below [`super::fixed_size_thm9`] at large noise and order.
///
/// `sampling_rate = q = B/n` in [0, 1], `kappa = κ >= 0` the noise standard deviation on the **sum** of
/// clipped gradients over the clipping norm (0 gives `+inf`), `order = α` in (1, 1e6]. Result in nats.
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
/// let epsilon = rdp::fixed_size_replace_one(0.1, 62.0, 32.0)?;
/// assert!(epsilon > 1.665e-4 && epsilon < 1.706e-4);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn fixed_size_replace_one(sampling_rate: f64, kappa: f64, order: f64) -> Result<f64> {
    ReplaceOne::checked(sampling_rate, kappa)?.at(order, PROFILE)
}

/// [`fixed_size_replace_one`] at many orders; they share the profile.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::rdp;
/// let curve = rdp::fixed_size_replace_one_curve(0.1, 62.0, &[2.0, 32.0])?;
/// assert_eq!(curve[1], rdp::fixed_size_replace_one(0.1, 62.0, 32.0)?);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn fixed_size_replace_one_curve(
    sampling_rate: f64,
    kappa: f64,
    orders: &[f64],
) -> Result<Vec<f64>> {
    ReplaceOne::checked(sampling_rate, kappa)?.curve(orders, PROFILE)
}

const PROFILE: ProfileBound =
    ProfileBound { weights: |rate, _| [0.0, rate], largest_first: |_| 0.0 };
