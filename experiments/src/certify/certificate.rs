//! From the ingredients to the certified risks.

use dpbounds_bounds::max_information::{FailureLevel, correlated, dp_sgd, streaming};
use dpbounds_bounds::pac_bayes::{complexity, kl_inverse_upper, sampling};
use dpbounds_bounds::privacy::Sampler;
use dpbounds_bounds::{Bound, BoundError};
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::private_prior::PrivatePrior;

/// Everything that a certificate is computed from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ingredients {
    /// Records n in the empirical risks.
    pub records: u64,
    /// How the mean of the prior was learned: one way, or several of which all are released and one is chosen by
    /// looking at the sample; none if it does not depend on the data.
    pub priors: Vec<PrivatePrior>,
    /// Prior spreads among which one was chosen by looking at the sample: a union bound pays for them.
    pub spreads: u64,
    /// Divergence of the posterior from the prior [nats].
    pub kl: f64,
    /// Training errors of the private model.
    pub model_errors: Option<u64>,
    /// Errors of the posterior in `draws` independent draws of a network and a record.
    pub gibbs_errors: u64,
    /// The number of draws.
    pub draws: u64,
    /// Failure probabilities of the parts.
    pub budget: Budget,
}

/// What follows from the [`Ingredients`], each number on the safe side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certified {
    /// Max-information κ of the private model [nats], and the statement that gives it.
    pub max_information: Option<f64>,
    /// Where κ comes from.
    pub max_information_source: Option<String>,
    /// Empirical risk of the private model.
    pub model_risk: Option<f64>,
    /// Nats per record in its bound.
    pub model_complexity: Option<f64>,
    /// `B(h_0)`: its risk is at most this.
    pub model_bound: Option<f64>,
    /// Empirical Gibbs risk of the posterior, as estimated.
    pub posterior_risk: f64,
    /// Upper confidence limit of that risk.
    pub posterior_risk_upper: f64,
    /// Nats per record in the bound.
    pub posterior_complexity: f64,
    /// `B(ρ)`: the Gibbs risk is at most this.
    pub posterior_bound: f64,
    /// All of the above fail together with at most this probability.
    pub failure_probability: f64,
}

/// κ of the joint release of all private models at level `level`, from `records` records.
///
/// A stream uses every record once, and there is one; with independent noise Theorem 4 and its hockey-stick form
/// apply, with correlated noise ours. Poisson batches go through their Rényi curve in the replace-one relation, which
/// adds up over the updates of all models.
///
/// # Errors
/// [`BoundError`] for settings out of range or runs without such a bound.
pub fn max_information(
    priors: &[PrivatePrior],
    records: u64,
    level: f64,
) -> Result<Bound, BoundError> {
    let level = FailureLevel::from_beta(level)?;
    if let [one] = priors
        && one.sampler == Sampler::Stream
    {
        let PrivatePrior { batch, updates, noise_multiplier, lambda, .. } = *one;
        if updates.saturating_mul(batch as u64) > records {
            return Err(BoundError::Input {
                parameter: "steps".into(),
                problem: format!(
                    "{updates} updates of {batch} records use some of {records} records twice; a stream may not"
                ),
            });
        }
        return if lambda == 0.0 {
            streaming::best(batch as u64, updates, noise_multiplier, level)
        } else {
            correlated::best(batch as u64, updates, noise_multiplier, lambda, level)
        };
    }
    let has_no_bound =
        |prior: &&PrivatePrior| prior.sampler != Sampler::Poisson || prior.lambda != 0.0;
    if let Some(other) = priors.iter().find(has_no_bound) {
        return Err(BoundError::Input {
            parameter: "sampler".into(),
            problem: format!(
                "there is no bound for {} runs with {} batches and lambda = {}; use one stream, or Poisson batches with independent noise",
                priors.len(),
                other.sampler,
                other.lambda
            ),
        });
    }
    #[allow(clippy::cast_precision_loss)]
    let rate = |prior: &PrivatePrior| prior.batch as f64 / records as f64;
    let runs: Vec<_> =
        priors.iter().map(|prior| (rate(prior), prior.noise_multiplier, prior.updates)).collect();
    dp_sgd::poisson_runs(records, &runs, level)
}

/// [`max_information`], or none without private models.
pub(super) fn joint_max_information(
    priors: &[PrivatePrior],
    records: u64,
    level: f64,
) -> Result<Option<Bound>, BoundError> {
    if priors.is_empty() { Ok(None) } else { max_information(priors, records, level).map(Some) }
}

impl Ingredients {
    /// The certified risks.
    ///
    /// # Errors
    /// [`BoundError`] for ingredients out of range.
    pub fn certify(&self) -> Result<Certified, BoundError> {
        self.budget.check(!self.priors.is_empty()).map_err(|error| BoundError::Input {
            parameter: "budget".into(),
            problem: error.to_string(),
        })?;
        self.certify_with(joint_max_information(
            &self.priors,
            self.records,
            self.budget.max_information,
        )?)
    }

    /// The same with the [`max_information`] of the priors, if there are any.
    pub(super) fn certify_with(&self, kappa: Option<Bound>) -> Result<Certified, BoundError> {
        let n = self.records;
        let budget = self.budget;
        let kappa_value = kappa.as_ref().map(safe).transpose()?;
        #[allow(clippy::cast_precision_loss)]
        let choice = (self.priors.len().max(1) as f64).ln();
        #[allow(clippy::cast_precision_loss)]
        let nats = self.kl + choice + (self.spreads as f64).ln();
        let posterior_complexity = safe(&match kappa_value {
            Some(kappa) => complexity::private_prior_at_level(
                n,
                nats,
                kappa,
                budget.max_information + budget.posterior,
                budget.max_information,
            )?,
            None => complexity::seeger(n, nats, budget.posterior)?,
        })?;
        let upper = safe(&sampling::langford(self.gibbs_errors, self.draws, budget.sampling)?)?;
        let model = match (kappa_value, self.model_errors) {
            (Some(kappa), Some(errors)) => {
                let (level, delta) =
                    (budget.max_information, budget.max_information + budget.model);
                let complexity =
                    safe(&complexity::private_model(n, kappa + choice, delta, level)?)?;
                #[allow(clippy::cast_precision_loss)]
                let risk = errors as f64 / n as f64;
                let bound = safe(&kl_inverse_upper(risk, complexity)?)?.min(1.0);
                Some((risk, complexity, bound))
            }
            _ => None,
        };
        #[allow(clippy::cast_precision_loss)]
        let posterior_risk = self.gibbs_errors as f64 / self.draws as f64;
        Ok(Certified {
            max_information: kappa_value,
            max_information_source: kappa
                .map(|bound| format!("{}: {}", bound.source.work, bound.source.statement)),
            model_risk: model.map(|(risk, _, _)| risk),
            model_complexity: model.map(|(_, complexity, _)| complexity),
            model_bound: model.map(|(_, _, bound)| bound),
            posterior_risk,
            posterior_risk_upper: upper,
            posterior_complexity,
            posterior_bound: safe(&kl_inverse_upper(upper, posterior_complexity)?)?.min(1.0),
            failure_probability: budget.total(),
        })
    }
}

/// The side of a bound that is rounded up.
fn safe(bound: &Bound) -> Result<f64, BoundError> {
    bound.upper.or(bound.value).ok_or_else(|| BoundError::Input {
        parameter: "certificate".into(),
        problem: bound
            .reason
            .clone()
            .map_or_else(|| "no value".into(), |reason| reason.to_string()),
    })
}
