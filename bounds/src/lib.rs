//! Bounds of differentially private learning as pure functions.
//!
//! Every function that evaluates a bound returns a [`Bound`]: the value, or no value and the reason,
//! together with its [`Warrant`], source, terms, checked hypotheses and alternatives. There is no I/O
//! and no global state. Natural units throughout: nats, probabilities, risk in [0, 1].
//!
//! * [`max_information`]: approximate max-information of private mechanisms.
//! * [`pac_bayes`]: risk certificates with a private or a data-independent prior.
//! * [`privacy`]: the Gaussian mechanism and closed-form noise calibration.
//! * [`kan`]: Kolmogorov–Arnold networks trained by DP-SGD: constants, margin, comparator,
//!   risk certificates, order-form rates.
//! * [`catalogue`]: every bound by name, for batch evaluation.

pub mod catalogue;
pub mod domain;
mod error;
pub mod kan;
pub mod max_information;
pub mod pac_bayes;
pub mod privacy;
mod round;
pub mod solve;
pub mod special;
mod warrant;

pub use error::{BoundError, Result, Shown};
pub use round::{RELATIVE_MARGIN, round_up};
pub use warrant::{Alternative, Bound, Check, Comparison, Quantity, Source, Term, Text, Warrant};
