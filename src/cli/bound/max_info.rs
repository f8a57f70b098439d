//! `dpbounds bound max-info`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use dpbounds_bounds::max_information::{
    FailureLevel, approximate_dp, correlated, dp_sgd, gaussian, pure_dp, renyi, streaming,
};
use dpbounds_bounds::privacy::Relation;
use dpbounds_bounds::{Bound, BoundError};

use super::super::grid::Grid;
use super::super::numbers::Sweep;
use super::super::{Failure, LevelOptions, OutputOptions, renyi_curve};
use crate::output::write_answers;

type Answer = Result<Bound, BoundError>;
type Table<F> = &'static [(&'static str, F)];

fn names<F>(table: Table<F>) -> PossibleValuesParser {
    table.iter().map(|(name, _)| *name).collect::<Vec<_>>().into()
}

fn pick<F: Copy>(table: Table<F>, name: &str) -> Result<F, Failure> {
    let found = table.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, function)| *function)
        .ok_or_else(|| Failure::Usage(format!("unknown method {name}")))
}

/// Approximate max-information of a private mechanism.
#[derive(Debug, Subcommand)]
pub enum MaxInfo {
    /// Pure epsilon-DP
    #[command(
        after_help = "Examples:\n  dpbounds bound max-info pure-dp --n 1000 --epsilon 0.1 --beta 0.05\n  \
                            dpbounds bound max-info pure-dp --n 1e3..1e6@4 --epsilon 0.01,0.1 --beta 0.05 --format csv"
    )]
    PureDp(PureDp),
    /// (epsilon, delta)-DP: every branch and their minimum
    #[command(
        after_help = "Examples:\n  dpbounds bound max-info approx-dp --n 60000 --epsilon 0.01 --delta 1e-8 --beta 0.025\n  \
                            dpbounds bound max-info approx-dp --n 1000 --epsilon 0.05 --delta 1e-4 --beta 0.05"
    )]
    ApproxDp(ApproxDp),
    /// Renyi DP, one order or a whole curve
    #[command(
        after_help = "The curve file has one pair alpha,epsilon a line; a header is optional.\n\n\
                            Examples:\n  dpbounds bound max-info renyi --n 60000 --alpha 32 --epsilon 0.01 --beta 0.025\n  \
                            dpbounds bound max-info renyi --n 60000 --curve curve.csv --beta 0.025"
    )]
    Renyi(Renyi),
    /// Gaussian mechanism, Theorem 3 and the Renyi route
    #[command(
        after_help = "Examples:\n  dpbounds bound max-info gaussian --n 60000 --sigma 50 --beta 0.025\n  \
                            dpbounds bound max-info gaussian --n 6e4 --sigma 1..1e3@13 --beta 0.025 --method eq7 --format csv"
    )]
    Gaussian(Gaussian),
    /// DP-SGD that uses records many times, Theorem 2 over its replace-one Renyi curve
    #[command(
        after_help = "Examples:\n  dpbounds bound max-info dp-sgd --n 12000 --sampling-rate 0.1 --sigma 62 --steps 60 --beta 0.025\n  \
                            dpbounds bound max-info dp-sgd --sampler fixed --n 1e4 --batch 500 --sigma 40 --steps 9 --beta 0.1\n  \
                            dpbounds bound max-info dp-sgd --sampler full --n 12000 --sigma 620 --steps 60 --beta 0.025"
    )]
    DpSgd(DpSgd),
    /// Streaming DP-SGD with independent noise, Theorem 4
    #[command(
        after_help = "Examples:\n  dpbounds bound max-info streaming --batch 250 --steps 240 --sigma 10 --beta 0.025\n  \
                            dpbounds bound max-info streaming --batch 250 --steps 240 --sigma 5,10,20 --beta 0.025"
    )]
    Streaming(Streaming),
    /// Streaming DP-SGD with correlated noise sigma (Z_t - lambda Z_{t-1})
    #[command(
        after_help = "Examples:\n  dpbounds bound max-info correlated --batch 250 --steps 240 --sigma 10 --lambda 0.3 --beta 0.025\n  \
                            dpbounds bound max-info correlated --batch 250 --steps 240 --sigma 10 --lambda 0:0.9:10 --beta 0.1"
    )]
    Correlated(Correlated),
}

impl MaxInfo {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::PureDp(options) => options.run(),
            Self::ApproxDp(options) => options.run(),
            Self::Renyi(options) => options.run(),
            Self::Gaussian(options) => options.run(),
            Self::DpSgd(options) => options.run(),
            Self::Streaming(options) => options.run(),
            Self::Correlated(options) => options.run(),
        }
    }
}

type PureFn = fn(u64, f64, FailureLevel) -> Answer;
const PURE: Table<PureFn> = &[
    ("best", pure_dp::best),
    ("bounded-range-hs", pure_dp::bounded_range_hs),
    ("bounded-range", pure_dp::bounded_range),
    ("theorem1", pure_dp::theorem1),
    ("classic", pure_dp::classic),
];

/// Options of `pure-dp`.
#[derive(Debug, Args)]
pub struct PureDp {
    /// Number of records [count]
    #[arg(long, allow_hyphen_values = true)]
    n: Sweep,
    /// Replace-one epsilon of the whole release, >= 0 [nats]
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Sweep,
    #[command(flatten)]
    level: LevelOptions,
    /// Which statement; the best one lists the others
    #[arg(long, default_value = "best", value_parser = names(PURE))]
    method: String,
    #[command(flatten)]
    output: OutputOptions,
}

impl PureDp {
    fn run(self) -> Result<(), Failure> {
        let function = pick(PURE, &self.method)?;
        let grid =
            Grid::default().counts("n", &self.n).axis("epsilon", &self.epsilon).level(&self.level);
        let answers =
            grid.answers(|p| function(p.count("n")?, p.number("epsilon")?, p.level()?))?;
        write_answers(&answers, &self.output)
    }
}

type ApproxFn = fn(u64, f64, f64, FailureLevel) -> Answer;
const APPROX: Table<ApproxFn> = &[
    ("best", approximate_dp::best),
    ("a", approximate_dp::a),
    ("b-plus", approximate_dp::b_plus),
    ("b-plus-hs", approximate_dp::b_plus_hs),
    ("b-plus-exact", approximate_dp::b_plus_exact),
    ("c", approximate_dp::c),
    ("c-hs", approximate_dp::c_hs),
    ("d", approximate_dp::d),
    ("d-split", approximate_dp::d_split),
];

/// Options of `approx-dp`.
#[derive(Debug, Args)]
pub struct ApproxDp {
    /// Number of records [count]
    #[arg(long, allow_hyphen_values = true)]
    n: Sweep,
    /// Replace-one epsilon of the whole release, >= 0 [nats]
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Sweep,
    /// Replace-one delta of the whole release, in [0, 1] [probability]
    #[arg(long, allow_hyphen_values = true)]
    delta: Sweep,
    #[command(flatten)]
    level: LevelOptions,
    /// Which statement; the best one lists the others
    #[arg(long, default_value = "best", value_parser = names(APPROX))]
    method: String,
    #[command(flatten)]
    output: OutputOptions,
}

impl ApproxDp {
    fn run(self) -> Result<(), Failure> {
        let function = pick(APPROX, &self.method)?;
        let grid = Grid::default()
            .counts("n", &self.n)
            .axis("epsilon", &self.epsilon)
            .axis("delta", &self.delta)
            .level(&self.level);
        let answers = grid.answers(|p| {
            function(p.count("n")?, p.number("epsilon")?, p.number("delta")?, p.level()?)
        })?;
        write_answers(&answers, &self.output)
    }
}

const RENYI: Table<ApproxFn> = &[
    ("best", renyi::best),
    ("gamma-split-hs", renyi::optimised_split),
    ("gamma-half-hs", renyi::gamma_half_hs),
    ("gamma-half", renyi::gamma_half),
    ("v-star-split", renyi::v_star_split),
    ("v-star-half", renyi::v_star_half),
    ("theorem2", renyi::theorem2),
    ("linear-hs", renyi::linear_hs),
    ("linear", renyi::linear),
];

/// Options of `renyi`.
#[derive(Debug, Args)]
pub struct Renyi {
    /// Number of records [count]
    #[arg(long, allow_hyphen_values = true)]
    n: Sweep,
    /// Renyi order, > 1
    #[arg(
        long,
        allow_hyphen_values = true,
        requires = "epsilon",
        required_unless_present = "curve"
    )]
    alpha: Option<Sweep>,
    /// Replace-one Renyi divergence of that order, both directions, >= 0 [nats]
    #[arg(long, allow_hyphen_values = true, requires = "alpha")]
    epsilon: Option<Sweep>,
    /// Neighbours of the given divergences; only replace-one gives a bound
    #[arg(long, default_value = "replace-one")]
    relation: Relation,
    /// CSV file of pairs alpha,epsilon of one mechanism; the best order is used
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["alpha", "epsilon", "method"])]
    curve: Option<PathBuf>,
    #[command(flatten)]
    level: LevelOptions,
    /// Which statement; the best one lists the others
    #[arg(long, default_value = "best", value_parser = names(RENYI))]
    method: String,
    #[command(flatten)]
    output: OutputOptions,
}

impl Renyi {
    fn run(self) -> Result<(), Failure> {
        renyi::RenyiCurve::require_replace_one(self.relation)?;
        let grid = Grid::default()
            .counts("n", &self.n)
            .optional("alpha", self.alpha.as_ref())
            .optional("epsilon", self.epsilon.as_ref())
            .level(&self.level);
        let answers = match &self.curve {
            Some(path) => {
                let curve = renyi_curve::read(path)?;
                grid.answers(|p| renyi::best_over_curve(p.count("n")?, &curve, p.level()?))?
            }
            None => {
                let function = pick(RENYI, &self.method)?;
                grid.answers(|p| {
                    function(p.count("n")?, p.number("alpha")?, p.number("epsilon")?, p.level()?)
                })?
            }
        };
        write_answers(&answers, &self.output)
    }
}

type NuFn = fn(f64, FailureLevel) -> Answer;
const GAUSSIAN: Table<Option<NuFn>> = &[
    ("best", None),
    ("eq7", Some(gaussian::eq7)),
    ("eq7-hs", Some(gaussian::eq7_hs)),
    ("eq8", Some(gaussian::eq8)),
    ("eq9", Some(gaussian::eq9)),
];

/// Options of `gaussian`.
#[derive(Debug, Args)]
pub struct Gaussian {
    /// Number of records [count]
    #[arg(long, allow_hyphen_values = true)]
    n: Sweep,
    /// Noise over the REPLACE-ONE sensitivity, > 0 (a sum clipped at zeta has sensitivity 2 zeta)
    #[arg(long, allow_hyphen_values = true)]
    sigma: Sweep,
    #[command(flatten)]
    level: LevelOptions,
    /// Which statement; the best one lists the others
    #[arg(long, default_value = "best", value_parser = names(GAUSSIAN))]
    method: String,
    #[command(flatten)]
    output: OutputOptions,
}

impl Gaussian {
    fn run(self) -> Result<(), Failure> {
        let function = pick(GAUSSIAN, &self.method)?;
        let grid =
            Grid::default().counts("n", &self.n).axis("sigma", &self.sigma).level(&self.level);
        let answers = grid.answers(|p| {
            let (n, sigma) = (p.count("n")?, p.number("sigma")?);
            match function {
                Some(equation) => equation(gaussian::nu(n, sigma)?, p.level()?),
                None => gaussian::best(n, sigma, p.level()?),
            }
        })?;
        write_answers(&answers, &self.output)
    }
}

/// How the records of a step are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Batches {
    /// Every record joins each step independently with probability --sampling-rate
    Poisson,
    /// A uniform subset of --batch records, drawn anew in each step
    Fixed,
    /// All records in every step
    Full,
}

/// Options of `dp-sgd`.
#[derive(Debug, Args)]
pub struct DpSgd {
    /// How the records of a step are chosen
    #[arg(long, value_enum, default_value = "poisson")]
    sampler: Batches,
    /// Number of records [count]
    #[arg(long, allow_hyphen_values = true)]
    n: Sweep,
    /// Poisson rate, in [0, 1] [probability]
    #[arg(
        long,
        allow_hyphen_values = true,
        required_if_eq("sampler", "poisson"),
        conflicts_with = "batch"
    )]
    sampling_rate: Option<Sweep>,
    /// Records in a batch of fixed size [count]
    #[arg(long, allow_hyphen_values = true, required_if_eq("sampler", "fixed"))]
    batch: Option<Sweep>,
    /// Noise on the SUM of clipped gradients over the clipping norm, > 0
    #[arg(long, allow_hyphen_values = true)]
    sigma: Sweep,
    /// Number of steps [count]
    #[arg(long, allow_hyphen_values = true)]
    steps: Sweep,
    #[command(flatten)]
    level: LevelOptions,
    #[command(flatten)]
    output: OutputOptions,
}

impl DpSgd {
    fn run(self) -> Result<(), Failure> {
        let unused = match self.sampler {
            Batches::Poisson => None,
            Batches::Fixed => self.sampling_rate.as_ref().map(|_| "--sampling-rate"),
            Batches::Full if self.batch.is_some() => Some("--batch"),
            Batches::Full => self.sampling_rate.as_ref().map(|_| "--sampling-rate"),
        };
        if let Some(option) = unused {
            return Err(Failure::Usage(format!(
                "{option} says nothing about this --sampler; remove one of them"
            )));
        }
        let grid = Grid::default()
            .counts("n", &self.n)
            .optional("sampling_rate", self.sampling_rate.as_ref())
            .optional_counts("batch", self.batch.as_ref())
            .axis("sigma", &self.sigma)
            .counts("steps", &self.steps)
            .level(&self.level);
        let answers = grid.answers(|p| {
            let (n, sigma) = (p.count("n")?, p.number("sigma")?);
            let (steps, level) = (p.count("steps")?, p.level()?);
            match self.sampler {
                Batches::Poisson => {
                    dp_sgd::poisson(n, p.number("sampling_rate")?, sigma, steps, level)
                }
                Batches::Fixed => dp_sgd::fixed_size(n, p.count("batch")?, sigma, steps, level),
                Batches::Full => dp_sgd::full_batch(n, sigma, steps, level),
            }
        })?;
        write_answers(&answers, &self.output)
    }
}

type StepsFn = fn(f64, u64, FailureLevel) -> Answer;
const STREAMING: Table<Option<StepsFn>> = &[
    ("best", None),
    ("eq10", Some(streaming::eq10)),
    ("eq10-hs", Some(streaming::eq10_hs)),
    ("eq11", Some(streaming::eq11)),
    ("eq12", Some(streaming::eq12)),
];

/// Options of `streaming`.
#[derive(Debug, Args)]
pub struct Streaming {
    /// Records in each of the disjoint batches [count]
    #[arg(long, allow_hyphen_values = true)]
    batch: Sweep,
    /// Number of steps; each record is used in one of them [count]
    #[arg(long, allow_hyphen_values = true)]
    steps: Sweep,
    /// Noise on the SUM of clipped gradients over the clipping norm, > 0
    #[arg(long, allow_hyphen_values = true)]
    sigma: Sweep,
    #[command(flatten)]
    level: LevelOptions,
    /// Which statement; the best one lists the others
    #[arg(long, default_value = "best", value_parser = names(STREAMING))]
    method: String,
    #[command(flatten)]
    output: OutputOptions,
}

impl Streaming {
    fn run(self) -> Result<(), Failure> {
        let function = pick(STREAMING, &self.method)?;
        let grid = Grid::default()
            .counts("batch", &self.batch)
            .counts("steps", &self.steps)
            .axis("sigma", &self.sigma)
            .level(&self.level);
        let answers = grid.answers(|p| {
            let (batch, steps, sigma) = (p.count("batch")?, p.count("steps")?, p.number("sigma")?);
            match function {
                Some(equation) => equation(streaming::nu(batch, sigma)?, steps, p.level()?),
                None => streaming::best(batch, steps, sigma, p.level()?),
            }
        })?;
        write_answers(&answers, &self.output)
    }
}

/// Options of `correlated`.
#[derive(Debug, Args)]
pub struct Correlated {
    /// Records in each of the disjoint batches [count]
    #[arg(long, allow_hyphen_values = true)]
    batch: Sweep,
    /// Number of steps; each record is used in one of them [count]
    #[arg(long, allow_hyphen_values = true)]
    steps: Sweep,
    /// Noise on the SUM of clipped gradients over the clipping norm, > 0
    #[arg(long, allow_hyphen_values = true)]
    sigma: Sweep,
    /// Noise correlation (its sign does not matter)
    #[arg(long, allow_hyphen_values = true)]
    lambda: Sweep,
    #[command(flatten)]
    level: LevelOptions,
    #[command(flatten)]
    output: OutputOptions,
}

impl Correlated {
    fn run(self) -> Result<(), Failure> {
        let grid = Grid::default()
            .counts("batch", &self.batch)
            .counts("steps", &self.steps)
            .axis("sigma", &self.sigma)
            .axis("lambda", &self.lambda)
            .level(&self.level);
        let answers = grid.answers(|p| {
            let (batch, steps) = (p.count("batch")?, p.count("steps")?);
            correlated::best(batch, steps, p.number("sigma")?, p.number("lambda")?, p.level()?)
        })?;
        write_answers(&answers, &self.output)
    }
}
