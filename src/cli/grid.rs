//! The grid spanned by swept options: one answer a point.

use dpbounds_bounds::domain::whole;
use dpbounds_bounds::max_information::FailureLevel;
use dpbounds_bounds::{Bound, BoundError};

use super::numbers::Sweep;
use super::{Failure, LevelOptions};
use crate::output::{Answer, Input};

/// Largest number of grid points.
const MAX_POINTS: usize = 1_000_000;

/// Named axes of a grid, in the order in which they are written.
#[derive(Debug, Default)]
pub struct Grid {
    axes: Vec<(&'static str, Vec<f64>)>,
}

/// One point of a grid.
#[derive(Debug)]
pub struct Point<'a> {
    coordinates: &'a [(&'static str, f64)],
}

impl Grid {
    /// An axis of real numbers.
    #[must_use]
    pub fn axis(mut self, name: &'static str, sweep: &Sweep) -> Self {
        self.axes.push((name, sweep.values.clone()));
        self
    }

    /// An axis of whole numbers.
    #[must_use]
    pub fn counts(mut self, name: &'static str, sweep: &Sweep) -> Self {
        self.axes.push((name, sweep.counts()));
        self
    }

    /// An axis that may be absent.
    #[must_use]
    pub fn optional(self, name: &'static str, sweep: Option<&Sweep>) -> Self {
        match sweep {
            Some(sweep) => self.axis(name, sweep),
            None => self,
        }
    }

    /// The axis of failure levels.
    #[must_use]
    pub fn level(self, level: &LevelOptions) -> Self {
        self.optional("beta", level.beta.as_ref()).optional("log_beta", level.log_beta.as_ref())
    }

    /// Evaluates `bound` at every point, the last axis running fastest.
    ///
    /// # Errors
    /// The first error of `bound`, or a grid that is too large.
    pub fn answers(
        &self,
        bound: impl Fn(&Point<'_>) -> Result<Bound, BoundError>,
    ) -> Result<Vec<Answer>, Failure> {
        let size = self.axes.iter().try_fold(1_usize, |size, (_, values)| {
            size.checked_mul(values.len()).filter(|&size| size <= MAX_POINTS)
        });
        let Some(size) = size else {
            return Err(Failure::Usage(format!(
                "the swept options span more than {MAX_POINTS} points; use fewer values, or eval"
            )));
        };
        (0..size)
            .map(|index| {
                let coordinates = self.coordinates(index);
                let bound = bound(&Point { coordinates: &coordinates })?;
                let inputs = coordinates
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), Input::Number(value)))
                    .collect();
                Ok(Answer { inputs, bound })
            })
            .collect()
    }

    fn coordinates(&self, mut index: usize) -> Vec<(&'static str, f64)> {
        let mut coordinates = Vec::with_capacity(self.axes.len());
        for (name, values) in self.axes.iter().rev() {
            coordinates.push((*name, values[index % values.len()]));
            index /= values.len();
        }
        coordinates.reverse();
        coordinates
    }
}

impl Point<'_> {
    /// The coordinate, if the axis is there.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.coordinates.iter().find(|(axis, _)| *axis == name).map(|(_, value)| *value)
    }

    /// The coordinate on an axis of real numbers.
    ///
    /// # Errors
    /// [`BoundError::Input`] if the axis is missing.
    pub fn number(&self, name: &'static str) -> Result<f64, BoundError> {
        self.get(name).ok_or_else(|| BoundError::Input {
            parameter: name.into(),
            problem: format!("missing; give --{}", name.replace('_', "-")),
        })
    }

    /// The coordinate on an axis of whole numbers.
    ///
    /// # Errors
    /// [`BoundError`] if the axis is missing or the value is not a whole number.
    pub fn count(&self, name: &'static str) -> Result<u64, BoundError> {
        whole(name, self.number(name)?)
    }

    /// The failure level.
    ///
    /// # Errors
    /// [`BoundError`] if it is missing or out of range.
    pub fn level(&self) -> Result<FailureLevel, BoundError> {
        match self.get("log_beta") {
            Some(log_beta) => FailureLevel::from_log_beta(log_beta),
            None => FailureLevel::from_beta(self.number("beta")?),
        }
    }
}
