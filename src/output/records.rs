//! Plain tables that are not bounds: lists, comparisons, files.

use serde_json::Value;

use super::Side;

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// A proven side of a number, rounded in its direction for people.
    Bound(f64, Side),
    /// Yes or no.
    Flag(bool),
    /// Nothing.
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::Empty, Self::Number)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl Cell {
    pub(super) fn for_people(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => super::display(*number),
            Self::Bound(number, side) => super::display_side(*number, *side),
            Self::Flag(true) => "yes".into(),
            Self::Flag(false) => "NO".into(),
            Self::Empty => "-".into(),
        }
    }

    pub(super) fn for_csv(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) | Self::Bound(number, _) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Empty => String::new(),
        }
    }

    pub(super) fn for_json(&self) -> Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Number(number) | Self::Bound(number, _) => (*number).into(),
            Self::Flag(flag) => (*flag).into(),
            Self::Empty => Value::Null,
        }
    }
}

/// Named columns and rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    pub(super) name: &'static str,
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Vec<Cell>>,
    details: &'static [&'static str],
}

impl Records {
    /// An empty table; `name` is its key in JSON.
    #[must_use]
    pub fn new(name: &'static str, columns: &[&'static str]) -> Self {
        Self { name, columns: columns.to_vec(), rows: Vec::new(), details: &[] }
    }

    /// Columns that tables for people leave out; JSON and CSV have them.
    #[must_use]
    pub fn with_details(mut self, columns: &'static [&'static str]) -> Self {
        self.details = columns;
        self
    }

    /// Indices of the columns that tables show.
    pub(super) fn shown(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&i| !self.details.contains(&self.columns[i])).collect()
    }

    /// The columns and the rows.
    #[must_use]
    pub fn parts(&self) -> (&[&'static str], &[Vec<Cell>]) {
        (&self.columns, &self.rows)
    }

    /// Adds a row with one cell a column.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }
}
