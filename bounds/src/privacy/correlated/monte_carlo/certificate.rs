//! What the Monte Carlo bounds take and what they return.

use super::replica_chain::ORDERS;
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::pac_bayes::sampling::MAX_EXACT_DRAWS;
use crate::privacy::Order;
use crate::warrant::Warrant;

/// How much to sample, and with which seed.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::correlated::monte_carlo::Settings;
/// let settings = Settings { attempt: 1, ..Settings::new(100_000, 1e-6, 7) };
/// assert_eq!(settings.reverse_samples, 100_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Number of samples of the forward order and of everything that is not [`super::reverse`];
    /// 2 to 2^53.
    pub samples: u64,
    /// Number of samples of [`super::reverse`], besides its pilot; 2 to 10^10.
    pub reverse_samples: u64,
    /// Probability, in (0, 1), that the result is wrong; over the seeds only.
    pub failure_probability: f64,
    /// The seed. A guarantee needs a seed that was not chosen by looking at its results.
    pub seed: u64,
    /// Number `α` of replicas, 2 to 120; `None` takes the one with the smallest `M`.
    pub replica_order: Option<u64>,
    /// Counts the attempts of one calibration from 0: it selects fresh random numbers, and in
    /// [`super::certify`] a share of the failure probability that halves with every attempt.
    pub attempt: u32,
}

impl Settings {
    /// First attempt, best replica order, the same number of samples in both orders (at most 10^10
    /// in the reverse one).
    #[must_use]
    pub fn new(samples: u64, failure_probability: f64, seed: u64) -> Self {
        let reverse_samples = samples.min(MAX_EXACT_DRAWS);
        Self {
            samples,
            reverse_samples,
            failure_probability,
            seed,
            replica_order: None,
            attempt: 0,
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        for (name, count) in [("samples", self.samples), ("reverse_samples", self.reverse_samples)]
        {
            let number = domain::count(name, count)?;
            if count < 2 {
                return Err(BoundError::OutOfRange {
                    parameter: name,
                    value: Shown(number),
                    allowed: "an integer from 2 to 9007199254740992 (2^53)",
                    remedy: "a variance needs two samples",
                });
            }
        }
        // Found out here and not after the sampling.
        if self.reverse_samples > MAX_EXACT_DRAWS {
            return Err(BoundError::OutOfRange {
                parameter: "reverse_samples",
                #[allow(clippy::cast_precision_loss)] // for the message
                value: Shown(self.reverse_samples as f64),
                allowed: "an integer from 2 to 10000000000",
                remedy: "the limit hardly improves beyond a million",
            });
        }
        domain::open_probability("failure_probability", self.failure_probability)?;
        match self.replica_order {
            Some(order) if !ORDERS.contains(&order) => Err(BoundError::OutOfRange {
                parameter: "replica_order",
                #[allow(clippy::cast_precision_loss)] // for the message
                value: Shown(order as f64),
                allowed: "an integer from 2 to 120",
                remedy: "leave it out to take the best one",
            }),
            _ => Ok(()),
        }
    }
}

/// How a certificate was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The two distributions are equal.
    Trivial,
    /// Importance sampling from tilted replicas, empirical Bernstein limit.
    ReplicaImportance,
    /// Two Clopper–Pearson limits of the law of the log-likelihood ratio, extrapolated by Ehrhard's
    /// inequality.
    Ehrhard,
    /// Plain samples, empirical Bernstein limit.
    Plain,
}

/// An upper limit of δ that is wrong with at most a given probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Which order is bounded.
    pub order: Order,
    /// How.
    pub method: Method,
    /// The upper limit of δ, in [1e-300, 1]; 0 only where nothing was sampled.
    pub upper: f64,
    /// The mean of the samples, an estimate without any guarantee.
    pub mean: f64,
    /// `M`: the largest value that a sample can take.
    pub largest: f64,
    /// Number of samples behind the limit, pilots not counted.
    pub samples: u64,
    /// Probability that `upper` is too small, over the seeds; 0 where nothing was sampled.
    pub failure_probability: f64,
    /// Number of replicas, where there are any.
    pub replica_order: Option<u64>,
}

impl Certificate {
    pub(super) fn trivial(order: Order) -> Self {
        Self {
            order,
            method: Method::Trivial,
            upper: 0.0,
            mean: 0.0,
            largest: 0.0,
            samples: 0,
            failure_probability: 0.0,
            replica_order: None,
        }
    }

    /// Proven where nothing was sampled, otherwise proven with confidence.
    #[must_use]
    pub fn warrant(&self) -> Warrant {
        if self.failure_probability == 0.0 {
            return Warrant::Proven;
        }
        let level = 1.0 - self.failure_probability;
        Warrant::Confidence(level.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON))
    }
}

/// An estimate: no guarantee, whatever its standard error says.
///
/// Importance weights with rare large values make both the value and the standard error far too
/// small; see [`super::forward`] for a limit that knows about them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimated δ, in [0, 1].
    pub value: f64,
    /// Empirical standard error of the value.
    pub standard_error: f64,
    /// Number of samples.
    pub samples: u64,
    /// Number of samples that contributed.
    pub hits: u64,
}

impl Estimate {
    pub(super) fn new(moments: super::bernstein::Moments, samples: u64) -> Self {
        Self {
            value: moments.mean.clamp(0.0, 1.0),
            standard_error: moments.standard_error(),
            samples,
            hits: moments.hits,
        }
    }

    /// Always [`Warrant::Estimate`].
    #[must_use]
    pub fn warrant(&self) -> Warrant {
        Warrant::Estimate
    }
}

/// A mean or a lower limit as a probability.
pub(super) fn probability(what: &'static str, value: f64) -> Result<f64> {
    if value >= 0.0 {
        return Ok(value.min(1.0));
    }
    Err(BoundError::Numerical { what, detail: "not a number" })
}

/// An upper limit as a probability; one that underflowed is still above 0.
pub(super) fn upper_limit(what: &'static str, value: f64) -> Result<f64> {
    probability(what, value).map(|value| value.max(SMALLEST_LIMIT))
}

/// The smallest upper limit that is given where anything was computed.
const SMALLEST_LIMIT: f64 = 1e-300;

/// A required number of samples for a message.
pub(super) fn shown_count(needed: f64) -> String {
    #[allow(clippy::cast_precision_loss)] // exact: 2^53
    let most = domain::MAX_COUNT as f64;
    if needed <= most { Shown::short(needed).to_string() } else { "more than 2^53".into() }
}

/// The rounding error of a sample exceeds what the certificates allow for.
pub(super) fn imprecise() -> BoundError {
    BoundError::Unproven {
        request: "a Monte Carlo bound at this noise and number of steps".into(),
        why: "double precision does not resolve the log-likelihood ratio to 1e-7",
        nearest: "more noise, fewer steps, or a deterministic bound",
    }
}
