//! `calibrate`, `account` and `audit` as a user meets them.

use serde_json::Value as Json;

use crate::support::{answer, directory, dpbounds, stderr, stdout};

const RUN: &str = "--n 1e4 --batch 100 --steps 1000 --delta 1e-5";
const D9: &str = "audit closed-form --n 1e4 --batch 100 --steps 100 --epsilon 4 --delta 1e-5 \
                  --sampler fixed --relation replace-one";

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn ask(line: &str) -> String {
    answer(&words(line))
}

fn document(line: &str) -> Json {
    serde_json::from_str(&ask(&format!("{line} --format json"))).unwrap()
}

fn results(line: &str) -> Vec<Json> {
    document(line)["results"].as_array().unwrap().clone()
}

fn only(line: &str) -> Json {
    let results = results(line);
    assert_eq!(results.len(), 1, "{line}");
    results.into_iter().next().unwrap()
}

fn number(value: &Json) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The first line of a table that holds all parts.
fn line_with<'a>(text: &'a str, parts: &[&str]) -> &'a str {
    let mut lines = text.lines();
    lines
        .find(|line| parts.iter().all(|part| line.contains(part)))
        .unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn a_calibration_is_a_verified_bracket() {
    let line = format!("calibrate {RUN} --epsilon 1");
    let result = only(&line);
    let (value, lower) = (number(&result["value"]), number(&result["lower"]));
    // 1.415 is the published value of other accountants.
    assert!(lower < value && value < 1.4150 && lower > 1.4140, "{result}");
    assert_eq!(result["upper"], result["value"]);
    assert_eq!(result["warrant"]["kind"], "proven");
    let check = &result["checks"][0];
    assert_eq!(check["name"], "delta at this kappa");
    assert!(number(&check["left"]) <= 1e-5 && check["holds"] == true);
    assert!(result.get("derived").is_none() && result.get("notes").is_none());
    let table = ask(&line);
    assert!(table.contains("smaller noise than 1.414") && table.contains("is proven insufficient"));
    // The noise that suffices is accounted for within the target, the one that does not is not.
    let spent = |kappa: f64, side: &str| {
        number(
            &only(&format!(
                "account {} --kappa {kappa} --epsilon 1",
                RUN.replace(" --delta 1e-5", "")
            ))[side],
        )
    };
    // An account stops at a coarser lattice than a calibration: its bracket is wider by half a percent.
    assert!(spent(value, "lower") < 1e-5 && spent(value, "upper") <= 1.005e-5);
    assert!(spent(lower, "upper") > 1e-5 && spent(lower, "lower") > 0.995e-5);
}

#[test]
fn every_method_that_applies_answers_and_none_beats_auto() {
    let run = "calibrate --n 100 --batch 10 --steps 4 --epsilon 4 --delta 1e-4";
    for (lambda, methods) in
        [("0", &["l1", "l1b", "l2", "l2t", "rdp", "pld"][..]), ("0.5", &["l1", "l1b", "l2", "l2t"])]
    {
        let best = number(&only(&format!("{run} --lambda {lambda}"))["value"]);
        for method in methods {
            let one = only(&format!("{run} --lambda {lambda} --method {method}"));
            assert!(number(&one["value"]) >= best * (1.0 - 1e-3), "{method}: {one}");
            assert!(number(&one["lower"]) <= best, "{method}: {one}");
        }
    }
}

#[test]
fn steps_and_batches_solve_the_calibration_backwards() {
    let run = "calibrate --n 1e4 --epsilon 1 --delta 1e-5 --kappa 1.5";
    let steps = only(&format!("{run} --batch 100 --solve steps"));
    assert_eq!(
        (&*steps["quantity"].to_string(), &*steps["unit"].to_string()),
        ("\"steps\"", "\"count\"")
    );
    let most = number(&steps["value"]);
    assert!((1150.0..1200.0).contains(&most), "{steps}");
    let noise = |steps: f64| {
        let line =
            format!("calibrate --n 1e4 --batch 100 --epsilon 1 --delta 1e-5 --steps {steps}");
        number(&only(&line)["lower"])
    };
    assert!(noise(most) <= 1.5 && noise(most + 10.0) > 1.5);
    let batch = only(&format!("{run} --steps 1000 --solve batch"));
    assert!((105.0..112.0).contains(&number(&batch["value"])), "{batch}");
    let grid = ask(&format!("{run},2 --batch 100 --solve steps"));
    assert!(grid.contains("1178") && grid.lines().count() == 3, "{grid}");
    // A fixed-size batch of all records is not covered, the next smaller one is.
    let all = "calibrate --n 100 --steps 2 --epsilon 100 --delta 1e-5 --kappa 100 --sampler fixed";
    assert_eq!(number(&only(&format!("{all} --solve batch"))["value"]), 99.0);
    let none = "calibrate --n 1e4 --batch 10 --epsilon 0.1 --delta 1e-9 --kappa 0.1 --solve steps";
    assert!(ask(none).contains("not even one step"));
    assert_eq!(number(&only(none)["value"]), 0.0);
}

#[test]
fn an_account_is_a_bracket_in_either_direction() {
    let spent = only(&format!("account {RUN} --kappa 1"));
    assert_eq!(
        (spent["quantity"].as_str(), spent["unit"].as_str()),
        (Some("epsilon"), Some("nats"))
    );
    let (lower, upper) = (number(&spent["lower"]), number(&spent["upper"]));
    assert!(1.8265 < lower && lower <= 1.82824 && 1.8282 < upper && upper < 1.8295, "{spent}");
    let table = ask(&format!("account {RUN} --kappa 1"));
    let bracket = line_with(&table, &["proven bracket: [1.82", ", 1.82", "(gap below 0.1 %)"]);
    assert!(!bracket.contains("insufficient"));
    let line = format!("account --n 1e4 --batch 100 --steps 1000 --kappa 1 --epsilon {upper}");
    assert!(number(&only(&line)["lower"]) <= 1e-5);
    let grid = "account --n 1e4 --batch 100 --steps 10,100 --kappa 1,2 --epsilon 1,2 --format csv";
    let csv = ask(grid);
    assert_eq!(csv.lines().count(), 9);
    assert!(csv.starts_with(
        "n,batch,steps,lambda,kappa,epsilon,sampler,relation,quantity,unit,value,lower,"
    ));
    let table = ask(&grid.replace("csv", "table"));
    assert!(words(table.lines().next().unwrap()).contains(&"lower"), "{table}");
}

#[test]
fn questions_without_an_accountant_have_plain_answers() {
    let free = "account --n 1e4 --batch 100 --steps 10 --kappa 10 --delta 0.5";
    assert_eq!(number(&only(free)["value"]), 0.0);
    assert!(ask(free).contains("delta is at least the total variation"));
    assert!(only(free)["notes"][0].as_str().unwrap().contains("total variation"));
    let run = "--n 1e4 --batch 100 --steps 100";
    let result = only(&format!("account {run} --kappa 0 --delta 1e-5"));
    assert!(result["value"].is_null());
    assert!(result["reason"].as_str().unwrap().contains("no finite epsilon"), "{result}");
    let taking_part = only(&format!("account {run} --kappa 0 --epsilon 1"));
    assert!((number(&taking_part["value"]) - 0.633_967_658_726_770_5).abs() < 1e-12);
    for line in [
        "account --n 1e4 --batch 100 --steps 0 --kappa 1 --delta 1e-5",
        "account --n 1e4 --batch 100 --steps 0 --kappa 1 --epsilon 1",
        "calibrate --n 1e4 --batch 100 --steps 0 --epsilon 1 --delta 1e-5",
        "calibrate --n 100 --batch 10 --steps 1 --epsilon 1 --delta 0.11",
    ] {
        assert_eq!(number(&only(line)["value"]), 0.0, "{line}");
        assert!(ask(line).contains("proven"), "{line}");
    }
}

#[test]
fn the_lambda_question_compares_with_independent_noise() {
    let run = "calibrate --n 100 --batch 10 --steps 4 --epsilon 4,8 --delta 1e-4 --method l2t";
    let zero = results(&format!("{run} --lambda 0 --method auto").replacen("--method l2t", "", 1));
    let rows = results(&format!("{run} --lambda 0.5,0.8 --eta 0.1"));
    assert_eq!(rows.len(), 4);
    for (index, row) in rows.iter().enumerate() {
        let reference = &zero[index / 2];
        let lambda = number(&row["inputs"]["lambda"]);
        assert_eq!(row["inputs"]["eta"], 0.1);
        let t1 = (1.0 - lambda) * number(&row["upper"]) / number(&reference["lower"]);
        let weight = (1.0 - lambda).powi(2) + lambda * lambda * 0.1;
        let t2 = weight * (number(&row["upper"]) / number(&reference["lower"])).powi(2);
        let floor = (1.0 - lambda) * number(&row["lower"]) / number(&reference["upper"]);
        let derived = &row["derived"];
        for (name, expected) in [("t1", t1), ("t2", t2), ("t1_floor", floor)] {
            assert!((number(&derived[name]) / expected - 1.0).abs() < 1e-9, "{name}: {row}");
        }
        assert!(number(&derived["t2_floor"]) < t2 && floor < t1);
    }
    // λ = 0 alone asks nothing; with a step size it is compared with itself.
    assert!(zero[0].get("derived").is_none());
    let one = ask("calibrate --n 100 --batch 10 --steps 4 --epsilon 4 --delta 1e-4 --eta 0.1");
    assert!(one.contains("compared with lambda = 0") && one.contains("never below"), "{one}");
}

#[test]
fn the_lambda_table_names_the_best_and_csv_has_the_columns() {
    let run = "calibrate --n 1e4 --batch 100 --steps 100 --epsilon 4 --delta 1e-5 --lambda 0,0.5,0.8 \
               --method l1b";
    let table = ask(run);
    let header = table.lines().next().unwrap();
    for column in ["lower", "t1", "t1_floor", "t2", "t2_floor", "eta"] {
        assert!(words(header).contains(&column), "{header}");
    }
    let last = table.lines().last().unwrap();
    assert!(last.starts_with("smallest t1 = ") && last.contains("at lambda = 0.8"), "{last}");
    assert!(
        last.contains("no gain over lambda = 0 is proven"),
        "the loose method shows none: {last}"
    );
    let csv = ask(&format!("{run} --format csv"));
    assert!(csv.lines().next().unwrap().ends_with("reason,t1,t1_floor,t2,t2_floor"), "{csv}");
    assert_eq!(csv.lines().count(), 4);
    // The sharp method: a gain is proven.
    let sharp = "calibrate --n 100 --batch 10 --steps 4 --epsilon 4 --delta 1e-4 --lambda 0,0.5 \
                 --method l2td --budget 0";
    let table = ask(sharp);
    assert!(table.contains("coarse: a finer grid did not fit into --budget 0"), "{table}");
    let last = table.lines().last().unwrap();
    assert!(last.contains("at lambda = 0.5") && last.contains("below 1 is a gain"), "{last}");
}

#[test]
fn no_gain_is_claimed_where_only_the_triangle_is_proven() {
    let run = "calibrate --n 1e4 --batch 100 --steps 100 --epsilon 4 --delta 1e-5 --lambda 0,0.5 \
               --sampler fixed --relation replace-one --method l1b";
    let output = dpbounds(&words(&format!("{run} --format json")));
    assert!(stderr(&output).contains("weak triangle"), "{}", stderr(&output));
    let document: Json = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(!document["results"][0]["derived"]["t1"].is_null());
    let correlated = &document["results"][1]["derived"];
    assert!(correlated["t1"].is_null() && correlated["t2"].is_null());
    assert!(number(&correlated["t1_floor"]) < 1.0);
    let table = ask(run);
    assert!(table.lines().last().unwrap().contains("weak triangle"), "{table}");
    assert!(words(line_with(&table, &[" 0.5  fixed"])).contains(&"-"), "{table}");
}

#[test]
fn audits_certify_and_refute() {
    let violated = document(D9);
    let audit = &violated["audits"][0];
    assert_eq!(violated["schema"], 1);
    assert_eq!(
        (audit["claim"].as_str(), audit["verdict"].as_str()),
        (Some("Theorem D.9"), Some("violated"))
    );
    assert!((number(&audit["claimed_kappa"]) / 0.519_864 - 1.0).abs() < 1e-5);
    assert!(number(&audit["epsilon_lower"]) >= 38.7 && number(&audit["delta_lower"]) > 0.2);
    assert!(number(&audit["epsilon_upper"]) >= number(&audit["epsilon_lower"]));
    assert!(number(&audit["over_calibration"]) < 1.0);
    assert!(audit["witness"].as_str().unwrap().contains("the record +u"));
    let sentences = ask(D9);
    assert!(
        sentences.contains(
            "Theorem D.9 prints kappa = 0.519864 for (4, 1e-5)-DP. This claim is violated."
        )
    );
    assert!(
        sentences.contains("Witness (all other gradients -u")
            && sentences.contains("is proven to suffice")
    );

    let line = "audit closed-form --n 1e4 --batch 100 --steps 1e4 --epsilon 1 --delta 1e-5";
    let certified = &document(line)["audits"][0];
    assert_eq!(certified["claim"], "Theorem F.12");
    assert_eq!(certified["verdict"], "certified");
    assert!(number(&certified["over_calibration"]) > 30.0);
    assert!(number(&certified["epsilon_upper"]) < 0.03);
}

#[test]
fn several_audits_are_one_tidy_table() {
    let line = "audit closed-form --n 1e4 --batch 100 --steps 1000 --epsilon 1 --delta 1e-5 --kappa 1,1.42";
    let csv = ask(&format!("{line} --format csv"));
    let rows: Vec<_> = csv.lines().collect();
    assert!(rows[0].starts_with(
        "n,batch,steps,epsilon,delta,lambda,sampler,relation,claim,claimed_kappa,verdict"
    ));
    assert!(
        rows[1].contains("given,1,violated") && rows[2].contains("given,1.42,certified"),
        "{csv}"
    );
    let table = ask(line);
    assert_eq!(table.lines().count(), 3);
    assert!(table.contains("all other gradients 0, the record u"));
    // The default formula follows the setting: with λ > 0 Theorem D.9 is not stated.
    let mixed = "audit closed-form --n 100 --batch 10 --steps 600 --epsilon 1 --delta 1e-5 --sampler full \
                 --batch 100 --lambda 0,0.5";
    let mixed = mixed.replacen("--batch 10 ", "", 1);
    assert_eq!(ask(&mixed).matches("Theorem F.12").count(), 2);
    assert_eq!(ask(&mixed).matches("certified").count(), 2);
    let directory = directory();
    let path = directory.path().join("audit.txt");
    assert!(ask(&format!("{D9} --output {}", path.display())).is_empty());
    assert!(std::fs::read_to_string(path).unwrap().starts_with("# dpbounds "));
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    for line in [
        "calibrate --n 100 --batch 10 --steps 4 --epsilon 4,8 --delta 1e-4 --lambda 0,0.5 --method l2t",
        "account --n 100 --batch 10 --steps 5 --kappa 1,2 --epsilon 1 --lambda 0.5 --method l3 \
         --samples 2e4 --failure-probability 0.01",
    ] {
        let run = |threads: &str| {
            let output = dpbounds(&words(&format!("{line} --threads {threads} --format csv")));
            assert!(output.status.success(), "{line}: {}", stderr(&output));
            stdout(&output)
        };
        assert_eq!(run("1"), run("2"), "{line}");
    }
}

#[test]
fn certificates_by_random_numbers_say_so_and_repeat() {
    let line = "account --n 100 --batch 20 --steps 4 --kappa 1 --epsilon 1 --lambda 0.5 --method l3 \
                --samples 2e4 --failure-probability 0.01";
    let result = only(line);
    assert_eq!(result["warrant"]["kind"], "confidence");
    // The first of possibly several attempts has half of the failure probability.
    assert_eq!(result["warrant"]["confidence"], 0.995);
    assert_eq!(
        (&result["inputs"]["samples"], &result["inputs"]["seed"]),
        (&20000.into(), &"0".into())
    );
    let table = ask(line);
    assert!(table.contains("(epsilon, delta)-DP for sampler poisson, relation add-remove"));
    assert!(table.contains("is wrong with probability <= 0.005 over its own seeds"), "{table}");
    assert_eq!(table, ask(line));
    let other = only(&format!("{line} --seed 1"));
    assert_ne!(other["value"], result["value"]);
    assert!((number(&other["value"]) / number(&result["value"]) - 1.0).abs() < 0.5);
    // The certificate and the deterministic bound agree on where the truth may be.
    assert!(number(&result["lower"]) <= number(&result["value"]));
}

#[test]
fn every_bad_question_is_one_clear_complaint() {
    const TARGET: &str = "--epsilon 1 --delta 1e-5";
    for (line, parts) in [
        ("calibrate --n 10 --batch 2 --steps 5 --epsilon 0 --delta 1e-5", ["epsilon = 0", "> 0"]),
        ("calibrate --n 10 --batch 2 --steps 5 --epsilon -1 --delta 1e-5", ["epsilon = -1", "> 0"]),
        ("calibrate --n 10 --batch 2 --steps 5 --epsilon 1 --delta 0", ["delta = 0", "(0, 1)"]),
        ("calibrate --n 10 --batch 2 --steps 5 --epsilon 1 --delta 0.1,1", ["delta = 1", "(0, 1)"]),
        ("calibrate --n 10 --batch 2 --steps 5 --epsilon NaN --delta 0.1", ["--epsilon", "NaN"]),
        ("calibrate --n 10 --batch 20 --steps 5 TARGET", ["batch = 20", "at most n"]),
        ("calibrate --n 10 --batch 2 --steps 1.5 TARGET", ["steps = 1.5", "whole number"]),
        ("calibrate --n 10 --batch 2 --steps 5 TARGET --lambda 0,1", ["lambda = 1", "[0, 1)"]),
        ("calibrate --n 10 --batch 2 --steps 5 TARGET --lambda -0.5", ["lambda = -0.5", "[0, 1)"]),
        ("calibrate --n 10 --batch 2 --steps 5 TARGET --kappa 1", ["--kappa", "--solve steps"]),
        ("calibrate --n 10 --batch 2 TARGET", ["--steps", "missing"]),
        ("calibrate --n 10 --batch 2 TARGET --solve steps", ["--solve steps", "--kappa K"]),
        ("calibrate --n 10 --steps 2 TARGET --solve steps --kappa 1", ["--steps", "drop one"]),
        ("calibrate --n 10 TARGET --solve steps --kappa 1", ["--batch", "missing"]),
        ("calibrate --n 10 --batch 2 TARGET --solve steps --kappa 0", ["kappa = 0", "> 0"]),
        (
            "calibrate --n 10 --steps 2 TARGET --solve batch --kappa 1 --sampler full",
            ["full", "n records"],
        ),
        (
            "calibrate --n 10 --batch 2 TARGET --solve steps --kappa 1 --eta 0.1",
            ["--eta", "lambda question"],
        ),
        ("calibrate --n 10 --batch 2 --steps 5 TARGET --eta 0", ["eta = 0", "> 0"]),
        ("calibrate --n 10 --batch 2 --steps 5 TARGET --budget -1", ["budget = -1", ">= 0"]),
        ("calibrate --n 10 --batch 2 --steps 5 TARGET --threads 0", ["--threads", "1.."]),
        (
            "calibrate --n 10 --batch 2 --steps 5 TARGET --failure-probability 1",
            ["failure_probability = 1", "(0, 1)"],
        ),
        (
            "calibrate --n 10 --batch 2 --steps 5 TARGET --samples 1.5",
            ["--samples", "whole number"],
        ),
        (
            "calibrate --n 10 --batch 2 --steps 5 TARGET --method l3 --samples 1",
            ["samples = 1", "2 to"],
        ),
        (
            "calibrate --n 10 --batch 2 --steps 5 TARGET --method pld --lambda 0.5",
            ["nearest proven", "l2td"],
        ),
        (
            "calibrate --n 10 --batch 2 --steps 5 TARGET --method l2 --sampler fixed --relation zero-out",
            ["refused", "nearest proven: method pld"],
        ),
        (
            "calibrate --n 10 --batch 2 --steps 5 TARGET --method l3 --sampler fixed --relation zero-out \
             --lambda 0.5",
            ["refused", "method l2td"],
        ),
        ("account --n 10 --batch 2 --steps 5 --kappa 1", ["--delta", "--epsilon"]),
        ("account --n 10 --batch 2 --steps 5 --kappa 1 TARGET", ["--delta", "cannot be used"]),
        ("account --n 10 --batch 2 --kappa 1 --delta 0.1", ["--steps", "required"]),
        ("account --n 10 --batch 2 --steps 5 --kappa -1 --delta 0.1", ["kappa = -1", ">= 0"]),
        ("account --n 10 --batch 2 --steps 5 --kappa NaN --delta 0.1", ["--kappa", "NaN"]),
        ("account --n 10 --batch 2 --steps 5 --kappa 1 --delta 1", ["delta = 1", "(0, 1)"]),
        ("account --n 10 --batch 2 --steps 5 --kappa 1 --delta 0", ["delta = 0", "(0, 1)"]),
        ("account --n 10 --batch 2 --steps 5 --kappa 1 --epsilon -1", ["epsilon = -1", ">= 0"]),
        (
            "account --n 10 --batch 2 --steps 5 --kappa 1 --epsilon 1 --sampler stream",
            ["stream under add-remove", "zero-out or replace-one"],
        ),
        (
            "account --n 10 --batch 10 --steps 5 --kappa 1 --epsilon 1 --sampler fixed",
            ["batch = n", "sampler full"],
        ),
        (
            "account --n 10 --batch 2 --steps 5 --kappa 1 --delta 0.1 --method l3",
            ["refused", "method l2td"],
        ),
        (
            "account --n 10 --batch 2 --steps 5 --kappa 1 --delta 0.1 --method closed-form",
            ["refused", "calibrate --method closed-form"],
        ),
        ("audit closed-form --n 10 --batch 2 --steps 5 TARGET --kappa 0", ["kappa = 0", "> 0"]),
        (
            "audit closed-form --n 10 --batch 2 --steps 5 TARGET --kappa 1 --formula d9",
            ["--kappa", "--formula"],
        ),
        (
            "audit closed-form --n 10 --batch 2 --steps 5 --epsilon 1,0 --delta 0.1",
            ["epsilon = 0", "> 0"],
        ),
        (
            "audit closed-form --n 10 --batch 2 --steps 5 TARGET --sampler stream",
            ["refused", "nearest proven"],
        ),
    ] {
        let line = line.replace("TARGET", TARGET);
        let output = dpbounds(&words(&line));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(
            message.starts_with("error: ") && !message.contains("panicked"),
            "{line}: {message}"
        );
        for part in parts {
            assert!(message.contains(part), "{line}: {message}");
        }
        assert!(stdout(&output).is_empty(), "{line}");
    }
}

#[test]
fn pipes_see_no_progress() {
    let line = "calibrate --n 100 --batch 10 --steps 4 --epsilon 4 --delta 1e-4 --lambda 0.2,0.5 --method l1b";
    let output = dpbounds(&words(line));
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
}
