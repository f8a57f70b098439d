//! Algorithm 1: clipped gradients, correlated noise, projection.

use dpbounds_bounds::kan::{Network, logistic_loss};
use pulp::Arch;

use super::noise::NoiseSource;
use super::sampler::Batches;
use super::{Sampler, Settings, TrainError};
use crate::kan::{Aligned, Core, Examples, Layout, Real, StepInput, kernels};

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// The number t of the step, from 1.
    pub step: u64,
    /// Records in the batch.
    pub batch: usize,
    /// Gradients that were clipped, those of copies counted once.
    pub clipped: usize,
    /// Whether the weights were projected back onto the ball.
    pub projected: bool,
    /// `‖W_t − W_0‖`.
    pub distance: f64,
}

/// A training run of a two-layer KAN by DP-SGD with noise `κ(Z_t − λ Z_{t−1})`, `Z_0 = 0`.
///
/// ```text
/// W_t = Proj( W_{t−1} − η( (1/B) Σ_{i in batch} clip(∇l_i, C) + (C κ/B)(Z_t − λ Z_{t−1}) ) )
/// ```
///
/// with the projection onto `‖W − W_0‖ <= R`. `F` is `f32` or `f64`. The same seed gives the same bits
/// on the same instruction set, whatever the number of threads; instruction sets differ by rounding.
///
/// # Source
/// arXiv 2605.12648, Algorithm 1.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{Activation, Initialisation, Knots, SplineBasis, initialise};
/// use dpbounds_experiments::kan::Examples;
/// use dpbounds_experiments::train::{Sampler, Settings, Trainer};
/// let basis = SplineBasis::new(3, 6, Knots::Clamped)?;
/// let (network, weights) =
///     initialise(basis, Activation::Tanh, 1, 64, Initialisation::Antithetic, 1)?;
/// let examples = Examples::<f64>::new(vec![-0.9, -0.6, 0.6, 0.9], vec![-1.0, -1.0, 1.0, 1.0], 1)?;
/// let settings = Settings { sampler: Sampler::Full, batch: 4, steps: 50, step_size: 0.5,
///     clip: Some(1.0), kappa: 0.1, lambda: 0.5, radius: None, seed: 0 };
/// let mut trainer = Trainer::new(&network, &weights, &examples, settings)?;
/// let before = trainer.risk();
/// while trainer.step().is_some() {}
/// assert!(trainer.risk() < before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Trainer<'a, F: Real> {
    examples: &'a Examples<F>,
    settings: Settings,
    layout: Layout,
    arch: Arch,
    core: Box<dyn Core<F>>,
    batches: Batches,
    source: NoiseSource,
    weights: Aligned<F>,
    start: Aligned<F>,
    now: Aligned<F>,
    before: Aligned<F>,
    batch: Vec<u32>,
    /// Whether the last outputs are those of `batch`.
    has_batch_outputs: bool,
    /// 1, or −1 for the noise `−Z_t`.
    sign: f64,
    done: u64,
}

impl<'a, F: Real> Trainer<'a, F> {
    /// Starts at `weights`, row-major `m x dp`.
    ///
    /// # Errors
    /// [`TrainError`] naming what does not fit.
    pub fn new(
        network: &Network,
        weights: &[f64],
        examples: &'a Examples<F>,
        settings: Settings,
    ) -> Result<Self, TrainError> {
        Self::on(Arch::new(), network, weights, examples, settings)
    }

    /// As [`Self::new`] with plain instructions only, for comparisons.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn portable(
        network: &Network,
        weights: &[f64],
        examples: &'a Examples<F>,
        settings: Settings,
    ) -> Result<Self, TrainError> {
        Self::on(Arch::Scalar, network, weights, examples, settings)
    }

    fn on(
        arch: Arch,
        network: &Network,
        weights: &[f64],
        examples: &'a Examples<F>,
        settings: Settings,
    ) -> Result<Self, TrainError> {
        settings.check(examples.records())?;
        if examples.copies().is_some() && settings.sampler != Sampler::Full {
            return Err(TrainError::Copies { sampler: settings.sampler });
        }
        let shape = |what, found, expected| TrainError::Shape { what, found, expected };
        if examples.inputs() != network.inputs() {
            return Err(shape("an example", examples.inputs(), network.inputs()));
        }
        if weights.len() != network.parameters() {
            return Err(shape("the array of weights", weights.len(), network.parameters()));
        }
        let layout = Layout::new(network);
        #[allow(clippy::cast_precision_loss)]
        let core = F::core(network, arch).ok_or(TrainError::Value {
            what: "degree",
            value: network.basis().degree() as f64,
            allowed: "1 to 7 in training",
        })?;
        let start = layout.import(weights);
        let noisy = if settings.kappa > 0.0 { layout.len() } else { 0 };
        let Settings { sampler, batch, seed, .. } = settings;
        Ok(Self {
            examples,
            settings,
            layout,
            arch,
            core,
            batches: Batches::new(sampler, examples.len(), batch, seed),
            source: NoiseSource::new(seed, layout),
            weights: layout.import(weights),
            start,
            now: Aligned::zeros(noisy),
            before: Aligned::zeros(noisy),
            batch: Vec::new(),
            has_batch_outputs: false,
            sign: 1.0,
            done: 0,
        })
    }

    /// The same run with noise `−Z_t`, which has the same law: the mean over both has no terms that are odd in
    /// the noise.
    #[must_use]
    pub fn mirrored(self) -> Self {
        Self { sign: -self.sign, ..self }
    }

    /// Makes the next update; `None` after the last one, number `T − 1`.
    pub fn step(&mut self) -> Option<StepReport> {
        if self.done + 1 >= self.settings.steps {
            return None;
        }
        let mut batch = std::mem::take(&mut self.batch);
        self.batches.draw(self.done + 1, &mut batch);
        let report = self.step_on(&batch);
        self.batch = batch;
        self.has_batch_outputs = true;
        Some(report)
    }

    /// Makes an update on the records of a given batch, whatever the sampler and the horizon say.
    ///
    /// # Panics
    /// If a number in `batch` is no record.
    pub fn step_on(&mut self, batch: &[u32]) -> StepReport {
        let t = self.done + 1;
        self.has_batch_outputs = false;
        let Settings { step_size, kappa, lambda, clip, batch: divisor, radius, .. } = self.settings;
        let number = F::from_f64;
        #[allow(clippy::cast_precision_loss)]
        let divisor = divisor as f64;
        if kappa > 0.0 {
            self.source.draw(t, &*self.core, &mut self.now);
        }
        let noise = (kappa > 0.0).then(|| kernels::Noise {
            now: &self.now,
            before: &self.before,
            lambda: number(lambda),
            scale: number(self.sign * step_size * clip.unwrap_or(1.0) * kappa / divisor),
        });
        let output = self.core.step(
            StepInput {
                examples: self.examples,
                batch,
                divisor,
                clip,
                step_size: number(step_size),
                noise,
                start: &self.start,
            },
            &mut self.weights,
        );
        let mut distance = output.distance_squared.sqrt();
        let projected = radius.is_some_and(|radius| distance > radius);
        if let Some(radius) = radius.filter(|_| projected) {
            let factor = number(radius / distance);
            self.core.shrink_towards(&mut self.weights, &self.start, factor);
            distance = radius;
        }
        std::mem::swap(&mut self.now, &mut self.before);
        self.done = t;
        StepReport { step: t, batch: batch.len(), clipped: output.clipped, projected, distance }
    }

    /// The records of the batch of the last [`Self::step`] with their logistic losses at the weights before its
    /// update; `None` before the first step, and once other records were evaluated.
    #[must_use]
    pub fn batch_losses(&self) -> Option<Vec<(u32, f64)>> {
        self.has_batch_outputs.then(|| {
            let labels = self.examples.labels();
            let pairs = self.batch.iter().zip(self.core.last_outputs());
            pairs
                .map(|(record, f)| {
                    (*record, logistic_loss((*f * labels[*record as usize]).to_f64()))
                })
                .collect()
        })
    }

    /// The mean of [`Self::batch_losses`], copies counted; `None` for an empty batch too.
    #[must_use]
    pub fn batch_loss(&self) -> Option<f64> {
        let losses = self.batch_losses().filter(|losses| !losses.is_empty())?;
        let weight = |record: u32| self.examples.weight(record as usize);
        let count: f64 = losses.iter().map(|(record, _)| weight(*record)).sum();
        Some(losses.iter().map(|(record, loss)| weight(*record) * loss).sum::<f64>() / count)
    }

    /// The processor and the instructions that are used, such as `x86_64-v3`.
    #[must_use]
    pub fn instruction_set(&self) -> String {
        instruction_set(self.arch)
    }

    /// The updates made so far.
    #[must_use]
    pub fn steps_done(&self) -> u64 {
        self.done
    }

    /// The weights `W_t`, row-major `m x dp`.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        self.layout.export(&self.weights)
    }

    /// `Z_t` of step `t >= 1` (`−Z_t` in a mirrored run), row-major `m x dp`, drawn again.
    #[must_use]
    pub fn noise(&self, t: u64) -> Vec<f64> {
        let mut out: Aligned<F> = Aligned::zeros(self.layout.len());
        self.source.draw(t, &*self.core, &mut out);
        let mut noise = self.layout.export(&out);
        noise.iter_mut().for_each(|value| *value *= self.sign);
        noise
    }

    /// The margins `y f_W(x)` of all examples at the present weights.
    #[must_use]
    pub fn margins(&mut self) -> Vec<f64> {
        self.margins_on(self.examples)
    }

    /// The margins of other examples with as many inputs.
    pub(crate) fn margins_on(&mut self, examples: &Examples<F>) -> Vec<f64> {
        const AT_ONCE: usize = 512;
        self.has_batch_outputs = false;
        #[allow(clippy::cast_possible_truncation)] // records below 2^32
        let all: Vec<u32> = (0..examples.len() as u32).collect();
        let mut margins = Vec::with_capacity(all.len());
        for batch in all.chunks(AT_ONCE) {
            let labels = &examples.labels()[batch[0] as usize..][..batch.len()];
            let outputs = self.core.outputs(examples, batch, &self.weights);
            margins.extend(outputs.iter().zip(labels).map(|(f, y)| (*f * *y).to_f64()));
        }
        margins
    }

    /// The exact empirical risk: mean logistic loss over all records.
    #[must_use]
    pub fn risk(&mut self) -> f64 {
        let losses = self.margins().into_iter().map(logistic_loss);
        #[allow(clippy::cast_precision_loss)]
        let count = self.examples.records() as f64;
        losses.enumerate().map(|(index, loss)| self.examples.weight(index) * loss).sum::<f64>()
            / count
    }
}

/// The processor and the instructions that are used, such as `x86_64-v3`.
pub(crate) fn instruction_set(arch: Arch) -> String {
    let name = format!("{:?}", arch).to_lowercase();
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(name.len());
    format!("{}-{}", std::env::consts::ARCH, &name[..end])
}
