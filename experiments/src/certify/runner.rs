//! Certificates of several methods and seeds, spread over threads and resumed after any interruption.
//!
//! A directory gets `METHOD-seedN.json` and `METHOD-seedN.weights` for every certificate, and a line of
//! `certificates.jsonl` once both are there. The files depend on the settings and the data only, not on the number of
//! threads, nor on interruptions.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::certificate::{Certified, Ingredients};
use super::document::{Document, file_error};
use super::error::{CertifyError, Result};
use super::run::{Tested, run};
use super::sample::Sample;
use super::settings::{Method, Settings};
use crate::data::sha256;
use crate::lines::{LinesFile, OpenError};
use crate::run::Options;
use crate::whole;

/// Name of the file of finished certificates.
pub const RECORDS: &str = "certificates.jsonl";

/// A finished certificate: a line of `certificates.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Names settings, data, version and seed: equal for equal results.
    pub key: String,
    /// Where the mean of the prior comes from.
    pub method: Method,
    /// The seed.
    pub seed: u64,
    /// Name of the certificate's file.
    pub file: String,
    /// What the bounds are computed from.
    pub ingredients: Ingredients,
    /// The bounds.
    pub certified: Certified,
    /// The spread s that was chosen.
    pub spread: f64,
    /// Share of the gradients that were clipped while the private model was learned.
    pub clipped: Option<f64>,
    /// What the test records say; no part of the certificate.
    pub test: Tested,
}

/// Makes the certificates that are not finished yet, one for every setting and seed `0..seeds`, and gives the records
/// of all in this order. `progress` is told the number of finished ones and of all: once at the start, then after each,
/// from any thread.
///
/// # Errors
/// [`CertifyError`]; finished certificates are kept and `resume` goes on from them.
pub fn certify(
    sample: &Sample,
    settings: &[Settings],
    seeds: u64,
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Record>> {
    settings.iter().try_for_each(|one| one.check(sample.records()))?;
    let directory = &options.directory;
    std::fs::create_dir_all(directory).map_err(|source| file_error("write", directory, source))?;
    let path = directory.join(RECORDS);
    let (file, known) = open(&path, options)?;
    whole::remove_leftovers(directory);
    let jobs: Vec<(&Settings, u64)> =
        settings.iter().flat_map(|one| (0..seeds).map(move |seed| (one, seed))).collect();
    let mut finished = HashMap::new();
    for (settings, seed) in &jobs {
        let name = name(settings.method, *seed);
        let Some(record) = known.get(&name) else { continue };
        if record.key != key(sample, settings, *seed)? {
            return Err(CertifyError::Occupied {
                file: directory.join(&record.file).display().to_string(),
                problem: "was made with other settings, data or version; use another directory",
            });
        }
        if directory.join(&record.file).is_file() {
            finished.insert(name, record.clone());
        }
    }
    let wanted: Vec<_> = jobs
        .iter()
        .filter(|(one, seed)| !finished.contains_key(&name(one.method, *seed)))
        .collect();
    let done = AtomicUsize::new(finished.len());
    progress(finished.len(), jobs.len());
    let lines = Mutex::new(file);
    let one = |(settings, seed): &&(&Settings, u64)| -> Result<Record> {
        let record = make(sample, settings, *seed, options)?;
        let fault = |source| file_error("write", &path, source);
        let line = serde_json::to_string(&record).map_err(|error| fault(error.into()))? + "\n";
        let mut lines = lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        lines.append(&line).map_err(fault)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        Ok(record)
    };
    let threads = options.threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| CertifyError::Threads { threads, problem: error.to_string() })?;
    let new: Vec<Record> =
        pool.install(|| wanted.par_iter().with_max_len(1).map(one).collect::<Result<_>>())?;
    finished.extend(new.into_iter().map(|record| (name(record.method, record.seed), record)));
    Ok(jobs.iter().filter_map(|(one, seed)| finished.remove(&name(one.method, *seed))).collect())
}

fn name(method: Method, seed: u64) -> String {
    format!("{method}-seed{seed}")
}

/// Names everything that the files depend on.
fn key(sample: &Sample, settings: &Settings, seed: u64) -> Result<String> {
    let fault = |error: serde_json::Error| CertifyError::Damaged {
        file: RECORDS.to_owned(),
        problem: error.to_string(),
    };
    let text = [
        env!("CARGO_PKG_VERSION"),
        &serde_json::to_string(settings).map_err(fault)?,
        &serde_json::to_string(&sample.source).map_err(fault)?,
        &sample.checksum,
        sample.test_checksum.as_deref().unwrap_or_default(),
        &seed.to_string(),
    ]
    .join("\n");
    Ok(sha256(text.as_bytes())[..16].to_owned())
}

fn make(sample: &Sample, settings: &Settings, seed: u64, options: &Options) -> Result<Record> {
    let result = run(settings, sample, seed)?;
    let name = name(settings.method, seed);
    let made_with = (sample, settings, seed);
    Document::write(&options.directory, &name, made_with, &result, &options.command)?;
    Ok(Record {
        key: key(sample, settings, seed)?,
        method: settings.method,
        seed,
        file: format!("{name}.json"),
        ingredients: result.ingredients,
        certified: result.certified,
        spread: result.spread,
        clipped: result.clipped,
        test: result.test,
    })
}

/// The file of records, and those in it by name.
fn open(path: &Path, options: &Options) -> Result<(LinesFile, HashMap<String, Record>)> {
    let file = path.display().to_string();
    if !options.resume && path.exists() {
        let problem = "exists already; use --resume to go on, or another directory";
        return Err(CertifyError::Occupied { file, problem });
    }
    let (lines, bytes) = LinesFile::open(path).map_err(|error| match error {
        OpenError::Busy => CertifyError::Occupied {
            file: file.clone(),
            problem: "is in use by another process; wait for it, or use another directory",
        },
        OpenError::Read(source) => file_error("read", path, source),
        OpenError::Write(source) => file_error("write", path, source),
    })?;
    let mut known = HashMap::new();
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let record: Record =
            serde_json::from_slice(line).map_err(|error| CertifyError::Damaged {
                file: file.clone(),
                problem: format!("line {}: {error}; remove the file and run again", index + 1),
            })?;
        known.insert(name(record.method, record.seed), record);
    }
    Ok((lines, known))
}
