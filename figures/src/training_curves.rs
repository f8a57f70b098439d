//! The course of training: risks and distance against the step, mean and range over the seeds.

use dpbounds_experiments::run::{Curve, Finished, Record, Spec};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Point};
use crate::error::Result;
use crate::frame;
use crate::legend::{self, LINE, Mark};
use crate::render::Plot;
use crate::style::{INK, Stroke, series};
use crate::table::{Table, number};
use crate::words;

/// The title of the figure.
pub(crate) fn title(_: &Spec) -> String {
    "Training curves".into()
}

/// Whether an experiment can be drawn like this.
pub(crate) fn applies(spec: &Spec) -> bool {
    spec.measure.curve > 0
}

/// What is recorded along a run.
#[derive(Clone, Copy, PartialEq)]
enum Quantity {
    Risk,
    PopulationRisk,
    Distance,
}

impl Quantity {
    fn of(self, curve: &Curve) -> Option<&[f64]> {
        match self {
            Self::Risk => Some(&curve.risk),
            Self::PopulationRisk => curve.population_risk.as_deref(),
            Self::Distance => Some(&curve.distance),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Risk => "empirical risk",
            Self::PopulationRisk => "population risk",
            Self::Distance => "distance",
        }
    }
}

/// Mean, least and greatest over the seeds at each recorded step.
struct Spread {
    quantity: Quantity,
    mean: Vec<Point>,
    least: Vec<Point>,
    greatest: Vec<Point>,
}

impl Spread {
    #[allow(clippy::cast_precision_loss)] // few seeds, steps below 2^53
    fn over(quantity: Quantity, curves: &[&Curve]) -> Option<Self> {
        let runs: Vec<&[f64]> = curves.iter().filter_map(|curve| quantity.of(curve)).collect();
        let steps = &curves.first()?.steps;
        let count = runs.len() as f64;
        if runs.is_empty() || runs.iter().any(|run| run.len() != steps.len()) {
            return None;
        }
        let all = |fold: &dyn Fn(&mut dyn Iterator<Item = f64>) -> f64| {
            let at = |(index, step): (usize, &u64)| {
                (*step as f64, fold(&mut runs.iter().map(|run| run[index])))
            };
            steps.iter().enumerate().map(at).collect::<Vec<Point>>()
        };
        Some(Self {
            quantity,
            mean: all(&|values| values.sum::<f64>() / count),
            least: all(&|values| values.fold(f64::INFINITY, f64::min)),
            greatest: all(&|values| values.fold(f64::NEG_INFINITY, f64::max)),
        })
    }
}

/// The runs of one grid point.
struct Series {
    name: String,
    diverged: usize,
    spreads: Vec<Spread>,
}

pub(crate) struct Plotted {
    spec: Spec,
    /// What [`Quantity::PopulationRisk`] is.
    population: &'static str,
    quantities: Vec<Quantity>,
    series: Vec<Series>,
}

impl Plotted {
    /// The curves of a finished experiment.
    pub(crate) fn new(finished: &Finished) -> Result<Self> {
        let spec = &finished.header.spec;
        let outcomes = || finished.records.iter().filter_map(|run| run.outcome.as_ref());
        let every = [Quantity::Risk, Quantity::PopulationRisk, Quantity::Distance];
        let has = |quantity: &Quantity| {
            outcomes()
                .filter_map(|outcome| outcome.curve.as_ref())
                .any(|c| quantity.of(c).is_some())
        };
        let quantities: Vec<Quantity> = every.into_iter().filter(has).collect();
        let one = |runs: &[Record]| {
            let curves: Vec<&Curve> =
                runs.iter().filter_map(|run| run.outcome.as_ref()?.curve.as_ref()).collect();
            let mut name = words::point(&runs[0].values);
            if spec.privacy.is_some() {
                let kappa = words::measured(runs[0].settings.kappa);
                name = format!("{name}{}κ = {kappa}", if name.is_empty() { "" } else { ", " });
            }
            let name = if name.is_empty() { "mean".to_owned() } else { name };
            let over = |quantity: &Quantity| Spread::over(*quantity, &curves);
            let spreads = quantities.iter().filter_map(over).collect();
            Series { name, diverged: runs.len() - curves.len(), spreads }
        };
        let points = finished.records.chunk_by(|one, other| one.point == other.point);
        let series = points.map(one).collect();
        let exact = outcomes().find_map(|outcome| outcome.population_exact);
        let population =
            if exact == Some(true) { "Population risk (nats)" } else { "Held-out risk (nats)" };
        Ok(Self { spec: spec.clone(), population, quantities, series })
    }

    fn spreads(&self, quantity: Quantity) -> impl Iterator<Item = (Stroke, &Spread)> {
        self.series.iter().enumerate().flat_map(move |(index, one)| {
            let fits = move |spread: &&Spread| spread.quantity == quantity;
            one.spreads.iter().filter(fits).map(move |spread| (series(index), spread))
        })
    }

    /// The risks share an axis, so that they can be compared.
    fn ordinate(&self, quantity: Quantity) -> Axis {
        let values = |quantity| {
            let spreads = self.spreads(quantity);
            spreads.flat_map(|(_, spread)| spread.least.iter().chain(&spread.greatest))
        };
        if quantity == Quantity::Distance {
            let (_, high) =
                frame::span(values(quantity).map(|point| point.1)).unwrap_or((0.0, 1.0));
            return Axis::Linear(0.0, if high > 0.0 { 1.05 * high } else { 1.0 });
        }
        let risks = values(Quantity::Risk).chain(values(Quantity::PopulationRisk));
        let positive = risks.map(|point| point.1).filter(|risk| *risk > 0.0);
        let (low, high) = frame::span(positive).unwrap_or((0.1, 1.0));
        let missing = (2.5 / (high / low)).sqrt().max(1.08);
        Axis::Log(low / missing, high * missing)
    }

    fn rows(&self) -> usize {
        (self.series.len() + 1).div_ceil(3)
    }
}

/// Upper and lower edge of the plot areas; the first line of the legend.
const EDGES: (f64, f64) = (frame::TOP, frame::TOP + 320.0);
const LEGEND: f64 = 506.0;

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        let rows = u32::try_from(self.rows()).unwrap_or(1);
        (1060, 508 + 20 * rows)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        frame::experiment_title(canvas, &title(&self.spec), &self.spec)?;
        let lasts = self.spreads(Quantity::Risk).filter_map(|(_, spread)| spread.mean.last());
        let last = lasts.map(|point| point.0).fold(1.0, f64::max);
        let count = u32::try_from(self.quantities.len()).unwrap_or(1).max(1);
        let areas = frame::columns(count, 92.0, EDGES.0, EDGES.1);
        for (quantity, area) in self.quantities.iter().zip(areas) {
            let panel = Panel { area, x: Axis::Linear(0.0, last), y: self.ordinate(*quantity) };
            for (stroke, spread) in self.spreads(*quantity) {
                let edges = (&spread.least[..], &spread.greatest[..]);
                frame::region(canvas, &panel, edges, stroke.colour)?;
            }
            let means =
                self.spreads(*quantity).map(|(stroke, spread)| (spread.mean.clone(), stroke));
            frame::plot(canvas, &panel, means, (true, true))?;
            panel.x_name(canvas, "Step t")?;
            let name = match quantity {
                Quantity::Risk => "Empirical risk (nats)",
                Quantity::PopulationRisk => self.population,
                Quantity::Distance => "Distance ∥W − W₀∥",
            };
            panel.y_name(canvas, name, frame::Y_NAME)?;
        }
        let labels = self.series.iter().enumerate().map(|(index, one)| {
            (frame::with_diverged(&one.name, one.diverged), Mark::Line(series(index)))
        });
        let range = ("least to greatest over the seeds".to_owned(), Mark::Region(INK));
        let (mut left, mut baseline, mut widest) = (frame::SIDES.0, LEGEND, 0.0f64);
        for (index, (label, mark)) in labels.chain([range]).enumerate() {
            widest = widest.max(legend::line(canvas, (left, baseline), mark, &label)?);
            baseline += LINE;
            if (index + 1) % self.rows() == 0 {
                (left, baseline, widest) = (left + widest + 36.0, LEGEND, 0.0);
            }
        }
        Ok(())
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&["at", "quantity", "step", "mean", "least", "greatest"]);
        for series in &self.series {
            for spread in &series.spreads {
                let ends = spread.least.iter().zip(&spread.greatest);
                for ((step, mean), ((_, least), (_, greatest))) in spread.mean.iter().zip(ends) {
                    let numbers = [number(*mean)?, number(*least)?, number(*greatest)?];
                    let mut row =
                        vec![series.name.replace('−', "-"), spread.quantity.name().into()];
                    row.push(number(*step)?);
                    row.extend(numbers);
                    table.push(row);
                }
            }
        }
        Ok(table)
    }
}
