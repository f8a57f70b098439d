//! The posterior: its mean is trained on the bound itself.

use std::f64::consts::PI;

use dpbounds_bounds::pac_bayes::kl_inverse_upper;
use dpbounds_bounds::special::normal_cdf;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::machine::{Machine, Point, Spread, TOGETHER, squared_distance};
use super::private_prior::copy;
use super::sample::shuffled;
use crate::kan::Aligned;

/// How the mean W of the posterior `N(W, s² I)` is trained, from the mean of the prior `N(W_0, s² I)`.
///
/// The objective is the certificate: `kl⁻¹(R̂(W), (‖W − W_0‖²/(2s²) + logs)/n)`, with the smoothed risk
/// `E Φ(−y f/(s‖∇f‖))` at weights drawn around W.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PosteriorTraining {
    /// Updates.
    pub steps: u64,
    /// Batch size.
    pub batch: usize,
    /// Step size, in units of `s²`.
    pub rate: f64,
    /// Momentum in [0, 1).
    pub momentum: f64,
}

/// What the training needs beside the machine.
pub(super) struct Problem<'a> {
    pub(super) prior: &'a Aligned<f32>,
    /// Standard deviation s of a weight.
    pub(super) deviation: f64,
    /// Nats beside the divergence.
    pub(super) nats: f64,
    pub(super) records: usize,
    pub(super) settings: PosteriorTraining,
    pub(super) seed: u64,
}

/// The mean of the posterior, its divergence from the prior [nats] and the smoothed risk at the end.
pub(super) struct Trained {
    pub(super) weights: Aligned<f32>,
    pub(super) kl: f64,
    pub(super) smoothed_risk: f64,
}

/// Trains from the mean of the prior on.
pub(super) fn train(machine: &mut Machine<'_>, problem: &Problem<'_>) -> Trained {
    let &Problem { prior, deviation, nats, records, settings, seed } = problem;
    let PosteriorTraining { steps, batch, rate, momentum } = settings;
    let batch = batch.min(records);
    #[allow(clippy::cast_precision_loss)]
    let n = records as f64;
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ POSTERIOR);
    let key = rng.random();
    let mut weights = copy(prior);
    let mut velocity = Aligned::<f32>::zeros(weights.len());
    let mut order: Vec<u32> = Vec::new();
    let variance = deviation * deviation;
    let divergence = |weights: &Aligned<f32>| squared_distance(weights, prior) / (2.0 * variance);
    let (mut risk, mut price, mut at) = (0.3, 1.0, records);
    let mut stream = 0;
    for t in 0..steps {
        if at + batch > records {
            #[allow(clippy::cast_possible_truncation)] // records below 2^32
            let shuffled = shuffled(records, &mut rng).into_iter().map(|row| row as u32);
            order = shuffled.collect();
            at = 0;
        }
        let records = &order[at..at + batch];
        at += batch;
        let slope_now = step_size(t, steps, rate);
        let mut smoothed = 0.0;
        #[allow(clippy::cast_precision_loss)]
        let share = 1.0 / batch as f64;
        velocity.iter_mut().for_each(|v| *v *= momentum as f32);
        let slope = &mut |point: Point| {
            let spread = (deviation * point.gradient_norm).max(1e-12);
            let z = point.label * point.output / spread;
            smoothed += share * normal_cdf(-z);
            if z.abs() > FAR {
                return 0.0;
            }
            -point.label * (-z * z / 2.0).exp() / (2.0 * PI).sqrt() / spread * share * variance
        };
        let spread = Spread { deviation, key, stream };
        machine.descend(&weights, records, Some(spread), slope, &mut velocity);
        stream += batch.div_ceil(TOGETHER) as u64;
        risk = if t == 0 { smoothed } else { 0.9 * risk + 0.1 * smoothed };
        if t % 5 == 0 {
            price = price_of_complexity(risk, (divergence(&weights) + nats) / n);
        }
        #[allow(clippy::cast_possible_truncation)]
        let (pull, step) = ((price / n) as f32, slope_now as f32);
        for ((v, w), start) in velocity.iter_mut().zip(weights.iter_mut()).zip(prior.iter()) {
            *v -= pull * (*w - start);
            *w += step * *v;
        }
    }
    let kl = divergence(&weights);
    Trained { weights, kl, smoothed_risk: risk }
}

/// Examples so many deviations from the border do not move it; their tiny slopes would slow down the arithmetic.
const FAR: f64 = 8.0;

/// Seeds of the posterior are apart from those of the prior.
const POSTERIOR: u64 = 0x706f_7374_6572_696f;

/// Rises over five updates, and falls to 0 over the last two fifths.
#[allow(clippy::cast_precision_loss)]
fn step_size(t: u64, steps: u64, rate: f64) -> f64 {
    let (t, steps) = (t as f64, steps as f64);
    let fall = if t < 0.6 * steps { 1.0 } else { (steps - t) / (0.4 * steps) };
    rate * ((t + 1.0) / 5.0).min(1.0) * fall
}

/// `kl⁻¹(q, c)`, 1 if there is none.
pub(super) fn bound(risk: f64, complexity: f64) -> f64 {
    let found = kl_inverse_upper(risk, complexity).ok().and_then(|bound| bound.value);
    found.unwrap_or(1.0)
}

/// `(∂p/∂c)/(∂p/∂q)` of the inverse `p = kl⁻¹(q, c)`: what a nat per record costs in risk.
fn price_of_complexity(risk: f64, complexity: f64) -> f64 {
    let q = risk.clamp(1e-6, 0.9);
    let p = bound(q, complexity);
    if p < 1.0 && p > q { 1.0 / (p * (1.0 - q) / (q * (1.0 - p))).ln() } else { 0.5 }
}
