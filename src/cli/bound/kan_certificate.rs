//! `dpbounds bound kan certificate`.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use dpbounds_bounds::BoundError;
use dpbounds_bounds::kan::certificates::{
    Certificate, Claim, Clipping, Failures, Ingredients, Noise, Privacy, Projection, Question,
    Remedy, Route, Schedule, certify,
};
use dpbounds_bounds::kan::{Linearisation, RealisedConstants, Sample};
use dpbounds_experiments::data::Dataset;

use super::super::grid::{Grid, Point};
use super::super::network_options::{NetworkOptions, SCALED_BY_DATA, domain};
use super::super::numbers::{self, Sweep};
use super::super::run_options::Sampler;
use super::super::{Failure, OutputOptions};
use crate::output::{Answer, Derived, Input, Side, display, write_answers_with};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RouteWord {
    /// The best proven value of all that apply
    Auto,
    /// Theorem S: any batches, any noise
    S,
    /// Theorem S-GD: full batches, no noise
    SGd,
    /// The paper's bound for correlated noise, its constants made explicit
    P,
    /// The paper's bound for independent noise and projected iterates
    D,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClaimWord {
    /// Training risk, in every run or with high probability
    Probability,
    /// Training risk, on average over batches and noise
    Expectation,
}

/// Radius or norm: a number or a word.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    Chosen,
    Off,
    At(f64),
}

impl Choice {
    fn parse(text: &str, chosen: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::Off),
            word if word == chosen => Ok(Self::Chosen),
            _ => numbers::number(text)
                .map(Self::At)
                .map_err(|problem| format!("{problem}; or give the word {chosen} or none")),
        }
    }
}

/// The projection.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Radius(Choice);

impl FromStr for Radius {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Choice::parse(text, "needed").map(Self)
    }
}

/// The clipping norm.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Norm(Choice);

impl FromStr for Norm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Choice::parse(text, "public").map(Self)
    }
}

/// Certify the risk of training a network before it is trained.
#[derive(Debug, Args)]
#[command(after_help = "\
The bound is on the loss [nats], averaged over the T weights of the training; log 2 = 0.693 is the
loss of the zero predictor. Every hypothesis is listed with both sides; if one fails there is no
number, and lines say what would help. Step size and steps are searched for if they are not given;
so are the comparator and, with --divide, the division of the failure probabilities.

With noise, what is searched on the data voids a claim of privacy, and the answer says so: give
--eta, --steps and --projection as they were fixed beforehand. Certificates are functions of the data:
do not publish them as if they were private.

--population bounds the population risk. It needs the distribution: atoms:A4, atoms:X4, or
atoms:FILE.csv with every record that can occur.

Examples:
  dpbounds bound kan certificate --data atoms:A4,n=4000 --width 2000 --degree 1 --size 2 \\
      --init greville --eta 0.51644 --steps 645
  dpbounds bound kan certificate --data atoms:A4,n=4000 --width 5000 --degree 1 --size 2 \\
      --init greville --population --sampler fixed --batch 64 --max-steps 700
  dpbounds bound kan certificate --data atoms:A4,n=1e6 --width 2000 --degree 1 --size 2 \\
      --init greville --kappa 0,205 --lambda 0.5 --eta 0.515 --steps 252 --projection 20")]
pub struct CertificateCommand {
    #[command(flatten)]
    network: NetworkOptions,
    /// Which statement certifies
    #[arg(long, value_enum, default_value_t = RouteWord::Auto)]
    route: RouteWord,
    /// In what sense the training risk is bounded
    #[arg(long, value_enum, default_value_t = ClaimWord::Probability, conflicts_with = "population")]
    claim: ClaimWord,
    /// Bound the population risk, on average over samples, batches and noise
    #[arg(long)]
    population: bool,
    /// How batches are drawn
    #[arg(long, value_enum, default_value_t = Sampler::Full)]
    sampler: Sampler,
    /// Batch size B, the fixed divisor [count]; all records if it is left out
    #[arg(long, allow_hyphen_values = true)]
    batch: Option<Sweep>,
    /// Step size, > 0; searched for if it is left out
    #[arg(long, allow_hyphen_values = true)]
    eta: Option<Sweep>,
    /// Number of steps T [count]; searched for if it is left out
    #[arg(long, allow_hyphen_values = true)]
    steps: Option<Sweep>,
    /// Most steps in the search [count]
    #[arg(long, value_name = "T", value_parser = numbers::count)]
    max_steps: Option<u64>,
    /// Horizon of the comparator, > 0; searched for if it is left out
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    horizon: Option<Sweep>,
    /// Noise on the sum of clipped gradients, >= 0 [clipping norms]
    #[arg(long, allow_hyphen_values = true, conflicts_with = "noise")]
    kappa: Option<Sweep>,
    /// Noise per coordinate, clipping norm times kappa over batch, >= 0
    #[arg(long, allow_hyphen_values = true)]
    noise: Option<Sweep>,
    /// Noise correlation, in [0, 1] [1]
    #[arg(long, allow_hyphen_values = true, default_value = "0")]
    lambda: Sweep,
    /// Clipping norm: a number, public (G over the public domain), or none [default: public with noise]
    #[arg(long, allow_hyphen_values = true)]
    clip: Option<Norm>,
    /// Radius of the projection: a number, needed (the smallest that works), or none
    #[arg(long, allow_hyphen_values = true, default_value = "needed")]
    projection: Radius,
    /// Failure probability for noise and batch gradients, in (0, 1) [probability]
    #[arg(long, value_name = "P", default_value = "4e-3", value_parser = numbers::number)]
    delta: f64,
    /// Failure probability for large Poisson batches, in (0, 1) [probability]
    #[arg(long, value_name = "P", default_value = "1e-3", value_parser = numbers::number)]
    delta_size: f64,
    /// Failure probability from batches to all records, in (0, 1) [probability]
    #[arg(long, value_name = "P", default_value = "1e-3", value_parser = numbers::number)]
    delta_transfer: f64,
    /// Failure probability for frequent records, in (0, 1) [probability]
    #[arg(long, value_name = "P", default_value = "1e-6", value_parser = numbers::number)]
    delta_count: f64,
    /// Use the mean loss of the comparator on batches, with this failure probability [probability]
    #[arg(long, value_name = "P", value_parser = numbers::number)]
    delta_comparator: Option<f64>,
    /// Divide the failure probabilities for the best value
    #[arg(long)]
    divide: bool,
    /// Pieces of every spline in the bounds of its derivatives, 1 to 4096 [count]
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = numbers::count)]
    pieces: u64,
    #[command(flatten)]
    output: OutputOptions,
}

impl CertificateCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let (data, sample) = self.network.data()?;
        let support = if self.population { self.network.support()? } else { None };
        let networks = self.network.grid();
        let runs = self.runs();
        let answers =
            networks.each(|point| self.answers(point, &runs, &data, &sample, support.as_ref()))?;
        let answers: Vec<Answer> = answers.into_iter().flatten().collect();
        let mut remarks = Vec::new();
        if data.scaled_by_data {
            remarks.push(SCALED_BY_DATA.to_owned());
        }
        write_answers_with(&answers, &remarks, &self.output)
    }

    /// The axes of the training.
    fn runs(&self) -> Grid {
        Grid::default()
            .optional_counts("batch", self.batch.as_ref())
            .optional("eta", self.eta.as_ref())
            .optional_counts("steps", self.steps.as_ref())
            .optional("kappa", self.kappa.as_ref())
            .optional("noise", self.noise.as_ref())
            .axis("lambda", &self.lambda)
    }

    /// All runs of one network.
    fn answers(
        &self,
        point: &Point,
        runs: &Grid,
        data: &Dataset,
        sample: &Sample,
        support: Option<&Sample>,
    ) -> Result<Vec<Answer>, Failure> {
        let (network, weights) = self.network.network(point, sample)?;
        let pieces = usize::try_from(self.pieces).unwrap_or(usize::MAX);
        let realised = RealisedConstants::of(&network, pieces)?;
        let seen = Linearisation::at(&network, &weights, sample)?;
        let known =
            support.map(|support| Linearisation::at(&network, &weights, support)).transpose()?;
        let mut ingredients = Ingredients::new(&seen, &realised, domain(data));
        if data.scaled_by_data {
            ingredients = ingredients.scaled_by_data();
        }
        if let Some(known) = &known {
            ingredients = ingredients.with_support(known)?;
        }
        runs.each(|run| {
            let found = certify(&ingredients, &self.question(run)?).map_err(named_as_options)?;
            Ok(self.answer(found, self.network.inputs(data, point)))
        })
    }

    fn question(&self, run: &Point) -> Result<Question, Failure> {
        let count = |name| run.get(name).map(|_| run.count(name)).transpose();
        let noise = match (run.get("kappa"), run.get("noise")) {
            (Some(kappa), _) => Noise::Multiplier(kappa),
            (None, Some(noise)) => Noise::Coordinate(noise),
            (None, None) => Noise::None,
        };
        let batch = count("batch")?;
        let sampler = self.sampler.into();
        if batch.is_none() && self.sampler != Sampler::Full {
            return Err(Failure::Usage(
                "batch is missing; a sampler other than full needs --batch".into(),
            ));
        }
        let clip = self.clip.map(|norm| norm.0);
        let default_clip = if noise == Noise::None { Choice::Off } else { Choice::Chosen };
        Ok(Question {
            routes: match self.route {
                RouteWord::Auto => Route::ALL.to_vec(),
                RouteWord::S => vec![Route::S],
                RouteWord::SGd => vec![Route::SGd],
                RouteWord::P => vec![Route::P],
                RouteWord::D => vec![Route::D],
            },
            claim: match self.claim {
                _ if self.population => Claim::Population,
                ClaimWord::Probability => Claim::Probability,
                ClaimWord::Expectation => Claim::Expectation,
            },
            batch,
            sampler,
            lambda: run.number("lambda")?,
            noise,
            clipping: match clip.unwrap_or(default_clip) {
                Choice::Off => Clipping::None,
                Choice::Chosen => Clipping::Public,
                Choice::At(norm) => Clipping::At(norm),
            },
            projection: match self.projection.0 {
                Choice::Off => Projection::None,
                Choice::Chosen => Projection::Needed,
                Choice::At(radius) => Projection::At(radius),
            },
            schedule: Schedule {
                step_size: run.get("eta"),
                steps: count("steps")?,
                most_steps: self.max_steps,
            },
            horizons: self.horizon.as_ref().map(|sweep| sweep.values.clone()),
            failures: Failures {
                noise: self.delta,
                batches: self.delta_size,
                transfer: self.delta_transfer,
                counts: self.delta_count,
                comparator: self.delta_comparator,
            },
            divide_failures: self.divide,
        })
    }

    fn answer(&self, found: Certificate, mut inputs: Vec<(String, Input)>) -> Answer {
        let training = found.training;
        #[allow(clippy::cast_precision_loss)] // counts below 2^53
        let whole = |value: u64| Input::Number(value as f64);
        let number = |value: Option<f64>| match value {
            Some(value) => Input::Number(value),
            None => Input::Word("none".into()),
        };
        let word = |text: &str| Input::Word(text.to_owned());
        let privacy = match &found.privacy {
            Privacy::None => "no claim",
            Privacy::Conditional(_) => "conditional",
            Privacy::Void(_) => "void",
        };
        let more = [
            ("route", word(found.route.name())),
            ("sampler", Input::Word(training.sampler.to_string())),
            ("batch", whole(training.batch)),
            ("eta", Input::Number(training.step_size)),
            ("steps", whole(training.steps)),
            ("lambda", Input::Number(training.lambda)),
            ("noise", Input::Number(training.noise)),
            ("clip", number(training.clipping)),
            ("projection", number(training.radius)),
            ("horizon", Input::Number(found.horizon)),
            ("privacy", word(privacy)),
        ];
        inputs.extend(more.map(|(name, input)| (name.to_owned(), input)));
        let derived = |name, value| Derived { name, value: Some(value), side: Side::Upper };
        let mut notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
        match &found.privacy {
            Privacy::None => {}
            Privacy::Conditional(text) | Privacy::Void(text) => notes.push(text.to_string()),
        }
        let looked = !self.population;
        for remedy in found.outlook.iter().flat_map(|outlook| &outlook.remedies) {
            notes.push(remedy_in_words(remedy, looked && training.noise > 0.0));
        }
        let derived = vec![
            derived("tau", found.distance),
            derived("L*", found.mean_loss),
            derived("largest l*", found.largest_loss),
            derived("G", found.landscape.gradient),
            derived("nu", found.landscape.curvature),
        ];
        Answer { derived, notes, ..Answer::new(inputs, found.bound) }
    }
}

/// A change that helps; `spoils` tells that one which was found on the data would void a claim of privacy.
fn remedy_in_words(remedy: &Remedy, spoils: bool) -> String {
    let spoils =
        if spoils { "; found by looking at the data, which voids a claim of privacy" } else { "" };
    match remedy {
        Remedy::Schedule { step_size, steps, value } => format!(
            "proven to work: --eta {} --steps {steps} (bound {}){spoils}",
            display(*step_size),
            display(*value)
        ),
        Remedy::Clipping { norm, value } => format!(
            "proven to work: --clip {} or --clip public (bound {})",
            display(*norm),
            display(*value)
        ),
        Remedy::Radius { radius, horizon, value } => format!(
            "proven to work: --projection {} --horizon {} (bound {}){spoils}",
            display(*radius),
            display(*horizon),
            display(*value)
        ),
        Remedy::Width { width, value } => format!(
            "estimate, no guarantee: a width of about {width} would do (bound about {}); constants, margin and \
                 comparator are carried over from this network",
            display(*value)
        ),
        Remedy::Records { records, value } => format!(
            "by the formulas: about {records} records of the same distribution would do (bound about {})",
            display(*value)
        ),
        Remedy::Noise { noise, value } => format!(
            "by the formulas: noise per coordinate of {} would do (bound about {})",
            display(*noise),
            display(*value)
        ),
    }
}

/// The error with the names of the options instead of those of the formulas.
fn named_as_options(error: BoundError) -> BoundError {
    let option = |name: &str| match name {
        "step_size" => Some("eta"),
        "radius" => Some("projection"),
        "clipping" => Some("clip"),
        "most_steps" => Some("max-steps"),
        "failure of the noise" => Some("delta"),
        "failure of the batch sizes" => Some("delta-size"),
        "failure of the transfer" => Some("delta-transfer"),
        "failure of the counts" => Some("delta-count"),
        "failure of the comparator" => Some("delta-comparator"),
        _ => None,
    };
    match error {
        BoundError::OutOfRange { parameter, value, allowed, remedy } => BoundError::OutOfRange {
            parameter: option(parameter).unwrap_or(parameter),
            value,
            allowed,
            remedy,
        },
        BoundError::Input { parameter, problem } => BoundError::Input {
            parameter: option(&parameter).map_or(parameter, str::to_owned),
            problem,
        },
        other => other,
    }
}
