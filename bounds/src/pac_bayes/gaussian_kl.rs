//! Kullback–Leibler divergence between Gaussian posteriors and priors. All arguments are **variances**.

use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::special::log1p_excess;
use crate::warrant::{Bound, Quantity, Source};

const KL: Quantity = Quantity { name: "kl", unit: "nats" };
const SOURCE: Source = Source::new("standard", "KL divergence of Gaussians");

/// Isotropic: `(d/2)(z − log(1+z)) + |μ − μ0|²/(2 s_p)` with `z = s_r/s_p − 1`.
///
/// `dimension = d` (1 to 2^53), `squared_distance = |μ − μ0|² >= 0`, `posterior_variance = s_r > 0`,
/// `prior_variance = s_p > 0`.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::pac_bayes::gaussian_kl;
/// let kl = gaussian_kl::isotropic(1_200_000, 3.5, 0.000_100_01, 0.0001)?;
/// assert!((kl.value.unwrap() / 17_500.002_999_800_014 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn isotropic(
    dimension: u64,
    squared_distance: f64,
    posterior_variance: f64,
    prior_variance: f64,
) -> Result<Bound> {
    let dimension = domain::count("dimension", dimension)?;
    let distance = domain::non_negative("squared_distance", squared_distance)?;
    let posterior = domain::positive("posterior_variance", posterior_variance)?;
    let prior = domain::positive("prior_variance", prior_variance)?;
    let spread = dimension / 2.0 * variance_part(posterior, prior);
    let shift = distance / (2.0 * prior);
    Ok(Bound::exact(KL, spread + shift, SOURCE)?
        .with_term("variances", spread)
        .with_term("means", shift))
}

/// `z − log(1+z)` at `z = s_r/s_p − 1`.
fn variance_part(posterior: f64, prior: f64) -> f64 {
    let z = (posterior - prior) / prior;
    if z < -0.9 { z - (posterior.ln() - prior.ln()) } else { log1p_excess(z) }
}

/// Diagonal: `½ Σ_i [ z_i − log(1+z_i) + (μ_i − μ0_i)²/p_i ]`, `z_i = s_i/p_i − 1`.
///
/// Four slices of the same length `d >= 1`: means and **variances** of posterior and prior.
///
/// # Errors
/// [`BoundError`] for empty slices, different lengths or a variance that is not positive.
///
/// # Examples
/// ```
/// use dpbounds_bounds::pac_bayes::gaussian_kl;
/// let kl = gaussian_kl::diagonal(&[0.0, 1.0], &[0.5, 1.0], &[1.0, 0.1], &[1.0, 0.2])?;
/// assert!(kl.value.unwrap() > 0.125);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn diagonal(
    posterior_mean: &[f64],
    prior_mean: &[f64],
    posterior_variance: &[f64],
    prior_variance: &[f64],
) -> Result<Bound> {
    let dimension = posterior_mean.len();
    for (name, other) in [
        ("prior_mean", prior_mean),
        ("posterior_variance", posterior_variance),
        ("prior_variance", prior_variance),
    ] {
        if other.len() != dimension {
            #[allow(clippy::cast_precision_loss)] // only shown
            return Err(BoundError::Conflict {
                parameter: name,
                value: Shown(other.len() as f64),
                other: "posterior_mean",
                other_value: Shown(dimension as f64),
                requirement: "the four lists must have the same length",
            });
        }
    }
    if dimension == 0 {
        return Err(BoundError::Input {
            parameter: "posterior_mean".into(),
            problem: "the list is empty; give at least one coordinate".into(),
        });
    }
    let mut total = 0.0;
    for i in 0..dimension {
        let shift = domain::finite("posterior_mean", posterior_mean[i])?
            - domain::finite("prior_mean", prior_mean[i])?;
        let posterior = domain::positive("posterior_variance", posterior_variance[i])?;
        let prior = domain::positive("prior_variance", prior_variance[i])?;
        total += (variance_part(posterior, prior) + shift * shift / prior) / 2.0;
    }
    Bound::exact(KL, total, SOURCE)
}
