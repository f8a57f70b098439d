//! Bringing inputs into the domain of the splines.

use serde::{Deserialize, Serialize};

use super::dataset::{Domain, column_name};
use super::error::{DataError, FileProblem, Place, Result, RowProblem, ValueProblem, out_of_range};

/// How inputs are brought into `[−1, 1]^d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Not at all: values outside [−1, 1] are refused.
    None,
    /// Divide all by one radius: the given one, or the largest norm in the data.
    Ball,
    /// Map every column from its range to [−1, 1]: the given range, or its least to its largest value.
    Cube,
    /// Map every column to `tanh(z/2)`, z its values less their mean, in standard deviations.
    Squash,
}

/// A way of scaling with what it needs.
///
/// A radius or a range that is read off the data depends on them, so the scaled data, and whatever is
/// trained on them, are then **not private**, whatever the noise. Ranges known beforehand (0 to 255 of
/// a pixel) are harmless.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scaling {
    /// The way.
    pub scale: Scale,
    /// Radius for [`Scale::Ball`], finite and above 0; absent: the largest norm in the data.
    pub radius: Option<f64>,
    /// Ranges (low, high) for [`Scale::Cube`]: one for all columns or one a column; if there is none,
    /// from the data.
    pub ranges: Vec<(f64, f64)>,
}

/// Rows before scaling, with what a message needs to name a value.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    pub file: &'a str,
    pub columns: &'a [String],
    /// Number of each feature's column in the file, from 0.
    pub numbers: &'a [usize],
    /// Where each row stands; records are counted if there is none.
    pub places: &'a [Place],
}

impl Rows<'_> {
    fn place(&self, row: usize) -> Place {
        self.places.get(row).copied().unwrap_or(Place::Record(row as u64 + 1))
    }

    /// A feature's column in the file, from 1, with its name.
    fn column(&self, feature: usize) -> String {
        let number = self.numbers.get(feature).copied().unwrap_or(feature);
        let name = self.columns.get(feature).cloned().unwrap_or_default();
        let mut names = vec![String::new(); number];
        names.push(name);
        column_name(number, &names)
    }

    fn value(&self, index: usize, problem: ValueProblem) -> DataError {
        let dimension = self.columns.len();
        DataError::Value {
            file: self.file.to_owned(),
            place: self.place(index / dimension),
            column: self.column(index % dimension),
            problem,
        }
    }

    fn file(&self, problem: FileProblem) -> DataError {
        DataError::File { file: self.file.to_owned(), problem }
    }
}

/// Scales in place; returns the domain and whether the scaling was read off the data.
pub(super) fn apply(
    rows: &Rows<'_>,
    features: &mut [f64],
    scaling: &Scaling,
) -> Result<(Domain, bool)> {
    if scaling.radius.is_some() && scaling.scale != Scale::Ball {
        return Err(out_of_range("radius", "given", "a radius with scale ball only"));
    }
    if !scaling.ranges.is_empty() && scaling.scale != Scale::Cube {
        return Err(out_of_range("range", "given", "a range with scale cube only"));
    }
    match scaling.scale {
        Scale::None => {
            if let Some(index) = features.iter().position(|value| !(value.abs() <= 1.0)) {
                let problem = ValueProblem::OutsideDomain { value: features[index] };
                return Err(rows.value(index, problem));
            }
            Ok((Domain::Cube, false))
        }
        Scale::Ball => ball(rows, features, scaling.radius),
        Scale::Cube => cube(rows, features, &scaling.ranges),
        Scale::Squash => squash(rows, features).map(|()| (Domain::Cube, true)),
    }
}

#[allow(clippy::cast_precision_loss)] // numbers of rows
fn squash(rows: &Rows<'_>, features: &mut [f64]) -> Result<()> {
    let dimension = rows.columns.len();
    let count = (features.len() / dimension) as f64;
    for column in 0..dimension {
        let entries = || features.iter().skip(column).step_by(dimension);
        let mean = entries().map(|value| value / count).sum::<f64>();
        let deviation = (entries().map(|value| (value - mean).powi(2) / count).sum::<f64>()).sqrt();
        if deviation == 0.0 {
            let (column, value) = (rows.column(column), mean);
            return Err(rows.file(FileProblem::ConstantColumn { column, value }));
        }
        if !deviation.is_finite() {
            let allowed = "below 1.3e154; scale to the cube instead";
            return Err(out_of_range("standard deviation of a column", deviation, allowed));
        }
        for value in features.iter_mut().skip(column).step_by(dimension) {
            *value = ((*value - mean) / deviation / 2.0).tanh();
        }
    }
    Ok(())
}

fn ball(rows: &Rows<'_>, features: &mut [f64], radius: Option<f64>) -> Result<(Domain, bool)> {
    let norms = features.chunks(rows.columns.len()).map(norm);
    let divisor = match radius {
        Some(radius) if !(radius > 0.0 && radius.is_finite()) => {
            return Err(out_of_range("radius", radius, "finite numbers above 0"));
        }
        Some(radius) => {
            if let Some((row, norm)) = norms.enumerate().find(|(_, norm)| !(*norm <= radius)) {
                return Err(DataError::Row {
                    file: rows.file.to_owned(),
                    place: rows.place(row),
                    problem: RowProblem::OutsideBall { norm, radius },
                });
            }
            radius
        }
        None => norms.fold(0.0, f64::max),
    };
    if divisor == 0.0 {
        return Err(rows.file(FileProblem::AllZero));
    }
    if !divisor.is_finite() {
        let allowed = "norms below 1.8e308; scale to the cube first";
        return Err(out_of_range("largest norm", divisor, allowed));
    }
    for value in features {
        *value /= divisor;
    }
    Ok((Domain::Ball, radius.is_none()))
}

/// The Euclidean norm without overflow on the way; at least the largest entry, also after rounding.
fn norm(row: &[f64]) -> f64 {
    let largest = row.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let squares: f64 = row.iter().map(|value| (value / largest) * (value / largest)).sum();
    largest * squares.sqrt()
}

fn cube(rows: &Rows<'_>, features: &mut [f64], given: &[(f64, f64)]) -> Result<(Domain, bool)> {
    let dimension = rows.columns.len();
    let ranges = match given {
        [] => {
            let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); dimension];
            for row in features.chunks(dimension) {
                for (range, value) in ranges.iter_mut().zip(row) {
                    *range = (range.0.min(*value), range.1.max(*value));
                }
            }
            if let Some(column) = ranges.iter().position(|(low, high)| low >= high) {
                return Err(rows.file(FileProblem::ConstantColumn {
                    column: rows.column(column),
                    value: ranges[column].0,
                }));
            }
            ranges
        }
        [one] => vec![*one; dimension],
        several if several.len() == dimension => several.to_vec(),
        several => {
            let allowed = format!("one range for all columns, or {dimension}, one a feature");
            return Err(out_of_range("number of ranges", several.len(), allowed));
        }
    };
    for &(low, high) in &ranges {
        if !(low < high && low.is_finite() && high.is_finite()) {
            return Err(out_of_range("range", format!("{low}:{high}"), "LOW:HIGH, LOW below HIGH"));
        }
    }
    for (index, value) in features.iter_mut().enumerate() {
        let (low, high) = ranges[index % dimension];
        if !(low..=high).contains(value) {
            let problem = ValueProblem::OutsideRange { value: *value, low, high };
            return Err(rows.value(index, problem));
        }
        // Halves, because the width of a range of doubles may overflow.
        let position = (*value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        *value = (2.0 * position - 1.0).clamp(-1.0, 1.0);
    }
    Ok((Domain::Cube, given.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::plain_columns;

    fn scaled(values: &[f64], dimension: usize, scaling: &Scaling) -> Result<(Vec<f64>, bool)> {
        let columns = plain_columns(dimension);
        let rows = Rows { file: "f.csv", columns: &columns, numbers: &[], places: &[] };
        let mut features = values.to_vec();
        apply(&rows, &mut features, scaling).map(|(_, by_data)| (features, by_data))
    }

    fn scaling(scale: Scale) -> Scaling {
        Scaling { scale, radius: None, ranges: Vec::new() }
    }

    #[test]
    fn the_ball_has_the_largest_norm_on_its_surface() {
        let (values, by_data) = scaled(&[3.0, 4.0, 0.0, 1.0], 2, &scaling(Scale::Ball)).unwrap();
        assert_eq!((values, by_data), (vec![0.6, 0.8, 0.0, 0.2], true));
        let given = Scaling { radius: Some(10.0), ..scaling(Scale::Ball) };
        assert_eq!(scaled(&[3.0, 4.0], 2, &given).unwrap(), (vec![0.3, 0.4], false));
        let small = Scaling { radius: Some(4.0), ..scaling(Scale::Ball) };
        assert!(matches!(
            scaled(&[0.0, 0.0, 3.0, 4.0], 2, &small),
            Err(DataError::Row { place: Place::Record(2), .. })
        ));
        assert!(scaled(&[0.0; 4], 2, &scaling(Scale::Ball)).is_err());
        let (huge, _) = scaled(&[1e300, 1e300], 2, &scaling(Scale::Ball)).unwrap();
        assert!((norm(&huge) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_cube_uses_its_ranges() {
        let (values, by_data) = scaled(&[0.0, 5.0, 4.0, 7.0], 2, &scaling(Scale::Cube)).unwrap();
        assert_eq!((values, by_data), (vec![-1.0, -1.0, 1.0, 1.0], true));
        let given = Scaling { ranges: vec![(0.0, 16.0)], ..scaling(Scale::Cube) };
        assert_eq!(scaled(&[0.0, 8.0, 16.0], 3, &given).unwrap(), (vec![-1.0, 0.0, 1.0], false));
        let error = scaled(&[0.0, 17.0], 2, &given).unwrap_err().to_string();
        assert!(error.contains("record 1, column 2: 17 is outside the given range [0, 16]"));
        let wide = scaled(&[-f64::MAX, f64::MAX, 0.0], 1, &scaling(Scale::Cube)).unwrap();
        assert_eq!(wide.0, [-1.0, 1.0, 0.0]);
    }

    #[test]
    fn what_cannot_be_scaled_is_refused() {
        let error = scaled(&[1.0, 0.0, 1.0, 1.0], 2, &scaling(Scale::Cube)).unwrap_err();
        assert!(matches!(
            error,
            DataError::File { problem: FileProblem::ConstantColumn { ref column, .. }, .. } if column == "1"
        ));
        let error = scaled(&[1.0, 1.5], 1, &scaling(Scale::None)).unwrap_err().to_string();
        assert!(error.contains("record 2, column 1: 1.5 is outside [-1, 1]"), "{error}");
        for ranges in [vec![(1.0, 1.0)], vec![(0.0, f64::INFINITY)], vec![(0.0, 1.0); 2]] {
            let given = Scaling { ranges, ..scaling(Scale::Cube) };
            assert!(scaled(&[0.5], 1, &given).is_err());
        }
        assert!(scaled(&[0.5], 1, &Scaling { radius: Some(1.0), ..scaling(Scale::None) }).is_err());
    }

    #[test]
    fn columns_are_squashed_by_their_own_mean_and_deviation() {
        let scaling = Scaling { scale: Scale::Squash, radius: None, ranges: Vec::new() };
        let (values, by_data) = scaled(&[1.0, 70.0, 5.0, 10.0], 2, &scaling).unwrap();
        let half = 0.5_f64.tanh();
        for (value, expected) in values.iter().zip([-half, half, half, -half]) {
            assert!((value - expected).abs() < 1e-15, "{values:?}");
        }
        assert!(by_data);
        let error = scaled(&[1.0, 2.0, 1.0, 3.0], 2, &scaling).unwrap_err().to_string();
        assert!(error.contains("column 1"), "{error}");
        assert!(scaled(&[1e200, -1e200], 1, &scaling).is_err());
    }
}
