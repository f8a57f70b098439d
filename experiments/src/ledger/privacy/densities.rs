//! Divergences of Gaussian mixtures by quadrature, and of finite laws exactly.

pub(super) use super::super::lab::random_law;

/// Weights and means of normal laws with a common standard deviation.
pub(super) type Mixture = Vec<(f64, Vec<f64>)>;

/// `H_{e^ε}(P‖Q) = ∫ (p − e^ε q)_+` of two mixtures in one or two dimensions, by the trapezoidal rule.
pub(super) fn hockey_stick(p: &Mixture, q: &Mixture, sigma: f64, epsilon: f64) -> f64 {
    integrate(p, q, sigma, |p, q| (p - epsilon.exp() * q).max(0.0))
}

/// The Rényi divergence of order α.
pub(super) fn renyi(p: &Mixture, q: &Mixture, sigma: f64, alpha: f64) -> f64 {
    integrate(p, q, sigma, |p, q| {
        if p > 0.0 && q > 0.0 { (alpha * p.ln() + (1.0 - alpha) * q.ln()).exp() } else { 0.0 }
    })
    .ln()
        / (alpha - 1.0)
}

fn integrate(p: &Mixture, q: &Mixture, sigma: f64, of: impl Fn(f64, f64) -> f64) -> f64 {
    let dimension = p.first().map_or(1, |(_, mean)| mean.len());
    let points = if dimension == 1 { 20_000_usize } else { 400 };
    let margin = if dimension == 1 { 30.0 } else { 9.0 } * sigma;
    let range = |axis: usize| {
        let means = || p.iter().chain(q).map(move |(_, mean)| mean[axis]);
        let low = means().fold(f64::INFINITY, f64::min) - margin;
        (low, (means().fold(f64::NEG_INFINITY, f64::max) + margin - low) / points as f64)
    };
    let density = |mixture: &Mixture, place: &[f64]| -> f64 {
        let norm = (std::f64::consts::TAU.sqrt() * sigma).powi(dimension as i32);
        let kernel = |mean: &[f64]| {
            let square: f64 = mean.iter().zip(place).map(|(m, x)| (x - m) * (x - m)).sum();
            (-square / (2.0 * sigma * sigma)).exp()
        };
        mixture.iter().map(|(weight, mean)| weight * kernel(mean)).sum::<f64>() / norm
    };
    let (low, step) = range(0);
    if dimension == 1 {
        let at = |i: usize| {
            let place = [low + i as f64 * step];
            of(density(p, &place), density(q, &place))
        };
        return (0..=points).map(at).sum::<f64>() * step;
    }
    let (other_low, other_step) = range(1);
    let mut total = 0.0;
    for i in 0..=points {
        for j in 0..=points {
            let place = [low + i as f64 * step, other_low + j as f64 * other_step];
            total += of(density(p, &place), density(q, &place));
        }
    }
    total * step * other_step
}

/// The Rényi divergence of finite laws.
pub(super) fn finite_renyi(p: &[f64], q: &[f64], alpha: f64) -> f64 {
    let sum: f64 = p.iter().zip(q).map(|(p, q)| p.powf(alpha) * q.powf(1.0 - alpha)).sum();
    sum.ln() / (alpha - 1.0)
}

/// The hockey-stick divergence of finite laws.
pub(super) fn finite_hockey_stick(p: &[f64], q: &[f64], epsilon: f64) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
}
