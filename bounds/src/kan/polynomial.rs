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
