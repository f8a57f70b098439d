//! `dpbounds experiment` as a user meets it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

use crate::support::{answer, directory, dpbounds, stderr, stdout};

const TINY: &str = r#"
name = "tiny"
summary = "A test"
seeds = 3
fresh_init = true
[data]
name = "atoms:A4,n=16"
[model]
degree = 1
size = 2
width = 16
init = "greville"
[algorithm]
sampler = "fixed"
batch = 4
steps = 20
step_size = 0.5
clip = 1.0
kappa = 0.1
[measure]
excess = true
noise = true
population = true
[sweep]
lambda = [0, 0.5]
steps = [10, 20]
[[slope]]
axis = "steps"
response = "averaged-risk"
predicted = -1
allowed = [-3, 0]
why = "tests"
[quick]
seeds = 1
"#;

/// Runs an experiment file in a directory and gives the exit code with both outputs.
fn run(folder: &Path, out: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let (file, out) = (folder.join("tiny.toml"), folder.join(out));
    let words = ["experiment", "run", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let output = dpbounds(&[&words, options].concat());
    (output.status.code(), stdout(&output), stderr(&output))
}

fn good(folder: &Path, out: &str, options: &[&str]) -> String {
    let (code, text, message) = run(folder, out, options);
    assert_eq!(code, Some(0), "{message}");
    assert!(message.is_empty(), "{message}");
    text
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect()
}

fn tiny() -> tempfile::TempDir {
    let folder = directory();
    std::fs::write(folder.path().join("tiny.toml"), TINY).unwrap();
    folder
}

#[test]
fn a_run_writes_complete_files_that_say_where_they_come_from() {
    let folder = tiny();
    let table = good(folder.path(), "a", &["--threads", "1"]);
    assert!(table.contains("averaged-risk") && table.contains("agrees"), "{table}");
    let written = files(&folder.path().join("a"));
    let names: Vec<&str> = written.keys().map(String::as_str).collect();
    assert_eq!(names, ["experiment.json", "runs.jsonl", "slopes.json", "summary.csv"]);
    let text = |name: &str| String::from_utf8(written[name].clone()).unwrap();
    for name in names {
        let text = text(name);
        assert!(text.contains("dpbounds experiment run ") && text.contains("seed"), "{name}");
        assert!(text.contains(env!("CARGO_PKG_VERSION")), "{name}");
    }
    let runs: Vec<Json> =
        text("runs.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(runs.len(), 12);
    let places: Vec<(u64, u64)> = runs
        .iter()
        .map(|run| (run["point"].as_u64().unwrap(), run["seed"].as_u64().unwrap()))
        .collect();
    assert!(places.is_sorted());
    let outcome = &runs[0]["outcome"];
    assert_eq!(outcome["averaged_risk"]["kind"], "exact");
    assert!(outcome["noise_excess"].is_number() && outcome["noise_norm"].as_f64().unwrap() > 0.0);
    assert_eq!(outcome["population_exact"], true);
    // `show` says the same.
    let out = folder.path().join("a");
    assert_eq!(answer(&["experiment", "show", out.to_str().unwrap()]), table);
}

#[test]
fn threads_and_interruptions_do_not_change_a_byte() {
    let folder = tiny();
    good(folder.path(), "a", &["--threads", "1"]);
    good(folder.path(), "b", &["--threads", "2"]);
    let whole = files(&folder.path().join("a"));
    assert_eq!(files(&folder.path().join("b")), whole);
    let lines: Vec<&[u8]> = whole["runs.jsonl"].split_inclusive(|byte| *byte == b'\n').collect();
    // Killed after some runs, in the middle of a line.
    let cut = [lines[7], lines[2], &lines[4][..lines[4].len() / 2]].concat();
    let untouched = [lines[7], lines[2]].concat();
    for part in [cut, untouched, Vec::new(), lines.concat()] {
        let out = folder.path().join("c");
        std::fs::create_dir(&out).unwrap();
        std::fs::write(out.join("experiment.json"), &whole["experiment.json"]).unwrap();
        std::fs::write(out.join("runs.part.jsonl"), part).unwrap();
        good(folder.path(), "c", &["--resume"]);
        assert_eq!(files(&out), whole);
        std::fs::remove_dir_all(out).unwrap();
    }
    // Killed before anything, and resumed when all is done.
    good(folder.path(), "d", &["--resume"]);
    good(folder.path(), "d", &["--resume"]);
    assert_eq!(files(&folder.path().join("d")), whole);
}

#[test]
fn what_a_killed_process_was_writing_is_removed_and_nothing_else() {
    let folder = tiny();
    good(folder.path(), "a", &["--quick"]);
    let whole = files(&folder.path().join("a"));
    for name in [".dpbounds-aB3xY9.unfinished", ".dpbounds-mine", "x.unfinished", ".tmpabc"] {
        std::fs::write(folder.path().join("a").join(name), "half").unwrap();
    }
    let (code, ..) = run(folder.path(), "a", &["--quick"]);
    assert_eq!(
        (code, files(&folder.path().join("a")).len()),
        (Some(2), whole.len() + 4),
        "refused"
    );
    good(folder.path(), "a", &["--quick", "--resume"]);
    let left = files(&folder.path().join("a"));
    let names: Vec<&str> =
        left.keys().filter(|name| !whole.contains_key(*name)).map(String::as_str).collect();
    assert_eq!(names, [".dpbounds-mine", ".tmpabc", "x.unfinished"]);
    assert!(whole.iter().all(|(name, bytes)| left[name] == *bytes));
}

#[cfg(unix)]
#[test]
fn a_killed_process_goes_on_where_it_stopped() {
    let folder = tiny();
    let long = TINY.replace("steps = [10, 20]", "steps = [4000, 8000]");
    std::fs::write(folder.path().join("tiny.toml"), long).unwrap();
    let (file, out) = (folder.path().join("tiny.toml"), folder.path().join("a"));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_dpbounds"))
        .args(["experiment", "run", file.to_str().unwrap(), "--threads", "1"])
        .args(["--out", out.to_str().unwrap()])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let part = out.join("runs.part.jsonl");
    for _ in 0..2000 {
        if part.metadata().is_ok_and(|part| part.len() > 0) || out.join("runs.jsonl").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    good(folder.path(), "a", &["--resume"]);
    good(folder.path(), "b", &[]);
    assert_eq!(files(&out), files(&folder.path().join("b")));
}

#[test]
fn a_changed_file_of_atoms_is_another_experiment() {
    let folder = directory();
    let atoms = folder.path().join("own.csv");
    let write = |copies: u32| {
        let text = format!("x,label,multiplicity\n-0.5,-1,2\n0.25,1,{copies}\n0.5,1,1\n");
        std::fs::write(&atoms, text).unwrap();
    };
    write(1);
    let text = TINY.replace("atoms:A4,n=16", &format!("atoms:{}", atoms.display()));
    std::fs::write(folder.path().join("tiny.toml"), text).unwrap();
    good(folder.path(), "a", &["--quick"]);
    good(folder.path(), "a", &["--quick", "--resume"]);
    write(3);
    let (code, _, message) = run(folder.path(), "a", &["--quick", "--resume"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("another experiment"), "{message}");
}

#[test]
fn results_are_never_mixed_or_overwritten() {
    let folder = tiny();
    good(folder.path(), "a", &["--quick"]);
    let before = files(&folder.path().join("a"));
    let (code, _, message) = run(folder.path(), "a", &["--quick"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("holds an experiment already") && message.contains("--resume"));
    let (code, _, message) = run(folder.path(), "a", &["--resume"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("another experiment") && message.contains("--quick"), "{message}");
    assert_eq!(files(&folder.path().join("a")), before);
    let changed = String::from_utf8(before["runs.jsonl"].clone()).unwrap();
    std::fs::write(folder.path().join("a/runs.jsonl"), changed.replacen("key", "kex", 1)).unwrap();
    let (code, _, message) = run(folder.path(), "a", &["--resume", "--quick"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("runs.jsonl, line 1"), "{message}");
}

#[test]
fn every_bad_experiment_is_one_clear_complaint_before_anything_runs() {
    let folder = directory();
    for (from, to, parts) in [
        ("seeds = 3", "seeds = [3", vec!["tiny.toml, line 5, column"]),
        ("steps = 20", "stepss = 20", vec!["line 16, column 1", "did you mean \"steps\""]),
        ("name = \"atoms:A4,n=16\"", "nmae = \"x\"", vec!["line 7", "\"name\""]),
        ("batch = 4", "batch = 17", vec!["lambda = 0", "batches of 17", "16", "smaller batch"]),
        ("degree = 1", "degree = 0", vec!["degree = 0", "1 to"]),
        ("size = 2", "size = 1", vec!["size = 1", "degree + 1"]),
        ("width = 16", "width = 15", vec!["width = 15", "even"]),
        ("width = 16", "width = 0", vec!["width = 0"]),
        ("clip = 1.0", "", vec!["kappa is 0.1", "without clipping"]),
        ("lambda = [0, 0.5]", "lambda = [2]", vec!["lambda is 2", "[0, 1]"]),
        ("steps = [10, 20]", "steps = [0]", vec!["sweep.steps = 0"]),
        ("A4,n=16", "A4,n=17", vec!["[data]", "17"]),
        ("atoms:A4,n=16", "irris", vec!["[data]", "irris", "iris"]),
        ("atoms:A4,n=16", "iris", vec!["measure.population", "held_out"]),
        ("lambda = [0, 0.5]", "separation = [1]", vec!["[data]", "separation"]),
        ("allowed = [-3, 0]", "", vec!["slope.allowed"]),
        ("allowed = [-3, 0]", "allowed = [-3, 0]\nbound = \"upper\"", vec!["without allowed"]),
        ("allowed = [-3, 0]", "bound = \"lower\"", vec!["\"lower\"", "upper"]),
        ("axis = \"steps\"", "axis = \"ntk_margin\"", vec!["slope.axis", "swept"]),
        ("predicted", "optimise = \"steps\"\npredicted", vec!["slope.optimise = steps"]),
        ("predicted", "optimise = \"width\"\npredicted", vec!["slope.optimise = width"]),
        ("predicted", "via = \"kappa\"\npredicted", vec!["via", "epsilon"]),
        ("excess = true", "mirror = true", vec!["measure.mirror", "excess"]),
        ("excess = true", "anchor = 3", vec!["measure.anchor = 3", "every = 0"]),
        ("steps = [10, 20]", "ntk_margin = [1]", vec!["sweep.ntk_margin", "gamma instead"]),
        ("A4,n=16", "A4,gamma=0.8,n=16", vec!["[data]", "atoms: gamma", "0.8"]),
    ] {
        std::fs::write(folder.path().join("tiny.toml"), TINY.replacen(from, to, 1)).unwrap();
        let (code, text, message) = run(folder.path(), "out", &[]);
        assert_eq!(code, Some(2), "{to}: {message}");
        assert!(message.starts_with("error: ") && message.lines().count() == 1, "{message}");
        assert!(message.contains("tiny.toml") && text.is_empty(), "{to}: {message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{to}: {message}");
        assert!(!folder.path().join("out").exists(), "{to}");
    }
    std::fs::write(folder.path().join("tiny.toml"), b"name = \"\xff\"\n").unwrap();
    assert!(run(folder.path(), "out", &[]).2.contains("line 1: the text is not UTF-8"));
    for (words, parts) in [
        (vec!["run", "cumulative-nose", "--out", "x"], ["cumulative-nose", "cumulative-noise"]),
        (vec!["run", "none.toml", "--out", "x"], ["cannot read", "none.toml"]),
        (vec!["show", "no-such-directory"], ["no-such-directory", "experiment run"]),
    ] {
        let output = dpbounds(&[&["experiment"], &words[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(parts.iter().all(|part| stderr(&output).contains(part)), "{}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written_is_named_and_nothing_is_lost() {
    let folder = tiny();
    std::fs::write(folder.path().join("file"), "kept").unwrap();
    let (code, _, message) = run(folder.path(), "file/out", &[]);
    assert_eq!(code, Some(2));
    assert!(message.contains("cannot write") && message.contains("file/out"), "{message}");
    assert_eq!(std::fs::read(folder.path().join("file")).unwrap(), b"kept");
    // Files of at most 8 blocks: the part file is full after a few runs, like a disk.
    let (file, out) = (folder.path().join("tiny.toml"), folder.path().join("full"));
    let command = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} experiment run {} --out {} --threads 1",
        env!("CARGO_BIN_EXE_dpbounds"),
        file.display(),
        out.display()
    );
    let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("cannot write") && message.contains("runs.part.jsonl"), "{message}");
    assert!(message.contains("--resume"), "{message}");
    let left = files(&out);
    let names: Vec<&str> = left.keys().map(String::as_str).collect();
    assert_eq!(names, ["experiment.json", "runs.part.jsonl"]);
    assert!(left["runs.part.jsonl"].ends_with(b"}\n"), "only complete lines are left");
    good(folder.path(), "full", &["--resume"]);
    good(folder.path(), "whole", &[]);
    assert_eq!(files(&out), files(&folder.path().join("whole")));
}

const VARIED: &str = r#"
name = "tiny"
seeds = 3
fresh_init = true
[data]
name = "atoms:A4,n=40"
[model]
degree = 1
size = 2
width = 16
init = "greville"
[algorithm]
sampler = "fixed"
batch = 8
steps = 40
step_size = 0.5
[measure]
every = 0
margin = true
[sweep]
gamma = [0.2, 0.4, 0.7]
steps = [10, 40]
[[slope]]
axis = "ntk_margin"
response = "averaged-risk"
optimise = "steps"
predicted = 0
bound = "upper"
"#;

#[test]
fn estimates_margins_bounds_and_optima_are_told() {
    let folder = directory();
    std::fs::write(folder.path().join("tiny.toml"), VARIED).unwrap();
    let table = good(folder.path(), "a", &["--format", "json"]);
    let row = &serde_json::from_str::<Json>(&table).unwrap()["slopes"][0];
    assert_eq!((&row["least over"], &row["allowed"]), (&"steps".into(), &"at most 0".into()));
    // The longest horizon has the least risk: no minimum was found.
    assert_eq!(row["verdict"], "undecided");
    assert!(row["note"].as_str().unwrap().contains("at an end of the values of steps"), "{row}");
    let written = files(&folder.path().join("a"));
    let text = |name: &str| std::str::from_utf8(&written[name]).unwrap().to_owned();
    let slopes: Json = serde_json::from_str(&text("slopes.json")).unwrap();
    let slope = &slopes["slopes"][0];
    assert_eq!(slope["optima"], serde_json::json!([40.0, 40.0, 40.0]));
    let first: Json = serde_json::from_str(text("runs.jsonl").lines().next().unwrap()).unwrap();
    let outcome = &first["outcome"];
    assert_eq!(outcome["averaged_risk"]["kind"], "estimated");
    assert_eq!(outcome["averaged_risk"]["anchors"], 2, "at steps 0 and 5 of 10");
    let margins: Vec<f64> =
        slope["points"].as_array().unwrap().iter().map(|p| p[0].as_f64().unwrap()).collect();
    assert!(margins.is_sorted() && margins[2] < 0.7, "{margins:?}");
    assert!(slope["slope"].as_f64().unwrap() < 0.0);
    // Without the optimum each horizon has a slope of its own, below the bound.
    let each = VARIED.replace("optimise = \"steps\"\n", "");
    std::fs::write(folder.path().join("tiny.toml"), each).unwrap();
    let table = good(folder.path(), "b", &["--format", "csv"]);
    assert_eq!(table.matches("within the bound").count(), 2, "{table}");
    // A bound that is broken is a failure.
    let broken = VARIED.replace("optimise = \"steps\"\npredicted = 0", "predicted = -3");
    std::fs::write(folder.path().join("tiny.toml"), broken).unwrap();
    let (code, text, _) = run(folder.path(), "c", &[]);
    assert!(code == Some(1) && text.contains("disagrees"), "{code:?} {text}");
}

#[test]
fn the_speed_is_one_line_of_json() {
    let line = answer(&["experiment", "bench", "--workload", "W3", "--seconds", "0.01"]);
    assert_eq!(line.lines().count(), 1);
    let json: Json = serde_json::from_str(&line).unwrap();
    for (key, value) in [("impl", "dpbounds"), ("workload", "W3"), ("dtype", "f32")] {
        assert_eq!(json[key], value);
    }
    assert!(json["mode"].as_str().unwrap().starts_with(std::env::consts::ARCH), "{json}");
    for key in ["steps_per_s", "quiet_steps_per_s", "p50_ms", "p10_ms", "examples_per_s"] {
        assert!(json[key].as_f64().unwrap() > 0.0, "{key}: {json}");
    }
    assert!(json["timed_steps"].as_u64().unwrap() >= 5 && json["threads"] == 1);
    assert!(json["noise"] == 1 && json.get("rss_mb").is_some());
}

#[test]
fn the_list_names_every_built_in_experiment() {
    let document: Json =
        serde_json::from_str(&answer(&["experiment", "list", "--format", "json"])).unwrap();
    let all = document["experiments"].as_array().unwrap();
    assert!(all.len() >= 3);
    assert!(all.iter().all(|one| !one["summary"].as_str().unwrap().is_empty()));
    for format in ["table", "csv"] {
        let lines = answer(&["experiment", "list", "--format", format]).lines().count();
        assert_eq!(lines, 1 + all.len());
    }
}

#[test]
fn a_finished_experiment_is_drawn_and_resumed_with_its_curves() {
    let folder = tiny();
    let text = TINY.replace("[measure]", "[measure]\ncurve = 8");
    std::fs::write(folder.path().join("tiny.toml"), text).unwrap();
    good(folder.path(), "a", &[]);
    let whole = files(&folder.path().join("a"));
    let runs = String::from_utf8(whole["runs.jsonl"].clone()).unwrap();
    let run: Json = serde_json::from_str(runs.lines().last().unwrap()).unwrap();
    let curve = &run["outcome"]["curve"];
    assert_eq!(curve["steps"], serde_json::json!([0, 8, 16, 19]));
    assert_eq!(curve["risk"][3], run["outcome"]["final_risk"]);
    assert_eq!(curve["population_risk"].as_array().unwrap().len(), 4);
    assert_eq!(curve["distance"][3], run["outcome"]["distance"]);
    let out = folder.path().join("b");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("experiment.json"), &whole["experiment.json"]).unwrap();
    std::fs::write(out.join("runs.part.jsonl"), runs.lines().next().unwrap()).unwrap();
    good(folder.path(), "b", &["--resume"]);
    assert_eq!(files(&out), whole);
    let (from, to) = (folder.path().join("a"), folder.path().join("figures"));
    let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
    let table = answer(&["figure", "--from", from, "--out", to, "--format", "csv"]);
    assert_eq!(table.lines().filter(|line| line.starts_with("tiny,")).count(), 6, "{table}");
    let drawn = files(Path::new(to));
    let names: Vec<&str> = drawn.keys().map(String::as_str).collect();
    let kinds = ["csv", "png", "svg"];
    let expected = ["tiny-curves.", "tiny."].map(|stem| kinds.map(|kind| format!("{stem}{kind}")));
    assert_eq!(names, expected.concat());
    let csv = String::from_utf8(drawn["tiny.csv"].clone()).unwrap();
    let lines: Vec<&str> = csv.lines().take(2).collect();
    assert!(lines[0].starts_with("# dpbounds ") && lines[0].contains("figure --from"), "{csv}");
    assert!(lines[1].contains("experiment run ") && lines[1].contains("seeds 0 to 2"), "{csv}");
    assert_eq!(files(Path::new(from)), whole, "drawing changes nothing");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let folder = tiny();
    let plain = TINY.split("[[slope]]").next().unwrap();
    std::fs::write(folder.path().join("tiny.toml"), plain).unwrap();
    good(folder.path(), "a", &[]);
    let (from, to) = (folder.path().join("a"), folder.path().join("figures"));
    let figure = |from: &Path| {
        let words = ["figure", "--from", from.to_str().unwrap(), "--out", to.to_str().unwrap()];
        let output = dpbounds(&words);
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    let message = figure(&from);
    assert!(message.contains("\"tiny\"") && message.contains("[[slope]]"), "{message}");
    let message = figure(folder.path());
    assert!(message.contains("holds no finished experiment"), "{message}");
    std::fs::rename(from.join("runs.jsonl"), from.join("runs.part.jsonl")).unwrap();
    assert!(figure(&from).contains("holds no finished experiment"));
}

const CERTIFIED: &str = r#"
name = "certified"
seeds = 2
fresh_init = true
[data]
name = "atoms:A4,n=1000000"
[model]
degree = 1
size = 2
width = 2000
init = "greville"
[algorithm]
sampler = "full"
steps = 60
step_size = 0.5
[sweep]
step_size = [0.5, 1e4]
[certificate]
claims = ["probability", "expectation"]
"#;

#[test]
fn a_measured_value_above_a_proven_one_ends_with_status_1() {
    let folder = directory();
    std::fs::write(folder.path().join("tiny.toml"), CERTIFIED).unwrap();
    let table = good(folder.path(), "a", &[]);
    // The absurd step size has no certificate, and the table says which hypothesis fails.
    assert!(table.contains("below") && table.contains("no certificate"), "{table}");
    assert!(table.contains("hypothesis fails"), "{table}");
    let out = folder.path().join("a");
    let summary = std::fs::read_to_string(out.join("summary.csv")).unwrap();
    assert!(summary.contains("probability_certified,probability_measured,probability_ratio"));
    let path = out.join("runs.jsonl");
    let runs = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<Json> =
        runs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let bound = lines[0]["certificates"][0]["upper"].as_f64().unwrap();
    let measured = lines[0]["outcome"]["averaged_risk"]["value"].as_f64().unwrap();
    assert!(measured < bound && bound < 0.5, "{measured} {bound}");
    assert_eq!(lines[0]["certificates"][0]["route"], "S-GD");
    assert_eq!(lines[0]["certificates"][0]["failure"], 0.0);
    // A planted violation.
    lines[0]["outcome"]["averaged_risk"]["value"] = (bound + 1e-6).into();
    let planted: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    std::fs::write(&path, planted).unwrap();
    let output = dpbounds(&["experiment", "show", out.to_str().unwrap(), "--format", "csv"]);
    assert_eq!(output.status.code(), Some(1));
    let violated = stdout(&output);
    assert_eq!(violated.matches("VIOLATED").count(), 1, "{violated}");
}
