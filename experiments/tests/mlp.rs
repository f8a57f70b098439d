//! Dense networks: gradients against differences, norms against explicit gradients, private training, posteriors,
//! sampled risks, and independence of the number of threads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

use dpbounds_experiments::mlp::{
    DpSgd, Gaussian, Network, PosteriorSettings, Records, clipped_gradient, error_rate,
    gibbs_errors, gradient_norms, mean_gradient, mean_loss, surrogate_gradient, train_posterior,
    train_private,
};
use dpbounds_experiments::train::{Sampler, TrainError};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Points around one centre for each class.
fn records(count: usize, inputs: usize, classes: usize, seed: u64) -> Records {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let centres: Vec<f32> = (0..inputs * classes).map(|_| rng.random_range(-1.5..1.5)).collect();
    let labels: Vec<u8> = (0..count).map(|i| (i % classes) as u8).collect();
    let features = labels
        .iter()
        .flat_map(|&label| {
            let centre = &centres[usize::from(label) * inputs..][..inputs];
            centre.iter().map(|c| c + rng.random_range(-1.0..1.0)).collect::<Vec<f32>>()
        })
        .collect();
    Records::new(features, labels, inputs, classes).unwrap()
}

/// Starts with biases that are not 0.
fn weights(network: &Network, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    network.initialise(seed).iter().map(|w| w + rng.random_range(-0.1..0.1)).collect()
}

fn direction(length: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..length).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn moved(from: &[f32], direction: &[f32], by: f32) -> Vec<f32> {
    from.iter().zip(direction).map(|(w, d)| w + by * d).collect()
}

fn inner(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

#[test]
fn the_gradient_is_the_derivative_of_the_loss() {
    let network = Network::new(&[7, 13, 9, 11, 4]).unwrap();
    let data = records(300, 7, 4, 1);
    let start = weights(&network, 2);
    let gradient = mean_gradient(&network, &start, &data).unwrap();
    let loss = |weights: &[f32]| mean_loss(&network, weights, &data).unwrap();
    for seed in 0..20 {
        let direction = direction(start.len(), seed);
        let step = 1e-3;
        let difference = (loss(&moved(&start, &direction, step))
            - loss(&moved(&start, &direction, -step)))
            / (2.0 * f64::from(step));
        let exact = inner(&gradient, &direction);
        let size = inner(&gradient, &gradient).sqrt() * inner(&direction, &direction).sqrt();
        assert!((difference - exact).abs() < 2e-3 * size, "{seed}: {difference} {exact} {size}");
    }
    // Every single coordinate, so that no layer is left out.
    for i in 0..start.len() {
        let mut unit = vec![0.0; start.len()];
        unit[i] = 1.0;
        let difference =
            (loss(&moved(&start, &unit, 1e-3)) - loss(&moved(&start, &unit, -1e-3))) / 2e-3;
        assert!(
            (difference - f64::from(gradient[i])).abs() < 2e-3,
            "{i}: {difference} {}",
            gradient[i]
        );
    }
}

/// Each record as a set of its own.
fn singles(data: &Records, features: &[f32], labels: &[u8]) -> Vec<Records> {
    let inputs = data.inputs();
    let rows = features.chunks_exact(inputs).zip(labels);
    rows.map(|(row, &label)| {
        Records::new(row.to_vec(), vec![label], inputs, data.classes()).unwrap()
    })
    .collect()
}

#[test]
fn norms_and_clipped_sums_are_those_of_explicit_gradients() {
    let network = Network::new(&[5, 8, 7, 3]).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let features: Vec<f32> = (0..600 * 5).map(|_| rng.random_range(-2.0..2.0)).collect();
    let labels: Vec<u8> = (0..600).map(|_| rng.random_range(0..3)).collect();
    let data = Records::new(features.clone(), labels.clone(), 5, 3).unwrap();
    let start = weights(&network, 4);
    let explicit: Vec<Vec<f32>> = singles(&data, &features, &labels)
        .iter()
        .map(|single| mean_gradient(&network, &start, single).unwrap())
        .collect();
    let norms = gradient_norms(&network, &start, &data).unwrap();
    for (norm, gradient) in norms.iter().zip(&explicit) {
        let expected = inner(gradient, gradient).sqrt();
        assert!((norm - expected).abs() < 1e-5 * expected, "{norm} {expected}");
    }
    for clip in [0.05, 1.0, 100.0] {
        let mut expected = vec![0.0_f64; start.len()];
        for gradient in &explicit {
            let factor = (clip / inner(gradient, gradient).sqrt()).min(1.0);
            expected.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += factor * f64::from(*g));
        }
        let sum = clipped_gradient(&network, &start, &data, clip).unwrap();
        let size = expected.iter().map(|e| e * e).sum::<f64>().sqrt();
        let error: f64 =
            expected.iter().zip(&sum).map(|(e, s)| (e - f64::from(*s)).powi(2)).sum::<f64>().sqrt();
        assert!(error < 3e-4 * size, "{clip}: {error} {size}");
        // One record moves the sum by at most the clipping norm.
        for single in singles(&data, &features, &labels).iter().take(50) {
            let one = clipped_gradient(&network, &start, single, clip).unwrap();
            assert!(inner(&one, &one).sqrt() <= clip);
        }
    }
}

fn private() -> DpSgd {
    DpSgd {
        sampler: Sampler::Poisson,
        batch: 300,
        steps: 60,
        clip: 1.0,
        sigma: 2.0,
        step_size: 0.1,
        momentum: 0.9,
        average_last: 0.3,
        seed: 5,
    }
}

fn posterior_settings() -> PosteriorSettings {
    PosteriorSettings {
        prior_deviation: 0.1,
        added_nats: 12.0,
        epochs: 6,
        batch: 250,
        step_size: 0.3,
        momentum: 0.9,
        least_probability: 1e-4,
        seed: 6,
    }
}

#[test]
fn private_training_learns_and_more_noise_hurts() {
    let network = Network::new(&[6, 20, 20, 5]).unwrap();
    let (data, other) = (records(3000, 6, 5, 7), network.initialise(8));
    let error = |settings: &DpSgd| {
        let trained = train_private(&network, &other, &data, settings).unwrap();
        error_rate(&network, &trained, &data).unwrap()
    };
    let before = error_rate(&network, &other, &data).unwrap();
    let (quiet, loud) = (error(&private()), error(&DpSgd { sigma: 3000.0, ..private() }));
    assert!(before > 0.5 && quiet < 0.25 && loud > quiet + 0.2, "{before} {quiet} {loud}");
    for sampler in [Sampler::Fixed, Sampler::Full, Sampler::Stream] {
        let batch = if sampler == Sampler::Full { 3000 } else { 50 };
        assert!(error(&DpSgd { sampler, batch, ..private() }) < 0.5, "{sampler}");
    }
}

#[test]
fn the_noise_of_a_run_has_its_size_and_is_another_in_every_step() {
    // A step size of 1, no momentum and tiny gradients: the weights are minus the sum of the noise over B.
    let network = Network::new(&[6, 40, 40, 5]).unwrap();
    let data = records(100, 6, 5, 7);
    let start = vec![0.0; network.parameters()];
    let run = |steps| {
        let settings = DpSgd {
            sampler: Sampler::Full,
            batch: 100,
            steps,
            clip: 1e-6,
            sigma: 1e7,
            step_size: 1.0,
            momentum: 0.0,
            average_last: 0.0,
            seed: 9,
        };
        train_private(&network, &start, &data, &settings).unwrap()
    };
    let (one, two) = (run(1), run(2));
    let second = moved(&two, &one, -1.0);
    let count = one.len() as f64;
    for noise in [&one, &second] {
        // Standard deviation 10/100; the share has the standard deviation sqrt(2/count) = 0.03.
        assert!((inner(noise, noise) / count / 0.01 - 1.0).abs() < 0.15);
    }
    assert!((inner(&one, &second) / count / 0.01).abs() < 0.12);
}

#[test]
fn the_surrogate_has_its_derivatives_in_means_and_deviations() {
    let network = Network::new(&[7, 13, 9, 4]).unwrap();
    let data = records(400, 7, 4, 1);
    let mean = weights(&network, 2);
    let log = direction(mean.len(), 77); // deviations e^{-2 + log/2}
    let posterior = |mean: &[f32], log: &[f32]| Gaussian {
        mean: mean.to_vec(),
        deviation: log.iter().map(|l| (0.5 * l - 2.0).exp()).collect(),
    };
    for least in [1e-5, 0.2] {
        let at = |mean: &[f32], log: &[f32]| {
            surrogate_gradient(&network, &posterior(mean, log), &data, least, 11).unwrap()
        };
        let here = at(&mean, &log);
        assert!(here.loss > 0.0 && here.loss < 1.0);
        for seed in 0..20 {
            let way = direction(mean.len(), seed);
            let way_size = inner(&way, &way).sqrt();
            let h = 1e-3_f32;
            let slope = |plus: f64, minus: f64| (plus - minus) / (2.0 * f64::from(h));
            let by_mean = slope(
                at(&moved(&mean, &way, h), &log).loss,
                at(&moved(&mean, &way, -h), &log).loss,
            );
            let exact = inner(&here.by_mean, &way);
            let size = inner(&here.by_mean, &here.by_mean).sqrt() * way_size;
            assert!(
                (by_mean - exact).abs() < 5e-3 * size,
                "{least} {seed}: {by_mean} {exact} {size}"
            );
            let h = 1e-2_f32;
            let slope = |plus: f64, minus: f64| (plus - minus) / (2.0 * f64::from(h));
            let by_log = slope(
                at(&mean, &moved(&log, &way, h)).loss,
                at(&mean, &moved(&log, &way, -h)).loss,
            );
            let exact = 0.5 * inner(&here.by_log_deviation, &way);
            let size =
                0.5 * inner(&here.by_log_deviation, &here.by_log_deviation).sqrt() * way_size;
            assert!(
                (by_log - exact).abs() < 5e-3 * size,
                "{least} {seed}: {by_log} {exact} {size}"
            );
        }
    }
}

#[test]
fn the_divergence_is_that_of_the_theory_and_zero_at_the_prior() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mean: Vec<f32> = (0..50).map(|_| rng.random_range(-1.0..1.0)).collect();
    let prior: Vec<f32> = (0..50).map(|_| rng.random_range(-1.0..1.0)).collect();
    let deviation: Vec<f32> = (0..50).map(|_| rng.random_range(0.001..2.0)).collect();
    let wide = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
    let squares: Vec<f64> = wide(&deviation).iter().map(|s| s * s).collect();
    let expected = dpbounds_bounds::pac_bayes::gaussian_kl::diagonal(
        &wide(&mean),
        &wide(&prior),
        &squares,
        &[0.3 * 0.3; 50],
    );
    let posterior = Gaussian { mean: mean.clone(), deviation };
    let value = posterior.divergence(&prior, 0.3).unwrap();
    let expected = expected.unwrap().value.unwrap();
    assert!((value / expected - 1.0).abs() < 1e-12, "{value} {expected}");
    let same = Gaussian { mean: mean.clone(), deviation: vec![0.25; 50] };
    assert_eq!(same.divergence(&mean, 0.25).unwrap(), 0.0);
}

#[test]
fn sampled_errors_agree_with_networks_drawn_from_the_posterior() {
    let network = Network::new(&[4, 10, 8, 3]).unwrap();
    let data = records(200, 4, 3, 13);
    let mean = weights(&network, 14);
    let posterior = Gaussian { deviation: vec![0.3; mean.len()], mean };
    let draws = 2000_u32;
    let sampled = gibbs_errors(&network, &posterior, &data, draws, 15).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let drawn: f64 = (0..draws)
        .map(|_| {
            let normal = || -> f32 {
                // Sum of twelve uniforms.
                (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0
            };
            let noise: Vec<f32> =
                std::iter::repeat_with(normal).take(posterior.mean.len()).collect();
            error_rate(&network, &moved(&posterior.mean, &noise, 0.3), &data).unwrap()
        })
        .sum::<f64>()
        / f64::from(draws);
    let rate = sampled as f64 / f64::from(draws) / 200.0;
    // Whole networks vary by at most 0.5 each, so their mean by 0.011; records add less than 0.001.
    assert!((rate - drawn).abs() < 0.03, "{rate} {drawn}");
    let narrow = Gaussian { deviation: vec![1e-6; posterior.mean.len()], mean: posterior.mean };
    let errors = gibbs_errors(&network, &narrow, &data, 3, 1).unwrap();
    let exact = error_rate(&network, &narrow.mean, &data).unwrap();
    assert!((errors as f64 / 600.0 - exact).abs() < 0.006, "{errors} {exact}");
}

#[test]
fn posterior_training_lowers_the_bound_and_reports_its_divergence() {
    let network = Network::new(&[6, 20, 20, 5]).unwrap();
    let data = records(3000, 6, 5, 7);
    let prior = network.initialise(8);
    let mut seen = Vec::new();
    let trained = train_posterior(&network, &prior, &data, &posterior_settings(), |_, progress| {
        seen.push(*progress);
        true
    })
    .unwrap();
    assert_eq!(seen.len(), 6);
    let exact = trained.posterior.divergence(&prior, 0.1).unwrap();
    assert_eq!(trained.divergence, exact);
    assert!((seen[5].divergence / exact - 1.0).abs() < 1e-3, "{seen:?} {exact}");
    let risk = |posterior: &Gaussian, divergence: f64| {
        let errors = gibbs_errors(&network, posterior, &data, 5, 3).unwrap() as f64 / 15_000.0;
        dpbounds_bounds::pac_bayes::kl_inverse_upper(errors, (divergence + 12.0) / 3000.0)
            .unwrap()
            .value
            .unwrap()
    };
    let untrained = Gaussian { deviation: vec![0.1; prior.len()], mean: prior };
    let (before, after) = (risk(&untrained, 0.0), risk(&trained.posterior, trained.divergence));
    assert!(after < before - 0.2, "{before} {after}");
    let once =
        train_posterior(&network, &untrained.mean, &data, &posterior_settings(), |_, _| false);
    assert_ne!(once.unwrap(), trained);
}

#[test]
fn no_bit_depends_on_the_number_of_threads() {
    let network = Network::new(&[6, 33, 17, 5]).unwrap();
    let data = records(1111, 6, 5, 7);
    let start = network.initialise(8);
    let results = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let settings = DpSgd { steps: 10, ..private() };
            let private = train_private(&network, &start, &data, &settings).unwrap();
            let settings = PosteriorSettings { epochs: 2, ..posterior_settings() };
            let trained =
                train_posterior(&network, &private, &data, &settings, |_, _| true).unwrap();
            let errors = gibbs_errors(&network, &trained.posterior, &data, 2, 1).unwrap();
            (private, trained, errors)
        })
    };
    let one = results(1);
    assert!(one == results(2) && one == results(3));
}

#[test]
fn what_does_not_fit_is_refused() {
    let network = Network::new(&[2, 3]).unwrap();
    let data = Records::new(vec![0.0; 8], vec![0, 1, 2, 0], 2, 3).unwrap();
    let start = network.initialise(1);
    assert!(Network::new(&[4]).is_err());
    assert!(Network::new(&[4, 0, 2]).is_err());
    assert!(Network::new(&[4, 1]).is_err());
    assert!(Records::new(vec![0.0; 7], vec![0; 4], 2, 3).is_err());
    assert!(Records::new(vec![f32::NAN; 8], vec![0; 4], 2, 3).is_err());
    assert!(Records::new(vec![0.0; 8], vec![3; 4], 2, 3).is_err());
    assert!(Records::new(vec![], vec![], 2, 3).is_err());
    assert!(error_rate(&network, &start[1..], &data).is_err());
    assert!(error_rate(&Network::new(&[2, 4]).unwrap(), &[0.0; 12], &data).is_err());
    assert!(clipped_gradient(&network, &start, &data, 0.0).is_err());
    let settings = DpSgd { batch: 4, steps: 3, ..private() };
    for wrong in [
        DpSgd { batch: 5, ..settings },
        DpSgd { sigma: f64::NAN, ..settings },
        DpSgd { clip: 0.0, ..settings },
        DpSgd { momentum: 1.0, ..settings },
        DpSgd { average_last: 1.1, ..settings },
        DpSgd { sampler: Sampler::Stream, ..settings },
    ] {
        assert!(train_private(&network, &start, &data, &wrong).is_err(), "{wrong:?}");
    }
    let overflow = DpSgd { step_size: 1e38, sigma: 1e3, ..settings };
    let error = train_private(&network, &start, &data, &overflow).unwrap_err();
    assert!(matches!(error, TrainError::Diverged { .. }), "{error}");
    let settings = PosteriorSettings { batch: 4, ..posterior_settings() };
    for wrong in [
        PosteriorSettings { batch: 0, ..settings },
        PosteriorSettings { prior_deviation: 0.0, ..settings },
        PosteriorSettings { least_probability: 1.0, ..settings },
        PosteriorSettings { added_nats: f64::INFINITY, ..settings },
    ] {
        assert!(
            train_posterior(&network, &start, &data, &wrong, |_, _| true).is_err(),
            "{wrong:?}"
        );
    }
    let overflow = PosteriorSettings { step_size: 1e30, ..settings };
    let error = train_posterior(&network, &start, &data, &overflow, |_, _| true).unwrap_err();
    assert!(matches!(error, TrainError::Diverged { .. }), "{error}");
    let posterior = Gaussian { deviation: vec![0.0; start.len()], mean: start };
    assert!(gibbs_errors(&network, &posterior, &data, 1, 1).is_err());
}

/// Poisson batches of one record in the mean: many are empty, and without noise nothing moves then.
#[test]
fn empty_batches_are_steps_too() {
    let network = Network::new(&[1, 3, 2]).unwrap();
    let inputs: Vec<f32> = (0..20).map(|i| i as f32 / 10.0 - 1.0).collect();
    let labels = (0..20).map(|i| u8::from(i >= 10)).collect();
    let records = Records::new(inputs, labels, 1, 2).unwrap();
    let settings = DpSgd {
        sampler: Sampler::Poisson,
        batch: 1,
        steps: 50,
        clip: 1.0,
        sigma: 0.0,
        step_size: 0.1,
        momentum: 0.0,
        average_last: 0.0,
        seed: 4,
    };
    let start = network.initialise(4);
    let trained = train_private(&network, &start, &records, &settings).unwrap();
    assert!(trained != start && trained.iter().all(|weight| weight.is_finite()));
    // e^{-1} of the batches are empty: 50 steps without one have probability 1e-10.
    let still = DpSgd { steps: 1, ..settings };
    let empty = (0..200).filter(|seed| {
        let once = DpSgd { seed: *seed, ..still };
        train_private(&network, &start, &records, &once).unwrap() == start
    });
    assert!((40..110).contains(&empty.count()));
}
