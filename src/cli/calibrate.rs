//! `dpbounds calibrate`.

use clap::{Args, ValueEnum};
use dpbounds_bounds::privacy::{self, Plan, Target};

use super::grid::Grid;
use super::numbers::Sweep;
use super::{Failure, OutputOptions};
use crate::output::{Input, write_answers};

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sampler {
    /// Every record joins each step independently with probability batch/n
    Poisson,
    /// A uniform subset of batch records, drawn anew in each step
    Fixed,
    /// All records in every step
    Full,
    /// Every record is used once, in a data-independent order
    Stream,
}

impl From<Sampler> for privacy::Sampler {
    fn from(sampler: Sampler) -> Self {
        match sampler {
            Sampler::Poisson => Self::Poisson,
            Sampler::Fixed => Self::Fixed,
            Sampler::Full => Self::Full,
            Sampler::Stream => Self::Stream,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Relation {
    /// One record is added or removed
    AddRemove,
    /// One record's contribution is replaced by zero
    ZeroOut,
    /// One record is replaced by another
    ReplaceOne,
}

impl From<Relation> for privacy::Relation {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::AddRemove => Self::AddRemove,
            Relation::ZeroOut => Self::ZeroOut,
            Relation::ReplaceOne => Self::ReplaceOne,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Method {
    /// The smallest proven value
    Auto,
    /// Theorem F.12, with Theorem D.9's claim beside it where it is stated
    ClosedForm,
}

/// Find the noise that meets (epsilon, delta).
#[derive(Debug, Args)]
#[command(after_help = "\
kappa is the noise standard deviation on the SUM of clipped gradients, in clipping norms.
These are the statements that need no accountant: the Gaussian bound without amplification by \
sampling (exact for full batches) and Theorem F.12 inside its domain. Theorem D.9 is false as \
printed and appears only as a claim without warrant.

Examples:
  dpbounds calibrate --n 1e6 --batch 1e6 --steps 252 --sampler full --relation zero-out \\\n      --epsilon 1 --delta 1e-6
  dpbounds calibrate --n 1e6 --batch 1e4 --steps 1e4 --epsilon 1 --delta 1e-6 --lambda 0:0.9:4
  dpbounds calibrate --n 1e4 --batch 100 --steps 1e4 --sampler fixed --relation replace-one \\\n      --epsilon 1 --delta 1e-5 --method closed-form")]
pub struct Calibrate {
    /// Number of records (under add-remove a public lower bound) [count]
    #[arg(long, allow_hyphen_values = true)]
    n: Sweep,
    /// Batch size, the fixed divisor [count]
    #[arg(long, allow_hyphen_values = true)]
    batch: Sweep,
    /// Number of noisy steps [count]
    #[arg(long, allow_hyphen_values = true)]
    steps: Sweep,
    /// Privacy epsilon to reach, > 0 [nats]
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Sweep,
    /// Privacy delta to reach, in (0, 1) [probability]
    #[arg(long, allow_hyphen_values = true)]
    delta: Sweep,
    /// Noise correlation, in [0, 1)
    #[arg(long, allow_hyphen_values = true, default_value = "0")]
    lambda: Sweep,
    /// How batches are drawn
    #[arg(long, default_value = "poisson")]
    sampler: Sampler,
    /// Which data sets are neighbours
    #[arg(long, default_value = "add-remove")]
    relation: Relation,
    /// Which statements may answer
    #[arg(long, default_value = "auto")]
    method: Method,
    #[command(flatten)]
    output: OutputOptions,
}

impl Calibrate {
    pub(super) fn run(self) -> Result<(), Failure> {
        let (sampler, relation) = (self.sampler.into(), self.relation.into());
        let method = match self.method {
            Method::Auto => privacy::Method::Auto,
            Method::ClosedForm => privacy::Method::ClosedForm,
        };
        let mut answers = Grid::default()
            .counts("n", &self.n)
            .counts("batch", &self.batch)
            .counts("steps", &self.steps)
            .axis("epsilon", &self.epsilon)
            .axis("delta", &self.delta)
            .axis("lambda", &self.lambda)
            .answers(|p| {
                let plan = Plan {
                    n: p.count("n")?,
                    batch: p.count("batch")?,
                    steps: p.count("steps")?,
                    lambda: p.number("lambda")?,
                    sampler,
                    relation,
                };
                let target = Target { epsilon: p.number("epsilon")?, delta: p.number("delta")? };
                let effort = privacy::Effort { method, ..privacy::Effort::default() };
                privacy::calibrate(&plan, target, &effort)
            })?;
        for answer in &mut answers {
            answer.inputs.push(("sampler".into(), Input::Word(sampler.to_string())));
            answer.inputs.push(("relation".into(), Input::Word(relation.to_string())));
        }
        write_answers(&answers, &self.output)
    }
}
