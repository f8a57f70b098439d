//! Certified beside measured risk against a swept parameter.

use std::collections::BTreeMap;

use dpbounds_bounds::kan::certificates::Claim;
use dpbounds_experiments::run::{
    Axis as Abscissa, Finished, Judgement, Record, Response, Spec, Standing,
};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Point, Type};
use crate::error::Result;
use crate::frame;
use crate::legend::{self, LINE, Mark};
use crate::render::Plot;
use crate::style::{DASH, GREY, INK, Stroke, series, size};
use crate::table::{Table, number};
use crate::text::shortened;
use crate::words;

/// The loss of the zero predictor: a bound at or above it says nothing.
const VACUOUS: f64 = std::f64::consts::LN_2;
const VACUOUS_LOOK: Stroke = Stroke { colour: GREY, width: 1.25, dash: DASH };

/// Whether an experiment can be drawn like this.
pub(crate) fn applies(spec: &Spec) -> bool {
    spec.certificate.is_some() && abscissa(spec).is_some()
}

/// The title of the figure.
pub(crate) fn title(spec: &Spec) -> String {
    let what = if spec.data.name.starts_with("atoms") { "" } else { " on real data" };
    let axis = abscissa(spec).map_or("the point", words::noun);
    format!("Certified and measured risk{what} against {axis}")
}

/// The swept parameter that is drawn along: the horizon, or else the first one.
fn abscissa(spec: &Spec) -> Option<Abscissa> {
    let points = spec.points();
    let all: Vec<Abscissa> = points.first()?.keys().copied().collect();
    all.iter().copied().find(|axis| *axis == Abscissa::Steps).or(all.first().copied())
}

const fn claim_words(claim: Claim) -> &'static str {
    match claim {
        Claim::Probability => "training risk, every run or high probability",
        Claim::Expectation => "training risk, mean over batches and noise",
        Claim::Population => "population risk, mean over samples",
    }
}

/// A curve with the range over the seeds.
struct Curve {
    label: String,
    at: String,
    quantity: &'static str,
    mean: Vec<Point>,
    least: Vec<Point>,
    greatest: Vec<Point>,
}

impl Curve {
    fn new(label: String, at: &str, quantity: &'static str) -> Self {
        let (mean, least, greatest) = (Vec::new(), Vec::new(), Vec::new());
        Self { label, at: at.to_owned(), quantity, mean, least, greatest }
    }

    #[allow(clippy::cast_precision_loss)] // few seeds
    fn add(&mut self, x: f64, values: &[f64]) {
        let Some((low, high)) = frame::span(values.iter().copied()) else { return };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        self.mean.push((x, mean));
        self.least.push((x, low));
        self.greatest.push((x, high));
    }

    fn sort(&mut self) {
        for points in [&mut self.mean, &mut self.least, &mut self.greatest] {
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
    }
}

pub(crate) struct Plotted {
    spec: Spec,
    axis: Abscissa,
    curves: Vec<Curve>,
    /// Points and claims without a certificate, and why.
    missing: usize,
    reason: String,
}

impl Plotted {
    pub(crate) fn new(finished: &Finished) -> Self {
        let spec = &finished.header.spec;
        let axis = abscissa(spec).unwrap_or(Abscissa::Steps);
        let mut curves: Vec<Curve> = Vec::new();
        for judgement in &finished.judgements {
            let runs: Vec<&Record> =
                finished.records.iter().filter(|run| run.point == judgement.point).collect();
            let Some(x) = runs[0].values.get(&axis).copied() else { continue };
            let rest: BTreeMap<Abscissa, f64> = runs[0]
                .values
                .iter()
                .filter(|(other, _)| **other != axis)
                .map(|(other, value)| (*other, *value))
                .collect();
            let at = words::point(&rest);
            let claim = judgement.claim;
            let certified = |run: &&Record| {
                run.certificates.iter().find(|one| one.claim == claim).and_then(|one| one.upper)
            };
            let bounds: Vec<f64> = runs.iter().filter_map(certified).collect();
            let kind = Response::from(claim);
            let value = |run: &&Record| run.outcome.as_ref()?.value(kind);
            let values: Vec<f64> = runs.iter().filter_map(value).collect();
            let route = judgement.route.as_deref().unwrap_or("none");
            for (quantity, label, numbers) in [
                (claim.name(), format!("certified by {route}: {}", claim_words(claim)), bounds),
                (kind.name(), format!("measured: {}", words::plain_name(kind)), values),
            ] {
                let known =
                    curves.iter().position(|curve| curve.quantity == quantity && curve.at == at);
                let place = known.unwrap_or_else(|| {
                    let label = if at.is_empty() { label } else { format!("{label}, {at}") };
                    curves.push(Curve::new(label, &at, quantity));
                    curves.len() - 1
                });
                let curve = &mut curves[place];
                // Two claims may measure the same.
                if curve.mean.iter().all(|point| point.0 != x) {
                    curve.add(x, &numbers);
                }
            }
        }
        curves.iter_mut().for_each(Curve::sort);
        let without = |one: &&Judgement| one.standing == Standing::NoCertificate;
        let missing = finished.judgements.iter().filter(without).count();
        let reason = finished
            .judgements
            .iter()
            .find(without)
            .map(|one| one.note.clone())
            .unwrap_or_default();
        Self { spec: spec.clone(), axis, curves, missing, reason }
    }

    fn panel(&self) -> Panel {
        let points = || self.curves.iter().flat_map(|curve| &curve.greatest);
        let lows = self.curves.iter().flat_map(|curve| &curve.least).map(|point| point.1);
        let (first, last) = frame::span(points().map(|point| point.0)).unwrap_or((0.0, 1.0));
        let (low, high) =
            frame::span(points().map(|point| point.1).chain(lows).filter(|value| *value > 0.0))
                .unwrap_or((0.1, 1.0));
        let x = if first > 0.0 && last / first > 8.0 {
            Axis::Log(first / 1.08, last * 1.08)
        } else {
            let margin = if last > first { 0.03 * (last - first) } else { 0.5 };
            Axis::Linear(first - margin, last + margin)
        };
        let y = Axis::Log(low / 1.25, high.clamp(1.15 * VACUOUS, 3.0) * 1.1);
        Panel { area: frame::WHOLE, x, y }
    }
}

const LEGEND: f64 = 506.0;

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        let rows = u32::try_from(self.curves.len() + 1).unwrap_or(1);
        (1060, 516 + 20 * (rows + u32::from(self.missing > 0)))
    }

    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        frame::experiment_title(canvas, &title(&self.spec), &self.spec)?;
        let panel = self.panel();
        for (index, curve) in self.curves.iter().enumerate() {
            let edges = (&curve.least[..], &curve.greatest[..]);
            frame::region(canvas, &panel, edges, series(index).colour)?;
        }
        let curves = self.curves.iter().enumerate();
        let curves = curves.map(|(index, curve)| (curve.mean.clone(), series(index)));
        let (from, to) = match panel.x {
            Axis::Linear(from, to) | Axis::Log(from, to) => (from, to),
        };
        let vacuous = (vec![(from, VACUOUS), (to, VACUOUS)], VACUOUS_LOOK);
        frame::plot(canvas, &panel, std::iter::once(vacuous).chain(curves), (true, true))?;
        for (index, curve) in self.curves.iter().enumerate() {
            frame::dots(canvas, &panel, &curve.mean, series(index).colour)?;
        }
        panel.x_name(canvas, words::abscissa(self.axis))?;
        panel.y_name(canvas, "Risk averaged over the steps (nats)", frame::Y_NAME)?;
        let (left, mut baseline) = (frame::SIDES.0, LEGEND);
        for (index, curve) in self.curves.iter().enumerate() {
            let label = format!("{} (mean, least to greatest over the seeds)", curve.label);
            legend::line(canvas, (left, baseline), Mark::Dotted(series(index)), &label)?;
            baseline += LINE;
        }
        let vacuous = "log 2, the loss of the zero predictor: a bound above it says nothing";
        legend::line(canvas, (left, baseline), Mark::Line(VACUOUS_LOOK), vacuous)?;
        if self.missing > 0 {
            let style = Type::new(size::NOTE, INK);
            let text = format!("{} without a certificate: {}", self.missing, self.reason);
            let text = shortened(&text, style, frame::SIDES.1 - left)?;
            canvas.text(&text, (left, baseline + LINE), style)?;
        }
        Ok(())
    }

    fn table(&self) -> Result<Table> {
        let mut table =
            Table::new(&["at", "quantity", "abscissa", "x", "mean", "least", "greatest"]);
        for curve in &self.curves {
            let ends = curve.least.iter().zip(&curve.greatest);
            for ((x, mean), ((_, least), (_, greatest))) in curve.mean.iter().zip(ends) {
                let at = if curve.at.is_empty() { "all" } else { &curve.at };
                let mut row = vec![at.replace('−', "-"), curve.label.replace('−', "-")];
                row.push(self.axis.name().to_owned());
                for value in [*x, *mean, *least, *greatest] {
                    row.push(number(value)?);
                }
                table.push(row);
            }
        }
        Ok(table)
    }
}
