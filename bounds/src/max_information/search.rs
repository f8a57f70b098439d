//! From a log moment to a max-information: the tail and the hockey-stick conversion.

use crate::error::Result;
use crate::solve::minimize;
use crate::special::hockey_stick_exponent;

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

/// `inf_λ [K(λ) + log(1/β) (+ hs(λ))]/λ`, searched over `log(λε)` so that the optimum stays in
/// range for every `ε > 0`, and capped by the limit `λ → ∞`.
pub(crate) fn invert_moment(
    log_moment: impl Fn(f64) -> f64,
    log_inverse: f64,
    conversion: Conversion,
    epsilon: f64,
    limit: f64,
) -> Result<f64> {
    let objective = |t: f64| {
        let lambda = t.exp() / epsilon;
        if lambda.is_infinite() {
            return limit;
        }
        (log_moment(lambda) + log_inverse + conversion.exponent(lambda)) / lambda
    };
    let found = minimize(objective, -60.0, 60.0)?;
    Ok(found.value.min(limit))
}
