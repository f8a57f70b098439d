//! Inputs with one of several classes.

use crate::data::Images;
use crate::train::TrainError;

/// Inputs in rows and their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    inputs: usize,
    classes: usize,
    features: Vec<f32>,
    labels: Vec<u8>,
}

impl Records {
    /// `features` holds `inputs` numbers a record, one record after the other; labels count from 0.
    ///
    /// # Errors
    /// [`TrainError`] for lengths that do not fit, a number that is not finite, a label outside the
    /// classes, or fewer than two classes.
    pub fn new(
        features: Vec<f32>,
        labels: Vec<u8>,
        inputs: usize,
        classes: usize,
    ) -> Result<Self, TrainError> {
        let value = |what, value: f64, allowed| Err(TrainError::Value { what, value, allowed });
        if inputs == 0 {
            return value("inputs", 0.0, "at least 1");
        }
        if !(2..=256).contains(&classes) {
            #[allow(clippy::cast_precision_loss)]
            return value("classes", classes as f64, "2 to 256");
        }
        if labels.is_empty() || u32::try_from(labels.len()).is_err() {
            #[allow(clippy::cast_precision_loss)]
            return value("the number of records", labels.len() as f64, "1 to 2^32 − 1");
        }
        if features.len() != labels.len() * inputs {
            return Err(TrainError::Shape {
                what: "the array of features",
                found: features.len(),
                expected: labels.len() * inputs,
            });
        }
        if let Some(feature) = features.iter().find(|feature| !feature.is_finite()) {
            return value("a feature", f64::from(*feature), "finite numbers");
        }
        if let Some(label) = labels.iter().find(|&&label| usize::from(label) >= classes) {
            return value(
                "a label",
                f64::from(*label),
                "whole numbers below the number of classes",
            );
        }
        Ok(Self { inputs, classes, features, labels })
    }

    /// Pixels as `(pixel/255 − mean)/deviation`. Use constants that were fixed without this sample, such as the
    /// published 0.2860 and 0.3530 of Fashion-MNIST.
    ///
    /// # Errors
    /// [`TrainError`] as for [`Records::new`], and for a deviation that is not positive.
    pub fn from_images(images: &Images, mean: f32, deviation: f32) -> Result<Self, TrainError> {
        if !(deviation > 0.0 && deviation.is_finite() && mean.is_finite()) {
            return Err(TrainError::Value {
                what: "deviation",
                value: deviation.into(),
                allowed: "a finite number > 0",
            });
        }
        let scaled = |&pixel: &u8| (f32::from(pixel) / 255.0 - mean) / deviation;
        let features = images.pixels.iter().map(scaled).collect();
        Self::new(features, images.labels.clone(), images.dimension, images.classes.len())
    }

    /// Number of records.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Numbers in an input.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    pub(super) fn row(&self, record: u32) -> &[f32] {
        &self.features[record as usize * self.inputs..][..self.inputs]
    }

    pub(super) fn label(&self, record: u32) -> usize {
        self.labels[record as usize].into()
    }

    /// The inputs of a batch, one after the other.
    pub(super) fn gather(&self, batch: &[u32], out: &mut [f32]) {
        for (out, &record) in out.chunks_exact_mut(self.inputs).zip(batch) {
            out.copy_from_slice(self.row(record));
        }
    }

    #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 records
    pub(super) fn all(&self) -> Vec<u32> {
        (0..self.labels.len() as u32).collect()
    }
}
