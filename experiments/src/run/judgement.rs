//! Certified beside measured: whether a run contradicts what was proven before it.

use std::fmt;

use dpbounds_bounds::kan::certificates::Claim;
use dpbounds_bounds::special::Binomial;
use serde::Serialize;

use super::certificate::Certified;
use super::measure::Outcome;
use super::record::Record;
use super::spec::{Response, Spec};
use super::summary::mean_and_error;

/// A claim at a grid point against its runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// Number of the grid point, from 0.
    pub point: usize,
    /// What is bounded.
    pub claim: Claim,
    /// The statement that certifies; the first one if they differ between the seeds.
    pub route: Option<String>,
    /// Mean of the certified bounds over the seeds [nats].
    pub certified: Option<f64>,
    /// Mean of the measured values over the runs that have a bound, or over all if none has one [nats].
    pub measured: Option<f64>,
    /// Its standard error, from two runs on.
    pub standard_error: Option<f64>,
    /// Measured over certified.
    pub ratio: Option<f64>,
    /// Runs.
    pub runs: usize,
    /// Runs without a bound.
    pub uncertified: usize,
    /// Runs above their bound, or that diverged with one.
    pub above: usize,
    /// The largest failure probability of the bounds; none for a mean.
    pub failure: Option<f64>,
    /// The verdict.
    pub standing: Standing,
    /// Why there is no bound, or what the verdict rests on; and why a claim of privacy is void, if it is.
    pub note: String,
}

/// Whether the measurement contradicts the certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Measured is at most certified.
    Below,
    /// Something is above, but chance explains it.
    Undecided,
    /// Measured is above certified beyond chance: a theorem or a program is wrong.
    Violated,
    /// Nothing was certified.
    NoCertificate,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Below => "below",
            Self::Undecided => "undecided",
            Self::Violated => "VIOLATED",
            Self::NoCertificate => "no certificate",
        })
    }
}

/// Chance of a false alarm.
const LEVEL: f64 = 1e-3;
/// The one-sided normal quantile at [`LEVEL`].
const QUANTILE: f64 = 3.090_232_306_167_813;

/// What is measured for a claim.
impl From<Claim> for Response {
    fn from(claim: Claim) -> Self {
        match claim {
            Claim::Probability | Claim::Expectation => Self::AveragedRisk,
            Claim::Population => Self::PopulationRisk,
        }
    }
}

/// Every claim at every point.
#[must_use]
pub fn judge(spec: &Spec, records: &[Record]) -> Vec<Judgement> {
    let claims = spec.certificate.iter().flat_map(|wanted| &wanted.claims);
    let points: Vec<&[Record]> = records.chunk_by(|a, b| a.point == b.point).collect();
    claims.flat_map(|claim| points.iter().map(|runs| Judgement::of(spec, *claim, runs))).collect()
}

/// A run with a bound: the bound, and what was measured unless it diverged.
type Pair = (f64, Option<f64>);

impl Judgement {
    fn of(spec: &Spec, claim: Claim, runs: &[Record]) -> Self {
        let certified = |run: &Record| -> Option<Certified> {
            run.certificates.iter().find(|one| one.claim == claim).cloned()
        };
        let measured =
            |run: &Record| run.outcome.as_ref().and_then(|all: &Outcome| all.value(claim.into()));
        let all: Vec<Certified> = runs.iter().filter_map(certified).collect();
        let pairs: Vec<Pair> =
            runs.iter().filter_map(|run| Some((certified(run)?.upper?, measured(run)))).collect();
        let values: Vec<f64> = if pairs.is_empty() {
            runs.iter().filter_map(measured).collect()
        } else {
            pairs.iter().filter_map(|pair| pair.1).collect()
        };
        let (mean, standard_error) = mean_and_error(&values);
        let bounds: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
        let bound = mean_and_error(&bounds).0;
        let failures = all.iter().filter_map(|one| one.failure);
        let failure = failures.reduce(f64::max);
        let above = pairs.iter().filter(|(bound, value)| value.is_none_or(|value| value > *bound));
        let above = above.count();
        let (standing, note) = match claim {
            _ if pairs.is_empty() => {
                let reason = all.iter().find_map(|one| one.reason.clone());
                (Standing::NoCertificate, reason.unwrap_or_default())
            }
            Claim::Probability => by_count(above, pairs.len(), failure.unwrap_or(0.0)),
            Claim::Expectation => by_mean(&pairs),
            Claim::Population if !has_fresh_samples(spec) => match above {
                0 => (Standing::Below, "one sample only: the claim is a mean over samples".into()),
                _ => (
                    Standing::Undecided,
                    "the claim is a mean over samples; draw fresh independent ones".into(),
                ),
            },
            Claim::Population => by_mean(&pairs),
        };
        let void = all.iter().find_map(|one| one.not_private.clone());
        let note = [note, void.unwrap_or_default()].into_iter().filter(|one| !one.is_empty());
        let note = note.collect::<Vec<_>>().join("; ");
        Self {
            point: runs[0].point,
            claim,
            route: all.iter().find_map(|one| one.route.clone()),
            certified: bound,
            measured: mean,
            standard_error,
            ratio: mean.zip(bound).map(|(mean, bound)| mean / bound),
            runs: runs.len(),
            uncertified: runs.len() - pairs.len(),
            above,
            failure,
            standing,
            note,
        }
    }
}

/// Whether every run has a sample of its own from the distribution.
fn has_fresh_samples(spec: &Spec) -> bool {
    spec.fresh_data && spec.data.name.contains("draw=independent")
}

/// Each of the runs fails with at most this probability, given the others.
fn by_count(above: usize, runs: usize, failure: f64) -> (Standing, String) {
    if above == 0 {
        return (Standing::Below, String::new());
    }
    let chance = binomial_tail(runs, above, failure);
    let standing = if chance < LEVEL { Standing::Violated } else { Standing::Undecided };
    let note = format!("{above} of {runs} above, a chance of at most {chance:.1e}");
    (standing, note)
}

/// The mean of the differences has an expectation of at most 0.
fn by_mean(pairs: &[Pair]) -> (Standing, String) {
    let differences: Option<Vec<f64>> =
        pairs.iter().map(|(bound, value)| value.map(|value| value - bound)).collect();
    let Some(differences) = differences else {
        return (Standing::Violated, "a run with a bound on the mean diverged".into());
    };
    match mean_and_error(&differences) {
        (Some(mean), _) if mean <= 0.0 => (Standing::Below, String::new()),
        (Some(mean), Some(error)) if mean > QUANTILE * error => (
            Standing::Violated,
            format!("the mean is above by {mean:.3e}, its standard error is {error:.1e}"),
        ),
        (Some(mean), error) => {
            let error = error.map_or("unknown".to_owned(), |error| format!("{error:.1e}"));
            let note = format!(
                "the mean is above by {mean:.3e}, its standard error is {error}; use more seeds"
            );
            (Standing::Undecided, note)
        }
        (None, _) => (Standing::NoCertificate, String::new()),
    }
}

/// `P(Bin(runs, p) >= least)`.
#[allow(clippy::cast_precision_loss)] // few runs
fn binomial_tail(runs: usize, least: usize, p: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    let law = Binomial::new(runs as f64, p);
    let masses = (least..=runs).map(|count| law.log_mass(count as f64).exp());
    masses.sum::<f64>().min(1.0)
}

#[cfg(test)]
#[path = "judgement_tests.rs"]
mod tests;
