//! The step-size condition and the width window, in order form.

use super::{Checked, Run, a_corr, paper};
use crate::domain;
use crate::error::Result;
use crate::warrant::{Bound, Check, Comparison, Quantity};

const CONDITION: Quantity = Quantity { name: "step_size_condition", unit: "order of magnitude" };
const WIDTH: Quantity = Quantity { name: "width", unit: "order of magnitude" };

fn condition_parts(r: Checked) -> (f64, f64) {
    let linear = r.eta
        * r.gamma
        * r.steps.sqrt()
        * (1.0 / r.batch.sqrt() + r.kappa * (1.0 - r.lambda) / r.batch);
    (linear, r.eta * r.eta * r.gamma * r.gamma * (r.steps / r.batch + 1.0))
}

fn lower_width(r: Checked) -> f64 {
    r.gamma.powi(-4)
}

/// `B²/(η²κ²γ²d)·min{1, 1/(T((1−λ)²+λ²η))}`; infinite without noise.
fn upper_width(r: Checked) -> f64 {
    let scale = r.batch / (r.eta * r.kappa * r.gamma);
    scale * scale / r.dimension / (r.steps * r.noise_factor()).max(1.0)
}

/// Adds the hypotheses of the theorems, compared with constant 1.
pub(super) fn with_window_checks(rate: Bound, r: Checked) -> Bound {
    let (linear, square) = condition_parts(r);
    let upper = upper_width(r);
    let rate = rate
        .with_check(Check::new(
            "step size: eta gamma sqrt(T) (1/sqrt(B) + kappa(1-lambda)/B) + eta^2 gamma^2 (T/B + 1) <~ 1",
            linear + square,
            Comparison::AtMost,
            1.0,
        ))
        .with_check(Check::new("width >~ gamma^-4", r.width, Comparison::AtLeast, lower_width(r)));
    if upper.is_finite() {
        rate.with_check(Check::new(
            "width <~ B^2/(eta^2 kappa^2 gamma^2 d) min{1, 1/(T((1-lambda)^2 + lambda^2 eta))}",
            r.width,
            Comparison::AtMost,
            upper,
        ))
    } else {
        rate
    }
}

/// The left side of the step-size condition: `ηγ sqrt(T)(1/sqrt(B) + κ(1−λ)/B) + η²γ²(T/B + 1)`, to be at most of order 1.
///
/// # Source
/// arXiv 2605.12648, Theorem 4.1.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Run, step_size_condition};
/// let run = Run {
///     gamma: 0.1, step_size: 0.1, steps: 100, batch: 100, width: 100_000, dimension: 10,
///     kappa: 1.0, lambda: 0.5, n: 10_000, delta: 1e-5,
/// };
/// assert!(step_size_condition(&run)?.checks[0].holds);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn step_size_condition(run: &Run) -> Result<Bound> {
    let r = Checked::new(run)?;
    let (linear, square) = condition_parts(r);
    let rate = Bound::rate(CONDITION, linear + square, paper("Theorem 4.1, step-size condition"))?
        .with_term("eta gamma sqrt(T) (1/sqrt(B) + kappa(1-lambda)/B)", linear)
        .with_term("eta^2 gamma^2 (T/B + 1)", square);
    Ok(with_window_checks(rate, r))
}

/// The upper end of the width window; its lower end `γ⁻⁴` is the first alternative.
///
/// # Source
/// arXiv 2605.12648, Theorem 4.1.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Run, width_window};
/// let run = Run {
///     gamma: 0.5, step_size: 0.1, steps: 100, batch: 100, width: 100, dimension: 10,
///     kappa: 0.0, lambda: 0.5, n: 10_000, delta: 1e-5,
/// };
/// let window = width_window(&run)?; // without noise there is no upper end
/// assert!(window.value.is_none() && window.alternatives[0].value == Some(16.0));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn width_window(run: &Run) -> Result<Bound> {
    let r = Checked::new(run)?;
    let source = paper("Theorem 4.1, width window, upper end");
    let upper = upper_width(r);
    let mut window = if upper.is_finite() {
        Bound::rate(WIDTH, upper, source)?
    } else {
        let mut open = Bound::refused(WIDTH, source, "without noise the width has no upper end");
        open.warrant = crate::warrant::Warrant::Rate;
        open
    };
    window = with_window_checks(window, r);
    let lower = Bound::rate(WIDTH, lower_width(r), paper("Theorem 4.1, width window, lower end"))?;
    window.alternatives.push(lower.into());
    Ok(window)
}

/// The extra width of the population theorem:
/// `log(m/δ) η² (T A + (log(n/δ) + R)(sqrt(T log(1/δ)/B) + log(1/δ)))²` with `A` = A_corr and the radius `R`.
///
/// The printed factor `R²` in front is superfluous (docs/errata.md, E10) and left out; the printed
/// form is the alternative. `radius = R_* > 0`, of order `1/γ`.
///
/// # Source
/// arXiv 2605.12648, Theorem 5.2, corrected.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Run, population_width};
/// let run = Run {
///     gamma: 0.5, step_size: 0.1, steps: 100, batch: 100, width: 100, dimension: 10,
///     kappa: 1.0, lambda: 0.5, n: 10_000, delta: 1e-5,
/// };
/// let width = population_width(&run, 2.0)?;
/// assert!(width.alternatives[0].value > width.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn population_width(run: &Run, radius: f64) -> Result<Bound> {
    let r = Checked::new(run)?;
    let radius = domain::positive("radius", radius)?;
    let risk = a_corr(run)?.value.unwrap_or(f64::INFINITY);
    let l1 = -r.delta.ln();
    let sums =
        r.steps * risk + ((r.n / r.delta).ln() + radius) * ((r.steps * l1 / r.batch).sqrt() + l1);
    let value = (r.width / r.delta).ln() * (r.eta * sums).powi(2);
    let printed =
        Bound::rate(WIDTH, value * radius * radius, paper("Theorem 5.2, extra width as printed"))?;
    let mut width = Bound::rate(WIDTH, value, paper("Theorem 5.2, extra width, without R_*^2"))?
        .with_check(Check::new("width >~ extra width", r.width, Comparison::AtLeast, value));
    width.alternatives.push(printed.into());
    Ok(width)
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn a_failed_order_check_is_reported_and_keeps_the_rate() {
        let rate = a_corr(&Run { width: 2, ..example() }).unwrap();
        assert!(rate.value.is_some());
        assert!(rate.checks.iter().any(|check| !check.holds));
    }
}
