//! Bounds for the pair of a run with correlated noise.

pub mod ladder;
pub mod monte_carlo;
pub mod transfer;
