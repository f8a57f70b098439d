//! PAC-Bayes certificates with private priors: what trains, what is certified, and how often it holds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

use dpbounds_bounds::pac_bayes::kl_inverse_upper;
use dpbounds_experiments::certify::{
    Budget, CertifyError, Dense, Ingredients, Kan, Method, Model, Part, PosteriorTraining,
    PrivatePrior, Run, Sample, Settings, Source, max_information, run,
};
use dpbounds_experiments::data::{Request, prepare, support};
use dpbounds_experiments::kan::Examples;
use dpbounds_experiments::train::Sampler;

fn source(name: &str, seed: u64) -> Source {
    let data = Request { seed, ..Request::new(name) };
    Source { data, test: None, test_share: 0.0, seed, all_classes: false }
}

const KAN: Kan = Kan { degree: 2, splines: 4, width: 8 };

fn tiny(method: Method, records: usize) -> Settings {
    let model = Model::Kan(KAN);
    let mut settings = Settings::new(method, model, records, 0.05).unwrap();
    settings.posterior = PosteriorTraining { steps: 8, batch: records, rate: 10.0, momentum: 0.9 };
    settings.spreads.truncate(2);
    settings.draws = 20;
    for prior in &mut settings.priors {
        prior.updates = prior.updates.min(6);
        if prior.sampler == Sampler::Stream {
            prior.batch = records / usize::try_from(prior.updates).unwrap();
        }
        *prior = prior.with_max_information(records, 6.0, settings.budget.max_information).unwrap();
        prior.step_size = prior.usual_step_size() / 20.0;
    }
    settings
}

/// Two points, on each of which the likelier label has probability .8: no network has a risk below .2.
const NOISY: &str = "x1,label,multiplicity\n-0.5,-1,4\n-0.5,1,1\n0.5,-1,1\n0.5,1,4\n";

/// A sample of the noisy atoms, with the whole distribution as its test records: test errors are risks.
fn noisy(file: &str, records: usize, seed: u64) -> Sample {
    let name = format!("atoms:{file},n={records},draw=independent");
    let mut sample = Sample::load(&source(&name, seed)).unwrap();
    let whole = support(&Request::new(&name)).unwrap().unwrap();
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    for (row, weight) in whole.weights().iter().enumerate() {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        for _ in 0..(weight * 100.0).round() as u32 {
            features.extend(whole.row(row).iter().map(|x| *x as f32));
            labels.push(whole.labels[row] as f32);
        }
    }
    assert_eq!(labels.len(), 100);
    sample.test = Some(Part::Signs(Examples::new(features, labels, whole.dimension).unwrap()));
    sample
}

fn noisy_file() -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    std::fs::write(file.path(), NOISY).unwrap();
    file
}

/// Whether a statement of a run is false, given bounds on the private model and on the posterior.
fn is_false(run: &Run, model: Option<f64>, posterior: f64) -> bool {
    let wrong_model = matches!((run.test.model, model), (Some(risk), Some(bound)) if risk > bound);
    wrong_model || run.test.posterior.unwrap() > posterior
}

/// 1,000 certificates of each method at δ = .05 on fresh samples. Were the failure probability .05, more than 71
/// failures would have probability below .002. Planted: without the complexity, many more fail.
#[test]
fn certificates_fail_at_most_as_often_as_they_say() {
    const RUNS: u64 = 1000;
    let file = noisy_file();
    for method in Method::ALL {
        let (mut failures, mut planted) = (0, 0);
        let settings = tiny(method, 60);
        for seed in 0..RUNS {
            let sample = noisy(file.path().to_str().unwrap(), 60, seed);
            let found = run(&settings, &sample, seed).unwrap();
            let certified = &found.certified;
            assert!(certified.failure_probability <= 0.05 * (1.0 + 1e-12));
            let (model, posterior) = (certified.model_bound, certified.posterior_bound);
            failures += u32::from(is_false(&found, model, posterior));
            let guess = certified.posterior_risk;
            planted += u32::from(is_false(&found, certified.model_risk, guess));
        }
        eprintln!("{method}: {failures} of {RUNS} fail, {planted} without the complexity");
        assert!(failures <= 71, "{method}: {failures}");
        assert!(planted > 200, "{method}: a certificate without its complexity passes {planted}");
    }
}

/// With nothing but the clipped gradient, a step is that of the engine that other tests check.
#[test]
fn a_private_step_is_one_of_dp_sgd() {
    use dpbounds_bounds::kan::{Activation, Initialisation, Knots, SplineBasis, initialise};
    use dpbounds_experiments::train::{Settings as Training, Trainer};
    let sample = Sample::load(&source("clusters:n=40,d=3", 5)).unwrap();
    let mut settings = tiny(Method::Streaming, 40);
    settings.priors[0] = PrivatePrior {
        sampler: Sampler::Stream,
        batch: 10,
        updates: 4,
        noise_multiplier: 2.0,
        lambda: 0.0,
        clip: 0.05,
        inverse_temperature: 1.0,
        step_size: 0.7,
        momentum: 0.0,
        averaged: 0.0,
    };
    settings.posterior.steps = 0;
    let found = run(&settings, &sample, 3).unwrap();
    assert_eq!(found.prior, found.posterior);
    let Kan { degree, splines, width } = KAN;
    let basis = SplineBasis::new(degree, splines, Knots::Clamped).unwrap();
    let (network, start) =
        initialise(basis, Activation::Tanh, 3, width, Initialisation::Greville, 3).unwrap();
    let training = Training {
        sampler: Sampler::Stream,
        batch: 10,
        steps: 5,
        step_size: 0.7,
        clip: Some(0.05 * (1.0 - 1e-3)), // the margin for single precision
        kappa: 2.0 / (1.0 - 1e-3),
        lambda: 0.0,
        radius: None,
        seed: 3 ^ 0x7072_696f_7200_0000, // keys of the prior are apart from those of synthetic data
    };
    let mut trainer =
        Trainer::new(&network, &start, sample.train.signs().unwrap(), training).unwrap();
    while trainer.step().is_some() {}
    for (ours, theirs) in found.prior.iter().zip(trainer.weights()) {
        assert!((f64::from(*ours) - theirs).abs() < 2e-6, "{ours} {theirs}");
    }
    let moved = start.iter().zip(&found.prior).map(|(a, b)| (a - f64::from(*b)).abs());
    assert!(moved.fold(0.0, f64::max) > 0.01);
}

/// The noise in a weight is what the settings say, whatever momentum, averaging and correlation do.
#[test]
fn the_noise_of_the_result_is_known_beforehand() {
    let sample = Sample::load(&source("clusters:n=60,d=2", 1)).unwrap();
    for (lambda, momentum, averaged) in [(0.0, 0.9, 0.3), (0.6, 0.5, 0.0), (0.9, 0.9, 1.0)] {
        let mut settings = tiny(Method::Correlated, 60);
        let prior = &mut settings.priors[0];
        (prior.updates, prior.batch, prior.lambda) = (6, 10, lambda);
        (prior.momentum, prior.averaged) = (momentum, averaged);
        // So much noise that the gradients are nothing beside it.
        (prior.noise_multiplier, prior.step_size) = (1e5, 1e-4);
        let expected = prior.weight_noise();
        settings.posterior.steps = 0;
        let of = |noise: f64| {
            let mut settings = settings.clone();
            settings.priors[0].noise_multiplier = noise;
            let runs = (0..20).map(|seed| run(&settings, &sample, seed).unwrap().prior);
            runs.collect::<Vec<_>>().concat()
        };
        let (noisy, still) = (of(1e5), of(1e-6));
        let squares: f64 =
            noisy.iter().zip(&still).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
        let found = (squares / noisy.len() as f64).sqrt();
        // 1280 weights: relative standard error .02; the seed is fixed.
        assert!((found / expected - 1.0).abs() < 0.08, "{lambda} {momentum}: {found} {expected}");
    }
}

/// Against values by bisection of the textbook formulas in Python; κ against the specification's reference table.
#[test]
fn ingredients_give_the_bounds_of_the_reference() {
    let ingredients = Ingredients {
        records: 12_000,
        priors: vec![],
        spreads: 8,
        kl: 289.0,
        model_errors: None,
        gibbs_errors: 5256,
        draws: 240_000,
        budget: Budget::data_independent(0.05),
    };
    let certified = ingredients.certify().unwrap();
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-11;
    assert!(near(certified.posterior_risk_upper, 0.022_818_927_064_42), "{certified:?}");
    assert!(near(certified.posterior_complexity, 0.024_973_982_959_291_1), "{certified:?}");
    assert!(near(certified.posterior_bound, 0.072_991_882_866_664), "{certified:?}");
    let prior = PrivatePrior {
        sampler: Sampler::Poisson,
        batch: 1200,
        updates: 60,
        noise_multiplier: 62.0,
        lambda: 0.0,
        clip: 1.0,
        inverse_temperature: 1.0,
        step_size: 1.0,
        momentum: 0.0,
        averaged: 0.0,
    };
    let kappa = max_information(&[prior], 12_000, 0.025).unwrap().value.unwrap();
    assert!((kappa - 23.0).abs() < 0.1, "{kappa}");
    // B(h0) and B(rho) share the failure probability, so each is a little above the formula for one alone.
    let private = Ingredients {
        priors: vec![prior],
        kl: 20.0,
        model_errors: Some(540),
        budget: Budget::private(0.05),
        ..ingredients
    };
    let certified = private.certify().unwrap();
    let alone = (kappa + (2.0 / 0.05_f64).ln()) / 12_000.0;
    let alone = kl_inverse_upper(540.0 / 12_000.0, alone).unwrap().value.unwrap();
    let bound = certified.model_bound.unwrap();
    assert!(alone < bound && bound < alone + 0.001, "{alone} {bound}");
    assert!((certified.failure_probability - 0.05).abs() < 1e-15);
}

/// A list of candidates costs: their joint release, and the choice.
#[test]
fn a_search_is_paid_for() {
    let sample = Sample::load(&source("clusters:n=200,d=2", 2)).unwrap();
    let mut settings = tiny(Method::Poisson, 200);
    let one = run(&settings, &sample, 0).unwrap();
    let twin = settings.priors[0];
    settings.priors.push(PrivatePrior { step_size: twin.step_size * 2.0, ..twin });
    let two = run(&settings, &sample, 0).unwrap();
    assert!(two.ingredients.model_errors <= one.ingredients.model_errors);
    let kappa = |run: &Run| run.certified.max_information.unwrap();
    assert!(kappa(&two) > 1.5 * kappa(&one), "{} {}", kappa(&one), kappa(&two));
    let cost = |run: &Run| run.certified.model_complexity.unwrap() * 200.0 - kappa(run);
    assert!((cost(&two) - cost(&one) - 2f64.ln()).abs() < 1e-9);
    settings.method = Method::Streaming;
    let streams = settings.priors.iter().map(|_| tiny(Method::Streaming, 200).priors[0]).collect();
    settings.priors = streams;
    let error = run(&settings, &sample, 0).unwrap_err();
    assert!(matches!(error, CertifyError::StreamedTwice { runs: 2 }), "{error}");
}

/// A range that is read off the data is read off records that are then left out.
#[test]
fn a_scaling_is_read_off_records_that_are_left_out() {
    let source = Source { test_share: 0.2, ..source("breast-cancer", 0) };
    let sample = Sample::load(&source).unwrap();
    let test = sample.test.as_ref().unwrap().len();
    assert_eq!((sample.scaling_records, test, sample.records()), (57, 114, 398));
    assert_eq!(prepare(&source.data).unwrap().rows(), 569);
    let known = Sample::load(&Source { data: Request::new("iris"), ..source.clone() }).unwrap();
    assert!(known.scaling_records > 0);
    let digits = Request { classes: Some("0,1".parse().unwrap()), ..Request::new("digits") };
    let digits = Sample::load(&Source { data: digits, ..source }).unwrap();
    assert_eq!((digits.scaling_records, digits.overlap), (0, 0));
}

/// What is refused is refused by name.
#[test]
fn settings_that_do_not_fit_are_refused() {
    let sample = Sample::load(&source("clusters:n=100,d=2", 2)).unwrap();
    let fault = |method: Method, change: &dyn Fn(&mut Settings)| {
        let mut settings = tiny(method, 100);
        change(&mut settings);
        run(&settings, &sample, 0).unwrap_err().to_string()
    };
    let streaming = |change: &dyn Fn(&mut Settings)| fault(Method::Streaming, change);
    let cases = [
        (streaming(&|s| s.priors[0].updates = 11), "each record once"),
        (streaming(&|s| s.priors[0].batch = 101), "batch is 101"),
        (streaming(&|s| s.priors[0].sampler = Sampler::Full), "sampler is full"),
        (streaming(&|s| s.priors[0].lambda = 0.5), "lambda is 0.5"),
        (streaming(&|s| s.priors[0].noise_multiplier = 0.0), "noise multiplier is 0"),
        (streaming(&|s| s.priors.clear()), "priors is none"),
        (streaming(&|s| s.budget.max_information = 0.0), "part of delta for the max-information"),
        (streaming(&|s| s.budget.posterior = 1.0), "delta is"),
        (streaming(&|s| s.spreads[0] = -1.0), "spread is -1"),
        (streaming(&|s| s.model = Model::Kan(Kan { width: 7, ..KAN })), "width is 7"),
        (streaming(&|s| s.model = Model::Kan(Kan { splines: 2, ..KAN })), "splines is 2"),
        (streaming(&|s| s.posterior.rate = 1e30), "diverged"),
        (fault(Method::DataIndependent, &|s| s.budget.model = 0.01), "no private prior"),
        (fault(Method::Poisson, &|s| s.priors[0].step_size = 1e42), "diverged"),
    ];
    for (message, part) in cases {
        assert!(message.contains(part), "{part}: {message}");
    }
}

/// The dense network on the same noisy atoms: bounds above the risks, the same bits again, and the check of its kind.
#[test]
fn a_dense_network_is_certified_too() {
    let file = noisy_file();
    let sample = noisy(file.path().to_str().unwrap(), 400, 7);
    let model = Model::Dense(Dense { hidden: vec![6] });
    for method in [Method::DataIndependent, Method::Streaming, Method::Poisson] {
        let mut settings = Settings::new(method, model.clone(), 400, 0.05).unwrap();
        settings.posterior.batch = 100;
        settings.spreads = vec![0.1, 0.3];
        settings.posterior.rate = 5.0;
        let found = run(&settings, &sample, 1).unwrap();
        let certified = &found.certified;
        assert!(!is_false(&found, certified.model_bound, certified.posterior_bound), "{method}");
        assert!(certified.posterior_bound < 0.9, "{method}: {}", certified.posterior_bound);
        assert_eq!(found.deviations.len(), found.posterior.len());
        let again = run(&settings, &sample, 1).unwrap();
        assert!(again.posterior == found.posterior && again.ingredients == found.ingredients);
    }
    let fault = |method, change: &dyn Fn(&mut Settings)| {
        let mut settings = Settings::new(method, model.clone(), 400, 0.05).unwrap();
        change(&mut settings);
        run(&settings, &sample, 1).unwrap_err().to_string()
    };
    let correlated = fault(Method::Correlated, &|_| ());
    assert!(correlated.contains("method is correlated"), "{correlated}");
    let warm = fault(Method::Poisson, &|s| s.priors[0].inverse_temperature = 2.0);
    assert!(warm.contains("inverse temperature"), "{warm}");
    let empty = fault(Method::Poisson, &|s| s.model = Model::Dense(Dense { hidden: vec![0] }));
    assert!(empty.contains("hidden units is 0"), "{empty}");
}
