//! Privacy of Gaussian noise added to clipped gradient sums.
//!
//! `κ` is the noise standard deviation on the **sum** of clipped gradients in units of the clipping
//! norm. A [`Sampler`] and a [`Relation`] are types; a pair without a proof is refused with the
//! nearest one that has a proof. Conventions and proofs: docs/theory/privacy.md.

mod calibrate;
pub mod closed_form;
pub mod gaussian;
mod relation;
mod sampler;

pub use calibrate::{Method, Plan, Target, calibrate, participation_norm};
pub use relation::Relation;
pub use sampler::Sampler;
