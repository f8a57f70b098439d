//! One certificate for one schedule and one comparator.

use super::certify::{Claim, Clipping, Failures, Noise, Projection, Question, Route};
use super::{
    Anchor, BatchCap, BudgetD, BudgetP, BudgetS, CertificateD, CertificateP, Extent, Landscape,
    Optimisation, PaperForm, PopulationP, PopulationS, TheoremS, TheoremSGd, Training,
    certificate_d, certificate_p, comparator_on_batches, in_expectation, in_high_probability,
    largest_output, population_p, population_s, short_above, theorem_s, theorem_s_gd,
};
use crate::error::{BoundError, Result};
use crate::privacy::Sampler;
use crate::warrant::Bound;

/// Digits of what is chosen.
const DIGITS: i32 = 9;

/// Everything but the schedule, the comparator and the failure probabilities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) question: &'a Question,
    /// Over the inputs in question.
    pub(super) landscape: Landscape,
    /// G over the public domain of the inputs.
    pub(super) public_gradient: f64,
    pub(super) extent: Extent,
    pub(super) records: u64,
    /// `max |f_{W_0}|` over the inputs in question.
    pub(super) initial_output: f64,
    /// Factor on the noise, 1 but in what-if questions.
    pub(super) noise_factor: f64,
}

/// τ and the losses of a comparator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Losses {
    pub(super) distance: f64,
    pub(super) mean: f64,
    pub(super) largest: f64,
}

/// η and T.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plan {
    pub(super) step_size: f64,
    pub(super) steps: u64,
}

/// What came out.
#[derive(Debug, Clone)]
pub(super) struct Evaluated {
    pub(super) bound: Bound,
    pub(super) optimisation: Optimisation,
    pub(super) training: Training,
}

impl Setting<'_> {
    /// The run, projected at `radius` if that is known already.
    pub(super) fn training(&self, plan: Plan, radius: Option<f64>) -> Result<Training> {
        let question = self.question;
        let clipping = match question.clipping {
            Clipping::None => None,
            Clipping::Public => Some(self.public_gradient),
            Clipping::At(norm) => Some(norm),
        };
        let batch = question.batch.unwrap_or(self.records);
        let noise = match (question.noise, clipping) {
            (Noise::None, _) => 0.0,
            (Noise::Coordinate(c), _) => c,
            (Noise::Multiplier(kappa), Some(norm)) => norm * kappa / super::training::count(batch),
            (Noise::Multiplier(_), None) => {
                return Err(BoundError::Input {
                    parameter: "clipping".into(),
                    problem: "missing; a noise multiplier is in units of the clipping norm".into(),
                });
            }
        };
        Ok(Training {
            step_size: plan.step_size,
            steps: plan.steps,
            batch,
            records: self.records,
            sampler: if question.batch.is_none() { Sampler::Full } else { question.sampler },
            lambda: question.lambda,
            noise: noise * self.noise_factor,
            clipping,
            radius,
        })
    }

    pub(super) fn cap(&self, plan: Plan, failures: &Failures) -> Result<BatchCap> {
        BatchCap::of(&self.training(plan, None)?, failures.batches)
    }

    /// The certificate of one route.
    pub(super) fn evaluate(
        &self,
        route: Route,
        plan: Plan,
        cap: BatchCap,
        losses: Losses,
        failures: &Failures,
    ) -> Result<Evaluated> {
        let given = match self.question.projection {
            Projection::At(radius) => Some(radius),
            // The projection of certificate D does act; the comparator has to stay inside.
            Projection::Needed if route == Route::D => {
                Some(short_above(losses.distance.max(f64::MIN_POSITIVE), DIGITS))
            }
            Projection::None | Projection::Needed => None,
        };
        let mut training = self.training(plan, given)?;
        let mut optimisation = self.optimisation(route, training, cap, losses, failures)?;
        if self.question.projection == Projection::Needed && route != Route::D {
            training.radius = Some(short_above(optimisation.radius, DIGITS));
            optimisation = self.optimisation(route, training, cap, losses, failures)?;
        }
        let bound = match self.question.claim {
            Claim::Probability if matches!(route, Route::P | Route::D) => {
                optimisation.bound.clone()
            }
            Claim::Probability => {
                let largest = losses.largest + self.landscape.gradient * optimisation.reach;
                in_high_probability(&optimisation, &training, largest, failures.transfer)?
            }
            Claim::Expectation => {
                let output = self.output(&training, &optimisation)?;
                in_expectation(&optimisation, &training, output)?
            }
            Claim::Population if matches!(route, Route::P | Route::D) => {
                population_p(&PopulationP {
                    optimisation: &optimisation,
                    landscape: self.landscape,
                    training,
                    output: largest_output(&self.landscape, &training, self.initial_output)?,
                    batch_failure: failures.transfer,
                })?
            }
            Claim::Population => population_s(&PopulationS {
                optimisation: &optimisation,
                bounded: route == Route::S,
                ratio: cap.ratio(),
                landscape: self.landscape,
                training,
                output: self.output(&training, &optimisation)?,
                count_failure: failures.counts,
            })?,
        };
        Ok(Evaluated { bound, optimisation, training })
    }

    /// F, if something can fail.
    fn output(&self, training: &Training, optimisation: &Optimisation) -> Result<Option<f64>> {
        if optimisation.failure == 0.0 || optimisation.bound.value.is_none() {
            return Ok(None);
        }
        largest_output(&self.landscape, training, self.initial_output).map(Some)
    }

    fn optimisation(
        &self,
        route: Route,
        training: Training,
        cap: BatchCap,
        losses: Losses,
        failures: &Failures,
    ) -> Result<Optimisation> {
        let landscape = self.landscape;
        let population = self.question.claim == Claim::Population;
        let anchor = |loss| Anchor { distance: losses.distance, loss };
        // Every sample of the support has at most the largest loss.
        let mean = anchor(if population { losses.largest } else { losses.mean });
        match route {
            Route::SGd => theorem_s_gd(&TheoremSGd { landscape, comparator: mean, training }),
            Route::P => certificate_p(&CertificateP {
                landscape,
                parameters: self.extent.parameters,
                comparator: mean,
                training,
                form: PaperForm::Tight,
                budget: BudgetP::equal(failures.noise),
            }),
            Route::D => certificate_d(&CertificateD {
                landscape,
                parameters: self.extent.parameters,
                comparator: mean,
                training,
                budget: BudgetD::equal(failures.noise),
            }),
            Route::S => {
                let mut budget = BudgetS::equal(failures.noise);
                let mut loss =
                    if training.is_full() { mean.loss } else { cap.ratio() * losses.largest };
                if let (Some(failure), false, false) =
                    (failures.comparator, training.is_full(), population)
                {
                    let sharper =
                        comparator_on_batches(&training, losses.mean, losses.largest, failure)?
                            .certified_upper()?;
                    if sharper < loss {
                        (loss, budget.comparator) = (sharper, failure);
                    }
                }
                theorem_s(&TheoremS {
                    landscape,
                    extent: self.extent,
                    comparator: anchor(loss),
                    training,
                    batches: cap,
                    budget,
                })
            }
        }
    }
}
