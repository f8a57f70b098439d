//! Tables of numbers with a column of classes.

use std::collections::HashMap;

use csv::ByteRecord;
use serde::{Deserialize, Serialize};

use super::classes::{Classes, choose};
use super::dataset::{MOST_COLUMNS, column_name, plain_columns};
use super::error::{DataError, FileProblem, Place, Result, RowProblem, ValueProblem, out_of_range};
use super::table::Table;

/// Whether the first row names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Header {
    /// It does if no feature in it is a number, or a field is `label`.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// How a CSV file is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Options<'a> {
    pub label: Option<&'a str>,
    pub drop: &'a [String],
    pub header: Header,
    pub delimiter: Option<char>,
    pub classes: Option<&'a Classes>,
}

/// What the columns are for.
struct Layout {
    names: Vec<String>,
    label: usize,
    multiplicity: Option<usize>,
    features: Vec<usize>,
}

/// Reads a table. Lines at the head that start with `# ` are comments.
pub(super) fn read(file: &str, bytes: &[u8], options: &Options<'_>) -> Result<Table> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let row_fault =
        |line, problem| DataError::Row { file: file.to_owned(), place: Place::Line(line), problem };
    if let Err(error) = std::str::from_utf8(bytes) {
        let before = &bytes[..error.valid_up_to()];
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let byte = before.len() - start + 1;
        return Err(row_fault(lines(before) + 1, RowProblem::NotUtf8 { byte }));
    }
    let comments = comments(bytes);
    let mut line = lines(&bytes[..comments]) + 1;
    let bytes = &bytes[comments..];
    let delimiter = delimiter(options.delimiter)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let mut record = ByteRecord::new();
    let (mut layout, mut counted, mut width) = (None, 0, 0);
    let mut body = Body::new(file);
    loop {
        let read = reader.read_byte_record(&mut record).map_err(|error| DataError::Read {
            file: file.to_owned(),
            source: std::io::Error::other(error),
        })?;
        if !read {
            break;
        }
        let start = start(bytes, &record);
        line += lines(&bytes[counted..start]);
        counted = start;
        let blank = matches!(bytes.get(start), Some(b'\r' | b'\n'));
        if blank || record.iter().all(<[u8]>::is_empty) {
            return Err(row_fault(line, RowProblem::Empty));
        }
        let Some(layout) = &layout else {
            width = record.len();
            if width > MOST_COLUMNS {
                let problem = RowProblem::TooManyColumns { found: width, limit: MOST_COLUMNS };
                return Err(row_fault(line, problem));
            }
            let fields: Vec<&str> = record.iter().map(text).collect();
            let header = is_header(&fields, options).map_err(|problem| row_fault(line, problem))?;
            let found = arrange(file, &fields, header, options)?;
            if found.features.is_empty() {
                let delimiter = char::from(delimiter);
                return Err(row_fault(line, RowProblem::NoFeatures { found: width, delimiter }));
            }
            if !header {
                body.push(&record, line, &found)?;
            }
            layout = Some(found);
            continue;
        };
        if record.len() != width {
            let problem = RowProblem::Ragged { found: record.len(), expected: width };
            return Err(row_fault(line, problem));
        }
        body.push(&record, line, layout)?;
    }
    match layout {
        Some(layout) if !body.class_of.is_empty() => body.finish(layout, options.classes),
        _ => Err(DataError::File { file: file.to_owned(), problem: FileProblem::NoRows }),
    }
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Length of the comments at the head.
fn comments(bytes: &[u8]) -> usize {
    let mut length = 0;
    while bytes[length..].starts_with(b"# ") {
        let end = bytes[length..].iter().position(|&byte| byte == b'\n');
        length = end.map_or(bytes.len(), |end| length + end + 1);
    }
    length
}

/// Where a record starts: the reader places it before the second half of a line end.
fn start(bytes: &[u8], record: &ByteRecord) -> usize {
    let position = record.position().map_or(0, csv::Position::byte);
    let start = usize::try_from(position).unwrap_or(bytes.len());
    let after_return = start > 0 && bytes.get(start - 1) == Some(&b'\r');
    if after_return && bytes.get(start) == Some(&b'\n') { start + 1 } else { start }
}

fn delimiter(wanted: Option<char>) -> Result<u8> {
    let wanted = wanted.unwrap_or(',');
    match u8::try_from(wanted) {
        Ok(byte)
            if byte.is_ascii()
                && !byte.is_ascii_alphanumeric()
                && !b"\"\r\n.+-".contains(&byte) =>
        {
            Ok(byte)
        }
        _ => {
            let allowed = "one ASCII character such as , ; or tab that no number contains";
            Err(out_of_range("delimiter", format!("{wanted:?}"), allowed))
        }
    }
}

/// The whole file was found to be UTF-8, and fields are cut at ASCII characters.
fn text(field: &[u8]) -> &str {
    std::str::from_utf8(field).unwrap_or_default()
}

/// Marks that stand for nothing wherever they are.
fn is_missing(text: &str) -> bool {
    let marks = ["", "na", "n/a", "nan", "null", "?"];
    marks.iter().any(|mark| text.eq_ignore_ascii_case(mark))
}

/// Marks that stand for nothing among numbers; a class may have such a name.
fn is_missing_number(text: &str) -> bool {
    is_missing(text) || ["none", "-", "."].iter().any(|mark| text.eq_ignore_ascii_case(mark))
}

fn is_header(fields: &[&str], options: &Options<'_>) -> std::result::Result<bool, RowProblem> {
    match options.header {
        Header::Yes => return Ok(true),
        Header::No => return Ok(false),
        Header::Auto => {}
    }
    // A label that is asked for by name can only be named by a header.
    let name = options.label.filter(|label| label.parse::<f64>().is_err());
    if fields.iter().any(|field| field.eq_ignore_ascii_case("label") || Some(*field) == name) {
        return Ok(true);
    }
    let last = fields.len() - 1;
    let label = match options.label.map(str::parse::<usize>) {
        Some(Ok(number)) => number.wrapping_sub(1),
        _ => last,
    };
    let dropped = |index: usize| options.drop.iter().any(|drop| drop.parse() == Ok(index + 1));
    let features = || {
        let indexed = fields.iter().enumerate();
        indexed.filter(|(index, _)| *index != label && !dropped(*index)).map(|(_, field)| *field)
    };
    let like_data = |field: &str| field.parse::<f64>().is_ok() || is_missing_number(field);
    let data = features().filter(|field| like_data(field)).count();
    match (data, features().count() - data) {
        (0, names) => Ok(names > 0),
        (_, 0) => Ok(false),
        _ => Err(RowProblem::UnclearHeader),
    }
}

/// Finds the label, the multiplicities and the features.
fn arrange(file: &str, first: &[&str], header: bool, options: &Options<'_>) -> Result<Layout> {
    let names: Vec<String> = if header {
        first.iter().map(|&name| name.to_owned()).collect()
    } else {
        plain_columns(first.len())
    };
    let named =
        |wanted: &str| names.iter().position(|name| header && name.eq_ignore_ascii_case(wanted));
    let label = match options.label {
        Some(wanted) => find(file, wanted, &names, header)?,
        None => named("label").unwrap_or(names.len() - 1),
    };
    let drop = options.drop.iter().map(|wanted| find(file, wanted, &names, header));
    let drop = drop.collect::<Result<Vec<usize>>>()?;
    let is_free = |column: &usize| *column != label && !drop.contains(column);
    let multiplicity = named("multiplicity").filter(is_free);
    let features = (0..names.len())
        .filter(|column| is_free(column) && Some(*column) != multiplicity)
        .collect();
    Ok(Layout { names, label, multiplicity, features })
}

/// The column of this name or, failing that, of this number from 1.
fn find(file: &str, wanted: &str, names: &[String], header: bool) -> Result<usize> {
    let fault = |problem| DataError::File { file: file.to_owned(), problem };
    let wanted_name = wanted.to_owned();
    let mut same = (0..names.len()).filter(|&column| header && names[column] == wanted);
    match (same.next(), same.next()) {
        (Some(column), None) => return Ok(column),
        (Some(_), Some(_)) => {
            return Err(fault(FileProblem::AmbiguousColumn { wanted: wanted_name }));
        }
        _ => {}
    }
    match wanted.parse::<usize>() {
        Ok(number) if (1..=names.len()).contains(&number) => Ok(number - 1),
        _ => {
            let shown: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
            let more = if names.len() > 12 { ", ..." } else { "" };
            let known = if header {
                format!(
                    "the columns are {}{more}, or numbers 1 to {}",
                    shown.join(", "),
                    names.len()
                )
            } else {
                format!("the file has no header: say a number from 1 to {}", names.len())
            };
            Err(fault(FileProblem::UnknownColumn { wanted: wanted_name, known }))
        }
    }
}

/// The rows read so far.
struct Body<'a> {
    file: &'a str,
    places: Vec<Place>,
    features: Vec<f64>,
    multiplicities: Vec<u64>,
    class_names: Vec<String>,
    class_numbers: HashMap<String, usize>,
    class_of: Vec<usize>,
}

impl<'a> Body<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            places: Vec::new(),
            features: Vec::new(),
            multiplicities: Vec::new(),
            class_names: Vec::new(),
            class_numbers: HashMap::new(),
            class_of: Vec::new(),
        }
    }

    fn push(&mut self, record: &ByteRecord, line: u64, layout: &Layout) -> Result<()> {
        let field = |column: usize| text(&record[column]);
        let fault = |column: usize, problem| DataError::Value {
            file: self.file.to_owned(),
            place: Place::Line(line),
            column: column_name(column, &layout.names),
            problem,
        };
        for &column in &layout.features {
            let value = number(field(column)).map_err(|problem| fault(column, problem))?;
            self.features.push(value);
        }
        if let Some(column) = layout.multiplicity {
            let value = number(field(column)).map_err(|problem| fault(column, problem))?;
            if !((1.0..=9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0) {
                let text = field(column).to_owned();
                return Err(fault(column, ValueProblem::NotACount { text }));
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked above
            self.multiplicities.push(value as u64);
        }
        let class = field(layout.label);
        if is_missing(class) {
            let problem = ValueProblem::Missing { text: class.to_owned() };
            return Err(fault(layout.label, problem));
        }
        let number = match self.class_numbers.get(class) {
            Some(&number) => number,
            None => {
                let number = self.class_names.len();
                self.class_names.push(class.to_owned());
                self.class_numbers.insert(class.to_owned(), number);
                number
            }
        };
        self.class_of.push(number);
        self.places.push(Place::Line(line));
        Ok(())
    }

    /// Keeps the rows of the two labels.
    fn finish(self, layout: Layout, wanted: Option<&Classes>) -> Result<Table> {
        let choice = choose(self.file, wanted, &self.class_names, &self.class_of)?;
        let dimension = layout.features.len();
        let mut features = self.features;
        for (to, &from) in choice.rows.iter().enumerate() {
            features.copy_within(from * dimension..(from + 1) * dimension, to * dimension);
        }
        features.truncate(choice.rows.len() * dimension);
        let counts = &self.multiplicities;
        Ok(Table {
            file: self.file.to_owned(),
            columns: layout.features.iter().map(|&column| layout.names[column].clone()).collect(),
            places: choice.rows.iter().map(|&row| self.places[row]).collect(),
            multiplicities: layout
                .multiplicity
                .map(|_| choice.rows.iter().map(|&row| counts[row]).collect()),
            numbers: layout.features,
            features,
            labels: choice.labels,
            classes: choice.names,
        })
    }
}

fn number(text: &str) -> std::result::Result<f64, ValueProblem> {
    if is_missing_number(text) {
        return Err(ValueProblem::Missing { text: text.to_owned() });
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(ValueProblem::NotFinite { text: text.to_owned() }),
        Err(_) => Err(ValueProblem::NotANumber { text: text.to_owned() }),
    }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
