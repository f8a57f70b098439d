//! From a text to an experiment whose parts fit each other.

use std::collections::BTreeMap;
use std::fmt;

use dpbounds_bounds::kan::certificates::Claim;

use super::certificate::{CertificateSpec, RouteName};
use super::curve::MOST_POINTS;
use super::error::{Result, RunError};
use super::spec::{Axis, Dtype, Measure, Response, SlopeSpec, Spec};
use crate::train::Sampler;

impl Spec {
    /// Reads a TOML text; `file` is for messages.
    ///
    /// # Errors
    /// [`RunError::Syntax`] and [`RunError::Unknown`] with line and column, [`RunError::Value`].
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let spec: Self = toml::from_str(text).map_err(|error| explain(file, text, &error))?;
        spec.check(file)?;
        spec.quick().check(file)?;
        Ok(spec)
    }

    /// The quick form.
    #[must_use]
    pub fn quick(&self) -> Self {
        let mut spec = self.clone();
        if let Some(quick) = spec.quick.take() {
            spec.seeds = quick.seeds.unwrap_or(spec.seeds);
            spec.algorithm.steps = quick.steps.unwrap_or(spec.algorithm.steps);
            spec.model.width = quick.width.unwrap_or(spec.model.width);
            spec.joint = quick.joint.unwrap_or(spec.joint);
            spec.sweep.extend(quick.sweep);
        }
        spec
    }

    /// The combinations of swept values, in order: the last axis varies fastest.
    #[must_use]
    pub fn points(&self) -> Vec<BTreeMap<Axis, f64>> {
        let mut points =
            if self.joint.is_empty() { vec![BTreeMap::new()] } else { self.joint.clone() };
        for (axis, values) in &self.sweep {
            let with = |point: &BTreeMap<Axis, f64>, value: f64| {
                let mut point = point.clone();
                point.insert(*axis, value);
                point
            };
            points = points
                .iter()
                .flat_map(|point| values.iter().map(move |value| with(point, *value)))
                .collect();
        }
        points
    }

    /// Everything that needs no data.
    fn check(&self, file: &str) -> Result<()> {
        let refuse = |key: &str, value: String, allowed: &str| {
            let (file, key, allowed) = (file.to_owned(), key.to_owned(), allowed.to_owned());
            Err(RunError::Value { file, key, value, allowed })
        };
        let seeds = self.seeds.all();
        if seeds.is_empty() || seeds.windows(2).any(|pair| pair[0] == pair[1]) {
            return refuse("seeds", format!("{seeds:?}"), "one or more, each once");
        }
        let rows = self.joint.iter().flatten().map(|(axis, value)| (axis, *value));
        let lists = self.sweep.iter().flat_map(|(axis, all)| all.iter().map(move |x| (axis, *x)));
        for (axis, value) in rows.chain(lists) {
            let key = format!("sweep.{axis}");
            if axis.swept() != *axis {
                let allowed = format!("sweeping {} instead", axis.swept());
                return refuse(&key, value.to_string(), &allowed);
            }
            let whole = value.fract() == 0.0 && (1.0..=9_007_199_254_740_992.0).contains(&value);
            if axis.is_count() && !whole {
                return refuse(&key, value.to_string(), "whole numbers from 1 to 2^53");
            }
            if !value.is_finite() {
                return refuse(&key, value.to_string(), "finite numbers");
            }
            if *axis == Axis::Epsilon && self.privacy.is_none() {
                return refuse(
                    &key,
                    value.to_string(),
                    "a sweep of epsilon with a table [privacy]",
                );
            }
            if *axis == Axis::Kappa && self.privacy.is_some() {
                return refuse(&key, value.to_string(), "kappa or [privacy], not both");
            }
        }
        if let Some((axis, _)) = self.sweep.iter().find(|(_, values)| values.is_empty()) {
            return refuse(&format!("sweep.{axis}"), "[]".into(), "one or more values");
        }
        let same = |row: &BTreeMap<Axis, f64>| row.keys().eq(self.joint[0].keys());
        if !self.joint.iter().all(same) {
            return refuse(
                "joint",
                "rows with different keys".into(),
                "the same keys in every row",
            );
        }
        let twice =
            |row: &BTreeMap<Axis, f64>| row.keys().any(|axis| self.sweep.contains_key(axis));
        if self.joint.iter().any(twice) {
            return refuse("joint", "a key of [sweep]".into(), "each parameter in one of the two");
        }
        if self.measure.every == 0 && self.algorithm.sampler == Sampler::Stream {
            let allowed = "1 or more for the sampler stream: given the past, its batches are drawn from \
                           the records not used yet, so their losses are no unbiased estimate";
            return refuse("measure.every", "0".into(), allowed);
        }
        if self.measure.every == 0 && (self.measure.population || self.measure.excess) {
            let allowed = "1 or more with population or excess, which compare exact risks";
            return refuse("measure.every", "0".into(), allowed);
        }
        self.check_curve(file)?;
        self.check_certificate(file)?;
        if let Some(anchor) = self.measure.anchor.filter(|_| self.measure.every > 0) {
            let allowed = "an anchor with every = 0 only: other averages are exact";
            return refuse("measure.anchor", anchor.to_string(), allowed);
        }
        if self.measure.mirror && !self.measure.excess {
            return refuse("measure.mirror", "true".into(), "this with measure.excess = true");
        }
        self.slope.iter().try_for_each(|slope| self.check_slope(file, slope))
    }

    fn check_certificate(&self, file: &str) -> Result<()> {
        let Some(wanted) = &self.certificate else { return Ok(()) };
        let refuse = |key: &str, value: String, allowed: &str| {
            let (file, key, allowed) = (file.to_owned(), key.to_owned(), allowed.to_owned());
            Err(RunError::Value { file, key, value, allowed })
        };
        let mut claims = wanted.claims.clone();
        claims.sort_unstable();
        if claims.is_empty() || claims.windows(2).any(|pair| pair[0] == pair[1]) {
            let value = format!("{:?}", wanted.claims);
            return refuse("certificate.claims", value, "one or more, each once");
        }
        if let Some((key, value, allowed)) = wanted.out_of_range() {
            return refuse(&format!("certificate.{key}"), value, allowed);
        }
        match self.algorithm.sampler {
            Sampler::Poisson if matches!(wanted.route, RouteName::P | RouteName::D) => {
                let allowed = "\"auto\" or \"s\" with the sampler poisson, or the sampler fixed: the proofs of P and D \
                               need batches of a fixed size";
                return refuse(
                    "certificate.route",
                    format!("{:?}", wanted.route).to_lowercase(),
                    allowed,
                );
            }
            Sampler::Stream => {
                let allowed = "full, fixed or poisson with [certificate]: every proof needs batches that are \
                               independent of the weights they are used at";
                return refuse("algorithm.sampler", "\"stream\"".into(), allowed);
            }
            _ => {}
        }
        if self.model.dtype == Dtype::F32 {
            let allowed = "\"f64\" with [certificate]: the theorems are about exact arithmetic, and single \
                           precision is only measured";
            return refuse("model.dtype", "\"f32\"".into(), allowed);
        }
        if self.measure.every != 1 {
            let allowed = "1 with [certificate], which bounds the average over every step";
            return refuse("measure.every", self.measure.every.to_string(), allowed);
        }
        if claims.contains(&Claim::Population) && !self.measure.population {
            let allowed = "true with the claim \"population\", which needs data whose distribution has finitely \
                           many points (atoms)";
            return refuse("measure.population", "false".into(), allowed);
        }
        if !self.slope.is_empty() {
            let allowed = "an experiment of its own: one with [certificate] has a verdict already";
            return refuse("slope", format!("{} slopes", self.slope.len()), allowed);
        }
        Ok(())
    }

    fn check_curve(&self, file: &str) -> Result<()> {
        let every = self.measure.curve;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked: whole
        let horizon = |point: &BTreeMap<Axis, f64>| {
            point.get(&Axis::Steps).map_or(self.algorithm.steps, |steps| *steps as u64)
        };
        let last_steps = self.points().into_iter().map(|point| horizon(&point).saturating_sub(1));
        for last in last_steps.filter(|_| every > 0) {
            let least = last.div_ceil(MOST_POINTS).max(1);
            if every > last || every < least {
                let allowed = match last {
                    0 => "0, for no curve: with T = 1 there is no step".to_owned(),
                    _ => format!(
                        "0, for no curve, or {least} to {last} at T = {}: two to {MOST_POINTS} points",
                        last + 1
                    ),
                };
                return Err(RunError::Value {
                    file: file.to_owned(),
                    key: "measure.curve".into(),
                    value: every.to_string(),
                    allowed,
                });
            }
        }
        Ok(())
    }

    fn check_slope(&self, file: &str, slope: &SlopeSpec) -> Result<()> {
        let refuse = |key: &str, value: &dyn fmt::Display, allowed: &str| {
            let (file, key, allowed) = (file.to_owned(), key.to_owned(), allowed.to_owned());
            Err(RunError::Value { file, key, value: value.to_string(), allowed })
        };
        let points = self.points();
        let swept = |axis: Axis| points.iter().any(|point| point.contains_key(&axis.swept()));
        if !swept(slope.axis) {
            return refuse("slope.axis", &slope.axis, "a swept parameter");
        }
        if let Some((axis, _)) = slope.at.iter().find(|(axis, _)| !swept(**axis)) {
            return refuse("slope.at", axis, "swept parameters");
        }
        if let Some(axis) = slope.optimise {
            let other = axis != slope.axis.swept() && !slope.at.contains_key(&axis);
            if !(swept(axis) && other && axis.swept() == axis) {
                let allowed = "a swept parameter that is neither the axis nor in at";
                return refuse("slope.optimise", &axis, allowed);
            }
            if !slope.response.is_risk() {
                let allowed = "averaged-risk, final-risk or population-risk with optimise";
                return refuse("slope.response", &slope.response.name(), allowed);
            }
        }
        if slope.via.is_some() && (slope.axis != Axis::Epsilon || slope.optimise.is_some()) {
            let allowed = "via with the axis epsilon and without optimise";
            return refuse("slope.axis", &slope.axis, allowed);
        }
        let Measure { population, excess, noise, margin, .. } = self.measure;
        if slope.axis == Axis::NtkMargin && !margin {
            return refuse("slope.axis", &slope.axis, "this with measure.margin = true");
        }
        let needed = match slope.response {
            Response::PopulationRisk | Response::GeneralisationGap => ("population", population),
            Response::NoiseExcess => ("excess", excess),
            Response::CumulativeNoise => ("noise", noise),
            _ => ("", true),
        };
        if !needed.1 {
            let allowed = format!("this with measure.{} = true", needed.0);
            return refuse("slope.response", &slope.response.name(), &allowed);
        }
        match (slope.predicted, slope.allowed) {
            (Some(_), None) if slope.bound.is_some() => Ok(()),
            (predicted, allowed) if slope.bound.is_some() => {
                let value =
                    format!("bound with predicted = {predicted:?} and allowed = {allowed:?}");
                refuse("slope.bound", &value, "bound with predicted and without allowed")
            }
            (None, None) => Ok(()),
            (Some(predicted), Some([low, high])) if low <= predicted && predicted <= high => Ok(()),
            (predicted, allowed) => {
                let value = format!("{allowed:?} for predicted = {predicted:?}");
                refuse("slope.allowed", &value, "a pair [low, high] around predicted, or neither")
            }
        }
    }
}

impl CertificateSpec {
    /// The first number that is out of range: its key, its value, and what is allowed.
    fn out_of_range(&self) -> Option<(&'static str, String, &'static str)> {
        let failures = [
            ("delta", Some(self.delta)),
            ("delta_size", Some(self.delta_size)),
            ("delta_transfer", Some(self.delta_transfer)),
            ("delta_count", Some(self.delta_count)),
            ("delta_comparator", self.delta_comparator),
        ];
        for (key, failure) in failures {
            if let Some(failure) = failure.filter(|failure| !(*failure > 0.0 && *failure < 1.0)) {
                return Some((key, failure.to_string(), "(0, 1), both ends excluded"));
            }
        }
        if !(1..=4096).contains(&self.pieces) {
            return Some(("pieces", self.pieces.to_string(), "1 to 4096"));
        }
        let bad = self.horizons.iter().find(|horizon| !(1e-30..=1e30).contains(*horizon));
        bad.map(|horizon| ("horizons", format!("{horizon:e}"), "1e-30 to 1e30"))
    }
}

/// A message of the reader with line, column and the nearest known word.
fn explain(file: &str, text: &str, error: &toml::de::Error) -> RunError {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let file = file.to_owned();
    let message = error.message();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let unknown = message.starts_with("unknown field") || message.starts_with("unknown variant");
    match quoted.split_first() {
        Some((key, known)) if unknown => {
            let score = |word: &&str| strsim::jaro_winkler(word, key);
            let best = known.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)));
            let hint = match best.filter(|word| score(word) > 0.75) {
                Some(word) => format!("did you mean {word:?}?"),
                None => format!("known are {}", known.join(", ")),
            };
            RunError::Unknown { file, line, column, key: (*key).to_owned(), hint }
        }
        _ => {
            let problem = message.trim().replace('\n', "; ");
            RunError::Syntax { file, line, column, problem }
        }
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
