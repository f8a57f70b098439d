//! What the replace-one curves of sampled batches share: arguments, the ends of their range, orders.

use super::fixed_size::check_order;
use super::profile_integral::{ProfileBound, ProfileIntegral};
use crate::domain;
use crate::error::Result;
use crate::round::round_up;

/// RDP `ε(α)` of one Gaussian step on the whole data set under **replace-one**: `2α/κ²`, rounded up.
///
/// Exact for the sum of vectors clipped to norm 1, whose replace-one sensitivity is 2.
///
/// `kappa = κ >= 0` the noise standard deviation on the **sum** of clipped gradients over the clipping
/// norm (0 gives `+inf`), `order = α > 1`. Result in nats.
///
/// # Source
/// Mironov (2017), Corollary 3.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let epsilon = dpbounds_bounds::privacy::rdp::full_batch_replace_one(62.0, 32.0)?;
/// assert!((epsilon / (2.0 * 32.0 / 62.0 / 62.0) - 1.0).abs() < 1e-11);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn full_batch_replace_one(kappa: f64, order: f64) -> Result<f64> {
    let kappa = domain::non_negative("kappa", kappa)?;
    domain::order_minus_one("order", order)?;
    Ok(round_up(2.0 * order / kappa / kappa))
}

/// The checked sampling rate and noise of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplaceOne {
    rate: f64,
    kappa: f64,
}

impl ReplaceOne {
    pub fn checked(rate: f64, kappa: f64) -> Result<Self> {
        Ok(Self {
            rate: domain::probability("sampling_rate", rate)?,
            kappa: domain::non_negative("kappa", kappa)?,
        })
    }

    pub fn at(self, order: f64, bound: ProfileBound) -> Result<f64> {
        Ok(self.curve(&[order], bound)?[0])
    }

    pub fn curve(self, orders: &[f64], bound: ProfileBound) -> Result<Vec<f64>> {
        for &order in orders {
            check_order(order)?;
        }
        if self.rate == 0.0 {
            return Ok(vec![0.0; orders.len()]);
        }
        if self.rate == 1.0 || self.kappa == 0.0 {
            return orders.iter().map(|&order| full_batch_replace_one(self.kappa, order)).collect();
        }
        let largest = orders.iter().copied().fold(1.0, f64::max);
        let integral = ProfileIntegral::new(self.rate, self.kappa, largest, bound);
        orders
            .iter()
            .map(|&order| {
                let sampled = round_up(integral.log_moment(order) / (order - 1.0));
                Ok(sampled.min(full_batch_replace_one(self.kappa, order)?))
            })
            .collect()
    }
}
