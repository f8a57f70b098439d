//! The steps taken at once against the same steps made one by one.

use super::super::{Repulsion, Resolution};
use super::*;
use crate::privacy::{Order, Pair};

const CRUDE: Resolution = Resolution { spacing: 0.5, damping_ratio: 0.8, smoothing: 0.2 };

fn chain(order: Order, lambda: f64) -> Chain {
    let pair = Pair::new(0.02, 4.0, lambda, 3_000).unwrap();
    Chain::new(&pair, order, Repulsion::Kept, CRUDE).unwrap()
}

/// The logarithm of the real moment and the ratios, every step made.
fn step_by_step(chain: &Chain, exponent: f64, spacing: f64) -> (f64, Vec<(f64, f64)>) {
    let mut lanes = Lanes::new(chain, LANES);
    let mut log_scale = 0.0;
    for phase in &chain.phases {
        let weights = Weights::new(&phase.step, exponent, spacing, spacing, LANES);
        for _ in 0..phase.repeat {
            lanes.advance(chain, &phase.step, &weights);
            log_scale += lanes.rescale();
        }
    }
    let real = lanes.total(0);
    let ratio = |lane| (lanes.total(1 + 2 * lane) / real, lanes.total(2 + 2 * lane) / real);
    (log_scale + real.ln(), (0..LANES).map(ratio).collect())
}

#[test]
fn steps_taken_at_once_agree_with_steps_made_one_by_one() {
    for (order, exponent) in [(Order::Forward, 3.5), (Order::Reverse, -2.5)] {
        for lambda in [0.0, 0.3, 0.8] {
            let chain = chain(order, lambda);
            for spacing in [0.02, 0.4] {
                let (log_moment, exact) = step_by_step(&chain, exponent, spacing);
                let mut made = 0;
                let bound = follow(&chain, exponent, |_, _| made += 1).unwrap();
                assert!(made < 1_500, "{made} of 3,000 steps were made");
                let excess = bound - log_moment;
                assert!((-1e-12..2e-8).contains(&excess), "{order:?} {lambda} {excess}");
                let found = ratios(&chain, exponent, spacing, 1 + LANES);
                for (ratio, (re, im)) in found[1..].iter().zip(exact) {
                    let miss = (ratio.re - re).hypot(ratio.im - im);
                    let context = format!("{order:?} {lambda} {spacing} {ratio:?} {re} {im}");
                    assert!(miss <= ratio.error && ratio.error < 1e-6, "{context}");
                }
            }
        }
    }
}
