//! What a run gives away, measured on neighbouring witness data sets, against the accountant's upper bound.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dpbounds_bounds::kan::{Activation, Initialisation, Knots, SplineBasis, initialise};
use dpbounds_bounds::pac_bayes::sampling::clopper_pearson;
use dpbounds_bounds::privacy::{Effort, Plan, Question, Relation, account};
use dpbounds_experiments::kan::Examples;
use dpbounds_experiments::train::{Sampler, Settings, Trainer};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const RUNS: u64 = 40_000;
const DELTA: f64 = 0.01;
/// Confidence that a single ε is not overstated: 1 less this.
const FAILURE: f64 = 1e-6;
/// Limits of a single ε: two for each of two roles of the worlds and two directions.
const LIMITS: f64 = 8.0;
const UPDATES: u64 = 4;

/// Three ordinary records, and a fourth one at 0.95, whose splines no other record touches: its gradient is orthogonal to
/// theirs, so that what it adds to the weights can be read off. Every gradient is clipped.
fn records(last_label: f64) -> Examples<f64> {
    Examples::new(vec![-0.9, -0.5, 0.0, 0.95], vec![-1.0, -1.0, 1.0, last_label], 1).unwrap()
}

/// Movement along the gradient of the last record, in units of its clipped gradient, of independent runs.
fn movements(
    last_label: f64,
    mut batch: impl FnMut(&mut ChaCha8Rng) -> Vec<u32>,
    (kappa, lambda): (f64, f64),
    world: u64,
) -> Vec<f64> {
    let basis = SplineBasis::new(3, 12, Knots::Clamped).unwrap();
    let (network, weights) =
        initialise(basis, Activation::Tanh, 1, 2, Initialisation::Greville, 1).unwrap();
    let features = network.features(&[0.95]).unwrap();
    let gradient = network.gradient(&weights, &features).unwrap();
    let direction: Vec<f64> =
        gradient.dense().iter().map(|value| value / gradient.norm()).collect();
    let examples = records(last_label);
    let (step_size, clip, divisor) = (1e-3, 1e-3, 2);
    (0..RUNS)
        .map(|run| {
            let seed = world * RUNS + run;
            let settings = Settings {
                sampler: Sampler::Fixed,
                batch: divisor,
                steps: UPDATES + 1,
                step_size,
                clip: Some(clip),
                kappa,
                lambda,
                radius: None,
                seed,
            };
            let mut trainer = Trainer::new(&network, &weights, &examples, settings).unwrap();
            // No noise has this seed.
            let mut rng = ChaCha8Rng::seed_from_u64(!seed);
            for _ in 0..UPDATES {
                let batch = batch(&mut rng);
                assert_eq!(
                    trainer.step_on(&batch).clipped,
                    batch.len(),
                    "every gradient is clipped"
                );
            }
            let moved = trainer.weights();
            let along: f64 =
                moved.iter().zip(&weights).zip(&direction).map(|((a, b), u)| (a - b) * u).sum();
            along / (step_size * clip / f64::from(2_u32))
        })
        .collect()
}

/// ε that the runs prove with confidence, from events `movement > threshold` or the reverse.
fn measured(with: &[f64], without: &[f64]) -> f64 {
    // Thresholds from the first, counts from the second half of the runs.
    let part = |all: &[f64], second: usize| -> Vec<f64> {
        let half = all.len() / 2;
        let mut part = all[second * half..(second + 1) * half].to_vec();
        part.sort_unstable_by(f64::total_cmp);
        part
    };
    let limit = |hits: usize, of: usize| {
        clopper_pearson(hits as u64, of as u64, FAILURE / LIMITS).unwrap().value.unwrap()
    };
    let count = |all: &[f64], threshold: f64, above: bool| {
        let below = all.partition_point(|value| *value <= threshold);
        if above { all.len() - below } else { below }
    };
    let mut best: f64 = 0.0;
    for (one, other) in [(with, without), (without, with)] {
        for above in [true, false] {
            let proposals = part(one, 0);
            let halves = [0, 1].map(|second| (part(one, second), part(other, second)));
            let score = |threshold: f64, second: usize| {
                let (one, other) = &halves[second];
                let least = 1.0 - limit(one.len() - count(one, threshold, above), one.len());
                let most = limit(count(other, threshold, above), other.len());
                ((least - DELTA) / most).ln()
            };
            let few = proposals.iter().step_by(proposals.len() / 100);
            let scores = few.map(|threshold| (*threshold, score(*threshold, 0)));
            let finite = scores.filter(|(_, score)| score.is_finite());
            if let Some((threshold, _)) = finite.max_by(|a, b| a.1.total_cmp(&b.1)) {
                let value = score(threshold, 1);
                best = if value.is_finite() { best.max(value) } else { best };
            }
        }
    }
    best
}

fn upper(plan: &Plan, kappa: f64) -> f64 {
    let effort = Effort::without_clock();
    let bound = account(plan, kappa, Question::EpsilonAt { delta: DELTA }, &effort).unwrap();
    bound.upper.unwrap()
}

fn compare(name: &str, plan: &Plan, kappa: f64, found: f64, share: f64) {
    let most = upper(plan, kappa);
    eprintln!("{name}: measured {found:.3} / accounted {most:.3} = {:.3}", found / most);
    assert!(found <= most, "{name}: {found} above {most}");
    // The witness is a good one, so that the comparison could fail.
    assert!(found > share * most, "{name}: {found} is no attack on {most}");
}

fn plan(sampler: Sampler, relation: Relation, lambda: f64) -> Plan {
    let batch = if sampler == Sampler::Full { 4 } else { 2 };
    Plan { n: 4, batch, steps: UPDATES, lambda, sampler, relation }
}

#[test]
fn full_batches_give_away_no_more_than_accounted() {
    let all = |_: &mut ChaCha8Rng| vec![0, 1, 2, 3];
    for (lambda, kappa, worlds) in [(0.0, 1.5, 0), (0.5, 2.5, 4)] {
        let with = movements(1.0, all, (kappa, lambda), worlds);
        let without = movements(1.0, |_| vec![0, 1, 2], (kappa, lambda), worlds + 1);
        let found = measured(&with, &without);
        let name = format!("full, zero-out, lambda = {lambda}");
        compare(&name, &plan(Sampler::Full, Relation::ZeroOut, lambda), kappa, found, 0.6);
        // Opposite gradients are twice as far apart.
        let kappa = 2.0 * kappa;
        let with = movements(1.0, all, (kappa, lambda), worlds + 2);
        let opposite = movements(-1.0, all, (kappa, lambda), worlds + 3);
        let found = measured(&with, &opposite);
        let name = format!("full, replace-one, lambda = {lambda}");
        compare(&name, &plan(Sampler::Full, Relation::ReplaceOne, lambda), kappa, found, 0.6);
    }
}

#[test]
fn poisson_batches_give_away_no_more_than_accounted() {
    let join = |records: u32| {
        move |rng: &mut ChaCha8Rng| {
            (0..records).filter(|_| rng.random::<f64>() < 0.5).collect::<Vec<u32>>()
        }
    };
    for (lambda, kappa, share, worlds) in [(0.0, 1.5, 0.5, 8), (0.5, 3.0, 0.3, 10)] {
        let with = movements(1.0, join(4), (kappa, lambda), worlds);
        let without = movements(1.0, join(3), (kappa, lambda), worlds + 1);
        let plan = plan(Sampler::Poisson, Relation::AddRemove, lambda);
        let found = measured(&with, &without);
        compare(&format!("Poisson, add-remove, lambda = {lambda}"), &plan, kappa, found, share);
    }
}
