//! One training run and what is measured on it.

use dpbounds_bounds::kan::{Linearisation, MarginOptions, Network, logistic_loss, ntk_margin};
use serde::{Deserialize, Serialize};

use super::curve::Curve;
use super::error::{Result, RunError};
use super::estimate::Estimator;
use super::grid::{Plan, Point};
use super::material::Data;
use super::spec::{Dtype, Measure, Response};
use crate::data::Dataset;
use crate::kan::{Examples, Real};
use crate::train::{Sampler, Settings, TrainError, Trainer};

/// The empirical risk averaged over `W_0, .., W_{T−1}`. Whether it is exact is part of the type.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AveragedRisk {
    /// Computed on all records at every step.
    Exact {
        /// The average [nats].
        value: f64,
    },
    /// Computed on all records at every k-th step only.
    Subsampled {
        /// The average over those steps [nats].
        value: f64,
        /// k.
        every: u64,
    },
    /// From the losses of the mini-batches, less those of the same records at anchor weights whose risk is
    /// known. Given the past each difference is unbiased, so the errors are those of a martingale. The
    /// half-width is the normal one (central limit theorem for martingales): an approximation for many
    /// steps, not a proven bound.
    Estimated {
        /// The estimate [nats].
        value: f64,
        /// Half-width of the confidence interval [nats].
        half_width: f64,
        /// Its confidence.
        confidence: f64,
        /// Anchors: evaluations of all records on the way; 0 without a control variate.
        anchors: u64,
    },
}

impl AveragedRisk {
    /// The number, whatever its kind.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Exact { value }
            | Self::Subsampled { value, .. }
            | Self::Estimated { value, .. } => value,
        }
    }
}

/// What one run gave. All numbers are finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Averaged empirical risk.
    pub averaged_risk: AveragedRisk,
    /// Empirical risk at the end [nats].
    pub final_risk: f64,
    /// Averaged population risk, at the steps at which the empirical one is computed [nats].
    pub averaged_population_risk: Option<f64>,
    /// Population risk at the end [nats].
    pub final_population_risk: Option<f64>,
    /// Whether the population is a distribution on atoms, not a held-out sample.
    pub population_exact: Option<bool>,
    /// Accuracy on the training records at the end.
    pub accuracy: f64,
    /// Accuracy on the population at the end.
    pub population_accuracy: Option<f64>,
    /// Least margin `y f(x)` of the training records at the end.
    pub least_margin: f64,
    /// `‖W_{T−1} − W_0‖`.
    pub distance: f64,
    /// Gradients that were clipped, over all steps; copies in a full batch are counted once.
    pub clipped: u64,
    /// Steps that were projected.
    pub projected: u64,
    /// Norm of the sum of the noise on the mean gradients.
    pub noise_norm: Option<f64>,
    /// Averaged empirical risk less that of the run without noise [nats]; with `measure.mirror` the former is
    /// the mean over the noise and its negative.
    pub noise_excess: Option<f64>,
    /// The course of the run, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Curve>,
    /// Margin of the gradient features at the initial weights, proven from below; 0 if none was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ntk_margin: Option<f64>,
}

impl Outcome {
    /// The ordinate of a slope.
    #[must_use]
    pub fn value(&self, response: Response) -> Option<f64> {
        match response {
            Response::AveragedRisk => Some(self.averaged_risk.value()),
            Response::FinalRisk => Some(self.final_risk),
            Response::PopulationRisk => self.averaged_population_risk,
            Response::GeneralisationGap => {
                self.averaged_population_risk.map(|risk| risk - self.averaged_risk.value())
            }
            Response::NoiseExcess => self.noise_excess,
            Response::CumulativeNoise => self.noise_norm,
            Response::Accuracy => Some(self.population_accuracy.unwrap_or(self.accuracy)),
            Response::Distance => Some(self.distance),
        }
    }

    fn is_finite(&self) -> bool {
        let half_width = match self.averaged_risk {
            AveragedRisk::Estimated { half_width, .. } => Some(half_width),
            _ => None,
        };
        let options = [
            half_width,
            self.averaged_population_risk,
            self.final_population_risk,
            self.noise_norm,
            self.noise_excess,
        ];
        let numbers =
            [self.averaged_risk.value(), self.final_risk, self.least_margin, self.distance];
        numbers.iter().chain(options.iter().flatten()).all(|number| number.is_finite())
            && self.curve.iter().all(Curve::is_finite)
    }
}

/// Trains a point with a seed; `None` if the weights left the range of the numbers.
pub(super) fn measure(plan: &Plan, point: &Point, seed: u64) -> Result<Option<Outcome>> {
    let data = plan.data(point, seed)?;
    let result = match point.model.dtype {
        Dtype::F32 => typed::<f32>(plan, point, &data, seed),
        Dtype::F64 => typed::<f64>(plan, point, &data, seed),
    };
    let outcome = result.map_err(|source| RunError::Train {
        file: plan.file.clone(),
        point: point.words(),
        source,
    })?;
    Ok(Some(outcome).filter(Outcome::is_finite))
}

type Trained<T> = std::result::Result<T, TrainError>;

fn examples<F: Real>(features: &[f64], labels: &[f64], inputs: usize) -> Trained<Examples<F>> {
    let convert = |values: &[f64]| values.iter().map(|value| F::from_f64(*value)).collect();
    Examples::new(convert(features), convert(labels), inputs)
}

fn typed<F: Real>(plan: &Plan, point: &Point, data: &Data, seed: u64) -> Trained<Outcome> {
    let offset = if plan.spec.fresh_init { seed } else { 0 };
    let (network, weights) = point.network(data.sample.dimension, offset)?;
    let (features, labels) = data.examples();
    let mut records = examples::<F>(features, labels, data.sample.dimension)?;
    if let Some(copies) = data.copies() {
        records = records.with_copies(copies.clone())?;
    }
    // A sum over the different records is shorter, where batches need all of them.
    let brief = data.is_written_out().then(|| Judge::new(&data.sample)).transpose()?;
    let population = data.population.as_ref().map(Judge::new).transpose()?;
    let settings = Settings { seed, ..point.settings };
    let run = Run {
        network: &network,
        weights: &weights,
        records: &records,
        brief: brief.as_ref(),
        mirrored: false,
    };
    let wanted = &plan.spec.measure;
    let mut outcome = run.train(settings, wanted, population.as_ref())?;
    if wanted.excess {
        let quiet = Measure { population: false, noise: false, curve: 0, ..wanted.clone() };
        let risk = |run: Run<'_, F>, settings| {
            run.train(settings, &quiet, None).map(|outcome| outcome.averaged_risk.value())
        };
        let mut with = outcome.averaged_risk.value();
        if wanted.mirror {
            with = 0.5 * (with + risk(Run { mirrored: true, ..run }, settings)?);
        }
        let without = risk(run, Settings { kappa: 0.0, ..settings })?;
        outcome.noise_excess = Some(with - without);
    }
    if wanted.margin {
        let sample = data.sample.sample()?;
        let linearisation = Linearisation::at(&network, &weights, &sample)?;
        outcome.ntk_margin = Some(ntk_margin(&linearisation, MarginOptions::default())?.lower);
    }
    Ok(outcome)
}

/// A weighted sample on which networks are judged.
struct Judge<F> {
    examples: Examples<F>,
    shares: Vec<f64>,
    exact: bool,
}

impl<F: Real> Judge<F> {
    fn new(set: &Dataset) -> Trained<Self> {
        Ok(Self {
            examples: examples(&set.features, &set.labels, set.dimension)?,
            shares: set.weights(),
            exact: set.multiplicities.is_some(),
        })
    }

    /// Risk and accuracy at the present weights.
    fn judge(&self, trainer: &mut Trainer<'_, F>) -> (f64, f64) {
        let margins = trainer.margins_on(&self.examples);
        let pairs = || margins.iter().zip(&self.shares);
        let risk = pairs().map(|(margin, share)| share * logistic_loss(*margin)).sum();
        let accuracy = pairs().filter(|(margin, _)| **margin > 0.0).map(|(_, share)| share).sum();
        (risk, accuracy)
    }
}

/// A mean.
#[derive(Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.add_weighted(value, 1.0);
    }

    fn add_weighted(&mut self, value: f64, weight: f64) {
        self.sum += weight * value;
        self.count += weight;
    }

    fn value(&self) -> f64 {
        self.sum / self.count
    }
}

/// The sum of the noise terms `Z_t − λ Z_{t−1}`.
struct NoiseSum {
    sum: Vec<f64>,
    before: Vec<f64>,
}

impl NoiseSum {
    fn add(&mut self, now: Vec<f64>, lambda: f64) {
        self.sum.resize(now.len(), 0.0);
        self.before.resize(now.len(), 0.0);
        for ((sum, now), before) in self.sum.iter_mut().zip(&now).zip(&self.before) {
            *sum += now - lambda * before;
        }
        self.before = now;
    }
}

#[derive(Clone, Copy)]
struct Run<'a, F> {
    network: &'a Network,
    weights: &'a [f64],
    records: &'a Examples<F>,
    /// The sample with equal records counted, if `records` has them one by one.
    brief: Option<&'a Judge<F>>,
    mirrored: bool,
}

impl<F: Real> Run<'_, F> {
    /// The exact empirical risk.
    fn risk(&self, trainer: &mut Trainer<'_, F>) -> f64 {
        match self.brief {
            Some(judge) => judge.judge(trainer).0,
            None => trainer.risk(),
        }
    }

    fn train(
        &self,
        settings: Settings,
        measure: &Measure,
        population: Option<&Judge<F>>,
    ) -> Trained<Outcome> {
        let mut trainer = Trainer::new(self.network, self.weights, self.records, settings)?;
        if self.mirrored {
            trainer = trainer.mirrored();
        }
        let full = settings.sampler == Sampler::Full;
        let noisy = settings.kappa > 0.0 && measure.noise;
        // The losses of a full batch are exact at no cost.
        let every = if full { measure.every.max(1) } else { measure.every };
        let mut estimator =
            (every == 0).then(|| Estimator::new(&settings, self.records.len(), measure.anchor));
        let (mut risk, mut population_risk) = (Mean::default(), Mean::default());
        let mut noise = NoiseSum { sum: Vec::new(), before: Vec::new() };
        let (mut clipped, mut projected, mut distance) = (0, 0, 0.0);
        let mut curve = Curve::default();
        for t in 0..settings.steps {
            if Curve::is_due(measure.curve, t, settings.steps) {
                let beyond = population.map(|judge| judge.judge(&mut trainer).0);
                curve.add(t, self.risk(&mut trainer), beyond, distance);
            }
            let due = every > 0 && t % every == 0;
            if due && let Some(judge) = population.filter(|_| measure.population) {
                population_risk.add(judge.judge(&mut trainer).0);
            }
            // The loss of a full batch, which the step computes, is the risk.
            let last = t + 1 == settings.steps;
            if due && (!full || last) {
                risk.add(self.risk(&mut trainer));
            }
            if let Some(estimator) = &mut estimator
                && estimator.wants_anchor(t)
            {
                let margins = trainer.margins();
                estimator.set_anchor(margins.into_iter().map(logistic_loss).collect());
            }
            let Some(report) = trainer.step() else { break };
            if due && full {
                risk.add(trainer.batch_loss().unwrap_or(f64::NAN));
            }
            if let (Some(estimator), Some(batch)) = (&mut estimator, trainer.batch_losses()) {
                estimator.add(&batch);
            }
            if noisy {
                noise.add(trainer.noise(report.step), settings.lambda);
            }
            clipped += report.clipped as u64;
            projected += u64::from(report.projected);
            distance = report.distance;
        }
        let margins = trainer.margins();
        let mut right = Mean::default();
        for (index, margin) in margins.iter().enumerate() {
            right.add_weighted(f64::from(*margin > 0.0), self.records.weight(index));
        }
        let final_risk = self.risk(&mut trainer);
        let averaged_risk = match (estimator, every) {
            (Some(estimator), _) => estimator.finish(final_risk),
            (None, 1) => AveragedRisk::Exact { value: risk.value() },
            (None, every) => AveragedRisk::Subsampled { value: risk.value(), every },
        };
        let judged = population.map(|judge| judge.judge(&mut trainer));
        #[allow(clippy::cast_precision_loss)] // counts of records
        let batch = settings.batch as f64;
        let scale = settings.clip.unwrap_or(1.0) * settings.kappa / batch;
        let sum_norm = noise.sum.iter().map(|value| value * value).sum::<f64>().sqrt();
        Ok(Outcome {
            averaged_risk,
            final_risk,
            averaged_population_risk: (population_risk.count > 0.0)
                .then(|| population_risk.value()),
            final_population_risk: judged.map(|(risk, _)| risk),
            population_exact: population.map(|judge| judge.exact),
            accuracy: right.value(),
            population_accuracy: judged.map(|(_, accuracy)| accuracy),
            least_margin: margins.iter().copied().fold(f64::INFINITY, f64::min),
            distance,
            clipped,
            projected,
            noise_norm: measure.noise.then_some(scale * sum_norm),
            noise_excess: None,
            curve: (measure.curve > 0).then_some(curve),
            ntk_margin: None,
        })
    }
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
