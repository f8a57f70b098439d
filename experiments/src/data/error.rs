//! Why data could not be had: which file, which line, which column, and what to do.

use std::fmt;

use dpbounds_bounds::BoundError;
use thiserror::Error;

/// Where in a file, or in a set, a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file, from 1.
    Line(u64),
    /// Record of a binary file or of a synthetic set, from 1.
    Record(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Record(record) => write!(f, "record {record}"),
        }
    }
}

/// Why data could not be read, drawn or prepared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// Neither a known name nor a file.
    #[error("{name:?} is neither a data set nor a file; {hint}")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// The nearest name, or where the names are.
        hint: String,
    },
    /// A file could not be read.
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read {
        /// The file.
        file: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A set that another package installs is absent.
    #[error("{name} is not installed ({file} does not exist): {remedy}")]
    NotInstalled {
        /// The set.
        name: &'static str,
        /// The first file that is missing.
        file: String,
        /// How to get it.
        remedy: &'static str,
    },
    /// One value of a file is unusable.
    #[error("{file}, {place}, column {column}: {problem}")]
    Value {
        /// The file.
        file: String,
        /// The row.
        place: Place,
        /// Number of the column from 1, with its name if it has one.
        column: String,
        /// What is wrong.
        problem: ValueProblem,
    },
    /// One row of a file is unusable.
    #[error("{file}, {place}: {problem}")]
    Row {
        /// The file.
        file: String,
        /// The row.
        place: Place,
        /// What is wrong.
        problem: RowProblem,
    },
    /// A file as a whole is unusable.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        problem: FileProblem,
    },
    /// The classes do not give two labels.
    #[error("{file}: {problem}")]
    Classes {
        /// The file or set.
        file: String,
        /// What is wrong.
        problem: ClassProblem,
    },
    /// An option is out of range, or does not fit the data.
    #[error("{parameter} = {value} is out of range: allowed is {allowed}")]
    Parameter {
        /// The option or the parameter of a family.
        parameter: String,
        /// Its value.
        value: String,
        /// What is allowed, and what to do.
        allowed: String,
    },
    /// A basis of a teacher network cannot be built.
    #[error(transparent)]
    Basis(#[from] BoundError),
}

/// What is wrong with one value.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ValueProblem {
    /// Nothing, or one of the usual marks for nothing.
    #[error(
        "the value is missing ({text:?}); missing values are refused: fill it in, remove the row, or \
         leave out the column with drop"
    )]
    Missing {
        /// What stands there.
        text: String,
    },
    /// Text where a number belongs.
    #[error(
        "{text:?} is not a number; write numbers such as 0.25, or leave out the column with drop"
    )]
    NotANumber {
        /// What stands there.
        text: String,
    },
    /// An infinity, or a number beyond the doubles.
    #[error("{text:?} is not a finite number; correct it or remove the row")]
    NotFinite {
        /// What stands there.
        text: String,
    },
    /// A multiplicity that counts nothing.
    #[error("the multiplicity {text:?} is not a whole number from 1 to 2^53; correct it")]
    NotACount {
        /// What stands there.
        text: String,
    },
    /// Outside the domain of the splines.
    #[error("{value} is outside [-1, 1]; scale the data with cube or ball")]
    OutsideDomain {
        /// The value.
        value: f64,
    },
    /// Outside the given range of its column.
    #[error("{value} is outside the given range [{low}, {high}]; widen the range")]
    OutsideRange {
        /// The value.
        value: f64,
        /// Low end of the range.
        low: f64,
        /// High end of the range.
        high: f64,
    },
}

/// What is wrong with one row.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RowProblem {
    /// A blank line between rows, or a row of blanks.
    #[error("the row is empty; remove it")]
    Empty,
    /// More or fewer fields than the first row.
    #[error("the row has {found} fields but the first row has {expected}; give every row as many")]
    Ragged {
        /// Fields found.
        found: usize,
        /// Fields of the first row.
        expected: usize,
    },
    /// Too many columns.
    #[error(
        "the row has {found} columns, more than the {limit} allowed; check that each record has a line \
         of its own, and keep fewer columns"
    )]
    TooManyColumns {
        /// Columns found.
        found: usize,
        /// Columns allowed.
        limit: usize,
    },
    /// No feature beside the label.
    #[error(
        "the row has {found} column(s), which leaves no feature beside the label; columns are \
         separated by {delimiter:?}: choose another delimiter if the file has one"
    )]
    NoFeatures {
        /// Columns found.
        found: usize,
        /// The delimiter in use.
        delimiter: char,
    },
    /// Some fields of the first row are numbers and some are not.
    #[error(
        "the first row mixes numbers and names, so it is unclear whether it is a header; say header \
         yes or no"
    )]
    UnclearHeader,
    /// Bytes that are not UTF-8.
    #[error("byte {byte} of the line is not UTF-8; save the file as UTF-8")]
    NotUtf8 {
        /// Position in the line, from 1.
        byte: usize,
    },
    /// Outside the given ball.
    #[error("the norm {norm} is above the given radius {radius}; give a larger radius")]
    OutsideBall {
        /// The norm of the row.
        norm: f64,
        /// The radius that was given.
        radius: f64,
    },
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// No row of data.
    #[error("the file has no rows; give at least one record of each class")]
    NoRows,
    /// The end of a compressed file is missing.
    #[error("the gzip data end early: the file is truncated; copy or download it again")]
    TruncatedGzip,
    /// A compressed file is damaged.
    #[error("the gzip data are damaged ({cause}); copy or download the file again")]
    DamagedGzip {
        /// What the decoder says.
        cause: String,
    },
    /// More bytes than are read.
    #[error("the file has more than {limit} bytes after decompression; use a part of it")]
    TooLarge {
        /// Bytes allowed.
        limit: u64,
    },
    /// The first four bytes are not those of an IDX file of bytes.
    #[error(
        "the file starts with {found}, not with the magic number of an IDX file of unsigned bytes \
         (00 00 08, then {expected}); check that it is the right file"
    )]
    IdxMagic {
        /// The bytes found, in hexadecimal.
        found: String,
        /// The number of dimensions that fits.
        expected: &'static str,
    },
    /// The header of an IDX file promises another size.
    #[error(
        "the IDX header promises {promised} bytes of data but {found} follow; copy the file again"
    )]
    IdxSize {
        /// Bytes promised.
        promised: u64,
        /// Bytes found.
        found: u64,
    },
    /// Images and labels differ in number.
    #[error(
        "{images} images but {labels} labels in {label_file}; give the image and the label file of the \
         same part"
    )]
    IdxCounts {
        /// Images in this file.
        images: usize,
        /// Labels in the other.
        labels: usize,
        /// The other file.
        label_file: String,
    },
    /// An image file without a label file.
    #[error("this is an IDX file of images; name the file of its labels too (labels)")]
    IdxLabelsMissing,
    /// A column has one value only.
    #[error(
        "column {column} has the one value {value}, so its own range cannot be scaled to [-1, 1]; give a \
         range, scale to the ball, or leave out the column with drop"
    )]
    ConstantColumn {
        /// Number of the column from 1, with its name if it has one.
        column: String,
        /// The value.
        value: f64,
    },
    /// Every row is the zero vector.
    #[error("every record is zero, so the largest norm is 0; give a radius, or check the file")]
    AllZero,
    /// There is no such column.
    #[error("there is no column {wanted:?}; {known}")]
    UnknownColumn {
        /// What was asked for.
        wanted: String,
        /// The columns there are.
        known: String,
    },
    /// Two columns have the name.
    #[error("the column name {wanted:?} occurs more than once; say the number of the column")]
    AmbiguousColumn {
        /// The name.
        wanted: String,
    },
    /// A shipped file is not the one that was shipped.
    #[error("the SHA-256 checksum is {found} but should be {expected}; install dpbounds again")]
    Checksum {
        /// Checksum of the bytes.
        found: String,
        /// Checksum of the original.
        expected: &'static str,
    },
    /// No sample beside the one.
    #[error("the set has no held-out part; split it instead")]
    NoHeldOutPart,
}

/// What is wrong with the classes.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ClassProblem {
    /// One class only.
    #[error("all records are of the one class {class:?}; two classes are needed: {remedy}")]
    One {
        /// The class.
        class: String,
        /// What to do.
        remedy: &'static str,
    },
    /// More than two and no choice.
    #[error("{count} classes ({names}); choose two with classes, as in A,B or A+B,C+D")]
    Several {
        /// How many.
        count: usize,
        /// Their names.
        names: String,
    },
    /// A chosen class does not occur.
    #[error("class {wanted:?} does not occur; the classes are {names}")]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// The classes there are.
        names: String,
    },
    /// A class on both sides.
    #[error("class {name:?} is on both sides; name two different classes")]
    Twice {
        /// The class.
        name: String,
    },
}

/// The result of reading, drawing or preparing data.
pub type Result<T> = std::result::Result<T, DataError>;

/// A parameter out of range.
pub(super) fn out_of_range(
    parameter: &str,
    value: impl fmt::Display,
    allowed: impl fmt::Display,
) -> DataError {
    DataError::Parameter {
        parameter: parameter.to_owned(),
        value: value.to_string(),
        allowed: allowed.to_string(),
    }
}
