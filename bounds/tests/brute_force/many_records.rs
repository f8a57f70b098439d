//! Many bits, each through randomised response: still exact, and large enough that the bounds are
//! far below `n ε` and their leading constants decide.

use crate::exact::{Frontier, level};
use crate::expected;
use crate::families::{APPROXIMATE, PURE, RENYI, is_slow};
use crate::ledger::Ledger;

/// `n` fair bits, each kept with probability `keep`: the information density is a function of the
/// number of kept bits, which is binomial under both laws.
fn fair_bits(n: u32, keep: f64) -> Frontier {
    let (mut log_binomial, mut atoms) = (0.0, Vec::new());
    for kept in 0..=n {
        if kept > 0 {
            log_binomial += (f64::from(n - kept + 1) / f64::from(kept)).ln();
        }
        let lost = f64::from(n - kept);
        let joint = log_binomial + f64::from(kept) * keep.ln() + lost * (-keep).ln_1p();
        let product = log_binomial - f64::from(n) * std::f64::consts::LN_2;
        atoms.push((joint.exp(), product.exp()));
    }
    Frontier::new(atoms)
}

/// The Rényi divergence between the two outputs of one bit.
fn renyi(keep: f64, alpha: f64) -> f64 {
    let (a, b) = (keep.ln(), (-keep).ln_1p());
    let (first, second) = (alpha * a + (1.0 - alpha) * b, alpha * b + (1.0 - alpha) * a);
    (first.max(second) + (-(first - second).abs()).exp().ln_1p()) / (alpha - 1.0)
}

#[test]
fn many_bits_through_randomised_response() {
    let mut ledger = Ledger::default();
    for (n, epsilon) in [(30, 1.0), (100, 0.3), (300, 0.3), (1000, 0.05), (1000, 0.3)] {
        let keep = 1.0 / (1.0 + f64::exp(-epsilon));
        let frontier = fair_bits(n, keep);
        let records = u64::from(n);
        for beta in [1e-8, 1e-4, 0.01, 0.05, 0.3] {
            let exact = frontier.max_information(level(beta));
            let place = || format!("n={n} epsilon={epsilon} beta={beta}");
            for (name, bound) in PURE {
                ledger.check(name, exact, bound(records, epsilon, level(beta)), place);
            }
            for (name, bound) in APPROXIMATE {
                ledger.check(name, exact, bound(records, epsilon, 0.0, level(beta)), place);
            }
            for alpha in [1.5, 4.0, 16.0, 64.0, 256.0] {
                let order = renyi(keep, alpha);
                for (name, bound) in RENYI {
                    if !is_slow(name) || alpha == 16.0 || alpha == 64.0 {
                        ledger.check(name, exact, bound(records, alpha, order, level(beta)), place);
                    }
                }
            }
        }
    }
    ledger.close(&expected::MANY_RECORDS);
}
