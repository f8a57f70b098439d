//! Certificate D: the paper's risk bound for independent noise and projected iterates, with every constant.

use std::f64::consts::{LN_2, SQRT_2};

use super::{
    Anchor, Guarantee, Landscape, Optimisation, TRAINING_RISK, Training, clipping_check,
    ensure_representable, failure_check, paper, step_check, with_checks,
};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::warrant::{Bound, Check, Comparison};

/// How the failure probability of certificate D is spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetD {
    /// δ_1, in (0, 1): squared deviations of the batch gradients.
    pub batch_square: f64,
    /// δ_2, in (0, 1): the norm of all noise.
    pub noise_square: f64,
    /// δ_3, in (0, 1): the martingale of batches and iterates.
    pub batch_linear: f64,
    /// δ_4, in (0, 1): the martingale of noise and iterates.
    pub noise_linear: f64,
}

impl BudgetD {
    /// Equal parts of `total`.
    #[must_use]
    pub fn equal(total: f64) -> Self {
        let part = total / 4.0;
        Self { batch_square: part, noise_square: part, batch_linear: part, noise_linear: part }
    }
}

/// The arguments of [`certificate_d`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CertificateD {
    /// Constants over the inputs of the sample.
    pub landscape: Landscape,
    /// `N = m d p`.
    pub parameters: u64,
    /// τ and `L* = L_S(W*)`, in nats.
    pub comparator: Anchor,
    /// The run: independent noise, projected.
    pub training: Training,
    /// Failure probabilities.
    pub budget: BudgetD,
}

/// Certificate D, for λ = 0 and iterates projected onto `||W − W_0|| ≤ R_*`:
///
/// ```text
/// (1/T) Σ L_S(W_t) ≤ 4L* + 3τ²/(2ηT) + 6 sqrt2 G R_* sqrt(log(2/δ_3)/(BT)) + 6 sqrt2 c R_* sqrt(log(2/δ_4)/T)
///                    + 6η(2G²/B + 8G² log(1/δ_1)/T) + 6ηc² V/T,     V = TN + 2 sqrt(TN log(1/δ_2)) + 2 log(1/δ_2)
/// ```
///
/// Hypotheses: `R_* ≥ τ`; `η ≤ 1/(12β)`; `4νR_*² ≤ 1/2`; `C_clip ≥ G`; batches of fixed size. It holds except with
/// probability `δ_1 + δ_2 + δ_3 + δ_4`; full batches need neither δ_1 nor δ_3 and lose their terms.
///
/// # Source
/// arXiv 2605.12648, Lemmas D.11 to D.13 (Theorem 4.3); the constants as in docs/theory/certificates.md.
///
/// # Errors
/// [`BoundError::Unproven`] for Poisson batches, correlated noise or iterates that are not projected; otherwise as
/// [`super::theorem_s`].
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{Anchor, BudgetD, CertificateD, Landscape, Training, certificate_d};
/// use dpbounds_bounds::privacy::Sampler;
/// let run = Training::full_batch(0.3, 800, 10_000);
/// let certificate = certificate_d(&CertificateD {
///     landscape: Landscape { gradient: 1.0, curvature: 1e-3, smoothness: 0.26 },
///     parameters: 100_000,
///     comparator: Anchor { distance: 3.0, loss: 0.1 },
///     training: Training { batch: 256, sampler: Sampler::Fixed, radius: Some(3.5), ..run },
///     budget: BudgetD::equal(0.04),
/// })?;
/// assert!((certificate.bound.value.unwrap() - 0.704_261_674_826_000_3).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn certificate_d(arguments: &CertificateD) -> Result<Optimisation> {
    let CertificateD { landscape, parameters, comparator, training, budget } = *arguments;
    let numbers = training.checked()?;
    let (landscape, comparator) = (landscape.checked()?, comparator.checked()?);
    training.ensure_fixed_size("certificate D")?;
    if training.lambda > 0.0 && training.noise > 0.0 {
        return Err(BoundError::Unproven {
            request: "certificate D with correlated noise".into(),
            why: "its proof needs the noise of a step to be independent of the weights there",
            nearest: "Theorem S or certificate P",
        });
    }
    let Some(radius) = training.radius else {
        return Err(BoundError::Unproven {
            request: "certificate D without a projection".into(),
            why: "its martingales are bounded by the projection radius R_*",
            nearest: "the projected algorithm, R_* = tau; or Theorem S or certificate P",
        });
    };
    let dimension = domain::count("parameters", parameters)?;
    let logs = [
        -domain::open_probability("failure of the batches, square", budget.batch_square)?.ln(),
        -domain::open_probability("failure of the noise, square", budget.noise_square)?.ln(),
        -domain::open_probability("failure of the batches, linear", budget.batch_linear)?.ln(),
        -domain::open_probability("failure of the noise, linear", budget.noise_linear)?.ln(),
    ];
    let (steps, batch) = (numbers.steps, numbers.batch);
    let (eta, c, gradient) = (training.step_size, training.noise, landscape.gradient);
    let mut failure = 0.0;
    let (mut linear_batch, mut square_batch, mut linear_noise, mut square_noise) =
        (0.0, 0.0, 0.0, 0.0);
    if !training.is_full() {
        linear_batch =
            6.0 * SQRT_2 * gradient * radius * ((LN_2 + logs[2]) / (batch * steps)).sqrt();
        let deviations = 2.0 / batch + 8.0 * logs[0] / steps;
        square_batch = 6.0 * eta * gradient * gradient * deviations;
        failure += budget.batch_square + budget.batch_linear;
    }
    if c > 0.0 {
        linear_noise = 6.0 * SQRT_2 * c * radius * ((LN_2 + logs[3]) / steps).sqrt();
        let mean = steps * dimension;
        let all = mean + 2.0 * (mean * logs[1]).sqrt() + 2.0 * logs[1];
        square_noise = 6.0 * eta * c * c * all / steps;
        failure += budget.noise_square + budget.noise_linear;
    }
    let loss = 4.0 * comparator.loss;
    let tau = comparator.distance;
    let initial = 1.5 * tau * tau / (eta * steps);
    let total = loss + initial + linear_batch + linear_noise + square_batch + square_noise;
    let spread = 4.0 * landscape.curvature * radius * radius;
    ensure_representable(&[total, spread])?;
    let guarantee = Guarantee::of_failure(failure);
    let source = paper("Theorem 4.3", guarantee);
    let bound = Bound::upper_bound(TRAINING_RISK, total, source)?
        .with_term("comparator 4 L*", loss)
        .with_term("initialisation 3 tau^2/(2 eta T)", initial)
        .with_term("batches, linear", linear_batch)
        .with_term("noise, linear", linear_noise)
        .with_term("batches, square", square_batch)
        .with_term("noise, square 6 eta c^2 V/T", square_noise);
    let name = "the projection reaches the comparator: R_* >= tau";
    let checks = [
        Some(Check::new(name, radius, Comparison::AtLeast, tau)),
        Some(step_check("eta <= 1/(12 beta)", &training, 1.0 / (12.0 * landscape.smoothness))),
        Some(Check::new("4 nu R_*^2, linearisation error", spread, Comparison::AtMost, 0.5)),
        clipping_check(&training, &landscape),
        failure_check(failure),
    ];
    let bound = with_checks(bound, checks.into_iter().flatten());
    let reach = (2.0 * radius).min(f64::MAX);
    Ok(Optimisation { bound, guarantee, distance: reach, reach, radius, failure })
}
