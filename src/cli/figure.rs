//! `dpbounds figure`.

use std::path::PathBuf;

use clap::Args;
use dpbounds_figures::{Figure, all, find};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Failure, OutputOptions};
use crate::output::{Cell, Records, provenance, write_records};

/// Draw a figure, or list the figures.
#[derive(Debug, Args)]
#[command(after_help = "Each figure is written as SVG and PNG, with its data as CSV.\n\n\
                        Examples:\n  dpbounds figure list\n  dpbounds figure max-information-noise --out figures\n  \
                        dpbounds figure all --out figures --quick")]
pub struct FigureCommand {
    /// `list`, a figure's name, or `all`
    id: String,
    /// Directory for the files
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Fewer points, for a look
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    output: OutputOptions,
}

impl FigureCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.id == "list" {
            let mut records = Records::new("figures", &["id", "title", "summary"]);
            for figure in all() {
                records.push(vec![figure.id.into(), figure.title.into(), figure.summary.into()]);
            }
            return write_records(&records, &self.output);
        }
        let Some(directory) = self.out else {
            return Err(Failure::Usage(
                "--out is missing: name the directory for the files".into(),
            ));
        };
        let figures: Vec<&Figure> = if self.id == "all" {
            all().iter().collect()
        } else {
            vec![find(&self.id).ok_or_else(|| unknown(&self.id))?]
        };
        let mut records = Records::new("files", &["figure", "file"]);
        for (figure, path) in draw(&figures, &directory, self.quick)? {
            records.push(vec![figure.into(), Cell::Text(path.display().to_string())]);
        }
        write_records(&records, &self.output)
    }
}

/// Draws figures with a progress bar and returns which files were written.
pub(super) fn draw(
    figures: &[&'static Figure],
    directory: &std::path::Path,
    quick: bool,
) -> Result<Vec<(&'static str, PathBuf)>, Failure> {
    std::fs::create_dir_all(directory).map_err(|source| Failure::File {
        action: "write",
        path: directory.into(),
        source,
    })?;
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg} {elapsed} (left {eta})")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let progress = ProgressBar::new(figures.len() as u64).with_style(style);
    let mut written = Vec::new();
    for figure in figures {
        progress.set_message(figure.id);
        for path in figure.write(directory, quick, &provenance())? {
            written.push((figure.id, path));
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(written)
}

fn unknown(id: &str) -> Failure {
    let known: Vec<_> = all().iter().map(|figure| figure.id).collect();
    Failure::Usage(format!(
        "figure {id:?} is unknown; it is one of: list, all, {}",
        known.join(", ")
    ))
}
