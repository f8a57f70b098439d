//! Why there is no certificate.

use std::fmt::Display;

use dpbounds_bounds::BoundError;
use thiserror::Error;

use crate::data::DataError;
use crate::train::TrainError;

/// What is wrong with a certificate, and what to do about it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertifyError {
    /// A setting is out of range.
    #[error("{what} is {value}; allowed is {allowed}")]
    OutOfRange {
        /// The setting.
        what: String,
        /// Its value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A stream is longer than the sample.
    #[error(
        "a streaming prior uses each record once: {updates} updates of {batch} records need {}, there are {records}; use fewer steps or a smaller batch, or the method poisson",
        u128::from(*updates) * *batch as u128
    )]
    StreamTooLong {
        /// Updates.
        updates: u64,
        /// Batch size.
        batch: usize,
        /// Records of the sample.
        records: usize,
    },
    /// Several streams would use records several times.
    #[error(
        "a streaming prior uses each record once, and {runs} candidates would use it {runs} times; give one setting, or search with the method poisson"
    )]
    StreamedTwice {
        /// Candidates.
        runs: usize,
    },
    /// The data cannot be certified on.
    #[error("{data}: {problem}; {remedy}")]
    Data {
        /// The data.
        data: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// Training left the finite numbers.
    #[error("{part} diverged at seed {seed}; {remedy}")]
    Diverged {
        /// What was trained.
        part: &'static str,
        /// The seed.
        seed: u64,
        /// What to do.
        remedy: &'static str,
    },
    /// The directory has files of another run.
    #[error("{file} {problem}")]
    Occupied {
        /// The file.
        file: String,
        /// What it holds, and what to do.
        problem: &'static str,
    },
    /// A file cannot be understood.
    #[error("{file}: {problem}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {file}: {source}")]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        file: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {problem}; use fewer with --threads")]
    Threads {
        /// How many.
        threads: usize,
        /// The system's answer.
        problem: String,
    },
    /// The data themselves.
    #[error(transparent)]
    Prepare(#[from] DataError),
    /// The network or its training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A bound.
    #[error(transparent)]
    Bound(#[from] BoundError),
}

pub(super) type Result<T> = std::result::Result<T, CertifyError>;

pub(super) fn out_of_range(what: &str, value: impl Display, allowed: impl Display) -> CertifyError {
    CertifyError::OutOfRange {
        what: what.to_owned(),
        value: value.to_string(),
        allowed: allowed.to_string(),
    }
}
