//! Every bound by name, for batch evaluation.
//!
//! ```
//! use dpbounds_bounds::catalogue::{self, Arguments, Value};
//! let entry = catalogue::find("max_info_gaussian_eq7").unwrap();
//! let inputs = [("nu".into(), Value::Number(0.5)), ("beta".into(), Value::Number(0.05))];
//! let bound = entry.evaluate(&Arguments::new(entry, &inputs)?)?;
//! assert!(bound.value.is_some());
//! # Ok::<(), dpbounds_bounds::BoundError>(())
//! ```

mod accountant;
mod arguments;
mod correlated;
mod kan;
mod kan_certificates;
mod max_information;
mod pac_bayes;
mod parameters;
mod privacy;
mod replay;

pub use arguments::{Arguments, Value};
pub use parameters::{Kind, Parameter};

use crate::error::Result;
use crate::warrant::Bound;

/// One function of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as used by `eval`.
    pub name: &'static str,
    /// What it computes, in a line.
    pub summary: &'static str,
    /// Its arguments.
    pub parameters: &'static [Parameter],
    /// Work and statement.
    pub source: &'static str,
    function: fn(&Arguments<'_>) -> Result<Bound>,
}

impl Entry {
    /// Evaluates the function.
    ///
    /// # Errors
    /// [`crate::BoundError`] for missing arguments or arguments out of range.
    pub fn evaluate(&self, arguments: &Arguments<'_>) -> Result<Bound> {
        (self.function)(arguments)
    }
}

const fn entry(
    name: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    source: &'static str,
    function: fn(&Arguments<'_>) -> Result<Bound>,
) -> Entry {
    Entry { name, summary, parameters, source, function }
}

/// All entries, by subject.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    SUBJECTS.iter().flat_map(|subject| subject.iter())
}

const SUBJECTS: [&[Entry]; 7] = [
    max_information::ENTRIES,
    pac_bayes::ENTRIES,
    privacy::ENTRIES,
    accountant::ENTRIES,
    correlated::ENTRIES,
    kan::ENTRIES,
    kan_certificates::ENTRIES,
];

/// The entry with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_every_entry_is_described() {
        let mut seen = HashSet::new();
        for entry in entries() {
            assert!(seen.insert(entry.name), "{} occurs twice", entry.name);
            assert!(!entry.summary.is_empty() && !entry.source.is_empty());
            assert!(!entry.parameters.is_empty(), "{} takes nothing", entry.name);
        }
    }
}
