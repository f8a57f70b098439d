//! Claims spread over threads, recorded one by one, resumed after any interruption.
//!
//! A directory holds `ledger.jsonl`, one line a finished claim in the order in which they finished. A line
//! counts for the same claim, level and version only. A claim that was not run is tried again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::claim::{Check, Claim, Level, Verdict, Work};
use super::registry::claims;
use crate::lines::{LinesFile, OpenError};

/// Name of the file of finished claims.
pub const RECORDS: &str = "ledger.jsonl";

/// What is known of a claim after a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The claim.
    pub id: String,
    /// How much was run.
    pub level: Level,
    /// Version of the program.
    pub version: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Slack as printed: relative, 0 is the border, negative is violated.
    pub slack: Option<f64>,
    /// Slack of the corrected statement.
    pub corrected_slack: Option<f64>,
    /// What was run, or why nothing was.
    pub ran: String,
    /// Wall-clock time [s].
    pub seconds: f64,
}

impl Entry {
    fn not_run(claim: &Claim, level: Level, why: &str) -> Self {
        Self {
            id: claim.id.to_owned(),
            level,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            verdict: Verdict::NotRun,
            slack: None,
            corrected_slack: None,
            ran: why.to_owned(),
            seconds: 0.0,
        }
    }

    /// Whether the verdict is the one on record. What is left to the full level is no failure at the quick one.
    #[must_use]
    pub fn is_expected(&self, claim: &Claim) -> bool {
        let deferred = matches!(claim.check, Check::FullOnly(_)) && self.level == Level::Quick;
        self.verdict == claim.expected || (deferred && self.verdict == Verdict::NotRun)
    }
}

/// Where and how claims run.
#[derive(Debug, Clone)]
pub struct LedgerOptions {
    /// How much.
    pub level: Level,
    /// Directory for the records; none to keep them in memory.
    pub directory: Option<PathBuf>,
    /// Whether to go on with what the directory holds.
    pub resume: bool,
    /// Number of threads; all cores if there is none.
    pub threads: Option<usize>,
}

/// Why the ledger cannot run.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The directory has records already.
    #[error("{file} exists already; use --resume to go on, or another directory")]
    Occupied {
        /// The file.
        file: String,
    },
    /// Another process is at work in the directory.
    #[error("another process verifies in {directory}; wait for it, or use another directory")]
    Busy {
        /// The directory.
        directory: String,
    },
    /// A record cannot be understood.
    #[error("{file}, line {line}: {problem}; the file was changed: remove it and run again")]
    Damaged {
        /// The file.
        file: String,
        /// Line from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// There are no records to draw from.
    #[error("{file} holds no claim that this version finished; run dpbounds verify again")]
    Nothing {
        /// The file.
        file: String,
    },
    /// A file could not be read or written.
    #[error(
        "cannot {action} {file}: {source}; finished claims are kept, --resume goes on from them"
    )]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        file: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {problem}; use fewer with --threads")]
    Threads {
        /// How many.
        threads: usize,
        /// The system's answer.
        problem: String,
    },
}

type Result<T> = std::result::Result<T, LedgerError>;

/// Runs the claims that are not finished yet and gives the entries of all, in the order of `claims`.
/// `progress` is told the number of finished claims, of all claims, and the claim that finished last: once at the
/// start, then from any thread.
///
/// # Errors
/// [`LedgerError`]; finished claims are kept and `resume` goes on from them.
///
/// # Examples
/// ```
/// use dpbounds_experiments::ledger::{LedgerOptions, Level, Verdict, find, verify};
/// let claims = find(&["K-B.2"]).unwrap();
/// let options = LedgerOptions { level: Level::Quick, directory: None, resume: false, threads: Some(1) };
/// let entries = verify(&claims, &options, &|_, _, _| ())?;
/// assert_eq!(entries[0].verdict, Verdict::Holds);
/// # Ok::<(), dpbounds_experiments::ledger::LedgerError>(())
/// ```
pub fn verify(
    claims: &[&Claim],
    options: &LedgerOptions,
    progress: &(dyn Fn(usize, usize, &str) + Sync),
) -> Result<Vec<Entry>> {
    let mut known = HashMap::new();
    let mut records = None;
    if let Some(directory) = &options.directory {
        let path = directory.join(RECORDS);
        let (file, found) = open(directory, &path, options)?;
        known = found;
        records = Some((path, Mutex::new(file)));
    }
    known.retain(|_, entry: &mut Entry| entry.verdict != Verdict::NotRun);
    let wanted: Vec<&Claim> =
        claims.iter().copied().filter(|claim| !known.contains_key(claim.id)).collect();
    let total = claims.len();
    let done = AtomicUsize::new(total - wanted.len());
    progress(total - wanted.len(), total, "");
    let one = |claim: &&Claim| -> Result<Entry> {
        let entry = examine(claim, options.level);
        if let Some((path, file)) = &records {
            let fault = |source| file_error("write", path, source);
            let line = serde_json::to_string(&entry).map_err(|error| fault(error.into()))? + "\n";
            let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            file.append(&line).map_err(fault)?;
        }
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, total, claim.id);
        Ok(entry)
    };
    let threads = options.threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| LedgerError::Threads { threads, problem: error.to_string() })?;
    let new: Vec<Entry> =
        pool.install(|| wanted.par_iter().with_max_len(1).map(one).collect::<Result<_>>())?;
    known.extend(new.into_iter().map(|entry| (entry.id.clone(), entry)));
    Ok(claims.iter().filter_map(|claim| known.remove(claim.id)).collect())
}

/// The entries that a directory holds for all claims, in the order of [`claims`]: those of the full level if there
/// is any of it. What it lacks is an entry that was not run. The files are left as they are.
///
/// # Errors
/// [`LedgerError`] if the records cannot be read or understood, or if none is of this version.
///
/// # Examples
/// ```
/// use dpbounds_experiments::ledger::{LedgerOptions, Level, Verdict, claims, find, load, verify};
/// let directory = tempfile::tempdir()?;
/// let at = Some(directory.path().to_owned());
/// let options = LedgerOptions { level: Level::Quick, directory: at, resume: false, threads: Some(1) };
/// verify(&find(&["K-B.2"]).unwrap(), &options, &|_, _, _| ())?;
/// let entries = load(directory.path())?;
/// assert_eq!(entries.len(), claims().count());
/// assert_eq!(entries.iter().filter(|entry| entry.verdict == Verdict::Holds).count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load(directory: &Path) -> Result<Vec<Entry>> {
    let path = directory.join(RECORDS);
    let bytes = std::fs::read(&path).map_err(|source| file_error("read", &path, source))?;
    let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let entries = parse(&path, &bytes[..complete])?;
    let full = entries.iter().any(|entry| entry.level == Level::Full);
    let level = if full { Level::Full } else { Level::Quick };
    let mut known: HashMap<String, Entry> = entries
        .into_iter()
        .filter(|entry| entry.level == level)
        .map(|entry| (entry.id.clone(), entry))
        .collect();
    if known.is_empty() {
        return Err(LedgerError::Nothing { file: path.display().to_string() });
    }
    let missing = |claim: &Claim| Entry::not_run(claim, level, "not among the records");
    Ok(claims().map(|claim| known.remove(claim.id).unwrap_or_else(|| missing(claim))).collect())
}

/// Runs one claim.
pub(super) fn examine(claim: &Claim, level: Level) -> Entry {
    let start = Instant::now();
    let mut entry = Entry::not_run(claim, level, "");
    let run = match claim.check {
        Check::Run(run) => run,
        Check::FullOnly(run) if level == Level::Full => run,
        Check::FullOnly(_) => {
            entry.ran = "takes too long for the quick level; use --level full".to_owned();
            return entry;
        }
        Check::Never(why, experiments) => {
            entry.verdict = Verdict::NotCheckable;
            entry.ran = why.to_owned();
            if !experiments.is_empty() {
                entry.ran += &format!("; slopes are measured by: {}", experiments.join(", "));
            }
            return entry;
        }
        Check::Missing(why) => {
            entry.ran = why.to_owned();
            return entry;
        }
    };
    match run(level) {
        Ok(measured) => {
            entry.verdict = measured.verdict(claim.work == Work::Ours);
            entry.slack = measured.printed;
            entry.corrected_slack = measured.corrected;
            entry.ran = measured.ran;
        }
        Err(error) => entry.ran = format!("could not run: {error}"),
    }
    entry.seconds = start.elapsed().as_secs_f64();
    entry
}

/// The file of records, and its entries.
fn open(
    directory: &Path,
    path: &Path,
    options: &LedgerOptions,
) -> Result<(LinesFile, HashMap<String, Entry>)> {
    std::fs::create_dir_all(directory).map_err(|source| file_error("write", directory, source))?;
    if !options.resume && path.exists() {
        return Err(LedgerError::Occupied { file: path.display().to_string() });
    }
    let (file, bytes) = LinesFile::open(path).map_err(|error| match error {
        OpenError::Busy => LedgerError::Busy { directory: directory.display().to_string() },
        OpenError::Read(source) => file_error("read", path, source),
        OpenError::Write(source) => file_error("write", path, source),
    })?;
    let known = parse(path, &bytes)?
        .into_iter()
        .filter(|entry| entry.level == options.level)
        .map(|entry| (entry.id.clone(), entry))
        .collect();
    Ok((file, known))
}

/// The entries of complete lines, those of this version.
fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        entries.push(serde_json::from_slice(line).map_err(|error| LedgerError::Damaged {
            file: path.display().to_string(),
            line: index + 1,
            problem: error.to_string(),
        })?);
    }
    entries.retain(|entry| entry.version == env!("CARGO_PKG_VERSION"));
    Ok(entries)
}

fn file_error(action: &'static str, path: &Path, source: std::io::Error) -> LedgerError {
    LedgerError::File { action, file: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::super::claim::Method;
    use super::super::measured::{CheckError, Measured};
    use super::*;

    fn fails(_: Level) -> std::result::Result<Measured, CheckError> {
        Err(CheckError::Empty("no case met the hypotheses".into()))
    }

    /// What did not run never counts as holding, and only what is left to the full level is no failure.
    #[test]
    fn what_did_not_run_is_not_run() {
        let failing = Claim::kan("X", "a test").checked(Method::Identity, fails);
        let entry = examine(&failing, Level::Quick);
        assert_eq!(entry.verdict, Verdict::NotRun);
        assert!(entry.ran.contains("no case met") && !entry.is_expected(&failing), "{entry:?}");
        let deferred = failing.full_only();
        let entry = examine(&deferred, Level::Quick);
        assert!(entry.verdict == Verdict::NotRun && entry.is_expected(&deferred), "{entry:?}");
        assert!(!examine(&deferred, Level::Full).is_expected(&deferred));
        let missing = Claim::ours("Y", "a test").missing("no check is written");
        assert_eq!(examine(&missing, Level::Full).verdict, Verdict::NotRun);
    }

    /// A claim that came to no result is tried again; one that did is taken over.
    #[test]
    fn a_resumed_run_tries_again_what_did_not_run() {
        let claims = super::super::find(&["K-B.2", "K-F.11"]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = LedgerOptions {
            level: Level::Quick,
            directory: Some(folder.path().to_owned()),
            resume: true,
            threads: Some(1),
        };
        let first = verify(&claims, &options, &|_, _, _| ()).unwrap();
        let path = folder.path().join(RECORDS);
        let not_run = Entry { verdict: Verdict::NotRun, ..first[0].clone() };
        let kept = Entry { slack: Some(0.125), ..first[1].clone() };
        let line = |entry| serde_json::to_string(entry).unwrap();
        std::fs::write(&path, format!("{}\n{}\n", line(&not_run), line(&kept))).unwrap();
        let again = verify(&claims, &options, &|_, _, _| ()).unwrap();
        assert_eq!(again[0].verdict, Verdict::Holds);
        assert_eq!(again[1].slack, Some(0.125));
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3);
    }

    /// Every claim has an entry, of the most thorough level; a line that is being written does not count.
    #[test]
    fn records_are_loaded_for_all_claims() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(load(folder.path()), Err(LedgerError::File { .. })));
        let path = folder.path().join(RECORDS);
        let claim = super::super::find(&["K-F.11"]).unwrap()[0];
        let entry = |level, slack| Entry { slack: Some(slack), ..examine(claim, level) };
        let line = |entry: &Entry| serde_json::to_string(entry).unwrap() + "\n";
        let (quick, full) = (line(&entry(Level::Quick, 0.5)), line(&entry(Level::Full, 0.25)));
        std::fs::write(&path, quick.clone() + &full[..20]).unwrap();
        let loaded = load(folder.path()).unwrap();
        assert_eq!(loaded.len(), claims().count());
        let of = |entries: &[Entry]| entries.iter().find(|entry| entry.id == "K-F.11").cloned();
        assert_eq!(of(&loaded).unwrap().slack, Some(0.5));
        assert_eq!(
            loaded.iter().filter(|entry| entry.verdict == Verdict::NotRun).count(),
            loaded.len() - 1
        );
        std::fs::write(&path, full.clone() + &quick).unwrap();
        assert_eq!(of(&load(folder.path()).unwrap()).unwrap().slack, Some(0.25));
        std::fs::write(&path, quick.replace(env!("CARGO_PKG_VERSION"), "0.0.0")).unwrap();
        assert!(matches!(load(folder.path()), Err(LedgerError::Nothing { .. })));
        std::fs::write(&path, quick + "nonsense\n").unwrap();
        assert!(matches!(load(folder.path()), Err(LedgerError::Damaged { line: 2, .. })));
    }
}
