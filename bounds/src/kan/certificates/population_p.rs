//! Population certificate 5P: the paper's stability argument with every constant.

use std::f64::consts::E;

use super::expectation::statement;
use super::{
    Guarantee, Landscape, Optimisation, POPULATION_RISK, Training, ensure_representable, paper,
    step_check, with_checks, without_value,
};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::warrant::{Bound, Check, Comparison};

/// The arguments of [`population_p`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PopulationP<'a> {
    /// Certificate P (or D) for the *support*: constants and the largest loss of one and the same comparator over all
    /// of supp(P), so that it holds for every sample.
    pub optimisation: &'a Optimisation,
    /// The constants over the support.
    pub landscape: Landscape,
    /// The run, projected; nothing of it may depend on the sample.
    pub training: Training,
    /// F over the support, see [`super::largest_output`].
    pub output: f64,
    /// δ_mb in (0, 1): losses of the batches exceed those of the sample. Not used for full batches.
    pub batch_failure: f64,
}

/// Certificate 5P: `E (1/T) Σ_t L(W_t) ≤ E + G stab`, given `(c, W_0)`.
///
/// ```text
/// U = log(1 + e^F)      X = sqrt(2TU² log(1/δ_mb)/B) + (2/3) U log(1/δ_mb)   (0 for full batches)
/// E = A + U δ_opt       stab = (2eηG/n) T E + 2R_* (2δ_opt + 2δ_mb)
/// ```
///
/// Hypotheses: those of the optimisation certificate, for every sample of the support; `η ≤ 1/β`; `ν(2R_*)² ≤ 1`;
/// `2η(2ν)(TA + X) ≤ 1`; batches of fixed size.
///
/// # Source
/// arXiv 2605.12648, Lemmas C.15 to C.23; the constants as in docs/theory/certificates.md, the errata E6, E11 and E15
/// applied.
///
/// # Errors
/// [`BoundError::Unproven`] for Poisson batches or iterates that are not projected; [`BoundError`] for an argument out
/// of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{
///     Anchor, BudgetP, CertificateP, Landscape, PaperForm, PopulationP, Training, certificate_p, population_p,
/// };
/// let landscape = Landscape { gradient: 0.7, curvature: 1e-5, smoothness: 0.13 };
/// let training = Training { radius: Some(30.0), ..Training::full_batch(0.5, 1500, 100_000) };
/// let optimisation = certificate_p(&CertificateP {
///     landscape, parameters: 400_000, comparator: Anchor { distance: 4.0, loss: 0.02 }, training,
///     form: PaperForm::Tight, budget: BudgetP::equal(3e-3),
/// })?;
/// let risk = population_p(&PopulationP {
///     optimisation: &optimisation, landscape, training, output: 25.0, batch_failure: 1e-6,
/// })?;
/// assert!(risk.value > optimisation.bound.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn population_p(arguments: &PopulationP<'_>) -> Result<Bound> {
    let PopulationP { optimisation, landscape, training, output, batch_failure } = *arguments;
    let numbers = training.checked()?;
    let landscape = landscape.checked()?;
    training.ensure_fixed_size("population certificate 5P")?;
    let Some(radius) = training.radius else {
        return Err(BoundError::Unproven {
            request: "population certificate 5P without a projection".into(),
            why: "its stability argument stays within the projection radius R_*",
            nearest: "the projected algorithm, or Theorem S with 5S",
        });
    };
    let output = domain::non_negative("output", output)?;
    let name = format!("{} with C.15 to C.23", statement(optimisation));
    let source = paper(&name, Guarantee::PopulationExpectation);
    let (Some(path), Some(path_upper)) = (optimisation.bound.value, optimisation.bound.upper)
    else {
        return Ok(without_value(POPULATION_RISK, source, optimisation));
    };
    let largest_loss = output + libm::log1p(libm::exp(-output));
    let (mut excess, mut missed) = (0.0, 0.0);
    if !training.is_full() {
        let log = -domain::open_probability("batch_failure", batch_failure)?.ln();
        let spread = largest_loss * (2.0 * numbers.steps * log / numbers.batch).sqrt();
        excess = spread + 2.0 / 3.0 * largest_loss * log;
        missed = batch_failure;
    }
    let (eta, gradient, nu) = (training.step_size, landscape.gradient, landscape.curvature);
    let losses = numbers.steps * path_upper + excess;
    let bad = largest_loss * optimisation.failure;
    let expected = path + bad;
    let pushes = 2.0 * E * eta * gradient / numbers.records * numbers.steps * expected;
    let rare = 2.0 * radius * (2.0 * optimisation.failure + 2.0 * missed);
    let (stable, fall) = (gradient * pushes, gradient * rare);
    let (spread, growth) = (nu * (2.0 * radius).powi(2), 4.0 * eta * nu * losses);
    ensure_representable(&[losses, stable, fall, bad, spread, growth])?;
    let bound = Bound::upper_bound(POPULATION_RISK, expected + stable + fall, source)?
        .with_term("risk along the training", path)
        .with_term("bad event U delta_opt", bad)
        .with_term("stability G (2 e eta G/n) T E", stable)
        .with_term("stability, rare events", fall);
    let mut checks = optimisation.bound.checks.clone();
    checks.extend([
        step_check("stability: eta <= 1/beta", &training, 1.0 / landscape.smoothness),
        Check::new("nu (2 R_*)^2", spread, Comparison::AtMost, 1.0),
        Check::new("growth 2 eta (2 nu) (T A + X)", growth, Comparison::AtMost, 1.0),
    ]);
    Ok(with_checks(bound, checks))
}
