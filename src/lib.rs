//! **dpbounds** tells what privacy and what risk a differentially private training run can promise,
//! with a warrant for every number.
//!
//! This crate is the command line and a façade over the members:
//! [`bounds`] holds the calculators, [`experiments`] the data sets and the published tables, [`figures`] the pictures.
//!
//! ```
//! use dpbounds::bounds::max_information::{FailureLevel, gaussian};
//! let best = gaussian::best(60_000, 50.0, FailureLevel::from_beta(0.025)?)?;
//! println!("{:.2} nats, {}", best.value.unwrap(), best.warrant.label());
//! # Ok::<(), dpbounds::bounds::BoundError>(())
//! ```

pub mod cli;
pub mod output;

pub use dpbounds_bounds as bounds;
pub use dpbounds_experiments as experiments;
pub use dpbounds_figures as figures;
