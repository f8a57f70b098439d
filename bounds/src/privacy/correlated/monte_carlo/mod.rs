//! Monte Carlo certificates of the pair, right up to a stated probability over their own seeds.
//!
//! * [`forward`]: upper limit of `H(P‖Q)` by importance sampling, [`forward_lower`] a lower limit;
//! * [`reverse`]: upper limit of `H(Q‖P)` by Ehrhard's inequality;
//! * [`plain`]: either order from plain samples, for moderate δ;
//! * [`certify`]: both orders at a shared failure probability;
//! * [`log_likelihood_ratio`]: an enclosure of `log dP/dQ` at a given output.
//!
//! [`forward_pilot`] and [`estimate`] are estimates and say so. A confidence interval from the
//! central limit theorem is never given: with rare large weights it is far below the truth.
//!
//! Random numbers are those of ChaCha8, one stream per sixteen samples, so that a result depends on
//! the seed and not on the number of threads. Normal variates are taken to be exact. Proofs:
//! docs/theory/accounting.md.

mod bernstein;
mod certificate;
mod certify;
mod ehrhard;
mod importance;
mod kernel;
mod log_domain;
mod log_ratio;
mod occupancy_grid;
mod plain;
mod precondition;
mod replica_chain;
mod sampling;

pub use certificate::{Certificate, Estimate, Method, Settings};
pub use certify::{Certified, certify};
pub use ehrhard::reverse;
pub use importance::{best_replica_order, forward, forward_lower, forward_pilot, samples_needed};
pub use log_ratio::{LogRatio, log_likelihood_ratio};
pub use plain::{estimate, plain};
pub use sampling::{Watch, interrupted};

/// Every log-likelihood ratio is computed to within this; replacing `L` by `L ± τ` changes `δ(ε)`
/// to at most `e^τ δ(ε − τ)`.
const TAU: f64 = 1e-7;

/// Relative rounding error of the few operations behind a limit, generously.
const ARITHMETIC: f64 = 1e-9;
