//! `dpbounds bound pac-bayes`.

use clap::{Args, ValueEnum};
use dpbounds_bounds::pac_bayes::{
    Form, Prior, Problem, certify, gaussian_kl, prior_grid, sampling,
};
use dpbounds_bounds::{Bound, BoundError, Warrant};

use super::super::grid::{Grid, Point};
use super::super::numbers::Sweep;
use super::super::{Failure, OutputOptions};
use crate::output::write_answers;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormName {
    Kl,
    Mcallester,
    Quadratic,
    Lambda,
    Catoni,
}

impl From<FormName> for Form {
    fn from(name: FormName) -> Self {
        match name {
            FormName::Kl => Self::Kl,
            FormName::Mcallester => Self::McAllester,
            FormName::Quadratic => Self::Quadratic,
            FormName::Lambda => Self::Lambda,
            FormName::Catoni => Self::Catoni,
        }
    }
}

/// Risk certificate from training error, divergence and max-information.
#[derive(Debug, Args)]
#[command(after_help = "\
The empirical risk is --risk, or --errors among --draws independent draws of a model and a record, \
bounded at level --draws-delta (which adds to --delta).
Without --kl the certified model is the prior itself (a privately trained model): the sharper \
one-sided form. With --max-info the prior is private; the value is I^beta at beta = delta/2, \
or at --level.

Examples:
  dpbounds bound pac-bayes --risk 0.238 --n 60000 --delta 0.05 --max-info 1381
  dpbounds bound pac-bayes --risk 0.163 --n 60000 --delta 0.05 --max-info 1381 --kl 640 --form kl
  dpbounds bound pac-bayes --errors 120 --draws 1e4 --draws-delta 0.01 --n 6e4 --delta 0.04 --kl 50")]
pub struct PacBayes {
    /// Empirical risk of the (randomised) model, in [0, 1] [probability]
    #[arg(
        long,
        allow_hyphen_values = true,
        required_unless_present = "errors",
        conflicts_with = "errors"
    )]
    risk: Option<Sweep>,
    /// Errors among --draws, for an empirical risk estimated by sampling [count]
    #[arg(long, allow_hyphen_values = true, requires_all = ["draws", "draws_delta"])]
    errors: Option<Sweep>,
    /// Independent 0/1 draws behind --errors [count]
    #[arg(long, allow_hyphen_values = true, requires = "errors")]
    draws: Option<Sweep>,
    /// Failure probability of the sampled risk, in (0, 1) [probability]
    #[arg(long, allow_hyphen_values = true, requires = "errors")]
    draws_delta: Option<Sweep>,
    /// Records in the empirical risk [count]
    #[arg(long, allow_hyphen_values = true)]
    n: Sweep,
    /// Failure probability of the certificate, in (0, 1) [probability]
    #[arg(long, allow_hyphen_values = true)]
    delta: Sweep,
    /// KL(posterior || prior), >= 0 [nats]; leave out where the model is the prior itself
    #[arg(long, allow_hyphen_values = true, conflicts_with = "posterior_variance")]
    kl: Option<Sweep>,
    /// Max-information of the prior's mechanism at level delta/2 (or --level) [nats]
    #[arg(long, allow_hyphen_values = true)]
    max_info: Option<Sweep>,
    /// Level at which --max-info holds, in (0, delta) [probability]; default delta/2
    #[arg(long, allow_hyphen_values = true, requires = "max_info")]
    level: Option<Sweep>,
    /// Number of priors among which one was chosen by looking at the data [count]
    #[arg(long, allow_hyphen_values = true)]
    choices: Option<Sweep>,
    /// Variance of an isotropic Gaussian posterior, > 0: computes --kl
    #[arg(long, allow_hyphen_values = true, requires_all = ["prior_variance", "dimension", "squared_distance"])]
    posterior_variance: Option<Sweep>,
    /// Variance of the isotropic Gaussian prior, > 0
    #[arg(long, allow_hyphen_values = true, requires = "posterior_variance")]
    prior_variance: Option<Sweep>,
    /// Number of parameters of the Gaussians [count]
    #[arg(long, allow_hyphen_values = true, requires = "posterior_variance")]
    dimension: Option<Sweep>,
    /// Squared distance of the two means, >= 0
    #[arg(long, allow_hyphen_values = true, requires = "posterior_variance")]
    squared_distance: Option<Sweep>,
    /// Upper end c of a grid c exp(-j/b) of prior variances: the variance is moved to it and paid for
    #[arg(long, allow_hyphen_values = true, requires_all = ["posterior_variance", "prior_grid_b"])]
    prior_grid_c: Option<Sweep>,
    /// Points b of that grid per unit of log variance
    #[arg(long, allow_hyphen_values = true, requires = "prior_grid_c")]
    prior_grid_b: Option<Sweep>,
    /// Which form; without it the best, with the others below
    #[arg(long)]
    form: Option<FormName>,
    #[command(flatten)]
    output: OutputOptions,
}

impl PacBayes {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut grid = Grid::default().optional("risk", self.risk.as_ref());
        for (name, sweep) in [
            ("errors", &self.errors),
            ("draws", &self.draws),
            ("dimension", &self.dimension),
            ("choices", &self.choices),
        ] {
            if let Some(sweep) = sweep {
                grid = grid.counts(name, sweep);
            }
        }
        let grid = grid
            .optional("draws_delta", self.draws_delta.as_ref())
            .counts("n", &self.n)
            .axis("delta", &self.delta)
            .optional("kl", self.kl.as_ref())
            .optional("max_info", self.max_info.as_ref())
            .optional("level", self.level.as_ref())
            .optional("posterior_variance", self.posterior_variance.as_ref())
            .optional("prior_variance", self.prior_variance.as_ref())
            .optional("squared_distance", self.squared_distance.as_ref())
            .optional("prior_grid_c", self.prior_grid_c.as_ref())
            .optional("prior_grid_b", self.prior_grid_b.as_ref());
        let form = self.form.map(Form::from);
        let answers = grid.answers(|point| certificate(point, form))?;
        write_answers(&answers, &self.output)
    }
}

fn certificate(point: &Point, form: Option<Form>) -> Result<Bound, BoundError> {
    let (risk, sampled) = empirical_risk(point)?;
    let delta = point.number("delta")?;
    if sampled + delta >= 1.0 {
        return Err(BoundError::Input {
            parameter: "draws_delta".into(),
            problem: format!("{sampled} and delta = {delta} sum to 1 or more; lower one of them"),
        });
    }
    let (kl, penalty, note) = divergence(point)?;
    let prior = match point.get("max_info") {
        None => Prior::DataIndependent,
        Some(max_information) => {
            Prior::Private { max_information, level: point.get("level").unwrap_or(delta / 2.0) }
        }
    };
    let problem = Problem {
        risk,
        n: point.count("n")?,
        // A union bound over priors adds to the numerator exactly as the divergence does.
        kl: kl.map(|kl| kl + penalty),
        prior,
        delta,
        choices: point.get("choices").map_or(Ok(1), |_| point.count("choices"))?,
    };
    let mut bound = certify(&problem, form)?;
    if sampled > 0.0 {
        bound.warrant = Warrant::Confidence((1.0 - sampled).min(1.0 - f64::EPSILON));
    }
    for extra in
        note.into_iter().chain((sampled > 0.0).then(|| {
            format!("empirical risk by Clopper-Pearson, total failure {}", sampled + delta)
        }))
    {
        bound.source.statement = format!("{}; {extra}", bound.source.statement).into();
    }
    Ok(bound)
}

/// The empirical risk and the failure probability of its estimate.
fn empirical_risk(point: &Point) -> Result<(f64, f64), BoundError> {
    if point.get("errors").is_none() {
        return Ok((point.number("risk")?, 0.0));
    }
    let delta = point.number("draws_delta")?;
    let limit = sampling::clopper_pearson(point.count("errors")?, point.count("draws")?, delta)?;
    Ok((limit.certified_upper()?, delta))
}

/// The divergence, the penalty of a prior grid, and a note on the prior used.
fn divergence(point: &Point) -> Result<(Option<f64>, f64, Option<String>), BoundError> {
    let Some(posterior) = point.get("posterior_variance") else {
        return Ok((point.get("kl"), 0.0, None));
    };
    let mut prior = point.number("prior_variance")?;
    let (mut penalty, mut note) = (0.0, None);
    if let Some(c) = point.get("prior_grid_c") {
        let grid_point = prior_grid::nearest(prior, c, point.number("prior_grid_b")?)?;
        prior = grid_point.variance;
        penalty = grid_point.penalty;
        note = Some(format!("prior variance {prior:e} at grid point j = {}", grid_point.j));
    }
    let (dimension, distance) = (point.count("dimension")?, point.number("squared_distance")?);
    let kl = gaussian_kl::isotropic(dimension, distance, posterior, prior)?;
    Ok((Some(kl.certified_upper()?), penalty, note))
}
