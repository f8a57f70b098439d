//! The training engine's network: spline features, vector kernels, one training step.

mod features;
pub(crate) mod kernels;
mod real;
mod step;

pub use features::Examples;
pub use real::Real;
pub(crate) use step::{Core, Layout, StepInput, core};
