//! The ledger: every numbered claim of both papers and of ours, how it is checked, and the verdict.
//!
//! A check returns slacks, of which positive ones are margin; the verdict follows from them. Every claim says which
//! verdict is known, so that a run tells what changed. What cannot run is reported as not run, never as holding.

mod claim;
mod kan;
mod lab;
mod linear;
mod max_information;
mod measured;
mod ours;
mod privacy;
mod registry;
mod report;
mod runner;
mod walk;

pub use claim::{Check, Claim, Level, Method, Verdict, Work};
pub use measured::{CheckError, Measured};
pub use registry::{claims, find};
pub use report::{markdown, summary};
pub use runner::{Entry, LedgerError, LedgerOptions, RECORDS, load, verify};
