//! The options that every question about a training run shares.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use dpbounds_bounds::privacy::correlated::monte_carlo::Settings;
use dpbounds_bounds::privacy::{self, Effort, Plan};
use dpbounds_bounds::{Bound, BoundError};

use super::grid::{Grid, Point};
use super::numbers::{self, Sweep};
use super::{Failure, progress::Progress};
use crate::output::{Answer, Input, display};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sampler {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Relation {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// The best proven value of all that apply
    Auto,
    /// Theorem F.12 inside its domain, Theorem D.9 as a claim (calibrate only)
    ClosedForm,
    /// The best cap on the number of steps that one record takes part in
    L1,
    /// The mixture over all sets of steps that one record takes part in
    L1b,
    /// Replica moments forward, Jensen's inequality in reverse
    L2,
    /// Transfer bound without the repulsion of participations
    L2t,
    /// Transfer bounds with the repulsion in both orders: sharpest at lambda > 0
    L2td,
    /// Monte Carlo certificate of delta, up to --failure-probability
    L3,
    /// Renyi differential privacy, lambda = 0
    Rdp,
    /// Privacy-loss distributions: sharpest at lambda = 0
    Pld,
}

impl From<Method> for privacy::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Auto => Self::Auto,
            Method::ClosedForm => Self::ClosedForm,
            Method::L1 => Self::L1,
            Method::L1b => Self::L1b,
            Method::L2 => Self::L2,
            Method::L2t => Self::L2t,
            Method::L2td => Self::L2td,
            Method::L3 => Self::L3,
            Method::Rdp => Self::Rdp,
            Method::Pld => Self::Pld,
        }
    }
}

/// A training run without its noise.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Number of records (under add-remove a public lower bound) [count]
    #[arg(long, allow_hyphen_values = true)]
    pub n: Sweep,
    /// Batch size (expected under poisson), the fixed divisor [count]
    #[arg(long, allow_hyphen_values = true)]
    pub batch: Option<Sweep>,
    /// Number of noisy steps; 0 releases nothing [count]
    #[arg(long, allow_hyphen_values = true)]
    pub steps: Option<Sweep>,
    /// Noise correlation: the noise is kappa (Z_t - lambda Z_{t-1}); in [0, 1) [1]
    #[arg(long, allow_hyphen_values = true, default_value = "0")]
    pub lambda: Sweep,
    /// How batches are drawn
    #[arg(long, default_value = "poisson")]
    pub sampler: Sampler,
    /// Which data sets are neighbours
    #[arg(long, default_value = "add-remove")]
    pub relation: Relation,
}

impl RunOptions {
    /// The axes of records, batches and steps.
    pub fn grid(&self) -> Grid {
        let grid = Grid::default().counts("n", &self.n);
        let grid = grid.optional_counts("batch", self.batch.as_ref());
        grid.optional_counts("steps", self.steps.as_ref())
    }

    /// The run at a point. An axis that is absent because it is asked for counts as 1.
    pub fn plan(&self, point: &Point) -> Result<Plan, BoundError> {
        let count = |name| if point.get(name).is_some() { point.count(name) } else { Ok(1) };
        Ok(Plan {
            n: point.count("n")?,
            batch: count("batch")?,
            steps: count("steps")?,
            lambda: point.get("lambda").unwrap_or(0.0),
            sampler: self.sampler.into(),
            relation: self.relation.into(),
        })
    }

    /// Sampler and relation, as inputs of an answer.
    pub fn words(&self) -> [(String, Input); 2] {
        let sampler = privacy::Sampler::from(self.sampler).to_string();
        let relation = privacy::Relation::from(self.relation).to_string();
        [("sampler".into(), Input::Word(sampler)), ("relation".into(), Input::Word(relation))]
    }
}

/// How long to work, and on how many cores.
#[derive(Debug, Args)]
pub struct PaceOptions {
    /// No finer method is started after this time; nothing is cut short [seconds]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, default_value = "60",
          value_parser = numbers::number)]
    budget: f64,
    /// Threads to use, all by default; the answers do not depend on it [count]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl PaceOptions {
    /// Work that tells `progress` of its stages.
    pub fn effort<'a>(&self, progress: Stage<'a>) -> Result<Effort<'a>, Failure> {
        let budget = Duration::try_from_secs_f64(self.budget).map_err(|_| {
            Failure::Usage(format!(
                "budget = {} is out of range: allowed is a number of seconds >= 0; give --budget 60",
                self.budget
            ))
        })?;
        Ok(Effort { budget, progress, ..Effort::default() })
    }

    /// Sets the number of threads of this process.
    pub fn set_threads(&self) -> Result<(), Failure> {
        let Some(threads) = self.threads else { return Ok(()) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| {
            Failure::Usage(format!("threads = {threads} could not be started: {error}"))
        })
    }
}

/// Told of stages.
pub type Stage<'a> = &'a (dyn Fn(&str) + Sync);

/// Which method answers, for how long, and with which random numbers.
#[derive(Debug, Args)]
pub struct EffortOptions {
    /// Which statements may answer
    #[arg(long, default_value = "auto")]
    pub method: Method,
    #[command(flatten)]
    pub pace: PaceOptions,
    /// Samples of method l3 [count]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, default_value = "1e6",
          value_parser = numbers::count)]
    samples: u64,
    /// Probability over the seeds that a certificate of method l3 is wrong [probability]
    #[arg(long, value_name = "P", allow_hyphen_values = true, default_value = "1e-6",
          value_parser = numbers::number)]
    failure_probability: f64,
    /// Seed of method l3; a guarantee needs one not chosen by its results [integer]
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl EffortOptions {
    /// Work that tells `progress` of its stages.
    pub fn effort<'a>(&self, progress: Stage<'a>) -> Result<Effort<'a>, Failure> {
        if !(self.failure_probability > 0.0 && self.failure_probability < 1.0) {
            return Err(Failure::Usage(format!(
                "failure_probability = {} is out of range: allowed is (0, 1), both ends excluded; \
                 give --failure-probability 1e-6",
                self.failure_probability
            )));
        }
        Ok(Effort {
            method: self.method.into(),
            monte_carlo: Settings::new(self.samples, self.failure_probability, self.seed),
            ..self.pace.effort(progress)?
        })
    }

    /// Adds what an answer by random numbers depends on, and what its confidence means.
    fn explain(&self, answer: &mut Answer, run: &RunOptions) {
        if self.method != Method::L3 {
            return;
        }
        #[allow(clippy::cast_precision_loss)] // at most 2^53
        let samples = Input::Number(self.samples as f64);
        answer.inputs.push(("samples".into(), samples));
        let failure = Input::Number(self.failure_probability);
        answer.inputs.push(("failure_probability".into(), failure));
        answer.inputs.push(("seed".into(), Input::Word(self.seed.to_string())));
        if let (Some(_), Some(level)) = (answer.bound.value, answer.bound.warrant.confidence()) {
            answer.notes.push(format!(
                "(epsilon, delta)-DP for sampler {}, relation {}; the accountant's computation is wrong \
                 with probability <= {} over its own seeds",
                privacy::Sampler::from(run.sampler),
                privacy::Relation::from(run.relation),
                display(1.0 - level)
            ));
        }
    }
}

/// Asks `question` at every point of the grid, after `check` found no fault at any of them.
pub fn answers(
    grid: &Grid,
    run: &RunOptions,
    effort: &EffortOptions,
    check: impl Fn(&Point) -> Result<(), BoundError>,
    question: impl Fn(&Point, &Effort<'_>) -> Result<Bound, BoundError> + Sync,
) -> Result<Vec<Answer>, Failure> {
    effort.pace.set_threads()?;
    // Faults of the last point are found before the first one is computed.
    grid.each(|point| Ok(check(point)?))?;
    let progress = Progress::new(grid.size()?);
    effort.effort(&|_| ())?;
    grid.in_parallel(
        || progress.point_done(),
        |point| {
            let fine = AtomicBool::new(false);
            let stage = |name: &str| {
                progress.stage(name);
                fine.fetch_or(name == FINE, Ordering::Relaxed);
            };
            let mut inputs = point.inputs();
            inputs.extend(run.words());
            let mut answer = Answer::new(inputs, question(point, &effort.effort(&stage)?)?);
            effort.explain(&mut answer, run);
            if is_by_transfer(&answer.bound) && !fine.load(Ordering::Relaxed) {
                answer.notes.push(format!(
                    "coarse: a finer grid did not fit into --budget {}; more time may prove one to two percent more",
                    effort.pace.budget
                ));
            }
            Ok(answer)
        },
    )
}

/// The stage that the budget may leave out.
const FINE: &str = "fine grid";

fn is_by_transfer(bound: &Bound) -> bool {
    bound.value.is_some() && bound.source.statement.contains("L2TD")
}
