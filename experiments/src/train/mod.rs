//! Training of two-layer KANs by Algorithm 1 of arXiv 2605.12648: DP-SGD with noise that is correlated
//! over time.

mod dp_sgd;
mod error;
mod noise;
mod sampler;
mod settings;
mod workload;

pub(crate) use dp_sgd::instruction_set;
pub use dp_sgd::{StepReport, Trainer};
pub use dpbounds_bounds::privacy::Sampler;
pub use error::TrainError;
pub(crate) use noise::{NoiseSource, noise_key};
pub(crate) use sampler::Batches;
pub use settings::Settings;
pub use workload::{Task, Workload};
