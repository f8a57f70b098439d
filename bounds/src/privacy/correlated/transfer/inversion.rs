//! From the moments of the likelihood ratio to δ.

use std::f64::consts::PI;

use rayon::prelude::*;

use super::chain::Chain;
use super::moments::{Ratio, log_real_moment, ratios};
use super::overflow::Mass;
use super::underflow::lost_share;
use super::{Repulsion, Resolution, check};
use crate::domain;
use crate::error::Result;
use crate::privacy::{Order, Pair};

/// The smoothing weight `e^{−s²ω²/2}` is followed down to `e^{−CUT²/2}`.
const CUT: f64 = 6.0;
/// Logarithm of the share of δ that the aliases may add, about.
const LOG_ALIAS: f64 = -7.0;
/// How far above the Chernoff bound (logarithm) the inversion line may lie.
const LINE_ABOVE: f64 = 12.0;
/// A δ below the exponential of this is not resolved further.
const LOG_UNRESOLVED: f64 = -100.0;
/// A line that needs more is passed over.
const MOST_FREQUENCIES: f64 = 3000.0;
/// Largest share of a moment that may be lost to underflow.
const LARGEST_LOSS: f64 = 1e-9;
/// Most multiplications of one inversion, about; a minute of computing.
const LARGEST_WORK: f64 = 5e11;
/// The law of what earlier steps may add has about `15/(1 − λ)` nodes, so it has to end somewhere.
const LARGEST_LAMBDA: f64 = 0.9999;
/// The search for the line and the shortest inversion, in frequencies.
const LEAST_FREQUENCIES: f64 = 80.0;

/// The transfer bound of one pair in one order, ready for any ε.
///
/// `E(S − e^ε)_+` (forward) or `E(1 − e^ε S)_+` (reverse) of the discretised likelihood ratio `S` is
/// bounded by the periodised inversion
///
/// ```text
/// δ(ε) <= (1/R) Σ_j Re M(z_j) e^{s²(z_j² + z_j)/2} e^{−z_j x}/(z_j(z_j + 1)),   z_j = a + 2πij/R,
/// ```
///
/// `M(z) = E S^{1+z}` (forward), `E S^{−z}` (reverse): the aliases at `ε ± kR` are non-negative, and the
/// log-normal multiplier of mean 1 and deviation `s` only raises a convex function. The rest of the
/// sum, rounding and what left the grids are added.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Order, Pair};
/// use dpbounds_bounds::privacy::correlated::transfer::{Repulsion, Resolution, Transfer};
/// let pair = Pair::new(0.01, 2.9, 0.5, 100)?;
/// let bound = Transfer::new(&pair, Order::Forward, 0.3, Repulsion::Kept, Resolution::COARSE)?;
/// assert!(bound.delta(0.4) < bound.delta(0.3));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Transfer {
    order: Order,
    /// `T log(1 − r)`.
    base: f64,
    outcome: Outcome,
}

#[derive(Debug, Clone)]
enum Outcome {
    /// The record never takes part.
    Zero,
    /// Grids too large, or no exponent with a finite moment: only δ <= 1 is known.
    Vacuous,
    Line(Line),
}

#[derive(Debug, Clone)]
struct Line {
    exponent: f64,
    spacing: f64,
    smoothing: f64,
    /// `log E S^{1+a}` or `log E S^{−a}`.
    log_moment: f64,
    ratios: Vec<Ratio>,
    /// Added to every δ: mass that left the grids.
    outside: f64,
    /// `E_Q e^L`, 1 for the exact likelihood ratio.
    total: f64,
}

impl Transfer {
    /// Prepares the bound; it is tight for ε near `around` and valid for all.
    ///
    /// # Errors
    /// As [`super::delta`].
    pub fn new(
        pair: &Pair,
        order: Order,
        around: f64,
        repulsion: Repulsion,
        resolution: Resolution,
    ) -> Result<Self> {
        check(pair, order, repulsion)?;
        domain::finite("epsilon", around)?;
        let resolution = checked(resolution)?;
        let base = pair.horizon() * (-pair.rate()).ln_1p();
        if pair.rate() == 0.0 || pair.steps() == 0 {
            return Ok(Self { order, base, outcome: Outcome::Zero });
        }
        if pair.lambda() > LARGEST_LAMBDA {
            return Ok(Self { order, base, outcome: Outcome::Vacuous });
        }
        let around = match order {
            Order::Forward => around,
            // From −base on δ is 0, see `delta`: the line serves the smaller ε.
            Order::Reverse => around.min(-0.9 * base),
        };
        let line = Chain::new(pair, order, repulsion, resolution)
            .and_then(|chain| Line::new(&chain, around));
        let outcome = line.map_or(Outcome::Vacuous, Outcome::Line);
        Ok(Self { order, base, outcome })
    }

    /// The upper bound on δ at `epsilon` (nats), in [0, 1].
    #[must_use]
    pub fn delta(&self, epsilon: f64) -> f64 {
        // The likelihood ratio is at least (1 − r)^T.
        if self.order == Order::Reverse && epsilon + self.base >= 0.0 {
            return 0.0;
        }
        match &self.outcome {
            Outcome::Zero => f64::max(0.0, -epsilon.exp_m1()),
            Outcome::Vacuous => 1.0,
            Outcome::Line(line) => {
                let (shift, scale) = match self.order {
                    Order::Forward => (epsilon - self.base, self.base),
                    Order::Reverse => (epsilon + self.base, 0.0),
                };
                line.delta(shift, scale)
            }
        }
    }

    /// `E_Q e^L` of the discretised likelihood ratio (forward order): 1 for the exact one, larger by what
    /// the grids add.
    #[must_use]
    pub fn total_mass(&self) -> Option<f64> {
        match &self.outcome {
            Outcome::Line(line) if self.order == Order::Forward => Some(line.total),
            _ => None,
        }
    }
}

fn checked(resolution: Resolution) -> Result<Resolution> {
    domain::positive("spacing", resolution.spacing)?;
    domain::positive("damping_ratio", resolution.damping_ratio)?;
    domain::positive("smoothing", resolution.smoothing)?;
    Ok(Resolution {
        spacing: resolution.spacing.min(1.0),
        damping_ratio: resolution.damping_ratio.min(2.0),
        smoothing: resolution.smoothing.clamp(0.01, 0.5),
    })
}

/// One exponent with the logarithm of its Chernoff bound.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    exponent: f64,
    log_moment: f64,
    log_bound: f64,
}

impl Line {
    fn new(chain: &Chain, around: f64) -> Option<Self> {
        let (shift, scale) = match chain.order {
            Order::Forward => (around - chain.base(), chain.base()),
            Order::Reverse => (around + chain.base(), 0.0),
        };
        if LEAST_FREQUENCIES * chain.work() > LARGEST_WORK {
            return None;
        }
        let mass = Mass::new(chain)?;
        // E(S − e^ε)_+ >= E S − e^ε: nothing to be had.
        if mass.total - around.exp() >= 1.0 || mass.overflow >= 1.0 {
            return None;
        }
        let relative = chain.smoothing;
        let (best, line, period) = inversion_line(candidates(chain, shift, scale), relative)?;
        let smoothing = relative / (1.0 + best.exponent);
        let spacing = 2.0 * PI / period;
        let count = frequencies(&best, period, relative);
        if count * chain.work() > LARGEST_WORK {
            return None;
        }
        let exponent = moment_exponent(chain.order, line.exponent);
        let lost = lost_share(chain, exponent).filter(|lost| *lost < LARGEST_LOSS)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let mut ratios = ratios(chain, exponent, spacing, count as usize);
        for ratio in &mut ratios {
            ratio.error += 2.0 * lost;
            if chain.order == Order::Reverse {
                ratio.im = -ratio.im;
            }
        }
        Some(Self {
            exponent: line.exponent,
            spacing,
            smoothing,
            log_moment: line.log_moment + lost,
            ratios,
            outside: mass.overflow + chain.escape(),
            total: mass.total,
        })
    }

    /// `shift` is `x` of the inversion formula, `scale` the logarithm of a factor in front.
    fn delta(&self, shift: f64, scale: f64) -> f64 {
        let (a, s) = (self.exponent, self.smoothing);
        let front = self.log_moment - a * shift + scale + 0.5 * s * s * (a * a + a);
        let mut sum = 0.0;
        let mut error = 0.0;
        let mut frequency = 0.0;
        for (j, ratio) in self.ratios.iter().enumerate() {
            #[allow(clippy::cast_precision_loss)]
            let omega = j as f64 * self.spacing;
            frequency = omega;
            // z(z + 1) and the phase of e^{s²(z² + z)/2 − zx}, z = a + iω
            let (re, im) = (a * a + a - omega * omega, (2.0 * a + 1.0) * omega);
            let phase = 0.5 * s * s * im - omega * shift;
            let size = (-0.5 * s * s * omega * omega).exp() / re.hypot(im);
            let angle = phase - im.atan2(re);
            let weight = if j == 0 { 1.0 } else { 2.0 };
            sum += weight * size * (ratio.re * angle.cos() - ratio.im * angle.sin());
            let phase_rounding = 8.0 * f64::EPSILON * (1.0 + omega * shift.abs());
            error += weight * size * (ratio.error + phase_rounding);
        }
        // |M| <= M(a) beyond the last frequency; the sum is below its integral.
        let rest = (-0.5 * s * s * frequency * frequency).exp() / (frequency * self.spacing);
        let inverse_period = self.spacing / (2.0 * PI);
        let main = (sum + error + 2.0 * rest).max(0.0) * inverse_period;
        let arguments = self.log_moment.abs() + (a * shift).abs() + scale.abs() + 8.0;
        let front_rounding = 8.0 * f64::EPSILON * arguments;
        let value = main * front.exp() * (1.0 + front_rounding);
        let bound = value + self.outside * (1.0 + 1e-9);
        if bound.is_nan() { 1.0 } else { bound.clamp(0.0, 1.0) }
    }
}

fn moment_exponent(order: Order, a: f64) -> f64 {
    match order {
        Order::Forward => 1.0 + a,
        Order::Reverse => -a,
    }
}

/// How many frequencies `2πj/R` lie below the cut of the smoothing.
fn frequencies(best: &Candidate, period: f64, smoothing: f64) -> f64 {
    (CUT * (1.0 + best.exponent) / smoothing * period / (2.0 * PI)).ceil()
}

/// The exponent with the smallest Chernoff bound, the line of the inversion, and its period: the line
/// with the shortest period among those whose own bound is not much larger. A best exponent without
/// any such line, as at the end of the range of doubles, gives way to the next best.
fn inversion_line(
    candidates: Vec<Candidate>,
    smoothing: f64,
) -> Option<(Candidate, Candidate, f64)> {
    let mut by_bound = candidates.clone();
    by_bound.sort_by(|a, b| a.log_bound.total_cmp(&b.log_bound));
    by_bound.into_iter().find_map(|best| {
        let resolved = best.log_bound.max(LOG_UNRESOLVED);
        let limit = resolved - best.exponent.ln_1p() - 1.0 + LOG_ALIAS;
        candidates
            .iter()
            .filter(|line| line.log_bound <= resolved + LINE_ABOVE)
            .filter_map(|line| Some((best, *line, alias_free_period(&candidates, line, limit)?)))
            .filter(|(best, _, period)| frequencies(best, *period, smoothing) <= MOST_FREQUENCIES)
            .min_by(|a, b| a.2.total_cmp(&b.2))
    })
}

/// Chernoff bounds `M(a) e^{−ax}/(a(a + 1))` on a geometric grid of exponents around the best one.
fn candidates(chain: &Chain, shift: f64, scale: f64) -> Vec<Candidate> {
    const RATIO: f64 = 1.15;
    const AT_ONCE: i32 = 4;
    let evaluate = |exponent: f64| {
        let log_moment = log_real_moment(chain, moment_exponent(chain.order, exponent))?;
        let log_bound = log_moment - exponent * shift + scale - (exponent * (exponent + 1.0)).ln();
        log_bound.is_finite().then_some(Candidate { exponent, log_moment, log_bound })
    };
    let mut found: Vec<Candidate> = Vec::new();
    let mut exponent = 0.03;
    let mut best = f64::INFINITY;
    while exponent < 1e7 {
        let ahead: Vec<f64> = (0..AT_ONCE).map(|k| exponent * RATIO.powi(k)).collect();
        let evaluated: Vec<_> = ahead.par_iter().map(|exponent| evaluate(*exponent)).collect();
        for candidate in evaluated {
            let Some(candidate) = candidate else { return found };
            best = best.min(candidate.log_bound);
            found.push(candidate);
            let resolved = found.iter().filter(|known| known.log_bound < LOG_UNRESOLVED).count();
            // Past the best one, as far as the aliases need it.
            if candidate.log_bound > best + 2.0 * LINE_ABOVE || resolved > 2 {
                return found;
            }
        }
        exponent *= RATIO.powi(AT_ONCE);
    }
    found
}

/// The shortest period whose two nearest aliases are bounded by `e^{log_limit}` together, by the
/// Chernoff bounds at the other exponents.
fn alias_free_period(candidates: &[Candidate], line: &Candidate, log_limit: f64) -> Option<f64> {
    let needed = |other: &Candidate| {
        // e^{aR} δ(x + R) and e^{−aR} δ(x − R) are both at most bound(a') e^{−|a' − a| R}.
        (other.log_bound - log_limit + 0.7) / (other.exponent - line.exponent).abs()
    };
    let side = |above: bool| {
        candidates
            .iter()
            .filter(|other| {
                if above { other.exponent > line.exponent } else { other.exponent < line.exponent }
            })
            .map(needed)
            .filter(|period| period.is_finite())
            .fold(f64::INFINITY, f64::min)
    };
    let period = side(true).max(side(false)).max(4.0 / (1.0 + line.exponent));
    period.is_finite().then_some(period)
}
