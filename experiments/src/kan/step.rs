//! One step of training on a given batch.

use dpbounds_bounds::kan::{Activation, Network};
use pulp::Arch;

use super::features::Features;
use super::kernels::{self, Backward, Clip, Forward, Keystream, Noise, Normals, Unit};
use super::{Aligned, Examples, Real};

/// Rows of weights hold this many units at least, so that every vector fits.
pub(super) const PADDING: usize = 16;
/// Inputs whose features are held at a time, if there are more than [`ALL`].
const BLOCK: usize = 16;
/// Up to this many inputs, all features of a batch are held through a step.
const ALL: usize = 32;

/// Sizes shared by all parts of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) inputs: usize,
    /// Basis functions per input.
    pub(crate) size: usize,
    pub(crate) spans: usize,
    /// Units.
    pub(crate) units: usize,
    /// Units in a row of the weights, the last of which are idle.
    pub(crate) width: usize,
}

impl Layout {
    pub(crate) fn new(network: &Network) -> Self {
        let units = network.width();
        Self {
            inputs: network.inputs(),
            size: network.basis().size(),
            spans: network.basis().spans(),
            units,
            width: units.next_multiple_of(PADDING),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.inputs * self.size * self.width
    }

    /// From row-major `m x dp` to rows of units.
    pub(crate) fn import<F: Real>(&self, weights: &[f64]) -> Aligned<F> {
        let features = self.inputs * self.size;
        let mut out = Aligned::zeros(self.len());
        for (unit, row) in weights.chunks_exact(features).enumerate() {
            for (feature, weight) in row.iter().enumerate() {
                out[feature * self.width + unit] = F::from_f64(*weight);
            }
        }
        out
    }

    /// To row-major `m x dp`.
    pub(crate) fn export<F: Real>(&self, weights: &[F]) -> Vec<f64> {
        let features = self.inputs * self.size;
        let mut out = vec![0.0; self.units * features];
        for (unit, row) in out.chunks_exact_mut(features).enumerate() {
            for (feature, weight) in row.iter_mut().enumerate() {
                *weight = weights[feature * self.width + unit].to_f64();
            }
        }
        out
    }
}

/// What one step needs beside the batch.
pub struct StepInput<'a, F> {
    pub(crate) examples: &'a Examples<F>,
    pub(crate) batch: &'a [u32],
    /// The divisor B.
    pub(crate) divisor: f64,
    pub(crate) clip: Option<f64>,
    pub(crate) step_size: F,
    pub(crate) noise: Option<Noise<'a, F>>,
    pub(crate) start: &'a [F],
}

/// How pre-activations are moved at random.
#[derive(Debug, Clone)]
pub struct Disturbance<F> {
    /// Standard deviation of a weight.
    pub(crate) spread: F,
    pub(crate) key: [u32; 8],
    /// One stream a draw.
    pub(crate) streams: std::ops::Range<u64>,
}

/// What one step reports.
#[derive(Debug, Clone, Copy, Default)]
pub struct StepOutput {
    pub(crate) clipped: usize,
    /// `‖W − W_0‖²` after the update.
    pub(crate) distance_squared: f64,
}

/// A network with the room that a step needs, for one degree.
pub trait Core<F: Real>: Send {
    /// Outputs `f_W(x)` of a batch.
    fn outputs(&mut self, examples: &Examples<F>, batch: &[u32], weights: &[F]) -> &[F];
    /// `W −= step size·(clipped mean gradient + noise)`; the outputs before it are kept.
    fn step(&mut self, input: StepInput<'_, F>, weights: &mut [F]) -> StepOutput;
    /// The outputs of the last batch.
    fn last_outputs(&self) -> &[F];
    /// The outputs of a batch after every pre-activation `<w_j, h(x)>` was moved by an independent normal number of
    /// standard deviation `spread·‖h(x)‖`, `draws.len()` times with a stream of `key` each: these are outputs of
    /// the network with independent weights of that spread. The slopes that [`Self::pull`] needs are the last ones.
    fn disturbed(
        &mut self,
        examples: &Examples<F>,
        batch: &[u32],
        weights: &[F],
        disturbance: Disturbance<F>,
        see: &mut dyn FnMut(&[F]),
    );
    /// `Σ_j α_j²` and `‖h(x)‖²` for the examples of the last pass: their product over `md` is the squared norm of
    /// the gradient of the output.
    fn gradient_squares(&self) -> (&[F], &[F]);
    /// `target −= Σ_e factors_e·h(x_e) ⊗ α_e` for the batch of the last pass, whose slopes are used up.
    fn pull(
        &mut self,
        examples: &Examples<F>,
        batch: &[u32],
        factors: &[F],
        weights: &[F],
        target: &mut [F],
    );
    /// Standard normal numbers from a keystream.
    fn normals(&self, keystream: Keystream, out: &mut [F]);
    /// `W = start + (W − start)·factor`.
    fn shrink_towards(&self, weights: &mut [F], start: &[F], factor: F);
}

/// `None` for a degree above 7.
pub(super) fn core<F: Real>(network: &Network, arch: Arch) -> Option<Box<dyn Core<F>>> {
    Some(match network.basis().degree() {
        1 => Box::new(Engine::<F, 2>::new(network, arch)),
        2 => Box::new(Engine::<F, 3>::new(network, arch)),
        3 => Box::new(Engine::<F, 4>::new(network, arch)),
        4 => Box::new(Engine::<F, 5>::new(network, arch)),
        5 => Box::new(Engine::<F, 6>::new(network, arch)),
        6 => Box::new(Engine::<F, 7>::new(network, arch)),
        7 => Box::new(Engine::<F, 8>::new(network, arch)),
        _ => return None,
    })
}

struct Engine<F, const K1: usize> {
    arch: Arch,
    layout: Layout,
    features: Features<F, K1>,
    table: Aligned<F>,
    activation: Activation,
    /// Examples by units: pre-activations, then slopes.
    units: Aligned<F>,
    outputs: Vec<F>,
    squares: Vec<F>,
    lanes: Aligned<F>,
    labels: Vec<F>,
    factors: Vec<F>,
    cursors: Vec<u32>,
    normals: Aligned<F>,
    undisturbed: Aligned<F>,
    batch: usize,
}

impl<F: Real, const K1: usize> Engine<F, K1> {
    fn new(network: &Network, arch: Arch) -> Self {
        let layout = Layout::new(network);
        Self {
            arch,
            layout,
            features: Features::new(network.basis()),
            table: table::<F, K1>(network, &layout),
            activation: network.activation(),
            units: Aligned::zeros(0),
            outputs: Vec::new(),
            squares: Vec::new(),
            lanes: Aligned::zeros(0),
            labels: Vec::new(),
            factors: Vec::new(),
            cursors: vec![0; layout.spans * layout.inputs.min(ALL)],
            normals: Aligned::zeros(0),
            undisturbed: Aligned::zeros(0),
            batch: 0,
        }
    }

    /// The first of the inputs that are held at a time, and their number.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + use<F, K1> {
        let inputs = self.layout.inputs;
        let block = if inputs <= ALL { inputs } else { BLOCK };
        (0..inputs).step_by(block).map(move |first| (first, block.min(inputs - first)))
    }

    fn resize(&mut self, examples: usize) {
        self.batch = examples;
        self.units.resize(examples * self.layout.width);
        self.lanes.resize(2 * examples * PADDING);
        for buffer in [&mut self.outputs, &mut self.squares, &mut self.labels, &mut self.factors] {
            buffer.resize(examples, F::default());
        }
    }

    fn forward(&mut self, examples: &Examples<F>, batch: &[u32], weights: &[F]) {
        self.first_layer(examples, batch, weights);
        self.second_layer();
    }

    fn first_layer(&mut self, examples: &Examples<F>, batch: &[u32], weights: &[F]) {
        self.resize(batch.len());
        let layout = self.layout;
        for (first, inputs) in self.blocks() {
            self.features.load(self.arch, examples, batch, (first, inputs), false);
            self.arch.dispatch(Forward::<F, K1> {
                weights,
                width: layout.width,
                size: layout.size,
                first,
                inputs,
                examples: batch.len(),
                stride: self.features.stride,
                order: self.features.order(),
                values: &self.features.values,
                pre: &mut self.units,
                accumulate: first > 0,
                cursors: &mut self.cursors,
            });
        }
    }

    fn second_layer(&mut self) {
        self.activate();
        let number = F::from_f64;
        let slope = match self.activation {
            Activation::Tanh => [number(1.0), number(0.0), number(-1.0)],
            Activation::Sigmoid => [number(0.0), number(1.0), number(-1.0)],
        };
        self.arch.dispatch(Unit::<F, K1> {
            table: &self.table,
            spans: self.layout.spans,
            width: self.layout.width,
            slope,
            values: &mut self.units,
            outputs: &mut self.outputs,
            squares: &mut self.squares,
            lanes: &mut self.lanes,
        });
        #[allow(clippy::cast_precision_loss)]
        let scale = F::from_f64(1.0 / (self.layout.units as f64).sqrt());
        for output in &mut self.outputs {
            *output = *output * scale;
        }
    }

    fn activate(&mut self) {
        #[allow(clippy::cast_precision_loss)]
        let scale = 1.0 / (self.layout.inputs as f64).sqrt();
        match self.activation {
            Activation::Tanh => {
                kernels::tanh_all(self.arch, &mut self.units, F::from_f64(scale));
            }
            Activation::Sigmoid => {
                kernels::tanh_all(self.arch, &mut self.units, F::from_f64(0.5 * scale));
                let half = F::from_f64(0.5);
                for value in self.units.iter_mut() {
                    *value = *value * half + half;
                }
            }
        }
    }

    /// `W −= step size·Σ_e h(x_e) ⊗ (row e of the units) + noise`; returns `‖W − start‖²`.
    fn backward(&mut self, input: &StepInput<'_, F>, weights: &mut [F]) -> f64 {
        let layout = self.layout;
        let mut distance_squared = 0.0;
        for (first, inputs) in self.blocks() {
            if inputs < layout.inputs {
                let block = (first, inputs);
                self.features.load(self.arch, input.examples, input.batch, block, true);
            }
            distance_squared += self.arch.dispatch(Backward::<F, K1> {
                weights: &mut *weights,
                start: input.start,
                noise: input.noise,
                width: layout.width,
                size: layout.size,
                first,
                inputs,
                examples: self.batch,
                stride: self.features.stride,
                order: self.features.order(),
                values: &self.features.values,
                g: &self.units,
                step: input.step_size,
            });
        }
        distance_squared
    }

    /// The factors of the slopes in the mean of clipped gradients; returns how many were clipped.
    fn clip(&mut self, input: &StepInput<'_, F>) -> usize {
        for (label, example) in self.labels.iter_mut().zip(input.batch) {
            *label = input.examples.labels()[*example as usize];
        }
        #[allow(clippy::cast_precision_loss)]
        let scale = 1.0 / (self.layout.units as f64 * self.layout.inputs as f64).sqrt();
        let clipped = self.arch.dispatch(Clip {
            labels: &self.labels,
            outputs: &self.outputs,
            units: &self.squares,
            features: &self.features.squares,
            factors: &mut self.factors,
            scale,
            divisor: input.divisor,
            clip: input.clip.unwrap_or(f64::INFINITY),
        });
        if input.examples.copies().is_some() {
            for (factor, example) in self.factors.iter_mut().zip(input.batch) {
                *factor = *factor * F::from_f64(input.examples.weight(*example as usize));
            }
        }
        clipped
    }
}

impl<F: Real, const K1: usize> Core<F> for Engine<F, K1> {
    fn outputs(&mut self, examples: &Examples<F>, batch: &[u32], weights: &[F]) -> &[F] {
        self.forward(examples, batch, weights);
        self.last_outputs()
    }

    fn step(&mut self, input: StepInput<'_, F>, weights: &mut [F]) -> StepOutput {
        self.forward(input.examples, input.batch, weights);
        let clipped = self.clip(&input);
        kernels::scale_rows(self.arch, &mut self.units, self.layout.width, &self.factors);
        StepOutput { clipped, distance_squared: self.backward(&input, weights) }
    }

    fn disturbed(
        &mut self,
        examples: &Examples<F>,
        batch: &[u32],
        weights: &[F],
        disturbance: Disturbance<F>,
        see: &mut dyn FnMut(&[F]),
    ) {
        self.first_layer(examples, batch, weights);
        let Disturbance { spread, key, streams } = disturbance;
        let scales = self.features.squares.iter().take(self.batch);
        self.factors.clear();
        self.factors.extend(scales.map(|s| spread * F::from_f64(s.to_f64().sqrt())));
        self.normals.resize(self.units.len());
        let several = streams.end > streams.start + 1;
        if several {
            self.undisturbed.resize(self.units.len());
            self.undisturbed.copy_from_slice(&self.units);
        }
        for stream in streams.clone() {
            if stream > streams.start {
                self.units.copy_from_slice(&self.undisturbed);
            }
            let out = &mut self.normals;
            self.arch.dispatch(Normals { keystream: Keystream { key, stream }, out });
            let width = self.layout.width;
            kernels::add_scaled(self.arch, &mut self.units, width, &self.factors, &self.normals);
            self.second_layer();
            see(&self.outputs);
        }
    }

    fn gradient_squares(&self) -> (&[F], &[F]) {
        (&self.squares, &self.features.squares[..self.batch])
    }

    fn pull(
        &mut self,
        examples: &Examples<F>,
        batch: &[u32],
        factors: &[F],
        weights: &[F],
        target: &mut [F],
    ) {
        kernels::scale_rows(self.arch, &mut self.units, self.layout.width, factors);
        let step = StepInput {
            examples,
            batch,
            divisor: 1.0,
            clip: None,
            step_size: F::from_f64(1.0),
            noise: None,
            start: weights,
        };
        self.backward(&step, target);
    }

    fn last_outputs(&self) -> &[F] {
        &self.outputs
    }

    fn normals(&self, keystream: Keystream, out: &mut [F]) {
        self.arch.dispatch(Normals { keystream, out });
    }

    fn shrink_towards(&self, weights: &mut [F], start: &[F], factor: F) {
        kernels::shrink_towards(self.arch, weights, start, factor);
    }
}

/// `table[span][power][unit]` of the second layer.
fn table<F: Real, const K1: usize>(network: &Network, layout: &Layout) -> Aligned<F> {
    let basis = network.basis();
    let mut table = Aligned::zeros(layout.spans * K1 * layout.width);
    for (unit, coefficients) in network.second_layer().chunks_exact(layout.size).enumerate() {
        for span in 0..layout.spans {
            for power in 0..K1 {
                let sum: f64 =
                    (0..K1).map(|k| coefficients[span + k] * basis.piece(span, k)[power]).sum();
                table[(span * K1 + power) * layout.width + unit] = F::from_f64(sum);
            }
        }
    }
    table
}
