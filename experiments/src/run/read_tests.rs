use super::*;

const GOOD: &str = r#"
name = "t"
seeds = 2
[data]
name = "atoms:A4"
[model]
degree = 1
size = 2
width = 8
[algorithm]
sampler = "full"
steps = 10
step_size = 0.5
[sweep]
lambda = [0, 0.5]
steps = [10, 20, 40]
[[slope]]
axis = "steps"
response = "averaged-risk"
predicted = -1
allowed = [-1.1, -0.6]
[quick]
seeds = [7]
sweep = { steps = [5, 6] }
"#;

#[test]
fn a_good_file_gives_its_points_and_its_quick_form() {
    let spec = Spec::parse("t.toml", GOOD).unwrap();
    let points = spec.points();
    assert_eq!(points.len(), 6);
    assert_eq!(points[1], BTreeMap::from([(Axis::Steps, 10.0), (Axis::Lambda, 0.5)]));
    let quick = spec.quick();
    assert_eq!((quick.points().len(), quick.seeds.all()), (4, vec![7]));
}

#[test]
fn bad_files_are_refused_with_the_place_and_the_remedy() {
    for (from, to, parts) in [
        ("seeds = 2", "seeds = = 2", ["line 3, column 9", "t.toml"]),
        ("seeds = 2", "seeds = 0", ["seeds = []", "one or more"]),
        ("seeds = 2", "seeds = \"x\"", ["line 3", "a number such as 5"]),
        ("width = 8", "widht = 8", ["line 9, column 1", "did you mean \"width\""]),
        ("degree = 1", "degree = 1\nzzz = 1", ["\"zzz\" is unknown", "degree, size"]),
        ("name = \"atoms:A4\"", "name = \"x\"\nlabell = \"y\"", ["labell", "\"label\""]),
        ("lambda = [0, 0.5]", "lamda = [0]", ["\"lamda\"", "\"lambda\""]),
        ("steps = [10, 20, 40]", "steps = [10.5]", ["sweep.steps = 10.5", "whole numbers"]),
        ("steps = [10, 20, 40]", "steps = []", ["sweep.steps", "one or more"]),
        ("lambda = [0, 0.5]", "epsilon = [1]", ["sweep.epsilon", "[privacy]"]),
        ("axis = \"steps\"", "axis = \"kappa\"", ["slope.axis = kappa", "swept"]),
        ("averaged-risk", "noise-excess", ["slope.response", "measure.excess"]),
        (
            "[[slope]]",
            "[measure]\ncurve = 10\n[[slope]]",
            ["measure.curve = 10", "1 to 9 at T = 10"],
        ),
        // The quick form is shorter.
        ("[[slope]]", "[measure]\ncurve = 5\n[[slope]]", ["measure.curve = 5", "1 to 4 at T = 5"]),
        ("[[slope]]", "[measure]\ncurve = -1\n[[slope]]", ["line 18", "-1"]),
        (
            "steps = [10, 20, 40]",
            "steps = [1e6]\n[measure]\ncurve = 99",
            ["curve = 99", "100 to 999999"],
        ),
        ("[-1.1, -0.6]", "[-0.6, -0.5]", ["slope.allowed", "around predicted"]),
        ("[[slope]]", "[certificate]\ndelta = 2\n[[slope]]", ["certificate.delta = 2", "(0, 1)"]),
        (
            "[[slope]]",
            "[certificate]\ndelta_comparator = 0\n[[slope]]",
            ["delta_comparator = 0", "(0, 1)"],
        ),
        ("[[slope]]", "[certificate]\npieces = 0\n[[slope]]", ["certificate.pieces = 0", "4096"]),
        (
            "[[slope]]",
            "[certificate]\nhorizons = [-1]\n[[slope]]",
            ["certificate.horizons = -1", "1e-30"],
        ),
        (
            "sampler = \"full\"\nsteps = 10\nstep_size = 0.5",
            "sampler = \"poisson\"\nbatch = 2\nsteps = 10\nstep_size = 0.5\n[certificate]\nroute = \"d\"",
            ["certificate.route = d", "the sampler fixed"],
        ),
        (
            "sampler = \"full\"\nsteps = 10\nstep_size = 0.5",
            "sampler = \"stream\"\nbatch = 2\nsteps = 10\nstep_size = 0.5\n[certificate]",
            ["algorithm.sampler = \"stream\"", "full, fixed or poisson"],
        ),
    ] {
        let error = Spec::parse("t.toml", &GOOD.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{to}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}
