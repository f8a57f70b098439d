//! A risk certificate from training error, divergence and max-information, in every form.

use super::{catoni, complexity, kl_inverse_upper, relaxations};
use crate::domain;
use crate::error::Result;
use crate::warrant::{Bound, Source};

/// Where the prior comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// Fixed without the data.
    DataIndependent,
    /// A fixed map of a mechanism's release with this max-information.
    Private {
        /// `I^b` in nats.
        max_information: f64,
        /// The level `b` at which it holds; `δ/2` unless another split is wanted.
        level: f64,
    },
}

/// What is known about a trained model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// Empirical risk of the (randomised) model, in [0, 1].
    pub risk: f64,
    /// Records in the empirical risk.
    pub n: u64,
    /// `KL(posterior‖prior)` in nats; `None` where the posterior **is** the prior.
    pub kl: Option<f64>,
    /// The prior.
    pub prior: Prior,
    /// Total failure probability of the certificate, in (0, 1).
    pub delta: f64,
    /// Number of priors among which one was chosen by looking at the data; 1 for a single one.
    pub choices: u64,
}

/// How the complexity becomes a risk bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// The kl inverse.
    Kl,
    /// Pinsker/McAllester.
    McAllester,
    /// The quadratic form.
    Quadratic,
    /// The λ form at its best λ.
    Lambda,
    /// Catoni's form over a fixed grid.
    Catoni,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 5] =
        [Self::Kl, Self::McAllester, Self::Quadratic, Self::Lambda, Self::Catoni];

    fn name(self) -> &'static str {
        match self {
            Self::Kl => "kl inverse",
            Self::McAllester => "McAllester/Pinsker",
            Self::Quadratic => "quadratic form",
            Self::Lambda => "lambda form at the best lambda",
            Self::Catoni => "Catoni's form",
        }
    }
}

/// The certified risk in the wanted form, or in the best of the forms that follow from the same event, with
/// the others as alternatives.
///
/// With probability at least `1 − δ` over the data the risk is at most the value. Where the posterior
/// is the prior (`kl: None`) the one-sided complexity without the square-root term is used.
///
/// # Source
/// arXiv 2605.26222, Theorem 5 and Corollary 6, (14) and (15); docs/theory/pac-bayes.md.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::pac_bayes::{Prior, Problem, certify};
/// let problem = Problem {
///     risk: 0.238, n: 60_000, kl: None, delta: 0.05, choices: 1,
///     prior: Prior::Private { max_information: 1381.0, level: 0.025 },
/// };
/// let certified = certify(&problem, None)?;
/// assert!(certified.value.unwrap() < 0.3368);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn certify(problem: &Problem, form: Option<Form>) -> Result<Bound> {
    let risk = domain::probability("risk", problem.risk)?;
    let complexity = sharpest_complexity(problem)?;
    if let Some(form) = form {
        return one_form(problem, risk, &complexity, form);
    }
    // These follow from one event of probability δ, so the smallest of them may be reported. Catoni's
    // form fails on an event of its own: choosing it after seeing both values would cost another δ.
    let same_event = Form::ALL.into_iter().filter(|form| *form != Form::Catoni);
    let all: Result<Vec<_>> =
        same_event.map(|form| one_form(problem, risk, &complexity, form)).collect();
    let mut best = Bound::best_of(all?)?;
    let mut catoni = one_form(problem, risk, &complexity, Form::Catoni)?;
    catoni.source.statement =
        format!("{}, valid only if chosen before the data", catoni.source.statement).into();
    best.alternatives.push(catoni.into());
    Ok(best)
}

/// `log N` for a choice among `N` priors, spread over the records.
fn choice_penalty(problem: &Problem) -> Result<f64> {
    Ok(domain::count("choices", problem.choices)?.ln() / domain::count("n", problem.n)?)
}

fn sharpest_complexity(problem: &Problem) -> Result<Bound> {
    let Problem { n, kl, prior, delta, .. } = *problem;
    let bound = match (prior, kl) {
        (Prior::DataIndependent, Some(kl)) => complexity::seeger(n, kl, delta),
        (Prior::DataIndependent, None) => complexity::fixed_model(n, delta),
        (Prior::Private { max_information, level }, Some(kl)) => {
            complexity::private_prior_at_level(n, kl, max_information, delta, level)
        }
        (Prior::Private { max_information, level }, None) => {
            complexity::private_model(n, max_information, delta, level)
        }
    }?;
    let penalty = choice_penalty(problem)?;
    if penalty == 0.0 {
        return Ok(bound);
    }
    let Some(value) = bound.value else { return Ok(bound) };
    let mut raised = Bound::upper_bound(
        crate::warrant::Quantity { name: "complexity", unit: "nats per record" },
        value + penalty,
        bound.source,
    )?;
    raised.terms = bound.terms;
    Ok(raised.with_term("log(choices)/n", penalty))
}

/// The complexity of Catoni's form: no square-root term on either kind of prior.
fn catoni_complexity(problem: &Problem) -> Result<f64> {
    let Problem { n, kl, prior, delta, .. } = *problem;
    let kl = domain::non_negative("kl", kl.unwrap_or(0.0))?;
    let records = domain::count("n", n)?;
    let base = match prior {
        Prior::DataIndependent => complexity::fixed_model(n, delta)?,
        Prior::Private { max_information, level } => {
            complexity::private_model(n, max_information, delta, level)?
        }
    };
    Ok(base.certified_upper()? + kl / records + choice_penalty(problem)?)
}

fn one_form(problem: &Problem, risk: f64, complexity: &Bound, form: Form) -> Result<Bound> {
    let Some(c) = complexity.upper else {
        return Ok(Bound::refused(
            super::RISK,
            complexity.source.clone(),
            "the complexity overflows",
        ));
    };
    let mut bound = match form {
        Form::Kl => kl_inverse_upper(risk, c)?,
        Form::McAllester => relaxations::mcallester(risk, c)?,
        Form::Quadratic => relaxations::quadratic(risk, c)?,
        Form::Lambda if c == 0.0 => relaxations::quadratic(risk, c)?,
        Form::Lambda => relaxations::lambda_optimised(risk, c)?,
        Form::Catoni => catoni::over_grid(risk, catoni_complexity(problem)?, problem.n)?,
    };
    bound.source = if form == Form::Catoni {
        Source::new(
            "ours",
            "Catoni's form over a fixed grid of 16 parameters (docs/theory/pac-bayes.md)",
        )
    } else {
        Source {
            work: complexity.source.work.clone(),
            statement: format!("{}; {}", complexity.source.statement, form.name()).into(),
        }
    };
    if form != Form::Catoni {
        bound.terms.clear();
        bound.terms.extend(complexity.terms.iter().cloned());
    }
    Ok(bound)
}
