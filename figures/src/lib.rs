//! Figures of dpbounds: each as SVG, PNG and CSV from one drawing and one evaluation.
//!
//! ```no_run
//! let figure = dpbounds_figures::find("max-information-noise").unwrap();
//! figure.write(std::path::Path::new("out"), false, "made by hand", &|_, _| {})?;
//! # Ok::<(), dpbounds_figures::FigureError>(())
//! ```
//!
//! House style: `style` (colours, dashes), `font` (embedded typeface), `axes` (ticks, panels) and
//! `legend`; `frame` places the panels. One figure a file: `max_information_noise`,
//! `max_information_records`, `pac_bayes_table`, `kappa_lambda` and `lambda_gain`, which share `run`,
//! `certificate_width` and `certificate_window`, which share `certificates`. `ledger` draws the claims of the ledger,
//! `private_priors` finished PAC-Bayes certificates.
//! Every experiment inside the program has a figure of its name, which `experiment` chooses: `slopes`,
//! `certified`, `accuracy_epsilon` or `training_curves`, which share `words`.
//! The drawings are generic over the backends of `plotters`.

mod accuracy_epsilon;
mod axes;
mod canvas;
mod certificate_width;
mod certificate_window;
mod certificates;
mod certified;
mod error;
mod experiment;
mod files;
mod font;
mod frame;
mod kappa_lambda;
mod lambda_gain;
mod ledger;
mod legend;
mod max_information_noise;
mod max_information_records;
mod pac_bayes_table;
mod private_priors;
mod render;
mod run;
mod slopes;
mod style;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod training_curves;
mod words;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use dpbounds_experiments::run::{BuiltIn, built_ins};

pub use error::FigureError;
pub use experiment::write_experiment;
pub use ledger::{LEDGER, write_ledger};
pub use private_priors::write_certificates;
use render::{About, Rendered, render};

/// A figure that can be drawn.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Name, in file names and on the command line.
    pub id: &'static str,
    /// Title, as drawn.
    pub title: String,
    /// What it shows, in a sentence or two.
    pub summary: String,
    source: Source,
}

/// What a figure shows.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// Bounds.
    Theory(fn(&About, bool) -> error::Result<Rendered>),
    /// Measurements.
    Experiment(&'static BuiltIn),
    /// The claims.
    Ledger,
}

macro_rules! theory {
    ($($id:literal: $module:ident),* $(,)?) => {
        [$(Figure {
            id: $id,
            title: $module::TITLE.to_owned(),
            summary: $module::SUMMARY.to_owned(),
            source: Source::Theory(|about, quick| render(&$module::Plotted::compute(quick)?, about)),
        }),*]
    };
}

static ALL: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let theory = theory![
        "max-information-noise": max_information_noise,
        "max-information-records": max_information_records,
        "pac-bayes-table": pac_bayes_table,
        "kappa-lambda": kappa_lambda,
        "lambda-gain": lambda_gain,
        "certificate-width": certificate_width,
        "certificate-window": certificate_window,
    ];
    // The files inside the program are tested: each can be read.
    let measured = built_ins().iter().filter_map(|one| {
        let spec = one.spec().ok()?;
        let title = experiment::title(&spec);
        Some(Figure { id: one.name, title, summary: spec.summary, source: Source::Experiment(one) })
    });
    let ledger = Figure {
        id: LEDGER,
        title: ledger::TITLE.to_owned(),
        summary: ledger::SUMMARY.to_owned(),
        source: Source::Ledger,
    };
    theory.into_iter().chain([ledger]).chain(measured).collect()
});

/// Every figure: those of the theory, the ledger, then one of every experiment inside the program.
#[must_use]
pub fn all() -> &'static [Figure] {
    &ALL
}

/// The figure of that name.
#[must_use]
pub fn find(id: &str) -> Option<&'static Figure> {
    all().iter().find(|figure| figure.id == id)
}

impl Figure {
    /// Writes `<id>.svg`, `<id>.png` and `<id>.csv` into an existing directory and returns their paths.
    ///
    /// `quick` evaluates fewer points, or runs the quick form of an experiment, in memory and on all
    /// cores; the ledger always runs at its quick level; `progress` is told the numbers of finished and of all runs. `provenance` (version,
    /// command line) is recorded in each file. Each file is written under a temporary name and renamed.
    /// The same arguments give the same bytes.
    ///
    /// # Errors
    /// [`FigureError`] if a bound cannot be evaluated, an experiment cannot run, the picture cannot be
    /// drawn or a file cannot be written.
    pub fn write(
        &self,
        directory: &Path,
        quick: bool,
        provenance: &str,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Vec<PathBuf>, FigureError> {
        match self.source {
            Source::Theory(draw) => {
                let about = About { title: &self.title, summary: &self.summary, provenance };
                files::write_all(directory, self.id, draw(&about, quick)?)
            }
            Source::Experiment(one) => {
                experiment::run_and_write(one, directory, quick, provenance, progress)
            }
            Source::Ledger => ledger::run_and_write(directory, provenance, progress),
        }
    }
}
