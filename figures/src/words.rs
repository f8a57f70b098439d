//! What the quantities of an experiment are called in a figure.

use std::collections::BTreeMap;

use dpbounds_experiments::run::{Axis, Response, Spec};

/// Symbol of a swept parameter.
pub(crate) const fn symbol(axis: Axis) -> &'static str {
    match axis {
        Axis::N => "n",
        Axis::Dimension => "d",
        Axis::Gamma => "γ",
        Axis::Separation => "s",
        Axis::Width => "m",
        Axis::Batch => "B",
        Axis::Steps => "T",
        Axis::StepSize => "η",
        Axis::Kappa => "κ",
        Axis::Lambda => "λ",
        Axis::Epsilon => "ε",
        Axis::OneMinusLambda => "1 − λ",
        Axis::NtkMargin => "γ",
    }
}

/// Name of an abscissa with its symbol and unit.
pub(crate) const fn abscissa(axis: Axis) -> &'static str {
    match axis {
        Axis::N => "Records n",
        Axis::Dimension => "Features d",
        Axis::Gamma => "Parameter γ of the margin",
        Axis::Separation => "Separation s of the clusters",
        Axis::Width => "Width m (units)",
        Axis::Batch => "Batch size B (records)",
        Axis::Steps => "Horizon T (steps)",
        Axis::StepSize => "Step size η",
        Axis::Kappa => "Noise multiplier κ (clipping norms)",
        Axis::Lambda => "Noise correlation λ",
        Axis::Epsilon => "Privacy ε (nats)",
        Axis::OneMinusLambda => "1 − λ with noise correlation λ",
        Axis::NtkMargin => "NTK margin γ, measured",
    }
}

/// An abscissa inside a sentence.
pub(crate) const fn noun(axis: Axis) -> &'static str {
    match axis {
        Axis::N => "the number of records n",
        Axis::Dimension => "the number of features d",
        Axis::Gamma => "the margin parameter γ",
        Axis::Separation => "the separation s",
        Axis::Width => "the width m",
        Axis::Batch => "the batch size B",
        Axis::Steps => "the horizon T",
        Axis::StepSize => "the step size η",
        Axis::Kappa => "the noise multiplier κ",
        Axis::Lambda => "the noise correlation λ",
        Axis::Epsilon => "the privacy ε",
        Axis::OneMinusLambda => "1 − λ",
        Axis::NtkMargin => "the measured NTK margin γ",
    }
}

/// Name of an ordinate, and its unit.
const fn name(response: Response) -> (&'static str, &'static str) {
    match response {
        Response::AveragedRisk => ("Averaged empirical risk", " (nats)"),
        Response::FinalRisk => ("Empirical risk at the end", " (nats)"),
        Response::PopulationRisk => ("Averaged population risk", " (nats)"),
        Response::GeneralisationGap => ("Generalisation gap", " (nats)"),
        Response::NoiseExcess => ("Excess risk from noise", " (nats)"),
        Response::CumulativeNoise => ("Norm of the sum of the noise", ""),
        Response::Accuracy => ("Accuracy at the end", ""),
        Response::Distance => ("Distance from the initial weights", ""),
    }
}

/// Name of an ordinate inside a sentence.
pub(crate) fn plain_name(response: Response) -> String {
    name(response).0.to_lowercase()
}

/// Name of an ordinate with its unit.
pub(crate) fn ordinate(response: Response) -> String {
    let (name, unit) = name(response);
    format!("{name}{unit}")
}

/// `This against that`.
pub(crate) fn against(response: Response, axis: Axis) -> String {
    format!("{} against {}", name(response).0, noun(axis))
}

/// A number of an experiment file in the form it would be written.
pub(crate) fn value(number: f64) -> String {
    let magnitude = number.abs();
    let text = if magnitude != 0.0 && !(1e-4..1e7).contains(&magnitude) {
        format!("{number:e}")
    } else {
        format!("{number}")
    };
    text.replace('-', "−")
}

/// An exponent of the theory, to three decimals.
pub(crate) fn slope(number: f64) -> String {
    value((number * 1e3).round() / 1e3)
}

/// A measured slope or noise: three decimals below 1, else two.
pub(crate) fn measured(number: f64) -> String {
    // A rounded number may be a negative zero.
    let round = |scale: f64| (number * scale).round() / scale + 0.0;
    let text = if number.abs() < 1.0 {
        format!("{:.3}", round(1e3))
    } else {
        format!("{:.2}", round(1e2))
    };
    text.replace('-', "−")
}

/// `κ = 0.5, λ = 0`.
pub(crate) fn point(values: &BTreeMap<Axis, f64>) -> String {
    let words =
        values.iter().map(|(axis, number)| format!("{} = {}", symbol(*axis), value(*number)));
    words.collect::<Vec<_>>().join(", ")
}

/// What trains: the data, and the parameters that are not swept.
pub(crate) fn setup(spec: &Spec) -> String {
    let (model, algorithm) = (&spec.model, &spec.algorithm);
    let points = spec.points();
    let swept = |axis: Axis| points.iter().any(|point| point.contains_key(&axis));
    #[allow(clippy::cast_precision_loss)] // for display
    let numbers = [
        (Axis::Width, Some(model.width as f64)),
        (Axis::Batch, algorithm.batch.map(|batch| batch as f64)),
        (Axis::Steps, Some(algorithm.steps as f64)),
        (Axis::StepSize, Some(algorithm.step_size)),
        (Axis::Kappa, spec.privacy.is_none().then_some(algorithm.kappa)),
        (Axis::Lambda, (algorithm.kappa > 0.0 || swept(Axis::Kappa)).then_some(algorithm.lambda)),
        (Axis::Epsilon, spec.privacy.as_ref().map(|privacy| privacy.epsilon)),
    ];
    let mut words: Vec<String> = numbers
        .into_iter()
        .filter(|(axis, _)| !swept(*axis))
        .filter_map(|(axis, number)| Some(format!("{} = {}", symbol(axis), value(number?))))
        .collect();
    words.extend(algorithm.clip.map(|clip| format!("C = {}", value(clip))));
    words.extend(spec.privacy.as_ref().map(|privacy| format!("δ = {}", value(privacy.delta))));
    let seeds = spec.seeds.all().len();
    format!(
        "{}, {} batches; {}; {seeds} seed{}",
        spec.data.name,
        algorithm.sampler,
        words.join(", "),
        if seeds == 1 { "" } else { "s" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::font;
    use dpbounds_experiments::run::built_ins;

    #[test]
    fn words_of_the_built_in_experiments_are_set_in_the_embedded_font() {
        for one in built_ins() {
            let spec = one.spec().unwrap();
            let mut words = vec![setup(&spec), spec.summary.clone()];
            words.extend(spec.points().iter().map(point));
            words.extend(spec.slope.iter().map(|slope| against(slope.response, slope.axis)));
            words.extend(spec.slope.iter().map(|slope| ordinate(slope.response)));
            words.extend(spec.slope.iter().map(|slope| abscissa(slope.axis).to_owned()));
            assert!(words.iter().all(|words| font::covers(words)), "{words:?}");
        }
    }

    #[test]
    fn numbers_are_short_and_have_a_true_minus_sign() {
        assert_eq!([value(0.5), value(1e-6), value(960.0)], ["0.5", "1e−6", "960"]);
        assert_eq!([-0.98765, 2.0, -1e-5].map(measured), ["−0.988", "2.00", "0.000"]);
    }
}
