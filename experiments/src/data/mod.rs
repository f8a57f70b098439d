//! Data: inputs in `[−1, 1]^d` with labels ±1, drawn from synthetic families.

mod dataset;
mod error;
pub mod synthetic;

pub use dataset::{Dataset, Domain, MOST_COLUMNS, sha256};
pub use error::{ClassProblem, DataError, FileProblem, Place, Result, RowProblem, ValueProblem};
pub use synthetic::{Part, Synthetic};
