//! The command line as a user meets it.

use serde_json::Value as Json;

use crate::support::{answer, directory, dpbounds, stderr, stdout};

const GAUSSIAN: [&str; 9] =
    ["bound", "max-info", "gaussian", "--n", "60000", "--sigma", "50", "--beta", "0.025"];

fn with<'a>(base: &[&'a str], extra: &[&'a str]) -> Vec<&'a str> {
    base.iter().chain(extra).copied().collect()
}

fn json(words: &[&str]) -> Json {
    serde_json::from_str(&answer(&with(words, &["--format", "json"]))).unwrap()
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn json_has_the_documented_shape_and_round_trips() {
    let document = json(&GAUSSIAN);
    assert_eq!(document["schema"], 1);
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    assert!(document["command"].as_str().unwrap().starts_with("dpbounds bound max-info gaussian"));
    let result = &document["results"][0];
    assert_eq!(result["inputs"]["n"], 60000);
    assert_eq!(result["inputs"]["beta"], 0.025);
    assert_eq!(result["quantity"], "max_information");
    assert_eq!(result["unit"], "nats");
    assert_eq!(result["warrant"]["kind"], "proven");
    assert!(result["warrant"]["confidence"].is_null() && result["lower"].is_null());
    assert!(result["upper"].as_f64().unwrap() >= result["value"].as_f64().unwrap());
    assert!(result["source"]["work"].is_string() && result["source"]["statement"].is_string());
    let terms: f64 = result["terms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|term| term["value"].as_f64().unwrap())
        .sum();
    assert!((terms / result["value"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert!(result["alternatives"].as_array().unwrap().len() >= 4);
    assert!(result["reason"].is_null());
}

#[test]
fn a_grid_has_one_row_a_point_in_every_format() {
    let sweep = words(
        "bound max-info gaussian --n 1e3..1e6@4 --sigma 10,50 --beta 0.025 --method eq7 --format",
    );
    let csv = answer(&with(&sweep, &["csv"]));
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines.len(), 9);
    assert!(lines[0].starts_with("n,sigma,beta,quantity,unit,value,lower,upper,warrant"));
    assert!(lines[1].starts_with("1000,10,0.025,max_information,nats,"));
    assert_eq!(answer(&with(&sweep, &["table"])).lines().count(), 9);
    let document: Json = serde_json::from_str(&answer(&with(&sweep, &["json"]))).unwrap();
    assert_eq!(document["results"].as_array().unwrap().len(), 8);
}

#[test]
fn the_best_statement_leads_and_every_method_is_reachable() {
    let best = json(&GAUSSIAN)["results"][0]["value"].as_f64().unwrap();
    for method in ["eq7", "eq7-hs", "eq8", "eq9"] {
        let one =
            json(&with(&GAUSSIAN, &["--method", method]))["results"][0]["value"].as_f64().unwrap();
        assert!(best <= one, "{method}");
    }
    for form in ["kl", "mcallester", "quadratic", "lambda", "catoni"] {
        let line = format!("bound pac-bayes --risk 0.1 --n 1000 --delta 0.05 --kl 5 --form {form}");
        assert!(json(&words(&line))["results"][0]["value"].as_f64().unwrap() > 0.1);
    }
}

#[test]
fn rates_are_labelled_as_rates() {
    for which in ["a-corr", "a-van", "a-non", "windows"] {
        let line = format!(
            "bound kan rate --which {which} --gamma 0.3 --eta 0.2 --steps 500 --batch 64 --width 2000 \
             --dimension 7 --kappa 1.5"
        );
        assert!(answer(&words(&line)).contains("rate, constants suppressed"), "{which}");
        let document = json(&words(&line));
        assert_eq!(document["results"][0]["warrant"]["kind"], "rate");
        assert!(document["results"][0]["upper"].is_null());
    }
    for which in ["corollary-5-3", "corollary-5-5", "corollary-5-6", "full-batch", "comparison"] {
        let line = format!(
            "bound kan rate --which {which} --n 1e6 --gamma 0.3 --dimension 10 --epsilon 1"
        );
        assert!(answer(&words(&line)).contains("rate, constants suppressed"), "{which}");
    }
    assert!(answer(&words("bound kan rate --which slopes")).contains("noise excess"));
}

#[test]
fn every_bad_input_is_one_clear_complaint() {
    for (line, code, parts) in [
        ("bound max-info pure-dp --n 10 --epsilon -1 --beta 0.1", 2, ["epsilon = -1", ">= 0"]),
        (
            "bound max-info approx-dp --n 10 --epsilon 1 --delta 1.5 --beta 0.1",
            2,
            ["delta = 1.5", "[0, 1]"],
        ),
        ("bound max-info pure-dp --n 10 --epsilon 1 --beta 0", 2, ["beta = 0", "(0, 1)"]),
        ("bound max-info pure-dp --n 10 --epsilon 1 --beta 1", 2, ["beta = 1", "(0, 1)"]),
        ("bound max-info pure-dp --n 10 --epsilon 1 --beta -0.1", 2, ["beta = -0.1", "(0, 1)"]),
        ("bound max-info pure-dp --n 10 --epsilon 1 --log-beta 0", 2, ["log_beta = 0", "< 0"]),
        ("bound max-info pure-dp --n 0 --epsilon 1 --beta 0.1", 2, ["n = 0", "2^53"]),
        ("bound max-info pure-dp --n 1e18 --epsilon 1 --beta 0.1", 2, ["n = 1e18", "2^53"]),
        ("bound max-info pure-dp --n 10.5 --epsilon 1 --beta 0.1", 2, ["n = 10.5", "integer"]),
        ("bound max-info gaussian --n 10 --sigma 0 --beta 0.1", 2, ["sigma = 0", "> 0"]),
        ("bound max-info renyi --n 10 --alpha 1 --epsilon 0.1 --beta 0.1", 2, ["alpha = 1", "> 1"]),
        ("bound max-info gaussian --n 10 --sigma NaN --beta 0.1", 2, ["--sigma", "NaN"]),
        ("bound max-info gaussian --n 10 --sigma 1e400 --beta 0.1", 2, ["--sigma", "1.8e308"]),
        (
            "bound max-info gaussian --n 10 --sigma 9:1:5 --beta 0.1",
            2,
            ["--sigma", "below the stop"],
        ),
        ("bound max-info gaussian --n 10 --sigma 1,, --beta 0.1", 2, ["--sigma", "empty"]),
        ("bound max-info gaussian --n 10 --sigm 1 --beta 0.1", 2, ["--sigm", "--sigma"]),
        ("bound max-info gaussian --n 10 --sigma 1", 2, ["--beta", "--log-beta"]),
        ("bound max-info renyi --n 10 --alpha 2 --beta 0.1", 2, ["--epsilon", "required"]),
        (
            "bound max-info renyi --n 10 --curve no-such-file --beta 0.1",
            2,
            ["no-such-file", "read"],
        ),
        ("bound pac-bayes --risk 1.2 --n 10 --delta 0.1 --kl 1", 2, ["risk = 1.2", "[0, 1]"]),
        (
            "bound pac-bayes --risk 0.2 --n 10 --delta 0.1 --max-info 1 --level 0.2",
            2,
            ["level = 0.2", "delta = 0.1"],
        ),
        ("bound kan rate --which a-corr --gamma 1", 2, ["batch", "--batch"]),
        (
            "calibrate --n 10 --batch 20 --steps 1 --epsilon 1 --delta 0.1",
            2,
            ["batch = 20", "n = 10"],
        ),
        (
            "calibrate --n 10 --batch 2 --steps 1 --epsilon 1 --delta 0.1 --lambda 1",
            2,
            ["lambda = 1", "[0, 1)"],
        ),
        (
            "calibrate --n 10 --batch 2 --steps 1 --epsilon 1 --delta 0.1 --sampler stream",
            2,
            ["refused", "nearest proven"],
        ),
        (
            "calibrate --n 10 --batch 2 --steps 1 --epsilon 1 --delta 0.1 --sampler full",
            2,
            ["batch = 2", "n = 10"],
        ),
        (
            "calibrate --n 10 --batch 10 --steps 1 --epsilon 1 --delta 0.1 --sampler fixed",
            2,
            ["refused", "sampler full"],
        ),
        (
            "calibrate --n 10 --batch 2 --steps 6 --epsilon 1 --delta 0.1 --sampler stream --relation zero-out",
            2,
            ["steps = 6", "at most n"],
        ),
        ("figure no-such-figure --out x", 2, ["no-such-figure", "max-information-noise"]),
        ("figure all", 2, ["--out", "missing"]),
        ("figure --out x", 2, ["required", "ID"]),
        ("figure --from no-such-directory --out x", 2, ["no-such-directory", "experiment run"]),
        ("figure all --from x --out x", 2, ["cannot be used", "--from"]),
        ("eval no-such-file", 2, ["no-such-file", "read"]),
        (
            "bound max-info gaussian --n 10 --sigma 1 --beta 0.1 --output no/such/dir.csv",
            2,
            ["no/such/dir.csv", "write"],
        ),
    ] {
        let output = dpbounds(&words(line));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{line}: {message}");
        assert!(
            message.starts_with("error: ") && !message.contains("panicked"),
            "{line}: {message}"
        );
        for part in parts {
            assert!(message.contains(part), "{line}: {message}");
        }
        assert!(stdout(&output).is_empty(), "{line}");
        // Complaints of ours are one line; the option parser adds a usage line.
        if !message.contains("--help") {
            assert_eq!(message.lines().count(), 1, "{line}: {message}");
        }
    }
}

#[test]
fn where_no_finite_bound_exists_the_answer_says_why() {
    let line = "bound max-info approx-dp --n 1000 --epsilon 0.05 --delta 1e-4 --beta 0.05";
    let result = &json(&words(line))["results"][0];
    assert!(result["value"].is_null() && result["upper"].is_null());
    assert!(result["reason"].as_str().unwrap().contains("no finite bound exists because"));
    let tiny = "bound max-info approx-dp --n 1000 --epsilon 1 --delta 1e-9 --log-beta -1e5";
    assert!(answer(&words(tiny)).contains("beta = exp(-100000)"));
    let pure = "bound max-info pure-dp --n 1e9 --epsilon 1e3 --beta 1e-300";
    let value = json(&words(pure))["results"][0]["value"].as_f64().unwrap();
    assert!(value <= 1e12 && value > 9e11);
    let tiny = json(&words("bound max-info gaussian --n 1000 --sigma 3 --log-beta -1e5"));
    assert!(tiny["results"][0]["value"].as_f64().unwrap().is_finite());
}

#[test]
fn a_renyi_curve_is_read_with_care() {
    let directory = directory();
    let path = directory.path().join("curve.csv");
    let run = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        dpbounds(&["bound", "max-info", "renyi", "--n", "1000", "--beta", "0.1", "--curve", path])
    };
    let plain = run("2,0.001\n32,0.01\n");
    assert!(plain.status.success());
    for same in [
        "alpha,epsilon\n\n32,0.01\n\n2,0.001\n",
        "epsilon,order\n0.01,32\n0.001,2\n",
        "# from an accountant\r\n2 , 0.001\r\n32,0.01\r\n",
    ] {
        let output = run(same);
        assert_eq!(stdout(&output), stdout(&plain), "{same:?}: {}", stderr(&output));
    }
    for (text, parts) in [
        ("2,0.1\n2,0.2\n", ["line 2", "already given in line 1"]),
        ("2,-0.1\n", ["line 1", "epsilon = -0.1"]),
        ("1,0.1\n", ["line 1", "alpha = 1"]),
        ("2,x\n", ["line 1", "not a number"]),
        ("2,inf\n", ["line 1", "not finite"]),
        ("2,0.1,3\n", ["line 1", "3 fields"]),
        ("size,colour\n2,0.1\n", ["line 1", "unknown"]),
        ("alpha,epsilon\n", ["line 1", "no pairs"]),
        ("", ["line 1", "no pairs"]),
    ] {
        let output = run(text);
        assert_eq!(output.status.code(), Some(2), "{text:?}");
        let message = stderr(&output);
        assert!(parts.iter().all(|part| message.contains(part)), "{text:?}: {message}");
    }
}

#[test]
fn the_false_theorem_is_only_ever_a_claim() {
    let line = "calibrate --n 1e4 --batch 100 --steps 100 --sampler fixed --relation replace-one \
                --epsilon 4 --delta 1e-5 --method closed-form";
    let result = &json(&words(line))["results"][0];
    assert!(result["value"].is_null(), "F.12 is outside its domain: {result}");
    let claim = &result["alternatives"][0];
    assert_eq!(claim["warrant"]["kind"], "estimate");
    assert!(claim["source"]["statement"].as_str().unwrap().contains("false as printed"));
    // With a proven statement at hand the claim stays below it, whatever its size.
    let auto = line.replace("closed-form", "auto");
    let result = &json(&words(&auto))["results"][0];
    assert_eq!(result["warrant"]["kind"], "proven");
    assert!(result["value"].as_f64().unwrap() > claim["value"].as_f64().unwrap());
}

#[test]
fn sampled_risk_grids_and_gaussian_divergences_reach_the_certificate() {
    let sampled = "bound pac-bayes --errors 120 --draws 10000 --draws-delta 0.01 --n 60000 --delta 0.04 --kl 50";
    let given = "bound pac-bayes --risk 0.012 --n 60000 --delta 0.04 --kl 50";
    let value = |line: &str| json(&words(line))["results"][0]["value"].as_f64().unwrap();
    assert!(value(sampled) > value(given));
    let gaussian = "bound pac-bayes --risk 0.1 --n 60000 --delta 0.05 --dimension 1000 --squared-distance 2 \
                    --posterior-variance 0.01 --prior-variance 0.0101";
    let direct = value(gaussian);
    let grid = value(&format!("{gaussian} --prior-grid-c 0.1 --prior-grid-b 100"));
    assert!(grid > direct);
    assert!(value(&format!("{given} --choices 8")) > value(given));
}

#[test]
fn output_files_are_complete_and_record_where_they_come_from() {
    let directory = directory();
    let path = directory.path().join("answer.csv");
    let words = with(&GAUSSIAN, &["--format", "csv", "--output", path.to_str().unwrap()]);
    assert!(answer(&words).is_empty());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(concat!(
        "# dpbounds ",
        env!("CARGO_PKG_VERSION"),
        "; dpbounds bound"
    )));
    assert_eq!(text.lines().count(), 3);
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_as_output_file_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt;

    let directory = directory();
    let path = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let reader = std::thread::spawn({
        let path = path.clone();
        move || std::fs::read_to_string(path).unwrap()
    });
    answer(&with(&GAUSSIAN, &["--output", path.to_str().unwrap()]));
    assert!(reader.join().unwrap().contains("max information"));
    assert!(std::fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
}

#[test]
fn a_renyi_curve_of_another_relation_is_refused() {
    let curve = words("bound max-info renyi --n 1000 --alpha 32 --epsilon 0.01 --beta 0.025");
    answer(&curve);
    for relation in ["add-remove", "zero-out"] {
        let output = dpbounds(&with(&curve, &["--relation", relation]));
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("replace-one"), "{}", stderr(&output));
    }
    let run = words("bound max-info dp-sgd --n 1000 --sigma 9 --steps 3 --beta 0.025");
    for wrong in ["", "--sampler full --sampling-rate 0.1", "--sampler fixed --batch 1001"] {
        let output = dpbounds(&with(&run, &words(wrong)));
        assert_eq!(output.status.code(), Some(2), "{wrong}: {}", stderr(&output));
    }
}

#[test]
fn pipes_see_no_colour() {
    assert!(!answer(&GAUSSIAN).contains('\u{1b}'));
}

#[test]
fn every_help_page_has_two_examples_that_run() {
    let pages = [
        "bound max-info pure-dp",
        "bound max-info approx-dp",
        "bound max-info renyi",
        "bound max-info gaussian",
        "bound max-info dp-sgd",
        "bound max-info streaming",
        "bound max-info correlated",
        "bound pac-bayes",
        "bound kan certificate",
        "bound kan rate",
        "calibrate",
        "account",
        "audit closed-form",
        "data list",
        "data prepare",
        "margin",
        "certify",
        "experiment run",
        "experiment list",
        "experiment show",
        "eval",
        "figure",
        "reproduce",
        "verify",
        "completions",
        "man",
    ];
    for page in pages {
        let help = answer(&with(&words(page), &["--help"]));
        let joined = help.replace("\\\n", " ");
        let examples: Vec<_> =
            joined.lines().filter(|line| line.trim().contains("dpbounds ")).collect();
        assert!(examples.len() >= 2, "{page}: {help}");
        for example in examples.into_iter().map(str::trim) {
            // Examples that need a shell or files are run by the other tests.
            let plain = example.starts_with("dpbounds ") && !example.contains(['>', '|']);
            if plain
                && !["--out", "--curve", ".jsonl", "--check"]
                    .iter()
                    .any(|file| example.contains(file))
            {
                assert!(!answer(&words(example)[1..]).is_empty(), "{example}");
            }
        }
    }
}

#[test]
fn completions_and_manual_pages_are_complete() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(answer(&["completions", shell]).contains("max-info"), "{shell}");
    }
    assert!(answer(&["man"]).contains(".TH dpbounds"));
    let directory = directory();
    answer(&["man", "--out", directory.path().to_str().unwrap()]);
    let page = directory.path().join("dpbounds-bound-max-info-gaussian.1");
    assert!(std::fs::read_to_string(page).unwrap().contains("sigma"));
}
