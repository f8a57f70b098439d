//! Upper bounds of an empirical Gibbs risk from independent draws.

use super::RISK;
use super::kl_inverse::upper;
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::solve::bracket_positive;
use crate::special::Binomial;
use crate::warrant::{Bound, Source, Warrant};

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

/// The warrant of a limit that fails with probability `delta`.
fn confidence(delta: f64) -> Warrant {
    Warrant::Confidence((1.0 - delta).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON))
}

/// Largest number of draws of the exact limit: its cost grows with the square root.
pub const MAX_EXACT_DRAWS: u64 = 10_000_000_000;

/// Clopper–Pearson upper limit: the `p` with `P(Bin(N, p) <= k) = δ′`.
///
/// `errors = k` among `draws = N` independent 0/1 draws (at most [`MAX_EXACT_DRAWS`]), failure
/// probability `delta = δ′` in (0, 1).
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
    if draws > MAX_EXACT_DRAWS {
        return Err(BoundError::OutOfRange {
            parameter: "draws",
            value: Shown(total),
            allowed: "an integer from 1 to 10000000000 for the Clopper-Pearson limit",
            remedy: "use the kl form for more draws",
        });
    }
    let source = Source::new("Clopper and Pearson 1934", "upper limit");
    let value = if errors == draws {
        1.0
    } else if errors == 0 {
        -(delta.ln() / total).exp_m1()
    } else {
        let target = delta.ln();
        let too_unlikely =
            |p: f64| p >= 1.0 || Binomial::new(total, p).log_lower_tail(wrong) <= target;
        bracket_positive(too_unlikely, wrong / total, 1.0).map_or(1.0, |bracket| bracket.above)
    };
    let mut bound = Bound::upper_bound(RISK, value, source)?;
    bound.upper = bound.upper.map(|side| side.min(1.0));
    bound.warrant = confidence(delta);
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
    bound.warrant = confidence(delta);
    Ok(bound)
}

#[cfg(test)]
mod tests {
    use statrs::function::beta::beta_reg;

    use super::*;

    #[test]
    fn the_exact_limit_solves_its_equation() {
        for (errors, draws, delta) in
            [(1, 10, 0.05), (30, 300, 1e-6), (999, 1000, 0.3), (20_000, 100_000, 0.01)]
        {
            let p = clopper_pearson(errors, draws, delta).unwrap().value.unwrap();
            let tail = beta_reg((draws - errors) as f64, errors as f64 + 1.0, 1.0 - p);
            assert!((tail / delta - 1.0).abs() < 1e-9, "{errors} {draws}: {tail}");
            assert!(p < langford(errors, draws, delta).unwrap().value.unwrap());
        }
    }

    #[test]
    fn a_billion_draws_stay_between_the_estimate_and_the_chernoff_limit() {
        for (errors, draws) in
            [(100, 1_000_000_000), (500_000_000, 1_000_000_000), (3, 10_000_000_000)]
        {
            let p = clopper_pearson(errors, draws, 0.05).unwrap().value.unwrap();
            let normal = {
                let q = errors as f64 / draws as f64;
                q + 1.6 * (q * (1.0 - q) / draws as f64).sqrt()
            };
            let chernoff = langford(errors, draws, 0.05).unwrap().value.unwrap();
            assert!(normal < p && p < chernoff, "{errors} {draws}: {normal} {p} {chernoff}");
        }
    }
}
