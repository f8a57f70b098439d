//! Order-form quantities of arXiv 2605.12648: **rates, constants suppressed**, never bounds.
//!
//! `γ` is the NTK margin, `η` the step size, `T` the number of steps, `B` the batch, `m` the width,
//! `d` the input dimension, `κ` the noise on the sum of clipped gradients in clipping norms, `λ` the
//! noise correlation. A check of a rate compares orders with constant 1: it can fail although the
//! true hypothesis holds, so it never removes the value. See docs/theory/rates.md.

mod corollaries;
mod correlated;
mod independent;
mod noiseless;
mod slopes;
mod windows;

pub use corollaries::{
    Scenario, corollary_5_3, corollary_5_5, corollary_5_6, full_batch_dp_gd, full_batch_gd,
    wang_dp_gd, wang_gd,
};
pub use correlated::a_corr;
pub use independent::a_van;
pub use noiseless::a_non;
pub use slopes::{SLOPES, Slope};
pub use windows::{population_width, step_size_condition, width_window};

use crate::domain;
use crate::error::Result;
use crate::warrant::{Quantity, Source};

pub(crate) const RISK_RATE: Quantity = Quantity { name: "risk_rate", unit: "order of magnitude" };

pub(crate) const fn paper(statement: &'static str) -> Source {
    Source::new("arXiv 2605.12648", statement)
}

/// A training run as the order-form quantities see it.
///
/// ```
/// use dpbounds_bounds::kan::rates::{Run, a_corr};
/// let run = Run {
///     gamma: 0.5, step_size: 0.1, steps: 1000, batch: 100, width: 1000, dimension: 10,
///     kappa: 2.0, lambda: 0.5, n: 10_000, delta: 1e-5,
/// };
/// let rate = a_corr(&run)?;
/// let total: f64 = rate.terms.iter().map(|term| term.value).sum();
/// assert!((total / rate.value.unwrap() - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// NTK margin γ, `> 0`.
    pub gamma: f64,
    /// Step size η, `> 0`.
    pub step_size: f64,
    /// Number of steps T.
    pub steps: u64,
    /// Batch size B.
    pub batch: u64,
    /// Width m.
    pub width: u64,
    /// Input dimension d.
    pub dimension: u64,
    /// Noise κ on the sum of clipped gradients, `>= 0`.
    pub kappa: f64,
    /// Noise correlation λ in [0, 1].
    pub lambda: f64,
    /// Number of records.
    pub n: u64,
    /// Failure probability of the statement, in (0, 1).
    pub delta: f64,
}

/// The same run with every argument checked and in floating point.
#[derive(Clone, Copy)]
struct Checked {
    gamma: f64,
    eta: f64,
    steps: f64,
    batch: f64,
    width: f64,
    dimension: f64,
    kappa: f64,
    lambda: f64,
    n: f64,
    delta: f64,
}

impl Checked {
    fn new(run: &Run) -> Result<Self> {
        domain::batch_of("batch", run.batch, "n", run.n)?;
        Ok(Self {
            gamma: domain::positive("gamma", run.gamma)?,
            eta: domain::positive("eta", run.step_size)?,
            steps: domain::count("steps", run.steps)?,
            batch: domain::count("batch", run.batch)?,
            width: domain::count("width", run.width)?,
            dimension: domain::count("dimension", run.dimension)?,
            kappa: domain::non_negative("kappa", run.kappa)?,
            lambda: domain::probability("lambda", run.lambda)?,
            n: domain::count("n", run.n)?,
            delta: domain::open_probability("delta", run.delta)?,
        })
    }

    /// `(1−λ)² + λ²η`.
    fn noise_factor(self) -> f64 {
        (1.0 - self.lambda).powi(2) + self.lambda * self.lambda * self.eta
    }
}

#[cfg(test)]
pub(crate) fn example() -> Run {
    Run {
        gamma: 0.3,
        step_size: 0.2,
        steps: 500,
        batch: 64,
        width: 2000,
        dimension: 7,
        kappa: 1.5,
        lambda: 0.6,
        n: 4000,
        delta: 1e-5,
    }
}
