//! Population certificates against exact expectations over all samples, and against coupled runs.

use dpbounds_bounds::kan::certificates::{
    Anchor, BatchCap, BudgetS, Extent, Landscape, Optimisation, PopulationS, TheoremS, TheoremSGd,
    Training, population_s, theorem_s, theorem_s_gd,
};
use dpbounds_bounds::kan::{
    Activation, Initialisation, Knots, Linearisation, Network, RealisedConstants, Sample,
    SplineBasis, free_comparator, initialise, logistic_loss, logistic_slope,
};
use dpbounds_bounds::privacy::Sampler;

/// Four atoms, equally likely, under a network of one input.
struct World {
    network: Network,
    start: Vec<f64>,
    support: Sample,
    features: Vec<Vec<f64>>,
    landscape: Landscape,
}

const ATOMS: usize = 4;

impl World {
    fn new(width: usize) -> Self {
        let basis = SplineBasis::new(1, 2, Knots::Clamped).unwrap();
        let (network, start) =
            initialise(basis, Activation::Tanh, 1, width, Initialisation::Greville, 3).unwrap();
        let inputs = vec![-0.95, -0.7, 0.7, 0.95];
        let support = Sample::new(1, inputs, vec![-1.0, -1.0, 1.0, 1.0]).unwrap();
        let features: Vec<_> =
            (0..ATOMS).map(|atom| network.features(support.input(atom)).unwrap()).collect();
        let constants = RealisedConstants::of(&network, 64).unwrap();
        let landscape =
            Landscape::from(constants.constants(largest_feature_norm(&features)).unwrap());
        Self { network, start, support, features, landscape }
    }

    fn losses(&self, weights: &[f64]) -> Vec<f64> {
        let loss = |atom: usize| {
            let output = self.network.output(weights, &self.features[atom]).unwrap().value;
            logistic_loss(self.support.labels()[atom] * output)
        };
        (0..ATOMS).map(loss).collect()
    }

    /// One step on a batch of atoms.
    fn step(&self, weights: &mut [f64], batch: &[usize], divisor: f64, eta: f64) {
        let mut counts = [0.0; ATOMS];
        batch.iter().for_each(|atom| counts[*atom] += 1.0);
        let mut push = vec![0.0; weights.len()];
        for (atom, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            let gradient = self.network.gradient(weights, &self.features[atom]).unwrap();
            let output = self.network.output(weights, &self.features[atom]).unwrap().value;
            let label = self.support.labels()[atom];
            let slope = -logistic_slope(label * output) * label * count / divisor;
            push.iter_mut().zip(gradient.dense()).for_each(|(sum, g)| *sum += slope * g);
        }
        weights.iter_mut().zip(push).for_each(|(w, p)| *w -= eta * p);
    }

    /// The certificate for the losses on any sample.
    fn optimisation(&self, training: &Training, gd: bool) -> Optimisation {
        let at = Linearisation::at(&self.network, &self.start, &self.support).unwrap();
        let horizon = training.step_size * training.steps as f64;
        let found = free_comparator(&at, horizon, None).unwrap();
        let comparator = Anchor { distance: found.distance, loss: found.largest_loss };
        let (landscape, training) = (self.landscape, *training);
        if gd {
            theorem_s_gd(&TheoremSGd { landscape, comparator, training }).unwrap()
        } else {
            theorem_s(&TheoremS {
                landscape,
                extent: Extent::of(&self.network, ATOMS),
                comparator,
                training,
                batches: BatchCap::EXACT,
                budget: BudgetS::equal(1e-6),
            })
            .unwrap()
        }
    }

    fn population(&self, optimisation: &Optimisation, training: &Training, gd: bool) -> f64 {
        population_s(&PopulationS {
            optimisation,
            bounded: !gd,
            ratio: 1.0,
            landscape: self.landscape,
            training: *training,
            output: None,
            count_failure: 1e-6,
        })
        .unwrap()
        .upper
        .unwrap()
    }
}

fn largest_feature_norm(features: &[Vec<f64>]) -> f64 {
    let norm = |row: &Vec<f64>| row.iter().map(|h| h * h).sum::<f64>();
    features.iter().map(norm).fold(0.0, f64::max)
}

/// All samples of three records, as lists of atoms.
fn samples() -> impl Iterator<Item = [usize; 3]> {
    (0..ATOMS * ATOMS * ATOMS).map(|code| [code % 4, code / 4 % 4, code / 16])
}

#[test]
fn the_exact_population_risk_over_all_samples_stays_below() {
    let world = World::new(60);
    for (eta, steps) in [(0.3, 2_u64), (0.1, 8), (0.5, 3)] {
        let training = Training::full_batch(eta, steps, 3);
        let (mut population, mut empirical) = (0.0, 0.0);
        for sample in samples() {
            let mut weights = world.start.clone();
            for _ in 0..steps {
                let losses = world.losses(&weights);
                population += losses.iter().sum::<f64>() / 4.0;
                empirical += sample.iter().map(|atom| losses[*atom]).sum::<f64>() / 3.0;
                world.step(&mut weights, &sample, 3.0, eta);
            }
        }
        let runs = 64.0 * steps as f64;
        let (population, empirical) = (population / runs, empirical / runs);
        for gd in [true, false] {
            let optimisation = world.optimisation(&training, gd);
            let path = optimisation.bound.upper.unwrap();
            let bound = world.population(&optimisation, &training, gd);
            assert!(empirical <= path, "{empirical} {path}");
            assert!(population <= bound, "{population} {bound}");
            // The generalisation gap alone stays below the stability term.
            assert!(population - empirical > 0.0);
            assert!(population - empirical <= bound - path, "{eta} {steps}");
        }
    }
}

#[test]
fn coupled_runs_stay_as_close_as_the_stability_term_says() {
    let world = World::new(300);
    let (eta, steps, records, batch) = (0.05, 10_u64, 6_usize, 2_usize);
    let training = Training {
        batch: batch as u64,
        sampler: Sampler::Fixed,
        ..Training::full_batch(eta, steps, records as u64)
    };
    let optimisation = world.optimisation(&training, false);
    let gap = world.population(&optimisation, &training, false) - optimisation.bound.upper.unwrap();
    let allowed = gap / world.landscape.gradient;
    let mut state = 7_u64;
    let mut draw = |count: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % count
    };
    let (mut total, mut largest, draws) = (0.0, 0.0_f64, 40);
    for _ in 0..draws {
        let sample: Vec<usize> = (0..records).map(|_| draw(ATOMS)).collect();
        let batches: Vec<[usize; 2]> = (0..steps)
            .map(|_| {
                let first = draw(records);
                [first, (first + 1 + draw(records - 1)) % records]
            })
            .collect();
        let run = |sample: &[usize]| {
            let mut weights = world.start.clone();
            for chosen in &batches[..batches.len() - 1] {
                let atoms: Vec<usize> = chosen.iter().map(|record| sample[*record]).collect();
                world.step(&mut weights, &atoms, batch as f64, eta);
            }
            weights
        };
        let own = run(&sample);
        let mut mean = 0.0;
        for record in 0..records {
            let mut other = sample.clone();
            other[record] = draw(ATOMS);
            let apart: f64 =
                own.iter().zip(run(&other)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            mean += apart / records as f64;
        }
        total += mean;
        largest = largest.max(mean);
    }
    let mean = total / f64::from(draws);
    eprintln!("distance {mean} (largest {largest}), allowed {allowed}");
    assert!(mean > 0.05 * allowed && largest <= allowed, "{mean} {largest} {allowed}");
}

/// Just beyond the largest risk at which the fixed point exists the iteration creeps on and on: it must not count as
/// closed when it is stopped.
#[test]
fn a_fixed_point_that_is_not_reached_is_no_certificate() {
    let world = World::new(60);
    let training = Training::full_batch(0.3, 40, 100);
    let optimisation = world.optimisation(&training, true);
    let at = |risk: f64| {
        let mut changed = optimisation.clone();
        changed.bound.checks.clear();
        (changed.bound.value, changed.bound.upper) = (Some(risk), Some(risk));
        changed.bound.reason = None;
        population_s(&PopulationS {
            optimisation: &changed,
            bounded: false,
            ratio: 1.0,
            landscape: world.landscape,
            training,
            output: None,
            count_failure: 1e-6,
        })
        .unwrap()
    };
    let (mut closes, mut open) = (1e-3, 1e3);
    assert!(at(closes).value.is_some() && at(open).value.is_none());
    for _ in 0..60 {
        let middle = (closes + open) / 2.0;
        if at(middle).value.is_some() { closes = middle } else { open = middle }
    }
    let stopped = at(open);
    let failed: Vec<&str> = stopped
        .checks
        .iter()
        .filter(|check| !check.holds)
        .map(|check| check.name.as_ref())
        .collect();
    assert_eq!(
        failed,
        ["stability closes: F(D) <= D for a D with G D <= 30 and M <= 50, or D = 2 R_bar"]
    );
}
