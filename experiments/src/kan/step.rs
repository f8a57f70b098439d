//! One step of training on a given batch.

use dpbounds_bounds::kan::{Activation, Network};
use pulp::Arch;

use super::features::Pieces;
use super::kernels::{self, Backward, Forward, Noise, Unit};
use super::{Examples, Real};

/// Rows of weights hold this many units at least, so that every vector fits.
const PADDING: usize = 16;
/// Inputs whose features are held at a time.
const BLOCK: usize = 16;
/// Features of all examples are computed once if they take at most this many bytes.
const LARGEST_CACHE: usize = 1 << 23;

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
    pub(crate) fn import<F: Real>(&self, weights: &[f64]) -> Vec<F> {
        let features = self.inputs * self.size;
        let mut out = vec![F::default(); self.len()];
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
pub(crate) struct StepInput<'a, F> {
    pub(crate) examples: &'a Examples<F>,
    pub(crate) batch: &'a [u32],
    /// The divisor B.
    pub(crate) divisor: f64,
    pub(crate) clip: Option<f64>,
    pub(crate) step_size: F,
    pub(crate) noise: Option<Noise<'a, F>>,
    pub(crate) start: &'a [F],
}

/// What one step reports.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StepOutput {
    pub(crate) clipped: usize,
    /// `‖W − W_0‖²` after the update.
    pub(crate) distance_squared: f64,
}

/// A network with the room that a step needs, for one degree.
pub(crate) trait Core<F: Real>: Send {
    /// Outputs `f_W(x)` of a batch.
    fn outputs(&mut self, examples: &Examples<F>, batch: &[u32], weights: &[F]) -> &[F];
    /// `W −= step size·(clipped mean gradient + noise)`; the outputs before it are kept.
    fn step(&mut self, input: StepInput<'_, F>, weights: &mut [F]) -> StepOutput;
    /// The outputs of the last batch.
    fn last_outputs(&self) -> &[F];
}

/// `None` for a degree above 7.
pub(crate) fn core<F: Real>(
    network: &Network,
    examples: &Examples<F>,
    arch: Arch,
) -> Option<Box<dyn Core<F>>> {
    Some(match network.basis().degree() {
        1 => Box::new(Engine::<F, 2>::new(network, examples, arch)),
        2 => Box::new(Engine::<F, 3>::new(network, examples, arch)),
        3 => Box::new(Engine::<F, 4>::new(network, examples, arch)),
        4 => Box::new(Engine::<F, 5>::new(network, examples, arch)),
        5 => Box::new(Engine::<F, 6>::new(network, examples, arch)),
        6 => Box::new(Engine::<F, 7>::new(network, examples, arch)),
        7 => Box::new(Engine::<F, 8>::new(network, examples, arch)),
        _ => return None,
    })
}

struct Engine<F, const K1: usize> {
    arch: Arch,
    layout: Layout,
    pieces: Pieces<F, K1>,
    /// Features of all examples, `n x d`, if they fit.
    cache: Option<(Vec<u16>, Vec<[F; K1]>, Vec<F>)>,
    table: Vec<F>,
    slope: (F, F, F),
    /// `tanh(tanh_scale·a)·stretch + shift` is the activation.
    activation: Activation,
    // Per batch: inputs by examples.
    spans: Vec<u16>,
    values: Vec<[F; K1]>,
    /// Examples by units: pre-activations, then slopes.
    units: Vec<F>,
    outputs: Vec<F>,
    squares: Vec<F>,
    norms: Vec<F>,
    factors: Vec<F>,
    order: Vec<u32>,
    ends: Vec<u32>,
}

impl<F: Real, const K1: usize> Engine<F, K1> {
    fn new(network: &Network, examples: &Examples<F>, arch: Arch) -> Self {
        let layout = Layout::new(network);
        let pieces = Pieces::new(network.basis());
        let features = examples.len() * examples.inputs();
        let bytes = features * (size_of::<[F; K1]>() + size_of::<u16>());
        let cache = (bytes <= LARGEST_CACHE).then(|| {
            let mut spans = Vec::with_capacity(features);
            let mut values = Vec::with_capacity(features);
            let mut norms = Vec::with_capacity(examples.len());
            for example in 0..examples.len() {
                let mut square = 0.0;
                for x in examples.row(example) {
                    let (span, active) = pieces.at(*x);
                    square += active.iter().map(|v| v.to_f64() * v.to_f64()).sum::<f64>();
                    spans.push(span);
                    values.push(active);
                }
                norms.push(F::from_f64(square.sqrt()));
            }
            (spans, values, norms)
        });
        let number = F::from_f64;
        let slope = match network.activation() {
            Activation::Tanh => (number(1.0), number(0.0), number(-1.0)),
            Activation::Sigmoid => (number(0.0), number(1.0), number(-1.0)),
        };
        Self {
            arch,
            layout,
            pieces,
            cache,
            table: table::<F, K1>(network, &layout),
            slope,
            activation: network.activation(),
            spans: Vec::new(),
            values: Vec::new(),
            units: Vec::new(),
            outputs: Vec::new(),
            squares: Vec::new(),
            norms: Vec::new(),
            factors: Vec::new(),
            order: Vec::new(),
            ends: vec![0; layout.spans],
        }
    }

    /// How many inputs are held at a time: all, or a block that is computed again for the gradient.
    fn block(&self) -> usize {
        if self.cache.is_some() { self.layout.inputs } else { BLOCK.min(self.layout.inputs) }
    }

    fn resize(&mut self, examples: usize) {
        let held = self.block() * examples;
        self.spans.resize(held, 0);
        self.values.resize(held, [F::default(); K1]);
        self.units.resize(examples * self.layout.width, F::default());
        for buffer in [&mut self.outputs, &mut self.squares, &mut self.norms, &mut self.factors] {
            buffer.resize(examples, F::default());
        }
        self.order.resize(examples, 0);
    }

    /// Features of the inputs from `first` on, for the batch.
    fn load(&mut self, examples: &Examples<F>, batch: &[u32], first: usize, inputs: usize) {
        let count = batch.len();
        if let Some((spans, values, norms)) = &self.cache {
            for (e, example) in batch.iter().enumerate() {
                let row = *example as usize * self.layout.inputs;
                let range = row..row + inputs;
                for (i, (span, active)) in
                    spans[range.clone()].iter().zip(&values[range]).enumerate()
                {
                    self.spans[i * count + e] = *span;
                    self.values[i * count + e] = *active;
                }
                self.norms[e] = norms[*example as usize];
            }
            return;
        }
        for (e, example) in batch.iter().enumerate() {
            let row = &examples.row(*example as usize)[first..first + inputs];
            let mut square = F::default();
            for (i, x) in row.iter().enumerate() {
                let (span, active) = self.pieces.at(*x);
                for value in active {
                    square = square + value * value;
                }
                self.spans[i * count + e] = span;
                self.values[i * count + e] = active;
            }
            // Squares until all inputs have been seen.
            self.norms[e] = if first == 0 { square } else { self.norms[e] + square };
        }
    }

    fn forward(&mut self, examples: &Examples<F>, batch: &[u32], weights: &[F]) {
        let count = batch.len();
        self.resize(count);
        let (layout, block) = (self.layout, self.block());
        for first in (0..layout.inputs).step_by(block) {
            let inputs = block.min(layout.inputs - first);
            self.load(examples, batch, first, inputs);
            self.arch.dispatch(Forward {
                weights,
                width: layout.width,
                size: layout.size,
                first,
                inputs,
                examples: count,
                spans: &self.spans,
                values: &self.values,
                pre: &mut self.units,
                accumulate: first > 0,
            });
        }
        if self.cache.is_none() {
            for norm in &mut self.norms {
                *norm = F::from_f64(norm.to_f64().sqrt());
            }
        }
        #[allow(clippy::cast_precision_loss)]
        let scale = 1.0 / (layout.inputs as f64).sqrt();
        match self.activation {
            Activation::Tanh => {
                kernels::tanh_all(self.arch, &mut self.units, F::from_f64(scale));
            }
            Activation::Sigmoid => {
                kernels::tanh_all(self.arch, &mut self.units, F::from_f64(0.5 * scale));
                let half = F::from_f64(0.5);
                for value in &mut self.units {
                    *value = *value * half + half;
                }
            }
        }
        self.arch.dispatch(Unit::<F, K1> {
            table: &self.table,
            spans: layout.spans,
            width: layout.width,
            examples: count,
            slope: self.slope,
            values: &mut self.units,
            outputs: &mut self.outputs,
            squares: &mut self.squares,
        });
        #[allow(clippy::cast_precision_loss)]
        let scale = F::from_f64(1.0 / (layout.units as f64).sqrt());
        for output in &mut self.outputs {
            *output = *output * scale;
        }
    }

    /// The factors of the slopes in the mean of clipped gradients; returns how many were clipped.
    fn clip(&mut self, input: &StepInput<'_, F>) -> usize {
        #[allow(clippy::cast_precision_loss)]
        let scale = 1.0 / (self.layout.units as f64 * self.layout.inputs as f64).sqrt();
        let mut clipped = 0;
        for (e, example) in input.batch.iter().enumerate() {
            let label = input.examples.labels()[*example as usize].to_f64();
            let slope = 1.0 / (1.0 + (label * self.outputs[e].to_f64()).exp());
            let size = slope * scale;
            let norm = size * self.squares[e].to_f64().sqrt() * self.norms[e].to_f64();
            let mut factor = -label * size / input.divisor;
            if let Some(clip) = input.clip {
                if norm > clip {
                    factor *= clip / norm;
                    clipped += 1;
                }
            }
            self.factors[e] = F::from_f64(factor);
        }
        clipped
    }
}

impl<F: Real, const K1: usize> Core<F> for Engine<F, K1> {
    fn outputs(&mut self, examples: &Examples<F>, batch: &[u32], weights: &[F]) -> &[F] {
        self.forward(examples, batch, weights);
        &self.outputs
    }

    fn step(&mut self, input: StepInput<'_, F>, weights: &mut [F]) -> StepOutput {
        let count = input.batch.len();
        self.forward(input.examples, input.batch, weights);
        let clipped = self.clip(&input);
        let (layout, block) = (self.layout, self.block());
        kernels::scale_rows(self.arch, &mut self.units, layout.width, &self.factors);
        let mut distance_squared = 0.0;
        for first in (0..layout.inputs).step_by(block) {
            let inputs = block.min(layout.inputs - first);
            if block < layout.inputs {
                self.load(input.examples, input.batch, first, inputs);
            }
            let noise = input.noise.as_ref().map(|noise| Noise { ..*noise });
            distance_squared += self.arch.dispatch(Backward {
                weights: &mut *weights,
                start: input.start,
                noise,
                width: layout.width,
                size: layout.size,
                first,
                inputs,
                examples: count,
                spans: &self.spans,
                values: &self.values,
                g: &self.units,
                step: input.step_size,
                order: &mut self.order,
                ends: &mut self.ends,
            });
        }
        StepOutput { clipped, distance_squared }
    }

    fn last_outputs(&self) -> &[F] {
        &self.outputs
    }
}

/// `table[span][power][unit]` of the second layer.
fn table<F: Real, const K1: usize>(network: &Network, layout: &Layout) -> Vec<F> {
    let basis = network.basis();
    let mut table = vec![F::default(); layout.spans * K1 * layout.width];
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
