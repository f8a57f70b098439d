//! The point of least norm in a convex hull, from the Gram matrix.

use nalgebra::{DMatrix, DVector};

use super::{MarginOptions, number};
use crate::round::RELATIVE_MARGIN;

/// Convex weights and how they were found.
pub(super) struct Solution {
    pub(super) weights: DVector<f64>,
    pub(super) iterations: u64,
    pub(super) converged: bool,
}

/// Products `Qβ` are computed afresh after so many updates.
const REFRESH: u64 = 1000;

/// Pairwise Frank–Wolfe with exact line search, alternating with [`minimise_over_support`] so that both take about
/// the same time.
pub(super) fn solve(gram: &DMatrix<f64>, options: MarginOptions) -> Solution {
    let noise = RELATIVE_MARGIN * gram.diagonal().max();
    let (start, _) = gram.diagonal().argmin();
    let mut weights = DVector::zeros(gram.nrows());
    weights[start] = 1.0;
    let mut products: DVector<f64> = gram.column(start).into_owned();
    let count = number(gram.nrows());
    let (mut iterations, mut since, mut wait) = (0, 0.0, 20.0 * count);
    let converged = loop {
        let (best, least) = products.argmin();
        let worst =
            (0..products.len()).filter(|index| weights[*index] > 0.0).fold(best, |worst, index| {
                if products[index] > products[worst] { index } else { worst }
            });
        let square = weights.dot(&products);
        let gain = products[worst] - least;
        // Below the rounding allowance of the bracket nothing is gained.
        let narrow = square - least <= (options.tolerance * square).max(0.1 * noise);
        if narrow || square <= noise || iterations >= options.iterations {
            break narrow || square <= noise;
        }
        iterations += 1;
        let curve = gram[(best, best)] + gram[(worst, worst)] - 2.0 * gram[(best, worst)];
        let full = weights[worst];
        let step = if curve > 0.0 { (gain / curve).min(full) } else { full };
        weights[best] += step;
        weights[worst] = if step < full { full - step } else { 0.0 };
        products.axpy(step, &gram.column(best), 1.0);
        products.axpy(-step, &gram.column(worst), 1.0);
        since += 1.0;
        let due = since >= wait;
        if due {
            let work = minimise_over_support(gram, &mut weights);
            (since, wait) = (0.0, (work / (6.0 * count)).max(2.0 * count));
        }
        if due || iterations % REFRESH == 0 {
            weights /= weights.sum();
            products = gram * &weights;
        }
    };
    weights /= weights.sum();
    Solution { weights, iterations, converged }
}

/// Most systems solved in one call.
const MAX_SYSTEMS: usize = 30;

/// Moves the weights towards the minimum over the affine hull of their support, as far as they stay convex, and drops
/// the vectors that this excludes; returns the number of multiplications.
fn minimise_over_support(gram: &DMatrix<f64>, weights: &mut DVector<f64>) -> f64 {
    let scale = gram.diagonal().max();
    let mut work = 0.0;
    for _ in 0..MAX_SYSTEMS {
        let support: Vec<usize> = (0..weights.len()).filter(|i| weights[*i] > 0.0).collect();
        let size = support.len();
        work += number(size).powi(3) / 6.0 + number(size).powi(2);
        // (Q + scale 11ᵀ) μ ∝ 1 on the support; the ridge makes dependent vectors harmless.
        let mut system = DMatrix::from_fn(size, size, |i, k| gram[(support[i], support[k])]);
        let own = system.clone();
        system.add_scalar_mut(scale);
        for index in 0..size {
            system[(index, index)] += 1e-14 * number(size) * scale;
        }
        let Some(factor) = system.cholesky() else { break };
        let mut target = factor.solve(&DVector::from_element(size, 1.0));
        target /= target.sum();
        let current = DVector::from_iterator(size, support.iter().map(|index| weights[*index]));
        let direction = target - &current;
        let along = &own * &direction;
        let (slope, curve) = (current.dot(&along), direction.dot(&along));
        if !(slope < 0.0) {
            break;
        }
        let mut share = if curve > 0.0 { -slope / curve } else { f64::INFINITY };
        let mut blocking = None;
        for (index, (weight, change)) in current.iter().zip(direction.iter()).enumerate() {
            if *change < 0.0 && -weight / change < share {
                (share, blocking) = (-weight / change, Some(index));
            }
        }
        if !share.is_finite() {
            break;
        }
        for (index, place) in support.iter().enumerate() {
            weights[*place] = (current[index] + share * direction[index]).max(0.0);
        }
        match blocking {
            Some(index) => weights[support[index]] = 0.0,
            None => break,
        }
    }
    work
}
