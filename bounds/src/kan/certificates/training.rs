//! The numbers of a training run.

use crate::domain;
use crate::error::{BoundError, Result};
use crate::kan::number;
use crate::privacy::Sampler;

/// A training run: Algorithm 1 of arXiv 2605.12648 with its numbers.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::Training;
/// let run = Training { noise: 2e-4, lambda: 0.5, ..Training::full_batch(0.5, 252, 1_000_000) };
/// assert!(run.is_full() && run.clipping.is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// Step size η, 1e-30 to 1e30.
    pub step_size: f64,
    /// T: the iterates `W_0, .., W_{T−1}` are averaged, `T − 1` updates are made; 1 to 2^53.
    pub steps: u64,
    /// B: batch size (its mean for Poisson batches) and divisor, 1 to n.
    pub batch: u64,
    /// n: records, 1 to 2^53.
    pub records: u64,
    /// How batches are drawn.
    pub sampler: Sampler,
    /// Correlation λ of the noise, in [0, 1].
    pub lambda: f64,
    /// `c = C_clip κ/B`: standard deviation of the noise in every coordinate of the averaged gradient, 0 to 1e30.
    pub noise: f64,
    /// `C_clip`, > 0; none if gradients are not clipped.
    pub clipping: Option<f64>,
    /// `R_*`, > 0; none if the iterates are not projected.
    pub radius: Option<f64>,
}

impl Training {
    /// Gradient descent on all records, without noise, clipping or projection.
    #[must_use]
    pub fn full_batch(step_size: f64, steps: u64, records: u64) -> Self {
        Self {
            step_size,
            steps,
            batch: records,
            records,
            sampler: Sampler::Full,
            lambda: 0.0,
            noise: 0.0,
            clipping: None,
            radius: None,
        }
    }

    /// Whether every batch holds every record.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.sampler == Sampler::Full || self.batch == self.records
    }

    /// Whether there is noise at all: the first noise enters `W_1`.
    pub(super) fn is_noisy(&self) -> bool {
        self.noise > 0.0 && self.steps >= 2
    }

    /// Checks every range.
    pub(super) fn checked(&self) -> Result<Numbers> {
        domain::moderate("step_size", self.step_size)?;
        let steps = domain::count("steps", self.steps)?;
        domain::batch_of("batch", self.batch, "records", self.records)?;
        domain::probability("lambda", self.lambda)?;
        domain::moderate_or_zero("noise", self.noise)?;
        for (name, value) in [("clipping", self.clipping), ("radius", self.radius)] {
            if let Some(value) = value {
                domain::positive(name, value)?;
            }
        }
        if self.sampler == Sampler::Full && self.batch != self.records {
            return Err(BoundError::Conflict {
                parameter: "batch",
                value: crate::error::Shown(count(self.batch)),
                other: "records",
                other_value: crate::error::Shown(count(self.records)),
                requirement: "a full batch has all records; choose fixed or poisson otherwise",
            });
        }
        Ok(Numbers { steps, batch: count(self.batch), records: count(self.records) })
    }

    /// Refuses batches whose size is random, which `statement` does not cover.
    pub(super) fn ensure_fixed_size(&self, statement: &str) -> Result<()> {
        match self.sampler {
            _ if self.is_full() => Ok(()),
            Sampler::Fixed => Ok(()),
            Sampler::Poisson => Err(BoundError::Unproven {
                request: format!("{statement} with Poisson batches"),
                why: "its proof bounds the deviation of a batch gradient by 2 G and compares with sampling with \
                      replacement; both are false when the batch size is random",
                nearest: "Theorem S, or fixed-size batches",
            }),
            Sampler::Full | Sampler::Stream => self.ensure_fresh_batches(statement),
        }
    }

    /// Refuses batches that depend on earlier ones.
    pub(super) fn ensure_fresh_batches(&self, statement: &str) -> Result<()> {
        if self.sampler != Sampler::Stream || self.is_full() {
            return Ok(());
        }
        Err(BoundError::Unproven {
            request: format!("{statement} with a stream of batches"),
            why: "its proof needs every batch to be independent of the weights it is used at",
            nearest: "fixed-size or Poisson batches, or a full batch",
        })
    }
}

/// The counts as doubles.
pub(super) struct Numbers {
    pub(super) steps: f64,
    pub(super) batch: f64,
    pub(super) records: f64,
}

/// A count below 2^53 as a double.
pub(super) fn count(value: u64) -> f64 {
    usize::try_from(value).map_or(f64::MAX, number)
}
