//! Accuracy against the privacy ε of an experiment, and the noise that each ε takes.

use std::collections::BTreeMap;

use dpbounds_experiments::run::{
    Axis as Abscissa, Finished, Record, Response, Spec, mean_and_error,
};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Point};
use crate::error::Result;
use crate::frame::{self, Measured};
use crate::legend::{self, LINE, Mark};
use crate::render::Plot;
use crate::style::{INK, Stroke, series};
use crate::table::{Table, number};
use crate::words;

/// Points of one ε are drawn side by side, so that their bars can be told apart.
const STEP_ASIDE: f64 = 1.03;

/// First line of the legend.
const LEGEND: f64 = 526.0;

/// The title of the figure.
pub(crate) fn title(_: &Spec) -> String {
    "Accuracy against the privacy ε".into()
}

/// Whether an experiment can be drawn like this.
pub(crate) fn applies(spec: &Spec) -> bool {
    spec.points().iter().any(|point| point.contains_key(&Abscissa::Epsilon))
}

/// What belongs to one combination of the other parameters.
struct Series {
    name: String,
    /// Accuracy at each ε.
    accuracy: Vec<Measured>,
    /// Noise κ at each ε.
    kappa: Vec<Point>,
    diverged: usize,
}

pub(crate) struct Plotted {
    spec: Spec,
    ordinate: &'static str,
    series: Vec<Series>,
}

impl Plotted {
    /// The means of a finished experiment.
    pub(crate) fn new(finished: &Finished) -> Result<Self> {
        let spec = &finished.header.spec;
        let mut all: Vec<(BTreeMap<Abscissa, f64>, Series)> = Vec::new();
        for runs in finished.records.chunk_by(|one, other| one.point == other.point) {
            let mut rest = runs[0].values.clone();
            let Some(epsilon) = rest.remove(&Abscissa::Epsilon) else { continue };
            let place = all.iter().position(|(other, _)| *other == rest).unwrap_or_else(|| {
                let name = words::point(&rest);
                let name = if name.is_empty() { "means".into() } else { name };
                let (accuracy, kappa, diverged) = (vec![], vec![], 0);
                all.push((rest, Series { name, accuracy, kappa, diverged }));
                all.len() - 1
            });
            let series = &mut all[place].1;
            let value = |run: &Record| run.outcome.as_ref()?.value(Response::Accuracy);
            let values: Vec<f64> = runs.iter().filter_map(value).collect();
            series.diverged += runs.len() - values.len();
            series.kappa.push((epsilon, runs[0].settings.kappa));
            if let (Some(mean), error) = mean_and_error(&values) {
                series.accuracy.push((epsilon, mean, error));
            }
        }
        let population = finished
            .records
            .iter()
            .filter_map(|run| run.outcome.as_ref())
            .find_map(|outcome| outcome.population_exact);
        let ordinate = match population {
            Some(true) => "Accuracy on the population",
            Some(false) => "Accuracy on held-out records",
            None => "Accuracy on the training records",
        };
        let mut series: Vec<Series> = all.into_iter().map(|(_, series)| series).collect();
        for one in &mut series {
            one.accuracy.sort_by(|a, b| a.0.total_cmp(&b.0));
            one.kappa.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        Ok(Self { spec: spec.clone(), ordinate, series })
    }

    fn panels(&self) -> [Panel; 2] {
        let kappas = || self.series.iter().flat_map(|series| &series.kappa);
        let (low, high) = frame::span(kappas().map(|point| point.0)).unwrap_or((1.0, 10.0));
        let x = Axis::Log(low / 1.15, high * 1.15);
        let bars = self.series.iter().flat_map(|series| &series.accuracy);
        let ends = bars.flat_map(|(_, mean, error)| {
            let error = error.unwrap_or(0.0);
            [mean - error, mean + error]
        });
        let (low, high) = frame::span(ends).unwrap_or((0.0, 1.0));
        let margin = (0.06 * (high - low)).max(0.005);
        let accuracy = Axis::Linear((low - margin).max(0.0), (high + margin).min(1.0));
        let positive = kappas().map(|point| point.1).filter(|kappa| *kappa > 0.0);
        let (low, high) = frame::span(positive).unwrap_or((0.1, 10.0));
        let kappa = Axis::Log(low / 1.3, high * 1.3);
        let mut areas = frame::columns(2, 92.0, frame::TOP, frame::TOP + 340.0);
        let mut area = || areas.next().unwrap_or(frame::WHOLE);
        [Panel { area: area(), x, y: accuracy }, Panel { area: area(), x, y: kappa }]
    }
}

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        let rows = u32::try_from(self.series.len().div_ceil(3)).unwrap_or(1);
        (1060, 528 + 20 * rows)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        frame::experiment_title(canvas, &title(&self.spec), &self.spec)?;
        let [accuracy, kappa] = self.panels();
        let look = |index| {
            let stroke: Stroke = series(index);
            Stroke { width: 1.5, ..stroke }
        };
        let numbered = || self.series.iter().enumerate();
        #[allow(clippy::cast_precision_loss)] // few series
        let beside = |index: usize, epsilon: f64| {
            let middle = (self.series.len() as f64 - 1.0) / 2.0;
            epsilon * STEP_ASIDE.powf(index as f64 - middle)
        };
        let shifted = |index, series: &Series| {
            let shift =
                |(epsilon, mean, error): &Measured| (beside(index, *epsilon), *mean, *error);
            series.accuracy.iter().map(shift).collect::<Vec<Measured>>()
        };
        let means = numbered().map(|(index, series)| {
            let points = shifted(index, series).iter().map(|(x, mean, _)| (*x, *mean)).collect();
            (points, look(index))
        });
        frame::plot(canvas, &accuracy, means, (true, true))?;
        let noise = numbered().map(|(index, series)| (series.kappa.clone(), look(index)));
        frame::plot(canvas, &kappa, noise, (true, true))?;
        for (index, series) in numbered() {
            frame::measured(canvas, &accuracy, &shifted(index, series), look(index).colour)?;
            frame::dots(canvas, &kappa, &series.kappa, look(index).colour)?;
        }
        for panel in [accuracy, kappa] {
            panel.x_name(canvas, words::abscissa(Abscissa::Epsilon))?;
        }
        accuracy.y_name(canvas, self.ordinate, frame::Y_NAME)?;
        kappa.y_name(canvas, words::abscissa(Abscissa::Kappa), frame::Y_NAME)?;
        let rows = self.series.len().div_ceil(3);
        let (mut left, mut baseline) = (frame::SIDES.0, LEGEND);
        let mut widest: f64 = 0.0;
        for (index, series) in numbered() {
            let label = frame::with_diverged(&series.name, series.diverged);
            let width = legend::line(canvas, (left, baseline), Mark::Dotted(look(index)), &label)?;
            (widest, baseline) = (widest.max(width), baseline + LINE);
            if (index + 1) % rows == 0 {
                (left, baseline, widest) = (left + widest + 36.0, LEGEND, 0.0);
            }
        }
        let bars = "mean ± standard error, one ε side by side";
        legend::line(canvas, (left, LEGEND), Mark::Error(INK), bars)?;
        Ok(())
    }

    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&["at", "epsilon", "quantity", "value"]);
        for series in &self.series {
            let mut push = |epsilon: f64, quantity: &str, value: f64| -> Result<()> {
                let at = series.name.replace('−', "-");
                table.push(vec![at, number(epsilon)?, quantity.into(), number(value)?]);
                Ok(())
            };
            for &(epsilon, mean, error) in &series.accuracy {
                push(epsilon, "accuracy, mean", mean)?;
                if let Some(error) = error {
                    push(epsilon, "accuracy, standard error", error)?;
                }
            }
            for &(epsilon, kappa) in &series.kappa {
                push(epsilon, "kappa", kappa)?;
            }
        }
        Ok(table)
    }
}
