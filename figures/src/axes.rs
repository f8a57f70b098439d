//! Axes: where the ticks are and what they say, and a panel that draws them with its curves.

use plotters_backend::DrawingBackend;

use crate::canvas::{Canvas, Point, Rect, Type};
use crate::error::Result;
use crate::style::{AXIS, Colour, GREY, GRID, INK, Stroke, size};

/// The range of an axis; `low < high`, both positive where it is logarithmic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Axis {
    Linear(f64, f64),
    Log(f64, f64),
}

/// A labelled tick.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub label: String,
}

impl Axis {
    /// Where `value` lies, 0 at the low and 1 at the high end; none if the axis cannot show it.
    pub(crate) fn position(self, value: f64) -> Option<f64> {
        let fraction = match self {
            Self::Linear(low, high) => (value - low) / (high - low),
            Self::Log(low, high) if value > 0.0 => (value / low).ln() / (high / low).ln(),
            Self::Log(..) => return None,
        };
        fraction.is_finite().then_some(fraction)
    }

    /// At most about `most` labelled ticks: powers of ten, or 1, 2, 5 times them on a short axis.
    pub(crate) fn ticks(self, most: u32) -> Vec<Tick> {
        match self {
            Self::Linear(low, high) => {
                let step = nice_step((high - low) / f64::from(most.max(1)));
                let decimals = decimals(step);
                multiples(low, high, step)
                    .map(|value| Tick { value, label: plain(value, decimals) })
                    .collect()
            }
            Self::Log(low, high) => {
                let (first, last) = decades(low, high);
                if last - first < 2 {
                    let few = digit_ticks((low, high), first - 1..=last, &[10, 20, 50]);
                    let all = [10, 15, 20, 30, 40, 50, 60, 70, 80, 90];
                    return if few.len() > 2 {
                        few
                    } else {
                        digit_ticks((low, high), first - 1..=last, &all)
                    };
                }
                let step = ((last - first) / i32::try_from(most.max(1)).unwrap_or(1) + 1).max(1);
                (first..=last)
                    .filter(|decade| decade % step == 0)
                    .map(|decade| Tick { value: power(decade), label: power_label(decade) })
                    .collect()
            }
        }
    }

    /// Ticks without label: the digits 2 to 9 of each decade, or the decades of a long axis.
    pub(crate) fn minor_ticks(self) -> Vec<f64> {
        let Self::Log(low, high) = self else { return Vec::new() };
        let (first, last) = decades(low, high);
        let digits = if last - first > 7 { 1..=1 } else { 1..=9 };
        (first - 1..=last)
            .flat_map(|decade| digits.clone().map(move |digit| f64::from(digit) * power(decade)))
            .filter(|value| inside(*value, low, high))
            .collect()
    }
}

/// The ticks of a short logarithmic axis at these tenths of every decade.
fn digit_ticks(
    (low, high): (f64, f64),
    decades: std::ops::RangeInclusive<i32>,
    tenths: &[u8],
) -> Vec<Tick> {
    let at = |decade: i32, tenths: u8| {
        let digit = f64::from(tenths) / 10.0;
        let (value, more) = (digit * power(decade), i32::from(!tenths.is_multiple_of(10)));
        let label = match decade {
            -3..=5 => plain(value, (more - decade).max(0)),
            _ => format!("{digit}·{}", power_label(decade)),
        };
        Tick { value, label }
    };
    let all = decades.flat_map(|decade| tenths.iter().map(move |tenths| at(decade, *tenths)));
    all.filter(|tick| inside(tick.value, low, high)).collect()
}

fn power(decade: i32) -> f64 {
    10f64.powi(decade)
}

fn inside(value: f64, low: f64, high: f64) -> bool {
    value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9)
}

/// The first and last power of ten inside.
#[allow(clippy::cast_possible_truncation)] // within ±308
fn decades(low: f64, high: f64) -> (i32, i32) {
    ((low.log10() - 1e-9).ceil() as i32, (high.log10() + 1e-9).floor() as i32)
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `least`.
fn nice_step(least: f64) -> f64 {
    let scale = 10f64.powf(least.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * scale >= least * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * scale
}

fn multiples(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    #[allow(clippy::cast_possible_truncation)] // a few ticks
    let (first, last) =
        (((low / step) - 1e-9).ceil() as i32, ((high / step) + 1e-9).floor() as i32);
    (first..=last).map(move |index| f64::from(index) * step)
}

/// Digits after the point that multiples of `step` need.
#[allow(clippy::cast_possible_truncation)] // within ±308
fn decimals(step: f64) -> i32 {
    (-(step * (1.0 + 1e-9)).log10().floor()).max(0.0) as i32
}

/// Fixed-point text with a true minus sign.
pub(crate) fn plain(value: f64, decimals: i32) -> String {
    let places = usize::try_from(decimals).unwrap_or(0);
    format!("{:.places$}", value + 0.0).replace('-', "\u{2212}")
}

/// `10ᵏ` with superscript digits.
pub(crate) fn power_label(exponent: i32) -> String {
    let superscript = |character| match character {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    format!("10{}", exponent.to_string().chars().map(superscript).collect::<String>())
}

/// A plot area with its two axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel {
    pub area: Rect,
    pub x: Axis,
    pub y: Axis,
}

/// Length of a labelled tick.
const TICK: f64 = 5.0;
/// About how many ticks of an axis are labelled.
const MOST: u32 = 7;
const LINE: Stroke = Stroke::solid(AXIS, 1.0);
const FAINT: Stroke = Stroke::solid(GRID, 0.75);
const TEXT: Type = Type::new(size::TICK, INK);

impl Panel {
    /// The horizontal position of a value.
    pub(crate) fn across(&self, value: f64) -> Option<f64> {
        let Rect { left, right, .. } = self.area;
        self.x.position(value).map(|fraction| left + fraction * (right - left))
    }

    /// The vertical position of a value.
    pub(crate) fn up(&self, value: f64) -> Option<f64> {
        let Rect { top, bottom, .. } = self.area;
        self.y.position(value).map(|fraction| bottom - fraction * (bottom - top))
    }

    fn at(&self, (x, y): Point) -> Option<Point> {
        Some((self.across(x)?, self.up(y)?))
    }

    /// Where a point lies, if inside the plot area.
    pub(crate) fn place(&self, point: Point) -> Option<Point> {
        let place = self.at(point)?;
        self.area.clip(place, place).map(|_| place)
    }

    /// Vertical grid lines at the labelled ticks; drawn before the data.
    pub(crate) fn vertical_grid<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        self.x.ticks(MOST).iter().try_for_each(|tick| self.upright(canvas, tick.value, &FAINT))
    }

    /// Horizontal grid lines at the labelled ticks; drawn before the data.
    pub(crate) fn horizontal_grid<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        let Rect { left, right, .. } = self.area;
        for y in self.y.ticks(MOST).iter().filter_map(|tick| self.up(tick.value)) {
            canvas.line(&[(left, y), (right, y)], &FAINT)?;
        }
        Ok(())
    }

    /// The horizontal axis with its ticks, labelled or not; drawn after the curves.
    pub(crate) fn x_axis<B: DrawingBackend>(
        &self,
        canvas: &mut Canvas<B>,
        labelled: bool,
    ) -> Result<()> {
        let Rect { left, right, bottom, .. } = self.area;
        for x in self.x.minor_ticks().into_iter().filter_map(|value| self.across(value)) {
            canvas.line(&[(x, bottom), (x, bottom + TICK / 2.0)], &LINE)?;
        }
        for tick in self.x.ticks(MOST) {
            let Some(x) = self.across(tick.value) else { continue };
            canvas.line(&[(x, bottom), (x, bottom + TICK)], &LINE)?;
            if labelled {
                let baseline = bottom + TICK + 3.0 + size::TICK;
                canvas.text(&tick.label, (x, baseline), TEXT.centred())?;
            }
        }
        canvas.line(&[(left, bottom), (right, bottom)], &LINE)
    }

    /// The vertical axis with its ticks, labelled or not; drawn after the curves.
    pub(crate) fn y_axis<B: DrawingBackend>(
        &self,
        canvas: &mut Canvas<B>,
        labelled: bool,
    ) -> Result<()> {
        let Rect { left, top, bottom, .. } = self.area;
        for y in self.y.minor_ticks().into_iter().filter_map(|value| self.up(value)) {
            canvas.line(&[(left - TICK / 2.0, y), (left, y)], &LINE)?;
        }
        for tick in self.y.ticks(MOST) {
            let Some(y) = self.up(tick.value) else { continue };
            canvas.line(&[(left - TICK, y), (left, y)], &LINE)?;
            if labelled {
                let baseline = y + 0.36 * size::TICK;
                canvas.text(&tick.label, (left - TICK - 3.0, baseline), TEXT.ending())?;
            }
        }
        canvas.line(&[(left, top), (left, bottom)], &LINE)
    }

    /// A vertical line at a value, from bottom to top.
    pub(crate) fn upright<B: DrawingBackend>(
        &self,
        canvas: &mut Canvas<B>,
        value: f64,
        stroke: &Stroke,
    ) -> Result<()> {
        let Rect { top, bottom, .. } = self.area;
        match self.across(value) {
            Some(x) => canvas.line(&[(x, top), (x, bottom)], stroke),
            None => Ok(()),
        }
    }

    /// A curve, cut at the edges of the plot area and at values the axes cannot show.
    pub(crate) fn curve<B: DrawingBackend>(
        &self,
        canvas: &mut Canvas<B>,
        points: &[Point],
        stroke: &Stroke,
    ) -> Result<()> {
        let mut run: Vec<Point> = Vec::new();
        for pair in points.windows(2) {
            let inner = match (self.at(pair[0]), self.at(pair[1])) {
                (Some(from), Some(to)) => self.area.clip(from, to),
                _ => None,
            };
            let joins = inner.is_some_and(|(from, _)| run.last() == Some(&from));
            if !joins {
                canvas.line(&run, stroke)?;
                run.clear();
                run.extend(inner.map(|(from, _)| from));
            }
            run.extend(inner.map(|(_, to)| to));
        }
        canvas.line(&run, stroke)
    }

    /// A shaded vertical strip.
    pub(crate) fn strip<B: DrawingBackend>(
        &self,
        canvas: &mut Canvas<B>,
        (from, to): (f64, f64),
        colour: Colour,
    ) -> Result<()> {
        let Rect { left, right, .. } = self.area;
        if let (Some(from), Some(to)) = (self.across(from), self.across(to)) {
            let (left, right) = (from.max(left), to.min(right));
            canvas.fill(Rect { left, right, ..self.area }, colour)?;
        }
        Ok(())
    }

    /// Heading above the plot area, with a line of details under it.
    pub(crate) fn heading<B: DrawingBackend>(
        &self,
        canvas: &mut Canvas<B>,
        heading: &str,
        details: &str,
    ) -> Result<()> {
        let Rect { left, top, .. } = self.area;
        let lift = if details.is_empty() { 0.0 } else { 17.0 };
        let bold = Type::new(size::PANEL, INK).bold();
        canvas.text(heading, (left, top - 10.0 - lift), bold)?;
        canvas.text(details, (left, top - 10.0), Type::new(size::TICK, GREY))
    }

    /// Name of the horizontal axis.
    pub(crate) fn x_name<B: DrawingBackend>(
        &self,
        canvas: &mut Canvas<B>,
        name: &str,
    ) -> Result<()> {
        let Rect { left, right, bottom, .. } = self.area;
        let style = Type::new(size::LABEL, INK).centred();
        canvas.text(name, (0.5 * (left + right), bottom + 44.0), style)
    }

    /// Name of the vertical axis, `gap` left of the plot area.
    pub(crate) fn y_name<B: DrawingBackend>(
        &self,
        canvas: &mut Canvas<B>,
        name: &str,
        gap: f64,
    ) -> Result<()> {
        let Rect { left, top, bottom, .. } = self.area;
        let style = Type::new(size::LABEL, INK).centred().upwards();
        canvas.text(name, (left - gap, 0.5 * (top + bottom)), style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis, most: u32) -> Vec<String> {
        axis.ticks(most).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        assert_eq!(labels(Axis::Log(0.01, 100.0), 7), ["10⁻²", "10⁻¹", "10⁰", "10¹", "10²"]);
        assert_eq!(labels(Axis::Log(1e-3, 1e9), 7), ["10⁻²", "10⁰", "10²", "10⁴", "10⁶", "10⁸"]);
        assert_eq!(labels(Axis::Log(0.3, 6.0), 7), ["0.5", "1", "2", "5"]);
        assert_eq!(labels(Axis::Log(0.45, 0.83), 7), ["0.5", "0.6", "0.7", "0.8"]);
        assert_eq!(labels(Axis::Log(0.8, 1.7), 7), ["0.8", "0.9", "1", "1.5"]);
        assert_eq!(labels(Axis::Log(8e-6, 6e-5), 7), ["1·10⁻⁵", "2·10⁻⁵", "5·10⁻⁵"]);
        assert_eq!(Axis::Log(1.0, 100.0).minor_ticks().len(), 19);
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels(Axis::Linear(0.0, 1.0), 6), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Axis::Linear(-2.0, 2.0), 5), ["−2", "−1", "0", "1", "2"]);
    }

    #[test]
    fn a_logarithmic_axis_does_not_show_zero() {
        assert_eq!(Axis::Log(1.0, 10.0).position(0.0), None);
        assert_eq!(Axis::Log(1.0, 100.0).position(10.0), Some(0.5));
    }
}
