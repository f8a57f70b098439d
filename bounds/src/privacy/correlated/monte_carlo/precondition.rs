//! What a pair and its settings have to satisfy before anything is sampled.

use crate::domain;
use crate::error::{BoundError, Result};
use crate::privacy::Pair;

/// Most steps for which one sample is evaluated.
pub(super) const MOST_STEPS: u64 = 1 << 20;

/// The number of steps as an index.
pub(super) fn steps(pair: &Pair) -> Result<usize> {
    usize::try_from(pair.steps()).ok().filter(|_| pair.steps() <= MOST_STEPS).ok_or_else(|| {
        BoundError::Unproven {
            request: format!("a Monte Carlo bound for {} steps", pair.steps()),
            why: "one sample holds every step, at most 1048576 of them",
            nearest: "a deterministic bound, or fewer steps",
        }
    })
}

/// Whether the two distributions of the pair are the same: no step, or no participation.
pub(super) fn trivial(pair: &Pair) -> bool {
    pair.steps() == 0 || pair.rate() == 0.0
}

/// Refuses full participation, whose odds are infinite.
pub(super) fn amplified(pair: &Pair) -> Result<()> {
    if pair.rate() < 1.0 {
        return Ok(());
    }
    Err(BoundError::Unproven {
        request: "a Monte Carlo bound at sampling_rate = 1".into(),
        why: "with full participation the pair is a Gaussian shift, which is known exactly",
        nearest: "the analytic Gaussian mechanism at the norm of the participation vector",
    })
}

/// `G_vv` of every step, the first step first.
pub(super) fn gram(pair: &Pair, steps: usize) -> Vec<f64> {
    (1..=steps).rev().map(|rows| pair.gram_diagonal(real(rows))).collect()
}

/// ε, finite and at least 0.
pub(super) fn epsilon(value: f64) -> Result<f64> {
    domain::non_negative("epsilon", value)
}

/// δ strictly between 0 and 1.
pub(super) fn delta(value: f64) -> Result<f64> {
    domain::open_probability("delta", value)
}

#[allow(clippy::cast_precision_loss)] // at most MOST_STEPS
pub(super) fn real(count: usize) -> f64 {
    count as f64
}
