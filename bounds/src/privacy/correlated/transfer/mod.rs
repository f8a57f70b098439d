//! Transfer bounds (L2T, L2TD): deterministic upper bounds on δ for correlated noise, in both orders.
//!
//! The likelihood ratio of the pair is followed along the Gaussian chain `c_v = x_v + λ c_{v+1}`,
//! `v = T..1`. The participations already seen act on earlier steps through one number, their damping
//! `D`; the measure over `D` is replaced at random by a single atom of the same mean, which by
//! Jensen's inequality can only raise a convex function of the likelihood ratio. The distribution of
//! its logarithm is never put on a grid: its moments `E S^s` on a line of complex `s` are computed by
//! a recursion with non-negative weights, and δ follows from an inversion whose aliasing is positive
//! and whose truncation is bounded. A run of equal steps is taken at once when its growth has
//! settled, so the cost hardly depends on `T`.
//!
//! Statement, proof and error terms: docs/theory/accounting.md (transfer bounds).

mod chain;
mod damping;
mod inversion;
mod moments;
mod overflow;
mod positions;
mod underflow;

pub use inversion::Transfer;

use crate::error::{BoundError, Result};
use crate::privacy::{Order, Pair};

/// Whether participations damp each other in the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repulsion {
    /// L2TD: all of it is kept. Tight.
    Kept,
    /// L2T: dropped, valid in the forward order only. Cheap, and good while overlaps are rare.
    Dropped,
}

/// How fine the grids are. Every resolution gives a valid bound; a finer one a smaller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolution {
    /// Spacing of the positions in units of the noise, in (0, 1].
    pub spacing: f64,
    /// Logarithmic spacing of the dampings, about, in (0, 2].
    pub damping_ratio: f64,
    /// Standard deviation, times the Chernoff exponent plus one, of the log-normal multiplier that
    /// shortens the inversion, in (0, 0.5]. It adds about half its square to `log δ`.
    pub smoothing: f64,
}

impl Resolution {
    /// For searches: about one to two percent above [`Self::FINE`] in κ.
    pub const COARSE: Self = Self { spacing: 0.25, damping_ratio: 0.8, smoothing: 0.2 };
    /// For answers.
    pub const FINE: Self = Self { spacing: 0.12, damping_ratio: 0.4, smoothing: 0.15 };
    /// For the last three tenths of a percent in κ; costs twice as much as [`Self::FINE`].
    pub const FINEST: Self = Self { spacing: 0.08, damping_ratio: 0.4, smoothing: 0.1 };
}

/// An upper bound on `H_{e^ε}` of the pair in the given order; 1 where the bound is vacuous.
///
/// `epsilon` in nats, any finite number. See [`Transfer`] for many ε at once.
///
/// # Errors
/// [`BoundError::Unproven`] for a participation rate of 1 (use the Gaussian mechanism), and for
/// [`Repulsion::Dropped`] in the reverse order.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Order, Pair};
/// use dpbounds_bounds::privacy::correlated::transfer::{Repulsion, Resolution, delta};
/// let pair = Pair::new(0.1, 1.0, 0.5, 3)?;
/// let bound = delta(&pair, Order::Forward, 0.5, Repulsion::Kept, Resolution::FINE)?;
/// assert!(bound > 0.023_184 && bound < 0.024_1); // exact: 0.023184...
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn delta(
    pair: &Pair,
    order: Order,
    epsilon: f64,
    repulsion: Repulsion,
    resolution: Resolution,
) -> Result<f64> {
    Ok(Transfer::new(pair, order, epsilon, repulsion, resolution)?.delta(epsilon))
}

fn check(pair: &Pair, order: Order, repulsion: Repulsion) -> Result<()> {
    if pair.rate() == 1.0 {
        return Err(BoundError::Unproven {
            request: "a transfer bound for participation in every step".into(),
            why: "the likelihood ratio is then exactly Gaussian",
            nearest: "the Gaussian mechanism (sampler full)",
        });
    }
    if (order, repulsion) == (Order::Reverse, Repulsion::Dropped) && pair.lambda() > 0.0 {
        return Err(BoundError::Unproven {
            request: "a transfer bound without repulsion in the reverse order".into(),
            why: "dropping the repulsion raises the likelihood ratio, which lowers this side",
            nearest: "the transfer bound with the repulsion kept",
        });
    }
    Ok(())
}
