//! The best Rényi bound: the gamma form with hockey-stick conversion over splits and orders.

use super::gamma::gamma_value;
use super::quadratic::split_levels;
use super::{RenyiCurve, RenyiPoint, Setting};
use super::{gamma_half_hs, linear, linear_hs, theorem2, v_star_split};
use crate::error::Result;
use crate::max_information::search::{Conversion, Searched};
use crate::max_information::{FailureLevel, ours};
use crate::solve::minimize;
use crate::warrant::Bound;

fn gamma_at(setting: Setting, level: FailureLevel, logit: f64) -> Result<Searched> {
    let (b1, b2) = split_levels(level, logit);
    gamma_value(setting.v_star(b1), setting.h, b2, Conversion::HockeyStick)
}

fn split_value(setting: Setting, level: FailureLevel) -> Result<Searched> {
    let value_at = |logit| gamma_at(setting, level, logit).map_or(f64::NAN, |found| found.value);
    let found = minimize(value_at, -40.0, 40.0)?;
    let (best, even) = (gamma_at(setting, level, found.argument)?, gamma_at(setting, level, 0.0)?);
    Ok(if best.value < even.value { best } else { even })
}

/// A value no split can go below: `v*` with the whole of β and the tail with the whole of β.
fn floor_value(setting: Setting, level: FailureLevel) -> Result<f64> {
    let whole = level.log_inverse();
    let found = gamma_value(setting.v_star(whole), setting.h, whole, Conversion::HockeyStick)?;
    Ok(found.value)
}

/// The gamma form with hockey-stick conversion and the split of `β` optimised.
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
/// let level = FailureLevel::from_beta(0.025)?;
/// let best = renyi::optimised_split(60_000, 32.0, 0.01, level)?;
/// assert!(best.value <= renyi::gamma_half_hs(60_000, 32.0, 0.01, level)?.value);
/// assert!(best.value <= renyi::v_star_split(60_000, 32.0, 0.01, level)?.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn optimised_split(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    let source = ours("gamma form of Theorem 2 with hockey-stick conversion, split optimised");
    split_value(Setting::new(n, alpha, epsilon)?, level)?.bound(source)
}

/// The smallest bound for one (α, ε)-RDP guarantee; the others are its alternatives.
///
/// `n` records (1 to 2^53), replace-one `(alpha, epsilon)`-RDP in both directions for the whole
/// release, failure level `β`.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let best = renyi::best(60_000, 32.0, 0.01, FailureLevel::from_beta(0.025)?)?;
/// assert!(best.value.unwrap() < 194.3);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn best(n: u64, alpha: f64, epsilon: f64, level: FailureLevel) -> Result<Bound> {
    Bound::best_of(vec![
        optimised_split(n, alpha, epsilon, level)?,
        gamma_half_hs(n, alpha, epsilon, level)?,
        v_star_split(n, alpha, epsilon, level)?,
        theorem2(n, alpha, epsilon, level)?,
        linear_hs(n, alpha, epsilon, level)?,
        linear(n, alpha, epsilon, level)?,
    ])
}

/// The smallest bound over a whole curve of guarantees of one mechanism: each is valid, so the
/// minimum is. The order that wins is named in the source.
///
/// `n` records (1 to 2^53), a replace-one curve, failure level `β`.
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
/// let level = FailureLevel::from_beta(0.025)?;
/// let curve = renyi::RenyiCurve::gaussian(50.0)?;
/// let best = renyi::best_over_curve(60_000, &curve, level)?;
/// assert!(best.value.unwrap() < 56.3);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn best_over_curve(n: u64, curve: &RenyiCurve, level: FailureLevel) -> Result<Bound> {
    let winner = winning_point(n, curve.points(), level)?;
    let smallest = |bound: OneGuarantee| -> Result<Bound> {
        let all: Result<Vec<_>> = curve
            .points()
            .iter()
            .map(|point| bound(n, point.alpha, point.epsilon, level))
            .collect();
        let mut best = Bound::best_of(all?)?;
        best.alternatives.clear();
        Ok(best)
    };
    Bound::best_of(vec![at_order(n, winner, level)?, smallest(theorem2)?, smallest(linear_hs)?])
}

type OneGuarantee = fn(u64, f64, f64, FailureLevel) -> Result<Bound>;

/// [`optimised_split`] at one point of a curve, with the order in the source.
fn at_order(n: u64, point: RenyiPoint, level: FailureLevel) -> Result<Bound> {
    let mut bound = optimised_split(n, point.alpha, point.epsilon, level)?;
    bound.source.statement =
        format!("{}, order alpha = {:.4}", bound.source.statement, point.alpha).into();
    Ok(bound)
}

/// The point with the smallest optimised value. Points are visited by a floor of what they can
/// reach, and the search ends when no floor is lower.
fn winning_point(n: u64, points: &[RenyiPoint], level: FailureLevel) -> Result<RenyiPoint> {
    let mut candidates = Vec::with_capacity(points.len());
    for &point in points {
        let setting = Setting::new(n, point.alpha, point.epsilon)?;
        candidates.push((floor_value(setting, level)?, point, setting));
    }
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut smallest, mut winner) = (f64::INFINITY, candidates[0].1);
    for &(floor, point, setting) in &candidates {
        if floor >= smallest {
            break;
        }
        let value = split_value(setting, level)?.value;
        if value < smallest {
            (smallest, winner) = (value, point);
        }
    }
    Ok(winner)
}

/// The smallest bound where `epsilon(alpha)` is known for every order: a grid of orders, refined
/// around the best one. Theorem 2 at its own best order is the first alternative.
///
/// `n` records (1 to 2^53), `epsilon` a replace-one curve in nats, failure level `β`.
///
/// # Source
/// Ours; docs/theory/max-information.md (Rényi DP).
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range or a curve that is nowhere finite.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, renyi};
/// let level = FailureLevel::from_beta(0.025)?;
/// let best = renyi::best_over_orders(60_000, |alpha| alpha / 5000.0, level)?;
/// assert!(best.value.unwrap() < 56.1);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn best_over_orders(
    n: u64,
    epsilon: impl Fn(f64) -> f64,
    level: FailureLevel,
) -> Result<Bound> {
    let point = |log_h: f64| {
        let alpha = 1.0 + log_h.exp();
        RenyiPoint { alpha, epsilon: epsilon(alpha) }
    };
    let finite = |point: &RenyiPoint| point.alpha > 1.0 && point.epsilon.is_finite();
    let grid: Vec<_> =
        (-28..=56).map(|step| point(f64::from(step) * GRID_STEP)).filter(finite).collect();
    let curve = RenyiCurve::new(grid)?;
    let coarse = winning_point(n, curve.points(), level)?;
    let centre = (coarse.alpha - 1.0).ln();
    let refined = minimize(
        |log_h| {
            let RenyiPoint { alpha, epsilon } = point(log_h);
            Setting::new(n, alpha, epsilon)
                .and_then(|setting| split_value(setting, level))
                .map_or(f64::INFINITY, |found| found.value)
        },
        centre - GRID_STEP,
        centre + GRID_STEP,
    )?;
    let mut candidates = vec![at_order(n, coarse, level)?];
    if finite(&point(refined.argument)) {
        candidates.insert(0, at_order(n, point(refined.argument), level)?);
    }
    let mut best = Bound::best_of(candidates)?;
    best.alternatives.clear();
    let mut bounds = vec![best];
    for statement in [theorem2 as OneGuarantee, linear_hs] {
        let objective = |log_h: f64| {
            let RenyiPoint { alpha, epsilon } = point(log_h);
            let bound = statement(n, alpha, epsilon, level);
            bound.ok().and_then(|bound| bound.value).unwrap_or(f64::INFINITY)
        };
        let found = minimize(objective, -28.0 * GRID_STEP, 56.0 * GRID_STEP)?;
        let RenyiPoint { alpha, epsilon } = point(found.argument);
        bounds.extend(statement(n, alpha, epsilon, level));
    }
    Bound::best_of(bounds)
}

/// Step of the grid of orders in `log(α − 1)`.
const GRID_STEP: f64 = 0.25;

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;

    #[test]
    fn the_search_by_floors_finds_the_minimum_over_all_orders() {
        for sigma in [0.7, 10.0, 300.0] {
            let curve = RenyiCurve::gaussian(sigma).unwrap();
            let fast = best_over_curve(5000, &curve, level(0.01)).unwrap().value.unwrap();
            let slow = curve
                .points()
                .iter()
                .map(|p| best(5000, p.alpha, p.epsilon, level(0.01)).unwrap().value.unwrap())
                .fold(f64::INFINITY, f64::min);
            assert!((fast / slow - 1.0).abs() < 1e-12, "{sigma}: {fast} {slow}");
        }
    }
}
