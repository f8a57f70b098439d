//! PAC-Bayes risk certificates, with a private or a data-independent prior.
//!
//! Records are independent and identically distributed, the loss lies in [0, 1]. A certificate is a
//! *complexity* (nats per record, [`complexity`]) turned into a risk bound (`kl_inverse` and its
//! relaxations). Statements and proofs: docs/theory/pac-bayes.md.

pub mod catoni;
mod certificate;
pub mod complexity;
pub mod gaussian_kl;
mod kl_inverse;
pub mod prior_grid;
pub mod relaxations;
pub mod sampling;

pub use certificate::{Form, Prior, Problem, certify};
pub use kl_inverse::{
    kl_bernoulli, kl_inverse_lower, kl_inverse_upper, kl_inverse_upper_complement,
};

use crate::warrant::Quantity;

pub(crate) const RISK: Quantity = Quantity { name: "risk", unit: "probability" };
