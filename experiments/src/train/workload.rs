//! The workloads by which training programs are compared: their sizes, and data of the same distribution.

use dpbounds_bounds::kan::{Activation, Knots, Network, SplineBasis};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

use super::{Sampler, Settings, TrainError};
use crate::kan::{Examples, Real};

/// The sizes of a workload: cubic splines with 6 functions on cardinal knots, tanh, noise that is
/// correlated by 0.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// Records n.
    pub records: usize,
    /// Inputs d.
    pub inputs: usize,
    /// Units m.
    pub width: usize,
    /// The batch size B.
    pub batch: usize,
}

/// A network with its weights and data, ready for a [`super::Trainer`].
#[derive(Debug)]
pub struct Task<F> {
    /// The network, second layer standard normal.
    pub network: Network,
    /// Initial weights, standard normal.
    pub weights: Vec<f64>,
    /// Inputs uniform in the unit ball, labels random signs.
    pub examples: Examples<F>,
    /// Algorithm 1 without a horizon.
    pub settings: Settings,
}

impl Workload {
    /// Medium data, few inputs.
    pub const W1: Self = Self { records: 10_000, inputs: 10, width: 64, batch: 100 };
    /// The size of Fashion-MNIST.
    pub const W2: Self = Self { records: 60_000, inputs: 784, width: 64, batch: 600 };
    /// Small data, wide network.
    pub const W3: Self = Self { records: 1000, inputs: 2, width: 256, batch: 32 };

    /// Draws the data; without `noise`, κ is 0.
    ///
    /// # Errors
    /// [`TrainError`] for sizes that no network has.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_experiments::train::{Trainer, Workload};
    /// let task = Workload::W3.task::<f32>(0, true)?;
    /// let mut trainer = Trainer::new(&task.network, &task.weights, &task.examples, task.settings)?;
    /// assert_eq!(trainer.step().map(|report| report.batch), Some(32));
    /// # Ok::<(), dpbounds_experiments::train::TrainError>(())
    /// ```
    pub fn task<F: Real>(&self, seed: u64, noise: bool) -> Result<Task<F>, TrainError> {
        let Self { records, inputs, width, batch } = *self;
        let basis = SplineBasis::new(3, 6, Knots::Cardinal)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let parameters = width * inputs * basis.size();
        let weights = (&mut rng).sample_iter(StandardNormal).take(parameters).collect();
        let second = (&mut rng).sample_iter(StandardNormal).take(width * basis.size()).collect();
        let network = Network::new(basis, Activation::Tanh, inputs, second)?;
        let mut features = Vec::with_capacity(records * inputs);
        let mut labels = Vec::with_capacity(records);
        let mut row = vec![0.0; inputs];
        for _ in 0..records {
            draw_in_ball(&mut rng, &mut row);
            features.extend(row.iter().map(|x| F::from_f64(*x)));
            labels.push(F::from_f64(if rng.random() { 1.0 } else { -1.0 }));
        }
        let settings = Settings {
            sampler: Sampler::Fixed,
            batch,
            steps: u64::MAX,
            step_size: 0.5,
            clip: Some(0.2),
            kappa: if noise { 1.0 } else { 0.0 },
            lambda: 0.5,
            radius: Some(1e3),
            seed,
        };
        let examples = Examples::new(features, labels, inputs)?;
        Ok(Task { network, weights, examples, settings })
    }
}

/// Uniform in the unit ball: a normal direction, and a radius `U^(1/d)`.
fn draw_in_ball(rng: &mut ChaCha8Rng, row: &mut [f64]) {
    for x in &mut *row {
        *x = StandardNormal.sample(rng);
    }
    #[allow(clippy::cast_precision_loss)]
    let radius = rng.random::<f64>().powf(1.0 / row.len() as f64);
    let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    for x in row {
        *x *= radius / norm;
    }
}
