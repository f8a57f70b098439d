//! Why an experiment cannot be read, started or finished.

use dpbounds_bounds::BoundError;
use thiserror::Error;

use crate::data::DataError;
use crate::train::TrainError;

/// What is wrong with an experiment, and what to do about it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The text is no TOML, or a value has the wrong type.
    #[error("{file}, line {line}, column {column}: {problem}")]
    Syntax {
        /// The file.
        file: String,
        /// Line from 1.
        line: usize,
        /// Column from 1, in characters.
        column: usize,
        /// What the reader says.
        problem: String,
    },
    /// A key that means nothing.
    #[error("{file}, line {line}, column {column}: {key:?} is unknown; {hint}")]
    Unknown {
        /// The file.
        file: String,
        /// Line from 1.
        line: usize,
        /// Column from 1, in characters.
        column: usize,
        /// The key, or the word.
        key: String,
        /// The nearest known one, or all.
        hint: String,
    },
    /// A value is out of range or does not fit the others.
    #[error("{file}: {key} = {value} is not allowed; allowed is {allowed}")]
    Value {
        /// The file.
        file: String,
        /// Which key, with its table.
        key: String,
        /// Its value.
        value: String,
        /// What is allowed, and what to do.
        allowed: String,
    },
    /// The data of an experiment.
    #[error("{file}, [data]: {source}")]
    Data {
        /// The file of the experiment.
        file: String,
        /// Why.
        source: DataError,
    },
    /// The training of a grid point cannot start.
    #[error("{file}, {point}: {source}")]
    Train {
        /// The file of the experiment.
        file: String,
        /// The grid point in words.
        point: String,
        /// Why.
        source: TrainError,
    },
    /// The network or the noise of a grid point.
    #[error("{file}, {point}: {source}")]
    Bound {
        /// The file of the experiment.
        file: String,
        /// The grid point in words.
        point: String,
        /// Why.
        source: BoundError,
    },
    /// A file could not be read.
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read {
        /// The file.
        file: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error(
        "cannot write {file}: {source}; finished runs are kept: make room or check the permissions, \
         then run again with --resume"
    )]
    Write {
        /// The file.
        file: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The directory has results already.
    #[error("{directory} holds an experiment already; use --resume to go on, or another directory")]
    Occupied {
        /// The directory.
        directory: String,
    },
    /// The directory has the results of another experiment.
    #[error(
        "{directory} holds another experiment ({found}) than {wanted}: the file, --quick, the data or the \
         version differ; use another directory"
    )]
    Other {
        /// The directory.
        directory: String,
        /// What it holds.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// Another process is at work in the directory.
    #[error(
        "another process runs an experiment in {directory}; wait for it, or use another directory"
    )]
    Busy {
        /// The directory.
        directory: String,
    },
    /// A record cannot be understood.
    #[error(
        "{file}, line {line}: {problem}; the file was changed: remove the directory and run again"
    )]
    Damaged {
        /// The file.
        file: String,
        /// Line from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A directory without an experiment.
    #[error("{directory} holds no finished experiment; make one with dpbounds experiment run")]
    Absent {
        /// The directory.
        directory: String,
    },
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {problem}; use fewer with --threads")]
    Threads {
        /// How many.
        threads: usize,
        /// The system's answer.
        problem: String,
    },
}

/// The result of reading or running an experiment.
pub type Result<T> = std::result::Result<T, RunError>;
