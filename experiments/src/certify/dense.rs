//! Certificates of dense multi-class networks.

use std::borrow::Cow;

use dpbounds_bounds::Bound;
use pulp::Arch;

use super::certificate::joint_max_information;
use super::error::{CertifyError, Result};
use super::posterior::PosteriorTraining;
use super::private_prior::PrivatePrior;
use super::run::{
    DRAWS, Recount, Run, TEST, Tested, best_spread, candidate_seed, confidence_nats, ingredients,
};
use super::sample::{Part, Sample};
use super::settings::{Dense, Settings};
use crate::mlp::{
    DpSgd, Gaussian, Network, PosteriorSettings, Records, error_rate, gibbs_errors,
    train_posterior, train_private,
};
use crate::train::{TrainError, instruction_set};

/// Probabilities below this count as it in the cross-entropy of the posterior's training.
const LEAST_PROBABILITY: f64 = 1e-5;
/// Draws for every test record.
const TEST_DRAWS: u32 = 5;

fn network(model: &Dense, records: &Records) -> Result<Network> {
    let ends = (std::iter::once(records.inputs()), std::iter::once(records.classes()));
    let widths: Vec<usize> = ends.0.chain(model.hidden.iter().copied()).chain(ends.1).collect();
    Ok(Network::new(&widths)?)
}

/// Several classes as they are, two signs as two classes.
fn records(part: &Part) -> Result<Cow<'_, Records>> {
    match part {
        Part::Classes(records) => Ok(Cow::Borrowed(records)),
        Part::Signs(examples) => {
            let all = 0..examples.len();
            let features = all.flat_map(|row| examples.row(row).iter().copied()).collect();
            let labels = examples.labels().iter().map(|label| u8::from(*label > 0.0)).collect();
            Ok(Cow::Owned(Records::new(features, labels, examples.inputs(), 2)?))
        }
    }
}

pub(super) fn run(settings: &Settings, model: &Dense, sample: &Sample, seed: u64) -> Result<Run> {
    let train = records(&sample.train)?;
    let network = network(model, &train)?;
    let start = network.initialise(seed);
    let n = train.len();
    let (prior, chosen, model_errors) = learn_all(&network, &start, &train, settings, seed)?;
    let level = settings.budget.max_information;
    let kappa = joint_max_information(&settings.priors, n as u64, level)?;
    let cost = kappa.as_ref().and_then(|bound: &Bound| bound.value).unwrap_or(0.0);
    let (spread, posterior, kl) = best_posterior(&network, &prior, &train, settings, cost, seed)?;
    let gibbs_errors = gibbs_errors(&network, &posterior, &train, settings.draws, seed ^ DRAWS)?;
    let ingredients = ingredients(settings, n, kl, (model_errors, gibbs_errors));
    let certified = ingredients.certify_with(kappa)?;
    let test = match &sample.test {
        None => Tested::default(),
        Some(test) => {
            let test = records(test)?;
            let seed = seed ^ TEST;
            let wrong = gibbs_errors_of(&network, &posterior, &test, seed)?;
            let model = model_errors.map(|_| error_rate(&network, &prior, &test)).transpose()?;
            Tested { model, posterior: Some(wrong) }
        }
    };
    Ok(Run {
        ingredients,
        certified,
        chosen,
        spread,
        clipped: None,
        prior,
        posterior: posterior.mean,
        deviations: posterior.deviation,
        test,
        instruction_set: instruction_set(Arch::new()),
    })
}

#[allow(clippy::cast_precision_loss)]
fn gibbs_errors_of(
    network: &Network,
    posterior: &Gaussian,
    test: &Records,
    seed: u64,
) -> Result<f64> {
    let wrong = gibbs_errors(network, posterior, test, TEST_DRAWS, seed)?;
    Ok(wrong as f64 / test.len() as f64 / f64::from(TEST_DRAWS))
}

/// The weights of the private network with the fewest training errors, its number and these errors; the initial
/// weights without candidates.
fn learn_all(
    network: &Network,
    start: &[f32],
    train: &Records,
    settings: &Settings,
    seed: u64,
) -> Result<(Vec<f32>, usize, Option<u64>)> {
    let mut best = (start.to_vec(), 0, None);
    for (number, prior) in settings.priors.iter().enumerate() {
        let seed = candidate_seed(seed, number);
        let weights =
            train_private(network, start, train, &dp_sgd(prior, seed)).map_err(|error| {
                diverged(error, "the private prior", seed, "use a smaller --step-size")
            })?;
        let errors = count_errors(network, &weights, train)?;
        if best.2.is_none_or(|least| errors < least) {
            best = (weights, number, Some(errors));
        }
    }
    Ok(best)
}

fn dp_sgd(prior: &PrivatePrior, seed: u64) -> DpSgd {
    DpSgd {
        sampler: prior.sampler,
        batch: prior.batch,
        steps: prior.updates,
        clip: prior.clip,
        sigma: prior.noise_multiplier,
        step_size: prior.step_size,
        momentum: prior.momentum,
        average_last: prior.averaged,
        seed,
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn count_errors(network: &Network, weights: &[f32], records: &Records) -> Result<u64> {
    Ok((error_rate(network, weights, records)? * records.len() as f64).round() as u64)
}

/// Chooses a spread by trials of one pass each, then trains the posterior with it.
fn best_posterior(
    network: &Network,
    prior: &[f32],
    records: &Records,
    settings: &Settings,
    kappa: f64,
    seed: u64,
) -> Result<(f64, Gaussian, f64)> {
    let PosteriorTraining { steps, batch, rate, momentum } = settings.posterior;
    #[allow(clippy::cast_precision_loss)]
    let n = records.len() as f64;
    let nats = kappa + confidence_nats(settings, records.len());
    let train = |spread: f64, passes: u64| {
        let training = PosteriorSettings {
            prior_deviation: spread,
            added_nats: nats.max(0.0),
            epochs: u32::try_from(passes).unwrap_or(u32::MAX),
            batch,
            step_size: rate * spread * spread,
            momentum,
            least_probability: LEAST_PROBABILITY,
            seed,
        };
        train_posterior(network, prior, records, &training, |_, _| true).map_err(|error| {
            diverged(error, "the posterior", seed, "use a smaller --posterior-rate")
        })
    };
    let spread = best_spread(&settings.spreads, |spread| {
        train(spread, 1).map_or(f64::INFINITY, |trained| {
            let complexity = (trained.divergence + nats) / n;
            super::posterior::bound(trained.loss.clamp(0.0, 1.0), complexity)
        })
    });
    let passes = steps.saturating_mul(batch as u64).div_ceil(records.len() as u64);
    let trained = train(spread, passes)?;
    Ok((spread, trained.posterior, trained.divergence * (1.0 + 1e-9)))
}

fn diverged(
    error: TrainError,
    part: &'static str,
    seed: u64,
    remedy: &'static str,
) -> CertifyError {
    match error {
        TrainError::Diverged { .. } => CertifyError::Diverged { part, seed, remedy },
        other => other.into(),
    }
}

/// Counts a saved certificate's errors again.
pub(super) fn recount(
    settings: &Settings,
    model: &Dense,
    sample: &Sample,
    (prior, posterior, deviations): (&[f32], &[f32], &[f32]),
    (spread, seed): (f64, u64),
) -> Result<Recount> {
    let train = records(&sample.train)?;
    let network = network(model, &train)?;
    let posterior = Gaussian { mean: posterior.to_vec(), deviation: deviations.to_vec() };
    posterior.check(&network)?;
    let has_model = !settings.priors.is_empty();
    Ok(Recount {
        kl: posterior.divergence(prior, spread)? * (1.0 + 1e-9),
        model_errors: has_model.then(|| count_errors(&network, prior, &train)).transpose()?,
        gibbs_errors: gibbs_errors(&network, &posterior, &train, settings.draws, seed ^ DRAWS)?,
        instruction_set: instruction_set(Arch::new()),
        prior_is_initial: has_model || network.initialise(seed) == prior,
    })
}
