//! The analytic Gaussian mechanism, closed-form noise and calibration.

use dpbounds_bounds::privacy::{
    Effort, Method, Plan, Relation, Sampler, Target, calibrate, closed_form, gaussian,
    participation_norm,
};
use dpbounds_bounds::{Bound, BoundError, Warrant};
use proptest::prelude::*;

use crate::support::{close, config, log_uniform, ordered, value};

fn epsilons() -> impl Strategy<Value = f64> {
    prop_oneof![log_uniform(1e-3, 20.0), log_uniform(1e-9, 1e4)]
}

fn deltas() -> impl Strategy<Value = f64> {
    prop_oneof![log_uniform(1e-12, 0.9), log_uniform(1e-290, 0.9)]
}

proptest! {
    #![proptest_config(config(31, 300))]

    #[test]
    fn gaussian_inverses_are_consistent_on_the_safe_side(epsilon in epsilons(), delta in deltas()) {
        let noise = gaussian::noise_multiplier(epsilon, delta).unwrap();
        let safe = noise.upper.unwrap();
        prop_assert!(value(gaussian::delta(safe, epsilon)) <= delta);
        let mu = gaussian::mu(epsilon, delta).unwrap();
        prop_assert!(value(gaussian::delta_at(mu.lower.unwrap(), epsilon)) <= delta);
        prop_assert!(close(mu.value.unwrap() * noise.value.unwrap(), 1.0, 1e-14));
        let back = gaussian::epsilon(safe, delta).unwrap();
        ordered!(back.value.unwrap() => epsilon);
        prop_assert!(value(gaussian::delta(safe, back.upper.unwrap())) <= delta);
        // The answers are not merely safe: a little less noise is too little.
        prop_assert!(value(gaussian::delta(safe * (1.0 - 1e-6), epsilon)) > delta);
        let tight = gaussian::epsilon(noise.value.unwrap() * (1.0 - 1e-6), delta).unwrap();
        prop_assert!(tight.value.unwrap() > epsilon);
    }

    /// `∫ (φ(x − μ) − e^ε φ(x))_+ dx` by the trapezoidal rule from the point where it vanishes.
    #[test]
    fn the_gaussian_delta_is_its_integral(mu in log_uniform(0.05, 5.0), share in 0.0..8.0_f64) {
        let epsilon = share * mu;
        let start = epsilon / mu + mu / 2.0;
        let excess = |x: f64| {
            let shifted = -0.5 * (x - mu) * (x - mu);
            shifted.exp() * -(epsilon + mu * mu / 2.0 - mu * x).exp_m1()
        };
        let step = 1e-3;
        let sum: f64 = (1..12_000).map(|i| excess(start + f64::from(i) * step)).sum();
        let integral = sum * step / std::f64::consts::TAU.sqrt();
        let value = value(gaussian::delta_at(mu, epsilon));
        prop_assert!(close(value, integral, 1e-4), "{value} {integral}");
    }

    #[test]
    fn gaussian_quantities_are_monotone(
        epsilon in epsilons(), delta in deltas(), noise in log_uniform(1e-2, 1e4), more in log_uniform(1.001, 10.0),
    ) {
        ordered!(value(gaussian::noise_multiplier(epsilon * more, delta)) => value(gaussian::noise_multiplier(epsilon, delta)));
        if delta * more < 1.0 {
            ordered!(value(gaussian::noise_multiplier(epsilon, delta * more)) => value(gaussian::noise_multiplier(epsilon, delta)));
            ordered!(value(gaussian::epsilon(noise, delta * more)) => value(gaussian::epsilon(noise, delta)));
        }
        ordered!(value(gaussian::delta(noise, epsilon * more)) => value(gaussian::delta(noise, epsilon)));
        ordered!(value(gaussian::delta(noise * more, epsilon)) => value(gaussian::delta(noise, epsilon)));
        ordered!(value(gaussian::epsilon(noise * more, delta)) => value(gaussian::epsilon(noise, delta)));
    }

    #[test]
    fn the_participation_norm_is_the_norm(
        lambda in prop_oneof![0.0..1.0_f64, log_uniform(1e-9, 0.5).prop_map(|gap| 1.0 - gap)],
        steps in 1..600_u64, share in 0.0..1.0_f64,
    ) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let k = ((steps as f64 * share) as u64).max(1);
        let (mut row, mut total) = (0.0, 0.0);
        for step in 0..steps {
            row = lambda * row + if step < k { 1.0 } else { 0.0 };
            total += row * row;
        }
        let norm = participation_norm(lambda, steps, k).unwrap();
        prop_assert!(close(norm, f64::sqrt(total), 1e-11), "{norm} {}", f64::sqrt(total));
        ordered!((k as f64).sqrt() => norm);
        ordered!(norm => participation_norm(lambda, steps + 1, k).unwrap());
        ordered!(norm => participation_norm(lambda, steps + 1, k + 1).unwrap());
        prop_assert!(participation_norm(lambda, steps, steps + 1).is_err());
    }

    #[test]
    fn theorem_f12_answers_inside_its_domain_only(
        n in 1..100_000_u64, share in 0.0..1.0_f64, steps in 1..100_000_u64, epsilon in log_uniform(1e-3, 5.0),
        delta in log_uniform(1e-12, 0.9), lambda in 0.0..0.99_f64,
    ) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let batch = ((n as f64 * share) as u64).max(1);
        let bound = closed_form::f12(n, batch, steps, epsilon, delta, lambda).unwrap();
        let visits = batch as f64 / n as f64 * steps as f64;
        let inside = epsilon <= 1.0 && visits >= 3.0 * (2.0 / delta).ln();
        prop_assert_eq!(bound.value.is_some(), inside);
        prop_assert_eq!(bound.checks.iter().all(|check| check.holds), inside);
        let formula = closed_form::f12_formula(n, batch, steps, epsilon, delta, lambda).unwrap();
        let halved = closed_form::f12_formula(n, batch, steps, epsilon / 2.0, delta, lambda).unwrap();
        prop_assert!(close(halved, 2.0 * formula, 1e-13));
        // Independent recomputation of the printed formula.
        let reach: f64 = (0..steps.min(5000)).map(|t| lambda.powi(i32::try_from(t).unwrap())).sum();
        let square = 8.0 * reach * reach * (visits + (3.0 * visits * (2.0 / delta).ln()).sqrt())
            * (2.5 / delta).ln() / (epsilon * epsilon);
        prop_assert!(close(formula * formula, square, 1e-10));
        let claim = closed_form::d9_claim(n, batch, steps, epsilon, delta).unwrap();
        prop_assert!(claim.warrant == Warrant::Estimate && claim.upper.is_none());
    }

    /// One statement each, so that the answer is monotone; across the domain of Theorem F.12 the
    /// smallest of several statements is not (see below).
    #[test]
    fn calibrated_noise_falls_with_the_budget_and_grows_with_the_steps(
        n in 1000..100_000_u64, steps in 1..2000_u64, lambda in 0.0..0.99_f64, epsilon in epsilons(),
        delta in log_uniform(1e-12, 0.3), more in log_uniform(1.01, 3.0), relation in 0..3_usize,
        sampler in prop_oneof![Just(Sampler::Full), Just(Sampler::Stream)],
    ) {
        let batch = if sampler == Sampler::Full { n } else { (n / (steps + 1)).max(1) };
        let plan = Plan { n, batch, steps, lambda, sampler, relation: Relation::ALL[relation] };
        let at = |plan: &Plan, epsilon: f64, delta: f64| {
            calibrate(plan, Target { epsilon, delta }, &Effort::default())
        };
        let Ok(kappa) = at(&plan, epsilon, delta) else {
            let refused = sampler == Sampler::Stream
                && (plan.relation == Relation::AddRemove || batch * steps > n);
            prop_assert!(refused);
            return Ok(());
        };
        let kappa = kappa.value.unwrap();
        ordered!(value(at(&plan, epsilon * more, delta)) => kappa);
        ordered!(value(at(&plan, epsilon, delta * more)) => kappa);
        if let Ok(longer) = at(&Plan { steps: steps + 1, ..plan }, epsilon, delta) {
            ordered!(kappa => longer.value.unwrap());
        }
        ordered!(value(at(&Plan { lambda: lambda / 2.0, ..plan }, epsilon, delta)) => kappa);
    }

    /// The same for the samplers that Theorem F.12 covers, with its hypotheses true on both sides.
    #[test]
    fn closed_form_noise_is_monotone_inside_the_domain_of_theorem_f12(
        steps in 200..5000_u64, epsilon in log_uniform(1e-3, 0.4), delta in log_uniform(1e-10, 0.01),
        more in log_uniform(1.01, 2.0), relation in 0..3_usize, lambda in 0.0..0.95_f64,
        sampler in prop_oneof![Just(Sampler::Poisson), Just(Sampler::Fixed)],
    ) {
        let plan = Plan { n: 1000, batch: 500, steps, lambda, sampler, relation: Relation::ALL[relation] };
        let closed_form = Effort { method: Method::ClosedForm, ..Effort::default() };
        let at = |plan: &Plan, epsilon: f64, delta: f64| {
            value(calibrate(plan, Target { epsilon, delta }, &closed_form))
        };
        let kappa = at(&plan, epsilon, delta);
        ordered!(at(&plan, epsilon * more, delta) => kappa);
        ordered!(at(&plan, epsilon, delta * more) => kappa);
        ordered!(kappa => at(&Plan { steps: steps + 1, ..plan }, epsilon, delta));
        let closed = calibrate(&plan, Target { epsilon, delta }, &closed_form).unwrap();
        prop_assert_eq!(closed.warrant, Warrant::Proven);
    }
}

/// The noise of the Gaussian bound alone, whatever else is in the answer.
fn gaussian_part(bound: &Bound) -> f64 {
    let others = bound.alternatives.iter().map(|other| (&other.source, other.value));
    std::iter::once((&bound.source, bound.value))
        .chain(others)
        .find(|(source, _)| source.statement.starts_with("Gaussian"))
        .and_then(|(_, value)| value)
        .unwrap()
}

/// Sensitivities of section 2 of the privacy specification, and the pairs without a proof.
#[test]
fn sampler_and_relation_decide_the_sensitivity_or_refuse() {
    let target = Target { epsilon: 1.0, delta: 1e-5 };
    let unit = gaussian::noise_multiplier(1.0, 1e-5).unwrap().value.unwrap();
    for sampler in Sampler::ALL.iter().copied() {
        for relation in Relation::ALL.iter().copied() {
            let (batch, steps) = if sampler == Sampler::Full { (1000, 4) } else { (100, 4) };
            let plan = Plan { n: 1000, batch, steps, lambda: 0.0, sampler, relation };
            let answer = calibrate(&plan, target, &Effort::default());
            if (sampler, relation) == (Sampler::Stream, Relation::AddRemove) {
                assert!(matches!(answer, Err(BoundError::Unproven { .. })));
                continue;
            }
            let twice = relation == Relation::ReplaceOne
                || (sampler, relation) == (Sampler::Fixed, Relation::AddRemove);
            let visits: f64 = if sampler == Sampler::Stream { 1.0 } else { 4.0 };
            let wanted = unit * visits.sqrt() * if twice { 2.0 } else { 1.0 };
            let answer = answer.unwrap();
            assert_eq!(answer.warrant, Warrant::Proven, "{sampler} {relation}");
            if matches!(sampler, Sampler::Full | Sampler::Stream) {
                assert!(close(gaussian_part(&answer), wanted, 1e-12), "{sampler} {relation}");
            } else {
                // Sampling only amplifies: never more noise than without it, and never so little that
                // the record's first participation alone would show.
                let kappa = answer.value.unwrap();
                assert!(kappa < wanted && kappa > 0.1 * wanted, "{sampler} {relation}: {kappa}");
            }
        }
    }
}
