//! What a check measured: slacks, of which positive ones are margin.

use dpbounds_bounds::pac_bayes::sampling::clopper_pearson;
use dpbounds_bounds::{Bound, BoundError};
use thiserror::Error;

use super::claim::Verdict;
use crate::train::TrainError;

/// Why a check came to no result.
#[derive(Debug, Error)]
pub enum CheckError {
    /// A calculator refused.
    #[error(transparent)]
    Bound(#[from] BoundError),
    /// A training run could not start.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Nothing was compared.
    #[error("{0}")]
    Empty(String),
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Slack of the statement as printed: at least 0 if it was not violated, at most 1.
    pub printed: Option<f64>,
    /// Slack of the corrected statement.
    pub corrected: Option<f64>,
    /// Too few seeds to confirm a probability, too many events to refute nothing.
    pub undecided: bool,
    /// What was run, with sizes and seeds.
    pub ran: String,
}

impl Measured {
    /// Of a statement that is printed as it should be.
    pub(super) fn of(slacks: Slacks, ran: impl Into<String>) -> Result<Self, CheckError> {
        let undecided = slacks.undecided && !slacks.refuted;
        let printed = Some(slacks.close()?);
        Ok(Self { printed, corrected: None, undecided, ran: ran.into() })
    }

    /// Of a statement that needs a correction; `printed` is what is printed, if that can be evaluated.
    pub(super) fn corrected(
        printed: Option<Slacks>,
        corrected: Slacks,
        ran: impl Into<String>,
    ) -> Result<Self, CheckError> {
        let undecided = corrected.undecided && !corrected.refuted;
        let printed = printed.map(Slacks::close).transpose()?;
        Ok(Self { printed, corrected: Some(corrected.close()?), undecided, ran: ran.into() })
    }

    /// The verdict; `ours` claims are never "false as printed".
    #[must_use]
    pub fn verdict(&self, ours: bool) -> Verdict {
        let violated = |slack: Option<f64>| slack.is_some_and(|slack| !(slack >= 0.0));
        match (self.printed, self.corrected) {
            _ if violated(self.corrected) => self.not_confirmed(Verdict::Violated),
            _ if violated(self.printed) && ours => self.not_confirmed(Verdict::Violated),
            _ if violated(self.printed) => self.not_confirmed(Verdict::FalseAsPrinted),
            (_, Some(_)) => Verdict::HoldsCorrected,
            (Some(_), None) => Verdict::Holds,
            (None, None) => Verdict::Undecided,
        }
    }

    fn not_confirmed(&self, verdict: Verdict) -> Verdict {
        if self.undecided { Verdict::Undecided } else { verdict }
    }
}

/// Rounding that a comparison of computed numbers may show, relative to the larger side.
const ROUNDING: f64 = 1e-12;

/// The smallest slack of many comparisons. A slack is relative: 0 is the border, 1 is far inside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slacks {
    smallest: f64,
    pub(super) count: usize,
    broken: bool,
    undecided: bool,
    refuted: bool,
}

impl Slacks {
    pub(super) fn new() -> Self {
        Self { smallest: 1.0, count: 0, broken: false, undecided: false, refuted: false }
    }

    fn add(&mut self, slack: f64) {
        self.count += 1;
        self.broken |= slack.is_nan();
        self.smallest = self.smallest.min(slack);
    }

    /// `left <= right`, with slack `(right − left)` relative to the larger of the two in size.
    pub(super) fn at_most(&mut self, left: f64, right: f64) {
        self.at_most_of(left, right, left.abs().max(right.abs()));
    }

    /// `left <= right`, with slack relative to `scale`, the size of the terms that cancel.
    pub(super) fn at_most_of(&mut self, left: f64, right: f64, scale: f64) {
        let scale = scale.max(f64::MIN_POSITIVE);
        self.add((right / scale - left / scale + ROUNDING).clamp(-1.0, 1.0));
    }

    /// `left = right` within `tolerance` of `scale`; the slack is the part of the tolerance that is left.
    pub(super) fn equal(&mut self, left: f64, right: f64, scale: f64, tolerance: f64) {
        self.add((1.0 - (left - right).abs() / (tolerance * scale)).max(-1.0));
    }

    /// `events` of `draws` against a probability: confirmed if the upper limit of 99 % confidence is
    /// below it, refuted if the lower limit of 99.9999 % confidence is above it.
    pub(super) fn frequency(
        &mut self,
        events: usize,
        draws: usize,
        probability: f64,
    ) -> Result<(), CheckError> {
        let (events, draws) = (events as u64, draws as u64);
        let limit = |count, failure| -> Result<f64, CheckError> {
            value(&clopper_pearson(count, draws, failure)?)
        };
        let upper = limit(events, 0.01)?;
        let lower = 1.0 - limit(draws - events, 1e-6)?;
        self.undecided |= upper > probability && lower <= probability;
        self.refuted |= lower > probability;
        let nearest = if lower > probability { lower } else { upper };
        self.add(((probability - nearest) / probability).max(-1.0));
        Ok(())
    }

    /// Both sets of comparisons.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            smallest: self.smallest.min(other.smallest),
            count: self.count + other.count,
            broken: self.broken || other.broken,
            undecided: self.undecided || other.undecided,
            refuted: self.refuted || other.refuted,
        }
    }

    pub(super) fn close(self) -> Result<f64, CheckError> {
        if self.count == 0 {
            return Err(CheckError::Empty(
                "no case met the hypotheses, so nothing was compared".into(),
            ));
        }
        if self.broken {
            return Err(CheckError::Empty("a compared number is not a number".into()));
        }
        Ok(self.smallest)
    }
}

/// The value of a bound, or why there is none.
pub(super) fn value(bound: &Bound) -> Result<f64, CheckError> {
    bound.value.ok_or_else(|| {
        CheckError::Empty(bound.reason.as_deref().unwrap_or("a bound without a value").to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(printed: Option<f64>, corrected: Option<f64>, ours: bool) -> Verdict {
        Measured { printed, corrected, undecided: false, ran: String::new() }.verdict(ours)
    }

    #[test]
    fn a_verdict_follows_from_the_slacks() {
        assert_eq!(verdict(Some(0.1), None, false), Verdict::Holds);
        assert_eq!(verdict(Some(-0.1), None, false), Verdict::FalseAsPrinted);
        assert_eq!(verdict(Some(-0.1), None, true), Verdict::Violated);
        assert_eq!(verdict(Some(-0.1), Some(0.2), false), Verdict::FalseAsPrinted);
        assert_eq!(verdict(None, Some(0.2), false), Verdict::HoldsCorrected);
        assert_eq!(verdict(Some(0.1), Some(-0.2), false), Verdict::Violated);
        assert_eq!(verdict(Some(f64::NAN), None, false), Verdict::FalseAsPrinted);
        assert_eq!(verdict(None, None, false), Verdict::Undecided);
    }

    #[test]
    fn nothing_compared_and_no_number_are_no_result() {
        assert!(Slacks::new().close().is_err());
        let mut slacks = Slacks::new();
        slacks.at_most(f64::NAN, 1.0);
        assert!(slacks.close().is_err());
    }

    #[test]
    fn a_frequency_is_confirmed_refuted_or_undecided() {
        let of = |events, draws, probability| {
            let mut slacks = Slacks::new();
            slacks.frequency(events, draws, probability).unwrap();
            Measured::of(slacks, "").unwrap().verdict(false)
        };
        assert_eq!(of(0, 200, 0.1), Verdict::Holds);
        assert_eq!(of(10, 200, 0.05), Verdict::Undecided);
        assert_eq!(of(60, 200, 0.05), Verdict::FalseAsPrinted);
    }
}
