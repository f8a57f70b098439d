//! `dpbounds certify` as a user meets it.

use std::path::Path;

use serde_json::Value as Json;

use crate::support::{directory, dpbounds, stderr, stdout};

/// Small and quick.
const SMALL: &[&str] = &["--width", "4", "--degree", "2", "--posterior-steps", "6", "--draws", "5"];

fn certify(out: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let words = ["certify", "--out", out.to_str().unwrap()];
    let output = dpbounds(&[&words, SMALL, options].concat());
    (output.status.code(), stdout(&output), stderr(&output))
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

fn check(file: &Path) -> (Option<i32>, String, String) {
    let output = dpbounds(&["certify", "--check", file.to_str().unwrap()]);
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn all_methods_are_certified_tabulated_drawn_and_checked() {
    let folder = directory();
    let out = folder.path().join("out");
    let options = ["--data", "digits", "--classes", "0,1", "--seeds", "2", "--format", "json"];
    let (code, text, message) = certify(&out, &options);
    assert_eq!(code, Some(0), "{message}");
    let table: Json = serde_json::from_str(&text).unwrap();
    let rows = table["certificates"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["prior"].as_str().unwrap()).collect();
    assert_eq!(names, ["data-independent", "streaming", "poisson", "correlated"]);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("B(rho)") > number("R^(rho)") && number("B(rho)") <= 1.0, "{row}");
        assert!(number("delta a seed") <= 0.05 + 1e-12 && number("seeds") == 2.0, "{row}");
        assert_eq!(row["B(h0)"].is_null(), row["prior"] == "data-independent", "{row}");
    }
    for name in ["summary.csv", "certificates.png", "certificates.svg", "certificates.jsonl"] {
        assert!(out.join(name).metadata().unwrap().len() > 100, "{name}");
    }
    for method in names {
        for seed in 0..2 {
            let (code, text, message) = check(&out.join(format!("{method}-seed{seed}.json")));
            assert_eq!(code, Some(0), "{text}{message}");
            assert!(text.contains("weights checksum") && !text.contains("NO"), "{text}");
        }
    }
}

/// Labels of test records turned around: every byte of certificates and weights stays.
#[test]
fn the_certificate_never_sees_the_test_set() {
    let folder = directory();
    let table = |path: &Path, sign: i32, shift: usize| {
        let mut text = "x1,x2,label\n".to_owned();
        for row in 0..40 {
            let (x, y) = (f64::from(row) / 50.0 - 0.4, f64::from((row * 7) % 40) / 50.0 - 0.4);
            let label = if x > 0.0 { sign } else { -sign };
            text += &format!("{},{y},{label}\n", x + 0.001 * shift as f64);
        }
        std::fs::write(path, text).unwrap();
    };
    let [sample, test] = ["sample.csv", "test.csv"].map(|name| folder.path().join(name));
    table(&sample, 1, 0);
    let out = folder.path().join("out");
    let run = |sign| {
        table(&test, sign, 1);
        let data = ["--data", sample.to_str().unwrap(), "--test", test.to_str().unwrap()];
        let (code, text, message) =
            certify(&out, &[&data[..], &["--seeds", "1", "--format", "csv"]].concat());
        assert_eq!(code, Some(0), "{message}");
        let files = ["data-independent", "streaming", "poisson", "correlated"].map(|method| {
            let name = |end: &str| out.join(format!("{method}-seed0.{end}"));
            (read(&name("json")), read(&name("weights")))
        });
        std::fs::remove_dir_all(&out).unwrap();
        (text, files)
    };
    let ((text, files), (turned_text, turned_files)) = (run(1), run(-1));
    assert!(files == turned_files, "a certificate depends on the test labels");
    assert_ne!(text, turned_text, "the test errors are those of the test labels");
}

#[test]
fn an_interrupted_run_goes_on_and_other_settings_are_refused() {
    let folder = directory();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    let data = ["--data", "iris", "--seeds", "2", "--method", "streaming"];
    let with = |out: &Path, more: &[&str]| certify(out, &[&data[..], more].concat());
    assert_eq!(with(&one, &["--threads", "1"]).0, Some(0));
    assert_eq!(with(&two, &["--threads", "2"]).0, Some(0));
    let names = ["streaming-seed0.weights", "streaming-seed1.weights"];
    for name in names {
        assert!(read(&one.join(name)) == read(&two.join(name)), "{name}");
    }
    // Killed while the second certificate was being written down.
    let lines = String::from_utf8(read(&one.join("certificates.jsonl"))).unwrap();
    let first = lines.lines().find(|line| line.contains("seed0")).unwrap();
    std::fs::write(one.join("certificates.jsonl"), format!("{first}\n{{\"key\": \"half")).unwrap();
    std::fs::remove_file(one.join("streaming-seed1.json")).unwrap();
    let (code, _, message) = with(&one, &[]);
    assert_eq!(code, Some(2));
    assert!(message.contains("--resume"), "{message}");
    assert_eq!(with(&one, &["--resume"]).0, Some(0));
    for name in names {
        assert!(read(&one.join(name)) == read(&two.join(name)), "{name}");
    }
    assert!(one.join("streaming-seed1.json").is_file());
    let (code, _, message) = with(&one, &["--resume", "--delta", "0.1"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("other settings"), "{message}");
}

/// Images of three classes in IDX files: dark, bright on the left, bright on the right.
#[test]
fn a_dense_network_takes_all_classes_of_images() {
    let folder = directory();
    let [images, labels] = ["images", "labels"].map(|name| folder.path().join(name));
    let count = 240_u32;
    let mut bytes: Vec<u8> = [0x803, count, 4, 4].iter().flat_map(|n| n.to_be_bytes()).collect();
    let mut classes: Vec<u8> = [0x801, count].iter().flat_map(|n| n.to_be_bytes()).collect();
    for image in 0..count {
        let class = image % 3;
        classes.push(u8::try_from(class).unwrap());
        for pixel in 0..16 {
            let bright = class > 0 && (pixel % 4 < 2) == (class == 1);
            let noise = u8::try_from((image * 7 + pixel * 13) % 50).unwrap();
            bytes.push(if bright { 200 + noise } else { noise });
        }
    }
    std::fs::write(&images, bytes).unwrap();
    std::fs::write(&labels, classes).unwrap();
    let out = folder.path().join("out");
    let (images, labels) = (images.to_str().unwrap(), labels.to_str().unwrap());
    let data = ["certify", "--data", images, "--labels", labels, "--network", "dense"];
    let run = |more: &[&str]| {
        let output = dpbounds(&[&data[..], &["--out", out.to_str().unwrap()], more].concat());
        (output.status.code(), stdout(&output), stderr(&output))
    };
    let (code, text, message) =
        run(&["--hidden", "8", "--seeds", "1", "--posterior-steps", "40", "--format", "csv"]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 4, "{text}");
    for method in ["data-independent", "streaming", "poisson"] {
        let (code, text, message) = check(&out.join(format!("{method}-seed0.json")));
        assert_eq!(code, Some(0), "{text}{message}");
    }
    for (more, part) in [
        (&["--width", "8"][..], "--hidden"),
        (&["--hidden", "0"], "hidden units is 0"),
        (&["--method", "correlated"], "method is correlated"),
    ] {
        let _ = std::fs::remove_dir_all(&out);
        let (code, _, message) = run(more);
        assert!(code == Some(2) && message.contains(part), "{more:?}: {message}");
    }
    let (code, _, message) = certify(&out, &["--data", "digits", "--hidden", "8"]);
    assert!(code == Some(2) && message.contains("--network kan"), "{message}");
}

#[test]
fn what_was_tampered_with_does_not_check() {
    let folder = directory();
    let out = folder.path().join("out");
    let options = ["--data", "iris", "--seeds", "1", "--method", "poisson"];
    assert_eq!(certify(&out, &options).0, Some(0));
    let file = out.join("poisson-seed0.json");
    let good = String::from_utf8(read(&file)).unwrap();
    let fails = |from: &str, to: &str, part: &str| {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        std::fs::write(&file, text).unwrap();
        let (code, table, message) = check(&file);
        assert_eq!(code, Some(1), "{from}: {table}{message}");
        assert!(message.contains(part), "{from}: {message}");
    };
    let json: Json = serde_json::from_str(&good).unwrap();
    let number = |path: &str| json.pointer(path).unwrap().to_string();
    let entry = |key: &str, path: &str| format!("\"{key}\": {}", number(path));
    let errors = entry("model_errors", "/ingredients/model_errors");
    fails(&errors, "\"model_errors\": 0", "training errors");
    let draws = entry("gibbs_errors", "/ingredients/gibbs_errors");
    fails(&draws, "\"gibbs_errors\": 0", "errors among the draws");
    fails(&entry("kl", "/ingredients/kl"), "\"kl\": 1e-3", "divergence");
    let bound = entry("posterior_bound", "/certified/posterior_bound");
    fails(&bound, "\"posterior_bound\": 0.01", "B(rho)");
    let kappa = entry("max_information", "/certified/max_information");
    fails(&kappa, "\"max_information\": 1.0", "max-information");
    let noise = entry("noise_multiplier", "/settings/priors/0/noise_multiplier");
    fails(&noise, "\"noise_multiplier\": 1e6", "settings of the private prior");
    let records = entry("records", "/ingredients/records");
    let all = good.replace(&records, "\"records\": 1000000");
    std::fs::write(&file, all).unwrap();
    assert_eq!(check(&file).0, Some(1));
    fails(&json["sample"]["checksum"].to_string(), "\"00\"", "data checksum");
    std::fs::write(&file, &good).unwrap();
    assert_eq!(check(&file).0, Some(0));
    let again = dpbounds(&["certify", "--check", file.to_str().unwrap(), "--retrain"]);
    assert!(stdout(&again).contains("trained again"), "{}", stderr(&again));
    assert_eq!(again.status.code(), Some(0));
    let weights = out.join("poisson-seed0.weights");
    let mut bytes = read(&weights);
    bytes[5] ^= 1;
    std::fs::write(&weights, &bytes).unwrap();
    let (code, _, message) = check(&file);
    assert!(code == Some(1) && message.contains("weights checksum"), "{message}");
    std::fs::write(&weights, &bytes[..8]).unwrap();
    let (code, _, message) = check(&file);
    assert!(code == Some(2) && message.contains("8 bytes"), "{message}");
}

#[test]
fn wrong_input_is_refused_in_a_line() {
    let folder = directory();
    let one_class = folder.path().join("one.csv");
    std::fs::write(&one_class, "x1,label\n0.1,1\n0.2,1\n0.3,1\n").unwrap();
    let one_class = one_class.to_str().unwrap();
    let three = folder.path().join("three.csv");
    std::fs::write(&three, "x1,label\n0.1,a\n0.2,b\n0.3,c\n").unwrap();
    let three = three.to_str().unwrap();
    let digits = |more: &[&'static str]| [&["--data", "digits", "--classes", "0,1"], more].concat();
    let cases: Vec<(Vec<&str>, &str)> = vec![
        (vec!["--data", one_class], "one class"),
        (vec!["--data", three], "3 classes"),
        (vec!["--data", "digitz"], "neither a data set nor a file"),
        (digits(&["--batch", "1000", "--method", "streaming"]), "batch is 1000"),
        (digits(&["--steps", "10", "--batch", "100", "--method", "streaming"]), "each record once"),
        (digits(&["--steps", "2,4", "--method", "streaming"]), "each record once"),
        (digits(&["--delta", "0"]), "delta"),
        (digits(&["--width", "3"]), "width is 3"),
        (digits(&["--noise-multiplier", "-1", "--method", "poisson"]), "noise multiplier is -1"),
        (digits(&["--lambda", "0.5", "--method", "poisson"]), "--lambda"),
        (digits(&["--steps", "5", "--method", "data-independent"]), "data-independent"),
        (digits(&["--posterior-rate", "1e30", "--method", "data-independent"]), "diverged"),
        (digits(&["--max-information", "0", "--method", "poisson"]), "max-information"),
        (digits(&["--test-share", "1.5"]), "test share"),
        (digits(&["--steps", "1e12", "--method", "streaming"]), "--steps 1000000000000"),
        (digits(&["--test", "digits"]), "also in the sample"),
    ];
    for (options, part) in cases {
        let out = folder.path().join("refused");
        let words = [&["certify", "--out", out.to_str().unwrap()], &options[..]].concat();
        let output = dpbounds(&words);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {message}");
        assert!(message.contains(part), "{options:?}: {message}");
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
        let _ = std::fs::remove_dir_all(&out);
    }
    let (code, _, message) = check(Path::new("nowhere.json"));
    assert!(code == Some(2) && message.contains("nowhere.json"), "{message}");
    let (code, _, message) = check(Path::new(one_class));
    assert!(code == Some(2) && message.contains("dpbounds certify wrote"), "{message}");
}

/// The trained network put in the place of the initial one, every number made to fit: the bound would be tiny.
#[test]
fn a_trained_network_does_not_pass_for_the_initial_one() {
    let folder = directory();
    let out = folder.path().join("out");
    let options = ["--data", "iris", "--seeds", "1", "--method", "data-independent"];
    assert_eq!(certify(&out, &options).0, Some(0));
    let weights = out.join("data-independent-seed0.weights");
    let bytes = read(&weights);
    let posterior = &bytes[bytes.len() / 2..];
    let forged = [posterior, posterior].concat();
    std::fs::write(&weights, &forged).unwrap();
    let file = out.join("data-independent-seed0.json");
    let mut json: Json = serde_json::from_slice(&read(&file)).unwrap();
    json["weights"]["checksum"] = dpbounds_experiments::data::sha256(&forged).into();
    json["ingredients"]["kl"] = 0.0.into();
    std::fs::write(&file, json.to_string()).unwrap();
    let (code, _, message) = check(&file);
    assert!(code == Some(1) && message.contains("mean of the prior"), "{message}");
}
