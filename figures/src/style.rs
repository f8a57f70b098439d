//! House style: colours that colour-blind readers can tell apart, line widths, dashes, text sizes.
//!
//! Colours are those of Okabe and Ito (2008). Lengths are in logical pixels: a figure is about a
//! thousand of them wide. Two curves of one panel differ in colour *and* in dash, or in colour
//! with their names written at their ends.

/// An opaque colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colour(pub u8, pub u8, pub u8);

pub(crate) const BLUE: Colour = Colour(0, 114, 178);
pub(crate) const GREEN: Colour = Colour(0, 158, 115);
pub(crate) const ORANGE: Colour = Colour(230, 159, 0);
pub(crate) const PURPLE: Colour = Colour(204, 121, 167);
pub(crate) const SKY: Colour = Colour(86, 180, 233);
pub(crate) const VERMILLION: Colour = Colour(213, 94, 0);

/// Text and marks.
pub(crate) const INK: Colour = Colour(26, 26, 26);
/// Text of lesser weight.
pub(crate) const GREY: Colour = Colour(95, 95, 95);
/// Axes and ticks.
pub(crate) const AXIS: Colour = Colour(70, 70, 70);
/// Grid lines.
pub(crate) const GRID: Colour = Colour(226, 226, 226);
/// Shaded regions.
pub(crate) const SHADE: Colour = Colour(238, 238, 238);
/// The broad line under the smallest bound.
pub(crate) const HALO: Colour = Colour(250, 231, 150);
/// Background.
pub(crate) const PAPER: Colour = Colour(255, 255, 255);

/// Lengths of drawn and undrawn pieces in turn; empty for a solid line.
pub(crate) type Dash = &'static [f64];

pub(crate) const SOLID: Dash = &[];
pub(crate) const LONG_DASH: Dash = &[13.0, 4.0];
pub(crate) const DASH: Dash = &[7.0, 4.0];
pub(crate) const DOT: Dash = &[2.0, 3.0];
pub(crate) const SPARSE: Dash = &[2.0, 7.0];
pub(crate) const DASH_DOT: Dash = &[8.0, 3.0, 2.0, 3.0];
pub(crate) const DASH_DOT_DOT: Dash = &[9.0, 3.0, 2.0, 3.0, 2.0, 3.0];

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub colour: Colour,
    pub width: f64,
    pub dash: Dash,
}

impl Stroke {
    /// A curve of the usual width.
    pub(crate) const fn curve(colour: Colour, dash: Dash) -> Self {
        Self { colour, width: 2.0, dash }
    }

    /// A solid line.
    pub(crate) const fn solid(colour: Colour, width: f64) -> Self {
        Self { colour, width, dash: SOLID }
    }
}

/// The look of one of many curves: neighbours differ in colour and in dash, and 42 are different.
pub(crate) const fn series(index: usize) -> Stroke {
    const COLOURS: [Colour; 7] = [INK, BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY];
    const DASHES: [Dash; 6] = [SOLID, LONG_DASH, DASH_DOT, DASH, DOT, DASH_DOT_DOT];
    Stroke::curve(COLOURS[index % COLOURS.len()], DASHES[index % DASHES.len()])
}

/// Text sizes: the side of the em square.
pub(crate) mod size {
    pub(crate) const TITLE: f64 = 17.0;
    pub(crate) const SUBTITLE: f64 = 13.0;
    pub(crate) const PANEL: f64 = 13.5;
    pub(crate) const LABEL: f64 = 13.0;
    pub(crate) const LEGEND: f64 = 13.0;
    pub(crate) const TICK: f64 = 12.0;
    pub(crate) const NOTE: f64 = 11.5;
}
