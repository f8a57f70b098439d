//! Max-information per record against the number of records, for pure, approximate and Rényi DP.

use dpbounds_bounds::max_information::{FailureLevel, approximate_dp, pure_dp, renyi};
use dpbounds_bounds::{Bound, BoundError, Warrant};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Point, Type};
use crate::error::Result;
use crate::frame;
use crate::legend::{self, Entry, Mark};
use crate::render::Plot;
use crate::style::{
    BLUE, DASH, DASH_DOT, DOT, GREEN, GREY, HALO, INK, LONG_DASH, ORANGE, PURPLE, SHADE, SKY,
    SOLID, Stroke, VERMILLION, size,
};
use crate::table::{Table, number, proven};

pub(crate) const TITLE: &str = "Max-information per record against the number of records";
pub(crate) const SUMMARY: &str = "Proven upper bounds on the max-information divided by n, at \
    failure level β = 0.025, for a fixed privacy guarantee: ε-DP, (ε, δ)-DP, which has no finite \
    bound where β < nδ, and (α, ε)-Rényi DP.";

const BETA: f64 = 0.025;
const EPSILON: f64 = 0.1;
const DELTA: f64 = 1e-8;
const RENYI: (f64, f64) = (32.0, 0.01);
/// Range of the number of records, as powers of ten.
const DECADES: (i32, i32) = (1, 8);

type Evaluate = fn(u64, FailureLevel) -> std::result::Result<Bound, BoundError>;

/// A bound with its look.
struct Method {
    label: &'static str,
    stroke: Stroke,
    evaluate: Evaluate,
}

/// The methods of a panel in drawing order; the legend shows them in reverse.
struct Guarantee {
    name: &'static str,
    details: &'static str,
    methods: &'static [Method],
}

const BROAD: Stroke = Stroke { colour: HALO, width: 8.0, dash: SOLID };

const GUARANTEES: [Guarantee; 3] = [
    Guarantee {
        name: "ε-DP",
        details: "ε = 0.1",
        methods: &[
            Method {
                label: "Dwork et al. 2015",
                stroke: Stroke::curve(GREEN, DASH_DOT),
                evaluate: |n, level| pure_dp::classic(n, EPSILON, level),
            },
            Method {
                label: "Theorem 1, δ = 0",
                stroke: Stroke::curve(INK, DASH),
                evaluate: |n, level| pure_dp::theorem1(n, EPSILON, level),
            },
            Method {
                label: "Bounded range, hockey-stick",
                stroke: Stroke::curve(BLUE, SOLID),
                evaluate: |n, level| pure_dp::bounded_range_hs(n, EPSILON, level),
            },
        ],
    },
    Guarantee {
        name: "(ε, δ)-DP",
        details: "ε = 0.1, δ = 10⁻⁸",
        methods: &[
            Method {
                label: "Smallest of all",
                stroke: BROAD,
                evaluate: |n, level| approximate_dp::best(n, EPSILON, DELTA, level),
            },
            Method {
                label: "A: nε",
                stroke: Stroke::curve(SKY, DOT),
                evaluate: |n, level| approximate_dp::a(n, EPSILON, DELTA, level),
            },
            Method {
                label: "D, best split",
                stroke: Stroke::curve(PURPLE, DASH_DOT),
                evaluate: |n, level| approximate_dp::d_split(n, EPSILON, DELTA, level),
            },
            Method {
                label: "B+, hockey-stick",
                stroke: Stroke::curve(VERMILLION, LONG_DASH),
                evaluate: |n, level| approximate_dp::b_plus_hs(n, EPSILON, DELTA, level),
            },
            Method {
                label: "C, needs β > 9nδ",
                stroke: Stroke::curve(BLUE, SOLID),
                evaluate: |n, level| approximate_dp::c(n, EPSILON, DELTA, level),
            },
        ],
    },
    Guarantee {
        name: "(α, ε)-Rényi DP",
        details: "α = 32, ε = 0.01",
        methods: &[
            Method {
                label: "Theorem 2, eq. (6)",
                stroke: Stroke::curve(ORANGE, DASH),
                evaluate: |n, level| renyi::theorem2(n, RENYI.0, RENYI.1, level),
            },
            Method {
                label: "Quadratic, v*, best split",
                stroke: Stroke::curve(GREEN, LONG_DASH),
                evaluate: |n, level| renyi::v_star_split(n, RENYI.0, RENYI.1, level),
            },
            Method {
                label: "Gamma form, best split",
                stroke: Stroke::curve(BLUE, SOLID),
                evaluate: |n, level| renyi::optimised_split(n, RENYI.0, RENYI.1, level),
            },
        ],
    },
];

/// A curve: numbers of records and bounds in nats.
type Curve = Vec<(u64, f64)>;

pub(crate) struct Plotted {
    /// One list for each of [`GUARANTEES`], one curve for each of its methods.
    panels: Vec<Vec<Curve>>,
}

fn curve(evaluate: Evaluate, grid: &[u64], level: FailureLevel) -> Result<Curve> {
    let mut curve = Curve::new();
    for &n in grid {
        match (proven(&evaluate(n, level)?), curve.last()) {
            (Some(value), _) => curve.push((n, value)),
            (None, None) => {}
            (None, Some(&(last, _))) => {
                let end = last_with_value(evaluate, last, n, level)?;
                // Some of the curves turn sharply upwards at their end: halve the way to it.
                let mut way = end - last;
                while way > 0 {
                    way /= 2;
                    let value = proven(&evaluate(end - way, level)?);
                    curve.extend(value.map(|value| (end - way, value)));
                }
                break;
            }
        }
    }
    Ok(curve)
}

/// The largest number of records with a value, between one that has and one that has not.
fn last_with_value(
    evaluate: Evaluate,
    mut with: u64,
    mut without: u64,
    level: FailureLevel,
) -> Result<u64> {
    while without - with > 1 {
        let middle = with + (without - with) / 2;
        if proven(&evaluate(middle, level)?).is_some() { with = middle } else { without = middle }
    }
    Ok(with)
}

#[allow(clippy::cast_precision_loss)] // at most 10^8
fn per_record(curve: &Curve) -> Vec<Point> {
    curve.iter().map(|&(n, value)| (n as f64, value / n as f64)).collect()
}

impl Plotted {
    /// Evaluates everything that is plotted; `quick` takes fewer points.
    pub(crate) fn compute(quick: bool) -> Result<Self> {
        let level = FailureLevel::from_beta(BETA)?;
        let per_decade = if quick { 3 } else { 20 };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 10^8
        let grid: Vec<u64> = (DECADES.0 * per_decade..=DECADES.1 * per_decade)
            .map(|step| 10f64.powf(f64::from(step) / f64::from(per_decade)).round() as u64)
            .collect();
        let panels: Result<_> = GUARANTEES
            .iter()
            .map(|guarantee| {
                let methods = guarantee.methods.iter();
                methods.map(|method| curve(method.evaluate, &grid, level)).collect()
            })
            .collect();
        Ok(Self { panels: panels? })
    }
}

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        (1060, 590)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        let subtitle = "Fixed replace-one guarantee; β = 0.025. Proven upper bounds: Theorems 1 and 2 \
                        of arXiv 2605.26222, Dwork et al. 2015, all others ours.";
        frame::title(canvas, TITLE, subtitle)?;
        let ends = (10f64.powi(DECADES.0), 10f64.powi(DECADES.1));
        let x = Axis::Log(ends.0, ends.1);
        let areas = frame::columns(3, 43.0, 122.0, 402.0);
        let panels = GUARANTEES.iter().zip(&self.panels).zip(areas);
        for (index, ((guarantee, curves), area)) in panels.enumerate() {
            let panel = Panel { area, x, y: Axis::Log(8e-4, 0.3) };
            let approximate = index == 1;
            if approximate {
                panel.strip(canvas, (BETA / DELTA, ends.1), SHADE)?;
            }
            let strokes = guarantee.methods.iter().map(|method| method.stroke);
            let drawn = curves.iter().map(per_record).zip(strokes);
            frame::plot(canvas, &panel, drawn, (true, index == 0))?;
            if approximate && let Some(edge) = panel.across(BETA / DELTA) {
                let middle = 0.5 * (edge + area.right);
                let text = Type::new(size::TICK, GREY).centred();
                for (line, words) in ["no finite", "bound:", "β < nδ"].iter().enumerate() {
                    let baseline = 160.0 + 16.0 * [0.0, 1.0, 2.0][line];
                    canvas.text(words, (middle, baseline), text)?;
                }
            }
            panel.heading(canvas, guarantee.name, guarantee.details)?;
            panel.x_name(canvas, "Number of records n")?;
            if index == 0 {
                panel.y_name(canvas, "Bound on Iᵝ/n (nats per record)", frame::Y_NAME)?;
            }
            let entries: Vec<_> = guarantee.methods.iter().rev().map(Method::entry).collect();
            legend::column(canvas, (area.left, 464.0), "", &entries)?;
        }
        Ok(())
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&[
            "guarantee",
            "parameters",
            "beta",
            "n",
            "method",
            "bound_nats",
            "warrant",
        ]);
        for (guarantee, curves) in GUARANTEES.iter().zip(&self.panels) {
            for (method, curve) in guarantee.methods.iter().zip(curves) {
                for &(n, value) in curve {
                    table.push(vec![
                        guarantee.name.into(),
                        guarantee.details.into(),
                        number(BETA)?,
                        n.to_string(),
                        method.label.into(),
                        number(value)?,
                        Warrant::Proven.kind().into(),
                    ]);
                }
            }
        }
        Ok(table)
    }
}

impl Method {
    fn entry(&self) -> Entry {
        Entry { label: self.label, mark: Mark::Line(self.stroke) }
    }
}

/// The labels of the legends.
#[cfg(test)]
pub(crate) fn labels() -> Vec<&'static str> {
    GUARANTEES.iter().flat_map(|guarantee| guarantee.methods).map(|method| method.label).collect()
}

/// The looks of the curves of each panel; the broad one lies under the others.
#[cfg(test)]
pub(crate) fn strokes() -> Vec<Vec<Stroke>> {
    let strokes = |guarantee: &Guarantee| -> Vec<Stroke> {
        let all = guarantee.methods.iter().map(|method| method.stroke);
        all.filter(|stroke| *stroke != BROAD).collect()
    };
    GUARANTEES.iter().map(strokes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_end_at_the_last_record_for_which_a_bound_exists() {
        let plotted = Plotted::compute(true).unwrap();
        let ends: Vec<u64> =
            plotted.panels[1].iter().map(|curve| curve.last().unwrap().0).collect();
        // Smallest and A need beta >= n delta, D and B+ a little more, C beta > 9 n delta.
        assert_eq!(ends[..2], [2_500_000; 2]);
        assert!(ends[2..4].iter().all(|end| (2_499_999..=2_500_000).contains(end)), "{ends:?}");
        assert_eq!(ends[4], 277_777);
        for curve in plotted.panels.iter().flatten() {
            assert!(curve.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(curve.iter().all(|(_, value)| value.is_finite() && *value > 0.0));
        }
    }
}
