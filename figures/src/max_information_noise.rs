//! Max-information of the Gaussian mechanism against its noise, in the spirit of Figure 1 of
//! arXiv 2605.26222: the bounds, and each of them as a multiple of eq. (7).

use dpbounds_bounds::max_information::{FailureLevel, gaussian, renyi};
use dpbounds_bounds::{Bound, Warrant};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Point, Rect, Type};
use crate::error::Result;
use crate::frame;
use crate::legend::{self, Entry, Mark};
use crate::render::Plot;
use crate::style::{
    BLUE, DASH, DASH_DOT, DASH_DOT_DOT, DOT, GREEN, GREY, INK, LONG_DASH, ORANGE, PURPLE, SOLID,
    Stroke, VERMILLION, size,
};
use crate::table::{Table, number, proven};

pub(crate) const TITLE: &str = "Max-information of the Gaussian mechanism against its noise";
pub(crate) const SUMMARY: &str = "Proven upper bounds at failure level β = 0.025 for n = 10³, \
    6·10⁴ and 10⁶ records: Theorem 3, eqs. (7), (8), (9) and Theorem 2 as printed in arXiv \
    2605.26222, against our eq. (7) with hockey-stick conversion and our Rényi bound. Below, each \
    as a multiple of eq. (7).";

const BETA: f64 = 0.025;
const RECORDS: [(u64, &str); 3] =
    [(1000, "n = 10³"), (60_000, "n = 6·10⁴"), (1_000_000, "n = 10⁶")];
/// Range of the noise multiplier.
const SIGMA: (f64, f64) = (1.0, 1e4);

/// Why some curves leave a logarithmic axis.
const NOTE: [&str; 2] = [
    "For large σ our two bounds fall below zero, towards the exact",
    "log(1 − β) of pure noise; the logarithmic axes cut them off.",
];

/// The methods in the order in which they are drawn; ours last, on top.
#[derive(Clone, Copy, PartialEq)]
enum Method {
    Theorem2,
    Eq9,
    Eq8,
    Eq7,
    Renyi,
    HockeyStick,
}

const METHODS: [Method; 6] =
    [Method::Theorem2, Method::Eq9, Method::Eq8, Method::Eq7, Method::Renyi, Method::HockeyStick];

impl Method {
    const fn entry(self) -> Entry {
        let (label, stroke) = match self {
            Self::HockeyStick => ("Eq. (7), hockey-stick conversion", Stroke::curve(BLUE, SOLID)),
            Self::Renyi => {
                ("Rényi route, best split and order", Stroke::curve(VERMILLION, LONG_DASH))
            }
            Self::Eq7 => ("Theorem 3, eq. (7)", Stroke::curve(INK, DASH)),
            Self::Eq8 => ("Theorem 3, eq. (8)", Stroke::curve(GREEN, DASH_DOT)),
            Self::Eq9 => ("Theorem 3, eq. (9)", Stroke::curve(PURPLE, DOT)),
            Self::Theorem2 => {
                ("Theorem 2, eq. (6), best order", Stroke::curve(ORANGE, DASH_DOT_DOT))
            }
        };
        Entry { label, mark: Mark::Line(stroke) }
    }

    const fn stroke(self) -> Stroke {
        match self.entry().mark {
            Mark::Line(stroke) => stroke,
            _ => Stroke::solid(INK, 1.0),
        }
    }
}

struct Sample {
    sigma: f64,
    /// One for each of [`METHODS`]; none where a statement has no value.
    bounds: [Option<f64>; METHODS.len()],
}

pub(crate) struct Plotted {
    /// One for each of [`RECORDS`].
    panels: Vec<Vec<Sample>>,
}

fn sample(n: u64, sigma: f64, level: FailureLevel) -> Result<Sample> {
    let nu = gaussian::nu(n, sigma)?;
    let renyi = renyi::best_over_orders(n, |alpha| alpha / sigma / sigma / 2.0, level)?;
    let mut bounds = [None; METHODS.len()];
    for (slot, method) in bounds.iter_mut().zip(METHODS) {
        *slot = match method {
            Method::Eq7 => proven(&gaussian::eq7(nu, level)?),
            Method::HockeyStick => proven(&gaussian::eq7_hs(nu, level)?),
            Method::Eq8 => proven(&gaussian::eq8(nu, level)?),
            Method::Eq9 => proven(&gaussian::eq9(nu, level)?),
            Method::Renyi => proven(&renyi),
            Method::Theorem2 => as_printed(&renyi),
        };
    }
    Ok(Sample { sigma, bounds })
}

/// Theorem 2 at its own best order, which the best Rényi bound carries along.
fn as_printed(renyi: &Bound) -> Option<f64> {
    let lead = (&renyi.source, renyi.warrant, renyi.value);
    let others = renyi.alternatives.iter().map(|other| (&other.source, other.warrant, other.value));
    std::iter::once(lead)
        .chain(others)
        .filter(|(source, warrant, _)| {
            *warrant == Warrant::Proven && source.statement.starts_with("Theorem 2, eq. (6)")
        })
        .filter_map(|(_, _, value)| value)
        .reduce(f64::min)
}

impl Plotted {
    /// The curve of a method in a panel, as it is or relative to eq. (7).
    fn curve(&self, panel: usize, method: Method, relative: bool) -> Vec<Point> {
        let index_of = |wanted| METHODS.iter().position(|method| *method == wanted);
        let (Some(index), Some(reference)) = (index_of(method), index_of(Method::Eq7)) else {
            return Vec::new();
        };
        self.panels[panel]
            .iter()
            .filter_map(|sample| {
                let value = sample.bounds[index]?;
                let unit = if relative { sample.bounds[reference]? } else { 1.0 };
                Some((sample.sigma, value / unit))
            })
            .collect()
    }
}

impl Plotted {
    /// Evaluates everything that is plotted; `quick` takes fewer points.
    pub(crate) fn compute(quick: bool) -> Result<Self> {
        let steps = if quick { 16 } else { 160 };
        let level = FailureLevel::from_beta(BETA)?;
        let sigma =
            |step: u32| SIGMA.0 * (SIGMA.1 / SIGMA.0).powf(f64::from(step) / f64::from(steps));
        let panel = |n| (0..=steps).map(|step| sample(n, sigma(step), level)).collect();
        let panels: Result<_> = RECORDS.iter().map(|&(n, _)| panel(n)).collect();
        Ok(Self { panels: panels? })
    }
}

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        (1060, 780)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        let subtitle = "Release Ψ(S) + σΔZ with Δ the replace-one sensitivity; β = 0.025. Every \
                        curve is a proven upper bound.";
        frame::title(canvas, TITLE, subtitle)?;
        let x = Axis::Log(SIGMA.0, SIGMA.1);
        let areas = frame::columns(3, 43.0, 104.0, 394.0);
        for (index, ((_, heading), area)) in RECORDS.iter().zip(areas).enumerate() {
            let below = Rect { top: 428.0, bottom: 608.0, ..area };
            let upper = Panel { area, x, y: Axis::Log(1e-2, 4e6) };
            let lower = Panel { area: below, x, y: Axis::Log(0.25, 2.2) };
            let first = index == 0;
            for (panel, relative) in [(upper, false), (lower, true)] {
                let curve = |method| (self.curve(index, method, relative), method.stroke());
                let curves = METHODS.into_iter().map(curve);
                frame::plot(canvas, &panel, curves, (relative, first))?;
            }
            upper.heading(canvas, heading, "")?;
            lower.x_name(canvas, "Noise σ, in replace-one sensitivities Δ")?;
            if first {
                upper.y_name(canvas, "Bound on Iᵝ (nats)", frame::Y_NAME)?;
                lower.y_name(canvas, "Multiple of eq. (7)", frame::Y_NAME)?;
            }
        }
        let entry = Method::entry;
        let ours = [entry(Method::HockeyStick), entry(Method::Renyi)];
        let theorem3 = [entry(Method::Eq7), entry(Method::Eq8), entry(Method::Eq9)];
        let theorem2 = [entry(Method::Theorem2)];
        let (mut left, mut last) = (frame::SIDES.0, frame::SIDES.0);
        for (heading, entries) in
            [("Ours", &ours[..]), ("arXiv 2605.26222", &theorem3[..]), ("", &theorem2[..])]
        {
            let top = 676.0 + if heading.is_empty() { legend::LINE } else { 0.0 };
            last = left;
            left += legend::column(canvas, (left, top), heading, entries)? + 40.0;
        }
        for (words, baseline) in NOTE.iter().zip([739.0, 755.0]) {
            canvas.text(words, (last, baseline), Type::new(size::NOTE, GREY))?;
        }
        Ok(())
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&[
            "n",
            "beta",
            "sigma_over_replace_one_sensitivity",
            "method",
            "bound_nats",
            "warrant",
        ]);
        for (&(n, _), samples) in RECORDS.iter().zip(&self.panels) {
            for (index, method) in METHODS.iter().enumerate() {
                for Sample { sigma, bounds } in samples {
                    let Some(value) = bounds[index] else { continue };
                    table.push(vec![
                        n.to_string(),
                        number(BETA)?,
                        number(*sigma)?,
                        method.entry().label.into(),
                        number(value)?,
                        Warrant::Proven.kind().into(),
                    ]);
                }
            }
        }
        Ok(table)
    }
}

/// The labels of the legend.
#[cfg(test)]
pub(crate) fn labels() -> Vec<&'static str> {
    METHODS.iter().map(|method| method.entry().label).collect()
}

/// The looks of the curves.
#[cfg(test)]
pub(crate) fn strokes() -> Vec<Stroke> {
    METHODS.map(Method::stroke).to_vec()
}
