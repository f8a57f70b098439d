//! Drawing in logical pixels on any `plotters` backend.
//!
//! Backends take whole numbers. The canvas hands them quarters of a logical pixel, which the SVG
//! hides behind its view box and the PNG by averaging (render.rs).

use plotters_backend::{BackendColor, BackendCoord, BackendStyle, DrawingBackend};

use crate::error::{FigureError, Result, draw_error};
use crate::font::{Align, BASELINE, Label, Weight};
use crate::style::{Colour, PAPER, Stroke};

/// Backend units in a logical pixel.
pub(crate) const SCALE: u32 = 4;

/// Clear space at the edges of the surface.
const MARGIN: f64 = 4.0;

/// A point in logical pixels, from the upper left corner.
pub(crate) type Point = (f64, f64);

/// A rectangle in logical pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    /// The part of the segment inside the rectangle (Liang and Barsky).
    pub(crate) fn clip(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for (slope, room) in [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ] {
            if slope == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if slope < 0.0 {
                enter = enter.max(room / slope);
            } else {
                leave = leave.min(room / slope);
            }
        }
        let at = |t: f64| (from.0 + t * dx, from.1 + t * dy);
        // Ends that are not cut stay exactly what they are, so that pieces of a curve join.
        let start = if enter == 0.0 { from } else { at(enter) };
        let end = if leave == 1.0 { to } else { at(leave) };
        (enter <= leave).then_some((start, end))
    }
}

/// How a text is set, in logical pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Type {
    size: f64,
    weight: Weight,
    colour: Colour,
    align: Align,
    upwards: bool,
}

impl Type {
    /// Regular weight, starting at the anchor.
    pub(crate) const fn new(size: f64, colour: Colour) -> Self {
        Self { size, weight: Weight::Regular, colour, align: Align::Start, upwards: false }
    }

    /// The same in bold.
    pub(crate) const fn bold(self) -> Self {
        Self { weight: Weight::Bold, ..self }
    }

    /// The same with the anchor in the middle.
    pub(crate) const fn centred(self) -> Self {
        Self { align: Align::Middle, ..self }
    }

    /// The same with the anchor at the end.
    pub(crate) const fn ending(self) -> Self {
        Self { align: Align::End, ..self }
    }

    /// The same running upwards.
    pub(crate) const fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    /// Width of a text.
    pub(crate) fn width(self, text: &str) -> Result<f64> {
        crate::font::width(text, self.size, self.weight)
    }
}

/// How much of a tint is colour.
const TINT: f64 = 0.18;

/// A pen of a backend.
struct Pen {
    colour: Colour,
    width: u32,
}

/// A fill through which lines and other fills shine.
struct Tint(Colour);

impl BackendStyle for Tint {
    fn color(&self) -> BackendColor {
        let Colour(red, green, blue) = self.0;
        BackendColor { alpha: TINT, rgb: (red, green, blue) }
    }
}

impl BackendStyle for Pen {
    fn color(&self) -> BackendColor {
        let Colour(red, green, blue) = self.colour;
        BackendColor { alpha: 1.0, rgb: (red, green, blue) }
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

/// Logical to backend length.
#[allow(clippy::cast_possible_truncation)] // a few thousand
fn units(length: f64) -> i32 {
    (length * f64::from(SCALE)).round() as i32
}

fn coordinates(point: Point) -> BackendCoord {
    (units(point.0), units(point.1))
}

/// A drawing surface.
pub(crate) struct Canvas<'a, B: DrawingBackend> {
    backend: &'a mut B,
    excess: u32,
}

impl<'a, B: DrawingBackend> Canvas<'a, B> {
    /// A white surface. `excess` is how many units too wide the backend draws its lines.
    pub(crate) fn new(backend: &'a mut B, excess: u32) -> Result<Self> {
        let (width, height) = backend.get_size();
        backend.ensure_prepared().map_err(draw_error)?;
        let mut canvas = Self { backend, excess };
        let (right, bottom) =
            (f64::from(width) / f64::from(SCALE), f64::from(height) / f64::from(SCALE));
        canvas.fill(Rect { left: 0.0, top: 0.0, right, bottom }, PAPER)?;
        Ok(canvas)
    }

    /// Ends the drawing.
    pub(crate) fn finish(self) -> Result<()> {
        self.backend.present().map_err(draw_error)
    }

    /// A filled rectangle.
    pub(crate) fn fill(&mut self, rect: Rect, colour: Colour) -> Result<()> {
        let (from, to) =
            (coordinates((rect.left, rect.top)), coordinates((rect.right, rect.bottom)));
        self.backend.draw_rect(from, to, &Pen { colour, width: 1 }, true).map_err(draw_error)
    }

    /// A filled polygon through which what lies below can be seen.
    pub(crate) fn tint(&mut self, corners: &[Point], colour: Colour) -> Result<()> {
        let corners: Vec<_> = corners.iter().copied().map(coordinates).collect();
        self.backend.fill_polygon(corners, &Tint(colour)).map_err(draw_error)
    }

    /// A filled polygon.
    pub(crate) fn polygon(&mut self, corners: &[Point], colour: Colour) -> Result<()> {
        let corners: Vec<_> = corners.iter().copied().map(coordinates).collect();
        self.backend.fill_polygon(corners, &Pen { colour, width: 1 }).map_err(draw_error)
    }

    /// A filled circle.
    pub(crate) fn dot(&mut self, centre: Point, radius: f64, colour: Colour) -> Result<()> {
        let radius = units(radius).unsigned_abs();
        self.backend
            .draw_circle(coordinates(centre), radius, &Pen { colour, width: 1 }, true)
            .map_err(draw_error)
    }

    /// A circle of width 1.5 with a white inside.
    pub(crate) fn ring(&mut self, centre: Point, radius: f64, colour: Colour) -> Result<()> {
        self.dot(centre, radius, colour)?;
        self.dot(centre, radius - 1.5, PAPER)
    }

    /// A line through the points, with its dashes.
    pub(crate) fn line(&mut self, points: &[Point], stroke: &Stroke) -> Result<()> {
        let width = units(stroke.width).unsigned_abs().saturating_sub(self.excess).max(1);
        let pen = Pen { colour: stroke.colour, width };
        for piece in dashes(points, stroke.dash) {
            let mut path: Vec<_> = piece.into_iter().map(coordinates).collect();
            path.dedup();
            if path.len() > 1 {
                self.backend.draw_path(path, &pen).map_err(draw_error)?;
            }
        }
        Ok(())
    }

    /// A text whose baseline passes through `anchor`.
    ///
    /// Fails rather than let the text be cut by the edge of the surface.
    pub(crate) fn text(&mut self, text: &str, anchor: Point, style: Type) -> Result<()> {
        let (along, limit) = match (style.upwards, self.backend.get_size()) {
            (false, (width, _)) => (anchor.0, f64::from(width / SCALE)),
            (true, (_, height)) => {
                (f64::from(height / SCALE) - anchor.1, f64::from(height / SCALE))
            }
        };
        let width = style.width(text)?;
        let start = match style.align {
            Align::Start => along,
            Align::Middle => along - width / 2.0,
            Align::End => along - width,
        };
        if start < MARGIN || start + width > limit - MARGIN {
            return Err(FigureError::Draw(format!("{text:?} does not fit into the figure")));
        }
        let above = BASELINE * style.size;
        let top =
            if style.upwards { (anchor.0 - above, anchor.1) } else { (anchor.0, anchor.1 - above) };
        let label = Label {
            em: style.size * f64::from(SCALE),
            weight: style.weight,
            colour: style.colour,
            align: style.align,
            upwards: style.upwards,
        };
        self.backend.draw_text(text, &label, coordinates(top)).map_err(draw_error)
    }
}

/// Cuts a line into the drawn pieces of its dash pattern.
fn dashes(points: &[Point], pattern: &[f64]) -> Vec<Vec<Point>> {
    if pattern.is_empty() {
        return vec![points.to_vec()];
    }
    let (mut index, mut left) = (0, pattern[0]);
    let mut pieces = Vec::new();
    let mut piece: Vec<Point> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length < left {
                left -= length;
                if index % 2 == 0 {
                    piece.push(to);
                }
                break;
            }
            let share = if length > 0.0 { left / length } else { 1.0 };
            from = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            if index % 2 == 0 {
                piece.push(from);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![from];
            }
            index = (index + 1) % pattern.len();
            left = pattern[index];
        }
    }
    if index % 2 == 0 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_the_drawn_share_of_the_line() {
        let line = [(0.0, 0.0), (30.0, 0.0), (30.0, 24.0)];
        let pieces = dashes(&line, &[3.0, 2.0]);
        assert_eq!(pieces.len(), 11);
        let drawn: f64 = pieces
            .iter()
            .flat_map(|piece| piece.windows(2))
            .map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1))
            .sum();
        assert!((drawn - 33.0).abs() < 1e-9, "{drawn}");
        assert_eq!(dashes(&line, &[]), vec![line.to_vec()]);
    }

    #[test]
    fn clipping_keeps_the_inner_part_only() {
        let rect = Rect { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };
        assert_eq!(rect.clip((-5.0, 5.0), (5.0, 5.0)), Some(((0.0, 5.0), (5.0, 5.0))));
        assert_eq!(rect.clip((-5.0, 5.0), (-1.0, 5.0)), None);
        assert_eq!(rect.clip((2.0, 2.0), (3.0, 4.0)), Some(((2.0, 2.0), (3.0, 4.0))));
    }
}
