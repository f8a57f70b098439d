//! The training engine's network: spline features, vector kernels, one training step.

mod aligned;
mod examples;
mod features;
pub(crate) mod kernels;
mod real;
mod step;

pub(crate) use aligned::Aligned;
pub use examples::Examples;
pub use real::Real;
pub(crate) use real::Vectors;
pub(crate) use step::{Core, Disturbance, Layout, StepInput};
