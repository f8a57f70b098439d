//! Runs spread over threads, recorded one by one, resumed after any interruption.
//!
//! A directory holds `experiment.json` (what runs) from the start. Every finished run is one line of
//! `runs.part.jsonl`; at the end the lines are sorted into `runs.jsonl`, and `summary.csv` and
//! `slopes.json` follow. Each of these appears under its name only when complete. A run depends on the
//! experiment, the point and the seed only, so the files do not depend on threads or interruptions.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::error::{Result, RunError};
use super::fit::{Slope, fit};
use super::grid::Plan;
use super::judgement::{Judgement, judge};
use super::measure::measure;
use super::record::{Header, Record, SCHEMA, key};
use super::summary::summary_csv;
use crate::lines::{LinesFile, OpenError};
use crate::whole;

const HEADER: &str = "experiment.json";
const PART: &str = "runs.part.jsonl";
const RUNS: &str = "runs.jsonl";
const SUMMARY: &str = "summary.csv";
const SLOPES: &str = "slopes.json";

/// Where and how an experiment runs, or certificates are made.
#[derive(Debug, Clone)]
pub struct Options {
    /// Directory for the files.
    pub directory: PathBuf,
    /// Whether to go on with what the directory holds.
    pub resume: bool,
    /// Number of threads; all cores if there is none.
    pub threads: Option<usize>,
    /// The command that makes the files again.
    pub command: String,
}

/// A finished experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// What ran.
    pub header: Header,
    /// The runs by point and seed.
    pub records: Vec<Record>,
    /// The slopes.
    pub slopes: Vec<Slope>,
    /// Certified beside measured.
    pub judgements: Vec<Judgement>,
}

impl Finished {
    fn new(header: Header, records: Vec<Record>) -> Self {
        let slopes = fit(&header.spec, &records);
        let judgements = judge(&header.spec, &records);
        Self { header, records, slopes, judgements }
    }
}

/// Finished lines by point and seed, as they are written.
type Lines = BTreeMap<(usize, u64), (String, Record)>;

/// Runs what is not finished yet. `progress` is told the number of finished runs and of all runs: once
/// at the start, then after each run, from any thread.
///
/// # Errors
/// [`RunError`]; the runs that were finished before are kept and `resume` goes on from them.
pub fn run(
    plan: &Plan,
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Finished> {
    let directory = &options.directory;
    std::fs::create_dir_all(directory).map_err(|source| write_error(directory, source))?;
    let header = claim(&header(plan, &options.command), options)?;
    let part = directory.join(PART);
    let (file, _) = LinesFile::open(&part).map_err(|error| match error {
        OpenError::Busy => RunError::Busy { directory: directory.display().to_string() },
        OpenError::Read(source) => read_error(&part, source),
        OpenError::Write(source) => write_error(&part, source),
    })?;
    whole::remove_leftovers(directory);
    let mut lines = finished(directory, &header)?;
    let wanted: Vec<(usize, u64)> =
        places(plan).filter(|place| !lines.contains_key(place)).collect();
    let total = plan.runs();
    progress(lines.len(), total);
    let done = AtomicUsize::new(lines.len());
    let output = Mutex::new(file);
    let one = |place: &(usize, u64)| -> Result<((usize, u64), (String, Record))> {
        let record = record(plan, &header, *place)?;
        let line = serde_json::to_string(&record)
            .map_err(|error| write_error(&part, std::io::Error::other(error)))?
            + "\n";
        output
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .append(&line)
            .map_err(|source| write_error(&part, source))?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        Ok((*place, (line, record)))
    };
    let new = pool(options.threads)?
        .install(|| wanted.par_iter().with_max_len(1).map(one).collect::<Result<Vec<_>>>())?;
    lines.extend(new);
    // The lock is held until the files are complete.
    let result = finish(directory, header, lines);
    drop(output);
    result
}

/// Runs everything without a file, on `threads` threads or on all cores. The result is that of [`run`]
/// with the same command; `progress` is told the same.
///
/// # Errors
/// [`RunError`] if a run fails or the threads cannot be started.
///
/// # Examples
/// ```
/// use dpbounds_experiments::run::{Plan, built_in, run_in_memory};
/// let mut spec = built_in("cumulative-noise").map(|one| one.spec()).transpose()?.unwrap().quick();
/// spec.sweep.insert(dpbounds_experiments::run::Axis::Steps, vec![9.0, 17.0]);
/// let finished = run_in_memory(&Plan::new("example", &spec)?, "an example", None, &|_, _| {})?;
/// assert_eq!(finished.slopes.len(), 3);
/// # Ok::<(), dpbounds_experiments::run::RunError>(())
/// ```
pub fn run_in_memory(
    plan: &Plan,
    command: &str,
    threads: Option<usize>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Finished> {
    let header = header(plan, command);
    let (done, total) = (AtomicUsize::new(0), plan.runs());
    progress(0, total);
    let one = |place: (usize, u64)| {
        let record = record(plan, &header, place)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        Ok(record)
    };
    let wanted: Vec<(usize, u64)> = places(plan).collect();
    let run = || wanted.into_par_iter().with_max_len(1).map(one).collect::<Result<Vec<_>>>();
    let records = pool(threads)?.install(run)?;
    Ok(Finished::new(header, records))
}

/// What runs, by which command.
fn header(plan: &Plan, command: &str) -> Header {
    Header {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.to_owned(),
        hash: plan.hash.clone(),
        spec: plan.spec.clone(),
    }
}

/// Points and seeds, in the order of the files.
fn places(plan: &Plan) -> impl Iterator<Item = (usize, u64)> {
    let seeds = plan.spec.seeds.all();
    (0..plan.points.len())
        .flat_map(move |point| seeds.clone().into_iter().map(move |seed| (point, seed)))
}

fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    builder.build().map_err(|error| RunError::Threads {
        threads: threads.unwrap_or(0),
        problem: error.to_string(),
    })
}

/// Writes the header, or compares it with the one that is there, whose command stays.
fn claim(header: &Header, options: &Options) -> Result<Header> {
    let directory = options.directory.display().to_string();
    let path = options.directory.join(HEADER);
    if let Some(found) = read_header(&options.directory)? {
        if !options.resume {
            return Err(RunError::Occupied { directory });
        }
        if found.hash != header.hash {
            let name = |header: &Header| format!("{} {}", header.spec.name, header.hash);
            return Err(RunError::Other { directory, found: name(&found), wanted: name(header) });
        }
        return Ok(found);
    }
    write_complete(&path, &pretty(&path, header)?)?;
    Ok(header.clone())
}

fn record(plan: &Plan, header: &Header, (index, seed): (usize, u64)) -> Result<Record> {
    let point = &plan.points[index];
    let settings = crate::train::Settings { seed, ..point.settings };
    // Before the first step.
    let certificates = plan.certificates(point, seed)?;
    Ok(Record {
        key: key(&plan.hash, index, seed),
        experiment: plan.spec.name.clone(),
        version: header.version.clone(),
        command: header.command.clone(),
        point: index,
        seed,
        values: point.values.clone(),
        n: point.records,
        dimension: plan.data(point, seed)?.sample.dimension,
        width: point.model.width,
        settings,
        certificates,
        outcome: measure(plan, point, seed)?,
    })
}

/// The lines of an interrupted or of a finished experiment.
fn finished(directory: &Path, header: &Header) -> Result<Lines> {
    let mut lines = Lines::new();
    for name in [RUNS, PART] {
        let path = directory.join(name);
        let text = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(source) => return Err(read_error(&path, source)),
        };
        for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            // A line without an end was being written when the process was killed.
            if line.last() != Some(&b'\n') {
                break;
            }
            let damaged = |problem: String| RunError::Damaged {
                file: path.display().to_string(),
                line: index + 1,
                problem,
            };
            let record: Record =
                serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
            if record.key != key(&header.hash, record.point, record.seed) {
                return Err(damaged("the run belongs to another experiment".into()));
            }
            let text = String::from_utf8_lossy(line).into_owned();
            lines.insert((record.point, record.seed), (text, record));
        }
    }
    Ok(lines)
}

/// Sorts, fits and writes.
fn finish(directory: &Path, header: Header, lines: Lines) -> Result<Finished> {
    let text: String = lines.values().map(|(line, _)| line.as_str()).collect();
    let records: Vec<Record> = lines.into_values().map(|(_, record)| record).collect();
    let finished = Finished::new(header, records);
    let Finished { header, records, slopes, judgements } = &finished;
    let path = directory.join(SLOPES);
    let document = serde_json::json!({
        "schema": SCHEMA,
        "version": header.version,
        "command": header.command,
        "hash": header.hash,
        "seeds": header.spec.seeds,
        "slopes": slopes,
    });
    write_complete(&path, &pretty(&path, &document)?)?;
    write_complete(&directory.join(SUMMARY), &summary_csv(header, records, judgements))?;
    write_complete(&directory.join(RUNS), &text)?;
    let part = directory.join(PART);
    std::fs::remove_file(&part).map_err(|source| write_error(&part, source))?;
    Ok(finished)
}

fn read_header(directory: &Path) -> Result<Option<Header>> {
    let path = directory.join(HEADER);
    let file = path.display().to_string();
    match std::fs::read(&path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(header) => Ok(Some(header)),
            Err(error) => {
                Err(RunError::Damaged { file, line: error.line(), problem: error.to_string() })
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(read_error(&path, source)),
    }
}

/// Reads a finished experiment; the slopes are fitted again.
///
/// # Errors
/// [`RunError`] if the directory holds none.
pub fn load(directory: &Path) -> Result<Finished> {
    let absent = || RunError::Absent { directory: directory.display().to_string() };
    let header = read_header(directory)?.ok_or_else(absent)?;
    if !directory.join(RUNS).exists() {
        return Err(absent());
    }
    let records: Vec<Record> =
        finished(directory, &header)?.into_values().map(|(_, record)| record).collect();
    Ok(Finished::new(header, records))
}

fn read_error(path: &Path, source: std::io::Error) -> RunError {
    RunError::Read { file: path.display().to_string(), source }
}

fn write_error(path: &Path, source: std::io::Error) -> RunError {
    RunError::Write { file: path.display().to_string(), source }
}

fn pretty<T: serde::Serialize>(path: &Path, value: &T) -> Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| write_error(path, std::io::Error::other(error)))
}

fn write_complete(path: &Path, text: &str) -> Result<()> {
    whole::write(path, text.as_bytes()).map_err(|source| write_error(path, source))
}
