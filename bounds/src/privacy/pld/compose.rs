//! Self-composition of a lattice distribution by an exponentially tilted Fourier transform.
//!
//! The masses `p_i e^{θL_i − K(θ)}` are composed instead of `p_i`, and the tilt is undone at the end:
//! the tail that decides δ then lies in the bulk, and every error below is relative to it. Three errors
//! are bounded and go against the result:
//!
//! * *Window and wrap-around.* Mass outside the window is at most `τ` on each side by Chernoff's bound on
//!   the tilted lattice distribution itself. It folds back into the window, which can only raise the
//!   cells; for a lower bound it is subtracted at the place where it does most harm.
//! * *Fourier rounding.* Each output of a radix-2 transform depends on each input along one path of
//!   `log2 n` butterflies, so its error is at most `η = (8 log2 n + 16) 2^-53` times the sum of the
//!   absolute inputs (about twice the a-priori constant of a butterfly). The power of a coefficient `a`
//!   is then off by at most `Tη(|a|+η)^{T−1} + (12T+400) 2^-53 |a|^T`, and a cell by the mean of that
//!   over all coefficients plus the rounding of the inverse transform.
//! * *Masses and losses.* Relative errors of the masses scale the result by `e^{±T·mass_error}`, errors of the
//!   losses shift ε by `T·loss_error`.

use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;

use super::composed::Composed;
use super::grid::Grid;
use super::loss::{LossDistribution, Side};
use super::mixture::UNIT;
use super::sketch::Sketch;
use crate::error::{BoundError, Result};

/// Longest transform, in cells.
pub(super) const LARGEST: usize = 1 << 23;

/// Natural logarithm of the probability left outside the window, on each side.
pub(super) const WINDOW_NATS: f64 = 28.0;

/// Coefficients whose power is smaller than `e^{−NEGLIGIBLE}` are replaced by 0.
const NEGLIGIBLE: f64 = 60.0;

/// Composes distributions, keeping the plans of the transforms.
pub(super) struct Composer {
    planner: RealFftPlanner<f64>,
}

/// The cells that are kept, by their lattice index, and the tilted mass outside on each side.
struct Window {
    first: i64,
    last: i64,
    below: f64,
    above: f64,
}

impl Composer {
    pub fn new() -> Self {
        Self { planner: RealFftPlanner::new() }
    }

    /// `steps` steps at the tilt `theta >= 0`, or `None` if the window is longer than
    /// [`LARGEST`] or its indices are out of range.
    pub fn compose(
        &mut self,
        single: &LossDistribution,
        steps: u64,
        theta: f64,
        sketch: &Sketch,
    ) -> Result<Option<Composed>> {
        #[allow(clippy::cast_precision_loss)] // at most 2^53
        let count = steps as f64;
        let log_moment = single.log_moment(theta);
        let mut composed = Composed {
            side: single.side,
            grid: Grid { origin: count * single.grid.origin, ..single.grid },
            cells: Vec::new(),
            theta,
            log_scale: count * log_moment,
            noise: 0.0,
            below: 0.0,
            above: 0.0,
            highest: count * single.highest() * (1.0 + 1e-12),
            infinite: -(count * (-single.infinite).ln_1p()).exp_m1() * (1.0 + 1e-12),
            shift: count * single.loss_error,
        };
        if single.log_mass.is_empty() {
            return Ok(Some(composed));
        }
        let mut tilted = Vec::with_capacity(single.log_mass.len());
        let mut exponents = log_moment.abs();
        for (i, log) in single.log_mass.iter().enumerate() {
            let tilt = theta * single.grid.at(i);
            if log.is_finite() {
                exponents = exponents.max(log.abs() + tilt.abs());
            }
            tilted.push((log + tilt - log_moment).exp());
        }
        let error = count * (single.mass_error + 8.0 * UNIT * exponents)
            + 8.0 * UNIT * composed.log_scale.abs();
        composed.log_scale += if single.side == Side::Upper { error } else { -error };
        if steps == 1 {
            composed.cells = tilted;
            return Ok(Some(composed));
        }
        let Some(window) = window(single, count, theta, log_moment, sketch) else {
            return Ok(None);
        };
        let length = window.last.abs_diff(window.first) as usize + 1;
        let size = transform_size(length);
        if size > LARGEST {
            return Ok(None);
        }
        let (circle, noise) = self.power(&tilted, single.grid.first, count, size)?;
        composed.grid.first = window.first;
        #[allow(clippy::cast_possible_wrap)] // at most 2^23
        let start = window.first.rem_euclid(size as i64).unsigned_abs() as usize;
        composed.cells = (0..length).map(|j| circle[(start + j) % size]).collect();
        composed.noise = noise;
        composed.above = window.above;
        composed.below = window.below;
        Ok(Some(composed))
    }

    /// The `count`-fold circular convolution of `mass` and a bound of the error of one cell.
    fn power(
        &mut self,
        mass: &[f64],
        first: i64,
        count: f64,
        size: usize,
    ) -> Result<(Vec<f64>, f64)> {
        let failed = |_| BoundError::Numerical {
            what: "Fourier transform",
            detail: "the transform refused its buffers",
        };
        let forward = self.planner.plan_fft_forward(size);
        let inverse = self.planner.plan_fft_inverse(size);
        let mut input = forward.make_input_vec();
        let mut spectrum = forward.make_output_vec();
        #[allow(clippy::cast_possible_wrap)] // at most 2^23
        let start = first.rem_euclid(size as i64).unsigned_abs() as usize;
        for (i, mass) in mass.iter().enumerate() {
            input[(start + i) % size] += mass;
        }
        forward.process(&mut input, &mut spectrum).map_err(failed)?;
        #[allow(clippy::cast_precision_loss)] // at most 2^23
        let cells = size as f64;
        let transform_error = UNIT * (8.0 * cells.log2() + 16.0);
        let power_error = UNIT * (12.0 * count + 400.0);
        let threshold = (-NEGLIGIBLE / count).exp();
        let negligible = threshold.powf(count);
        let (mut sum, mut error) = (0.0, 0.0);
        let half = spectrum.len() - 1;
        for (k, coefficient) in spectrum.iter_mut().enumerate() {
            let weight = if k == 0 || k == half { 1.0 } else { 2.0 };
            let size = coefficient.norm_sqr().sqrt();
            if size + transform_error < threshold || size == 0.0 {
                *coefficient = Complex64::new(0.0, 0.0);
                let largest = size + transform_error;
                error +=
                    weight * if largest < threshold { negligible } else { largest.powf(count) };
                continue;
            }
            let radius = (count * size.ln()).exp();
            let (sine, cosine) = (count * coefficient.im.atan2(coefficient.re)).sin_cos();
            *coefficient = Complex64::new(radius * cosine, radius * sine);
            let derivative = count * ((count - 1.0) * (size + transform_error).ln()).exp();
            error += weight * (radius * power_error + transform_error * derivative);
            sum += weight * radius;
        }
        spectrum[0].im = 0.0;
        spectrum[half].im = 0.0;
        let mut output = inverse.make_output_vec();
        inverse.process(&mut spectrum, &mut output).map_err(failed)?;
        for value in &mut output {
            *value /= cells;
        }
        Ok((output, (error + transform_error * sum) / cells * 1.01))
    }
}

/// The window outside of which the tilted sum has little mass, by Chernoff's bound.
fn window(
    single: &LossDistribution,
    count: f64,
    theta: f64,
    log_moment: f64,
    sketch: &Sketch,
) -> Option<Window> {
    let (lowest, highest) = single.range();
    #[allow(clippy::cast_precision_loss)]
    let (lowest, highest) = (lowest as f64 * count, highest as f64 * count);
    if !(lowest.abs().max(highest.abs()) < 9e15) {
        return None;
    }
    let bound = |sign: f64| {
        let (s, _) = sketch.chernoff(count, theta, WINDOW_NATS, sign);
        let moment = single.log_moment(theta + sign * s) - log_moment;
        // The sum of the losses without their origin, in cells.
        ((count * moment + WINDOW_NATS) / s - sign * count * single.grid.origin) / single.grid.width
    };
    // One cell and a rounding error of slack.
    let slack = |x: f64| 1.0 + x.abs() * 1e-9;
    let (top, bottom) = (bound(1.0), -bound(-1.0));
    let outside = (-WINDOW_NATS).exp();
    let (last, above) = if top + slack(top) < highest {
        ((top + slack(top)).ceil(), outside)
    } else {
        (highest, 0.0)
    };
    let (first, below) = if bottom - slack(bottom) > lowest {
        ((bottom - slack(bottom)).floor(), outside)
    } else {
        (lowest, 0.0)
    };
    #[allow(clippy::cast_possible_truncation)] // below 2^53
    Some(Window { first: first as i64, last: last.max(first) as i64, below, above })
}

/// The smallest even `2^a`, `3·2^a` or `5·2^a` that is at least `length` and 16.
fn transform_size(length: usize) -> usize {
    let length = length.max(16);
    let power = length.next_power_of_two();
    [power / 8 * 5, power / 4 * 3].into_iter().find(|&size| size >= length).unwrap_or(power)
}

/// Largest value of `e^{−θx}(1 − e^{−x})` over `x >= 0`.
pub(super) fn largest_weight(theta: f64) -> f64 {
    if theta <= 0.0 {
        return 1.0;
    }
    (theta * -(1.0 / theta).ln_1p() - theta.ln_1p()).exp() * (1.0 + 1e-12)
}
