//! `dpbounds bound kan certificate` as a user meets it.

use serde_json::Value as Json;

use crate::support::{answer, directory, dpbounds, stderr};

const V: &str = "bound kan certificate --degree 1 --size 2 --init greville";

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn results(line: &str) -> Vec<Json> {
    let document: Json =
        serde_json::from_str(&answer(&words(&format!("{line} --format json")))).unwrap();
    document["results"].as_array().unwrap().clone()
}

fn value(result: &Json) -> f64 {
    result["value"].as_f64().unwrap_or(f64::NAN)
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn the_reference_configurations_are_certified() {
    // With the comparator and the pieces of the reference.
    for (line, expected) in [
        (
            "--data atoms:A4,n=4000 --width 2000 --route s-gd --eta 0.5164354968221574 --steps 645 \
             --horizon 333.1008954502915",
            0.260_194_028_177_900_27,
        ),
        (
            "--data atoms:A4,n=1e6 --width 2000 --route s --eta 0.5153287239384594 --steps 252 \
             --horizon 129.86283843249177 --noise 2e-4 --lambda 0.5",
            0.488_641_350_033_304_67,
        ),
        (
            "--data atoms:A4,n=1e6 --width 2000 --route s --eta 0.5153287239384594 --steps 252 \
             --horizon 129.86283843249177 --noise 2e-4 --lambda 0.5 --claim expectation",
            0.541_134_765_054_954_6,
        ),
        (
            "--data atoms:A4,n=4000 --width 5000 --route s --eta 0.5164636784532156 --steps 157 \
             --horizon 81.08479751715485 --sampler poisson --batch 256 --population --delta-size 1e-4",
            0.671_997_278_424_336_2,
        ),
    ] {
        let result = &results(&format!("{V} {line} --pieces 8"))[0];
        near(value(result), expected);
        assert_eq!(result["warrant"]["kind"], "proven");
        assert!(result["upper"].as_f64().unwrap() >= value(result));
        let checks = result["checks"].as_array().unwrap();
        assert!(checks.len() >= 2 && checks.iter().all(|check| check["holds"] == true));
        assert!(checks.iter().all(|check| check["slack"].as_f64().unwrap() >= 0.0));
    }
}

#[test]
fn routes_guarantees_and_sweeps_are_told_apart() {
    let line = format!(
        "{V} --data atoms:A4,n=4000 --width 2000,5000 --eta 0.25 --steps 300 --sampler fixed --batch 64"
    );
    let rows = results(&line);
    assert_eq!(rows.len(), 2);
    assert!(value(&rows[1]) < value(&rows[0]));
    assert_eq!(rows[0]["inputs"]["route"], "S");
    assert!(rows[0]["source"]["statement"].as_str().unwrap().contains("except with probability"));
    let mean = results(&format!("{line} --claim expectation"));
    assert_eq!(mean[0]["quantity"], "expected_average_training_risk");
    assert!(value(&mean[0]) < value(&rows[0]));
    let csv = answer(&words(&format!("{line} --format csv")));
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.starts_with("data,n,d,width") && csv.contains("tau"));
    // What was found can be given again.
    let found = &results(&format!("{V} --data atoms:A4,n=4000 --width 2000"))[0];
    let inputs = &found["inputs"];
    let again = format!(
        "{V} --data atoms:A4,n=4000 --width 2000 --eta {} --steps {} --horizon {} --projection {} --route s-gd",
        inputs["eta"], inputs["steps"], inputs["horizon"], inputs["projection"]
    );
    near(value(&results(&again)[0]), value(found));
}

#[test]
fn what_the_data_chose_voids_the_privacy_of_a_run() {
    let line = format!("{V} --data atoms:A4,n=1e6 --width 2000 --kappa 205 --lambda 0.5");
    let notes = |options: &str| {
        let result = &results(&format!("{line} {options}"))[0];
        (result["inputs"]["privacy"].clone(), result["notes"].to_string())
    };
    let (privacy, text) = notes("--max-steps 700");
    assert!(privacy == "void" && text.contains("claim of privacy is void"), "{text}");
    let (privacy, text) = notes("--eta 0.515 --steps 252");
    assert!(privacy == "void" && text.contains("radius was chosen"), "{text}");
    let (privacy, text) = notes("--eta 0.515 --steps 252 --projection 20");
    assert!(privacy == "conditional" && text.contains("accountant"), "{text}");
    let scaled = results(
        "bound kan certificate --data iris --width 64 --degree 1 --size 2 --init greville --kappa 1 \
         --eta 0.2 --steps 5 --projection 50 --horizon 3",
    );
    assert_eq!(scaled[0]["inputs"]["privacy"], "void");
}

#[test]
fn no_certificate_is_no_number_and_says_what_would_help() {
    let line = format!("{V} --data atoms:A4,n=4000 --width 200 --eta 0.5 --steps 600 --route s");
    let result = &results(&line)[0];
    assert!(result["value"].is_null() && result["upper"].is_null());
    assert!(result["reason"].as_str().unwrap().contains("coef"));
    assert!(result["terms"].as_array().unwrap().is_empty());
    let notes = result["notes"].to_string();
    assert!(notes.contains("estimate, no guarantee: a width of about"), "{notes}");
    assert!(notes.contains("proven to work: --eta"), "{notes}");
    let table = answer(&words(&line));
    assert!(table.contains("none") && table.contains("NO") && table.contains("estimate"));
    let vacuous = answer(&words(&format!(
        "{V} --data atoms:A4,n=4000 --width 2000 --route p --eta 0.3 --steps 20"
    )));
    assert!(vacuous.contains("vacuous"), "{vacuous}");
}

#[test]
fn bad_questions_are_refused_in_one_line() {
    let folder = directory();
    let path = folder.path().join("both.csv");
    std::fs::write(&path, "x,label\n0.5,-1\n0.5,1\n-0.2,-1\n0.9,1\n").unwrap();
    let base = "bound kan certificate --data atoms:A4,n=4000 --init greville";
    for (options, said) in [
        ("--width 20 --degree 1 --size 3", "kinks"),
        ("--width 1e9 --degree 1 --size 2", "GiB"),
        ("--width 2000 --degree 1 --size 2 --lambda 1.5", "lambda = 1.5"),
        ("--width 2000 --degree 1 --size 2 --route p --sampler poisson --batch 9", "Poisson"),
        ("--width 2000 --degree 1 --size 2 --route d --sampler poisson --batch 9", "Poisson"),
        (
            "--width 2000 --degree 1 --size 2 --route p --population --sampler poisson --batch 9",
            "Poisson",
        ),
        ("--width 2000 --degree 1 --size 2 --sampler stream --batch 9", "stream"),
        ("--width 2000 --degree 1 --size 2 --sampler fixed", "--batch"),
        ("--width 2000 --degree 1 --size 2 --batch 9", "full batch"),
        ("--width 2000 --degree 1 --size 2 --sampler fixed --batch 5000", "batch = 5000"),
        ("--width 2000 --degree 1 --size 2 --kappa 1 --clip none", "clip: missing"),
        ("--width 2000 --degree 1 --size 2 --kappa -1", "kappa = -1"),
        ("--width 2000 --degree 1 --size 2 --delta 2", "(0, 1)"),
        ("--width 2000 --degree 1 --size 2 --eta 0", "eta = 0"),
        ("--width 2000 --degree 1 --size 2 --steps 0", "steps = 0"),
        ("--width 2000 --degree 1 --size 2 --horizon -1", "horizon = -1"),
        ("--width 2000 --degree 1 --size 2 --projection big", "needed"),
        ("--width 2001 --degree 1 --size 2", "even"),
        ("--width 2000 --degree 1 --size 2 --route d --projection none", "projection"),
        (
            "--width 2000 --degree 1 --size 2 --kappa 1 --claim expectation --projection none",
            "projection",
        ),
        ("--width 2000 --degree 1 --size 2 --max-steps 1", "max-steps: no allowed"),
        ("--width 2000 --degree 1 --size 2 --eta 1e300", "eta = 1e300"),
        ("--width 2000 --degree 1 --size 2 --eta 1e-300", "eta = 1e-300"),
        ("--width 2000 --degree 1 --size 2 --noise 1e300", "noise = 1e300"),
        ("--width 2000 --degree 1 --size 2 --kappa 1e300", "kappa = 1e300"),
        ("--width 2000 --degree 1 --size 2 --clip 1e300", "clip = 1e300"),
        ("--width 2000 --degree 1 --size 2 --projection 1e300", "projection = 1e300"),
        ("--width 2000 --degree 1 --size 2 --horizon 1e300", "horizon = 1e300"),
        ("--width 2000 --degree 1 --size 2 --delta-size 0", "delta-size = 0"),
        ("--width 2000 --degree 1 --size 2 --pieces 0", "pieces = 0"),
    ] {
        let output = dpbounds(&words(&format!("{base} {options}")));
        assert_eq!(output.status.code(), Some(2), "{options}");
        assert!(stderr(&output).contains(said), "{options}: {}", stderr(&output));
        assert!(stderr(&output).starts_with("error: "), "{options}");
    }
    let line = format!("{V} --data {} --width 200", path.display());
    let output = dpbounds(&words(&format!("{line} --population")));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("support"), "{}", stderr(&output));
    // Contradictions are certified, and told.
    assert!(answer(&words(&line)).contains("both labels"));
}

#[test]
fn a_hypothesis_that_fails_is_named_with_the_nearest_setting_that_works() {
    let line = format!("{V} --data atoms:A4,n=4000 --width 2000");
    for (options, reason, remedy) in [
        ("--clip 0.5 --eta 0.3 --steps 20", "C_clip >= G (needs 0.5", "--clip "),
        ("--projection 2 --eta 0.3 --steps 20 --route s", "R_* >= radius", "--projection "),
        ("--population --eta 0.5 --steps 3000 --route s-gd", "stability closes", "--eta "),
        ("--eta 1e30", "coef = 2 eta", "--eta "),
    ] {
        let result = &results(&format!("{line} {options}"))[0];
        assert!(result["value"].is_null(), "{options}");
        assert!(result["reason"].as_str().unwrap().contains(reason), "{options}: {result}");
        let notes = result["notes"].as_array().unwrap();
        let note = notes
            .iter()
            .filter_map(|note| note.as_str()?.strip_prefix("proven to work: "))
            .find(|note| note.starts_with(remedy))
            .unwrap_or_else(|| panic!("{options}: {notes:?}"));
        // The setting that is named takes the place of the given one, and works.
        let nearest = note.split(" or ").next().unwrap().split(" (").next().unwrap();
        let mut again: Vec<&str> = options.split_whitespace().collect();
        for pair in nearest.split_whitespace().collect::<Vec<_>>().chunks(2) {
            if let Some(place) = again.iter().position(|word| *word == pair[0]) {
                again.drain(place..place + 2);
            }
            again.extend(pair);
        }
        let mended = &results(&format!("{line} {}", again.join(" ")))[0];
        assert!(value(mended).is_finite(), "{options}: {again:?}: {mended}");
    }
    // A private run is told that a schedule found on the data is none that it may use.
    let private = results(&format!("{line} --kappa 1 --eta 30 --steps 20 --projection 20"));
    let notes = private[0]["notes"].to_string();
    assert!(notes.contains("proven to work: --eta") && notes.contains("voids a claim"), "{notes}");
}

#[test]
fn the_ends_of_every_range_are_evaluated() {
    let line = format!("{V} --data atoms:A4,n=4000 --width 2000");
    for options in [
        "--eta 1e30",
        "--eta 1e-30 --steps 9e15",
        "--noise 1e30 --eta 1e30 --steps 9e15",
        "--noise 1e30 --eta 1e30 --steps 9e15 --lambda 1",
        "--kappa 1e30 --population",
        "--projection 1e30 --route d",
        "--projection 1e30 --kappa 1 --claim expectation",
        "--projection 1e-30",
        "--clip 1e-30",
        "--horizon 1e30",
        "--horizon 1e-30",
    ] {
        let found = &results(&format!("{line} {options}"))[0];
        let kind = found["warrant"]["kind"].as_str().unwrap_or_default();
        assert!(found["value"].is_null() || kind == "proven", "{options}: {found}");
        assert_eq!(found["value"].is_null(), found["reason"].is_string(), "{options}: {found}");
    }
}
