//! Rows with labels, not yet scaled: what every reader of files returns.

use super::dataset::Dataset;
use super::error::{Place, Result};
use super::scale::{self, Rows, Scaling};

#[derive(Debug)]
pub(super) struct Table {
    /// The file, for messages.
    pub file: String,
    /// Names of the features.
    pub columns: Vec<String>,
    /// Number of each feature's column in the file, from 0; empty if they are the same.
    pub numbers: Vec<usize>,
    /// Where each row stands; empty if rows are only counted.
    pub places: Vec<Place>,
    pub features: Vec<f64>,
    /// −1 or +1.
    pub labels: Vec<f64>,
    pub multiplicities: Option<Vec<u64>>,
    pub classes: [String; 2],
}

impl Table {
    /// Scales the rows and checks the result.
    pub fn into_dataset(
        mut self,
        name: &str,
        description: String,
        scaling: &Scaling,
    ) -> Result<Dataset> {
        let rows = Rows {
            file: &self.file,
            columns: &self.columns,
            numbers: &self.numbers,
            places: &self.places,
        };
        let (domain, scaled_by_data) = scale::apply(&rows, &mut self.features, scaling)?;
        let dataset = Dataset {
            name: name.to_owned(),
            description,
            dimension: self.columns.len(),
            features: self.features,
            labels: self.labels,
            multiplicities: self.multiplicities,
            classes: self.classes,
            columns: self.columns,
            domain,
            scaled_by_data,
        };
        dataset.check()?;
        Ok(dataset)
    }
}
