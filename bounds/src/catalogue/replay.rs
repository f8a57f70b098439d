//! The log-likelihood ratio of a short run, by its definition.

use crate::privacy::Pair;
use crate::special::log_add_exp;

/// Most steps whose participation patterns are enumerated (2^T terms).
pub(super) const MOST_STEPS: u64 = 16;

/// The exact ratio and how far rounding may be off; not finite where a term overflows.
pub(super) struct Enumerated {
    pub(super) value: f64,
    pub(super) error: f64,
}

/// `L(x)` of the pair by the recursion over all participation patterns; `x` has one number per step.
pub(super) fn log_ratio(pair: &Pair, x: &[f64]) -> Enumerated {
    let (lambda, noise) = (pair.lambda(), pair.noise_multiplier());
    let variance = noise * noise;
    let mut correlated = x.to_vec(); // c_v = x_v + λ c_{v+1}
    for v in (1..x.len()).rev() {
        correlated[v - 1] += lambda * correlated[v];
    }
    let mut rows_left = pair.horizon();
    let mut steps = Vec::with_capacity(x.len());
    for c in correlated {
        let gram = pair.gram_diagonal(rows_left);
        steps.push(Step { gain: (c - gram / 2.0) / variance, overlap: gram / variance });
        rows_left -= 1.0;
    }
    let run = Run { rate: pair.rate(), lambda, steps: &steps };
    // e^L − 1 keeps the digits of a small L, the logarithmic form those of a large one.
    let excess = run.excess(0, 0.0);
    let value = if excess.abs() <= 0.5 { excess.ln_1p() } else { run.log(0, 0.0) };
    let most_overlap = 0.5 + 1.0 / (1.0 - lambda);
    let sizes = steps.iter().map(|step| step.gain.abs() + step.overlap * most_overlap);
    Enumerated { value, error: 1e-15 * (sizes.sum::<f64>() + pair.horizon() + 10.0) }
}

struct Step {
    /// `(c_v − G_vv/2)/κ²`.
    gain: f64,
    /// `G_vv/κ²`.
    overlap: f64,
}

struct Run<'a> {
    rate: f64,
    lambda: f64,
    steps: &'a [Step],
}

impl Run<'_> {
    /// `E e^{...} − 1` over the steps from `v` on, with the accumulated participation `q`.
    fn excess(&self, v: usize, q: f64) -> f64 {
        let Some(step) = self.steps.get(v) else { return 0.0 };
        let exponent = step.gain - step.overlap * q;
        let out = self.excess(v + 1, self.lambda * q);
        let joined = self.excess(v + 1, self.lambda * (q + 1.0));
        let joined = exponent.exp_m1() + exponent.exp() * joined;
        (1.0 - self.rate) * out + self.rate * joined
    }

    fn log(&self, v: usize, q: f64) -> f64 {
        let Some(step) = self.steps.get(v) else { return 0.0 };
        let out = (-self.rate).ln_1p() + self.log(v + 1, self.lambda * q);
        let later = self.log(v + 1, self.lambda * (q + 1.0));
        let joined = self.rate.ln() + step.gain - step.overlap * q + later;
        // A rate of 0 or 1 leaves one of the two.
        if out == f64::NEG_INFINITY {
            joined
        } else if joined == f64::NEG_INFINITY {
            out
        } else {
            log_add_exp(out, joined)
        }
    }
}
