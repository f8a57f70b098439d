//! What is recorded along a run.

use serde::{Deserialize, Serialize};

/// Most points of one curve: a run stays one line of a readable length.
pub(super) const MOST_POINTS: u64 = 10_000;

/// The course of a run: at `t = 0, k, 2k, ..` and at the end `T − 1`. One entry of every list a point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The number t of updates made.
    pub steps: Vec<u64>,
    /// Empirical risk at `W_t` [nats].
    pub risk: Vec<f64>,
    /// Population risk at `W_t` [nats]; none without a population.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population_risk: Option<Vec<f64>>,
    /// `‖W_t − W_0‖`.
    pub distance: Vec<f64>,
}

impl Curve {
    /// Whether step t of a run with horizon T is on the curve of every k-th step; `every = 0`: there is
    /// no curve.
    pub(super) fn is_due(every: u64, t: u64, horizon: u64) -> bool {
        every > 0 && (t.is_multiple_of(every) || t + 1 == horizon)
    }

    pub(super) fn add(&mut self, t: u64, risk: f64, population: Option<f64>, distance: f64) {
        self.steps.push(t);
        self.risk.push(risk);
        if let Some(population) = population {
            self.population_risk.get_or_insert_default().push(population);
        }
        self.distance.push(distance);
    }

    pub(super) fn is_finite(&self) -> bool {
        let population = self.population_risk.iter().flatten();
        self.risk.iter().chain(population).chain(&self.distance).all(|number| number.is_finite())
    }
}

#[cfg(test)]
#[path = "curve_tests.rs"]
mod tests;
