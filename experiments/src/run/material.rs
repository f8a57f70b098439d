//! What one run trains and is judged on.

use dpbounds_bounds::kan::certificates::Claim;

use super::error::{Result, RunError};
use super::grid::with_parameter;
use super::spec::Spec;
use crate::data::{DataError, Dataset, Request, is_synthetic, prepare, support};
use crate::train::Sampler;

/// Most numbers n d of a training sample whose atoms are written out as records.
const MOST_NUMBERS: u64 = 1 << 28;

/// The training records, and what the population is taken to be.
#[derive(Debug)]
pub(super) struct Data {
    /// Equal records may be counted.
    pub(super) sample: Dataset,
    /// Features and labels one record after the other, where batches are drawn from records that are counted.
    written: Option<(Vec<f64>, Vec<f64>)>,
    /// The distribution, or a held-out sample.
    pub(super) population: Option<Dataset>,
}

impl Data {
    pub(super) fn new(file: &str, request: &Request, spec: &Spec) -> Result<Self> {
        let measure = &spec.measure;
        let fault = |source: DataError| RunError::Data { file: file.to_owned(), source };
        let mut sample = prepare(request).map_err(fault)?;
        let mut population = support(request).map_err(fault)?;
        if population.is_none() && measure.held_out > 0 {
            if is_synthetic(request) {
                #[allow(clippy::cast_precision_loss)]
                let name = with_parameter(&request.name, "n", measure.held_out as f64);
                let held_out = Request { name, held_out: true, ..request.clone() };
                population = Some(prepare(&held_out).map_err(fault)?);
            } else {
                let (kept, held_out) =
                    sample.split(measure.held_out, request.seed).map_err(fault)?;
                (sample, population) = (kept, Some(held_out));
            }
        }
        if population.is_none() && measure.population {
            return Err(RunError::Value {
                file: file.to_owned(),
                key: "measure.population".into(),
                value: "true".into(),
                allowed: "atoms, or measure.held_out = N for a held-out sample".into(),
            });
        }
        let claims = spec.certificate.iter().flat_map(|wanted| &wanted.claims);
        let known = population.as_ref().is_some_and(|set| set.multiplicities.is_some());
        if claims.into_iter().any(|claim| *claim == Claim::Population) && !known {
            return Err(RunError::Value {
                file: file.to_owned(),
                key: "certificate.claims".into(),
                value: "population".into(),
                allowed: "probability or expectation for a sample: a population certificate needs the support of the \
                          distribution (atoms)"
                    .into(),
            });
        }
        let counted = sample.multiplicities.is_some();
        // In a full batch a record that is counted is as good as its copies.
        let written = (counted && spec.algorithm.sampler != Sampler::Full)
            .then(|| written_out(file, &sample))
            .transpose()?;
        Ok(Self { sample, written, population })
    }

    /// The number of records n.
    pub(super) fn records(&self) -> usize {
        usize::try_from(self.sample.records()).unwrap_or(usize::MAX)
    }

    /// Features and labels of what batches are drawn from.
    pub(super) fn examples(&self) -> (&[f64], &[f64]) {
        match &self.written {
            Some((features, labels)) => (features, labels),
            None => (&self.sample.features, &self.sample.labels),
        }
    }

    /// How often each of [`Self::examples`] counts; once each if there are none.
    pub(super) fn copies(&self) -> Option<&Vec<u64>> {
        self.sample.multiplicities.as_ref().filter(|_| self.written.is_none())
    }

    /// Whether equal records are counted, so that a sum over the sample is short.
    pub(super) fn is_written_out(&self) -> bool {
        self.written.is_some()
    }

    /// The distribution, if it has finitely many points and is known.
    pub(super) fn support(&self) -> Option<&Dataset> {
        self.population.as_ref().filter(|set| set.multiplicities.is_some())
    }
}

fn written_out(file: &str, sample: &Dataset) -> Result<(Vec<f64>, Vec<f64>)> {
    let records = sample.records();
    if records.saturating_mul(sample.dimension as u64) > MOST_NUMBERS {
        return Err(RunError::Value {
            file: file.to_owned(),
            key: "n".into(),
            value: records.to_string(),
            allowed: "at most 2^28 numbers n d in training with batches; use fewer records, or the sampler full"
                .into(),
        });
    }
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    for (row, count) in sample.multiplicities.iter().flatten().enumerate() {
        for _ in 0..*count {
            features.extend_from_slice(sample.row(row));
            labels.push(sample.labels[row]);
        }
    }
    Ok((features, labels))
}
