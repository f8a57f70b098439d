//! Privacy-loss distributions of independent noise.
mod account;
mod calibrate;
mod chords;
mod compose;
mod composed;
mod convex;
mod degenerate;
mod grid;
mod loss;
mod mixture;
mod model;
mod profile;
mod quadrature;
mod run;
mod sketch;
mod spacing;
mod step;
mod witness;

pub use calibrate::calibrate;
pub use run::{delta, delta_in_order, epsilon, epsilon_in_order, upper_delta, upper_epsilon};
pub use step::OneStep;
