//! Arguments of one call, checked against the entry.

use std::borrow::Cow;

use super::{Entry, Parameter};
use crate::domain::whole;
use crate::error::{BoundError, Result, Shown};
use crate::max_information::FailureLevel;

/// The value of one argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A real number.
    Number(f64),
    /// A list of real numbers.
    List(Vec<f64>),
    /// A word.
    Word(String),
}

/// Names and values of one call.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    parameters: &'static [Parameter],
    values: &'a [(Cow<'a, str>, Value)],
}

impl<'a> Arguments<'a> {
    /// Checks that every name belongs to the entry, occurs once, and that nothing is missing.
    ///
    /// # Errors
    /// [`BoundError::Input`] for an unknown, repeated or missing argument.
    pub fn new(entry: &Entry, values: &'a [(Cow<'a, str>, Value)]) -> Result<Self> {
        let parameters = entry.parameters;
        for (name, _) in values {
            if !parameters.iter().any(|parameter| parameter.matches(name)) {
                let allowed: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
                return Err(BoundError::Input {
                    parameter: name.to_string(),
                    problem: format!(
                        "{} takes no such input; it takes {}",
                        entry.name,
                        allowed.join(", ")
                    ),
                });
            }
        }
        for parameter in parameters {
            let mut given = values.iter().filter(|(name, _)| parameter.matches(name));
            match (given.next(), given.next()) {
                (None, _) if !parameter.optional => {
                    return Err(BoundError::Input {
                        parameter: parameter.name.into(),
                        problem: format!(
                            "missing; expected a {} ({}, {})",
                            parameter.kind.label(),
                            parameter.unit,
                            parameter.range
                        ),
                    });
                }
                (Some(_), Some((second, _))) => {
                    return Err(BoundError::Input {
                        parameter: second.to_string(),
                        problem: format!("{} is given twice; keep one", parameter.name),
                    });
                }
                _ => {}
            }
        }
        Ok(Self { parameters, values })
    }

    fn find(&self, name: &'static str) -> Option<&'a (Cow<'a, str>, Value)> {
        let parameter = self.parameters.iter().find(|parameter| parameter.name == name)?;
        self.values.iter().find(|(given, _)| parameter.matches(given))
    }

    fn wrong(name: &str, expected: &str) -> BoundError {
        BoundError::Input { parameter: name.into(), problem: format!("expected {expected}") }
    }

    fn required(&self, name: &'static str) -> Result<&'a (Cow<'a, str>, Value)> {
        self.find(name).ok_or_else(|| Self::wrong(name, "a value, but none is given"))
    }

    pub(super) fn number(&self, name: &'static str) -> Result<f64> {
        match &self.required(name)?.1 {
            Value::Number(value) => Ok(*value),
            _ => Err(Self::wrong(name, "a number")),
        }
    }

    pub(super) fn optional_number(&self, name: &'static str) -> Result<Option<f64>> {
        self.find(name).map(|_| self.number(name)).transpose()
    }

    pub(super) fn count(&self, name: &'static str) -> Result<u64> {
        whole(name, self.number(name)?)
    }

    /// A count of steps that is at most `most`, because the work grows with it.
    pub(super) fn steps_up_to(&self, most: u64, allowed: &'static str) -> Result<u64> {
        let steps = self.count("steps")?;
        if steps <= most {
            return Ok(steps);
        }
        Err(BoundError::OutOfRange {
            parameter: "steps",
            value: Shown(self.number("steps")?),
            allowed,
            remedy: "the closed forms and poisson_gaussian_epsilon take longer runs",
        })
    }

    pub(super) fn list(&self, name: &'static str) -> Result<&'a [f64]> {
        match &self.required(name)?.1 {
            Value::List(values) => Ok(values),
            _ => Err(Self::wrong(name, "a list of numbers")),
        }
    }

    pub(super) fn word(&self, name: &'static str) -> Result<&'a str> {
        match &self.required(name)?.1 {
            Value::Word(word) => Ok(word),
            _ => Err(Self::wrong(name, "a word")),
        }
    }

    pub(super) fn optional_count(&self, name: &'static str) -> Result<Option<u64>> {
        self.find(name).map(|_| self.count(name)).transpose()
    }

    pub(super) fn optional_word(&self, name: &'static str) -> Result<Option<&'a str>> {
        self.find(name).map(|_| self.word(name)).transpose()
    }

    /// `beta`, or `log_beta` in its place.
    pub(super) fn level(&self) -> Result<FailureLevel> {
        self.level_named("beta")
    }

    pub(super) fn level_named(&self, name: &'static str) -> Result<FailureLevel> {
        let value = self.number(name)?;
        if self.required(name)?.0.starts_with("log_") {
            FailureLevel::from_log_beta(value)
        } else {
            FailureLevel::from_beta(value)
        }
    }
}
