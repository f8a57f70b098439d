//! Rényi differential privacy (RDP) of the subsampled Gaussian mechanism and its conversion to (ε, δ).
//!
//! One step has the curve `ε(α) = log E_Q[(P/Q)^α] / (α − 1)`; `T` steps have `T ε(α)`. Every function
//! rounds up, so that the result is a bound and not an approximation of one. `noise_multiplier` is the
//! noise over the sensitivity of the relation at hand: `κ` for Poisson sampling under add/remove or
//! zero-out, `κ/2` for fixed-size batches under replace-one. The functions with `replace_one` in their
//! names take `κ` itself, the noise on the sum over the clipping norm; only these and the two theorems on
//! fixed-size batches may be used for max-information.

mod conversion;
mod fixed_size;
mod poisson;
mod profile_integral;
mod replace_one;
mod replace_one_fixed;
mod replace_one_poisson;

pub use conversion::{
    delta_from_curve, epsilon_from_curve, fixed_size_delta, fixed_size_epsilon, poisson_delta,
    poisson_epsilon,
};
pub use fixed_size::{fixed_size_thm9, fixed_size_thm27};
pub use poisson::poisson;
pub use replace_one::full_batch_replace_one;
pub use replace_one_fixed::{fixed_size_replace_one, fixed_size_replace_one_curve};
pub use replace_one_poisson::{poisson_replace_one, poisson_replace_one_curve};
