//! The ten-class network on Fashion-MNIST: risk certificates with and without a private prior. Minutes; run by
//! `cargo test --release -p dpbounds-experiments --test mlp_fashion -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

use std::time::Instant;

use dpbounds_bounds::max_information::{FailureLevel, dp_sgd};
use dpbounds_bounds::pac_bayes::{complexity, kl_inverse_upper, sampling};
use dpbounds_experiments::data::fashion_mnist;
use dpbounds_experiments::mlp::{
    DpSgd, Network, PosteriorSettings, Records, error_rate, gibbs_errors, train_posterior,
    train_private,
};
use dpbounds_experiments::train::Sampler;

fn records(held_out: bool) -> Records {
    // Published constants of the set.
    Records::from_images(&fashion_mnist(held_out).unwrap(), 0.2860, 0.3530).unwrap()
}

fn network() -> Network {
    Network::new(&[784, 600, 600, 600, 10]).unwrap()
}

#[test]
#[ignore = "needs Fashion-MNIST and minutes"]
fn a_private_prior_certifies_its_own_risk() {
    let (network, train, test) = (network(), records(false), records(true));
    let n = train.len() as u64;
    let settings = DpSgd {
        sampler: Sampler::Poisson,
        batch: 1800,
        steps: 200,
        clip: 1.0,
        sigma: 50.0 * 0.03 * 200f64.sqrt(),
        step_size: 0.02,
        momentum: 0.9,
        average_last: 0.3,
        seed: 0,
    };
    let level = FailureLevel::from_beta(0.025).unwrap();
    let kappa = dp_sgd::poisson(n, 0.03, settings.sigma, settings.steps, level).unwrap();
    let kappa = kappa.certified_upper().unwrap();
    let clock = Instant::now();
    let weights = train_private(&network, &network.initialise(0), &train, &settings).unwrap();
    let seconds = clock.elapsed().as_secs_f64();
    let risk = error_rate(&network, &weights, &train).unwrap();
    let held_out = error_rate(&network, &weights, &test).unwrap();
    let nats = complexity::private_model(n, kappa, 0.05, 0.025).unwrap().certified_upper().unwrap();
    let bound = kl_inverse_upper(risk, nats).unwrap().certified_upper().unwrap();
    println!(
        "private: kappa {kappa:.1}, train {risk:.4}, test {held_out:.4}, bound {bound:.4}, \
         {seconds:.1} s for 6 epochs"
    );
    assert!(bound <= 0.30 && bound > held_out);
}

#[test]
#[ignore = "needs Fashion-MNIST and minutes"]
fn a_posterior_over_a_prior_without_data_is_certified() {
    let (network, train, test) = (network(), records(false), records(true));
    let n = train.len();
    let number = |name: &str, otherwise: f64| {
        std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
    };
    let logarithms = (2.0 * (n as f64).sqrt() / 0.04).ln() + 8f64.ln();
    let settings = PosteriorSettings {
        prior_deviation: 0.04,
        added_nats: logarithms,
        epochs: number("EPOCHS", 10.0) as u32,
        batch: 500,
        step_size: number("STEP_SIZE", 0.3),
        momentum: number("MOMENTUM", 0.9),
        least_probability: 1e-5,
        seed: 0,
    };
    let prior = network.initialise(0);
    let clock = Instant::now();
    let trained = train_posterior(&network, &prior, &train, &settings, |epoch, progress| {
        println!("{epoch}: {progress:?} {:.1} s", clock.elapsed().as_secs_f64());
        true
    })
    .unwrap();
    let draws = 5;
    let errors = gibbs_errors(&network, &trained.posterior, &train, draws, 1).unwrap();
    let risk = sampling::langford(errors, u64::from(draws) * n as u64, 0.01).unwrap();
    let risk = risk.certified_upper().unwrap();
    let nats = (trained.divergence + logarithms) / n as f64;
    let bound = kl_inverse_upper(risk, nats).unwrap().certified_upper().unwrap();
    let held_out = gibbs_errors(&network, &trained.posterior, &test, 1, 2).unwrap() as f64 / 1e4;
    println!(
        "without data: divergence {:.0}, risk {risk:.4}, test {held_out:.4}, bound {bound:.4}, {:.0} s",
        trained.divergence,
        clock.elapsed().as_secs_f64()
    );
    assert!(bound <= 0.45 && bound > held_out);
}
