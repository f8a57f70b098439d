//! The shape of a network, its weights as one array, and its errors.

use pulp::Arch;
use rayon::prelude::*;

use super::blocks::rows_of_a_block;
use super::matrix::{Operand, multiply};
use super::records::Records;
use crate::kan::kernels::{Keystream, Normals};
use crate::train::{TrainError, noise_key};

/// Dense layers with ReLU between them; the last one gives a number for each class.
///
/// The weights are one array: for each layer a row of weights for each output, then the biases.
///
/// ```
/// use dpbounds_experiments::mlp::Network;
/// let network = Network::new(&[784, 600, 600, 600, 10])?;
/// assert_eq!(network.parameters(), 1_198_210);
/// # Ok::<(), dpbounds_experiments::train::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    widths: Vec<usize>,
}

/// One dense layer within the array of weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    /// Place of the first weight.
    pub first: usize,
}

impl Layer {
    pub fn weights(self, all: &[f32]) -> &[f32] {
        &all[self.first..self.biases_at()]
    }

    pub fn biases(self, all: &[f32]) -> &[f32] {
        &all[self.biases_at()..][..self.outputs]
    }

    pub fn biases_at(self) -> usize {
        self.first + self.inputs * self.outputs
    }
}

impl Network {
    /// Inputs, widths of the hidden layers, classes.
    ///
    /// # Errors
    /// [`TrainError`] for fewer than two widths, a width of 0, or fewer than two classes.
    pub fn new(widths: &[usize]) -> Result<Self, TrainError> {
        let value = |what, value: usize, allowed| {
            #[allow(clippy::cast_precision_loss)]
            Err(TrainError::Value { what, value: value as f64, allowed })
        };
        if widths.len() < 2 {
            return value("the number of widths", widths.len(), "at least 2: inputs and classes");
        }
        if let Some(&width) = widths.iter().find(|&&width| width == 0 || width > 1 << 20) {
            return value("a width", width, "1 to 2^20");
        }
        if widths[widths.len() - 1] < 2 {
            return value("classes", 1, "at least 2");
        }
        Ok(Self { widths: widths.to_vec() })
    }

    /// Inputs, widths of the hidden layers, classes.
    #[must_use]
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// Number of weights and biases.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.widths.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum()
    }

    /// He's initialisation: weights `N(0, 2/inputs)`, biases 0.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn initialise(&self, seed: u64) -> Vec<f32> {
        let mut all = vec![0.0; self.parameters()];
        for (index, layer) in self.layers().enumerate() {
            let weights = &mut all[layer.first..layer.biases_at()];
            // Apart from the streams of steps, batches and draws: a run may have the same seed.
            let keystream = Keystream { key: noise_key(seed), stream: 1 << 62 | index as u64 };
            Arch::new().dispatch(Normals { keystream, out: weights });
            let scale = (2.0 / layer.inputs as f32).sqrt();
            weights.iter_mut().for_each(|weight| *weight *= scale);
        }
        all
    }

    pub(super) fn layers(&self) -> impl Iterator<Item = Layer> + '_ {
        let mut first = 0;
        self.widths.windows(2).map(move |pair| {
            let layer = Layer { inputs: pair[0], outputs: pair[1], first };
            first += (pair[0] + 1) * pair[1];
            layer
        })
    }

    /// Number of dense layers.
    pub(super) fn depth(&self) -> usize {
        self.widths.len() - 1
    }

    /// Outputs of a block of inputs: `activations[l]` are the inputs of layer `l`.
    pub(super) fn forward(&self, weights: &[f32], activations: &mut [&mut [f32]]) {
        for (index, layer) in self.layers().enumerate() {
            let (before, after) = activations.split_at_mut(index + 1);
            let (input, output) = (&*before[index], &mut *after[0]);
            let matrix = Operand::transposed(layer.weights(weights), layer.inputs);
            multiply(output, layer.outputs, Operand::plain(input, layer.inputs), matrix);
            let is_last = index + 1 == self.depth();
            add_biases(output, layer.biases(weights), !is_last);
        }
    }

    pub(super) fn check(&self, weights: &[f32], records: &Records) -> Result<(), TrainError> {
        let shape = |what, found, expected| Err(TrainError::Shape { what, found, expected });
        if weights.len() != self.parameters() {
            return shape("the array of weights", weights.len(), self.parameters());
        }
        if records.inputs() != self.widths[0] {
            return shape("a record", records.inputs(), self.widths[0]);
        }
        let classes = self.widths[self.depth()];
        if records.classes() != classes {
            return shape("the outputs of the network", classes, records.classes());
        }
        Ok(())
    }
}

fn add_biases(output: &mut [f32], biases: &[f32], rectify: bool) {
    let floor = if rectify { 0.0 } else { f32::NEG_INFINITY };
    for row in output.chunks_exact_mut(biases.len()) {
        for (value, bias) in row.iter_mut().zip(biases) {
            let sum = *value + bias;
            *value = if sum < floor { floor } else { sum }; // keeps a NaN
        }
    }
}

/// Whether the largest output is that of the label; the first one of equals, never with a NaN.
pub(super) fn is_correct(outputs: &[f32], label: usize) -> bool {
    let own = outputs[label];
    outputs.iter().enumerate().all(|(class, &other)| {
        class == label || if class < label { other < own } else { other <= own }
    })
}

/// Share of the records whose class is not that of the largest output, in [0, 1].
///
/// # Errors
/// [`TrainError`] for an array of weights or records that do not fit the network.
///
/// # Examples
/// ```
/// use dpbounds_experiments::mlp::{Network, Records, error_rate};
/// let network = Network::new(&[1, 2])?;
/// let records = Records::new(vec![-1.0, 1.0, 2.0, 3.0], vec![0, 1, 1, 0], 1, 2)?;
/// assert_eq!(error_rate(&network, &[0.0, 1.0, 0.0, 0.0], &records)?, 0.25);
/// # Ok::<(), dpbounds_experiments::train::TrainError>(())
/// ```
#[allow(clippy::cast_precision_loss)]
pub fn error_rate(
    network: &Network,
    weights: &[f32],
    records: &Records,
) -> Result<f64, TrainError> {
    network.check(weights, records)?;
    let all = records.all();
    let wrong: usize = all
        .par_chunks(rows_of_a_block(all.len()))
        .map(|block| {
            let widths = network.widths();
            let mut layers: Vec<Vec<f32>> =
                widths.iter().map(|width| vec![0.0; width * block.len()]).collect();
            records.gather(block, &mut layers[0]);
            let mut activations: Vec<&mut [f32]> =
                layers.iter_mut().map(Vec::as_mut_slice).collect();
            network.forward(weights, &mut activations);
            let outputs = activations[network.depth()].chunks_exact(records.classes());
            outputs
                .zip(block)
                .filter(|(row, record)| !is_correct(row, records.label(**record)))
                .count()
        })
        .sum();
    Ok(wrong as f64 / records.len() as f64)
}
