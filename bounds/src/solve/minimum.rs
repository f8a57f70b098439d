//! Minimisation on an interval: golden section with parabolic steps (Brent 1973, chapter 5).

use crate::error::{BoundError, Result};

/// A point and the value there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Minimum {
    /// Where the smallest value was seen.
    pub argument: f64,
    /// The smallest value seen.
    pub value: f64,
}

const GOLDEN: f64 = 0.381_966_011_250_105_1;
/// Width at which the search stops, in the units of the search variable. Every caller searches a
/// variable in which the objective changes on a scale of one, so values are exact to 1e-16.
const TOLERANCE: f64 = 1e-9;
const MAX_STEPS: usize = 200;

/// The smallest value of `objective` seen by a search on `[low, high]`, both ends included.
///
/// Exact for a unimodal objective; otherwise a value the objective really takes, so an upper bound
/// of its infimum in every case.
///
/// # Errors
/// [`BoundError::Numerical`] if the objective is NaN somewhere: a broken branch must not vanish in a
/// minimum.
///
/// ```
/// let found = dpbounds_bounds::solve::minimize(|x| (x - 2.0) * (x - 2.0) + 1.0, -50.0, 50.0)?;
/// assert!((found.value - 1.0).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn minimize(mut objective: impl FnMut(f64) -> f64, low: f64, high: f64) -> Result<Minimum> {
    let mut evaluate = |argument: f64| {
        let value = objective(argument);
        if value.is_nan() {
            Err(BoundError::Numerical { what: "objective of a search", detail: "not a number" })
        } else {
            Ok(Minimum { argument, value })
        }
    };
    let ends = smaller(evaluate(low)?, evaluate(high)?);
    let (mut a, mut b) = (low, high);
    let mut best = evaluate(a + GOLDEN * (b - a))?;
    let (mut second, mut third) = (best, best);
    let (mut step, mut previous_step) = (0.0_f64, 0.0_f64);
    for _ in 0..MAX_STEPS {
        let middle = 0.5 * (a + b);
        let tolerance = TOLERANCE * (1.0 + best.argument.abs() * 1e-3);
        if (best.argument - middle).abs() <= 2.0 * tolerance - 0.5 * (b - a) {
            break;
        }
        let parabolic = parabola_step(best, second, third).filter(|candidate| {
            let target = best.argument + candidate;
            candidate.abs() < 0.5 * previous_step.abs() && target > a && target < b
        });
        if let Some(candidate) = parabolic {
            previous_step = step;
            step = candidate;
            let target = best.argument + step;
            if target - a < 2.0 * tolerance || b - target < 2.0 * tolerance {
                step = tolerance.copysign(middle - best.argument);
            }
        } else {
            previous_step = if best.argument >= middle { a } else { b } - best.argument;
            step = GOLDEN * previous_step;
        }
        let moved = if step.abs() >= tolerance { step } else { tolerance.copysign(step) };
        let probe = evaluate(best.argument + moved)?;
        if probe.value <= best.value {
            if probe.argument >= best.argument {
                a = best.argument
            } else {
                b = best.argument
            }
            (third, second, best) = (second, best, probe);
        } else {
            if probe.argument < best.argument {
                a = probe.argument
            } else {
                b = probe.argument
            }
            if probe.value <= second.value || second.argument == best.argument {
                (third, second) = (second, probe);
            } else if probe.value <= third.value
                || third.argument == best.argument
                || third.argument == second.argument
            {
                third = probe;
            }
        }
    }
    Ok(smaller(ends, best))
}

fn smaller(first: Minimum, other: Minimum) -> Minimum {
    if other.value < first.value { other } else { first }
}

/// Step to the vertex of the parabola through three points, if it is usable.
fn parabola_step(best: Minimum, second: Minimum, third: Minimum) -> Option<f64> {
    let left = (best.argument - second.argument) * (best.value - third.value);
    let right = (best.argument - third.argument) * (best.value - second.value);
    let numerator =
        (best.argument - third.argument) * right - (best.argument - second.argument) * left;
    let denominator = 2.0 * (left - right);
    let step = numerator / denominator;
    step.is_finite().then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_interior_and_end_minima_of_steep_functions() {
        for centre in [-59.0, -3.0, 0.0, 12.34, 59.9] {
            let found =
                minimize(|t| (t - centre).exp() + (centre - t).exp() * 0.5, -60.0, 60.0).unwrap();
            assert!((found.value / 2f64.sqrt() - 1.0).abs() < 1e-14, "{centre}: {found:?}");
        }
        assert_eq!(minimize(|t| t, -1.0, 3.0).unwrap().value, -1.0);
        assert_eq!(minimize(|t| -t, -1.0, 3.0).unwrap().value, -3.0);
    }

    #[test]
    fn infinite_plateaus_are_allowed_and_nan_is_an_error() {
        let found =
            minimize(|t| if t > 1.0 { f64::INFINITY } else { (t - 1.0).abs() + 2.0 }, -60.0, 60.0);
        assert!(found.unwrap().value < 2.0 + 1e-6);
        assert!(minimize(|t| if t > 5.0 { f64::NAN } else { t }, 0.0, 10.0).is_err());
    }
}
