//! The widths between which a noisy run has a certificate, against κ and λ.

use dpbounds_bounds::kan::Initialisation;
use dpbounds_bounds::kan::certificates::{Clipping, Noise, Question, Route};
use dpbounds_experiments::data::Request;
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Point, Type};
use crate::certificates::{Material, useful};
use crate::error::Result;
use crate::frame;
use crate::legend::{self, Entry, LINE, Mark};
use crate::render::Plot;
use crate::style::{
    BLUE, DASH, DASH_DOT, GREEN, GREY, INK, LONG_DASH, PURPLE, SOLID, Stroke, VERMILLION, size,
};
use crate::table::{Table, number};

pub(crate) const TITLE: &str =
    "The window of widths with a certificate, against noise κ and correlation λ";
pub(crate) const SUMMARY: &str = "Widths m at which Theorem S certifies the averaged training risk of a noisy run below log 2 with \
    probability 0.996: too narrow a network is too curved, too wide a one collects too much noise.";

/// The largest certified noise of one network.
struct Sample {
    width: usize,
    lambda: f64,
    /// None where there is no certificate without noise either.
    kappa: Option<f64>,
}

pub(crate) struct Plotted {
    widths: Vec<usize>,
    lambdas: Vec<f64>,
    samples: Vec<Sample>,
}

/// Between a certified and an uncertified noise.
const SEPARATION: f64 = 1.05;
const LARGEST: f64 = 1e6;

/// A few horizons: every one is a valid choice.
const HORIZONS: [f64; 9] = [5.0, 8.0, 12.0, 18.0, 27.0, 40.0, 60.0, 95.0, 150.0];

fn question(kappa: f64, lambda: f64) -> Question {
    Question {
        routes: vec![Route::S],
        lambda,
        noise: if kappa > 0.0 { Noise::Multiplier(kappa) } else { Noise::None },
        clipping: Clipping::Public,
        horizons: Some(HORIZONS.to_vec()),
        ..Question::default()
    }
}

impl Plotted {
    pub(crate) fn compute(quick: bool) -> Result<Self> {
        let material = Material::new(&Request::new("atoms:A4,n=1000000"), (1, 2))?;
        let (widths, lambdas): (Vec<usize>, Vec<f64>) = if quick {
            (vec![256, 2048], vec![0.0, 0.5])
        } else {
            let widths = (0..10).map(|step| 256 << step);
            (widths.collect(), vec![0.0, 0.5, 0.75, 0.9, 1.0])
        };
        let mut samples = Vec::new();
        for &width in &widths {
            let found = material.certify((Initialisation::Greville, width), |ask| {
                let holds = |kappa: f64, lambda: f64| -> Result<bool> {
                    Ok(useful(&ask(&question(kappa, lambda))?).is_some())
                };
                let largest = |lambda: f64| -> Result<Option<f64>> {
                    if !holds(0.0, lambda)? {
                        return Ok(None);
                    }
                    let (mut low, mut high) = (1.0, LARGEST);
                    if !holds(low, lambda)? {
                        return Ok(None);
                    }
                    while high > SEPARATION * low {
                        let middle = f64::sqrt(low * high);
                        if holds(middle, lambda)? { low = middle } else { high = middle }
                    }
                    Ok(Some(low))
                };
                lambdas.iter().map(|lambda| largest(*lambda)).collect::<Result<Vec<_>>>()
            })??;
            for (&lambda, kappa) in lambdas.iter().zip(found) {
                samples.push(Sample { width, lambda, kappa });
            }
        }
        Ok(Self { widths, lambdas, samples })
    }

    /// Width and largest certified noise at a correlation.
    #[allow(clippy::cast_precision_loss)] // small widths
    fn at(&self, lambda: f64) -> Vec<(f64, Option<f64>)> {
        let samples = self.samples.iter().filter(|sample| sample.lambda == lambda);
        samples.map(|sample| (sample.width as f64, sample.kappa)).collect()
    }

    /// The edge of the window in the plane of κ and m.
    fn edge(&self, lambda: f64) -> Vec<Point> {
        self.at(lambda).into_iter().filter_map(|(width, kappa)| Some((kappa?, width))).collect()
    }

    /// Least and greatest width that were tried and certify this noise.
    fn window(&self, kappa: f64, lambda: f64) -> Option<(f64, f64)> {
        let certified =
            self.at(lambda).into_iter().filter(|(_, most)| most.is_some_and(|k| k >= kappa));
        frame::span(certified.map(|(width, _)| width))
    }

    fn windows(&self, kappa: f64) -> Vec<(f64, f64, f64)> {
        let one =
            |lambda: &f64| self.window(kappa, *lambda).map(|(low, high)| (*lambda, low, high));
        self.lambdas.iter().filter_map(one).collect()
    }

    fn drawn(&self) -> Vec<(usize, f64)> {
        let shown = [0.0, 0.5, 0.9, 1.0];
        let shown = shown.iter().enumerate();
        shown.filter(|(_, lambda)| self.lambdas.contains(lambda)).map(|(i, l)| (i, *l)).collect()
    }
}

const LAMBDAS: [Entry; 4] = [
    Entry { label: "λ = 0", mark: Mark::Dotted(Stroke::curve(INK, SOLID)) },
    Entry { label: "λ = 0.5", mark: Mark::Dotted(Stroke::curve(BLUE, LONG_DASH)) },
    Entry { label: "λ = 0.9", mark: Mark::Dotted(Stroke::curve(VERMILLION, DASH_DOT)) },
    Entry { label: "λ = 1", mark: Mark::Dotted(Stroke::curve(GREEN, DASH)) },
];
const KAPPAS: [(f64, Entry); 3] = [
    (2000.0, Entry { label: "κ = 2000", mark: Mark::Dotted(Stroke::curve(BLUE, SOLID)) }),
    (7000.0, Entry { label: "κ = 7000", mark: Mark::Dotted(Stroke::curve(PURPLE, LONG_DASH)) }),
    (11_000.0, Entry { label: "κ = 11000", mark: Mark::Dotted(Stroke::curve(VERMILLION, DASH)) }),
];

fn stroke(entry: &Entry) -> Stroke {
    match entry.mark {
        Mark::Dotted(stroke) => stroke,
        _ => Stroke::curve(INK, SOLID),
    }
}

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        (1060, 640)
    }

    #[allow(clippy::cast_precision_loss)] // small widths
    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        let subtitle = "A4, n = 10⁶, full batches, (k, p) = (1, 2), Greville; step size and horizon searched for on the four atoms, which are public.";
        frame::title(canvas, TITLE, subtitle)?;
        let mut areas = frame::columns(2, 92.0, 112.0, 450.0);
        let mut area = || areas.next().unwrap_or(frame::WHOLE);
        let (first, last) = (self.widths[0] as f64, self.widths[self.widths.len() - 1] as f64);
        let y = Axis::Log(first / 1.2, last * 1.2);
        let noises = self.samples.iter().filter_map(|sample| sample.kappa);
        let (low, high) = frame::span(noises).unwrap_or((10.0, 1000.0));
        let left = Panel { area: area(), x: Axis::Log(low / 1.2, high * 1.2), y };
        let right = Panel { area: area(), x: Axis::Linear(0.0, 1.02), y };
        let edges =
            self.drawn().into_iter().map(|(i, lambda)| (self.edge(lambda), stroke(&LAMBDAS[i])));
        frame::plot(canvas, &left, edges, (true, true))?;
        for (index, lambda) in self.drawn() {
            frame::dots(canvas, &left, &self.edge(lambda), stroke(&LAMBDAS[index]).colour)?;
        }
        let mut curves = Vec::new();
        for (kappa, entry) in &KAPPAS {
            let windows = self.windows(*kappa);
            let lower: Vec<Point> = windows.iter().map(|(x, low, _)| (*x, *low)).collect();
            let upper: Vec<Point> = windows.iter().map(|(x, _, high)| (*x, *high)).collect();
            frame::region(canvas, &right, (&lower, &upper), stroke(entry).colour)?;
            curves.extend([(lower, stroke(entry)), (upper, stroke(entry))]);
        }
        frame::plot(canvas, &right, curves.clone(), (true, true))?;
        for (points, stroke) in &curves {
            frame::dots(canvas, &right, points, stroke.colour)?;
        }
        left.heading(
            canvas,
            "Certified noise at each width",
            "A certificate exists to the left of the edge",
        )?;
        right.heading(
            canvas,
            "Certified widths at a noise",
            "Least and greatest of the widths that were tried",
        )?;
        left.x_name(canvas, "Noise κ (clipping norms)")?;
        right.x_name(canvas, "Noise correlation λ")?;
        for panel in [left, right] {
            panel.y_name(canvas, "Width m (units)", frame::Y_NAME)?;
        }
        legend::column(canvas, (left.area.left, 504.0), "", &LAMBDAS)?;
        legend::column(canvas, (right.area.left, 504.0), "", &KAPPAS.map(|(_, entry)| entry))?;
        let note = "At a fixed κ correlation mostly helps the bound; the κ that privacy needs grows with λ: this is no gain at fixed privacy.";
        let below = 504.0 + 5.0 * LINE + 14.0;
        canvas.text(note, (frame::SIDES.0, below), Type::new(size::NOTE, GREY))
    }

    #[allow(clippy::cast_precision_loss)] // small widths
    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&["n", "width", "lambda", "largest_certified_kappa"]);
        for sample in &self.samples {
            let kappa = sample.kappa.map_or(Ok("none".to_owned()), number)?;
            table.push(vec![
                "1000000".into(),
                number(sample.width as f64)?,
                number(sample.lambda)?,
                kappa,
            ]);
        }
        Ok(table)
    }
}

/// The labels of the legend.
#[cfg(test)]
pub(crate) fn labels() -> Vec<&'static str> {
    LAMBDAS.iter().chain(KAPPAS.iter().map(|(_, entry)| entry)).map(|entry| entry.label).collect()
}

/// The looks of the curves of each panel.
#[cfg(test)]
pub(crate) fn strokes() -> [Vec<Stroke>; 2] {
    [LAMBDAS.iter().map(stroke).collect(), KAPPAS.iter().map(|(_, entry)| stroke(entry)).collect()]
}
