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

/// One row of the prototype: (k, p), width, steps, horizon, certified value, τ.
type Row = ((usize, usize), usize, u64, f64, f64, f64);

/// What the search of the prototype finds, and where the theory file has another row, what it finds among at most 500
/// (k = 3, p = 4) or 600 (p = 8) steps.
const ROWS: [Row; 5] = [
    ((1, 2), 2048, 263, 79.506_574_367_427_79, 0.645_025_031_525_925_9, 3.577_148_372_307_650_3),
    ((3, 4), 4096, 421, 158.685_552_776_586_5, 0.596_408_542_890_255_4, 5.604_995_459_679_882),
    ((3, 4), 4096, 530, 199.793_875_624_944_32, 0.595_417_652_498_429_9, 6.392_143_346_020_874),
    ((3, 8), 8192, 575, 251.551_524_627_045_35, 0.481_599_679_136_871, 7.346_596_065_358_59),
    ((3, 8), 8192, 911, 398.764_527_929_523_5, 0.459_627_599_016_945_4, 9.037_273_044_853_855),
];

#[test]
fn breast_cancer_is_certified_as_by_the_prototype() {
    let sample = squashed(&prepare(&Request::new("breast-cancer")).unwrap());
    for rows in ROWS.chunk_by(|one, other| one.0 == other.0) {
        let ((degree, size), width, ..) = rows[0];
        let basis = SplineBasis::new(degree, size, Knots::Clamped).unwrap();
        let (network, weights) =
            initialise(basis, Activation::Tanh, 30, width, Initialisation::Greville, 1).unwrap();
        let seen = Linearisation::at(&network, &weights, &sample).unwrap();
        // The prototype cuts every span in eight.
        let realised = RealisedConstants::of(&network, 8).unwrap();
        let ingredients = Ingredients::new(&seen, &realised, InputDomain::Cube).scaled_by_data();
        for &(_, _, steps, horizon, expected, distance) in rows {
            #[allow(clippy::cast_precision_loss)] // few steps
            let step_size = Some(horizon / steps as f64);
            let question = Question {
                routes: vec![Route::SGd],
                schedule: Schedule { step_size, steps: Some(steps), most_steps: None },
                horizons: Some(vec![horizon]),
                ..Question::default()
            };
            let found = certify(&ingredients, &question).unwrap();
            let value = found.bound.value.unwrap();
            let place = format!("({degree}, {size}), T = {steps}");
            assert!((value / expected - 1.0).abs() < 1e-6, "{place}: {value}");
            assert!((found.distance / distance - 1.0).abs() < 1e-6, "{place}: {}", found.distance);
        }
    }
}
