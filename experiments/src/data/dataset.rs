//! A data set that is ready for training.

use std::io::Write;

use dpbounds_bounds::BoundError;
use dpbounds_bounds::kan::Sample;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::{ClassProblem, DataError, Place, Result, ValueProblem, out_of_range};

/// Most features: the trained layer has a row of splines for every one, and a file with more is
/// likely one with lost line ends.
pub const MOST_COLUMNS: usize = 65_536;

/// The public set in which inputs lie. The theory needs `|x_i| <= 1`, which both give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// `[−1, 1]^d`.
    #[default]
    Cube,
    /// `‖x‖ <= 1` in the Euclidean norm.
    Ball,
}

/// Inputs in `[−1, 1]^d` with labels ±1.
///
/// Made by [`prepare`](super::prepare) or [`Synthetic::draw`](super::Synthetic::draw), which check it;
/// whoever fills the fields by hand calls [`Dataset::check`].
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Name for reports: that of a set or family, or the file.
    pub name: String,
    /// What the set is and what was done to it, in a sentence or two.
    pub description: String,
    /// Number of features d.
    pub dimension: usize,
    /// Inputs, one row of d values after the other.
    pub features: Vec<f64>,
    /// Labels −1 or +1, one a row.
    pub labels: Vec<f64>,
    /// Records at each row, if rows are atoms that stand for several; otherwise one each.
    pub multiplicities: Option<Vec<u64>>,
    /// What −1 and +1 stand for.
    pub classes: [String; 2],
    /// Names of the features.
    pub columns: Vec<String>,
    /// Where the inputs lie.
    pub domain: Domain,
    /// Whether the scaling was read off the data: then it is not private.
    pub scaled_by_data: bool,
}

impl Dataset {
    /// Number of rows, which are distinct atoms if there are multiplicities.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Number of records n: the sum of the multiplicities.
    #[must_use]
    pub fn records(&self) -> u64 {
        match &self.multiplicities {
            Some(counts) => counts.iter().sum(),
            None => self.labels.len() as u64,
        }
    }

    /// The input of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, index: usize) -> &[f64] {
        &self.features[index * self.dimension..(index + 1) * self.dimension]
    }

    /// Share of each row in the records; the shares sum to 1.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // counts stay below 2^53
    pub fn weights(&self) -> Vec<f64> {
        let n = self.records() as f64;
        match &self.multiplicities {
            Some(counts) => counts.iter().map(|&count| count as f64 / n).collect(),
            None => vec![1.0 / n; self.rows()],
        }
    }

    /// The sample as the theory sees it: equal records merged and counted.
    ///
    /// # Errors
    /// [`BoundError`] as for [`Sample::with_multiplicities`]; none for what [`Dataset::check`] accepts.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_experiments::data::{Request, prepare};
    /// let sample = prepare(&Request::new("atoms:A4,n=1e6"))?.sample()?;
    /// assert_eq!(sample.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample(&self) -> std::result::Result<Sample, BoundError> {
        let counts = self.multiplicities.clone().unwrap_or_else(|| vec![1; self.rows()]);
        let (features, labels) = (self.features.clone(), self.labels.clone());
        Ok(Sample::with_multiplicities(self.dimension, features, labels, counts)?.merged())
    }

    /// Records with label −1 and with label +1.
    #[must_use]
    pub fn class_counts(&self) -> [u64; 2] {
        let mut counts = [0, 0];
        for (index, &label) in self.labels.iter().enumerate() {
            let records = self.multiplicities.as_ref().map_or(1, |all| all[index]);
            counts[usize::from(label > 0.0)] += records;
        }
        counts
    }

    /// SHA-256 of dimension, inputs, labels and multiplicities, in hexadecimal. Names do not enter.
    #[must_use]
    pub fn checksum(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(b"dpbounds data 1\0");
        hash.update((self.dimension as u64).to_le_bytes());
        hash.update((self.rows() as u64).to_le_bytes());
        for value in self.features.iter().chain(&self.labels) {
            hash.update(value.to_le_bytes());
        }
        for count in self.multiplicities.iter().flatten() {
            hash.update(count.to_le_bytes());
        }
        hexadecimal(&hash.finalize())
    }

    /// Checks that the fields fit each other, that inputs lie in [−1, 1] and that both labels occur.
    ///
    /// # Errors
    /// [`DataError`] naming the first record that does not fit.
    pub fn check(&self) -> Result<()> {
        let rows = self.rows();
        let lengths = [
            ("features", self.features.len(), rows * self.dimension),
            ("columns", self.columns.len(), self.dimension),
            ("multiplicities", self.multiplicities.as_ref().map_or(rows, Vec::len), rows),
        ];
        for (name, found, expected) in lengths {
            if found != expected {
                let allowed = format!("{expected} for {rows} rows of {} features", self.dimension);
                return Err(out_of_range(&format!("length of {name}"), found, allowed));
            }
        }
        for (index, &value) in self.features.iter().enumerate() {
            if !(value.abs() <= 1.0) {
                let (row, column) = (index / self.dimension, index % self.dimension);
                return Err(DataError::Value {
                    file: self.name.clone(),
                    place: Place::Record(row as u64 + 1),
                    column: column_name(column, &self.columns),
                    problem: ValueProblem::OutsideDomain { value },
                });
            }
        }
        if let Some(label) = self.labels.iter().find(|label| label.abs() != 1.0) {
            return Err(out_of_range("label", label, "-1 and 1"));
        }
        let mut total = 0_u64;
        for &count in self.multiplicities.iter().flatten() {
            total = total.saturating_add(count);
            if count == 0 || total > 1 << 53 {
                let allowed = "whole numbers from 1, with a sum of at most 2^53";
                return Err(out_of_range("multiplicity", count, allowed));
            }
        }
        let counts = self.class_counts();
        match (counts[0] == 0, counts[1] == 0) {
            (false, false) => Ok(()),
            (empty, _) => Err(DataError::Classes {
                file: self.name.clone(),
                problem: ClassProblem::One {
                    class: self.classes[usize::from(empty)].clone(),
                    remedy: "take more records, or another seed",
                },
            }),
        }
    }

    /// Splits off `held_out` rows chosen at random; both parts keep the order of the rows.
    /// The same seed gives the same parts.
    ///
    /// # Errors
    /// [`DataError`] if the rows are atoms with multiplicities, if a part would be empty, or if one
    /// would have a single class.
    pub fn split(&self, held_out: usize, seed: u64) -> Result<(Self, Self)> {
        if self.multiplicities.is_some() {
            let allowed = "a set without multiplicities; draw atoms twice instead";
            return Err(out_of_range("split", &self.name, allowed));
        }
        if held_out == 0 || held_out >= self.rows() {
            let allowed = format!("1 to {}", self.rows().saturating_sub(1));
            return Err(out_of_range("held-out rows", held_out, allowed));
        }
        let mut order: Vec<usize> = (0..self.rows()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for place in 0..held_out {
            order.swap(place, rng.random_range(place..self.rows()));
        }
        let mut is_held_out = vec![false; self.rows()];
        for &row in &order[..held_out] {
            is_held_out[row] = true;
        }
        let part = |wanted: bool, name: &str| {
            let rows = (0..self.rows()).filter(|&row| is_held_out[row] == wanted);
            let mut part = Self {
                name: format!("{} ({name})", self.name),
                features: Vec::new(),
                labels: Vec::new(),
                ..self.clone()
            };
            for row in rows {
                part.features.extend_from_slice(self.row(row));
                part.labels.push(self.labels[row]);
            }
            part.check().map(|()| part)
        };
        Ok((part(false, "training part")?, part(true, "held-out part")?))
    }

    /// Writes CSV: a header, then the features, `label`, and `multiplicity` if there are any. Numbers
    /// have as many digits as identify them.
    ///
    /// # Errors
    /// Whatever `output` reports.
    pub fn write_csv(&self, output: impl Write) -> std::io::Result<()> {
        let mut writer = csv::Writer::from_writer(output);
        let reserved = |name: &str| {
            ["label", "multiplicity"].iter().any(|other| name.eq_ignore_ascii_case(other))
        };
        for name in &self.columns {
            // A feature of this name would be taken for the label when the file is read again.
            let name = if reserved(name) { format!("feature {name}") } else { name.clone() };
            writer.write_field(name)?;
        }
        writer.write_field("label")?;
        if self.multiplicities.is_some() {
            writer.write_field("multiplicity")?;
        }
        writer.write_record(None::<&[u8]>)?;
        for (index, label) in self.labels.iter().enumerate() {
            for value in self.row(index).iter().chain([label]) {
                writer.write_field(value.to_string())?;
            }
            if let Some(counts) = &self.multiplicities {
                writer.write_field(counts[index].to_string())?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        writer.flush()
    }
}

/// A column for messages: its number from 1, and its name unless that is `x1, x2, ..`.
pub(super) fn column_name(index: usize, names: &[String]) -> String {
    let number = index + 1;
    match names.get(index) {
        Some(name) if !name.is_empty() && *name != format!("x{number}") => {
            format!("{number} ({name})")
        }
        _ => number.to_string(),
    }
}

/// Names `x1, x2, ..` for features that have none.
pub(super) fn plain_columns(dimension: usize) -> Vec<String> {
    (1..=dimension).map(|number| format!("x{number}")).collect()
}

/// SHA-256 in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> Dataset {
        Dataset {
            name: "tiny".into(),
            description: String::new(),
            dimension: 1,
            features: vec![-0.5, 0.1, 0.5, 1.0],
            labels: vec![-1.0, -1.0, 1.0, 1.0],
            multiplicities: None,
            classes: ["a".into(), "b".into()],
            columns: vec!["label".into()],
            domain: Domain::Cube,
            scaled_by_data: false,
        }
    }

    #[test]
    fn multiplicities_count_as_records() {
        let set = Dataset { multiplicities: Some(vec![1, 2, 3, 4]), ..tiny() };
        set.check().unwrap();
        assert_eq!((set.rows(), set.records(), set.class_counts()), (4, 10, [3, 7]));
        assert_eq!(set.weights(), [0.1, 0.2, 0.3, 0.4]);
        assert_ne!(set.checksum(), tiny().checksum());
        assert!(set.split(1, 0).is_err());
    }

    #[test]
    fn what_does_not_fit_is_found() {
        let broken = [
            Dataset { features: vec![0.0; 3], ..tiny() },
            Dataset { features: vec![0.0, 0.0, 1.5, 0.0], ..tiny() },
            Dataset { features: vec![0.0, 0.0, f64::NAN, 0.0], ..tiny() },
            Dataset { labels: vec![1.0, 1.0, 0.0, -1.0], ..tiny() },
            Dataset { labels: vec![1.0; 4], ..tiny() },
            Dataset { multiplicities: Some(vec![1, 0, 1, 1]), ..tiny() },
            Dataset { multiplicities: Some(vec![u64::MAX, 1, 1, 1]), ..tiny() },
        ];
        for set in broken {
            assert!(set.check().is_err(), "{set:?}");
        }
    }

    #[test]
    fn a_split_is_a_partition_that_the_seed_decides() {
        let set = Dataset {
            features: (0..100).map(|i| f64::from(i) / 100.0).collect(),
            labels: (0..100).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect(),
            ..tiny()
        };
        let (train, test) = set.split(30, 7).unwrap();
        assert_eq!((train.rows(), test.rows()), (70, 30));
        let mut all = [train.features.clone(), test.features.clone()].concat();
        all.sort_by(f64::total_cmp);
        assert_eq!(all, set.features);
        assert_eq!(set.split(30, 7).unwrap(), (train, test.clone()));
        assert_ne!(set.split(30, 8).unwrap().1, test);
    }

    #[test]
    fn csv_keeps_every_bit_and_the_label_apart() {
        let mut text = Vec::new();
        Dataset { features: vec![0.1 + 0.2, -1e-9, 1.0, 0.0], ..tiny() }
            .write_csv(&mut text)
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("feature label,label\n0.30000000000000004,-1\n"), "{text}");
    }
}
