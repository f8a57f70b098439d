//! Certified risks by the prior that they start from, one dot a seed.

use std::path::{Path, PathBuf};

use dpbounds_experiments::certify::Record;
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Rect, Type};
use crate::error::Result;
use crate::files;
use crate::frame;
use crate::legend::{self, LINE, Mark};
use crate::render::{About, Plot, render};
use crate::style::{BLUE, Colour, GREY, INK, SOLID, Stroke, VERMILLION, size};
use crate::table::{Table, number};
use crate::text::shortened;

const TITLE: &str = "Certified risk by prior";
const SUMMARY: &str = "PAC-Bayes certificates on the training set: B(h0) of the private network, B(rho) of the posterior, and their test errors";

/// Height of a row, from the first row's top; left edge of the plot area.
const STEP: f64 = 62.0;
const TOP: f64 = 88.0;
const LEFT: f64 = 224.0;
/// Distance of the lines of a row from its middle.
const APART: f64 = 11.0;

struct Plotted<'a> {
    records: &'a [Record],
    description: &'a str,
}

/// A statement with its test error.
struct Line {
    name: &'static str,
    colour: Colour,
    bounds: Vec<f64>,
    tests: Vec<f64>,
}

impl Plotted<'_> {
    /// The statements of a method: of the private network if there is one, then of the posterior.
    fn lines(rows: &[Record]) -> Vec<Line> {
        let collect = |value: &dyn Fn(&Record) -> Option<f64>| -> Vec<f64> {
            rows.iter().filter_map(value).collect()
        };
        let model = Line {
            name: "B(h0)",
            colour: BLUE,
            bounds: collect(&|row| row.certified.model_bound),
            tests: collect(&|row| row.test.model),
        };
        let posterior = Line {
            name: "B(rho)",
            colour: VERMILLION,
            bounds: collect(&|row| Some(row.certified.posterior_bound)),
            tests: collect(&|row| row.test.posterior),
        };
        [model, posterior].into_iter().filter(|line| !line.bounds.is_empty()).collect()
    }

    fn methods(&self) -> impl Iterator<Item = &[Record]> {
        self.records.chunk_by(|one, other| one.method == other.method)
    }

    fn subtitle(&self) -> String {
        let n = self.records.first().map_or(0, |row| row.ingredients.records);
        let delta = self.records.first().map_or(0.0, |row| row.certified.failure_probability);
        let seeds = self.methods().map(<[Record]>::len).max().unwrap_or(0);
        format!("n = {n}, total failure probability {delta:.3} a row and seed, seeds: {seeds}")
    }
}

impl Plot for Plotted<'_> {
    fn size(&self) -> (u32, u32) {
        (1060, u32::try_from(self.methods().count()).unwrap_or(1) * 62 + 222)
    }

    #[allow(clippy::cast_precision_loss)] // few methods
    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        frame::title(canvas, TITLE, &self.subtitle())?;
        let style = Type::new(size::SUBTITLE, GREY);
        let description = shortened(self.description, style, frame::SIDES.1 - 24.0)?;
        canvas.text(&description, (24.0, 75.0), style)?;
        let methods: Vec<&[Record]> = self.methods().collect();
        let all = methods.iter().flat_map(|rows| Self::lines(rows));
        let (low, high) = frame::span(all.flat_map(|line| [line.bounds, line.tests].concat()))
            .unwrap_or((0.0, 1.0));
        let margin = (0.06 * (high - low)).max(0.005);
        let x = Axis::Linear((low - margin).max(0.0), (high + margin).min(1.0));
        let bottom = TOP + STEP * methods.len() as f64;
        let area = Rect { left: LEFT, top: TOP, right: frame::SIDES.1, bottom };
        let panel = Panel { area, x, y: Axis::Linear(0.0, 1.0) };
        panel.vertical_grid(canvas)?;
        let label = Type::new(size::LABEL, INK);
        for (index, rows) in methods.iter().enumerate() {
            let middle = TOP + STEP * (index as f64 + 0.5);
            if index > 0 {
                let edge = middle - STEP / 2.0;
                canvas.line(&[(24.0, edge), (area.right, edge)], &Stroke::solid(GREY, 0.75))?;
            }
            canvas.text(rows[0].method.name(), (24.0, middle + 4.0), label.bold())?;
            let lines = Self::lines(rows);
            for (place, line) in lines.iter().enumerate() {
                let y = middle + APART * (2.0 * place as f64 + 1.0 - lines.len() as f64);
                let name = Type::new(size::TICK, INK).ending();
                canvas.text(line.name, (LEFT - 10.0, y + 4.0), name)?;
                let mean = line.bounds.iter().sum::<f64>() / line.bounds.len() as f64;
                if let Some(x) = panel.across(mean) {
                    let tick = [(x, y - 8.0), (x, y + 8.0)];
                    canvas.line(&tick, &Stroke::solid(line.colour, 2.0))?;
                }
                for x in line.tests.iter().filter_map(|value| panel.across(*value)) {
                    canvas.ring((x, y), legend::DOT + 0.5, GREY)?;
                }
                for x in line.bounds.iter().filter_map(|value| panel.across(*value)) {
                    canvas.dot((x, y), legend::DOT + 0.5, line.colour)?;
                }
            }
        }
        panel.x_axis(canvas, true)?;
        panel.x_name(canvas, "Risk (share of wrong answers)")?;
        let mut left = 24.0;
        let baseline = bottom + 74.0;
        for (mark, words) in [
            (Mark::Dotted(Stroke::curve(BLUE, SOLID)), "private network, certified"),
            (Mark::Dotted(Stroke::curve(VERMILLION, SOLID)), "posterior, certified"),
            (Mark::Hollow(GREY), "test error, no part of the certificate"),
        ] {
            left += legend::line(canvas, (left, baseline), mark, words)? + 30.0;
        }
        let note = "A dot a seed; bars are means over the seeds. Each row and seed is a statement of its own.";
        canvas.text(note, (24.0, baseline + LINE + 6.0), Type::new(size::NOTE, GREY))
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&["prior", "seed", "quantity", "value"]);
        for row in self.records {
            let quantities = [
                ("B(h0)", row.certified.model_bound),
                ("B(rho)", Some(row.certified.posterior_bound)),
                ("test error of h0", row.test.model),
                ("test error of rho", row.test.posterior),
            ];
            for (name, value) in quantities {
                let Some(value) = value else { continue };
                let method = row.method.name().to_owned();
                table.push(vec![method, row.seed.to_string(), name.into(), number(value)?]);
            }
        }
        Ok(table)
    }
}

/// Writes `certificates.svg`, `.png` and `.csv` of finished certificates into an existing directory and returns their
/// paths. `description` says what the data are; `provenance` (version, command line) is recorded in each file.
///
/// # Errors
/// As [`Figure::write`](crate::Figure::write).
pub fn write_certificates(
    records: &[Record],
    description: &str,
    directory: &Path,
    provenance: &str,
) -> Result<Vec<PathBuf>> {
    let about = About { title: TITLE, summary: SUMMARY, provenance };
    let plotted = Plotted { records, description };
    files::write_all(directory, "certificates", render(&plotted, &about)?)
}
