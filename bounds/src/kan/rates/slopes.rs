//! Predicted log-log slopes: what an experiment should measure.

use super::paper;
use crate::error::Result;
use crate::warrant::{Bound, Quantity};

/// One predicted slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// What is measured.
    pub measured: &'static str,
    /// Against which parameter, on logarithmic axes.
    pub against: &'static str,
    /// The predicted slope.
    pub predicted: f64,
    /// Under which conditions.
    pub condition: &'static str,
}

impl Slope {
    /// The slope as a rate.
    ///
    /// # Errors
    /// Never for the entries of [`SLOPES`].
    pub fn as_rate(&self) -> Result<Bound> {
        const SLOPE: Quantity = Quantity { name: "log_log_slope", unit: "1" };
        let mut rate = Bound::rate(SLOPE, self.predicted, paper(""))?;
        rate.source.statement =
            format!("{} against {}, {}", self.measured, self.against, self.condition).into();
        Ok(rate)
    }
}

const fn slope(
    measured: &'static str,
    against: &'static str,
    predicted: f64,
    condition: &'static str,
) -> Slope {
    Slope { measured, against, predicted, condition }
}

/// Every slope the order-form quantities predict.
pub const SLOPES: [Slope; 12] = [
    slope("averaged risk", "T", -1.0, "fixed eta, up to log^2 T"),
    slope("averaged risk", "B", 0.0, "where no mini-batch term dominates"),
    slope("averaged risk", "B", -0.5, "where 1/(gamma sqrt(BT)) dominates"),
    slope("averaged risk", "B", -1.0, "where eta/B dominates"),
    slope("averaged risk", "gamma", -2.0, "initialisation term"),
    slope("noise excess", "kappa", 2.0, "quadratic regime"),
    slope("noise excess", "1 - lambda", 2.0, "quadratic regime, lambda^2 eta negligible"),
    slope("generalisation gap", "n", -1.0, "full batch"),
    slope("DP risk", "epsilon", -2.0, "fixed T, quadratic noise term"),
    slope("DP risk", "epsilon", -1.0, "T optimised"),
    slope("DP risk", "d", 1.0, "fixed T"),
    slope("DP risk", "d", 0.5, "T optimised"),
];
