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

#[test]
fn data_are_chosen_and_scaled_as_by_data_prepare() {
    let folder = directory();
    let network = "--width 40 --degree 3 --size 4 --format csv";
    let raw = folder.path().join("raw.csv");
    std::fs::write(&raw, "a;b;kind;more\n0;9;x;1\n50;9;x;0\n150;9;z;1\n200;9;z;1\n90;9;w;1\n")
        .unwrap();
    let raw = raw.display();
    let options = "--label kind --drop b,4 --delimiter ; --header yes --classes x,z --scale cube --range 0:200";
    let prepared = folder.path().join("prepared.csv");
    let prepared = prepared.display();
    answer(&words(&format!("data prepare {raw} {options} --output {prepared}")));
    let lower = |text: &str| -> String {
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        let column = lines[0].iter().position(|name| *name == "lower").unwrap();
        lines[1][column].to_owned()
    };
    let direct = answer(&words(&format!("margin --data {raw} {options} {network}")));
    let through_file = answer(&words(&format!("margin --data {prepared} {network}")));
    assert_eq!(lower(&direct), lower(&through_file));
    assert!(lower(&direct).parse::<f64>().unwrap() > 0.0, "{direct}");
    // A ball of a known radius brings the points closer together.
    let ball = options.replace("--scale cube --range 0:200", "--scale ball --radius 2000");
    let ball = answer(&words(&format!("margin --data {raw} {ball} {network}")));
    assert!(lower(&ball) != lower(&direct), "{ball}");
    let fresh = |more: &str| {
        answer(&words(&format!("margin --data margin:n=20,gamma=0.3 {more} {network}")))
    };
    assert_ne!(lower(&fresh("")), lower(&fresh("--held-out")));
    for (more, said) in [("--radius 1", "radius"), ("--label x", "label"), ("--scale x", "scale")] {
        let output = dpbounds(&words(&format!("margin --data atoms:A4 {more} {network}")));
        assert_eq!(output.status.code(), Some(2), "{more}");
        assert!(stderr(&output).contains(said), "{more}: {}", stderr(&output));
    }
}
