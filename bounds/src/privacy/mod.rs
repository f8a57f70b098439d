//! Privacy of Gaussian noise added to clipped gradient sums.
//!
//! `κ` is the noise standard deviation on the **sum** of clipped gradients in units of the clipping
//! norm. A [`Sampler`] and a [`Relation`] are types; a pair without a proof is refused with the
//! nearest one that has a proof. Conventions and proofs: docs/theory/privacy.md and
//! docs/theory/accounting.md.

mod account;
mod audit;
mod bracket;
mod calibrate;
pub mod closed_form;
pub mod correlated;
mod effort;
mod extent;
pub mod gaussian;
mod lambda_gain;
mod lower;
mod method;
mod pair;
mod participation;
mod plan;
pub mod pld;
pub mod rdp;
mod relation;
mod route;
mod rung;
mod sampler;

pub use account::{Question, account};
pub use audit::{Audit, Verdict, audit};
pub use bracket::Bracket;
pub use calibrate::calibrate;
pub use effort::Effort;
pub use extent::{Extent, largest};
pub use lambda_gain::{LambdaGain, lambda_gain};
pub use lower::Witness;
pub use method::Method;
pub use pair::{Order, Pair};
pub use participation::participation_norm;
pub use plan::{Plan, Target};
pub use relation::Relation;
pub use route::{Profile, Route, route};
pub use sampler::Sampler;
