//! What the panels of a figure share: the title, where they stand, and the order of drawing.

use dpbounds_experiments::run::Spec;
use plotters_backend::DrawingBackend;

use crate::axes::Panel;
use crate::canvas::{Canvas, Point, Rect, Type};
use crate::error::Result;
use crate::legend;
use crate::style::{Colour, GREY, INK, Stroke, size};
use crate::text::shortened;
use crate::words::setup;

/// Left edge of the first and right edge of the last plot area.
pub(crate) const SIDES: (f64, f64) = (92.0, 1024.0);
/// From the first plot area to the name of its vertical axis.
pub(crate) const Y_NAME: f64 = 54.0;

/// Title and subtitle.
pub(crate) fn title<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    title: &str,
    subtitle: &str,
) -> Result<()> {
    canvas.text(title, (24.0, 34.0), Type::new(size::TITLE, INK).bold())?;
    canvas.text(subtitle, (24.0, 56.0), Type::new(size::SUBTITLE, GREY))
}

/// Upper edge of the plot areas below [`experiment_title`].
pub(crate) const TOP: f64 = 104.0;

/// What an experiment says about itself: the title, its summary, and what trains. Each is shortened where
/// it is too long.
pub(crate) fn experiment_title<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    words: &str,
    spec: &Spec,
) -> Result<()> {
    let room = SIDES.1 - 24.0;
    let style = Type::new(size::SUBTITLE, GREY);
    let words = shortened(words, Type::new(size::TITLE, INK).bold(), room)?;
    title(canvas, &words, &shortened(&spec.summary, style, room)?)?;
    canvas.text(&shortened(&setup(spec), style, room)?, (24.0, 76.0), style)
}

/// One plot area over the whole width.
pub(crate) const WHOLE: Rect =
    Rect { left: SIDES.0, top: TOP, right: SIDES.1, bottom: TOP + 320.0 };

/// `count` plot areas of equal width beside each other, `gap` apart.
pub(crate) fn columns(count: u32, gap: f64, top: f64, bottom: f64) -> impl Iterator<Item = Rect> {
    let width = (SIDES.1 - SIDES.0 + gap) / f64::from(count) - gap;
    (0..count).map(move |index| {
        let left = SIDES.0 + f64::from(index) * (width + gap);
        Rect { left, top, right: left + width, bottom }
    })
}

/// Grid, curves, axes: in this order, so that curves lie on the grid and axes on the curves.
pub(crate) fn plot<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    panel: &Panel,
    curves: impl IntoIterator<Item = (Vec<Point>, Stroke)>,
    (x_labelled, y_labelled): (bool, bool),
) -> Result<()> {
    panel.vertical_grid(canvas)?;
    panel.horizontal_grid(canvas)?;
    for (points, stroke) in curves {
        panel.curve(canvas, &points, &stroke)?;
    }
    panel.x_axis(canvas, x_labelled)?;
    panel.y_axis(canvas, y_labelled)
}

/// A dot at each point that the panel shows.
pub(crate) fn dots<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    panel: &Panel,
    points: &[Point],
    colour: Colour,
) -> Result<()> {
    let mut places = points.iter().filter_map(|&point| panel.place(point));
    places.try_for_each(|place| canvas.dot(place, legend::DOT, colour))
}

/// A hollow circle at each point that the panel shows: an estimate.
pub(crate) fn rings<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    panel: &Panel,
    points: &[Point],
    colour: Colour,
) -> Result<()> {
    let mut places = points.iter().filter_map(|&point| panel.place(point));
    places.try_for_each(|place| canvas.ring(place, legend::RING, colour))
}

/// The least distance between the names of two curves.
const NAME_STEP: f64 = 14.0;

/// Names at the ends of the curves, moved apart where the ends are close.
pub(crate) fn names<'a, B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    panel: &Panel,
    ends: impl Iterator<Item = (Option<Point>, &'a str)>,
) -> Result<()> {
    let mut places: Vec<_> =
        ends.filter_map(|(end, name)| Some((panel.place(end?)?, name))).collect();
    places.sort_by(|one, other| one.0.1.total_cmp(&other.0.1));
    let mut lowest = f64::NEG_INFINITY;
    for ((x, y), name) in places {
        lowest = y.max(lowest + NAME_STEP);
        let place = (x + 12.0, lowest + 0.36 * size::TICK);
        canvas.text(name, place, Type::new(size::TICK, INK))?;
    }
    Ok(())
}

/// A point with its standard error, if there is one.
pub(crate) type Measured = (f64, f64, Option<f64>);

/// Dots with bars of one standard error, cut at the edges of the plot area.
pub(crate) fn measured<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    panel: &Panel,
    points: &[Measured],
    colour: Colour,
) -> Result<()> {
    for &(x, mean, error) in points {
        let Some((across, place)) = panel.place((x, mean)) else { continue };
        if let Some(error) = error {
            // A logarithmic axis has no place for an end below zero.
            let end = |value| panel.up(value).unwrap_or(panel.area.bottom);
            let inside = |y: f64| y.clamp(panel.area.top, panel.area.bottom);
            let ends = (inside(end(mean - error)), inside(end(mean + error)));
            legend::error_bar(canvas, across, ends, colour)?;
        }
        canvas.dot((across, place), legend::DOT, colour)?;
    }
    Ok(())
}

/// A region between two curves over the same abscissae, cut at the upper and lower edges. Points that
/// the axes cannot show are left out.
pub(crate) fn region<B: DrawingBackend>(
    canvas: &mut Canvas<B>,
    panel: &Panel,
    (lower, upper): (&[Point], &[Point]),
    colour: Colour,
) -> Result<()> {
    let place = |&(x, y): &Point| Some((panel.across(x)?, panel.up(y)?));
    let corners: Vec<Point> = lower.iter().chain(upper.iter().rev()).filter_map(place).collect();
    let Rect { top, bottom, .. } = panel.area;
    let corners = cut(&corners, |y| y - top, top);
    let corners = cut(&corners, |y| bottom - y, bottom);
    if corners.is_empty() { Ok(()) } else { canvas.tint(&corners, colour) }
}

/// The part of a polygon on one side of a horizontal edge (Sutherland and Hodgman).
fn cut(corners: &[Point], inside: impl Fn(f64) -> f64, edge: f64) -> Vec<Point> {
    let mut kept = Vec::new();
    let Some(mut from) = corners.last().copied() else { return kept };
    for &to in corners {
        let (before, after) = (inside(from.1), inside(to.1));
        if (before >= 0.0) != (after >= 0.0) {
            let share = before / (before - after);
            kept.push((from.0 + share * (to.0 - from.0), edge));
        }
        if after >= 0.0 {
            kept.push(to);
        }
        from = to;
    }
    kept
}

/// Least and greatest of some numbers.
pub(crate) fn span(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    numbers.fold(None, |span, number| {
        let (low, high) = span.unwrap_or((number, number));
        Some((low.min(number), high.max(number)))
    })
}

/// A name, and how many of its runs are missing.
pub(crate) fn with_diverged(name: &str, diverged: usize) -> String {
    match diverged {
        0 => name.to_owned(),
        1 => format!("{name} (1 run diverged)"),
        _ => format!("{name} ({diverged} runs diverged)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polygon_is_cut_at_an_edge() {
        let square = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)];
        let kept = cut(&square, |y| y - 1.0, 1.0);
        assert_eq!(kept, [(0.0, 1.0), (4.0, 1.0), (4.0, 4.0), (0.0, 4.0)]);
        assert_eq!(cut(&square, |y| y + 1.0, -1.0), square);
        assert!(cut(&square, |y| y - 5.0, 5.0).is_empty());
    }
}
