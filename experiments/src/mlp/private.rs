//! DP-SGD for dense networks.

use pulp::Arch;
use rayon::prelude::*;

use super::network::Network;
use super::pass::Pass;
use super::records::Records;
use crate::kan::kernels::{Keystream, Normals};
use crate::train::{Batches, Sampler, Settings, TrainError, noise_key};

/// The settings of a private run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DpSgd {
    /// How batches are drawn.
    pub sampler: Sampler,
    /// Batch size B, also the fixed divisor; Poisson batches have the rate `B/n`.
    pub batch: usize,
    /// Number T of steps, all of them noisy.
    pub steps: u64,
    /// Clipping norm of the gradient of one example over all layers, positive.
    pub clip: f64,
    /// Noise standard deviation on the **sum** of clipped gradients, in clipping norms, non-negative.
    pub sigma: f64,
    /// Step size, positive.
    pub step_size: f64,
    /// Momentum in [0, 1).
    pub momentum: f64,
    /// Share of the steps, the last ones, whose weights are averaged; 0 returns the last weights.
    pub average_last: f64,
    /// Seed of the batches and the noise.
    pub seed: u64,
}

impl DpSgd {
    fn check(&self, records: usize) -> Result<(), TrainError> {
        let settings = Settings {
            sampler: self.sampler,
            batch: self.batch,
            steps: self.steps.saturating_add(1), // there, one step fewer is made
            step_size: self.step_size,
            clip: Some(self.clip),
            kappa: self.sigma,
            lambda: 0.0,
            radius: None,
            seed: self.seed,
        };
        settings.check(records)?;
        if !(0.0..1.0).contains(&self.momentum) {
            let (what, value) = ("momentum", self.momentum);
            return Err(TrainError::Value { what, value, allowed: "[0, 1)" });
        }
        if !(0.0..=1.0).contains(&self.average_last) {
            let (what, value) = ("average_last", self.average_last);
            return Err(TrainError::Value { what, value, allowed: "[0, 1]" });
        }
        Ok(())
    }
}

/// Weights after T steps of DP-SGD, or the average over the last of them.
///
/// ```text
/// V_t = μ V_{t−1} + ( Σ_{i in batch} clip(∇l_i, C) + σ C Z_t )/B,     W_t = W_{t−1} − η V_t
/// ```
///
/// with the cross-entropy `l_i`. What depends on the data is released as the noisy sums; momentum, step and
/// average are post-processing. The noise is pseudo-random and of single precision: for simulation. `start`
/// must not depend on the data.
///
/// # Errors
/// [`TrainError`] naming what does not fit, or that the weights overflowed.
///
/// # Examples
/// ```
/// use dpbounds_experiments::mlp::{DpSgd, Network, Records, error_rate, train_private};
/// use dpbounds_experiments::train::Sampler;
/// let network = Network::new(&[1, 8, 2])?;
/// let inputs: Vec<f32> = (0..100).map(|i| i as f32 / 50.0 - 0.99).collect();
/// let labels = (0..100).map(|i| u8::from(i >= 50)).collect();
/// let records = Records::new(inputs, labels, 1, 2)?;
/// let settings = DpSgd { sampler: Sampler::Poisson, batch: 50, steps: 100, clip: 1.0, sigma: 1.0,
///     step_size: 0.2, momentum: 0.9, average_last: 0.3, seed: 1 };
/// let weights = train_private(&network, &network.initialise(1), &records, &settings)?;
/// assert!(error_rate(&network, &weights, &records)? < 0.1);
/// # Ok::<(), dpbounds_experiments::train::TrainError>(())
/// ```
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
pub fn train_private(
    network: &Network,
    start: &[f32],
    records: &Records,
    settings: &DpSgd,
) -> Result<Vec<f32>, TrainError> {
    network.check(start, records)?;
    settings.check(records.len())?;
    let &DpSgd { sampler, batch: divisor, steps, clip, sigma, seed, .. } = settings;
    let mut batches = Batches::new(sampler, records.len(), divisor, seed);
    let mut pass = Pass::new(network, records);
    let mut weights = start.to_vec();
    let mut velocity = vec![0.0; weights.len()];
    let mut gradient = vec![0.0; weights.len()];
    let mut noise = vec![0.0; weights.len()];
    let first_averaged = steps - (settings.average_last * steps as f64).floor() as u64;
    let mut sum = vec![0.0; if first_averaged < steps { weights.len() } else { 0 }];
    let (key, arch) = (noise_key(seed), Arch::new());
    let noise_scale = (sigma * clip) as f32;
    let (step_size, momentum) = (settings.step_size as f32, settings.momentum as f32);
    let mut batch = Vec::new();
    for t in 1..=steps {
        batches.draw(t, &mut batch);
        pass.gradient(&weights, &batch, Some(clip), &mut gradient);
        if sigma > 0.0 {
            arch.dispatch(Normals { keystream: Keystream { key, stream: t }, out: &mut noise });
        }
        let parts = weights.par_chunks_mut(CHUNK).zip(velocity.par_chunks_mut(CHUNK));
        let sums = gradient.par_chunks(CHUNK).zip(noise.par_chunks(CHUNK));
        parts.zip(sums).for_each(|((weights, velocity), (gradient, noise))| {
            for (((weight, velocity), gradient), noise) in
                weights.iter_mut().zip(velocity).zip(gradient).zip(noise)
            {
                let release = gradient + noise_scale * noise;
                *velocity = momentum * *velocity + release / divisor as f32;
                *weight -= step_size * *velocity;
            }
        });
        if t > first_averaged {
            sum.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += weight);
        }
    }
    if first_averaged < steps {
        let count = (steps - first_averaged) as f32;
        weights = sum.into_iter().map(|sum| sum / count).collect();
    }
    finite(&weights, "the weights").map(|()| weights)
}

/// Numbers that a thread updates at once.
pub(super) const CHUNK: usize = 1 << 15;

pub(super) fn finite(values: &[f32], what: &'static str) -> Result<(), TrainError> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(TrainError::Diverged { what })
}
