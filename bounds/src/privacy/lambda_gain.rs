//! Does correlated noise help? The noise terms of the risk bound against those of independent noise.

use super::Bracket;
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::round::round_up;

/// The noise terms at one λ relative to those at λ = 0; below 1 is a gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LambdaGain {
    /// Proven upper bound on the factor `t1 = (1−λ) κ_λ/κ_0` of the first noise term.
    pub linear: f64,
    /// Proven upper bound on the factor `t2 = ((1−λ)² + λ²η) κ_λ²/κ_0²` of the second noise term.
    pub quadratic: f64,
    /// No calibration of the run brings the first factor below this.
    pub linear_floor: f64,
    /// No calibration of the run brings the second factor below this.
    pub quadratic_floor: f64,
}

/// Factors of the noise terms proportional to `(1−λ)κ` and `((1−λ)² + λ²η)κ²` against λ = 0, for the same
/// sampler, relation, ε, δ, batch and steps.
///
/// `lambda` in [0, 1), `step_size` `η > 0`. `noise` brackets the smallest κ that suffices at `lambda`,
/// `reference` the one at λ = 0; the lower side of `reference` is positive. The factors divide the upper
/// side by the lower side of the reference, so they hold whatever the best calibration at λ = 0 is; the
/// floors are the other way round: `t1_floor = (1−λ) k/κ_0`, `t2_floor = t1_floor² (1 + ηλ²/(1−λ)²)`
/// with the lower side `k`.
///
/// # Source
/// Noise terms of arXiv 2605.12648, Theorem 4.1; docs/theory/accounting.md.
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range, [`BoundError::Conflict`] for a bracket whose sides
/// are exchanged.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Bracket, lambda_gain};
/// let noise = Bracket { lower: 1.0, upper: 1.2 };
/// let gain = lambda_gain(0.5, 0.01, noise, Bracket::exact(0.8))?;
/// assert!((gain.linear - 0.75).abs() < 1e-9 && (gain.linear_floor - 0.625).abs() < 1e-9);
/// assert!((gain.quadratic - 0.2525 * 2.25).abs() < 1e-9);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn lambda_gain(
    lambda: f64,
    step_size: f64,
    noise: Bracket,
    reference: Bracket,
) -> Result<LambdaGain> {
    let lambda = domain::noise_correlation("lambda", lambda)?;
    let step_size = domain::positive("step_size", step_size)?;
    for (name, bracket) in [("noise", noise), ("reference", reference)] {
        let lower = domain::non_negative(name, bracket.lower)?;
        let upper = domain::non_negative(name, bracket.upper)?;
        if lower > upper {
            return Err(BoundError::Conflict {
                parameter: name,
                value: Shown(lower),
                other: name,
                other_value: Shown(upper),
                requirement: "the lower side of a bracket is at most the upper one",
            });
        }
    }
    domain::positive("reference", reference.lower)?;
    let (shrink, grow) = (1.0 - lambda, lambda * lambda * step_size);
    let square = shrink * shrink + grow;
    let (most, least) = (noise.upper / reference.lower, noise.lower / reference.upper);
    let down = |value: f64| -round_up(-value);
    Ok(LambdaGain {
        linear: round_up(shrink * most),
        quadratic: round_up(square * most * most),
        linear_floor: down(shrink * least),
        quadratic_floor: down(square * least * least),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_below_the_factor_and_equality_at_zero_is_one() {
        let kappa = Bracket { lower: 0.58, upper: 0.59 };
        let gain = lambda_gain(0.0, 0.01, kappa, kappa).unwrap();
        assert!(gain.linear > 1.0 && gain.linear_floor < 1.0);
        assert!(
            (lambda_gain(0.0, 0.3, Bracket::exact(2.0), Bracket::exact(2.0)).unwrap().linear - 1.0)
                .abs()
                < 1e-9
        );
        let gain = lambda_gain(0.8, 0.01, Bracket { lower: 1.0, upper: 1.4 }, kappa).unwrap();
        let identity = gain.linear_floor.powi(2) * (1.0 + 0.01 * 0.64 / 0.04);
        assert!((gain.quadratic_floor / identity - 1.0).abs() < 1e-9);
        assert!(gain.linear_floor < gain.linear && gain.quadratic_floor < gain.quadratic);
    }

    #[test]
    fn faults_are_named() {
        let one = Bracket::exact(1.0);
        for (lambda, eta, noise, reference) in [
            (1.0, 0.01, one, one),
            (-0.1, 0.01, one, one),
            (f64::NAN, 0.01, one, one),
            (0.5, 0.0, one, one),
            (0.5, 0.01, Bracket { lower: 2.0, upper: 1.0 }, one),
            (0.5, 0.01, Bracket { lower: 0.0, upper: f64::INFINITY }, one),
            (0.5, 0.01, one, Bracket { lower: 0.0, upper: 1.0 }),
        ] {
            assert!(lambda_gain(lambda, eta, noise, reference).is_err());
        }
    }
}
