//! Catoni's form, for parameters fixed before the data.

use super::RISK;
use super::kl_inverse::upper;
use crate::domain;
use crate::error::Result;
use crate::warrant::{Bound, Source, Warrant};

const SOURCE: Source = Source::new("Catoni 2007", "Theorem 1.2.6");

/// `(1 − e^{−(Cq + c′)})/(1 − e^{−C})` at complexity `c′` for one `C` fixed before the data.
///
/// `risk = q` in [0, 1], `complexity = c′ >= 0` (nats per record, **without** the `2 sqrt(n)` of the kl
/// form), `c > 0`.
///
/// # Source
/// Catoni (2007); docs/theory/pac-bayes.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let risk = dpbounds_bounds::pac_bayes::catoni::at_complexity(0.0, 0.08, 1.0)?;
/// assert!(risk.value.unwrap() < 0.122);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn at_complexity(risk: f64, complexity: f64, c: f64) -> Result<Bound> {
    let q = domain::probability("risk", risk)?;
    let complexity = domain::non_negative("complexity", complexity)?;
    let c = domain::positive("c", c)?;
    Bound::upper_bound(RISK, (-(c * q + complexity)).exp_m1() / (-c).exp_m1(), SOURCE)
}

/// Catoni's bound with a data-independent prior: [`at_complexity`] at `(KL + log(1/δ))/n`.
///
/// `risk` in [0, 1], `n` records in the empirical risk, `kl >= 0` (nats), `delta` in (0, 1), `c > 0`
/// fixed before the data.
///
/// # Source
/// Catoni (2007).
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// let risk = dpbounds_bounds::pac_bayes::catoni::catoni(0.0, 60_000, 5000.0, 0.05, 1.0)?;
/// assert!((risk.value.unwrap() / 0.126_560_542_740_879_34 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn catoni(risk: f64, n: u64, kl: f64, delta: f64, c: f64) -> Result<Bound> {
    at_complexity(risk, plain_complexity(n, kl, delta)?, c)
}

fn plain_complexity(n: u64, kl: f64, delta: f64) -> Result<f64> {
    let records = domain::count("n", n)?;
    let kl = domain::non_negative("kl", kl)?;
    Ok((kl - domain::open_probability("delta", delta)?.ln()) / records)
}

/// The infimum of [`catoni`] over `C`, equal to a kl inverse: a test identity and **no bound**, because
/// that `C` depends on the data. The warrant is `estimate`.
///
/// `risk` in [0, 1], `n` records, `kl >= 0` (nats), `delta` in (0, 1).
///
/// # Source
/// Germain et al. (2009); docs/theory/pac-bayes.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::{Warrant, pac_bayes::catoni};
/// let infimum = catoni::infimum(0.0, 60_000, 5000.0, 0.05)?;
/// assert_eq!(infimum.warrant, Warrant::Estimate);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn infimum(risk: f64, n: u64, kl: f64, delta: f64) -> Result<Bound> {
    let q = domain::probability("risk", risk)?;
    let value = upper(q, plain_complexity(n, kl, delta)?);
    let source = Source::new("Germain et al. 2009", "infimum over C: an identity, not a bound");
    let mut bound = Bound::upper_bound(RISK, value, source)?;
    bound.warrant = Warrant::Estimate;
    bound.upper = None;
    Ok(bound)
}

/// The parameters of [`over_grid`]: 16 values from 1/16 to 16, fixed once and for all.
pub const GRID: [f64; 16] =
    [0.0625, 0.125, 0.1875, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];

/// The best of the fixed [`GRID`]: a union bound adds `log 16` to the numerator of the complexity.
///
/// `risk` in [0, 1], `complexity = c′ >= 0` (nats per record, without the union bound), `n` records.
///
/// # Source
/// Catoni (2007) with a union bound; docs/theory/pac-bayes.md.
///
/// # Errors
/// [`crate::BoundError::OutOfRange`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::pac_bayes::{catoni, kl_inverse_upper};
/// let grid = catoni::over_grid(0.1, 0.02, 10_000)?;
/// assert!(grid.value >= kl_inverse_upper(0.1, 0.02)?.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn over_grid(risk: f64, complexity: f64, n: u64) -> Result<Bound> {
    let complexity = domain::non_negative("complexity", complexity)?;
    #[allow(clippy::cast_precision_loss)] // 16 values
    let penalised = complexity + (GRID.len() as f64).ln() / domain::count("n", n)?;
    let all: Result<Vec<_>> = GRID.iter().map(|&c| at_complexity(risk, penalised, c)).collect();
    let mut best = Bound::best_of(all?)?;
    best.alternatives.clear();
    best.source = Source::new("Catoni 2007", "fixed grid of 16 parameters, union bound");
    Ok(best)
}
