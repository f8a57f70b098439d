//! Data: synthetic families, real sets inside the program, and the user's files.
//!
//! [`prepare`] answers a [`Request`] with a [`Dataset`]: inputs in `[−1, 1]^d`, labels ±1. Bad input is
//! a [`DataError`] that names the file, the place in it and what to do; nothing is repaired silently.

mod classes;
mod csv;
mod dataset;
mod error;
mod files;
mod idx;
mod images;
mod prepare;
mod registry;
mod scale;
mod shipped;
pub mod synthetic;
mod table;

pub use classes::Classes;
pub use csv::Header;
pub use dataset::{Dataset, Domain, MOST_COLUMNS, sha256};
pub use error::{ClassProblem, DataError, FileProblem, Place, Result, RowProblem, ValueProblem};
pub use images::Images;
pub use prepare::{Request, prepare, support};
pub(crate) use prepare::{is_drawn, is_synthetic};
pub use registry::{Availability, Entry, entries, fashion_mnist};
pub use scale::Scale;
pub use synthetic::{Part, Synthetic};
