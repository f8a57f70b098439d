//! What noise correlation buys: the two noise terms of the optimisation bound relative to λ = 0.

use dpbounds_bounds::Warrant;
use dpbounds_bounds::privacy::{Bracket, Method, lambda_gain};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Point, Type};
use crate::error::{FigureError, Result};
use crate::frame;
use crate::legend::{self, Entry, Mark};
use crate::render::Plot;
use crate::run::Run;
use crate::style::{
    AXIS, BLUE, Colour, DASH, GREEN, GREY, INK, ORANGE, SOLID, Stroke, VERMILLION, size,
};
use crate::table::{Table, number};

pub(crate) const TITLE: &str = "Gain from correlated noise: noise terms relative to λ = 0";
pub(crate) const SUMMARY: &str = "The noise terms t₁ = (1 − λ)κ/κ₀ and \
    t₂ = ((1 − λ)² + ηλ²)κ²/κ₀² of the optimisation bound at the same (ε, δ), η = 0.01, for \
    n = 10⁴, B = 100, T = 1000, δ = 10⁻⁵ and four values of ε: proven values, floors below which \
    no method can get, and estimates of the truth.";

/// Step size η.
const ETA: f64 = 0.01;

/// ε with its name and colour.
const TARGETS: [(f64, &str, Colour); 4] = [
    (1.0, "ε = 1", BLUE),
    (2.0, "ε = 2", GREEN),
    (4.0, "ε = 4", ORANGE),
    (8.0, "ε = 8", VERMILLION),
];

const CERTIFIED: Entry =
    Entry { label: "Proven: this is reached", mark: Mark::Dotted(Stroke::curve(INK, SOLID)) };
const FLOOR: Entry =
    Entry { label: "Proven floor (linear test)", mark: Mark::Line(Stroke::curve(INK, DASH)) };
const ESTIMATE: Entry =
    Entry { label: "Estimate of the truth (Monte Carlo)", mark: Mark::Hollow(INK) };

/// Noise κ at one λ with its two terms, the floors or the values that are reached.
struct Sample {
    lambda: f64,
    kappa: f64,
    terms: [f64; 2],
}

/// What is plotted for one ε.
struct Curves {
    sufficient: Vec<Sample>,
    insufficient: Vec<Sample>,
    estimates: Vec<Sample>,
}

pub(crate) struct Plotted {
    run: Run,
    /// One for each of [`TARGETS`].
    curves: Vec<Curves>,
}

/// `t₁` and `t₂` that noise `kappa` reaches.
fn reached(lambda: f64, kappa: f64, reference: Bracket) -> Result<Sample> {
    let gain = lambda_gain(lambda, ETA, Bracket::exact(kappa), reference)?;
    Ok(Sample { lambda, kappa, terms: [gain.linear, gain.quadratic] })
}

/// What `t₁` and `t₂` are at least if noise `kappa` does not suffice.
fn floor(lambda: f64, kappa: f64, reference: Bracket) -> Result<Sample> {
    let gain = lambda_gain(lambda, ETA, Bracket::exact(kappa), reference)?;
    Ok(Sample { lambda, kappa, terms: [gain.linear_floor, gain.quadratic_floor] })
}

fn curves(run: &Run, epsilon: f64) -> Result<Curves> {
    let independent = run.sufficient(0.0, epsilon, Method::Pld)?;
    let (Some(lower), Some(upper)) = (independent.lower, independent.value) else {
        return Err(FigureError::Draw(format!("no noise at lambda = 0, epsilon = {epsilon}")));
    };
    let reference = Bracket { lower, upper };
    let mut curves = Curves { sufficient: vec![], insufficient: vec![], estimates: vec![] };
    for &lambda in run.lambdas() {
        // No other rung is better, and the others take half of the time of all together.
        let method = if lambda == 0.0 { Method::Pld } else { Method::L2td };
        let Some(kappa) = run.sufficient(lambda, epsilon, method)?.value else { continue };
        curves.sufficient.push(reached(lambda, kappa, reference)?);
        if let Some(kappa) = run.estimate(lambda, epsilon, kappa)? {
            curves.estimates.push(reached(lambda, kappa, reference)?);
        }
    }
    for lambda in run.dense() {
        if let Some(kappa) = run.insufficient(lambda, epsilon)? {
            curves.insufficient.push(floor(lambda, kappa, reference)?);
        }
    }
    Ok(curves)
}

/// The first or the second term against λ.
fn term(samples: &[Sample], second: bool) -> Vec<Point> {
    let at = |sample: &Sample| (sample.lambda, sample.terms[usize::from(second)]);
    samples.iter().map(at).collect()
}

impl Plotted {
    /// Evaluates everything that is plotted; `quick` takes fewer points.
    pub(crate) fn compute(quick: bool) -> Result<Self> {
        let run = Run::new(quick);
        let curves: Result<_> = TARGETS.iter().map(|target| curves(&run, target.0)).collect();
        Ok(Self { run, curves: curves? })
    }
}

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        (1060, 600)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        let subtitle = format!("{}. κ₀: noise at λ = 0.", self.run.words());
        frame::title(canvas, TITLE, &subtitle)?;
        let areas = frame::columns(2, 92.0, 112.0, 450.0);
        for (second, area) in [false, true].into_iter().zip(areas) {
            let top = if second { 1.5 } else { 1.1 };
            let panel = Panel { area, x: Axis::Linear(0.0, 0.95), y: Axis::Linear(0.0, top) };
            let both = || self.curves.iter().zip(TARGETS);
            let floors = both().map(|(curves, (_, _, colour))| {
                (term(&curves.insufficient, second), Stroke::curve(colour, DASH))
            });
            let reached = both().map(|(curves, (_, _, colour))| {
                (term(&curves.sufficient, second), Stroke::curve(colour, SOLID))
            });
            let no_gain = (vec![(0.0, 1.0), (0.95, 1.0)], Stroke::solid(AXIS, 1.0));
            let drawn = std::iter::once(no_gain).chain(floors).chain(reached);
            frame::plot(canvas, &panel, drawn, (true, true))?;
            for (curves, (_, _, colour)) in both() {
                frame::rings(canvas, &panel, &term(&curves.estimates, second), colour)?;
                frame::dots(canvas, &panel, &term(&curves.sufficient, second), colour)?;
            }
            let end = |curves: &Curves| term(&curves.sufficient, second).last().copied();
            frame::names(canvas, &panel, both().map(|(curves, target)| (end(curves), target.1)))?;
            let (heading, details) = if second {
                ("Second noise term", "t₂ = ((1 − λ)² + ηλ²)κ²/κ₀² with step size η = 0.01")
            } else {
                ("First noise term", "t₁ = (1 − λ)κ/κ₀; below 1 is a gain")
            };
            panel.heading(canvas, heading, details)?;
            panel.x_name(canvas, "Noise correlation λ")?;
            let name = if second { "t₂, multiple of λ = 0" } else { "t₁, multiple of λ = 0" };
            panel.y_name(canvas, name, frame::Y_NAME)?;
        }
        let (mut left, top) = (frame::SIDES.0, 516.0);
        left += legend::column(canvas, (left, top), "", &[CERTIFIED, FLOOR, ESTIMATE])? + 44.0;
        let targets = TARGETS.map(|(_, label, colour)| Entry {
            label,
            mark: Mark::Dotted(Stroke::curve(colour, SOLID)),
        });
        left += legend::column(canvas, (left, top), "", &targets[..2])? + 44.0;
        left += legend::column(canvas, (left, top), "", &targets[2..])? + 44.0;
        let notes = [
            "No estimate is shown where too few samples",
            "carry the result, which is the case for large ε.",
        ];
        for (words, baseline) in notes.iter().zip([top + 12.0, top + 28.0]) {
            canvas.text(words, (left, baseline), Type::new(size::NOTE, GREY))?;
        }
        Ok(())
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&[
            "n", "batch", "steps", "epsilon", "delta", "lambda", "side", "kappa", "t1", "t2",
            "warrant",
        ]);
        let (proven, estimate) = (Warrant::Proven.kind(), Warrant::Estimate.kind());
        for (curves, (epsilon, _, _)) in self.curves.iter().zip(TARGETS) {
            for (side, samples, warrant) in [
                ("sufficient", &curves.sufficient, proven),
                ("insufficient", &curves.insufficient, proven),
                ("estimate", &curves.estimates, estimate),
            ] {
                for Sample { lambda, kappa, terms: [t1, t2] } in samples {
                    let mut row = self.run.columns(epsilon, *lambda)?;
                    row.extend([side.into(), number(*kappa)?, number(*t1)?, number(*t2)?]);
                    row.push(warrant.into());
                    table.push(row);
                }
            }
        }
        Ok(table)
    }
}

/// The labels of the legend.
#[cfg(test)]
pub(crate) fn labels() -> Vec<&'static str> {
    let targets = TARGETS.iter().map(|target| target.1);
    targets.chain([CERTIFIED, FLOOR, ESTIMATE].map(|entry| entry.label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proven_values_lie_above_their_floors() {
        let plotted = Plotted::compute(true).unwrap();
        for curves in &plotted.curves {
            // Both sides of the bracket at λ = 0 enter.
            assert!((curves.sufficient[0].terms[0] - 1.0).abs() < 1e-3);
            for Sample { lambda, terms, .. } in &curves.sufficient {
                let below = |floor: &&Sample| (floor.lambda - lambda).abs() < 1e-9;
                let floor = curves.insufficient.iter().find(below).unwrap();
                assert!(floor.terms[0] < terms[0] && floor.terms[1] < terms[1], "{lambda}");
            }
        }
    }
}
