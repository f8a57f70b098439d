//! One certificate: a prior, a posterior, and the ingredients of the bounds.

use dpbounds_bounds::kan::{Activation, Initialisation, Knots, Network, SplineBasis, initialise};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::certificate::{Certified, Ingredients, joint_max_information};
use super::dense;
use super::error::{CertifyError, Result, out_of_range};
use super::machine::{Machine, Spread, squared_distance};
use super::posterior::{self, PosteriorTraining, Problem, Trained};
use super::private_prior;
use super::sample::Sample;
use super::settings::{Kan, Model, Settings};
use crate::kan::{Aligned, Examples};

/// A finished certificate with its networks and what was measured beside it.
#[derive(Debug, Clone)]
pub struct Run {
    /// What the bounds are computed from.
    pub ingredients: Ingredients,
    /// The bounds.
    pub certified: Certified,
    /// Number of the private model that was chosen, from 0.
    pub chosen: usize,
    /// The spread s that was chosen.
    pub spread: f64,
    /// Share of the gradients that were clipped while the chosen private model was learned.
    pub clipped: Option<f64>,
    /// Mean of the prior: row-major `m x dp`, or layer after layer.
    pub prior: Vec<f32>,
    /// Mean of the posterior.
    pub posterior: Vec<f32>,
    /// Standard deviations of the posterior, where they are not all the spread s.
    pub deviations: Vec<f32>,
    /// What the test records say; no part of the certificate.
    pub test: Tested,
    /// Instructions of the processor that counted the errors.
    pub instruction_set: String,
}

/// Errors on the test records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tested {
    /// Of the private model.
    pub model: Option<f64>,
    /// Of the posterior.
    pub posterior: Option<f64>,
}

/// Seeds of the draws are apart from those of the training.
pub(super) const DRAWS: u64 = 0x6472_6177_7300_0000;
pub(super) const TEST: u64 = 0x7465_7374_0000_0000;
/// Updates of the trials that choose a spread.
const TRIAL: u64 = 40;
/// Noise and batches of the private prior have keys apart from those that draw synthetic data.
const PRIOR: u64 = 0x7072_696f_7200_0000;

/// The network of a seed, and its initial weights.
fn network(model: &Kan, inputs: usize, seed: u64) -> Result<(Network, Vec<f64>)> {
    let basis = SplineBasis::new(model.degree, model.splines, Knots::Clamped)?;
    Ok(initialise(basis, Activation::Tanh, inputs, model.width, Initialisation::Greville, seed)?)
}

/// Learns a prior, trains a posterior and certifies both on the sample. The test records are used for
/// [`Run::test`] only.
///
/// # Errors
/// [`CertifyError`] for settings that do not fit or a training that diverges.
pub fn run(settings: &Settings, sample: &Sample, seed: u64) -> Result<Run> {
    settings.check(sample.records())?;
    match &settings.model {
        Model::Kan(model) => run_kan(settings, model, sample, seed),
        Model::Dense(model) => dense::run(settings, model, sample, seed),
    }
}

fn run_kan(settings: &Settings, model: &Kan, sample: &Sample, seed: u64) -> Result<Run> {
    let (records, examples) = (sample.records(), sample.train.signs()?);
    let (network, start) = network(model, examples.inputs(), seed)?;
    let mut machine = Machine::new(&network, examples)?;
    let start: Aligned<f32> = machine.layout().import(&start);
    let learned = learn_all(&mut machine, examples, &start, settings, seed)?;
    let level = settings.budget.max_information;
    let kappa = joint_max_information(&settings.priors, records as u64, level)?;
    let prior = &learned.weights;
    let cost = kappa.as_ref().and_then(|bound| bound.value).unwrap_or(0.0);
    let (spread, trained) = train_posterior(&mut machine, settings, prior, cost, records, seed)?;
    let kl = divergence(&trained.weights, prior, spread);
    let gibbs = gibbs_errors(&mut machine, &trained.weights, spread, settings.draws, seed);
    let ingredients = ingredients(settings, records, kl, (learned.errors, gibbs));
    let certified = ingredients.certify_with(kappa)?;
    let test = match &sample.test {
        Some(test) => {
            let test = test.signs()?;
            let mut machine = Machine::new(&network, test)?;
            measure(&mut machine, test, &learned, &trained.weights, spread, seed)
        }
        None => Tested::default(),
    };
    let layout = machine.layout();
    #[allow(clippy::cast_possible_truncation)] // singles in the first place
    let export = |weights: &Aligned<f32>| -> Vec<f32> {
        layout.export::<f32>(weights).into_iter().map(|w| w as f32).collect()
    };
    Ok(Run {
        ingredients,
        certified,
        chosen: learned.chosen,
        spread,
        clipped: learned.errors.map(|_| learned.clipped),
        prior: export(prior),
        posterior: export(&trained.weights),
        deviations: Vec::new(),
        test,
        instruction_set: machine.instruction_set(),
    })
}

/// What the bounds are computed from: the divergence, and the errors of the private model and of the draws.
pub(super) fn ingredients(
    settings: &Settings,
    records: usize,
    kl: f64,
    (model_errors, gibbs_errors): (Option<u64>, u64),
) -> Ingredients {
    Ingredients {
        records: records as u64,
        priors: settings.priors.clone(),
        spreads: settings.spreads.len() as u64,
        kl,
        model_errors,
        gibbs_errors,
        draws: u64::from(settings.draws) * records as u64,
        budget: settings.budget,
    }
}

/// The spread with the smallest estimated bound in a trial; the only one is not tried.
pub(super) fn best_spread(spreads: &[f64], mut trial: impl FnMut(f64) -> f64) -> f64 {
    let mut best = (f64::INFINITY, spreads[0]);
    if let [_] = spreads {
        return best.1;
    }
    for &spread in spreads {
        let bound = trial(spread);
        if bound < best.0 {
            best = (bound, spread);
        }
    }
    best.1
}

/// The private model that was chosen, or the initial weights.
struct Prior {
    weights: Aligned<f32>,
    chosen: usize,
    errors: Option<u64>,
    clipped: f64,
}

/// All private models are released; the one with the fewest training errors is taken.
fn learn_all(
    machine: &mut Machine<'_>,
    examples: &Examples<f32>,
    start: &Aligned<f32>,
    settings: &Settings,
    seed: u64,
) -> Result<Prior> {
    let mut best: Option<Prior> = None;
    for (chosen, prior) in settings.priors.iter().enumerate() {
        let seed = candidate_seed(seed, chosen);
        let learned = private_prior::learn(machine, examples, start, prior, seed)?;
        let errors = machine.errors(&learned.weights);
        if best.as_ref().is_none_or(|best| Some(errors) < best.errors) {
            let (weights, clipped) = (learned.weights, learned.clipped);
            best = Some(Prior { weights, chosen, errors: Some(errors), clipped });
        }
    }
    let initial =
        || Prior { weights: private_prior::copy(start), chosen: 0, errors: None, clipped: 0.0 };
    Ok(best.unwrap_or_else(initial))
}

/// Candidates have noise and batches of their own.
pub(super) fn candidate_seed(seed: u64, candidate: usize) -> u64 {
    (seed ^ PRIOR).wrapping_add((candidate as u64) << 40)
}

/// Chooses a spread by short trials, then trains the posterior with it.
fn train_posterior(
    machine: &mut Machine<'_>,
    settings: &Settings,
    prior: &Aligned<f32>,
    kappa: f64,
    records: usize,
    seed: u64,
) -> Result<(f64, Trained)> {
    #[allow(clippy::cast_precision_loss)]
    let n = records as f64;
    let nats = kappa + confidence_nats(settings, records);
    let train = |machine: &mut Machine<'_>, deviation: f64, training: PosteriorTraining| {
        let problem = Problem { prior, deviation, nats, records, settings: training, seed };
        posterior::train(machine, &problem)
    };
    let trial =
        PosteriorTraining { steps: settings.posterior.steps.min(TRIAL), ..settings.posterior };
    let spread = best_spread(&settings.spreads, |spread| {
        let trained = train(machine, spread, trial);
        posterior::bound(trained.smoothed_risk, (trained.kl + nats) / n)
    });
    let trained = train(machine, spread, settings.posterior);
    if trained.weights.iter().all(|w| w.is_finite()) && trained.kl.is_finite() {
        return Ok((spread, trained));
    }
    Err(CertifyError::Diverged {
        part: "the posterior",
        seed,
        remedy: "use a smaller --posterior-rate",
    })
}

/// Nats in the posterior's bound beside divergence and max-information.
#[allow(clippy::cast_precision_loss)]
pub(super) fn confidence_nats(settings: &Settings, records: usize) -> f64 {
    let choices = (settings.spreads.len() * settings.priors.len().max(1)) as f64;
    choices.ln() + (2.0 * (records as f64).sqrt() / settings.budget.posterior).ln()
}

/// `‖W − W_0‖²/(2s²)`, raised by more than the error of the summation.
fn divergence(posterior: &Aligned<f32>, prior: &Aligned<f32>, spread: f64) -> f64 {
    squared_distance(posterior, prior) / (2.0 * spread * spread) * (1.0 + 1e-9)
}

fn gibbs_errors(
    machine: &mut Machine<'_>,
    posterior: &Aligned<f32>,
    spread: f64,
    draws: u32,
    seed: u64,
) -> u64 {
    let key = ChaCha8Rng::seed_from_u64(seed ^ DRAWS).random();
    machine.gibbs_errors(posterior, Spread { deviation: spread, key, stream: 0 }, draws)
}

#[allow(clippy::cast_precision_loss)]
fn measure(
    machine: &mut Machine<'_>,
    test: &Examples<f32>,
    prior: &Prior,
    posterior: &Aligned<f32>,
    spread: f64,
    seed: u64,
) -> Tested {
    const DRAWS_A_RECORD: u32 = 20;
    let records = test.len() as f64;
    let key = ChaCha8Rng::seed_from_u64(seed ^ TEST).random();
    let at = Spread { deviation: spread, key, stream: 0 };
    let wrong = machine.gibbs_errors(posterior, at, DRAWS_A_RECORD) as f64;
    Tested {
        model: prior.errors.map(|_| machine.errors(&prior.weights) as f64 / records),
        posterior: Some(wrong / records / f64::from(DRAWS_A_RECORD)),
    }
}

/// What a saved certificate counts, counted again.
pub(super) struct Recount {
    pub(super) kl: f64,
    pub(super) model_errors: Option<u64>,
    pub(super) gibbs_errors: u64,
    pub(super) instruction_set: String,
    /// Whether the mean of the prior is what it has to be, where that is the initial network.
    pub(super) prior_is_initial: bool,
}

/// Counts again with weights as [`Run`] has them: means of prior and posterior, deviations, and the spread.
pub(super) fn recount(
    settings: &Settings,
    sample: &Sample,
    (prior, posterior, deviations): (&[f32], &[f32], &[f32]),
    (spread, seed): (f64, u64),
) -> Result<Recount> {
    let model = match &settings.model {
        Model::Kan(model) => model,
        Model::Dense(model) => {
            let weights = (prior, posterior, deviations);
            return dense::recount(settings, model, sample, weights, (spread, seed));
        }
    };
    let examples = sample.train.signs()?;
    let (network, start) = network(model, examples.inputs(), seed)?;
    let mut machine = Machine::new(&network, examples)?;
    if prior.len() != network.parameters() {
        let allowed = format!("{} for the network of the certificate", network.parameters());
        return Err(out_of_range("number of weights", prior.len(), allowed));
    }
    #[allow(clippy::cast_possible_truncation)]
    let is_start = start.iter().zip(prior).all(|(start, prior)| *start as f32 == *prior);
    let layout = machine.layout();
    let import = |weights: &[f32]| -> Aligned<f32> {
        layout.import(&weights.iter().map(|w| f64::from(*w)).collect::<Vec<_>>())
    };
    let (prior, posterior) = (import(prior), import(posterior));
    Ok(Recount {
        kl: divergence(&posterior, &prior, spread),
        model_errors: (!settings.priors.is_empty()).then(|| machine.errors(&prior)),
        gibbs_errors: gibbs_errors(&mut machine, &posterior, spread, settings.draws, seed),
        instruction_set: machine.instruction_set(),
        prior_is_initial: is_start || !settings.priors.is_empty(),
    })
}
