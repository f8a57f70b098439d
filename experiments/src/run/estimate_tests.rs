use super::*;
use crate::run::measure::{Outcome, measure};
use crate::run::{Plan, Spec};

/// Losses at weights and at an anchor; the first record is far from the others.
const NOW: [f64; 6] = [2.5, 0.1, 0.3, 0.2, 0.7, 0.4];
const ANCHOR: [f64; 6] = [2.0, 0.2, 0.5, 0.1, 0.9, 0.8];

fn settings(sampler: Sampler, batch: usize) -> Settings {
    Settings {
        sampler,
        batch,
        steps: 10,
        step_size: 1.0,
        clip: None,
        kappa: 0.0,
        lambda: 0.0,
        radius: None,
        seed: 0,
    }
}

fn subsets() -> impl Iterator<Item = Vec<(u32, f64)>> {
    (0_u32..64)
        .map(|mask| (0..6).filter(|i| mask >> i & 1 == 1).map(|i| (i, NOW[i as usize])).collect())
}

/// Mean of the estimate, its variance, and the mean of the estimated variance, over all batches.
fn moments(sampler: Sampler, batch: usize, anchor: bool) -> (f64, f64, f64) {
    let mut estimator = Estimator::new(&settings(sampler, batch), 6, None);
    if anchor {
        estimator.set_anchor(ANCHOR.to_vec());
    }
    let rate: f64 = batch as f64 / 6.0;
    let chance = |size: usize| match sampler {
        Sampler::Poisson => rate.powi(size as i32) * (1.0 - rate).powi(6 - size as i32),
        _ => f64::from(u8::from(size == batch)),
    };
    let all: Vec<(f64, f64, f64)> = subsets()
        .map(|batch| {
            let (value, variance) = estimator.estimate(&batch);
            (chance(batch.len()), value, variance)
        })
        .collect();
    let total: f64 = all.iter().map(|(chance, ..)| chance).sum();
    let mean = |of: &dyn Fn(f64, f64) -> f64| {
        all.iter().map(|(chance, value, variance)| chance * of(*value, *variance)).sum::<f64>()
            / total
    };
    let first = mean(&|value, _| value);
    (first, mean(&|value, _| (value - first).powi(2)), mean(&|_, variance| variance))
}

#[test]
fn over_all_batches_the_estimate_is_the_risk_and_its_variance_is_not_too_small() {
    let risk = NOW.iter().sum::<f64>() / 6.0;
    for anchor in [false, true] {
        for batch in 1..=6 {
            let (mean, variance, estimated) = moments(Sampler::Fixed, batch, anchor);
            assert!((mean - risk).abs() < 1e-14, "fixed {batch}: {mean}");
            match batch {
                1 => assert!(estimated > variance, "{estimated} {variance}"),
                _ => assert!((estimated - variance).abs() < 1e-14, "{estimated} {variance}"),
            }
            let (mean, variance, estimated) = moments(Sampler::Poisson, batch, anchor);
            assert!((mean - risk).abs() < 1e-14, "poisson {batch}: {mean}");
            assert!(estimated > variance - 1e-14, "poisson {batch}: {estimated} {variance}");
        }
    }
    assert!(moments(Sampler::Fixed, 3, true).1 < 0.2 * moments(Sampler::Fixed, 3, false).1);
}

/// Clusters that overlap, so that records differ in their losses.
fn outcomes(sampler: &str, batch: u64, rest: &str, seeds: u64) -> Vec<Outcome> {
    let text = format!(
        "name = \"t\"\nseeds = 1\n[data]\nname = \"clusters:n=64,separation=1,spread=0.4\"\n[model]\n\
         degree = 1\nsize = 2\nwidth = 16\ninit = \"greville\"\n[algorithm]\nsampler = \"{sampler}\"\n\
         batch = {batch}\nsteps = 80\nstep_size = 0.5\n[measure]\n{rest}\n"
    );
    let plan = Plan::new("t", &Spec::parse("t", &text).unwrap()).unwrap();
    (0..seeds).map(|seed| measure(&plan, &plan.points()[0], seed).unwrap().unwrap()).collect()
}

fn parts(outcome: &Outcome) -> (f64, f64, u64) {
    let AveragedRisk::Estimated { value, half_width, anchors, .. } = outcome.averaged_risk else {
        panic!("{outcome:?}")
    };
    (value, half_width, anchors)
}

#[test]
fn intervals_cover_the_exact_average_as_often_as_they_say() {
    // If an interval misses with probability 0.05, 400 miss 20 times, standard deviation 4.4: outside 3 to 41 with
    // probability below 1e-5. Conservative variances may only lower the count.
    for (sampler, batch, anchor, least) in [
        ("fixed", 8, "", 3),
        ("fixed", 8, "\nanchor = 0", 3),
        ("poisson", 8, "", 3),
        ("poisson", 2, "", 0),
        ("fixed", 1, "", 0),
    ] {
        let exact = outcomes(sampler, batch, "every = 1", 400);
        let estimated = outcomes(sampler, batch, &format!("every = 0{anchor}"), 400);
        let misses = exact.iter().zip(&estimated).filter(|(exact, estimated)| {
            let (value, half_width, _) = parts(estimated);
            (value - exact.averaged_risk.value()).abs() > half_width
        });
        let misses = misses.count();
        assert!((least..=41).contains(&misses), "{sampler} {batch} {anchor:?}: {misses} of 400");
    }
}

#[test]
fn the_control_variate_takes_away_most_of_the_variance() {
    let exact = outcomes("fixed", 8, "every = 1", 100);
    let error = |rest: &str| -> (f64, f64, u64) {
        let all = outcomes("fixed", 8, rest, 100);
        let pairs = || all.iter().map(parts).zip(&exact);
        let squares =
            pairs().map(|((value, ..), exact)| (value - exact.averaged_risk.value()).powi(2));
        let widths = pairs().map(|((_, width, _), _)| width);
        (squares.sum::<f64>() / 100.0, widths.sum::<f64>() / 100.0, pairs().next().unwrap().0.2)
    };
    let (plain, plain_width, none) = error("every = 0\nanchor = 0");
    let (controlled, width, anchors) = error("every = 0");
    assert_eq!((none, anchors), (0, 10), "once in n/B = 8 of 80 steps");
    assert!(controlled < 0.1 * plain, "{controlled} {plain}");
    assert!(width < 0.4 * plain_width, "{width} {plain_width}");
    // The wider apart the anchors, the less they help; all of them cost and give nothing but exactness.
    let (sparse, ..) = error("every = 0\nanchor = 40");
    let (dense, width, anchors) = error("every = 0\nanchor = 1");
    assert!(controlled < sparse && sparse < plain, "{controlled} {sparse} {plain}");
    assert!(dense < 1e-28 && width < 1e-12 && anchors == 80, "{dense} {width} {anchors}");
}
