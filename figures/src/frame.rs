//! What the panels of a figure share: the title, where they stand, and the order of drawing.

use plotters_backend::DrawingBackend;

use crate::axes::Panel;
use crate::canvas::{Canvas, Point, Rect, Type};
use crate::error::Result;
use crate::legend;
use crate::style::{Colour, GREY, INK, Stroke, size};

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
