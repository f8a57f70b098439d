use std::path::Path;

use dpbounds_experiments::run::{Finished, Plan, Spec, built_ins, run_in_memory};

use crate::tests::{PROVENANCE, check_files};
use crate::{FigureError, find, write_experiment};

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
sampler = "full"
steps = 20
step_size = 0.5
clip = 1.0
"#;

fn finished(rest: &str) -> Finished {
    let spec = Spec::parse("tiny.toml", &format!("{TINY}{rest}")).unwrap();
    let plan = Plan::new("tiny.toml", &spec).unwrap();
    run_in_memory(&plan, "dpbounds experiment run tiny.toml", Some(1), &|_, _| {}).unwrap()
}

/// Draws an experiment with one figure, and returns the table.
fn table(id: &str, finished: &Finished, labels: &[&str]) -> Vec<Vec<String>> {
    let draw = |directory: &Path| write_experiment(finished, directory, PROVENANCE).unwrap();
    let rows = check_files(id, draw, labels);
    rows.iter().map(|row| row.iter().map(str::to_owned).collect()).collect()
}

/// The last field of the row that begins with these.
fn number(table: &[Vec<String>], first: &[&str]) -> f64 {
    let row = table.iter().find(|row| row[..first.len()] == *first);
    row.unwrap_or_else(|| panic!("no row {first:?}: {table:?}")).last().unwrap().parse().unwrap()
}

const SLOPES: &str = r#"
kappa = 0.1
[sweep]
lambda = [0, 0.5]
steps = [10, 20, 40]
[[slope]]
axis = "steps"
response = "averaged-risk"
predicted = -1
allowed = [-3, 0]
why = "tests"
"#;

#[test]
fn slopes_are_drawn_as_they_are_fitted() {
    let finished = finished(SLOPES);
    let labels = [
        "Averaged empirical risk against the horizon T",
        "A test",
        "atoms:A4,n=16, full batches; m = 16, η = 0.5, κ = 0.1, C = 1; 3 seeds",
        "λ = 0: agrees",
        "λ = 0.5: agrees",
        "predicted −1, allowed −3 to 0",
        "mean ± standard error",
        "Horizon T (steps)",
        "Averaged empirical risk (nats)",
    ];
    let table = table("tiny", &finished, &labels);
    assert_eq!(finished.slopes.len(), 2);
    for slope in &finished.slopes {
        let at = if slope.at.values().any(|value| *value > 0.0) { "λ = 0.5" } else { "λ = 0" };
        let value =
            |x: &str, quantity| number(&table, &["averaged-risk", "steps", at, x, quantity]);
        let fitted = slope.slope.unwrap();
        assert_eq!(value("all", "slope"), fitted);
        assert_eq!(value("all", "slope, interval from"), slope.interval.unwrap()[0]);
        for (x, mean, error) in &slope.points {
            assert_eq!(value(&x.to_string(), "mean"), mean.unwrap());
            assert_eq!(value(&x.to_string(), "standard error"), error.unwrap());
        }
        // The lines have their slopes and meet in the centre of the three points.
        for (quantity, slope) in [("fitted", fitted), ("predicted", -1.0)] {
            let ratio = value("40", quantity) / value("10", quantity);
            assert!((ratio.ln() / 4f64.ln() - slope).abs() < 1e-9, "{quantity}");
        }
        assert!((value("20", "fitted") / value("20", "predicted") - 1.0).abs() < 1e-9);
        let means: f64 = slope.points.iter().map(|point| point.1.unwrap().ln()).sum();
        assert!((value("20", "fitted").ln() - means / 3.0).abs() < 1e-9);
    }
}

#[test]
fn slopes_that_cannot_be_fitted_are_drawn_with_the_reason() {
    // The noise excess of λ = 1 and of few seeds has any sign.
    let text = SLOPES.replace("averaged-risk", "noise-excess") + "[measure]\nexcess = true\n";
    let mut finished = finished(&text);
    for slope in &mut finished.slopes {
        slope.points[0].1 = Some(-1e-3);
        (slope.slope, slope.interval) = (None, None);
        slope.note = "a mean is not positive".into();
    }
    let rows = table("tiny", &finished, &["no fitted slope", "a mean is not positive"]);
    assert_eq!(number(&rows, &["noise-excess", "steps", "λ = 0", "10", "mean"]), -1e-3);
    for slope in &mut finished.slopes {
        slope.points.iter_mut().for_each(|point| (point.1, point.2) = (None, None));
    }
    table("tiny", &finished, &["no fitted slope"]);
}

#[test]
fn accuracy_is_drawn_against_epsilon() {
    let finished = finished(
        "[privacy]\nepsilon = 1\ndelta = 1e-3\nrelation = \"zero-out\"\n\
         [sweep]\nepsilon = [4, 1]\nwidth = [8, 16]\n",
    );
    let labels = ["m = 8", "m = 16", "Accuracy on the population", "Privacy ε (nats)"];
    let rows = table("tiny", &finished, &labels);
    assert_eq!(rows.len(), 12);
    for runs in finished.records.chunk_by(|a, b| a.point == b.point) {
        let at = format!("m = {}", runs[0].width);
        let epsilon = runs[0].values.values().next_back().unwrap().to_string();
        let accuracies = runs.iter().map(|run| run.outcome.as_ref().unwrap());
        let mean =
            accuracies.map(|outcome| outcome.population_accuracy.unwrap()).sum::<f64>() / 3.0;
        assert!((number(&rows, &[&at, &epsilon, "accuracy, mean"]) - mean).abs() < 1e-12);
        assert_eq!(number(&rows, &[&at, &epsilon, "kappa"]), runs[0].settings.kappa);
    }
}

const CURVES: &str = "[measure]\ncurve = 6\n[sweep]\nkappa = [0, 0.2]\n";

#[test]
fn training_curves_show_mean_and_range() {
    let mut finished = finished(CURVES);
    let labels = ["κ = 0", "κ = 0.2 (1 run diverged)", "Population risk (nats)", "Step t"];
    finished.records[5].outcome = None;
    let rows = table("tiny", &finished, &labels);
    assert_eq!(rows.len(), 2 * 3 * 5, "t = 0, 6, 12, 18 and 19");
    let curves = finished.records[..3].iter().map(|run| run.outcome.as_ref()?.curve.as_ref());
    let risks: Vec<f64> = curves.map(|curve| curve.unwrap().risk[2]).collect();
    let row = rows.iter().find(|row| row[..3] == ["κ = 0", "empirical risk", "12"]).unwrap();
    let [mean, least, greatest] = [3, 4, 5].map(|column| row[column].parse::<f64>().unwrap());
    assert!((mean - risks.iter().sum::<f64>() / 3.0).abs() < 1e-15);
    assert_eq!(least, risks.iter().copied().fold(1.0, f64::min));
    assert_eq!(greatest, risks.iter().copied().fold(0.0, f64::max));
}

#[test]
fn an_experiment_with_both_has_two_figures_and_one_with_neither_has_none() {
    let directory = tempfile::tempdir().unwrap();
    let names = |paths: Vec<std::path::PathBuf>| -> Vec<String> {
        paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    };
    let mut both = finished(&format!("{SLOPES}[measure]\ncurve = 4\n"));
    both.header.spec.name = "../a b".into();
    let paths = write_experiment(&both, directory.path(), "test").unwrap();
    let expected = ["---a-b.svg", "---a-b.png", "---a-b.csv"];
    assert_eq!(names(paths)[..3], expected);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 6);
    let error = write_experiment(&finished(""), directory.path(), "test").unwrap_err();
    assert!(matches!(error, FigureError::Nothing { .. }));
    assert!(error.to_string().contains("\"tiny\"") && error.to_string().contains("[[slope]]"));
}

#[test]
fn many_lines_make_several_panels() {
    let seven = SLOPES.replace("[0, 0.5]", "[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]");
    let finished = finished(&seven.replace("seeds = 3", "seeds = 1"));
    let rows = table("tiny", &finished, &["λ = 0: agrees", "λ = 0.6: agrees"]);
    assert!(rows.len() > 100);
}

#[test]
fn every_experiment_inside_the_program_has_a_figure_of_its_name() {
    for one in built_ins() {
        let figure = find(one.name).unwrap();
        assert!(!figure.title.is_empty() && figure.title != one.name, "{}", one.name);
    }
}

#[test]
fn certified_risk_is_drawn_beside_measured_risk() {
    let rest = "[sweep]\nsteps = [10, 20]\n[[joint]]\nstep_size = 0.5\n[[joint]]\nstep_size = 10000\n[certificate]\n";
    let finished = finished(rest);
    let bounds: Vec<_> = finished.judgements.iter().filter_map(|one| one.certified).collect();
    assert!(bounds.len() == 2 && bounds[0] > bounds[1], "{bounds:?}");
    let labels = ["Certified and measured risk against the horizon T", "Horizon T (steps)"];
    let table = table("tiny", &finished, &labels);
    let rows = |what: &str, at: &str| {
        let is = |row: &&Vec<String>| row[1].starts_with(what) && row[0] == at;
        table.iter().filter(is).map(|row| row[4].parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    // The absurd step size has no certificate.
    assert!(rows("certified", "η = 10000").is_empty());
    let (certified, measured) = (rows("certified", "η = 0.5"), rows("measured", "η = 0.5"));
    assert!(
        certified.iter().zip(&bounds).all(|(drawn, bound)| (drawn / bound - 1.0).abs() < 1e-12)
    );
    assert_eq!((certified.len(), measured.len()), (2, 2));
    assert!(measured.iter().zip(&certified).all(|(measured, bound)| measured < bound));
}
