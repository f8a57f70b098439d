//! The grid points of an experiment, checked before anything runs.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use dpbounds_bounds::kan::{Knots, Network, SplineBasis, initialise};
use dpbounds_bounds::privacy::{self, Effort, Target};
use dpbounds_bounds::{BoundError, Shown};

use super::certificate::Certified;
use super::error::{Result, RunError};
use super::material::Data;
use super::spec::{Axis, Model, Privacy, Spec};
use crate::data::{Request, is_drawn, is_synthetic, sha256};
use crate::train::Settings;

/// An experiment that is ready to run.
#[derive(Debug)]
pub struct Plan {
    pub(super) spec: Spec,
    pub(super) hash: String,
    pub(super) points: Vec<Point>,
    pub(super) file: String,
}

/// One combination of the swept parameters.
#[derive(Debug, Clone)]
pub struct Point {
    /// The swept values.
    pub values: BTreeMap<Axis, f64>,
    pub(super) request: Request,
    pub(super) model: Model,
    /// With seed 0.
    pub(super) settings: Settings,
    pub(super) records: usize,
    /// Shared by the seeds; drawn by every seed if there is none.
    pub(super) data: Option<Arc<Data>>,
    /// The certificates, once they are known, if all seeds share them.
    pub(super) certified: OnceLock<Vec<Certified>>,
}

impl Plan {
    /// Prepares the data, calibrates the noise and checks every point; `file` is for messages.
    ///
    /// # Errors
    /// [`RunError`] naming the file, the key or the point, the value and what to do.
    pub fn new(file: &str, spec: &Spec) -> Result<Self> {
        let mut spec = spec.clone();
        spec.quick = None;
        let seeds = spec.seeds.all();
        let mut shared: Vec<(Request, Arc<Data>)> = Vec::new();
        let mut checksums = String::new();
        let mut points = Vec::new();
        for values in spec.points() {
            let (request, model, mut settings) = at(file, &spec, &values)?;
            let wanted = seeded_request(&request, &spec, seeds[0]);
            let known = shared.iter().find(|(other, _)| *other == wanted);
            let data = if let Some((_, data)) = known {
                Arc::clone(data)
            } else {
                let data = Arc::new(Data::new(file, &wanted, &spec)?);
                if !is_drawn(&request) {
                    // Files may change between two runs of the same experiment.
                    checksums.push_str(&data.sample.checksum());
                }
                shared.push((wanted, Arc::clone(&data)));
                data
            };
            let records = data.records();
            if spec.algorithm.batch.is_none() && !values.contains_key(&Axis::Batch) {
                settings.batch = records;
            }
            let (data, certified) = (Some(data), OnceLock::new());
            let mut point = Point { values, request, model, settings, records, data, certified };
            point.check(file, &spec)?;
            if spec.fresh_data {
                point.data = None;
            }
            points.push(point);
        }
        let text = serde_json::to_string(&spec).unwrap_or_default();
        let hash = sha256(
            format!("dpbounds experiment 1\n{}\n{text}\n{checksums}", env!("CARGO_PKG_VERSION"))
                .as_bytes(),
        );
        Ok(Self { spec, hash: hash[..16].to_owned(), points, file: file.to_owned() })
    }

    /// The experiment, in the form that runs.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The grid points.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The number of runs: points times seeds.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.points.len() * self.spec.seeds.all().len()
    }

    /// The data of a run.
    pub(super) fn data(&self, point: &Point, seed: u64) -> Result<Arc<Data>> {
        if let Some(data) = &point.data {
            return Ok(Arc::clone(data));
        }
        let request = seeded_request(&point.request, &self.spec, seed);
        Data::new(&self.file, &request, &self.spec).map(Arc::new)
    }
}

impl Point {
    /// The point in words, for messages.
    #[must_use]
    pub fn words(&self) -> String {
        if self.values.is_empty() {
            return "the only point".to_owned();
        }
        let words: Vec<_> =
            self.values.iter().map(|(axis, value)| format!("{axis} = {value}")).collect();
        words.join(", ")
    }

    /// The settings of Algorithm 1, with seed 0.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Everything that could fail later, without training.
    fn check(&mut self, file: &str, spec: &Spec) -> Result<()> {
        let train = |point: &Self, source| RunError::Train {
            file: file.to_owned(),
            point: point.words(),
            source,
        };
        let bound = |point: &Self, source| RunError::Bound {
            file: file.to_owned(),
            point: point.words(),
            source,
        };
        let basis = basis(&self.model).map_err(|source| bound(self, source))?;
        // A width that is odd or too large is found without making the weights of every point twice.
        let (width, inputs) =
            (self.model.width, self.data.as_ref().map_or(1, |data| data.sample.dimension));
        if width.saturating_mul(inputs).saturating_mul(basis.size()) > 1 << 30
            || width % 2 == 1
            || width == 0
        {
            initialise(
                basis,
                self.model.activation.into(),
                inputs,
                width,
                self.model.init.into(),
                0,
            )
            .map_err(|source| bound(self, source))?;
        }
        self.settings.check(self.records).map_err(|source| train(self, source))?;
        if self.settings.steps == 0 {
            return Err(RunError::Value {
                file: file.to_owned(),
                key: "steps".into(),
                value: "0".into(),
                allowed: "1 or more: T weights W_0, .., W_{T-1} are averaged".into(),
            });
        }
        if let Some(privacy) = &spec.privacy {
            let epsilon = self.values.get(&Axis::Epsilon).copied().unwrap_or(privacy.epsilon);
            let kappa = calibrate(privacy, epsilon, self.records, &self.settings);
            self.settings.kappa = kappa.map_err(|source| bound(self, source))?;
            self.settings.check(self.records).map_err(|source| train(self, source))?;
        }
        Ok(())
    }

    /// The network and its initial weights.
    pub(super) fn network(
        &self,
        inputs: usize,
        offset: u64,
    ) -> std::result::Result<(Network, Vec<f64>), BoundError> {
        let Model { width, seed, activation, init, .. } = self.model;
        let seed = seed.wrapping_add(offset);
        initialise(basis(&self.model)?, activation.into(), inputs, width, init.into(), seed)
    }
}

fn basis(model: &Model) -> std::result::Result<SplineBasis, BoundError> {
    if model.degree > 7 {
        #[allow(clippy::cast_precision_loss)] // for a message
        return Err(BoundError::OutOfRange {
            parameter: "degree",
            value: Shown(model.degree as f64),
            allowed: "1 to 7 in training",
            remedy: "use 3 for cubic splines",
        });
    }
    SplineBasis::new(model.degree, model.size, Knots::Clamped)
}

/// The parts of the experiment with the values of a point put in.
fn at(file: &str, spec: &Spec, values: &BTreeMap<Axis, f64>) -> Result<(Request, Model, Settings)> {
    let (mut request, mut model) = (spec.data.clone(), spec.model.clone());
    let algorithm = &spec.algorithm;
    let mut settings = Settings {
        sampler: algorithm.sampler,
        batch: algorithm.batch.unwrap_or(1),
        steps: algorithm.steps,
        step_size: algorithm.step_size,
        clip: algorithm.clip,
        kappa: algorithm.kappa,
        lambda: algorithm.lambda,
        radius: algorithm.radius,
        seed: 0,
    };
    for (axis, value) in values {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked: whole
        let count = *value as u64;
        let size = usize::try_from(count).unwrap_or(usize::MAX);
        match axis {
            Axis::N | Axis::Dimension | Axis::Gamma | Axis::Separation => {
                if !is_synthetic(&request) {
                    return Err(RunError::Value {
                        file: file.to_owned(),
                        key: format!("sweep.{axis}"),
                        value: value.to_string(),
                        allowed: "a sweep of n, dimension, gamma and separation for synthetic families only"
                            .into(),
                    });
                }
                let key = if *axis == Axis::Dimension { "d" } else { axis.name() };
                request.name = with_parameter(&request.name, key, *value);
            }
            Axis::Width => model.width = size,
            Axis::Batch => settings.batch = size,
            Axis::Steps => settings.steps = count,
            Axis::StepSize => settings.step_size = *value,
            Axis::Kappa => settings.kappa = *value,
            Axis::Lambda => settings.lambda = *value,
            Axis::Epsilon | Axis::OneMinusLambda | Axis::NtkMargin => {}
        }
    }
    if spec.privacy.is_some() && algorithm.kappa != 0.0 {
        return Err(RunError::Value {
            file: file.to_owned(),
            key: "algorithm.kappa".into(),
            value: algorithm.kappa.to_string(),
            allowed: "kappa or [privacy], not both".into(),
        });
    }
    Ok((request, model, settings))
}

/// `family:a=1,b=2` with one parameter replaced or added.
pub(super) fn with_parameter(name: &str, key: &str, value: f64) -> String {
    let (family, rest) = name.split_once(':').unwrap_or((name, ""));
    let is_other = |item: &&str| item.split('=').next().map(str::trim) != Some(key);
    let mut items: Vec<String> = rest
        .split(',')
        .filter(|item| !item.trim().is_empty())
        .filter(is_other)
        .map(str::to_owned)
        .collect();
    items.push(format!("{key}={value}"));
    format!("{family}:{}", items.join(","))
}

fn seeded_request(request: &Request, spec: &Spec, seed: u64) -> Request {
    let offset = if spec.fresh_data { seed } else { 0 };
    Request { seed: request.seed.wrapping_add(offset), ..request.clone() }
}

/// κ for a target. Without a time budget only the first, coarse search runs: it suffices, and the
/// result does not depend on the speed of the machine.
fn calibrate(
    target: &Privacy,
    epsilon: f64,
    records: usize,
    settings: &Settings,
) -> std::result::Result<f64, BoundError> {
    let plan = privacy::Plan {
        n: records as u64,
        batch: settings.batch as u64,
        steps: settings.steps.saturating_sub(1),
        lambda: settings.lambda,
        sampler: settings.sampler,
        relation: target.relation.parse()?,
    };
    // No clock: the noise of an experiment must not depend on the machine's speed.
    let effort = Effort { method: target.method.parse()?, ..Effort::without_clock() };
    let bound = privacy::calibrate(&plan, Target { epsilon, delta: target.delta }, &effort)?;
    bound.value.ok_or_else(|| BoundError::Input {
        parameter: "privacy.method".into(),
        problem: format!(
            "{} gives no proven noise for this point; try another method or lambda",
            target.method
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_families_are_replaced_or_added() {
        assert_eq!(
            with_parameter("atoms:A4,n=8,draw=independent", "n", 16.0),
            "atoms:A4,draw=independent,n=16"
        );
        assert_eq!(with_parameter("xor", "d", 3.0), "xor:d=3");
    }
}
