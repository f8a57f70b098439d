use dpbounds_bounds::kan::{
    Activation, Initialisation, Knots, Linearisation, Network, RealisedConstants, Sample,
    SplineBasis, comparator_at, free_comparator, initialise, logistic_loss, ntk_margin,
};

use crate::oracle::{basis, flat, real, rows, size};

fn atoms(name: &str) -> Sample {
    match name {
        "A4" => Sample::new(1, vec![-0.95, -0.7, 0.7, 0.95], vec![-1.0, -1.0, 1.0, 1.0]),
        "X4" => Sample::new(
            2,
            vec![0.7, 0.7, -0.7, -0.7, 0.7, -0.7, -0.7, 0.7],
            vec![1.0, 1.0, -1.0, -1.0],
        ),
        other => panic!("{other}"),
    }
    .unwrap()
}

fn setup(row: &serde_json::Value) -> (Network, Vec<f64>, Sample) {
    let row = &row["setup"];
    let initialisation = match row["init"].as_str().unwrap() {
        "gaussian" => Initialisation::Gaussian,
        "antithetic" => Initialisation::Antithetic,
        _ => Initialisation::Greville,
    };
    let sample = atoms(row["atoms"].as_str().unwrap());
    let (width, seed) = (size(&row["m"]), row["seed"].as_u64().unwrap());
    let (network, weights) =
        initialise(basis(row), Activation::Tanh, sample.dimension(), width, initialisation, seed)
            .unwrap();
    (network, weights, sample)
}

#[test]
fn reference_configurations_are_reproduced() {
    for row in rows("reference") {
        let (network, weights, sample) = setup(row);
        let at = Linearisation::at(&network, &weights, &sample).unwrap();
        let near = |value: f64, expected: &serde_json::Value, tolerance: f64, what: &str| {
            let expected = real(expected);
            let error = value / expected - 1.0;
            assert!(error.abs() < tolerance, "{} {what}: {value} {expected}", row["name"]);
            error
        };
        for (value, expected) in at.outputs().iter().zip(flat(&row["f0"])) {
            assert!((value - expected).abs() < 1e-12, "{} f0", row["name"]);
        }
        let margin = ntk_margin(&at, Default::default()).unwrap();
        let lower = near(margin.lower, &row["gamma_lower"], 1e-8, "lower margin");
        let upper = near(margin.upper, &row["gamma_upper"], 1e-8, "upper margin");
        // The reference cuts every span in eight.
        let constants = RealisedConstants::of(&network, 8).unwrap();
        let constants = constants.constants(at.feature_norm2()).unwrap();
        let gradient = near(constants.gradient, &row["G"], 1e-10, "G");
        let curvature = near(constants.curvature, &row["nu"], 1e-9, "nu");
        let certificate = &row["cert"];
        let found = free_comparator(&at, real(&certificate["s"]), None).unwrap();
        let distance = near(found.distance, &certificate["tau"], 1e-9, "tau");
        let full = row["cfg"]["sampler"] == "full" && row["cfg"].get("pop").is_none();
        let loss = if full { found.mean_loss } else { found.largest_loss };
        let loss = near(loss, &certificate["lstar"], 1e-9, "l*");
        eprintln!(
            "{}: gamma {lower:e} {upper:e} G {gradient:e} nu {curvature:e} tau {distance:e} l* {loss:e} {} {}",
            row["name"], margin.iterations, found.steps
        );
    }
}

fn small(initialisation: Initialisation) -> (Network, Vec<f64>) {
    let basis = SplineBasis::new(3, 5, Knots::Clamped).unwrap();
    initialise(basis, Activation::Tanh, 2, 30, initialisation, 11).unwrap()
}

#[test]
fn comparator_equals_the_network_at_the_weights_it_stands_for() {
    let (network, weights) = small(Initialisation::Gaussian);
    let inputs = vec![0.5, -0.2, -0.7, 0.9, 0.1, 0.3];
    let labels = vec![1.0, -1.0, 1.0];
    let sample = Sample::with_multiplicities(2, inputs, labels, vec![3, 1, 2]).unwrap();
    let at = Linearisation::at(&network, &weights, &sample).unwrap();
    let b = [0.7, 1.9, -0.4];
    let mut moved = weights.clone();
    for (index, coefficient) in b.iter().enumerate() {
        let features = network.features(sample.input(index)).unwrap();
        let gradient = network.gradient(&weights, &features).unwrap().dense();
        for (weight, entry) in moved.iter_mut().zip(gradient) {
            *weight += coefficient * sample.labels()[index] * entry;
        }
    }
    let found = comparator_at(&at, &b).unwrap();
    let distance = moved.iter().zip(&weights).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    assert!(found.distance >= distance && found.distance / distance - 1.0 < 1e-10);
    let mut mean = 0.0;
    for index in 0..3 {
        let features = network.features(sample.input(index)).unwrap();
        let output = network.output(&moved, &features).unwrap().value;
        let loss = logistic_loss(sample.labels()[index] * output);
        assert!((found.losses[index] / loss - 1.0).abs() < 1e-11);
        mean += sample.shares()[index] * loss;
    }
    assert!((found.mean_loss / mean - 1.0).abs() < 1e-11);
    assert!(found.largest_loss >= found.mean_loss);
}

#[test]
fn multiplicities_equal_repetitions() {
    let (network, weights) = small(Initialisation::Antithetic);
    let inputs = vec![0.5, -0.2, -0.7, 0.9, 0.5, -0.2, 0.1, 0.3];
    let sample = Sample::new(2, inputs, vec![1.0, -1.0, 1.0, -1.0]).unwrap();
    let merged = sample.merged();
    let run = |sample: &Sample| {
        let at = Linearisation::at(&network, &weights, sample).unwrap();
        free_comparator(&at, 40.0, None).unwrap()
    };
    let (all, few) = (run(&sample), run(&merged));
    assert!((all.distance / few.distance - 1.0).abs() < 1e-9);
    assert!((all.mean_loss / few.mean_loss - 1.0).abs() < 1e-9);
}

#[test]
fn longer_horizons_go_further_and_fit_better_in_the_linear_model() {
    let (network, weights) = small(Initialisation::Greville);
    let sample = atoms("X4");
    let at = Linearisation::at(&network, &weights, &sample).unwrap();
    let mut before = comparator_at(&at, &[0.0; 4]).unwrap();
    for horizon in [1e-3, 1.0, 30.0, 1e3, 1e5] {
        let found = free_comparator(&at, horizon, Some(&before.coefficients)).unwrap();
        let cold = free_comparator(&at, horizon, None).unwrap();
        assert!((found.distance / cold.distance - 1.0).abs() < 1e-7, "{horizon}");
        assert!(found.distance > before.distance, "{horizon}");
        before = found;
    }
}

#[test]
fn contradictions_have_a_comparator_and_bad_arguments_none() {
    let (network, weights) = small(Initialisation::Gaussian);
    let inputs = vec![0.5, -0.2, 0.5, -0.2, 0.1, 0.1];
    let sample = Sample::new(2, inputs, vec![1.0, -1.0, 1.0]).unwrap();
    let at = Linearisation::at(&network, &weights, &sample).unwrap();
    let found = free_comparator(&at, 1e4, None).unwrap();
    assert!(found.distance.is_finite() && found.mean_loss < 1.0);
    for horizon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(free_comparator(&at, horizon, None).is_err());
    }
    assert!(free_comparator(&at, 1.0, Some(&[0.0])).is_err());
    assert!(comparator_at(&at, &[f64::NAN; 3]).is_err() && comparator_at(&at, &[]).is_err());
    assert!(comparator_at(&at, &[1e300; 3]).is_err());
    let other = Sample::new(1, vec![0.5], vec![1.0]).unwrap();
    assert!(Linearisation::at(&network, &weights, &other).is_err());
    assert!(Linearisation::at(&network, &weights[1..], &sample).is_err());
}
