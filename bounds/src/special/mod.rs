//! Special functions that no crate computes to full relative accuracy.
//!
//! Gaussian tails come from `libm`: those of `statrs` are good to 1e-10 only, and its incomplete beta
//! function does not converge for a billion trials.

mod binomial;
mod exp_difference;
mod hockey_stick;
mod log1p_excess;
mod log_moment;
mod normal;

pub use binomial::Binomial;
pub use exp_difference::{expm1_excess, log_add_exp, log_sub_exp};
pub use hockey_stick::hockey_stick_exponent;
pub use log_moment::{bounded_range_log_moment, randomized_response_log_moment};
pub use log1p_excess::log1p_excess;
pub(crate) use normal::mills_slope;
pub use normal::{log_normal_cdf, mills_ratio, mills_ratio_difference, normal_cdf};
