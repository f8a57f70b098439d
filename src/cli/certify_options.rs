//! The options of `dpbounds certify` that set the network, the private prior and the posterior.

use clap::{Args, ValueEnum};
use dpbounds_experiments::certify::{
    Dense, Kan, MOST_UPDATES, Method, Model, PosteriorTraining, PrivatePrior, usual_max_information,
};

use super::Failure;
use super::numbers::{self, Sweep};

/// The network.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub struct ModelOptions {
    /// Kind of network
    #[arg(long, value_enum, default_value_t = NetworkWord::Kan)]
    network: NetworkWord,
    /// Dense: units of the hidden layers; default 600,600,600 [count]
    #[arg(long, value_name = "M,..", value_delimiter = ',')]
    hidden: Vec<usize>,
    /// KAN: units, an even number; default 64 [count]
    #[arg(long, value_name = "M")]
    width: Option<usize>,
    /// KAN: degree of the splines, 1 to 7; default 3
    #[arg(long, value_name = "K")]
    degree: Option<usize>,
    /// KAN: splines of an input, at least the degree + 1; default 4 [count]
    #[arg(long, value_name = "P")]
    splines: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NetworkWord {
    /// Two-layer KAN, two classes or groups
    Kan,
    /// Dense layers with ReLU, any number of classes
    Dense,
}

impl ModelOptions {
    pub(super) fn is_dense(&self) -> bool {
        self.network == NetworkWord::Dense
    }

    pub(super) fn model(&self) -> Result<Model, Failure> {
        let given = [self.width, self.degree, self.splines];
        if self.is_dense() && given.iter().any(Option::is_some) {
            let problem =
                "--width, --degree and --splines do not apply to --network dense; use --hidden";
            return Err(Failure::Usage(problem.into()));
        }
        if !self.is_dense() && !self.hidden.is_empty() {
            let problem = "--hidden does not apply to --network kan; use --width";
            return Err(Failure::Usage(problem.into()));
        }
        let or = |value: Option<usize>, usual| value.unwrap_or(usual);
        Ok(match self.network {
            NetworkWord::Kan => Model::Kan(Kan {
                degree: or(self.degree, 3),
                splines: or(self.splines, 4),
                width: or(self.width, 64),
            }),
            NetworkWord::Dense if self.hidden.is_empty() => {
                Model::Dense(Dense { hidden: vec![600; 3] })
            }
            NetworkWord::Dense => Model::Dense(Dense { hidden: self.hidden.clone() }),
        })
    }
}

/// DP-SGD; what is not given follows from the number of records.
#[derive(Debug, Args)]
#[command(next_help_heading = "Private prior (lists are candidates, all paid for)")]
pub struct PriorOptions {
    /// Updates [count]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    steps: Option<Sweep>,
    /// Batch size, the mean one for Poisson batches [records]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    batch: Option<Sweep>,
    /// Noise on the sum of clipped gradients, > 0 [clipping norms]
    #[arg(long, value_name = "SIGMA", allow_hyphen_values = true)]
    noise_multiplier: Option<Sweep>,
    /// Find the noise for this max-information instead, > 0; default 16, dense n/400 [nats]
    #[arg(long, value_name = "KAPPA", conflicts_with = "noise_multiplier", value_parser = numbers::number, allow_hyphen_values = true)]
    max_information: Option<f64>,
    /// Clipping norm, > 0
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    clip: Option<Sweep>,
    /// Step size, > 0
    #[arg(long, value_name = "ETA", allow_hyphen_values = true)]
    step_size: Option<Sweep>,
    /// Momentum, in [0, 1)
    #[arg(long, value_name = "MU", value_parser = numbers::number, allow_hyphen_values = true)]
    momentum: Option<f64>,
    /// Share of the weights, from the last, whose mean is the result, in [0, 1]
    #[arg(long, value_name = "SHARE", value_parser = numbers::number, allow_hyphen_values = true)]
    average: Option<f64>,
    /// Inverse temperature of the logistic loss, > 0
    #[arg(long, value_name = "BETA", value_parser = numbers::number, allow_hyphen_values = true)]
    inverse_temperature: Option<f64>,
    /// Noise correlation of the method correlated, in [0, 1)
    #[arg(long, value_name = "LAMBDA", value_parser = numbers::number, allow_hyphen_values = true)]
    lambda: Option<f64>,
}

impl PriorOptions {
    /// Whether anything is other than usual.
    pub(super) fn are_given(&self) -> bool {
        self.steps.is_some()
            || self.batch.is_some()
            || self.noise_multiplier.is_some()
            || self.max_information.is_some()
            || self.clip.is_some()
            || self.step_size.is_some()
            || self.momentum.is_some()
            || self.average.is_some()
            || self.inverse_temperature.is_some()
            || self.lambda.is_some()
    }

    /// Options without effect are refused rather than forgotten.
    pub(super) fn refuse_what_does_not_apply(&self, method: Method) -> Result<(), Failure> {
        if method == Method::DataIndependent && self.are_given() {
            return Err(Failure::Usage(
                "options of the private prior do not apply to --method data-independent; leave them out"
                    .into(),
            ));
        }
        if method != Method::Correlated && self.lambda.is_some() {
            return Err(Failure::Usage(format!(
                "--lambda does not apply to --method {method}; use --method correlated"
            )));
        }
        Ok(())
    }

    /// Every combination of what is given; the rest as usual.
    pub(super) fn candidates(
        &self,
        usual: &[PrivatePrior],
        method: Method,
        model: &Model,
        (records, level): (usize, f64),
    ) -> Result<Vec<PrivatePrior>, Failure> {
        let mut all: Vec<PrivatePrior> = usual.to_vec();
        for prior in &mut all {
            prior.momentum = self.momentum.unwrap_or(prior.momentum);
            prior.averaged = self.average.unwrap_or(prior.averaged);
            prior.inverse_temperature =
                self.inverse_temperature.unwrap_or(prior.inverse_temperature);
            if method == Method::Correlated {
                prior.lambda = self.lambda.unwrap_or(prior.lambda);
            }
        }
        let counts = |sweep: &Option<Sweep>, name: &str| -> Result<Option<Vec<u64>>, Failure> {
            let Some(sweep) = sweep else { return Ok(None) };
            let whole = sweep.counts().into_iter().map(|value| numbers::count(&value.to_string()));
            let all: Result<Vec<u64>, String> = whole.collect();
            Ok(Some(all.map_err(|problem| Failure::Usage(format!("--{name}: {problem}")))?))
        };
        let reals = |sweep: &Option<Sweep>| sweep.as_ref().map(|sweep| sweep.values.clone());
        expand(&mut all, counts(&self.steps, "steps")?, |prior, value| prior.updates = value);
        if method != Method::Poisson && self.steps.is_some() && self.batch.is_none() {
            for prior in &mut all {
                let updates = usize::try_from(prior.updates).unwrap_or(usize::MAX).max(1);
                prior.batch = (records / updates).max(1);
            }
        }
        expand(&mut all, counts(&self.batch, "batch")?, |prior, value| {
            prior.batch = usize::try_from(value).unwrap_or(usize::MAX);
        });
        if let Some(prior) = all.iter().find(|prior| prior.updates > MOST_UPDATES) {
            let problem = format!("--steps {} is above {MOST_UPDATES}; use fewer", prior.updates);
            return Err(Failure::Usage(problem));
        }
        expand(&mut all, reals(&self.clip), |prior, value| prior.clip = value);
        if self.step_size.is_none() && matches!(model, Model::Kan(_)) {
            all.iter_mut().for_each(|prior| prior.step_size = prior.usual_step_size());
        }
        expand(&mut all, reals(&self.step_size), |prior, value| prior.step_size = value);
        if let Some(noise) = reals(&self.noise_multiplier) {
            expand(&mut all, Some(noise), |prior, value| prior.noise_multiplier = value);
            return Ok(all);
        }
        let nats = self.max_information.unwrap_or_else(|| usual_max_information(model, records));
        let calibrated =
            all.into_iter().map(|prior| prior.with_max_information(records, nats, level));
        Ok(calibrated.collect::<Result<_, _>>()?)
    }
}

/// Every prior with every value.
fn expand<T: Copy>(
    all: &mut Vec<PrivatePrior>,
    values: Option<Vec<T>>,
    set: impl Fn(&mut PrivatePrior, T),
) {
    let Some(values) = values else { return };
    *all = all
        .iter()
        .flat_map(|prior| {
            values.iter().map(|value| {
                let mut prior = *prior;
                set(&mut prior, *value);
                prior
            })
        })
        .collect();
}

/// The posterior.
#[derive(Debug, Args)]
#[command(next_help_heading = "Posterior")]
pub struct PosteriorOptions {
    /// Standard deviations of a weight, of which the best is chosen and all are paid for, > 0
    #[arg(long, value_name = "S,..", allow_hyphen_values = true)]
    spread: Option<Sweep>,
    /// Updates of its mean [count]
    #[arg(long, value_name = "N")]
    posterior_steps: Option<u64>,
    /// Batch size of these updates [records]
    #[arg(long, value_name = "B")]
    posterior_batch: Option<usize>,
    /// Step size in units of the squared spread, > 0
    #[arg(long, value_name = "ETA", value_parser = numbers::number, allow_hyphen_values = true)]
    posterior_rate: Option<f64>,
    /// Draws of a network for every record, for the sampled risk [count]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    draws: Option<u32>,
}

impl PosteriorOptions {
    pub(super) fn spreads(&self, usual: Vec<f64>) -> Vec<f64> {
        self.spread.as_ref().map_or(usual, |sweep| sweep.values.clone())
    }

    pub(super) fn training(&self, usual: PosteriorTraining) -> PosteriorTraining {
        PosteriorTraining {
            steps: self.posterior_steps.unwrap_or(usual.steps),
            batch: self.posterior_batch.unwrap_or(usual.batch),
            rate: self.posterior_rate.unwrap_or(usual.rate),
            ..usual
        }
    }

    pub(super) fn draws(&self, usual: u32) -> u32 {
        self.draws.unwrap_or(usual)
    }
}
