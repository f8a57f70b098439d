//! A grid of prior variances `c e^{−j/b}`, `j = 1, 2, …`, paid for by a union bound.

use std::f64::consts::PI;

use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::warrant::{Bound, Quantity, Source};

const PENALTY: Quantity = Quantity { name: "penalty", unit: "nats" };
const SOURCE: Source = Source::new("Dziugaite and Roy 2017", "prior variance grid");

/// A point of the grid: the integer `j`, its variance and the penalty to add to the log term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridPoint {
    /// Index, at least 1.
    pub j: f64,
    /// Prior variance `c e^{−j/b}`: compute the KL divergence with this one.
    pub variance: f64,
    /// `log(π² j²/6)` in nats.
    pub penalty: f64,
}

/// The grid point nearest to a wished prior variance, with `j` rounded to an integer `>= 1`.
///
/// `0 < variance < c`, `b > 0` (points per unit of log variance).
///
/// # Source
/// Dziugaite and Roy (2017); docs/theory/pac-bayes.md.
///
/// # Errors
/// [`BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// let point = dpbounds_bounds::pac_bayes::prior_grid::nearest(0.01, 0.1, 100.0)?;
/// assert_eq!(point.j, 230.0);
/// assert!((point.variance - 0.01).abs() < 1e-4);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn nearest(variance: f64, c: f64, b: f64) -> Result<GridPoint> {
    let j = unrounded(variance, c, b)?.round().max(1.0);
    Ok(GridPoint { j, variance: c * (-j / b).exp(), penalty: penalty_at(j) })
}

/// The penalty at the nearest grid point as a bound; its source names the integer index and the variance
/// with which the KL divergence has to be computed.
///
/// `0 < variance < c`, `b > 0`.
///
/// # Source
/// Dziugaite and Roy (2017); docs/theory/pac-bayes.md.
///
/// # Errors
/// [`BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// let penalty = dpbounds_bounds::pac_bayes::prior_grid::nearest_penalty(0.01, 0.1, 100.0)?;
/// assert!(penalty.source.statement.contains("j = 230"));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn nearest_penalty(variance: f64, c: f64, b: f64) -> Result<Bound> {
    let point = nearest(variance, c, b)?;
    let mut bound = Bound::upper_bound(PENALTY, point.penalty, SOURCE)?;
    bound.source.statement =
        format!("prior variance grid, j = {}, prior variance {:e}", point.j, point.variance).into();
    Ok(bound)
}

/// `2 log j + log(π²/6)` at the **unrounded** `j = b log(c/variance)`: for comparison only, because a
/// certificate needs an integer `j` ([`nearest`]).
///
/// `0 < variance < c`, `b > 0`.
///
/// # Source
/// Dziugaite and Roy (2017).
///
/// # Errors
/// [`BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// let penalty = dpbounds_bounds::pac_bayes::prior_grid::penalty(0.01, 0.1, 100.0)?;
/// assert!((penalty.value.unwrap() / 11.376_105_564_942_84 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn penalty(variance: f64, c: f64, b: f64) -> Result<Bound> {
    let value = penalty_at(unrounded(variance, c, b)?);
    let mut bound = Bound::upper_bound(PENALTY, value, SOURCE)?;
    bound.warrant = crate::warrant::Warrant::Estimate;
    bound.upper = None;
    Ok(bound)
}

fn unrounded(variance: f64, c: f64, b: f64) -> Result<f64> {
    let variance = domain::positive("variance", variance)?;
    let c = domain::positive("c", c)?;
    let b = domain::positive("b", b)?;
    if variance >= c {
        return Err(BoundError::Conflict {
            parameter: "variance",
            value: Shown(variance),
            other: "c",
            other_value: Shown(c),
            requirement: "the grid lies below its upper end c; raise c",
        });
    }
    Ok(b * (c / variance).ln())
}

fn penalty_at(j: f64) -> f64 {
    2.0 * j.ln() + (PI * PI / 6.0).ln()
}
