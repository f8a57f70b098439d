//! Vectors.

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn square(a: &[f64]) -> f64 {
    dot(a, a)
}

pub(super) fn norm(a: &[f64]) -> f64 {
    square(a).sqrt()
}

pub(super) fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// `a + factor b`.
pub(super) fn plus(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

/// Moves a vector into the ball around `centre`.
pub(super) fn project(centre: &[f64], radius: f64, point: &mut [f64]) {
    let away = minus(point, centre);
    let length = norm(&away);
    if length > radius {
        for ((place, centre), away) in point.iter_mut().zip(centre).zip(&away) {
            *place = centre + away * radius / length;
        }
    }
}
