//! `dpbounds figure`.

use std::path::{Path, PathBuf};

use clap::Args;
use dpbounds_experiments::ledger::{self, RECORDS};
use dpbounds_experiments::run::load;
use dpbounds_figures::{Figure, LEDGER, all, find, write_experiment, write_ledger};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Failure, OutputOptions};
use crate::output::{Cell, Records, provenance, write_records};

/// Draw a figure, or list the figures.
#[derive(Debug, Args)]
#[command(after_help = "\
Each figure is written as SVG and PNG, with its data as CSV. The figure of an experiment inside the
program runs it first, without keeping its runs, and that of the ledger runs its quick level; --from
draws what `dpbounds experiment run` wrote (slopes, certified beside measured risk, accuracy against
epsilon, or training curves) or what `dpbounds verify --out` wrote.

Examples:
  dpbounds figure list
  dpbounds figure max-information-noise --out figures
  dpbounds figure risk-steps --out figures --quick
  dpbounds figure --from results --out figures
  dpbounds figure all --out figures --quick")]
pub struct FigureCommand {
    /// `list`, a figure's name, or `all`
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    id: Option<String>,
    /// Draw the finished experiment, or the ledger, of this directory
    #[arg(long, value_name = "DIR", conflicts_with = "quick")]
    from: Option<PathBuf>,
    /// Directory for the files
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Fewer points, or the quick form of an experiment, for a look
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    output: OutputOptions,
}

impl FigureCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let id = self.id.as_deref().unwrap_or_default();
        if id == "list" {
            let mut records = Records::new("figures", &["id", "title", "summary"]);
            for figure in all() {
                records.push(vec![
                    figure.id.into(),
                    figure.title.as_str().into(),
                    figure.summary.as_str().into(),
                ]);
            }
            return write_records(&records, &self.output);
        }
        let Some(directory) = self.out else {
            return Err(Failure::Usage(
                "--out is missing: name the directory for the files".into(),
            ));
        };
        let written = if let Some(from) = self.from {
            draw_from(&from, &directory)?
        } else {
            let figures: Vec<&Figure> = if id == "all" {
                all().iter().collect()
            } else {
                vec![find(id).ok_or_else(|| unknown(id))?]
            };
            draw(&figures, &directory, self.quick)?
        };
        let mut records = Records::new("files", &["figure", "file"]);
        for (figure, path) in written {
            records.push(vec![figure.into(), Cell::Text(path.display().to_string())]);
        }
        write_records(&records, &self.output)
    }
}

/// Draws what an experiment or `dpbounds verify` left in a directory.
fn draw_from(from: &Path, directory: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let (name, paths) = if from.join(RECORDS).exists() {
        let entries = ledger::load(from)?;
        make(directory)?;
        (LEDGER.to_owned(), write_ledger(&entries, directory, &provenance())?)
    } else {
        let finished = load(from)?;
        make(directory)?;
        let paths = write_experiment(&finished, directory, &provenance())?;
        (finished.header.spec.name, paths)
    };
    Ok(paths.into_iter().map(|path| (name.clone(), path)).collect())
}

/// Draws figures with a progress bar and returns which files were written.
pub(super) fn draw(
    figures: &[&'static Figure],
    directory: &Path,
    quick: bool,
) -> Result<Vec<(String, PathBuf)>, Failure> {
    make(directory)?;
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg} {elapsed} (left {eta})")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let progress = ProgressBar::new(figures.len() as u64).with_style(style);
    let mut written = Vec::new();
    for figure in figures {
        progress.set_message(figure.id);
        let tell = |done: usize, total: usize| {
            if !progress.is_hidden() {
                progress.set_message(format!("{}, {done} of {total} runs,", figure.id));
            }
        };
        for path in figure.write(directory, quick, &provenance(), &tell)? {
            written.push((figure.id.to_owned(), path));
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(written)
}

/// Makes the directory for the files.
fn make(directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|source| Failure::File {
        action: "write",
        path: directory.into(),
        source,
    })
}

fn unknown(id: &str) -> Failure {
    let known: Vec<_> = all().iter().map(|figure| figure.id).collect();
    Failure::Usage(format!(
        "figure {id:?} is unknown; it is one of: list, all, {}",
        known.join(", ")
    ))
}
