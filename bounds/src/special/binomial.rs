//! Binomial probabilities to full relative accuracy for any number of trials.

use std::f64::consts::PI;

use super::log1p_excess;

/// A binomial law with both success and failure probability, so that neither loses its digits.
#[derive(Debug, Clone, Copy)]
pub struct Binomial {
    trials: f64,
    success: f64,
    failure: f64,
    log_success: f64,
    log_failure: f64,
}

impl Binomial {
    /// `trials` (a whole number) with success probability `p` in (0, 1).
    ///
    /// ```
    /// use dpbounds_bounds::special::Binomial;
    /// let law = Binomial::new(10.0, 0.3);
    /// assert!((law.log_mass(3.0).exp() - 0.266_827_932).abs() < 1e-15);
    /// ```
    #[must_use]
    pub fn new(trials: f64, p: f64) -> Self {
        Self {
            trials,
            success: p,
            failure: 1.0 - p,
            log_success: p.ln(),
            log_failure: (-p).ln_1p(),
        }
    }

    /// The law with odds of success `e^ε : 1`, `ε >= 0`: randomised response.
    #[must_use]
    pub fn with_log_odds(trials: f64, epsilon: f64) -> Self {
        let small = (-epsilon).exp();
        let log_success = -small.ln_1p();
        Self {
            trials,
            success: 1.0 / (1.0 + small),
            failure: small / (1.0 + small),
            log_success,
            log_failure: log_success - epsilon,
        }
    }

    /// `log P(K = k)` by Loader's saddle-point form; `k` a whole number from 0 to `trials`.
    #[must_use]
    pub fn log_mass(&self, k: f64) -> f64 {
        let misses = self.trials - k;
        if k == 0.0 {
            return misses * self.log_failure;
        }
        if misses == 0.0 {
            return k * self.log_success;
        }
        // Mean minus k, from the side whose probability is small and therefore exact.
        let excess = if self.failure < self.success {
            misses - self.trials * self.failure
        } else {
            self.trials * self.success - k
        };
        let log_trials = self.trials.ln();
        let hit_part = deviance(k, excess, log_trials + self.log_success);
        let miss_part = deviance(misses, -excess, log_trials + self.log_failure);
        let stirling = stirling_error(self.trials) - stirling_error(k) - stirling_error(misses);
        stirling - 0.5 * (2.0 * PI * k * (misses / self.trials)).ln() - hit_part - miss_part
    }

    /// `log P(K <= k)` for `k` a whole number below the mean: the sum of the masses downwards, whose
    /// ratios fall; about `8·sqrt(trials)` of them matter at most.
    #[must_use]
    pub fn log_lower_tail(&self, k: f64) -> f64 {
        let odds = (self.log_failure - self.log_success).exp();
        let (mut sum, mut term, mut j) = (1.0, 1.0, k);
        while j > 0.0 && term > sum * 1e-17 {
            term *= j / (self.trials - j + 1.0) * odds;
            sum += term;
            j -= 1.0;
        }
        self.log_mass(k) + sum.ln()
    }
}

/// `x log(x/mean) + mean − x`, given `excess = mean − x` and `log mean`.
fn deviance(x: f64, excess: f64, log_mean: f64) -> f64 {
    if excess.abs() > x / 2.0 {
        x * (x.ln() - log_mean) + excess
    } else {
        x * log1p_excess(excess / x)
    }
}

/// `log x! − log( sqrt(2πx) (x/e)^x )`.
fn stirling_error(x: f64) -> f64 {
    if x < 16.0 {
        return libm::lgamma(x + 1.0) - (x + 0.5) * x.ln() + x - 0.5 * (2.0 * PI).ln();
    }
    let square = x * x;
    let series = 1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - series / square) / square) / x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_sum_to_one() {
        for (n, epsilon) in [(3.0, 0.2), (40.0, 1.0), (5000.0, 0.05), (20.0, 50.0)] {
            let law = Binomial::with_log_odds(n, epsilon);
            let total: f64 = (0..=n as u64).map(|k| law.log_mass(k as f64).exp()).sum();
            assert!((total - 1.0).abs() < 1e-13, "{n} {epsilon}: {total}");
        }
    }

    #[test]
    fn the_lower_tail_is_the_sum_of_the_masses() {
        for (n, p, k) in [(50.0, 0.4, 11.0), (1000.0, 0.5, 480.0), (1e6, 1e-5, 3.0)] {
            let law = Binomial::new(n, p);
            let total: f64 = (0..=k as u64).map(|j| law.log_mass(j as f64).exp()).sum();
            assert!((law.log_lower_tail(k).exp() / total - 1.0).abs() < 1e-12, "{n} {p} {k}");
        }
    }
}
