//! The grid spanned by swept options: one answer a point.

use std::sync::atomic::{AtomicUsize, Ordering};

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
pub struct Point {
    coordinates: Vec<(&'static str, f64)>,
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

    /// An axis of whole numbers that may be absent.
    #[must_use]
    pub fn optional_counts(self, name: &'static str, sweep: Option<&Sweep>) -> Self {
        match sweep {
            Some(sweep) => self.counts(name, sweep),
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
        bound: impl Fn(&Point) -> Result<Bound, BoundError>,
    ) -> Result<Vec<Answer>, Failure> {
        self.each(|point| Ok(Answer::new(point.inputs(), bound(point)?)))
    }

    /// Calls `question` at every point, the last axis running fastest.
    ///
    /// # Errors
    /// The first error of `question`, or a grid that is too large.
    pub fn each<T>(
        &self,
        question: impl Fn(&Point) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        (0..self.size()?).map(|index| question(&self.point(index))).collect()
    }

    /// Number of points.
    ///
    /// # Errors
    /// A grid that is too large.
    pub fn size(&self) -> Result<usize, Failure> {
        let size = self.axes.iter().try_fold(1_usize, |size, (_, values)| {
            size.checked_mul(values.len()).filter(|&size| size <= MAX_POINTS)
        });
        size.ok_or_else(|| {
            Failure::Usage(format!(
                "the swept options span more than {MAX_POINTS} points; use fewer values, or eval"
            ))
        })
    }

    /// Asks `question` at every point, several points at a time, and returns the answers in the
    /// order of the points. `done` is told of each.
    ///
    /// # Errors
    /// The error of the first point in that order that has one, or a grid that is too large.
    pub fn in_parallel<T: Send>(
        &self,
        done: impl Fn() + Sync,
        question: impl Fn(&Point) -> Result<T, Failure> + Sync,
    ) -> Result<Vec<T>, Failure> {
        let size = self.size()?;
        let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(size));
        // Threads of their own: one of rayon would take up another point while it waits for the
        // parts of its own, and that point's time would count against the budget of this one.
        let work = || {
            let mut mine = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= size || index > failed.load(Ordering::Relaxed) {
                    return mine;
                }
                let answer = question(&self.point(index));
                if answer.is_err() {
                    failed.fetch_min(index, Ordering::Relaxed);
                }
                mine.push((index, answer));
                done();
            }
        };
        let workers = rayon::current_num_threads().min(size);
        if workers <= 1 {
            return work().into_iter().map(|(_, answer)| answer).collect();
        }
        let mut all = std::thread::scope(|scope| {
            let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let mut all = Vec::with_capacity(size);
            for worker in running {
                all.extend(worker.join().map_err(|_| {
                    Failure::Stream(std::io::Error::other("a thread ended without an answer"))
                })?);
            }
            Ok::<_, Failure>(all)
        })?;
        all.sort_by_key(|(index, _)| *index);
        all.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Whether an axis has several values.
    #[must_use]
    pub fn is_swept(&self, name: &str) -> bool {
        self.axes.iter().any(|(axis, values)| *axis == name && values.len() > 1)
    }

    fn point(&self, mut index: usize) -> Point {
        let mut coordinates = Vec::with_capacity(self.axes.len());
        for (name, values) in self.axes.iter().rev() {
            coordinates.push((*name, values[index % values.len()]));
            index /= values.len();
        }
        coordinates.reverse();
        Point { coordinates }
    }
}

impl Point {
    /// All coordinates, as the inputs of an answer.
    #[must_use]
    pub fn inputs(&self) -> Vec<(String, Input)> {
        let pairs = self.coordinates.iter();
        pairs.map(|(name, value)| ((*name).to_owned(), Input::Number(*value))).collect()
    }

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
