use crate::run::measure::Outcome;
use crate::run::{Plan, Spec, run_in_memory};

fn outcome(sampler: &str, rest: &str) -> Outcome {
    let text = format!(
        "name = \"t\"\nseeds = [3]\n[data]\nname = \"atoms:A4,n=40\"\n[model]\ndegree = 1\nsize = 2\n\
         width = 16\ninit = \"greville\"\n[algorithm]\nsampler = \"{sampler}\"\nsteps = 30\nclip = 2.0\n\
         step_size = 0.5\nkappa = 0.3\nlambda = 0.5\n{rest}\n"
    );
    let plan = Plan::new("t", &Spec::parse("t", &text).unwrap()).unwrap();
    let finished = run_in_memory(&plan, "t", Some(1), &|_, _| {}).unwrap();
    finished.records[0].outcome.clone().unwrap()
}

#[test]
fn a_curve_begins_at_the_start_ends_at_the_end_and_averages_to_the_risk() {
    for (sampler, batch) in [("fixed", "batch = 8\n"), ("full", "")] {
        let whole = outcome(sampler, &format!("{batch}[measure]\ncurve = 1\npopulation = true"));
        let curve = whole.curve.unwrap();
        assert_eq!(curve.steps, (0..30).collect::<Vec<_>>());
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&curve.risk) - whole.averaged_risk.value()).abs() < 1e-13);
        let population = curve.population_risk.unwrap();
        assert!((mean(&population) - whole.averaged_population_risk.unwrap()).abs() < 1e-13);
        assert_eq!((curve.risk[29], curve.distance[29]), (whole.final_risk, whole.distance));
        assert!(curve.distance[0] == 0.0 && curve.distance[1] > 0.0);
        // A coarser curve has the same points, and the run is the same without one.
        let rough = outcome(sampler, &format!("{batch}[measure]\ncurve = 7\npopulation = true"));
        let some = rough.curve.clone().unwrap();
        assert_eq!(some.steps, [0, 7, 14, 21, 28, 29]);
        let thinned: Vec<f64> = [0, 7, 14, 21, 28, 29].map(|t| curve.risk[t]).to_vec();
        assert_eq!(some.risk, thinned);
        let none = outcome(sampler, &format!("{batch}[measure]\npopulation = true"));
        assert_eq!(none, Outcome { curve: None, ..rough });
    }
}
