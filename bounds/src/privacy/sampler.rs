//! How the records of a step are chosen.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{BoundError, Result};

/// The batch sampler of a training run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampler {
    /// Every record joins each step independently with probability `B/n`; the divisor stays `B`.
    Poisson,
    /// A uniform subset of `B` records, drawn anew each step without replacement.
    Fixed,
    /// All records in every step.
    Full,
    /// A data-independent order in which each record is used once.
    Stream,
}

impl fmt::Display for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Poisson => "poisson",
            Self::Fixed => "fixed",
            Self::Full => "full",
            Self::Stream => "stream",
        })
    }
}

impl Sampler {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Poisson, Self::Fixed, Self::Full, Self::Stream];
}

impl FromStr for Sampler {
    type Err = BoundError;

    fn from_str(word: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|known| known.to_string() == word);
        found.copied().ok_or_else(|| BoundError::Input {
            parameter: "sampler".into(),
            problem: format!("{word:?} is unknown; expected poisson, fixed, full or stream"),
        })
    }
}
