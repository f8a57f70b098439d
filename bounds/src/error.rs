//! The one error type of the calculators: which parameter, which value, what is allowed, what to do.

use std::fmt;

use thiserror::Error;

/// A number as it is shown in messages: short, and in scientific notation when very large or small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown(pub f64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if size != 0.0 && !(1e-4..1e16).contains(&size) && size.is_finite() {
            write!(f, "{:e}", self.0)
        } else {
            write!(f, "{}", self.0)
        }
    }
}

impl Shown {
    /// A computed number, shortened to seven digits.
    pub(crate) fn short(value: f64) -> Self {
        Self(format!("{value:.6e}").parse().unwrap_or(value))
    }
}

/// Why a calculator gave no answer.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BoundError {
    /// One argument lies outside the range in which the statement is defined.
    #[error("{parameter} = {value} is out of range: allowed is {allowed}; {remedy}")]
    OutOfRange {
        /// Name of the argument.
        parameter: &'static str,
        /// The value that was given.
        value: Shown,
        /// The allowed range in words.
        allowed: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
    /// Two arguments contradict each other.
    #[error("{parameter} = {value} does not fit {other} = {other_value}: {requirement}")]
    Conflict {
        /// Name of the first argument.
        parameter: &'static str,
        /// Its value.
        value: Shown,
        /// Name of the second argument.
        other: &'static str,
        /// Its value.
        other_value: Shown,
        /// What has to hold between the two, and what to do.
        requirement: &'static str,
    },
    /// No proof covers the requested combination; the nearest one that has a proof is named.
    #[error("{request} is refused: {why}; nearest proven: {nearest}")]
    Unproven {
        /// What was asked for.
        request: String,
        /// Why nothing is returned.
        why: &'static str,
        /// The closest combination that has a proof.
        nearest: &'static str,
    },
    /// A function of the catalogue was called without one of its arguments, or with a wrong one.
    #[error("{parameter}: {problem}")]
    Input {
        /// Name of the argument.
        parameter: String,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// Floating-point evaluation failed although the arguments are in range.
    #[error(
        "{what} could not be evaluated in double precision ({detail}); please report the arguments"
    )]
    Numerical {
        /// The quantity.
        what: &'static str,
        /// What went wrong.
        detail: &'static str,
    },
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, BoundError>;
