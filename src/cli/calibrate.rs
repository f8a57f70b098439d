//! `dpbounds calibrate`.

use clap::{Args, ValueEnum};
use dpbounds_bounds::privacy::{self, Effort, Extent, Plan, Target};
use dpbounds_bounds::{Bound, BoundError};

use super::grid::{Grid, Point};
use super::lambda_question::LambdaQuestion;
use super::numbers::{self, Sweep};
use super::run_options::{self, EffortOptions, RunOptions, Sampler};
use super::{Failure, OutputOptions};
use crate::output::{Answer, Input, write_answers, write_answers_with};

/// Step size of the lambda question where none is given.
const ETA: f64 = 0.01;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solve {
    /// The smallest noise for the run
    Kappa,
    /// The largest number of steps for the noise --kappa
    Steps,
    /// The largest batch for the noise --kappa
    Batch,
}

/// Find the noise that meets (epsilon, delta), or the longest run or largest batch for a noise.
#[derive(Debug, Args)]
#[command(after_help = "\
kappa is the noise standard deviation on the SUM of clipped gradients, in clipping norms.
The value is proven to suffice and verified once more; smaller noise than the lower side is proven
insufficient. Theorem D.9 is false as printed and appears only as a claim without warrant.

Does correlated noise help? With several lambda (or --eta) each row has the factors
  t1 = (1-lambda) kappa_lambda/kappa_0
  t2 = ((1-lambda)^2 + lambda^2 eta) kappa_lambda^2/kappa_0^2
of the two noise terms of the risk bound against lambda = 0, proven from above, and the floors
that no calibration can go below. Less than 1 is a gain.

Examples:
  dpbounds calibrate --n 1e4 --batch 100 --steps 1000 --epsilon 1 --delta 1e-5
  dpbounds calibrate --n 1e6 --batch 1e6 --steps 252 --sampler full --relation zero-out \\
      --epsilon 1 --delta 1e-6
  dpbounds calibrate --n 1e4 --batch 100 --epsilon 1 --delta 1e-5 --solve steps --kappa 1.5,2
  dpbounds calibrate --n 1e4 --batch 100 --steps 100 --epsilon 4 --delta 1e-5 --lambda 0,0.5,0.8 \\
      --method l1b
  dpbounds calibrate --n 1e4 --batch 100 --steps 1e4 --sampler fixed --relation replace-one \\
      --epsilon 1 --delta 1e-5 --method closed-form")]
pub struct Calibrate {
    #[command(flatten)]
    run: RunOptions,
    /// Privacy epsilon to reach, > 0 [nats]
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Sweep,
    /// Privacy delta to reach, in (0, 1) [probability]
    #[arg(long, allow_hyphen_values = true)]
    delta: Sweep,
    /// What to find; kappa by default
    #[arg(long)]
    solve: Option<Solve>,
    /// Given noise on the sum, > 0, with --solve steps or batch [clipping norms]
    #[arg(long, allow_hyphen_values = true)]
    kappa: Option<Sweep>,
    /// Step size in t2, > 0; asks the lambda question [1]; default 0.01
    #[arg(long, allow_hyphen_values = true, value_parser = numbers::number)]
    eta: Option<f64>,
    #[command(flatten)]
    effort: EffortOptions,
    #[command(flatten)]
    output: OutputOptions,
}

impl Calibrate {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self.solve.unwrap_or(Solve::Kappa) {
            Solve::Kappa => self.noise(),
            Solve::Steps => self.largest(Extent::Steps),
            Solve::Batch => self.largest(Extent::Batch),
        }
    }

    fn target(point: &Point) -> Result<Target, BoundError> {
        Ok(Target { epsilon: point.number("epsilon")?, delta: point.number("delta")? })
    }

    /// Every axis but λ.
    fn grid(&self) -> Grid {
        self.run.grid().axis("epsilon", &self.epsilon).axis("delta", &self.delta)
    }

    /// Finds faults without computing.
    fn check(&self, point: &Point) -> Result<(), BoundError> {
        let plan = self.run.plan(point)?;
        privacy::route(&plan)?;
        // Without steps only the ranges are checked.
        let nothing = Plan { steps: 0, ..plan };
        privacy::calibrate(&nothing, Self::target(point)?, &Effort::default()).map(|_| ())
    }

    /// The smallest noise, and the λ question if several λ are given.
    fn noise(&self) -> Result<(), Failure> {
        if self.kappa.is_some() {
            let problem = "--kappa is the noise that is looked for; drop it, ask for the longest run with \
                           --solve steps or the largest batch with --solve batch, or for the privacy of \
                           this noise with dpbounds account";
            return Err(Failure::Usage(problem.into()));
        }
        for (name, sweep) in [("steps", &self.run.steps), ("batch", &self.run.batch)] {
            if sweep.is_none() {
                return Err(Failure::Usage(format!(
                    "--{name} is missing; give it, or look for it with --solve {name} --kappa K"
                )));
            }
        }
        let question = LambdaQuestion {
            eta: self.eta.unwrap_or(ETA),
            lambdas: &self.run.lambda.values,
            others: self.grid(),
        };
        let asked = self.eta.is_some() || self.run.lambda.values.len() > 1;
        if asked {
            question.check()?;
        }
        let ask = |point: &Point, effort: &Effort<'_>| {
            privacy::calibrate(&self.run.plan(point)?, Self::target(point)?, effort)
        };
        let check = |point: &Point| self.check(point);
        let grid = self.grid().axis("lambda", &self.run.lambda);
        let mut answers = run_options::answers(&grid, &self.run, &self.effort, check, ask)?;
        if !asked {
            return write_answers(&answers, &self.output);
        }
        let effort = self.effort.pace.effort(&|_| ())?;
        let reference = |point: &Point| ask(point, &effort);
        let compared = |point: &Point, lambda| {
            let plan = self.run.plan(point).map(|plan| Plan { lambda, ..plan });
            let route = plan.and_then(|plan| privacy::route(&plan));
            !matches!(route, Ok(privacy::Route::Triangle { .. }))
        };
        let remarks = question.answer(&mut answers, reference, compared, self.output.format)?;
        for answer in &mut answers {
            answer.inputs.push(("eta".into(), Input::Number(question.eta)));
        }
        write_answers_with(&answers, &remarks, &self.output)
    }

    /// The largest number of steps, or the largest batch.
    fn largest(&self, extent: Extent) -> Result<(), Failure> {
        let (name, given, sought) = match extent {
            Extent::Steps => ("steps", ("batch", &self.run.batch), &self.run.steps),
            Extent::Batch => ("batch", ("steps", &self.run.steps), &self.run.batch),
        };
        let complaint = if sought.is_some() {
            Some(format!("--{name} is what --solve {name} looks for; drop one of the two"))
        } else if self.kappa.is_none() {
            Some(format!("--solve {name} needs the noise; give --kappa K"))
        } else if given.1.is_none() {
            Some(format!("--{0} is missing; give it, or look for it with --solve {0}", given.0))
        } else if self.eta.is_some() {
            Some("--eta belongs to the lambda question; drop it, or look for kappa".into())
        } else if extent == Extent::Batch && self.run.sampler == Sampler::Full {
            Some("a full batch always has n records; look for steps or kappa".into())
        } else {
            None
        };
        if let Some(complaint) = complaint {
            return Err(Failure::Usage(complaint));
        }
        let grid =
            self.grid().axis("lambda", &self.run.lambda).optional("kappa", self.kappa.as_ref());
        let ask = |point: &Point, effort: &Effort<'_>| -> Result<Bound, BoundError> {
            let plan = self.run.plan(point)?;
            privacy::largest(extent, &plan, point.number("kappa")?, Self::target(point)?, effort)
        };
        let check = |point: &Point| self.check(point);
        let mut answers = run_options::answers(&grid, &self.run, &self.effort, check, ask)?;
        for answer in &mut answers {
            explain(answer, extent);
        }
        write_answers(&answers, &self.output)
    }
}

fn explain(answer: &mut Answer, extent: Extent) {
    let one = if extent == Extent::Steps { "one step" } else { "a batch of one record" };
    if answer.bound.value == Some(0.0) {
        answer.notes.push(format!("0: not even {one} is proven to meet the target"));
    }
}
