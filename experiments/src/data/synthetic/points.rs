//! Samples of points: clusters, margin-controlled points, exclusive or.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::{Points, within};
use crate::data::dataset::Domain;
use crate::data::error::Result;

/// A uniform number in [−1, 1).
fn symmetric(rng: &mut ChaCha8Rng) -> f64 {
    2.0 * rng.random::<f64>() - 1.0
}

/// Either sign with probability 1/2.
fn sign(rng: &mut ChaCha8Rng) -> f64 {
    if rng.random::<bool>() { 1.0 } else { -1.0 }
}

/// A uniform unit vector.
pub(super) fn direction(dimension: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    loop {
        let vector: Vec<f64> = (0..dimension).map(|_| rng.sample(StandardNormal)).collect();
        let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
        if norm > 0.0 {
            return vector.iter().map(|value| value / norm).collect();
        }
    }
}

/// A uniform point of the domain.
pub(super) fn uniform(dimension: usize, domain: Domain, rng: &mut ChaCha8Rng) -> Vec<f64> {
    match domain {
        Domain::Cube => (0..dimension).map(|_| symmetric(rng)).collect(),
        Domain::Ball => {
            let direction = direction(dimension, rng);
            #[allow(clippy::cast_precision_loss)]
            let radius = rng.random::<f64>().powf(1.0 / dimension as f64);
            direction.iter().map(|value| radius * value).collect()
        }
    }
}

pub(super) fn clusters(
    rows: usize,
    dimension: usize,
    separation: f64,
    spread: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Points> {
    #[allow(clippy::cast_precision_loss)]
    let root = (dimension as f64).sqrt();
    let ok = separation > 0.0 && separation <= 2.0 * root;
    within("separation", separation, ok, "above 0 and at most 2 sqrt(d), so that centres fit")?;
    within("spread", spread, spread > 0.0 && spread <= 2.0, "above 0 and at most 2")?;
    let centre = (separation / (2.0 * root)).min(1.0);
    let (mut features, mut labels) = (Vec::with_capacity(rows * dimension), Vec::new());
    for _ in 0..rows {
        let label = sign(rng);
        for _ in 0..dimension {
            // At least a third of the draws is inside, because spread <= 2.
            let inside = loop {
                let value = label * centre + spread * rng.sample::<f64, _>(StandardNormal);
                if value.abs() <= 1.0 {
                    break value;
                }
            };
            features.push(inside);
        }
        labels.push(label);
    }
    Ok((features, labels))
}

/// A point x of the half `<x, w> >= 0` is moved to `x + a (v − x)`, where v is the point of the domain
/// with the largest distance D from the hyperplane and `a = γ/D`: its distance is then at least γ,
/// and it stays in the domain, which is convex.
pub(super) fn margin(
    rows: usize,
    normal: &[f64],
    margin: f64,
    domain: Domain,
    rng: &mut ChaCha8Rng,
) -> Result<Points> {
    within("gamma", margin, (0.0..1.0).contains(&margin), "at least 0 and below 1")?;
    let farthest: Vec<f64> = match domain {
        Domain::Cube => normal.iter().map(|value| value.signum()).collect(),
        Domain::Ball => normal.to_vec(),
    };
    let distance = |point: &[f64]| -> f64 { point.iter().zip(normal).map(|(x, w)| x * w).sum() };
    let share = (margin / distance(&farthest)).min(1.0);
    let (mut features, mut labels) = (Vec::with_capacity(rows * normal.len()), Vec::new());
    for _ in 0..rows {
        let point = uniform(normal.len(), domain, rng);
        let label = if distance(&point) < 0.0 { -1.0 } else { 1.0 };
        features.extend(point.iter().zip(&farthest).map(|(x, v)| x + share * (label * v - x)));
        labels.push(label);
    }
    Ok((features, labels))
}

pub(super) fn xor(rows: usize, dimension: usize, gap: f64, rng: &mut ChaCha8Rng) -> Result<Points> {
    within("gap", gap, (0.0..1.0).contains(&gap), "at least 0 and below 1")?;
    let (mut features, mut labels) = (Vec::with_capacity(rows * dimension), Vec::new());
    for _ in 0..rows {
        let signs = [sign(rng), sign(rng)];
        features.extend(signs.map(|sign| sign * (gap + (1.0 - gap) * rng.random::<f64>())));
        features.extend((2..dimension).map(|_| symmetric(rng)));
        labels.push(signs[0] * signs[1]);
    }
    Ok((features, labels))
}

#[cfg(test)]
mod tests {
    use super::super::stream;
    use super::*;

    #[test]
    fn the_margin_is_kept_and_reached() {
        for domain in [Domain::Cube, Domain::Ball] {
            for gamma in [0.0, 0.3, 0.99] {
                let normal = direction(5, &mut stream(1, 0));
                let (features, labels) =
                    margin(2000, &normal, gamma, domain, &mut stream(1, 1)).unwrap();
                let distances: Vec<f64> = features
                    .chunks(5)
                    .zip(&labels)
                    .map(|(x, y)| y * x.iter().zip(&normal).map(|(x, w)| x * w).sum::<f64>())
                    .collect();
                let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
                assert!(least >= gamma - 1e-15 && least < gamma + 0.01, "{least}");
                assert!(features.iter().all(|value| value.abs() <= 1.0));
            }
        }
        assert!(margin(2, &[1.0], 1.0, Domain::Cube, &mut stream(1, 1)).is_err());
    }

    #[test]
    fn clusters_have_their_centres_and_spread() {
        let (features, labels) = clusters(4000, 4, 1.0, 0.1, &mut stream(2, 1)).unwrap();
        let signed: Vec<f64> = features
            .chunks(4)
            .zip(&labels)
            .flat_map(|(x, y)| x.iter().map(move |x| x * y))
            .collect();
        let count = signed.len() as f64;
        let mean = signed.iter().sum::<f64>() / count;
        let variance = signed.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        // Centres 1 apart in 4 dimensions: 1/4 in every coordinate. Standard errors 0.0008, 0.0001.
        assert!((mean - 0.25).abs() < 0.004 && (variance - 0.01).abs() < 0.0006);
        for (separation, spread) in
            [(0.0, 0.1), (4.1, 0.1), (1.0, 0.0), (1.0, 2.1), (f64::NAN, 1.0)]
        {
            assert!(clusters(2, 4, separation, spread, &mut stream(2, 1)).is_err());
        }
    }

    #[test]
    fn xor_keeps_its_gap() {
        let (features, labels) = xor(1000, 3, 0.4, &mut stream(3, 1)).unwrap();
        for (x, y) in features.chunks(3).zip(&labels) {
            assert!(x[0].abs() >= 0.4 && x[1].abs() >= 0.4 && (x[0] * x[1]).signum() == *y);
        }
        assert!(features.chunks(3).any(|x| x[2].abs() < 0.1));
    }

    #[test]
    fn points_of_the_ball_are_uniform() {
        let mut rng = stream(4, 1);
        let inner = (0..4000).filter(|_| {
            let point = uniform(3, Domain::Ball, &mut rng);
            point.iter().map(|x| x * x).sum::<f64>() <= 0.25
        });
        // A ball of half the radius has an eighth of the volume: 500 with standard deviation 21.
        let inner = inner.count();
        assert!((400..600).contains(&inner), "{inner}");
    }
}
