use super::*;
use crate::run::Spec;

fn outcome(text: &str) -> Outcome {
    let spec = Spec::parse("t", text).unwrap();
    let plan = Plan::new("t", &spec).unwrap();
    measure(&plan, &plan.points()[0], 3).unwrap().unwrap()
}

fn file(sampler: &str, every: u64, rest: &str) -> String {
    format!(
        "name = \"t\"\nseeds = 1\n[data]\nname = \"atoms:A4,n=40\"\n[model]\ndegree = 1\nsize = 2\nwidth = 64\n\
         init = \"greville\"\n[algorithm]\nsampler = \"{sampler}\"\nsteps = 60\nstep_size = 0.5\n{rest}\n\
         [measure]\nevery = {every}\npopulation = {}\nnoise = true\n",
        every > 0
    )
}

#[test]
fn exact_and_estimated_risks_are_told_apart_and_agree() {
    let exact = outcome(&file("fixed", 1, "batch = 8"));
    let AveragedRisk::Exact { value } = exact.averaged_risk else { panic!("{exact:?}") };
    let rough = outcome(&file("fixed", 7, "batch = 8"));
    let AveragedRisk::Subsampled { value: some, every: 7 } = rough.averaged_risk else {
        panic!("{rough:?}")
    };
    assert!((some / value - 1.0).abs() < 0.1, "{some} {value}");
    let guess = outcome(&file("fixed", 0, "batch = 8"));
    let AveragedRisk::Estimated { value: middle, half_width, .. } = guess.averaged_risk else {
        panic!("{guess:?}")
    };
    assert!((middle - value).abs() < 2.0 * half_width && half_width < 0.1 * value, "{guess:?}");
    assert_eq!(guess.final_risk, exact.final_risk, "measuring does not change the run");
    // Balanced atoms: the sample is the distribution.
    assert!((exact.averaged_population_risk.unwrap() - value).abs() < 1e-12);
    assert_eq!((exact.population_exact, exact.accuracy), (Some(true), 1.0));
}

#[test]
fn a_full_batch_gives_the_exact_risk_at_no_cost() {
    let one = outcome(&file("full", 1, "")).averaged_risk;
    let other = outcome(&file("full", 0, "")).averaged_risk;
    let (AveragedRisk::Exact { value: one }, AveragedRisk::Exact { value: other }) = (one, other)
    else {
        panic!("{one:?} {other:?}")
    };
    assert!((one - other).abs() < 1e-13);
}

#[test]
fn the_sum_of_the_noise_has_the_predicted_size() {
    // E‖Σ‖² = N ((1 − λ)² (T − 2) + 1) (C κ/B)² with N = 128 weights, T − 1 = 59 terms.
    for lambda in [0.0, 0.5, 1.0] {
        let rest = format!("batch = 8\nclip = 2.0\nkappa = 0.1\nlambda = {lambda}");
        let norm = outcome(&file("fixed", 1, &rest)).noise_norm.unwrap();
        let expected =
            (128.0_f64 * ((1.0_f64 - lambda).powi(2) * 58.0 + 1.0)).sqrt() * 2.0 * 0.1 / 8.0;
        assert!((norm / expected - 1.0).abs() < 0.25, "{lambda}: {norm} {expected}");
    }
}
