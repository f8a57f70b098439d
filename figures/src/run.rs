//! The run whose noise is plotted against its correlation λ, and what is known about that noise.

use dpbounds_bounds::privacy::correlated::ladder::linear_test::largest_refuted_noise;
use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, forward_pilot, samples_needed};
use dpbounds_bounds::privacy::{Effort, Method, Pair, Plan, Relation, Sampler, Target, calibrate};
use dpbounds_bounds::solve::{Start, decreasing_crossing};
use dpbounds_bounds::{Bound, BoundError};

use crate::error::Result;
use crate::table::number;

pub(crate) const DELTA: f64 = 1e-5;

/// Samples of an estimate, and its relative accuracy in κ.
const SAMPLES: u64 = 4000;
const TOLERANCE: f64 = 1e-3;
/// An estimate is left out if its largest weight, over δ, is above this share of the samples: then
/// the weights that matter may never have been drawn. A certificate takes 500 weights.
const TRUSTED: u64 = SAMPLES / 10 * 500;

/// Poisson batches, add/remove, n = 10⁴, B = 100.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    quick: bool,
    plan: Plan,
}

impl Run {
    /// `quick`: a hundredth of the steps, which is what the time goes with.
    pub(crate) const fn new(quick: bool) -> Self {
        let plan = Plan {
            n: 10_000,
            batch: 100,
            steps: if quick { 10 } else { 1000 },
            lambda: 0.0,
            sampler: Sampler::Poisson,
            relation: Relation::AddRemove,
        };
        Self { quick, plan }
    }

    /// In words, for a subtitle.
    pub(crate) fn words(&self) -> String {
        format!("Poisson batches, add/remove; n = 10⁴, B = 100, T = {}, δ = 10⁻⁵", self.plan.steps)
    }

    /// Where the expensive values are evaluated.
    pub(crate) const fn lambdas(&self) -> &'static [f64] {
        if self.quick { &[0.0, 0.5] } else { &[0.0, 0.2, 0.4, 0.6, 0.8] }
    }

    /// Where the cheap curves are evaluated: up to the last of [`Self::lambdas`].
    pub(crate) fn dense(&self) -> impl Iterator<Item = f64> {
        let last = self.lambdas().last().copied().unwrap_or(0.0);
        let steps = if self.quick { 10 } else { 90 };
        (0..=steps).map(move |step| last * f64::from(step) / f64::from(steps))
    }

    /// Sufficient noise: the best proven value, and every rung that applies beside it.
    pub(crate) fn sufficient(&self, lambda: f64, epsilon: f64, method: Method) -> Result<Bound> {
        // With no budget only coarse grids are used, one to two percent above the fine ones and
        // several times as fast; nothing depends on the speed of the machine.
        let effort = Effort { method, ..Effort::without_clock() };
        let plan = Plan { lambda, ..self.plan };
        Ok(calibrate(&plan, Target { epsilon, delta: DELTA }, &effort)?)
    }

    /// `k_lin`: noise that is proven not to suffice.
    pub(crate) fn insufficient(&self, lambda: f64, epsilon: f64) -> Result<Option<f64>> {
        let Plan { steps, .. } = self.plan;
        Ok(largest_refuted_noise(self.plan.rate()?, lambda, steps, epsilon, DELTA)?)
    }

    /// Noise at which importance sampling finds δ in the forward order, which decides: an estimate.
    /// None where sampling does not work or is not to be trusted.
    pub(crate) fn estimate(&self, lambda: f64, epsilon: f64, above: f64) -> Result<Option<f64>> {
        let settings = Settings::new(SAMPLES, 0.5, 0);
        let rate = self.plan.rate()?;
        let pair = |kappa| Pair::new(rate, kappa, lambda, self.plan.steps);
        let pilot = |kappa| Ok(forward_pilot(&pair(kappa)?, epsilon, &settings, &|_| true)?.value);
        let found = decreasing_crossing(pilot, DELTA, Start::at(above), 2.0 * above, TOLERANCE);
        let sampled = found.and_then(|root| {
            let Some(root) = root else { return Ok(None) };
            let needed = samples_needed(&pair(root.argument)?, epsilon, DELTA, &settings)?;
            Ok((needed <= TRUSTED).then_some(root.argument))
        });
        match sampled {
            Err(BoundError::Unproven { .. }) => Ok(None),
            other => Ok(other?),
        }
    }

    /// The columns that say which run it is.
    pub(crate) fn columns(&self, epsilon: f64, lambda: f64) -> Result<Vec<String>> {
        let Plan { n, batch, steps, .. } = self.plan;
        let counts = [n, batch, steps].map(|count| count.to_string());
        let numbers = [number(epsilon)?, number(DELTA)?, number(lambda)?];
        Ok(counts.into_iter().chain(numbers).collect())
    }
}
