//! The largest norm of one record's participation.

use crate::domain;
use crate::error::{BoundError, Result};
use crate::solve::power_by_doubling;

/// `max ‖Cy‖` over participation patterns `y` with at most `participations` ones, `C_{tu} = λ^{t−u}`, attained by the first steps.
///
/// `lambda` in [0, 1), `steps = T >= participations >= 1`.
///
/// # Source
/// Ours; docs/theory/privacy.md (largest participation).
///
/// # Errors
/// [`BoundError::OutOfRange`] or [`BoundError::Conflict`] for arguments out of range.
///
/// # Examples
/// ```
/// let norm = dpbounds_bounds::privacy::participation_norm(0.5, 5, 2)?;
/// assert!((norm / 1.997_068_163_583_807_2 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn participation_norm(lambda: f64, steps: u64, participations: u64) -> Result<f64> {
    let lambda = domain::noise_correlation("lambda", lambda)?;
    let count = domain::count("participations", participations)?;
    let total = domain::count("steps", steps)?;
    if participations > steps {
        return Err(BoundError::Conflict {
            parameter: "participations",
            value: crate::error::Shown(count),
            other: "steps",
            other_value: crate::error::Shown(total),
            requirement: "a record joins each step at most once; lower participations",
        });
    }
    if lambda == 0.0 {
        return Ok(count.sqrt());
    }
    // Rows of Cy: geometric sums for the first `count` steps, then geometric decay.
    let one = Rows {
        count: 1.0,
        log: lambda.ln(),
        row: 1.0,
        weighted: lambda,
        powers: lambda * lambda,
        total: 1.0,
    };
    let rising = power_by_doubling(count, Rows::then, one);
    let after = total - count;
    let decay = if after == 0.0 { 0.0 } else { power_by_doubling(after, Rows::then, one).powers };
    Ok((rising.total + rising.row * rising.row * decay).sqrt())
}

/// A block of `t` participations: `t`, `log λ`, the last row `r_t = 1 + λ r_{t−1}`, `Σ λ^j r_j`, `Σ λ^{2j}` and `Σ r_j²`
/// over `j <= t`. All sums have positive terms.
#[derive(Clone, Copy)]
struct Rows {
    count: f64,
    log: f64,
    row: f64,
    weighted: f64,
    powers: f64,
    total: f64,
}

impl Rows {
    /// This block followed by another one: its rows are `r_j + λ^j r_t`.
    fn then(self, next: Self) -> Self {
        // Powers from the exponent: squaring them would double their error at every level.
        let power = |count: f64| (count * self.log).exp();
        let own = power(self.count);
        Self {
            count: self.count + next.count,
            log: self.log,
            row: next.row + power(next.count) * self.row,
            weighted: self.weighted + own * (next.weighted + self.row * next.powers),
            powers: self.powers + own * own * next.powers,
            total: self.total
                + next.total
                + 2.0 * self.row * next.weighted
                + self.row * self.row * next.powers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_matches_a_direct_sum() {
        for lambda in [0.1, 0.9, 0.999, 0.999_999] {
            for (steps, count) in [(1, 1), (50, 1), (400, 37), (3000, 3000)] {
                let (mut row, mut total) = (0.0, 0.0);
                for t in 0..steps {
                    row = lambda * row + if t < count { 1.0 } else { 0.0 };
                    total += row * row;
                }
                let value = participation_norm(lambda, steps, count).unwrap();
                let direct = f64::sqrt(total);
                assert!(
                    (value / direct - 1.0).abs() < 1e-11,
                    "{lambda} {steps} {count}: {value} {direct}"
                );
            }
        }
    }
}
