//! Activations whose derivatives are polynomials of their value.

/// The activation between the two spline layers.
///
/// With `v = act(a)` both derivatives are polynomials of `v`, so the units `φ_j = s_j ∘ act` have derivatives
/// `φ' = act' s'` and `φ'' = act'² s'' + act'' s'` that are piecewise polynomials of `v`.
///
/// # Source
/// arXiv 2605.12648, Section 3 (activations with bounded first and second derivative).
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::Activation;
/// let v = Activation::Tanh.value(0.5);
/// assert!((Activation::Tanh.slope(v) - 1.0 / 0.5_f64.cosh().powi(2)).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activation {
    /// `tanh(a)`: `act' = 1 − v²`, `act'' = −2v(1 − v²)`.
    Tanh,
    /// `1/(1 + e^{−a})`: `act' = v(1 − v)`, `act'' = v(1 − v)(1 − 2v)`.
    Sigmoid,
}

impl Activation {
    /// `act(a)`, inside [`Activation::range`] for every number `a`.
    #[must_use]
    pub fn value(self, a: f64) -> f64 {
        match self {
            Self::Tanh => libm::tanh(a).clamp(-1.0, 1.0),
            Self::Sigmoid => (1.0 / (1.0 + libm::exp(-a))).clamp(0.0, 1.0),
        }
    }

    /// `act'` at the point where the activation is `v`.
    #[must_use]
    pub fn slope(self, v: f64) -> f64 {
        match self {
            Self::Tanh => (1.0 - v) * (1.0 + v),
            Self::Sigmoid => v * (1.0 - v),
        }
    }

    /// `act''` at the point where the activation is `v`.
    #[must_use]
    pub fn curvature(self, v: f64) -> f64 {
        match self {
            Self::Tanh => -2.0 * v * self.slope(v),
            Self::Sigmoid => (1.0 - 2.0 * v) * self.slope(v),
        }
    }

    /// The range of the activation.
    #[must_use]
    pub fn range(self) -> (f64, f64) {
        match self {
            Self::Tanh => (-1.0, 1.0),
            Self::Sigmoid => (0.0, 1.0),
        }
    }

    /// `act'` as coefficients of `1, v, v²`.
    #[must_use]
    pub fn slope_polynomial(self) -> &'static [f64] {
        match self {
            Self::Tanh => &[1.0, 0.0, -1.0],
            Self::Sigmoid => &[0.0, 1.0, -1.0],
        }
    }

    /// `act''` as coefficients of `1, v, v², v³`.
    #[must_use]
    pub fn curvature_polynomial(self) -> &'static [f64] {
        match self {
            Self::Tanh => &[0.0, -2.0, 0.0, 2.0],
            Self::Sigmoid => &[0.0, 1.0, -3.0, 2.0],
        }
    }

    /// `B'_s = sup |act'|`: 1 or 1/4.
    #[must_use]
    pub fn largest_slope(self) -> f64 {
        match self {
            Self::Tanh => 1.0,
            Self::Sigmoid => 0.25,
        }
    }

    /// `B''_s = sup |act''|`: `4/(3 sqrt 3)` or `1/(6 sqrt 3)`.
    #[must_use]
    pub fn largest_curvature(self) -> f64 {
        match self {
            Self::Tanh => 4.0 / (3.0 * 3.0_f64.sqrt()),
            Self::Sigmoid => 1.0 / (6.0 * 3.0_f64.sqrt()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kan::polynomial;

    #[test]
    fn derivatives_match_differences_and_their_polynomials() {
        for act in [Activation::Tanh, Activation::Sigmoid] {
            let (mut slope, mut curvature) = (0.0_f64, 0.0_f64);
            for step in -600..=600 {
                let (a, e) = (f64::from(step) / 100.0, 1e-5);
                let (below, v, above) = (act.value(a - e), act.value(a), act.value(a + e));
                assert!((act.slope(v) - (above - below) / (2.0 * e)).abs() < 1e-9);
                let second = (act.slope(above) - act.slope(below)) / (2.0 * e);
                assert!((act.curvature(v) - second).abs() < 1e-9);
                assert!(
                    (act.slope(v) - polynomial::value(act.slope_polynomial(), v)).abs() < 1e-15
                );
                let poly = polynomial::value(act.curvature_polynomial(), v);
                assert!((act.curvature(v) - poly).abs() < 1e-15);
                slope = slope.max(act.slope(v).abs());
                curvature = curvature.max(act.curvature(v).abs());
            }
            assert!((slope / act.largest_slope() - 1.0).abs() < 1e-4);
            assert!((curvature / act.largest_curvature() - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn extreme_arguments_stay_in_the_range() {
        for act in [Activation::Tanh, Activation::Sigmoid] {
            for a in [f64::MIN, -800.0, 800.0, f64::MAX] {
                let (low, high) = act.range();
                assert!((low..=high).contains(&act.value(a)));
                assert!(act.slope(act.value(a)).abs() < 1e-300 || act.slope(act.value(a)) == 0.0);
            }
        }
    }
}
