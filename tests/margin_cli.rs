//! `dpbounds margin` as a user meets it.

use serde_json::Value as Json;

use crate::support::{answer, directory, dpbounds, stderr};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn the_reference_network_has_its_margin_and_comparator() {
    let line = "margin --data atoms:A4 --width 2000 --degree 1 --size 2 --init greville \
                --horizon 333.1008954502915 --format json";
    let document: Json = serde_json::from_str(&answer(&words(line))).unwrap();
    let text = document.to_string();
    assert!(text.contains("0.37404562"), "{text}");
    assert!(text.contains("7.01677285") && text.contains("0.0538193"), "{text}");
    assert!(text.contains("proven"), "{text}");
}

#[test]
fn contradictions_and_bad_sizes_are_told() {
    let folder = directory();
    let path = folder.path().join("both.csv");
    std::fs::write(&path, "x,label\n0.5,-1\n0.5,1\n-0.2,1\n").unwrap();
    let file = path.display();
    let text =
        answer(&words(&format!("margin --data {file} --width 20 --degree 3 --size 4 --seed 1,2")));
    assert!(text.contains("both labels"), "{text}");
    for (options, said) in [
        ("--width 3 --degree 3 --size 4 --init greville", "width"),
        ("--width 1e15 --degree 3 --size 4", "width"),
        ("--width 4 --degree 3 --size 3", "size"),
        ("--width 4 --degree 0 --size 3", "degree"),
        ("--width 4 --degree 3 --size 4 --horizon 0", "horizon"),
    ] {
        let output = dpbounds(&words(&format!("margin --data {file} {options}")));
        assert_eq!(output.status.code(), Some(2), "{options}");
        assert!(stderr(&output).contains(said), "{options}: {}", stderr(&output));
    }
}
