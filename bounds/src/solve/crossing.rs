//! Where a decreasing positive function falls to a target, by few evaluations, ending on the safe side.

use crate::error::Result;

/// A point where the function is at most the target, and the largest point seen where it is above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Largest argument seen with a value above the target, if any.
    pub above: Option<f64>,
    /// The answer: an evaluated argument whose value is at most the target.
    pub argument: f64,
    /// The value there.
    pub value: f64,
}

/// The slope of `log value` against `log argument` that is assumed before two values are known.
const FIRST_SLOPE: f64 = -8.0;
const MAX_EVALUATIONS: u32 = 80;

/// The smallest argument found with `value(argument) <= target`, for a decreasing `value` of a positive
/// argument.
///
/// False position on the logarithms, started at `guess`. Stops when the root expected by
/// interpolation, or the largest argument refuted, is within `tolerance` (relative) of the answer. The
/// answer has been evaluated. `None` if no argument up to `limit` meets the target.
///
/// # Errors
/// Whatever `value` returns.
///
/// ```
/// use dpbounds_bounds::solve::decreasing_crossing;
/// let root = decreasing_crossing(|x| Ok(x.powi(-10)), 1e-5, 1.0, 1e9, 1e-4)?.unwrap();
/// assert!(root.value <= 1e-5 && root.argument < 10f64.sqrt() * 1.0002);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn decreasing_crossing(
    mut value: impl FnMut(f64) -> Result<f64>,
    target: f64,
    guess: f64,
    limit: f64,
    tolerance: f64,
) -> Result<Option<Crossing>> {
    let goal = target.max(f64::MIN_POSITIVE).ln();
    let mut above: Option<(f64, f64)> = None;
    let mut below: Option<(f64, f64)> = None;
    let mut found: Option<(f64, f64)> = None;
    let mut x = guess.ln();
    let mut same_side = 0;
    let mut last_side = false;
    for _ in 0..MAX_EVALUATIONS {
        let argument = x.exp().min(limit);
        let result = value(argument)?;
        let height = result.max(1e-300).ln() - goal;
        let meets = result <= target;
        same_side = if meets == last_side { same_side + 1 } else { 0 };
        last_side = meets;
        if meets {
            below = Some((argument.ln(), height));
            found = Some((argument, result));
        } else {
            if argument >= limit {
                return Ok(None);
            }
            above = Some((argument.ln(), height));
        }
        x = match (above, below) {
            (Some(above), Some(below)) => {
                let width = below.0 - above.0;
                // Values on the flat part (1 or 0) say nothing about the slope.
                let informative = above.1 < -goal - 1e-9 && below.1 > -200.0;
                let share = if informative { above.1 / (above.1 - below.1) } else { 0.5 };
                let root = above.0 + share * width;
                if width <= tolerance
                    || (informative && below.0 - root <= tolerance && same_side == 0)
                {
                    break;
                }
                // A little to the safe side, and towards the stale end when one end does not move.
                let aimed = root + 0.3 * tolerance;
                let pulled = if same_side >= 1 {
                    let stale = if meets { above.0 } else { below.0 };
                    aimed + (stale - aimed) * (0.25 * f64::from(same_side)).min(0.5)
                } else {
                    aimed
                };
                pulled.clamp(above.0 + 0.01 * width, below.0 - 0.01 * width)
            }
            (Some(above), None) => {
                above.0 + (-above.1 / FIRST_SLOPE).clamp(0.02, 1.5) + 0.3 * tolerance
            }
            (None, Some(below)) => {
                if below.0 < -690.0 {
                    break;
                }
                below.0 + (-below.1 / FIRST_SLOPE).clamp(-1.5, -0.02)
            }
            (None, None) => break,
        };
    }
    Ok(found.map(|(argument, value)| Crossing {
        above: above.map(|(x, _)| x.exp()),
        argument,
        value,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(f: impl Fn(f64) -> f64, target: f64, guess: f64) -> (f64, u32) {
        let mut calls = 0;
        let value = |x: f64| {
            calls += 1;
            Ok(f(x))
        };
        let root = decreasing_crossing(value, target, guess, 1e12, 1e-4).unwrap().unwrap();
        assert!(root.value <= target && f(root.argument) <= target);
        (root.argument, calls)
    }

    #[test]
    fn ends_on_the_safe_side_close_to_the_root_from_any_start() {
        for guess in [1e-6, 0.3, 1.0, 4.0, 1e5] {
            let (root, calls) = solve(|x| x.powi(-12), 1e-5, guess);
            let exact = 1e-5f64.powf(-1.0 / 12.0);
            assert!(root >= exact * (1.0 - 1e-12) && root < exact * 1.001, "{guess}: {root}");
            assert!(calls < 40, "{calls}");
            // Flat at 1, then steep, then zero.
            let (root, _) = solve(|x| if x > 9.0 { 0.0 } else { (-(x * x)).exp() }, 1e-5, guess);
            let exact = (1e5f64).ln().sqrt();
            assert!(root >= exact * (1.0 - 1e-12) && root < exact * 1.001, "{guess}: {root}");
        }
    }

    #[test]
    fn no_crossing_below_the_limit_is_reported() {
        assert_eq!(decreasing_crossing(|_| Ok(1.0), 0.5, 1.0, 1e6, 1e-3).unwrap(), None);
    }
}
