//! Answers as tables, JSON and CSV: one format a file.

mod csv;
mod json;
mod numbers;
mod records;
mod table;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dpbounds_bounds::Bound;

pub use numbers::{display, display_bound, display_exact, display_side};
pub use records::{Cell, Records};

use crate::cli::{Failure, command_line};

/// How and where answers are written.
#[derive(Debug, Args)]
pub struct OutputOptions {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns for people
    Table,
    /// One JSON object with a schema version
    Json,
    /// Tidy rows, ready to plot
    Csv,
}

/// One input of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => f.write_str(&display_exact(*number)),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// A bound and the inputs it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Names and values, in order.
    pub inputs: Vec<(String, Input)>,
    /// The answer.
    pub bound: Bound,
    /// Numbers that follow from this answer and others.
    pub derived: Vec<Derived>,
    /// What a reader must know besides, in sentences.
    pub notes: Vec<String>,
}

impl Answer {
    /// An answer that stands for itself.
    #[must_use]
    pub fn new(inputs: Vec<(String, Input)>, bound: Bound) -> Self {
        Self { inputs, bound, derived: Vec::new(), notes: Vec::new() }
    }
}

/// A number that follows from several answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Derived {
    /// Name of its column.
    pub name: &'static str,
    /// The number, if it is proven.
    pub value: Option<f64>,
    /// Whether it is a proven upper bound, shown rounded up, or a lower one, shown rounded down.
    pub side: Side,
}

/// The side on which a bound stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// From above.
    Upper,
    /// From below.
    Lower,
}

/// Version and command line, for files.
#[must_use]
pub fn provenance() -> String {
    format!("dpbounds {}; {}", env!("CARGO_PKG_VERSION"), command_line())
}

/// Writes answers in the wanted format.
///
/// # Errors
/// [`Failure`] if the output cannot be written.
pub fn write_answers(answers: &[Answer], options: &OutputOptions) -> Result<(), Failure> {
    write_answers_with(answers, &[], options)
}

/// Writes answers in the wanted format; `remarks` on all of them are lines under a table, and go to
/// standard error beside the other formats.
///
/// # Errors
/// [`Failure`] if the output cannot be written.
pub fn write_answers_with(
    answers: &[Answer],
    remarks: &[String],
    options: &OutputOptions,
) -> Result<(), Failure> {
    if options.format != Format::Table {
        for remark in remarks {
            writeln!(anstream::stderr(), "note: {remark}")?;
        }
    }
    let text = match options.format {
        Format::Table => table::answers(answers) + &table::remarks(remarks),
        Format::Json => json::answers(answers)?,
        Format::Csv => csv::answers(answers)?,
    };
    write_text(text, options)
}

/// Writes plain records in the wanted format.
///
/// # Errors
/// [`Failure`] if the output cannot be written.
pub fn write_records(records: &Records, options: &OutputOptions) -> Result<(), Failure> {
    let text = match options.format {
        Format::Table => table::records(records),
        Format::Json => json::records(records)?,
        Format::Csv => csv::records(records)?,
    };
    write_text(text, options)
}

/// Writes a text that is complete, with its provenance at the head of a file.
///
/// # Errors
/// [`Failure`] if the output cannot be written.
pub fn write_text(text: String, options: &OutputOptions) -> Result<(), Failure> {
    let Some(path) = &options.output else {
        return write_bytes(text.as_bytes(), None);
    };
    let text = match options.format {
        Format::Json => text,
        Format::Table | Format::Csv => format!("# {}\n{text}", provenance()),
    };
    write_bytes(&anstream::adapter::strip_bytes(text.as_bytes()).into_vec(), Some(path))
}

/// Writes bytes to a file by way of a temporary name, or to standard output.
///
/// # Errors
/// [`Failure`] if they cannot be written.
pub fn write_bytes(bytes: &[u8], path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else {
        let mut out = anstream::stdout().lock();
        out.write_all(bytes)?;
        return Ok(out.flush()?);
    };
    write_file(path, |file| file.write_all(bytes).map_err(Failure::Stream))
}

/// Lets `write` fill a file that appears under its name only when complete. Devices and pipes are
/// written to directly.
///
/// # Errors
/// [`Failure`] if the file cannot be written, and any error of `write`.
pub fn write_file<T>(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let fault = |source| Failure::File { action: "write", path: path.into(), source };
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return write(&mut std::fs::OpenOptions::new().write(true).open(path).map_err(fault)?);
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .permissions_if_supported()
        .tempfile_in(directory)
        .map_err(fault)?;
    let result = write(file.as_file_mut())?;
    file.persist(path).map_err(|error| fault(error.error))?;
    Ok(result)
}

/// Temporary files are private; results are ordinary files.
trait OrdinaryPermissions {
    fn permissions_if_supported(&mut self) -> &mut Self;
}

impl OrdinaryPermissions for tempfile::Builder<'_, '_> {
    #[cfg(unix)]
    fn permissions_if_supported(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        self.permissions(std::fs::Permissions::from_mode(0o666)) // reduced by the umask
    }

    #[cfg(not(unix))]
    fn permissions_if_supported(&mut self) -> &mut Self {
        self
    }
}
