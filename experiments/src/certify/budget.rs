//! How a total failure probability is shared out.

use serde::{Deserialize, Serialize};

use super::error::{Result, out_of_range};

/// Failure probabilities of the parts of a certificate. All statements of one certificate hold together with
/// probability at least `1 − total()`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Level β of the max-information; 0 for a prior that does not depend on the data.
    pub max_information: f64,
    /// The bound on the private model; 0 without one.
    pub model: f64,
    /// The bound on the posterior.
    pub posterior: f64,
    /// The estimate of the posterior's empirical risk.
    pub sampling: f64,
}

impl Budget {
    /// `δ` shared out for a private prior: 40 % to the max-information, 20 % to each of the other parts.
    #[must_use]
    pub fn private(delta: f64) -> Self {
        let fifth = delta / 5.0;
        Self { max_information: 2.0 * fifth, model: fifth, posterior: fifth, sampling: fifth }
    }

    /// `δ` shared out for a prior that does not depend on the data: 80 % to the bound, 20 % to the estimate.
    #[must_use]
    pub fn data_independent(delta: f64) -> Self {
        let fifth = delta / 5.0;
        Self { max_information: 0.0, model: 0.0, posterior: 4.0 * fifth, sampling: fifth }
    }

    /// The total failure probability.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.max_information + self.model + self.posterior + self.sampling
    }

    pub(super) fn check(&self, private: bool) -> Result<()> {
        let total = self.total();
        if !(total > 0.0 && total < 1.0) {
            return Err(out_of_range("delta", total, "above 0 and below 1"));
        }
        let needed = [
            ("part of delta for the max-information", self.max_information, private),
            ("part of delta for the private model", self.model, private),
            ("part of delta for the posterior", self.posterior, true),
            ("part of delta for the sampling", self.sampling, true),
        ];
        for (name, part, is_needed) in needed {
            let allowed = if is_needed { "above 0" } else { "0: there is no private prior" };
            if !(part >= 0.0) || (part > 0.0) != is_needed {
                return Err(out_of_range(name, part, allowed));
            }
        }
        Ok(())
    }
}
