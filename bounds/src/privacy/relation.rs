//! Which data sets count as neighbours.

use std::fmt;
use std::str::FromStr;

use crate::error::{BoundError, Result};

/// The neighbouring relation of a privacy guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Relation {
    /// One record is added or removed.
    AddRemove,
    /// One record's contribution is replaced by zero; the number of records is fixed.
    ZeroOut,
    /// One record is replaced by another; the number of records is fixed.
    ReplaceOne,
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddRemove => "add-remove",
            Self::ZeroOut => "zero-out",
            Self::ReplaceOne => "replace-one",
        })
    }
}

impl Relation {
    /// All of them.
    pub const ALL: &[Self] = &[Self::AddRemove, Self::ZeroOut, Self::ReplaceOne];
}

impl FromStr for Relation {
    type Err = BoundError;

    fn from_str(word: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|known| known.to_string() == word);
        found.copied().ok_or_else(|| BoundError::Input {
            parameter: "relation".into(),
            problem: format!("{word:?} is unknown; expected add-remove, zero-out or replace-one"),
        })
    }
}
