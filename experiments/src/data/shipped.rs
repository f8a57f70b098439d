//! Real sets inside the program, byte for byte as scikit-learn distributes them (data/LICENSES.md).

use super::classes::Classes;
use super::csv::{self, Header};
use super::dataset::sha256;
use super::error::{ClassProblem, DataError, FileProblem, Result};
use super::files;
use super::idx::pixel_names;
use super::registry::Entry;
use super::table::Table;

/// A set inside the program.
#[derive(Debug)]
pub(super) struct Shipped {
    pub bytes: &'static [u8],
    pub sha256: &'static str,
    /// Whether the first line gives sizes and class names.
    pub has_sizes: bool,
    /// Names of the features; none: pixels of an 8 x 8 image.
    pub columns: &'static [&'static str],
    /// The choice of classes without a wish.
    pub default_classes: &'static str,
}

pub(super) static BREAST_CANCER: Shipped = Shipped {
    bytes: include_bytes!("../../data/breast_cancer.csv"),
    sha256: "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed",
    has_sizes: true,
    columns: &[
        "mean radius",
        "mean texture",
        "mean perimeter",
        "mean area",
        "mean smoothness",
        "mean compactness",
        "mean concavity",
        "mean concave points",
        "mean symmetry",
        "mean fractal dimension",
        "radius error",
        "texture error",
        "perimeter error",
        "area error",
        "smoothness error",
        "compactness error",
        "concavity error",
        "concave points error",
        "symmetry error",
        "fractal dimension error",
        "worst radius",
        "worst texture",
        "worst perimeter",
        "worst area",
        "worst smoothness",
        "worst compactness",
        "worst concavity",
        "worst concave points",
        "worst symmetry",
        "worst fractal dimension",
    ],
    default_classes: "malignant,benign",
};

pub(super) static DIGITS: Shipped = Shipped {
    bytes: include_bytes!("../../data/digits.csv.gz"),
    sha256: "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22",
    has_sizes: false,
    columns: &[],
    default_classes: "even,odd",
};

pub(super) static WINE: Shipped = Shipped {
    bytes: include_bytes!("../../data/wine_data.csv"),
    sha256: "10e8a802908b34f86e5da8ce962f3c806694bc98450a18f61851af59f324bede",
    has_sizes: true,
    columns: &[
        "alcohol",
        "malic acid",
        "ash",
        "alcalinity of ash",
        "magnesium",
        "total phenols",
        "flavanoids",
        "nonflavanoid phenols",
        "proanthocyanins",
        "color intensity",
        "hue",
        "od280/od315 of diluted wines",
        "proline",
    ],
    default_classes: "class_0,class_1",
};

pub(super) static IRIS: Shipped = Shipped {
    bytes: include_bytes!("../../data/iris.csv"),
    sha256: "f13ffa8fdd56fd8e6c8d16d4081a3fbd3114bcd0aae4256c43205169cd9d1449",
    has_sizes: true,
    columns: &["sepal length", "sepal width", "petal length", "petal width"],
    default_classes: "versicolor,virginica",
};

/// The rows of two classes.
pub(super) fn load(entry: &Entry, shipped: &Shipped, classes: Option<&Classes>) -> Result<Table> {
    let file = format!("{} (shipped)", entry.name);
    verify(&file, shipped.bytes, shipped.sha256)?;
    let mut bytes = files::decompress(&file, shipped.bytes.to_vec(), files::LARGEST)?;
    if shipped.has_sizes {
        let end = bytes.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        bytes.drain(..end);
    }
    let wanted = match classes {
        Some(classes) => classes.clone(),
        None => shipped.default_classes.parse()?,
    };
    let sides = [&wanted.negative, &wanted.positive].map(|side| numbers(&file, side, entry));
    let [negative, positive] = sides;
    let by_number = Classes { negative: negative?, positive: positive? };
    let options =
        csv::Options { header: Header::No, classes: Some(&by_number), ..csv::Options::default() };
    let mut table = csv::read(&file, &bytes, &options)?;
    table.classes = [wanted.negative, wanted.positive].map(|side| match side.parse::<usize>() {
        Ok(number) if number < entry.classes.len() => entry.classes[number].to_owned(),
        _ => side,
    });
    table.columns = match shipped.columns {
        [] => pixel_names(&[8, 8]),
        names => names.iter().map(|&name| name.to_owned()).collect(),
    };
    table.places.clear(); // nobody sees the lines of these files
    Ok(table)
}

/// The file has numbers for classes; people say names, `even` and `odd`.
fn numbers(file: &str, side: &str, entry: &Entry) -> Result<String> {
    let has_digits = entry.classes.first() == Some(&"0");
    let parts = side.split('+').map(str::trim).map(|part| {
        let by_name = entry.classes.iter().position(|&name| name == part);
        let by_number = part.parse().ok().filter(|&number: &usize| number < entry.classes.len());
        match (part, by_name.or(by_number)) {
            (_, Some(number)) => Ok(number.to_string()),
            ("even", _) if has_digits => Ok("0+2+4+6+8".to_owned()),
            ("odd", _) if has_digits => Ok("1+3+5+7+9".to_owned()),
            _ => Err(DataError::Classes {
                file: file.to_owned(),
                problem: ClassProblem::Unknown {
                    wanted: part.to_owned(),
                    names: entry.classes.join(", "),
                },
            }),
        }
    });
    Ok(parts.collect::<Result<Vec<_>>>()?.join("+"))
}

fn verify(file: &str, bytes: &[u8], expected: &'static str) -> Result<()> {
    let found = sha256(bytes);
    if found == expected {
        return Ok(());
    }
    Err(DataError::File {
        file: file.to_owned(),
        problem: FileProblem::Checksum { found, expected },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_byte_is_noticed() {
        let mut bytes = IRIS.bytes.to_vec();
        verify("iris", &bytes, IRIS.sha256).unwrap();
        bytes[100] ^= 1;
        let error = verify("iris", &bytes, IRIS.sha256).unwrap_err().to_string();
        assert!(error.contains("checksum") && error.contains(IRIS.sha256), "{error}");
    }
}
