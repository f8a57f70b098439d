//! Every vendored reference value on privacy against the catalogue.

use dpbounds_bounds::privacy::closed_form;
use dpbounds_bounds::{Bound, Warrant};
use serde_json::{Value as Json, json};

use crate::oracles::{ask, evaluate, reference, rows};

pub const PEERS: &str = include_str!("oracles/privacy_peers.json");
const CORRELATED: &str = include_str!("oracles/privacy_correlated.json");

/// Relative rounding noise of the brackets of other accountants.
const ROUNDING: f64 = 1e-6;
/// Below this the references are rounding noise.
const LEAST_DELTA: f64 = 1e-11;

/// The rows of one kind; there have to be `count`, so that no row is left out.
pub fn correlated(kind: &str, count: usize) -> Vec<Json> {
    let all = rows(CORRELATED).into_iter();
    let found: Vec<_> = all.filter(|row| row["kind"] == kind).collect();
    assert_eq!(found.len(), count, "{kind}");
    found
}

/// The rows of functions of the catalogue that begin with `prefix`.
fn peers(prefix: &str, count: usize) -> Vec<Json> {
    let all = rows(PEERS).into_iter();
    let found: Vec<_> =
        all.filter(|row| row["function"].as_str().unwrap().starts_with(prefix)).collect();
    assert_eq!(found.len(), count, "{prefix}");
    found
}

/// A number of a row, or of its inputs.
pub fn number(row: &Json, name: &str) -> f64 {
    let found = row[name].as_f64().or_else(|| row["inputs"][name].as_f64());
    found.unwrap_or_else(|| panic!("{name} in {row}"))
}

/// An entry of the catalogue with arguments taken from a row under the same name.
pub fn at(row: &Json, function: &str, names: &[&str]) -> Bound {
    let inputs: serde_json::Map<_, _> =
        names.iter().map(|&name| (name.to_owned(), row[name].clone())).collect();
    evaluate(&json!({ "function": function, "inputs": inputs }))
}

pub fn sides(bound: &Bound) -> (f64, f64) {
    let (lower, upper) = (bound.lower.unwrap_or(0.0), bound.upper.unwrap_or(f64::INFINITY));
    assert!(bound.value.is_some_and(|value| lower <= value && value <= upper), "{bound:?}");
    (lower, upper)
}

fn close(value: f64, expected: f64, tolerance: f64) -> bool {
    (value - expected).abs() <= tolerance * expected.abs()
}

const PAIR: [&str; 5] = ["T", "lam", "r", "kappa", "eps"];
const INDEPENDENT: [&str; 4] = ["T", "r", "kappa", "eps"];

#[test]
fn the_kinds_of_the_correlated_file_are_all_tested() {
    // The numbers of rows that the tests below ask for.
    assert_eq!(15 + 9 + 2 + 5 + 2 + 8 + 2 + 12 + 4 + 2 + 3 + 10 + 9, rows(CORRELATED).len());
    assert_eq!(83 + 113 + 139 + 107 + 17 + 6, rows(PEERS).len());
}

#[test]
fn log_likelihood_ratios_with_and_without_the_overlap() {
    for row in correlated("llr", 15) {
        let bound = at(&row, "llr", &["T", "lam", "r", "kappa", "x"]);
        let (exact, tolerance) = (number(&row, "L"), number(&row, "tol"));
        assert!(close(bound.value.unwrap(), exact, tolerance), "{row}: {bound:?}");
        let slack = tolerance * exact.abs();
        assert!(bound.lower.unwrap() <= exact + slack && bound.upper.unwrap() >= exact - slack);
        let plain = bound.terms.iter().find(|term| term.name == "without overlap").unwrap().value;
        assert!(close(plain, number(&row, "L_tilde"), tolerance), "{row}: {plain}");
    }
}

#[test]
fn exact_values_of_both_orders_lie_in_the_bracket() {
    for row in correlated("delta_exact", 9) {
        for (order, name) in [("forward", "delta_PQ"), ("reverse", "delta_QP")] {
            let mut inputs = json!({ "order": order });
            for name in PAIR {
                inputs[name] = row[name].clone();
            }
            let bound = evaluate(&json!({ "function": "correlated_delta", "inputs": inputs }));
            let (lower, upper) = sides(&bound);
            let (exact, tolerance) = (number(&row, name).max(0.0), number(&row, "tol"));
            assert!(lower <= exact + tolerance, "{row} {order}: {bound:?}");
            assert!(upper >= exact - tolerance, "{row} {order}: {bound:?}");
            // The range of the bound with the repulsion kept over runs of at most three steps.
            assert!(upper <= exact * 1.27 + tolerance, "{row} {order}: {bound:?}");
        }
        let both = at(&row, "correlated_delta", &PAIR);
        let most = number(&row, "delta_PQ").max(number(&row, "delta_QP"));
        let (lower, upper) = sides(&both);
        let tolerance = number(&row, "tol");
        assert!(lower <= most + tolerance && upper >= most - tolerance, "{row}: {both:?}");
    }
}

/// A sample mean whose normal interval is off by a factor of a thousand: the certificate is above the
/// truth or refuses.
#[test]
fn certificates_by_random_numbers_where_a_normal_interval_fails() {
    for row in correlated("replica_is_check", 2) {
        let (exact, mean) = (number(&row, "delta_PQ"), number(&row, "proto_mean"));
        let batch = (10.0 * number(&row, "r")).round();
        let run = json!({
            "n": 10, "batch": batch, "steps": row["T"], "lambda": row["lam"], "kappa": row["kappa"],
            "epsilon": row["eps"], "sampler": "poisson", "relation": "add-remove", "method": "l3",
        });
        let certified = ask(&json!({ "function": "account_delta", "inputs": run }));
        if let Ok(bound) = certified {
            assert!(matches!(bound.warrant, Warrant::Confidence(_)));
            let (lower, upper) = sides(&bound);
            assert!(lower <= exact && exact <= upper && upper < 1.5 * exact, "{row}: {bound:?}");
        }
        let hopeless = number(&row, "M") > 1e3 * exact;
        let interval = mean + 6.0 * number(&row, "proto_se");
        assert_eq!(interval < exact, hopeless, "the planted interval: {row}");
    }
}

#[test]
fn participation_norms() {
    for row in correlated("max_norm", 5) {
        let bound = at(&row, "max_norm", &["T", "lam", "k"]);
        assert!(
            close(bound.value.unwrap(), number(&row, "value"), number(&row, "tol")),
            "{row}: {bound:?}"
        );
    }
}

#[test]
fn closed_forms_and_the_participation_cap() {
    for row in correlated("L0_L1", 2) {
        let tolerance = number(&row, "tol");
        let target = ["n", "B", "T", "lam", "eps", "delta"];
        let cap = at(&row, "kappa_l1", &target);
        let value = cap.value.unwrap();
        // The search stops on the safe side, at most 3e-4 above.
        let expected = number(&row, "L1");
        assert!(value >= expected * (1.0 - tolerance), "{row}: {value}");
        assert!(value <= expected * (1.0 + 3.1e-4), "{row}: {value}");
        let claim = at(&row, "kappa_d9_claim", &["n", "B", "T", "eps", "delta"]);
        assert_eq!((claim.warrant, claim.upper), (Warrant::Estimate, None));
        assert!(close(claim.value.unwrap(), number(&row, "D9"), tolerance), "{row}: {claim:?}");
        // Outside its domain the theorem gives no number in the catalogue; the formula does.
        let theorem = at(&row, "kappa_f12", &target);
        assert!(theorem.value.is_none() && theorem.reason.is_some(), "{row}: {theorem:?}");
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let count = |name| number(&row, name) as u64;
        let (epsilon, delta) = (number(&row, "eps"), number(&row, "delta"));
        let (n, batch, steps) = (count("n"), count("B"), count("T"));
        let lambda = number(&row, "lam");
        let formula = closed_form::f12_formula(n, batch, steps, epsilon, delta, lambda).unwrap();
        assert!(close(formula, number(&row, "F12"), tolerance), "{row}: {formula}");
    }
}

#[test]
fn the_gaussian_kernel() {
    for row in correlated("balle_wang", 8) {
        let bound = at(&row, "balle_wang", &["mu", "eps"]);
        let (value, tolerance) = (bound.value.unwrap(), number(&row, "tol"));
        assert!(close(value, number(&row, "delta"), tolerance), "{row}: {value}");
        assert!((value.ln() - number(&row, "log_delta")).abs() < tolerance, "{row}: {value}");
        assert!(bound.upper.unwrap() >= number(&row, "delta") * (1.0 - 1e-14), "{row}");
    }
    for row in correlated("balle_wang_mu", 2) {
        let value = at(&row, "balle_wang_mu", &["eps", "delta"]).value.unwrap();
        assert!(close(value, number(&row, "mu"), number(&row, "tol")), "{row}: {value}");
    }
}

#[test]
fn independent_steps_of_the_correlated_file() {
    for row in correlated("lambda0_pld", 12) {
        let bound = at(&row, "lambda0_pld", &INDEPENDENT);
        let (lower, upper) = sides(&bound);
        let (least, most) = (number(&row, "delta_opt"), number(&row, "delta_pess"));
        if most < LEAST_DELTA {
            // The references are rounding noise there; the bracket has to be below it.
            assert!(upper < LEAST_DELTA, "{row}: {bound:?}");
            continue;
        }
        assert!(upper >= least * (1.0 - ROUNDING), "{row}: {bound:?}");
        assert!(lower <= most * (1.0 + ROUNDING), "{row}: {bound:?}");
        assert!(upper / lower < 1.01, "{row}: {bound:?}");
        // The same run as a pair with λ = 0, whose bracket may be no worse.
        let (other_lower, other_upper) = sides(&at(&row, "correlated_delta", &INDEPENDENT));
        assert!(other_lower <= upper && lower <= other_upper, "{row}");
    }
}

#[test]
fn moments_of_the_ratio_are_bounded() {
    for row in correlated("moment", 4) {
        let value = at(&row, "moment", &["T", "lam", "r", "kappa", "alpha"]).value.unwrap();
        let repulsion = number(&row, "alpha") * number(&row, "log_selfcorr");
        assert!(value >= number(&row, "log_Zhat") + repulsion, "{row}: {value}");
        assert!(number(&row, "log_Zhat") + repulsion >= number(&row, "log_moment"), "{row}");
        assert!(value <= number(&row, "proto_logZ_rounded") + repulsion + 0.1, "{row}: {value}");
    }
}

#[test]
fn the_noise_that_the_linear_test_refutes() {
    for row in correlated("linear_lower_kappa", 2) {
        let bound = at(&row, "linear_lower_kappa", &["n", "B", "T", "lam", "eps", "delta"]);
        let value = bound.value.unwrap();
        assert!(close(value, number(&row, "kappa"), number(&row, "tol")), "{row}: {value}");
    }
}

#[test]
fn the_counterexample_of_fixed_size_batches() {
    for row in correlated("fixed_size_counterexample", 3) {
        let bound = at(&row, "fixed_size_counterexample", &INDEPENDENT);
        let (value, tolerance) = (bound.value.unwrap(), number(&row, "tol"));
        let expected = number(&row, "fixed_size_pair");
        assert!(close(value, expected, tolerance) && bound.lower == bound.value, "{row}: {value}");
        let term = |name| bound.terms.iter().find(|term| term.name == name).unwrap().value;
        assert!((term("reverse") - number(&row, "fixed_size_pair_rev")).abs() < 1e-12, "{row}");
        // The pair of Theorem F.8 is right about Poisson batches, and far below this.
        let (lower, upper) = sides(&at(&row, "lambda0_pld", &INDEPENDENT));
        let published = number(&row, "F8_PQ").max(number(&row, "F8_QP"));
        assert!(lower <= published * (1.0 + tolerance), "{row}: {lower}");
        assert!(upper >= published * (1.0 - tolerance), "{row}: {upper}");
        assert!(upper < value && row["F8_violated"] == true, "{row}");
    }
}

/// Our lattice of the likelihood ratio is another one than that of the file: `h_L` has no effect.
#[test]
fn transfer_bounds_at_the_stated_grids() {
    for (kind, count) in [("transfer_upper", 10), ("transfer_repulsion_upper", 9)] {
        for row in correlated(kind, count) {
            let names = ["T", "lam", "r", "kappa", "eps", "h_L", "h_c_over_kappa"];
            let value = at(&row, kind, &names).upper.unwrap();
            let limit = number(&row, "delta_upper") * (1.0 + number(&row, "tol"));
            assert!(value <= limit, "{row}: {value}");
            // The exact value of one row is itself too high by 1.5e-4.
            let exact = row["delta_exact"].as_f64().unwrap_or(0.0);
            assert!(value >= exact * (1.0 - 2e-4), "{row}: {value}");
        }
    }
}

#[test]
fn the_analytic_gaussian_mechanism_at_sixty_digits() {
    for row in peers("gaussian_", 83) {
        let bound = evaluate(&row);
        let expected = reference(&row);
        assert!(close(bound.value.unwrap(), expected, 1e-12), "{row}: {bound:?}");
        assert!(bound.upper.unwrap() >= expected * (1.0 - 1e-15), "{row}: {bound:?}");
    }
}

#[test]
fn renyi_curves() {
    let mut rows = peers("poisson_gaussian_rdp", 50);
    rows.extend(peers("fixed_size_gaussian_rdp_", 63));
    for row in rows {
        let bound = evaluate(&row);
        let value = bound.value.unwrap();
        assert!(close(value, reference(&row), 1e-7), "{row}: {value}");
        assert!(row["lower"].as_f64().is_none_or(|lower| value >= lower), "{row}: {value}");
    }
}

/// A bracket has to meet the one of the reference; a reference without a lower side is only an upper
/// bound.
fn meets(row: &Json, bound: &Bound) {
    let (lower, upper) = sides(bound);
    if let Some(least) = row["lower"].as_f64() {
        assert!(upper >= least * (1.0 - ROUNDING), "{row}: {bound:?}");
    }
    assert!(lower <= number(row, "upper") * (1.0 + ROUNDING), "{row}: {bound:?}");
}

/// The inputs of a whole run whose batch is one of `n` records; `None` if the rate is not `1/n`.
fn as_run(row: &Json) -> Option<Json> {
    let n = (1.0 / number(row, "sampling_rate")).round();
    let exact = 1.0 / n == number(row, "sampling_rate");
    (exact && n > 1.0).then(|| {
        json!({
            "n": n, "batch": 1, "steps": number(row, "steps"), "sampler": "poisson",
            "relation": "add-remove", "delta": row["inputs"]["delta"],
        })
    })
}

#[test]
fn epsilon_of_poisson_batches() {
    let mut runs = 0;
    for row in peers("poisson_gaussian_epsilon", 139) {
        let bound = evaluate(&row);
        meets(&row, &bound);
        let (lower, upper) = sides(&bound);
        let allowed = if number(&row, "steps") <= 1e4 { 1e-3 } else { 1e-2 };
        if upper >= 0.02 {
            assert!(upper - lower <= allowed * upper, "{row}: {bound:?}");
        }
        // The run as a whole is accounted for in the same bracket: κ is the noise on the sum.
        if let Some(mut inputs) = as_run(&row).filter(|_| number(&row, "steps") <= 1e3) {
            inputs["kappa"] = row["inputs"]["noise_multiplier"].clone();
            let run = evaluate(&json!({ "function": "account_epsilon", "inputs": inputs }));
            meets(&row, &run);
            assert!(close(sides(&run).1, upper, allowed), "{row}: {run:?} {bound:?}");
            runs += 1;
        }
    }
    assert!(runs > 20, "{runs}");
}

#[test]
fn delta_of_poisson_batches() {
    let mut compared = 0;
    for row in peers("poisson_gaussian_delta", 107) {
        let bound = evaluate(&row);
        if reference(&row) > LEAST_DELTA {
            meets(&row, &bound);
            compared += 1;
        } else {
            assert!(sides(&bound).1 < 2.0 * LEAST_DELTA, "{row}: {bound:?}");
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn epsilon_of_fixed_size_batches() {
    for row in peers("fixed_size_gaussian_epsilon", 17) {
        let bound = evaluate(&row);
        meets(&row, &bound);
        // Both are upper bounds by the same profile.
        let (_, upper) = sides(&bound);
        assert!(upper <= number(&row, "upper") * (1.0 + 2e-3), "{row}: {bound:?}");
        let inputs = json!({
            "n": row["inputs"]["n"], "batch": row["inputs"]["batch"], "steps": row["inputs"]["steps"],
            "delta": row["inputs"]["delta"], "sampler": "fixed", "relation": "replace-one",
            // The reference is relative to the sensitivity 2 of replace-one.
            "kappa": 2.0 * number(&row, "noise_multiplier"),
        });
        let run = evaluate(&json!({ "function": "account_epsilon", "inputs": inputs }));
        meets(&row, &run);
        assert!(close(sides(&run).1, upper, 1e-3), "{row}: {run:?} {bound:?}");
    }
}

#[test]
fn noise_of_poisson_batches() {
    for row in peers("poisson_gaussian_noise_multiplier", 6) {
        let bound = evaluate(&row);
        meets(&row, &bound);
        let (lower, upper) = sides(&bound);
        assert!(close(upper, number(&row, "upper"), 5e-4), "{row}: {bound:?}");
        assert!(upper - lower <= 1e-3 * upper, "{row}: {bound:?}");
        let spent = |noise: f64| {
            let mut inputs = row["inputs"].clone();
            inputs.as_object_mut().unwrap().remove("delta");
            inputs["noise_multiplier"] = noise.into();
            sides(&evaluate(&json!({ "function": "poisson_gaussian_delta", "inputs": inputs })))
        };
        let delta = number(&row, "delta");
        // Each side was proven on a grid of its own; the account takes another one.
        assert!(spent(upper).1 <= delta * 1.005, "{row}: {:?}", spent(upper));
        assert!(spent(lower).0 >= delta * 0.995, "{row}: {:?}", spent(lower));
        if let Some(mut inputs) = as_run(&row) {
            inputs["epsilon"] = row["inputs"]["epsilon"].clone();
            let run = evaluate(&json!({ "function": "calibrate_kappa", "inputs": inputs }));
            meets(&row, &run);
            assert!(close(sides(&run).1, upper, 5e-4), "{row}: {run:?}");
            assert!(run.checks.iter().all(|check| check.holds), "{row}: {run:?}");
        }
    }
}
