//! The forward order by importance sampling from tilted replicas, with limits that know the largest
//! possible weight.

use super::bernstein::Moments;
use super::certificate::{
    Certificate, Estimate, Method, Settings, imprecise, probability, shown_count, upper_limit,
};
use super::kernel::{Kernel, Side, Workspace};
use super::replica_chain::{ReplicaChain, best_order};
use super::sampling::{Purpose, Streams, Watch, moments};
use super::{ARITHMETIC, TAU, precondition};
use crate::domain::MAX_COUNT;
use crate::error::{BoundError, Result, Shown};
use crate::privacy::{Order, Pair};

/// A certificate of δ needs this many samples per `M/δ`: then the part of the margin that no
/// variance removes is at most 7.5 % of δ at a failure probability of 2.5e-7.
const SAMPLES_PER_RATIO: f64 = 500.0;

/// An upper confidence limit of `δ = H_{e^ε}(P‖Q)`, the forward order.
///
/// Draws `n` from the normalised replica chain of order `α`, `x = Cn + κz`, and averages `X = Z_α w
/// (e^{L_up} − e^ε)_+ e^{−α L̃}`, whose expectation is at least δ and which never exceeds `M = Z_α
/// e^{−(α−1)ε} (1/α)(1 − 1/α)^{α−1}`. The limit is `mean + sqrt(2 V ln(2/β)/N) + 7 M ln(2/β)/(3(N −
/// 1))`, with the allowance for rounding errors. It is below δ with probability at most
/// `settings.failure_probability = β` over the seeds.
///
/// `epsilon >= 0` (nats); `delta` in (0, 1) is the size of δ that the limit is to resolve: with
/// fewer than `500 M/delta` samples nothing is sampled and nothing returned, because the weights
/// may then hide all of δ in values that never occur (see [`samples_needed`]). The limit itself may
/// come out on either side of `delta`. The result does not depend on the number of threads.
///
/// # Source
/// docs/theory/accounting.md, "Forward order by importance sampling"; Maurer and Pontil (2009),
/// Theorem 4.
///
/// # Errors
/// [`BoundError::Unproven`] if there are too few samples (the needed number is named), at full
/// participation, or where double precision does not suffice; [`BoundError::OutOfRange`] for an
/// argument out of range; an error for which [`super::interrupted`] holds if `watch` stopped it.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, forward};
/// let pair = Pair::new(0.1, 2.0, 0.9, 2)?;
/// let limit = forward(&pair, 0.25, 0.01, &Settings::new(20_000, 1e-6, 1), &|_| true)?;
/// // The exact value is 0.004208186.
/// assert!(limit.upper >= 0.004_208_186 && limit.upper < 0.006);
/// // Too few samples are refused.
/// assert!(forward(&pair, 0.25, 1e-6, &Settings::new(20_000, 1e-6, 1), &|_| true).is_err());
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn forward(
    pair: &Pair,
    epsilon: f64,
    delta: f64,
    settings: &Settings,
    watch: Watch<'_>,
) -> Result<Certificate> {
    let epsilon = precondition::epsilon(epsilon)?;
    let delta = precondition::delta(delta)?;
    settings.check()?;
    if precondition::trivial(pair) {
        return Ok(Certificate::trivial(Order::Forward));
    }
    let sampler = Sampler::new(pair, epsilon - TAU, Side::Upper, settings)?;
    let needed = sampler.samples_needed(delta);
    if !(as_real(settings.samples) >= needed) {
        return Err(BoundError::Unproven {
            request: format!(
                "an importance-sampling certificate near delta = {} from {} samples (it needs {})",
                Shown(delta),
                settings.samples,
                shown_count(needed)
            ),
            why: "rare large weights could hide all of delta from so few samples",
            nearest: "the number of samples named, more noise, or a deterministic bound",
        });
    }
    let streams =
        Streams::new(settings.seed, Purpose::Forward, settings.attempt, Some((pair, epsilon)));
    let moments = sampler.run(streams, settings.samples, watch)?;
    let margin = moments.margin(sampler.largest(), settings.failure_probability);
    let biased = moments.mean + margin + sampler.largest() * sampler.chain.deviation;
    Ok(Certificate {
        order: Order::Forward,
        method: Method::ReplicaImportance,
        upper: upper_limit("forward limit", biased * sampler.allowance().exp())?,
        mean: probability("forward mean", moments.mean)?,
        largest: sampler.largest(),
        samples: settings.samples,
        failure_probability: settings.failure_probability,
        replica_order: Some(sampler.order),
    })
}

/// A lower confidence limit of `δ = H_{e^ε}(P‖Q)`, the forward order.
///
/// As [`forward`] with `L_lo` in place of `L_up` and the margin subtracted; 0 where nothing can be
/// said. It is above δ with probability at most `settings.failure_probability`. Too few samples
/// make it useless, not wrong, so nothing is refused for their number.
///
/// # Source
/// docs/theory/accounting.md, "Lower bounds".
///
/// # Errors
/// As [`forward`], except for the number of samples.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, forward_lower};
/// let pair = Pair::new(0.1, 2.0, 0.9, 2)?;
/// let limit = forward_lower(&pair, 0.25, &Settings::new(20_000, 1e-6, 1), &|_| true)?;
/// assert!(limit > 0.003 && limit <= 0.004_208_187);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn forward_lower(
    pair: &Pair,
    epsilon: f64,
    settings: &Settings,
    watch: Watch<'_>,
) -> Result<f64> {
    let epsilon = precondition::epsilon(epsilon)?;
    settings.check()?;
    if precondition::trivial(pair) {
        return Ok(0.0);
    }
    let sampler = Sampler::new(pair, epsilon + TAU, Side::Lower, settings)?;
    if !sampler.largest().is_finite() {
        return Ok(0.0);
    }
    let streams =
        Streams::new(settings.seed, Purpose::ForwardLower, settings.attempt, Some((pair, epsilon)));
    let moments = sampler.run(streams, settings.samples, watch)?;
    let margin = moments.margin(sampler.largest(), settings.failure_probability);
    let biased = moments.mean - margin - sampler.largest() * sampler.chain.deviation;
    probability("lower limit", biased.max(0.0) * (-sampler.allowance()).exp())
}

/// The number of samples that [`forward`] needs near `delta`: `500 M/δ`, rounded up.
///
/// Costs one table of the replica chain (plus the search for the order) and no samples. 0 where the
/// two distributions are equal.
///
/// # Source
/// docs/theory/accounting.md, "Forward order by importance sampling".
///
/// # Errors
/// As [`forward`]; [`BoundError::Unproven`] if the number is above 2^53.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, samples_needed};
/// let settings = Settings::new(2, 1e-6, 1);
/// let needed = samples_needed(&Pair::new(0.1, 2.0, 0.9, 2)?, 0.25, 0.01, &settings)?;
/// assert!((1_000..10_000).contains(&needed));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn samples_needed(pair: &Pair, epsilon: f64, delta: f64, settings: &Settings) -> Result<u64> {
    let epsilon = precondition::epsilon(epsilon)?;
    let delta = precondition::delta(delta)?;
    settings.check()?;
    if precondition::trivial(pair) {
        return Ok(0);
    }
    let needed = Sampler::new(pair, epsilon - TAU, Side::Upper, settings)?.samples_needed(delta);
    if needed <= as_real(MAX_COUNT) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 1..=2^53
        return Ok(needed as u64);
    }
    Err(BoundError::Unproven {
        request: format!("an importance-sampling certificate near delta = {}", Shown(delta)),
        why: "the largest weight is so large that more than 2^53 samples would be needed",
        nearest: "more noise, or a deterministic bound",
    })
}

/// The replica order with the smallest `M`, which [`forward`] takes unless told otherwise.
///
/// # Source
/// docs/theory/accounting.md, "Forward order by importance sampling".
///
/// # Errors
/// As [`forward`].
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::best_replica_order;
/// assert!(best_replica_order(&Pair::new(0.01, 2.5, 0.5, 100)?, 1.0)? > 5);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn best_replica_order(pair: &Pair, epsilon: f64) -> Result<u64> {
    let epsilon = precondition::epsilon(epsilon)?;
    precondition::amplified(pair)?;
    if precondition::trivial(pair) { Ok(2) } else { best_order(pair, epsilon) }
}

/// A cheap estimate of the forward δ for choosing parameters; never a guarantee.
///
/// The samples of [`forward`] with random numbers of their own, the same for every pair, so that
/// the estimates at neighbouring noise differ smoothly. Uses `settings.samples`, `seed` and
/// `replica_order`.
///
/// # Source
/// docs/theory/accounting.md, "Calibration".
///
/// # Errors
/// As [`forward`], except for the number of samples.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, forward_pilot};
/// let pair = Pair::new(0.1, 2.0, 0.9, 2)?;
/// let pilot = forward_pilot(&pair, 0.25, &Settings::new(4000, 0.5, 1), &|_| true)?;
/// assert!((pilot.value / 0.0042 - 1.0).abs() < 0.2);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn forward_pilot(
    pair: &Pair,
    epsilon: f64,
    settings: &Settings,
    watch: Watch<'_>,
) -> Result<Estimate> {
    let epsilon = precondition::epsilon(epsilon)?;
    settings.check()?;
    if precondition::trivial(pair) {
        return Ok(Estimate { value: 0.0, standard_error: 0.0, samples: 0, hits: 0 });
    }
    let sampler = Sampler::new(pair, epsilon, Side::Upper, settings)?;
    let streams = Streams::new(settings.seed, Purpose::ForwardPilot, 0, None);
    let moments = sampler.run(streams, settings.samples, watch)?;
    probability("pilot", moments.mean)?;
    Ok(Estimate::new(moments, settings.samples))
}

#[allow(clippy::cast_precision_loss)] // at most 2^53
fn as_real(count: u64) -> f64 {
    count as f64
}

/// A chain and a kernel for one pair, with ε moved by the tolerance.
pub(super) struct Sampler {
    pub chain: ReplicaChain,
    kernel: Kernel,
    epsilon: f64,
    pub order: u64,
    log_largest: f64,
}

impl Sampler {
    pub(super) fn new(pair: &Pair, epsilon: f64, side: Side, settings: &Settings) -> Result<Self> {
        precondition::amplified(pair)?;
        let order = match settings.replica_order {
            Some(order) => order,
            None => best_order(pair, epsilon)?,
        };
        let chain = ReplicaChain::new(pair, order)?;
        let log_largest = chain.log_largest(epsilon);
        Ok(Self { kernel: Kernel::new(pair, side)?, chain, epsilon, order, log_largest })
    }

    /// `M` of the samples as they are computed.
    pub(super) fn largest(&self) -> f64 {
        self.log_largest.exp()
    }

    /// Logarithm of the factor by which rounding errors may have changed a sample: `L` once and
    /// `L̃` α times within the tolerance, the weight of the path, and the last few operations.
    pub(super) fn allowance(&self) -> f64 {
        #[allow(clippy::cast_precision_loss)] // at most 120
        let order = self.order as f64;
        (1.0 + order) * TAU + self.chain.defect + ARITHMETIC
    }

    fn samples_needed(&self, delta: f64) -> f64 {
        (SAMPLES_PER_RATIO * self.largest() / delta).ceil().max(2.0)
    }

    /// The moments of the first `samples` samples of the streams.
    pub(super) fn run(&self, streams: Streams, samples: u64, watch: Watch<'_>) -> Result<Moments> {
        let memory = || self.kernel.workspace();
        moments(samples, watch, memory, |work, chunk, lanes| {
            self.chunk(streams, work, chunk, lanes)
        })
    }

    fn chunk(
        &self,
        streams: Streams,
        work: &mut Workspace,
        chunk: u64,
        lanes: usize,
    ) -> Result<Moments> {
        let mut rng = streams.chunk(chunk);
        let log_weight: Vec<f64> = (0..super::kernel::LANES)
            .map(|lane| self.chain.sample(&mut rng, &mut work.outputs, lane))
            .collect();
        let ratios = self.kernel.evaluate(work);
        if !ratios.slack.iter().all(|&slack| slack <= TAU / 2.0) {
            return Err(imprecise());
        }
        let values: Vec<f64> = (0..lanes)
            .map(|lane| {
                self.value(log_weight[lane], ratios.ratio[lane], ratios.without_overlap[lane])
            })
            .collect();
        Ok(Moments::of(&values))
    }

    /// `Z w (e^L − e^ε)_+ e^{−α L̃}`, at most `M` because `L <= L̃`.
    fn value(&self, log_weight: f64, ratio: f64, without_overlap: f64) -> f64 {
        if ratio <= self.epsilon {
            return 0.0;
        }
        #[allow(clippy::cast_precision_loss)] // at most 120
        let order = self.order as f64;
        let log = self.chain.log_normaliser + log_weight + ratio - order * without_overlap
            + (-(self.epsilon - ratio).exp_m1()).ln();
        log.min(self.log_largest).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(order: u64) -> Settings {
        Settings { replica_order: Some(order), ..Settings::new(4_000, 1e-6, 3) }
    }

    #[test]
    fn no_sample_exceeds_the_largest_and_the_limits_use_their_own_side() {
        // Coarse enough noise that the two roundings differ visibly.
        let pair = Pair::new(0.2, 1.6, 0.7, 3).unwrap();
        let settings = settings(2);
        let epsilon = 0.7;
        let run = |side, epsilon, purpose| {
            let sampler = Sampler::new(&pair, epsilon, side, &settings).unwrap();
            let streams = Streams::new(settings.seed, purpose, 0, Some((&pair, 0.7)));
            let moments = sampler.run(streams, settings.samples, &|_| true).unwrap();
            assert!(moments.largest <= sampler.largest());
            moments.mean
        };
        let above = run(Side::Upper, epsilon - TAU, Purpose::Forward);
        let below = run(Side::Lower, epsilon - TAU, Purpose::Forward);
        assert!(above > below * 1.000_1, "{above} {below}");
        let limit = forward(&pair, epsilon, 0.999, &settings, &|_| true).unwrap();
        assert_eq!(limit.mean, above);
        assert!(limit.upper > above);
    }

    #[test]
    fn every_order_estimates_the_same_number() {
        // Exact value 0.004208186; each mean is off by more than 5 standard errors with
        // probability 1e-6.
        let pair = Pair::new(0.1, 2.0, 0.9, 2).unwrap();
        for order in [2, 3, 6, 9] {
            let pilot = forward_pilot(&pair, 0.25, &settings(order), &|_| true).unwrap();
            let scatter = 5.0 * pilot.standard_error;
            assert!((pilot.value - 0.004_208_2).abs() < scatter + 1e-5, "{order}: {pilot:?}");
        }
    }
}
