//! `dpbounds reproduce`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use dpbounds_experiments::ledger::{Claim, LedgerOptions, claims, summary};
use dpbounds_experiments::paper_tables::{Complexity, ROWS};
use dpbounds_figures::{LEDGER, all, write_ledger};

use super::figure::draw;
use super::verify::{self, LevelOption};
use super::{Failure, OutputOptions};
use crate::output::{
    Cell, Format, Records, display, display_side, provenance, write_bytes, write_records,
};

/// Recompute the published tables, check every claim, and redraw the figures.
#[derive(Debug, Args)]
#[command(after_help = "\
Recomputes every risk bound of Tables 1-3 of arXiv 2605.26222 from the inputs the tables print, and \
checks that it lies in the rounding interval of the printed one. Checks every claim of both papers, as \
`dpbounds verify` does. Runs the experiments inside the program. Writes tables.csv, tables.json, \
report.md, the figures, and DIR/ledger with the files of `dpbounds verify`. Exit status 1 if a row \
disagrees, or if a verdict is other than the one on record.

Examples:
  dpbounds reproduce --out reproduction
  dpbounds reproduce --out reproduction --quick --format json
  dpbounds reproduce --out reproduction --ledger full --resume")]
pub struct Reproduce {
    /// Directory for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Fewer points in the figures, and the quick forms of the experiments
    #[arg(long)]
    quick: bool,
    /// How much of the ledger runs: everything in two minutes, or more seeds and cases
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LevelOption::Quick)]
    ledger: LevelOption,
    /// Go on with the claims that DIR/ledger lacks
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    output: OutputOptions,
}

const COLUMNS: [&str; 13] = [
    "table",
    "model",
    "certified",
    "n",
    "empirical risk",
    "max-information (nats)",
    "complexity (nats/record)",
    "printed bound",
    "our bound",
    "residual",
    "lowest",
    "highest",
    "in interval",
];

/// Columns for the files only.
const DETAILS: [&str; 5] =
    ["n", "max-information (nats)", "complexity (nats/record)", "lowest", "highest"];

impl Reproduce {
    pub(super) fn run(self) -> Result<(), Failure> {
        let (records, disagreeing) = tables()?;
        std::fs::create_dir_all(&self.out).map_err(|source| Failure::File {
            action: "write",
            path: self.out.clone(),
            source,
        })?;
        for (name, format) in [("tables.csv", Format::Csv), ("tables.json", Format::Json)] {
            let path = Some(self.out.join(name));
            write_records(&records, &OutputOptions { format, output: path })?;
        }
        let directory = self.out.join(LEDGER);
        let options = LedgerOptions {
            level: self.ledger.into(),
            directory: Some(directory.clone()),
            resume: self.resume,
            threads: None,
        };
        let claims: Vec<&Claim> = claims().collect();
        let entries = verify::examine(&claims, &options)?;
        verify::write_files(&claims, &entries, &directory)?;
        let figures: Vec<_> = all().iter().filter(|figure| figure.id != LEDGER).collect();
        let mut written = draw(&figures, &self.out, self.quick)?;
        for path in write_ledger(&entries, &self.out, &provenance())? {
            written.push((LEDGER.to_owned(), path));
        }
        let report = report(&records, disagreeing, &summary(&claims, &entries), &written);
        write_bytes(report.as_bytes(), Some(&self.out.join("report.md")))?;
        write_records(&records, &self.output)?;
        anstream::eprintln!(
            "{} of {} printed bounds agree; report in {}",
            ROWS.len() - disagreeing,
            ROWS.len(),
            self.out.join("report.md").display()
        );
        verify::report_surprises(&claims, &entries)?;
        if disagreeing > 0 { Err(Failure::Reported { code: 1 }) } else { Ok(()) }
    }
}

/// Every published row recomputed, and how many disagree.
fn tables() -> Result<(Records, usize), Failure> {
    let mut records = Records::new("tables", &COLUMNS).with_details(&DETAILS);
    let mut disagreeing = 0;
    for row in ROWS {
        let ours = row.recompute()?;
        disagreeing += usize::from(!ours.agrees);
        let max_information = match row.complexity {
            Complexity::MaxInformation(printed) => Cell::Number(printed.value),
            Complexity::PerRecord(_) => Cell::Empty,
        };
        #[allow(clippy::cast_precision_loss)] // 60000
        let n = row.n as f64;
        records.push(vec![
            f64::from(row.table).into(),
            row.model.into(),
            row.certified.into(),
            n.into(),
            row.empirical.value.into(),
            max_information,
            ours.complexity.into(),
            row.bound.value.into(),
            ours.bound.into(),
            (ours.bound - row.bound.value).into(),
            ours.low.into(),
            ours.high.into(),
            ours.agrees.into(),
        ]);
    }
    Ok((records, disagreeing))
}

fn report(
    records: &Records,
    disagreeing: usize,
    ledger: &str,
    written: &[(String, PathBuf)],
) -> String {
    let mut text = String::from("# Reproduction\n\n");
    let _ = writeln!(text, "`{}`\n", provenance());
    let _ = writeln!(
        text,
        "Risk bounds of Tables 1-3 of arXiv 2605.26222, recomputed from the inputs the tables print \
         (total failure probability 0.05). *Lowest* and *highest* are the bounds that the rounding of \
         the printed inputs allows; a row agrees if they reach the rounding interval of the printed \
         bound. {} of {} agree. The max-information values are inputs: the paper does not give the \
         noise, steps and orders that would be needed to recompute them.\n",
        ROWS.len() - disagreeing,
        ROWS.len()
    );
    text.push_str(&markdown(records));
    text.push_str(
        "\n# Ledger\n\nEvery numbered claim of both papers, and ours, against a run. What each says, how it is \
         checked and what was run is in [ledger/report.md](ledger/report.md); the figure *ledger* below shows the \
         slacks. What was not run counts for nothing.\n\n",
    );
    text.push_str(ledger);
    text.push_str("\n# Figures\n\n");
    for figure in all() {
        let _ = writeln!(text, "## {}\n\n{}\n", figure.title, figure.summary);
        for (id, path) in written.iter().filter(|(id, _)| id == figure.id) {
            if path.extension().is_some_and(|extension| extension == "png") {
                let name = path.file_name().map(Path::new).map(|name| name.display().to_string());
                let _ = writeln!(text, "![{id}]({})\n", name.unwrap_or_default());
            }
        }
    }
    text
}

fn markdown(records: &Records) -> String {
    let (columns, rows) = records.parts();
    let mut text = format!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| match cell {
                Cell::Number(number) => display(*number),
                Cell::Bound(number, side) => display_side(*number, *side),
                Cell::Text(text) => text.clone(),
                Cell::Flag(flag) => if *flag { "yes" } else { "**NO**" }.into(),
                Cell::Empty => String::new(),
            })
            .collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}
