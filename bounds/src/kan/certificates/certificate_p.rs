//! Certificate P: the paper's risk bound for correlated noise, with every constant.

use std::f64::consts::SQRT_2;

use super::{
    Anchor, Guarantee, Landscape, Optimisation, TRAINING_RISK, Training, clipping_check,
    ensure_representable, failure_check, paper, radius_check, step_check, with_checks,
};
use crate::domain;
use crate::error::Result;
use crate::warrant::{Bound, Check, Comparison};

/// Which constants certificate P has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaperForm {
    /// Those that the proofs of the paper give as they are written.
    Verbatim,
    /// The same proofs without slack: `2 sqrt 2` for `4 sqrt 2` and 4, one-sided tails, sampling without replacement,
    /// nothing for batches if they are full, and `νD² ≤ 8/13`.
    Tight,
}

/// How the failure probability of certificate P is spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetP {
    /// δ_Z, in (0, 1): norms of the noise.
    pub noise: f64,
    /// δ_D, in (0, 1): squared deviations of the batch gradients.
    pub batches: f64,
    /// δ_P, in (0, 1): the three martingales.
    pub linear: f64,
}

impl BudgetP {
    /// Equal parts of `total`.
    #[must_use]
    pub fn equal(total: f64) -> Self {
        Self { noise: total / 3.0, batches: total / 3.0, linear: total / 3.0 }
    }
}

/// The arguments of [`certificate_p`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CertificateP {
    /// Constants over the inputs of the sample.
    pub landscape: Landscape,
    /// `N = m d p`.
    pub parameters: u64,
    /// τ and `L* = L_S(W*)`, in nats.
    pub comparator: Anchor,
    /// The run.
    pub training: Training,
    /// Which constants.
    pub form: PaperForm,
    /// Failure probabilities.
    pub budget: BudgetP,
}

/// Certificate P: `(1/T) Σ L_S(W_t) ≤ 3 R_bar²/(ηT)`.
///
/// ```text
/// z = sqrt N + sqrt(2 log(2T/δ_Z))     V_Z = (T−1)N + 2 sqrt((T−1)N log(2/δ_Z)) + 2 log(2/δ_Z)
/// V_D = 2TG²/B + 8G² log(1/δ_D)        p = log(6/δ_P)
/// m_1 = 4 sqrt2 ηG sqrt(Tp/B) + 4(1−λ)ηc sqrt(Tp)     m_0 = 4(1−λ)η²cG sqrt(V_Z p/B)
/// a = τ² + (8/3)ηT L* + m_0 + 2η²V_D + ((1−λ)²η²c² + 12βλ²η³c²) V_Z
/// R_bar = (m_1 + sqrt(m_1² + 4a))/2    D = R_bar + ηcz
/// ```
///
/// Hypotheses: `η ≤ 1/(12β)`; `νD² ≤ 1/2` (8/13 in the tight form); `C_clip ≥ G`; `R_* ≥ R_bar + τ + ηcz`; batches of
/// fixed size. It holds except with probability `δ_Z + δ_D + δ_P`.
///
/// # Source
/// arXiv 2605.12648, Lemmas C.3 to C.11; the constants as in docs/theory/certificates.md, the errata E9, E13, E14 and
/// E17 applied.
///
/// # Errors
/// [`crate::BoundError::Unproven`] for Poisson batches; otherwise as [`super::theorem_s`].
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{
///     Anchor, BudgetP, CertificateP, Landscape, PaperForm, Training, certificate_p,
/// };
/// let certificate = certificate_p(&CertificateP {
///     landscape: Landscape { gradient: 0.7, curvature: 5e-4, smoothness: 0.13 },
///     parameters: 400_000,
///     comparator: Anchor { distance: 4.0, loss: 0.1 },
///     training: Training { noise: 2e-4, lambda: 0.9, ..Training::full_batch(0.5, 1500, 100_000) },
///     form: PaperForm::Verbatim,
///     budget: BudgetP::equal(3e-3),
/// })?;
/// assert!((certificate.bound.value.unwrap() - 0.978_629_449_597_017_3).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn certificate_p(arguments: &CertificateP) -> Result<Optimisation> {
    let CertificateP { landscape, parameters, comparator, training, form, budget } = *arguments;
    let numbers = training.checked()?;
    let (landscape, comparator) = (landscape.checked()?, comparator.checked()?);
    training.ensure_fixed_size("certificate P")?;
    let dimension = domain::count("parameters", parameters)?;
    let log_noise = -domain::open_probability("failure of the noise", budget.noise)?.ln();
    let log_batches = -domain::open_probability("failure of the batches", budget.batches)?.ln();
    let log_linear = -domain::open_probability("failure of the linear", budget.linear)?.ln();
    let (steps, batch) = (numbers.steps, numbers.batch);
    let (eta, c, lambda) = (training.step_size, training.noise, training.lambda);
    let (gradient, beta, tau) = (landscape.gradient, landscape.smoothness, comparator.distance);
    let tight = form == PaperForm::Tight;
    // What the batches add: nothing if they are full, which the paper's proof does not use.
    let batches_act = !(tight && training.is_full());
    let (mut z, mut noise_square) = (0.0, 0.0);
    if c > 0.0 {
        let log = 2.0_f64.ln() + log_noise;
        z = dimension.sqrt() + (2.0 * (log + steps.ln())).sqrt();
        let mean = (steps - 1.0) * dimension;
        noise_square = mean + 2.0 * (mean * log).sqrt() + 2.0 * log;
    }
    let (batch_factor, noise_factor, linear_log, local) = if tight {
        (2.0 * SQRT_2, 2.0 * SQRT_2, 3.0_f64.ln() + log_linear, 8.0 / 13.0)
    } else {
        (4.0 * SQRT_2, 4.0, 6.0_f64.ln() + log_linear, 0.5)
    };
    let lagged = (1.0 - lambda) * eta * c;
    let (mut batch_square, mut linear_batch, mut mixed) = (0.0, 0.0, 0.0);
    if batches_act {
        let drawn_apart = if tight && numbers.records > 1.0 {
            (numbers.records - batch) / (numbers.records - 1.0)
        } else {
            1.0
        };
        batch_square =
            gradient * gradient * (2.0 * steps / batch * drawn_apart + 8.0 * log_batches);
        linear_batch = batch_factor * eta * gradient * (steps * linear_log / batch).sqrt();
        mixed = noise_factor * lagged * eta * gradient * (noise_square * linear_log / batch).sqrt();
    }
    let linear = linear_batch + noise_factor * lagged * (steps * linear_log).sqrt();
    let stepped = eta * c * lambda;
    let noise_part = (lagged * lagged + 12.0 * beta * eta * stepped * stepped) * noise_square;
    let loss_part = 8.0 / 3.0 * eta * steps * comparator.loss;
    let batch_part = 2.0 * eta * eta * batch_square;
    let a = tau * tau + loss_part + mixed + batch_part + noise_part;
    let distance = (linear + (linear * linear + 4.0 * a).sqrt()) / 2.0;
    let reach = distance + eta * c * z;
    let scale = 3.0 / (eta * steps);
    let spread = landscape.curvature * reach * reach;
    ensure_representable(&[distance, reach, spread, distance * distance * scale])?;
    let radius = (distance + tau + eta * c * z).min(f64::MAX);
    let mut failure = budget.linear;
    if c > 0.0 || !tight {
        failure += budget.noise;
    }
    if batches_act {
        failure += budget.batches;
    }
    if tight && !batches_act && c == 0.0 {
        failure = 0.0;
    }
    let guarantee = Guarantee::of_failure(failure);
    let statement = if tight { "Theorem 4.1 in its tight form" } else { "Theorem 4.1" };
    let source = paper(statement, guarantee);
    let bound = Bound::upper_bound(TRAINING_RISK, distance * distance * scale, source)?
        .with_term("comparator 8 L*", loss_part * scale)
        .with_term("initialisation 3 tau^2/(eta T)", tau * tau * scale)
        .with_term("martingales 3 M/(eta T)", (mixed + linear * distance) * scale)
        .with_term("batches, square 6 eta V_D/T", batch_part * scale)
        .with_term("noise, square 3 (..) V_Z/T", noise_part * scale);
    let checks = [
        Some(step_check("eta <= 1/(12 beta)", &training, 1.0 / (12.0 * beta))),
        Some(Check::new("nu D^2, linearisation error", spread, Comparison::AtMost, local)),
        clipping_check(&training, &landscape),
        radius_check(&training, radius),
        failure_check(failure),
    ];
    let bound = with_checks(bound, checks.into_iter().flatten());
    Ok(Optimisation { bound, guarantee, distance, reach, radius, failure })
}
