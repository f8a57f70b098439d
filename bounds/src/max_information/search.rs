//! From a log moment to a max-information: the tail and the hockey-stick conversion.

use super::MAX_INFORMATION;
use crate::error::Result;
use crate::solve::minimize;
use crate::special::hockey_stick_exponent;
use crate::warrant::{Bound, Source};

/// How a moment bound `log E e^{λι} <= K(λ)` becomes a bound on the max-information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// `[K(λ) + log(1/β)]/λ` (Dwork et al. 2015, Lemma 18).
    Tail,
    /// The same plus `[λ log λ − (1+λ) log(1+λ)]/λ <= 0`: never worse (ours, docs/theory, HS conversion).
    HockeyStick,
}

impl Conversion {
    pub(crate) fn exponent(self, lambda: f64) -> f64 {
        match self {
            Self::Tail => 0.0,
            Self::HockeyStick => hockey_stick_exponent(lambda),
        }
    }
}

/// The value of a search and the size of the parts it is a difference of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Searched {
    pub(crate) value: f64,
    pub(crate) magnitude: f64,
}

impl Searched {
    pub(crate) const ZERO: Self = Self { value: 0.0, magnitude: 0.0 };

    /// The same with non-negative parts added.
    pub(crate) fn plus(self, part: f64) -> Self {
        Self { value: self.value + part, magnitude: self.magnitude + part }
    }

    /// As a bound on the max-information.
    pub(crate) fn bound(self, source: Source) -> Result<Bound> {
        Bound::upper_bound_of_parts(MAX_INFORMATION, self.value, self.magnitude, source)
    }
}

/// `inf [positive(t) + hs(λ)]/λ` over the search variable `t`, where `at(t)` gives `λ` and the positive
/// part of the numerator.
pub(crate) fn search(
    at: impl Fn(f64) -> (f64, f64),
    conversion: Conversion,
    low: f64,
    high: f64,
) -> Result<Searched> {
    let objective = |t: f64| {
        let (lambda, positive) = at(t);
        (positive + conversion.exponent(lambda)) / lambda
    };
    let found = minimize(objective, low, high)?;
    let (lambda, positive) = at(found.argument);
    let magnitude = (positive - conversion.exponent(lambda)) / lambda;
    Ok(Searched { value: found.value, magnitude })
}

/// `inf_λ [K(λ) + log(1/β) (+ hs(λ))]/λ`, searched over `log(λε)` so that the optimum stays in
/// range for every `ε > 0`, and capped by the limit `λ → ∞`.
pub(crate) fn invert_moment(
    log_moment: impl Fn(f64) -> f64,
    log_inverse: f64,
    conversion: Conversion,
    epsilon: f64,
    limit: f64,
) -> Result<Searched> {
    // λ itself stays between 1e-290 and 1e290.
    let (low, high) = ((epsilon * 1e-290).ln().max(-60.0), (epsilon * 1e290).ln().min(60.0));
    let at = |t: f64| {
        let lambda = t.exp() / epsilon;
        (lambda, log_moment(lambda) + log_inverse)
    };
    let found = search(at, conversion, low, high)?;
    if found.value < limit { Ok(found) } else { Ok(Searched { value: limit, magnitude: limit }) }
}
