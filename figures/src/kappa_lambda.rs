//! The noise κ that a run needs against its noise correlation λ, by every rung of the ladder.

use dpbounds_bounds::privacy::Method;
use dpbounds_bounds::{Bound, Warrant};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel, plain};
use crate::canvas::{Canvas, Point, Type};
use crate::error::Result;
use crate::frame;
use crate::legend::{self, Entry, LINE, Mark};
use crate::render::Plot;
use crate::run::Run;
use crate::style::{
    BLUE, DASH, DASH_DOT, DASH_DOT_DOT, DOT, GREEN, GREY, INK, LONG_DASH, ORANGE, PURPLE, SKY,
    SOLID, SPARSE, Stroke, VERMILLION, size,
};
use crate::table::{Table, number};

pub(crate) const TITLE: &str = "Noise κ that suffices against the noise correlation λ";
pub(crate) const SUMMARY: &str = "Noise on the sum of clipped gradients that is proven to give \
    (ε, δ)-DP for n = 10⁴, B = 100, T = 1000, δ = 10⁻⁵ at ε = 1 and ε = 8, by Theorem F.12 and by \
    each rung of our ladder; noise that is proven not to suffice; estimates of the truth.";

const EPSILONS: [f64; 2] = [1.0, 8.0];

/// The proven statements, ours last and on top.
#[derive(Clone, Copy, PartialEq)]
enum Rung {
    F12,
    L1,
    L1b,
    L2,
    L2t,
    L2td,
}

const RUNGS: [Rung; 6] = [Rung::F12, Rung::L1, Rung::L1b, Rung::L2, Rung::L2t, Rung::L2td];

impl Rung {
    /// The method that asks for it, and how its source begins.
    const fn request(self) -> (Method, &'static str) {
        match self {
            Self::F12 => (Method::Auto, "Theorem F.12"),
            Self::L1 => (Method::L1, "L1 "),
            Self::L1b => (Method::L1b, "L1b "),
            Self::L2 => (Method::L2, "L2 "),
            Self::L2t => (Method::L2t, "L2T "),
            Self::L2td => (Method::L2td, "L2TD "),
        }
    }

    const fn look(self) -> (&'static str, Stroke) {
        match self {
            Self::F12 => ("L0: Theorem F.12, closed form", Stroke::curve(ORANGE, SPARSE)),
            Self::L1 => ("L1: participation cap", Stroke::curve(PURPLE, DASH_DOT)),
            Self::L1b => ("L1b: mixture over participations", Stroke::curve(SKY, DASH_DOT_DOT)),
            Self::L2 => ("L2: replica moments", Stroke::curve(GREEN, LONG_DASH)),
            Self::L2t => ("L2T: transfer bound", Stroke::curve(VERMILLION, DOT)),
            Self::L2td => ("L2TD: transfer bound with repulsion", Stroke::curve(BLUE, SOLID)),
        }
    }

    const fn entry(self) -> Entry {
        let (label, stroke) = self.look();
        Entry { label, mark: Mark::Dotted(stroke) }
    }

    /// The smallest proven value of this rung among those of a bound.
    fn of(self, bound: &Bound) -> Option<f64> {
        let lead = (&bound.source, bound.warrant, bound.value);
        let others = bound.alternatives.iter();
        let others = others.map(|other| (&other.source, other.warrant, other.value));
        std::iter::once(lead)
            .chain(others)
            .filter(|(source, warrant, _)| {
                *warrant == Warrant::Proven && source.statement.starts_with(self.request().1)
            })
            .filter_map(|(_, _, value)| value)
            .reduce(f64::min)
    }
}

const REFUTED: Stroke = Stroke::curve(INK, DASH);
const REFUTED_ENTRY: Entry =
    Entry { label: "Noise proven not to suffice (linear test)", mark: Mark::Line(REFUTED) };
const ESTIMATE: Entry =
    Entry { label: "Estimate of the truth (Monte Carlo)", mark: Mark::Hollow(INK) };

struct Sample {
    lambda: f64,
    /// One for each of [`RUNGS`].
    rungs: [Option<f64>; RUNGS.len()],
    estimate: Option<f64>,
}

struct Curves {
    epsilon: f64,
    /// The best proven noise at λ = 0.
    independent: f64,
    samples: Vec<Sample>,
    refuted: Vec<Point>,
}

pub(crate) struct Plotted {
    run: Run,
    panels: Vec<Curves>,
}

fn sample(run: &Run, lambda: f64, epsilon: f64, best: &Bound) -> Result<Sample> {
    let mut rungs = [None; RUNGS.len()];
    for (slot, rung) in rungs.iter_mut().zip(RUNGS) {
        *slot = rung.of(best);
        // Without correlation the accountants answer, and the ladder only when asked.
        if slot.is_none() && rung != Rung::F12 {
            *slot = rung.of(&run.sufficient(lambda, epsilon, rung.request().0)?);
        }
    }
    let estimate = match best.value {
        Some(above) => run.estimate(lambda, epsilon, above)?,
        None => None,
    };
    Ok(Sample { lambda, rungs, estimate })
}

fn curves(run: &Run, epsilon: f64) -> Result<Curves> {
    let mut independent = f64::INFINITY;
    let mut samples = Vec::new();
    for &lambda in run.lambdas() {
        let best = run.sufficient(lambda, epsilon, Method::Auto)?;
        if lambda == 0.0 {
            independent = best.value.unwrap_or(f64::INFINITY);
        }
        samples.push(sample(run, lambda, epsilon, &best)?);
    }
    let mut refuted = Vec::new();
    for lambda in run.dense() {
        refuted.extend(run.insufficient(lambda, epsilon)?.map(|kappa| (lambda, kappa)));
    }
    Ok(Curves { epsilon, independent, samples, refuted })
}

impl Curves {
    fn rung(&self, index: usize) -> Vec<Point> {
        let value = |sample: &Sample| Some((sample.lambda, sample.rungs[index]?));
        self.samples.iter().filter_map(value).collect()
    }

    fn estimates(&self) -> Vec<Point> {
        let value = |sample: &Sample| Some((sample.lambda, sample.estimate?));
        self.samples.iter().filter_map(value).collect()
    }
}

impl Plotted {
    /// Evaluates everything that is plotted; `quick` takes fewer points.
    pub(crate) fn compute(quick: bool) -> Result<Self> {
        let run = Run::new(quick);
        let panels: Result<_> = EPSILONS.iter().map(|&epsilon| curves(&run, epsilon)).collect();
        Ok(Self { run, panels: panels? })
    }
}

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        (1060, 640)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        frame::title(canvas, TITLE, &format!("{}.", self.run.words()))?;
        let areas = frame::columns(2, 44.0, 112.0, 450.0);
        for (index, (curves, area)) in self.panels.iter().zip(areas).enumerate() {
            let panel = Panel { area, x: Axis::Linear(0.0, 0.95), y: Axis::Log(0.1, 2000.0) };
            let rungs = RUNGS.iter().enumerate();
            let drawn = rungs.map(|(index, rung)| (curves.rung(index), rung.look().1));
            let refuted = std::iter::once((curves.refuted.clone(), REFUTED));
            frame::plot(canvas, &panel, refuted.chain(drawn), (true, index == 0))?;
            frame::rings(canvas, &panel, &curves.estimates(), INK)?;
            for (index, rung) in RUNGS.iter().enumerate() {
                frame::dots(canvas, &panel, &curves.rung(index), rung.look().1.colour)?;
            }
            let details = format!(
                "Without correlation the exact accountant needs κ = {}",
                plain(curves.independent, 3)
            );
            panel.heading(canvas, &format!("ε = {}", curves.epsilon), &details)?;
            panel.x_name(canvas, "Noise correlation λ")?;
            if index == 0 {
                panel.y_name(canvas, "Noise κ (clipping norms)", frame::Y_NAME)?;
            }
        }
        let [f12, l1, l1b, l2, l2t, l2td] = RUNGS.map(Rung::entry);
        let (mut left, top) = (frame::SIDES.0, 518.0);
        left += legend::column(canvas, (left, top), "Proven to suffice", &[f12, l1, l1b])? + 28.0;
        left += legend::column(canvas, (left, top + LINE), "", &[l2, l2t, l2td])? + 28.0;
        legend::column(canvas, (left, top), "Other", &[REFUTED_ENTRY, ESTIMATE])?;
        let note = "F.12 is stated for ε ≤ 1 and rT ≥ 3 log(2/δ), r = B/n; outside, its value for a \
                    smaller ε or a longer run, which imply what is asked, is shown.";
        canvas.text(note, (frame::SIDES.0, 626.0), Type::new(size::NOTE, GREY))
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&[
            "n",
            "batch",
            "steps",
            "epsilon",
            "delta",
            "lambda",
            "statement",
            "kappa",
            "side",
            "warrant",
        ]);
        let proven = Warrant::Proven.kind();
        for curves in &self.panels {
            let mut push = |points: Vec<Point>, name: &str, side: &str, warrant: &str| {
                for (lambda, kappa) in points {
                    let mut row = self.run.columns(curves.epsilon, lambda)?;
                    row.extend([name.into(), number(kappa)?, side.into(), warrant.into()]);
                    table.push(row);
                }
                Ok::<_, crate::FigureError>(())
            };
            for (index, rung) in RUNGS.iter().enumerate() {
                push(curves.rung(index), rung.look().0, "sufficient", proven)?;
            }
            push(curves.refuted.clone(), REFUTED_ENTRY.label, "insufficient", proven)?;
            push(curves.estimates(), ESTIMATE.label, "estimate", Warrant::Estimate.kind())?;
        }
        Ok(table)
    }
}

/// The labels of the legend.
#[cfg(test)]
pub(crate) fn labels() -> Vec<&'static str> {
    let rungs = RUNGS.iter().map(|rung| rung.look().0);
    rungs.chain([REFUTED_ENTRY.label, ESTIMATE.label]).collect()
}

/// The looks of the curves.
#[cfg(test)]
pub(crate) fn strokes() -> Vec<Stroke> {
    RUNGS.iter().map(|rung| rung.look().1).chain([REFUTED]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_lie_above_what_is_refuted_and_the_last_is_the_smallest() {
        let plotted = Plotted::compute(true).unwrap();
        for curves in &plotted.panels {
            for sample in &curves.samples {
                let values = sample.rungs.map(Option::unwrap);
                let refuted =
                    plotted.run.insufficient(sample.lambda, curves.epsilon).unwrap().unwrap();
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                assert!(least > refuted, "{values:?} {refuted}");
                assert!(values[5] <= least * 1.02, "{values:?}");
                // The sampling error.
                assert!(sample.estimate.is_none_or(|kappa| kappa < least * 1.02));
            }
        }
    }
}
