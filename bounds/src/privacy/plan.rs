//! A training run and the privacy asked of it.

use super::{Relation, Sampler};
use crate::domain;
use crate::error::{BoundError, Result, Shown};

/// A training run without its noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Number of records `n` (a public lower bound under add/remove).
    pub n: u64,
    /// Batch size `B`, the fixed divisor.
    pub batch: u64,
    /// Number of noisy steps `T`; 0 releases nothing.
    pub steps: u64,
    /// Noise correlation λ in [0, 1).
    pub lambda: f64,
    /// How batches are drawn.
    pub sampler: Sampler,
    /// Which data sets are neighbours.
    pub relation: Relation,
}

/// The privacy to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// ε in nats, `> 0`.
    pub epsilon: f64,
    /// δ in (0, 1).
    pub delta: f64,
}

impl Target {
    pub(super) fn check(self) -> Result<Self> {
        domain::positive("epsilon", self.epsilon)?;
        domain::open_probability("delta", self.delta)?;
        Ok(self)
    }
}

impl Plan {
    /// Participation rate `r = B/n` of one record in each step.
    ///
    /// # Errors
    /// [`BoundError`] if the batch is empty or larger than the data.
    pub fn rate(&self) -> Result<f64> {
        domain::batch_of("batch", self.batch, "n", self.n)
    }

    /// The same run without a correlation that has no effect: the first step has no predecessor.
    pub(super) fn simplified(&self) -> Self {
        let alone = self.steps == 1 && (0.0..1.0).contains(&self.lambda);
        Self { lambda: if alone { 0.0 } else { self.lambda }, ..*self }
    }

    /// Checks ranges, and that the batches exist.
    pub(super) fn check(&self) -> Result<()> {
        self.rate()?;
        domain::noise_correlation("lambda", self.lambda)?;
        if self.steps > 0 {
            domain::count("steps", self.steps)?;
        }
        #[allow(clippy::cast_precision_loss)] // for display
        let shown = |value: u64| Shown(value as f64);
        if self.sampler == Sampler::Full && self.batch != self.n {
            return Err(BoundError::Conflict {
                parameter: "batch",
                value: shown(self.batch),
                other: "n",
                other_value: shown(self.n),
                requirement: "a full batch has n records; set batch to n or choose another sampler",
            });
        }
        if self.sampler == Sampler::Stream
            && self.batch.checked_mul(self.steps).is_none_or(|used| used > self.n)
        {
            return Err(BoundError::Conflict {
                parameter: "steps",
                value: shown(self.steps),
                other: "batch",
                other_value: shown(self.batch),
                requirement: "a stream uses each record once, so steps * batch is at most n; lower either",
            });
        }
        Ok(())
    }
}
