//! From a name or a path to a data set.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::classes::Classes;
use super::csv::{self, Header};
use super::dataset::Dataset;
use super::error::{DataError, FileProblem, Result, out_of_range};
use super::registry::{self, Entry};
use super::scale::{Scale, Scaling};
use super::synthetic::{Atoms, Part, Synthetic};
use super::{files, idx};

/// Which data, and how they are made ready.
///
/// # Examples
/// ```
/// use dpbounds_experiments::data::{Request, prepare};
/// let iris = prepare(&Request::new("iris"))?;
/// assert_eq!((iris.rows(), iris.dimension, iris.class_counts()), (100, 4, [50, 50]));
/// let wine = Request { classes: Some("class_0,class_1+class_2".parse()?), ..Request::new("wine") };
/// assert_eq!(prepare(&wine)?.class_counts(), [59, 119]);
/// let atoms = prepare(&Request::new("atoms:A4,n=1e6"))?;
/// assert_eq!((atoms.rows(), atoms.records()), (4, 1_000_000));
/// # Ok::<(), dpbounds_experiments::data::DataError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// A name of [`entries`](super::entries), a synthetic family with parameters such as
    /// `clusters:n=500,d=3` or `atoms:FILE.csv,n=1e6`, or the path of a CSV file or of an IDX file of
    /// images. A name wins over a file; write `./iris` for a file of that name.
    pub name: String,
    /// The classes of label −1 and of label +1.
    pub classes: Option<Classes>,
    /// How inputs are scaled; by default to the cube for named real sets and images, and not at all
    /// otherwise.
    pub scale: Option<Scale>,
    /// Known radius for [`Scale::Ball`]; otherwise the largest norm is used, which is not private.
    pub radius: Option<f64>,
    /// Known ranges for [`Scale::Cube`], one for all features or one each; otherwise those of pixels,
    /// or the smallest and largest value of each column, which is not private.
    pub ranges: Vec<(f64, f64)>,
    /// CSV: name or number (from 1) of the column of classes; by default `label`, else the last.
    pub label: Option<String>,
    /// CSV: names or numbers of columns to leave out.
    pub drop: Vec<String>,
    /// CSV: whether the first row names the columns.
    pub header: Header,
    /// CSV: what separates columns, a comma by default.
    pub delimiter: Option<char>,
    /// IDX: the file of labels; then `name` is the file of images.
    pub labels: Option<PathBuf>,
    /// Seed of a synthetic family.
    pub seed: u64,
    /// A fresh sample of the same distribution, or the published test part, instead of the sample.
    pub held_out: bool,
}

impl Request {
    /// The data of this name, made ready in the default way.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    fn scaling(&self, default: Scale, known: Option<(f64, f64)>) -> Scaling {
        let scale = self.scale.unwrap_or(default);
        let ranges = match known {
            Some(range) if self.ranges.is_empty() && scale == Scale::Cube => vec![range],
            _ => self.ranges.clone(),
        };
        Scaling { scale, radius: self.radius, ranges }
    }

    /// Options that would have no effect are refused rather than forgotten.
    fn refuse(&self, kind: &str, csv: bool, labels: bool, classes: bool) -> Result<()> {
        let given = [
            ("label", !csv && self.label.is_some()),
            ("drop", !csv && !self.drop.is_empty()),
            ("header", !csv && self.header != Header::Auto),
            ("delimiter", !csv && self.delimiter.is_some()),
            ("labels", !labels && self.labels.is_some()),
            ("classes", !classes && self.classes.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => {
                let allowed = format!("nothing for {kind}; leave it out");
                Err(out_of_range(option, "given", allowed))
            }
        }
    }
}

/// Reads or draws data, chooses the classes, scales and checks.
///
/// # Errors
/// [`DataError`], which names the file, the place in it and what to do.
pub fn prepare(request: &Request) -> Result<Dataset> {
    let family = request.name.split(':').next().unwrap_or_default();
    match registry::find(family) {
        Some(entry) if entry.is_synthetic() => synthetic(request),
        Some(entry) if entry.name == request.name => named(request, entry),
        _ => from_path(request),
    }
}

/// The distribution behind a request, if it has finitely many points: its weights are the exact
/// probabilities, so that a mean over it is an expectation (population risk).
///
/// # Errors
/// [`DataError`] as for [`prepare`].
///
/// # Examples
/// ```
/// use dpbounds_experiments::data::{Request, support};
/// let support = support(&Request::new("atoms:A4,n=50,draw=independent"))?.unwrap();
/// assert_eq!(support.weights(), [0.25; 4]);
/// # Ok::<(), dpbounds_experiments::data::DataError>(())
/// ```
pub fn support(request: &Request) -> Result<Option<Dataset>> {
    if is_synthetic(request) { family(request)?.support() } else { Ok(None) }
}

/// The file of the atoms of a family, and the parameters behind it.
fn atoms_file(request: &Request) -> Option<(&str, &str)> {
    let rest = request.name.strip_prefix("atoms:")?;
    let (file, parameters) = rest.split_once(',').unwrap_or((rest, ""));
    (!file.contains('=') && Path::new(file).exists()).then_some((file, parameters))
}

/// Whether the data are a family's, drawn at random.
pub(crate) fn is_synthetic(request: &Request) -> bool {
    let name = request.name.split(':').next().unwrap_or_default();
    registry::find(name).is_some_and(Entry::is_synthetic)
}

/// Whether the data depend on the request alone, whatever happens to files.
pub(crate) fn is_drawn(request: &Request) -> bool {
    is_synthetic(request) && atoms_file(request).is_none()
}

/// The family, with its atoms read from a file if there is one.
fn family(request: &Request) -> Result<Synthetic> {
    let Some((file, parameters)) = atoms_file(request) else {
        request.refuse("synthetic data", false, false, false)?;
        return request.name.parse();
    };
    let of_file = Request { name: file.to_owned(), held_out: false, ..request.clone() };
    Synthetic::with_atoms(Atoms::of(&from_path(&of_file)?), parameters)
}

fn synthetic(request: &Request) -> Result<Dataset> {
    let family = family(request)?;
    if !matches!(request.scale, None | Some(Scale::None)) {
        let allowed = "none for synthetic data, which lie in the cube by construction";
        return Err(out_of_range("scale", "given", allowed));
    }
    if request.radius.is_some() || !request.ranges.is_empty() {
        return Err(out_of_range("radius or range", "given", "nothing for synthetic data"));
    }
    let part = if request.held_out { Part::HeldOut } else { Part::Training };
    family.draw(request.seed, part)
}

fn named(request: &Request, entry: &Entry) -> Result<Dataset> {
    request.refuse("a named set", false, false, true)?;
    if request.held_out && entry.name != "fashion-mnist" {
        return Err(no_held_out(entry.name));
    }
    let (table, range) = registry::load(entry, request.classes.as_ref(), request.held_out)?;
    let scaling = request.scaling(Scale::Cube, range);
    let description = format!("{} ({})", entry.summary, entry.origin);
    table.into_dataset(entry.name, description, &scaling)
}

fn no_held_out(name: &str) -> DataError {
    DataError::File { file: name.to_owned(), problem: FileProblem::NoHeldOutPart }
}

fn from_path(request: &Request) -> Result<Dataset> {
    let path = Path::new(&request.name);
    if !path.exists() {
        let names: Vec<&str> = registry::entries().iter().map(|entry| entry.name).collect();
        return Err(DataError::UnknownName {
            name: request.name.clone(),
            hint: format!("check the path, or choose one of {}", names.join(", ")),
        });
    }
    let file = request.name.as_str();
    if request.held_out {
        return Err(no_held_out(file));
    }
    if let Some(labels) = &request.labels {
        request.refuse("images", false, true, true)?;
        let table = idx::read(path, labels, request.classes.as_ref(), &[])?;
        let scaling = request.scaling(Scale::Cube, Some((0.0, 255.0)));
        return table.into_dataset(file, "images of an IDX file".to_owned(), &scaling);
    }
    let bytes = files::read(path)?;
    if idx::looks_like_images(&bytes) {
        let problem = FileProblem::IdxLabelsMissing;
        return Err(DataError::File { file: file.to_owned(), problem });
    }
    let options = csv::Options {
        label: request.label.as_deref(),
        drop: &request.drop,
        header: request.header,
        delimiter: request.delimiter,
        classes: request.classes.as_ref(),
    };
    let table = csv::read(file, &bytes, &options)?;
    let scaling = request.scaling(Scale::None, None);
    table.into_dataset(file, "rows of a CSV file".to_owned(), &scaling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_scaled_by_their_known_range() {
        let digits = prepare(&Request::new("digits")).unwrap();
        assert_eq!((digits.rows(), digits.dimension), (1797, 64));
        assert_eq!(digits.class_counts(), [891, 906]);
        assert!(!digits.scaled_by_data);
        assert!(digits.features.iter().all(|value| (value * 8.0).fract() == 0.0));
        let pair = Request { classes: Some("3,8".parse().unwrap()), ..Request::new("digits") };
        assert_eq!(prepare(&pair).unwrap().class_counts(), [183, 174]);
    }

    #[test]
    fn real_sets_are_scaled_by_their_data_and_say_so() {
        let cancer = prepare(&Request::new("breast-cancer")).unwrap();
        assert_eq!((cancer.rows(), cancer.class_counts()), (569, [212, 357]));
        assert!(cancer.scaled_by_data);
        let ball = Request { scale: Some(Scale::Ball), ..Request::new("breast-cancer") };
        let ball = prepare(&ball).unwrap();
        let norm = |row: &[f64]| row.iter().map(|value| value * value).sum::<f64>().sqrt();
        let largest = (0..ball.rows()).map(|row| norm(ball.row(row))).fold(0.0, f64::max);
        assert!((largest - 1.0).abs() < 1e-15);
        let raw = Request { scale: Some(Scale::None), ..Request::new("breast-cancer") };
        let error = prepare(&raw).unwrap_err().to_string();
        assert!(error.contains("column 1 (mean radius): 17.99 is outside [-1, 1]"), "{error}");
    }

    #[test]
    fn options_without_effect_are_refused() {
        let of = |request: Request| prepare(&request).unwrap_err().to_string();
        let label = Some("2".to_owned());
        assert!(of(Request { label: label.clone(), ..Request::new("iris") }).contains("label"));
        assert!(of(Request { label, ..Request::new("xor") }).contains("synthetic"));
        let scale = Some(Scale::Ball);
        assert!(of(Request { scale, ..Request::new("xor") }).contains("by construction"));
        assert!(of(Request { held_out: true, ..Request::new("iris") }).contains("held-out"));
        assert!(of(Request { radius: Some(1.0), ..Request::new("iris") }).contains("radius"));
        assert!(of(Request::new("irys")).contains("neither a data set nor a file"));
    }

    #[test]
    fn a_request_is_a_table_of_a_file() {
        let text =
            r#"{"name": "digits", "classes": "even,odd", "scale": "cube", "ranges": [[0, 32]]}"#;
        let request: Request = serde_json::from_str(text).unwrap();
        assert_eq!(request.ranges, [(0.0, 32.0)]);
        assert!(prepare(&request).unwrap().features.iter().all(|value| *value <= 0.0));
        assert!(serde_json::from_str::<Request>(r#"{"name": "digits", "clases": "1,2"}"#).is_err());
        assert!(serde_json::from_str::<Request>(r#"{"classes": "1"}"#).is_err());
    }
}
