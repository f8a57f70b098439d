//! Measured slopes beside predicted ones.

use std::collections::BTreeMap;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::record::Record;
use super::spec::{Axis, Response, SlopeSpec, Spec};
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
    /// The interval reaches over an end of the allowed slopes, or there is no interval: fewer than two
    /// seeds or two points, a mean that is not positive, a run that diverged.
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
    /// The predicted slope.
    pub predicted: Option<f64>,
    /// Slopes that agree with the prediction.
    pub allowed: Option<[f64; 2]>,
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
    /// One row a point, one column a seed; nothing where a run diverged.
    values: Vec<Vec<Option<f64>>>,
}

impl Group {
    fn new(wanted: &SlopeSpec, members: &[&Record]) -> Self {
        let (mut xs, mut values) = (Vec::new(), Vec::new());
        for runs in members.chunk_by(|a, b| a.point == b.point) {
            let raw = runs[0].values.get(&wanted.axis.swept()).copied().unwrap_or(f64::NAN);
            let x = if wanted.axis == Axis::OneMinusLambda { 1.0 - raw } else { raw };
            // A logarithm has no zero: λ = 1 and κ = 0 belong to no line.
            if x > 0.0 {
                xs.push(x);
                let value = |run: &&Record| run.outcome.as_ref()?.value(wanted.response);
                values.push(runs.iter().map(value).collect());
            }
        }
        Self { xs, values }
    }

    fn slope(&self, wanted: &SlopeSpec, at: BTreeMap<Axis, f64>) -> Slope {
        let seeds = self.values.iter().map(Vec::len).min().unwrap_or(0);
        let point = |(x, row): (&f64, &Vec<Option<f64>>)| {
            let present: Vec<f64> = row.iter().flatten().copied().collect();
            let (mean, error) = mean_and_error(&present);
            (*x, mean, error)
        };
        let mut result = Slope {
            axis: wanted.axis,
            response: wanted.response,
            at,
            points: self.xs.iter().zip(&self.values).map(point).collect(),
            seeds,
            slope: None,
            interval: None,
            confidence: CONFIDENCE,
            predicted: wanted.predicted,
            allowed: wanted.allowed,
            verdict: Verdict::Undecided,
            note: wanted.why.clone(),
        };
        let complete: Option<Vec<Vec<f64>>> =
            self.values.iter().map(|row| row.iter().copied().collect()).collect();
        match complete {
            None => result.note = "a run diverged: use a smaller step size or less noise".into(),
            Some(_) if self.xs.len() < 2 => result.note = "fewer than two points".into(),
            Some(rows) => {
                let all: Vec<usize> = (0..seeds).collect();
                result.slope = self.through(&rows, &all);
                if result.slope.is_none() {
                    result.note =
                        "a mean is not positive, so it has no logarithm: use more seeds".into();
                } else if seeds < 2 {
                    result.note = "one seed gives no interval".into();
                } else {
                    result.interval = self.bootstrap(&rows, seeds);
                }
            }
        }
        result.verdict = match (result.allowed, result.interval) {
            (None, _) => Verdict::NoPrediction,
            (Some(_), None) => Verdict::Undecided,
            (Some([low, high]), Some([from, to])) if low <= from && to <= high => Verdict::Agrees,
            (Some([low, high]), Some([from, to])) if to < low || high < from => Verdict::Disagrees,
            _ => Verdict::Undecided,
        };
        result
    }

    /// The slope through the means over these seeds.
    #[allow(clippy::cast_precision_loss)] // few seeds and points
    fn through(&self, rows: &[Vec<f64>], seeds: &[usize]) -> Option<f64> {
        let mean =
            |row: &Vec<f64>| seeds.iter().map(|seed| row[*seed]).sum::<f64>() / seeds.len() as f64;
        let ys: Vec<f64> = rows.iter().map(mean).collect();
        if !ys.iter().all(|y| *y > 0.0) {
            return None;
        }
        let count = ys.len() as f64;
        let logs: Vec<(f64, f64)> =
            self.xs.iter().zip(&ys).map(|(x, y)| (x.ln(), y.ln())).collect();
        let centre = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
        let spread: f64 = logs.iter().map(|(x, _)| (x - centre).powi(2)).sum();
        let slope = logs.iter().map(|(x, y)| (x - centre) * y).sum::<f64>() / spread;
        slope.is_finite().then_some(slope)
    }

    /// None if more than a resample in a hundred has a mean that is not positive.
    fn bootstrap(&self, rows: &[Vec<f64>], seeds: usize) -> Option<[f64; 2]> {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut slopes: Vec<f64> = (0..RESAMPLES)
            .filter_map(|_| {
                let drawn: Vec<usize> = (0..seeds).map(|_| rng.random_range(0..seeds)).collect();
                self.through(rows, &drawn)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn group(of: impl Fn(f64, usize) -> f64) -> Group {
        let xs = vec![1.0, 2.0, 4.0, 8.0];
        let row = |x: &f64| (0..6).map(|seed| Some(of(*x, seed))).collect();
        Group { values: xs.iter().map(row).collect(), xs }
    }

    fn wanted(allowed: [f64; 2]) -> SlopeSpec {
        SlopeSpec {
            axis: Axis::Steps,
            response: Response::AveragedRisk,
            at: BTreeMap::new(),
            predicted: Some(-1.0),
            allowed: Some(allowed),
            why: String::new(),
        }
    }

    #[test]
    #[allow(clippy::cast_precision_loss)]
    fn a_power_law_is_found_and_judged() {
        let noisy = group(|x, seed| 3.0 / x * (1.0 + 0.02 * ((seed as f64 + x) % 3.0 - 1.0)));
        let slope = noisy.slope(&wanted([-1.1, -0.9]), BTreeMap::new());
        assert!((slope.slope.unwrap() + 1.0).abs() < 0.02, "{slope:?}");
        let [low, high] = slope.interval.unwrap();
        assert!(low < slope.slope.unwrap() && slope.slope.unwrap() < high && high - low < 0.05);
        assert_eq!(slope.verdict, Verdict::Agrees);
        let judged = |allowed| noisy.slope(&wanted(allowed), BTreeMap::new()).verdict;
        assert_eq!(judged([-3.0, -2.0]), Verdict::Disagrees);
        assert_eq!(judged([-1.5, slope.slope.unwrap()]), Verdict::Undecided);
        assert_eq!(noisy.slope(&wanted([-1.1, -0.9]), BTreeMap::new()), slope, "seeded");
    }

    #[test]
    fn means_without_a_logarithm_are_undecided() {
        let slope = group(|x, _| x - 4.0).slope(&wanted([-1.1, -0.9]), BTreeMap::new());
        assert!(slope.slope.is_none() && slope.verdict == Verdict::Undecided);
        assert!(slope.note.contains("not positive"));
    }
}
