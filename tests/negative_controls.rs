//! Planted errors: the traps of docs/theory and the known errors of docs/errata.md are caught by the
//! comparisons that the other tests use, and the correct forms pass the same comparisons.

use std::borrow::Cow;

use dpbounds_bounds::catalogue::{self, Arguments, Value};
use dpbounds_bounds::kan::rates::{Run, Scenario, corollary_5_3, population_width};
use dpbounds_bounds::max_information::{
    FailureLevel, approximate_dp, gaussian, renyi, streaming, toy,
};
use dpbounds_bounds::pac_bayes::{catoni, complexity, kl_inverse_upper, prior_grid};
use dpbounds_bounds::privacy::{closed_form, gaussian as mechanism};
use dpbounds_bounds::special::hockey_stick_exponent;
use dpbounds_bounds::{Bound, Result, Warrant, round_up};
use serde_json::Value as Json;

use crate::oracles::{MAX_INFORMATION, fault, reference, rows};

fn number(row: &Json, name: &str) -> f64 {
    row["inputs"][name].as_f64().unwrap()
}

fn level(beta: f64) -> FailureLevel {
    FailureLevel::from_beta(beta).unwrap()
}

fn value(bound: Result<Bound>) -> f64 {
    bound.unwrap().value.unwrap()
}

/// The catalogue's answer to a row.
fn answer(row: &Json) -> f64 {
    let entry = catalogue::find(row["function"].as_str().unwrap()).unwrap();
    let inputs: Vec<(Cow<'_, str>, Value)> = row["inputs"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, json)| (name.as_str().into(), Value::Number(json.as_f64().unwrap())))
        .collect();
    value(entry.evaluate(&Arguments::new(entry, &inputs).unwrap()))
}

/// What the oracle tests say about a certified value.
fn caught(row: &Json, value: f64) -> bool {
    fault(row, Some(value), Some(round_up(value))).is_some()
}

/// Every finite oracle row of a function for which `planted` gives a value: the planted error is
/// caught, the catalogue's answer is not.
fn control(function: &str, planted: impl Fn(&Json) -> Option<f64>) {
    let rows = rows(MAX_INFORMATION).into_iter().filter(|row| row["function"] == function);
    let mut planted_errors = 0;
    for row in rows.filter(|row| reference(row).is_finite()) {
        assert!(!caught(&row, answer(&row)), "{} rejects the correct form", row["id"]);
        if let Some(wrong) = planted(&row) {
            planted_errors += 1;
            assert!(caught(&row, wrong), "{} accepts {wrong}", row["id"]);
        }
    }
    assert!(planted_errors > 0, "no row of {function} sees the error");
}

#[test]
fn the_constant_of_the_classic_bound_in_theorem_1() {
    control("max_info_pure_dp_thm1_sqrt", |row| {
        let (n, epsilon) = (number(row, "n"), number(row, "epsilon"));
        let deviation = epsilon * (-n * number(row, "beta").ln() / 2.0).sqrt();
        Some(n * epsilon * epsilon / 2.0 + deviation)
    });
}

/// `V + 2 sqrt(V L2) + L2/h` with `V = (n/8)(ε + log(c1/β)/h)²`, `L2 = log(c2/β)`, and the linear branch.
fn theorem_2(row: &Json, c1: f64, c2: f64) -> f64 {
    let (n, h) = (number(row, "n"), number(row, "alpha") - 1.0);
    let (epsilon, l) = (number(row, "epsilon"), -number(row, "beta").ln());
    let v = n / 8.0 * (epsilon + (c1.ln() + l) / h).powi(2);
    let l2 = c2.ln() + l;
    (v + 2.0 * (v * l2).sqrt() + l2 / h).min(n * (epsilon + l / h))
}

#[test]
fn the_halves_of_beta_in_theorem_2() {
    let sees = |row: &Json, wrong: f64| (wrong != theorem_2(row, 8.0, 2.0)).then_some(wrong);
    // log(1/β) in place of log(2/β); log(4/β) at β in place of β/2.
    control("max_info_renyi_thm2", |row| sees(row, theorem_2(row, 8.0, 1.0)));
    control("max_info_renyi_thm2", |row| sees(row, theorem_2(row, 4.0, 2.0)));
    let correct = |row: &Json| theorem_2(row, 8.0, 2.0);
    for row in rows(MAX_INFORMATION).iter().filter(|row| row["function"] == "max_info_renyi_thm2") {
        assert!(!caught(row, correct(row)), "{}", row["id"]);
    }
}

#[test]
fn the_constant_of_the_private_prior() {
    let form = |row: &Json, constant: f64| {
        let n = number(row, "n");
        let confidence = (constant * n.sqrt() / number(row, "delta")).ln();
        (number(row, "kl") + number(row, "max_information") + confidence) / n
    };
    control("pac_bayes_complexity", |row| Some(form(row, 2.0)));
    for row in rows(MAX_INFORMATION).iter().filter(|row| row["function"] == "pac_bayes_complexity")
    {
        assert!(!caught(row, form(row, 4.0)));
    }
}

/// Events of one fair bit kept with probability `keep`, in the order of the likelihood ratio:
/// `(P(O), Q(O))` for `n` such bits.
fn kept_bits(n: u32, keep: f64) -> Vec<(f64, f64)> {
    let (mut binomial, mut joint, mut product) = (1.0, 0.0, 0.0);
    (0..=n)
        .map(|lost| {
            let (lost_count, kept) = (f64::from(lost), f64::from(n - lost));
            joint += binomial * keep.powf(kept) * (1.0 - keep).powf(lost_count);
            product += binomial * 0.5_f64.powf(f64::from(n));
            binomial *= kept / (lost_count + 1.0);
            (joint, product)
        })
        .collect()
}

/// A bad event has `Q(E) <= e^{−κ} δ/2`; the certificate needs `P(E) <= δ`.
#[test]
fn max_information_at_delta_instead_of_half_of_it() {
    let broken = |split: f64| {
        let (mut failures, mut cases) = (0, 0);
        for n in [5, 20, 60] {
            let events = kept_bits(n, 0.6);
            for step in 1..60 {
                let delta = f64::from(step) / 100.0;
                let kappa = |b: f64| {
                    let ratios = events.iter().map(|(p, q)| (p - b) / q);
                    ratios.fold(f64::NEG_INFINITY, f64::max).ln()
                };
                let allowed = (-kappa(split * delta)).exp() * delta / 2.0;
                cases += events.iter().filter(|(_, q)| *q <= allowed).count();
                failures += events.iter().filter(|(p, q)| *q <= allowed && *p > delta).count();
            }
        }
        assert!(cases > 100);
        failures
    };
    assert_eq!(broken(0.5), 0);
    assert!(broken(1.0) > 0);
    // The calculators refuse to spend the whole of δ on the max-information.
    assert!(complexity::private_prior_at_level(1000, 1.0, 5.0, 0.05, 0.05).is_err());
    assert!(complexity::private_prior_at_level(1000, 1.0, 5.0, 0.05, 0.025).is_ok());
}

/// One streaming step clips to ζ: its replace-one sensitivity is 2ζ, hence (7) takes `4ν`. With `ν` it
/// falls below the exact value of signs summed with noise σ.
#[test]
fn the_sensitivity_of_a_sum_of_clipped_vectors() {
    let mut below = 0;
    for batch in [1, 5, 20] {
        for sigma in [6.0, 20.0] {
            for beta in [1e-6, 1e-3, 0.01] {
                let exact = value(toy::max_info(batch, sigma / 2.0, 0.5, level(beta)));
                let nu = streaming::nu(batch, sigma).unwrap();
                assert!(value(gaussian::eq7_hs(4.0 * nu, level(beta))) >= exact);
                assert!(value(streaming::eq10_hs(nu, 1, level(beta))) >= exact);
                below += usize::from(value(gaussian::eq7_hs(nu, level(beta))) < exact);
            }
        }
    }
    assert!(below > 3, "{below}");
}

/// The constants that bounds C and D pay for δ > 0, on which small mechanisms have no hold.
#[test]
fn the_constants_of_bounds_c_and_d() {
    let constant = |row: &Json, five: f64, four: f64| {
        let (lambda, epsilon) = (number(row, "lambda"), number(row, "epsilon"));
        let growth = (lambda * epsilon).exp();
        (1.0 + 1.0 / lambda) * growth * (five + four * growth)
    };
    control("approx_dp_c_lambda_d", |row| {
        let small = number(row, "lambda") * number(row, "epsilon") < 10.0;
        small.then(|| constant(row, 4.0, 4.0)) // beyond, the second term is everything
    });
    control("approx_dp_c_lambda_d", |row| Some(constant(row, 5.0, 3.0)));
    // C on a fine grid of log(λ ε), relative to the threshold β − n(five + four e^{λε})δ.
    let bound_c = |row: &Json, five: f64, four: f64| {
        let (n, epsilon) = (number(row, "n"), number(row, "epsilon"));
        let (delta, beta) = (number(row, "delta"), number(row, "beta"));
        let objective = |step: i32| {
            let scaled = (f64::from(step) * 1e-3).exp();
            let threshold = beta - n * (five + four * scaled.exp()) * delta;
            let lambda = scaled / epsilon;
            n * (1.0 + lambda) * epsilon * epsilon / 8.0 - threshold.ln() / lambda
        };
        (-9000..6000).map(objective).filter(|x| !x.is_nan()).fold(f64::INFINITY, f64::min)
    };
    control("max_info_approx_dp_c", |row| {
        let correct = bound_c(row, 5.0, 4.0);
        let reachable = (correct / reference(row) - 1.0).abs() < 1e-5;
        let sees = reachable && number(row, "delta") > 0.0;
        sees.then(|| bound_c(row, 1.0, 1.0))
    });
}

#[test]
fn bits_for_nats() {
    for function in ["max_info_gaussian_eq7", "max_info_approx_dp_c", "max_info_renyi_gamma_half"] {
        for unit in [std::f64::consts::LOG2_E, std::f64::consts::LN_2] {
            control(function, |row| Some(answer(row) * unit).filter(|_| reference(row) != 0.0));
        }
    }
}

/// `ν + inf [L − log(1 − (λ+λ²)ν) + sign·hs(λ)]/λ` on a fine grid of λ.
fn eq7_with(nu: f64, log_inverse: f64, sign: f64) -> f64 {
    let end = gaussian::r_nu(nu).unwrap();
    let objective = |step: i32| {
        let u = (f64::from(step) * 1e-3).exp();
        let lambda = -end * (-u).exp_m1();
        let inside = 1.0 - (lambda + lambda * lambda) * nu;
        (log_inverse - inside.ln() + sign * hockey_stick_exponent(lambda)) / lambda
    };
    nu + (-20_000..3500).map(objective).filter(|x| !x.is_nan()).fold(f64::INFINITY, f64::min)
}

#[test]
fn the_sign_of_the_hockey_stick_exponent() {
    control("max_info_gaussian_eq7_hs", |row| {
        let (nu, l) = (number(row, "nu"), -number(row, "beta").ln());
        (1e-4..1e4).contains(&nu).then(|| eq7_with(nu, l, -1.0))
    });
    for (nu, beta) in [(0.01, 0.05), (1.0, 1e-6), (15.0, 0.3)] {
        let (plain, sharp) =
            (value(gaussian::eq7(nu, level(beta))), value(gaussian::eq7_hs(nu, level(beta))));
        let l = -f64::ln(beta);
        assert!((eq7_with(nu, l, 1.0) / sharp - 1.0).abs() < 1e-5);
        assert!(sharp <= plain && eq7_with(nu, l, -1.0) > plain); // the ordering test sees it
    }
}

/// Whether `β >= nδ` is decided without the rounding of the product: below, no finite bound exists.
#[test]
fn the_product_n_delta_is_not_rounded() {
    let (mut down, mut up) = (0, 0);
    for n in 3..60_u64 {
        for k in 1..20 {
            let delta = f64::from(k) * 1e-4 / 3.0;
            let product = n as f64 * delta; // what a careless caller compares with
            let error = (n as f64).mul_add(delta, -product);
            let epsilon = 0.3;
            for bound in [approximate_dp::a, approximate_dp::b_plus_hs, approximate_dp::best] {
                let bound = bound(n, epsilon, delta, level(product)).unwrap();
                if error > 0.0 {
                    down += 1; // β < nδ although β >= n*delta in floating point
                    assert!(product >= n as f64 * delta);
                    assert!(bound.value.is_none() && bound.upper.is_none(), "{n} {delta:e}");
                    assert!(bound.reason.unwrap().contains("no finite bound"));
                } else {
                    up += 1; // β − nδ is 0 or a rounding error: n ε, or hardly less
                    let ratio = bound.value.unwrap() / (n as f64 * epsilon);
                    let least = if error == 0.0 { 1.0 - 1e-9 } else { 0.7 };
                    assert!(ratio <= 1.0 + 1e-12 && ratio >= least, "{n} {delta:e}: {ratio}");
                }
            }
        }
    }
    assert!(down > 100 && up > 100, "{down} {up}");
    // The unguarded logarithm of a negative threshold is caught as well.
    let refused = rows(MAX_INFORMATION).into_iter().filter(|row| reference(row).is_infinite());
    for row in refused.filter(|row| row["inputs"]["delta"].is_number()) {
        assert!(caught(&row, number(&row, "n") * number(&row, "epsilon")));
        assert!(fault(&row, None, None).is_none());
    }
}

/// Errata M1: Theorem 3 is not always below Theorem 2.
#[test]
fn theorem_3_alone_is_not_the_smallest() {
    let (n, sigma, at) = (60_000, 10.0, level(0.025));
    let theorem3 = value(gaussian::eq7(gaussian::nu(n, sigma).unwrap(), at));
    // The curve of the Gaussian mechanism, α/(2σ²), at integer orders; the best is about 36.
    let theorem2 = (20..60).map(|alpha| {
        let alpha = f64::from(alpha);
        value(renyi::theorem2(n, alpha, alpha / (2.0 * sigma * sigma), at))
    });
    let theorem2 = theorem2.fold(f64::INFINITY, f64::min);
    assert!((theorem3 - 1141.0).abs() < 1.0, "{theorem3}");
    assert!((theorem2 - 1016.0).abs() < 1.0, "{theorem2}");
    let is_smallest = |candidate: f64| candidate <= theorem2 && candidate <= theorem3;
    assert!((theorem3 - 1141.0).abs() < 1.0, "{theorem3}");
    assert!((theorem2 - 1016.0).abs() < 1.0, "{theorem2}");
    assert!(!is_smallest(theorem3));
    assert!(is_smallest(value(gaussian::best(n, sigma, at))));
}

/// The infimum over Catoni's parameter is smaller than every certified form and claims nothing.
#[test]
fn the_infimum_of_catoni_is_not_a_bound() {
    for (risk, n, kl) in [(0.05, 1000, 20.0), (0.2, 60_000, 5000.0), (0.0, 300, 3.0)] {
        let infimum = catoni::infimum(risk, n, kl, 0.05).unwrap();
        let plain = (kl - 0.05_f64.ln()) / n as f64;
        let grid = catoni::over_grid(risk, plain, n).unwrap();
        let certified = complexity::seeger(n, kl, 0.05).unwrap().upper.unwrap();
        let kl_form = kl_inverse_upper(risk, certified).unwrap();
        let claims = |bound: &Bound| bound.warrant == Warrant::Proven && bound.upper.is_some();
        assert!(!claims(&infimum) && claims(&grid) && claims(&kl_form));
        // Taken for a bound it would be below both.
        assert!(infimum.value < grid.value && infimum.value < kl_form.value);
    }
}

/// One step on a fixed-size batch: all other gradients −u, the record +u or −u. Its sum is
/// `(1−r) N(0,1) + r N(2/κ,1)` against `N(0,1)`, whose δ is exact.
fn witness(rate: f64, kappa: f64, epsilon: f64) -> f64 {
    let growth = (epsilon.exp_m1() + rate) / rate;
    rate * value(mechanism::delta_at(2.0 / kappa, growth.ln()))
}

/// `log E_Q (dP/dQ)^α / (α−1)` of the same pair at an integer order.
fn witness_renyi(rate: f64, kappa: f64, order: u32) -> f64 {
    let alpha = f64::from(order);
    let mut log_binomial = 0.0;
    let exponents: Vec<f64> = (0..=order)
        .map(|k| {
            if k > 0 {
                log_binomial += (f64::from(order - k + 1) / f64::from(k)).ln();
            }
            let k = f64::from(k);
            let weight = (alpha - k) * (-rate).ln_1p() + k * rate.ln();
            log_binomial + weight + k * (k - 1.0) / 2.0 * (2.0 / kappa).powi(2)
        })
        .collect();
    let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = exponents.iter().map(|x| (x - largest).exp()).sum();
    (largest + sum.ln()) / (alpha - 1.0)
}

/// Errata E2: the noise of Theorem D.9 and the divergence of Lemma D.7.
#[test]
fn theorem_d9_and_lemma_d7_violate_privacy() {
    let (epsilon, delta) = (1.0, 1e-7);
    let kappa = closed_form::d9_formula(1000, 100, 1, epsilon, delta).unwrap();
    assert!((kappa - 2.306).abs() < 1e-3);
    let private = |kappa: f64| witness(0.1, kappa, epsilon) <= delta;
    let lost = witness(0.1, kappa, epsilon);
    assert!(lost >= 3.6e-5 && !private(kappa), "{lost}");
    // The Gaussian bound of the calibration passes the same witness.
    let safe = 2.0 / mechanism::mu(epsilon, delta).unwrap().lower.unwrap();
    assert!(private(safe));
    let claim = closed_form::d9_claim(1000, 100, 1, epsilon, delta).unwrap();
    assert!(claim.warrant == Warrant::Estimate && claim.upper.is_none());
    for (rate, kappa, order, exact) in [(0.01, 4.0, 48, 1.298), (0.1, 8.0, 96, 0.699)] {
        let printed = 8.0 * f64::from(order) * f64::powi(rate / kappa, 2);
        let witness = witness_renyi(rate, kappa, order);
        assert!((witness / exact - 1.0).abs() < 1e-3, "{witness}");
        assert!(printed < witness, "{printed} {witness}");
    }
}

/// `E BW(2 sqrt(k)/κ, ε)` with `k` binomial: what is proved without amplification, λ = 0.
fn mixture(rate: f64, steps: u32, kappa: f64, epsilon: f64) -> f64 {
    let (mut log_binomial, mut total) = (0.0, 0.0);
    for k in 0..=steps {
        if k > 0 {
            log_binomial += (f64::from(steps - k + 1) / f64::from(k)).ln();
        }
        let k = f64::from(k);
        let rest = f64::from(steps) - k;
        let none = if rest == 0.0 { 0.0 } else { rest * (-rate).ln_1p() };
        let weight = (log_binomial + k * rate.ln() + none).exp();
        total += weight * value(mechanism::delta_at(2.0 * k.sqrt() / kappa, epsilon));
    }
    total
}

/// Errata E5: inside its domain Theorem F.12 holds; the witness and a proved bound agree.
#[test]
fn theorem_f12_is_private_inside_its_domain() {
    let cases =
        [(1000, 100, 600, 1.0, 1e-7), (1000, 1000, 60, 0.5, 1e-7), (500, 50, 800, 0.1, 1e-9)];
    for (n, batch, steps, epsilon, delta) in cases {
        let bound = closed_form::f12(n, batch, u64::from(steps), epsilon, delta, 0.0).unwrap();
        let kappa = bound.upper.unwrap();
        let rate = batch as f64 / n as f64;
        assert!(mixture(rate, steps, kappa, epsilon) <= delta);
        assert!(witness(rate, kappa, epsilon) <= delta);
        // A fifth of the noise would not pass the proved bound.
        assert!(mixture(rate, steps, kappa / 5.0, epsilon) > delta);
    }
    // Outside, no value: rT = 0.1 < 3 log(2/δ), or ε > 1.
    assert!(closed_form::f12(1000, 100, 1, 1.0, 1e-7, 0.0).unwrap().upper.is_none());
    assert!(closed_form::f12(1000, 100, 600, 1.1, 1e-7, 0.0).unwrap().upper.is_none());
}

/// Errata E6: where the joint probability of a bad event is δ, it is at most sqrt δ given the initialisation, for all but
/// sqrt δ of the initialisations. The printed form has δ for both.
#[test]
fn a_joint_probability_used_conditionally() {
    for delta in [0.2_f64, 0.05, 1e-4] {
        // On initialisations of this probability the event has probability δ/weight, elsewhere none.
        let weights = (1..1000).map(|step| delta + (1.0 - delta) * f64::from(step) / 1000.0);
        let exceeding = |limit: f64| {
            weights.clone().filter(|weight| delta / weight > limit).fold(0.0, f64::max)
        };
        assert!(exceeding(delta.sqrt()) <= delta.sqrt());
        assert!(exceeding(delta) > delta);
    }
}

/// Errata E10: the printed γ⁻⁴ carries a superfluous R_*²; without it the power is 3.
#[test]
fn the_superfluous_radius_squared() {
    let (n, gamma, dimension, epsilon) = (10_000_u64, 0.3_f64, 9_u64, 0.7);
    let rate = corollary_5_3(&Scenario { n, gamma, dimension, epsilon }).unwrap();
    let form = |power: i32| {
        let records = n as f64;
        1.0 / (gamma * records.sqrt()) + 3.0 / (gamma.powi(power) * records * epsilon)
    };
    let same = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
    let (printed, corrected) = (rate.value.unwrap(), rate.alternatives[0].value.unwrap());
    assert!(same(printed, form(4)) && same(corrected, form(3)));
    assert!(!same(printed, form(3)) && !same(corrected, form(4)));
    assert!(rate.warrant == Warrant::Rate && rate.upper.is_none());
    let run = Run {
        gamma,
        step_size: 0.1,
        steps: 100,
        batch: 100,
        width: 100,
        dimension,
        kappa: 1.0,
        lambda: 0.5,
        n,
        delta: 1e-5,
    };
    let width = population_width(&run, 2.0).unwrap();
    assert!(same(width.alternatives[0].value.unwrap(), 4.0 * width.value.unwrap()));
}

/// `sqrt(1/4 + 1/ν) − 1/2` overflows for tiny ν and makes `L/r` zero: a false certificate.
#[test]
fn an_overflowing_end_of_the_range() {
    let naive = |nu: f64| (0.25 + 1.0 / nu).sqrt() - 0.5;
    let nu = 1e-310;
    assert_eq!(3.0 / naive(nu), 0.0);
    let bound = value(gaussian::eq7(nu, level(0.05)));
    // Scales as sqrt(ν); compare with a value where nothing overflows.
    let ordinary = value(gaussian::eq7(1e-290, level(0.05))) * 1e-10;
    assert!(bound > 0.0 && (bound / ordinary - 1.0).abs() < 1e-6);
    control("gaussian_r_nu", |row| {
        let wrong = naive(number(row, "nu"));
        caught(row, wrong).then_some(wrong)
    });
}

/// A union bound over prior variances is paid at an integer index, with the variance of that index.
#[test]
fn an_unrounded_index_of_the_prior_grid() {
    let (variance, c, b) = (0.0123, 0.1, 10.0);
    let unrounded = prior_grid::penalty(variance, c, b).unwrap();
    assert!(unrounded.warrant == Warrant::Estimate && unrounded.upper.is_none());
    let point = prior_grid::nearest(variance, c, b).unwrap();
    let on_grid =
        |v: f64| ((c / v).ln() * b).fract().abs().min(1.0 - ((c / v).ln() * b).fract()) < 1e-9;
    assert!(on_grid(point.variance) && !on_grid(variance));
    assert!(prior_grid::nearest_penalty(variance, c, b).unwrap().upper.is_some());
}
