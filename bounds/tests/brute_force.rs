//! Every max-information bound against mechanisms whose max-information is known exactly.
//!
//! Privacy is computed exactly as well, over all replace-one pairs in both orders, so that a bound
//! is never helped by a loose ε. The smallest ratio `bound/exact` is printed and asserted from both
//! sides: not below 1 (soundness), not above a ceiling (a constant that grew would be noticed).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

#[path = "brute_force/correlated.rs"]
mod correlated;
#[path = "brute_force/exact.rs"]
mod exact;
#[path = "brute_force/expected.rs"]
mod expected;
#[path = "brute_force/families.rs"]
mod families;
#[path = "brute_force/gaussian.rs"]
mod gaussian;
#[path = "brute_force/larger_alphabets.rs"]
mod larger_alphabets;
#[path = "brute_force/ledger.rs"]
mod ledger;
#[path = "brute_force/many_records.rs"]
mod many_records;
#[path = "brute_force/mechanisms.rs"]
mod mechanisms;
#[path = "brute_force/streaming.rs"]
mod streaming;

use dpbounds_bounds::max_information::approximate_dp;
use exact::{Frontier, Mechanism, level};
use families::{APPROXIMATE, PURE, RENYI, is_slow};
use ledger::Ledger;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

const BETAS: [f64; 8] = [1e-12, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5];

/// Calls `attack` with every binary mechanism on 1 to 4 records under three priors.
fn for_each_binary(mut attack: impl FnMut(&Mechanism, &Frontier, &str)) {
    for n in 1..=4 {
        let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
        for mechanism in mechanisms::binary(n, &mut rng) {
            for p in [0.5, 0.2, 0.02] {
                let prior = mechanism.prior(&vec![vec![1.0 - p, p]; n]);
                let frontier = mechanism.frontier(&prior);
                attack(&mechanism, &frontier, &format!("{} n={n} p={p}", mechanism.name));
            }
        }
    }
}

/// The bound away from its trivial branch `n ε`, which small mechanisms reach easily.
fn inner(name: &str, upper: f64, trivial: f64) -> Option<&'static str> {
    const NAMES: [(&str, &str); 4] = [
        ("B+ hs", "B+ hs inner"),
        ("B+ exact", "B+ exact inner"),
        ("BR", "BR inner"),
        ("BR hs", "BR hs inner"),
    ];
    let known = NAMES.iter().find(|(outer, _)| *outer == name && upper < 0.8 * trivial);
    known.map(|(_, inner)| *inner)
}

#[test]
fn approximate_dp_bounds() {
    let (mut without, mut with) = (Ledger::default(), Ledger::default());
    let mut case = 0_u64;
    for_each_binary(|mechanism, frontier, place| {
        let n = mechanism.records as u64;
        for epsilon in [0.0, 0.02, 0.1, 0.3, 0.5, 1.0, 1.5, 3.0] {
            let delta = mechanism.delta(epsilon);
            let ledger = if delta == 0.0 { &mut without } else { &mut with };
            for beta in BETAS {
                let exact = frontier.max_information(level(beta));
                case += 1;
                for (name, bound) in APPROXIMATE {
                    if is_slow(name) && !case.is_multiple_of(5) {
                        continue;
                    }
                    let answer = bound(n, epsilon, delta, level(beta));
                    let place = || format!("{place} epsilon={epsilon} {delta:e} beta={beta}");
                    let upper = ledger.check(name, exact, answer.clone(), place);
                    let trivial = n as f64 * epsilon;
                    if let Some(name) = upper.and_then(|upper| inner(name, upper, trivial)) {
                        ledger.check(name, exact, answer, place);
                    }
                }
            }
        }
    });
    without.close(&expected::WITHOUT_DELTA);
    with.close(&expected::WITH_DELTA);
}

#[test]
fn pure_dp_bounds() {
    let mut ledger = Ledger::default();
    for_each_binary(|mechanism, frontier, place| {
        let epsilon = mechanism.pure_epsilon();
        if epsilon.is_infinite() {
            return;
        }
        let n = mechanism.records as u64;
        for beta in BETAS {
            let exact = frontier.max_information(level(beta));
            let place = || format!("{place} epsilon={epsilon:.3} beta={beta}");
            for (name, bound) in PURE {
                let answer = bound(n, epsilon, level(beta));
                let upper = ledger.check(name, exact, answer.clone(), place);
                let trivial = n as f64 * epsilon;
                if let Some(name) = upper.and_then(|upper| inner(name, upper, trivial)) {
                    ledger.check(name, exact, answer, place);
                }
            }
        }
    });
    ledger.close(&expected::PURE);
}

#[test]
fn renyi_bounds() {
    let mut ledger = Ledger::default();
    let mut case = 0_u64;
    for_each_binary(|mechanism, frontier, place| {
        for alpha in [1.05, 1.5, 2.0, 4.0, 16.0, 64.0] {
            let epsilon = mechanism.renyi(alpha);
            if epsilon.is_infinite() {
                continue;
            }
            for beta in BETAS {
                let exact = frontier.max_information(level(beta));
                case += 1;
                for (name, bound) in RENYI {
                    if is_slow(name) && !case.is_multiple_of(5) {
                        continue;
                    }
                    let answer = bound(mechanism.records as u64, alpha, epsilon, level(beta));
                    ledger.check(name, exact, answer, || {
                        format!("{place} alpha={alpha} epsilon={epsilon:.3e} beta={beta}")
                    });
                }
            }
        }
    });
    ledger.close(&expected::RENYI);
}

/// Releasing one record with probability `n delta` is (0, delta)-DP, but below `n delta` its
/// max-information grows without limit with the alphabet; at `n delta` it is at most 0.
#[test]
fn no_finite_bound_exists_below_n_delta() {
    let (n, delta) = (2, 0.1);
    let mut previous = 0.0;
    for alphabet in [2, 8, 32] {
        let mechanism = mechanisms::pure_leak(n, alphabet, delta);
        assert!((mechanism.delta(0.0) / delta - 1.0).abs() < 1e-12);
        let uniform = vec![vec![1.0 / alphabet as f64; alphabet]; n];
        let frontier = mechanism.frontier(&mechanism.prior(&uniform));
        let exact = frontier.max_information(level(0.05));
        let floor = ((0.2 - 0.05) * alphabet as f64 / 0.2_f64).ln();
        assert!(exact >= floor - 1e-12 && exact > previous, "{alphabet}: {exact} {floor}");
        previous = exact;
        let refused = approximate_dp::best(2, 0.0, delta, level(0.05)).unwrap();
        assert!(refused.value.is_none() && refused.reason.unwrap().contains("no finite bound"));
        // At β = nδ exactly bound A still holds.
        let a = approximate_dp::a(2, 0.0, delta, level(0.2)).unwrap();
        assert_eq!(a.value, Some(0.0));
        assert!(frontier.max_information(level(0.2)) <= 1e-12);
    }
}
