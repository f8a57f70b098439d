//! `dpbounds account`.

use clap::Args;
use dpbounds_bounds::privacy::{self, Effort, Plan, Question};
use dpbounds_bounds::{Bound, BoundError};

use super::grid::Point;
use super::numbers::Sweep;
use super::run_options::{self, EffortOptions, RunOptions};
use super::{Failure, OutputOptions};
use crate::output::write_answers;

const NO_EPSILON_NEEDED: &str =
    "epsilon = 0: delta is at least the total variation distance between neighbouring runs";

/// Find the privacy that a noise gives.
#[derive(Debug, Args)]
#[command(
    mut_arg("batch", |arg| arg.required(true)),
    mut_arg("steps", |arg| arg.required(true)),
    after_help = "\
kappa is the noise standard deviation on the SUM of clipped gradients, in clipping norms.
The answer is a bracket: the value is guaranteed, the lower side is reached by explicit data sets.
Method l3 bounds delta at a given epsilon only.

Examples:
  dpbounds account --n 1e4 --batch 100 --steps 1000 --kappa 1 --delta 1e-5
  dpbounds account --n 1e4 --batch 100 --steps 10,100,1000 --kappa 0.8,1,2 --epsilon 2
  dpbounds account --n 1e4 --batch 100 --steps 100 --kappa 2 --lambda 0.5 --epsilon 4 \\
      --method l2 --format json"
)]
pub struct Account {
    #[command(flatten)]
    run: RunOptions,
    /// Noise on the sum of clipped gradients, >= 0 [clipping norms]
    #[arg(long, allow_hyphen_values = true)]
    kappa: Sweep,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    effort: EffortOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Which side of (epsilon, delta) is given.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Given {
    /// Privacy delta, in (0, 1): asks for epsilon [probability]
    #[arg(long, allow_hyphen_values = true)]
    delta: Option<Sweep>,
    /// Privacy epsilon, >= 0: asks for delta [nats]
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Option<Sweep>,
}

impl Account {
    pub(super) fn run(self) -> Result<(), Failure> {
        let grid = self
            .run
            .grid()
            .axis("lambda", &self.run.lambda)
            .axis("kappa", &self.kappa)
            .optional("delta", self.given.delta.as_ref())
            .optional("epsilon", self.given.epsilon.as_ref());
        let ask = |plan: &Plan, point: &Point, effort: &Effort<'_>| {
            privacy::account(plan, point.number("kappa")?, question(point)?, effort)
        };
        let check = |point: &Point| -> Result<(), BoundError> {
            let plan = self.run.plan(point)?;
            privacy::route(&plan)?;
            // Without steps only the ranges are checked.
            ask(&Plan { steps: 0, ..plan }, point, &Effort::default()).map(|_| ())
        };
        let mut answers =
            run_options::answers(&grid, &self.run, &self.effort, check, |point, effort| {
                ask(&self.run.plan(point)?, point, effort)
            })?;
        for answer in &mut answers {
            if is_free(&answer.bound) {
                answer.notes.push(NO_EPSILON_NEEDED.into());
            }
        }
        write_answers(&answers, &self.output)
    }
}

fn question(point: &Point) -> Result<Question, BoundError> {
    match point.get("delta") {
        Some(delta) if delta > 0.0 && delta < 1.0 => Ok(Question::EpsilonAt { delta }),
        Some(delta) => Err(BoundError::OutOfRange {
            parameter: "delta",
            value: dpbounds_bounds::Shown(delta),
            allowed: "(0, 1), both ends excluded",
            remedy: "give the delta of the guarantee, for example 1e-5",
        }),
        None => Ok(Question::DeltaAt { epsilon: point.number("epsilon")? }),
    }
}

/// Whether the answer is epsilon = 0 although something is released.
fn is_free(bound: &Bound) -> bool {
    bound.quantity == "epsilon"
        && bound.value == Some(0.0)
        && !bound.source.statement.contains("nothing is released")
}
