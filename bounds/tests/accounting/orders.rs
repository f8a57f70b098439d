//! Orders that the truth has, and that the bounds have to keep.

use dpbounds_bounds::privacy::pld::{self, OneStep};
use dpbounds_bounds::privacy::{
    Effort, Method, Plan, Question, Relation, Sampler, Target, Verdict, Witness, account, audit,
    calibrate,
};
use dpbounds_bounds::special::normal_cdf;

use crate::support::{Draws, SUBSAMPLED, delta, effort, plan, spent};

/// A run that spends more, and one that spends less.
fn ordered_runs(draws: &mut Draws, of: (Sampler, Relation), lambda: f64) -> [(Plan, f64, f64); 2] {
    let n = draws.count(20, 1000);
    let batch = draws.count(1, n / 8);
    let most = if lambda > 0.0 { 12 } else { 150 };
    let (steps, kappa) = (draws.count(1, most), draws.log_between(0.6, 6.0));
    let epsilon = draws.log_between(0.1, 3.0);
    let base = plan(n, batch, steps, lambda, of);
    let mut less = (base, kappa, epsilon);
    let factor = 1.1 + draws.next();
    match draws.of(&[0, 1, 2, 3]) {
        0 => less.1 *= factor,
        1 => less.2 *= factor,
        2 => less.0.n = (n as f64 * factor) as u64,
        _ if steps > 1 => less.0.steps = steps - draws.count(1, steps - 1),
        _ => less.1 *= factor,
    }
    [(base, kappa, epsilon), less]
}

fn check_order(draws: &mut Draws, of: (Sampler, Relation), lambda: f64, method: Method) {
    let [more, less] = ordered_runs(draws, of, lambda);
    let sides = |run: &(Plan, f64, f64)| delta(&run.0, run.1, run.2, method);
    let (high, low) = (sides(&more), sides(&less));
    let context = format!("{method} {more:?} {less:?}: {high:?} {low:?}");
    assert!(high.0 <= high.1 && low.0 <= low.1, "{context}");
    assert!(low.0 <= high.1, "{context}");
    // Grids differ from run to run; the cheap rungs take none.
    let slack = match method {
        Method::L1 | Method::L1b | Method::Rdp => 1e-7,
        _ => 0.02,
    };
    assert!(low.1 <= high.1 * (1.0 + slack) + 1e-13, "{context}");
}

#[test]
fn delta_is_monotone_in_noise_epsilon_rate_and_steps() {
    let mut draws = Draws(1);
    for of in SUBSAMPLED {
        for _ in 0..8 {
            check_order(&mut draws, of, 0.0, Method::Pld);
            check_order(&mut draws, of, 0.0, Method::L1);
            // The law of the participations is rounded on a grid for λ > 0.
            check_order(&mut draws, of, 0.0, Method::L1b);
        }
    }
    for of in [SUBSAMPLED[0], SUBSAMPLED[3], SUBSAMPLED[5]] {
        for _ in 0..8 {
            check_order(&mut draws, of, 0.0, Method::Rdp);
        }
    }
}

#[test]
fn delta_of_correlated_noise_is_monotone() {
    let mut draws = Draws(2);
    for of in [SUBSAMPLED[1], SUBSAMPLED[3]] {
        for lambda in [0.3, 0.8] {
            check_order(&mut draws, of, lambda, Method::L1);
            check_order(&mut draws, of, lambda, Method::L2td);
            check_order(&mut draws, of, lambda, Method::L2t);
        }
    }
}

/// The best of all methods is no worse than any of them, for either question.
#[test]
fn auto_is_no_worse_than_any_method() {
    let mut draws = Draws(3);
    let [pair, profile, triangle] = [
        &[Method::L1, Method::L1b, Method::Rdp, Method::Pld][..],
        &[Method::L1, Method::L1b, Method::Pld],
        &[Method::L1, Method::L1b, Method::L2td],
    ];
    let ladder = &[Method::L1, Method::L1b, Method::L2, Method::L2t, Method::L2td];
    let mut check = |of: (Sampler, Relation), lambda: f64, methods: &[Method]| {
        let n = draws.count(20, 200);
        let (batch, steps) = (draws.count(1, n / 5), draws.count(2, 4));
        let (kappa, epsilon) = (draws.log_between(0.5, 4.0), draws.log_between(0.2, 3.0));
        let run = plan(n, batch, steps, lambda, of);
        let at = |question, method| spent(&run, kappa, question, method);
        for question in [Question::DeltaAt { epsilon }, Question::EpsilonAt { delta: 1e-3 }] {
            let best = at(question, Method::Auto);
            for &method in methods {
                let one = at(question, method);
                let context = format!("{run:?} {kappa} {question:?}: {best:?} {one:?}");
                assert!(best.upper.unwrap() <= one.upper.unwrap() * (1.0 + 1e-9), "{context}");
                // Nothing that a method proves from below is lost to one with a smaller upper side.
                let known = one.lower.unwrap_or(0.0).min(best.upper.unwrap());
                assert!(best.lower.unwrap_or(0.0) >= known * (1.0 - 1e-9), "{context}");
                // Every lower side is below every upper one.
                assert!(one.lower.unwrap_or(0.0) <= best.upper.unwrap(), "{context}");
                assert!(best.lower.unwrap_or(0.0) <= one.upper.unwrap(), "{context}");
            }
        }
    };
    for of in SUBSAMPLED {
        let composed = of.0 == Sampler::Poisson && of.1 != Relation::ReplaceOne
            || of == (Sampler::Fixed, Relation::AddRemove);
        for _ in 0..3 {
            check(of, 0.0, if composed { pair } else { profile });
        }
        check(of, 0.4, if composed { ladder } else { triangle });
    }
}

/// Without correlation the transfer bound is the composition of independent steps up to its grids.
#[test]
fn the_transfer_bound_of_independent_steps_is_next_to_the_loss_distribution() {
    let mut draws = Draws(4);
    for _ in 0..6 {
        let n = draws.count(20, 400);
        let (batch, steps) = (draws.count(1, n / 5), draws.count(1, 40));
        let run = plan(n, batch, steps, 0.0, (Sampler::Poisson, Relation::AddRemove));
        let (kappa, epsilon) = (draws.log_between(0.7, 3.0), draws.log_between(0.2, 2.0));
        let exact = delta(&run, kappa, epsilon, Method::Pld);
        let finest = Effort { method: Method::L2td, ..Effort::default() };
        let bound = account(&run, kappa, Question::DeltaAt { epsilon }, &finest).unwrap();
        let transfer = bound.upper.unwrap();
        let context = format!("{run:?} {kappa} {epsilon}: {exact:?} {transfer}");
        assert!(transfer >= exact.0, "{context}");
        assert!(transfer <= 1.08 * exact.1 + 1e-9, "{context}");
    }
}

/// `H(P‖Q)` of `(1−r)N(0,1) + rN(a,1)` against `(1−r)N(0,1) + rN(b,1)`, `a > b`: the ratio increases, so the
/// best event is a half-line.
fn one_step(rate: f64, a: f64, b: f64, epsilon: f64) -> f64 {
    let mixture = |x: f64, mu: f64| (1.0 - rate) * normal_cdf(-x) + rate * normal_cdf(mu - x);
    let log_ratio = |x: f64| {
        let log = |mu: f64| {
            let (one, other) = ((1.0 - rate).ln(), rate.ln() + mu * x - 0.5 * mu * mu);
            let top = one.max(other);
            top + ((one - top).exp() + (other - top).exp()).ln()
        };
        log(a) - log(b)
    };
    let (mut low, mut high) = (-60.0 - 2.0 * b.abs(), 60.0 + 2.0 * a.abs() + epsilon);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if log_ratio(middle) > epsilon { high = middle } else { low = middle }
    }
    mixture(high, a) - (epsilon + mixture(high, b).ln()).exp()
}

/// One step has a closed form for every witness; small noise brings out a wrong shift.
#[test]
fn one_step_of_every_witness_in_closed_form() {
    for (of, (a, b)) in SUBSAMPLED.into_iter().zip([
        (1.0, 0.0),
        (1.0, 0.0),
        (1.0, -1.0),
        (2.0, 0.0),
        (2.0, 1.0),
        (2.0, 0.0),
    ]) {
        for (batch, kappa, epsilon) in
            [(1, 0.3, 20.0), (5, 0.5, 3.0), (1, 0.3, 2.0), (1, 1.0, 0.5), (2, 2.0, 0.1)]
        {
            let run = plan(10, batch, 1, 0.0, of);
            let exact = one_step(batch as f64 / 10.0, a / kappa, b / kappa, epsilon);
            let (lower, upper) = delta(&run, kappa, epsilon, Method::Auto);
            let context = format!("{run:?} {kappa} {epsilon}: {lower:e} {exact:e} {upper:e}");
            assert!(exact > 1e-14 && upper >= exact * (1.0 - 1e-9), "{context}");
            // The data sets behind the lower side do not spend more than they do.
            assert!(lower <= exact * (1.0 + 1e-6), "{context}");
            assert!(lower >= exact * 0.98, "{context}");
            if epsilon < 3.0 {
                continue;
            }
            let target = Target { epsilon, delta: exact };
            let found = audit(&run, kappa * 1.0001, target, &effort(Method::Auto)).unwrap();
            assert!(found.delta_lower <= exact, "{context} {found:?}");
            assert!(found.epsilon_lower <= epsilon, "{context} {found:?}");
            assert!(found.verdict != Verdict::Violated, "{context} {found:?}");
            let found = audit(&run, kappa * 0.97, target, &effort(Method::Auto)).unwrap();
            assert!(found.verdict == Verdict::Violated, "{context} {found:?}");
        }
    }
}

/// The mixture has the smaller upper side here, the loss distribution the only useful lower one.
#[test]
fn the_lower_side_of_a_method_that_is_beaten_is_kept() {
    let run = plan(1_000_000, 100, 10_000, 0.0, (Sampler::Fixed, Relation::ZeroOut));
    let auto = delta(&run, 0.214, 1.0, Method::Auto);
    let composed = delta(&run, 0.214, 1.0, Method::Pld);
    assert!(auto.1 < composed.1 && auto.0 == composed.0 && auto.0 > 0.6, "{auto:?} {composed:?}");
}

/// The largest of very many steps gives the record away where the lower side of the composition gives
/// out. At the best threshold, by hand: P(E) − e Q(E) >= 0.044 for κ = 0.6.
#[test]
fn the_largest_step_refutes_rare_participation_under_zero_out() {
    let run = plan(1_000_000, 100, 10_000, 0.0, (Sampler::Fixed, Relation::ZeroOut));
    let (kappa, rate, steps) = (0.6, 1e-4, 1e4);
    let event = |threshold: f64, mean: f64| {
        let hit = rate * normal_cdf((mean - threshold) / kappa)
            + (1.0 - rate) * normal_cdf(-threshold / kappa);
        1.0 - f64::powf(1.0 - hit, steps)
    };
    let at = |k: i32| {
        let threshold = 0.01 * f64::from(k);
        event(threshold, 2.0) - 1_f64.exp() * event(threshold, 1.0)
    };
    let reached = (1..500).map(at).fold(0.0, f64::max);
    let (lower, upper) = delta(&run, kappa, 1.0, Method::Auto);
    assert!(reached > 0.044 && upper >= reached, "{reached} {upper}");
    assert!(lower > 0.04 && lower <= upper, "{lower} {reached}");
    let target = Target { epsilon: 1.0, delta: 1e-6 };
    let found = calibrate(&run, target, &effort(Method::L1b)).unwrap();
    let refuted = found.lower.unwrap();
    assert!(refuted > 0.7 && delta(&run, refuted, 1.0, Method::Pld).1 > 1e-6, "{found:?}");
}

/// The noise that the relation costs, at δ = 1e-5.
#[test]
fn the_cost_of_each_relation() {
    for (n, batch, steps, epsilon, poisson, zeroed, replaced) in [
        (10_000, 100, 1000, 1.0, 1.4148, [2.147, 2.431], [2.830, 3.177]),
        (1000, 50, 200, 1.0, 2.8388, [3.487, 4.127], [5.678, 6.068]),
        (10_000, 100, 1000, 8.0, 0.5863, [1.084, 1.164], [1.173, 1.219]),
    ] {
        let target = Target { epsilon, delta: 1e-5 };
        let noise = |of| {
            let run = plan(n, batch, steps, 0.0, of);
            let found = calibrate(&run, target, &effort(Method::Auto)).unwrap();
            (found.lower.unwrap(), found.value.unwrap())
        };
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 2e-3;
        let (lower, upper) = noise((Sampler::Poisson, Relation::ZeroOut));
        assert!(near(lower, poisson) && near(upper, poisson), "{lower} {upper}");
        let (lower, upper) = noise((Sampler::Fixed, Relation::AddRemove));
        assert!(near(lower, 2.0 * poisson) && near(upper, 2.0 * poisson), "{lower} {upper}");
        for (relation, [least, most]) in
            [(Relation::ZeroOut, zeroed), (Relation::ReplaceOne, replaced)]
        {
            // The lower sides may only be better than those of the prototype.
            let (lower, upper) = noise((Sampler::Fixed, relation));
            assert!(lower >= least * (1.0 - 1e-3) && lower <= 1.01 * least, "{relation}: {lower}");
            assert!(near(upper, most), "{relation}: {upper}");
        }
    }
}

/// The sides of an audit are those of one truth, whatever the noise.
#[test]
fn audits_of_random_claims_are_consistent() {
    let mut draws = Draws(5);
    let mut verdicts = [0; 3];
    for round in 0..36 {
        let of = SUBSAMPLED[round % 6];
        let n = draws.count(10, 2000);
        let run = plan(n, draws.count(1, n / 5), draws.count(1, 200), 0.0, of);
        let kappa = draws.log_between(0.1, 20.0);
        let target =
            Target { epsilon: draws.log_between(0.1, 30.0), delta: draws.log_between(1e-8, 1e-2) };
        let found = audit(&run, kappa, target, &effort(Method::Auto)).unwrap();
        let context = format!("{run:?} {kappa} {target:?}: {found:?}");
        let upper = found.epsilon_upper.unwrap_or(f64::INFINITY);
        assert!(found.epsilon_lower <= upper * (1.0 + 1e-9), "{context}");
        let (_, most) = delta(&run, kappa, target.epsilon, Method::Auto);
        assert!(found.delta_lower <= most * (1.0 + 1e-9), "{context}");
        let sufficient = found.sufficient_kappa.unwrap();
        match found.verdict {
            Verdict::Certified => assert!(kappa >= 0.98 * sufficient, "{context}"),
            Verdict::Violated => assert!(kappa <= sufficient, "{context}"),
            Verdict::Undecided => assert!(kappa < sufficient, "{context}"),
        }
        verdicts[found.verdict as usize] += 1;
        let displaces = run.sampler == Sampler::Fixed;
        let expected = match run.relation {
            Relation::ZeroOut if displaces => Witness::OppositeRecordZeroed,
            Relation::AddRemove | Relation::ReplaceOne if displaces => Witness::OppositeRecord,
            Relation::ReplaceOne => Witness::LoneRecordReplaced,
            _ => Witness::LoneRecord,
        };
        assert_eq!(found.witness, expected, "{context}");
    }
    assert!(verdicts.iter().all(|&count| count > 0), "{verdicts:?}");
}

/// What a sampler and a relation have proven is what the steps say that are composed for them.
#[test]
fn whole_runs_compose_the_step_of_their_row() {
    let (kappa, epsilon, steps) = (1.3, 0.8, 30);
    for of in SUBSAMPLED {
        let step = match of {
            (Sampler::Poisson, Relation::ReplaceOne) => OneStep::poisson_replace_one(0.05, kappa),
            (Sampler::Poisson, _) => OneStep::poisson(0.05, kappa),
            (_, Relation::AddRemove) => OneStep::poisson(0.05, kappa / 2.0),
            (_, Relation::ZeroOut) => OneStep::fixed_zero_out(0.05, kappa),
            _ => OneStep::fixed_replace_one(0.05, kappa),
        };
        let step = step.unwrap();
        let alone = pld::delta(&step, steps, epsilon).unwrap();
        let upper = alone.upper.min(pld::upper_delta(&step, steps, epsilon).unwrap());
        let whole = delta(&plan(100, 5, steps, 0.0, of), kappa, epsilon, Method::Pld);
        assert!(whole.0 >= alone.lower && whole.1 == upper, "{of:?}: {whole:?} {alone:?}");
    }
}
