//! Attacks on the certificates: random small networks trained as Algorithm 1 says, against every bound that has a value.

use dpbounds_bounds::kan::certificates::{
    Anchor, BatchCap, BudgetD, BudgetP, BudgetS, CertificateD, CertificateP, Claim, Extent,
    Failures, Ingredients, Landscape, Noise, PaperForm, Question, Route, Schedule, TheoremS,
    TheoremSGd, Training, certificate_d, certificate_p, certify, theorem_s, theorem_s_gd,
};
use dpbounds_bounds::kan::{
    Activation, Initialisation, InputDomain, Knots, Linearisation, Network, RealisedConstants,
    SELF_BOUNDING_CONSTANT, Sample, SplineBasis, free_comparator, initialise, logistic_loss,
    logistic_slope, portable_normals,
};
use dpbounds_bounds::privacy::Sampler;

/// Numbers from the portable stream, one after the other.
struct Dice {
    seed: u64,
}

impl Dice {
    fn normals(&mut self, count: usize) -> Vec<f64> {
        self.seed += 1;
        portable_normals(self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), count)
    }

    /// Uniform in (0, 1).
    fn uniform(&mut self) -> f64 {
        let pair = self.normals(2);
        (-(pair[0] * pair[0] + pair[1] * pair[1]) / 2.0).exp()
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count - 1)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.uniform())
    }
}

struct Case {
    network: Network,
    weights: Vec<f64>,
    sample: Sample,
    features: Vec<Vec<f64>>,
}

impl Case {
    fn new(dice: &mut Dice) -> Self {
        let (degree, functions) = [(1, 2), (2, 4), (3, 4), (3, 6)][dice.below(4)];
        let inputs = 1 + dice.below(3);
        let width = 2 * (1 + dice.below(60));
        let activation = if dice.below(2) == 0 { Activation::Tanh } else { Activation::Sigmoid };
        let kind = [Initialisation::Gaussian, Initialisation::Antithetic, Initialisation::Greville]
            [dice.below(3)];
        let basis = SplineBasis::new(degree, functions, Knots::Clamped).unwrap();
        let seed = dice.seed;
        let (network, weights) =
            initialise(basis.clone(), activation, inputs, width, kind, seed).unwrap();
        let scale = dice.between(0.1, 3.0);
        let second = network.second_layer().iter().map(|c| c * scale).collect();
        let network = Network::new(basis, activation, inputs, second).unwrap();
        let records = 4 + dice.below(5);
        let points = (0..records * inputs).map(|_| 2.0 * dice.uniform() - 1.0).collect();
        let labels = (0..records).map(|_| if dice.below(2) == 0 { 1.0 } else { -1.0 }).collect();
        let sample = Sample::new(inputs, points, labels).unwrap();
        let features =
            (0..records).map(|row| network.features(sample.input(row)).unwrap()).collect();
        Self { network, weights, sample, features }
    }

    /// Losses and the gradient of their sum with these weights on the records.
    fn evaluate(&self, weights: &[f64], shares: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut gradient = vec![0.0; weights.len()];
        let mut losses = Vec::new();
        for (row, features) in self.features.iter().enumerate() {
            let output = self.network.output(weights, features).unwrap().value;
            let margin = self.sample.labels()[row] * output;
            losses.push(logistic_loss(margin));
            if shares[row] > 0.0 {
                let step = -logistic_slope(margin) * self.sample.labels()[row] * shares[row];
                let own = self.network.gradient(weights, features).unwrap().dense();
                gradient.iter_mut().zip(own).for_each(|(sum, entry)| *sum += step * entry);
            }
        }
        (losses, gradient)
    }

    /// `max_i ||V h(x_i)||/||h(x_i)||`.
    fn reach(&self, direction: &[f64]) -> f64 {
        let count = self.network.feature_count();
        let norm = |features: &Vec<f64>| {
            let moved: f64 =
                direction.chunks_exact(count).map(|row| dot(row, features).powi(2)).sum();
            (moved / dot(features, features)).sqrt()
        };
        self.features.iter().map(norm).fold(0.0, f64::max)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[test]
fn comparator_inequalities_hold_for_any_pair_of_weights() {
    let mut dice = Dice { seed: 1 };
    let mut tight: f64 = f64::INFINITY;
    for _ in 0..150 {
        let case = Case::new(&mut dice);
        let at = Linearisation::at(&case.network, &case.weights, &case.sample).unwrap();
        let constants = RealisedConstants::of(&case.network, 64)
            .unwrap()
            .constants(at.feature_norm2())
            .unwrap();
        let spread = dice.between(0.01, 30.0);
        let point: Vec<f64> = dice
            .normals(case.weights.len())
            .iter()
            .zip(&case.weights)
            .map(|(z, w)| w + spread * z)
            .collect();
        let records = case.sample.len();
        let raw: Vec<f64> = (0..records).map(|_| dice.uniform()).collect();
        let whole: f64 = raw.iter().sum();
        let shares: Vec<f64> = raw.iter().map(|share| share / whole).collect();
        let (losses, gradient) = case.evaluate(&point, &shares);
        // W*: a random step, and steps along the gradient and against it.
        let near = dice.between(0.01, 10.0);
        let random = dice.normals(point.len());
        for direction in [&random, &gradient, &gradient.iter().map(|g| -g).collect()] {
            let length = norm(direction).max(1e-300);
            let other: Vec<f64> =
                point.iter().zip(direction).map(|(w, z)| w + near * z / length).collect();
            let (targets, _) = case.evaluate(&other, &shares);
            let away = minus(&point, &other);
            let reach = case.reach(&away);
            let (risk, target) = (dot(&losses, &shares), dot(&targets, &shares));
            let slopes: f64 =
                losses.iter().zip(&shares).map(|(l, share)| -(-l).exp_m1() * share).sum();
            let q = constants.curvature * reach * reach / 2.0;
            let slack = dot(&gradient, &away) - (risk - q * slopes - target);
            assert!(slack >= -1e-11 * (1.0 + risk + target), "S.1 {slack}");
            tight = tight.min(slack / (q * slopes + 1e-12));
            let square = dot(&gradient, &gradient);
            let bound = constants.gradient.powi(2) * slopes * slopes;
            assert!(square <= bound * (1.0 + 1e-11), "S.2");
            let bound = SELF_BOUNDING_CONSTANT * constants.gradient.powi(2) * risk;
            assert!(square <= bound * (1.0 + 1e-11), "S.2");
        }
        // A step of 1/β lowers the loss by at least ||g||²/(2β).
        let beta = constants.smoothness();
        let moved: Vec<f64> = point.iter().zip(&gradient).map(|(w, g)| w - g / beta).collect();
        let (after, _) = case.evaluate(&moved, &shares);
        let fall = dot(&losses, &shares) - dot(&after, &shares);
        let least = dot(&gradient, &gradient) / (2.0 * beta);
        assert!(fall >= least - 1e-12, "descent {fall} {least}");
    }
    eprintln!("smallest slack of S.1 in units of its error term: {tight}");
}

/// What one training run did.
struct Trace {
    batch_risk: f64,
    training_risk: f64,
    farthest: f64,
    farthest_from_start: f64,
}

/// Algorithm 1 without clipping; the projection only if the run has a radius.
fn train(case: &Case, training: &Training, target: &[f64], dice: &mut Dice) -> Trace {
    let records = case.sample.len();
    let mut weights = case.weights.clone();
    let mut before: Option<Vec<f64>> = None;
    let mut trace =
        Trace { batch_risk: 0.0, training_risk: 0.0, farthest: 0.0, farthest_from_start: 0.0 };
    let (eta, c, lambda) = (training.step_size, training.noise, training.lambda);
    let mut last = vec![0.0; weights.len()];
    for _ in 0..training.steps {
        let mut counts = vec![0.0; records];
        match training.sampler {
            Sampler::Poisson => {
                let rate = training.batch as f64 / records as f64;
                counts.iter_mut().for_each(|count| *count = f64::from(dice.uniform() < rate));
            }
            _ => {
                let mut left: Vec<usize> = (0..records).collect();
                for _ in 0..training.batch {
                    counts[left.swap_remove(dice.below(left.len()))] = 1.0;
                }
            }
        }
        let shares: Vec<f64> = counts.iter().map(|count| count / training.batch as f64).collect();
        let (losses, gradient) = case.evaluate(&weights, &shares);
        trace.batch_risk += dot(&losses, &shares);
        trace.training_risk += losses.iter().sum::<f64>() / records as f64;
        let shifted: Vec<f64> = weights.iter().zip(&last).map(|(w, z)| w + eta * c * z).collect();
        trace.farthest = trace.farthest.max(norm(&minus(&shifted, target)));
        trace.farthest_from_start =
            trace.farthest_from_start.max(norm(&minus(&weights, &case.weights)));
        let noise = if c > 0.0 { dice.normals(weights.len()) } else { vec![0.0; weights.len()] };
        let old = before.take().unwrap_or_else(|| vec![0.0; weights.len()]);
        for index in 0..weights.len() {
            let push = gradient[index] + c * (noise[index] - lambda * old[index]);
            weights[index] -= eta * push;
        }
        if let Some(radius) = training.radius {
            let moved = minus(&weights, &case.weights);
            let length = norm(&moved);
            if length > radius {
                for index in 0..weights.len() {
                    weights[index] = case.weights[index] + moved[index] * radius / length;
                }
            }
        }
        last = noise.clone();
        before = Some(noise);
    }
    trace.batch_risk /= training.steps as f64;
    trace.training_risk /= training.steps as f64;
    trace
}

/// The weights of a comparator.
fn comparator_weights(case: &Case, coefficients: &[f64]) -> Vec<f64> {
    let mut weights = case.weights.clone();
    for (row, b) in coefficients.iter().enumerate() {
        let own = case.network.gradient(&case.weights, &case.features[row]).unwrap().dense();
        let scale = b * case.sample.labels()[row];
        weights.iter_mut().zip(own).for_each(|(w, g)| *w += scale * g);
    }
    weights
}

/// The certificates of one random run and what the run did; every certificate that has a value is checked.
fn attack(dice: &mut Dice, tally: &mut [usize; 4]) {
    let case = Case::new(dice);
    let at = Linearisation::at(&case.network, &case.weights, &case.sample).unwrap();
    let constants =
        RealisedConstants::of(&case.network, 64).unwrap().constants(at.feature_norm2()).unwrap();
    let landscape = Landscape::from(constants);
    let records = case.sample.len() as u64;
    let sampler = [Sampler::Full, Sampler::Fixed, Sampler::Poisson][dice.below(3)];
    let batch = if sampler == Sampler::Full { records } else { 1 + dice.below(4) as u64 };
    let square = landscape.gradient.powi(2);
    let step_size = dice.between(0.01, 1.5) / (SELF_BOUNDING_CONSTANT * square);
    let steps = 2 + dice.below(40) as u64;
    let noisy = dice.below(2) == 0;
    let size = (case.weights.len() as f64).sqrt();
    let noise = if noisy { dice.between(1e-3, 0.3) * landscape.gradient / size } else { 0.0 };
    let lambda = [0.0, 0.5, 1.0][dice.below(3)];
    let training = Training {
        batch,
        sampler,
        lambda,
        noise,
        ..Training::full_batch(step_size, steps, records)
    };
    let horizon = step_size * steps as f64 * dice.between(0.1, 2.0);
    let comparator = free_comparator(&at, horizon, None).unwrap();
    let target = comparator_weights(&case, &comparator.coefficients);
    assert!(norm(&minus(&target, &case.weights)) <= comparator.distance * (1.0 + 1e-12));
    let cap = BatchCap::of(&training, 1e-7).unwrap();
    let loss = if training.is_full() {
        comparator.mean_loss
    } else {
        cap.ratio() * comparator.largest_loss
    };
    let mean = Anchor { distance: comparator.distance, loss: comparator.mean_loss };
    let s = theorem_s(&TheoremS {
        landscape,
        extent: Extent::of(&case.network, case.sample.len()),
        comparator: Anchor { loss, ..mean },
        training,
        batches: cap,
        budget: BudgetS::equal(1e-7),
    })
    .unwrap();
    let trace = train(&case, &training, &target, dice);
    if let Some(bound) = s.bound.upper {
        tally[0] += 1;
        assert!(trace.farthest <= s.distance * (1.0 + 1e-12), "{training:?}");
        assert!(trace.farthest_from_start <= s.radius * (1.0 + 1e-12), "{training:?}");
        assert!(trace.batch_risk <= bound, "{training:?}: {} {bound}", trace.batch_risk);
    }
    if training.is_full() && noise == 0.0 {
        let gd = theorem_s_gd(&TheoremSGd { landscape, comparator: mean, training }).unwrap();
        if let Some(bound) = gd.bound.upper {
            tally[1] += 1;
            assert!(trace.training_risk <= bound, "{training:?}");
            assert!(trace.farthest_from_start <= gd.radius * (1.0 + 1e-12), "{training:?}");
        }
    }
    if sampler == Sampler::Poisson {
        return;
    }
    let gentle = Training {
        step_size: step_size.min(dice.between(0.1, 1.0) / (12.001 * landscape.smoothness)),
        ..training
    };
    let parameters = case.weights.len() as u64;
    for form in [PaperForm::Verbatim, PaperForm::Tight] {
        let budget = BudgetP::equal(1e-7);
        let p = certificate_p(&CertificateP {
            landscape,
            parameters,
            comparator: mean,
            training: gentle,
            form,
            budget,
        })
        .unwrap();
        if let Some(bound) = p.bound.upper {
            tally[2] += 1;
            let trace = train(&case, &gentle, &target, dice);
            assert!(trace.training_risk <= bound && trace.farthest <= p.distance, "{gentle:?}");
        }
    }
    let projected = Training { lambda: 0.0, radius: Some(comparator.distance.max(1e-6)), ..gentle };
    let d = certificate_d(&CertificateD {
        landscape,
        parameters,
        comparator: mean,
        training: projected,
        budget: BudgetD::equal(1e-7),
    })
    .unwrap();
    if let Some(bound) = d.bound.upper {
        tally[3] += 1;
        let trace = train(&case, &projected, &target, dice);
        assert!(trace.training_risk <= bound, "{projected:?}");
    }
}

#[test]
fn no_run_exceeds_its_certificate() {
    let mut dice = Dice { seed: 1_000_000 };
    let mut tally = [0; 4];
    for _ in 0..400 {
        attack(&mut dice, &mut tally);
    }
    eprintln!("certificates S, S-GD, P, D that were attacked: {tally:?}");
    assert!(tally[0] > 100 && tally[1..].iter().all(|count| *count > 20), "{tally:?}");
}

/// Pairs of equal units where `|φ''|` is largest, moved apart: the first order cancels and the second adds up.
fn sharp_pair(curvature_share: f64) -> (f64, f64) {
    let basis = SplineBasis::new(1, 2, Knots::Clamped).unwrap();
    let width = 40;
    let second: Vec<f64> = (0..width).flat_map(|_| [-1.0, 1.0]).collect(); // s_j(v) = v
    let network = Network::new(basis, Activation::Tanh, 1, second).unwrap();
    // tanh'' < 0 there: moving apart lowers the output, which label -1 likes.
    let sample = Sample::new(1, vec![1.0], vec![-1.0]).unwrap();
    let features = vec![network.features(&[1.0]).unwrap()];
    // h(1) = (0, 1), tanh'' is largest in size where tanh² = 1/3.
    let preactivation = (1.0_f64 / 3.0).sqrt().atanh();
    let weights: Vec<f64> = (0..width).flat_map(|_| [0.0, preactivation]).collect();
    let case = Case { network, weights, sample, features };
    let constants = RealisedConstants::of(&case.network, 256).unwrap().constants(1.0).unwrap();
    let step = 1e-3;
    let other: Vec<f64> = (0..width)
        .flat_map(|unit| [0.0, preactivation + if unit % 2 == 0 { step } else { -step }])
        .collect();
    let (losses, gradient) = case.evaluate(&case.weights, &[1.0]);
    let (targets, _) = case.evaluate(&other, &[1.0]);
    let away = minus(&case.weights, &other);
    let slope = -(-losses[0]).exp_m1();
    let error = curvature_share * constants.curvature * case.reach(&away).powi(2) / 2.0 * slope;
    let slack = dot(&gradient, &away) - (losses[0] - error - targets[0]);
    (slack, error)
}

#[test]
fn the_linearisation_error_is_attained() {
    let (slack, error) = sharp_pair(1.0);
    assert!(slack >= 0.0 && slack < 0.02 * error, "{slack:e} of {error:e}");
    // A curvature that is 5 % too small is caught.
    let (slack, error) = sharp_pair(0.95);
    assert!(slack < -0.02 * error, "{slack:e} of {error:e}");
}

/// From the search to the last step: what is certified for the schedule that was found is not exceeded when it is run.
/// A single run may exceed its expectation; with the slack of these certificates none does.
#[test]
fn searched_certificates_are_not_exceeded_either() {
    let mut dice = Dice { seed: 2_000_000 };
    let mut tally = [0; 4];
    for round in 0..60 {
        let case = Case::new(&mut dice);
        let at = Linearisation::at(&case.network, &case.weights, &case.sample).unwrap();
        let realised = RealisedConstants::of(&case.network, 32).unwrap();
        let ingredients = Ingredients::new(&at, &realised, InputDomain::Cube);
        let descent = Route::ALL[round % 4] == Route::SGd;
        let choices = if descent { 1 } else { 3 };
        let sampler = [Sampler::Full, Sampler::Fixed, Sampler::Poisson][dice.below(choices)];
        let size = (case.weights.len() as f64).sqrt();
        let noise = dice.between(1e-4, 3e-2) / size;
        let silent = descent || dice.below(2) == 0;
        let question = Question {
            routes: vec![Route::ALL[round % 4]],
            claim: if dice.below(2) == 0 { Claim::Probability } else { Claim::Expectation },
            batch: (sampler != Sampler::Full).then_some(2),
            sampler,
            noise: if silent { Noise::None } else { Noise::Coordinate(noise) },
            lambda: if round % 4 == 3 { 0.0 } else { [0.0, 0.5, 1.0][dice.below(3)] },
            schedule: Schedule { most_steps: Some(60), ..Schedule::default() },
            failures: Failures {
                noise: 1e-6,
                batches: 1e-6,
                transfer: 1e-6,
                ..Failures::default()
            },
            divide_failures: round % 2 == 0,
            ..Question::default()
        };
        let Ok(found) = certify(&ingredients, &question) else { continue };
        let Some(bound) = found.bound.upper else { continue };
        let trace = train(&case, &found.training, &case.weights.clone(), &mut dice);
        assert!(trace.training_risk <= bound, "{question:?} {found:?}");
        tally[round % 4] += 1;
    }
    eprintln!("searched certificates that were run: {tally:?}");
    assert!(tally.iter().all(|count| *count >= 3), "{tally:?}");
}
