//! Certificates of whole networks: the reference configurations, the search, and what is refused.

use std::time::Instant;

use dpbounds_bounds::kan::certificates::{
    Certificate, Claim, Clipping, Failures, Ingredients, Noise, Privacy, Projection, Question,
    Remedy, Route, Schedule, certify,
};
use dpbounds_bounds::kan::{
    Activation, Initialisation, InputDomain, Knots, Linearisation, Network, RealisedConstants,
    Sample, SplineBasis, initialise,
};
use dpbounds_bounds::privacy::Sampler;
use serde_json::Value;

use crate::oracle::{real, rows, size};

/// A network at its weights on atoms, every one `copies` times.
struct Setup {
    network: Network,
    weights: Vec<f64>,
    sample: Sample,
    support: Sample,
    realised: RealisedConstants,
}

fn atoms(name: &str, copies: u64) -> Sample {
    let (dimension, inputs, labels) = match name {
        "A4" => (1, vec![-0.95, -0.7, 0.7, 0.95], vec![-1.0, -1.0, 1.0, 1.0]),
        _ => (2, vec![0.7, 0.7, -0.7, -0.7, 0.7, -0.7, -0.7, 0.7], vec![1.0, 1.0, -1.0, -1.0]),
    };
    Sample::with_multiplicities(dimension, inputs, labels, vec![copies; 4]).unwrap()
}

impl Setup {
    fn new(name: &str, shape: (usize, usize, usize), init: Initialisation, copies: u64) -> Self {
        let sample = atoms(name, copies);
        let (degree, functions, width) = shape;
        let basis = SplineBasis::new(degree, functions, Knots::Clamped).unwrap();
        let (network, weights) =
            initialise(basis, Activation::Tanh, sample.dimension(), width, init, 1).unwrap();
        // The reference cuts every span in eight.
        let realised = RealisedConstants::of(&network, 8).unwrap();
        Self { network, weights, sample, support: atoms(name, 1), realised }
    }

    fn of(row: &Value) -> Self {
        let setup = &row["setup"];
        let init = match setup["init"].as_str().unwrap() {
            "gaussian" => Initialisation::Gaussian,
            "antithetic" => Initialisation::Antithetic,
            _ => Initialisation::Greville,
        };
        let shape = (size(&setup["deg"]), size(&setup["p"]), size(&setup["m"]));
        let copies = row["cfg"]["n"].as_u64().unwrap() / 4;
        Self::new(setup["atoms"].as_str().unwrap(), shape, init, copies)
    }

    fn certify(&self, question: &Question) -> Certificate {
        let sample = Linearisation::at(&self.network, &self.weights, &self.sample).unwrap();
        let support = Linearisation::at(&self.network, &self.weights, &self.support).unwrap();
        let ingredients = Ingredients::new(&sample, &self.realised, InputDomain::Cube);
        certify(&ingredients.with_support(&support).unwrap(), question).unwrap()
    }
}

/// The question of a row, with its schedule and comparator.
fn question(row: &Value) -> Question {
    let (cfg, cert) = (&row["cfg"], &row["cert"]);
    let full = cfg["sampler"] == "full";
    let mut failures = Failures::default();
    if let Some(batches) = cfg["dN"].as_f64() {
        failures.batches = batches;
    }
    if let Some(parts) = cfg["dl"].as_array() {
        failures.noise = 4.0 * real(&parts[0]);
    }
    Question {
        routes: vec![if cfg["kind"] == "SGD" { Route::SGd } else { Route::S }],
        claim: if cfg["pop"] == true { Claim::Population } else { Claim::Probability },
        batch: (!full).then(|| cfg["B"].as_u64().unwrap()),
        sampler: match cfg["sampler"].as_str().unwrap() {
            "poisson" => Sampler::Poisson,
            "fixed" => Sampler::Fixed,
            _ => Sampler::Full,
        },
        lambda: cfg["lam"].as_f64().unwrap_or(0.0),
        noise: cfg["cp"].as_f64().map_or(Noise::None, Noise::Coordinate),
        schedule: Schedule {
            step_size: Some(real(&cert["eta"])),
            steps: Some(cert["T"].as_u64().unwrap()),
            most_steps: None,
        },
        horizons: Some(vec![real(&cert["s"])]),
        failures,
        ..Question::default()
    }
}

fn near(found: Option<f64>, expected: f64, what: &str) {
    let found = found.expect(what);
    assert!((found / expected - 1.0).abs() < 1e-6, "{what}: {found} {expected}");
}

fn reproduce(row: &Value) {
    let name = row["name"].as_str().unwrap();
    let started = Instant::now();
    let setup = Setup::of(row);
    let question = question(row);
    let cert = &row["cert"];
    let found = setup.certify(&question);
    near(found.bound.value, real(&cert["val"]), name);
    assert!(found.bound.upper >= found.bound.value && found.bound.checks.iter().all(|c| c.holds));
    if question.claim == Claim::Population {
        near(found.optimisation.bound.value, real(&cert["S"]["bound"]), name);
        if question.batch.is_some() {
            // The reference takes the largest loss for training risk, too.
            let claims = [(Claim::Expectation, "expect"), (Claim::Probability, "hp")];
            for (claim, key) in claims {
                let found = setup.certify(&Question { claim, ..question.clone() });
                near(found.bound.value, real(&cert[key]), key);
            }
        }
    }
    eprintln!("{name}: {:.2} s", started.elapsed().as_secs_f64());
}

fn reproduce_all(choose: impl Fn(usize) -> bool) {
    let chosen = rows("reference").iter().filter(|row| choose(size(&row["setup"]["m"])));
    let count = chosen.inspect(|row| reproduce(row)).count();
    assert!(count >= 4);
}

#[test]
fn small_reference_configurations_are_certified() {
    reproduce_all(|width| width <= 20_000);
}

#[test]
fn wide_reference_configurations_are_certified() {
    reproduce_all(|width| width > 20_000);
}

#[test]
fn configurations_that_the_oracle_leaves_out_are_certified() {
    // The prototype's values, to their last digit.
    let greville = Setup::new("A4", (1, 2, 2000), Initialisation::Greville, 250_000);
    let gaussian = Setup::new("A4", (1, 2, 100_000), Initialisation::Gaussian, 1000);
    let antithetic = Setup::new("A4", (1, 2, 100_000), Initialisation::Antithetic, 1000);
    let ask = |horizon: f64, steps: u32| Question {
        routes: vec![Route::S],
        schedule: Schedule {
            step_size: Some(horizon / f64::from(steps)),
            steps: Some(steps.into()),
            most_steps: None,
        },
        horizons: Some(vec![horizon]),
        ..Question::default()
    };
    let g4 = gaussian.certify(&ask(207.984_200_764_335_78, 203));
    near(g4.bound.value, 0.602_006_867_056_037_5, "g4");
    let a2 = antithetic.certify(&ask(243.339_249_236_906, 238));
    near(a2.bound.value, 0.489_744_838_781_248_25, "a2");
    let noisy = |lambda| Question {
        lambda,
        noise: Noise::Coordinate(2e-4),
        ..ask(129.862_838_432_491_77, 252)
    };
    for (lambda, high, mean) in [
        (0.5, 0.488_641_350_033_304_67, 0.541_134_765_054_954_6),
        (0.0, 0.486_804_091_671_684_6, 0.539_311_460_692_372_5),
    ] {
        near(greville.certify(&noisy(lambda)).bound.value, high, "v3, v4");
        let expected = Question { claim: Claim::Expectation, ..noisy(lambda) };
        near(greville.certify(&expected).bound.value, mean, "v3, v4");
    }
}

fn small() -> Setup {
    Setup::new("A4", (1, 2, 2000), Initialisation::Greville, 1000)
}

#[test]
fn the_search_is_no_worse_than_the_reference() {
    for name in ["v1", "v2", "v5", "v9", "v11"] {
        let row = rows("reference").iter().find(|row| row["name"] == name).unwrap();
        let given = question(row);
        let free = Question { schedule: Schedule::default(), horizons: None, ..given };
        let started = Instant::now();
        let found = Setup::of(row).certify(&free);
        let reference = real(&row["cert"]["val"]);
        eprintln!(
            "{name}: {:?} against {reference}, {:?}, {:.2} s",
            found.bound.value,
            found.training,
            started.elapsed().as_secs_f64()
        );
        assert!(found.bound.value.unwrap() < reference, "{name}");
    }
}

#[test]
fn all_routes_answer_and_the_best_one_leads() {
    let found =
        small().certify(&Question { projection: Projection::Needed, ..Question::default() });
    assert_eq!(found.route, Route::SGd);
    let named = |name: &str| {
        found.bound.alternatives.iter().find(|one| one.source.statement.contains(name)).unwrap()
    };
    let sharp = named("Theorem S (").value.unwrap();
    assert!(found.bound.value.unwrap() < sharp);
    // The paper's routes are valid, and say nothing at this width.
    for name in ["4.1", "4.3"] {
        assert!(named(name).value.is_none_or(|value| value > std::f64::consts::LN_2), "{name}");
    }
}

#[test]
fn failure_probabilities_are_divided_within_their_total() {
    let setup = Setup::new("A4", (1, 2, 5000), Initialisation::Greville, 1000);
    let base = Question {
        routes: vec![Route::S],
        batch: Some(64),
        sampler: Sampler::Fixed,
        noise: Noise::Coordinate(1e-4),
        lambda: 0.5,
        schedule: Schedule { step_size: Some(0.515), steps: Some(184), most_steps: None },
        horizons: Some(vec![95.0]),
        failures: Failures { comparator: Some(1e-3), ..Failures::default() },
        ..Question::default()
    };
    for claim in [Claim::Probability, Claim::Expectation] {
        let given = setup.certify(&Question { claim, ..base.clone() });
        let divided = setup.certify(&Question { claim, divide_failures: true, ..base.clone() });
        assert!(divided.bound.value < given.bound.value, "{claim:?}");
        let total = |f: Failures| f.noise + f.batches + f.transfer + f.comparator.unwrap();
        if claim == Claim::Probability {
            assert!(total(divided.failures) <= total(given.failures) * (1.0 + 1e-12));
        }
        eprintln!("{:?} {:?} {:?}", given.bound.value, divided.bound.value, divided.failures);
    }
}

#[test]
fn privacy_is_void_where_the_sample_was_searched() {
    let setup = Setup::new("A4", (1, 2, 2000), Initialisation::Greville, 250_000);
    let fixed = Question {
        routes: vec![Route::S],
        noise: Noise::Multiplier(205.0),
        clipping: Clipping::Public,
        projection: Projection::At(25.0),
        schedule: Schedule { step_size: Some(0.515), steps: Some(252), most_steps: None },
        ..Question::default()
    };
    let conditional = setup.certify(&fixed);
    assert!(matches!(conditional.privacy, Privacy::Conditional(_)));
    // c = G κ/B with the public G.
    let noise = conditional.public_gradient * 205.0 / 1e6;
    assert!((conditional.training.noise / noise - 1.0).abs() < 1e-12);
    assert!(conditional.bound.value.unwrap() < 0.5);
    for schedule in [
        Schedule { step_size: None, ..fixed.schedule },
        Schedule { steps: None, ..fixed.schedule },
        Schedule::default(),
    ] {
        let found = setup.certify(&Question { schedule, ..fixed.clone() });
        assert!(matches!(&found.privacy, Privacy::Void(why) if why.contains("step size")));
    }
    let needed = setup.certify(&Question { projection: Projection::Needed, ..fixed.clone() });
    assert!(matches!(&needed.privacy, Privacy::Void(why) if why.contains("radius")));
    // The support is public.
    let population = Question {
        claim: Claim::Population,
        schedule: Schedule::default(),
        projection: Projection::Needed,
        failures: Failures { noise: 4e-5, ..Failures::default() },
        ..fixed.clone()
    };
    assert!(matches!(setup.certify(&population).privacy, Privacy::Conditional(_)));
    let silent = setup.certify(&Question { noise: Noise::None, ..fixed });
    assert_eq!(silent.privacy, Privacy::None);
}

#[test]
fn what_cannot_be_certified_says_what_would_help() {
    // Too narrow by half.
    let narrow = Setup::new("A4", (1, 2, 200), Initialisation::Greville, 1000);
    let route = |routes: Vec<Route>| Question { routes, ..Question::default() };
    let long = Question {
        schedule: Schedule { step_size: Some(0.5), steps: Some(600), most_steps: None },
        ..route(vec![Route::S])
    };
    let found = narrow.certify(&long);
    assert!(found.bound.value.is_none() && found.bound.reason.unwrap().contains("coef"));
    let remedies = found.outlook.unwrap().remedies;
    let width = remedies.iter().find_map(|one| match one {
        Remedy::Width { width, .. } => Some(*width),
        _ => None,
    });
    let width = usize::try_from(width.unwrap()).unwrap();
    // The estimate is about right: the margin does not depend on the width by much.
    let wide = Setup::new("A4", (1, 2, 2 * width), Initialisation::Greville, 1000);
    assert!(wide.certify(&long).bound.value.is_some(), "{width}");
    let half = Setup::new("A4", (1, 2, width / 4 * 2), Initialisation::Greville, 1000);
    assert!(half.certify(&long).bound.value.is_none(), "{width}");
    // Another schedule helps this very network.
    let schedule = remedies.iter().find_map(|one| match one {
        Remedy::Schedule { step_size, steps, .. } => Some((*step_size, *steps)),
        _ => None,
    });
    let (step_size, steps) = schedule.unwrap();
    let schedule = Schedule { step_size: Some(step_size), steps: Some(steps), most_steps: None };
    assert!(narrow.certify(&Question { schedule, ..long }).bound.value.is_some());
    // The paper's certificate needs a width of another order.
    let batches = Question { batch: Some(64), sampler: Sampler::Fixed, ..route(vec![Route::P]) };
    let paper = small().certify(&batches);
    assert!(paper.bound.value.is_none_or(|value| value > std::f64::consts::LN_2));
    let wider = |one: &Remedy| matches!(one, Remedy::Width { width, .. } if *width > 10_000);
    assert!(paper.outlook.unwrap().remedies.iter().any(wider));
}

#[test]
fn population_certificates_that_do_not_close_name_the_records_they_need() {
    let row = rows("reference").iter().find(|row| row["name"] == "v5").unwrap();
    let question = question(row);
    let few = Setup::new("A4", (1, 2, 5000), Initialisation::Greville, 50);
    let found = few.certify(&question);
    assert!(found.bound.value.is_none());
    let records = found.outlook.unwrap().remedies.into_iter().find_map(|one| match one {
        Remedy::Records { records, .. } => Some(records),
        _ => None,
    });
    let records = records.unwrap();
    assert!((200..4000).contains(&records), "{records}");
    let copies = records.div_ceil(4);
    let enough = Setup::new("A4", (1, 2, 5000), Initialisation::Greville, copies);
    assert!(enough.certify(&question).bound.value.is_some());
}

#[test]
fn certificates_that_have_no_proof_are_refused() {
    let setup = small();
    let sample = Linearisation::at(&setup.network, &setup.weights, &setup.sample).unwrap();
    let bare = Ingredients::new(&sample, &setup.realised, InputDomain::Cube);
    let refused = |question: &Question| certify(&bare, question).unwrap_err().to_string();
    let base = Question::default();
    assert!(refused(&Question { claim: Claim::Population, ..base.clone() }).contains("support"));
    assert!(refused(&Question { lambda: 1.5, ..base.clone() }).contains("lambda"));
    assert!(refused(&Question { routes: vec![], ..base.clone() }).contains("empty"));
    let no_clipping = Question { noise: Noise::Multiplier(1.0), ..base.clone() };
    assert!(refused(&no_clipping).contains("clipping"));
    let poisson = Question { batch: Some(100), sampler: Sampler::Poisson, ..base.clone() };
    for route in [Route::P, Route::D] {
        let one = Question { routes: vec![route], ..poisson.clone() };
        assert!(refused(&one).contains("Poisson"));
    }
    let stream = Question { batch: Some(100), sampler: Sampler::Stream, ..base.clone() };
    assert!(refused(&stream).contains("stream"));
    // With other routes the refused ones are left out.
    assert_eq!(certify(&bare, &poisson).unwrap().route, Route::S);
    let small_norm = Question { clipping: Clipping::At(0.5), ..base };
    let found = certify(&bare, &small_norm).unwrap().bound;
    assert!(found.value.is_none() && found.reason.unwrap().contains("C_clip"));
    // A support that leaves a record out.
    let part = Sample::new(1, vec![-0.95, 0.95], vec![-1.0, 1.0]).unwrap();
    let part = Linearisation::at(&setup.network, &setup.weights, &part).unwrap();
    assert!(bare.with_support(&part).is_err());
}

#[test]
fn contradictory_samples_are_certified_and_told() {
    let basis = SplineBasis::new(1, 2, Knots::Clamped).unwrap();
    let (network, weights) =
        initialise(basis, Activation::Tanh, 1, 2000, Initialisation::Greville, 1).unwrap();
    let realised = RealisedConstants::of(&network, 32).unwrap();
    let inputs = vec![0.9, 0.9, -0.9];
    let sample =
        Sample::with_multiplicities(1, inputs, vec![1.0, -1.0, -1.0], vec![99, 1, 100]).unwrap();
    let sample = Linearisation::at(&network, &weights, &sample).unwrap();
    let ingredients = Ingredients::new(&sample, &realised, InputDomain::Cube);
    let found = certify(&ingredients, &Question::default()).unwrap();
    assert!(found.bound.value.unwrap() < 0.4, "{:?}", found.bound.value);
    assert!(found.notes.iter().any(|note| note.contains("both labels")));
}
