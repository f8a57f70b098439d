//! The engine as the private prior and the posterior use it: passes over batches of any size.

use dpbounds_bounds::kan::Network;
use pulp::Arch;

use crate::kan::{Aligned, Core, Disturbance, Examples, Layout, Real, Vectors};
use crate::train::{NoiseSource, TrainError, instruction_set};

/// Examples that go through the network together.
pub(super) const TOGETHER: usize = 512;

/// A network with examples.
pub(super) struct Machine<'a> {
    examples: &'a Examples<f32>,
    layout: Layout,
    core: Box<dyn Core<f32>>,
    arch: Arch,
    factors: Vec<f32>,
    /// `(md)^(−1/2)`.
    scale: f64,
}

/// What the network says of an example.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// −1 or 1.
    pub(super) label: f64,
    /// `f_W(x)`.
    pub(super) output: f64,
    /// `‖∇_W f_W(x)‖`.
    pub(super) gradient_norm: f64,
}

/// Independent normal weights around the given ones, a new draw for every example.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    /// Standard deviation of a weight.
    pub(super) deviation: f64,
    pub(super) key: [u32; 8],
    /// The first stream; one is used for every [`TOGETHER`] examples.
    pub(super) stream: u64,
}

impl<'a> Machine<'a> {
    pub(super) fn new(network: &Network, examples: &'a Examples<f32>) -> Result<Self, TrainError> {
        let (layout, arch) = (Layout::new(network), Arch::new());
        if examples.inputs() != network.inputs() {
            return Err(TrainError::Shape {
                what: "an example",
                found: examples.inputs(),
                expected: network.inputs(),
            });
        }
        #[allow(clippy::cast_precision_loss)]
        let core = <f32 as Vectors>::core(network, arch).ok_or(TrainError::Value {
            what: "degree",
            value: network.basis().degree() as f64,
            allowed: "1 to 7 in training",
        })?;
        #[allow(clippy::cast_precision_loss)]
        let scale = 1.0 / (layout.units as f64 * layout.inputs as f64).sqrt();
        Ok(Self { examples, layout, core, arch, factors: Vec::new(), scale })
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) fn instruction_set(&self) -> String {
        instruction_set(self.arch)
    }

    pub(super) fn noise(&self, seed: u64) -> NoiseSource {
        NoiseSource::new(seed, self.layout)
    }

    pub(super) fn draw(&self, noise: &NoiseSource, t: u64, out: &mut [f32]) {
        noise.draw(t, &*self.core, out);
    }

    /// `target −= Σ_e slope(e)·∇f_W(x_e)` over the batch, at weights drawn around `weights` if there is a spread.
    pub(super) fn descend(
        &mut self,
        weights: &[f32],
        batch: &[u32],
        spread: Option<Spread>,
        slope: &mut dyn FnMut(Point) -> f64,
        target: &mut [f32],
    ) {
        let labels = self.examples.labels();
        for (chunk, batch) in (0..).zip(batch.chunks(TOGETHER)) {
            let mut outputs = Vec::new();
            match spread {
                None => outputs.extend_from_slice(self.core.outputs(self.examples, batch, weights)),
                Some(Spread { deviation, key, stream }) => {
                    let streams = stream + chunk..stream + chunk + 1;
                    let disturbance =
                        Disturbance { spread: f32::from_f64(deviation), key, streams };
                    let see = &mut |seen: &[f32]| outputs.extend_from_slice(seen);
                    self.core.disturbed(self.examples, batch, weights, disturbance, see);
                }
            }
            let (units, features) = self.core.gradient_squares();
            self.factors.clear();
            for (((record, output), units), features) in
                batch.iter().zip(&outputs).zip(units).zip(features)
            {
                let point = Point {
                    label: f64::from(labels[*record as usize]),
                    output: f64::from(*output),
                    gradient_norm: (f64::from(*units) * f64::from(*features)).sqrt() * self.scale,
                };
                self.factors.push(f32::from_f64(slope(point) * self.scale));
            }
            self.core.pull(self.examples, batch, &self.factors, weights, target);
        }
    }

    /// Examples that the network puts on the wrong side, or on neither.
    pub(super) fn errors(&mut self, weights: &[f32]) -> u64 {
        let (all, labels) = (self.all(), self.examples.labels());
        let mut wrong = 0;
        for batch in all.chunks(TOGETHER) {
            let outputs = self.core.outputs(self.examples, batch, weights);
            wrong += count_wrong(outputs, &labels[batch[0] as usize..]);
        }
        wrong
    }

    /// The same for `draws` independent networks of the given spread for every example.
    pub(super) fn gibbs_errors(&mut self, weights: &[f32], spread: Spread, draws: u32) -> u64 {
        let (all, labels) = (self.all(), self.examples.labels());
        let draws = u64::from(draws);
        let mut wrong = 0;
        for (chunk, batch) in (0..).zip(all.chunks(TOGETHER)) {
            let first = spread.stream + chunk * draws;
            let disturbance = Disturbance {
                spread: f32::from_f64(spread.deviation),
                key: spread.key,
                streams: first..first + draws,
            };
            let labels = &labels[batch[0] as usize..];
            let see = &mut |outputs: &[f32]| wrong += count_wrong(outputs, labels);
            self.core.disturbed(self.examples, batch, weights, disturbance, see);
        }
        wrong
    }

    #[allow(clippy::cast_possible_truncation)] // records below 2^32
    fn all(&self) -> Vec<u32> {
        (0..self.examples.len() as u32).collect()
    }
}

/// An output that is no number is wrong too.
fn count_wrong(outputs: &[f32], labels: &[f32]) -> u64 {
    outputs.iter().zip(labels).filter(|(output, label)| !(**output * **label > 0.0)).count() as u64
}

/// `Σ (a − b)²` in double precision, without regard to the order of summation.
pub(super) fn squared_distance(a: &Aligned<f32>, b: &Aligned<f32>) -> f64 {
    a.iter().zip(b.iter()).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
}
