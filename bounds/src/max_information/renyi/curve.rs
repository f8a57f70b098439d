//! A Rényi-DP curve: several guarantees of one mechanism.

use crate::domain;
use crate::error::{BoundError, Result, Shown};

/// One guarantee: (α, ε)-RDP under replace-one neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RenyiPoint {
    /// Order, above 1.
    pub alpha: f64,
    /// Divergence bound in nats, non-negative.
    pub epsilon: f64,
}

/// A non-empty set of **replace-one** guarantees of one mechanism, sorted by order, each order once. A curve
/// whose relation is known at run time goes through [`RenyiCurve::of_relation`].
///
/// ```
/// use dpbounds_bounds::max_information::renyi::{RenyiCurve, RenyiPoint};
/// let curve = RenyiCurve::new(vec![
///     RenyiPoint { alpha: 8.0, epsilon: 0.02 },
///     RenyiPoint { alpha: 2.0, epsilon: 0.005 },
/// ])?;
/// assert_eq!(curve.points()[0].alpha, 2.0);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RenyiCurve {
    points: Vec<RenyiPoint>,
}

impl RenyiCurve {
    /// Checks and sorts the points.
    ///
    /// # Errors
    /// [`BoundError::Input`] for an empty curve or a repeated order, [`BoundError::OutOfRange`] for
    /// an order `<= 1` or a negative divergence.
    pub fn new(mut points: Vec<RenyiPoint>) -> Result<Self> {
        if points.is_empty() {
            return Err(BoundError::Input {
                parameter: "curve".into(),
                problem: "the Renyi curve has no points; give at least one pair alpha,epsilon"
                    .into(),
            });
        }
        for point in &points {
            domain::order_minus_one("alpha", point.alpha)?;
            domain::non_negative("epsilon", point.epsilon)?;
        }
        points.sort_by(|a, b| a.alpha.total_cmp(&b.alpha));
        if let Some(pair) = points.windows(2).find(|pair| pair[0].alpha == pair[1].alpha) {
            return Err(BoundError::Input {
                parameter: "curve".into(),
                problem: format!(
                    "order alpha = {} occurs twice; keep one epsilon for each order",
                    Shown(pair[0].alpha)
                ),
            });
        }
        Ok(Self { points })
    }

    /// The curve `ε(α) = α/(2σ²)` of the Gaussian mechanism on a fixed grid of orders.
    ///
    /// `sigma > 0` is the noise relative to the replace-one sensitivity.
    ///
    /// # Source
    /// Mironov (2017), Corollary 3.
    ///
    /// # Errors
    /// [`BoundError::OutOfRange`] unless `sigma` is positive and finite.
    pub fn gaussian(sigma: f64) -> Result<Self> {
        let sigma = domain::positive("sigma", sigma)?;
        let points = (0..=96)
            .map(|step| {
                let alpha = 1.0 + 10f64.powf(-3.0 + f64::from(step) / 12.0);
                RenyiPoint { alpha, epsilon: alpha / (2.0 * sigma * sigma) }
            })
            .filter(|point| point.epsilon.is_finite())
            .collect();
        Self::new(points)
    }

    /// The points in order of `alpha`.
    #[must_use]
    pub fn points(&self) -> &[RenyiPoint] {
        &self.points
    }
}
