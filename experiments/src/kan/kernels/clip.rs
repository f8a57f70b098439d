//! The factors by which the slopes of examples enter the mean of clipped gradients.

use pulp::{Simd, WithSimd};

use super::tanh;
use crate::kan::Real;

/// `factor = −label·slope/B`, times `clip/norm` where the norm of the gradient is above; returns how many
/// were.
pub(crate) struct Clip<'a, F> {
    pub(crate) labels: &'a [F],
    pub(crate) outputs: &'a [F],
    /// `Σ_j α_j²` and `‖h(x)‖²`: their product times the squared slope is the squared norm.
    pub(crate) units: &'a [F],
    pub(crate) features: &'a [F],
    pub(crate) factors: &'a mut [F],
    /// `(md)^(−1/2)`.
    pub(crate) scale: f64,
    pub(crate) divisor: f64,
    pub(crate) clip: f64,
}

impl<F: Real> WithSimd for Clip<'_, F> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        let mut clipped = 0_u64;
        let given = self.labels.iter().zip(self.outputs).zip(self.units).zip(self.features);
        for ((((label, output), units), features), factor) in given.zip(self.factors) {
            let label = label.to_f64();
            let margin = (label * output.to_f64()).clamp(-700.0, 700.0);
            let slope = self.scale / (1.0 + tanh::exp(margin, !S::IS_SCALAR));
            let norm = slope * (units.to_f64() * features.to_f64()).sqrt();
            let above = norm > self.clip;
            let kept = if above { self.clip / norm } else { 1.0 };
            clipped += u64::from(above);
            *factor = F::from_f64(-label * slope / self.divisor * kept);
        }
        #[allow(clippy::cast_possible_truncation)] // at most the examples
        {
            clipped as usize
        }
    }
}
