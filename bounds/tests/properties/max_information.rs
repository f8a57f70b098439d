//! Order, monotony and identities of the bounds from pure, approximate and Gaussian guarantees.

use dpbounds_bounds::max_information::{
    FailureLevel, approximate_dp, correlated, gaussian, pure_dp, streaming, toy,
};
use proptest::prelude::*;

use crate::support::{
    OfNu, OfOne, OfSteps, OfTwo, close, config, count, levels, log_uniform, ordered, records, value,
};

fn epsilons() -> impl Strategy<Value = f64> {
    prop_oneof![log_uniform(1e-4, 20.0), log_uniform(1e-290, 1e280)]
}

fn nus() -> impl Strategy<Value = f64> {
    prop_oneof![log_uniform(1e-6, 1e3), log_uniform(1e-300, 1e300)]
}

proptest! {
    #![proptest_config(config(1, 400))]

    #[test]
    fn gaussian_bounds_are_ordered(nu in nus(), level in levels()) {
        let eq7 = value(gaussian::eq7(nu, level));
        let eq8 = value(gaussian::eq8(nu, level));
        ordered!(value(gaussian::eq7_hs(nu, level)) => eq7);
        ordered!(eq7 => eq8);
        ordered!(eq8 => value(gaussian::eq9(nu, level)));
        prop_assert!(eq8.is_infinite() || eq8 <= 1.3 * eq7, "spec: (8)/(7) <= 1.29");
    }

    #[test]
    fn streaming_bounds_are_ordered(nu in nus(), steps in records(), level in levels()) {
        let eq10 = value(streaming::eq10(nu, steps, level));
        let eq11 = value(streaming::eq11(nu, steps, level));
        ordered!(value(streaming::eq10_hs(nu, steps, level)) => eq10);
        ordered!(eq10 => eq11);
        ordered!(eq11 => value(streaming::eq12(nu, steps, level)));
    }

    #[test]
    fn one_streaming_step_is_sharper_than_the_gaussian_mechanism(nu in nus(), level in levels()) {
        // The same noise: sigma is relative to half the replace-one sensitivity there.
        ordered!(value(streaming::eq10(nu, 1, level)) => value(gaussian::eq7(4.0 * nu, level)));
    }

    #[test]
    fn more_steps_on_smaller_batches_are_sharper(
        nu in nus(), steps in 1..1_000_000_u64, parts in 2..1000_u64, level in levels(),
    ) {
        let finer = value(streaming::eq10(nu / parts as f64, steps * parts, level));
        ordered!(finer => value(streaming::eq10(nu, steps, level)));
    }

    #[test]
    fn pure_bounds_are_ordered(n in records(), epsilon in log_uniform(1e-290, 1e270), level in levels()) {
        let linear = n as f64 * epsilon;
        let range = value(pure_dp::bounded_range(n, epsilon, level));
        let theorem1 = value(pure_dp::theorem1(n, epsilon, level));
        ordered!(value(pure_dp::bounded_range_hs(n, epsilon, level)) => range);
        ordered!(range => theorem1);
        ordered!(theorem1 => linear);
        ordered!(theorem1 => value(pure_dp::theorem1_sqrt(n, epsilon, level)));
        ordered!(theorem1 => value(pure_dp::classic(n, epsilon, level)));
    }

    #[test]
    fn approximate_bounds_are_ordered(
        n in records(), epsilon in epsilons(), share in log_uniform(1e-30, 2.0), level in levels(),
    ) {
        // δ as a share of β/n, so that all regimes occur.
        let delta = (share * level.probability() / n as f64).min(1.0);
        let get = |f: OfTwo| value(f(n, epsilon, delta, level));
        let plus = get(approximate_dp::b_plus);
        ordered!(get(approximate_dp::b_plus_hs) => plus);
        ordered!(plus => get(approximate_dp::a));
        ordered!(plus => get(approximate_dp::b));
        ordered!(plus => get(approximate_dp::d_prime));
        ordered!(get(approximate_dp::c_hs) => get(approximate_dp::c));
        // Without a value only below nδ.
        prop_assert_eq!(plus.is_infinite(), get(approximate_dp::a).is_infinite());
    }

    #[test]
    fn bound_c_without_delta_is_theorem_1(n in records(), epsilon in log_uniform(1e-100, 1e100), level in levels()) {
        let c = value(approximate_dp::c(n, epsilon, 0.0, level));
        let theorem1 = value(pure_dp::theorem1_sqrt(n, epsilon, level));
        prop_assert!(close(c, theorem1, 1e-12), "{c} {theorem1}");
    }

    #[test]
    fn bounds_grow_with_records_privacy_and_confidence(
        n in count(1e9), epsilon in log_uniform(1e-6, 10.0), share in log_uniform(1e-9, 0.05),
        level in levels(), more in log_uniform(1.001, 3.0), extra in 1..1000_u64,
    ) {
        const APPROXIMATE: [OfTwo; 9] = [
            approximate_dp::a, approximate_dp::b, approximate_dp::b_plus, approximate_dp::b_plus_hs,
            approximate_dp::c, approximate_dp::c_hs, approximate_dp::d, approximate_dp::d_prime,
            |n, epsilon, _, level| pure_dp::best(n, epsilon, level),
        ];
        const PURE: [OfOne; 4] = [
            pure_dp::classic, pure_dp::theorem1, pure_dp::bounded_range, pure_dp::bounded_range_hs,
        ];
        let delta = share * level.probability() / n as f64;
        let tougher = FailureLevel::from_log_beta(-level.log_inverse() * more).unwrap();
        for bound in APPROXIMATE {
            let here = value(bound(n, epsilon, delta, level));
            ordered!(here => value(bound(n + extra, epsilon, delta, level)));
            ordered!(here => value(bound(n, epsilon * more, delta, level)));
            ordered!(here => value(bound(n, epsilon, (delta * more).min(1.0), level)));
            ordered!(here => value(bound(n, epsilon, delta, tougher)));
        }
        for bound in PURE {
            let here = value(bound(n, epsilon, level));
            ordered!(here => value(bound(n + extra, epsilon, level)));
            ordered!(here => value(bound(n, epsilon * more, level)));
            ordered!(here => value(bound(n, epsilon, tougher)));
        }
    }

    #[test]
    fn gaussian_and_streaming_bounds_grow_with_nu_steps_and_confidence(
        nu in log_uniform(1e-12, 1e12), steps in count(1e9), level in levels(),
        more in log_uniform(1.001, 3.0),
    ) {
        const OF_NU: [OfNu; 4] =
            [gaussian::eq7, gaussian::eq7_hs, gaussian::eq8, gaussian::eq9];
        const OF_STEPS: [OfSteps; 4] =
            [streaming::eq10, streaming::eq10_hs, streaming::eq11, streaming::eq12];
        let tougher = FailureLevel::from_log_beta(-level.log_inverse() * more).unwrap();
        for bound in OF_NU {
            let here = value(bound(nu, level));
            ordered!(here => value(bound(nu * more, level)));
            ordered!(here => value(bound(nu, tougher)));
        }
        for bound in OF_STEPS {
            let here = value(bound(nu, steps, level));
            ordered!(here => value(bound(nu * more, steps, level)));
            ordered!(here => value(bound(nu, steps + 1, level)));
            ordered!(here => value(bound(nu, steps, tougher)));
        }
    }

    #[test]
    fn the_end_of_the_range_solves_its_equation(nu in log_uniform(1e-300, 1e300)) {
        let r = gaussian::r_nu(nu).unwrap();
        prop_assert!(close(r * nu * (1.0 + r), 1.0, 1e-13) && r.is_finite());
    }

    #[test]
    fn the_noise_for_a_target_meets_it_and_is_the_least(
        n in records(), target in log_uniform(1e-9, 1e9), level in levels(),
    ) {
        let sigma = gaussian::noise_for_target(n, target, level).unwrap().upper.unwrap();
        let at = |sigma: f64| value(gaussian::eq7(gaussian::nu(n, sigma).unwrap(), level));
        ordered!(at(sigma) => target);
        prop_assert!(at(sigma * (1.0 - 1e-6)) > target);
    }
}

proptest! {
    #![proptest_config(config(2, 60))]

    #[test]
    fn correlation_only_hurts_and_its_sign_does_not_matter(
        nu in log_uniform(1e-9, 1e6), steps in count(2000.0), lambda in 0.0..1.2_f64,
        less in 0.0..1.0_f64, level in levels(),
    ) {
        let at = |lambda: f64| value(correlated::bound(nu, steps, lambda, level));
        let here = at(lambda);
        prop_assert_eq!(here, at(-lambda));
        ordered!(at(lambda * less) => here);
        ordered!(value(streaming::eq10(nu, steps, level)) => here);
        prop_assert!(close(at(0.0), value(streaming::eq10(nu, steps, level)), 1e-11));
        ordered!(value(correlated::bound_hs(nu, steps, lambda, level)) => here);
        ordered!(here => value(correlated::bound(nu * 1.1, steps, lambda, level)));
        ordered!(here => value(correlated::bound(nu, steps + 1, lambda, level)));
    }

    #[test]
    fn the_smallest_bound_is_the_smallest(
        n in count(1e6), epsilon in log_uniform(1e-4, 3.0), delta in log_uniform(1e-15, 1e-5),
        sigma in log_uniform(0.3, 1e3), steps in count(1e3), lambda in -0.9..0.9_f64,
        level in levels(),
    ) {
        let all = [
            pure_dp::best(n, epsilon, level).unwrap(),
            approximate_dp::best(n, epsilon, delta, level).unwrap(),
            gaussian::best(n, sigma, level).unwrap(),
            streaming::best(n, steps, sigma, level).unwrap(),
            correlated::best(n, steps, sigma, lambda, level).unwrap(),
        ];
        for best in &all {
            let smallest = best.value.unwrap_or(f64::INFINITY);
            prop_assert!(best.alternatives.iter().all(|a| a.value.unwrap_or(f64::INFINITY) >= smallest));
            prop_assert!(best.value.is_none() || !best.alternatives.is_empty());
        }
        // Named statements are not forgotten.
        ordered!(all[0].value.unwrap() => value(pure_dp::theorem1(n, epsilon, level)));
        let approximate = all[1].value.unwrap_or(f64::INFINITY);
        ordered!(approximate => value(approximate_dp::d_split(n, epsilon, delta, level)));
        ordered!(approximate => value(approximate_dp::c_hs(n, epsilon, delta, level)));
        ordered!(approximate => value(approximate_dp::b_plus_hs(n, epsilon, delta, level)));
        ordered!(value(approximate_dp::d_split(n, epsilon, delta, level))
            => value(approximate_dp::d(n, epsilon, delta, level)));
    }

    #[test]
    fn the_exact_form_of_b_plus_is_below_its_moment_form(
        n in 1..400_u64, epsilon in log_uniform(1e-3, 5.0), level in levels(),
    ) {
        let hs = value(approximate_dp::b_plus_hs(n, epsilon, 0.0, level));
        let exact = value(approximate_dp::b_plus_exact(n, epsilon, 0.0, level));
        prop_assert!(exact <= hs.max(0.0) + 1e-10 * (1.0 + hs.abs()), "{exact} {hs}");
        let composition = value(approximate_dp::randomized_response_composition(n, epsilon, level));
        prop_assert_eq!(exact, composition);
    }

    #[test]
    fn the_toy_and_its_inverse_agree(
        n in 1..12_u64, sigma in log_uniform(0.2, 30.0), p in 0.05..0.95_f64,
        beta in log_uniform(1e-8, 0.5),
    ) {
        let level = FailureLevel::from_beta(beta).unwrap();
        let exact = toy::max_info(n, sigma, p, level).unwrap().value.unwrap();
        let back = toy::beta(n, sigma, p, exact).unwrap().value.unwrap();
        if exact > 0.0 {
            prop_assert!(close(back, beta, 1e-6), "{back} {beta}");
        } else {
            prop_assert!(back <= beta);
        }
        ordered!(exact => value(gaussian::eq7(gaussian::nu(n, sigma).unwrap(), level)));
    }
}
