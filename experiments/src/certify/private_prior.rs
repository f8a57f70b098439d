//! A private mean of the prior: DP-SGD with momentum and averaging of the last weights.

use dpbounds_bounds::privacy::Sampler;
use serde::{Deserialize, Serialize};

use super::error::{CertifyError, Result};
use super::machine::{Machine, Point};
use crate::kan::{Aligned, Examples};
use crate::train::Batches;

/// Gradients are clipped a little below their norm, so that single precision does not carry them above it.
const CLIP_MARGIN: f64 = 1e-3;

/// How the private mean is learned.
///
/// ```text
/// V ← μ V − (η/B)( Σ_{i in batch} clip(∇ l_i, C) + σ C (Z_t − λ Z_{t−1}) ),   W ← W + V
/// ```
///
/// with the loss `l = log(1 + e^{−β y f})`; the result is the mean of the last weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivatePrior {
    /// How batches are drawn.
    pub sampler: Sampler,
    /// Batch size B, the mean one for Poisson batches.
    pub batch: usize,
    /// Number of noisy updates T.
    pub updates: u64,
    /// σ: noise on the sum of clipped gradients, in clipping norms.
    pub noise_multiplier: f64,
    /// Noise correlation λ in [0, 1).
    pub lambda: f64,
    /// Clipping norm C.
    pub clip: f64,
    /// Inverse temperature β of the logistic loss.
    pub inverse_temperature: f64,
    /// Step size η.
    pub step_size: f64,
    /// Momentum μ in [0, 1).
    pub momentum: f64,
    /// Share of the weights, counted from the last, of which the mean is taken; 0 for the last alone.
    pub averaged: f64,
}

impl PrivatePrior {
    /// Whether the weights after update `t` enter the mean.
    #[allow(clippy::cast_precision_loss)]
    fn averages(&self, t: u64) -> bool {
        t == self.updates || (t as f64) > self.updates as f64 * (1.0 - self.averaged)
    }

    /// Standard deviation of the noise in a weight of the result. It depends on the settings only.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn weight_noise(&self) -> f64 {
        let responses = self.responses();
        let later = responses.iter().skip(1).chain([&0.0]);
        let squares =
            responses.iter().zip(later).map(|(now, later)| (now - self.lambda * later).powi(2));
        let scale = self.step_size * self.noise_multiplier * self.clip / self.batch as f64;
        scale * squares.sum::<f64>().sqrt()
    }

    /// What the result moves by if every update adds 1 to the velocity.
    pub(super) fn response(&self) -> f64 {
        self.responses().iter().sum()
    }

    /// What the result moves by for a unit that update `t = 1, 2, ..` adds to the velocity.
    #[allow(clippy::cast_precision_loss)]
    fn responses(&self) -> Vec<f64> {
        let averaged = (1..=self.updates).filter(|t| self.averages(*t)).count() as f64;
        let (mut tail, mut response) = (0.0, 0.0);
        let mut responses: Vec<f64> = (1..=self.updates)
            .rev()
            .map(|t| {
                if self.averages(t) {
                    tail += 1.0 / averaged;
                }
                response = tail + self.momentum * response;
                response
            })
            .collect();
        responses.reverse();
        responses
    }
}

/// What the training did.
pub(super) struct Learned {
    pub(super) weights: Aligned<f32>,
    /// Share of the gradients that were clipped.
    pub(super) clipped: f64,
}

/// Runs DP-SGD from `start`.
pub(super) fn learn(
    machine: &mut Machine<'_>,
    examples: &Examples<f32>,
    start: &Aligned<f32>,
    settings: &PrivatePrior,
    seed: u64,
) -> Result<Learned> {
    let PrivatePrior { sampler, batch, step_size, clip, inverse_temperature: beta, .. } = *settings;
    let mut batches = Batches::new(sampler, examples.len(), batch, seed);
    let noise = machine.noise(seed);
    let len = machine.layout().len();
    let mut weights = copy(start);
    let (mut velocity, mut mean) = (Aligned::<f32>::zeros(len), vec![0.0_f64; len]);
    let (mut now, mut before) = (Aligned::<f32>::zeros(len), Aligned::<f32>::zeros(len));
    let (mut records, mut counted, mut clipped, mut averaged) = (Vec::new(), 0_u64, 0_u64, 0.0);
    #[allow(clippy::cast_precision_loss)]
    let rate = step_size / batch as f64;
    #[allow(clippy::cast_possible_truncation)]
    let [momentum, lambda, scale] =
        [settings.momentum, settings.lambda, rate * settings.noise_multiplier * clip]
            .map(|x| x as f32);
    let kept = clip * (1.0 - CLIP_MARGIN);
    for t in 1..=settings.updates {
        batches.draw(t, &mut records);
        velocity.iter_mut().for_each(|v| *v *= momentum);
        let slope = &mut |point: Point| {
            let margin = (beta * point.label * point.output).clamp(-700.0, 700.0);
            let slope = beta / (1.0 + margin.exp());
            let norm = slope * point.gradient_norm;
            counted += 1;
            let shrunk = if norm > kept {
                clipped += 1;
                kept / norm
            } else {
                1.0
            };
            -point.label * slope * shrunk * rate
        };
        machine.descend(&weights, &records, None, slope, &mut velocity);
        if scale > 0.0 {
            machine.draw(&noise, t, &mut now);
            for ((v, now), before) in velocity.iter_mut().zip(now.iter()).zip(before.iter()) {
                *v -= scale * (now - lambda * before);
            }
            std::mem::swap(&mut now, &mut before);
        }
        weights.iter_mut().zip(velocity.iter()).for_each(|(w, v)| *w += v);
        if settings.averages(t) {
            averaged += 1.0;
            mean.iter_mut().zip(weights.iter()).for_each(|(m, w)| *m += f64::from(*w));
        }
    }
    #[allow(clippy::cast_possible_truncation)]
    weights.iter_mut().zip(&mean).for_each(|(w, m)| *w = (m / averaged) as f32);
    if weights.iter().any(|w| !w.is_finite()) {
        return Err(CertifyError::Diverged {
            part: "the private prior",
            seed,
            remedy: "use a smaller step size",
        });
    }
    #[allow(clippy::cast_precision_loss)]
    Ok(Learned { weights, clipped: clipped as f64 / (counted.max(1)) as f64 })
}

pub(super) fn copy(of: &Aligned<f32>) -> Aligned<f32> {
    let mut out = Aligned::zeros(of.len());
    out.copy_from_slice(of);
    out
}
