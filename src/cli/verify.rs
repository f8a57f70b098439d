//! `dpbounds verify`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dpbounds_experiments::ledger::{
    Check, Claim, Entry, LedgerOptions, Level, claims, find, markdown, verify,
};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Failure, OutputOptions};
use crate::output::{Cell, Format, Records, provenance, write_bytes, write_records};

/// The ledger: every claim of both papers and of ours, how it is checked, and the verdict.
#[derive(Debug, Args)]
#[command(after_help = "\
A slack is relative: 0 is the border, 1 is far inside, a negative one is a violation. A statement
that needs a correction has a slack of its own for the corrected form. What cannot run is reported
as not run, never as holding. Exit status 1 if a verdict is other than the one on record.

A name also stands for those that begin with it: K-C is appendix C of the first paper.
DIR gets ledger.jsonl, one line a finished claim, then ledger.json, ledger.csv and report.md.
An interrupted run goes on with --resume and loses nothing.

Examples:
  dpbounds verify list
  dpbounds verify --only K-B,S.1
  dpbounds verify --out ledger
  dpbounds verify --level full --out ledger-full --resume")]
pub struct Verify {
    /// `list`: the claims without running them
    #[arg(value_enum)]
    what: Option<What>,
    /// These claims only
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Everything in two minutes, or more seeds and cases
    #[arg(long, value_enum, default_value_t = LevelOption::Quick)]
    level: LevelOption,
    /// Directory for the records and the report
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the claims that DIR lacks
    #[arg(long, requires = "out")]
    resume: bool,
    /// Number of threads; default all cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    List,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum LevelOption {
    Quick,
    Full,
}

impl From<LevelOption> for Level {
    fn from(option: LevelOption) -> Self {
        match option {
            LevelOption::Quick => Self::Quick,
            LevelOption::Full => Self::Full,
        }
    }
}

impl Verify {
    pub(super) fn run(self) -> Result<(), Failure> {
        let chosen = self.chosen()?;
        if self.what.is_some() {
            return write_records(&list(&chosen), &self.output);
        }
        let options = LedgerOptions {
            level: self.level.into(),
            directory: self.out.clone(),
            resume: self.resume,
            threads: self.threads.map(usize::from),
        };
        let entries = examine(&chosen, &options)?;
        if let Some(directory) = &self.out {
            write_files(&chosen, &entries, directory)?;
        }
        write_records(&table(&chosen, &entries), &self.output)?;
        report_surprises(&chosen, &entries)
    }

    fn chosen(&self) -> Result<Vec<&'static Claim>, Failure> {
        if self.only.is_empty() {
            return Ok(claims().collect());
        }
        let names: Vec<&str> = self.only.iter().map(|name| name.trim()).collect();
        find(&names).map_err(|name| {
            let score = |claim: &Claim| {
                strsim::jaro_winkler(&claim.id.to_lowercase(), &name.to_lowercase())
            };
            let nearest = claims().max_by(|a, b| score(a).total_cmp(&score(b)));
            let hint = nearest.map_or("", |claim| claim.id);
            Failure::Usage(format!(
                "--only {name:?} is no claim; the nearest is {hint}, all are in dpbounds verify list"
            ))
        })
    }
}

/// Runs claims with a progress bar.
pub(super) fn examine(chosen: &[&Claim], options: &LedgerOptions) -> Result<Vec<Entry>, Failure> {
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} claims, {elapsed} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(chosen.len() as u64).with_style(style);
    let entries = verify(chosen, options, &|done, _, last| {
        // Threads may tell their counts out of order.
        bar.set_position(bar.position().max(done as u64));
        bar.set_message(last.to_owned());
    });
    bar.finish_and_clear();
    Ok(entries?)
}

/// Writes ledger.json, ledger.csv and report.md.
pub(super) fn write_files(
    chosen: &[&Claim],
    entries: &[Entry],
    directory: &Path,
) -> Result<(), Failure> {
    let records = table(chosen, entries);
    for (name, format) in [("ledger.json", Format::Json), ("ledger.csv", Format::Csv)] {
        let output = Some(directory.join(name));
        write_records(&records, &OutputOptions { format, output })?;
    }
    let report = markdown(chosen, entries, &provenance());
    write_bytes(report.as_bytes(), Some(&directory.join("report.md")))
}

/// Names the claims whose verdict is other than the one on record; they fail the command.
pub(super) fn report_surprises(chosen: &[&Claim], entries: &[Entry]) -> Result<(), Failure> {
    let surprising = chosen.iter().zip(entries).filter(|(claim, entry)| !entry.is_expected(claim));
    let names: Vec<&str> = surprising.map(|(claim, _)| claim.id).collect();
    if names.is_empty() {
        return Ok(());
    }
    anstream::eprintln!("other than the verdict on record: {}", names.join(", "));
    Err(Failure::Reported { code: 1 })
}

fn list(chosen: &[&Claim]) -> Records {
    let columns = ["claim", "work", "place", "expected", "errata", "how", "statement"];
    let mut records = Records::new("claims", &columns).with_details(&["work"]);
    for claim in chosen {
        records.push(vec![
            claim.id.into(),
            claim.work.cited().into(),
            claim.place.into(),
            claim.expected.name().into(),
            claim.errata.join(" ").into(),
            method(claim).into(),
            claim.statement.into(),
        ]);
    }
    records
}

fn method(claim: &Claim) -> &'static str {
    match claim.check {
        Check::Missing(_) => "none yet",
        _ => claim.method.name(),
    }
}

fn table(chosen: &[&Claim], entries: &[Entry]) -> Records {
    let columns = [
        "claim",
        "verdict",
        "as expected",
        "slack",
        "corrected slack",
        "statement",
        "how",
        "what was run",
        "work",
        "place",
        "expected",
        "errata",
        "level",
        "seconds",
    ];
    let details =
        &["how", "what was run", "work", "place", "expected", "errata", "level", "seconds"];
    let mut records = Records::new("ledger", &columns).with_details(details);
    for (claim, entry) in chosen.iter().zip(entries) {
        records.push(vec![
            claim.id.into(),
            entry.verdict.name().into(),
            Cell::Flag(entry.is_expected(claim)),
            entry.slack.into(),
            entry.corrected_slack.into(),
            claim.statement.into(),
            method(claim).into(),
            entry.ran.as_str().into(),
            claim.work.cited().into(),
            claim.place.into(),
            claim.expected.name().into(),
            claim.errata.join(" ").into(),
            entry.level.to_string().into(),
            entry.seconds.into(),
        ]);
    }
    records
}
