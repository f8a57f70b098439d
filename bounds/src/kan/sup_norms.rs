//! Largest values of a spline basis and its derivatives, in closed form.

use super::{Knots, SplineBasis, number};
use crate::error::{BoundError, Result};

/// Suprema over [−1, 1] of a clamped basis, its first and its second derivative.
///
/// With degree `k`, `p` functions and span width `w = 2/(p − k)`:
///
/// ```text
/// sup |b| = sup ||h|| = 1,   sup |b'| = k/w,   sup ||h'|| = sqrt(2) k/w
/// p = k + 1:  sup |b''| = 2   k(k−1)/w²,  sup ||h''|| = sqrt(6)   k(k−1)/w²
/// p > k + 1:  sup |b''| = 1.5 k(k−1)/w²,  sup ||h''|| = sqrt(3.5) k(k−1)/w²
/// ```
///
/// All are attained at ±1. `b` runs over the single functions, `||h||` is the Euclidean norm of all `p`. The values
/// are rounded to nearest. The derivatives inside a span are meant where they jump.
///
/// # Source
/// Ours: checked for k = 1..7 and p − k = 1..15 to 2e-15, not proven for others.
///
/// # Errors
/// [`SupNorms::of`] refuses knots that are not clamped with [`BoundError::Unproven`].
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{Knots, SplineBasis, SupNorms};
/// let norms = SupNorms::of(&SplineBasis::new(3, 4, Knots::Clamped)?)?;
/// assert_eq!((norms.function_slope, norms.function_curvature), (1.5, 3.0));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SupNorms {
    /// `B_b = sup |b_i|`.
    pub function: f64,
    /// `B'_b = sup |b_i'|`.
    pub function_slope: f64,
    /// `B''_b = sup |b_i''|`.
    pub function_curvature: f64,
    /// `sup ||h||`.
    pub vector: f64,
    /// `sup ||h'||`.
    pub vector_slope: f64,
    /// `sup ||h''||`.
    pub vector_curvature: f64,
}

impl SupNorms {
    /// The suprema of `basis`; its knots have to be clamped.
    ///
    /// # Errors
    /// [`BoundError::Unproven`] for cardinal knots.
    pub fn of(basis: &SplineBasis) -> Result<Self> {
        if basis.kind() != Knots::Clamped {
            return Err(BoundError::Unproven {
                request: "closed-form suprema of a basis on cardinal knots".into(),
                why: "the closed forms are those of clamped knots, attained at the ends",
                nearest: "clamped knots, or the realised constants, which hold for any knots",
            });
        }
        let (degree, width) = (number(basis.degree()), basis.span_width());
        let slope = degree / width;
        let curvature = degree * (degree - 1.0) / (width * width);
        let (function, vector) =
            if basis.spans() == 1 { (2.0, 6.0_f64.sqrt()) } else { (1.5, 3.5_f64.sqrt()) };
        Ok(Self {
            function: 1.0,
            function_slope: slope,
            function_curvature: function * curvature,
            vector: 1.0,
            vector_slope: std::f64::consts::SQRT_2 * slope,
            vector_curvature: vector * curvature,
        })
    }
}
