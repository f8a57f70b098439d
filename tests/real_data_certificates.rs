//! A certificate on real data against the value of the prototype.

use dpbounds_bounds::kan::certificates::{Ingredients, Question, Route, Schedule, certify};
use dpbounds_bounds::kan::{
    Activation, Initialisation, InputDomain, Knots, Linearisation, RealisedConstants, Sample,
    SplineBasis, initialise,
};
use dpbounds_experiments::data::{Dataset, Request, prepare};

/// Columns standardised and squashed, x = tanh(z/2).
fn squashed(data: &Dataset) -> Sample {
    let (rows, columns) = (data.rows(), data.dimension);
    let mut features = data.features.clone();
    for column in 0..columns {
        let at = |row: usize| data.features[row * columns + column];
        let mean = (0..rows).map(at).sum::<f64>() / rows as f64;
        let square = (0..rows).map(|row| (at(row) - mean).powi(2)).sum::<f64>() / rows as f64;
        for row in 0..rows {
            features[row * columns + column] = ((at(row) - mean) / square.sqrt() / 2.0).tanh();
        }
    }
    Sample::new(columns, features, data.labels.clone()).unwrap()
}

#[test]
fn breast_cancer_is_certified_as_by_the_prototype() {
    let sample = squashed(&prepare(&Request::new("breast-cancer")).unwrap());
    let basis = SplineBasis::new(1, 2, Knots::Clamped).unwrap();
    let (network, weights) =
        initialise(basis, Activation::Tanh, 30, 2048, Initialisation::Greville, 1).unwrap();
    let seen = Linearisation::at(&network, &weights, &sample).unwrap();
    // The prototype cuts every span in eight.
    let realised = RealisedConstants::of(&network, 8).unwrap();
    let ingredients = Ingredients::new(&seen, &realised, InputDomain::Cube).scaled_by_data();
    let horizon = 79.506_574_367_427_79;
    let question = Question {
        routes: vec![Route::SGd],
        schedule: Schedule { step_size: Some(horizon / 263.0), steps: Some(263), most_steps: None },
        horizons: Some(vec![horizon]),
        ..Question::default()
    };
    let found = certify(&ingredients, &question).unwrap();
    let value = found.bound.value.unwrap();
    assert!((value / 0.645_025_031_525_925_9 - 1.0).abs() < 1e-6, "{value}");
    assert!((found.distance / 3.577_148_372_307_650_3 - 1.0).abs() < 1e-6, "{}", found.distance);
}
