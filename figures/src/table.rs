//! The plotted data as CSV in long format.

use dpbounds_bounds::{Bound, Warrant};

use crate::error::{FigureError, Result, draw_error};

/// A table of numbers and names.
#[derive(Debug)]
pub(crate) struct Table {
    header: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) const fn new(header: &'static [&'static str]) -> Self {
        Self { header, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// CSV after comment lines with the provenance and the title.
    pub(crate) fn to_csv(&self, provenance: &str, title: &str) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        for line in provenance.lines().chain([title]) {
            text.extend_from_slice(format!("# {line}\n").as_bytes());
        }
        let mut writer = csv::Writer::from_writer(text);
        writer.write_record(self.header).map_err(draw_error)?;
        for row in &self.rows {
            writer.write_record(row).map_err(draw_error)?;
        }
        writer.into_inner().map_err(draw_error)
    }
}

/// A number in the shortest form that reads back exactly.
///
/// # Errors
/// [`FigureError::Draw`] for NaN or infinity: such a point has no place in a figure.
pub(crate) fn number(value: f64) -> Result<String> {
    if !value.is_finite() {
        return Err(FigureError::Draw(format!("{value} among the plotted values")));
    }
    let magnitude = value.abs();
    Ok(if magnitude != 0.0 && !(1e-4..1e15).contains(&magnitude) {
        format!("{value:e}")
    } else {
        format!("{value}")
    })
}

/// The value of a proven bound; nothing else is plotted among proven bounds.
pub(crate) fn proven(bound: &Bound) -> Option<f64> {
    bound.value.filter(|_| bound.warrant == Warrant::Proven)
}
