//! Tables 1–3 of arXiv 2605.26222 as a picture: the risks, and our recomputation under the glass.

use dpbounds_experiments::paper_tables::{DELTA, ROWS, Recomputed, Row};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel, plain};
use crate::canvas::{Canvas, Rect, Type};
use crate::error::{FigureError, Result};
use crate::frame;
use crate::legend::{self, Entry, Mark, interval};
use crate::render::Plot;
use crate::style::{AXIS, BLUE, Colour, INK, PAPER, SKY, Stroke, VERMILLION, size};
use crate::table::{Table, number};

pub(crate) const TITLE: &str = "PAC-Bayes certificates of the published tables, recomputed";
pub(crate) const SUMMARY: &str = "Tables 1–3 of arXiv 2605.26222: empirical risk and certified \
    risk as printed, and how far our recomputation from the printed inputs is from the printed \
    bound, with what the rounding of the inputs allows and the rounding interval of the print.";

/// A row of a published table.
struct Bar {
    row: Row,
    label: String,
    ours: Recomputed,
}

pub(crate) struct Plotted {
    bars: Vec<Bar>,
}

const EMPIRICAL: Entry = Entry { label: "Empirical risk", mark: Mark::Bar(BLUE) };
const CERTIFIED: Entry =
    Entry { label: "Certified risk, as printed", mark: Mark::Bar(CERTIFIED_COLOUR) };
const ROUNDING: Entry =
    Entry { label: "Printed bound ± rounding", mark: Mark::Bar(ROUNDING_COLOUR) };
const OURS: Entry = Entry {
    label: "Recomputed (inputs ± rounding)",
    mark: Mark::Interval(OURS_STROKE, VERMILLION),
};

const CERTIFIED_COLOUR: Colour = SKY;
const ROUNDING_COLOUR: Colour = Colour(205, 205, 205);
const OURS_STROKE: Stroke = Stroke::solid(VERMILLION, 1.5);

/// Height of a bar and from one bar to the next, and of the heading of a table.
const BAR: f64 = 17.0;
const STEP: f64 = 25.0;
const HEADING: f64 = 30.0;
const TOP: f64 = 92.0;

/// The name of a row inside its table: without the data set, with what is certified.
fn label(row: &Row) -> String {
    let model = row.model.split_once(", ").map_or(row.model, |(_, rest)| rest);
    let what = if row.certified == "B(h0)" { "h₀" } else { "ρ" };
    format!("{model}: {what}")
}

fn heading(row: &Row) -> String {
    let data = row.model.split_once(", ").map_or(row.model, |(data, _)| data);
    let thousands = row.n / 1000;
    format!("Table {}: {data}, n = {thousands}\u{a0}000", row.table)
}

impl Plotted {
    /// Calls `place` with every bar, its top, and whether it is the first of its table.
    fn layout(&self, mut place: impl FnMut(&Bar, f64, bool) -> Result<()>) -> Result<f64> {
        let (mut top, mut table) = (TOP, 0);
        for bar in &self.bars {
            let first = bar.row.table != table;
            if first {
                top += HEADING;
                table = bar.row.table;
            }
            place(bar, top, first)?;
            top += STEP;
        }
        Ok(top)
    }
}

impl Plotted {
    /// Evaluates everything that is plotted; `quick` takes fewer points.
    pub(crate) fn compute(_quick: bool) -> Result<Self> {
        let bars: Result<Vec<_>> = ROWS
            .iter()
            .map(|row| Ok(Bar { row: *row, label: label(row), ours: row.recompute()? }))
            .collect();
        let mut bars = bars?;
        bars.sort_by_key(|bar| bar.row.table);
        match bars.iter().find(|bar| !bar.ours.bound.is_finite()) {
            Some(bar) => Err(FigureError::Draw(format!("no recomputed bound for {}", bar.label))),
            None => Ok(Self { bars }),
        }
    }
}

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        (1060, 620)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        const LEFT: f64 = 290.0;
        let subtitle = format!(
            "Tables 1–3 of arXiv 2605.26222; each bound holds with probability {}. h₀: the \
             privately trained model; ρ: the PAC-Bayes posterior.",
            1.0 - DELTA
        );
        frame::title(canvas, TITLE, &subtitle)?;
        let bottom = self.layout(|_, _, _| Ok(()))? + 4.0;
        let area = |left, right| Rect { left, top: TOP + 4.0, right, bottom };
        let risks =
            Panel { area: area(LEFT, 720.0), x: Axis::Linear(0.0, 1.0), y: Axis::Linear(0.0, 1.0) };
        let differences = Panel {
            area: area(770.0, 1036.0),
            x: Axis::Linear(-3.0, 3.0),
            y: Axis::Linear(0.0, 1.0),
        };
        for panel in [risks, differences] {
            panel.vertical_grid(canvas)?;
        }
        differences.upright(canvas, 0.0, &Stroke::solid(AXIS, 1.0))?;
        self.layout(|bar, top, first| {
            if first {
                let bold = Type::new(size::PANEL, INK).bold();
                canvas.text(&heading(&bar.row), (24.0, top - 9.0), bold)?;
            }
            draw_bar(canvas, risks, bar, top)?;
            draw_difference(canvas, differences, bar, top)
        })?;
        for (panel, name, entries) in [
            (risks, "Risk, in [0, 1]", [EMPIRICAL, CERTIFIED]),
            (differences, "Recomputed − printed bound (10⁻³)", [ROUNDING, OURS]),
        ] {
            panel.x_axis(canvas, true)?;
            panel.x_name(canvas, name)?;
            legend::column(canvas, (panel.area.left, bottom + 62.0), "", &entries)?;
        }
        risks.upright(canvas, 0.0, &Stroke::solid(AXIS, 1.0))
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&["table", "row", "n", "quantity", "value", "low", "high"]);
        for Bar { row, label, ours } in &self.bars {
            for (quantity, value, low, high) in [
                ("empirical risk", row.empirical.value, row.empirical.low(), row.empirical.high()),
                ("printed bound", row.bound.value, row.bound.low(), row.bound.high()),
                ("recomputed bound", ours.bound, ours.low, ours.high),
            ] {
                table.push(vec![
                    row.table.to_string(),
                    label.clone(),
                    row.n.to_string(),
                    quantity.into(),
                    number(value)?,
                    number(low)?,
                    number(high)?,
                ]);
            }
        }
        Ok(table)
    }
}

fn draw_bar<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    panel: Panel,
    bar: &Bar,
    top: f64,
) -> Result<()> {
    let baseline = top + BAR / 2.0 + 0.36 * size::TICK;
    let text = Type::new(size::TICK, INK);
    canvas.text(&bar.label, (panel.area.left - 10.0, baseline), text.ending())?;
    let values = [(bar.row.bound.value, CERTIFIED_COLOUR), (bar.row.empirical.value, BLUE)];
    for (value, colour) in values {
        let Some(right) = panel.across(value) else { continue };
        let bottom = top + BAR;
        canvas.fill(Rect { left: panel.area.left, top, right, bottom }, colour)?;
    }
    if let (Some(empirical), Some(bound)) = (panel.across(values[1].0), panel.across(values[0].0)) {
        let inside = Type::new(size::TICK, PAPER).ending();
        canvas.text(&plain(values[1].0, 3), (empirical - 5.0, baseline), inside)?;
        canvas.text(&plain(values[0].0, 3), (bound + 6.0, baseline), text)?;
    }
    Ok(())
}

fn draw_difference<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    panel: Panel,
    bar: &Bar,
    top: f64,
) -> Result<()> {
    let middle = top + BAR / 2.0;
    let printed = bar.row.bound;
    let at = |bound: f64| panel.across(1000.0 * (bound - printed.value));
    if let (Some(left), Some(right)) = (at(printed.low()), at(printed.high())) {
        canvas.fill(Rect { left, top, right, bottom: top + BAR }, ROUNDING_COLOUR)?;
    }
    if let (Some(low), Some(value), Some(high)) =
        (at(bar.ours.low), at(bar.ours.bound), at(bar.ours.high))
    {
        interval(canvas, (low, middle), (high, middle), &OURS_STROKE)?;
        canvas.dot((value, middle), 4.0, VERMILLION)?;
    }
    Ok(())
}

/// The labels of the legend.
#[cfg(test)]
pub(crate) fn labels() -> Vec<&'static str> {
    [EMPIRICAL, CERTIFIED, ROUNDING, OURS].map(|entry| entry.label).to_vec()
}
