//! Which statement covers a sampler, a relation and a noise correlation; everything else is refused.

use super::{Plan, Relation, Sampler};
use crate::error::{BoundError, Result};

/// The statement that covers a run. `s` is the sensitivity of the sum to one record in clipping norms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Route {
    /// Exactly Gaussian, `μ = s·max‖Cy‖/κ` over participations in at most `participations` steps.
    Gaussian {
        /// `s`.
        sensitivity: f64,
        /// Most steps one record takes part in.
        participations: u64,
    },
    /// The pair of [`super::Pair`] at `σ = κ/s`: tight.
    Pair {
        /// `s`.
        sensitivity: f64,
    },
    /// λ = 0: a one-step profile, composed.
    Profile(Profile),
    /// λ > 0: the smaller of the weak triangle through the run without the record, with the pairs at
    /// sensitivities `to_middle` and `from_middle`, and the Gaussian mixture at `direct`.
    Triangle {
        /// Sensitivity of the first run against the run without the record.
        to_middle: f64,
        /// Sensitivity of the second run against the run without the record.
        from_middle: f64,
        /// Sensitivity of the two runs against each other, without amplification.
        direct: f64,
    },
}

/// The one-step profiles of advanced joint convexity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Poisson batches, replace-one.
    PoissonReplaceOne,
    /// Fixed-size batches, zero-out.
    FixedZeroOut,
    /// Fixed-size batches, replace-one.
    FixedReplaceOne,
}

/// The statement that covers a run.
///
/// | sampler | relation | λ = 0 | λ > 0 |
/// |---|---|---|---|
/// | Poisson | add/remove, zero-out | pair, s = 1 | pair, s = 1 |
/// | Poisson | replace-one | profile | triangle (1, 1), direct 2 |
/// | fixed, B < n | add/remove | pair, s = 2 | pair, s = 2 |
/// | fixed, B < n | zero-out | profile | triangle (2, 1), direct 1 |
/// | fixed, B < n | replace-one | profile | triangle (2, 2), direct 2 |
/// | full | add/remove, zero-out / replace-one | Gaussian, s = 1 / 2 | same |
/// | stream | zero-out / replace-one | Gaussian, s = 1 / 2, one participation | same |
///
/// The pair at `s = 1` is **false** for fixed-size batches under zero-out or replace-one.
///
/// # Source
/// docs/theory/accounting.md, section 1.
///
/// # Errors
/// [`BoundError::Unproven`] for a stream under add/remove and for fixed batches of all records under
/// add/remove; other variants for a plan out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Plan, Relation, Route, Sampler, route};
/// let plan = Plan { n: 1000, batch: 10, steps: 5, lambda: 0.5,
///     sampler: Sampler::Fixed, relation: Relation::AddRemove };
/// assert_eq!(route(&plan)?, Route::Pair { sensitivity: 2.0 });
/// assert!(route(&Plan { sampler: Sampler::Stream, ..plan }).is_err());
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn route(plan: &Plan) -> Result<Route> {
    plan.check()?;
    let every_step = plan.batch == plan.n;
    let independent = plan.lambda == 0.0;
    let gaussian = |participations| {
        let sensitivity = if plan.relation == Relation::ReplaceOne { 2.0 } else { 1.0 };
        Ok(Route::Gaussian { sensitivity, participations })
    };
    match (plan.sampler, plan.relation) {
        (Sampler::Stream, Relation::AddRemove) => Err(BoundError::Unproven {
            request: "sampler stream under add-remove".into(),
            why: "adding a record shifts every later batch",
            nearest: "sampler stream under zero-out or replace-one",
        }),
        (Sampler::Stream, _) => gaussian(plan.steps.min(1)),
        (Sampler::Full, _) => gaussian(plan.steps),
        (Sampler::Fixed, Relation::AddRemove) if every_step => Err(BoundError::Unproven {
            request: "sampler fixed with batch = n under add-remove".into(),
            why: "removing a record leaves fewer records than the batch needs",
            nearest: "sampler full",
        }),
        (Sampler::Poisson | Sampler::Fixed, _) if every_step => gaussian(plan.steps),
        (Sampler::Poisson, Relation::AddRemove | Relation::ZeroOut) => {
            Ok(Route::Pair { sensitivity: 1.0 })
        }
        // A record that joins a fixed-size batch displaces another one.
        (Sampler::Fixed, Relation::AddRemove) => Ok(Route::Pair { sensitivity: 2.0 }),
        (Sampler::Poisson, Relation::ReplaceOne) if independent => {
            Ok(Route::Profile(Profile::PoissonReplaceOne))
        }
        (Sampler::Fixed, Relation::ZeroOut) if independent => {
            Ok(Route::Profile(Profile::FixedZeroOut))
        }
        (Sampler::Fixed, Relation::ReplaceOne) if independent => {
            Ok(Route::Profile(Profile::FixedReplaceOne))
        }
        (Sampler::Poisson, Relation::ReplaceOne) => {
            Ok(Route::Triangle { to_middle: 1.0, from_middle: 1.0, direct: 2.0 })
        }
        (Sampler::Fixed, Relation::ZeroOut) => {
            Ok(Route::Triangle { to_middle: 2.0, from_middle: 1.0, direct: 1.0 })
        }
        (Sampler::Fixed, Relation::ReplaceOne) => {
            Ok(Route::Triangle { to_middle: 2.0, from_middle: 2.0, direct: 2.0 })
        }
    }
}

impl Route {
    /// Sensitivity `s` of the bounds without amplification by sampling.
    pub(super) fn direct_sensitivity(self) -> f64 {
        match self {
            Self::Gaussian { sensitivity, .. } | Self::Pair { sensitivity } => sensitivity,
            Self::Profile(Profile::FixedZeroOut) => 1.0,
            Self::Profile(_) => 2.0,
            Self::Triangle { direct, .. } => direct,
        }
    }
}
