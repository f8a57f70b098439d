//! Training of a Gaussian posterior towards a small PAC-Bayes bound.

use dpbounds_bounds::pac_bayes::kl_inverse_upper;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use super::network::Network;
use super::private::{CHUNK, finite};
use super::records::Records;
use super::stochastic::{Gaussian, Noise, StochasticPass, check_least};
use crate::train::{TrainError, noise_key};

/// The settings of posterior training. None of them needs to be paid for, except `prior_deviation` if it is
/// chosen by looking at the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosteriorSettings {
    /// Standard deviation s of every coordinate of the prior, positive.
    pub prior_deviation: f64,
    /// What the certificate adds to the divergence (max-information and logarithms), nats, `>= 0`.
    pub added_nats: f64,
    /// Passes over the data.
    pub epochs: u32,
    /// Records of a step.
    pub batch: usize,
    /// Step size, positive.
    pub step_size: f64,
    /// Momentum in [0, 1).
    pub momentum: f64,
    /// Probabilities below this count as it in the cross-entropy, in (0, 1).
    pub least_probability: f64,
    /// Seed of the order of the records and of the draws.
    pub seed: u64,
}

/// A trained posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The posterior.
    pub posterior: Gaussian,
    /// Its divergence from the prior in nats.
    pub divergence: f64,
    /// Running mean of the bounded cross-entropy of the draws, for display.
    pub loss: f64,
}

/// Trains a Gaussian with independent coordinates, started at the prior `N(prior_mean, s² I)`.
///
/// Minimises the linearised bound `L(ρ) + w KL/n`, `L` the bounded cross-entropy and `w` the slope of the kl inverse
/// at the running loss, by stochastic gradients in means and log-deviations with momentum. `report` sees each
/// finished epoch and returns whether to go on. Whatever comes out has a valid certificate.
///
/// # Errors
/// [`TrainError`] naming what does not fit, or that the posterior overflowed.
///
/// # Examples
/// ```
/// use dpbounds_experiments::mlp::{Network, PosteriorSettings, Records, train_posterior};
/// let network = Network::new(&[1, 8, 2])?;
/// let inputs: Vec<f32> = (0..1000).map(|i| i as f32 / 500.0 - 1.0).collect();
/// let labels = (0..1000).map(|i| u8::from(i >= 500)).collect();
/// let records = Records::new(inputs, labels, 1, 2)?;
/// let prior = network.initialise(1);
/// let settings = PosteriorSettings { prior_deviation: 0.3, added_nats: 10.0, epochs: 20, batch: 100,
///     step_size: 0.5, momentum: 0.9, least_probability: 1e-3, seed: 1 };
/// let trained = train_posterior(&network, &prior, &records, &settings, |_, _| true)?;
/// assert!(trained.divergence > 0.0 && trained.loss < 0.2);
/// # Ok::<(), dpbounds_experiments::train::TrainError>(())
/// ```
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
pub fn train_posterior(
    network: &Network,
    prior_mean: &[f32],
    records: &Records,
    settings: &PosteriorSettings,
    mut report: impl FnMut(u32, &Progress) -> bool,
) -> Result<Trained, TrainError> {
    network.check(prior_mean, records)?;
    settings.check()?;
    let mut state = State::new(prior_mean, settings);
    let mut pass = StochasticPass::new(network, records, settings.least_probability);
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    let mut order = records.all();
    let key = noise_key(settings.seed);
    let n = records.len() as f64;
    let mut gradients = (vec![0.0; prior_mean.len()], vec![0.0; prior_mean.len()]);
    let (mut loss, mut step) = (FIRST_LOSS, 0);
    for epoch in 1..=settings.epochs {
        rng.set_stream(1 << 63 | u64::from(epoch));
        for place in (1..order.len()).rev() {
            order.swap(place, rng.random_range(0..=place));
        }
        for batch in order.chunks(settings.batch) {
            let noise = Noise { key, step };
            let parameters = (&*state.mean, &*state.variance);
            let (by_mean, by_variance) = (&mut *gradients.0, &mut *gradients.1);
            let now = pass.gradient(parameters, batch, noise, (by_mean, by_variance));
            loss = 0.98 * loss + 0.02 * now;
            let weight = slope(loss, (state.divergence + settings.added_nats) / n);
            state.update(prior_mean, &gradients, (weight / n) as f32, settings);
            step += 1;
        }
        if !state.divergence.is_finite() || !loss.is_finite() {
            return Err(TrainError::Diverged { what: "the posterior" });
        }
        if !report(epoch, &Progress { loss, divergence: state.divergence }) {
            break;
        }
    }
    finite(&state.mean, "the means of the posterior")?;
    let deviation = state.log_deviation.iter().map(|log| log.exp()).collect();
    let posterior = Gaussian { mean: state.mean, deviation };
    posterior.check(network).map_err(|_| TrainError::Diverged { what: "the posterior" })?;
    let divergence = posterior.divergence(prior_mean, settings.prior_deviation)?;
    Ok(Trained { posterior, divergence, loss })
}

/// Where training stands after an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Running mean of the bounded cross-entropy.
    pub loss: f64,
    /// Divergence from the prior, nats.
    pub divergence: f64,
}

/// Before anything is known about the loss.
const FIRST_LOSS: f64 = 0.9;

impl PosteriorSettings {
    fn check(&self) -> Result<(), TrainError> {
        let positive = |what, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(TrainError::Value { what, value, allowed: "a finite number > 0" })
        };
        positive("prior_deviation", self.prior_deviation)?;
        positive("step_size", self.step_size)?;
        #[allow(clippy::cast_precision_loss)]
        positive("batch", self.batch as f64)?;
        check_least(self.least_probability)?;
        if !(0.0..1.0).contains(&self.momentum) {
            let (what, value) = ("momentum", self.momentum);
            return Err(TrainError::Value { what, value, allowed: "[0, 1)" });
        }
        if !(self.added_nats >= 0.0 && self.added_nats.is_finite()) {
            let (what, value) = ("added_nats", self.added_nats);
            return Err(TrainError::Value { what, value, allowed: "a finite number >= 0" });
        }
        Ok(())
    }
}

/// Derivative of the bound by the complexity over that by the risk, `1/log(p(1−q)/(q(1−p)))`.
fn slope(loss: f64, complexity: f64) -> f64 {
    let q = loss.clamp(1e-6, 0.9);
    let p = kl_inverse_upper(q, complexity).ok().and_then(|bound| bound.value).unwrap_or(1.0);
    if p > q && p < 1.0 { 1.0 / (p * (1.0 - q) / (q * (1.0 - p))).ln() } else { 0.5 }
}

/// The coordinates of the posterior and their velocities.
struct State {
    mean: Vec<f32>,
    log_deviation: Vec<f32>,
    variance: Vec<f32>,
    velocity: Vec<f32>,
    log_velocity: Vec<f32>,
    divergence: f64,
}

impl State {
    #[allow(clippy::cast_possible_truncation)]
    fn new(prior_mean: &[f32], settings: &PosteriorSettings) -> Self {
        let log = settings.prior_deviation.ln() as f32;
        let zeros = vec![0.0; prior_mean.len()];
        Self {
            mean: prior_mean.to_vec(),
            log_deviation: vec![log; prior_mean.len()],
            variance: vec![(2.0 * log).exp(); prior_mean.len()],
            velocity: zeros.clone(),
            log_velocity: zeros,
            divergence: 0.0,
        }
    }

    /// A step with `weight` times the divergence added to the loss.
    #[allow(clippy::cast_possible_truncation)]
    fn update(
        &mut self,
        prior_mean: &[f32],
        (by_mean, by_variance): &(Vec<f32>, Vec<f32>),
        weight: f32,
        settings: &PosteriorSettings,
    ) {
        let (step_size, momentum) = (settings.step_size as f32, settings.momentum as f32);
        let log_prior = settings.prior_deviation.ln() as f32;
        let precision = (settings.prior_deviation as f32).powi(-2);
        let means = self.mean.par_chunks_mut(CHUNK).zip(self.velocity.par_chunks_mut(CHUNK));
        let logs =
            self.log_deviation.par_chunks_mut(CHUNK).zip(self.log_velocity.par_chunks_mut(CHUNK));
        let gradients = by_mean.par_chunks(CHUNK).zip(by_variance.par_chunks(CHUNK));
        let fixed = prior_mean.par_chunks(CHUNK).zip(gradients);
        let parts: Vec<f64> = means
            .zip(logs)
            .zip(self.variance.par_chunks_mut(CHUNK))
            .zip(fixed)
            .map(|((((mean, velocity), (log, log_velocity)), variance), (prior, (gm, gv)))| {
                let mut divergence = 0.0;
                for i in 0..mean.len() {
                    let gradient = gm[i] + weight * precision * (mean[i] - prior[i]);
                    velocity[i] = momentum * velocity[i] + gradient;
                    mean[i] -= step_size * velocity[i];
                    let ratio = variance[i] * precision;
                    let gradient = 2.0 * gv[i] * variance[i] + weight * (ratio - 1.0);
                    log_velocity[i] = momentum * log_velocity[i] + gradient;
                    log[i] -= step_size * log_velocity[i];
                    variance[i] = (2.0 * log[i]).exp();
                    let shift = mean[i] - prior[i];
                    let (ratio, gap) = (variance[i] * precision, log[i] - log_prior);
                    divergence +=
                        f64::from(0.5 * (ratio - 1.0) - gap + 0.5 * precision * shift * shift);
                }
                divergence
            })
            .collect();
        self.divergence = parts.iter().sum::<f64>().max(0.0);
    }
}
