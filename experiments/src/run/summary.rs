//! Means over the seeds as CSV.

use std::collections::BTreeSet;

use dpbounds_bounds::kan::certificates::Claim;

use super::judgement::Judgement;
use super::record::{Header, Record};
use super::spec::{Axis, Response};

const RESPONSES: [Response; 8] = [
    Response::AveragedRisk,
    Response::FinalRisk,
    Response::PopulationRisk,
    Response::GeneralisationGap,
    Response::NoiseExcess,
    Response::CumulativeNoise,
    Response::Accuracy,
    Response::Distance,
];

/// One row a point: the swept values, κ, the number of runs, then mean and standard error of each
/// measure. Measures that no run has are left out. After these certified beside measured, for each claim.
#[must_use]
pub fn summary_csv(header: &Header, records: &[Record], judgements: &[Judgement]) -> String {
    let axes: BTreeSet<Axis> =
        records.iter().flat_map(|record| record.values.keys().copied()).collect();
    let value =
        |record: &Record, response| record.outcome.as_ref().and_then(|all| all.value(response));
    let present =
        |response: &Response| records.iter().any(|record| value(record, *response).is_some());
    let responses: Vec<Response> = RESPONSES.into_iter().filter(present).collect();
    let mut columns: Vec<String> = vec!["point".into()];
    columns.extend(axes.iter().map(|axis| axis.name().to_owned()));
    columns.extend(["calibrated_kappa", "runs", "diverged"].map(str::to_owned));
    for response in &responses {
        let name = response.name().replace('-', "_");
        columns.extend([format!("{name}_mean"), format!("{name}_standard_error")]);
    }
    let claims = header.spec.certificate.iter().flat_map(|wanted| wanted.claims.iter());
    let claims: Vec<Claim> = claims.copied().collect();
    for claim in &claims {
        let parts = ["certified", "measured", "ratio", "above", "verdict"];
        columns.extend(parts.map(|part| format!("{}_{part}", claim.name())));
    }
    let mut text = format!(
        "# dpbounds {}; {}; {}\n{}\n",
        header.version,
        header.command.replace(['\n', '\r'], " "),
        header.spec.seeds,
        columns.join(",")
    );
    for runs in records.chunk_by(|a, b| a.point == b.point) {
        let mut cells = vec![runs[0].point.to_string()];
        let of_axis = |axis| runs[0].values.get(axis).map(f64::to_string).unwrap_or_default();
        cells.extend(axes.iter().map(of_axis));
        let diverged = runs.iter().filter(|run| run.outcome.is_none()).count();
        cells.extend([
            runs[0].settings.kappa.to_string(),
            runs.len().to_string(),
            diverged.to_string(),
        ]);
        for response in &responses {
            let values: Vec<f64> = runs.iter().filter_map(|run| value(run, *response)).collect();
            let (mean, error) = mean_and_error(&values);
            let shown = |number: Option<f64>| number.map(|number| number.to_string());
            cells.extend([shown(mean).unwrap_or_default(), shown(error).unwrap_or_default()]);
        }
        for claim in &claims {
            let one =
                judgements.iter().find(|one| (one.point, one.claim) == (runs[0].point, *claim));
            let Some(one) = one else { continue };
            let shown = |number: Option<f64>| number.map(|x| x.to_string()).unwrap_or_default();
            cells.extend([one.certified, one.measured, one.ratio].map(shown));
            cells.extend([one.above.to_string(), one.standing.to_string()]);
        }
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// The mean, and its standard error from two values on.
#[must_use]
#[allow(clippy::cast_precision_loss)] // few seeds
pub fn mean_and_error(values: &[f64]) -> (Option<f64>, Option<f64>) {
    if values.is_empty() {
        return (None, None);
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
    (Some(mean), error)
}
