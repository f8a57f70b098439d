//! Lemmas B.4, B.6 and B.7: gradients, Hessians and what follows for the loss.

use std::f64::consts::FRAC_PI_2;

use dpbounds_bounds::kan::{SupNorms, worst_case_constants};
use rand::RngExt;

use super::super::claim::{Claim, Level, Method};
use super::super::lab::{Lab, normals, rng};
use super::super::linear::{dot, norm, plus, square};
use super::super::measured::{CheckError, Measured, Slacks};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::kan("K-B.4", "Lemma B.4")
        .states("on a segment of length D <= sqrt(2/ν) a loss with curvature >= −ν L is at most L(ends)/(1−νD²/2)")
        .checked(Method::Inequality, quasi_convexity),
    Claim::kan("K-B.6", "Lemma B.6")
        .states("‖∇f‖ and ‖∇²f‖ are bounded by the worst-case constants (4), (5) on the event of Lemma B.5")
        .checked(Method::Inequality, worst_case),
    Claim::kan("K-B.7", "Lemma B.7")
        .states("λ_min(∇²l) >= −ν l, λ_max(∇²l) <= β and ‖∇L_S‖² <= 4 β L_S")
        .checked(Method::Inequality, loss_curvature),
];

fn quasi_convexity(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(60, 2000);
    let slacks = segments(cases, 0.5)?;
    Measured::of(
        slacks,
        format!(
            "{cases} segments between random weights, 65 points each, and the cosine that attains it"
        ),
    )
}

/// The lemma with `1/(1 − share ν D²)`.
pub(in super::super) fn segments(cases: usize, share: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    // cos(sqrt(ν) x) has curvature −ν times itself, and is largest between equal ends.
    for step in 1..=20 {
        let half = FRAC_PI_2 * f64::from(step) / 24.0; // sqrt(ν) D/2
        let square = 4.0 * half * half;
        if square * share < 1.0 && square < 2.0 {
            slacks.at_most(1.0, half.cos() / (1.0 - share * square));
        }
    }
    for seed in 0..cases as u64 {
        let lab = Lab::random(seed)?;
        let mut rng = rng(seed);
        let size = lab.parameters();
        let direction = normals(&mut rng, size);
        let length = rng.random_range(0.1..1.3) / lab.constants.curvature.sqrt() / norm(&direction);
        let middle = plus(&lab.start, rng.random_range(0.0..3.0), &normals(&mut rng, size));
        let shares = lab.full();
        let at = |place: f64| -> Result<f64, CheckError> {
            Ok(dot(&shares, &lab.look(&plus(&middle, length * place, &direction))?.losses))
        };
        let distance = length * norm(&direction);
        let factor = 1.0 / (1.0 - share * lab.constants.curvature * distance * distance);
        let ends = at(-0.5)?.max(at(0.5)?);
        let mut largest = ends;
        for step in 1..64 {
            largest = largest.max(at(f64::from(step) / 64.0 - 0.5)?);
        }
        slacks.at_most(largest, factor * ends);
    }
    Ok(slacks)
}

fn worst_case(level: Level) -> Result<Measured, CheckError> {
    let mut slacks = Slacks::new();
    let seeds = level.pick(4, 60);
    let mut outside = 0;
    for seed in 0..seeds as u64 {
        let lab = Lab::small(seed)?;
        let basis = lab.network.basis();
        let (size, width) = (basis.size(), lab.network.width());
        let delta = 0.1;
        let p = size as f64;
        let c = lab.network.second_layer();
        let inside = norm(c)
            <= 4.0 * (p * width as f64).sqrt() + 2.0 * (2.0_f64 / delta).ln().sqrt()
            && c.chunks_exact(size).all(|c| {
                norm(c) <= 4.0 * p.sqrt() + 2.0 * (2.0 * width as f64 / delta).ln().sqrt()
            });
        if !inside {
            outside += 1;
            continue;
        }
        let bound = worst_case_constants(
            &SupNorms::of(basis)?,
            lab.network.activation(),
            size,
            width,
            delta,
        )?;
        slacks = slacks.and(derivatives(&lab, seed, bound.gradient, bound.curvature)?);
    }
    Measured::of(
        slacks,
        format!(
            "{seeds} Gaussian networks of 64 cubic units ({outside} outside the event), 20 inputs, random and large \
             weights; the gradient also against finite differences"
        ),
    )
}

/// Gradients and Hessian norms at random weights against two constants, and finite differences.
pub(in super::super) fn derivatives(
    lab: &Lab,
    seed: u64,
    gradient_bound: f64,
    curvature_bound: f64,
) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    let mut rng = rng(seed);
    for spread in [0.0, 0.3, 1.0, 5.0] {
        let weights = plus(&lab.start, spread, &normals(&mut rng, lab.parameters()));
        for features in &lab.features {
            let gradient = lab.network.gradient(&weights, features)?;
            slacks.at_most(gradient.norm(), gradient_bound);
            slacks.equal(gradient.norm(), norm(&gradient.dense()), gradient.norm(), 1e-12);
            // The Hessian is block diagonal with blocks φ'' h hᵀ/(d sqrt m).
            let curvatures = lab.network.curvatures(&weights, features)?;
            let largest = curvatures.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let scale = square(features)
                / (lab.network.inputs() as f64 * (lab.network.width() as f64).sqrt());
            slacks.at_most(largest * scale, curvature_bound);
        }
        if lab.network.basis().degree() == 2 {
            continue; // φ'' jumps at the knots, where differences of order four have no meaning
        }
        let features = &lab.features[0];
        let direction = normals(&mut rng, lab.parameters());
        let output = |step: f64| -> Result<f64, CheckError> {
            Ok(lab.network.output(&plus(&weights, step, &direction), features)?.value)
        };
        let along = dot(&lab.network.gradient(&weights, features)?.dense(), &direction);
        let h = 1e-4;
        // The fourth-order formula.
        let near = (output(h)? - output(-h)?) / (2.0 * h);
        let far = (output(2.0 * h)? - output(-2.0 * h)?) / (4.0 * h);
        let scale = along.abs().max(gradient_bound);
        slacks.equal((4.0 * near - far) / 3.0, along, scale, 1e-6);
    }
    Ok(slacks)
}

fn loss_curvature(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(60, 400);
    let slacks = loss_curvatures(cases, 1.0, 1.0)?;
    Measured::of(
        slacks,
        format!(
            "{cases} random networks with realised constants; the Hessian of each loss by power iteration and along \
             gradients, β = G²/4 + ν"
        ),
    )
}

/// The lemma with `ν` and `β` scaled.
fn loss_curvatures(cases: usize, nu_scale: f64, beta_scale: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..cases as u64 {
        let lab = Lab::random(seed)?;
        let mut rng = rng(seed + 1_000_000);
        let weights = if seed % 2 == 0 {
            lab.start.clone()
        } else {
            plus(&lab.start, 1.0, &normals(&mut rng, lab.parameters()))
        };
        let look = lab.look(&weights)?;
        let beta = lab.smoothness();
        let nu = nu_scale * lab.constants.curvature;
        for row in 0..lab.features.len() {
            let mut shares = vec![0.0; lab.features.len()];
            shares[row] = 1.0;
            for shift in [0.0, beta] {
                // Power iteration on H + β for the largest and on β − H for the smallest eigenvalue.
                let mut v = normals(&mut rng, lab.parameters());
                let mut value = 0.0;
                for _ in 0..30 {
                    let length = norm(&v);
                    v.iter_mut().for_each(|x| *x /= length);
                    value = lab.curvature(&weights, &shares, &v)?;
                    let product = hessian_times(&lab, &weights, &shares, &v)?;
                    let sign = if shift == 0.0 { 1.0 } else { -1.0 };
                    v = plus(&product.iter().map(|x| sign * x).collect::<Vec<_>>(), beta, &v);
                }
                slacks.at_most_of(value, beta_scale * beta, beta);
                slacks.at_most_of(-nu * look.losses[row], value, beta);
            }
        }
        let gradient = lab.gradient(&look, &lab.full());
        slacks.at_most(square(&gradient), 4.0 * beta_scale * beta * dot(&lab.full(), &look.losses));
    }
    Ok(slacks)
}

/// The Hessian of one loss times a vector, in closed form.
fn hessian_times(
    lab: &Lab,
    weights: &[f64],
    shares: &[f64],
    v: &[f64],
) -> Result<Vec<f64>, CheckError> {
    let look = lab.look(weights)?;
    let count = lab.network.feature_count();
    let scale = lab.network.inputs() as f64 * (lab.network.width() as f64).sqrt();
    let mut out = vec![0.0; v.len()];
    for (row, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        let features = &lab.features[row];
        let gradient = lab.network.gradient(weights, features)?.dense();
        let s = look.slopes[row];
        out = plus(&out, share * s * (1.0 - s) * dot(&gradient, v), &gradient);
        let curvatures = lab.network.curvatures(weights, features)?;
        for ((out, v), curvature) in
            out.chunks_exact_mut(count).zip(v.chunks_exact(count)).zip(curvatures)
        {
            let push = -share * s * lab.labels[row] * curvature * dot(v, features) / scale;
            out.iter_mut().zip(features).for_each(|(out, h)| *out += push * h);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E17: the proof gives 1/8, but 1/16 is too little for the cosine.
    #[test]
    fn a_smaller_share_of_the_curvature_is_caught() {
        assert!(segments(10, 0.125).unwrap().close().unwrap() >= 0.0);
        assert!(segments(0, 0.0625).unwrap().close().unwrap() < 0.0);
    }

    #[test]
    fn smaller_constants_are_caught() {
        assert!(loss_curvatures(20, 1.0, 1.0).unwrap().close().unwrap() >= 0.0);
        assert!(loss_curvatures(20, 0.05, 1.0).unwrap().close().unwrap() < 0.0);
        assert!(loss_curvatures(20, 1.0, 0.1).unwrap().close().unwrap() < 0.0);
        let lab = Lab::small(1).unwrap();
        let good = (lab.constants.gradient, lab.constants.curvature);
        assert!(derivatives(&lab, 1, good.0, good.1).unwrap().close().unwrap() >= 0.0);
        assert!(derivatives(&lab, 1, good.0 / 3.0, good.1).unwrap().close().unwrap() < 0.0);
        assert!(derivatives(&lab, 1, good.0, good.1 / 8.0).unwrap().close().unwrap() < 0.0);
    }
}
