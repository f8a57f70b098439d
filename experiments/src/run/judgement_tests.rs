use super::*;
use crate::run::{Finished, Plan, run_in_memory};

fn finished(text: &str) -> Finished {
    let plan = Plan::new("t", &Spec::parse("t", text).unwrap()).unwrap();
    run_in_memory(&plan, "t", None, &|_, _| {}).unwrap()
}

fn file(data: &str, algorithm: &str, certificate: &str) -> String {
    format!(
        "name = \"t\"\nseeds = 4\nfresh_data = true\n[data]\nname = \"{data}\"\n[model]\ndegree = 1\nsize = 2\nwidth = 2000\n\
         init = \"greville\"\n[algorithm]\nstep_size = 0.516\n{algorithm}\n[measure]\npopulation = true\n\
         [certificate]\n{certificate}\n"
    )
}

/// The runs with other measured values.
fn with(finished: &Finished, values: &[Option<f64>]) -> Judgement {
    let mut records = finished.records.clone();
    for (record, value) in records.iter_mut().zip(values) {
        match (value, &mut record.outcome) {
            (Some(value), Some(outcome)) => {
                outcome.averaged_risk = crate::run::AveragedRisk::Exact { value: *value };
                outcome.averaged_population_risk = Some(*value);
            }
            _ => record.outcome = None,
        }
    }
    judge(&finished.header.spec, &records).remove(0)
}

#[test]
fn what_holds_surely_is_violated_by_one_run() {
    let full = "sampler = \"full\"\nsteps = 40";
    let finished = finished(&file("atoms:A4,n=4000", full, ""));
    let one = &finished.judgements[0];
    assert_eq!((one.standing, one.failure, one.above), (Standing::Below, Some(0.0), 0));
    assert_eq!(one.route.as_deref(), Some("S-GD"));
    let bound = one.certified.unwrap();
    let above = with(&finished, &[Some(bound * 1.000_001), Some(0.1), Some(0.1), Some(0.1)]);
    assert_eq!((above.standing, above.above), (Standing::Violated, 1));
    // At the bound is not above it.
    assert_eq!(with(&finished, &[Some(bound); 4]).standing, Standing::Below);
    let diverged = with(&finished, &[Some(0.1), None, Some(0.1), Some(0.1)]);
    assert_eq!((diverged.standing, diverged.above), (Standing::Violated, 1));
}

#[test]
fn what_may_fail_is_counted() {
    let batches = "sampler = \"fixed\"\nbatch = 64\nsteps = 60";
    let finished = finished(&file("atoms:A4,n=4000", batches, "delta_transfer = 0.02"));
    let one = &finished.judgements[0];
    assert_eq!((one.standing, one.failure), (Standing::Below, Some(0.02)));
    let (low, high) = (Some(0.2), Some(one.certified.unwrap() + 1.0));
    let once = with(&finished, &[high, low, low, low]);
    assert_eq!((once.standing, once.above), (Standing::Undecided, 1));
    // Three of four: 4 · 0.02³ = 3e-5.
    assert_eq!(with(&finished, &[high, high, low, high]).standing, Standing::Violated);
}

#[test]
fn a_mean_is_compared_with_its_error() {
    let full = "sampler = \"full\"\nsteps = 40";
    let claims = "claims = [\"population\"]";
    let fresh = finished(&file("atoms:A4,n=4000,draw=independent", full, claims));
    let one = &fresh.judgements[0];
    assert_eq!((one.standing, one.failure), (Standing::Below, None));
    assert!(one.standard_error.unwrap() > 0.0);
    let bound = one.certified.unwrap();
    let around =
        |by: f64, spread: f64| [-1.0, 1.0, -1.0, 1.0].map(|sign| Some(bound + by + sign * spread));
    assert_eq!(with(&fresh, &around(-0.1, 0.2)).standing, Standing::Below);
    assert_eq!(with(&fresh, &around(0.01, 0.2)).standing, Standing::Undecided);
    assert_eq!(with(&fresh, &around(0.01, 0.001)).standing, Standing::Violated);
    // The same sample four times says nothing about a mean over samples.
    let same = finished(&file("atoms:A4,n=4000", full, claims));
    assert_eq!(same.judgements[0].standing, Standing::Below);
    assert_eq!(with(&same, &around(0.01, 0.001)).standing, Standing::Undecided);
}

#[test]
fn without_a_certificate_the_reason_is_told() {
    let wild = "sampler = \"full\"\nsteps = 40\nclip = 0.5";
    let one = finished(&file("atoms:A4,n=4000", wild, "")).judgements.remove(0);
    assert_eq!((one.standing, one.uncertified), (Standing::NoCertificate, 4));
    assert!(one.certified.is_none() && one.measured.is_some());
    assert!(one.note.contains("C_clip >= G"), "{}", one.note);
}

#[test]
fn a_sample_has_no_population_certificate_and_scaling_by_it_voids_privacy() {
    let iris = |algorithm: &str, certificate: &str| {
        let text =
            file("iris", &format!("sampler = \"full\"\nsteps = 5\n{algorithm}"), certificate);
        text.replace("seeds = 4\nfresh_data = true", "seeds = 1")
            .replace("width = 2000", "width = 64")
    };
    let held_out =
        iris("", "claims = [\"population\"]").replace("[measure]", "[measure]\nheld_out = 10");
    let refusal = Plan::new("t", &Spec::parse("t", &held_out).unwrap()).unwrap_err().to_string();
    assert!(refusal.contains("certificate.claims = population"), "{refusal}");
    assert!(refusal.contains("support"), "{refusal}");
    let noisy = iris("kappa = 1\nclip = 1\nradius = 50", "").replace("population = true\n", "");
    let note = finished(&noisy).judgements.remove(0).note;
    assert!(note.contains("claim of privacy is void: the scaling of the inputs"), "{note}");
}

#[test]
fn single_precision_and_sampled_averages_are_refused() {
    let refusal = |text: &str| Spec::parse("t", text).unwrap_err().to_string();
    let good = file("atoms:A4", "sampler = \"full\"\nsteps = 9", "");
    let single = good.replace("init =", "dtype = \"f32\"\ninit =");
    assert!(refusal(&single).contains("exact arithmetic"));
    let sampled = good.replace("population = true", "every = 3");
    assert!(refusal(&sampled).contains("every step"));
    let blind = good
        .replace("population = true", "")
        .replace("[certificate]", "[certificate]\nclaims = [\"population\"]");
    assert!(refusal(&blind).contains("atoms"));
    let twice = good.clone() + "claims = [\"expectation\", \"expectation\"]\n";
    assert!(refusal(&twice).contains("each once"));
    let unknown = good + "claim = \"expectation\"\n";
    assert!(refusal(&unknown).contains("did you mean \"claims\"?"));
}

#[test]
fn binomial_tails_are_those_of_counting() {
    assert!((binomial_tail(3, 2, 0.5) - 0.5).abs() < 1e-15);
    assert!((binomial_tail(10, 1, 0.1) - (1.0 - 0.9_f64.powi(10))).abs() < 1e-15);
    assert_eq!((binomial_tail(5, 1, 0.0), binomial_tail(5, 1, 1.0)), (0.0, 1.0));
}
