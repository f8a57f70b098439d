//! Small networks on small samples, in the plain double precision of the reference network.

use dpbounds_bounds::kan::{
    Activation, Constants, Initialisation, Knots, Linearisation, Network, RealisedConstants,
    Sample, SplineBasis, free_comparator, initialise, logistic_loss, logistic_slope,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

use super::linear::{dot, norm, plus};
use super::measured::CheckError;

type Result<T> = std::result::Result<T, CheckError>;

/// A network, its initial weights, a sample and a comparator.
#[derive(Debug, Clone)]
pub(super) struct Lab {
    pub network: Network,
    pub start: Vec<f64>,
    /// Distinct rows.
    pub features: Vec<Vec<f64>>,
    pub labels: Vec<f64>,
    /// The row of every record.
    pub records: Vec<usize>,
    /// Realised constants `G` and `ν` over the rows.
    pub constants: Constants,
    /// The comparator `W*`.
    pub target: Vec<f64>,
}

/// What the network says about every row.
#[derive(Debug)]
pub(super) struct Look {
    /// `l_i`.
    pub losses: Vec<f64>,
    /// `s_i = −l'`.
    pub slopes: Vec<f64>,
    /// `f(x_i)`.
    pub outputs: Vec<f64>,
    units: Vec<Vec<f64>>,
}

pub(super) fn normals(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(rng)).collect()
}

pub(super) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A random law on `count` values.
pub(super) fn random_law(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..count).map(|_| -rng.random_range(1e-6..1.0_f64).ln()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

impl Lab {
    /// Points with labels, each `copies` times; `W*` is the free comparator of the horizon.
    pub(super) fn new(
        (network, start): (Network, Vec<f64>),
        points: Vec<f64>,
        labels: Vec<f64>,
        copies: usize,
        horizon: f64,
    ) -> Result<Self> {
        let sample = Sample::new(network.inputs(), points, labels)?;
        let at = Linearisation::at(&network, &start, &sample)?;
        let constants = RealisedConstants::of(&network, 64)?.constants(at.feature_norm2())?;
        let comparator = free_comparator(&at, horizon, None)?;
        let features = (0..sample.len())
            .map(|row| network.features(sample.input(row)))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let mut target = start.clone();
        for (row, b) in comparator.coefficients.iter().enumerate() {
            let own = network.gradient(&start, &features[row])?.dense();
            target = plus(&target, b * sample.labels()[row], &own);
        }
        drop(at);
        let records = (0..sample.len() * copies).map(|record| record % sample.len()).collect();
        Ok(Self {
            labels: sample.labels().to_vec(),
            network,
            start,
            features,
            records,
            constants,
            target,
        })
    }

    /// 64 cubic units on 20 points in the square with the sign of `x_1 x_2`, Gaussian as in the paper.
    pub(super) fn small(seed: u64) -> Result<Self> {
        let mut rng = rng(seed);
        let points: Vec<f64> = (0..40).map(|_| rng.random_range(-0.7..0.7)).collect();
        let labels =
            points.chunks_exact(2).map(|x| if x[0] * x[1] > 0.0 { 1.0 } else { -1.0 }).collect();
        let basis = SplineBasis::new(3, 5, Knots::Clamped)?;
        let kind = Initialisation::Gaussian;
        let network = initialise(basis, Activation::Tanh, 2, 64, kind, seed)?;
        Self::new(network, points, labels, 1, 6.0)
    }

    /// A wide network whose second layer is ±v, on four atoms, `copies` records each.
    pub(super) fn wide(width: usize, copies: usize, horizon: f64) -> Result<Self> {
        let basis = SplineBasis::new(1, 2, Knots::Clamped)?;
        let network = initialise(basis, Activation::Tanh, 1, width, Initialisation::Greville, 1)?;
        let points = vec![-0.95, -0.7, 0.7, 0.95];
        Self::new(network, points, vec![-1.0, -1.0, 1.0, 1.0], copies, horizon)
    }

    /// A random network with a second layer of random size on a few random points, for attacks.
    pub(super) fn random(seed: u64) -> Result<Self> {
        let mut rng = rng(seed);
        let (degree, size) = [(1, 2), (2, 4), (3, 4), (3, 6), (4, 6)][rng.random_range(0..5)];
        let inputs = rng.random_range(1..=3);
        let width = 2 * rng.random_range(1..=8);
        let activation = if rng.random() { Activation::Tanh } else { Activation::Sigmoid };
        let kinds =
            [Initialisation::Gaussian, Initialisation::Antithetic, Initialisation::Greville];
        let kind = kinds[rng.random_range(0..3)];
        let basis = SplineBasis::new(degree, size, Knots::Clamped)?;
        let (network, start) = initialise(basis.clone(), activation, inputs, width, kind, seed)?;
        let scale = 0.1 * 30.0_f64.powf(rng.random());
        let second = network.second_layer().iter().map(|c| c * scale).collect();
        let network = Network::new(basis, activation, inputs, second)?;
        let rows = rng.random_range(2..=6);
        let points = (0..rows * inputs).map(|_| rng.random_range(-1.0..1.0)).collect();
        let labels = (0..rows).map(|_| if rng.random() { 1.0 } else { -1.0 }).collect();
        Self::new((network, start), points, labels, 1, 3.0)
    }

    /// Records n.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn parameters(&self) -> usize {
        self.start.len()
    }

    /// β.
    pub(super) fn smoothness(&self) -> f64 {
        self.constants.smoothness()
    }

    /// Shares of the rows in the whole sample.
    pub(super) fn full(&self) -> Vec<f64> {
        self.shares(&(0..self.len()).collect::<Vec<_>>(), self.len())
    }

    /// Shares of the rows in a batch with the divisor.
    pub(super) fn shares(&self, batch: &[usize], divisor: usize) -> Vec<f64> {
        let mut shares = vec![0.0; self.features.len()];
        for record in batch {
            shares[self.records[*record]] += 1.0 / divisor as f64;
        }
        shares
    }

    pub(super) fn look(&self, weights: &[f64]) -> Result<Look> {
        let rows = self.features.len();
        let mut look = Look {
            losses: Vec::with_capacity(rows),
            slopes: Vec::with_capacity(rows),
            outputs: Vec::with_capacity(rows),
            units: Vec::with_capacity(rows),
        };
        for (features, label) in self.features.iter().zip(&self.labels) {
            let output = self.network.output(weights, features)?;
            look.losses.push(logistic_loss(label * output.value));
            look.slopes.push(logistic_slope(label * output.value));
            look.outputs.push(output.value);
            look.units.push(output.slopes);
        }
        Ok(look)
    }

    /// `Σ_i share_i ∇l_i`.
    pub(super) fn gradient(&self, look: &Look, shares: &[f64]) -> Vec<f64> {
        let count = self.network.feature_count();
        let scale = 1.0 / ((self.network.width() * self.network.inputs()) as f64).sqrt();
        let mut gradient = vec![0.0; self.parameters()];
        for (row, share) in shares.iter().enumerate().filter(|(_, share)| **share != 0.0) {
            let step = -look.slopes[row] * self.labels[row] * share * scale;
            for (out, unit) in gradient.chunks_exact_mut(count).zip(&look.units[row]) {
                for (out, feature) in out.iter_mut().zip(&self.features[row]) {
                    *out += step * unit * feature;
                }
            }
        }
        gradient
    }

    /// `max_i ||V h(x_i)||/||h(x_i)||`.
    pub(super) fn reach(&self, direction: &[f64]) -> f64 {
        let count = self.network.feature_count();
        let reach = |features: &Vec<f64>| {
            let moved: f64 =
                direction.chunks_exact(count).map(|row| dot(row, features).powi(2)).sum();
            moved.sqrt() / norm(features)
        };
        self.features.iter().map(reach).fold(0.0, f64::max)
    }

    /// Second derivative of `Σ share_i l_i` along a direction.
    pub(super) fn curvature(
        &self,
        weights: &[f64],
        shares: &[f64],
        direction: &[f64],
    ) -> Result<f64> {
        let look = self.look(weights)?;
        let mut total = 0.0;
        for (row, share) in shares.iter().enumerate().filter(|(_, share)| **share != 0.0) {
            let gradient = self.network.gradient(weights, &self.features[row])?.dense();
            let form = self.network.hessian_form(weights, &self.features[row], direction)?;
            let s = look.slopes[row];
            let along = dot(&gradient, direction);
            total += share * (s * (1.0 - s) * along * along - s * self.labels[row] * form);
        }
        Ok(total)
    }
}
