//! The embedded typeface: the same outlines in the PNG and, as a `@font-face`, in the SVG.
//!
//! The files are subsets of DejaVu Sans (assets/README.md). `plotters` itself can draw with an
//! embedded font, but leaves out the side bearings of the glyphs and places bitmap text higher than
//! SVG text; [`Label`] draws the glyphs itself, on the baseline that the SVG backend uses.

use std::fmt::Write;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendTextStyle, FontFamily, FontStyle, FontTransform,
};

use crate::error::{FigureError, Result, draw_error};
use crate::style::Colour;

/// Name of the family, in the SVG and of the embedded faces.
pub(crate) const FAMILY: &str = "DejaVu Sans";

const REGULAR: &[u8] = include_bytes!("../assets/DejaVuSans-subset.ttf");
const BOLD: &[u8] = include_bytes!("../assets/DejaVuSans-Bold-subset.ttf");

/// `plotters-svg` writes the size divided by this.
const SIZE_PER_EM: f64 = 1.24;
/// `plotters-svg` puts the baseline this many em below a top anchor.
pub(crate) const BASELINE: f64 = 0.76;

/// A face of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

impl Weight {
    fn face(self) -> Result<FontRef<'static>> {
        let bytes = match self {
            Self::Regular => REGULAR,
            Self::Bold => BOLD,
        };
        FontRef::try_from_slice(bytes).map_err(draw_error)
    }
}

/// The scale at which the em square has side `em`.
fn scale(face: &FontRef<'static>, em: f64) -> PxScale {
    let units = face.units_per_em().unwrap_or(2048.0);
    #[allow(clippy::cast_possible_truncation)] // a few hundred
    PxScale::from(em as f32 * face.height_unscaled() / units)
}

/// Calls `place` with every glyph and its distance from the start, and returns the total advance.
fn set(
    face: &FontRef<'static>,
    text: &str,
    scale: PxScale,
    mut place: impl FnMut(ab_glyph::GlyphId, f32),
) -> f32 {
    let scaled = face.as_scaled(scale);
    let (mut pen, mut previous) = (0.0, None);
    for character in text.chars() {
        let glyph = scaled.glyph_id(character);
        if let Some(previous) = previous {
            pen += scaled.kern(previous, glyph);
        }
        place(glyph, pen);
        pen += scaled.h_advance(glyph);
        previous = Some(glyph);
    }
    pen
}

/// Width of a text at the given em size.
pub(crate) fn width(text: &str, em: f64, weight: Weight) -> Result<f64> {
    let face = weight.face()?;
    Ok(f64::from(set(&face, text, scale(&face, em), |_, _| ())))
}

/// Whether every character has a glyph in both faces.
#[cfg(test)]
pub(crate) fn covers(text: &str) -> bool {
    [Weight::Regular, Weight::Bold].iter().all(|weight| {
        let face = weight.face().unwrap();
        text.chars().all(|character| face.glyph_id(character).0 != 0)
    })
}

/// The two faces as a style sheet. Advances are not rounded to pixels, as in the PNG.
pub(crate) fn style_sheet() -> String {
    let mut sheet = String::from("text{text-rendering:geometricPrecision}\n");
    for (weight, bytes) in [("normal", REGULAR), ("bold", BOLD)] {
        let _ = writeln!(
            sheet,
            "@font-face{{font-family:\"{FAMILY}\";font-weight:{weight};\
             src:url(data:font/ttf;base64,{}) format(\"truetype\")}}",
            STANDARD.encode(bytes)
        );
    }
    sheet
}

/// How a text is set; `em` is in the units of the backend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label {
    pub em: f64,
    pub weight: Weight,
    pub colour: Colour,
    pub align: Align,
    /// Whether the text runs upwards.
    pub upwards: bool,
}

/// Where the anchor of a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Middle,
    End,
}

impl BackendTextStyle for Label {
    type FontError = FigureError;

    fn color(&self) -> BackendColor {
        let Colour(red, green, blue) = self.colour;
        BackendColor { alpha: 1.0, rgb: (red, green, blue) }
    }

    fn size(&self) -> f64 {
        self.em * SIZE_PER_EM
    }

    fn transform(&self) -> FontTransform {
        if self.upwards { FontTransform::Rotate270 } else { FontTransform::None }
    }

    fn style(&self) -> FontStyle {
        match self.weight {
            Weight::Regular => FontStyle::Normal,
            Weight::Bold => FontStyle::Bold,
        }
    }

    fn anchor(&self) -> Pos {
        let horizontal = match self.align {
            Align::Start => HPos::Left,
            Align::Middle => HPos::Center,
            Align::End => HPos::Right,
        };
        Pos::new(horizontal, VPos::Top)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::Name(FAMILY)
    }

    fn layout_box(&self, text: &str) -> Result<((i32, i32), (i32, i32))> {
        let width = width(text, self.em, self.weight)?;
        #[allow(clippy::cast_possible_truncation)] // a few thousand
        Ok(((0, 0), (width.round() as i32, self.em.round() as i32)))
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // a few thousand
    fn draw<E, DrawFunc: FnMut(i32, i32, BackendColor) -> std::result::Result<(), E>>(
        &self,
        text: &str,
        (left, top): BackendCoord,
        mut draw: DrawFunc,
    ) -> Result<std::result::Result<(), E>> {
        let face = self.weight.face()?;
        let size = scale(&face, self.em);
        let baseline = (BASELINE * self.em) as f32;
        let mut outlines = Vec::new();
        set(&face, text, size, |glyph, pen| {
            let glyph = glyph.with_scale_and_position(size, point(pen, baseline));
            outlines.extend(face.outline_glyph(glyph));
        });
        let mut outcome = Ok(());
        for outline in outlines {
            let corner = outline.px_bounds().min;
            outline.draw(|x, y, coverage| {
                if outcome.is_ok() && coverage > 0.0 {
                    outcome = draw(
                        left + corner.x as i32 + x as i32,
                        top + corner.y as i32 + y as i32,
                        self.color().mix(f64::from(coverage.min(1.0))),
                    );
                }
            });
        }
        Ok(outcome)
    }
}
