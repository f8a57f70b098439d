//! The two closed-form noise calibrations of arXiv 2605.12648: one with a domain, one false as printed.

use super::{Relation, Sampler};
use crate::domain;
use crate::error::Result;
use crate::warrant::{Bound, Check, Comparison, Quantity, Source, Warrant};

pub(crate) const KAPPA: Quantity = Quantity { name: "kappa", unit: "clipping norm, on the sum" };
/// The unproved number of Theorem D.9.
const CLAIMED_KAPPA: Quantity =
    Quantity { name: "claimed_kappa", unit: "clipping norm, on the sum" };

const F12: Source = Source::new("arXiv 2605.12648", "Theorem F.12");
const D9: Source =
    Source::new("arXiv 2605.12648", "Theorem D.9 (false as printed, docs/errata.md E2)");

/// The checked arguments shared by both formulas.
#[derive(Clone, Copy)]
struct Run {
    rate: f64,
    steps: f64,
    epsilon: f64,
    delta: f64,
}

impl Run {
    fn new(n: u64, batch: u64, steps: u64, epsilon: f64, delta: f64) -> Result<Self> {
        Ok(Self {
            rate: domain::batch_of("batch", batch, "n", n)?,
            steps: domain::count("steps", steps)?,
            epsilon: domain::positive("epsilon", epsilon)?,
            delta: domain::open_probability("delta", delta)?,
        })
    }
}

/// `(1 − λ^T)/(1 − λ)`.
fn geometric_sum(lambda: f64, steps: f64) -> f64 {
    if lambda == 0.0 {
        return 1.0;
    }
    -(steps * lambda.ln()).exp_m1() / (1.0 - lambda)
}

/// Theorem F.12: `κ² = 8A²(rT + sqrt(3rT log(2/δ))) log(2.5/δ)/ε²`, `A = (1−λ^T)/(1−λ)`, `r = B/n`.
///
/// Proven for `ε, δ` in (0, 1] and `rT >= 3 log(2/δ)`; the hypotheses are in `checks` and outside them
/// there is no value. It holds for every sampler and relation of sensitivity at most 2 in which the
/// participation of a record is independent over steps (Poisson, fixed-size, full).
///
/// `n` records, `batch = B <= n`, `steps = T`, `epsilon > 0` (nats), `delta` in (0, 1), noise
/// correlation `lambda` in [0, 1).
///
/// # Source
/// arXiv 2605.12648, Theorem F.12; what survives of its proof is in docs/theory/privacy.md.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range or a batch larger than the data.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::closed_form;
/// let kappa = closed_form::f12(1_000_000, 1_000_000, 581, 1.0, 1e-6, 0.5)?;
/// assert!((kappa.value.unwrap() / 590.643_975_766_492_1 - 1.0).abs() < 1e-13);
/// assert!(closed_form::f12(10_000, 100, 100, 0.5, 1e-5, 0.0)?.value.is_none()); // rT = 1 is too small
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn f12(n: u64, batch: u64, steps: u64, epsilon: f64, delta: f64, lambda: f64) -> Result<Bound> {
    let value = f12_formula(n, batch, steps, epsilon, delta, lambda)?;
    let run = Run::new(n, batch, steps, epsilon, delta)?;
    let participations = run.rate * run.steps;
    Ok(Bound::upper_bound(KAPPA, value, F12)?
        .with_check(Check::new("epsilon <= 1", epsilon, Comparison::AtMost, 1.0))
        .with_check(Check::new("delta <= 1", delta, Comparison::AtMost, 1.0))
        .with_check(Check::new(
            "steps * batch / n >= 3 log(2/delta)",
            participations,
            Comparison::AtLeast,
            3.0 * (2f64.ln() - run.delta.ln()),
        )))
}

/// The formula of Theorem F.12 without its hypotheses: for audits, not a guarantee.
///
/// Arguments as in [`f12`].
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range or a batch larger than the data.
///
/// # Examples
/// ```
/// let kappa = dpbounds_bounds::privacy::closed_form::f12_formula(10_000, 100, 1000, 1.0, 1e-5, 0.0)?;
/// assert!((kappa / 53.824_621_967_041_914 - 1.0).abs() < 1e-13);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn f12_formula(
    n: u64,
    batch: u64,
    steps: u64,
    epsilon: f64,
    delta: f64,
    lambda: f64,
) -> Result<f64> {
    let run = Run::new(n, batch, steps, epsilon, delta)?;
    let lambda = domain::noise_correlation("lambda", lambda)?;
    let participations = run.rate * run.steps;
    let worst = participations + (3.0 * participations * (2f64.ln() - run.delta.ln())).sqrt();
    let root = (8.0 * worst * (2.5f64.ln() - run.delta.ln())).sqrt();
    Ok(geometric_sum(lambda, run.steps) * root / run.epsilon)
}

/// Theorem D.9: `κ² = 16B²T/(n²ε) + 32B²T log(1/δ)/(n²ε²)`. **False as printed**: the answer is an
/// estimate whose check fails, to be audited, never a guarantee.
///
/// `n` records, `batch = B <= n`, `steps = T`, `epsilon > 0` (nats), `delta` in (0, 1). Stated for
/// fixed-size batches, replace-one, independent noise.
///
/// # Source
/// arXiv 2605.12648, Theorem D.9 (= Theorem 5.4); counterexamples in docs/errata.md, E2.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range or a batch larger than the data.
///
/// # Examples
/// ```
/// use dpbounds_bounds::{Warrant, privacy::closed_form};
/// let claim = closed_form::d9_claim(10_000, 100, 100, 0.5, 1e-5)?;
/// assert_eq!(claim.warrant, Warrant::Estimate);
/// assert!(!claim.checks[0].holds);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn d9_claim(n: u64, batch: u64, steps: u64, epsilon: f64, delta: f64) -> Result<Bound> {
    let value = d9_formula(n, batch, steps, epsilon, delta)?;
    let mut claim = Bound::upper_bound(CLAIMED_KAPPA, value, D9)?;
    claim.warrant = Warrant::Estimate;
    claim.upper = None;
    Ok(claim.with_check(Check::new(
        "settings audited without a violation (41 of 100 violate)",
        59.0,
        Comparison::AtLeast,
        100.0,
    )))
}

/// The number that Theorem D.9 prints: for audits, not a guarantee.
///
/// Arguments as in [`d9_claim`].
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range or a batch larger than the data.
///
/// # Examples
/// ```
/// let kappa = dpbounds_bounds::privacy::closed_form::d9_formula(10_000, 100, 100, 0.5, 1e-5)?;
/// assert!((kappa * kappa / 15.056_544_595_161_894 - 1.0).abs() < 1e-13);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn d9_formula(n: u64, batch: u64, steps: u64, epsilon: f64, delta: f64) -> Result<f64> {
    let Run { rate, steps, epsilon, delta } = Run::new(n, batch, steps, epsilon, delta)?;
    let scale = rate * steps.sqrt();
    Ok(scale * (16.0 / epsilon + 32.0 * (-delta.ln()) / (epsilon * epsilon)).sqrt())
}

/// Whether Theorem F.12 covers the pair: every row with independent participation.
pub(crate) fn covers(sampler: Sampler, _relation: Relation) -> bool {
    sampler != Sampler::Stream
}
