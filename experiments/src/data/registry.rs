//! The sets that have a name.

use std::path::{Path, PathBuf};

use super::classes::Classes;
use super::error::{DataError, Result};
use super::idx;
use super::images::{self, Images};
use super::shipped::{self, Shipped};
use super::table::Table;

/// Where Debian's package puts Fashion-MNIST.
const FASHION: &str = "/usr/share/datasets/fashion-mnist";
const FASHION_REMEDY: &str = "run `apt-get install dataset-fashion-mnist`, or give the path of its \
                              IDX file of images and that of the labels (labels)";

/// A set with a name.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// What to ask for: the name, and for families all parameters.
    pub example: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// Records of all classes; none: as many as are asked for.
    pub records: Option<u64>,
    /// Features; none: as many as are asked for.
    pub dimension: Option<usize>,
    /// The classes, in the order of their numbers from 0.
    pub classes: &'static [&'static str],
    /// Who made it.
    pub origin: &'static str,
    /// Under which licence, to our knowledge.
    pub licence: &'static str,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Inside the program, with the known range of its values, if there is one.
    Shipped(&'static Shipped, Option<(f64, f64)>),
    /// Fashion-MNIST.
    Fashion,
    /// Drawn by a [`Synthetic`](super::Synthetic) of the same name.
    Family,
}

/// Whether a set is at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It is part of the program.
    Ready,
    /// It is installed.
    Installed,
    /// It is absent.
    Missing {
        /// How to get it.
        remedy: &'static str,
    },
}

impl Entry {
    /// Whether the set is at hand, and how to get it otherwise.
    #[must_use]
    pub fn availability(&self) -> Availability {
        match self.kind {
            Kind::Shipped(..) | Kind::Family => Availability::Ready,
            Kind::Fashion => match fashion_files(Path::new(FASHION), false) {
                Ok(_) => Availability::Installed,
                Err(_) => Availability::Missing { remedy: FASHION_REMEDY },
            },
        }
    }

    /// Whether the set is drawn at random.
    #[must_use]
    pub fn is_synthetic(&self) -> bool {
        matches!(self.kind, Kind::Family)
    }
}

const UCI: &str = "CC BY 4.0; file BSD-3-Clause";
const SIGNS: &[&str] = &["-1", "1"];
const DIGITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

const fn family(name: &'static str, example: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        example,
        summary,
        records: None,
        dimension: None,
        classes: SIGNS,
        origin: "drawn from a seed",
        licence: "MIT OR Apache-2.0",
        kind: Kind::Family,
    }
}

static ENTRIES: [Entry; 10] = [
    Entry {
        name: "breast-cancer",
        example: "breast-cancer",
        summary: "malignant or benign, from images of cell nuclei",
        records: Some(569),
        dimension: Some(30),
        classes: &["malignant", "benign"],
        origin: "Wolberg, Mangasarian, Street and Street 1995, doi:10.24432/C5DW2B",
        licence: UCI,
        kind: Kind::Shipped(&shipped::BREAST_CANCER, None),
    },
    Entry {
        name: "digits",
        example: "digits",
        summary: "handwritten digits of 8 x 8 pixels; classes may be even and odd",
        records: Some(1797),
        dimension: Some(64),
        classes: DIGITS,
        origin: "Alpaydin and Kaynak 1998, doi:10.24432/C50P49",
        licence: UCI,
        kind: Kind::Shipped(&shipped::DIGITS, Some((0.0, 16.0))),
    },
    Entry {
        name: "wine",
        example: "wine",
        summary: "three growers, from the chemistry of their wines",
        records: Some(178),
        dimension: Some(13),
        classes: &["class_0", "class_1", "class_2"],
        origin: "Aeberhard and Forina 1991, doi:10.24432/C5PC7J",
        licence: UCI,
        kind: Kind::Shipped(&shipped::WINE, None),
    },
    Entry {
        name: "iris",
        example: "iris",
        summary: "three species, from the sizes of their flowers",
        records: Some(150),
        dimension: Some(4),
        classes: &["setosa", "versicolor", "virginica"],
        origin: "Fisher 1936, doi:10.24432/C56C76",
        licence: UCI,
        kind: Kind::Shipped(&shipped::IRIS, None),
    },
    Entry {
        name: "fashion-mnist",
        example: "fashion-mnist",
        summary: "clothes of 28 x 28 pixels; the held-out part has 10000",
        records: Some(60_000),
        dimension: Some(784),
        classes: &[
            "T-shirt/top",
            "Trouser",
            "Pullover",
            "Dress",
            "Coat",
            "Sandal",
            "Shirt",
            "Sneaker",
            "Bag",
            "Ankle boot",
        ],
        origin: "Xiao, Rasul and Vollgraf 2017, arXiv 1708.07747",
        licence: "MIT",
        kind: Kind::Fashion,
    },
    family(
        "atoms",
        "atoms:A4,n=4,draw=balanced",
        "points with multiplicities (A4, X4 or a CSV file): exact population risk",
    ),
    family(
        "clusters",
        "clusters:n=1000,d=2,separation=1,spread=0.2",
        "two Gaussian clusters, cut off at the cube",
    ),
    family(
        "margin",
        "margin:n=1000,d=2,gamma=0.1,domain=cube",
        "points at least gamma from a random hyperplane",
    ),
    family("xor", "xor:n=1000,d=2,gap=0.1", "the sign of x1 x2"),
    family(
        "teacher",
        "teacher:n=1000,d=2,kind=kan,degree=3,size=6,width=16,flip=0,domain=cube",
        "uniform points labelled by a random KAN or linear function",
    ),
];

/// All sets that have a name.
#[must_use]
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// The set of this name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The rows of two classes and the known range of values. Not for families.
pub(super) fn load(
    entry: &Entry,
    classes: Option<&Classes>,
    held_out: bool,
) -> Result<(Table, Option<(f64, f64)>)> {
    match entry.kind {
        Kind::Shipped(shipped, range) => Ok((shipped::load(entry, shipped, classes)?, range)),
        Kind::Fashion | Kind::Family => {
            let [images, labels] = fashion_files(Path::new(FASHION), held_out)?;
            Ok((idx::read(&images, &labels, classes, entry.classes)?, Some((0.0, 255.0))))
        }
    }
}

/// Fashion-MNIST with all ten classes: 60,000 images, or the 10,000 of the held-out part.
///
/// # Errors
/// [`DataError::NotInstalled`], naming the package, or what is wrong with the files.
pub fn fashion_mnist(held_out: bool) -> Result<Images> {
    let [images, labels] = fashion_files(Path::new(FASHION), held_out)?;
    let names = entries().iter().find(|entry| matches!(entry.kind, Kind::Fashion));
    images::read(&images, &labels, names.map_or(&[], |entry| entry.classes))
}

/// The files of images and labels.
fn fashion_files(folder: &Path, held_out: bool) -> Result<[PathBuf; 2]> {
    let part = if held_out { "t10k" } else { "train" };
    let files =
        ["images-idx3", "labels-idx1"].map(|kind| folder.join(format!("{part}-{kind}-ubyte.gz")));
    match files.iter().find(|file| !file.is_file()) {
        None => Ok(files),
        Some(file) => Err(DataError::NotInstalled {
            name: "Fashion-MNIST",
            file: file.display().to_string(),
            remedy: FASHION_REMEDY,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_what_is_shipped() {
        for entry in entries() {
            let Kind::Shipped(..) = entry.kind else { continue };
            let mut total = 0;
            for pair in entry.classes.chunks(2) {
                let wanted = match pair {
                    [one, other] => format!("{one},{other}"),
                    _ => format!("{},{}", pair[0], entry.classes[0]),
                };
                let (table, _) = load(entry, Some(&wanted.parse().unwrap()), false).unwrap();
                assert_eq!(Some(table.columns.len()), entry.dimension);
                assert_eq!(table.features.len(), table.labels.len() * table.columns.len());
                let first = table.labels.iter().filter(|&&label| label < 0.0).count();
                total += if pair.len() == 2 { table.labels.len() } else { first };
            }
            assert_eq!(Some(total as u64), entry.records, "{}", entry.name);
        }
    }

    #[test]
    fn the_examples_of_families_are_their_defaults() {
        for entry in entries().iter().filter(|entry| entry.is_synthetic()) {
            let parse = |text: &str| text.parse::<crate::data::Synthetic>().unwrap();
            assert_eq!(parse(entry.example), parse(entry.name), "{}", entry.name);
        }
    }

    #[test]
    fn an_absent_package_is_named() {
        let error = fashion_files(Path::new("nowhere"), true).unwrap_err().to_string();
        assert!(error.contains("t10k-images-idx3-ubyte.gz does not exist"), "{error}");
        assert!(error.contains("apt-get install dataset-fashion-mnist"), "{error}");
    }
}
