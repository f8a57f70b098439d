//! Slopes of an experiment: means with error bars, fitted and predicted powers, what is allowed.

use dpbounds_experiments::run::{Axis as Abscissa, Finished, Response, Slope, Spec};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Point, Rect, Type};
use crate::error::Result;
use crate::frame::{self, Measured};
use crate::legend::{self, Mark};
use crate::render::Plot;
use crate::style::{
    BLUE, Colour, DASH, GREEN, GREY, INK, ORANGE, PURPLE, SKY, SOLID, Stroke, VERMILLION, size,
};
use crate::table::{Table, number};
use crate::text::{shortened, wrapped};
use crate::words;

/// One for each line of a panel.
const COLOURS: [Colour; 6] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY];

/// The height of a plot area, and what stands below it.
const HEIGHT: f64 = 330.0;
const BELOW: f64 = 76.0;
/// Right edge of the plot area with and without names at the ends of the lines; the legend.
const RIGHT: (f64, f64) = (560.0, 640.0);
const LEGEND: f64 = 676.0;
const KEY: f64 = 44.0;
/// From the plot area to the name of its vertical axis, past ticks such as 0.0005.
const Y_NAME: f64 = 60.0;

const BODY: Type = Type::new(size::TICK, INK);
const WHY: Type = Type::new(size::NOTE, GREY);
/// From one line of the legend to the next.
const LEADING: f64 = 17.0;

/// The title of the figure.
pub(crate) fn title(spec: &Spec) -> String {
    let mut all = spec.slope.iter().map(|slope| (slope.response, slope.axis));
    let first = all.next();
    match first {
        Some((response, axis)) if all.all(|other| first == Some(other)) => {
            words::against(response, axis)
        }
        _ => format!("Measured slopes: {}", spec.name),
    }
}

/// A power law through the centre of the points, as a straight line.
#[derive(Debug, Clone, Copy)]
struct Centre {
    log_x: f64,
    log_y: f64,
}

impl Centre {
    /// Of the points that have logarithms.
    #[allow(clippy::cast_precision_loss)] // few points
    fn of(points: &[Measured]) -> Option<Self> {
        let logs = || points.iter().filter(|point| point.1 > 0.0).map(|(x, y, _)| (x.ln(), y.ln()));
        let count = logs().count() as f64;
        (count > 0.0).then(|| Self {
            log_x: logs().map(|(x, _)| x).sum::<f64>() / count,
            log_y: logs().map(|(_, y)| y).sum::<f64>() / count,
        })
    }

    fn power(self, slope: f64, x: f64) -> f64 {
        (self.log_y + slope * (x.ln() - self.log_x)).exp()
    }
}

/// One slope.
struct Line {
    slope: Slope,
    name: String,
    points: Vec<Measured>,
    centre: Option<Centre>,
    colour: Colour,
}

impl Line {
    fn new(slope: &Slope, colour: Colour) -> Self {
        let points: Vec<Measured> = slope
            .points
            .iter()
            .filter_map(|(x, mean, error)| Some((*x, (*mean)?, *error)))
            .collect();
        let centre = Centre::of(&points);
        Self { slope: slope.clone(), name: words::point(&slope.at), points, centre, colour }
    }

    /// Least and greatest abscissa.
    fn ends(&self) -> Option<(f64, f64)> {
        let xs = || self.points.iter().map(|point| point.0);
        Some((xs().reduce(f64::min)?, xs().reduce(f64::max)?))
    }

    /// The ends of a power through the centre.
    fn power(&self, slope: Option<f64>) -> Vec<Point> {
        let (Some(slope), Some(centre), Some((from, to))) = (slope, self.centre, self.ends())
        else {
            return Vec::new();
        };
        [from, to].map(|x| (x, centre.power(slope, x))).to_vec()
    }

    fn fitted(&self) -> Vec<Point> {
        self.power(self.slope.slope)
    }

    fn predicted(&self) -> Vec<Point> {
        self.power(self.slope.predicted)
    }

    /// The words beside the panel.
    fn words(&self) -> Result<Vec<(String, Type)>> {
        let Slope { slope, interval, confidence, predicted, allowed, bound, ref note, .. } =
            self.slope;
        let mut lines = vec![];
        let interval = interval.map(|[low, high]| {
            let (low, high) = (words::measured(low), words::measured(high));
            format!(", {:.0} % interval {low} to {high}", 100.0 * confidence)
        });
        lines.push(match slope {
            Some(slope) => {
                format!("fitted {}{}", words::measured(slope), interval.unwrap_or_default())
            }
            None => "no fitted slope".to_owned(),
        });
        let allowed = allowed.map_or_else(String::new, |[low, high]| {
            format!(", allowed {} to {}", words::slope(low), words::slope(high))
        });
        let kind = if bound.is_some() { "predicted at most" } else { "predicted" };
        lines.extend(predicted.map(|slope| format!("{kind} {}{allowed}", words::slope(slope))));
        let width = 1060.0 - LEGEND - legend::INDENT - 8.0;
        let mut set = Vec::new();
        for line in lines {
            set.push((shortened(&line, BODY, width)?, BODY));
        }
        set.extend(wrapped(note, WHY, width, 4)?.into_iter().map(|line| (line, WHY)));
        Ok(set)
    }

    /// Height of the words with the name.
    fn height(&self) -> Result<f64> {
        #[allow(clippy::cast_precision_loss)] // few lines
        Ok(LEADING * (self.words()?.len() as f64 + 1.6))
    }
}

/// Lines with the same axes.
struct Group {
    axis: Abscissa,
    response: Response,
    lines: Vec<Line>,
}

impl Group {
    /// From the upper edge of the plot area to the next panel.
    fn height(&self) -> Result<f64> {
        let words = self.lines.iter().map(Line::height).sum::<Result<f64>>()?;
        Ok((HEIGHT + BELOW).max(words + 24.0))
    }

    fn panel(&self, top: f64) -> Panel {
        let ends = self.lines.iter().filter_map(Line::ends);
        let xs = frame::span(ends.flat_map(|(from, to)| [from, to]));
        let (low, high) = xs.unwrap_or((1.0, 10.0));
        let margin = (high / low).powf(0.07).max(1.1);
        let x = (low / margin, high * margin);
        let bars = self.lines.iter().flat_map(|line| &line.points).flat_map(|(_, mean, error)| {
            let error = error.unwrap_or(0.0);
            [*mean, mean - error, mean + error]
        });
        let powers = self.lines.iter().flat_map(|line| [line.fitted(), line.predicted()]).flatten();
        let ys = frame::span(bars.chain(powers.map(|point| point.1)).filter(|y| *y > 0.0));
        let (low, high) = ys.unwrap_or((0.1, 1.0));
        // A flat line shall look flat: the vertical axis spans half of the decades of the other.
        let missing = ((x.1 / x.0).sqrt().max(4.0) / (high / low)).sqrt().max(1.15);
        let right = if self.lines.len() > 1 { RIGHT.0 } else { RIGHT.1 };
        Panel {
            area: Rect { left: frame::SIDES.0, top, right, bottom: top + HEIGHT },
            x: Axis::Log(x.0, x.1),
            y: Axis::Log(low / missing, high * missing),
        }
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>, top: f64) -> Result<()> {
        let panel = self.panel(top);
        for line in &self.lines {
            if let Some([low, high]) = line.slope.allowed {
                let edges = [low, high].map(|slope| line.power(Some(slope)));
                frame::region(canvas, &panel, (&edges[0], &edges[1]), line.colour)?;
            }
        }
        let predicted = self.lines.iter().map(|line| {
            (line.predicted(), Stroke { width: 1.75, ..Stroke::curve(line.colour, DASH) })
        });
        let fitted =
            self.lines.iter().map(|line| (line.fitted(), Stroke::curve(line.colour, SOLID)));
        frame::plot(canvas, &panel, predicted.chain(fitted), (true, true))?;
        for line in &self.lines {
            frame::measured(canvas, &panel, &line.points, line.colour)?;
        }
        panel.x_name(canvas, words::abscissa(self.axis))?;
        panel.y_name(canvas, &words::ordinate(self.response), Y_NAME)?;
        if self.lines.len() > 1 {
            let room = LEGEND - RIGHT.0 - 4.0;
            let named: Result<Vec<_>> = self
                .lines
                .iter()
                .map(|line| {
                    let last = line.fitted().last().copied();
                    let last = last.or(line.points.last().map(|(x, mean, _)| (*x, *mean)));
                    Ok((last, shortened(&line.name, BODY, room)?))
                })
                .collect();
            frame::names(canvas, &panel, named?.iter().map(|(end, name)| (*end, name.as_str())))?;
        }
        let mut baseline = top + size::LEGEND;
        for line in &self.lines {
            let verdict = line.slope.verdict.word();
            let name = if line.name.is_empty() { "slope" } else { &line.name };
            let label = format!("{name}: {verdict}");
            let room = 1060.0 - LEGEND - legend::INDENT - 8.0;
            let label = shortened(&label, Type::new(size::LEGEND, INK), room)?;
            legend::line(canvas, (LEGEND, baseline), Mark::Error(line.colour), &label)?;
            for (words, style) in line.words()? {
                baseline += LEADING;
                canvas.text(&words, (LEGEND + legend::INDENT, baseline), style)?;
            }
            baseline += 1.6 * LEADING;
        }
        Ok(())
    }
}

pub(crate) struct Plotted {
    spec: Spec,
    groups: Vec<Group>,
    /// Where each group begins, and where the last one ends.
    tops: Vec<f64>,
}

impl Plotted {
    /// The slopes of a finished experiment.
    pub(crate) fn new(finished: &Finished) -> Result<Self> {
        let spec = &finished.header.spec;
        let mut groups: Vec<Group> = Vec::new();
        for slope in &finished.slopes {
            let (axis, response) = (slope.axis, slope.response);
            let fits = |group: &&mut Group| {
                (group.axis, group.response) == (axis, response)
                    && group.lines.len() < COLOURS.len()
            };
            match groups.iter_mut().rev().find(fits) {
                Some(group) => {
                    let colour = COLOURS[group.lines.len() % COLOURS.len()];
                    group.lines.push(Line::new(slope, colour));
                }
                None => {
                    groups.push(Group {
                        axis,
                        response,
                        lines: vec![Line::new(slope, COLOURS[0])],
                    });
                }
            }
        }
        let mut tops = vec![frame::TOP];
        for group in &groups {
            tops.push(tops.last().copied().unwrap_or(frame::TOP) + group.height()?);
        }
        Ok(Self { spec: spec.clone(), groups, tops })
    }

    fn bottom(&self) -> f64 {
        self.tops.last().copied().unwrap_or(frame::TOP)
    }
}

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // some hundreds a panel
        (1060, (self.bottom() + KEY).ceil() as u32)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        frame::experiment_title(canvas, &title(&self.spec), &self.spec)?;
        for (group, top) in self.groups.iter().zip(&self.tops) {
            group.draw(canvas, *top)?;
        }
        let mut left = frame::SIDES.0;
        for (label, mark) in [
            ("mean ± standard error", Mark::Error(INK)),
            ("fitted power", Mark::Line(Stroke::curve(INK, SOLID))),
            ("predicted, through the centre", Mark::Line(Stroke::curve(INK, DASH))),
            ("allowed slopes", Mark::Region(INK)),
        ] {
            left += legend::line(canvas, (left, self.bottom() + 20.0), mark, label)? + 28.0;
        }
        Ok(())
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&["response", "axis", "at", "x", "quantity", "value"]);
        for (group, line) in
            self.groups.iter().flat_map(|group| group.lines.iter().map(move |line| (group, line)))
        {
            let at = if line.name.is_empty() { "all" } else { &line.name };
            let mut push = |x: String, quantity: &str, value: String| {
                let (response, axis) = (group.response.name().into(), group.axis.name().into());
                table.push(vec![response, axis, at.replace('−', "-"), x, quantity.into(), value]);
            };
            let slope = &line.slope;
            for &(x, mean, error) in &line.points {
                push(number(x)?, "mean", number(mean)?);
                if let Some(error) = error {
                    push(number(x)?, "standard error", number(error)?);
                }
                let [low, high] = slope.allowed.map_or([None; 2], |ends| ends.map(Some));
                for (quantity, slope) in [
                    ("fitted", slope.slope),
                    ("predicted", slope.predicted),
                    ("allowed, low slope", low),
                    ("allowed, high slope", high),
                ] {
                    if let (Some(slope), Some(centre)) = (slope, line.centre) {
                        push(number(x)?, quantity, number(centre.power(slope, x))?);
                    }
                }
            }
            let [from, to] = slope.interval.map_or([None; 2], |ends| ends.map(Some));
            let [low, high] = slope.allowed.map_or([None; 2], |ends| ends.map(Some));
            for (quantity, value) in [
                ("slope", slope.slope),
                ("slope, interval from", from),
                ("slope, interval to", to),
                ("predicted slope", slope.predicted),
                ("allowed slope from", low),
                ("allowed slope to", high),
            ] {
                if let Some(value) = value {
                    push("all".into(), quantity, number(value)?);
                }
            }
            push("all".into(), "verdict", slope.verdict.word().into());
        }
        Ok(table)
    }
}
