//! What Algorithm 1 takes.

use serde::{Deserialize, Serialize};

use super::{Sampler, TrainError};

/// The settings of a training run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How batches are drawn.
    pub sampler: Sampler,
    /// The batch size B, also the fixed divisor of the mean gradient.
    pub batch: usize,
    /// The horizon T: `T − 1` updates give `W_0, .., W_{T−1}`.
    pub steps: u64,
    /// The step size η, positive.
    pub step_size: f64,
    /// The clipping norm of the per-example gradients, positive; none for no clipping.
    pub clip: Option<f64>,
    /// Noise multiplier κ on the *sum* of clipped gradients, in clipping norms, non-negative.
    pub kappa: f64,
    /// Noise correlation λ in [0, 1]: the noise is `κ(Z_t − λ Z_{t−1})`.
    pub lambda: f64,
    /// Radius of the ball around `W_0` onto which the weights are projected; none for no projection.
    pub radius: Option<f64>,
    /// Seed of the batches and the noise.
    pub seed: u64,
}

impl Settings {
    /// Checks the settings against the number of records.
    ///
    /// # Errors
    /// [`TrainError`] naming the setting.
    #[allow(clippy::cast_precision_loss)] // for messages
    pub fn check(&self, records: usize) -> Result<(), TrainError> {
        let value = |what, value, allowed| Err(TrainError::Value { what, value, allowed });
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(self.step_size) {
            return value("step_size", self.step_size, "a finite number > 0");
        }
        if !(self.kappa >= 0.0 && self.kappa.is_finite()) {
            return value("kappa", self.kappa, "a finite number >= 0");
        }
        if !(0.0..=1.0).contains(&self.lambda) {
            return value("lambda", self.lambda, "[0, 1]");
        }
        if let Some(clip) = self.clip.filter(|clip| !positive(*clip)) {
            return value("clip", clip, "a finite number > 0; leave it out for no clipping");
        }
        if self.kappa > 0.0 && self.clip.is_none() {
            return value("kappa", self.kappa, "0 without clipping: noise is in clipping norms");
        }
        if let Some(radius) = self.radius.filter(|radius| !positive(*radius)) {
            return value("radius", radius, "a finite number > 0; leave it out for no projection");
        }
        if self.batch == 0 {
            return value("batch", 0.0, "at least 1 record");
        }
        if u32::try_from(records).is_err() {
            return value("the number of records", records as f64, "below 2^32");
        }
        let (sampler, batch) = (self.sampler, self.batch);
        let updates = self.steps.saturating_sub(1);
        let (needed, remedy) = match sampler {
            Sampler::Stream => {
                (updates.saturating_mul(batch as u64), "use fewer steps or a smaller batch")
            }
            Sampler::Full if batch < records => (batch as u64, "set batch to all records"),
            _ => (batch as u64, "use a smaller batch"),
        };
        if needed > records as u64 || (sampler == Sampler::Full && batch != records) {
            return Err(TrainError::Records { sampler, batch, updates, needed, records, remedy });
        }
        Ok(())
    }
}
