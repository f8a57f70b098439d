//! The lines that are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::certificate::Certified;
use super::measure::Outcome;
use super::spec::{Axis, Spec};
use crate::train::Settings;

/// Version of the files.
pub(super) const SCHEMA: u32 = 1;

/// What a directory holds: `experiment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the files.
    pub schema: u32,
    /// Version of the program.
    pub version: String,
    /// The command that makes the files again (in some directory, with any number of threads).
    pub command: String,
    /// Names the experiment with its data and the version: equal for equal results.
    pub hash: String,
    /// The experiment.
    pub spec: Spec,
}

/// One run: a line of `runs.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Hash of the experiment, number of the point and seed: different for different runs.
    pub key: String,
    /// Name of the experiment.
    pub experiment: String,
    /// Version of the program.
    pub version: String,
    /// The command that makes the file again.
    pub command: String,
    /// Number of the grid point, from 0.
    pub point: usize,
    /// The seed.
    pub seed: u64,
    /// The swept values.
    pub values: BTreeMap<Axis, f64>,
    /// Records n.
    pub n: usize,
    /// Features d.
    pub dimension: usize,
    /// Width m.
    pub width: usize,
    /// What Algorithm 1 was given, with the κ that was calibrated.
    pub settings: Settings,
    /// What was proven before the first step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<Certified>,
    /// What was measured; none if the run diverged.
    pub outcome: Option<Outcome>,
}

/// `hash-point-seed`.
pub(super) fn key(hash: &str, point: usize, seed: u64) -> String {
    format!("{hash}-{point}-{seed}")
}
