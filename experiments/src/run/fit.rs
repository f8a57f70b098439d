//! Measured slopes beside predicted ones.

use std::collections::BTreeMap;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::record::Record;
use super::spec::{Axis, BoundName, Response, SlopeSpec, Spec, ViaName};
use super::summary::mean_and_error;

/// Resamples of the bootstrap, and the confidence of its interval.
const RESAMPLES: usize = 2000;
const CONFIDENCE: f64 = 0.95;

/// What a measured slope says about the predicted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval lies among the allowed slopes.
    Agrees,
    /// No point of the interval is an allowed slope.
    Disagrees,
    /// The theory bounds the ordinate from above by a power, and the whole interval is at most its exponent. That is
    /// no evidence that the power is right.
    WithinBound,
    /// The interval reaches over an end of the allowed slopes, or there is no interval: fewer than two
    /// seeds or two points, a mean that is not positive, a run that diverged. Or a least risk is at an end
    /// of the values over which it was sought.
    Undecided,
    /// The file predicts nothing.
    NoPrediction,
}

impl Verdict {
    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::WithinBound => "within the bound",
            Self::Disagrees => "disagrees",
            Self::Undecided => "undecided",
            Self::NoPrediction => "no prediction",
        }
    }
}

/// A slope in doubly logarithmic coordinates: least squares through the means over the seeds.
///
/// The interval is a percentile bootstrap over the seeds. All points of a resample take the same seeds,
/// because runs with the same seed share batches and noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// The abscissa.
    pub axis: Axis,
    /// The ordinate.
    pub response: Response,
    /// Values of the other swept parameters.
    pub at: BTreeMap<Axis, f64>,
    /// Abscissa, mean and standard error of each point.
    pub points: Vec<(f64, Option<f64>, Option<f64>)>,
    /// Seeds at every point.
    pub seeds: usize,
    /// The measured slope.
    pub slope: Option<f64>,
    /// Its interval.
    pub interval: Option<[f64; 2]>,
    /// Confidence of the interval.
    pub confidence: f64,
    /// The parameter over which the ordinate is least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimise: Option<Axis>,
    /// Where it is least, for each point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub optima: Vec<f64>,
    /// Slope of the calibrated κ against the abscissa, if the prediction is an exponent of κ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kappa_slope: Option<f64>,
    /// The predicted slope.
    pub predicted: Option<f64>,
    /// Slopes that agree with the prediction.
    pub allowed: Option<[f64; 2]>,
    /// Whether `predicted` is the exponent of a bound only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundName>,
    /// What the measured slope says.
    pub verdict: Verdict,
    /// Where the prediction comes from, or why there is no slope.
    pub note: String,
}

/// Fits all slopes of an experiment, in the order of the file.
#[must_use]
pub fn fit(spec: &Spec, records: &[Record]) -> Vec<Slope> {
    spec.slope.iter().flat_map(|slope| fit_one(spec, slope, records)).collect()
}

fn fit_one(spec: &Spec, wanted: &SlopeSpec, records: &[Record]) -> Vec<Slope> {
    let swept = wanted.axis.swept();
    // Parameters that are swept jointly with the abscissa move along and do not make groups.
    let moves = |axis: &Axis| {
        let joint = spec.joint.first();
        *axis == swept
            || Some(*axis) == wanted.optimise
            || joint.is_some_and(|row| row.contains_key(&swept) && row.contains_key(axis))
    };
    let mut groups: Vec<(BTreeMap<Axis, f64>, Vec<&Record>)> = Vec::new();
    for record in records {
        if wanted.at.iter().any(|(axis, value)| record.values.get(&axis.swept()) != Some(value)) {
            continue;
        }
        let at: BTreeMap<Axis, f64> =
            record.values.iter().filter(|(axis, _)| !moves(axis)).map(|(a, v)| (*a, *v)).collect();
        match groups.iter_mut().find(|(other, _)| *other == at) {
            Some((_, members)) => members.push(record),
            None => groups.push((at, vec![record])),
        }
    }
    groups.into_iter().map(|(at, members)| Group::new(wanted, &members).slope(wanted, at)).collect()
}

/// The runs of one line.
struct Group {
    xs: Vec<f64>,
    /// For every abscissa the points to choose from, one if nothing is optimised.
    choices: Vec<Vec<Choice>>,
    kappas: Vec<f64>,
}

struct Choice {
    /// Value of the optimised parameter.
    at: f64,
    /// One value a seed; nothing where a run diverged.
    values: Vec<Option<f64>>,
}

/// For every abscissa, every choice and every seed.
type Values = Vec<Vec<Vec<f64>>>;

impl Group {
    fn new(wanted: &SlopeSpec, members: &[&Record]) -> Self {
        let mut group = Self { xs: Vec::new(), choices: Vec::new(), kappas: Vec::new() };
        for runs in members.chunk_by(|a, b| a.point == b.point) {
            let x = abscissa(wanted.axis, runs);
            // A logarithm has no zero: λ = 1, κ = 0 and data without a margin belong to no line.
            if !(x > 0.0) {
                continue;
            }
            let value = |run: &&Record| run.outcome.as_ref()?.value(wanted.response);
            let at = wanted.optimise.and_then(|axis| runs[0].values.get(&axis).copied());
            let choice =
                Choice { at: at.unwrap_or_default(), values: runs.iter().map(value).collect() };
            let known = at.and_then(|_| group.xs.iter().position(|other| *other == x));
            if let Some(place) = known {
                group.choices[place].push(choice);
            } else {
                group.xs.push(x);
                group.choices.push(vec![choice]);
                group.kappas.push(runs[0].settings.kappa);
            }
        }
        for choices in &mut group.choices {
            choices.sort_by(|a, b| a.at.total_cmp(&b.at));
        }
        group
    }

    fn slope(&self, wanted: &SlopeSpec, at: BTreeMap<Axis, f64>) -> Slope {
        let all = || self.choices.iter().flatten();
        let seeds = all().map(|choice| choice.values.len()).min().unwrap_or(0);
        let kappa_slope = wanted.via.and_then(|via| match via {
            ViaName::Kappa => log_slope(&self.xs, &self.kappas),
        });
        let factor = kappa_slope.unwrap_or(1.0);
        let mut result = Slope {
            axis: wanted.axis,
            response: wanted.response,
            at,
            points: self.xs.iter().map(|x| (*x, None, None)).collect(),
            seeds,
            slope: None,
            interval: None,
            confidence: CONFIDENCE,
            optimise: wanted.optimise,
            optima: Vec::new(),
            kappa_slope,
            predicted: wanted.predicted.map(|slope| slope * factor),
            allowed: wanted.allowed.map(|[low, high]| {
                let (one, other) = (low * factor, high * factor);
                [one.min(other), one.max(other)]
            }),
            bound: wanted.bound,
            verdict: Verdict::Undecided,
            note: wanted.why.clone(),
        };
        let complete = |choice: &Choice| choice.values.iter().copied().collect();
        let values: Option<Values> =
            self.choices.iter().map(|choices| choices.iter().map(complete).collect()).collect();
        let Some(values) = values else {
            for (point, choices) in result.points.iter_mut().zip(&self.choices) {
                let present: Vec<f64> = choices[0].values.iter().flatten().copied().collect();
                (point.1, point.2) = mean_and_error(&present);
            }
            result.note = "a run diverged: use a smaller step size or less noise".into();
            return result.judged();
        };
        let everyone: Vec<usize> = (0..seeds).collect();
        let best: Vec<usize> = values.iter().map(|choices| least(choices, &everyone).0).collect();
        for ((point, choices), best) in result.points.iter_mut().zip(&values).zip(&best) {
            (point.1, point.2) = mean_and_error(&choices[*best]);
        }
        if self.xs.len() < 2 {
            result.note = "fewer than two points".into();
            return result.judged();
        }
        result.slope = self.through(&values, &everyone);
        if result.slope.is_none() {
            result.note = "a mean is not positive, so it has no logarithm: use more seeds".into();
        } else if seeds < 2 {
            result.note = "one seed gives no interval".into();
        } else {
            result.interval = self.bootstrap(&values, seeds);
        }
        if let Some(axis) = wanted.optimise {
            result.optima =
                self.choices.iter().zip(&best).map(|(choices, best)| choices[*best].at).collect();
            let at_end =
                |(choices, best): (&Vec<Choice>, &usize)| *best == 0 || best + 1 == choices.len();
            if self.choices.iter().zip(&best).any(at_end) {
                result.note = format!(
                    "a least risk is at an end of the values of {axis}, so it may be lower beyond: \
                     sweep wider"
                );
                return result;
            }
        }
        result.judged()
    }

    /// The slope through the means over these seeds, each the least of its choices.
    fn through(&self, values: &Values, seeds: &[usize]) -> Option<f64> {
        let ys: Vec<f64> = values.iter().map(|choices| least(choices, seeds).1).collect();
        log_slope(&self.xs, &ys)
    }

    /// None if more than a resample in a hundred has a mean that is not positive.
    fn bootstrap(&self, values: &Values, seeds: usize) -> Option<[f64; 2]> {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut slopes: Vec<f64> = (0..RESAMPLES)
            .filter_map(|_| {
                let drawn: Vec<usize> = (0..seeds).map(|_| rng.random_range(0..seeds)).collect();
                self.through(values, &drawn)
            })
            .collect();
        if slopes.len() * 100 < RESAMPLES * 99 {
            return None;
        }
        slopes.sort_unstable_by(f64::total_cmp);
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let outside = ((1.0 - CONFIDENCE) / 2.0 * slopes.len() as f64) as usize;
        Some([*slopes.get(outside)?, *slopes.get(slopes.len() - 1 - outside)?])
    }
}

impl Slope {
    fn judged(mut self) -> Self {
        let predicted = self.predicted.unwrap_or(f64::NAN);
        self.verdict = match (self.bound, self.allowed, self.interval) {
            (None, None, _) => Verdict::NoPrediction,
            (_, _, None) => Verdict::Undecided,
            (Some(BoundName::Upper), _, Some([from, to])) => match () {
                () if to <= predicted => Verdict::WithinBound,
                () if from > predicted => Verdict::Disagrees,
                () => Verdict::Undecided,
            },
            (None, Some([low, high]), Some([from, to])) => match () {
                () if low <= from && to <= high => Verdict::Agrees,
                () if to < low || high < from => Verdict::Disagrees,
                () => Verdict::Undecided,
            },
        };
        self
    }
}

#[allow(clippy::cast_precision_loss)] // few runs
fn abscissa(axis: Axis, runs: &[&Record]) -> f64 {
    let raw = runs[0].values.get(&axis.swept()).copied().unwrap_or(f64::NAN);
    match axis {
        Axis::OneMinusLambda => 1.0 - raw,
        Axis::NtkMargin => {
            let margin = |run: &&Record| run.outcome.as_ref()?.ntk_margin;
            let margins: Vec<f64> = runs.iter().filter_map(margin).collect();
            margins.iter().sum::<f64>() / margins.len() as f64
        }
        _ => raw,
    }
}

/// The place and the mean over these seeds of the choice with the least mean.
#[allow(clippy::cast_precision_loss)] // few seeds
fn least(choices: &[Vec<f64>], seeds: &[usize]) -> (usize, f64) {
    let mean =
        |row: &Vec<f64>| seeds.iter().map(|seed| row[*seed]).sum::<f64>() / seeds.len() as f64;
    let means = choices.iter().map(mean).enumerate();
    means.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
}

/// Least squares through logarithms.
#[allow(clippy::cast_precision_loss)] // few points
fn log_slope(xs: &[f64], ys: &[f64]) -> Option<f64> {
    if !ys.iter().all(|y| *y > 0.0) {
        return None;
    }
    let logs: Vec<(f64, f64)> = xs.iter().zip(ys).map(|(x, y)| (x.ln(), y.ln())).collect();
    let centre = logs.iter().map(|(x, _)| x).sum::<f64>() / logs.len() as f64;
    let spread: f64 = logs.iter().map(|(x, _)| (x - centre).powi(2)).sum();
    let slope = logs.iter().map(|(x, y)| (x - centre) * y).sum::<f64>() / spread;
    slope.is_finite().then_some(slope)
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
