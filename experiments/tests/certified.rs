//! The reference configurations: certified, trained, and the measured risk below the certified one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write;
use std::sync::LazyLock;
use std::time::Instant;

use dpbounds_bounds::kan::certificates::Claim;
use dpbounds_experiments::run::{
    Finished, Judgement, Plan, Spec, Standing, built_in, run_in_memory,
};
use serde_json::Value;

static REFERENCE: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let all: Value = serde_json::from_str(include_str!("../../tests/oracles/kan.json")).unwrap();
    all["reference"].as_array().unwrap().clone()
});

fn run(text: &str) -> Finished {
    let plan = Plan::new("reference", &Spec::parse("reference", text).unwrap()).unwrap();
    run_in_memory(&plan, "reference", None, &|_, _| {}).unwrap()
}

/// The judgement of a claim, printed and checked.
fn below(name: &str, finished: &Finished, claim: Claim) -> Judgement {
    let one = finished.judgements.iter().find(|one| one.claim == claim).unwrap().clone();
    assert_eq!(one.standing, Standing::Below, "{name}: {one:?}");
    let (measured, certified) = (one.measured.unwrap(), one.certified.unwrap());
    assert_eq!(one.above, 0, "{name}: every single run is below");
    assert!(measured <= certified, "{name}: {measured} above {certified}");
    eprintln!(
        "{name}, {}: measured {measured:.5} / certified {certified:.5} = {:.3}",
        claim.name(),
        one.ratio.unwrap()
    );
    one
}

fn near(found: f64, expected: f64, relative: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < relative, "{what}: {found} {expected}");
}

/// The file of a row: its schedule and comparator, and bounds of derivatives on eighths of a span as in the reference.
fn file(row: &Value) -> String {
    let (setup, cfg, cert) = (&row["setup"], &row["cfg"], &row["cert"]);
    let random = cfg["sampler"] != "full" || cfg["cp"].is_f64();
    let population = cfg["pop"] == true;
    let mut text = format!(
        "name = \"{}\"\nseeds = {}\n[data]\nname = \"atoms:{},n={}\"\n[model]\ndegree = {}\nsize = {}\nwidth = {}\ninit = {}\n\
         [algorithm]\nsampler = {}\nsteps = {}\nstep_size = {}\n",
        row["name"].as_str().unwrap(),
        if random { 2 } else { 1 },
        setup["atoms"].as_str().unwrap(),
        cfg["n"],
        setup["deg"],
        setup["p"],
        setup["m"],
        setup["init"],
        cfg["sampler"],
        cert["T"],
        cert["eta"],
    );
    if cfg["sampler"] != "full" {
        writeln!(text, "batch = {}", cfg["B"]).unwrap();
    }
    if let Some(noise) = cfg["cp"].as_f64() {
        text += &noisy(
            noise,
            cfg["lam"].as_f64().unwrap(),
            cfg["B"].as_f64().unwrap(),
            row["G"].as_f64().unwrap(),
        );
    }
    if random && population {
        let radius = cert["S"]["Rstar"].as_f64().unwrap() * (1.0 + 1e-9);
        writeln!(text, "radius = {radius}").unwrap();
    }
    let route = if cfg["kind"] == "SGD" { "s-gd" } else { "s" };
    let claims = if population && cfg["sampler"] != "full" {
        "[\"population\", \"expectation\", \"probability\"]"
    } else if population {
        "[\"population\"]"
    } else {
        "[\"probability\"]"
    };
    write!(
        text,
        "[measure]\npopulation = {population}\n[certificate]\nroute = \"{route}\"\nclaims = {claims}\nhorizons = [{}]\npieces = 8\n",
        cert["s"]
    )
    .unwrap();
    if let Some(size) = cfg["dN"].as_f64() {
        writeln!(text, "delta_size = {size}").unwrap();
    }
    if let Some(parts) = cfg["dl"].as_array() {
        writeln!(text, "delta = {}", 4.0 * parts[0].as_f64().unwrap()).unwrap();
    }
    text
}

/// Clipping at the gradient bound, and κ so that `c = C κ/B`.
fn noisy(noise: f64, lambda: f64, batch: f64, gradient: f64) -> String {
    let clip = gradient * (1.0 + 1e-9);
    format!("clip = {clip}\nkappa = {}\nlambda = {lambda}\n", noise * batch / clip)
}

fn reproduce(row: &Value) {
    let name = row["name"].as_str().unwrap();
    let started = Instant::now();
    let finished = run(&file(row));
    let seconds = started.elapsed().as_secs_f64();
    let random = finished.records.len() > 1;
    let reference: Vec<f64> =
        row["runs"].as_array().unwrap().iter().map(|run| run["avg_LS"].as_f64().unwrap()).collect();
    #[allow(clippy::cast_precision_loss)]
    let measured = reference.iter().sum::<f64>() / reference.len() as f64;
    let tolerance = if random { 2e-3 / measured } else { 1e-6 };
    for one in &finished.judgements {
        let one = below(name, &finished, one.claim);
        let key = match one.claim {
            Claim::Expectation => "expect",
            Claim::Probability if row["cfg"]["sampler"] != "full" => "hp",
            _ => "val",
        };
        near(one.certified.unwrap(), row["cert"][key].as_f64().unwrap(), 1e-6, name);
        // Balanced samples: the population risk is the empirical one.
        near(one.measured.unwrap(), measured, tolerance, name);
    }
    let clipped = |run: &dpbounds_experiments::run::Record| run.outcome.as_ref().unwrap().clipped;
    assert!(finished.records.iter().all(|run| clipped(run) == 0));
    eprintln!("{name}: certified and trained {} times in {seconds:.2} s", finished.records.len());
}

fn reproduce_all(choose: impl Fn(u64) -> bool) {
    let chosen = REFERENCE.iter().filter(|row| choose(row["setup"]["m"].as_u64().unwrap()));
    let count = chosen.inspect(|row| reproduce(row)).count();
    assert!(count >= 4);
}

#[test]
fn small_reference_configurations_stay_below_their_certificates() {
    reproduce_all(|width| width <= 20_000);
}

#[test]
#[ignore = "about a minute; networks of 100,000 units"]
fn wide_reference_configurations_stay_below_their_certificates() {
    reproduce_all(|width| width > 20_000);
}

#[test]
#[ignore = "half a minute; networks of 100,000 units"]
fn wide_configurations_that_the_oracle_leaves_out_stay_below_their_certificates() {
    for (name, init, steps, horizon, certified, measured) in [
        ("g4", "gaussian", 203, 207.984_200_764_335_78, 0.602_006_867_056_037_5, 0.1950),
        ("a2", "antithetic", 238, 243.339_249_236_906, 0.489_744_838_781_248_25, 0.1613),
    ] {
        let text = format!(
            "name = \"{name}\"\nseeds = 1\n[data]\nname = \"atoms:A4,n=4000\"\n[model]\ndegree = 1\nsize = 2\nwidth = 100000\n\
             init = \"{init}\"\n[algorithm]\nsampler = \"full\"\nsteps = {steps}\nstep_size = {}\n[certificate]\nroute = \"s\"\n\
             horizons = [{horizon}]\npieces = 8\n",
            horizon / f64::from(steps)
        );
        let one = below(name, &run(&text), Claim::Probability);
        near(one.certified.unwrap(), certified, 1e-6, name);
        // To the digits of the table.
        assert!((one.measured.unwrap() - measured).abs() < 1e-4, "{name}");
    }
}

#[test]
fn noise_on_a_million_records_stays_below_the_certificate() {
    // v3 and v4; the certified values are the prototype's.
    for (lambda, expected) in [(0.5, 0.488_641_350_033_304_67), (0.0, 0.486_804_091_671_684_6)] {
        let text = format!(
            "name = \"v3\"\nseeds = 3\n[data]\nname = \"atoms:A4,n=1000000\"\n[model]\ndegree = 1\nsize = 2\nwidth = 2000\n\
             init = \"greville\"\n[algorithm]\nsampler = \"full\"\nsteps = 252\nstep_size = 0.5153287239384594\n{}\
             [certificate]\nroute = \"s\"\nhorizons = [129.86283843249177]\npieces = 8\n",
            noisy(2e-4, lambda, 1e6, 0.975_320_460_157_533_3)
        );
        let finished = run(&text);
        let one = below("v3, v4", &finished, Claim::Probability);
        near(one.certified.unwrap(), expected, 1e-6, "v3, v4");
        near(one.measured.unwrap(), 0.1534, 2e-3 / 0.1534, "v3, v4");
        near(one.failure.unwrap(), 4e-3, 1e-9, "v3, v4");
        assert_eq!(finished.records[0].n, 1_000_000);
    }
}

#[test]
fn counted_records_are_trained_as_if_they_were_written_out() {
    // Four atoms, 2000 times each, as one full batch of counted records; and a full batch of as many records from a list
    // in which no two are counted as one: Poisson batches in which every record joins.
    let text = |sampler: &str| {
        format!(
            "name = \"t\"\nseeds = [3]\n[data]\nname = \"atoms:A4,n=8000\"\n[model]\ndegree = 3\nsize = 5\nwidth = 40\n\
             init = \"antithetic\"\n[algorithm]\nsampler = \"{sampler}\"\nbatch = 8000\nsteps = 30\nstep_size = 0.8\nclip = 0.1\n\
             kappa = 400\nlambda = 0.5\nradius = 3\n[measure]\npopulation = true\nnoise = true\n"
        )
    };
    let [counted, written] =
        ["full", "poisson"].map(|sampler| run(&text(sampler)).records[0].outcome.clone().unwrap());
    let same = |one: f64, other: f64| assert!((one - other).abs() < 1e-11, "{one} {other}");
    same(counted.averaged_risk.value(), written.averaged_risk.value());
    same(counted.final_risk, written.final_risk);
    same(counted.distance, written.distance);
    same(counted.noise_norm.unwrap(), written.noise_norm.unwrap());
    same(counted.accuracy, written.accuracy);
    assert!(counted.clipped > 0 && written.clipped == 2000 * counted.clipped);
    assert_eq!(counted.projected, written.projected);
}

fn built_in_stays_below(name: &str, quick: bool) -> Finished {
    let spec = built_in(name).unwrap().spec().unwrap();
    let spec = if quick { spec.quick() } else { spec };
    let finished = run_in_memory(&Plan::new(name, &spec).unwrap(), name, None, &|_, _| {}).unwrap();
    for one in &finished.judgements {
        assert_ne!(one.standing, Standing::Violated, "{one:?}");
        eprintln!("{name}: {one:?}");
    }
    assert!(finished.judgements.iter().any(|one| one.standing == Standing::Below));
    finished
}

#[test]
fn the_experiments_inside_the_program_stay_below() {
    for name in [
        "certified-full-batch",
        "certified-mini-batch",
        "certified-private",
        "certified-population",
    ] {
        let finished = built_in_stays_below(name, true);
        assert!(finished.judgements.iter().all(|one| one.standing == Standing::Below), "{name}");
    }
}

#[test]
#[ignore = "minutes: trains on all 569 records of the breast cancer data"]
fn real_data_stay_below_their_certificates() {
    // The numbers are the prototype's.
    for (shape, steps, horizon, certified, measured) in [
        ("degree = 1\nsize = 2\nwidth = 2048", 263, 79.506_574_367_427_79, 0.6450, 0.5427),
        ("degree = 3\nsize = 4\nwidth = 4096", 421, 158.685_552_776_586_5, 0.5964, 0.4683),
    ] {
        let text = format!(
            "name = \"real\"\nseeds = 1\n[data]\nname = \"breast-cancer\"\nscale = \"squash\"\n[model]\n{shape}\n\
             init = \"greville\"\n[algorithm]\nsampler = \"full\"\nsteps = {steps}\nstep_size = {}\n[certificate]\n\
             route = \"s-gd\"\nhorizons = [{horizon}]\npieces = 8\n",
            horizon / f64::from(steps)
        );
        let one = below("breast cancer", &run(&text), Claim::Probability);
        assert!((one.certified.unwrap() - certified).abs() < 1e-4);
        assert!((one.measured.unwrap() - measured).abs() < 1e-4);
    }
    built_in_stays_below("certified-real", false);
}
