//! `dpbounds verify` as a user meets it.

use std::path::Path;

use serde_json::Value as Json;

use crate::support::{answer, directory, dpbounds, stderr, stdout};

/// Claims that run in a moment, of both papers and ours.
const CHEAP: &str =
    "K-B.2,K-F.11,K-F.8,K-4.1,M-Table,M-B.12,M-B.6,participation-norm,cert-S-GD-gaussian";

fn run(out: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let words = ["verify", "--only", CHEAP, "--out", out.to_str().unwrap()];
    let output = dpbounds(&[&words, options].concat());
    (output.status.code(), stdout(&output), stderr(&output))
}

fn verdicts(document: &Json) -> Vec<(String, String)> {
    let rows = document["ledger"].as_array();
    let text = |row: &Json, key: &str| row[key].as_str().unwrap().to_owned();
    rows.unwrap().iter().map(|row| (text(row, "claim"), text(row, "verdict"))).collect()
}

#[test]
fn the_list_names_every_claim_with_its_verdict_on_record() {
    let csv = answer(&["verify", "list", "--format", "csv"]);
    assert!(csv.lines().count() > 100, "{}", csv.lines().count());
    for (name, verdict) in [
        ("K-F.8,", "false as printed"),
        ("K-C.13,", "holds with correction"),
        ("M-3,", "holds"),
        ("K-4.1,", "not checkable by running"),
        ("5P,", "not run"),
    ] {
        let line = csv.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.contains(verdict), "{line}");
    }
    assert_eq!(answer(&["verify", "list", "--only", "k-b"]).lines().count(), 8);
}

#[test]
fn the_ledger_is_written_in_every_format_and_resumes() {
    let folder = directory();
    let out = folder.path().join("ledger");
    let (code, table, message) = run(&out, &[]);
    assert_eq!(code, Some(0), "{table}{message}");
    assert!(message.is_empty(), "{message}");
    let document: Json =
        serde_json::from_slice(&std::fs::read(out.join("ledger.json")).unwrap()).unwrap();
    let all = verdicts(&document);
    let verdict = |name: &str| all.iter().find(|(claim, _)| claim == name).unwrap().1.as_str();
    assert_eq!(verdict("K-B.2"), "holds");
    assert_eq!(verdict("K-F.8"), "false as printed");
    assert_eq!(verdict("K-4.1"), "not checkable by running");
    // Left to the full level, and unreadable in the copies of the paper: neither counts as holding.
    assert_eq!(verdict("cert-S-GD-gaussian"), "not run");
    assert_eq!(verdict("M-B.6"), "not run");
    let report = std::fs::read_to_string(out.join("report.md")).unwrap();
    assert!(report.contains("| K-F.8 Theorem F.8 |") && report.contains("(E1)"), "{report}");
    assert!(!report.contains("UNEXPECTED"), "{report}");
    assert_eq!(
        std::fs::read_to_string(out.join("ledger.csv")).unwrap().lines().count(),
        all.len() + 2
    );

    // Drawn as it is: what was not asked for was not run.
    let figures = folder.path().join("figures");
    let (from, to) = (out.to_str().unwrap(), figures.to_str().unwrap());
    let files = answer(&["figure", "--from", from, "--out", to, "--format", "csv"]);
    assert!(files.lines().count() == 4 && files.contains("ledger.svg"), "{files}");
    let drawn = std::fs::read_to_string(figures.join("ledger.csv")).unwrap();
    let count = |part: &str| drawn.lines().filter(|line| line.contains(part)).count();
    assert_eq!(count("K-F.8,arXiv 2605.12648,false as printed,"), 1);
    assert_eq!(count("K-B.3,arXiv 2605.12648,not run,holds,none,none,"), 1, "{drawn}");
    assert_eq!(count(",quick"), answer(&["verify", "list", "--format", "csv"]).lines().count() - 1);

    // Again: refused, or resumed with the lines that are there.
    let (code, _, message) = run(&out, &[]);
    assert!(code == Some(2) && message.contains("--resume"), "{message}");
    let path = out.join("ledger.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = lines.lines().filter(|line| !line.contains("not-run")).take(3).collect();
    // Killed in the middle of the fourth line.
    let torn = format!("{}\n{}", kept.join("\n"), &lines.lines().last().unwrap()[..20]);
    std::fs::write(&path, torn).unwrap();
    let (code, again, message) = run(&out, &["--resume"]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(again, table);
    let resumed = std::fs::read_to_string(&path).unwrap();
    assert!(resumed.starts_with(&kept.join("\n")), "{resumed}");
    assert_eq!(resumed.lines().count(), lines.lines().count());
}

#[test]
fn another_verdict_than_the_one_on_record_is_a_failure() {
    let folder = directory();
    let out = folder.path().join("ledger");
    assert_eq!(run(&out, &[]).0, Some(0));
    let path = out.join("ledger.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap();
    let line = lines.lines().find(|line| line.contains("\"K-B.2\"")).unwrap();
    let changed = line.replace("\"holds\"", "\"violated\"");
    assert_ne!(line, changed);
    std::fs::write(&path, lines.replace(line, &changed)).unwrap();
    let (code, table, message) = run(&out, &["--resume"]);
    assert_eq!(code, Some(1), "{table}");
    assert!(message.contains("other than the verdict on record: K-B.2"), "{message}");
    let report = std::fs::read_to_string(out.join("report.md")).unwrap();
    assert!(report.contains("**UNEXPECTED** violated"), "{report}");
    // A line that is no entry is refused with its place; one of another level is not taken over.
    std::fs::write(&path, format!("{line}\nnonsense\n")).unwrap();
    let (code, _, message) = run(&out, &["--resume"]);
    assert!(code == Some(2) && message.contains("line 2"), "{message}");
    std::fs::write(&path, format!("{}\n", changed.replace("\"quick\"", "\"full\""))).unwrap();
    assert_eq!(run(&out, &["--resume"]).0, Some(0));
}

#[test]
fn bad_input_is_one_clear_complaint() {
    for (line, part) in [
        ("verify --only K-B.9", "K-B.7"),
        ("verify --only ,", "no claim"),
        ("verify --resume", "--out"),
        ("verify --level slow", "quick"),
    ] {
        let output = dpbounds(&line.split_whitespace().collect::<Vec<_>>());
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(message.starts_with("error: ") && message.contains(part), "{line}: {message}");
    }
}
