//! `dpbounds eval`: the catalogue by JSON Lines.

use serde_json::{Value as Json, json};

use crate::oracles::{MAX_INFORMATION, fault, rows};
use crate::support::{answer, dpbounds_with_input, stderr, stdout};

fn ask(lines: &str) -> (i32, Vec<Json>) {
    let output = dpbounds_with_input(&["eval"], lines.as_bytes());
    let answers = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code().unwrap(), answers)
}

#[test]
fn every_reference_value_through_the_binary() {
    let rows = rows(MAX_INFORMATION);
    let queries: String = rows
        .iter()
        .map(|row| {
            let query =
                json!({"id": row["id"], "function": row["function"], "inputs": row["inputs"]});
            format!("{query}\n")
        })
        .collect();
    let (code, answers) = ask(&queries);
    assert_eq!((code, answers.len()), (0, rows.len()));
    for (row, answer) in rows.iter().zip(&answers) {
        assert_eq!(row["id"], answer["id"], "the order of the answers is that of the queries");
        let problem = fault(row, answer["value"].as_f64(), answer["upper"].as_f64());
        assert_eq!(problem, None);
    }
}

#[test]
fn bad_lines_are_named_and_do_not_stop_the_others() {
    let good = r#"{"id": "x", "function": "kl_inverse_upper", "inputs": {"risk": 0.1, "complexity": 0.02}}"#;
    let lines = [
        good,
        "not json",
        "",
        r#"{"id": 7, "function": "kl_inverse_uper", "inputs": {}}"#,
        r#"{"id": 8, "function": "kl_inverse_upper", "inputs": {"risk": 1e400, "complexity": 1}}"#,
        r#"{"id": 9, "function": "kl_inverse_upper", "inputs": [1, 2]}"#,
        good,
    ];
    let (code, answers) = ask(&lines.join("\n"));
    assert_eq!((code, answers.len()), (2, 6));
    assert_eq!(answers[0], answers[5]);
    assert_eq!(answers[1]["line"], 2);
    assert_eq!((&answers[2]["id"], &answers[2]["line"]), (&json!(7), &json!(4)));
    assert!(answers[2]["error"].as_str().unwrap().contains("kl_inverse_upper"));
    assert!(answers[3]["error"].as_str().unwrap().contains("risk"));
    assert_eq!(answers[4]["line"], 6);
}

#[test]
fn inputs_out_of_range_are_answered_with_the_reason() {
    for (inputs, part) in [
        (json!({"nu": -1, "beta": 0.05}), "nu = -1"),
        (json!({"nu": 1, "beta": 0}), "beta = 0"),
        (json!({"nu": 1}), "beta: missing"),
        (json!({"nu": 1, "beta": 0.05, "extra": 3}), "extra"),
        (json!({"nu": 1, "beta": 0.05, "log_beta": -3}), "twice"),
        (json!({"nu": "one", "beta": 0.05}), "nu: expected a number"),
        (json!({"nu": [1], "beta": 0.05}), "nu: expected a number"),
    ] {
        let query = json!({"id": 1, "function": "max_info_gaussian_eq7", "inputs": inputs});
        let (code, answers) = ask(&query.to_string());
        assert_eq!(code, 0);
        assert!(answers[0]["value"].is_null());
        let reason = answers[0]["reason"].as_str().unwrap();
        assert!(reason.contains(part), "{inputs}: {reason}");
    }
}

#[test]
fn a_line_that_is_not_text_gets_an_answer_and_a_closed_pipe_is_no_error() {
    let output = dpbounds_with_input(&["eval"], b"\xff\xfe\n{}\n");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output).lines().count(), 2);
    assert!(stdout(&output).contains("UTF-8") && stderr(&output).contains("2 of the lines"));
}

#[test]
fn spellings_of_the_papers_are_understood() {
    let (_, answers) = ask(r#"{"id":1,"function":"balle_wang","inputs":{"eps":1,"mu":0.3}}
           {"id":2,"function":"max_info_correlated_streaming","inputs":{"nu":0.1,"T":10,"lam":0.5,"log_beta":-3}}"#);
    assert!(answers.iter().all(|answer| answer["value"].is_number()), "{answers:?}");
}

#[test]
fn the_catalogue_lists_name_parameters_units_and_source() {
    let document: Json =
        serde_json::from_str(&answer(&["eval", "--list", "--format", "json"])).unwrap();
    let functions = document["functions"].as_array().unwrap();
    assert!(functions.len() >= 80);
    for function in functions {
        for key in ["function", "summary", "parameters (unit, range)", "source"] {
            assert!(!function[key].as_str().unwrap().is_empty(), "{function}");
        }
    }
}
