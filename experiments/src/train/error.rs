//! Why a training run cannot start.

use dpbounds_bounds::BoundError;
use thiserror::Error;

use super::Sampler;

/// What is wrong with a training run, and what to do about it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// Two lengths do not fit.
    #[error("{what} has {found} numbers, {expected} are needed")]
    Shape {
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that fits.
        expected: usize,
    },
    /// A number is out of range.
    #[error("{what} is {value}; allowed is {allowed}")]
    Value {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range, and what to do.
        allowed: &'static str,
    },
    /// The batches do not fit the data.
    #[error(
        "{sampler} batches of {batch} in {updates} updates need {needed} records, there are {records}; {remedy}"
    )]
    Records {
        /// The sampler.
        sampler: Sampler,
        /// The batch size B.
        batch: usize,
        /// The number of updates.
        updates: u64,
        /// Records that would be needed.
        needed: u64,
        /// Records that there are.
        records: usize,
        /// What to do.
        remedy: &'static str,
    },
    /// Copies are counted, but a batch is not all records.
    #[error(
        "{sampler} batches of examples with copies are not drawn; write the copies out, or use the sampler full"
    )]
    Copies {
        /// The sampler.
        sampler: Sampler,
    },
    /// The run left the range of its numbers.
    #[error("{what} overflowed in training; use a smaller step size or less momentum")]
    Diverged {
        /// What overflowed.
        what: &'static str,
    },
    /// The network itself.
    #[error(transparent)]
    Network(#[from] BoundError),
}
