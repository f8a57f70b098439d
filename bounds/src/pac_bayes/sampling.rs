//! Upper bounds of an empirical Gibbs risk from independent draws.

use statrs::function::beta::beta_reg;

use super::RISK;
use super::kl_inverse::upper;
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::solve::bracket_positive;
use crate::warrant::{Bound, Source};

fn arguments(errors: u64, draws: u64, delta: f64) -> Result<(f64, f64, f64)> {
    let total = domain::count("draws", draws)?;
    let delta = domain::open_probability("delta", delta)?;
    #[allow(clippy::cast_precision_loss)] // at most `draws`
    let wrong = errors as f64;
    if errors > draws {
        return Err(BoundError::Conflict {
            parameter: "errors",
            value: Shown(wrong),
            other: "draws",
            other_value: Shown(total),
            requirement: "there are at most as many errors as draws",
        });
    }
    Ok((wrong, total, delta))
}

/// Clopper–Pearson upper limit: the `p` with `P(Bin(N, p) <= k) = δ′`.
///
/// `errors = k` among `draws = N` independent 0/1 draws, failure probability `delta = δ′` in (0, 1).
///
/// # Source
/// Clopper and Pearson (1934).
///
/// # Errors
/// [`BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// let p = dpbounds_bounds::pac_bayes::sampling::clopper_pearson(0, 1000, 0.01)?;
/// assert!((p.value.unwrap() / 0.004_594_582_648_473_037 - 1.0).abs() < 1e-14);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn clopper_pearson(errors: u64, draws: u64, delta: f64) -> Result<Bound> {
    let (wrong, total, delta) = arguments(errors, draws, delta)?;
    let source = Source::new("Clopper and Pearson 1934", "upper limit");
    let value = if errors == draws {
        1.0
    } else if errors == 0 {
        -(delta.ln() / total).exp_m1()
    } else {
        // P(Bin <= k) = I_{1−p}(N−k, k+1) = 1 − I_p(k+1, N−k), taken on the side that is small.
        let low = wrong / total;
        let exceeded = |p: f64| {
            if p >= 1.0 {
                return true;
            }
            beta_reg(total - wrong, wrong + 1.0, 1.0 - p) <= delta
        };
        bracket_positive(exceeded, low, 1.0).map_or(1.0, |bracket| bracket.above)
    };
    let mut bound = Bound::upper_bound(RISK, value, source)?;
    bound.upper = bound.upper.map(|side| side.min(1.0));
    Ok(bound)
}

/// kl inverse of `log(1/δ′)/N` at `k/N`: also valid for draws in [0, 1].
///
/// `errors = k` among `draws = N` independent draws, failure probability `delta = δ′` in (0, 1).
///
/// # Source
/// Langford (2005), relative-entropy Chernoff bound.
///
/// # Errors
/// [`BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// let p = dpbounds_bounds::pac_bayes::sampling::langford(1, 10, 1e-12)?;
/// assert!((p.value.unwrap() / 0.967_536_857_136_334_7 - 1.0).abs() < 1e-13);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn langford(errors: u64, draws: u64, delta: f64) -> Result<Bound> {
    let (wrong, total, delta) = arguments(errors, draws, delta)?;
    let value = upper(wrong / total, -delta.ln() / total);
    let mut bound = Bound::upper_bound(RISK, value, Source::new("Langford 2005", "kl Chernoff"))?;
    bound.upper = bound.upper.map(|side| side.min(1.0));
    Ok(bound)
}
