//! Which statements may answer a question about privacy.

use std::fmt;
use std::str::FromStr;

use crate::error::{BoundError, Result};

/// The rungs of the ladder, from closed forms to the tight accountants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// The best proven value of all that apply.
    Auto,
    /// Theorem F.12 (calibration only), with the claim of Theorem D.9 where it is stated.
    ClosedForm,
    /// L1: the best cap on the number of participations.
    L1,
    /// L1b: the mixture over all participations, without amplification by composition.
    L1b,
    /// L2: replica moments forward, Jensen's inequality in reverse.
    L2,
    /// L2T: transfer bound without repulsion forward.
    L2t,
    /// L2TD: transfer bounds with the repulsion kept, both orders.
    L2td,
    /// L3: Monte Carlo certificate, up to a stated failure probability.
    L3,
    /// Rényi differential privacy, λ = 0.
    Rdp,
    /// Privacy-loss distributions, λ = 0.
    Pld,
}

impl Method {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Auto,
        Self::ClosedForm,
        Self::L1,
        Self::L1b,
        Self::L2,
        Self::L2t,
        Self::L2td,
        Self::L3,
        Self::Rdp,
        Self::Pld,
    ];
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::ClosedForm => "closed-form",
            Self::L1 => "l1",
            Self::L1b => "l1b",
            Self::L2 => "l2",
            Self::L2t => "l2t",
            Self::L2td => "l2td",
            Self::L3 => "l3",
            Self::Rdp => "rdp",
            Self::Pld => "pld",
        })
    }
}

impl FromStr for Method {
    type Err = BoundError;

    fn from_str(word: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|known| known.to_string() == word);
        found.copied().ok_or_else(|| BoundError::Input {
            parameter: "method".into(),
            problem: format!(
                "{word:?} is unknown; expected auto, closed-form, l1, l1b, l2, l2t, l2td, l3, rdp or pld"
            ),
        })
    }
}
