//! The reverse order: the lower tail of the log-likelihood ratio, extrapolated by Ehrhard's
//! inequality.

use super::certificate::{Certificate, Method, Settings, imprecise, probability, upper_limit};
use super::kernel::{Kernel, Side, Workspace};
use super::sampling::{Purpose, Streams, Watch, chunks};
use super::{ARITHMETIC, TAU, precondition};
use crate::error::Result;
use crate::pac_bayes::sampling::clopper_pearson;
use crate::privacy::{Order, Pair};
use crate::special::{log_normal_cdf, mills_ratio_difference};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Quantile of the pilot at which the lower threshold is put.
const LOWER_QUANTILE: f64 = 0.003;

/// An upper confidence limit of `δ = H_{e^ε}(Q‖P)`, the reverse order.
///
/// `L_lo <= L` is convex in the output, which is Gaussian under `Q`, so `Φ^{−1}(F(t))` is concave
/// for `F(t) = Q(L_lo <= t)` (Ehrhard; Borell). A pilot chooses `t₀ >= −ε` and `t₁ > t₀`; from
/// fresh samples `u₀ >= F(t₀)` and `l₁ <= F(t₁)` are Clopper–Pearson limits at half the failure
/// probability each. With `d = (t₁ − t₀)/(Φ^{−1}(l₁) − Φ^{−1}(u₀))` and `m = t₀ − d Φ^{−1}(u₀)`, `δ
/// = ∫_{−∞}^{−ε} e^{ε+t} F(t) dt <= min(u₀, E(1 − e^{ε+Y})_+)`, `Y ~ N(m, d²)`.
///
/// `epsilon >= 0` (nats). Valid at any size of δ: the extrapolation replaces rare samples. Uses
/// `settings.reverse_samples` and a pilot of an eighth of that (32 to 16,384) with random numbers
/// of its own. The result does not depend on the number of threads.
///
/// # Source
/// docs/theory/accounting.md, "Reverse order by Ehrhard's inequality"; Borell (2003).
///
/// # Errors
/// [`crate::BoundError::Unproven`] at full participation or where double precision does not
/// suffice, [`crate::BoundError::OutOfRange`] for an argument out of range; an error for which
/// [`super::interrupted`] holds if `watch` stopped it.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, reverse};
/// let pair = Pair::new(0.3, 2.0, 0.9, 3)?;
/// let limit = reverse(&pair, 0.25, &Settings::new(20_000, 1e-6, 1), &|_| true)?;
/// // The exact value is 0.0884722.
/// assert!(limit.upper >= 0.088_472 && limit.upper < 0.14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn reverse(
    pair: &Pair,
    epsilon: f64,
    settings: &Settings,
    watch: Watch<'_>,
) -> Result<Certificate> {
    let epsilon = precondition::epsilon(epsilon)?;
    settings.check()?;
    if precondition::trivial(pair) {
        return Ok(Certificate::trivial(Order::Reverse));
    }
    precondition::amplified(pair)?;
    let kernel = Kernel::new(pair, Side::Lower)?;
    let sampler = Sampler { kernel, noise: pair.noise_multiplier() };
    let streams =
        |purpose| Streams::new(settings.seed, purpose, settings.attempt, Some((pair, epsilon)));
    let fresh = settings.reverse_samples;
    let pilot = (fresh / 8).clamp(32, 16_384);
    #[allow(clippy::cast_precision_loss)] // for display
    let share = pilot as f64 / (pilot + fresh) as f64;
    let pilot =
        sampler.ratios(streams(Purpose::ReversePilot), pilot, &|done| watch(share * done))?;
    let thresholds = Thresholds::choose(pilot, epsilon);
    let watch_fresh = |done| watch(share + (1.0 - share) * done);
    let counts =
        sampler.count(streams(Purpose::Reverse), fresh, thresholds, epsilon, &watch_fresh)?;
    let limit = thresholds.limit(&counts, fresh, epsilon, settings.failure_probability)?;
    Ok(Certificate {
        order: Order::Reverse,
        method: Method::Ehrhard,
        upper: upper_limit("reverse limit", limit)?,
        mean: probability("reverse mean", counts.mean())?,
        largest: 1.0,
        samples: fresh,
        failure_probability: settings.failure_probability,
        replica_order: None,
    })
}

/// Samples of `L_lo` under `Q`.
struct Sampler {
    kernel: Kernel,
    noise: f64,
}

impl Sampler {
    fn chunk(
        &self,
        streams: Streams,
        work: &mut Workspace,
        chunk: u64,
        lanes: usize,
    ) -> Result<Vec<f64>> {
        let mut rng = streams.chunk(chunk);
        for row in &mut work.outputs {
            for output in row {
                *output = self.noise * rng.sample::<f64, _>(StandardNormal);
            }
        }
        let ratios = self.kernel.evaluate(work);
        if !ratios.slack.iter().all(|&slack| slack <= TAU / 2.0) {
            return Err(imprecise());
        }
        Ok(ratios.ratio[..lanes].to_vec())
    }

    fn ratios(&self, streams: Streams, samples: u64, watch: Watch<'_>) -> Result<Vec<f64>> {
        let mut ratios = Vec::new();
        let work = |work: &mut Workspace, chunk, lanes| self.chunk(streams, work, chunk, lanes);
        chunks(
            samples,
            watch,
            || self.kernel.workspace(),
            work,
            |part| {
                ratios.extend(part);
            },
        )?;
        Ok(ratios)
    }

    fn count(
        &self,
        streams: Streams,
        samples: u64,
        thresholds: Thresholds,
        epsilon: f64,
        watch: Watch<'_>,
    ) -> Result<Counts> {
        let mut total = Counts::default();
        let work = |work: &mut Workspace, chunk, lanes| {
            let sample = self.chunk(streams, work, chunk, lanes)?;
            Ok(sample
                .iter()
                .fold(Counts::default(), |counts, &one| counts.and(thresholds.count(one, epsilon))))
        };
        chunks(samples, watch, || self.kernel.workspace(), work, |part| total = total.and(part))?;
        Ok(total)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    samples: f64,
    below_lower: u64,
    below_upper: u64,
    sum: f64,
}

impl Counts {
    fn and(self, other: Self) -> Self {
        Self {
            samples: self.samples + other.samples,
            below_lower: self.below_lower + other.below_lower,
            below_upper: self.below_upper + other.below_upper,
            sum: self.sum + other.sum,
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.samples
    }
}

#[derive(Debug, Clone, Copy)]
struct Thresholds {
    lower: f64,
    upper: f64,
}

impl Thresholds {
    /// From the pilot alone. Any two values with `lower >= −ε` are valid; these make the limit
    /// tight.
    fn choose(mut pilot: Vec<f64>, epsilon: f64) -> Self {
        pilot.sort_by(f64::total_cmp);
        let count = precondition::real(pilot.len());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // an index
        let low = ((LOWER_QUANTILE * count) as usize).max(3);
        let (middle, low) = (pilot[pilot.len() / 2], pilot[low]);
        let spread = pilot[pilot.len() * 5 / 6] - middle;
        let lower = low.max(-epsilon);
        Self { lower, upper: middle.max(lower + 1e-3 + 0.5 * spread.max(0.0)) }
    }

    /// A computed ratio is within the tolerance of a convex function, and that one has to be
    /// counted: in doubt below the lower threshold, and not below the upper one.
    fn count(self, ratio: f64, epsilon: f64) -> Counts {
        Counts {
            samples: 1.0,
            below_lower: u64::from(ratio <= self.lower + TAU),
            below_upper: u64::from(ratio <= self.upper - TAU),
            sum: -(epsilon + ratio).min(0.0).exp_m1(),
        }
    }

    fn limit(self, counts: &Counts, samples: u64, epsilon: f64, failure: f64) -> Result<f64> {
        let half = failure / 2.0;
        let at_lower = clopper_pearson(counts.below_lower, samples, half)?.certified_upper()?;
        // P(F(t₁) < l₁) is the probability that the share above t₁ exceeds its own upper limit.
        let above = samples - counts.below_upper;
        let at_upper = 1.0 - clopper_pearson(above, samples, half)?.certified_upper()?;
        if !(at_lower < 1.0 && at_upper > at_lower) {
            return Ok(at_lower.min(1.0));
        }
        let left = normal_quantile(at_lower) + QUANTILE_ERROR;
        let right = normal_quantile(at_upper) - QUANTILE_ERROR;
        if !(right > left) {
            return Ok(at_lower);
        }
        let deviation = (self.upper - self.lower) / (right - left);
        let put = normal_put(epsilon, self.lower - deviation * left, deviation);
        Ok(at_lower.min(put * (1.0 + ARITHMETIC)))
    }
}

/// Rounding error of [`normal_quantile`] for arguments that Clopper–Pearson limits of 10^10 draws
/// can take.
const QUANTILE_ERROR: f64 = 1e-7;

/// `Φ^{−1}(p)` for `p` in (0, 1), by bisection.
fn normal_quantile(p: f64) -> f64 {
    let (log, upper_log) = (p.ln(), (-p).ln_1p());
    // The smaller of the two tails is the one that is exact.
    let below = |z: f64| {
        if p < 0.5 { log_normal_cdf(z) < log } else { log_normal_cdf(-z) > upper_log }
    };
    let (mut low, mut high) = (-39.0, 39.0);
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// `E(1 − e^{ε+Y})_+` for `Y ~ N(mean, deviation²)`: `φ(z)[m(−z) − m(deviation − z)]`, `z = (−ε −
/// mean)/deviation`.
fn normal_put(epsilon: f64, mean: f64, deviation: f64) -> f64 {
    let z = (-epsilon - mean) / deviation;
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    density * mills_ratio_difference(-z, deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::normal_cdf;

    #[test]
    fn quantiles_invert_the_normal_law() {
        for z in [-37.0, -8.0, -1.0, -1e-9, 0.0, 0.3, 2.0, 5.0] {
            let back = normal_quantile(normal_cdf(z));
            assert!((back - z).abs() < QUANTILE_ERROR / 10.0, "{z}: {back}");
        }
    }

    #[test]
    fn the_put_is_the_integral() {
        for (epsilon, mean, deviation) in [
            (1.0f64, 0.0f64, 0.3f64),
            (0.0, -0.2, 0.5),
            (2.0, -1.0, 0.01),
            (0.5, -3.0, 2.0),
            (0.1, 0.0, 1e-3),
        ] {
            // Midpoint rule for ∫ (1 − e^{ε+y}) φ((y − mean)/deviation) dy/deviation below −ε.
            let (from, steps) = (mean - 40.0 * deviation, 400_000);
            let width = (-epsilon - from).max(0.0) / f64::from(steps);
            let integral: f64 = (0..steps)
                .map(|i| {
                    let y = from + width * (f64::from(i) + 0.5);
                    let z = (y - mean) / deviation;
                    let density =
                        (-0.5 * z * z).exp() / deviation / (2.0 * std::f64::consts::PI).sqrt();
                    -(epsilon + y).exp_m1() * density * width
                })
                .sum();
            let put = normal_put(epsilon, mean, deviation);
            assert!((put - integral).abs() <= 1e-6 * integral + 1e-300, "{put} {integral}");
        }
    }

    #[test]
    fn a_normal_ratio_is_recovered_from_its_counts() {
        // F(t) = Φ((t − m)/d) exactly: the limit is above the put and close for many samples.
        let (mean, deviation, epsilon) = (0.02, 0.25, 1.0);
        let samples: u64 = 100_000_000;
        let thresholds = Thresholds { lower: mean - 2.7 * deviation, upper: mean };
        let share = |t: f64| (normal_cdf((t - mean) / deviation) * 1e8) as u64;
        let counts = Counts {
            samples: 1e8,
            below_lower: share(thresholds.lower),
            below_upper: share(thresholds.upper),
            sum: 0.0,
        };
        let limit = thresholds.limit(&counts, samples, epsilon, 1e-6).unwrap();
        let exact = normal_put(epsilon, mean, deviation);
        assert!(limit > exact && limit < 1.1 * exact, "{limit} {exact}");
        // Swapped or missing confidence limits would be on the other side.
        let nothing = Counts { below_lower: 0, below_upper: 0, ..counts };
        let useless = thresholds.limit(&nothing, samples, epsilon, 1e-6).unwrap();
        assert!(useless > 1.4e-7 && useless < 2e-7, "{useless}");
        let everything = Counts { below_lower: samples, below_upper: samples, ..counts };
        assert_eq!(thresholds.limit(&everything, samples, epsilon, 1e-6).unwrap(), 1.0);
    }

    #[test]
    fn the_limit_counts_fresh_samples_and_not_the_pilot() {
        let pair = Pair::new(0.2, 2.0, 0.5, 4).unwrap();
        let settings = Settings::new(2_000, 1e-6, 9);
        let certificate = reverse(&pair, 0.1, &settings, &|_| true).unwrap();
        let kernel = Kernel::new(&pair, Side::Lower).unwrap();
        let sampler = Sampler { kernel, noise: 2.0 };
        let mean = |purpose, samples| {
            let streams = Streams::new(9, purpose, 0, Some((&pair, 0.1)));
            let ratios = sampler.ratios(streams, samples, &|_| true).unwrap();
            let gains = ratios.iter().map(|ratio| -(0.1 + ratio).min(0.0).exp_m1());
            gains.sum::<f64>() / samples as f64
        };
        assert!((certificate.mean / mean(Purpose::Reverse, 2_000) - 1.0).abs() < 1e-12);
        let pilot = mean(Purpose::ReversePilot, 250);
        assert!((pilot / mean(Purpose::Reverse, 250) - 1.0).abs() > 1e-3);
    }

    #[test]
    fn thresholds_never_go_below_minus_epsilon() {
        for epsilon in [0.0, 0.1, 3.0] {
            let pilot = (0..1000).map(|i| f64::from(i) / 1000.0 - 0.5).collect();
            let thresholds = Thresholds::choose(pilot, epsilon);
            assert!(thresholds.lower >= -epsilon && thresholds.upper > thresholds.lower);
        }
        // A constant pilot.
        let thresholds = Thresholds::choose(vec![0.2; 32], 1.0);
        assert!(thresholds.upper > thresholds.lower);
    }
}
