//! `dpbounds experiment`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::{Args, Subcommand};
use dpbounds_experiments::run::{
    BoundName, Finished, Judgement, Options, Plan, Record, Response, Slope, Spec, Standing,
    Verdict, built_in, built_ins, load, run,
};
use indicatif::{ProgressBar, ProgressStyle};

use super::experiment_bench::ExperimentBench;
use super::{Failure, OutputOptions};
use crate::output::{Cell, Records, Side, display, write_records};

/// Run an experiment, list those inside the program, or show a finished one.
#[derive(Debug, Subcommand)]
pub enum ExperimentCommand {
    /// Train at every grid point with every seed and compare measured with predicted slopes
    Run(Run),
    /// The experiments inside the program
    List(List),
    /// The slopes of a finished experiment
    Show(Show),
    /// Measure the speed of training on a fixed workload, on one thread
    Bench(ExperimentBench),
}

impl ExperimentCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Run(options) => options.run(),
            Self::List(options) => options.run(),
            Self::Show(options) => options.run(),
            Self::Bench(options) => options.run(),
        }
    }
}

/// Run an experiment.
#[derive(Debug, Args)]
#[command(after_help = "\
NAME is a name of `dpbounds experiment list`, or a TOML file; a file with the same keys as one of
the files in experiments/specs is a good start. DIR gets runs.jsonl (one line a run), summary.csv
(one row a point) and slopes.json. The files depend on the experiment only: not on the number of
threads, nor on interruptions. After one, --resume goes on with the runs that are missing.

A slope is fitted by least squares through the logarithms of the means over the seeds; its 95 %
interval is a bootstrap over the seeds. It agrees with the prediction if the whole interval lies
among the allowed slopes, disagrees if none of it does, and is undecided otherwise. Where the
theory only bounds from above, a slope is within the bound, not in agreement.

With a table [certificate] every run is certified before its first step, and measured values are
held against what was proven: all runs, the share of the failure probability, or the mean.
Exit status 1 if a slope disagrees or a measured value exceeds a proven one.

Examples:
  dpbounds experiment run cumulative-noise --out noise --quick
  dpbounds experiment run certified-full-batch --out certified --quick
  dpbounds experiment run my.toml --out results --threads 2
  dpbounds experiment run my.toml --out results --resume --format json")]
pub struct Run {
    /// Name, or TOML file
    #[arg(value_name = "NAME|FILE.toml")]
    name: String,
    /// Directory for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Go on with the runs that DIR lacks
    #[arg(long)]
    resume: bool,
    /// Number of threads; default all cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The quick form of the experiment: fewer seeds and points
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    output: OutputOptions,
}

impl Run {
    fn run(self) -> Result<(), Failure> {
        let mut spec = read(&self.name)?;
        if self.quick {
            spec = spec.quick();
        }
        let plan = Plan::new(&self.name, &spec)?;
        let quick = if self.quick { " --quick" } else { "" };
        let options = Options {
            directory: self.out.clone(),
            resume: self.resume,
            threads: self.threads.map(usize::from),
            command: format!("dpbounds experiment run {}{quick}", self.name),
        };
        let finished = {
            let bar = Bar::new(&spec.name);
            run(&plan, &options, &|done, total| bar.tell(done, total))?
        };
        report(&finished, &self.output)
    }
}

/// A built-in experiment, or one from a file.
fn read(name: &str) -> Result<Spec, Failure> {
    if let Some(one) = built_in(name) {
        return Ok(one.spec()?);
    }
    let is_path = name.ends_with(".toml") || name.contains(std::path::MAIN_SEPARATOR);
    if !is_path && !Path::new(name).exists() {
        let score = |known: &str| strsim::jaro_winkler(known, name);
        let nearest =
            built_ins().iter().map(|one| one.name).max_by(|a, b| score(a).total_cmp(&score(b)));
        let hint = match nearest.filter(|known| score(known) > 0.75) {
            Some(known) => format!("did you mean {known:?}?"),
            None => "see dpbounds experiment list".to_owned(),
        };
        return Err(Failure::Usage(format!(
            "experiment {name:?} is neither inside the program nor a file; {hint}"
        )));
    }
    let bytes = std::fs::read(name).map_err(|source| Failure::File {
        action: "read",
        path: name.into(),
        source,
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..good];
        Failure::Content {
            path: name.into(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64,
            problem: "the text is not UTF-8; save it as UTF-8".into(),
        }
    })?;
    Ok(Spec::parse(name, &text)?)
}

/// Runs done and time left, on a terminal only.
struct Bar {
    bar: OnceLock<ProgressBar>,
    name: String,
}

impl Bar {
    fn new(name: &str) -> Self {
        Self { bar: OnceLock::new(), name: name.to_owned() }
    }

    fn tell(&self, done: usize, total: usize) {
        let bar = self.bar.get_or_init(|| {
            // Runs of an earlier process must not count as fast ones.
            let style = ProgressStyle::with_template(
                "{bar:24} {pos}/{len} runs of {msg}, {elapsed}, {eta} left",
            )
            .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(total as u64).with_style(style);
            bar.set_message(self.name.clone());
            bar.set_position(done as u64);
            bar.reset_eta();
            bar
        });
        // Threads may tell their counts out of order.
        bar.set_position(bar.position().max(done as u64));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// List the experiments.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dpbounds experiment list
  dpbounds experiment list --format csv")]
pub struct List {
    #[command(flatten)]
    output: OutputOptions,
}

impl List {
    fn run(&self) -> Result<(), Failure> {
        let columns = ["name", "points", "seeds", "quick runs", "summary"];
        let mut records = Records::new("experiments", &columns);
        #[allow(clippy::cast_precision_loss)] // few runs
        let count = |count: usize| Cell::Number(count as f64);
        for one in built_ins() {
            let spec = one.spec()?;
            let quick = spec.quick();
            records.push(vec![
                one.name.into(),
                count(spec.points().len()),
                count(spec.seeds.all().len()),
                count(quick.points().len() * quick.seeds.all().len()),
                spec.summary.into(),
            ]);
        }
        write_records(&records, &self.output)
    }
}

/// Show a finished experiment.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints the slopes of a directory that `dpbounds experiment run` wrote, fitted again from its runs,
certified beside measured values for an experiment with certificates, and the means if there are
neither. Exit status 1 if a slope disagrees or a measured value exceeds a proven one.

Examples:
  dpbounds experiment run noise-kappa --quick --out noise && dpbounds experiment show noise
  dpbounds experiment show noise --format csv --output slopes.csv")]
pub struct Show {
    /// Directory of a finished experiment
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    output: OutputOptions,
}

impl Show {
    fn run(self) -> Result<(), Failure> {
        report(&load(&self.directory)?, &self.output)
    }
}

/// The table of slopes, of certificates, or of means where there are neither, and the exit code.
fn report(finished: &Finished, output: &OutputOptions) -> Result<(), Failure> {
    if !finished.judgements.is_empty() {
        write_records(&judgements(finished), output)?;
        let violated = |one: &Judgement| one.standing == Standing::Violated;
        if finished.judgements.iter().any(violated) {
            return Err(Failure::Reported { code: 1 });
        }
        return Ok(());
    }
    if finished.slopes.is_empty() {
        return write_records(&means(finished), output);
    }
    let columns = [
        "response",
        "axis",
        "at",
        "least over",
        "predicted",
        "slope",
        "low",
        "high",
        "allowed",
        "verdict",
        "points",
        "seeds",
        "note",
    ];
    let mut records = Records::new("slopes", &columns).with_details(&["points", "seeds"]);
    for slope in &finished.slopes {
        records.push(row(slope));
    }
    write_records(&records, output)?;
    let disagrees = |slope: &Slope| slope.verdict == Verdict::Disagrees;
    if finished.slopes.iter().any(disagrees) {
        return Err(Failure::Reported { code: 1 });
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss)] // few points and seeds
fn row(slope: &Slope) -> Vec<Cell> {
    let at: Vec<_> = slope.at.iter().map(|(axis, value)| format!("{axis} = {value}")).collect();
    let allowed = match (slope.bound, slope.predicted) {
        (Some(BoundName::Upper), Some(most)) => Some(format!("at most {}", display(most))),
        _ => slope.allowed.map(|[low, high]| format!("{} to {}", display(low), display(high))),
    };
    vec![
        slope.response.name().into(),
        slope.axis.name().into(),
        at.join(", ").into(),
        slope.optimise.map_or(Cell::Empty, |axis| axis.name().into()),
        slope.predicted.into(),
        slope.slope.into(),
        slope.interval.map(|[low, _]| low).into(),
        slope.interval.map(|[_, high]| high).into(),
        allowed.map_or(Cell::Empty, Cell::Text),
        slope.verdict.word().into(),
        (slope.points.len() as f64).into(),
        (slope.seeds as f64).into(),
        slope.note.as_str().into(),
    ]
}

/// Certified beside measured, one row a claim and point.
#[allow(clippy::cast_precision_loss)] // few runs
fn judgements(finished: &Finished) -> Records {
    let columns = [
        "claim",
        "point",
        "route",
        "certified",
        "measured",
        "standard error",
        "measured/certified",
        "runs",
        "uncertified",
        "above",
        "failure probability",
        "verdict",
        "note",
    ];
    let mut records = Records::new("certificates", &columns).with_details(&["uncertified"]);
    for one in &finished.judgements {
        let run = finished.records.iter().find(|run| run.point == one.point);
        records.push(vec![
            one.claim.name().into(),
            run.map_or(Cell::Empty, |run| words(run).into()),
            one.route.as_deref().map_or(Cell::Empty, Cell::from),
            one.certified.map_or(Cell::Empty, |value| Cell::Bound(value, Side::Upper)),
            one.measured.into(),
            one.standard_error.into(),
            one.ratio.into(),
            (one.runs as f64).into(),
            (one.uncertified as f64).into(),
            (one.above as f64).into(),
            one.failure.into(),
            one.standing.to_string().into(),
            one.note.as_str().into(),
        ]);
    }
    records
}

/// The swept values of a run.
fn words(run: &Record) -> String {
    let words: Vec<_> =
        run.values.iter().map(|(axis, value)| format!("{axis} = {value}")).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

/// One row a point.
#[allow(clippy::cast_precision_loss)] // few points and seeds
fn means(finished: &Finished) -> Records {
    let columns = ["point", "kappa", "runs", "averaged risk", "accuracy", "distance"];
    let mut records = Records::new("points", &columns);
    for runs in finished.records.chunk_by(|a, b| a.point == b.point) {
        let mean = |response: Response| {
            let values: Vec<f64> = runs
                .iter()
                .filter_map(|run| run.outcome.as_ref().and_then(|outcome| outcome.value(response)))
                .collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        records.push(vec![
            words(&runs[0]).into(),
            runs[0].settings.kappa.into(),
            (runs.len() as f64).into(),
            mean(Response::AveragedRisk).into(),
            mean(Response::Accuracy).into(),
            mean(Response::Distance).into(),
        ]);
    }
    records
}
