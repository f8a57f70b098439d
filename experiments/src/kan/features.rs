//! Spline features of a batch: for every input a span and the `degree + 1` active values.

use dpbounds_bounds::kan::SplineBasis;
use pulp::Arch;

use super::kernels::{self, Order, Run, Splines};
use super::step::PADDING;
use super::{Aligned, Examples, Real};

/// Polynomials closer than this are the same up to rounding.
const SAME: f64 = 1e-12;

/// Inputs of a batch are kept between loops over it if they take at most this many bytes.
const LARGEST_KEPT: usize = 1 << 23;

/// The features of some inputs for the examples of a batch, in rows of examples.
pub(super) struct Features<F, const K1: usize> {
    runs: Vec<Run<F, K1>>,
    total_spans: u16,
    /// Examples in a row, the last of which are idle.
    pub(super) stride: usize,
    spans: Vec<u16>,
    order: Vec<u32>,
    bounds: Vec<(u32, u32)>,
    room: usize,
    /// Inputs by examples by functions.
    pub(super) values: Aligned<F>,
    /// `‖h(x)‖²` over the inputs so far.
    pub(super) squares: Aligned<F>,
    x: Aligned<F>,
    scaled: Aligned<F>,
    position: Aligned<F>,
}

impl<F: Real, const K1: usize> Features<F, K1> {
    pub(super) fn new(basis: &SplineBasis) -> Self {
        Self {
            runs: runs(basis),
            #[allow(clippy::cast_possible_truncation)] // at most 4095
            total_spans: basis.spans() as u16,
            stride: 0,
            spans: Vec::new(),
            order: Vec::new(),
            bounds: Vec::new(),
            room: 0,
            values: Aligned::zeros(0),
            squares: Aligned::zeros(0),
            x: Aligned::zeros(0),
            scaled: Aligned::zeros(0),
            position: Aligned::zeros(0),
        }
    }

    /// The examples by the spans of the inputs that are loaded.
    pub(super) fn order(&self) -> Order<'_> {
        let spans = usize::from(self.total_spans);
        Order { examples: &self.order, bounds: &self.bounds, room: self.room, spans }
    }

    /// Features of the inputs from `first` on; inputs are loaded from the first to the last, and `again` if
    /// the last loop was over the same batch.
    pub(super) fn load(
        &mut self,
        arch: Arch,
        examples: &Examples<F>,
        batch: &[u32],
        (first, inputs): (usize, usize),
        again: bool,
    ) {
        let stride = batch.len().next_multiple_of(PADDING);
        self.stride = stride;
        let spans = usize::from(self.total_spans);
        self.room = kernels::room(batch.len(), spans);
        self.spans.resize(stride, 0);
        self.order.resize(inputs * self.room, 0);
        self.bounds.resize(inputs * spans, (0, 0));
        self.values.resize(inputs * K1 * stride);
        for row in [&mut self.squares, &mut self.scaled, &mut self.position] {
            row.resize(stride);
        }
        if first == 0 {
            self.squares.fill(F::default());
        }
        let all = examples.inputs() * stride;
        let keep = all * size_of::<F>() <= LARGEST_KEPT;
        let (room, at) = if keep { (all, first * stride) } else { (inputs * stride, 0) };
        self.x.resize(room);
        let x = &mut self.x[at..at + inputs * stride];
        if !(keep && again) {
            // Examples inside: many rows are on their way from memory at a time.
            for (i, row) in x.chunks_exact_mut(stride.max(1)).enumerate() {
                for (x, example) in row.iter_mut().zip(batch) {
                    *x = examples.row(*example as usize)[first + i];
                }
            }
        }
        arch.dispatch(Splines {
            runs: &self.runs,
            total_spans: self.total_spans,
            stride,
            x,
            examples: batch.len(),
            spans: &mut self.spans,
            order: &mut self.order,
            bounds: &mut self.bounds,
            values: &mut self.values,
            squares: &mut self.squares,
            scaled: &mut self.scaled,
            position: &mut self.position,
        });
    }
}

/// Spans in order, those with the same polynomials together.
fn runs<F: Real, const K1: usize>(basis: &SplineBasis) -> Vec<Run<F, K1>> {
    let mut runs = Vec::new();
    let mut before: Option<[[f64; K1]; K1]> = None;
    for span in 0..basis.spans() {
        let mut functions = [[0.0; K1]; K1];
        for (k, function) in functions.iter_mut().enumerate() {
            function.copy_from_slice(basis.piece(span, k));
        }
        let difference = |other: &[[f64; K1]; K1]| {
            let pairs = functions.as_flattened().iter().zip(other.as_flattened());
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        if before.as_ref().is_none_or(|before| difference(before) > SAME) {
            #[allow(clippy::cast_precision_loss)] // few spans
            let first = F::from_f64(span as f64);
            runs.push(Run { first, functions: functions.map(|f| f.map(F::from_f64)) });
            before = Some(functions);
        }
    }
    runs
}
