//! Legends: drawn outside the plot area, with samples of the true dashes.

use plotters_backend::DrawingBackend;

use crate::canvas::{Canvas, Point, Rect, Type};
use crate::error::Result;
use crate::style::{Colour, INK, Stroke, size};

/// What an entry shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark {
    /// A curve.
    Line(Stroke),
    /// A curve with a dot at every evaluated point.
    Dotted(Stroke),
    /// A hollow point.
    Hollow(Colour),
    /// A bar.
    Bar(Colour),
    /// A point with its interval.
    Interval(Stroke, Colour),
    /// A point with its error bar.
    Error(Colour),
    /// A shaded region.
    Region(Colour),
}

/// One line of a legend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub label: &'static str,
    pub mark: Mark,
}

/// Width of a sample: two periods of the longest dash pattern.
const SAMPLE: f64 = 44.0;
/// Between sample and label.
const GAP: f64 = 8.0;
/// From the left edge to the label.
pub(crate) const INDENT: f64 = SAMPLE + GAP;
/// Radius of the dots on a curve, and of a hollow point, which shows around such a dot.
pub(crate) const DOT: f64 = 3.0;
pub(crate) const RING: f64 = 6.0;
/// From one line to the next.
pub(crate) const LINE: f64 = 20.0;
const TEXT: Type = Type::new(size::LEGEND, INK);

/// Entries below each other under a bold heading; returns the width.
pub(crate) fn column<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    (left, top): Point,
    heading: &str,
    entries: &[Entry],
) -> Result<f64> {
    let bold = TEXT.bold();
    let mut baseline = top + size::LEGEND;
    let mut widest = bold.width(heading)?;
    if !heading.is_empty() {
        canvas.text(heading, (left, baseline), bold)?;
        baseline += LINE;
    }
    for entry in entries {
        widest = widest.max(line(canvas, (left, baseline), entry.mark, entry.label)?);
        baseline += LINE;
    }
    Ok(widest)
}

/// One entry on its baseline; returns the width.
pub(crate) fn line<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    (left, baseline): Point,
    mark: Mark,
    label: &str,
) -> Result<f64> {
    sample(canvas, (left, baseline - 0.36 * size::LEGEND), mark)?;
    canvas.text(label, (left + INDENT, baseline), TEXT)?;
    Ok(INDENT + TEXT.width(label)?)
}

fn sample<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    (left, middle): Point,
    mark: Mark,
) -> Result<()> {
    let ends = [(left, middle), (left + SAMPLE, middle)];
    match mark {
        Mark::Line(stroke) => canvas.line(&ends, &stroke),
        Mark::Dotted(stroke) => {
            canvas.line(&ends, &stroke)?;
            canvas.dot((left + SAMPLE / 2.0, middle), DOT, stroke.colour)
        }
        Mark::Hollow(colour) => canvas.ring((left + SAMPLE / 2.0, middle), RING, colour),
        Mark::Bar(colour) => {
            let rect = Rect { left, top: middle - 5.0, right: left + SAMPLE, bottom: middle + 5.0 };
            canvas.fill(rect, colour)
        }
        Mark::Interval(stroke, colour) => {
            interval(canvas, ends[0], ends[1], &stroke)?;
            canvas.dot((left + SAMPLE / 2.0, middle), 4.0, colour)
        }
        Mark::Error(colour) => {
            error_bar(canvas, left + SAMPLE / 2.0, (middle - 7.0, middle + 7.0), colour)?;
            canvas.dot((left + SAMPLE / 2.0, middle), DOT, colour)
        }
        Mark::Region(colour) => {
            let corners = [(0.0, -5.0), (SAMPLE, -5.0), (SAMPLE, 5.0), (0.0, 5.0)];
            canvas.tint(&corners.map(|(x, y)| (left + x, middle + y)), colour)
        }
    }
}

/// A vertical line with end marks.
pub(crate) fn error_bar<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    x: f64,
    (from, to): (f64, f64),
    colour: Colour,
) -> Result<()> {
    let stroke = Stroke::solid(colour, 1.25);
    canvas.line(&[(x, from), (x, to)], &stroke)?;
    for y in [from, to] {
        canvas.line(&[(x - 4.0, y), (x + 4.0, y)], &stroke)?;
    }
    Ok(())
}

/// A horizontal interval with end marks.
pub(crate) fn interval<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    from: Point,
    to: Point,
    stroke: &Stroke,
) -> Result<()> {
    canvas.line(&[from, to], stroke)?;
    for (x, y) in [from, to] {
        canvas.line(&[(x, y - 4.0), (x, y + 4.0)], stroke)?;
    }
    Ok(())
}
