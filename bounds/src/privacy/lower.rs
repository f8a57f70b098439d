//! Lower bounds on δ of a run, from explicit neighbouring data sets.

use super::correlated::ladder::{fixed_zero_out, linear_test};
use super::{Order, Pair, Plan, Relation, Route, Sampler};
use crate::error::Result;
use crate::special::{log_normal_cdf, normal_cdf};

/// Neighbouring data sets that realise a lower bound; all gradients lie along one unit vector `u`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Witness {
    /// All other records `−u`, the record `+u` (removed, or replaced by `−u`).
    OppositeRecord,
    /// All other records `−u`, the record `+u` against 0.
    OppositeRecordZeroed,
    /// All other records 0, the record `u`.
    LoneRecord,
    /// All other records 0, the record `+u` replaced by `−u`.
    LoneRecordReplaced,
}

impl Witness {
    /// The data sets in words.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::OppositeRecord => {
                "all other gradients -u, the record +u (removed or replaced by -u)"
            }
            Self::OppositeRecordZeroed => "all other gradients -u, the record +u against 0",
            Self::LoneRecord => "all other gradients 0, the record u",
            Self::LoneRecordReplaced => "all other gradients 0, the record +u replaced by -u",
        }
    }
}

/// The witness of a route.
pub(super) fn witness(plan: &Plan, route: Route) -> Witness {
    match (plan.sampler, plan.relation, route) {
        (Sampler::Fixed, Relation::ZeroOut, Route::Profile(_) | Route::Triangle { .. }) => {
            Witness::OppositeRecordZeroed
        }
        (Sampler::Fixed, Relation::AddRemove | Relation::ReplaceOne, _)
        | (_, Relation::ReplaceOne, Route::Gaussian { .. }) => Witness::OppositeRecord,
        // Joining a Poisson batch displaces nobody: −u lies one unit below the batch without the record.
        (_, Relation::ReplaceOne, _) => Witness::LoneRecordReplaced,
        _ => Witness::LoneRecord,
    }
}

/// A lower bound on δ at `epsilon >= 0` by the linear statistic; valid for every λ.
pub(super) fn delta(plan: &Plan, route: Route, kappa: f64, epsilon: f64) -> Result<f64> {
    let pair = |s: f64| Pair::new(plan.rate()?, kappa / s, plan.lambda, plan.steps);
    let value = match witness(plan, route) {
        Witness::OppositeRecordZeroed => {
            let pair = pair(1.0)?;
            let both = Order::ALL.map(|order| fixed_zero_out::delta(&pair, epsilon, order));
            both[0].max(both[1])
        }
        kind => {
            let fixed = plan.sampler == Sampler::Fixed;
            let s = if kind == Witness::OppositeRecord && fixed { 2.0 } else { 1.0 };
            let pair = pair(s)?;
            let both = Order::ALL.map(|order| linear_test::delta(&pair, epsilon, order));
            both[0].max(both[1])
        }
    };
    Ok(value)
}

/// `ε >= log((P(E) − δ)/Q(E))` and `δ >= P(E) − e^ε Q(E)` for the event that some step exceeds a
/// threshold: strong where the noise is tiny. `None` without noise, and for correlated noise where both runs
/// move.
pub(super) struct LargestStep {
    rate: f64,
    steps: f64,
    kappa: f64,
    /// Mean of the step in which the record takes part, in the first run.
    shift: f64,
    /// The same in the second run; not positive means no larger than a step without the record.
    shift_without: f64,
}

impl LargestStep {
    pub(super) fn new(plan: &Plan, route: Route, kappa: f64) -> Result<Option<Self>> {
        let (shift, shift_without) = match witness(plan, route) {
            Witness::OppositeRecordZeroed => (2.0, 1.0),
            Witness::OppositeRecord => (2.0, 0.0),
            Witness::LoneRecord => (1.0, 0.0),
            Witness::LoneRecordReplaced => (1.0, -1.0),
        };
        // With correlation a record only raises the whitened steps further, which must not help the second run.
        if kappa <= 0.0 || (plan.lambda > 0.0 && shift_without > 0.0) {
            return Ok(None);
        }
        #[allow(clippy::cast_precision_loss)] // checked by the plan
        let steps = plan.steps as f64;
        Ok(Some(Self { rate: plan.rate()?, steps, kappa, shift, shift_without }))
    }

    /// `P(E)` rounded down and `log Q(E)` rounded up at one threshold.
    fn event(&self, threshold: f64) -> (f64, f64) {
        let hit = self.rate * normal_cdf((self.shift - threshold) / self.kappa)
            + (1.0 - self.rate) * normal_cdf(-threshold / self.kappa);
        let present = -(self.steps * (-hit.min(1.0 - 1e-16)).ln_1p()).exp_m1() * (1.0 - 1e-10);
        let mut one = log_normal_cdf(-threshold / self.kappa);
        if self.shift_without > 0.0 {
            let drawn =
                self.rate.ln() + log_normal_cdf((self.shift_without - threshold) / self.kappa);
            let top = one.max(drawn);
            one = top + ((one - top).exp() + (drawn - top).exp()).ln();
        }
        let absent = (self.steps.ln() + one + 1e-10).min(0.0);
        (present, absent)
    }

    fn thresholds(&self) -> impl Iterator<Item = f64> {
        let top = 1.2 * self.shift + 12.0 * self.kappa;
        (1..=1500).map(move |k| top * f64::from(k) / 1500.0)
    }

    pub(super) fn epsilon(&self, delta: f64) -> f64 {
        let value = |threshold| {
            let (present, log_absent) = self.event(threshold);
            if present > delta { (present - delta).ln() - log_absent - 1e-9 } else { 0.0 }
        };
        // A finite number, also where the true one is beyond the doubles.
        self.thresholds().map(value).fold(0.0, f64::max).min(f64::MAX)
    }

    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let value = |threshold| {
            let (present, log_absent) = self.event(threshold);
            present - (epsilon + log_absent + 1e-9).exp()
        };
        self.thresholds().map(value).fold(0.0, f64::max)
    }
}
