//! What noise correlation buys: the two noise terms of the optimisation bound relative to λ = 0.

use dpbounds_bounds::Warrant;
use dpbounds_bounds::privacy::Method;
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

/// `(t₁, t₂)` of noise that is `ratio` times that of λ = 0. Increasing in `ratio`: a lower bound of
/// the noise gives floors.
fn terms(lambda: f64, ratio: f64) -> (f64, f64) {
    let kept = 1.0 - lambda;
    (kept * ratio, (kept * kept + lambda * lambda * ETA) * ratio * ratio)
}

/// Noise κ at some λ.
type Noise = Vec<Point>;

struct Curves {
    /// The best proven noise at λ = 0.
    independent: f64,
    sufficient: Noise,
    insufficient: Noise,
    estimates: Noise,
}

pub(crate) struct Plotted {
    run: Run,
    /// One for each of [`TARGETS`].
    curves: Vec<Curves>,
}

fn curves(run: &Run, epsilon: f64) -> Result<Curves> {
    let (mut sufficient, mut estimates) = (Noise::new(), Noise::new());
    for &lambda in run.lambdas() {
        let Some(kappa) = run.sufficient(lambda, epsilon, Method::Auto)?.value else { continue };
        sufficient.push((lambda, kappa));
        estimates.extend(run.estimate(lambda, epsilon, kappa)?.map(|found| (lambda, found)));
    }
    let mut insufficient = Noise::new();
    for lambda in run.dense() {
        insufficient.extend(run.insufficient(lambda, epsilon)?.map(|kappa| (lambda, kappa)));
    }
    match sufficient.first() {
        Some(&(0.0, independent)) => {
            Ok(Curves { independent, sufficient, insufficient, estimates })
        }
        _ => Err(FigureError::Draw(format!("no proven noise at lambda = 0, epsilon = {epsilon}"))),
    }
}

impl Curves {
    /// One of the two terms for a list of noises.
    fn term(&self, noise: &Noise, second: bool) -> Vec<Point> {
        let term = |&(lambda, kappa): &Point| {
            let (t1, t2) = terms(lambda, kappa / self.independent);
            (lambda, if second { t2 } else { t1 })
        };
        noise.iter().map(term).collect()
    }
}

impl Plot for Plotted {
    const SIZE: (u32, u32) = (1060, 600);

    fn compute(quick: bool) -> Result<Self> {
        let run = Run::new(quick);
        let curves: Result<_> = TARGETS.iter().map(|target| curves(&run, target.0)).collect();
        Ok(Self { run, curves: curves? })
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
                (curves.term(&curves.insufficient, second), Stroke::curve(colour, DASH))
            });
            let reached = both().map(|(curves, (_, _, colour))| {
                (curves.term(&curves.sufficient, second), Stroke::curve(colour, SOLID))
            });
            let no_gain = (vec![(0.0, 1.0), (0.95, 1.0)], Stroke::solid(AXIS, 1.0));
            let drawn = std::iter::once(no_gain).chain(floors).chain(reached);
            frame::plot(canvas, &panel, drawn, (true, true))?;
            for (curves, (_, name, colour)) in both() {
                frame::rings(canvas, &panel, &curves.term(&curves.estimates, second), colour)?;
                let reached = curves.term(&curves.sufficient, second);
                frame::dots(canvas, &panel, &reached, colour)?;
                if let Some((x, y)) = reached.last().and_then(|&last| panel.place(last)) {
                    let place = (x + 11.0, y + 0.36 * size::TICK);
                    canvas.text(name, place, Type::new(size::TICK, INK))?;
                }
            }
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
            for (side, noise, warrant) in [
                ("sufficient", &curves.sufficient, proven),
                ("insufficient", &curves.insufficient, proven),
                ("estimate", &curves.estimates, estimate),
            ] {
                for &(lambda, kappa) in noise {
                    let (t1, t2) = terms(lambda, kappa / curves.independent);
                    let mut row = self.run.columns(epsilon, lambda)?;
                    row.extend([side.into(), number(kappa)?, number(t1)?, number(t2)?]);
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
    fn terms_are_those_of_the_theory() {
        // n = 10⁴, B = 100, T = 1000, ε = 8, λ = 0.8: κ = 1.52, κ₀ = 0.5863.
        let (t1, t2) = terms(0.8, 1.52 / 0.5863);
        assert!((t1 - 0.519).abs() < 1e-3 && (t2 - 0.312).abs() < 1e-3, "{t1} {t2}");
        assert_eq!(terms(0.0, 1.0), (1.0, 1.0));
    }

    #[test]
    fn proven_values_lie_above_their_floors() {
        let plotted = Plotted::compute(true).unwrap();
        for curves in &plotted.curves {
            let reached = curves.term(&curves.sufficient, false);
            let floors = curves.term(&curves.insufficient, false);
            assert_eq!(reached.first(), Some(&(0.0, 1.0)));
            for (lambda, value) in reached {
                let floor = floors.iter().find(|floor| (floor.0 - lambda).abs() < 1e-9);
                assert!(floor.is_none_or(|floor| floor.1 < value), "{lambda} {value}");
            }
        }
    }
}
