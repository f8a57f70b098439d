//! The ledger as a picture: every claim with its verdict and its slack.

use std::path::{Path, PathBuf};

use dpbounds_experiments::ledger::{
    Claim, Entry, LedgerOptions, Level, Verdict, Work, claims, verify,
};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel, plain, power_label};
use crate::canvas::{Canvas, Point, Rect, Type};
use crate::error::Result;
use crate::files;
use crate::frame;
use crate::render::{About, Plot, render};
use crate::style::{
    AXIS, BLUE, Colour, GREEN, GREY, GRID, HALO, INK, PAPER, PURPLE, SHADE, Stroke, VERMILLION,
    size,
};
use crate::table::{Table, number};

/// Name of the figure of the ledger.
pub const LEDGER: &str = "ledger";
pub(crate) const TITLE: &str = "The ledger: every claim, its verdict and its slack";
pub(crate) const SUMMARY: &str = "Every numbered claim of both papers, and ours, with the verdict \
    of its check and the slack that is left: relative, 0 is the border, 1 is far inside, negative \
    is a violation. A statement that needs a correction shows the slack of the corrected form too.";

/// A claim with what is known of it.
struct Row {
    claim: &'static Claim,
    entry: Entry,
}

/// A line of the picture.
enum Line<'a> {
    /// The name of a source, or of what goes on from the column before.
    Heading(&'a str, bool),
    Row(&'a Row),
}

pub(crate) struct Plotted {
    rows: Vec<Row>,
}

/// Columns of rows, the left edge of the first, from one to the next, and their width.
const COLUMNS: usize = 3;
const LEFT: f64 = 24.0;
const PITCH: f64 = 344.0;
const WIDTH: f64 = 324.0;
/// Where slacks are drawn, in a column: violations, then margins.
const VIOLATIONS: (f64, f64) = (164.0, 196.0);
const MARGINS: (f64, f64) = (196.0, WIDTH);
/// From the symbol of a row to its name.
const INDENT: f64 = 13.0;
/// Labelled slacks above the border; the border itself stands for 0.
const TICKS: [i32; 3] = [-8, -4, 0];
/// Slacks below this are at the border up to rounding, and drawn there.
const LEAST: f64 = 1e-13;
const TOP: f64 = 104.0;
const STEP: f64 = 16.0;

/// The sources in the order of the registry.
const WORKS: [(Work, &str); 3] = [
    (Work::Kan, "arXiv 2605.12648 (K)"),
    (Work::MaxInformation, "arXiv 2605.26222 (M)"),
    (Work::Ours, "Ours"),
];

impl Plotted {
    /// The entries of all claims that have one, in the order of the papers.
    pub(crate) fn new(entries: &[Entry]) -> Self {
        let row = |claim: &'static Claim| {
            let entry = entries.iter().find(|entry| entry.id == claim.id)?;
            Some(Row { claim, entry: entry.clone() })
        };
        let of = |work| claims().filter(move |claim| claim.work == work).filter_map(row);
        Self { rows: WORKS.iter().flat_map(|(work, _)| of(*work)).collect() }
    }

    /// The lines of every column.
    fn columns(&self) -> Vec<Vec<Line<'_>>> {
        let count = self.rows.len() + WORKS.len() + COLUMNS - 1;
        let most = count.div_ceil(COLUMNS);
        let mut columns: Vec<Vec<Line>> = vec![Vec::new()];
        let mut last = None;
        for row in &self.rows {
            let heading = WORKS
                .iter()
                .find(|(work, _)| *work == row.claim.work)
                .map_or("", |(_, name)| *name);
            let new = last != Some(heading);
            // A heading never ends a column.
            let full = columns.last().is_some_and(|lines| lines.len() + usize::from(new) >= most);
            if full && columns.len() < COLUMNS {
                columns.push(Vec::new());
            }
            if let Some(lines) = columns.last_mut() {
                if new || lines.is_empty() {
                    lines.push(Line::Heading(heading, !new));
                }
                lines.push(Line::Row(row));
            }
            last = Some(heading);
        }
        columns
    }

    fn lines(&self) -> usize {
        self.columns().iter().map(Vec::len).max().unwrap_or(0)
    }

    fn bottom(&self) -> f64 {
        #[allow(clippy::cast_precision_loss)] // a hundred
        let lines = self.lines() as f64;
        TOP + lines * STEP + 4.0
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.entry.verdict == verdict).count()
    }

    fn subtitle(&self) -> String {
        let level = self.rows.first().map_or(Level::Quick, |row| row.entry.level);
        format!(
            "{} claims at the {level} level. Slack is relative: 0 is the border, 1 is far inside, \
             negative is a violation. Behind a name: its entry in the errata.",
            self.rows.len()
        )
    }
}

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a thousand
        let height = (self.bottom() + 56.0).ceil() as u32;
        (1060, height)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        frame::title(canvas, TITLE, &self.subtitle())?;
        self.legend(canvas)?;
        let mut left = LEFT;
        for lines in self.columns() {
            column(canvas, &lines, left, self.bottom())?;
            left += PITCH;
        }
        Ok(())
    }

    fn table(&self) -> Result<Table> {
        const COLUMNS: [&str; 9] = [
            "claim",
            "work",
            "verdict",
            "on record",
            "slack",
            "corrected slack",
            "errata",
            "how",
            "level",
        ];
        let mut table = Table::new(&COLUMNS);
        let slack = |value: Option<f64>| value.map_or_else(|| Ok("none".into()), number);
        for Row { claim, entry } in &self.rows {
            let errata =
                if claim.errata.is_empty() { "none".into() } else { claim.errata.join(" ") };
            table.push(vec![
                claim.id.into(),
                claim.work.cited().into(),
                entry.verdict.name().into(),
                claim.expected.name().into(),
                slack(entry.slack)?,
                slack(entry.corrected_slack)?,
                errata,
                claim.method.name().into(),
                entry.level.to_string(),
            ]);
        }
        Ok(table)
    }
}

impl Plotted {
    /// The verdicts that occur, with how often.
    fn legend<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        let text = Type::new(size::TICK, INK);
        let (mut x, y) = (LEFT + 4.0, 80.0);
        for verdict in Verdict::ALL {
            let count = self.count(verdict);
            if count == 0 {
                continue;
            }
            symbol(canvas, verdict, (x, y - 4.0))?;
            let label = format!("{} ({count})", verdict.name());
            canvas.text(&label, (x + 11.0, y), text)?;
            x += 11.0 + text.width(&label)? + 30.0;
        }
        Ok(())
    }
}

/// One column with its axis.
fn column<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    lines: &[Line<'_>],
    left: f64,
    bottom: f64,
) -> Result<()> {
    let area =
        |(from, to): (f64, f64)| Rect { left: left + from, top: TOP, right: left + to, bottom };
    let violations =
        Panel { area: area(VIOLATIONS), x: Axis::Linear(-1.0, 0.0), y: Axis::Linear(0.0, 1.0) };
    let margins =
        Panel { area: area(MARGINS), x: Axis::Log(LEAST, 1.0), y: Axis::Linear(0.0, 1.0) };
    canvas.fill(violations.area, SHADE)?;
    for exponent in TICKS {
        margins.upright(canvas, 10f64.powi(exponent), &Stroke::solid(GRID, 0.75))?;
    }
    margins.upright(canvas, LEAST, &Stroke::solid(AXIS, 1.0))?;
    let mut middle = TOP + STEP / 2.0;
    for line in lines {
        match line {
            Line::Heading(name, again) => heading(canvas, name, *again, (left, middle))?,
            Line::Row(row) => draw_row(canvas, row, [violations, margins], (left, middle))?,
        }
        middle += STEP;
    }
    axis(canvas, violations, margins)
}

/// The horizontal axis under both parts.
fn axis<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    violations: Panel,
    margins: Panel,
) -> Result<()> {
    let Rect { left, bottom, .. } = violations.area;
    let line = Stroke::solid(AXIS, 1.0);
    let text = Type::new(size::TICK, INK).centred();
    canvas.line(&[(left, bottom), (margins.area.right, bottom)], &line)?;
    let powers = TICKS.map(|exponent| {
        let label = if exponent == 0 { "1".to_owned() } else { power_label(exponent) };
        (margins.across(10f64.powi(exponent)), label)
    });
    let ends = [(Some(left), plain(-1.0, 0)), (Some(margins.area.left), plain(0.0, 0))];
    for (x, label) in ends.into_iter().chain(powers) {
        let Some(x) = x else { continue };
        canvas.line(&[(x, bottom), (x, bottom + 5.0)], &line)?;
        canvas.text(&label, (x, bottom + 8.0 + size::TICK), text)?;
    }
    let middle = 0.5 * (left + margins.area.right);
    canvas.text("Slack (logarithmic above 0)", (middle, bottom + 40.0), text)
}

fn heading<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    name: &str,
    again: bool,
    (left, middle): Point,
) -> Result<()> {
    // No grid behind a heading, which is longer than a name.
    let (top, bottom) = (middle - STEP / 2.0, middle + STEP / 2.0);
    canvas.fill(Rect { left, top, right: left + WIDTH + 1.0, bottom }, PAPER)?;
    let style = Type::new(size::TICK, INK).bold();
    let text = if again { format!("{name}, continued") } else { name.to_owned() };
    canvas.text(&text, (left, middle + 0.36 * size::TICK), style)
}

fn draw_row<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    row: &Row,
    panels: [Panel; 2],
    (left, middle): Point,
) -> Result<()> {
    let Row { claim, entry } = row;
    let baseline = middle + 0.36 * size::NOTE;
    let surprising = !entry.is_expected(claim) && entry.verdict != Verdict::NotRun;
    if surprising {
        let (top, bottom) = (middle - STEP / 2.0, middle + STEP / 2.0);
        let right = left + VIOLATIONS.0;
        canvas.fill(Rect { left: left - 3.0, top, right, bottom }, HALO)?;
    }
    let name = Type::new(size::NOTE, INK);
    canvas.text(claim.id, (left + INDENT, baseline), name)?;
    let grey = Type::new(size::NOTE, GREY);
    if !claim.errata.is_empty() {
        let errata = claim.errata.join(" ");
        canvas.text(&errata, (left + INDENT + name.width(claim.id)? + 7.0, baseline), grey)?;
    }
    symbol(canvas, entry.verdict, (left + 4.0, middle))?;
    let faint = Stroke::solid(GRID, 0.75);
    let ends = [(panels[0].area.left, middle), (panels[1].area.right, middle)];
    canvas.line(&ends, &faint)?;
    let Some(slack) = entry.slack.or(entry.corrected_slack) else {
        return Ok(());
    };
    let border = panels[1].area.left;
    let corrected = entry.corrected_slack.filter(|_| entry.slack.is_some());
    for (slack, verdict) in corrected
        .map(|slack| (slack, Verdict::HoldsCorrected))
        .into_iter()
        .chain([(slack, entry.verdict)])
    {
        let at = place(panels, slack);
        canvas.line(&[(border, middle), (at, middle)], &Stroke::solid(colour(verdict), 1.5))?;
        symbol(canvas, verdict, (at, middle))?;
    }
    Ok(())
}

/// The horizontal position of a slack.
fn place([violations, margins]: [Panel; 2], slack: f64) -> f64 {
    let border = margins.area.left;
    if slack < 0.0 {
        return violations.across(slack.max(-1.0)).unwrap_or(border);
    }
    margins.across(slack.clamp(LEAST, 1.0)).unwrap_or(border)
}

fn colour(verdict: Verdict) -> Colour {
    match verdict {
        Verdict::Holds => BLUE,
        Verdict::HoldsCorrected => GREEN,
        Verdict::FalseAsPrinted => VERMILLION,
        Verdict::NotCheckable | Verdict::NotRun => GREY,
        Verdict::Violated => INK,
        Verdict::Undecided => PURPLE,
    }
}

/// Half of the size of a symbol.
const HALF: f64 = 4.0;

/// Verdicts differ in shape and in colour.
fn symbol<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    verdict: Verdict,
    (x, y): Point,
) -> Result<()> {
    let colour = colour(verdict);
    let stroke = Stroke::solid(colour, 2.25);
    let reach = HALF + 0.5;
    match verdict {
        Verdict::Holds => canvas.dot((x, y), HALF - 0.5, colour),
        Verdict::HoldsCorrected => {
            let tip = HALF + 1.25;
            canvas.polygon(&[(x - tip, y), (x, y - tip), (x + tip, y), (x, y + tip)], colour)
        }
        Verdict::FalseAsPrinted => {
            for slope in [-1.0, 1.0] {
                let ends = [(x - reach, y - slope * reach), (x + reach, y + slope * reach)];
                canvas.line(&ends, &stroke)?;
            }
            Ok(())
        }
        Verdict::NotCheckable => canvas.line(&[(x - reach, y), (x + reach, y)], &stroke),
        Verdict::Violated => {
            let tip = HALF + 1.5;
            canvas.polygon(&[(x - tip, y + HALF), (x, y - tip), (x + tip, y + HALF)], colour)
        }
        Verdict::Undecided => {
            let rect = Rect { left: x - HALF, top: y - HALF, right: x + HALF, bottom: y + HALF };
            canvas.fill(rect, colour)
        }
        Verdict::NotRun => canvas.ring((x, y), HALF, colour),
    }
}

/// Writes `ledger.svg`, `.png` and `.csv` of these entries into an existing directory and returns their paths.
///
/// Claims without an entry are left out. `provenance` (version, command line) is recorded in each file.
///
/// # Errors
/// As [`Figure::write`](crate::Figure::write).
///
/// # Examples
/// ```
/// use dpbounds_experiments::ledger::{LedgerOptions, Level, find, verify};
/// let claims = find(&["K-B.2", "M-Table"]).unwrap();
/// let options = LedgerOptions { level: Level::Quick, directory: None, resume: false, threads: Some(1) };
/// let entries = verify(&claims, &options, &|_, _, _| ())?;
/// let directory = tempfile::tempdir()?;
/// let files = dpbounds_figures::write_ledger(&entries, directory.path(), "an example")?;
/// assert!(files[0].ends_with("ledger.svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_ledger(entries: &[Entry], directory: &Path, provenance: &str) -> Result<Vec<PathBuf>> {
    let about = About { title: TITLE, summary: SUMMARY, provenance };
    files::write_all(directory, LEDGER, render(&Plotted::new(entries), &about)?)
}

/// Runs the quick level in memory and draws it.
pub(crate) fn run_and_write(
    directory: &Path,
    provenance: &str,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<PathBuf>> {
    let all: Vec<&Claim> = claims().collect();
    let options =
        LedgerOptions { level: Level::Quick, directory: None, resume: false, threads: None };
    let entries = verify(&all, &options, &|done, total, _| progress(done, total))?;
    write_ledger(&entries, directory, provenance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{PROVENANCE, check_files};

    /// Entries of all claims with the verdicts on record, and slacks over the whole range.
    fn entries() -> Vec<Entry> {
        let slacks = [1e-12, 1e-6, 0.1, 1.0];
        let entry = |(index, claim): (usize, &Claim)| {
            let checked = !matches!(claim.expected, Verdict::NotCheckable | Verdict::NotRun);
            let slack = slacks[index % slacks.len()];
            let (printed, corrected) = match claim.expected {
                _ if !checked => (None, None),
                Verdict::FalseAsPrinted => (Some(-slack), Some(slack)),
                Verdict::HoldsCorrected => (None, Some(slack)),
                _ => (Some(slack), None),
            };
            Entry {
                id: claim.id.to_owned(),
                level: Level::Full,
                version: "test".into(),
                verdict: claim.expected,
                slack: printed,
                corrected_slack: corrected,
                ran: "a test".into(),
                seconds: 1.0,
            }
        };
        claims().enumerate().map(entry).collect()
    }

    #[test]
    fn every_claim_has_a_row() {
        let mut entries = entries();
        let changed = entries.iter_mut().find(|entry| entry.id == "K-B.2").unwrap();
        changed.verdict = Verdict::Violated;
        let draw = |directory: &Path| write_ledger(&entries, directory, PROVENANCE).unwrap();
        let names: Vec<&str> = claims().map(|claim| claim.id).collect();
        let rows = check_files(LEDGER, draw, &names);
        assert_eq!(rows.len(), names.len());
        let row = rows.iter().find(|row| &row[0] == "K-B.2").unwrap();
        assert_eq!((&row[2], &row[3]), ("violated", "holds"));
    }

    #[test]
    fn columns_are_balanced_and_continue_what_they_split() {
        let plotted = Plotted::new(&entries());
        let columns = plotted.columns();
        assert_eq!(columns.len(), COLUMNS);
        let lengths: Vec<usize> = columns.iter().map(Vec::len).collect();
        assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 3, "{lengths:?}");
        for lines in &columns {
            assert!(
                matches!(lines[0], Line::Heading(..)) && matches!(lines.last(), Some(Line::Row(_)))
            );
        }
    }

    #[test]
    fn verdicts_differ_in_colour_or_are_grey() {
        let colours = Verdict::ALL.map(colour);
        for (index, one) in colours.iter().enumerate() {
            assert!(*one == GREY || !colours[..index].contains(one));
        }
    }

    #[test]
    fn slacks_are_placed_in_order() {
        let area = |(left, right)| Rect { left, top: 0.0, right, bottom: 1.0 };
        let y = Axis::Linear(0.0, 1.0);
        let panels = [
            Panel { area: area(VIOLATIONS), x: Axis::Linear(-1.0, 0.0), y },
            Panel { area: area(MARGINS), x: Axis::Log(LEAST, 1.0), y },
        ];
        let places = [-2.0, -0.5, 0.0, 1e-9, 0.5, 1.0].map(|slack| place(panels, slack));
        assert!(places.is_sorted() && places[0] == VIOLATIONS.0 && places[5] == MARGINS.1);
        assert_eq!(place(panels, 0.0), MARGINS.0);
    }
}
