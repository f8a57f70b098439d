//! Which figures an experiment has.

use std::path::{Path, PathBuf};

use dpbounds_experiments::run::{BuiltIn, Finished, Plan, Spec, run_in_memory};

use crate::error::{FigureError, Result};
use crate::render::{About, Rendered, render};
use crate::{accuracy_epsilon, certified, files, slopes, training_curves};

/// A figure of an experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Slopes,
    Certified,
    Accuracy,
    Curves,
}

impl Kind {
    /// What can be drawn: the slopes, the certificates, or else the accuracy against ε; the curves besides.
    fn all(spec: &Spec) -> impl Iterator<Item = Self> {
        let first = if !spec.slope.is_empty() {
            Some(Self::Slopes)
        } else if certified::applies(spec) {
            Some(Self::Certified)
        } else {
            accuracy_epsilon::applies(spec).then_some(Self::Accuracy)
        };
        let second = training_curves::applies(spec).then_some(Self::Curves);
        first.into_iter().chain(second)
    }

    fn title(self, spec: &Spec) -> String {
        match self {
            Self::Slopes => slopes::title(spec),
            Self::Certified => certified::title(spec),
            Self::Accuracy => accuracy_epsilon::title(spec),
            Self::Curves => training_curves::title(spec),
        }
    }

    fn render(self, finished: &Finished, provenance: &str) -> Result<Rendered> {
        let spec = &finished.header.spec;
        let title = self.title(spec);
        let about = About { title: &title, summary: &spec.summary, provenance };
        match self {
            Self::Certified => render(&certified::Plotted::new(finished), &about),
            Self::Slopes => render(&slopes::Plotted::new(finished)?, &about),
            Self::Accuracy => render(&accuracy_epsilon::Plotted::new(finished)?, &about),
            Self::Curves => render(&training_curves::Plotted::new(finished)?, &about),
        }
    }
}

/// The title of the first figure of an experiment.
pub(crate) fn title(spec: &Spec) -> String {
    Kind::all(spec).next().map_or_else(|| spec.name.clone(), |kind| kind.title(spec))
}

/// Writes the figures of a finished experiment into an existing directory and returns their paths:
/// `<name>.svg`, `.png` and `.csv` with its slopes, or else certified beside measured risk, or else its accuracy
/// against ε, and with its training curves if it recorded any (`<name>-curves` where both are drawn).
///
/// `provenance` (version, command line) is recorded in each file, with the command that ran the
/// experiment.
///
/// # Errors
/// [`FigureError::Nothing`] if the experiment has nothing that can be drawn, and as
/// [`Figure::write`](crate::Figure::write).
///
/// # Examples
/// ```
/// use dpbounds_experiments::run::{Axis, Plan, built_in, run_in_memory};
/// let mut spec = built_in("cumulative-noise").map(|one| one.spec()).transpose()?.unwrap().quick();
/// spec.sweep.insert(Axis::Steps, vec![9.0, 17.0]);
/// let finished = run_in_memory(&Plan::new("example", &spec)?, "an example", None, &|_, _| {})?;
/// let directory = tempfile::tempdir()?;
/// let files = dpbounds_figures::write_experiment(&finished, directory.path(), "an example")?;
/// assert!(files[0].ends_with("cumulative-noise.svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_experiment(
    finished: &Finished,
    directory: &Path,
    provenance: &str,
) -> Result<Vec<PathBuf>> {
    let header = &finished.header;
    let kinds: Vec<Kind> = Kind::all(&header.spec).collect();
    if kinds.is_empty() {
        return Err(FigureError::Nothing { experiment: header.spec.name.clone() });
    }
    let provenance = format!(
        "{provenance}\nruns of {} (dpbounds {}, experiment {}, {})",
        header.command, header.version, header.hash, header.spec.seeds
    );
    let mut paths = Vec::new();
    for kind in &kinds {
        let both = kinds.len() > 1 && *kind == Kind::Curves;
        let stem = format!("{}{}", stem(&header.spec.name), if both { "-curves" } else { "" });
        paths.extend(files::write_all(directory, &stem, kind.render(finished, &provenance)?)?);
    }
    Ok(paths)
}

/// Runs an experiment in memory and writes its figures.
pub(crate) fn run_and_write(
    one: &BuiltIn,
    directory: &Path,
    quick: bool,
    provenance: &str,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<PathBuf>> {
    let spec = one.spec()?;
    let spec = if quick { spec.quick() } else { spec };
    let quick = if quick { " --quick" } else { "" };
    let command = format!("dpbounds experiment run {}{quick}", one.name);
    let finished = run_in_memory(&Plan::new(one.name, &spec)?, &command, None, progress)?;
    write_experiment(&finished, directory, provenance)
}

/// The name of an experiment as part of a file's name.
fn stem(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    if name.is_empty() { "experiment".into() } else { name.chars().map(plain).collect() }
}

#[cfg(test)]
#[path = "experiment_tests.rs"]
mod tests;
