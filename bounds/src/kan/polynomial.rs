//! Polynomials as coefficients of `1, u, u², ..`.

pub(super) fn value(coefficients: &[f64], u: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * u + coefficient)
}

pub(super) fn derivative(coefficients: &[f64]) -> Vec<f64> {
    #[allow(clippy::cast_precision_loss)]
    let term = |(power, coefficient): (usize, &f64)| power as f64 * coefficient;
    coefficients.iter().enumerate().skip(1).map(term).collect()
}

pub(super) fn product(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; left.len() + right.len() - 1];
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            out[i + j] += a * b;
        }
    }
    out
}

pub(super) fn add(sum: &mut [f64], term: &[f64]) {
    for (value, more) in sum.iter_mut().zip(term) {
        *value += more;
    }
}

/// The coefficients in `t` of the polynomial at `u = origin + scale t`.
pub(super) fn substitute(coefficients: &[f64], origin: f64, scale: f64) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::with_capacity(coefficients.len());
    for coefficient in coefficients.iter().rev() {
        // out · (origin + scale t) + coefficient
        let mut next = vec![0.0; if out.is_empty() { 1 } else { out.len() + 1 }];
        for (power, value) in out.iter().enumerate() {
            next[power] += value * origin;
            next[power + 1] += value * scale;
        }
        next[0] += coefficient;
        out = next;
    }
    out
}

/// The Bernstein coefficients on [0, 1], in place of those of the powers: the values on [0, 1] lie in their hull.
pub(super) fn bernstein(coefficients: &[f64]) -> Vec<f64> {
    let mut scaled = coefficients.to_vec();
    let degree = coefficients.len().saturating_sub(1);
    // a_k / C(n, k), then b_i = Σ_k C(i, k) a_k / C(n, k) by repeated partial sums.
    let mut binomial = 1.0;
    for (power, value) in scaled.iter_mut().enumerate() {
        *value /= binomial;
        #[allow(clippy::cast_precision_loss)]
        let (left, next) = ((degree - power) as f64, (power + 1) as f64);
        binomial *= left / next;
    }
    for first in (1..=degree).rev() {
        for index in first..=degree {
            scaled[index] += scaled[index - 1];
        }
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substitution_and_bernstein_form_keep_the_polynomial() {
        let cubic = [0.3, -1.0, 2.0, 0.7];
        let moved = substitute(&cubic, 0.4, -1.5);
        for step in 0..=10 {
            let t = f64::from(step) / 10.0;
            assert!((value(&moved, t) - value(&cubic, 0.4 - 1.5 * t)).abs() < 1e-14);
            let b = bernstein(&cubic);
            let s = 1.0 - t;
            let sum = b[0] * s * s * s
                + 3.0 * b[1] * s * s * t
                + 3.0 * b[2] * s * t * t
                + b[3] * t * t * t;
            assert!((sum - value(&cubic, t)).abs() < 1e-14);
        }
        assert!(substitute(&[], 1.0, 1.0).is_empty() && bernstein(&[]).is_empty());
    }
}
