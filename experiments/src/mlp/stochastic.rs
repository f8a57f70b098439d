//! Passes through a network whose weights are Gaussian with independent coordinates.
//!
//! At one record the outputs of a layer are Gaussian with mean `a·w + b` and variance `Σ a_j² σ_j²`, so they are
//! drawn themselves (local reparametrisation). The law of the outputs at each record is exact; draws of
//! different records are independent, as if each had weights of its own.

use dpbounds_bounds::special::log1p_excess;
use pulp::Arch;
use rayon::prelude::*;

use super::blocks::{cut, reserve, rows_of_a_block};
use super::matrix::{Operand, multiply};
use super::network::Network;
use super::pass::{rectify, softmax, sum_gradients};
use super::records::Records;
use crate::kan::kernels::{Keystream, Normals};
use crate::train::{TrainError, noise_key};

/// A Gaussian with independent coordinates over the weights of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    /// Means, in the order of the weights.
    pub mean: Vec<f32>,
    /// Standard deviations, positive.
    pub deviation: Vec<f32>,
}

impl Gaussian {
    /// Checks lengths and signs.
    ///
    /// # Errors
    /// [`TrainError`] for lengths that do not fit the network, a mean that is not finite, or a deviation
    /// that is not positive.
    pub fn check(&self, network: &Network) -> Result<(), TrainError> {
        for (what, found) in
            [("the array of means", self.mean.len()), ("that of deviations", self.deviation.len())]
        {
            let expected = network.parameters();
            if found != expected {
                return Err(TrainError::Shape { what, found, expected });
            }
        }
        let bad = |what, value: f32, allowed| {
            Err(TrainError::Value { what, value: value.into(), allowed })
        };
        if let Some(value) = self.mean.iter().find(|value| !value.is_finite()) {
            return bad("a mean", *value, "finite numbers");
        }
        let positive = |value: &&f32| !(**value > 0.0 && value.is_finite());
        if let Some(value) = self.deviation.iter().find(positive) {
            return bad("a deviation", *value, "finite numbers > 0");
        }
        Ok(())
    }

    /// `KL(self ‖ N(prior_mean, s² I))` in nats, summed in double precision.
    ///
    /// # Errors
    /// [`TrainError`] for lengths that differ or a deviation that is not positive.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_experiments::mlp::Gaussian;
    /// let posterior = Gaussian { mean: vec![0.5, 0.0], deviation: vec![0.25, 0.25] };
    /// assert_eq!(posterior.divergence(&[0.0, 0.0], 0.25)?, 2.0);
    /// # Ok::<(), dpbounds_experiments::train::TrainError>(())
    /// ```
    pub fn divergence(&self, prior_mean: &[f32], s: f64) -> Result<f64, TrainError> {
        if !(s > 0.0 && s.is_finite()) {
            let (what, value) = ("the prior deviation", s);
            return Err(TrainError::Value { what, value, allowed: "a finite number > 0" });
        }
        for (what, found) in [
            ("the array of prior means", prior_mean.len()),
            ("that of deviations", self.deviation.len()),
        ] {
            let expected = self.mean.len();
            if found != expected {
                return Err(TrainError::Shape { what, found, expected });
            }
        }
        let parts = self.mean.iter().zip(&self.deviation).zip(prior_mean);
        let sum: f64 = parts
            .map(|((mean, deviation), prior)| {
                let deviation = f64::from(*deviation);
                let excess = (deviation - s) * (deviation + s) / (s * s);
                let shift = (f64::from(*mean) - f64::from(*prior)) / s;
                // Near −1 the series in the excess has lost what is left of the deviation.
                let spread = if excess < -0.9 {
                    excess - 2.0 * (deviation / s).ln()
                } else {
                    log1p_excess(excess)
                };
                spread + shift * shift
            })
            .sum();
        Ok(sum / 2.0)
    }
}

/// The mean bounded cross-entropy of one draw, and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    /// Mean over the records of `min(−log p, log(1/least))/log(1/least)`, in [0, 1].
    pub loss: f64,
    /// By the means.
    pub by_mean: Vec<f32>,
    /// By the logarithms of the deviations.
    pub by_log_deviation: Vec<f32>,
}

/// The bounded cross-entropy of all records and its derivatives, for noise from `seed`.
///
/// `least` in (0, 1): probabilities below it count as it.
///
/// # Errors
/// [`TrainError`] for a Gaussian or records that do not fit the network, or `least` out of range.
pub fn surrogate_gradient(
    network: &Network,
    posterior: &Gaussian,
    records: &Records,
    least: f64,
    seed: u64,
) -> Result<Objective, TrainError> {
    posterior.check(network)?;
    network.check(&posterior.mean, records)?;
    check_least(least)?;
    let variance: Vec<f32> = posterior.deviation.iter().map(|s| s * s).collect();
    let mut objective = Objective {
        loss: 0.0,
        by_mean: vec![0.0; variance.len()],
        by_log_deviation: vec![0.0; variance.len()],
    };
    let mut pass = StochasticPass::new(network, records, least);
    objective.loss = pass.gradient(
        (&posterior.mean, &variance),
        &records.all(),
        Noise { key: noise_key(seed), step: 0 },
        (&mut objective.by_mean, &mut objective.by_log_deviation),
    );
    objective.by_log_deviation.iter_mut().zip(&variance).for_each(|(g, v)| *g *= 2.0 * v);
    Ok(objective)
}

pub(super) fn check_least(least: f64) -> Result<(), TrainError> {
    if least > 0.0 && least < 1.0 {
        return Ok(());
    }
    Err(TrainError::Value { what: "least_probability", value: least, allowed: "(0, 1)" })
}

/// Where the normal numbers of a pass come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noise {
    pub key: [u32; 8],
    pub step: u64,
}

/// Streams of these passes, apart from those of noise and batches.
const STREAM: u64 = 1 << 61;

impl Noise {
    pub fn stream(self, block: usize, layer: usize) -> Keystream {
        let stream = STREAM | self.step << 28 | (block as u64) << 8 | layer as u64;
        Keystream { key: self.key, stream }
    }
}

/// Draws the outputs of a block of inputs. `activations[l]` are the inputs of layer `l`, `squares[l]` their squares,
/// and `factors[l]` becomes `ε/(2 sqrt(variance))`, the derivative of an output by its variance.
pub(super) fn draw(
    network: &Network,
    (mean, variance): (&[f32], &[f32]),
    activations: &mut [&mut [f32]],
    squares: &mut [&mut [f32]],
    factors: &mut [&mut [f32]],
    keystream: impl Fn(usize) -> Keystream,
) {
    let arch = Arch::new();
    let mut normals = Vec::new();
    for (index, layer) in network.layers().enumerate() {
        let (before, after) = activations.split_at_mut(index + 1);
        let (input, output) = (&*before[index], &mut *after[0]);
        squares[index].iter_mut().zip(input).for_each(|(square, value)| *square = value * value);
        let of_means = Operand::transposed(layer.weights(mean), layer.inputs);
        let of_variances = Operand::transposed(layer.weights(variance), layer.inputs);
        multiply(output, layer.outputs, Operand::plain(input, layer.inputs), of_means);
        let squared = Operand::plain(squares[index], layer.inputs);
        multiply(factors[index], layer.outputs, squared, of_variances);
        normals.resize(output.len(), 0.0);
        arch.dispatch(Normals { keystream: keystream(index), out: &mut normals });
        let floor = if index + 1 == network.depth() { f32::NEG_INFINITY } else { 0.0 };
        let (bias, bias_variance) = (layer.biases(mean), layer.biases(variance));
        let rows = output.chunks_exact_mut(layer.outputs);
        let others =
            factors[index].chunks_exact_mut(layer.outputs).zip(normals.chunks_exact(layer.outputs));
        for (values, (factors, normals)) in rows.zip(others) {
            for (j, (value, factor)) in values.iter_mut().zip(factors).enumerate() {
                let deviation = (*factor + bias_variance[j]).sqrt();
                let drawn = *value + bias[j] + deviation * normals[j];
                *factor = if deviation > 0.0 { 0.5 * normals[j] / deviation } else { 0.0 };
                *value = if drawn < floor { floor } else { drawn };
            }
        }
    }
}

/// Room for passes with gradients.
pub(super) struct StochasticPass<'a> {
    network: &'a Network,
    records: &'a Records,
    largest_loss: f32,
    activations: Vec<Vec<f32>>,
    squares: Vec<Vec<f32>>,
    deltas: Vec<Vec<f32>>,
    factors: Vec<Vec<f32>>,
}

impl<'a> StochasticPass<'a> {
    #[allow(clippy::cast_possible_truncation)]
    pub fn new(network: &'a Network, records: &'a Records, least: f64) -> Self {
        let empty = vec![Vec::new(); network.depth()];
        Self {
            network,
            records,
            largest_loss: -(least.ln() as f32),
            activations: vec![Vec::new(); network.depth() + 1],
            squares: empty.clone(),
            deltas: empty.clone(),
            factors: empty,
        }
    }

    /// The mean loss of a batch; writes its derivatives by means and by variances.
    #[allow(clippy::cast_precision_loss)]
    pub fn gradient(
        &mut self,
        parameters: (&[f32], &[f32]),
        batch: &[u32],
        noise: Noise,
        (by_mean, by_variance): (&mut [f32], &mut [f32]),
    ) -> f64 {
        let (network, records) = (self.network, self.records);
        let widths = network.widths();
        let (inputs, outputs) = (&widths[..network.depth()], &widths[1..]);
        let count = batch.len();
        reserve(&mut self.activations, widths, count);
        reserve(&mut self.squares, inputs, count);
        reserve(&mut self.deltas, outputs, count);
        reserve(&mut self.factors, outputs, count);
        let largest = self.largest_loss;
        let scale = 1.0 / (largest * count as f32);
        let blocks = cut(&mut self.activations, widths, count)
            .into_par_iter()
            .zip(cut(&mut self.squares, inputs, count))
            .zip(cut(&mut self.deltas, outputs, count))
            .zip(cut(&mut self.factors, outputs, count))
            .zip(batch.par_chunks(rows_of_a_block(count)));
        let losses: Vec<f64> = blocks
            .enumerate()
            .map(|(block, ((((mut activations, mut squares), mut deltas), mut factors), batch))| {
                records.gather(batch, activations[0]);
                let stream = |layer| noise.stream(block, layer);
                draw(network, parameters, &mut activations, &mut squares, &mut factors, stream);
                let label = |row: usize| records.label(batch[row]);
                let outputs = &*activations[network.depth()];
                let last = &mut *deltas[network.depth() - 1];
                let loss = last_deltas(records.classes(), outputs, last, largest, scale, label);
                backward(network, parameters, &activations, &mut deltas, &mut factors);
                loss
            })
            .collect();
        sum_gradients(network, &self.activations, &self.deltas, count, by_mean);
        sum_gradients(network, &self.squares, &self.factors, count, by_variance);
        losses.iter().sum::<f64>() / (f64::from(largest) * count as f64)
    }
}

/// Sum of the losses; writes `scale` times their derivatives by the outputs.
fn last_deltas(
    classes: usize,
    outputs: &[f32],
    deltas: &mut [f32],
    largest: f32,
    scale: f32,
    label: impl Fn(usize) -> usize,
) -> f64 {
    deltas.copy_from_slice(outputs);
    let mut sum = 0.0;
    for (row, delta) in deltas.chunks_exact_mut(classes).enumerate() {
        let own = delta[label(row)];
        let loss = softmax(delta) - own;
        if loss < largest {
            delta[label(row)] -= 1.0;
            delta.iter_mut().for_each(|value| *value *= scale);
            sum += f64::from(loss);
        } else {
            delta.fill(0.0);
            sum += f64::from(largest);
        }
    }
    sum
}

/// Derivatives by the means of the drawn values (`deltas`) and by their variances (`factors`, in place).
fn backward(
    network: &Network,
    (mean, variance): (&[f32], &[f32]),
    activations: &[&mut [f32]],
    deltas: &mut [&mut [f32]],
    factors: &mut [&mut [f32]],
) {
    let layers: Vec<_> = network.layers().collect();
    let mut by_squares = Vec::new();
    for (index, layer) in layers.iter().enumerate().rev() {
        factors[index].iter_mut().zip(&*deltas[index]).for_each(|(factor, delta)| *factor *= delta);
        if index == 0 {
            return;
        }
        let (before, after) = deltas.split_at_mut(index);
        let (inner, outer) = (&mut *before[index - 1], &*after[0]);
        let of_means = Operand::plain(layer.weights(mean), layer.inputs);
        multiply(inner, layer.inputs, Operand::plain(outer, layer.outputs), of_means);
        by_squares.resize(inner.len(), 0.0);
        let of_variances = Operand::plain(layer.weights(variance), layer.inputs);
        let outer = Operand::plain(factors[index], layer.outputs);
        multiply(&mut by_squares, layer.inputs, outer, of_variances);
        let inputs = &*activations[index];
        inner
            .iter_mut()
            .zip(&by_squares)
            .zip(inputs)
            .for_each(|((delta, by_square), input)| *delta += 2.0 * input * by_square);
        rectify(inner, inputs);
    }
}
