//! A comparator near the initial weights, chosen freely after seeing the sample.

use nalgebra::{DMatrix, DVector};

use super::summation;
use super::{Linearisation, ensure_finite, ensure_length, logistic_loss, logistic_slope, number};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::round::{RELATIVE_MARGIN, round_up};

/// Weights `W* = W_0 + Σ_k b_k g_k` by their coefficients, and what the network does there.
///
/// A deterministic function of the sample and `(c, W_0)`: certificates that condition on these may search over as
/// many comparators as they like. Its numbers are functions of the data and not private.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparator {
    /// b, n values.
    pub coefficients: Vec<f64>,
    /// `τ = ||W* − W_0|| = sqrt(bᵀQb)`, rounded up.
    pub distance: f64,
    /// `l(y_i f_{W*}(x_i))` of the nonlinear network, n values in nats, rounded up.
    pub losses: Vec<f64>,
    /// `L* = L_S(W*)`, the mean over the records with multiplicities, rounded up.
    pub mean_loss: f64,
    /// `max_i l_i(W*)`, rounded up.
    pub largest_loss: f64,
    /// Newton steps that were taken.
    pub steps: usize,
}

/// The comparator with the given coefficients, without forming `W*`.
///
/// `a*_j(x_i) = a_j(x_i) + Σ_k b_k y_k α_j(x_k) <h_k, h_i>/(d sqrt m)`, and the nonlinear network is evaluated there.
///
/// # Source
/// Ours.
///
/// # Errors
/// [`BoundError`] for a wrong number of coefficients or one that is not finite.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{
///     Activation, Initialisation, Knots, Linearisation, Sample, SplineBasis, comparator_at, initialise,
/// };
/// let basis = SplineBasis::new(1, 2, Knots::Clamped)?;
/// let (network, weights) = initialise(basis, Activation::Tanh, 1, 50, Initialisation::Antithetic, 1)?;
/// let sample = Sample::new(1, vec![-0.9, 0.9], vec![-1.0, 1.0])?;
/// let linearisation = Linearisation::at(&network, &weights, &sample)?;
/// let initial = comparator_at(&linearisation, &[0.0, 0.0])?;
/// assert_eq!(initial.distance, 0.0);
/// assert!((initial.mean_loss - std::f64::consts::LN_2).abs() < 1e-11);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn comparator_at(
    linearisation: &Linearisation<'_>,
    coefficients: &[f64],
) -> Result<Comparator> {
    let (network, sample) = (linearisation.network, linearisation.sample);
    let count = sample.len();
    ensure_length("coefficients", coefficients.len(), "n", count, "one coefficient per record")?;
    ensure_finite("coefficient", coefficients)?;
    let labels = sample.labels();
    let scale = number(network.inputs()) * number(network.width()).sqrt();
    let mixing = DMatrix::from_fn(count, count, |k, i| {
        coefficients[k] * labels[k] * linearisation.feature_products[(k, i)] / scale
    });
    let moved = &linearisation.preactivations + &linearisation.slopes * mixing;
    let mut losses = Vec::with_capacity(count);
    for (column, label) in moved.column_iter().zip(labels) {
        let output = network.output_at(column.as_slice())?;
        // The loss is 1-Lipschitz and its slope at most itself: relative errors stay below those of the output.
        losses.push(round_up(logistic_loss(label * output.value)));
    }
    let shares = sample.shares();
    let mut term = |index: usize| shares[index] * losses[index];
    let mean_loss = round_up(summation::pairwise(0, count, &mut term));
    let largest_loss = losses.iter().copied().fold(0.0, f64::max);
    let b = DVector::from_column_slice(coefficients);
    let size: f64 = coefficients.iter().map(|b| b.abs()).sum();
    let rounding = RELATIVE_MARGIN * linearisation.gram.diagonal().max() * size * size;
    let square = b.dot(&(&linearisation.gram * &b)).max(0.0) + rounding;
    let distance = round_up(square.sqrt());
    if !(distance.is_finite() && mean_loss.is_finite()) {
        return Err(BoundError::Numerical { what: "comparator", detail: "too far away" });
    }
    Ok(Comparator {
        coefficients: coefficients.to_vec(),
        distance,
        losses,
        mean_loss,
        largest_loss,
        steps: 0,
    })
}

/// Step at which Newton's method stops, relative to the coefficients.
const SMALL_STEP: f64 = 1e-12;
const MAX_STEPS: usize = 200;

/// The comparator for the horizon `s = ηT`: the minimiser of `||θ||² + 2s Σ_i w_i l(u0_i + <g_i, θ>)`, `w_i` the
/// shares of the records and `u0_i = y_i f_{W_0}(x_i)`, over `θ = Σ_k b_k g_k`.
///
/// Newton on b with `(I + s diag(w l'') Q) δ = −(b − s w |l'|)` and a halving line search, from `start` (n
/// coefficients; 0 if none). An early stop is a legal comparator too. Works when the margin is 0.
///
/// `horizon` s positive, in units of step size times steps.
///
/// # Source
/// Ours.
///
/// # Errors
/// [`BoundError`] for a horizon out of range, a start of the wrong length, or a linear system that fails.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{
///     Activation, Initialisation, Knots, Linearisation, Sample, SplineBasis, free_comparator, initialise,
/// };
/// let basis = SplineBasis::new(1, 2, Knots::Clamped)?;
/// let (network, weights) = initialise(basis, Activation::Tanh, 1, 2000, Initialisation::Greville, 1)?;
/// let sample = Sample::new(1, vec![-0.95, -0.7, 0.7, 0.95], vec![-1.0, -1.0, 1.0, 1.0])?;
/// let linearisation = Linearisation::at(&network, &weights, &sample)?;
/// let comparator = free_comparator(&linearisation, 333.100_895_450_291_5, None)?;
/// assert!((comparator.distance - 7.016_772_855).abs() < 1e-7);
/// assert!((comparator.mean_loss - 0.053_819_304).abs() < 1e-8);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn free_comparator(
    linearisation: &Linearisation<'_>,
    horizon: f64,
    start: Option<&[f64]>,
) -> Result<Comparator> {
    let horizon = domain::positive("horizon", horizon)?;
    let (sample, gram) = (linearisation.sample, &linearisation.gram);
    let count = sample.len();
    let mut b = DVector::zeros(count);
    if let Some(start) = start {
        ensure_length("start", start.len(), "n", count, "one coefficient per record")?;
        ensure_finite("start", start)?;
        b = DVector::from_column_slice(start);
    }
    let shares = DVector::from_vec(sample.shares());
    let outputs = DVector::from_column_slice(linearisation.outputs());
    let initial = outputs.component_mul(&DVector::from_column_slice(sample.labels()));
    let objective = |b: &DVector<f64>, moved: &DVector<f64>| {
        let loss: f64 = (&initial + moved).map(logistic_loss).dot(&shares);
        b.dot(moved) + 2.0 * horizon * loss
    };
    let mut moved = gram * &b;
    let mut value = objective(&b, &moved);
    let mut steps = 0;
    while steps < MAX_STEPS {
        let slopes = (&initial + &moved).map(logistic_slope);
        let weighted = horizon * shares.component_mul(&slopes);
        let mut system = gram.clone();
        for (mut row, (weight, slope)) in
            system.row_iter_mut().zip(weighted.iter().zip(slopes.iter()))
        {
            row *= weight * (1.0 - slope);
        }
        for index in 0..count {
            system[(index, index)] += 1.0;
        }
        let Some(step) = system.lu().solve(&(&weighted - &b)) else {
            return Err(BoundError::Numerical { what: "comparator", detail: "singular system" });
        };
        let step_moved = gram * &step;
        let mut share = 1.0;
        let improved = loop {
            let next = objective(&(&b + share * &step), &(&moved + share * &step_moved));
            if next <= value + 1e-13 * value.abs() {
                break Some(next);
            }
            share /= 2.0;
            if share < 1e-8 {
                break None;
            }
        };
        let Some(next) = improved else { break };
        b += share * &step;
        moved = gram * &b;
        value = next;
        steps += 1;
        if step.amax() <= SMALL_STEP * (1.0 + b.amax()) {
            break;
        }
    }
    Ok(Comparator { steps, ..comparator_at(linearisation, b.as_slice())? })
}
