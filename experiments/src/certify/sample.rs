//! The sample that is certified on, and records to test on.

use std::collections::HashSet;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::error::{CertifyError, Result, out_of_range};
use crate::data::{
    DataError, Dataset, Domain, FileProblem, Images, Request, Scale, fashion_mnist, prepare, sha256,
};
use crate::kan::Examples;
use crate::mlp::Records;

/// Which data, and how they are divided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The data.
    pub data: Request,
    /// Other data to test on; otherwise the published test part, or a share of the data.
    pub test: Option<Request>,
    /// Share of the records that is kept for the test, if there is no other.
    pub test_share: f64,
    /// Seed of the division.
    pub seed: u64,
    /// Images with all their classes instead of two signs, for a dense network.
    #[serde(default)]
    pub all_classes: bool,
}

/// Records that are certified or tested on.
#[derive(Debug, Clone)]
pub enum Part {
    /// Inputs in the cube with labels −1 and 1.
    Signs(Examples<f32>),
    /// Inputs with one of several classes.
    Classes(Records),
}

impl Part {
    /// Number of records.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        match self {
            Self::Signs(examples) => examples.len(),
            Self::Classes(records) => records.len(),
        }
    }

    /// Numbers in an input.
    #[must_use]
    pub fn inputs(&self) -> usize {
        match self {
            Self::Signs(examples) => examples.inputs(),
            Self::Classes(records) => records.inputs(),
        }
    }

    /// The records as examples with two labels.
    ///
    /// # Errors
    /// [`CertifyError`] if there are more classes.
    pub fn signs(&self) -> Result<&Examples<f32>> {
        match self {
            Self::Signs(examples) => Ok(examples),
            Self::Classes(records) => {
                Err(out_of_range("number of classes", records.classes(), "2 for a KAN"))
            }
        }
    }
}

/// A sample with all that a certificate has to say about it.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Where it comes from.
    pub source: Source,
    /// What the data are.
    pub description: String,
    /// The records that are certified on.
    pub train: Part,
    /// The records that are tested on; never part of a certificate.
    pub test: Option<Part>,
    /// Records that were used up to read the scaling off them.
    pub scaling_records: usize,
    /// Test records that are also records of the sample.
    pub overlap: usize,
    /// SHA-256 of the sample, in hexadecimal.
    pub checksum: String,
    /// SHA-256 of the test records.
    pub test_checksum: Option<String>,
}

/// Share of the records from which a scaling is read, if none is known beforehand.
const SCALING_SHARE: f64 = 0.1;
/// Copies of atoms are written out up to this number.
const MOST_RECORDS: u64 = 1 << 22;

impl Sample {
    /// Reads and divides the data. A scaling that is read off the data would make the prior depend on them, so it is
    /// read off a tenth of the records, which are then no part of the sample.
    ///
    /// # Errors
    /// [`CertifyError`] for data that cannot be read, divided or scaled.
    pub fn load(source: &Source) -> Result<Self> {
        if !(0.0..1.0).contains(&source.test_share) {
            return Err(out_of_range("test share", source.test_share, "[0, 1)"));
        }
        if source.data.held_out {
            return Err(out_of_range(
                "held out",
                "given",
                "the sample; use it as the test instead",
            ));
        }
        if source.all_classes {
            return Self::of_images(source);
        }
        let whole = written_out(prepare(&source.data)?)?;
        let published = Request { held_out: true, ..source.data.clone() };
        let test = match &source.test {
            Some(request) => Some(written_out(prepare(request)?)?),
            None => match prepare(&published) {
                Ok(test) => Some(written_out(test)?),
                Err(DataError::File { problem: FileProblem::NoHeldOutPart, .. }) => None,
                Err(error) => return Err(error.into()),
            },
        };
        let squashed = source.data.scale == Some(Scale::Squash);
        if whole.scaled_by_data && (squashed || test.is_some()) {
            return Err(CertifyError::Data {
                data: whole.name,
                problem: "its scaling is read off the data, so that the prior would depend on them"
                    .to_owned(),
                remedy: if squashed {
                    "use --scale cube".to_owned()
                } else {
                    "give the known range with --range".to_owned()
                },
            });
        }
        let order = shuffled(whole.rows(), &mut ChaCha8Rng::seed_from_u64(source.seed));
        let share = |of: f64| {
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
            #[allow(clippy::cast_sign_loss)] // a share of the rows
            {
                (of * whole.rows() as f64).round() as usize
            }
        };
        let tested = if test.is_some() { 0 } else { share(source.test_share) };
        let scaled = if whole.scaled_by_data { share(SCALING_SHARE).max(2) } else { 0 };
        if tested + scaled + 2 > order.len() {
            return Err(out_of_range(
                "records",
                order.len(),
                "more: too few are left to certify on",
            ));
        }
        let (test_rows, rest) = order.split_at(tested);
        let (scaling_rows, train_rows) = rest.split_at(scaled);
        let mut train_rows = train_rows.to_vec();
        train_rows.sort_unstable();
        let scaling = Rescaling::of(&whole, scaling_rows);
        let train = scaling.part(&whole, &train_rows);
        let test = match test {
            Some(other) => {
                Some(Rescaling::Known.part(&other, &(0..other.rows()).collect::<Vec<_>>()))
            }
            None if tested > 0 => Some(scaling.part(&whole, test_rows)),
            None => None,
        };
        train.check()?;
        let checksum = train.checksum();
        let overlap = test.as_ref().map_or(0, |test| overlap(&train, test));
        if let Some(test) = &test {
            if test.dimension != train.dimension {
                let allowed = format!("{} as in the sample", train.dimension);
                return Err(out_of_range("features of the test data", test.dimension, allowed));
            }
            if source.test.is_some() && 2 * overlap > test.rows() {
                return Err(CertifyError::Data {
                    data: test.name.clone(),
                    problem: format!(
                        "{overlap} of its {} records are also in the sample",
                        test.rows()
                    ),
                    remedy: "test on other records".to_owned(),
                });
            }
        }
        Ok(Self {
            source: source.clone(),
            description: train.description.clone(),
            train: Part::Signs(examples(&train)?),
            test: test.as_ref().map(examples).transpose()?.map(Part::Signs),
            scaling_records: scaled,
            overlap,
            checksum,
            test_checksum: test.as_ref().map(Dataset::checksum),
        })
    }

    fn of_images(source: &Source) -> Result<Self> {
        let whole = images(&source.data, false)?;
        let test = match &source.test {
            Some(request) => Some(images(request, false)?),
            None if source.data.labels.is_none() => Some(images(&source.data, true)?),
            None => None,
        };
        let (train, test) = match test {
            Some(test) => (whole, Some(test)),
            None => divided(&whole, source)?,
        };
        let overlap = test.as_ref().map_or(0, |test| image_overlap(&train, test));
        if let Some(test) = test.as_ref().filter(|_| source.test.is_some())
            && 2 * overlap > test.labels.len()
        {
            return Err(CertifyError::Data {
                data: "the test images".to_owned(),
                problem: format!("{overlap} of {} are also in the sample", test.labels.len()),
                remedy: "test on other records".to_owned(),
            });
        }
        let records = |images: &Images| -> Result<Part> {
            // The published mean and deviation of MNIST's pixels: constants that do not come from the sample.
            Ok(Part::Classes(Records::from_images(images, 0.1307, 0.3081)?))
        };
        let checksum = |images: &Images| sha256(&[&images.pixels[..], &images.labels[..]].concat());
        let classes = train.classes.join(", ");
        Ok(Self {
            source: source.clone(),
            description: format!("images of {} pixels, classes {classes}", train.dimension),
            train: records(&train)?,
            test: test.as_ref().map(records).transpose()?,
            scaling_records: 0,
            overlap,
            checksum: checksum(&train),
            test_checksum: test.as_ref().map(checksum),
        })
    }

    /// The number of records n that are certified on.
    #[must_use]
    pub fn records(&self) -> usize {
        self.train.len()
    }
}

/// The numbers below `count` in a random order.
pub(super) fn shuffled(count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for place in 0..count {
        order.swap(place, rng.random_range(place..count));
    }
    order
}

/// How features are mapped once more, so that the map depends on the scaling records only.
enum Rescaling {
    Known,
    /// Low and high end of each column among the scaling records.
    Cube(Vec<(f64, f64)>),
    /// Largest norm among the scaling records.
    Ball(f64),
}

impl Rescaling {
    fn of(whole: &Dataset, rows: &[usize]) -> Self {
        if rows.is_empty() {
            return Self::Known;
        }
        match whole.domain {
            Domain::Cube => {
                let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); whole.dimension];
                for &row in rows {
                    for (range, value) in ranges.iter_mut().zip(whole.row(row)) {
                        *range = (range.0.min(*value), range.1.max(*value));
                    }
                }
                Self::Cube(ranges)
            }
            Domain::Ball => {
                Self::Ball(rows.iter().map(|row| norm(whole.row(*row))).fold(0.0, f64::max))
            }
        }
    }

    /// What lies outside of the range of the scaling records is moved to its end.
    fn part(&self, of: &Dataset, rows: &[usize]) -> Dataset {
        let mut part = Dataset { features: Vec::new(), labels: Vec::new(), ..of.clone() };
        part.features.reserve(rows.len() * of.dimension);
        for &row in rows {
            let values = of.row(row);
            match self {
                Self::Known => part.features.extend_from_slice(values),
                Self::Cube(ranges) => {
                    part.features.extend(values.iter().zip(ranges).map(|(value, (low, high))| {
                        if low < high {
                            (2.0 * (value - low) / (high - low) - 1.0).clamp(-1.0, 1.0)
                        } else {
                            0.0
                        }
                    }));
                }
                Self::Ball(radius) => {
                    let divisor = radius.max(norm(values)).max(f64::MIN_POSITIVE);
                    part.features
                        .extend(values.iter().map(|value| (value / divisor).clamp(-1.0, 1.0)));
                }
            }
            part.labels.push(of.labels[row]);
        }
        part
    }
}

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Atoms with multiplicities as records.
fn written_out(set: Dataset) -> Result<Dataset> {
    let Some(counts) = &set.multiplicities else { return Ok(set) };
    if set.records() > MOST_RECORDS {
        let allowed = format!("at most {MOST_RECORDS} when atoms are written out");
        return Err(out_of_range("records", set.records(), allowed));
    }
    let mut out =
        Dataset { features: Vec::new(), labels: Vec::new(), multiplicities: None, ..set.clone() };
    for (row, count) in counts.iter().enumerate() {
        for _ in 0..*count {
            out.features.extend_from_slice(set.row(row));
            out.labels.push(set.labels[row]);
        }
    }
    Ok(out)
}

/// Records of `test` that stand in `train` too, with the same label.
fn overlap(train: &Dataset, test: &Dataset) -> usize {
    let key = |set: &Dataset, row: usize| -> Vec<u64> {
        set.row(row).iter().chain([&set.labels[row]]).map(|value| value.to_bits()).collect()
    };
    // A hash of the test records is smaller than one of the sample.
    let wanted: HashSet<Vec<u64>> = (0..test.rows()).map(|row| key(test, row)).collect();
    let found: HashSet<Vec<u64>> =
        (0..train.rows()).map(|row| key(train, row)).filter(|key| wanted.contains(key)).collect();
    (0..test.rows()).filter(|row| found.contains(&key(test, *row))).count()
}

/// Images with all their classes: Fashion-MNIST by its name, or an IDX file with `labels`.
fn images(request: &Request, held_out: bool) -> Result<Images> {
    let plain = Request {
        name: request.name.clone(),
        labels: request.labels.clone(),
        ..Request::default()
    };
    let same = Request { seed: request.seed, ..plain };
    if same != *request {
        let allowed = "--data and --labels only, for images with all their classes";
        return Err(out_of_range("options of the data", "given", allowed));
    }
    match &request.labels {
        Some(_) if held_out => Err(out_of_range("test part", "published", "none for a file")),
        Some(labels) => Ok(Images::read(std::path::Path::new(&request.name), labels)?),
        None if request.name == "fashion-mnist" => Ok(fashion_mnist(held_out)?),
        None => Err(CertifyError::Data {
            data: request.name.clone(),
            problem: "only images are read with all their classes".to_owned(),
            remedy: "choose two groups with --classes, or give fashion-mnist or an IDX file with --labels"
                .to_owned(),
        }),
    }
}

/// A share of the images for the test, chosen by the seed.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn divided(whole: &Images, source: &Source) -> Result<(Images, Option<Images>)> {
    let count = whole.labels.len();
    let tested = (source.test_share * count as f64).round() as usize;
    if tested + 2 > count {
        return Err(out_of_range("records", count, "more: too few are left to certify on"));
    }
    let order = shuffled(count, &mut ChaCha8Rng::seed_from_u64(source.seed));
    let part = |rows: &[usize]| {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let row = |row: &usize| &whole.pixels[row * whole.dimension..][..whole.dimension];
        Images {
            pixels: rows.iter().flat_map(row).copied().collect(),
            labels: rows.iter().map(|row| whole.labels[*row]).collect(),
            ..Images { pixels: Vec::new(), labels: Vec::new(), ..whole.clone() }
        }
    };
    let test = (tested > 0).then(|| part(&order[..tested]));
    Ok((part(&order[tested..]), test))
}

fn image_overlap(train: &Images, test: &Images) -> usize {
    let rows = |of: &Images| -> Vec<(Vec<u8>, u8)> {
        let images = of.pixels.chunks_exact(of.dimension.max(1)).map(<[u8]>::to_vec);
        images.zip(of.labels.iter().copied()).collect()
    };
    let known: HashSet<(Vec<u8>, u8)> = rows(train).into_iter().collect();
    rows(test).iter().filter(|row| known.contains(*row)).count()
}

#[allow(clippy::cast_possible_truncation)]
fn examples(set: &Dataset) -> Result<Examples<f32>> {
    let features = set.features.iter().map(|value| *value as f32).collect();
    let labels = set.labels.iter().map(|value| *value as f32).collect();
    Ok(Examples::new(features, labels, set.dimension)?)
}
