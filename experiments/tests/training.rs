//! The training engine against the reference network, other programs, and the distribution of its noise.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dpbounds_bounds::kan::{
    Activation, Initialisation, Knots, Network, SplineBasis, initialise, logistic_loss,
    logistic_slope, portable_normals,
};
use dpbounds_experiments::kan::{Examples, Real};
use dpbounds_experiments::train::{Sampler, Settings, TrainError, Trainer};

fn settings(batch: usize) -> Settings {
    Settings {
        sampler: Sampler::Full,
        batch,
        steps: 100,
        step_size: 0.3,
        clip: None,
        kappa: 0.0,
        lambda: 0.0,
        radius: None,
        seed: 5,
    }
}

fn examples<F: Real>(count: usize, inputs: usize) -> Examples<F> {
    let draws = portable_normals(11, count * inputs);
    let features = draws.iter().map(|z| F::from_f64((0.7 * z).tanh())).collect();
    let labels = (0..count).map(|i| F::from_f64(if i % 3 == 0 { -1.0 } else { 1.0 })).collect();
    Examples::new(features, labels, inputs).unwrap()
}

/// One clipped full-batch step by the reference network.
fn reference_step(
    network: &Network,
    weights: &[f64],
    data: &Examples<f64>,
    step_size: f64,
    clip: f64,
) -> Vec<f64> {
    let mut next = weights.to_vec();
    for index in 0..data.len() {
        let features = network.features(data.row(index)).unwrap();
        let output = network.output(weights, &features).unwrap();
        let label = data.labels()[index];
        let slope = logistic_slope(label * output.value);
        let gradient = network.gradient(weights, &features).unwrap();
        let factor = (clip / (slope * gradient.norm())).min(1.0);
        let scale = step_size * factor * slope * label / data.len() as f64;
        for (weight, entry) in next.iter_mut().zip(gradient.dense()) {
            *weight += scale * entry;
        }
    }
    next
}

fn largest_difference(left: &[f64], right: &[f64]) -> f64 {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn steps_agree_with_the_reference_network_for_every_shape() {
    for (degree, size, knots) in [
        (1, 2, Knots::Clamped),
        (1, 5, Knots::Clamped),
        (2, 3, Knots::Clamped),
        (2, 9, Knots::Cardinal),
        (3, 4, Knots::Clamped),
        (3, 6, Knots::Cardinal),
        (4, 8, Knots::Clamped),
        (5, 7, Knots::Clamped),
        (6, 12, Knots::Clamped),
        (7, 20, Knots::Clamped),
    ] {
        for activation in [Activation::Tanh, Activation::Sigmoid] {
            for (inputs, width) in [(1, 1), (3, 5), (2, 16), (20, 70)] {
                let basis = SplineBasis::new(degree, size, knots).unwrap();
                let (network, weights) =
                    initialise(basis, activation, inputs, 2 * width, Initialisation::Gaussian, 3)
                        .unwrap();
                let data = examples::<f64>(7, inputs);
                for clip in [0.05, 1e9] {
                    let run = Settings { clip: Some(clip), ..settings(7) };
                    let mut trainer = Trainer::new(&network, &weights, &data, run).unwrap();
                    let mut expected = weights.clone();
                    for _ in 0..3 {
                        trainer.step().unwrap();
                        expected = reference_step(&network, &expected, &data, 0.3, clip);
                    }
                    let error = largest_difference(&trainer.weights(), &expected);
                    let context = format!("{degree} {size} {activation:?} {inputs} {width} {clip}");
                    assert!(error < 1e-12, "{context}: {error}");
                    let risk: f64 = (0..7)
                        .map(|i| {
                            let h = network.features(data.row(i)).unwrap();
                            let output = network.output(&expected, &h).unwrap();
                            logistic_loss(data.labels()[i] * output.value) / 7.0
                        })
                        .sum();
                    assert!((trainer.risk() - risk).abs() < 1e-12, "{context}");
                }
            }
        }
    }
}

/// The same where the features of a batch are held for some inputs at a time.
#[test]
fn many_inputs_are_taken_in_blocks() {
    let basis = SplineBasis::new(3, 6, Knots::Clamped).unwrap();
    let (network, weights) =
        initialise(basis, Activation::Tanh, 40, 24, Initialisation::Gaussian, 3).unwrap();
    let data = examples::<f64>(8000, 40);
    let run = Settings { clip: Some(0.1), ..settings(8000) };
    let mut trainer = Trainer::new(&network, &weights, &data, run).unwrap();
    let report = trainer.step().unwrap();
    let expected = reference_step(&network, &weights, &data, 0.3, 0.1);
    assert!(largest_difference(&trainer.weights(), &expected) < 1e-12);
    let distance = expected.iter().zip(&weights).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    assert!((report.distance / distance.sqrt() - 1.0).abs() < 1e-9);
}

#[test]
fn ten_steps_equal_those_of_other_programs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/oracles/training_w3.json");
    let oracle: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let array = |name: &str| -> Vec<f64> { serde_json::from_value(oracle[name].clone()).unwrap() };
    let batches: Vec<Vec<u32>> = serde_json::from_value(oracle["batches"].clone()).unwrap();
    let basis = SplineBasis::new(3, 6, Knots::Cardinal).unwrap();
    let network = Network::new(basis, Activation::Tanh, 2, array("second_layer")).unwrap();
    let (weights, expected) = (array("weights"), array("expected"));
    let number = |name: &str| oracle[name].as_f64();
    let run = Settings {
        sampler: Sampler::Fixed,
        step_size: number("step_size").unwrap(),
        clip: number("clip"),
        radius: number("radius"),
        ..settings(32)
    };
    fn errors<F: Real>(
        network: &Network,
        weights: &[f64],
        data: &Examples<F>,
        run: Settings,
        batches: &[Vec<u32>],
        expected: &[f64],
    ) -> [f64; 2] {
        let vector = Trainer::new(network, weights, data, run).unwrap();
        let portable = Trainer::portable(network, weights, data, run).unwrap();
        [vector, portable].map(|mut trainer| {
            let mut clipped = 0;
            let mut projected = false;
            for batch in batches {
                let report = trainer.step_on(batch);
                clipped += report.clipped;
                projected |= report.projected;
            }
            assert!(clipped > 0 && projected);
            largest_difference(&trainer.weights(), expected)
        })
    }
    let features = array("features");
    let labels = array("labels");
    let narrow = |values: &[f64]| values.iter().map(|v| f32::from_f64(*v)).collect();
    let single = Examples::<f32>::new(narrow(&features), narrow(&labels), 2).unwrap();
    let double = Examples::<f64>::new(features, labels, 2).unwrap();
    let error = errors(&network, &weights, &single, run, &batches, &expected);
    assert!(error[0] < 1e-6 && error[1] < 1e-6, "{error:?}");
    let error = errors(&network, &weights, &double, run, &batches, &expected);
    assert!(error[0] < 1e-12 && error[1] < 1e-12, "{error:?}");
}

fn moments(values: &[f64]) -> [f64; 4] {
    let n = values.len() as f64;
    let power = |k: i32| values.iter().map(|v| v.powi(k)).sum::<f64>() / n;
    [power(1), power(2), power(3), power(4)]
}

/// Without gradient (a zero second layer) the steps are the noise itself.
fn pure_noise<F: Real>(kappa: f64, lambda: f64, steps: u64) -> Vec<Vec<f64>> {
    let basis = SplineBasis::new(3, 6, Knots::Clamped).unwrap();
    let network = Network::new(basis, Activation::Tanh, 3, vec![0.0; 100 * 6]).unwrap();
    let data = examples::<F>(4, 3);
    let run = Settings {
        step_size: 1.0,
        clip: Some(4.0),
        kappa,
        lambda,
        steps: steps + 1,
        ..settings(4)
    };
    let mut trainer = Trainer::new(&network, &vec![0.0; 1800], &data, run).unwrap();
    let mut before = trainer.weights();
    let mut increments = Vec::new();
    while trainer.step().is_some() {
        let after = trainer.weights();
        increments.push(before.iter().zip(&after).map(|(b, a)| b - a).collect());
        before = after;
    }
    increments
}

#[test]
fn noise_has_the_stated_mean_variance_and_covariance() {
    // 200 steps of 1,800 numbers. Every limit is at least five standard deviations: the test is wrong
    // with probability below 1e-5 over the seeds.
    let (kappa, lambda) = (1.5, 0.6);
    for increments in [pure_noise::<f64>(kappa, lambda, 200), pure_noise::<f32>(kappa, lambda, 200)]
    {
        assert_eq!(increments.len(), 200);
        let later: Vec<f64> = increments[1..].concat();
        let n = later.len() as f64;
        let [mean, square, ..] = moments(&later);
        let variance = kappa * kappa * (1.0 + lambda * lambda);
        assert!(mean.abs() < 5.0 * (variance / n).sqrt(), "{mean}");
        assert!((square / variance - 1.0).abs() < 10.0 * (2.0 / n).sqrt(), "{square} {variance}");
        let lag = |k: usize| {
            let pairs = increments[1..].iter().zip(&increments[1 + k..]);
            let products = pairs.flat_map(|(a, b)| a.iter().zip(b).map(|(x, y)| x * y));
            products.sum::<f64>() / ((increments.len() - 1 - k) as f64 * 1800.0)
        };
        let tolerance = 6.0 * variance / n.sqrt();
        assert!((lag(1) + lambda * kappa * kappa).abs() < tolerance, "{}", lag(1));
        assert!(lag(2).abs() < tolerance && lag(3).abs() < tolerance);
        // The first step has no predecessor.
        let first = moments(&increments[0])[1];
        assert!((first / (kappa * kappa) - 1.0).abs() < 5.0 * (2.0 / 1800.0_f64).sqrt(), "{first}");
    }
}

#[test]
fn drawn_numbers_are_standard_normal_and_can_be_drawn_again() {
    let basis = SplineBasis::new(3, 6, Knots::Clamped).unwrap();
    let network = Network::new(basis, Activation::Tanh, 3, vec![0.0; 500 * 6]).unwrap();
    let zeros = vec![0.0; 9000];
    let run = Settings { clip: Some(1.0), kappa: 1.0, ..settings(4) };
    fn check(draws: &[f64]) {
        let n = draws.len() as f64;
        let [mean, square, cube, fourth] = moments(draws);
        assert!(mean.abs() < 5.0 / n.sqrt(), "{mean}");
        assert!((square - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{square}");
        assert!(cube.abs() < 5.0 * (15.0 / n).sqrt(), "{cube}");
        assert!((fourth - 3.0).abs() < 5.0 * (96.0 / n).sqrt(), "{fourth}");
        // Kolmogorov and Smirnov: above 2.5 with probability below 1e-5.
        let mut sorted = draws.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let distance = sorted
            .iter()
            .enumerate()
            .map(|(i, z)| {
                let below = dpbounds_bounds::special::normal_cdf(*z);
                (below - i as f64 / n).abs().max((below - (i + 1) as f64 / n).abs())
            })
            .fold(0.0, f64::max);
        assert!(distance * n.sqrt() < 2.5, "{distance}");
    }
    let double = examples::<f64>(4, 3);
    let trainer = Trainer::new(&network, &zeros, &double, run).unwrap();
    let draws: Vec<f64> = (1..=40).flat_map(|t| trainer.noise(t)).collect();
    check(&draws);
    assert_eq!(trainer.noise(17), trainer.noise(17));
    assert_ne!(trainer.noise(17), trainer.noise(18));
    let portable = Trainer::portable(&network, &zeros, &double, run).unwrap();
    assert!(largest_difference(&portable.noise(3), &trainer.noise(3)) < 1e-14);
    let single = examples::<f32>(4, 3);
    let trainer = Trainer::new(&network, &zeros, &single, run).unwrap();
    check(&(1..=40).flat_map(|t| trainer.noise(t)).collect::<Vec<f64>>());
    let portable = Trainer::portable(&network, &zeros, &single, run).unwrap();
    assert!(largest_difference(&portable.noise(3), &trainer.noise(3)) < 2e-6);
}

#[test]
fn the_projection_and_the_samplers_do_what_they_say() {
    let basis = SplineBasis::new(2, 4, Knots::Clamped).unwrap();
    let (network, weights) =
        initialise(basis, Activation::Tanh, 2, 32, Initialisation::Antithetic, 1).unwrap();
    let data = examples::<f64>(40, 2);
    let run = Settings {
        sampler: Sampler::Poisson,
        clip: Some(0.5),
        kappa: 2.0,
        lambda: 0.9,
        radius: Some(0.2),
        steps: 60,
        ..settings(10)
    };
    let mut trainer = Trainer::new(&network, &weights, &data, run).unwrap();
    let (mut sizes, mut steps) = (Vec::new(), 0);
    while let Some(report) = trainer.step() {
        let distance: f64 =
            trainer.weights().iter().zip(&weights).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(distance.sqrt() <= 0.2 * (1.0 + 1e-12));
        assert!((report.distance - distance.sqrt()).abs() < 1e-12);
        sizes.push(report.batch);
        steps += 1;
    }
    assert_eq!(steps, 59);
    assert!(sizes.iter().any(|size| *size != sizes[0]));
    let two = |run| {
        let mut trainer = Trainer::new(&network, &weights, &data, run).unwrap();
        while trainer.step().is_some() {}
        trainer.weights()
    };
    assert_eq!(two(run), two(run));
    assert_ne!(two(run), two(Settings { seed: 6, ..run }));
}

#[test]
fn mirrored_runs_have_the_opposite_noise_and_losses_are_those_of_the_batch() {
    let basis = SplineBasis::new(3, 4, Knots::Clamped).unwrap();
    let (network, weights) =
        initialise(basis, Activation::Tanh, 2, 32, Initialisation::Gaussian, 1).unwrap();
    let data = examples::<f64>(20, 2);
    let quiet = Settings { sampler: Sampler::Poisson, clip: Some(1.0), ..settings(6) };
    let noisy = Settings { kappa: 2.0, lambda: 0.5, ..quiet };
    let start = |run| Trainer::new(&network, &weights, &data, run).unwrap();
    let (mut with, mut against) = (start(noisy), start(noisy).mirrored());
    let mut without = start(quiet);
    let opposite: Vec<f64> = against.noise(3).iter().map(|z| -z).collect();
    assert_eq!(with.noise(3), opposite);
    assert!(with.batch_losses().is_none(), "no batch yet");
    let margins = with.margins();
    for run in [&mut with, &mut against, &mut without] {
        run.step().unwrap();
    }
    let losses = with.batch_losses().unwrap();
    assert!(losses.len() > 1 && losses.len() < 20, "{losses:?}");
    for (record, loss) in &losses {
        assert!((loss - logistic_loss(margins[*record as usize])).abs() < 1e-14);
    }
    let mean = losses.iter().map(|(_, loss)| loss).sum::<f64>() / losses.len() as f64;
    assert_eq!(with.batch_loss(), Some(mean));
    // The first step is linear in the noise.
    let middle: Vec<f64> =
        with.weights().iter().zip(against.weights()).map(|(a, b)| 0.5 * (a + b)).collect();
    assert!(largest_difference(&middle, &without.weights()) < 1e-14);
    assert!(largest_difference(&middle, &with.weights()) > 0.1);
    let _ = with.risk();
    assert!(with.batch_losses().is_none(), "other records were evaluated");
}

#[test]
fn settings_that_do_not_fit_are_refused_by_name() {
    let data = examples::<f64>(10, 2);
    let basis = SplineBasis::new(3, 4, Knots::Clamped).unwrap();
    let (network, weights) =
        initialise(basis, Activation::Tanh, 2, 4, Initialisation::Gaussian, 1).unwrap();
    let good = Settings { sampler: Sampler::Fixed, clip: Some(1.0), ..settings(5) };
    let refuse = |run: Settings, word: &str| {
        let error = Trainer::new(&network, &weights, &data, run).err().unwrap().to_string();
        assert!(error.contains(word), "{error}");
    };
    refuse(Settings { batch: 11, ..good }, "11");
    refuse(Settings { batch: 0, ..good }, "batch");
    refuse(Settings { step_size: f64::NAN, ..good }, "step_size");
    refuse(Settings { kappa: -1.0, ..good }, "kappa");
    refuse(Settings { kappa: 1.0, clip: None, ..good }, "kappa");
    refuse(Settings { lambda: 1.5, ..good }, "lambda");
    refuse(Settings { clip: Some(0.0), ..good }, "clip");
    refuse(Settings { radius: Some(-1.0), ..good }, "radius");
    refuse(Settings { sampler: Sampler::Full, ..good }, "all records");
    refuse(Settings { sampler: Sampler::Stream, steps: 4, ..good }, "15 records");
    let error = Trainer::new(&network, &weights[1..], &data, good).err().unwrap();
    assert!(matches!(error, TrainError::Shape { .. }), "{error}");
    assert!(Examples::<f64>::new(vec![2.0], vec![1.0], 1).is_err());
    assert!(Examples::<f64>::new(vec![0.5], vec![0.0], 1).is_err());
    assert!(Examples::<f64>::new(vec![0.5, 0.1], vec![1.0], 1).is_err());
    assert!(Examples::<f64>::new(vec![f64::NAN], vec![1.0], 1).is_err());
}
