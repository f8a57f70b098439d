//! Kolmogorov–Arnold networks trained by DP-SGD: the model, and what the theory of arXiv 2605.12648 predicts.

mod basis;
mod polynomial;
pub mod rates;

pub use basis::{Knots, SplineBasis};
