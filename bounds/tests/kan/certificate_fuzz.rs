//! Arguments from anywhere in the doubles: an answer is finite and not negative, or there is none.

use dpbounds_bounds::Bound;
use dpbounds_bounds::kan::certificates::{
    Anchor, BatchCap, BudgetD, BudgetP, BudgetS, CertificateD, CertificateP, Extent, Landscape,
    Optimisation, PaperForm, PopulationP, PopulationS, TheoremS, TheoremSGd, Training,
    certificate_d, certificate_p, comparator_on_batches, in_expectation, in_high_probability,
    largest_output, population_p, population_s, theorem_s, theorem_s_gd,
};
use dpbounds_bounds::privacy::Sampler;
use proptest::prelude::*;

use crate::oracle::config;

fn size() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-6.0..4.0_f64).prop_map(|power| 10.0_f64.powf(power)),
        1 => (-320.0..308.0_f64).prop_map(|power| 10.0_f64.powf(power)),
        1 => prop::sample::select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, 5e-324]),
    ]
}

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (-300.0..0.0_f64).prop_map(|power| 10.0_f64.powf(power)),
        1 => prop::sample::select(vec![0.0, 1.0, 0.5, 5e-324, -0.1, f64::NAN, 1.0 - 1e-16]),
    ]
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1..2000_u64,
        1 => (0..53_u32).prop_map(|power| 1 << power),
        1 => prop::sample::select(vec![0, 1, 1 << 53, u64::MAX]),
    ]
}

fn training() -> impl Strategy<Value = Training> {
    let sampler = prop::sample::select(Sampler::ALL.to_vec());
    let lambda = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64, Just(1.5)];
    let noise = prop_oneof![1 => Just(0.0), 2 => size()];
    (
        size(),
        count(),
        count(),
        count(),
        sampler,
        lambda,
        noise,
        prop::option::of(size()),
        prop::option::of(size()),
    )
        .prop_map(
            |(step_size, steps, batch, records, sampler, lambda, noise, clipping, radius)| {
                let batch = match sampler {
                    Sampler::Full => records,
                    _ => batch.min(records),
                };
                Training {
                    step_size,
                    steps,
                    batch,
                    records,
                    sampler,
                    lambda,
                    noise,
                    clipping,
                    radius,
                }
            },
        )
}

fn sound(bound: &Bound) {
    let numbers = [bound.value, bound.lower, bound.upper].into_iter().flatten();
    let terms = bound.terms.iter().map(|term| term.value);
    for number in numbers.chain(terms) {
        assert!(number.is_finite() && number >= 0.0, "{bound:?}");
    }
    for check in &bound.checks {
        let sides = [check.left, check.right, check.slack];
        assert!(sides.iter().all(|side| side.is_finite()), "{bound:?}");
        assert!(check.holds || bound.value.is_none(), "{bound:?}");
    }
    assert_eq!(bound.value.is_none(), bound.reason.is_some(), "{bound:?}");
    if let Some(value) = bound.value {
        assert!(bound.upper.unwrap() >= value);
        let whole: f64 = bound.terms.iter().map(|term| term.value).sum();
        assert!(bound.terms.is_empty() || (whole - value).abs() <= 1e-6 * value, "{bound:?}");
    }
}

proptest! {
    #![proptest_config(config(77, 3000))]

    #[test]
    fn answers_are_numbers_or_none(
        training in training(),
        (gradient, curvature, smoothness) in (size(), size(), size()),
        (distance, loss) in (size(), size()),
        (width, parameters, inputs) in (count(), count(), count()),
        (a, b, c) in (probability(), probability(), probability()),
        output in size(),
    ) {
        let landscape = Landscape { gradient, curvature, smoothness };
        let comparator = Anchor { distance, loss };
        let extent = Extent { width, parameters, noise_dimension: parameters, inputs };
        let mut found: Vec<(Optimisation, bool)> = Vec::new();
        if let Ok(batches) = BatchCap::of(&training, a) {
            assert!(batches.ratio() >= 1.0 && batches.ratio().is_finite());
            let budget = BudgetS { linear: a, square: b, inputs: c, comparator: 0.0 };
            let s = TheoremS { landscape, extent, comparator, training, batches, budget };
            found.extend(theorem_s(&s).ok().map(|one| (one, true)));
        }
        found.extend(
            theorem_s_gd(&TheoremSGd { landscape, comparator, training }).ok().map(|one| (one, false)),
        );
        for form in [PaperForm::Verbatim, PaperForm::Tight] {
            let budget = BudgetP { noise: a, batches: b, linear: c };
            let p = CertificateP { landscape, parameters, comparator, training, form, budget };
            found.extend(certificate_p(&p).ok().map(|one| (one, true)));
        }
        let budget = BudgetD { batch_square: a, noise_square: b, batch_linear: c, noise_linear: a };
        let d = CertificateD { landscape, parameters, comparator, training, budget };
        found.extend(certificate_d(&d).ok().map(|one| (one, true)));
        if let Ok(bound) = comparator_on_batches(&training, loss, output, b) {
            sound(&bound);
        }
        if let Ok(output) = largest_output(&landscape, &training, output) {
            assert!(output.is_finite() && output >= 0.0);
        }
        for (optimisation, bounded) in &found {
            sound(&optimisation.bound);
            for number in [
                optimisation.distance, optimisation.reach, optimisation.radius, optimisation.failure,
            ] {
                assert!(number.is_finite() && number >= 0.0, "{optimisation:?}");
            }
            let follow_ups = [
                in_expectation(optimisation, &training, Some(output)),
                in_high_probability(optimisation, &training, output, c),
                population_s(&PopulationS {
                    optimisation, bounded: *bounded, ratio: 1.5, landscape, training,
                    output: Some(output), count_failure: b,
                }),
                population_p(&PopulationP {
                    optimisation, landscape, training, output, batch_failure: b,
                }),
            ];
            follow_ups.iter().flatten().for_each(sound);
        }
    }
}
