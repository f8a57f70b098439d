//! The pair `(1−q)N(0,1) + qN(μ,1)` against `N(0,1)` in coordinates that keep all digits.

use crate::special::{log_add_exp, log_normal_cdf, normal_cdf};

/// `1/√(2π)`.
pub(super) const DENSITY_AT_ZERO: f64 = 0.398_942_280_401_432_7;

/// Unit roundoff of double precision.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// `P = (1−q)N(0,1) + qN(μ,1)` against `Q = N(0,1)`; its privacy loss at `z` is
/// `log(1−q + q e^{μz − μ²/2})`, increasing in `z`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mixture {
    pub rate: f64,
    pub mu: f64,
    /// `log(1−q)`, the infimum of the loss.
    pub infimum: f64,
    pub log_rate: f64,
}

/// The point at which the loss takes a given value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub z: f64,
    /// `1/(1 − (1−q)e^{−loss})`, the inverse share of the shifted component in the likelihood ratio.
    pub inverse_share: f64,
    /// Density of `P` at `z`.
    pub density: f64,
}

impl Mixture {
    pub fn new(rate: f64, mu: f64) -> Self {
        Self { rate, mu, infimum: (-rate).ln_1p(), log_rate: rate.ln() }
    }

    /// Probability that the record is left out.
    pub fn keep(&self) -> f64 {
        1.0 - self.rate
    }

    pub fn loss(&self, z: f64) -> f64 {
        let tilt = self.mu * (z - self.mu / 2.0);
        if tilt < 30.0 {
            (self.rate * tilt.exp_m1()).ln_1p().max(self.infimum)
        } else {
            log_add_exp(self.infimum, self.log_rate + tilt)
        }
    }

    /// `q e^{μz − μ²/2}`, the part of the likelihood ratio that the record contributes.
    pub fn excess(&self, z: f64) -> f64 {
        (self.log_rate + self.mu * (z - self.mu / 2.0)).exp()
    }

    /// `log(q e^{μz−μ²/2} / q)` at the point where the loss is `loss`.
    fn log_odds(&self, loss: f64) -> f64 {
        if loss.abs() < 1.0 {
            let relative = loss.exp_m1() / self.rate;
            if relative.abs() < 0.5 {
                return relative.ln_1p();
            }
        }
        let above = loss - self.infimum;
        let log_expm1 =
            if above > 30.0 { above + (-(-above).exp()).ln_1p() } else { above.exp_m1().ln() };
        self.infimum + log_expm1 - self.log_rate
    }

    /// The node of a loss; `None` at or below the infimum.
    pub fn node(&self, loss: f64) -> Option<Node> {
        let above = loss - self.infimum;
        if above <= 0.0 {
            return None;
        }
        let z = self.log_odds(loss) / self.mu + self.mu / 2.0;
        let density = (loss - 0.5 * z * z).exp() * DENSITY_AT_ZERO;
        Some(Node { z, inverse_share: -1.0 / (-above).exp_m1(), density })
    }

    /// A loss at which a lattice point does well: the mean of `e^L` under `Q` of everything within one
    /// `width` of it. A narrow cluster of losses can then be moved to one point at no cost.
    pub fn centre(&self, width: f64) -> f64 {
        let mut excess = self.excess(0.0);
        let at = |excess: f64| self.infimum + (excess / self.keep()).ln_1p();
        for _ in 0..20 {
            let z = |loss: f64| self.node(loss).map_or(f64::NEG_INFINITY, |node| node.z);
            let (low, high) = (z(at(excess) - width), z(at(excess) + width));
            let mass = normal_cdf(high) - normal_cdf(low);
            let moment = normal_cdf(high - self.mu) - normal_cdf(low - self.mu);
            if !(mass > 1e-9) {
                break;
            }
            excess = self.rate * moment / mass;
        }
        // Slightly above, so that rounding does not put the cluster above the point.
        at(excess) + 1e-8 * width
    }

    /// `P(Z > z)`.
    pub fn upper_tail(&self, z: f64) -> f64 {
        self.keep() * normal_cdf(-z) + self.rate * normal_cdf(self.mu - z)
    }

    /// `P(Z < z)`.
    pub fn lower_tail(&self, z: f64) -> f64 {
        self.keep() * normal_cdf(z) + self.rate * normal_cdf(z - self.mu)
    }

    /// A point above which `P` has at most `exp(log_mass)`.
    pub fn quantile_from_above(&self, log_mass: f64) -> f64 {
        let own = normal_quantile_from_above(log_mass - std::f64::consts::LN_2);
        let joined = log_mass - std::f64::consts::LN_2 - self.log_rate;
        if joined >= -std::f64::consts::LN_2 {
            return own.max(self.mu);
        }
        own.max(self.mu + normal_quantile_from_above(joined))
    }
}

/// A point above which `N(0,1)` has at most `exp(log_mass)`, within 1e-3 of the smallest one.
pub(super) fn normal_quantile_from_above(log_mass: f64) -> f64 {
    let (mut inside, mut outside) = (0.0, (-2.0 * log_mass).max(0.0).sqrt());
    while outside - inside > 1e-3 {
        let middle = 0.5 * (inside + outside);
        if log_normal_cdf(-middle) <= log_mass { outside = middle } else { inside = middle }
    }
    outside
}
