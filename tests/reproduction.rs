//! `dpbounds reproduce` and `dpbounds figure`.

use serde_json::Value as Json;

use crate::support::{answer, directory, dpbounds, stderr, stdout};

#[test]
fn the_published_tables_are_reproduced_with_report_and_figures() {
    let directory = directory();
    let out = directory.path().to_str().unwrap();
    let output = dpbounds(&["reproduce", "--out", out, "--quick"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 13);
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let tables: Json = serde_json::from_str(&read("tables.json")).unwrap();
    let rows = tables["tables"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    for row in rows {
        assert_eq!(row["in interval"], true);
        let residual = row["our bound"].as_f64().unwrap() - row["printed bound"].as_f64().unwrap();
        assert!((residual - row["residual"].as_f64().unwrap()).abs() < 1e-15);
    }
    assert_eq!(read("tables.csv").lines().count(), 14);
    // The whole ledger, at its quick level: every verdict is the one on record.
    let ledger: Json = serde_json::from_str(&read("ledger/ledger.json")).unwrap();
    let claims = ledger["ledger"].as_array().unwrap();
    assert!(claims.len() > 100 && claims.iter().all(|claim| claim["as expected"] == true));
    assert!(read("ledger/report.md").contains("| K-F.8 Theorem F.8 |"));
    assert_eq!(read("ledger.csv").lines().count(), claims.len() + 3);
    let report = read("report.md");
    assert!(report.contains("# Ledger") && report.contains("| false as printed | 5 |"), "{report}");
    assert!(report.contains("12 of 12 agree") && report.contains("![accuracy-epsilon]"));
    for figure in
        ["ledger", "max-information-noise", "pac-bayes-table", "risk-steps", "training-curves"]
    {
        assert!(read(&format!("{figure}.svg")).contains("</svg>"));
        assert!(read(&format!("{figure}.csv")).starts_with("# dpbounds"));
        let png = std::fs::read(directory.path().join(format!("{figure}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000);
    }
    // A ledger that took long is not overwritten.
    let again = dpbounds(&["reproduce", "--out", out, "--quick"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("--resume"), "{}", stderr(&again));
}

#[test]
fn figures_are_listed_and_drawn_one_by_one() {
    let list = answer(&["figure", "list"]);
    let experiments = answer(&["experiment", "list", "--format", "csv"]).lines().count() - 1;
    assert_eq!(list.lines().count(), 9 + experiments, "{list}");
    let directory = directory();
    let out = directory.path().to_str().unwrap();
    let files = answer(&["figure", "pac-bayes-table", "--out", out, "--quick", "--format", "csv"]);
    assert_eq!(files.lines().count(), 4);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3);
}
