//! The two-layer B-spline network in plain double precision.

use super::{Activation, SplineBasis, ensure_finite, ensure_length, number, summation};
use crate::error::{BoundError, Result, Shown};

/// A two-layer network with a fixed second layer; its trained weights `W` are kept apart.
///
/// `f_W(x) = m^{-1/2} Σ_j s_j(act(<w_j, h(x)>/sqrt(d)))` with `s_j(v) = <c_j, h(v)>`. Weights are slices of
/// `m·d·p` numbers, row-major: unit, then input, then basis function.
///
/// # Source
/// arXiv 2605.12648, Section 3.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{Activation, Knots, Network, SplineBasis};
/// let basis = SplineBasis::new(1, 2, Knots::Clamped)?;
/// // Two units on one input, the second layer s_1(v) = v and s_2(v) = −v.
/// let network = Network::new(basis, Activation::Tanh, 1, vec![-1.0, 1.0, 1.0, -1.0])?;
/// let weights = [-1.0, 1.0, 0.0, 0.0];
/// let output = network.output(&weights, &network.features(&[0.5])?)?;
/// assert!((output.value - 0.5_f64.tanh() / 2.0_f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    basis: SplineBasis,
    activation: Activation,
    inputs: usize,
    second_layer: Vec<f64>,
}

/// One unit at one preactivation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// `φ(a)`.
    pub value: f64,
    /// `φ'(a)`.
    pub slope: f64,
    /// `φ''(a)`, at a knot from the right.
    pub curvature: f64,
}

/// The output on one input and the slopes of the units there.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// `f_W(x)`.
    pub value: f64,
    /// `α_j = φ_j'(a_j)`, m values.
    pub slopes: Vec<f64>,
}

/// The gradient of the output in the weights, `scale · slopes ⊗ features`.
#[derive(Debug, Clone, PartialEq)]
pub struct RankOneGradient {
    /// `1/sqrt(md)`.
    pub scale: f64,
    /// `α_j = φ_j'(a_j)`, m values.
    pub slopes: Vec<f64>,
    /// `h(x)`, d·p values.
    pub features: Vec<f64>,
}

impl RankOneGradient {
    /// `||∇f|| = ||α|| ||h(x)||/sqrt(md)`. The gradient of the loss is `−s y ∇f` with `s` from
    /// [`super::logistic_slope`], so its norm is `s` times this.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.scale * norm2(&self.slopes).sqrt() * norm2(&self.features).sqrt()
    }

    /// All `m·d·p` entries, row-major like the weights.
    #[must_use]
    pub fn dense(&self) -> Vec<f64> {
        let row = |slope: f64| self.features.iter().map(move |h| self.scale * slope * h);
        self.slopes.iter().flat_map(|slope| row(*slope)).collect()
    }
}

impl Network {
    /// A network on `inputs` d in 1.. with the second layer `c`, row-major `m x p`, which fixes the width m.
    ///
    /// # Errors
    /// [`BoundError`] for no input, an empty second layer, one that is no multiple of `p`, or a value that is not
    /// finite.
    pub fn new(
        basis: SplineBasis,
        activation: Activation,
        inputs: usize,
        second_layer: Vec<f64>,
    ) -> Result<Self> {
        positive_size("inputs", inputs)?;
        positive_size("second_layer", second_layer.len())?;
        ensure_length(
            "second_layer",
            second_layer.len() % basis.size(),
            "remainder",
            0,
            "the second layer has p numbers for every unit",
        )?;
        ensure_finite("second_layer", &second_layer)?;
        Ok(Self { basis, activation, inputs, second_layer })
    }

    /// The basis of both layers.
    #[must_use]
    pub fn basis(&self) -> &SplineBasis {
        &self.basis
    }

    /// The activation between the layers.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The input dimension d.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The width m.
    #[must_use]
    pub fn width(&self) -> usize {
        self.second_layer.len() / self.basis.size()
    }

    /// The second layer `c`, row-major `m x p`.
    #[must_use]
    pub fn second_layer(&self) -> &[f64] {
        &self.second_layer
    }

    /// The number of features `d·p`.
    #[must_use]
    pub fn feature_count(&self) -> usize {
        self.inputs * self.basis.size()
    }

    /// The number of trained parameters `N = m·d·p`.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.width() * self.feature_count()
    }

    /// `h(x)`, d·p values: all functions of the first input, then of the second, …
    ///
    /// # Errors
    /// [`BoundError`] for a wrong number of inputs or one outside [−1, 1].
    pub fn features(&self, input: &[f64]) -> Result<Vec<f64>> {
        ensure_length("input", input.len(), "inputs", self.inputs, "give d numbers")?;
        for value in input {
            if !(-1.0..=1.0).contains(value) {
                return Err(BoundError::OutOfRange {
                    parameter: "input",
                    value: Shown(*value),
                    allowed: "[-1, 1]",
                    remedy: "scale the inputs by a map that does not depend on the data",
                });
            }
        }
        Ok(input.iter().flat_map(|value| self.basis.values(*value)).collect())
    }

    /// `a_j = <w_j, h>/sqrt(d)`, m values.
    ///
    /// # Errors
    /// [`BoundError`] for arrays of the wrong length or a result that is not finite.
    pub fn preactivations(&self, weights: &[f64], features: &[f64]) -> Result<Vec<f64>> {
        self.ensure_weights(weights)?;
        let count = self.feature_count();
        ensure_length("features", features.len(), "d p", count, "give h(x)")?;
        let scale = number(self.inputs).sqrt();
        let row = |row: &[f64]| row.iter().zip(features).map(|(w, h)| w * h).sum::<f64>() / scale;
        let all: Vec<f64> = weights.chunks_exact(count).map(row).collect();
        if all.iter().all(|a| a.is_finite()) {
            return Ok(all);
        }
        Err(BoundError::Numerical { what: "preactivation", detail: "weights are too large" })
    }

    /// Unit `index` at the preactivation `a`.
    ///
    /// # Panics
    /// If there is no such unit.
    #[must_use]
    pub fn unit(&self, index: usize, a: f64) -> Unit {
        let v = self.activation.value(a);
        let (span, u) = self.basis.locate(v);
        let first = index * self.basis.size() + span;
        let active = &self.second_layer[first..=first + self.basis.degree()];
        let (mut s0, mut s1, mut s2) = (0.0, 0.0, 0.0);
        for (function, c) in active.iter().enumerate() {
            // Horner's rule with the first two derivatives (the second one halved).
            let (mut b0, mut b1, mut b2) = (0.0, 0.0, 0.0);
            for coefficient in self.basis.piece(span, function).iter().rev() {
                b2 = b2 * u + b1;
                b1 = b1 * u + b0;
                b0 = b0 * u + coefficient;
            }
            s0 += c * b0;
            s1 += c * b1;
            s2 += c * b2;
        }
        let width = self.basis.span_width();
        let (s1, s2) = (s1 / width, 2.0 * s2 / (width * width));
        let (slope, curvature) = (self.activation.slope(v), self.activation.curvature(v));
        Unit { value: s0, slope: slope * s1, curvature: slope * slope * s2 + curvature * s1 }
    }

    /// The output and the slopes of the units, from m preactivations.
    ///
    /// The sum over the units is pairwise and splits in the middle: opposite halves cancel exactly.
    ///
    /// # Errors
    /// [`BoundError`] for a wrong number of preactivations or one that is not finite.
    pub fn output_at(&self, preactivations: &[f64]) -> Result<Output> {
        let width = self.width();
        ensure_length("preactivations", preactivations.len(), "width", width, "give m numbers")?;
        ensure_finite("preactivation", preactivations)?;
        let mut slopes = vec![0.0; width];
        let mut term = |index: usize| {
            let unit = self.unit(index, preactivations[index]);
            slopes[index] = unit.slope;
            unit.value
        };
        let total = summation::pairwise(0, width, &mut term);
        Ok(Output { value: total / number(width).sqrt(), slopes })
    }

    /// The output at `weights` on an input with the given [`Network::features`].
    ///
    /// # Errors
    /// [`BoundError`] for arrays of the wrong length or values that are not finite.
    pub fn output(&self, weights: &[f64], features: &[f64]) -> Result<Output> {
        self.output_at(&self.preactivations(weights, features)?)
    }

    /// The gradient of the output in the weights: `(md)^{-1/2} α ⊗ h(x)`.
    ///
    /// # Errors
    /// [`BoundError`] for arrays of the wrong length or values that are not finite.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::kan::{Activation, Initialisation, Knots, SplineBasis, initialise};
    /// let basis = SplineBasis::new(3, 5, Knots::Clamped)?;
    /// let (network, weights) = initialise(basis, Activation::Tanh, 2, 8, Initialisation::Gaussian, 1)?;
    /// let gradient = network.gradient(&weights, &network.features(&[0.2, -0.4])?)?;
    /// let dense: f64 = gradient.dense().iter().map(|g| g * g).sum();
    /// assert!((gradient.norm() - dense.sqrt()).abs() < 1e-14);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn gradient(&self, weights: &[f64], features: &[f64]) -> Result<RankOneGradient> {
        let Output { slopes, .. } = self.output(weights, features)?;
        let scale = 1.0 / (number(self.width()) * number(self.inputs)).sqrt();
        Ok(RankOneGradient { scale, slopes, features: features.to_vec() })
    }

    /// `φ_j''(a_j)`, m values. The Hessian of `f` is block diagonal with blocks `φ_j'' h hᵀ/(d sqrt m)`.
    ///
    /// # Errors
    /// [`BoundError`] for arrays of the wrong length or values that are not finite.
    pub fn curvatures(&self, weights: &[f64], features: &[f64]) -> Result<Vec<f64>> {
        let all = self.preactivations(weights, features)?;
        Ok(all.iter().enumerate().map(|(index, a)| self.unit(index, *a).curvature).collect())
    }

    /// The quadratic form of the Hessian, `<V, ∇²f V> = Σ_j φ_j''(a_j) <v_j, h>²/(d sqrt m)`.
    ///
    /// `direction` V has the shape of the weights.
    ///
    /// # Errors
    /// [`BoundError`] for arrays of the wrong length or values that are not finite.
    pub fn hessian_form(
        &self,
        weights: &[f64],
        features: &[f64],
        direction: &[f64],
    ) -> Result<f64> {
        let curvatures = self.curvatures(weights, features)?;
        let along = self.preactivations(direction, features)?; // <v_j, h>/sqrt(d)
        let mut term = |index: usize| curvatures[index] * along[index] * along[index];
        let total = summation::pairwise(0, along.len(), &mut term);
        Ok(total / number(self.width()).sqrt())
    }

    pub(super) fn ensure_weights(&self, weights: &[f64]) -> Result<()> {
        let count = self.parameters();
        ensure_length("weights", weights.len(), "m d p", count, "weights are m x dp, row-major")
    }
}

pub(super) fn norm2(values: &[f64]) -> f64 {
    summation::pairwise(0, values.len(), &mut |index| values[index] * values[index])
}

pub(super) fn positive_size(parameter: &'static str, size: usize) -> Result<()> {
    if size > 0 {
        return Ok(());
    }
    Err(BoundError::OutOfRange {
        parameter,
        value: Shown(0.0),
        allowed: "at least 1",
        remedy: "give at least one",
    })
}
