//! A claim, how it is checked, and the verdict.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::measured::{CheckError, Measured};

/// Where a claim is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// arXiv 2605.12648, Kolmogorov–Arnold networks trained by DP-SGD.
    Kan,
    /// arXiv 2605.26222, max-information.
    MaxInformation,
    /// Ours, proved in docs/theory.
    Ours,
}

impl Work {
    /// As it is cited.
    #[must_use]
    pub fn cited(self) -> &'static str {
        match self {
            Self::Kan => "arXiv 2605.12648",
            Self::MaxInformation => "arXiv 2605.26222",
            Self::Ours => "ours",
        }
    }
}

/// How a claim is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Two sides that are equal up to rounding.
    Identity,
    /// An inequality along real training runs, or on attacked instances.
    Inequality,
    /// How often an event happens over seeds, against its probability, with a Clopper–Pearson limit.
    Frequency,
    /// Two runs with the same batches and noise whose samples differ in one record.
    Coupled,
    /// Every case of a small finite problem.
    BruteForce,
    /// Densities of a toy that are known exactly.
    ExactDensities,
    /// Explicit data sets against a printed number.
    Witness,
    /// A published number computed again.
    Recomputed,
    /// Not by running.
    None,
}

impl Method {
    /// In a few words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity to rounding",
            Self::Inequality => "inequality with slack",
            Self::Frequency => "event frequency",
            Self::Coupled => "coupled runs",
            Self::BruteForce => "brute force",
            Self::ExactDensities => "exact densities",
            Self::Witness => "witness",
            Self::Recomputed => "recomputed",
            Self::None => "not by running",
        }
    }
}

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Everything in two minutes.
    Quick,
    /// More seeds and cases, and the claims that take long.
    Full,
}

impl Level {
    /// One of two numbers.
    pub(super) fn pick(self, quick: usize, full: usize) -> usize {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

impl Level {
    /// One of two lists.
    pub(super) fn pick_from<T: ?Sized>(self, quick: &'static T, full: &'static T) -> &'static T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quick => "quick",
            Self::Full => "full",
        })
    }
}

/// What the run says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No violation as printed.
    Holds,
    /// What is printed needs a correction of the errata; the corrected statement holds.
    HoldsCorrected,
    /// A witness violates what is printed.
    FalseAsPrinted,
    /// Nothing that a run could violate.
    NotCheckable,
    /// The corrected statement is violated too, or one of ours is.
    Violated,
    /// The run was too small to confirm or refute.
    Undecided,
    /// Not run, with the reason. Never counts as holding.
    NotRun,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 7] = [
        Self::Holds,
        Self::HoldsCorrected,
        Self::FalseAsPrinted,
        Self::NotCheckable,
        Self::Violated,
        Self::Undecided,
        Self::NotRun,
    ];

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsCorrected => "holds with correction",
            Self::FalseAsPrinted => "false as printed",
            Self::NotCheckable => "not checkable by running",
            Self::Violated => "violated",
            Self::Undecided => "undecided",
            Self::NotRun => "not run",
        }
    }
}

/// What runs.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// A function of the level.
    Run(fn(Level) -> Result<Measured, CheckError>),
    /// As `Run`, at the full level only.
    FullOnly(fn(Level) -> Result<Measured, CheckError>),
    /// Not checkable by running: why, and the built-in experiments that measure its slopes.
    Never(&'static str, &'static [&'static str]),
    /// Not written yet, or not possible with the text at hand: why.
    Missing(&'static str),
}

/// A numbered claim.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Its name, such as `K-C.3`, `M-3` or `S-GD`.
    pub id: &'static str,
    /// Where it is stated.
    pub work: Work,
    /// What it is called there.
    pub place: &'static str,
    /// In a line.
    pub statement: &'static str,
    /// How it is checked.
    pub method: Method,
    /// Entries of docs/errata.md about it.
    pub errata: &'static [&'static str],
    /// The verdict that is known; another one is a failure.
    pub expected: Verdict,
    /// What runs.
    pub check: Check,
}

impl Claim {
    /// A claim of arXiv 2605.12648 that holds as printed.
    pub(super) const fn kan(id: &'static str, place: &'static str) -> Self {
        Self::new(id, Work::Kan, place)
    }

    /// A claim of arXiv 2605.26222 that holds as printed.
    pub(super) const fn max_information(id: &'static str, place: &'static str) -> Self {
        Self::new(id, Work::MaxInformation, place)
    }

    /// A claim of docs/theory.
    pub(super) const fn ours(id: &'static str, place: &'static str) -> Self {
        Self::new(id, Work::Ours, place)
    }

    const fn new(id: &'static str, work: Work, place: &'static str) -> Self {
        Self {
            id,
            work,
            place,
            statement: "",
            method: Method::None,
            errata: &[],
            expected: Verdict::NotRun,
            check: Check::Missing("no check is written"),
        }
    }

    pub(super) const fn states(mut self, statement: &'static str) -> Self {
        self.statement = statement;
        self
    }

    pub(super) const fn checked(
        mut self,
        method: Method,
        run: fn(Level) -> Result<Measured, CheckError>,
    ) -> Self {
        self.method = method;
        self.check = Check::Run(run);
        self.expected = Verdict::Holds;
        self
    }

    /// An entry of the errata, and the verdict that follows from it.
    pub(super) const fn erratum(
        mut self,
        errata: &'static [&'static str],
        expected: Verdict,
    ) -> Self {
        self.errata = errata;
        self.expected = expected;
        self
    }

    pub(super) const fn never(
        mut self,
        why: &'static str,
        experiments: &'static [&'static str],
    ) -> Self {
        self.check = Check::Never(why, experiments);
        self.expected = Verdict::NotCheckable;
        self
    }

    pub(super) const fn missing(mut self, why: &'static str) -> Self {
        self.check = Check::Missing(why);
        self
    }

    pub(super) const fn full_only(mut self) -> Self {
        if let Check::Run(run) = self.check {
            self.check = Check::FullOnly(run);
        }
        self
    }
}
