//! Forward and backward passes with the exact gradient norm of every example.

use rayon::prelude::*;

use super::blocks::{cut, reserve, rows_of_a_block};
use super::matrix::{Operand, multiply, square_sum};
use super::network::Network;
use super::records::Records;
use crate::train::TrainError;

/// Clipped norms stay below the clipping norm by this share, more than rounding in single precision adds.
const CLIP_MARGIN: f64 = 1e-4;

/// Room for the passes of one network, kept between steps.
pub(super) struct Pass<'a> {
    network: &'a Network,
    records: &'a Records,
    /// Inputs of every layer, and the outputs.
    activations: Vec<Vec<f32>>,
    /// Derivatives by the outputs of every layer, before ReLU.
    deltas: Vec<Vec<f32>>,
    norms: Vec<f64>,
}

impl<'a> Pass<'a> {
    pub fn new(network: &'a Network, records: &'a Records) -> Self {
        let widths = network.widths();
        Self {
            network,
            records,
            activations: vec![Vec::new(); widths.len()],
            deltas: vec![Vec::new(); widths.len() - 1],
            norms: Vec::new(),
        }
    }

    /// Writes the sum of the gradients of the cross-entropies of a batch over `gradient`, each scaled down to
    /// the norm `clip`.
    pub fn gradient(
        &mut self,
        weights: &[f32],
        batch: &[u32],
        clip: Option<f64>,
        gradient: &mut [f32],
    ) {
        let (network, records) = (self.network, self.records);
        let widths = network.widths();
        let count = batch.len();
        reserve(&mut self.activations, widths, count);
        reserve(&mut self.deltas, &widths[1..], count);
        self.norms.resize(count, 0.0);
        let rows = rows_of_a_block(count);
        cut(&mut self.activations, widths, count)
            .into_par_iter()
            .zip(cut(&mut self.deltas, &widths[1..], count))
            .zip(batch.par_chunks(rows).zip(self.norms[..count].par_chunks_mut(rows)))
            .for_each(|((mut activations, mut deltas), (batch, norms))| {
                records.gather(batch, activations[0]);
                network.forward(weights, &mut activations);
                backward(network, weights, &activations, &mut deltas, |row| {
                    records.label(batch[row])
                });
                norms_of(network, &activations, &deltas, norms);
                if let Some(clip) = clip {
                    scale_down(network, &mut deltas, norms, clip);
                }
            });
        sum_gradients(network, &self.activations, &self.deltas, count, gradient);
    }
}

/// Derivatives of the cross-entropy by the outputs of every layer.
fn backward(
    network: &Network,
    weights: &[f32],
    activations: &[&mut [f32]],
    deltas: &mut [&mut [f32]],
    label: impl Fn(usize) -> usize,
) {
    let depth = network.depth();
    let classes = network.widths()[depth];
    deltas[depth - 1].copy_from_slice(activations[depth]);
    for (row, delta) in deltas[depth - 1].chunks_exact_mut(classes).enumerate() {
        softmax(delta);
        delta[label(row)] -= 1.0;
    }
    for (index, layer) in network.layers().enumerate().skip(1).collect::<Vec<_>>().into_iter().rev()
    {
        let (before, after) = deltas.split_at_mut(index);
        let (inner, outer) = (&mut *before[index - 1], &*after[0]);
        let matrix = Operand::plain(layer.weights(weights), layer.inputs);
        multiply(inner, layer.inputs, Operand::plain(outer, layer.outputs), matrix);
        rectify(inner, activations[index]);
    }
}

/// Derivatives vanish where the unit is off.
pub(super) fn rectify(deltas: &mut [f32], activations: &[f32]) {
    for (delta, activation) in deltas.iter_mut().zip(activations) {
        *delta = if *activation > 0.0 { *delta } else { 0.0 };
    }
}

/// Softmax in place; returns the logarithm of the normaliser, `log Σ e^{z}`.
pub(super) fn softmax(values: &mut [f32]) -> f32 {
    let largest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for value in values.iter_mut() {
        *value = (*value - largest).exp();
        sum += *value;
    }
    values.iter_mut().for_each(|value| *value /= sum);
    largest + sum.ln()
}

/// `‖g_i‖ = sqrt( Σ_l (‖a_l‖² + 1) ‖δ_l‖² )`.
fn norms_of(
    network: &Network,
    activations: &[&mut [f32]],
    deltas: &[&mut [f32]],
    norms: &mut [f64],
) {
    for (row, norm) in norms.iter_mut().enumerate() {
        let squares = network.layers().enumerate().map(|(index, layer)| {
            let input = &activations[index][row * layer.inputs..][..layer.inputs];
            let delta = &deltas[index][row * layer.outputs..][..layer.outputs];
            (square_sum(input) + 1.0) * square_sum(delta)
        });
        *norm = squares.sum::<f64>().sqrt();
    }
}

fn scale_down(network: &Network, deltas: &mut [&mut [f32]], norms: &[f64], clip: f64) {
    for (layer, deltas) in network.layers().zip(deltas) {
        for (row, norm) in deltas.chunks_exact_mut(layer.outputs).zip(norms) {
            let factor = clip * (1.0 - CLIP_MARGIN) / norm;
            // The run ends as diverged if the activations overflowed; a norm alone may.
            if !norm.is_finite() {
                row.fill(0.0);
            } else if factor < 1.0 {
                #[allow(clippy::cast_possible_truncation)]
                row.iter_mut().for_each(|delta| *delta *= factor as f32);
            }
        }
    }
}

/// `Σ_i δ_i a_iᵀ` and `Σ_i δ_i` of every layer, written over `gradient`.
pub(super) fn sum_gradients(
    network: &Network,
    inputs: &[Vec<f32>],
    deltas: &[Vec<f32>],
    count: usize,
    gradient: &mut [f32],
) {
    let mut rest = gradient;
    for (index, layer) in network.layers().enumerate() {
        let (of_layer, later) = rest.split_at_mut((layer.inputs + 1) * layer.outputs);
        let (weights, biases) = of_layer.split_at_mut(layer.inputs * layer.outputs);
        rest = later;
        let deltas = &deltas[index][..count * layer.outputs];
        let inputs = Operand::plain(&inputs[index][..count * layer.inputs], layer.inputs);
        biases.fill(0.0);
        if count == 0 {
            weights.fill(0.0);
            continue;
        }
        for row in deltas.chunks_exact(layer.outputs) {
            biases.iter_mut().zip(row).for_each(|(sum, delta)| *sum += delta);
        }
        // Rows of the sum are shared by the threads; each needs its columns of the derivatives.
        let rows = layer.outputs.div_ceil(4).max(1);
        weights.par_chunks_mut(rows * layer.inputs).enumerate().for_each(|(block, weights)| {
            let (first, height) = (block * rows, weights.len() / layer.inputs);
            let mut columns = Vec::with_capacity(count * height);
            for row in deltas.chunks_exact(layer.outputs) {
                columns.extend_from_slice(&row[first..first + height]);
            }
            multiply(weights, layer.inputs, Operand::transposed(&columns, height), inputs);
        });
    }
}

/// Norms of the gradients of the cross-entropy at each record.
///
/// # Errors
/// [`TrainError`] for an array of weights or records that do not fit the network.
pub fn gradient_norms(
    network: &Network,
    weights: &[f32],
    records: &Records,
) -> Result<Vec<f64>, TrainError> {
    network.check(weights, records)?;
    let mut pass = Pass::new(network, records);
    pass.gradient(weights, &records.all(), None, &mut vec![0.0; network.parameters()]);
    Ok(pass.norms)
}

/// The sum over all records of gradients scaled down to the norm `clip`, as DP-SGD releases it before noise.
///
/// # Errors
/// [`TrainError`] for an array of weights or records that do not fit the network, or a norm that is not positive.
pub fn clipped_gradient(
    network: &Network,
    weights: &[f32],
    records: &Records,
    clip: f64,
) -> Result<Vec<f32>, TrainError> {
    network.check(weights, records)?;
    if !(clip > 0.0 && clip.is_finite()) {
        return Err(TrainError::Value {
            what: "clip",
            value: clip,
            allowed: "a finite number > 0",
        });
    }
    let mut gradient = vec![0.0; network.parameters()];
    Pass::new(network, records).gradient(weights, &records.all(), Some(clip), &mut gradient);
    Ok(gradient)
}

/// The gradient of the mean cross-entropy.
///
/// # Errors
/// [`TrainError`] for an array of weights or records that do not fit the network.
#[allow(clippy::cast_precision_loss)]
pub fn mean_gradient(
    network: &Network,
    weights: &[f32],
    records: &Records,
) -> Result<Vec<f32>, TrainError> {
    network.check(weights, records)?;
    let mut gradient = vec![0.0; network.parameters()];
    Pass::new(network, records).gradient(weights, &records.all(), None, &mut gradient);
    gradient.iter_mut().for_each(|value| *value /= records.len() as f32);
    Ok(gradient)
}

/// The mean cross-entropy in nats.
///
/// # Errors
/// [`TrainError`] for an array of weights or records that do not fit the network.
#[allow(clippy::cast_precision_loss)]
pub fn mean_loss(network: &Network, weights: &[f32], records: &Records) -> Result<f64, TrainError> {
    network.check(weights, records)?;
    let all = records.all();
    let losses: Vec<f64> = all
        .par_chunks(rows_of_a_block(all.len()))
        .map(|block| {
            let mut layers: Vec<Vec<f32>> =
                network.widths().iter().map(|width| vec![0.0; width * block.len()]).collect();
            records.gather(block, &mut layers[0]);
            let mut views: Vec<&mut [f32]> = layers.iter_mut().map(Vec::as_mut_slice).collect();
            network.forward(weights, &mut views);
            let outputs = views[network.depth()].chunks_exact_mut(records.classes());
            outputs
                .zip(block)
                .map(|(row, &record)| {
                    let own = row[records.label(record)];
                    f64::from(softmax(row) - own)
                })
                .sum()
        })
        .collect();
    Ok(losses.iter().sum::<f64>() / records.len() as f64)
}
