//! How much work an answer may cost, and who is told about it.

use std::fmt;
use std::time::Duration;

use super::Method;
use super::correlated::monte_carlo::Settings;

/// Which method answers, for how long, and with which random numbers.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Effort, Method};
/// let effort = Effort { method: Method::L1b, ..Effort::default() };
/// assert_eq!(effort.method, Method::L1b);
/// ```
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Which statements may answer.
    pub method: Method,
    /// After this time no finer rung is started: the best proven answer so far is returned. Only
    /// this choice and `patience` depend on the speed of the machine.
    pub budget: Duration,
    /// The first search may take this long even if no time was allowed for finer ones. With
    /// [`Duration::MAX`] and no budget the answer does not depend on the machine's speed.
    pub patience: Duration,
    /// Samples, failure probability and seed of Monte Carlo certificates.
    pub monte_carlo: Settings,
    /// Told the name of each stage when it starts.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

impl Default for Effort<'_> {
    /// The best proven value within a minute; a hundred thousand samples, failure probability 1e-6, seed 0.
    fn default() -> Self {
        Self {
            method: Method::Auto,
            budget: Duration::from_secs(60),
            patience: Duration::from_secs(60),
            monte_carlo: Settings::new(100_000, 1e-6, 0),
            progress: &|_| (),
        }
    }
}

impl Effort<'_> {
    /// The first proven value of every rung, however long it takes: it does not depend on the machine's speed.
    #[must_use]
    pub fn without_clock() -> Self {
        Self { budget: Duration::ZERO, patience: Duration::MAX, ..Self::default() }
    }
}

impl fmt::Debug for Effort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effort")
            .field("method", &self.method)
            .field("budget", &self.budget)
            .field("patience", &self.patience)
            .field("monte_carlo", &self.monte_carlo)
            .finish_non_exhaustive()
    }
}
