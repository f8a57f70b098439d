//! Every sampler, relation, correlation and method: an answer in range, or a reason with its type.

use dpbounds_bounds::privacy::{
    Method, Plan, Question, Relation, Route, Sampler, Target, account, audit, calibrate, route,
};
use dpbounds_bounds::{Bound, BoundError, Result};

use crate::support::{effort, plan};

/// A small plan that the sampler can run.
fn small(sampler: Sampler, relation: Relation, lambda: f64) -> Plan {
    let batch = match sampler {
        Sampler::Full => 12,
        Sampler::Stream => 2,
        _ => 3,
    };
    plan(12, batch, 5, lambda, (sampler, relation))
}

/// Which methods answer which question, written down once more.
fn answers(plan: &Plan, method: Method, question: Question) -> bool {
    let independent = plan.lambda == 0.0;
    let every_record = plan.sampler == Sampler::Full;
    let stream = plan.sampler == Sampler::Stream;
    let replaced = plan.relation == Relation::ReplaceOne;
    let fixed_zero_out = plan.sampler == Sampler::Fixed && plan.relation == Relation::ZeroOut;
    let one_pair = !replaced && !fixed_zero_out;
    match method {
        _ if stream && plan.relation == Relation::AddRemove => false,
        Method::Auto | Method::L1 | Method::L1b => true,
        Method::L2 | Method::L2t => every_record || stream || one_pair,
        Method::L2td => every_record || stream || one_pair || !independent,
        Method::Rdp => {
            independent
                && !every_record
                && !stream
                && (one_pair || plan.sampler == Sampler::Fixed && replaced)
        }
        Method::Pld => independent && !stream,
        Method::L3 => {
            one_pair && !every_record && !stream && matches!(question, Question::DeltaAt { .. })
        }
        _ => false,
    }
}

fn in_range(bound: &Bound, question: Question) -> bool {
    let most = if matches!(question, Question::DeltaAt { .. }) { 1.0 } else { f64::INFINITY };
    let Some(value) = bound.value else {
        return bound.reason.as_ref().is_some_and(|reason| !reason.is_empty())
            && bound.upper.is_none();
    };
    let lower = bound.lower.unwrap_or(0.0);
    let upper = bound.upper.unwrap_or(f64::INFINITY);
    (0.0..=most).contains(&value) && 0.0 <= lower && lower <= value && value <= upper
}

fn typed(error: &BoundError) -> bool {
    match error {
        BoundError::Unproven { why, nearest, .. } => !why.is_empty() && !nearest.is_empty(),
        BoundError::OutOfRange { .. } | BoundError::Conflict { .. } => true,
        _ => false,
    }
}

fn check(plan: &Plan, kappa: f64, question: Question, method: Method, result: Result<Bound>) {
    let context = format!("{plan:?} {kappa} {question:?} {method}: {result:?}");
    match result {
        Ok(bound) => {
            assert!(in_range(&bound, question), "{context}");
            // Without noise the answer is the same by every method.
            assert!(kappa == 0.0 || answers(plan, method, question), "{context}");
        }
        Err(error) => {
            assert!(typed(&error), "{context}");
            // A Monte Carlo certificate may need more samples than it was given, and says how many.
            let samples = method == Method::L3 && error.to_string().contains("samples (it needs");
            assert!(samples || !answers(plan, method, question), "{context}");
        }
    }
}

fn all_methods(lambda: f64, kappas: &[f64], questions: &[Question]) {
    for &sampler in Sampler::ALL {
        for &relation in Relation::ALL {
            let plan = small(sampler, relation, lambda);
            for &method in Method::ALL {
                for &kappa in kappas {
                    for &question in questions {
                        let result = account(&plan, kappa, question, &effort(method));
                        check(&plan, kappa, question, method, result);
                    }
                }
            }
        }
    }
}

#[test]
fn independent_noise_by_every_method() {
    let questions = [
        Question::DeltaAt { epsilon: 1.0 },
        Question::DeltaAt { epsilon: 0.0 },
        Question::EpsilonAt { delta: 0.02 },
        Question::EpsilonAt { delta: 1e-9 },
    ];
    // Monte Carlo needs samples in proportion to 1/δ, so moderate noise only.
    all_methods(0.0, &[0.0, 1.1], &questions);
    for &sampler in Sampler::ALL {
        for &relation in Relation::ALL {
            let plan = small(sampler, relation, 0.0);
            for method in [Method::Auto, Method::L1, Method::L1b, Method::Rdp, Method::Pld] {
                for (kappa, question) in
                    [0.05, 60.0].into_iter().flat_map(|kappa| questions.map(|q| (kappa, q)))
                {
                    let result = account(&plan, kappa, question, &effort(method));
                    check(&plan, kappa, question, method, result);
                }
            }
        }
    }
}

#[test]
fn correlated_noise_by_every_method() {
    all_methods(0.5, &[0.0, 1.6], &[Question::DeltaAt { epsilon: 0.5 }]);
}

#[test]
fn correlated_noise_answers_epsilon() {
    for &sampler in Sampler::ALL {
        for &relation in Relation::ALL {
            let plan = Plan { steps: 3, ..small(sampler, relation, 0.9) };
            let question = Question::EpsilonAt { delta: 0.01 };
            for method in [Method::Auto, Method::L1b, Method::L2, Method::L3, Method::Pld] {
                let result = account(&plan, 2.0, question, &effort(method));
                check(&plan, 2.0, question, method, result);
            }
        }
    }
}

#[test]
fn calibrations_and_audits_of_every_pair() {
    let target = Target { epsilon: 2.0, delta: 1e-3 };
    for &sampler in Sampler::ALL {
        for &relation in Relation::ALL {
            let plan = small(sampler, relation, 0.0);
            let unproven = sampler == Sampler::Stream && relation == Relation::AddRemove;
            for &method in Method::ALL {
                let result = calibrate(&plan, target, &effort(method));
                let context = format!("{plan:?} {method}: {result:?}");
                match result {
                    Ok(bound) => {
                        assert!(in_range(&bound, Question::EpsilonAt { delta: 1.0 }), "{context}");
                        let question = Question::DeltaAt { epsilon: target.epsilon };
                        let closed = method == Method::ClosedForm;
                        assert!(closed || answers(&plan, method, question), "{context}");
                    }
                    Err(error) => assert!(typed(&error), "{context}"),
                }
            }
            let found = audit(&plan, 1.0, target, &effort(Method::Auto));
            match found {
                Ok(found) => {
                    let sides = (found.epsilon_lower, found.epsilon_upper.unwrap());
                    assert!(!unproven && 0.0 <= sides.0 && sides.0 <= sides.1, "{found:?}");
                    assert!((0.0..=1.0).contains(&found.delta_lower), "{found:?}");
                }
                Err(error) => assert!(unproven && typed(&error), "{plan:?}: {error}"),
            }
        }
    }
}

/// A pair of a sampler and a relation without a proof names the nearest one that has a proof.
#[test]
fn refused_pairs_name_what_is_proven() {
    let nearest = |plan: &Plan| match route(plan) {
        Err(BoundError::Unproven { nearest, .. }) => nearest,
        other => panic!("{plan:?}: {other:?}"),
    };
    for lambda in [0.0, 0.5] {
        let stream = small(Sampler::Stream, Relation::AddRemove, lambda);
        assert!(nearest(&stream).contains("zero-out or replace-one"));
        for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
            assert!(route(&Plan { relation, ..stream }).is_ok());
        }
        let fixed = small(Sampler::Fixed, Relation::AddRemove, lambda);
        let all = Plan { batch: 12, ..fixed };
        assert!(nearest(&all).contains("sampler full"));
        assert!(route(&Plan { sampler: Sampler::Full, ..all }).is_ok());
        // Drawing the record displaces another: sensitivity 2, and never the pair under other relations.
        assert_eq!(route(&fixed).unwrap(), Route::Pair { sensitivity: 2.0 });
        for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
            let route = route(&Plan { relation, ..fixed }).unwrap();
            assert!(!matches!(route, Route::Pair { .. }), "{route:?}");
        }
    }
    for (method, plan, named) in [
        (Method::Pld, small(Sampler::Poisson, Relation::AddRemove, 0.5), "l2td"),
        (Method::Rdp, small(Sampler::Fixed, Relation::ZeroOut, 0.5), "l2td"),
        (Method::L2, small(Sampler::Fixed, Relation::ZeroOut, 0.0), "pld"),
        (Method::L3, small(Sampler::Poisson, Relation::ReplaceOne, 0.5), "l2td"),
        (Method::ClosedForm, small(Sampler::Full, Relation::ZeroOut, 0.0), "calibrate"),
    ] {
        let question = Question::DeltaAt { epsilon: 1.0 };
        let error = account(&plan, 1.0, question, &effort(method)).unwrap_err();
        let BoundError::Unproven { nearest, .. } = &error else { panic!("{error}") };
        assert!(nearest.contains(named), "{error}");
    }
}

#[test]
fn plans_out_of_range_are_errors() {
    let good = small(Sampler::Poisson, Relation::AddRemove, 0.0);
    for plan in [
        Plan { lambda: 1.0, ..good },
        Plan { lambda: -0.1, ..good },
        Plan { lambda: f64::NAN, ..good },
        Plan { batch: 0, ..good },
        Plan { n: 0, ..good },
        Plan { batch: 13, ..good },
        Plan { sampler: Sampler::Full, ..good },
        Plan { sampler: Sampler::Stream, relation: Relation::ZeroOut, ..good },
        Plan { steps: u64::MAX, ..good },
    ] {
        let question = Question::DeltaAt { epsilon: 1.0 };
        for error in [
            account(&plan, 1.0, question, &effort(Method::Auto)).unwrap_err(),
            calibrate(&plan, Target { epsilon: 1.0, delta: 1e-5 }, &effort(Method::Auto))
                .unwrap_err(),
        ] {
            assert!(typed(&error) && !matches!(error, BoundError::Unproven { .. }), "{plan:?}");
        }
    }
    let bad = [-1.0, f64::NAN, f64::INFINITY];
    for value in bad {
        let ask = |kappa, question| account(&good, kappa, question, &effort(Method::Auto));
        assert!(ask(value, Question::DeltaAt { epsilon: 1.0 }).is_err(), "kappa {value}");
        assert!(ask(1.0, Question::DeltaAt { epsilon: value }).is_err(), "epsilon {value}");
        assert!(ask(1.0, Question::EpsilonAt { delta: value }).is_err(), "delta {value}");
        for target in
            [Target { epsilon: value, delta: 1e-5 }, Target { epsilon: 1.0, delta: value }]
        {
            assert!(calibrate(&good, target, &effort(Method::Auto)).is_err(), "{target:?}");
            assert!(audit(&good, 1.0, target, &effort(Method::Auto)).is_err(), "{target:?}");
        }
    }
    assert!(
        account(&good, 1.0, Question::EpsilonAt { delta: 1.5 }, &effort(Method::Auto)).is_err()
    );
}
