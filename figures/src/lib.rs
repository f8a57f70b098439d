//! Figures of dpbounds: each as SVG, PNG and CSV from one drawing and one evaluation.
//!
//! ```no_run
//! let figure = dpbounds_figures::find("max-information-noise").unwrap();
//! figure.write(std::path::Path::new("out"), false, "made by hand")?;
//! # Ok::<(), dpbounds_figures::FigureError>(())
//! ```
//!
//! House style: `style` (colours, dashes), `font` (embedded typeface), `axes` (ticks, panels) and
//! `legend`; `frame` places the panels. One figure a file: `max_information_noise`,
//! `max_information_records`, `pac_bayes_table`, `kappa_lambda` and `lambda_gain`, which share `run`.
//! The drawings are generic over the backends of `plotters`.

mod axes;
mod canvas;
mod error;
mod files;
mod font;
mod frame;
mod kappa_lambda;
mod lambda_gain;
mod legend;
mod max_information_noise;
mod max_information_records;
mod pac_bayes_table;
mod render;
mod run;
mod style;
mod table;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use error::FigureError;
use render::{About, Rendered, render};

/// A figure that can be drawn.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// Name, in file names and on the command line.
    pub id: &'static str,
    /// Title, as drawn.
    pub title: &'static str,
    /// What it shows, in a sentence or two.
    pub summary: &'static str,
    render: fn(&About, bool) -> error::Result<Rendered>,
}

/// Every figure.
pub const ALL: &[Figure] = &[
    Figure {
        id: "max-information-noise",
        title: max_information_noise::TITLE,
        summary: max_information_noise::SUMMARY,
        render: render::<max_information_noise::Plotted>,
    },
    Figure {
        id: "max-information-records",
        title: max_information_records::TITLE,
        summary: max_information_records::SUMMARY,
        render: render::<max_information_records::Plotted>,
    },
    Figure {
        id: "pac-bayes-table",
        title: pac_bayes_table::TITLE,
        summary: pac_bayes_table::SUMMARY,
        render: render::<pac_bayes_table::Plotted>,
    },
    Figure {
        id: "kappa-lambda",
        title: kappa_lambda::TITLE,
        summary: kappa_lambda::SUMMARY,
        render: render::<kappa_lambda::Plotted>,
    },
    Figure {
        id: "lambda-gain",
        title: lambda_gain::TITLE,
        summary: lambda_gain::SUMMARY,
        render: render::<lambda_gain::Plotted>,
    },
];

/// Every figure.
#[must_use]
pub fn all() -> &'static [Figure] {
    ALL
}

/// The figure of that name.
#[must_use]
pub fn find(id: &str) -> Option<&'static Figure> {
    ALL.iter().find(|figure| figure.id == id)
}

impl Figure {
    /// Writes `<id>.svg`, `<id>.png` and `<id>.csv` into an existing directory and returns their paths.
    ///
    /// `quick` evaluates fewer points. `provenance` (version, command line) is recorded in each
    /// file. Each file is written under a temporary name and renamed. The same arguments give the
    /// same bytes.
    ///
    /// # Errors
    /// [`FigureError`] if a bound cannot be evaluated, the picture cannot be drawn or a file cannot
    /// be written.
    pub fn write(
        &self,
        directory: &Path,
        quick: bool,
        provenance: &str,
    ) -> Result<Vec<PathBuf>, FigureError> {
        let about = About { title: self.title, summary: self.summary, provenance };
        let rendered = (self.render)(&about, quick)?;
        [("svg", rendered.svg), ("png", rendered.png), ("csv", rendered.csv)]
            .into_iter()
            .map(|(extension, bytes)| {
                let path = directory.join(format!("{}.{extension}", self.id));
                files::write(&path, &bytes)?;
                Ok(path)
            })
            .collect()
    }
}
