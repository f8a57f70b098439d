//! Why a figure was not written.

use std::path::PathBuf;

use dpbounds_bounds::BoundError;
use dpbounds_experiments::ledger::LedgerError;
use dpbounds_experiments::run::RunError;
use thiserror::Error;

/// Why a figure was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A plotted experiment could not be run.
    #[error(transparent)]
    Experiment(Box<RunError>),
    /// The ledger could not run, or its records could not be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// An experiment measured nothing that a figure shows.
    #[error(
        "experiment {experiment:?} has nothing to draw; give it a [[slope]], a sweep of epsilon, or \
         measure.curve = k"
    )]
    Nothing {
        /// Its name.
        experiment: String,
    },
    /// A plotted bound could not be evaluated.
    #[error(transparent)]
    Bound(#[from] BoundError),
    /// A file could not be written.
    #[error("cannot write {}: {source}; check the directory and its permissions", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The picture or its table could not be made.
    #[error("cannot draw the figure: {0}")]
    Draw(String),
}

impl From<RunError> for FigureError {
    fn from(error: RunError) -> Self {
        Self::Experiment(Box::new(error))
    }
}

/// Shorthand for results of this crate.
pub(crate) type Result<T> = std::result::Result<T, FigureError>;

/// Any failure of a drawing library.
pub(crate) fn draw_error(error: impl std::fmt::Display) -> FigureError {
    FigureError::Draw(error.to_string())
}
