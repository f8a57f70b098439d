//! Wrong or loose answers that the other tests found once, each with its arguments.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

use dpbounds_bounds::max_information::{
    FailureLevel, approximate_dp, correlated, gaussian, pure_dp, renyi, toy,
};
use dpbounds_bounds::pac_bayes::{
    Form, Prior, Problem, certify, gaussian_kl, kl_bernoulli, kl_inverse_lower, sampling,
};
use dpbounds_bounds::privacy::{
    Effort, Plan, Relation, Sampler, Target, calibrate, participation_norm,
};
use dpbounds_bounds::{Bound, Result};

fn level(beta: f64) -> FailureLevel {
    FailureLevel::from_beta(beta).unwrap()
}

fn value(bound: Result<Bound>) -> f64 {
    bound.unwrap().value.unwrap()
}

fn close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-11, "{value:e}, expected {expected:e}");
}

/// The certificate without a wanted form may not take the smaller of two bounds that fail on
/// different events, each with probability δ: together they may fail with probability 2δ.
#[test]
fn the_automatic_certificate_does_not_add_up_failure_probabilities() {
    for (n, risk, kl) in [(1000, 0.05, 10.0), (60_000, 0.1, 1000.0), (1000, 0.0, 1.0)] {
        for prior in [Prior::DataIndependent, Prior::Private { max_information: 5.0, level: 0.025 }]
        {
            let problem = Problem { risk, n, kl: Some(kl), prior, delta: 0.05, choices: 1 };
            let automatic = value(certify(&problem, None));
            let stricter = Problem { delta: 0.049, ..problem };
            let catoni = value(certify(&stricter, Some(Form::Catoni)));
            let kl_form = value(certify(&problem, Some(Form::Kl)));
            assert!(automatic >= kl_form.min(catoni), "{automatic} {kl_form} {catoni}");
        }
    }
}

/// 40-digit values.
#[test]
fn clopper_pearson_for_many_draws() {
    for (errors, draws, delta, expected) in [
        (10, 1000, 0.05, 0.016_903_175_120_562_505),
        (500, 1000, 1e-6, 0.575_209_492_745_363_5),
        (1, 1_000_000, 0.05, 4.743_855_638_206_810_4e-6),
        (1000, 1_000_000, 0.05, 0.001_053_574_877_454_436),
        (200_000, 1_000_000, 1e-6, 0.201_906_482_177_396_1),
        (500_000, 1_000_000, 0.05, 0.500_822_926_050_523),
        (5_000_000, 10_000_000, 0.05, 0.500_260_124_169_834_2),
        (1, 1_000_000_000, 0.05, 4.743_864_509_510_385e-9),
    ] {
        let limit = sampling::clopper_pearson(errors, draws, delta).unwrap();
        close(limit.value.unwrap(), expected);
        assert!(limit.upper.unwrap() >= expected * (1.0 - 1e-15), "{errors} {draws}");
    }
}

/// Beyond the exact range an error, never a number below the estimate.
#[test]
fn clopper_pearson_beyond_its_range() {
    for errors in [1, 1 << 52] {
        if let Ok(limit) = sampling::clopper_pearson(errors, 1 << 53, 0.05) {
            // 4.7439/N for one error; 1.64 standard deviations at one half.
            let least = if errors == 1 { 5.26e-16 } else { 0.5 + 8.6e-9 };
            assert!(limit.upper.unwrap() > least);
        }
    }
}

/// `n = 1` in closed form: `max(ε + log(1 − β(1 + e^{−ε})), 0)`; the last row with 70 digits.
#[test]
fn the_exact_composition_at_tiny_epsilon() {
    for exponent in [2, 4, 6, 8, 10, 12, 14, 17, 100] {
        let epsilon = f64::powi(10.0, -exponent);
        let beta = epsilon * 1e-3;
        let expected = epsilon + (-beta * (1.0 + (-epsilon).exp())).ln_1p();
        for bound in [
            approximate_dp::b_plus_exact(1, epsilon, 0.0, level(beta)),
            approximate_dp::randomized_response_composition(1, epsilon, level(beta)),
        ] {
            let bound = bound.unwrap();
            let upper = bound.upper.unwrap();
            assert!(upper >= expected * (1.0 - 1e-15), "epsilon {epsilon:e}: {upper:e}");
            close(bound.value.unwrap(), expected);
        }
    }
    let sixteen = approximate_dp::randomized_response_composition(
        16,
        2.968_232_424_744_263_8e-8,
        level(1.713_951_579_169_141_3e-11),
    );
    close(value(sixteen), 3.557_886_834_204_386e-7);
}

/// `1 − risk` is rounded before its logarithm is taken.
#[test]
fn the_lower_inverse_of_a_small_risk() {
    let p = kl_inverse_lower(4.451_711_236_732_183_6e-8, 1.793_665_002_898_065e-6).unwrap();
    assert!(p.lower.unwrap() <= 5.197_800_631_188_228e-26, "{p:?}");
    close(p.value.unwrap(), 5.197_800_631_188_228e-26);
}

#[test]
fn the_divergence_of_distant_arguments() {
    // 70-digit value; the lost digits of 1 − p used to show.
    close(
        value(kl_bernoulli(0.979_698_223_385_957, 0.999_999_999_897_694_3)),
        0.367_791_633_230_355_7,
    );
}

/// `log(1 − β)` from `log β`, where `1 − β` cancels.
#[test]
fn a_failure_level_next_to_one() {
    for log_beta in [-1e-8, -1e-12, -1e-17, -1e-300] {
        let at = FailureLevel::from_log_beta(log_beta).unwrap();
        let exact = (-f64::exp_m1(log_beta)).ln();
        for bound in [gaussian::eq7_hs(0.0, at), correlated::bound_hs(0.0, 3, 0.5, at)] {
            let bound = bound.unwrap();
            assert!(bound.upper.unwrap() >= exact + 1e-15 * exact, "{log_beta:e}: {bound:?}");
            close(bound.value.unwrap(), exact);
        }
    }
}

/// The hockey-stick forms change sign: there the value is a difference of much larger terms, and
/// the rounding margin has to be relative to those. 90-digit values.
#[test]
fn the_upper_side_where_a_bound_changes_sign() {
    for (nu, beta, exact) in [
        (0.080_365_072_335_714_83, 0.3, 8.692_39e-17),
        (0.037_145_980_517_457_06, 0.2, 8.433_38e-17),
        (0.009_912_636_356_649_39, 0.1, 8.288_5e-17),
        (1.093_355_993_384_414_6e-6, 1e-3, 3.298_63e-18),
    ] {
        let upper = gaussian::eq7_hs(nu, level(beta)).unwrap().upper.unwrap();
        assert!(upper >= exact * (1.0 - 1e-3), "nu {nu} beta {beta}: {upper:e} below {exact:e}");
    }
}

/// The linear branch of Theorem 2 with hockey-stick conversion is the smallest for few records.
#[test]
fn the_smallest_gaussian_bound_includes_the_linear_branch() {
    for (n, sigma, beta, alpha, linear) in [
        (1, 0.3, 1e-6, 2.491_824_697_641_270_3, 21.979_256_537_252),
        (1, 0.3, 0.025, 1.740_818_220_681_718, 13.048_022_204_602),
        (1, 1.0, 0.025, 3.225_540_928_492_468, 2.372_980_733_061),
        (1, 3.0, 1e-6, 14.463_738_035_001_69, 1.559_591_102_985),
    ] {
        let epsilon = alpha / (2.0 * sigma * sigma);
        let branch = value(renyi::linear_hs(n, alpha, epsilon, level(beta)));
        assert!((branch / linear - 1.0).abs() < 1e-9);
        let best = value(gaussian::best(n, sigma, level(beta)));
        let orders = value(renyi::best_over_orders(n, |a| a / (2.0 * sigma * sigma), level(beta)));
        assert!(best <= branch && orders <= branch, "{n} {sigma} {beta}: {best} {orders} {branch}");
    }
}

/// A larger budget or fewer steps never need more noise: what meets ε = 1 meets ε = 1.01, and the
/// noise for more steps serves for fewer.
#[test]
fn calibrated_noise_across_the_domain_of_theorem_f12() {
    let plan = Plan {
        n: 1000,
        batch: 100,
        steps: 600,
        lambda: 0.0,
        sampler: Sampler::Fixed,
        relation: Relation::ReplaceOne,
    };
    let kappa = |steps: u64, epsilon: f64, delta: f64| {
        value(calibrate(&Plan { steps, ..plan }, Target { epsilon, delta }, &Effort::default()))
    };
    assert!(kappa(600, 1.01, 1e-7) <= kappa(600, 1.0, 1e-7));
    assert!(kappa(504, 0.5, 1e-7) <= kappa(505, 0.5, 1e-7));
}

/// A closed bound in place of the sum may be answered as an upper side only.
#[test]
fn the_participation_norm_of_millions_of_steps() {
    for (gap, steps, count) in [(1e-7, 4_000_000_u64, 2_000_000_u64), (4e-7, 2_000_000, 2_000_000)]
    {
        let lambda = 1.0 - gap;
        let (mut row, mut total) = (0.0_f64, 0.0_f64);
        for step in 0..steps {
            row = lambda * row + if step < count { 1.0 } else { 0.0 };
            total += row * row;
        }
        let norm = participation_norm(lambda, steps, count).unwrap();
        assert!((norm / total.sqrt() - 1.0).abs() < 1e-9, "{norm} {}", total.sqrt());
    }
}

#[test]
fn the_exact_toy_at_extreme_arguments() {
    // `H(k) -> 1` as `k -> −∞`.
    for threshold in [-1e3, -1e10, -1e300] {
        close(value(toy::beta(2, 1.0, 0.5, threshold)), 1.0);
    }
    // `H(0)` is a total variation, of order 1/σ; beyond the range there is no answer.
    let scaled = |sigma: f64| value(toy::beta(5, sigma, 0.5, 0.0)) * sigma;
    assert!((scaled(1e3) / scaled(100.0) - 1.0).abs() < 1e-3);
    assert!(toy::beta(5, 1e9, 0.5, 0.0).is_err());
}

/// Pivot by pivot; the closed form loses digits where the determinant is close to 1.
#[test]
fn the_determinant_close_to_one() {
    let (lambda, steps, a): (f64, u64, f64) =
        (-0.999_997_753_135_607_2, 1236, 2.703_920_612_516_113_5e-12);
    let (mut sum, mut pivot) = (0.0, a);
    for _ in 0..steps {
        sum += (-pivot).ln_1p();
        pivot = a + lambda * lambda * pivot / (1.0 - pivot);
    }
    let bound = correlated::log_det(lambda, steps, a).unwrap();
    close(bound.value.unwrap(), sum);
}

/// `n ε` is a double, so the bound has a value.
#[test]
fn the_bounded_range_bound_at_a_huge_epsilon() {
    let at = FailureLevel::from_log_beta(-3.767e-8).unwrap();
    for epsilon in [1e270, 1e284, 1e292] {
        assert!(
            value(pure_dp::best(3_016_054, epsilon, at)) <= 3_016_054.0 * epsilon * (1.0 + 1e-12)
        );
    }
}

/// Zero times infinity, infinity less infinity: in range, so a bound or a reason.
#[test]
fn arguments_in_range_that_gave_an_evaluation_error() {
    approximate_dp::best(1910, 1.053_090_043_062_86e237, 0.0, level(0.498_139)).unwrap();
    approximate_dp::c_hs(802_952, 3.003_825_150_162_364e-284, 0.0, level(0.997_726)).unwrap();
    gaussian_kl::isotropic(17, 0.3, 2.34e209, 5.75e-172).unwrap();
}

/// `h ε` underflows although `v*` is far from 0.
#[test]
fn the_variance_proxy_at_a_subnormal_product() {
    let alpha = 1.0 + f64::EPSILON;
    let at = |epsilon| value(renyi::v_star(1 << 53, alpha, epsilon, level(1e-300)));
    // Linear in ε as long as e^{hε} − 1 is far below b1.
    let ratio = at(1e-310) / at(1e-295) * 1e15;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

/// Masses that underflow, ratios that overflow, and levels that round to 1 or below `n δ`.
#[test]
fn levels_and_epsilons_beyond_the_range_of_the_masses() {
    let tiny = FailureLevel::from_log_beta(-1e5).unwrap();
    assert!(value(approximate_dp::best(10_000, 0.05, 0.0, tiny)) > 499.0);
    let huge = approximate_dp::best(10, 1e308, 0.0, level(0.05)).unwrap();
    assert!(huge.value.is_none_or(|value| value > 1e300), "{huge:?}");
    let sure = FailureLevel::from_log_beta(-1e-17).unwrap();
    assert!(approximate_dp::best(1, 1.0, 1.0, sure).unwrap().value.is_none());
    let below = level(1.497_611_335_488_482_3e-295);
    let none = approximate_dp::best(1000, 0.1, 1.497_611_335_488_482_7e-298, below).unwrap();
    assert_eq!(none.value, None);
}

/// Close to `|λ| = 1` the determinant of very many steps is refused rather than guessed.
#[test]
fn very_many_steps_close_to_full_correlation() {
    let at = FailureLevel::from_log_beta(-1e-17).unwrap();
    assert!(correlated::bound(1.0855e-10, 100_000, 1.0 - 1e-9, at).is_err());
    assert!(correlated::bound(1e-9, 100_000, 0.99, level(0.05)).unwrap().value.is_some());
}

/// A sampled risk holds with a confidence, and a max-information has a smallest value.
#[test]
fn sampled_risks_and_impossible_max_informations() {
    use dpbounds_bounds::{Warrant, pac_bayes::complexity};
    let limit = sampling::clopper_pearson(3, 100, 0.01).unwrap();
    assert_eq!(limit.warrant, Warrant::Confidence(0.99));
    assert!(complexity::private_model(100, -3.5, 0.05, 0.025).is_err());
    assert!(complexity::private_model(100, -0.025, 0.05, 0.025).is_ok());
}
