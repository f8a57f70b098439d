//! How large Poisson batches get, and how the comparator does on batches.

use super::Training;
use super::training::count;
use crate::domain;
use crate::error::Result;
use crate::privacy::Sampler;
use crate::solve::minimize;
use crate::special::Binomial;
use crate::warrant::{Bound, Quantity, Source};

/// `max_t |B_t| ≤ ρ B`, except with a failure probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchCap {
    ratio: f64,
    failure: f64,
}

impl BatchCap {
    /// Every batch has B records.
    pub const EXACT: Self = Self { ratio: 1.0, failure: 0.0 };

    /// The cap of a run. Poisson batches: `ρB` is the smallest count that a batch exceeds with probability at most
    /// `failure/T`, the binomial tail evaluated on the safe side. Other batches have B records.
    ///
    /// `failure` δ_N in (0, 1).
    ///
    /// # Source
    /// Ours: union bound over the steps.
    ///
    /// # Errors
    /// [`crate::BoundError`] for an argument out of range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::kan::certificates::{BatchCap, Training};
    /// use dpbounds_bounds::privacy::Sampler;
    /// let run = Training { batch: 256, sampler: Sampler::Poisson, ..Training::full_batch(0.5, 157, 4000) };
    /// assert_eq!(BatchCap::of(&run, 1e-4)?.ratio(), 334.0 / 256.0);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn of(training: &Training, failure: f64) -> Result<Self> {
        let numbers = training.checked()?;
        if training.sampler != Sampler::Poisson || training.is_full() {
            return Ok(Self::EXACT);
        }
        let failure = domain::open_probability("failure of the batch sizes", failure)?;
        // Records that stay out of a batch are binomial with success probability 1 − B/n.
        let rate = numbers.batch / numbers.records;
        let outside = Binomial::with_log_odds(numbers.records, ((1.0 - rate) / rate).ln());
        let target = failure.ln() - numbers.steps.ln() - 1e-9;
        let rare = |size: u64| {
            size >= training.records
                || outside.log_lower_tail(count(training.records - size - 1)) <= target
        };
        let (mut low, mut high) = (training.batch, training.records);
        // Above the mean the tail falls with the size.
        while low < high {
            let middle = low + (high - low) / 2;
            if rare(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(Self { ratio: count(high) / numbers.batch, failure })
    }

    /// A cap that is known from elsewhere: `ratio` ρ ≥ 1, `failure` in [0, 1).
    ///
    /// # Errors
    /// [`crate::BoundError`] for an argument out of range.
    pub fn assumed(ratio: f64, failure: f64) -> Result<Self> {
        domain::positive("ratio", ratio)?;
        domain::probability("failure of the batch sizes", failure)?;
        Ok(Self { ratio: ratio.max(1.0), failure })
    }

    /// ρ, at least 1.
    #[must_use]
    pub fn ratio(self) -> f64 {
        self.ratio
    }

    /// The probability that some batch is larger.
    #[must_use]
    pub fn failure(self) -> f64 {
        self.failure
    }
}

/// A bound of `(1/T) Σ_t L_{B_t}(W*)` that is sharper than the largest loss: `((e^y − 1) L_S(W*) + U k/(BT))/y` with
/// `k = log(1/δ)`, the best y, except with probability δ.
///
/// `mean` `L_S(W*)` and `largest` `U = max_i l_i(W*)`, in nats and ≥ 0; `failure` δ in (0, 1). Fixed-size and Poisson batches
/// alike: for Poisson it is not multiplied by ρ.
///
/// # Source
/// Ours; proof in docs/theory/certificates.md.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range, or a stream of batches.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{Training, comparator_on_batches};
/// use dpbounds_bounds::privacy::Sampler;
/// let run = Training { batch: 64, sampler: Sampler::Fixed, ..Training::full_batch(0.5, 184, 4000) };
/// let bound = comparator_on_batches(&run, 0.1, 0.5, 1e-3)?;
/// assert!((bound.value.unwrap() - 0.107_756_110_403_905_36).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn comparator_on_batches(
    training: &Training,
    mean: f64,
    largest: f64,
    failure: f64,
) -> Result<Bound> {
    let numbers = training.checked()?;
    training.ensure_fresh_batches("the loss of the comparator on batches")?;
    let (mean, largest) =
        (domain::non_negative("mean", mean)?, domain::non_negative("largest", largest)?);
    let log = -domain::open_probability("failure", failure)?.ln();
    let price = largest * log / (numbers.batch * numbers.steps);
    let objective = |log_y: f64| {
        let y = libm::exp(log_y);
        (libm::expm1(y) * mean + price) / y
    };
    let found = minimize(objective, -30.0, 4.0)?;
    let quantity = Quantity { name: "average_batch_loss_of_the_comparator", unit: "nats" };
    let statement = super::Guarantee::Except(failure);
    let source: Source = super::ours("comparator on batches", statement);
    // The largest loss bounds every batch of at most B records anyway, but not a larger Poisson one.
    let value = if training.sampler == Sampler::Poisson && !training.is_full() {
        found.value
    } else {
        found.value.min(largest)
    };
    Bound::upper_bound(quantity, value, source)
}
