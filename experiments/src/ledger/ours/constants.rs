//! Constants of the network, the margin and the comparator.

use dpbounds_bounds::kan::{
    InputDomain, Knots, Linearisation, MarginOptions, Sample, SplineBasis, SupNorms, comparator_at,
    feature_norm2, margin_of_gram, vector_constants,
};
use rand::RngExt;

use super::super::claim::{Claim, Method};
use super::super::kan::derivatives;
use super::super::lab::{Lab, normals, rng};
use super::super::linear::{dot, norm, plus, square};
use super::super::measured::{CheckError, Measured, Slacks};
use super::super::walk::distance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours("level-R", "networks.md")
        .states("‖∇f‖ <= G and ‖∇²f‖ <= ν with the realised constants, for all weights, and level V is never below")
        .checked(Method::Inequality, |level| {
            let cases = level.pick(60, 2000);
            Measured::of(realised(cases, 1.0)?, format!("{cases} random networks, weights up to 5 standard deviations away"))
        }),
    Claim::ours("sup-norms", "networks.md")
        .states("the closed forms of sup |b|, |b'|, |b''| and of the norms of h, h', h'' for clamped uniform knots")
        .checked(Method::Identity, |_| {
            Measured::of(sup_norms(1.0)?, "degrees 1 to 6, 0 to 8 interior knots, 801 points: never above, and attained within 1e-9")
        }),
    Claim::ours("feature-norm", "networks.md")
        .states("the domain bound of ‖h(x)‖²/d holds for every input of the cube and of the ball")
        .checked(Method::Inequality, |level| {
            let points = level.pick(2000, 200_000);
            Measured::of(feature_norms(points, 1.0)?, format!("{points} random and boundary inputs for 3 bases and d = 1, 2, 4, 30"))
        }),
    Claim::ours("margin", "networks.md")
        .states("min (Qβ)_i/sqrt(β'Qβ) <= γ <= sqrt(β'Qβ): the bracket holds for every direction and every convex combination")
        .checked(Method::Inequality, |level| {
            let cases = level.pick(100, 5000);
            Measured::of(margins(cases, 1.0)?, format!("{cases} random sets of 2 to 8 vectors, 40 directions and combinations each"))
        }),
    Claim::ours("comparator", "certificates.md")
        .states("the free comparator has the distance and the losses that are reported, without forming W*")
        .checked(Method::Identity, |level| {
            let cases = level.pick(60, 2000);
            Measured::of(comparators(cases, 0.0)?, format!("{cases} random networks and coefficients against the network at W*; tolerance 1e-9"))
        }),
];

fn realised(cases: usize, scale: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..cases as u64 {
        let lab = Lab::random(seed)?;
        let (g, nu) = (lab.constants.gradient, lab.constants.curvature);
        slacks = slacks.and(derivatives(&lab, seed, scale * g, scale * nu)?);
        let h2 = lab.features.iter().map(|h| square(h)).fold(0.0, f64::max);
        let vector =
            vector_constants(&lab.network, 64, (h2 / lab.network.inputs() as f64).min(1.0))?;
        slacks.at_most(scale * g, vector.gradient * (1.0 + 1e-9));
        slacks.at_most(scale * nu, vector.curvature * (1.0 + 1e-9));
    }
    Ok(slacks)
}

fn sup_norms(scale: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for degree in 1..=6 {
        for size in degree + 1..=degree + 9 {
            let basis = SplineBasis::new(degree, size, Knots::Clamped)?;
            let norms = SupNorms::of(&basis)?;
            let mut found = [0.0_f64; 3];
            for step in 0..=800 {
                let v = f64::from(step) / 400.0 - 1.0;
                for (order, most) in found.iter_mut().enumerate() {
                    let values = basis.derivative(v, order as u32);
                    *most = values.iter().fold(*most, |most, value| most.max(value.abs()));
                }
            }
            let closed = [norms.function, norms.function_slope, norms.function_curvature];
            for (found, closed) in found.iter().zip(closed) {
                slacks.at_most_of(*found, scale * closed + 1e-9, closed.max(1.0));
                slacks.equal(*found, scale * closed, closed.max(1.0), 1e-9);
            }
        }
    }
    Ok(slacks)
}

fn feature_norms(points: usize, scale: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    let mut rng = rng(21);
    for (degree, size) in [(1, 2), (3, 4), (3, 8)] {
        let basis = SplineBasis::new(degree, size, Knots::Clamped)?;
        for inputs in [1_usize, 2, 4, 30] {
            let norm_of = |x: &[f64]| {
                x.iter().map(|v| square(&basis.values(*v))).sum::<f64>() / inputs as f64
            };
            let cube = feature_norm2(&basis, inputs, InputDomain::Cube)?;
            let ball = feature_norm2(&basis, inputs, InputDomain::Ball)?;
            for case in 0..points / inputs {
                let x: Vec<f64> = if case % 8 == 0 {
                    vec![1.0; inputs]
                } else {
                    (0..inputs).map(|_| rng.random_range(-1.0..=1.0)).collect()
                };
                slacks.at_most(norm_of(&x), scale * cube);
                let length = norm(&x).max(1e-300);
                let inside: Vec<f64> = x.iter().map(|v| v / length).collect();
                slacks.at_most(norm_of(&inside), scale * ball);
            }
        }
    }
    Ok(slacks)
}

fn margins(cases: usize, scale: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..cases as u64 {
        let mut rng = rng(seed);
        let count = rng.random_range(2..=8);
        let shift = rng.random_range(0.0..2.0);
        let vectors: Vec<Vec<f64>> = (0..count)
            .map(|_| {
                let mut vector = normals(&mut rng, 4);
                vector[0] += shift;
                vector
            })
            .collect();
        let gram: Vec<f64> =
            vectors.iter().flat_map(|a| vectors.iter().map(move |b| dot(a, b))).collect();
        let margin = margin_of_gram(&gram, count, MarginOptions::default())?;
        slacks.at_most(margin.lower, scale * margin.upper);
        for _ in 0..40 {
            let u = normals(&mut rng, 4);
            let length = norm(&u);
            let least = vectors.iter().map(|g| dot(g, &u) / length).fold(f64::INFINITY, f64::min);
            if least > 0.0 {
                slacks.at_most(least, scale * margin.upper);
            }
            let raw: Vec<f64> = (0..count).map(|_| -rng.random_range(1e-6..1.0_f64).ln()).collect();
            let total: f64 = raw.iter().sum();
            let mut sum = vec![0.0; 4];
            for (weight, vector) in raw.iter().zip(&vectors) {
                sum = plus(&sum, weight / total, vector);
            }
            slacks.at_most(margin.lower, scale * norm(&sum));
        }
    }
    Ok(slacks)
}

fn comparators(cases: usize, error: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..cases as u64 {
        let mut rng = rng(seed);
        let inputs = rng.random_range(1..=3);
        let rows = rng.random_range(2..=6);
        let points: Vec<f64> = (0..rows * inputs).map(|_| rng.random_range(-1.0..1.0)).collect();
        let labels: Vec<f64> = (0..rows).map(|_| if rng.random() { 1.0 } else { -1.0 }).collect();
        let sample = Sample::new(inputs, points.clone(), labels.clone())?;
        let basis = SplineBasis::new(3, 5, Knots::Clamped)?;
        let network = dpbounds_bounds::kan::initialise(
            basis,
            dpbounds_bounds::kan::Activation::Tanh,
            inputs,
            12,
            dpbounds_bounds::kan::Initialisation::Gaussian,
            seed,
        )?;
        let lab = Lab::new(network, points, labels, 1, 1.0)?;
        let at = Linearisation::at(&lab.network, &lab.start, &sample)?;
        let coefficients = normals(&mut rng, rows);
        let reported = comparator_at(&at, &coefficients)?;
        let mut target = lab.start.clone();
        for (row, b) in coefficients.iter().enumerate() {
            let own = lab.network.gradient(&lab.start, &lab.features[row])?.dense();
            target = plus(&target, (b + error) * lab.labels[row], &own);
        }
        let length = distance(&target, &lab.start);
        slacks.equal(length, reported.distance, length + 1e-3, 1e-9);
        for (loss, found) in lab.look(&target)?.losses.iter().zip(&reported.losses) {
            slacks.equal(*loss, *found, loss + 1e-3, 1e-9);
        }
    }
    Ok(slacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_constants_are_caught() {
        assert!(realised(20, 1.0).unwrap().close().unwrap() >= 0.0);
        assert!(realised(20, 0.5).unwrap().close().unwrap() < 0.0);
        assert!(sup_norms(1.0).unwrap().close().unwrap() >= 0.0);
        assert!(sup_norms(1.001).unwrap().close().unwrap() < 0.0);
        assert!(feature_norms(200, 0.99).unwrap().close().unwrap() < 0.0);
        assert!(margins(20, 0.9).unwrap().close().unwrap() < 0.0);
        assert!(comparators(5, 1e-6).unwrap().close().unwrap() < 0.0);
    }
}
