//! The kl inverse, its relaxations, complexities, sampling limits and certificates.

use dpbounds_bounds::pac_bayes::{
    Form, Prior, Problem, catoni, certify, complexity, gaussian_kl, kl_bernoulli, kl_inverse_lower,
    kl_inverse_upper, kl_inverse_upper_complement, prior_grid, relaxations, sampling,
};
use proptest::prelude::*;

use crate::support::{close, config, log_uniform, ordered, probability, records, value};

fn complexities() -> impl Strategy<Value = f64> {
    prop_oneof![log_uniform(1e-9, 10.0), log_uniform(1e-15, 600.0)]
}

proptest! {
    #![proptest_config(config(21, 500))]

    #[test]
    fn the_inverses_enclose_the_risk_and_invert(q in probability(), c in complexities()) {
        let (low, high) = (kl_inverse_lower(q, c).unwrap(), kl_inverse_upper(q, c).unwrap());
        prop_assert!(low.lower <= low.value && low.value.unwrap() <= q);
        prop_assert!(high.upper >= high.value && high.value.unwrap() >= q && high.upper.unwrap() <= 1.0);
        let rest = kl_inverse_upper_complement(q, c).unwrap();
        prop_assert!(rest.lower <= rest.value);
        let (low, high, rest) = (low.value.unwrap(), high.value.unwrap(), rest.value.unwrap());
        prop_assert!((high + rest - 1.0).abs() < 4e-16, "{high} + {rest}");
        // kl at the inverse is c; rounding p by one part in 1e16 moves it by slope * p * 1e-16.
        for p in [low, high] {
            if p > 1e-300 && p < 1.0 - 1e-12 && p != q {
                let slope = (p - q).abs() / (1.0 - p);
                let kl = value(kl_bernoulli(q, p));
                let allowed = 4e-12 * c + 4e-16 * slope;
                prop_assert!((kl - c).abs() <= allowed, "q {q} c {c}: kl {kl} at {p}");
            }
        }
    }

    /// A complexity of the size of a small risk, where the lower inverse is far below the risk.
    #[test]
    fn the_lower_inverse_of_a_small_risk_inverts(q in log_uniform(1e-15, 0.1), t in log_uniform(0.01, 500.0)) {
        let c = q * t;
        let p = value(kl_inverse_lower(q, c));
        // kl(q||p) for p < q small, by logarithms and log1p alone.
        let ratio = (q / p).ln();
        let kl = q * ratio + (1.0 - q) * ((-q).ln_1p() - (-p).ln_1p());
        prop_assert!((kl - c).abs() <= 1e-13 * (c + q * ratio.abs() + q), "q {q} c {c}: {kl}");
    }

    #[test]
    fn the_inverses_are_monotone(
        q in probability(), other in probability(), c in complexities(), more in log_uniform(1.001, 10.0),
    ) {
        let (small, large) = if q < other { (q, other) } else { (other, q) };
        ordered!(value(kl_inverse_upper(small, c)) => value(kl_inverse_upper(large, c)));
        ordered!(value(kl_inverse_lower(small, c)) => value(kl_inverse_lower(large, c)));
        ordered!(value(kl_inverse_upper(q, c)) => value(kl_inverse_upper(q, c * more)));
        ordered!(value(kl_inverse_lower(q, c * more)) => value(kl_inverse_lower(q, c)));
    }

    #[test]
    fn the_lower_inverse_is_the_upper_one_of_the_opposite(q in 0.05..0.95_f64, c in log_uniform(1e-6, 5.0)) {
        let opposite = value(kl_inverse_upper_complement(1.0 - q, c));
        prop_assert!(close(value(kl_inverse_lower(q, c)), opposite, 1e-12));
    }

    #[test]
    fn the_divergence_is_that_of_its_definition(q in 0.001..0.999_f64, p in 0.001..0.999_f64) {
        let direct = q * (q / p).ln() + (1.0 - q) * ((1.0 - q) / (1.0 - p)).ln();
        prop_assert!((value(kl_bernoulli(q, p)) - direct).abs() < 1e-14 * (1.0 + direct));
        ordered!(2.0 * (p - q) * (p - q) => value(kl_bernoulli(q, p)));
    }

    #[test]
    fn relaxations_are_above_the_kl_inverse(
        q in probability(), c in complexities(), lambda in 1e-6..1.999_f64, parameter in log_uniform(1e-6, 1e3),
    ) {
        let kl = value(kl_inverse_upper(q, c));
        let quadratic = value(relaxations::quadratic(q, c));
        ordered!(kl => quadratic);
        ordered!(kl => value(relaxations::mcallester(q, c)));
        ordered!(quadratic => value(relaxations::lambda(q, c, lambda)));
        ordered!(kl => value(catoni::at_complexity(q, c, parameter)));
        let star = value(relaxations::lambda_star(q, c));
        prop_assert!(close(value(relaxations::lambda(q, c, star)), quadratic, 1e-12));
        prop_assert!(close(value(relaxations::lambda_optimised(q, c)), quadratic, 1e-12));
        // The root of p = q + sqrt(2 p c).
        prop_assert!(close(quadratic, q + (2.0 * quadratic * c).sqrt(), 1e-13));
    }

    #[test]
    fn the_infimum_of_catoni_is_the_kl_inverse_and_its_grid_is_above(
        q in 0.001..0.9_f64, c in log_uniform(1e-4, 2.0), n in 100..1_000_000_u64,
    ) {
        let kl = value(kl_inverse_upper(q, c));
        // Attained at C = log(p(1−q)/(q(1−p))), the slope of kl.
        let best = (kl * (1.0 - q) / (q * (1.0 - kl))).ln();
        if kl < 1.0 - 1e-9 && best > 1e-3 {
            prop_assert!(close(value(catoni::at_complexity(q, c, best)), kl, 1e-10));
        }
        let grid = value(catoni::over_grid(q, c, n));
        ordered!(kl => grid);
        let penalised = c + 16_f64.ln() / n as f64;
        let single: f64 = catoni::GRID
            .iter()
            .map(|parameter| value(catoni::at_complexity(q, penalised, *parameter)))
            .fold(f64::INFINITY, f64::min);
        prop_assert_eq!(grid, single);
    }

    #[test]
    fn complexities_are_consistent(
        n in records(), kl in log_uniform(1e-6, 1e7), information in -0.01..1e5_f64, delta in 1e-9..0.9_f64,
        share in 0.001..0.999_f64,
    ) {
        let full = value(complexity::private_prior(n, kl, information, delta));
        let split = value(complexity::private_prior_at_level(n, kl, information, delta, delta / 2.0));
        prop_assert!(close(full, split, 1e-14));
        // Half of the failure probability costs log 2.
        let plain = value(complexity::seeger(n, kl, delta));
        let expected = plain + (information + 2_f64.ln()) / n as f64;
        prop_assert!((full - expected).abs() <= 1e-12 * (full.abs() + plain + information.abs() / n as f64));
        let level = share * delta;
        let model = value(complexity::private_model(n, information, delta, level));
        ordered!(model => value(complexity::private_prior_at_level(n, 0.0, information, delta, level)));
        ordered!(full => value(complexity::private_prior(n, kl * 2.0, information, delta)));
        ordered!(full => value(complexity::private_prior(n, kl, information + 1.0, delta)));
        ordered!(full => value(complexity::private_prior(n, kl, information, delta / 2.0)));
        ordered!(value(complexity::fixed_model(n, delta)) => plain);
        prop_assert!(complexity::private_model(n, information, delta, delta).is_err());
    }

    #[test]
    fn gaussian_divergences_agree(
        distance in log_uniform(1e-9, 1e6), posterior in log_uniform(1e-6, 1e6), prior in log_uniform(1e-6, 1e6),
        d in 1..40_usize,
    ) {
        let isotropic = value(gaussian_kl::isotropic(d as u64, distance, posterior, prior));
        let step = (distance / d as f64).sqrt();
        let diagonal = value(gaussian_kl::diagonal(
            &vec![step; d], &vec![0.0; d], &vec![posterior; d], &vec![prior; d],
        ));
        prop_assert!(close(isotropic, diagonal, 1e-12), "{isotropic} {diagonal}");
        prop_assert_eq!(value(gaussian_kl::isotropic(d as u64, 0.0, prior, prior)), 0.0);
        let naive = 0.5 * (d as f64 * (posterior / prior - 1.0 - (posterior / prior).ln()) + distance / prior);
        prop_assert!((isotropic - naive).abs() <= 1e-9 * naive + 1e-12 * d as f64 * (1.0 + posterior / prior));
    }

    #[test]
    fn the_grid_of_priors_is_rounded_and_paid_for(
        variance in log_uniform(1e-12, 0.999), b in log_uniform(1.0, 1e4),
    ) {
        let point = prior_grid::nearest(variance, 1.0, b).unwrap();
        prop_assert!(point.j >= 1.0 && point.j.fract() == 0.0);
        prop_assert!(close(point.variance, (-point.j / b).exp(), 1e-14));
        // At most half a step away, except below the first point.
        let off = (point.variance / variance).ln().abs() * b;
        prop_assert!(off <= 0.5 + 1e-9 * point.j || point.j == 1.0, "{off}");
        let weight = 6.0 / (std::f64::consts::PI * point.j).powi(2);
        prop_assert!(close((-point.penalty).exp(), weight, 1e-12));
        prop_assert_eq!(value(prior_grid::nearest_penalty(variance, 1.0, b)), point.penalty);
    }
}

/// `P(Bin(n, p) <= k)` term by term.
fn binomial_tail(k: u64, n: u64, p: f64) -> f64 {
    let mut log_term = n as f64 * (-p).ln_1p();
    let mut total = log_term.exp();
    for j in 0..k {
        log_term += ((n - j) as f64 / (j + 1) as f64 * p / (1.0 - p)).ln();
        total += log_term.exp();
    }
    total
}

proptest! {
    #![proptest_config(config(22, 200))]

    #[test]
    fn clopper_pearson_is_its_definition_and_below_langford(
        n in 2..2000_u64, share in 0.0..1.0_f64, delta in prop_oneof![log_uniform(1e-12, 0.5), 0.5..0.99_f64],
    ) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let k = ((n as f64 * share) as u64).min(n - 1);
        let limit = sampling::clopper_pearson(k, n, delta).unwrap();
        let (p, upper) = (limit.value.unwrap(), limit.upper.unwrap());
        prop_assert!(binomial_tail(k, n, upper) <= delta * (1.0 + 1e-10));
        // For a large δ the limit is below k/n, which is answered in its place.
        let exact = binomial_tail(k, n, p * (1.0 - 1e-9)) >= delta * (1.0 - 1e-9);
        prop_assert!(exact || p == k as f64 / n as f64);
        ordered!(p => value(sampling::langford(k, n, delta)));
        ordered!(k as f64 / n as f64 => value(sampling::langford(k, n, delta)));
    }

    #[test]
    fn certificates_are_consistent(
        risk in 0.0..0.6_f64, n in 100..1_000_000_u64, kl in log_uniform(0.1, 1e4),
        information in 0.0..2e3_f64, delta in 1e-6..0.2_f64, share in 0.05..0.95_f64, choices in 1..100_u64,
    ) {
        let private = Prior::Private { max_information: information, level: share * delta };
        for (kl, prior) in [
            (Some(kl), private), (None, private), (Some(kl), Prior::DataIndependent), (None, Prior::DataIndependent),
        ] {
            let problem = Problem { risk, n, kl, prior, delta, choices };
            let form = |problem: &Problem, form| value(certify(problem, Some(form)));
            let best = value(certify(&problem, None));
            let kl_form = form(&problem, Form::Kl);
            ordered!(risk => kl_form);
            for other in [Form::McAllester, Form::Quadratic, Form::Lambda] {
                ordered!(kl_form => form(&problem, other));
            }
            for same_event in [Form::Kl, Form::McAllester, Form::Quadratic, Form::Lambda] {
                ordered!(best => form(&problem, same_event));
            }
            for any in Form::ALL {
                let stricter = Problem { delta: delta * 1.5, ..problem };
                ordered!(form(&stricter, any) => form(&problem, any));
                let chosen = Problem { choices: choices + 1, ..problem };
                ordered!(form(&problem, any) => form(&chosen, any));
            }
        }
    }
}
