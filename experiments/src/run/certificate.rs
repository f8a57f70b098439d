//! The certificate of a run, computed before its first step.

use dpbounds_bounds::kan::certificates::{
    Certificate, Claim, Clipping, Failures, Ingredients, Noise, Outlook, Privacy, Projection,
    Question, Route, Schedule, certify,
};
use dpbounds_bounds::kan::{InputDomain, Linearisation, RealisedConstants};
use dpbounds_bounds::{Bound, BoundError};
use serde::{Deserialize, Serialize};

use super::grid::{Plan, Point};
use super::material::Data;
use crate::data::{Dataset, Domain};
use crate::train::{Sampler, Settings};

/// The table `[certificate]`: every run is certified before it is trained. Step size, steps, batches, noise, clipping norm
/// and radius are those of the run; none is searched for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CertificateSpec {
    /// Which statement certifies.
    pub route: RouteName,
    /// What is bounded; each claim has a certificate of its own.
    pub claims: Vec<Claim>,
    /// Failure probability for noise and batch gradients.
    pub delta: f64,
    /// Failure probability for large Poisson batches.
    pub delta_size: f64,
    /// Failure probability from batches to all records.
    pub delta_transfer: f64,
    /// Failure probability for frequent records.
    pub delta_count: f64,
    /// Failure probability for the mean loss of the comparator on batches; its largest loss is used if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_comparator: Option<f64>,
    /// Whether the failure probabilities are divided for the best value.
    pub divide: bool,
    /// Horizons of the comparator; searched for if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub horizons: Vec<f64>,
    /// Pieces of every spline in the bounds of its derivatives.
    pub pieces: usize,
}

impl Default for CertificateSpec {
    fn default() -> Self {
        let Failures { noise, batches, transfer, counts, comparator } = Failures::default();
        Self {
            route: RouteName::Auto,
            claims: vec![Claim::Probability],
            delta: noise,
            delta_size: batches,
            delta_transfer: transfer,
            delta_count: counts,
            delta_comparator: comparator,
            divide: false,
            horizons: Vec::new(),
            pieces: 32,
        }
    }
}

/// A statement that certifies, or the best of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RouteName {
    /// The best of all that apply.
    Auto,
    /// Theorem S.
    S,
    /// Theorem S-GD.
    SGd,
    /// Certificate P.
    P,
    /// Certificate D.
    D,
}

/// What was proven about a run before it began, or why nothing was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certified {
    /// What is bounded.
    pub claim: Claim,
    /// The statement that leads: `S`, `S-GD`, `P` or `D`; none where none applies.
    pub route: Option<String>,
    /// The bound [nats].
    pub value: Option<f64>,
    /// The bound rounded up: what measured values are held against [nats].
    pub upper: Option<f64>,
    /// Probability over batches and noise of the runs that the bound does not cover; none for a mean.
    pub failure: Option<f64>,
    /// The largest part of the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_term: Option<String>,
    /// Why there is no bound: the hypothesis that fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// About the width at which there would be a bound below log 2: an estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width_needed: Option<u64>,
    /// Why a claim of privacy is void, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_private: Option<String>,
}

impl Plan {
    /// The certificates of a run, one for each claim. They depend on the initial weights and the sample, never on the
    /// batches and the noise.
    pub(super) fn certificates(&self, point: &Point, seed: u64) -> super::Result<Vec<Certified>> {
        let Some(wanted) = &self.spec.certificate else { return Ok(Vec::new()) };
        if let Some(known) = point.certified.get() {
            return Ok(known.clone());
        }
        let data = self.data(point, seed)?;
        let offset = if self.spec.fresh_init { seed } else { 0 };
        let all = certificates(point, wanted, &data, offset).unwrap_or_else(|error| {
            wanted.claims.iter().map(|claim| Certified::refused(*claim, &error)).collect()
        });
        if !self.spec.fresh_init && !self.spec.fresh_data {
            // Another thread may have been faster; it found the same.
            let _ = point.certified.set(all.clone());
        }
        Ok(all)
    }
}

fn certificates(
    point: &Point,
    wanted: &CertificateSpec,
    data: &Data,
    offset: u64,
) -> Result<Vec<Certified>, BoundError> {
    let (network, weights) = point.network(data.sample.dimension, offset)?;
    let realised = RealisedConstants::of(&network, wanted.pieces)?;
    let sample = data.sample.sample()?;
    let seen = Linearisation::at(&network, &weights, &sample)?;
    let support = data.support().map(Dataset::sample).transpose()?;
    let known = support
        .as_ref()
        .map(|support| Linearisation::at(&network, &weights, support))
        .transpose()?;
    let domain = match data.sample.domain {
        Domain::Cube => InputDomain::Cube,
        Domain::Ball => InputDomain::Ball,
    };
    let mut ingredients = Ingredients::new(&seen, &realised, domain);
    if data.sample.scaled_by_data {
        ingredients = ingredients.scaled_by_data();
    }
    if let Some(known) = &known {
        ingredients = ingredients.with_support(known)?;
    }
    let one = |claim: &Claim| {
        let question = question(wanted, *claim, &point.settings);
        match certify(&ingredients, &question) {
            Ok(found) => Certified::of(*claim, found, &question),
            Err(error) => Certified::refused(*claim, &error),
        }
    };
    Ok(wanted.claims.iter().map(one).collect())
}

/// What is asked about exactly this run.
fn question(wanted: &CertificateSpec, claim: Claim, settings: &Settings) -> Question {
    Question {
        routes: match wanted.route {
            RouteName::Auto => Route::ALL.to_vec(),
            RouteName::S => vec![Route::S],
            RouteName::SGd => vec![Route::SGd],
            RouteName::P => vec![Route::P],
            RouteName::D => vec![Route::D],
        },
        claim,
        batch: (settings.sampler != Sampler::Full).then_some(settings.batch as u64),
        sampler: settings.sampler,
        lambda: settings.lambda,
        noise: if settings.kappa > 0.0 { Noise::Multiplier(settings.kappa) } else { Noise::None },
        clipping: settings.clip.map_or(Clipping::None, Clipping::At),
        projection: settings.radius.map_or(Projection::None, Projection::At),
        schedule: Schedule {
            step_size: Some(settings.step_size),
            steps: Some(settings.steps),
            most_steps: None,
        },
        horizons: (!wanted.horizons.is_empty()).then(|| wanted.horizons.clone()),
        failures: Failures {
            noise: wanted.delta,
            batches: wanted.delta_size,
            transfer: wanted.delta_transfer,
            counts: wanted.delta_count,
            comparator: wanted.delta_comparator,
        },
        divide_failures: wanted.divide,
    }
}

impl Certified {
    fn of(claim: Claim, found: Certificate, question: &Question) -> Self {
        let transferred = question.batch.is_some() && matches!(found.route, Route::S);
        let failure =
            found.optimisation.failure + if transferred { found.failures.transfer } else { 0.0 };
        let Bound { value, upper, terms, reason, .. } = found.bound;
        let largest = terms.iter().max_by(|one, other| one.value.total_cmp(&other.value));
        Self {
            claim,
            route: Some(found.route.name().to_owned()),
            value,
            upper,
            failure: (claim == Claim::Probability).then_some(failure),
            largest_term: largest.map(|term| term.name.to_string()),
            reason: reason.map(|text| text.to_string()),
            width_needed: found.outlook.as_ref().and_then(Outlook::useful_width),
            not_private: match found.privacy {
                Privacy::Void(text) => Some(text.to_string()),
                _ => None,
            },
        }
    }

    fn refused(claim: Claim, error: &BoundError) -> Self {
        Self {
            claim,
            route: None,
            value: None,
            upper: None,
            failure: None,
            largest_term: None,
            reason: Some(error.to_string()),
            width_needed: None,
            not_private: None,
        }
    }
}
