//! Population certificate 5S: stability along the training.

use super::expectation::{bad_event, largest_output, statement};
use super::{
    Guarantee, Landscape, Optimisation, POPULATION_RISK, Training, ensure_representable, ours,
    step_check, with_checks, without_value,
};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::warrant::{Bound, Check, Comparison};

/// The arguments of [`population_s`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PopulationS<'a> {
    /// Theorem S or Theorem S-GD for the *support*: constants, K and the largest loss of one and the same comparator
    /// over all of supp(P), so that it holds for every sample.
    pub optimisation: &'a Optimisation,
    /// Whether it is Theorem S, whose `R_bar` bounds the distance at all times; Theorem S-GD's does not.
    pub bounded: bool,
    /// ρ of the batches.
    pub ratio: f64,
    /// The constants over the support.
    pub landscape: Landscape,
    /// The run; nothing of it may depend on the sample.
    pub training: Training,
    /// F over the support, see [`super::largest_output`]; not needed if nothing can fail.
    pub output: Option<f64>,
    /// δ_cnt in (0, 1): a record takes part more often than assumed. Not used for full batches.
    pub count_failure: f64,
}

/// Certificate 5S: `E (1/T) Σ_t L(W_{t−1}) ≤ A + (log 2 + F) δ_bad + G stab`, given `(c, W_0)`.
///
/// ```text
/// Sigma = ηTA;   B = n: cnt = T, w = 1/n, δ_cnt = 0;   else cnt = μ + g/3 + sqrt(g²/9 + 2μg), μ = TB/n, g = log(1/δ_cnt), w = 1/B
/// any D with F(D) ≤ D, F(D) = exp(ν e^{GD} Sigma) 2ηG cnt w, or D = 2R_bar;   M = ν e^{GD} Sigma
/// stab = e^M 2G Sigma/n + 2R_bar δ_cnt + 4R_* δ_bad
/// ```
///
/// Hypotheses: those of the optimisation certificate, for every sample of the support; `η ≤ 2/(ρβ)`; a fixed point,
/// verified after rounding up; `GD ≤ 30` and `M ≤ 50`.
///
/// # Source
/// Ours; proof in docs/theory/certificates.md.
///
/// # Errors
/// [`BoundError`] for an argument out of range, a stream of batches, or a bad event without an output.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{
///     Anchor, Landscape, PopulationS, TheoremSGd, Training, population_s, theorem_s_gd,
/// };
/// let landscape = Landscape { gradient: 0.975_320_460_2, curvature: 0.010_509_927, smoothness: 0.248_323_5 };
/// let training = Training::full_batch(0.516_089_828_2, 403, 4000);
/// let comparator = Anchor { distance: 6.172_959_452_9, loss: 0.097_777_327_7 };
/// let optimisation = theorem_s_gd(&TheoremSGd { landscape, comparator, training })?;
/// let risk = population_s(&PopulationS {
///     optimisation: &optimisation, bounded: false, ratio: 1.0, landscape, training, output: None,
///     count_failure: 1e-6,
/// })?;
/// assert!((risk.value.unwrap() - 0.325_946_470).abs() < 1e-7);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn population_s(arguments: &PopulationS<'_>) -> Result<Bound> {
    let PopulationS { optimisation, bounded, ratio, training, output, count_failure, .. } =
        *arguments;
    let landscape = arguments.landscape.checked()?;
    let numbers = training.checked()?;
    training.ensure_fresh_batches("a population certificate")?;
    let ratio = domain::positive("ratio", ratio)?.max(1.0);
    let descent = training.is_full() && !training.is_noisy();
    if !bounded && !descent {
        return Err(BoundError::Unproven {
            request: "population risk from Theorem S-GD with noise or smaller batches".into(),
            why: "that theorem covers gradient descent only",
            nearest: "Theorem S",
        });
    }
    let name = format!("{} with 5S", statement(optimisation));
    let source = ours(&name, Guarantee::PopulationExpectation);
    let (Some(path), Some(path_upper)) = (optimisation.bound.value, optimisation.bound.upper)
    else {
        return Ok(without_value(POPULATION_RISK, source, optimisation));
    };
    let (eta, gradient, nu) = (training.step_size, landscape.gradient, landscape.curvature);
    let (mut participations, mut weight, mut missed) = (numbers.steps, 1.0 / numbers.records, 0.0);
    if !training.is_full() {
        let log = -domain::open_probability("count_failure", count_failure)?.ln();
        let mean = numbers.steps * numbers.batch / numbers.records;
        let likely = mean + log / 3.0 + (log * log / 9.0 + 2.0 * mean * log).sqrt();
        if likely < numbers.steps {
            (participations, missed) = (likely, count_failure);
        }
        weight = 1.0 / numbers.batch;
    }
    let bad = bad_event(optimisation, output)?;
    let mut fall = 0.0;
    if optimisation.failure > 0.0 {
        let Some(radius) = training.radius else {
            return largest_output(&landscape, &training, 0.0)
                .map(|_| without_value(POPULATION_RISK, source, optimisation));
        };
        fall = 4.0 * radius * optimisation.failure;
    }
    let sigma = eta * numbers.steps * path_upper;
    let push = 2.0 * eta * gradient * participations * weight;
    ensure_representable(&[sigma, push, nu * sigma])?;
    let growth = |distance: f64| nu * libm::exp(gradient * distance) * sigma;
    let next = |distance: f64| {
        if gradient * distance > LARGEST_EXPONENT {
            return f64::INFINITY;
        }
        let growth = growth(distance);
        if growth > LARGEST_GROWTH { f64::INFINITY } else { libm::exp(growth) * push }
    };
    let cap = if bounded { 2.0 * optimisation.distance } else { f64::INFINITY };
    let mut distance = 0.0;
    for _ in 0..ROUNDS {
        let raised = next(distance) * INFLATION;
        if raised >= cap && cap.is_finite() {
            distance = cap;
            break;
        }
        if raised <= distance || !raised.is_finite() {
            break;
        }
        distance = raised;
    }
    let image = if distance >= cap { cap } else { next(distance) };
    let name = "stability closes: F(D) <= D for a D with G D <= 30 and M <= 50, or D = 2 R_bar";
    let fixed = Check::new(name, image, Comparison::AtMost, distance);
    let within = fixed.holds && gradient * distance <= LARGEST_EXPONENT;
    let exponent = if within { growth(distance) } else { 0.0 };
    let apart = 2.0 * if bounded { optimisation.distance } else { 0.0 } * missed;
    let stability = if within && exponent <= LARGEST_GROWTH {
        libm::exp(exponent) * 2.0 * gradient * sigma / numbers.records + apart + fall
    } else {
        0.0 // one of the checks below fails
    };
    ensure_representable(&[bad, stability, gradient * stability])?;
    let gap = gradient * stability;
    // The exponential multiplies relative errors by its exponent.
    let magnitude = (path_upper - path) / crate::round::RELATIVE_MARGIN
        + bad
        + gap
            * (1.0 + exponent)
            * (1.0 + (path_upper / path - 1.0) / crate::round::RELATIVE_MARGIN);
    let magnitude = if magnitude.is_finite() { magnitude } else { path };
    let bound = Bound::upper_bound_of_parts(POPULATION_RISK, path + bad + gap, magnitude, source)?
        .with_term("losses along the training", path)
        .with_term("bad event (log 2 + F) delta_bad", bad)
        .with_term("stability G e^M 2 G Sigma/n", gap - gradient * (apart + fall))
        .with_term("stability, rare events", gradient * (apart + fall));
    let largest = 2.0 / (ratio * landscape.smoothness);
    let mut checks = optimisation.bound.checks.clone();
    checks.extend([
        step_check("stability: eta <= 2/(rho beta)", &training, largest),
        fixed,
        Check::new("stability: G D", gradient * distance, Comparison::AtMost, LARGEST_EXPONENT),
        Check::new("stability: M", exponent, Comparison::AtMost, LARGEST_GROWTH),
    ]);
    Ok(with_checks(bound, checks))
}

const LARGEST_EXPONENT: f64 = 30.0;
const LARGEST_GROWTH: f64 = 50.0;
const ROUNDS: usize = 500;
/// More than the rounding errors of one evaluation of F, so that the last one proves `F(D) ≤ D`.
const INFLATION: f64 = 1.0 + 1e-9;
