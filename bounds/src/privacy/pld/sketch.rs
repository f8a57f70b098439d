//! A few hundred atoms that say where to look: tilts, windows and lattice widths.
//!
//! Nothing here carries a guarantee. Every tilt, window parameter or width gives a valid bound; good
//! ones give a tight bound quickly.

use super::loss::LossDistribution;
use super::mixture::Mixture;

/// Atoms of a privacy-loss distribution, anywhere on the line.
#[derive(Debug, Clone)]
pub(super) struct Sketch {
    log_mass: Vec<f64>,
    loss: Vec<f64>,
}

/// `K`, `K'` and `K''` of the cumulant generating function of the loss.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cumulants {
    pub value: f64,
    pub mean: f64,
    pub variance: f64,
}

/// A tilt and what the saddlepoint approximation says there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saddle {
    pub theta: f64,
    pub epsilon: f64,
    pub log_delta: f64,
    /// Standard deviation of the tilted sum.
    pub deviation: f64,
}

impl Sketch {
    /// From a density on the line given by its logarithm and the loss there.
    pub fn from_line(low: f64, high: f64, at: impl Fn(f64) -> (f64, f64)) -> Self {
        let count = ((high - low) / 0.08).clamp(64.0, 800.0).ceil();
        let step = (high - low) / count;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 800
        let count = count as u32;
        let atoms = (0..=count).map(|i| at(low + f64::from(i) * step));
        let (log_mass, loss) =
            atoms.map(|(log_density, loss)| (log_density + step.ln(), loss)).unzip();
        Self { log_mass, loss }
    }

    /// The subsampled Gaussian pair, loss of its mixture against the Gaussian.
    pub fn mixture(mixture: &Mixture, low: f64, high: f64) -> Self {
        let constant = super::mixture::DENSITY_AT_ZERO.ln();
        Self::from_line(low, high, |z| {
            let loss = mixture.loss(z);
            (constant - 0.5 * z * z + loss, loss)
        })
    }

    /// The same pair with its two distributions exchanged.
    pub fn exchanged(&self) -> Self {
        Self {
            log_mass: self
                .log_mass
                .iter()
                .zip(&self.loss)
                .map(|(mass, loss)| mass - loss)
                .collect(),
            loss: self.loss.iter().map(|loss| -loss).collect(),
        }
    }

    /// A lattice distribution, thinned out away from the loss 0.
    pub fn of_lattice(distribution: &LossDistribution) -> Self {
        let (mut log_mass, mut loss) = (Vec::new(), Vec::new());
        let mut i = 0;
        while i < distribution.log_mass.len() {
            let distance = (distribution.grid.at(i) / distribution.grid.width).abs();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let group = (distance / 200.0).max(1.0) as usize;
            let end = (i + group).min(distribution.log_mass.len());
            let masses = distribution.log_mass[i..end].iter().map(|log| log.exp());
            let weighted = (i..end).map(|k| distribution.grid.at(k)).zip(masses);
            let (total, moment) = weighted
                .fold((0.0, 0.0), |(sum, moment), (loss, mass)| (sum + mass, moment + mass * loss));
            if total > 0.0 {
                log_mass.push(total.ln());
                loss.push(moment / total);
            }
            i = end;
        }
        Self { log_mass, loss }
    }

    /// The positive losses, their mirror image, and an atom at 0.
    pub fn symmetric(&self, log_centre: f64) -> Self {
        let positive = || self.log_mass.iter().zip(&self.loss).filter(|(_, loss)| **loss > 0.0);
        let mut log_mass: Vec<f64> = positive().map(|(mass, _)| *mass).collect();
        log_mass.extend(positive().map(|(mass, loss)| mass - loss));
        log_mass.push(log_centre);
        let mut loss: Vec<f64> = positive().map(|(_, loss)| *loss).collect();
        loss.extend(positive().map(|(_, loss)| -loss));
        loss.push(0.0);
        Self { log_mass, loss }
    }

    /// Weights of the atoms under a tilt, sum 1, and their distances from `place`.
    pub fn tilted(&self, theta: f64, place: f64) -> Vec<(f64, f64)> {
        let exponents = || self.log_mass.iter().zip(&self.loss).map(|(m, l)| (m + theta * l, *l));
        let highest = exponents().fold(f64::NEG_INFINITY, |high, (e, _)| high.max(e));
        let mut atoms: Vec<(f64, f64)> = exponents()
            .filter(|(exponent, _)| *exponent > highest - 60.0)
            .map(|(exponent, loss)| ((exponent - highest).exp(), (loss - place).abs()))
            .collect();
        let total: f64 = atoms.iter().map(|(weight, _)| weight).sum();
        for (weight, _) in &mut atoms {
            *weight /= total;
        }
        atoms
    }

    pub fn cumulants(&self, theta: f64) -> Cumulants {
        let exponents = || self.log_mass.iter().zip(&self.loss).map(|(m, l)| (m + theta * l, *l));
        let highest = exponents().fold(f64::NEG_INFINITY, |high, (e, _)| high.max(e));
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for (exponent, loss) in exponents() {
            if exponent > highest - 60.0 {
                let weight = (exponent - highest).exp();
                sum += weight;
                first += weight * loss;
                second += weight * loss * loss;
            }
        }
        let mean = first / sum;
        let variance = (second / sum - mean * mean).max(1e-12 * mean * mean);
        Cumulants { value: highest + sum.ln(), mean, variance }
    }

    /// The saddlepoint approximation of `δ` of `steps` steps at the tilt `theta`.
    pub fn saddle(&self, steps: f64, theta: f64) -> Saddle {
        let cumulants = self.cumulants(theta);
        self.saddle_at(steps, theta, steps * cumulants.mean, cumulants)
    }

    fn saddle_at(&self, steps: f64, theta: f64, epsilon: f64, cumulants: Cumulants) -> Saddle {
        let deviation = (steps * cumulants.variance).sqrt();
        let spread = (theta * deviation * (2.0 * std::f64::consts::PI).sqrt()).max(1.0);
        let log_delta =
            steps * cumulants.value - theta * epsilon - spread.ln() - theta.max(0.0).ln_1p();
        Saddle { theta, epsilon, log_delta, deviation }
    }

    /// The smallest tilt that puts the tail above `epsilon` into the bulk as well as the one of `saddle`.
    ///
    /// Where the loss is bounded, tilts far beyond this one serve no purpose.
    pub fn gentle_tilt(&self, steps: f64, saddle: &Saddle) -> f64 {
        let exponent = |theta: f64| steps * self.cumulants(theta).value - theta * saddle.epsilon;
        let enough = exponent(saddle.theta) + 1.0;
        let (mut short, mut long) = (0.0, saddle.theta);
        if !(exponent(0.0) > enough) {
            return 0.0;
        }
        for _ in 0..12 {
            let middle = 0.5 * (short + long);
            if exponent(middle) > enough { short = middle } else { long = middle }
        }
        long
    }

    /// The tilt under which the sum of `steps` losses has mean `epsilon`, at least 0.
    pub fn at_epsilon(&self, steps: f64, epsilon: f64) -> Saddle {
        let at = |theta: f64| self.saddle(steps, theta);
        let start = at(0.0);
        if !(start.epsilon < epsilon) {
            return self.saddle_at(steps, 0.0, epsilon, self.cumulants(0.0));
        }
        let far = |theta: f64| {
            let found = at(theta);
            // Chernoff's bound below every δ of interest: ε may be above the largest loss.
            let log_bound = found.log_delta + theta * (found.epsilon - epsilon);
            found.epsilon >= epsilon || log_bound < -700.0
        };
        let theta = bisect(1.0 / start.deviation, far);
        self.saddle_at(steps, theta, epsilon, self.cumulants(theta))
    }

    /// The tilt at which `δ` comes out as `exp(log_delta)`.
    pub fn at_delta(&self, steps: f64, log_delta: f64) -> Saddle {
        let scale = 1.0 / self.saddle(steps, 0.0).deviation;
        let low = self.saddle(steps, 1e-3 * scale);
        if low.log_delta <= log_delta || !scale.is_finite() {
            return low;
        }
        let theta = bisect(scale, |theta| self.saddle(steps, theta).log_delta <= log_delta);
        let found = self.saddle(steps, theta);
        if found.epsilon >= 0.0 { found } else { self.at_epsilon(steps, 0.0) }
    }

    /// A parameter that makes the Chernoff bound of the tilted sum good at probability `e^{−nats}`,
    /// and that bound: `sign·sum <= bound` but for this probability, by this sketch.
    pub fn chernoff(&self, steps: f64, theta: f64, nats: f64, sign: f64) -> (f64, f64) {
        let base = self.cumulants(theta);
        let bound = |log_s: f64| {
            let s = log_s.exp();
            (steps * (self.cumulants(theta + sign * s).value - base.value) + nats) / s
        };
        let centre = 0.5 * (2.0 * nats / (steps * base.variance)).ln();
        let (mut low, mut high) = (centre - 4.0, centre + 2.0);
        for _ in 0..14 {
            let (left, right) = (low + 0.38 * (high - low), low + 0.62 * (high - low));
            if bound(left) <= bound(right) { high = right } else { low = left }
        }
        let best = 0.5 * (low + high);
        (best.exp(), bound(best))
    }
}

/// Where a condition on positive numbers becomes true, to a relative 1e-4.
fn bisect(start: f64, condition: impl Fn(f64) -> bool) -> f64 {
    let (mut below, mut above) = (start, start);
    for _ in 0..64 {
        if condition(above) {
            break;
        }
        below = above;
        above *= 2.0;
    }
    if below == above {
        for _ in 0..64 {
            below /= 2.0;
            if !condition(below) {
                break;
            }
            above = below;
        }
    }
    while above > below * 1.0001 {
        let middle = (below * above).sqrt();
        if condition(middle) { above = middle } else { below = middle }
    }
    above
}
