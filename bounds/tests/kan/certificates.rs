//! The formulas against reference values, and what they refuse.

use dpbounds_bounds::BoundError;
use dpbounds_bounds::catalogue::{Arguments, Value as CatalogueValue};
use dpbounds_bounds::kan::certificates::{
    Anchor, BatchCap, BudgetD, BudgetP, BudgetS, CertificateD, CertificateP, Extent, Landscape,
    Optimisation, PaperForm, PopulationP, PopulationS, TheoremS, TheoremSGd, Training,
    certificate_d, certificate_p, comparator_on_batches, in_expectation, in_high_probability,
    population_p, population_s, theorem_s, theorem_s_gd,
};
use dpbounds_bounds::privacy::Sampler;
use serde_json::Value;

use crate::oracle::{flat, real, rows};

const TOLERANCE: f64 = 1e-9;

fn near(found: f64, expected: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(error <= TOLERANCE * expected.abs().max(1e-12), "{what}: {found} {expected}");
}

fn near_key(found: f64, out: &Value, name: &str) {
    near(found, real(&out[name]), name);
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn count(value: f64) -> u64 {
    value as u64
}

fn landscape(gradient: f64, curvature: f64) -> Landscape {
    let smoothness = gradient * gradient / 4.0 + curvature;
    Landscape { gradient, curvature, smoothness }
}

/// The arguments of a row of `route_S` or `route_S_ext`, batches of `batch` out of `records`.
pub fn theorem_s_of(row: &Value, batch: u64, records: u64) -> TheoremS {
    let a = flat(&row["args"]);
    let (ratio, rare) = if a.len() > 14 { (a[14], a[15]) } else { (1.0, 0.0) };
    let sampler = match (a.len() > 14, batch == records) {
        (_, true) => Sampler::Full,
        (true, _) => Sampler::Poisson,
        _ => Sampler::Fixed,
    };
    TheoremS {
        landscape: landscape(a[0], a[1]),
        extent: Extent {
            width: count(a[9]),
            parameters: count(a[8]),
            noise_dimension: count(a[8]),
            inputs: count(a[10]),
        },
        comparator: Anchor { distance: a[2], loss: ratio * a[3] },
        training: Training {
            batch,
            sampler,
            lambda: a[6],
            noise: a[7],
            ..Training::full_batch(a[4], count(a[5]), records)
        },
        batches: BatchCap::assumed(ratio, rare).unwrap(),
        budget: BudgetS { linear: a[11], square: a[12], inputs: a[13], comparator: 0.0 },
    }
}

fn compare_s(found: &Optimisation, row: &Value) {
    let out = &row["out"];
    near_key(found.bound.value.unwrap(), out, "bound");
    near_key(found.distance, out, "Rbar");
    near_key(found.reach, out, "D");
    near_key(found.radius, out, "Rstar");
    near_key(found.bound.checks[0].left, out, "coef");
    for (term, name) in found.bound.terms.iter().zip(["init", "Lstar", "lin", "VZ"]) {
        near_key(term.value, &out["terms"], name);
    }
    // The reference spends δ_M and δ_V for λ = 1, where nothing needs them.
    if flat(&row["args"])[6] < 1.0 {
        near_key(found.failure, out, "dbad");
    }
}

#[test]
fn theorem_s_and_its_population_form_are_reproduced() {
    for row in rows("route_S") {
        compare_s(&theorem_s(&theorem_s_of(row, 4, 4)).unwrap(), row);
        for case in row["pop"].as_array().unwrap() {
            let (args, out) = (&case["args"], &case["out"]);
            let (batch, records) = (args["B"].as_u64().unwrap(), args["n"].as_u64().unwrap());
            let mut arguments = theorem_s_of(row, batch, records);
            let mut optimisation = theorem_s(&arguments).unwrap();
            optimisation.failure = real(&args["dbad"]);
            arguments.training.radius = Some(optimisation.radius);
            let found = population_s(&PopulationS {
                optimisation: &optimisation,
                bounded: true,
                ratio: 1.0,
                landscape: arguments.landscape,
                training: arguments.training,
                output: Some(real(&args["Fmax"])),
                count_failure: real(&args["dcnt"]),
            })
            .unwrap();
            match out["bound"].as_f64() {
                Some(expected) => near(found.value.unwrap(), expected, "population"),
                None => assert!(found.value.is_none(), "{found:?}"),
            }
        }
    }
}

#[test]
fn poisson_caps_expectations_and_their_population_form_are_reproduced() {
    for row in rows("route_S_ext") {
        let mut arguments = theorem_s_of(row, 256, 4000);
        let mut optimisation = theorem_s(&arguments).unwrap();
        compare_s(&optimisation, row);
        optimisation.failure = real(&row["out"]["dbad"]);
        let expected = in_expectation(&optimisation, &arguments.training, Some(6.0)).unwrap();
        near_key(expected.value.unwrap(), row, "expect");
        arguments.training.radius = Some(optimisation.radius);
        let found = population_s(&PopulationS {
            optimisation: &optimisation,
            bounded: true,
            ratio: arguments.batches.ratio(),
            landscape: arguments.landscape,
            training: arguments.training,
            output: Some(6.0),
            count_failure: 1e-6,
        })
        .unwrap();
        near_key(found.value.unwrap(), &row["pop"], "bound");
    }
}

#[test]
fn theorem_s_gd_is_reproduced() {
    for row in rows("route_SGD") {
        let a = flat(&row["args"]);
        let found = theorem_s_gd(&TheoremSGd {
            landscape: landscape(a[0], a[1]),
            comparator: Anchor { distance: a[2], loss: a[3] },
            training: Training::full_batch(a[4], count(a[5]), 4),
        })
        .unwrap();
        let out = &row["out"];
        near_key(found.bound.checks[0].left, out, "coef");
        if out["ok"] == true {
            near_key(found.bound.value.unwrap(), out, "bound");
            near_key(found.radius, out, "Rstar");
        } else {
            assert!(found.bound.value.is_none());
            assert!(found.bound.reason.unwrap().contains("coef"));
        }
    }
}

/// The arguments of a row of `route_P`.
pub fn certificate_p_of(row: &Value) -> CertificateP {
    let a = flat(&row["args"]);
    CertificateP {
        landscape: Landscape { gradient: a[0], curvature: a[1], smoothness: a[2] },
        parameters: count(a[11]),
        comparator: Anchor { distance: a[3], loss: a[4] },
        training: Training {
            batch: count(a[7]),
            sampler: Sampler::Fixed,
            lambda: a[9],
            noise: a[10],
            ..Training::full_batch(a[5], count(a[6]), count(a[8]))
        },
        form: PaperForm::Verbatim,
        budget: BudgetP { noise: a[12], batches: a[13], linear: a[14] },
    }
}

#[test]
fn certificate_p_is_reproduced() {
    for row in rows("route_P") {
        let (arguments, out) = (certificate_p_of(row), &row["out"]);
        let found = certificate_p(&arguments).unwrap();
        near_key(found.distance, out, "Rbar");
        near_key(found.reach, out, "D");
        near_key(found.radius, out, "Rstar");
        near(1.0 - found.failure, real(&out["prob"]), "prob");
        assert_eq!(found.bound.checks[0].holds, out["ok_eta"] == true);
        near_key(found.bound.checks[1].left, out, "nuD2");
        assert_eq!(found.bound.checks[1].holds, out["ok_local"] == true);
        // The value does not depend on the curvature; without the hypothesis there is none.
        assert_eq!(found.bound.value.is_some(), out["ok_local"] == true);
        let mut flat_one = arguments;
        flat_one.landscape.curvature = 0.0;
        let found = certificate_p(&flat_one).unwrap().bound;
        near_key(found.value.unwrap(), out, "bound");
        for (term, name) in found.terms.iter().zip(["Lstar", "init", "M", "VD", "VZ"]) {
            near_key(term.value, &out["terms"], name);
        }
        let tight = certificate_p(&CertificateP { form: PaperForm::Tight, ..flat_one }).unwrap();
        assert!(
            tight.bound.value < found.value && tight.failure <= 1.0 - real(&out["prob"]) + 1e-12
        );
    }
}

/// The arguments of a row of `route_D`.
pub fn certificate_d_of(row: &Value) -> CertificateD {
    let a = flat(&row["args"]);
    CertificateD {
        landscape: Landscape { gradient: a[0], curvature: a[1], smoothness: a[2] },
        parameters: count(a[10]),
        comparator: Anchor { distance: a[3], loss: a[4] },
        training: Training {
            batch: count(a[7]),
            sampler: Sampler::Fixed,
            noise: a[9],
            radius: Some(a[11]),
            ..Training::full_batch(a[5], count(a[6]), count(a[8]))
        },
        budget: BudgetD {
            batch_square: a[12],
            noise_square: a[13],
            batch_linear: a[14],
            noise_linear: a[15],
        },
    }
}

#[test]
fn certificate_d_is_reproduced() {
    for row in rows("route_D") {
        let found = certificate_d(&certificate_d_of(row)).unwrap();
        let out = &row["out"];
        near_key(found.bound.value.unwrap(), out, "bound");
        near_key(found.bound.checks[2].left, out, "nuD2");
        let names = ["Lstar", "init", "lin_mb", "lin_Z", "VD", "VZ"];
        for (term, name) in found.bound.terms.iter().zip(names) {
            near_key(term.value, &out["terms"], name);
        }
    }
}

#[test]
fn population_certificate_of_the_paper_is_reproduced_up_to_its_superfluous_factor() {
    for row in rows("pop_P") {
        let (a, out) = (flat(&row["args"]), &row["out"]);
        let training = Training {
            batch: count(a[8]),
            sampler: Sampler::Fixed,
            radius: Some(a[13]),
            ..Training::full_batch(a[5], count(a[6]), count(a[7]))
        };
        // An optimisation certificate with the value of the row.
        let mut optimisation = certificate_p(&CertificateP {
            landscape: Landscape { gradient: a[1], curvature: 0.0, smoothness: 1e-3 },
            parameters: 10,
            comparator: Anchor { distance: 0.0, loss: 0.0 },
            training: Training { radius: None, ..training },
            form: PaperForm::Verbatim,
            budget: BudgetP::equal(0.01),
        })
        .unwrap();
        (optimisation.bound.value, optimisation.bound.upper) = (Some(a[0]), Some(a[0]));
        optimisation.failure = a[12];
        let found = population_p(&PopulationP {
            optimisation: &optimisation,
            landscape: landscape(a[1], a[3]),
            training,
            output: a[9],
            batch_failure: a[10],
        })
        .unwrap();
        let growth = found.checks.last().unwrap();
        near(growth.left, real(&out["M"]), "growth");
        // The reference takes d_stab as an argument and multiplies the gap by 2 (errata E15).
        let missed = if a[8] < a[7] { a[10] } else { 0.0 };
        let rare = a[1] * 2.0 * a[13] * (2.0 * a[12] + 2.0 * missed - a[11]);
        let expected = real(&out["bound"]) - real(&out["gap"]) / 2.0 + rare;
        near(found.value.unwrap(), expected, "population");
    }
}

#[test]
fn transfers_are_reproduced() {
    let run = |steps, batch| Training {
        batch,
        sampler: Sampler::Fixed,
        ..Training::full_batch(0.5, steps, 1 << 40)
    };
    for row in rows("hp_transfer") {
        let a = flat(&row["args"]);
        let training = run(count(a[1]), count(a[2]));
        let mut losses = theorem_s(&theorem_s_of(&rows("route_S")[0], 64, 4000)).unwrap();
        (losses.bound.value, losses.bound.upper) = (Some(a[0]), Some(a[0]));
        let found = in_high_probability(&losses, &training, a[3], a[4]).unwrap();
        near_key(found.value.unwrap(), row, "out");
        let whole: f64 = found.terms.iter().map(|term| term.value).sum();
        near(whole, found.value.unwrap(), "terms");
    }
    for row in rows("comparator_mean") {
        let a = flat(&row["args"]);
        let training = run(count(a[2]), count(a[3]));
        let poisson = Training { sampler: Sampler::Poisson, ..training };
        let found = comparator_on_batches(&poisson, a[0], a[1], a[4]).unwrap().value.unwrap();
        near_key(found, row, "out");
        let fixed = comparator_on_batches(&training, a[0], a[1], a[4]).unwrap().value.unwrap();
        near(fixed, found.min(a[1]), "never above the largest loss");
    }
}

/// What a certificate without its value says.
fn reason(result: Result<Optimisation, BoundError>) -> String {
    match result {
        Ok(found) => {
            assert!(found.bound.value.is_none() && found.bound.upper.is_none());
            assert!(found.bound.checks.iter().any(|check| !check.holds && check.slack <= 0.0));
            found.bound.reason.unwrap().into_owned()
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_hypothesis_that_fails_is_named() {
    let s = theorem_s_of(&rows("route_S")[1], 100, 100);
    let with = |change: fn(&mut TheoremS)| {
        let mut changed = s;
        change(&mut changed);
        reason(theorem_s(&changed))
    };
    assert!(with(|s| s.landscape.curvature = 1.0).contains("coef"));
    assert!(with(|s| s.training.clipping = Some(0.5)).contains("C_clip >= G"));
    assert!(with(|s| s.training.radius = Some(10.0)).contains("R_*"));
    assert!(with(|s| s.training.lambda = 1.5).contains("lambda"));
    assert!(with(|s| s.training.lambda = -0.1).contains("lambda"));
    assert!(with(|s| s.budget.linear = 0.0).contains("(0, 1)"));
    assert!(with(|s| s.budget = BudgetS::equal(2.0)).contains("failure"));
    assert!(with(|s| s.comparator.distance = f64::NAN).contains("distance"));
    assert!(with(|s| s.comparator.distance = 1e300).contains("largest double"));
    assert!(with(|s| s.training.batch = 99).contains("batch"));
    let p = certificate_p_of(&rows("route_P")[1]);
    let poisson = Training { sampler: Sampler::Poisson, ..p.training };
    assert!(reason(certificate_p(&CertificateP { training: poisson, ..p })).contains("Poisson"));
    let long = Training { step_size: 1.0, ..p.training };
    assert!(reason(certificate_p(&CertificateP { training: long, ..p })).contains("12 beta"));
    let d = certificate_d_of(&rows("route_D")[1]);
    let with = |training| reason(certificate_d(&CertificateD { training, ..d }));
    assert!(with(Training { sampler: Sampler::Poisson, ..d.training }).contains("Poisson"));
    assert!(with(Training { lambda: 0.5, ..d.training }).contains("correlated"));
    assert!(with(Training { radius: None, ..d.training }).contains("projection"));
    assert!(with(Training { radius: Some(1.0), ..d.training }).contains("R_* >= tau"));
    assert!(with(Training { radius: Some(100.0), ..d.training }).contains("nu R_*^2"));
    let gd = TheoremSGd {
        landscape: landscape(0.69, 0.0075),
        comparator: Anchor { distance: 8.0, loss: 0.075 },
        training: Training::full_batch(1.0, 378, 4),
    };
    let curved = TheoremSGd {
        landscape: landscape(1.0, 1.0),
        comparator: Anchor { distance: 0.1, loss: 0.1 },
        training: Training::full_batch(2.0, 100, 4),
    };
    assert!(reason(theorem_s_gd(&curved)).contains("2/beta"));
    let with = |training| reason(theorem_s_gd(&TheoremSGd { training, ..gd }));
    assert!(with(Training { noise: 1e-5, ..gd.training }).contains("noise"));
    assert!(with(Training { step_size: 2.0 / 0.126, ..gd.training }).contains("coef"));
    assert!(with(Training { radius: Some(8.0), ..gd.training }).contains("R_*"));
    assert!(with(Training { clipping: Some(0.68), ..gd.training }).contains("C_clip"));
}

#[test]
fn expectations_of_what_can_fail_need_a_projection() {
    let arguments = theorem_s_of(&rows("route_S")[1], 4, 4);
    let losses = theorem_s(&arguments).unwrap();
    assert!(in_expectation(&losses, &arguments.training, None).is_err());
    let free = population_s(&PopulationS {
        optimisation: &losses,
        bounded: true,
        ratio: 1.0,
        landscape: arguments.landscape,
        training: arguments.training,
        output: Some(6.0),
        count_failure: 1e-6,
    });
    assert!(free.unwrap_err().to_string().contains("projection"));
}

#[test]
fn what_follows_from_no_certificate_is_no_certificate() {
    let mut arguments = theorem_s_of(&rows("route_S")[0], 64, 4000);
    arguments.landscape.curvature = 1.0;
    let losses = theorem_s(&arguments).unwrap();
    assert!(losses.bound.value.is_none());
    let mut overflow = losses.clone();
    overflow.bound.checks.clear();
    for from in [&losses, &overflow] {
        let training = &arguments.training;
        assert!(in_expectation(from, training, Some(5.0)).unwrap().value.is_none());
        let mut risky = from.clone();
        risky.failure = 0.1;
        assert!(in_expectation(&risky, training, None).unwrap().value.is_none());
        assert!(in_high_probability(from, training, 5.0, 1e-3).unwrap().value.is_none());
        let population = population_s(&PopulationS {
            optimisation: from,
            bounded: true,
            ratio: 1.0,
            landscape: arguments.landscape,
            training: *training,
            output: Some(6.0),
            count_failure: 1e-6,
        });
        assert!(population.unwrap().value.is_none());
        let population = population_p(&PopulationP {
            optimisation: from,
            landscape: arguments.landscape,
            training: Training { radius: Some(1.0), ..*training },
            output: 6.0,
            batch_failure: 1e-6,
        });
        assert!(population.unwrap().value.is_none());
    }
}

#[test]
fn degenerate_runs_have_their_limits() {
    // One step: nothing is updated, so nothing is random, whatever the noise.
    let mut one = theorem_s_of(&rows("route_S")[1], 4, 4);
    one.training.steps = 1;
    let found = theorem_s(&one).unwrap();
    assert_eq!(found.failure, 0.0);
    // Tiny steps: (τ²/(2s) + l*)/(1 − q).
    let mut small = theorem_s_of(&rows("route_S")[0], 4, 4);
    (small.training.step_size, small.training.steps) = (1e-6, 50_000_000);
    let q = 0.0075 * (64.0 + 100.0 * 0.075) / 2.0;
    let limit = (64.0 / 100.0 + 0.075) / (1.0 - q);
    let found = theorem_s(&small).unwrap().bound.value.unwrap();
    assert!((found / limit - 1.0).abs() < 1e-5, "{found} {limit}");
    // W* = W_0 is legal.
    small.comparator = Anchor { distance: 0.0, loss: std::f64::consts::LN_2 };
    assert!(theorem_s(&small).unwrap().bound.value.unwrap() >= std::f64::consts::LN_2);
}

#[test]
fn poisson_caps_agree_with_the_exact_tail() {
    for (n, batch, steps, failure) in [
        (4000_u64, 256_u64, 157_u64, 1e-4),
        (10, 1, 3, 0.01),
        (1000, 900, 10, 1e-9),
        (50, 25, 1, 0.5),
    ] {
        let training =
            Training { batch, sampler: Sampler::Poisson, ..Training::full_batch(0.1, steps, n) };
        let cap = BatchCap::of(&training, failure).unwrap();
        let largest = (cap.ratio() * batch as f64).round() as u64;
        let law = dpbounds_bounds::special::Binomial::new(n as f64, batch as f64 / n as f64);
        let tail = |k: u64| (k + 1..=n).map(|j| law.log_mass(j as f64).exp()).sum::<f64>();
        assert!(steps as f64 * tail(largest) <= failure, "{n} {batch}");
        assert!(largest == batch || steps as f64 * tail(largest - 1) > failure, "{n} {batch}");
    }
}

#[test]
fn the_catalogue_answers_with_the_same_numbers() {
    let evaluate = |name: &str, pairs: &[(&'static str, f64)]| {
        let entry = dpbounds_bounds::catalogue::find(name).unwrap();
        let inputs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| ((*name).into(), CatalogueValue::Number(*value)))
            .collect();
        entry.evaluate(&Arguments::new(entry, &inputs).unwrap()).unwrap().value.unwrap()
    };
    let row = &rows("route_S")[1];
    let a = flat(&row["args"]);
    let common = [("G", a[0]), ("nu", a[1]), ("tau", a[2]), ("loss", a[3]), ("eta", a[4])];
    let mut pairs = common.to_vec();
    pairs.extend([("T", a[5]), ("lambda", a[6]), ("noise", a[7]), ("N", a[8]), ("m", a[9])]);
    pairs.extend([("K", a[10]), ("delta", 4.0 * a[11])]);
    near_key(evaluate("kan_theorem_s", &pairs), &row["out"], "bound");
    let row = &rows("route_SGD")[0];
    let a = flat(&row["args"]);
    let pairs =
        [("G", a[0]), ("nu", a[1]), ("tau", a[2]), ("loss", a[3]), ("eta", a[4]), ("T", a[5])];
    near_key(evaluate("kan_theorem_s_gd", &pairs), &row["out"], "bound");
    let p = certificate_p_of(&rows("route_P")[1]);
    let (l, t) = (p.landscape, p.training);
    let mut pairs = vec![("G", l.gradient), ("nu", l.curvature), ("tau", 5.0), ("loss", 0.05)];
    pairs.extend([("eta", t.step_size), ("T", 2000.0), ("B", 1000.0), ("n", 1e4), ("N", 1e6)]);
    pairs.extend([("lambda", t.lambda), ("noise", t.noise), ("delta", 0.03)]);
    let smoothness = l.gradient * l.gradient / 4.0 + l.curvature;
    let landscape = Landscape { smoothness, ..l };
    let tight = certificate_p(&CertificateP { landscape, form: PaperForm::Tight, ..p }).unwrap();
    near(evaluate("kan_certificate_p", &pairs), tight.bound.value.unwrap(), "P");
    let row = &rows("route_D")[1];
    let d = certificate_d_of(row);
    let (l, t) = (d.landscape, d.training);
    let mut pairs = vec![("G", l.gradient), ("nu", l.curvature), ("tau", 4.0), ("loss", 0.05)];
    pairs.extend([("eta", t.step_size), ("T", 2000.0), ("B", 1000.0), ("n", 1e5), ("N", 4e5)]);
    pairs.extend([("noise", t.noise), ("radius", 4.0), ("delta", 0.004)]);
    near_key(evaluate("kan_certificate_d", &pairs), &row["out"], "bound");
}
