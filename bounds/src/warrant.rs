//! The core type: a number never travels without its warrant.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::error::{BoundError, Result};
use crate::round::{RELATIVE_MARGIN, round_up};

/// Text that is usually a constant.
pub type Text = Cow<'static, str>;

/// What stands behind a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "WarrantRecord", try_from = "WarrantRecord")]
#[non_exhaustive]
pub enum Warrant {
    /// Every constant is explicit and every hypothesis was checked.
    Proven,
    /// Proven up to the failure probability of a Monte Carlo computation.
    Confidence(
        /// The confidence level, in (0, 1).
        f64,
    ),
    /// Order of magnitude only: constants are suppressed as in the paper. Never a bound.
    Rate,
    /// No guarantee.
    Estimate,
}

impl Warrant {
    /// `proven`, `confidence`, `rate` or `estimate`, as written to JSON and CSV.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Confidence(_) => "confidence",
            Self::Rate => "rate",
            Self::Estimate => "estimate",
        }
    }

    /// The confidence level, if the warrant has one.
    #[must_use]
    pub fn confidence(self) -> Option<f64> {
        if let Self::Confidence(level) = self { Some(level) } else { None }
    }

    /// The label for people; a rate says that it is not a bound.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Self::Proven => "proven".into(),
            Self::Confidence(level) => format!("proven with confidence {level}"),
            Self::Rate => "rate, constants suppressed".into(),
            Self::Estimate => "estimate, no guarantee".into(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct WarrantRecord {
    kind: Text,
    confidence: Option<f64>,
}

impl From<Warrant> for WarrantRecord {
    fn from(warrant: Warrant) -> Self {
        Self { kind: warrant.kind().into(), confidence: warrant.confidence() }
    }
}

impl TryFrom<WarrantRecord> for Warrant {
    type Error = String;

    fn try_from(record: WarrantRecord) -> std::result::Result<Self, String> {
        match (record.kind.as_ref(), record.confidence) {
            ("proven", None) => Ok(Self::Proven),
            ("rate", None) => Ok(Self::Rate),
            ("estimate", None) => Ok(Self::Estimate),
            ("confidence", Some(level)) if level > 0.0 && level < 1.0 => {
                Ok(Self::Confidence(level))
            }
            (kind, _) => Err(format!("unknown warrant kind or bad confidence: {kind:?}")),
        }
    }
}

/// Where a statement comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The work: an arXiv number, a classical reference, or `ours`.
    pub work: Text,
    /// Theorem and equation, or the section of `docs/theory` that holds the proof.
    pub statement: Text,
}

impl Source {
    /// A source made of constants.
    #[must_use]
    pub const fn new(work: &'static str, statement: &'static str) -> Self {
        Self { work: Cow::Borrowed(work), statement: Cow::Borrowed(statement) }
    }
}

/// One part of the additive breakdown of a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Name as in the source.
    pub name: Text,
    /// Contribution, in the unit of the bound.
    pub value: f64,
}

/// The relation of a [`Check`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Comparison {
    /// `left <= right`
    #[serde(rename = "<=")]
    AtMost,
    /// `left < right`
    #[serde(rename = "<")]
    Below,
    /// `left >= right`
    #[serde(rename = ">=")]
    AtLeast,
    /// `left > right`
    #[serde(rename = ">")]
    Above,
}

impl Comparison {
    /// The relation as text.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::AtMost => "<=",
            Self::Below => "<",
            Self::AtLeast => ">=",
            Self::Above => ">",
        }
    }
}

/// One hypothesis of a statement, evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The hypothesis in words or symbols.
    pub name: Text,
    /// Left side.
    pub left: f64,
    /// Relation that has to hold.
    pub relation: Comparison,
    /// Right side.
    pub right: f64,
    /// Whether it holds.
    pub holds: bool,
    /// Distance to failure: non-negative when the hypothesis holds.
    pub slack: f64,
}

impl Check {
    /// Evaluates `left relation right`.
    #[must_use]
    pub fn new(name: impl Into<Text>, left: f64, relation: Comparison, right: f64) -> Self {
        // A side that overflows stays on its side of the relation.
        let (left, right) = (left.clamp(f64::MIN, f64::MAX), right.clamp(f64::MIN, f64::MAX));
        let (holds, slack) = match relation {
            Comparison::AtMost => (left <= right, right - left),
            Comparison::Below => (left < right, right - left),
            Comparison::AtLeast => (left >= right, left - right),
            Comparison::Above => (left > right, left - right),
        };
        let slack = slack.clamp(f64::MIN, f64::MAX);
        Self { name: name.into(), left, relation, right, holds, slack }
    }
}

/// Another statement that answers the same question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// Its source.
    pub source: Source,
    /// Its warrant.
    pub warrant: Warrant,
    /// Its value, if it has one.
    pub value: Option<f64>,
    /// Why it has none.
    pub reason: Option<Text>,
}

impl From<Bound> for Alternative {
    fn from(bound: Bound) -> Self {
        let Bound { source, warrant, value, reason, .. } = bound;
        Self { source, warrant, value, reason }
    }
}

/// A value with its warrant, or no value with the reason.
///
/// `value` is the evaluated statement; `lower` and `upper` are its outward-rounded sides. Use
/// `upper` (or `lower`) where a certificate is built on the number.
///
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, gaussian};
/// let level = FailureLevel::from_beta(0.025)?;
/// let bound = gaussian::eq7(60_000.0 / (4.0 * 50.0 * 50.0), level)?;
/// assert!((bound.value.unwrap() - 50.337_690).abs() < 1e-6);
/// assert!(bound.upper > bound.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// What is bounded, e.g. `max_information`.
    pub quantity: Text,
    /// Natural unit of the value: `nats`, `probability`, …
    pub unit: Text,
    /// The evaluated statement; never NaN or infinite.
    pub value: Option<f64>,
    /// Rounded-down side, where the statement is a lower bound or an equality.
    pub lower: Option<f64>,
    /// Rounded-up side, where the statement is an upper bound or an equality.
    pub upper: Option<f64>,
    /// What stands behind the value.
    pub warrant: Warrant,
    /// Where the statement comes from.
    pub source: Source,
    /// Additive breakdown of `value`.
    pub terms: Vec<Term>,
    /// Hypotheses, evaluated.
    pub checks: Vec<Check>,
    /// Other statements that answer the same question.
    pub alternatives: Vec<Alternative>,
    /// Why there is no value.
    pub reason: Option<Text>,
}

/// Name and unit of a bounded quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity {
    /// Name in snake case.
    pub name: &'static str,
    /// Natural unit.
    pub unit: &'static str,
}

impl Bound {
    fn empty(quantity: Quantity, source: Source) -> Self {
        Self {
            quantity: Cow::Borrowed(quantity.name),
            unit: Cow::Borrowed(quantity.unit),
            value: None,
            lower: None,
            upper: None,
            warrant: Warrant::Proven,
            source,
            terms: Vec::new(),
            checks: Vec::new(),
            alternatives: Vec::new(),
            reason: None,
        }
    }

    /// A proven upper bound. `+inf` becomes "no value" with a reason.
    ///
    /// # Errors
    /// [`BoundError::Numerical`] if `value` is NaN or minus infinity.
    pub fn upper_bound(quantity: Quantity, value: f64, source: Source) -> Result<Self> {
        let mut bound = Self::empty(quantity, source);
        if value == f64::INFINITY {
            bound.reason = Some(OVERFLOW.into());
            return Ok(bound);
        }
        if !value.is_finite() {
            return Err(BoundError::Numerical { what: quantity.name, detail: "not a number" });
        }
        bound.value = Some(value);
        bound.upper = Some(round_up(value)).filter(|upper| upper.is_finite());
        if bound.upper.is_none() {
            bound.value = None;
            bound.reason = Some(OVERFLOW.into());
        }
        Ok(bound)
    }

    /// A proven upper bound whose value is a difference of parts that are together `magnitude` in size:
    /// the rounding margin is relative to those.
    ///
    /// # Errors
    /// [`BoundError::Numerical`] if `value` is NaN or minus infinity.
    pub(crate) fn upper_bound_of_parts(
        quantity: Quantity,
        value: f64,
        magnitude: f64,
        source: Source,
    ) -> Result<Self> {
        let mut bound = Self::upper_bound(quantity, value, source)?;
        let size = magnitude.max(value.abs());
        bound.upper = bound.upper.map(|_| value + size * RELATIVE_MARGIN);
        Ok(bound)
    }

    /// A proven lower bound.
    ///
    /// # Errors
    /// [`BoundError::Numerical`] if `value` is not finite.
    pub fn lower_bound(quantity: Quantity, value: f64, source: Source) -> Result<Self> {
        let negated = Self::upper_bound(quantity, -value, source)?;
        Ok(Self {
            value: negated.value.map(|_| value),
            lower: negated.upper.map(|side| -side + 0.0),
            upper: None,
            ..negated
        })
    }

    /// A quantity known exactly up to rounding: both sides are given.
    ///
    /// # Errors
    /// [`BoundError::Numerical`] if `value` is NaN or minus infinity.
    pub fn exact(quantity: Quantity, value: f64, source: Source) -> Result<Self> {
        let mut bound = Self::upper_bound(quantity, value, source)?;
        bound.lower = bound.value.map(|v| -round_up(-v) + 0.0);
        Ok(bound)
    }

    /// A proven bracket `lower <= truth <= upper`; `value` is the upper side. An infinite upper side becomes
    /// "no value" with a reason, and the lower one stays.
    ///
    /// # Errors
    /// [`BoundError::Numerical`] if a side is NaN or the lower one is not finite.
    pub fn bracket(quantity: Quantity, lower: f64, upper: f64, source: Source) -> Result<Self> {
        let mut bound = Self::upper_bound(quantity, upper, source)?;
        if !lower.is_finite() {
            return Err(BoundError::Numerical { what: quantity.name, detail: "not a number" });
        }
        bound.lower = Some(lower);
        bound.upper = bound.value;
        Ok(bound)
    }

    /// An order of magnitude: no side is claimed.
    ///
    /// # Errors
    /// [`BoundError::Numerical`] if `value` is NaN or minus infinity.
    pub fn rate(quantity: Quantity, value: f64, source: Source) -> Result<Self> {
        let mut bound = Self::upper_bound(quantity, value, source)?;
        bound.upper = None;
        bound.warrant = Warrant::Rate;
        Ok(bound)
    }

    /// No value, and why.
    #[must_use]
    pub fn refused(quantity: Quantity, source: Source, reason: impl Into<Text>) -> Self {
        Self { reason: Some(reason.into()), ..Self::empty(quantity, source) }
    }

    /// Adds one part of the breakdown; a bound without a value has none.
    #[must_use]
    pub fn with_term(mut self, name: impl Into<Text>, value: f64) -> Self {
        if self.value.is_some() {
            self.terms.push(Term { name: name.into(), value });
        }
        self
    }

    /// Adds a hypothesis. Under a proven or confidence warrant a failed one removes the value.
    #[must_use]
    pub fn with_check(mut self, check: Check) -> Self {
        if !check.holds && matches!(self.warrant, Warrant::Proven | Warrant::Confidence(_)) {
            self.value = None;
            self.lower = None;
            self.upper = None;
            self.terms.clear();
            self.reason.get_or_insert_with(|| {
                format!(
                    "hypothesis fails: {} (needs {} {} {})",
                    check.name,
                    crate::error::Shown::short(check.left),
                    check.relation.symbol(),
                    crate::error::Shown::short(check.right)
                )
                .into()
            });
        }
        self.checks.push(check);
        self
    }

    /// The upper side, for use inside another certificate.
    ///
    /// # Errors
    /// [`BoundError::Numerical`] if the bound has no value.
    pub fn certified_upper(&self) -> Result<f64> {
        self.upper.ok_or(BoundError::Numerical {
            what: "certified value",
            detail: "the bound it builds on has no upper side",
        })
    }

    /// The smallest proven value first, every other statement among the alternatives.
    ///
    /// Statements without a value stay visible as alternatives with their reason. If none has a
    /// value the first statement leads and keeps its reason.
    ///
    /// # Errors
    /// [`BoundError::Numerical`] if `bounds` is empty.
    pub fn best_of(bounds: Vec<Self>) -> Result<Self> {
        let best = bounds
            .iter()
            .enumerate()
            .filter(|(_, bound)| bound.warrant == Warrant::Proven)
            .filter_map(|(index, bound)| bound.value.map(|value| (index, value)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0, |(index, _)| index);
        let mut alternatives = Vec::new();
        let mut leader = None;
        for (index, mut bound) in bounds.into_iter().enumerate() {
            alternatives.append(&mut bound.alternatives);
            if index == best {
                leader = Some(bound);
            } else {
                alternatives.push(bound.into());
            }
        }
        alternatives.sort_by(|a, b| {
            a.value.unwrap_or(f64::INFINITY).total_cmp(&b.value.unwrap_or(f64::INFINITY))
        });
        let mut leader = leader.ok_or(BoundError::Numerical {
            what: "best bound",
            detail: "no statement to choose from",
        })?;
        leader.alternatives = alternatives;
        Ok(leader)
    }
}

const OVERFLOW: &str =
    "the statement evaluates to more than 1.8e308, the largest double; no usable bound";

#[cfg(test)]
mod tests {
    use super::*;

    const Q: Quantity = Quantity { name: "test", unit: "nats" };
    const S: Source = Source::new("ours", "test");

    #[test]
    fn failed_hypothesis_removes_the_value_and_names_the_reason() {
        let bound = Bound::upper_bound(Q, 1.0, S).unwrap().with_check(Check::new(
            "epsilon <= 1",
            2.0,
            Comparison::AtMost,
            1.0,
        ));
        assert_eq!(bound.value, None);
        assert_eq!(bound.upper, None);
        assert!(bound.reason.unwrap().contains("epsilon <= 1"));
    }

    #[test]
    fn nan_never_becomes_a_bound_and_infinity_becomes_a_refusal() {
        assert!(Bound::upper_bound(Q, f64::NAN, S).is_err());
        assert!(Bound::upper_bound(Q, f64::NEG_INFINITY, S).is_err());
        let overflow = Bound::upper_bound(Q, f64::INFINITY, S).unwrap();
        assert_eq!((overflow.value, overflow.upper), (None, None));
        assert!(overflow.reason.is_some());
        assert_eq!(Bound::upper_bound(Q, f64::MAX, S).unwrap().value, None);
    }

    #[test]
    fn best_of_ignores_rates_and_keeps_refusals_visible() {
        let rate = Bound::rate(Q, 0.1, S).unwrap();
        let proven = Bound::upper_bound(Q, 2.0, S).unwrap();
        let refused = Bound::refused(Q, S, "why");
        let best = Bound::best_of(vec![rate, refused, proven]).unwrap();
        assert_eq!(best.value, Some(2.0));
        assert_eq!(best.alternatives.len(), 2);
        assert_eq!(best.alternatives[1].reason.as_deref(), Some("why"));
    }

    #[test]
    fn sides_enclose_the_value_for_either_sign() {
        for value in [-3.0, 0.0, 1e-300, 7.5] {
            let bound = Bound::exact(Q, value, S).unwrap();
            assert!(bound.lower.unwrap() <= value && value <= bound.upper.unwrap());
        }
    }

    #[test]
    fn a_bound_survives_serialisation() {
        let bound =
            Bound { warrant: Warrant::Confidence(0.99), ..Bound::exact(Q, 1.5, S).unwrap() };
        let text = serde_json::to_string(&bound).unwrap();
        assert!(text.contains(r#""kind":"confidence","confidence":0.99"#), "{text}");
        assert_eq!(serde_json::from_str::<Bound>(&text).unwrap(), bound);
    }
}
