//! Where a decreasing positive function falls to a target, by few evaluations, ending on the safe side.

use crate::error::Result;

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// The first argument, positive.
    pub guess: f64,
    /// The expected slope of `log value` against `log argument`, negative.
    pub slope: f64,
}

impl Start {
    /// A start without knowledge of the slope.
    #[must_use]
    pub const fn at(guess: f64) -> Self {
        Self { guess, slope: -8.0 }
    }
}

/// A point where the function is at most the target, and the largest point seen where it is above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Largest argument seen with a value above the target, if any.
    pub above: Option<f64>,
    /// The answer: an evaluated argument whose value is at most the target.
    pub argument: f64,
    /// The value there.
    pub value: f64,
    /// The slope of `log value` against `log argument` near the answer, as far as it was seen.
    pub slope: f64,
}

const MAX_EVALUATIONS: u32 = 80;
/// Slopes outside this range come from flat parts or from noise.
const SLOPES: (f64, f64) = (-200.0, -0.5);

/// Logarithms of an argument and of its value over the target.
#[derive(Clone, Copy)]
struct Point {
    x: f64,
    height: f64,
}

impl Point {
    /// Values on the flat part (1 or 0) say nothing about the slope.
    fn is_informative(self, goal: f64) -> bool {
        self.height < -goal - 1e-9 && self.height > -200.0
    }
}

/// The smallest argument found with `value(argument) <= target`, for a decreasing `value` of a positive
/// argument.
///
/// False position on the logarithms. Stops when the root expected from the slope, or the largest
/// argument refuted, is within `tolerance` (relative) of the answer. The answer has been evaluated.
/// `None` if no argument up to `limit` meets the target. A value that is not a number ends the search with
/// what has been found, as when time is up.
///
/// # Errors
/// Whatever `value` returns.
///
/// ```
/// use dpbounds_bounds::solve::{Start, decreasing_crossing};
/// let root = decreasing_crossing(|x| Ok(x.powi(-10)), 1e-5, Start::at(1.0), 1e9, 1e-4)?.unwrap();
/// assert!(root.value <= 1e-5 && root.argument < 10f64.sqrt() * 1.0002);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn decreasing_crossing(
    mut value: impl FnMut(f64) -> Result<f64>,
    target: f64,
    start: Start,
    limit: f64,
    tolerance: f64,
) -> Result<Option<Crossing>> {
    let goal = target.max(f64::MIN_POSITIVE).ln();
    let mut above: Option<Point> = None;
    let mut below: Option<Point> = None;
    let mut last: Option<Point> = None;
    let mut found: Option<(f64, f64)> = None;
    let mut x = start.guess.ln();
    let mut slope = start.slope.clamp(SLOPES.0, SLOPES.1);
    let mut slope_seen = false;
    let mut same_side = 0;
    let mut last_side = false;
    for _ in 0..MAX_EVALUATIONS {
        let argument = x.exp().min(limit);
        let result = value(argument)?;
        if result.is_nan() {
            break;
        }
        let point = Point { x: argument.ln(), height: result.max(1e-300).ln() - goal };
        let meets = result <= target;
        same_side = if meets == last_side { same_side + 1 } else { 0 };
        last_side = meets;
        if let Some(last) = last.filter(|last| last.is_informative(goal) && last.x != point.x)
            && point.is_informative(goal)
        {
            slope = ((point.height - last.height) / (point.x - last.x)).clamp(SLOPES.0, SLOPES.1);
            slope_seen = true;
        }
        last = Some(point);
        if meets {
            below = Some(point);
            found = Some((argument, result));
        } else {
            if argument >= limit {
                return Ok(None);
            }
            above = Some(point);
        }
        x = match (above, below) {
            (Some(above), Some(below)) => {
                let width = below.x - above.x;
                let informative = above.is_informative(goal) && below.is_informative(goal);
                let share =
                    if informative { above.height / (above.height - below.height) } else { 0.5 };
                let root = above.x + share * width;
                if width <= tolerance || (informative && below.x - root <= tolerance && meets) {
                    break;
                }
                // A little to the safe side, and towards the stale end when one end does not move.
                let aimed = root + 0.3 * tolerance;
                let pulled = if same_side >= 1 {
                    let stale = if meets { above.x } else { below.x };
                    aimed + (stale - aimed) * (0.25 * f64::from(same_side)).min(0.5)
                } else {
                    aimed
                };
                pulled.clamp(above.x + 0.01 * width, below.x - 0.01 * width)
            }
            (Some(above), None) => {
                above.x + (-above.height / slope).clamp(0.5 * tolerance, 1.5) + 0.3 * tolerance
            }
            (None, Some(below)) => {
                let distance = below.height / slope;
                if below.x < -690.0 || (slope_seen && distance <= tolerance) {
                    break;
                }
                below.x - (distance - 0.3 * tolerance).clamp(0.2 * tolerance, 1.5)
            }
            (None, None) => break,
        };
    }
    Ok(found.map(|(argument, value)| Crossing {
        above: above.map(|point| point.x.exp()),
        argument,
        value,
        slope,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(f: impl Fn(f64) -> f64, target: f64, start: Start) -> (f64, u32) {
        let mut calls = 0;
        let value = |x: f64| {
            calls += 1;
            Ok(f(x))
        };
        let root = decreasing_crossing(value, target, start, 1e12, 1e-4).unwrap().unwrap();
        assert!(root.value <= target && f(root.argument) <= target);
        (root.argument, calls)
    }

    #[test]
    fn ends_on_the_safe_side_close_to_the_root_from_any_start() {
        for guess in [1e-6, 0.3, 1.0, 4.0, 1e5] {
            let (root, calls) = solve(|x| x.powi(-12), 1e-5, Start::at(guess));
            let exact = 1e-5f64.powf(-1.0 / 12.0);
            assert!(root >= exact * (1.0 - 1e-12) && root < exact * 1.001, "{guess}: {root}");
            assert!(calls < 40, "{calls}");
            // Flat at 1, then steep, then zero.
            let steep = |x: f64| if x > 9.0 { 0.0 } else { (-(x * x)).exp() };
            let (root, _) = solve(steep, 1e-5, Start::at(guess));
            let exact = (1e5f64).ln().sqrt();
            assert!(root >= exact * (1.0 - 1e-12) && root < exact * 1.001, "{guess}: {root}");
        }
    }

    #[test]
    fn a_good_start_takes_few_evaluations() {
        let exact = 1e-5f64.powf(-1.0 / 12.0);
        for share in [0.97, 0.99, 0.999, 1.001, 1.01, 1.03] {
            let start = Start { guess: share * exact, slope: -11.0 };
            let (_, calls) = solve(|x| x.powi(-12), 1e-5, start);
            assert!(calls <= 4, "{share} {calls}");
        }
    }

    #[test]
    fn a_search_that_is_stopped_returns_what_it_has() {
        let stopped = |after: u32| {
            let mut calls = 0;
            let value = |x: f64| {
                calls += 1;
                Ok(if calls > after { f64::NAN } else { x.powi(-12) })
            };
            decreasing_crossing(value, 1e-5, Start::at(4.0), 1e12, 1e-9).unwrap()
        };
        assert_eq!(stopped(0), None);
        let root = stopped(2).unwrap();
        assert!(root.value <= 1e-5 && root.argument > 1e-5f64.powf(-1.0 / 12.0));
    }

    #[test]
    fn no_crossing_below_the_limit_is_reported() {
        let start = Start::at(1.0);
        assert_eq!(decreasing_crossing(|_| Ok(1.0), 0.5, start, 1e6, 1e-3).unwrap(), None);
    }
}
