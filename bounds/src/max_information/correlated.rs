//! Streaming DP-SGD with correlated noise `σζ(Z_t − λZ_{t−1})`, one participation (ours).
//!
//! Setting of [`super::streaming`] with `C_{tu} = λ^{t−u}` in front of the release. Statement, proof
//! and the evaluation of the determinant: docs/theory/max-information.md.

use super::gaussian::range_end;
use super::search::{Conversion, search};
use super::streaming::{self, eq10, eq10_hs};
use super::{FailureLevel, MAX_INFORMATION, ours};
use crate::domain;
use crate::error::{BoundError, Result, Shown};
use crate::solve::{bracket_positive, power_by_doubling};
use crate::warrant::Bound;

/// Up to this many steps the determinant is the product of its pivots; beyond, a closed form.
const PIVOTS_UP_TO: f64 = 65_536.0;
/// The closed form loses digits where the correlation is nearer to 1 than this.
const CLOSED_FORM_UP_TO: f64 = 0.999;
/// Beyond the unit circle only the pivots are available.
const MAX_EXPANDING_STEPS: f64 = 1e5;

/// The checked pair `(|λ|, T)`; the sign of λ does not matter.
#[derive(Clone, Copy)]
struct Noise {
    size: f64,
    steps: f64,
}

impl Noise {
    fn new(lambda: f64, steps: u64) -> Result<Self> {
        let size = domain::finite("lambda", lambda)?.abs();
        let steps = domain::count("steps", steps)?;
        if size > 1.0 && steps > MAX_EXPANDING_STEPS {
            return Err(BoundError::Conflict {
                parameter: "steps",
                value: Shown(steps),
                other: "lambda",
                other_value: Shown(lambda),
                requirement: "for |lambda| > 1 at most 100000 steps can be evaluated; use |lambda| <= 1",
            });
        }
        if size > CLOSED_FORM_UP_TO && size <= 1.0 && steps > PIVOTS_UP_TO {
            return Err(BoundError::Conflict {
                parameter: "steps",
                value: Shown(steps),
                other: "lambda",
                other_value: Shown(lambda),
                requirement: "for |lambda| above 0.999 at most 65536 steps can be evaluated to full accuracy; lower either",
            });
        }
        Ok(Self { size, steps })
    }

    /// `|C|_F² = Σ_{k<T} (T−k) λ^{2k}`, by doubling: sums of positive terms only.
    fn frobenius_squared(self) -> f64 {
        let square = self.size * self.size;
        if square == 0.0 {
            return self.steps;
        }
        power_by_doubling(
            self.steps,
            |a: Rows, b: Rows| a.then(b),
            Rows { count: 1.0, log: square.ln(), row: 1.0, powers: square, total: 1.0 },
        )
        .total
    }

    fn pivots(self, a: f64) -> Option<f64> {
        let square = self.size * self.size;
        let (mut sum, mut pivot, mut left) = (0.0, a, self.steps);
        while left > 0.0 {
            if !(pivot < 1.0) {
                return None;
            }
            let next = a + square * pivot / (1.0 - pivot);
            if next == pivot {
                return Some(sum + left * (-pivot).ln_1p());
            }
            sum += (-pivot).ln_1p();
            pivot = next;
            left -= 1.0;
        }
        Some(sum)
    }

    /// `log det(I − a CᵀC)`, or `None` where the matrix is not positive definite.
    fn log_det(self, a: f64) -> Option<f64> {
        let Self { size, steps } = self;
        if steps <= PIVOTS_UP_TO || size > 1.0 || size == 0.0 {
            return self.pivots(a);
        }
        let critical = (1.0 - size) * (1.0 - size);
        let closed = if a < critical {
            self.real_roots(a, critical)
        } else {
            self.complex_roots(a, critical)?
        };
        // log det is concave in a with slope −|C|_F² at 0: no rounding may lift it above that line.
        Some(closed.min(-a * self.frobenius_squared()))
    }

    /// `log D_T` where the recurrence of the pivots' product has two real roots, `a < (1−|λ|)²`.
    fn real_roots(self, a: f64, critical: f64) -> f64 {
        let Self { size, steps } = self;
        let square = size * size;
        let root = ((critical - a) * ((1.0 + size) * (1.0 + size) - a)).sqrt();
        let w = 2.0 * a / ((1.0 + a - square) + root);
        let large = 1.0 - w;
        let small = square / large;
        let theta = 2.0 * ((critical - a) / (4.0 * size)).sqrt().asinh(); // large/small = e^{2θ}
        let first = steps * (-w).ln_1p();
        // What rounding can hide where the two parts cancel; lowering the determinant is safe.
        let hidden = 4.0 * f64::EPSILON * first;
        if theta * steps < 1e-7 {
            return self.double_root();
        }
        let lost = -(-2.0 * steps * theta).exp_m1(); // 1 − (small/large)^T
        if theta < 1e-4 {
            let sum = (1.0 - size) * lost + theta.exp_m1() - (1.0 - lost) * (-theta).exp_m1();
            return first + hidden + (sum / (2.0 * theta.sinh())).ln();
        }
        first + hidden + (square * w * lost / (large * (large - small))).ln_1p()
    }

    /// `log D_T = log(|λ|^T (1 + T(1−|λ|)))` at the double root, lowered by what rounding can hide.
    fn double_root(self) -> f64 {
        let first = self.steps * self.size.ln();
        let hidden = 8.0 * f64::EPSILON * (1.0 - first);
        first + (self.steps * (1.0 - self.size)).ln_1p() - hidden
    }

    /// `log D_T` where the roots are complex, `a >= (1−|λ|)²`; `None` once a pivot is not positive.
    fn complex_roots(self, a: f64, critical: f64) -> Option<f64> {
        let Self { size, steps } = self;
        let half_sine = ((a - critical) / (4.0 * size)).sqrt(); // sin(θ/2)
        let angle = 2.0 * half_sine.min(1.0).asin();
        if angle * steps < 1e-7 {
            return Some(self.double_root());
        }
        let (sine, cosine) = angle.sin_cos();
        let phase = sine.atan2(cosine - size);
        let total = steps * angle + phase;
        if total >= std::f64::consts::PI {
            return None;
        }
        let radius = (cosine - size).hypot(sine);
        let first = steps * size.ln();
        // Lowered by what rounding can hide; a smaller determinant is safe.
        let hidden = 8.0 * f64::EPSILON * (1.0 - first);
        Some(first + (radius * total.sin() / sine).ln() - hidden)
    }

    /// The largest `a` found with `I − a CᵀC` positive definite, from below.
    fn largest_feasible(self, frobenius: f64) -> Option<f64> {
        // |C|_op² <= |C|_F², so 1/|C|_F² is feasible; |C|_op >= 1, so 1 is not.
        let low = (1.0 - 1e-9) / frobenius;
        bracket_positive(|a| self.log_det(a).is_none(), low, 1.0)
            .filter(|bracket| self.log_det(bracket.below).is_some())
            .map(|bracket| bracket.below)
    }
}

/// A block of `t` rows of `C`: `t`, `log λ²`, the last row's squared norm, `Σ_{j<=t} λ^{2j}`, and the total.
#[derive(Clone, Copy)]
struct Rows {
    count: f64,
    log: f64,
    row: f64,
    powers: f64,
    total: f64,
}

impl Rows {
    /// This block followed by another one.
    fn then(self, next: Self) -> Self {
        // Powers from the exponent: squaring them would double their error at every level.
        let power = |count: f64| (count * self.log).exp();
        Self {
            count: self.count + next.count,
            log: self.log,
            row: next.row + power(next.count) * self.row,
            powers: self.powers + power(self.count) * next.powers,
            total: self.total + next.total + self.row * next.powers,
        }
    }
}

/// `|C|_F² = Σ_{k<T} (T−k) λ^{2k}` for `C_{tu} = λ^{t−u}`, `t >= u`.
///
/// `lambda` any finite number (for |lambda| > 1 at most 1e5 steps), `steps = T` (1 to 2^53).
///
/// # Source
/// Ours; docs/theory/max-information.md (correlated noise).
///
/// # Errors
/// [`BoundError::OutOfRange`] or [`BoundError::Conflict`] for arguments out of range.
///
/// # Examples
/// ```
/// let f = dpbounds_bounds::max_information::correlated::frobenius_squared(0.0, 10)?;
/// assert_eq!(f.value, Some(10.0));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn frobenius_squared(lambda: f64, steps: u64) -> Result<Bound> {
    const SQUARE: crate::warrant::Quantity =
        crate::warrant::Quantity { name: "frobenius_norm_squared", unit: "1" };
    let value = Noise::new(lambda, steps)?.frobenius_squared();
    Bound::exact(SQUARE, value, ours("|C|_F^2 of the noise correlation (docs/theory)"))
}

/// `log det(I − a CᵀC)` for `C_{tu} = λ^{t−u}`; no value where the matrix is not positive definite. Beyond
/// 65536 steps the value is a lower bound.
///
/// `lambda` any finite number (for |lambda| > 1 at most 1e5 steps), `steps = T` (1 to 2^53), `a >= 0`.
///
/// # Source
/// Ours; docs/theory/max-information.md (correlated noise, evaluation).
///
/// # Errors
/// [`BoundError::OutOfRange`] or [`BoundError::Conflict`] for arguments out of range.
///
/// # Examples
/// ```
/// let d = dpbounds_bounds::max_information::correlated::log_det(-0.5, 4, 0.01)?;
/// assert!((d.value.unwrap() / -0.049_339_667_118_527_28 - 1.0).abs() < 1e-13);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn log_det(lambda: f64, steps: u64, a: f64) -> Result<Bound> {
    const LOG_DET: crate::warrant::Quantity =
        crate::warrant::Quantity { name: "log_determinant", unit: "nats" };
    let source = ours("log det(I - a C^T C) (docs/theory)");
    let noise = Noise::new(lambda, steps)?;
    match noise.log_det(domain::non_negative("a", a)?) {
        Some(value) if noise.steps <= PIVOTS_UP_TO => Bound::exact(LOG_DET, value, source),
        Some(value) => Bound::lower_bound(LOG_DET, value, source),
        None => Ok(Bound::refused(
            LOG_DET,
            source,
            format!("I - a C^T C is not positive definite at a = {}; lower a", Shown(a)),
        )),
    }
}

fn evaluate(
    nu: f64,
    steps: u64,
    lambda: f64,
    level: FailureLevel,
    how: Conversion,
) -> Result<Bound> {
    let nu = domain::non_negative("nu", nu)?;
    let noise = Noise::new(lambda, steps)?;
    let source = match how {
        Conversion::Tail => ours("correlated streaming bound (docs/theory/max-information.md)"),
        Conversion::HockeyStick => ours("correlated streaming bound with hockey-stick conversion"),
    };
    if nu == 0.0 {
        let exact = match how {
            Conversion::Tail => 0.0,
            Conversion::HockeyStick => level.log_complement(),
        };
        return Bound::upper_bound(MAX_INFORMATION, exact, source);
    }
    let frobenius = noise.frobenius_squared();
    let largest = if frobenius < 1e290 { noise.largest_feasible(frobenius) } else { None };
    let Some(largest) = largest else {
        return Ok(Bound::refused(
            MAX_INFORMATION,
            source,
            "the noise correlation matrix is too large to evaluate; lower |lambda| or steps",
        ));
    };
    let at = |logit: f64| {
        let a = largest / (1.0 + (-logit).exp());
        let log_det = noise.log_det(a).unwrap_or(f64::NEG_INFINITY);
        (range_end(4.0 * nu / a), level.log_inverse() - log_det / 2.0)
    };
    let found = search(at, how, -60.0, 35.0)?;
    let mean = 2.0 * nu * frobenius;
    Ok(found
        .plus(mean)
        .bound(source)?
        .with_term("2 nu |C|_F^2", mean)
        .with_term("inf over s", found.value))
}

/// `2ν|C|_F² + inf_s (1/s)[log(1/β) − ½ log det(I − 4ν(s+s²)CᵀC)]` over `4ν(s+s²)|C|_op² < 1`.
///
/// `nu = m/(4σ²) >= 0` with `σ` relative to the clipping norm on the sum, `steps = T`, noise
/// correlation `lambda` (any finite number; for |lambda| > 1 at most 1e5 steps), failure level `β`.
/// `lambda = 0` is eq. (10).
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (correlated noise).
///
/// # Errors
/// [`BoundError::OutOfRange`] or [`BoundError::Conflict`] for arguments out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, correlated};
/// let bound = correlated::bound(1.0, 1, 0.7, FailureLevel::from_beta(0.05)?)?;
/// assert!((bound.value.unwrap() / 23.854_219_709_848_385 - 1.0).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn bound(nu: f64, steps: u64, lambda: f64, level: FailureLevel) -> Result<Bound> {
    evaluate(nu, steps, lambda, level, Conversion::Tail)
}

/// [`bound`] with the hockey-stick conversion. Never larger.
///
/// Arguments as in [`bound`].
///
/// # Source
/// Ours; proof in docs/theory/max-information.md (correlated noise, HS conversion).
///
/// # Errors
/// [`BoundError::OutOfRange`] or [`BoundError::Conflict`] for arguments out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, correlated};
/// let level = FailureLevel::from_beta(0.05)?;
/// let plain = correlated::bound(0.1, 10, 0.5, level)?;
/// assert!(correlated::bound_hs(0.1, 10, 0.5, level)?.value < plain.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn bound_hs(nu: f64, steps: u64, lambda: f64, level: FailureLevel) -> Result<Bound> {
    evaluate(nu, steps, lambda, level, Conversion::HockeyStick)
}

/// The smallest bound for streaming DP-SGD with correlated noise; the others are alternatives.
///
/// `batch = m` records, `steps = T`, `sigma > 0` relative to the clipping norm on the sum, noise
/// correlation `lambda`, failure level `β`.
///
/// # Errors
/// [`BoundError::OutOfRange`] or [`BoundError::Conflict`] for arguments out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::max_information::{FailureLevel, correlated};
/// let best = correlated::best(250, 240, 10.0, 0.3, FailureLevel::from_beta(0.025)?)?;
/// assert!(best.value.unwrap() < 783.5);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn best(batch: u64, steps: u64, sigma: f64, lambda: f64, level: FailureLevel) -> Result<Bound> {
    let nu = streaming::nu(batch, sigma)?;
    let mut bounds = vec![bound_hs(nu, steps, lambda, level)?, bound(nu, steps, lambda, level)?];
    if lambda == 0.0 {
        bounds.extend([eq10_hs(nu, steps, level)?, eq10(nu, steps, level)?]);
    }
    Bound::best_of(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(size: f64, steps: f64) -> Noise {
        Noise { size, steps }
    }

    #[test]
    fn closed_forms_meet_the_pivots_on_every_branch() {
        for size in [0.2, 0.9, 0.999, 1.0] {
            for steps in [2000.0, 5000.0, 40_000.0] {
                let noise = noise(size, steps);
                let critical = (1.0 - size) * (1.0 - size);
                let near = (2.0 / steps).powi(2);
                for a in [
                    critical * 0.3,
                    critical * 0.999,
                    critical * (1.0 - 1e-9),
                    critical,
                    critical + near * size * 0.3,
                    1e-9,
                ] {
                    let closed = if a < critical {
                        Some(noise.real_roots(a, critical))
                    } else {
                        noise.complex_roots(a, critical)
                    };
                    let pivots = noise.pivots(a);
                    let (Some(closed), Some(pivots)) = (closed, pivots) else {
                        assert_eq!(closed, pivots, "{size} {steps} {a}");
                        continue;
                    };
                    assert!(
                        // The closed forms are lowered by a few rounding units of 1 on purpose.
                        (closed - pivots).abs()
                            <= 1e-10 * pivots.abs() + 1e-14 * (1.0 - steps * size.ln()),
                        "size {size} steps {steps} a {a}: {closed} {pivots}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_frobenius_norm_is_the_same_by_every_route() {
        for (size, steps) in [(0.5, 3000.0), (0.999, 3000.0), (0.999_999_99, 5000.0), (1.0, 3000.0)]
        {
            let square = size * size;
            let direct: f64 =
                (0..steps as i32).map(|k| (steps - f64::from(k)) * f64::powi(square, k)).sum();
            let value = noise(size, steps).frobenius_squared();
            assert!((value / direct - 1.0).abs() < 1e-12, "{size} {steps}: {value} {direct}");
        }
    }

    #[test]
    fn a_billion_steps_are_answered() {
        let level = FailureLevel::from_beta(0.05).unwrap();
        let independent = eq10(1e-9, 1_000_000_000, level).unwrap().value.unwrap();
        let correlated = bound(1e-9, 1_000_000_000, 0.0, level).unwrap().value.unwrap();
        assert!((correlated / independent - 1.0).abs() < 1e-12);
        assert!(bound(1e-9, 1_000_000_000, 0.9, level).unwrap().value.unwrap() > independent);
    }
}
