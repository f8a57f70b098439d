//! Rényi DP: Theorem 2 of the paper, its sharper forms, and the best bound over a whole curve.

mod best;
mod curve;
mod dp_sgd;
mod gamma;
mod linear;
mod quadratic;

pub use best::{best, best_over_curve, best_over_orders, optimised_split};
pub use curve::{RenyiCurve, RenyiPoint};
pub use gamma::{gamma_half, gamma_half_hs};
pub use linear::{linear, linear_hs};
pub use quadratic::{theorem2, theorem2_quadratic, v, v_star, v_star_half, v_star_split};

use crate::domain;
use crate::error::Result;

/// The checked arguments of an (α, ε)-RDP mechanism: `h = α − 1`.
#[derive(Clone, Copy)]
struct Setting {
    n: f64,
    h: f64,
    epsilon: f64,
}

impl Setting {
    fn new(n: u64, alpha: f64, epsilon: f64) -> Result<Self> {
        Ok(Self {
            n: domain::count("n", n)?,
            h: domain::order_minus_one("alpha", alpha)?,
            epsilon: domain::non_negative("epsilon", epsilon)?,
        })
    }

    /// `v*` at `log(1/b1)`: `(n/(2h²)) asinh²( sqrt((e^{hε} − 1)/b1) )`.
    fn v_star(self, log_inverse_b1: f64) -> f64 {
        let product = self.h * self.epsilon;
        let log_excess = if product > 1e-20 {
            log_expm1(product)
        } else {
            self.h.ln() + self.epsilon.ln() // the product may underflow
        };
        let root = asinh_sqrt_exp(log_excess + log_inverse_b1);
        self.n / 2.0 * (root / self.h).powi(2)
    }
}

/// `log(e^x − 1)` for `x >= 0`.
fn log_expm1(x: f64) -> f64 {
    if x > 30.0 { x + (-(-x).exp()).ln_1p() } else { x.exp_m1().ln() }
}

/// `asinh(sqrt(u))` from `log u`, without overflow.
fn asinh_sqrt_exp(log_u: f64) -> f64 {
    if log_u > 0.0 {
        0.5 * log_u + (1.0 + (-log_u).exp()).sqrt().ln_1p()
    } else {
        (0.5 * log_u).exp().asinh()
    }
}

#[cfg(test)]
fn level(beta: f64) -> super::FailureLevel {
    super::FailureLevel::from_beta(beta).unwrap()
}
