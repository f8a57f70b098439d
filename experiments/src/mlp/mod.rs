//! Multi-class networks of dense layers with ReLU, trained privately, and Gaussian posteriors over their weights.
//!
//! [`train_private`] is DP-SGD with the exact norm of every example's gradient: for dense layers
//! `‖g_i‖² = Σ_l (‖a_l‖² + 1) ‖δ_l‖²`, so no gradient of a single example is formed. [`train_posterior`] trains a
//! Gaussian with independent coordinates towards a small PAC-Bayes bound; [`gibbs_errors`] samples its
//! 0/1 risk. Results depend on the seed and the processor's instructions, not on the number of threads, which is
//! that of the rayon pool.

mod blocks;
mod gibbs;
mod matrix;
mod network;
mod pass;
mod posterior;
mod private;
mod records;
mod stochastic;

pub use gibbs::gibbs_errors;
pub use network::{Network, error_rate};
pub use pass::{clipped_gradient, gradient_norms, mean_gradient, mean_loss};
pub use posterior::{PosteriorSettings, Progress, Trained, train_posterior};
pub use private::{DpSgd, train_private};
pub use records::Records;
pub use stochastic::{Gaussian, Objective, surrogate_gradient};
