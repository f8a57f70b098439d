//! One output whose exponents overflow in linear scale, as happens at very small noise.

use super::kernel::{Kernel, Side};
use super::precondition::real;
use crate::special::log_add_exp;

/// No factor of the kernel is below `e^{−231}` unless it is 0.
const LARGEST_REPULSION: f64 = 231.0;

/// Logarithms in units of `(1 − r)^T`, and a bound on their rounding error.
pub(super) struct LogMass {
    pub log_mass: f64,
    pub log_growth: f64,
    pub slack: f64,
}

/// The recursion of the kernel with every mass replaced by its logarithm; nothing is dropped.
pub(super) fn evaluate(kernel: &Kernel, exponents: &[f64]) -> LogMass {
    let grid = &kernel.grid;
    let mut targets = vec![0; grid.len()];
    for group in &kernel.groups {
        targets[group.start..group.end].fill(group.target);
    }
    let mut state = vec![f64::NEG_INFINITY; grid.len()];
    let (mut zero, mut log_growth, mut size) = (0.0, 0.0, 1.0);
    for (&exponent, factors) in exponents.iter().zip(kernel.factors_by_step()) {
        log_growth += log_add_exp(0.0, exponent);
        size += exponent.abs();
        if grid.len() == 0 {
            continue;
        }
        let mut next = vec![f64::NEG_INFINITY; grid.len()];
        let mut add = |cell: usize, log: f64| next[cell] = log_add_exp(next[cell], log);
        add(grid.one(), exponent + zero);
        for (cell, &log) in state.iter().enumerate() {
            if log == f64::NEG_INFINITY {
                continue;
            }
            // The factors of the kernel, so that both ways compute the same function.
            add(targets[cell], exponent + factors[cell].ln() + log);
            match kernel.side {
                Side::Lower => add(grid.absent_up(cell), log),
                Side::Upper => match grid.absent_down(cell) {
                    Some(next) => add(next, log),
                    None => zero = log_add_exp(zero, log),
                },
            }
        }
        size += LARGEST_REPULSION;
        state = next;
    }
    let log_mass = if grid.len() == 0 {
        log_growth
    } else {
        state.iter().fold(zero, |sum, &log| log_add_exp(sum, log))
    };
    // Every logarithm is at most `size` large; the last sum runs over all cells.
    let operations = real(exponents.len()) * (kernel.widest + 8.0) + real(grid.len());
    LogMass { log_mass, log_growth, slack: f64::EPSILON * operations * size }
}
