//! Max-information bounds by name.

use super::parameters::*;
use super::{Arguments, Entry, entry};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::max_information::renyi::{RenyiCurve, RenyiPoint};
use crate::max_information::{
    approximate_dp, correlated, dp_sgd, gaussian, ours, pure_dp, renyi, streaming, toy,
};
use crate::special::{bounded_range_log_moment, randomized_response_log_moment};
use crate::warrant::{Bound, Quantity, Source};

const PAPER: &str = "arXiv 2605.26222";
const DOCS: &str = "ours, docs/theory/max-information.md";
const RENYI_DOCS: &str = "ours, docs/theory/renyi-replace-one.md";

const PURE: &[Parameter] = &[N, EPSILON, BETA];
const APPROXIMATE: &[Parameter] = &[N, EPSILON, DELTA, BETA];
const RENYI: &[Parameter] = &[N, ALPHA, EPSILON, BETA];
const VARIANCE_PROXY: &[Parameter] = &[N, ALPHA, EPSILON, BETA1];
const GAUSSIAN: &[Parameter] = &[NU, BETA];
const STREAMING: &[Parameter] = &[NU, STEPS, BETA];
const CORRELATED: &[Parameter] = &[NU, STEPS, CORRELATION, BETA];

fn exact(name: &'static str, unit: &'static str, value: f64, source: Source) -> Result<Bound> {
    Bound::exact(Quantity { name, unit }, value, source)
}

type Pure = fn(u64, f64, crate::max_information::FailureLevel) -> Result<Bound>;
type Approximate = fn(u64, f64, f64, crate::max_information::FailureLevel) -> Result<Bound>;
type OfNu = fn(f64, crate::max_information::FailureLevel) -> Result<Bound>;
type OfSteps = fn(f64, u64, crate::max_information::FailureLevel) -> Result<Bound>;

fn pure(f: Pure, a: &Arguments<'_>) -> Result<Bound> {
    f(a.count("n")?, a.number("epsilon")?, a.level()?)
}

fn approximate(f: Approximate, a: &Arguments<'_>) -> Result<Bound> {
    f(a.count("n")?, a.number("epsilon")?, a.number("delta")?, a.level()?)
}

fn of_order(f: Approximate, a: &Arguments<'_>) -> Result<Bound> {
    f(a.count("n")?, a.number("alpha")?, a.number("epsilon")?, a.level()?)
}

fn proxy(f: Approximate, a: &Arguments<'_>) -> Result<Bound> {
    f(a.count("n")?, a.number("alpha")?, a.number("epsilon")?, a.level_named("beta1")?)
}

fn of_nu(f: OfNu, a: &Arguments<'_>) -> Result<Bound> {
    f(a.number("nu")?, a.level()?)
}

fn of_steps(f: OfSteps, a: &Arguments<'_>) -> Result<Bound> {
    f(a.number("nu")?, a.count("steps")?, a.level()?)
}

fn curve(a: &Arguments<'_>) -> Result<Bound> {
    let (alphas, epsilons) = (a.list("alphas")?, a.list("epsilons")?);
    if alphas.len() != epsilons.len() {
        return Err(BoundError::Input {
            parameter: "epsilons".into(),
            problem: format!(
                "{} values for {} orders; give one each",
                epsilons.len(),
                alphas.len()
            ),
        });
    }
    let points =
        alphas.iter().zip(epsilons).map(|(&alpha, &epsilon)| RenyiPoint { alpha, epsilon });
    renyi::best_over_curve(a.count("n")?, &RenyiCurve::new(points.collect())?, a.level()?)
}

pub(super) const ENTRIES: &[Entry] = &[
    entry("max_info_pure_dp", "best pure-DP bound", PURE, DOCS, |a| pure(pure_dp::best, a)),
    entry("max_info_pure_dp_classic", "classic pure-DP bound", PURE, "Dwork et al. 2015", |a| {
        pure(pure_dp::classic, a)
    }),
    entry("max_info_pure_dp_thm1", "Theorem 1 at delta = 0", PURE, PAPER, |a| {
        pure(pure_dp::theorem1, a)
    }),
    entry("max_info_pure_dp_thm1_sqrt", "second branch of Theorem 1", PURE, PAPER, |a| {
        pure(pure_dp::theorem1_sqrt, a)
    }),
    entry("max_info_pure_dp_bounded_range", "bounded-range bound", PURE, DOCS, |a| {
        pure(pure_dp::bounded_range, a)
    }),
    entry(
        "max_info_pure_dp_bounded_range_hs",
        "bounded-range bound, hockey-stick conversion",
        PURE,
        DOCS,
        |a| pure(pure_dp::bounded_range_hs, a),
    ),
    entry("bounded_range_log_moment", "B(lambda)", &[MOMENT, EPSILON], DOCS, |a| {
        let lambda = domain::non_negative("lambda", a.number("lambda")?)?;
        let epsilon = domain::non_negative("epsilon", a.number("epsilon")?)?;
        exact("log_moment", "nats", bounded_range_log_moment(lambda, epsilon), ours("B(lambda)"))
    }),
    entry("randomized_response_log_moment", "R(lambda)", &[MOMENT, EPSILON], DOCS, |a| {
        let lambda = domain::non_negative("lambda", a.number("lambda")?)?;
        let epsilon = domain::non_negative("epsilon", a.number("epsilon")?)?;
        exact(
            "log_moment",
            "nats",
            randomized_response_log_moment(lambda, epsilon),
            ours("R(lambda)"),
        )
    }),
    entry(
        "max_info_randomized_response_composition",
        "exact n-fold randomised response",
        PURE,
        DOCS,
        |a| pure(approximate_dp::randomized_response_composition, a),
    ),
    entry("max_info_approx_dp", "best (epsilon, delta)-DP bound", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::best, a)
    }),
    entry("max_info_approx_dp_a", "bound A", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::a, a)
    }),
    entry("max_info_approx_dp_b", "bound B", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::b, a)
    }),
    entry("max_info_approx_dp_b_plus", "bound B+", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::b_plus, a)
    }),
    entry(
        "max_info_approx_dp_b_plus_hs",
        "bound B+, hockey-stick conversion",
        APPROXIMATE,
        DOCS,
        |a| approximate(approximate_dp::b_plus_hs, a),
    ),
    entry("max_info_approx_dp_b_plus_exact", "bound B+, exact form", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::b_plus_exact, a)
    }),
    entry("max_info_approx_dp_c", "bound C", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::c, a)
    }),
    entry("max_info_approx_dp_c_hs", "bound C, hockey-stick conversion", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::c_hs, a)
    }),
    entry("max_info_approx_dp_d", "bound D, even split", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::d, a)
    }),
    entry("max_info_approx_dp_d_split", "bound D, split optimised", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::d_split, a)
    }),
    entry("max_info_approx_dp_d_prime", "bound D', even split", APPROXIMATE, DOCS, |a| {
        approximate(approximate_dp::d_prime, a)
    }),
    entry("approx_dp_c_lambda_d", "constant of bound D", &[MOMENT, EPSILON], DOCS, |a| {
        let value = approximate_dp::c_lambda_d(a.number("lambda")?, a.number("epsilon")?)?;
        exact("c_lambda", "1", value, ours("bound D, c_lambda"))
    }),
    entry("approx_dp_c_lambda_d_prime", "constant of bound D'", &[MOMENT, EPSILON], DOCS, |a| {
        let value = approximate_dp::c_lambda_d_prime(a.number("lambda")?, a.number("epsilon")?)?;
        exact("c_lambda", "1", value, ours("bound D', c_lambda"))
    }),
    entry("max_info_renyi", "best bound for one Renyi guarantee", RENYI, DOCS, |a| {
        of_order(renyi::best, a)
    }),
    entry(
        "max_info_renyi_curve",
        "best bound over a Renyi curve",
        &[N, ALPHAS, EPSILONS, BETA],
        DOCS,
        curve,
    ),
    entry("max_info_renyi_linear", "Theorem 2, linear branch", RENYI, PAPER, |a| {
        of_order(renyi::linear, a)
    }),
    entry("max_info_renyi_linear_hs", "linear branch, hockey-stick conversion", RENYI, DOCS, |a| {
        of_order(renyi::linear_hs, a)
    }),
    entry("max_info_renyi_thm2", "Theorem 2", RENYI, PAPER, |a| of_order(renyi::theorem2, a)),
    entry("renyi_v", "variance proxy v", VARIANCE_PROXY, PAPER, |a| proxy(renyi::v, a)),
    entry("renyi_v_star", "variance proxy v*", VARIANCE_PROXY, DOCS, |a| proxy(renyi::v_star, a)),
    entry("max_info_renyi_v_star_half", "quadratic branch with v*", RENYI, DOCS, |a| {
        of_order(renyi::v_star_half, a)
    }),
    entry("max_info_renyi_v_star_split", "the same, split optimised", RENYI, DOCS, |a| {
        of_order(renyi::v_star_split, a)
    }),
    entry("max_info_renyi_gamma_half", "gamma form, even split", RENYI, DOCS, |a| {
        of_order(renyi::gamma_half, a)
    }),
    entry("max_info_renyi_gamma_half_hs", "the same, hockey-stick conversion", RENYI, DOCS, |a| {
        of_order(renyi::gamma_half_hs, a)
    }),
    entry("max_info_renyi_gamma_split_hs", "the same, split optimised", RENYI, DOCS, |a| {
        of_order(renyi::optimised_split, a)
    }),
    entry("max_info_gaussian", "best Gaussian-mechanism bound", &[N, SIGMA, BETA], DOCS, |a| {
        gaussian::best(a.count("n")?, a.number("sigma")?, a.level()?)
    }),
    entry("max_info_gaussian_eq7", "Theorem 3, eq. (7)", GAUSSIAN, PAPER, |a| {
        of_nu(gaussian::eq7, a)
    }),
    entry("max_info_gaussian_eq7_hs", "eq. (7), hockey-stick conversion", GAUSSIAN, DOCS, |a| {
        of_nu(gaussian::eq7_hs, a)
    }),
    entry("max_info_gaussian_eq8", "Theorem 3, eq. (8)", GAUSSIAN, PAPER, |a| {
        of_nu(gaussian::eq8, a)
    }),
    entry("max_info_gaussian_eq9", "Theorem 3, eq. (9)", GAUSSIAN, PAPER, |a| {
        of_nu(gaussian::eq9, a)
    }),
    entry("gaussian_r_nu", "range end r_nu of eq. (7)", &[POSITIVE_NU], PAPER, |a| {
        exact("r_nu", "1", gaussian::r_nu(a.number("nu")?)?, Source::new(PAPER, "Theorem 3, r_nu"))
    }),
    entry(
        "max_info_gaussian_noise_for_target",
        "smallest sigma for which eq. (7) meets a target",
        &[N, TARGET, BETA],
        PAPER,
        |a| gaussian::noise_for_target(a.count("n")?, a.number("target")?, a.level()?),
    ),
    entry(
        "max_info_streaming",
        "best streaming DP-SGD bound",
        &[BATCH, STEPS, SIGMA, BETA],
        DOCS,
        |a| streaming::best(a.count("batch")?, a.count("steps")?, a.number("sigma")?, a.level()?),
    ),
    entry("max_info_streaming_eq10", "Theorem 4, eq. (10)", STREAMING, PAPER, |a| {
        of_steps(streaming::eq10, a)
    }),
    entry(
        "max_info_streaming_eq10_hs",
        "eq. (10), hockey-stick conversion",
        STREAMING,
        DOCS,
        |a| of_steps(streaming::eq10_hs, a),
    ),
    entry("max_info_streaming_eq11", "Theorem 4, eq. (11)", STREAMING, PAPER, |a| {
        of_steps(streaming::eq11, a)
    }),
    entry("max_info_streaming_eq12", "Theorem 4, eq. (12)", STREAMING, PAPER, |a| {
        of_steps(streaming::eq12, a)
    }),
    entry(
        "max_info_dp_sgd_poisson",
        "DP-SGD on Poisson batches, best order of its replace-one Renyi curve",
        &[N, SAMPLING_RATE, STEPS, SIGMA, BETA],
        RENYI_DOCS,
        |a| {
            let (n, steps) = (a.count("n")?, a.count("steps")?);
            dp_sgd::poisson(n, a.number("sampling_rate")?, a.number("sigma")?, steps, a.level()?)
        },
    ),
    entry(
        "max_info_dp_sgd_fixed_size",
        "the same on batches of fixed size",
        &[N, BATCH, STEPS, SIGMA, BETA],
        RENYI_DOCS,
        |a| {
            let (n, batch, steps) = (a.count("n")?, a.count("batch")?, a.count("steps")?);
            dp_sgd::fixed_size(n, batch, a.number("sigma")?, steps, a.level()?)
        },
    ),
    entry(
        "max_info_dp_sgd_full_batch",
        "the same on the whole data set",
        &[N, STEPS, SIGMA, BETA],
        RENYI_DOCS,
        |a| dp_sgd::full_batch(a.count("n")?, a.number("sigma")?, a.count("steps")?, a.level()?),
    ),
    entry(
        "max_info_correlated",
        "best correlated-noise streaming bound",
        &[BATCH, STEPS, SIGMA, CORRELATION, BETA],
        DOCS,
        |a| {
            let (batch, steps) = (a.count("batch")?, a.count("steps")?);
            correlated::best(batch, steps, a.number("sigma")?, a.number("lambda")?, a.level()?)
        },
    ),
    entry(
        "max_info_correlated_streaming",
        "streaming bound with correlated noise",
        CORRELATED,
        DOCS,
        |a| correlated::bound(a.number("nu")?, a.count("steps")?, a.number("lambda")?, a.level()?),
    ),
    entry(
        "max_info_correlated_streaming_hs",
        "the same, hockey-stick conversion",
        CORRELATED,
        DOCS,
        |a| {
            correlated::bound_hs(
                a.number("nu")?,
                a.count("steps")?,
                a.number("lambda")?,
                a.level()?,
            )
        },
    ),
    entry("correlated_frobenius_squared", "|C|_F^2", &[CORRELATION, STEPS], DOCS, |a| {
        correlated::frobenius_squared(a.number("lambda")?, a.count("steps")?)
    }),
    entry("correlated_log_det", "log det(I - a C^T C)", &[CORRELATION, STEPS, A], DOCS, |a| {
        correlated::log_det(a.number("lambda")?, a.count("steps")?, a.number("a")?)
    }),
    entry(
        "toy_gaussian_beta",
        "exact toy: beta at a threshold",
        &[TOY_N, TOY_SIGMA, P, THRESHOLD],
        DOCS,
        |a| toy::beta(a.count("n")?, a.number("sigma")?, a.number("p")?, a.number("threshold")?),
    ),
    entry(
        "toy_gaussian_max_info",
        "exact toy: max-information",
        &[TOY_N, TOY_SIGMA, P, BETA],
        DOCS,
        |a| toy::max_info(a.count("n")?, a.number("sigma")?, a.number("p")?, a.level()?),
    ),
];
