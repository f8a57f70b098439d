//! The averaged empirical risk from the losses of the mini-batches.

use super::measure::AveragedRisk;
use crate::train::{Sampler, Settings};

/// Confidence of the interval, and its two-sided normal quantile.
const CONFIDENCE: f64 = 0.95;
const QUANTILE: f64 = 1.959_963_984_540_054;

/// Estimates `L_S(W_t)` by `L_S(W_a) + mean over the batch of (l_i(W_t) − l_i(W_a))`, divided by the probability that
/// the batch is not empty (an empty one adds 0).
///
/// `W_a` are the weights of the last anchor, a step `a <= t` at which every loss is computed, so that a batch
/// needs no second evaluation. Given the past, a batch of `fixed` is a uniform subset, and so is one of
/// `poisson` given its size; both make the estimate unbiased, and the errors a martingale. A batch of
/// `stream` is a subset of the records that are not used up: its losses say nothing about the others.
///
/// The variance of each step is estimated from the spread in its batch, never too small in the mean: exactly
/// right for `fixed` batches of two or more, too large for single records (whose square stands for the
/// variance) and for `poisson` (by a share of the probability of an empty batch).
pub(super) struct Estimator {
    records: f64,
    /// 1 / the probability that a batch is not empty.
    weight: f64,
    /// Steps between two anchors; 0 for none.
    every: u64,
    anchor_risk: f64,
    /// By record; empty without an anchor.
    anchor_losses: Vec<f64>,
    anchors: u64,
    sum: f64,
    variance: f64,
    steps: f64,
}

#[allow(clippy::cast_precision_loss)] // counts of records
impl Estimator {
    /// With an anchor at every `every`-th step; 0 for none, by default once in n/B steps.
    pub(super) fn new(settings: &Settings, records: usize, every: Option<u64>) -> Self {
        let (count, batch) = (records as f64, settings.batch as f64);
        let empty = match settings.sampler {
            Sampler::Poisson => (count * (-batch / count).ln_1p()).exp(),
            _ => 0.0,
        };
        Self {
            records: count,
            weight: 1.0 / (1.0 - empty),
            every: every.unwrap_or_else(|| records.div_ceil(settings.batch) as u64),
            anchor_risk: 0.0,
            anchor_losses: Vec::new(),
            anchors: 0,
            sum: 0.0,
            variance: 0.0,
            steps: 0.0,
        }
    }

    /// Whether the losses of all records are wanted at step t, from 0.
    pub(super) fn wants_anchor(&self, t: u64) -> bool {
        self.every > 0 && t.is_multiple_of(self.every)
    }

    /// The losses of all records at the present weights.
    pub(super) fn set_anchor(&mut self, losses: Vec<f64>) {
        self.anchor_risk = losses.iter().sum::<f64>() / self.records;
        self.anchor_losses = losses;
        self.anchors += 1;
    }

    /// The losses of a batch that was drawn after the weights were made.
    pub(super) fn add(&mut self, batch: &[(u32, f64)]) {
        let (value, variance) = self.estimate(batch);
        self.sum += value;
        self.variance += variance;
        self.steps += 1.0;
    }

    /// The estimate of the risk and of its variance given the past.
    fn estimate(&self, batch: &[(u32, f64)]) -> (f64, f64) {
        if batch.is_empty() {
            return (self.anchor_risk, 0.0);
        }
        let anchor =
            |record: u32| self.anchor_losses.get(record as usize).copied().unwrap_or_default();
        let differences = || batch.iter().map(|(record, loss)| loss - anchor(*record));
        let size = batch.len() as f64;
        let mean = differences().sum::<f64>() / size;
        let within = if batch.len() == 1 {
            mean * mean * f64::from(self.records > 1.0)
        } else {
            let squares: f64 = differences().map(|value| (value - mean).powi(2)).sum();
            squares / (size - 1.0) / size * (1.0 - size / self.records)
        };
        let weight = self.weight;
        let variance = weight * weight * within + weight * (weight - 1.0) * mean * mean;
        (self.anchor_risk + weight * mean, variance)
    }

    /// The average, with the exact risk of the last weights, which have no batch.
    pub(super) fn finish(&self, last: f64) -> AveragedRisk {
        let count = self.steps + 1.0;
        AveragedRisk::Estimated {
            value: (self.sum + last) / count,
            half_width: QUANTILE * self.variance.sqrt() / count,
            confidence: CONFIDENCE,
            anchors: self.anchors,
        }
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
