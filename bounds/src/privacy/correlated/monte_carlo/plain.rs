//! Plain samples: certificates for moderate δ, and an estimate that may look further out.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::bernstein::{Moments, bounded_part};
use super::certificate::{
    Certificate, Estimate, Method, Settings, imprecise, probability, shown_count, upper_limit,
};
use super::kernel::{Kernel, LANES, Lane, Ratios, Side};
use super::sampling::{Purpose, Streams, Watch, moments};
use super::{ARITHMETIC, TAU, precondition};
use crate::error::{BoundError, Result, Shown};
use crate::privacy::{Order, Pair};
use crate::special::log_add_exp;

/// An upper confidence limit of δ in one order, from samples of the first distribution itself.
///
/// Forward: `x ~ P` and `X = (1 − e^{ε − L_up})_+`. Reverse: `x ~ Q` and `X = (1 − e^{ε +
/// L_lo})_+`. Both lie in [0, 1] and have expectations of at least δ; the limit is `mean + sqrt(2 V
/// ln(2/β)/N) + 7 ln(2/β)/(3(N − 1))`, below δ with probability at most
/// `settings.failure_probability = β`. There are no weights and hence nothing to tune, but δ = 1e-5
/// takes about 2e7 samples.
///
/// `epsilon >= 0` (nats); `delta` in (0, 1) is the size of δ to be certified: if the last part of
/// the limit alone is above it, nothing is sampled and nothing returned. Uses `settings.samples`.
///
/// # Source
/// docs/theory/accounting.md, "Estimates and plain sampling"; Maurer and Pontil (2009), Theorem 4.
///
/// # Errors
/// As [`super::forward`].
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, plain};
/// use dpbounds_bounds::privacy::{Order, Pair};
/// let pair = Pair::new(0.3, 2.0, 0.9, 3)?;
/// let settings = Settings::new(20_000, 1e-6, 1);
/// let limit = plain(&pair, Order::Forward, 0.25, 0.15, &settings, &|_| true)?;
/// // The exact value is 0.1268736.
/// assert!(limit.upper >= 0.126_873 && limit.upper < 0.15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn plain(
    pair: &Pair,
    order: Order,
    epsilon: f64,
    delta: f64,
    settings: &Settings,
    watch: Watch<'_>,
) -> Result<Certificate> {
    let epsilon = precondition::epsilon(epsilon)?;
    let delta = precondition::delta(delta)?;
    settings.check()?;
    if precondition::trivial(pair) {
        return Ok(Certificate::trivial(order));
    }
    precondition::amplified(pair)?;
    refuse_hopeless(delta, settings)?;
    let (side, purpose) = match order {
        Order::Forward => (Side::Upper, Purpose::PlainForward),
        Order::Reverse => (Side::Lower, Purpose::PlainReverse),
    };
    let kernel = Kernel::new(pair, side)?;
    let streams = Streams::new(settings.seed, purpose, settings.attempt, Some((pair, epsilon)));
    let path = Path { rate: if order == Order::Forward { pair.rate() } else { 0.0 }, scale: 1.0 };
    let moments = moments(
        settings.samples,
        watch,
        || kernel.workspace(),
        |work, chunk, lanes| {
            let mut rng = streams.chunk(chunk);
            for lane in 0..LANES {
                path.draw(pair, &mut rng, &mut work.outputs, lane);
            }
            let ratios = checked(kernel.evaluate(work))?;
            let excess = ratios.ratio.map(|ratio| match order {
                Order::Forward => ratio - (epsilon - TAU),
                Order::Reverse => -ratio - (epsilon - TAU),
            });
            let values = excess.map(|above| -(-above.max(0.0)).exp_m1());
            Ok(Moments::of(&values[..lanes]))
        },
    )?;
    let limit = moments.mean + moments.margin(1.0, settings.failure_probability);
    Ok(Certificate {
        order,
        method: Method::Plain,
        upper: upper_limit("plain limit", limit * (1.0 + ARITHMETIC))?,
        mean: probability("plain mean", moments.mean)?,
        largest: 1.0,
        samples: settings.samples,
        failure_probability: settings.failure_probability,
        replica_order: None,
    })
}

fn refuse_hopeless(delta: f64, settings: &Settings) -> Result<()> {
    #[allow(clippy::cast_precision_loss)] // at most 2^53
    let count = settings.samples as f64;
    if bounded_part(1.0, count, settings.failure_probability) < delta {
        return Ok(());
    }
    let needed = (1.0 + bounded_part(1.0, 2.0, settings.failure_probability) / delta).ceil();
    Err(BoundError::Unproven {
        request: format!(
            "a plain Monte Carlo certificate of delta = {} from {} samples (it needs at least {})",
            Shown(delta),
            settings.samples,
            shown_count(needed)
        ),
        why: "with so few samples the limit is above delta whatever they are",
        nearest: "the number of samples named, or importance sampling",
    })
}

/// How the participation of a sample is drawn: `x = scale·C y + κ z`, `y ~ Bern(rate)^T`.
#[derive(Debug, Clone, Copy)]
struct Path {
    rate: f64,
    scale: f64,
}

impl Path {
    fn draw(self, pair: &Pair, rng: &mut ChaCha8Rng, outputs: &mut [Lane], lane: usize) {
        let mut mean = 0.0;
        for row in outputs {
            // The comparison is false for rate 0, since the uniform number is not negative.
            let present = rng.random::<f64>() < self.rate;
            mean = pair.lambda() * mean + f64::from(u8::from(present));
            let noise = rng.sample::<f64, _>(StandardNormal);
            row[lane] = self.scale * mean + pair.noise_multiplier() * noise;
        }
    }
}

fn checked(ratios: Ratios) -> Result<Ratios> {
    if ratios.slack.iter().all(|&slack| slack <= TAU / 2.0) { Ok(ratios) } else { Err(imprecise()) }
}

/// Share of the samples that come from `P` itself, so that no weight is above its reciprocal.
const SHARE_OF_P: f64 = 0.15;

/// Tilts that are tried: participation rate over `r`, and length of the participation vector.
const TILTS: [(f64, f64); 9] = [
    (1.0, 1.2),
    (1.0, 1.6),
    (1.8, 1.0),
    (1.8, 1.2),
    (1.8, 1.5),
    (3.0, 1.2),
    (3.0, 1.6),
    (5.0, 1.2),
    (5.0, 1.6),
];

/// An estimate of `δ = H_{e^ε}(P‖Q)`, the forward order; never a guarantee.
///
/// Parametric importance sampling: 85 % of the samples are `x = a C y′ + κ z` with `y′ ~
/// Bern(r′)^T`, the others come from `P`; `r′` and `a` are the best of nine candidates on a tenth
/// of the samples each. `epsilon >= 0` (nats). Uses `settings.samples` and `seed`.
///
/// # Source
/// docs/theory/accounting.md, "Estimates and plain sampling".
///
/// # Errors
/// [`BoundError::Unproven`] if no sample reached the region that matters: then there is nothing to
/// estimate from; otherwise as [`super::forward`], except for the number of samples.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, estimate};
/// let pair = Pair::new(0.1, 2.0, 0.9, 2)?;
/// let guess = estimate(&pair, 0.25, &Settings::new(20_000, 0.5, 1), &|_| true)?;
/// assert!((guess.value / 0.004_208_186 - 1.0).abs() < 0.2);
/// assert_eq!(guess.warrant().kind(), "estimate");
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn estimate(
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
    precondition::amplified(pair)?;
    let trial = (settings.samples / 10).max(64);
    let mut best: Option<(f64, Tilted)> = None;
    for (attempt, &(rate, scale)) in (1..).zip(&TILTS) {
        let tilted = Tilted::new(pair, epsilon, (rate * pair.rate()).min(0.9), scale)?;
        let streams = Streams::new(settings.seed, Purpose::Estimate, attempt, None);
        let moments = tilted.run(streams, trial, &|done| {
            watch(0.5 * (f64::from(attempt - 1) + done) / precondition::real(TILTS.len()))
        })?;
        let relative = moments.standard_error() / moments.mean;
        // A handful of hits says nothing about the variance; NaN means no hit at all.
        let known = if moments.hits >= 10 { relative } else { f64::MAX };
        if moments.hits > 0 && best.as_ref().is_none_or(|(least, _)| known < *least) {
            best = Some((known, tilted));
        }
    }
    let nothing = || BoundError::Unproven {
        request: format!("an estimate from {} samples", settings.samples),
        why: "no sample reached the region where the two distributions differ by more than epsilon",
        nearest: "more samples, or an upper bound",
    };
    let (_, tilted) = best.ok_or_else(nothing)?;
    let streams = Streams::new(settings.seed, Purpose::Estimate, 0, None);
    let moments = tilted.run(streams, settings.samples, &|done| watch(0.5 + 0.5 * done))?;
    if moments.hits == 0 || !moments.mean.is_finite() {
        return Err(nothing());
    }
    Ok(Estimate::new(moments, settings.samples))
}

/// The mixture of `P` and one tilted distribution.
struct Tilted {
    pair: Pair,
    epsilon: f64,
    path: Path,
    kernel: Kernel,
    /// The tilted distribution over `Q` at `x` is the ratio of this pair at `x/scale`.
    proposal: Kernel,
}

impl Tilted {
    fn new(pair: &Pair, epsilon: f64, rate: f64, scale: f64) -> Result<Self> {
        let noise = pair.noise_multiplier() / scale;
        let tilted = Pair::new(rate, noise, pair.lambda(), pair.steps())?;
        Ok(Self {
            pair: *pair,
            epsilon,
            path: Path { rate, scale },
            kernel: Kernel::new(pair, Side::Upper)?,
            proposal: Kernel::new(&tilted, Side::Upper)?,
        })
    }

    fn run(&self, streams: Streams, samples: u64, watch: Watch<'_>) -> Result<Moments> {
        let memory = || (self.kernel.workspace(), self.proposal.workspace());
        moments(samples, watch, memory, |(work, other), chunk, lanes| {
            let mut rng = streams.chunk(chunk);
            let original = Path { rate: self.pair.rate(), scale: 1.0 };
            for lane in 0..LANES {
                let path = if rng.random::<f64>() < SHARE_OF_P { original } else { self.path };
                path.draw(&self.pair, &mut rng, &mut work.outputs, lane);
            }
            for (tilted, row) in other.outputs.iter_mut().zip(&work.outputs) {
                *tilted = row.map(|x| x / self.path.scale);
            }
            let ratio = self.kernel.evaluate(work).ratio;
            if !ratio.iter().any(|&ratio| ratio > self.epsilon) {
                return Ok(Moments::of(&[0.0; LANES][..lanes]));
            }
            let tilted = self.proposal.evaluate(other).ratio;
            let mut values = [0.0; LANES];
            for lane in 0..LANES {
                let mixture = log_add_exp(
                    SHARE_OF_P.ln() + ratio[lane],
                    (-SHARE_OF_P).ln_1p() + tilted[lane],
                );
                let gain = -(self.epsilon - ratio[lane]).min(0.0).exp_m1();
                values[lane] = gain * (ratio[lane] - mixture).exp();
            }
            Ok(Moments::of(&values[..lanes]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::correlated::monte_carlo::log_likelihood_ratio;

    /// The same draws again, one at a time through the public ratio: the forward order has to use
    /// its upper side and the reverse order the lower one, both with ε moved towards a larger δ.
    #[test]
    fn each_order_uses_its_own_distribution_and_side() {
        let pair = Pair::new(0.2, 1.2, 0.7, 3).unwrap();
        let (epsilon, settings) = (0.1, Settings::new(1_600, 1e-6, 3));
        for (order, purpose, rate) in [
            (Order::Forward, Purpose::PlainForward, 0.2),
            (Order::Reverse, Purpose::PlainReverse, 0.0),
        ] {
            let certificate = plain(&pair, order, epsilon, 0.5, &settings, &|_| true).unwrap();
            let streams = Streams::new(3, purpose, 0, Some((&pair, epsilon)));
            let (mut right, mut wrong) = (0.0, 0.0);
            for chunk in 0..100 {
                let mut rng = streams.chunk(chunk);
                let mut outputs = [[0.0; LANES]; 3];
                for lane in 0..LANES {
                    Path { rate, scale: 1.0 }.draw(&pair, &mut rng, &mut outputs, lane);
                    let ratio = log_likelihood_ratio(&pair, &outputs.map(|row| row[lane])).unwrap();
                    let gain =
                        |excess: f64| -(-(excess - epsilon + TAU).max(0.0)).exp_m1() / 1_600.0;
                    let (up, low) = (ratio.upper, ratio.lower);
                    match order {
                        Order::Forward => (right, wrong) = (right + gain(up), wrong + gain(low)),
                        Order::Reverse => (right, wrong) = (right + gain(-low), wrong + gain(-up)),
                    }
                }
            }
            assert!((certificate.mean / right - 1.0).abs() < 1e-11, "{order:?}");
            assert!(right > wrong * 1.000_01, "{order:?}: {right} {wrong}");
        }
    }
}
