//! Risk certificates with explicit constants for networks trained by DP-SGD.
//!
//! The algorithm. `Z_0 = 0`; `T − 1` updates give `W_0, .., W_{T−1}`:
//!
//! ```text
//! W_t = Proj_{||W − W_0|| ≤ R_*}( W_{t−1} − η ( (1/B) Σ_{i in B_t} clip(∇l_i(W_{t−1}), C_clip) + c (Z_t − λ Z_{t−1}) ) )
//! ```
//!
//! with `c = C_clip κ/B` and `Z_t` standard normal. Losses are logistic, in nats; `log 2` is the loss of the zero
//! predictor, so a bound at or above it says nothing.
//!
//! | function | bounds | batches | noise |
//! |---|---|---|---|
//! | [`theorem_s`] | losses of the batches along the training | any | any |
//! | [`theorem_s_gd`] | training risk | full | none |
//! | [`certificate_p`] | training risk, as in the paper | fixed-size, full | correlated |
//! | [`certificate_d`] | training risk, as in the paper | fixed-size, full | independent |
//! | [`in_expectation`], [`in_high_probability`] | training risk, from the losses of the batches | not stream | any |
//! | [`population_s`] | population risk, from Theorem S or S-GD | not stream | any |
//! | [`population_p`] | population risk, from certificate P | fixed-size, full | any |
//!
//! Constants `G` and `ν` are realised ones ([`super::RealisedConstants`]) of any network that does not depend on the
//! randomness of the training; the comparator may depend on the sample and on `(c, W_0)`, never on batches or noise.
//! [`certify`] puts all of it together for a network and a sample, and searches over what may be chosen.
//!
//! Statements and proofs: `docs/theory/certificates.md`.

mod batches;
mod certificate_d;
mod certificate_p;
mod certify;
mod expectation;
mod high_probability;
mod memory;
mod outlook;
mod population_p;
mod population_s;
mod search;
mod setting;
mod theorem_s;
mod theorem_s_gd;
mod training;

pub use batches::{BatchCap, comparator_on_batches};
pub use certificate_d::{BudgetD, CertificateD, certificate_d};
pub use certificate_p::{BudgetP, CertificateP, PaperForm, certificate_p};
pub use certify::{
    Certificate, Claim, Clipping, Failures, Ingredients, Noise, Privacy, Projection, Question,
    Route, Schedule, certify,
};
pub use expectation::{in_expectation, largest_output};
pub use high_probability::in_high_probability;
pub use memory::bytes_needed;
pub use outlook::{Outlook, Remedy};
pub use population_p::{PopulationP, population_p};
pub use population_s::{PopulationS, population_s};
pub use theorem_s::{BudgetS, Extent, TheoremS, theorem_s};
pub use theorem_s_gd::{TheoremSGd, theorem_s_gd};
pub use training::Training;

use std::fmt;

use super::Constants;
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::warrant::{Bound, Check, Comparison, Quantity, Source};

/// What is known of the output and the loss over all weights, for the inputs in question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Landscape {
    /// `G ≥ ||∇_W f||`.
    pub gradient: f64,
    /// `ν ≥ ||∇²_W f||`.
    pub curvature: f64,
    /// `β ≥ ||∇²_W l(y f)||`; `G²/4 + ν` is one.
    pub smoothness: f64,
}

impl From<Constants> for Landscape {
    fn from(constants: Constants) -> Self {
        Self {
            gradient: constants.gradient,
            curvature: constants.curvature,
            smoothness: constants.smoothness(),
        }
    }
}

impl Landscape {
    fn checked(self) -> Result<Self> {
        domain::non_negative("gradient", self.gradient)?;
        domain::non_negative("curvature", self.curvature)?;
        domain::positive("smoothness", self.smoothness)?;
        Ok(self)
    }
}

/// A comparator `W*` by its two numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    /// `τ = ||W* − W_0||`.
    pub distance: f64,
    /// Its loss, in nats; every theorem says which one.
    pub loss: f64,
}

impl Anchor {
    fn checked(self) -> Result<Self> {
        domain::non_negative("distance", self.distance)?;
        domain::non_negative("loss", self.loss)?;
        Ok(self)
    }
}

/// In what sense a certificate holds, given the sample and `(c, W_0)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guarantee {
    /// In every run.
    Surely,
    /// Except with this probability over batches and noise.
    Except(f64),
    /// On average over batches and noise.
    Expectation,
    /// On average over samples, batches and noise.
    PopulationExpectation,
}

impl Guarantee {
    fn of_failure(failure: f64) -> Self {
        if failure == 0.0 { Self::Surely } else { Self::Except(failure) }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Surely => f.write_str("in every run"),
            Self::Except(failure) => {
                write!(
                    f,
                    "except with probability {} over batches and noise",
                    Shown::short(*failure)
                )
            }
            Self::Expectation => f.write_str("on average over batches and noise"),
            Self::PopulationExpectation => {
                f.write_str("on average over samples, batches and noise")
            }
        }
    }
}

/// A certificate for the losses along the training, and what further steps need of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimisation {
    /// The bound, in nats, or why there is none.
    pub bound: Bound,
    /// In what sense it holds.
    pub guarantee: Guarantee,
    /// `R_bar ≥ ||U_t − W*||` for the shifted iterates `U_t = W_t + η c Z_t`; τ for Theorem S-GD, where it holds up
    /// to the hitting time only.
    pub distance: f64,
    /// The radius `D_x` on which the linearisation error was paid for.
    pub reach: f64,
    /// A projection at this radius or beyond never acts.
    pub radius: f64,
    /// The probability of the bad event.
    pub failure: f64,
}

const BATCH_RISK: Quantity = Quantity { name: "average_batch_risk", unit: "nats" };
const TRAINING_RISK: Quantity = Quantity { name: "average_training_risk", unit: "nats" };
const EXPECTED_RISK: Quantity = Quantity { name: "expected_average_training_risk", unit: "nats" };
const POPULATION_RISK: Quantity =
    Quantity { name: "expected_average_population_risk", unit: "nats" };

/// The paper's statements, made explicit.
fn paper(statement: &str, guarantee: Guarantee) -> Source {
    Source {
        work: "arXiv 2605.12648".into(),
        statement: format!("{statement}, constants ours; {guarantee}").into(),
    }
}

/// Our statements.
fn ours(statement: &str, guarantee: Guarantee) -> Source {
    Source {
        work: "ours".into(),
        statement: format!("{statement} (docs/theory/certificates.md); {guarantee}").into(),
    }
}

/// The number in so many significant digits, rounded up: what a search chose is then short enough to be given again.
fn short_above(value: f64, digits: i32) -> f64 {
    let short = short(value, digits, f64::ceil);
    if short >= value { short } else { value }
}

/// As [`short_above`], rounded down.
fn short_below(value: f64, digits: i32) -> f64 {
    let short = short(value, digits, f64::floor);
    if short > 0.0 && short <= value { short } else { value }
}

fn short(value: f64, digits: i32, round: impl Fn(f64) -> f64) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return value;
    }
    #[allow(clippy::cast_possible_truncation)] // at most 308
    let places = digits - 1 - value.log10().floor() as i32;
    // Powers of ten up to this one are exact.
    if !(0..=22).contains(&places) {
        return value;
    }
    let scale = 10.0_f64.powi(places);
    round(value * scale) / scale
}

/// The bound with these hypotheses.
fn with_checks(bound: Bound, checks: impl IntoIterator<Item = Check>) -> Bound {
    checks.into_iter().fold(bound, Bound::with_check)
}

/// What follows from a certificate that has no value: none either, for the same reason.
fn without_value(quantity: Quantity, source: Source, from: &Optimisation) -> Bound {
    let reason = from.bound.reason.clone().unwrap_or("it builds on a bound without a value".into());
    with_checks(Bound::refused(quantity, source, reason), from.bound.checks.iter().cloned())
}

/// Clipping never acts: `C_clip ≥ G`. None if nothing is clipped.
fn clipping_check(training: &Training, landscape: &Landscape) -> Option<Check> {
    let clipping = training.clipping?;
    let name = "clipping never acts: C_clip >= G";
    Some(Check::new(name, clipping, Comparison::AtLeast, landscape.gradient))
}

/// The projection never acts. None if nothing is projected.
fn radius_check(training: &Training, needed: f64) -> Option<Check> {
    let name = "the projection never acts: R_* >= radius that the iterates reach";
    Some(Check::new(name, training.radius?, Comparison::AtLeast, needed))
}

/// The bad event is not everything. None if nothing is random.
fn failure_check(failure: f64) -> Option<Check> {
    let name = "failure probability over batches and noise";
    (failure > 0.0).then(|| Check::new(name, failure, Comparison::Below, 1.0))
}

/// The step size is small enough for the smoothness.
fn step_check(name: &'static str, training: &Training, largest: f64) -> Check {
    Check::new(name, training.step_size, Comparison::AtMost, largest)
}

/// Refuses intermediate results that left the range of doubles.
fn ensure_representable(values: &[f64]) -> Result<()> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(BoundError::Numerical {
        what: "certificate",
        detail: "an intermediate result is more than the largest double",
    })
}
