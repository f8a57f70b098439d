//! A certificate on disk: a JSON file with everything that it is computed from, and the weights beside it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::certificate::{Certified, Ingredients};
use super::error::{CertifyError, Result};
use super::run::Run;
use super::sample::{Sample, Source};
use super::settings::Settings;
use crate::data::sha256;
use crate::whole;

/// Version of the files.
const SCHEMA: u32 = 1;

/// A certificate. Nothing in it depends on test records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Version of the file.
    pub schema: u32,
    /// Version of the program.
    pub version: String,
    /// The command that makes the file again.
    pub command: String,
    /// Instructions of the processor that counted the errors.
    pub instruction_set: String,
    /// Where the data come from.
    pub source: Source,
    /// What they are.
    pub sample: Facts,
    /// Seed of the initial weights, the noise, the batches and the draws.
    pub seed: u64,
    /// What the certificate was made with.
    pub settings: Settings,
    /// Number of the private model that was chosen, from 0.
    pub chosen: usize,
    /// The spread s that was chosen.
    pub spread: f64,
    /// What the bounds are computed from.
    pub ingredients: Ingredients,
    /// The bounds.
    pub certified: Certified,
    /// The weights.
    pub weights: WeightsFile,
}

/// The sample that is certified on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// What the data are.
    pub description: String,
    /// Records n.
    pub records: u64,
    /// Features d.
    pub features: u64,
    /// Records that were used up to read the scaling off them.
    pub scaling_records: u64,
    /// SHA-256 of the sample.
    pub checksum: String,
}

/// Means of prior and posterior, and the deviations of the posterior where they are not all the spread: numbers of
/// four bytes, the lowest first, one array after the other; row-major `m x dp`, or layer after layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightsFile {
    /// Name of the file, in the directory of the certificate.
    pub file: String,
    /// Numbers in each array.
    pub parameters: u64,
    /// Arrays: 2, or 3 with deviations.
    pub arrays: u64,
    /// SHA-256 of the file.
    pub checksum: String,
}

impl Document {
    /// Writes a finished run: the weights, then the certificate.
    pub(super) fn write(
        directory: &Path,
        name: &str,
        (sample, settings, seed): (&Sample, &Settings, u64),
        run: &Run,
        command: &str,
    ) -> Result<()> {
        let file = format!("{name}.weights");
        let numbers = run.prior.iter().chain(&run.posterior).chain(&run.deviations);
        let bytes: Vec<u8> = numbers.flat_map(|weight| weight.to_le_bytes()).collect();
        let path = directory.join(&file);
        whole::write(&path, &bytes).map_err(|source| file_error("write", &path, source))?;
        let document = Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_owned(),
            instruction_set: run.instruction_set.clone(),
            source: sample.source.clone(),
            sample: Facts {
                description: sample.description.clone(),
                records: sample.records() as u64,
                features: sample.train.inputs() as u64,
                scaling_records: sample.scaling_records as u64,
                checksum: sample.checksum.clone(),
            },
            seed,
            settings: settings.clone(),
            chosen: run.chosen,
            spread: run.spread,
            ingredients: run.ingredients.clone(),
            certified: run.certified.clone(),
            weights: WeightsFile {
                file,
                parameters: run.prior.len() as u64,
                arrays: if run.deviations.is_empty() { 2 } else { 3 },
                checksum: sha256(&bytes),
            },
        };
        let path = directory.join(format!("{name}.json"));
        let fault = |source| file_error("write", &path, source);
        let text = serde_json::to_string_pretty(&document).map_err(|error| fault(error.into()))?;
        whole::write(&path, (text + "\n").as_bytes()).map_err(fault)
    }

    /// Reads a certificate.
    ///
    /// # Errors
    /// [`CertifyError`] if there is no file, or none that this program wrote.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| file_error("read", path, source))?;
        let damaged = |problem| CertifyError::Damaged { file: path.display().to_string(), problem };
        let document: Self = serde_json::from_slice(&bytes).map_err(|error| {
            damaged(format!(
                "{error}; give a file such as poisson-seed0.json that dpbounds certify wrote"
            ))
        })?;
        if document.schema != SCHEMA {
            let problem = format!(
                "its schema is {}, this program knows {SCHEMA}; use version {} of dpbounds",
                document.schema, document.version
            );
            return Err(damaged(problem));
        }
        Ok(document)
    }

    /// The arrays of weights beside the certificate at `path`, with the checksum of their file.
    pub(super) fn read_weights(&self, path: &Path) -> Result<(Vec<Vec<f32>>, String)> {
        let file = path.with_file_name(&self.weights.file);
        let bytes = std::fs::read(&file).map_err(|source| file_error("read", &file, source))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        let WeightsFile { parameters, arrays, .. } = self.weights;
        let expected = parameters.checked_mul(arrays);
        let fits = rest.is_empty() && expected == Some(numbers.len() as u64);
        if !fits || parameters == 0 || !(2..=3).contains(&arrays) {
            return Err(CertifyError::Damaged {
                file: file.display().to_string(),
                problem: format!(
                    "{} bytes, but {arrays} times {parameters} numbers of four bytes belong to the certificate",
                    bytes.len()
                ),
            });
        }
        let weights: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let each = weights.len() / if arrays == 2 { 2 } else { 3 };
        Ok((weights.chunks_exact(each).map(<[f32]>::to_vec).collect(), sha256(&bytes)))
    }
}

pub(super) fn file_error(
    action: &'static str,
    path: &Path,
    source: std::io::Error,
) -> CertifyError {
    CertifyError::File { action, file: path.display().to_string(), source }
}
