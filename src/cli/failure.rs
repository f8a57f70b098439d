//! Why a command ended without an answer, and with which exit code.

use std::path::PathBuf;

use dpbounds_bounds::BoundError;
use dpbounds_experiments::certify::CertifyError;
use dpbounds_experiments::data::DataError;
use dpbounds_experiments::ledger::LedgerError;
use dpbounds_experiments::run::RunError;
use dpbounds_experiments::train::TrainError;
use dpbounds_figures::FigureError;
use thiserror::Error;

/// A failed command. Exit codes: 1 a check failed, 2 bad input, 3 numerical failure.
#[derive(Debug, Error)]
pub enum Failure {
    /// A bound could not be evaluated.
    #[error(transparent)]
    Bound(#[from] BoundError),
    /// An option is missing or does not fit the others.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}; check the path and its permissions", path.display())]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Standard input or output failed.
    #[error("standard input or output failed: {0}")]
    Stream(#[from] std::io::Error),
    /// A file was read but not understood.
    #[error("{}, line {line}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Line number from 1.
        line: u64,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// Data could not be read, drawn or prepared.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An experiment could not be read, started or finished.
    #[error(transparent)]
    Experiment(Box<RunError>),
    /// There is no certificate.
    #[error(transparent)]
    Certify(Box<CertifyError>),
    /// The ledger could not run.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A training run could not start.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A picture could not be drawn.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// The answer was written and says what failed; only the exit code remains.
    #[error("reported")]
    Reported {
        /// The exit code.
        code: u8,
    },
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Experiment(Box::new(error))
    }
}

impl From<CertifyError> for Failure {
    fn from(error: CertifyError) -> Self {
        Self::Certify(Box::new(error))
    }
}

impl Failure {
    /// The exit code of this failure.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Bound(BoundError::Numerical { .. })
            | Self::Train(TrainError::Network(BoundError::Numerical { .. })) => 3,
            Self::Experiment(error) => match **error {
                RunError::Bound { source: BoundError::Numerical { .. }, .. }
                | RunError::Train {
                    source: TrainError::Network(BoundError::Numerical { .. }),
                    ..
                } => 3,
                _ => 2,
            },
            Self::Certify(error) => match **error {
                CertifyError::Bound(BoundError::Numerical { .. })
                | CertifyError::Train(TrainError::Network(BoundError::Numerical { .. })) => 3,
                _ => 2,
            },
            Self::Reported { code } => *code,
            _ => 2,
        }
    }

    /// Whether the reader of a pipe went away, which is not an error.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Stream(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }
}
