//! Approximate max-information of private mechanisms.
//!
//! `I^β(A(S);S) = log sup_{O: P(O)>β} (P(O) − β)/Q(O)` with `P` the joint law of data set and release,
//! `Q` the product of the marginals. Everything is in nats. *Neighbouring* always means that one
//! record is **replaced**; records are independent; a guarantee must hold for the whole release.
//!
//! Statements and proofs: docs/theory/max-information.md. "The paper" is arXiv 2605.26222.

pub mod approximate_dp;
pub mod correlated;
pub mod dp_sgd;
pub mod gaussian;
mod level;
pub mod pure_dp;
pub mod renyi;
mod search;
pub mod streaming;
pub mod toy;

pub use level::FailureLevel;

use crate::warrant::{Quantity, Source};

pub(crate) const MAX_INFORMATION: Quantity = Quantity { name: "max_information", unit: "nats" };

pub(crate) const fn paper(statement: &'static str) -> Source {
    Source::new("arXiv 2605.26222", statement)
}

pub(crate) const fn ours(statement: &'static str) -> Source {
    Source::new("ours", statement)
}
