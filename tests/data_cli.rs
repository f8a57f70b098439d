//! `dpbounds data` as a user meets it.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use crate::support::{answer, directory, dpbounds, stderr, stdout};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn described(line: &str) -> Json {
    let document: Json =
        serde_json::from_str(&answer(&words(&format!("{line} --format json")))).unwrap();
    document["data"][0].clone()
}

/// The complaint about a file with these bytes: one line, exit code 2, nothing on standard output.
fn complaint(folder: &Path, name: &str, bytes: &[u8], options: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    let line = format!("data prepare {} {options}", path.display());
    let output = dpbounds(&words(&line));
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{line}: {message}");
    assert!(stdout(&output).is_empty() && message.lines().count() == 1, "{line}: {message}");
    assert!(message.starts_with("error: ") && message.contains(name), "{line}: {message}");
    message
}

#[test]
fn the_list_tells_size_classes_licence_and_how_to_get_a_set() {
    let document: Json = serde_json::from_str(&answer(&words("data list --format json"))).unwrap();
    let sets = document["data"].as_array().unwrap();
    let find = |name: &str| sets.iter().find(|set| set["name"] == name).unwrap();
    assert_eq!((&find("digits")["n"], &find("digits")["d"]), (&1797.0.into(), &64.0.into()));
    assert!(find("wine")["licence"].as_str().unwrap().contains("CC BY 4.0"));
    assert!(find("atoms")["n"].is_null());
    let fashion = find("fashion-mnist");
    let how = fashion["how to get it"].as_str().unwrap();
    assert!(fashion["available"] == true || how.contains("apt-get install dataset-fashion-mnist"));
    for format in ["table", "csv"] {
        assert_eq!(answer(&["data", "list", "--format", format]).lines().count(), 1 + sets.len());
    }
    // Every set that is at hand can be prepared as the list says.
    for set in sets.iter().filter(|set| set["how to get it"] != how) {
        let name = match set["how to get it"].as_str().unwrap() {
            "inside the program" => set["name"].as_str().unwrap(),
            example => example,
        };
        answer(&["data", "prepare", name]);
    }
}

#[test]
fn a_prepared_file_is_complete_described_and_read_again() {
    let directory = directory();
    for line in [
        "atoms:X4,n=1e6",
        "clusters:n=50,d=3 --seed 5",
        "wine --classes class_0,class_1+class_2",
        "digits --classes odd,even",
        "iris --scale ball",
    ] {
        let path = directory.path().join("prepared.csv");
        let row = described(&format!("data prepare {line} --output {}", path.display()));
        let bytes = std::fs::read(&path).unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(text.starts_with("# dpbounds "), "{text}");
        assert!(text.contains(line.split(' ').next().unwrap()));
        let body: Vec<_> = text.lines().filter(|line| !line.starts_with("# ")).collect();
        assert_eq!(Some((body.len() - 1) as f64), row["rows"].as_f64());
        let columns = row["d"].as_f64().unwrap() as usize + 1 + usize::from(line.contains("atoms"));
        assert!(body.iter().all(|row| row.split(',').count() == columns), "{line}");
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            1,
            "no other file is left"
        );
        if let Ok(sum) = Command::new("sha256sum").arg(&path).output() {
            let sum = String::from_utf8(sum.stdout).unwrap();
            assert!(sum.starts_with(row["file sha256"].as_str().unwrap()));
        }
        let again = described(&format!("data prepare {}", path.display()));
        for key in ["n", "rows", "d", "negative count", "positive count", "data sha256"] {
            assert_eq!(again[key], row[key], "{line}: {key}");
        }
    }
}

#[test]
fn seeds_and_parts_decide_the_sample() {
    let sum = |line: &str| described(&format!("data prepare {line}"))["data sha256"].clone();
    let first = sum("teacher:n=100 --seed 1");
    assert_eq!(sum("teacher:n=100 --seed 1"), first);
    assert_ne!(sum("teacher:n=100 --seed 2"), first);
    assert_ne!(sum("teacher:n=100 --seed 1 --held-out"), first);
    assert_eq!(sum("atoms:A4,n=400"), sum("atoms:A4,n=400 --held-out"));
}

#[test]
fn atoms_of_ones_own_are_a_distribution() {
    let directory = directory();
    let path = directory.path().join("own.csv");
    std::fs::write(&path, "x,label,multiplicity\n-0.5,-1,1\n0.25,1,2\n0.5,1,1\n").unwrap();
    let row =
        |parameters: &str| described(&format!("data prepare atoms:{}{parameters}", path.display()));
    let (n, positive) = (&row("")["n"], &row(",n=400")["positive count"]);
    assert_eq!((n, positive), (&4.0.into(), &300.0.into()));
    let drawn = row(",n=400,draw=independent");
    assert_eq!(drawn["n"], 400.0);
    assert_ne!(drawn["data sha256"], row(",n=400")["data sha256"]);
    let output = dpbounds(&words(&format!("data prepare atoms:{},n=5", path.display())));
    assert!(stderr(&output).contains("multiples of 4"), "{}", stderr(&output));
}

#[test]
fn what_is_private_about_the_scaling_is_said() {
    let note = "not private";
    assert!(answer(&words("data prepare breast-cancer")).contains(note));
    assert!(!answer(&words("data prepare digits")).contains(note));
    let output = dpbounds(&words("data prepare breast-cancer --format csv"));
    assert!(stderr(&output).contains(note) && !stdout(&output).contains(note));
    assert!(!answer(&words("data prepare iris --scale cube --range 0:10")).contains(note));
    assert!(!answer(&words("data prepare iris --scale ball --radius 12")).contains(note));
}

#[test]
fn the_users_table_is_understood() {
    let directory = directory();
    let path = directory.path().join("mine.csv");
    std::fs::write(&path, "id;u;kind;v\n1;0;B;5\n2;3;M;7\n3;1;X;6\n4;2;B;9\n").unwrap();
    let out = directory.path().join("out.csv");
    let line = format!(
        "data prepare {} --delimiter ; --label kind --drop id --classes B,M --scale cube --range \
         0:4,5:9 --output {}",
        path.display(),
        out.display()
    );
    let text = answer(&words(&line));
    assert!(text.contains("label -1    2 (B)") && text.contains("label +1    1 (M)"), "{text}");
    let written = std::fs::read_to_string(&out).unwrap();
    assert!(written.ends_with("u,v,label\n-1,-1,-1\n0.5,0,1\n0,1,-1\n"), "{written}");
}

#[test]
fn every_bad_table_is_refused_by_file_line_and_column() {
    let directory = directory();
    let bad = |text: &str, options: &str, parts: &[&str]| {
        let message = complaint(directory.path(), "bad.csv", text.as_bytes(), options);
        for part in parts {
            assert!(message.contains(part), "{text:?}: {message}");
        }
    };
    bad("0.1,a\n0.2,a\n", "", &["the one class \"a\"", "two classes are needed"]);
    bad("u,v,k\n0,0,a\n0,,b\n", "", &["line 3, column 2 (v)", "missing", "drop"]);
    bad("u,k\n0,a\n\n1,b\n", "", &["line 3", "empty", "remove it"]);
    bad("u,k\n0,a\n1,b,c\n", "", &["line 3", "3 fields", "first row has 2"]);
    bad("u,k\n0,a\ninf,b\n", "", &["line 3, column 1 (u)", "\"inf\" is not a finite number"]);
    bad("u,k\n0,a\nten,b\n", "", &["line 3, column 1 (u)", "\"ten\" is not a number"]);
    bad("u,k\n0,a\n1.5,b\n", "", &["line 3, column 1 (u)", "outside [-1, 1]", "cube or ball"]);
    bad("u,k\n7,a\n7,b\n", "--scale cube", &["column 1 (u)", "the one value 7", "range"]);
    bad("u,k\n7,a\n9,b\n", "--scale cube --range 0:8", &["line 3", "9 is outside", "widen"]);
    bad("u,k\n0,a\n1,b\n2,c\n", "", &["3 classes (a, b, c)", "choose two"]);
    bad("u,k\n0,a\n1,b\n", "--classes a,c", &["\"c\" does not occur", "a, b"]);
    bad("u,k\n0,a\n1,b\n", "--label w", &["no column \"w\"", "u, k"]);
    bad("u;k\n0;a\n", "", &["leaves no feature", "delimiter"]);
    bad("u,k\n", "", &["no rows"]);
    bad(&("0,".repeat(999_999) + "a\n"), "", &["line 1", "1000000 columns", "65536"]);
    let not_text = complaint(directory.path(), "bad.csv", b"u,k\n0,\xe9\n", "");
    assert!(not_text.contains("line 2: byte 3") && not_text.contains("UTF-8"), "{not_text}");
}

#[test]
fn every_bad_binary_file_is_refused() {
    let directory = directory();
    let folder = directory.path();
    let packed =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/data/digits.csv.gz"))
            .unwrap();
    let truncated = complaint(folder, "cut.csv.gz", &packed[..packed.len() / 2], "");
    assert!(truncated.contains("truncated"), "{truncated}");
    let images = [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2][..], &[0, 255, 7, 9]].concat();
    let labels = folder.join("labels");
    let with = |bytes: &[u8]| {
        std::fs::write(&labels, bytes).unwrap();
        format!("--labels {}", labels.display())
    };
    let good = with(&[0, 0, 8, 1, 0, 0, 0, 2, 4, 9]);
    let alone = complaint(folder, "images", &images, "");
    assert!(alone.contains("name the file of its labels"), "{alone}");
    let magic = complaint(folder, "images", b"PK\x03\x04 and more", &good);
    assert!(magic.contains("50 4b 03 04") && magic.contains("magic"), "{magic}");
    let short = complaint(folder, "images", &images[..18], &good);
    assert!(short.contains("promises 4 bytes of data but 2 follow"), "{short}");
    let counts = complaint(folder, "images", &images, &with(&[0, 0, 8, 1, 0, 0, 0, 1, 4]));
    assert!(counts.contains("2 images but 1 labels"), "{counts}");
    std::fs::write(folder.join("images"), &images).unwrap();
    let good = with(&[0, 0, 8, 1, 0, 0, 0, 2, 4, 9]);
    let row = described(&format!("data prepare {} {good}", folder.join("images").display()));
    assert_eq!((&row["n"], &row["negative class"]), (&2.0.into(), &"4".into()));
}

#[test]
fn what_is_nowhere_is_said_and_nothing_is_half_written() {
    let directory = directory();
    let out = directory.path().join("absent").join("out.csv");
    for (line, parts) in [
        ("data prepare nowhere.csv", ["neither a data set nor a file", "check the path"]),
        ("data prepare spirals:n=5", ["neither a data set nor a file", "clusters"]),
        ("data prepare clusters:n=1", ["n = 1 is out of range", "2 to"]),
        ("data prepare clusters:sprd=1", ["clusters: sprd", "separation, spread"]),
        ("data prepare xor:d=1", ["d = 1 is out of range", "2 to"]),
        ("data prepare iris --label 3", ["label", "leave it out"]),
        ("data prepare iris --classes rose,setosa", ["\"rose\" does not occur", "versicolor"]),
        ("data prepare iris --held-out", ["iris", "no held-out part"]),
        (&format!("data prepare iris --output {}", out.display()), ["cannot write", "path"]),
    ] {
        let output = dpbounds(&words(line));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{line}: {message}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let fashion = dpbounds(&words("data prepare fashion-mnist --classes Sneaker,Bag"));
    if !fashion.status.success() {
        assert!(stderr(&fashion).contains("apt-get install dataset-fashion-mnist"));
    }
}
