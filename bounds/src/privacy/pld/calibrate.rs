//! The smallest noise that meets (ε, δ).

use super::account::{Accountant, Goal};
use super::degenerate::Case;
use super::loss::Side;
use super::run::{UPPER_DELTA_TOLERANCE, checked_delta, checked_steps, upper_delta};
use super::spacing::{Budget, WORK};
use super::step::OneStep;
use crate::domain;
use crate::error::{BoundError, Result};
use crate::privacy::Bracket;

/// How far the returned noise may be above the smallest one the accountant accepts, relative.
const TOLERANCE: f64 = 1e-4;

/// A bracket of the smallest noise for which the run is (ε, δ)-private.
///
/// `make` turns a noise into a step, e.g. `|sigma| OneStep::poisson(rate, sigma)`; more noise must mean
/// more privacy, as it does for all steps here. `steps = T <= 2^53`, `epsilon >= 0` (nats), `delta >= 0`.
///
/// * `upper` is proven sufficient: [`upper_delta`](super::upper_delta()) at exactly this value is at most
///   `delta`. It is about 1e-4 (relative) above the smallest such value, or as near as a few seconds of work
///   bring it.
/// * `lower` is proven insufficient: the lower side of δ at this value is above `delta`. It is 0 where no
///   noise is needed.
///
/// # Source
/// As for [`delta`](super::delta()).
///
/// # Errors
/// [`BoundError::OutOfRange`] for an argument out of range or an error of `make`;
/// [`BoundError::Numerical`] if no noise up to 1e8 is enough.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::pld::{OneStep, calibrate};
/// let noise = calibrate(|sigma| OneStep::poisson(0.01, sigma), 1000, 1.0, 1e-5)?;
/// assert!(noise.lower < 1.4147 && 1.4144 < noise.upper);
/// assert!(noise.relative_width() < 1e-3);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn calibrate(
    make: impl Fn(f64) -> Result<OneStep>,
    steps: u64,
    epsilon: f64,
    delta: f64,
) -> Result<Bracket> {
    checked_steps(steps)?;
    let epsilon = domain::non_negative("epsilon", epsilon)?;
    let delta = checked_delta(delta)?;
    let bare = Case::of(&make(0.0)?, steps).delta(epsilon);
    if delta >= 1.0 || bare.upper <= delta {
        return Ok(Bracket::exact(0.0));
    }
    if delta == 0.0 {
        return Ok(Bracket::exact(f64::INFINITY));
    }
    let search = Search { make: &make, steps, epsilon, delta, log_delta: delta.ln() };
    let (start, slope) = search.guess(Side::Upper)?;
    let upper = search.verified(search.solve(Side::Upper, start, slope)?)?;
    let start = match search.guess(Side::Lower)? {
        // The two sides nearly meet.
        (guess, _) if (guess / start).ln().abs() < 1e-6 => upper * (1.0 - 2.0 * TOLERANCE),
        (guess, _) => guess.min(upper),
    };
    let lower = search.solve(Side::Lower, start, slope)?;
    Ok(Bracket { lower: lower.min(upper), upper })
}

const NOT_ENOUGH: BoundError = BoundError::Numerical {
    what: "noise multiplier",
    detail: "no noise up to 1e8 meets epsilon and delta",
};

struct Search<'a, F> {
    make: &'a F,
    steps: u64,
    epsilon: f64,
    delta: f64,
    log_delta: f64,
}

impl<F: Fn(f64) -> Result<OneStep>> Search<'_, F> {
    /// `log δ` on a side at this noise.
    fn log_delta(
        &self,
        accountant: &mut Accountant,
        side: Side,
        noise: f64,
        tolerance: f64,
    ) -> Result<f64> {
        let step = (self.make)(noise)?;
        let case = Case::of(&step, self.steps);
        let known = case.delta(self.epsilon);
        if case.is_settled() {
            return Ok(if side == Side::Upper { known.upper } else { known.lower }.ln());
        }
        accountant.set_step(step);
        let goal = Goal::DeltaAt(self.epsilon);
        let value = match side {
            Side::Upper => accountant.upper(goal, tolerance)?.min(known.upper),
            Side::Lower => accountant.lower(goal, tolerance)?,
        };
        Ok(value.ln())
    }

    /// The noise by the saddlepoint approximation, and the slope of `log δ` against its logarithm.
    fn guess(&self, side: Side) -> Result<(f64, f64)> {
        let rough = |noise: f64| -> Result<f64> {
            let step = (self.make)(noise)?;
            let case = Case::of(&step, self.steps);
            if case.is_settled() {
                return Ok(case.delta(self.epsilon).upper.ln());
            }
            // Masses that do not matter at the target are left out.
            let accountant = Accountant::new(step, self.steps);
            let log_tail = accountant.log_tail(self.log_delta);
            Ok(accountant.rough_log_delta(side, step.orders(side), self.epsilon, log_tail))
        };
        let (mut below, mut above) = (1.0_f64, 1.0_f64);
        while rough(above)? > self.log_delta {
            below = above;
            above *= 2.0;
            if above > 1e9 {
                return Ok((above, -1.0));
            }
        }
        if below == above {
            while rough(below)? <= self.log_delta && below > 1e-9 {
                above = below;
                below /= 2.0;
            }
        }
        for _ in 0..14 {
            let middle = (below * above).sqrt();
            if rough(middle)? > self.log_delta { below = middle } else { above = middle }
        }
        let slope = (rough(above * 1.02)? - rough(above)?) / 1.02_f64.ln();
        Ok((above, if slope.is_finite() { slope.min(-0.5) } else { -5.0 }))
    }

    /// The noise, raised until [`upper_delta`] itself accepts it: a search that is short of work takes
    /// other lattices.
    fn verified(&self, noise: f64) -> Result<f64> {
        let (mut noise, mut raise) = (noise, TOLERANCE);
        for _ in 0..20 {
            if upper_delta(&(self.make)(noise)?, self.steps, self.epsilon)? <= self.delta {
                return Ok(noise);
            }
            noise *= 1.0 + raise;
            raise *= 2.0;
        }
        Err(NOT_ENOUGH)
    }

    /// Upper side: a noise that is enough, hardly more than needed. Lower side: one that is not.
    fn solve(&self, side: Side, start: f64, slope: f64) -> Result<f64> {
        // Many lattices: each may take little.
        let mut accountant =
            Accountant::new((self.make)(start)?, self.steps).within(Budget::new(WORK, 0.1));
        let sign = if side == Side::Upper { 1.0 } else { -1.0 };
        let slack = TOLERANCE * slope.abs();
        // Past the target by a part of the tolerance, so that the first good point is good enough.
        let aim = self.log_delta - sign * 0.3 * slack;
        // On the upper side as `upper_delta` does it, so that it agrees.
        let tolerance = match side {
            Side::Upper => UPPER_DELTA_TOLERANCE,
            Side::Lower => 0.5 * slack,
        };
        let (mut enough, mut short) = (f64::INFINITY, 0.0_f64);
        let (mut noise, mut slope) = (start, slope);
        let mut previous: Option<(f64, f64)> = None;
        for _ in 0..60 {
            let value = self.log_delta(&mut accountant, side, noise, tolerance)?;
            if value <= self.log_delta {
                enough = enough.min(noise)
            } else {
                short = short.max(noise)
            }
            let miss = sign * (self.log_delta - value);
            let good = match side {
                Side::Upper => value <= self.log_delta,
                Side::Lower => value > self.log_delta,
            };
            if good && miss <= slack || enough <= short * (1.0 + TOLERANCE) {
                break;
            }
            let found = if side == Side::Upper { enough.is_finite() } else { true };
            if found && accountant.is_spent() {
                break;
            }
            if let Some((before, then)) = previous {
                let secant = (value - then) / (noise / before).ln();
                if secant < 0.0 && secant.is_finite() {
                    slope = secant;
                }
            }
            previous = Some((noise, value));
            let change = ((aim - value) / slope).clamp(-1.0, 1.0);
            let next = noise * if change.is_finite() { change.exp() } else { 2.0 };
            let inside = next > short && next < enough;
            noise = match (inside, enough.is_finite(), short > 0.0) {
                (true, _, _) => next,
                (false, true, true) => (enough * short).sqrt(),
                (false, false, _) => 2.0 * short,
                (false, true, false) => 0.5 * enough,
            };
            if !(1e-9..=1e9).contains(&noise) {
                break;
            }
        }
        match side {
            Side::Lower => Ok(short),
            Side::Upper if enough.is_finite() => Ok(enough),
            Side::Upper => Err(NOT_ENOUGH),
        }
    }
}
