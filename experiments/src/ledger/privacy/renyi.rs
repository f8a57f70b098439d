//! Lemmas D.2 and D.4 to D.6: Rényi differential privacy.

use dpbounds_bounds::privacy::gaussian;
use rand::RngExt;

use super::super::claim::{Claim, Level, Method};
use super::super::lab::rng;
use super::super::measured::{CheckError, Measured, Slacks, value};
use super::densities::{finite_hockey_stick, finite_renyi, random_law, renyi};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::kan("K-D.2", "Lemma D.2")
        .states("(α, ρ)-RDP gives (ρ + log(1/δ)/(α−1), δ)-DP for every δ")
        .checked(Method::ExactDensities, conversion),
    Claim::kan("K-D.4", "Lemma D.4")
        .states("noise of standard deviation σ on a value of sensitivity Δ is (α, αΔ²/(2σ²))-RDP")
        .checked(Method::ExactDensities, gaussian_mechanism),
    Claim::kan("K-D.5", "Lemma D.5")
        .states("Rényi differential privacy survives post-processing")
        .checked(Method::BruteForce, post_processing),
    Claim::kan("K-D.6", "Lemma D.6")
        .states("Rényi divergences of independent and of adaptive releases add up")
        .checked(Method::BruteForce, composition),
];

fn conversion(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(500, 20_000);
    Measured::of(
        conversions(cases, 1.0)?,
        format!(
            "the Gaussian mechanism for 4 noises, 5 orders and 4 δ, exact; {cases} random pairs of laws on 2 to 6 values"
        ),
    )
}

/// The lemma with a factor of `log(1/δ)`.
fn conversions(cases: usize, factor: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for sigma in [0.5, 1.0, 3.0, 10.0] {
        for alpha in [1.5, 2.0, 4.0, 16.0, 64.0] {
            for delta in [0.3_f64, 1e-2, 1e-5, 1e-9] {
                let rho = alpha / (2.0 * sigma * sigma);
                let epsilon = rho - factor * delta.ln() / (alpha - 1.0);
                slacks.at_most_of(value(&gaussian::delta(sigma, epsilon)?)?, delta, delta);
            }
        }
    }
    let mut rng = rng(2);
    for _ in 0..cases {
        let count = rng.random_range(2..=6);
        let (p, q) = (random_law(&mut rng, count), random_law(&mut rng, count));
        let alpha = rng.random_range(1.05..20.0);
        let delta = 10.0_f64.powf(rng.random_range(-6.0..-0.1));
        let epsilon = finite_renyi(&p, &q, alpha) - factor * delta.ln() / (alpha - 1.0);
        slacks.at_most_of(finite_hockey_stick(&p, &q, epsilon), delta, delta);
    }
    Ok(slacks)
}

fn gaussian_mechanism(_: Level) -> Result<Measured, CheckError> {
    Measured::of(
        gaussians(0.5),
        "quadrature for σ = 0.7, 1, 3, sensitivity 0.5, 1 and α = 1.5, 2, 5; tolerance 1e-8",
    )
}

fn gaussians(factor: f64) -> Slacks {
    let mut slacks = Slacks::new();
    for sigma in [0.7, 1.0, 3.0] {
        for sensitivity in [0.5, 1.0] {
            for alpha in [1.5, 2.0, 5.0] {
                let (p, q) = (vec![(1.0, vec![sensitivity])], vec![(1.0, vec![0.0])]);
                let exact = factor * alpha * sensitivity * sensitivity / (sigma * sigma);
                slacks.equal(renyi(&p, &q, sigma, alpha), exact, exact, 1e-8);
            }
        }
    }
    slacks
}

fn post_processing(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(2000, 100_000);
    let mut slacks = Slacks::new();
    let mut rng = rng(5);
    for _ in 0..cases {
        let (before, after, alpha) = processed(&mut rng);
        slacks.at_most_of(
            finite_renyi(&after.0, &after.1, alpha),
            finite_renyi(&before.0, &before.1, alpha),
            1.0,
        );
    }
    Measured::of(
        slacks,
        format!(
            "{cases} random pairs of laws on 2 to 8 values, through random maps, α from 1.05 to 20"
        ),
    )
}

type LawPair = (Vec<f64>, Vec<f64>);

/// A pair of laws before and after a random map of the values.
fn processed(rng: &mut rand::rngs::ChaCha8Rng) -> (LawPair, LawPair, f64) {
    let count = rng.random_range(2..=8);
    let (p, q) = (random_law(rng, count), random_law(rng, count));
    let (mut image_p, mut image_q) = (vec![0.0; 3], vec![0.0; 3]);
    for index in 0..count {
        let image = rng.random_range(0..3);
        image_p[image] += p[index];
        image_q[image] += q[index];
    }
    let used = |law: &[f64]| law.iter().copied().filter(|mass| *mass > 0.0).collect::<Vec<_>>();
    let after = (used(&image_p), used(&image_q));
    ((p, q), after, rng.random_range(1.05..20.0))
}

fn composition(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(2000, 100_000);
    Measured::of(
        compositions(cases, 1.0),
        format!(
            "{cases} pairs of two releases on 2 to 4 values, independent (equality) and adaptive, α from 1.05 to 10"
        ),
    )
}

/// The lemma with a share of the second release.
fn compositions(cases: usize, share: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(6);
    for _ in 0..cases {
        let count = rng.random_range(2..=4);
        let alpha = rng.random_range(1.05..10.0);
        let (p, q) = (random_law(&mut rng, count), random_law(&mut rng, count));
        let second: Vec<LawPair> = (0..count)
            .map(|_| (random_law(&mut rng, count), random_law(&mut rng, count)))
            .collect();
        let joint = |first: &[f64], of: &dyn Fn(usize) -> Vec<f64>| -> Vec<f64> {
            let part = |index: usize| {
                let mass = first[index];
                of(index).into_iter().map(move |other| mass * other)
            };
            (0..count).flat_map(part).collect()
        };
        let own = finite_renyi(&p, &q, alpha);
        let each: Vec<f64> = second.iter().map(|(a, b)| finite_renyi(a, b, alpha)).collect();
        let worst = each.iter().copied().fold(0.0, f64::max);
        let adaptive = finite_renyi(
            &joint(&p, &|index| second[index].0.clone()),
            &joint(&q, &|index| second[index].1.clone()),
            alpha,
        );
        slacks.at_most(adaptive, own + share * worst);
        let independent = finite_renyi(
            &joint(&p, &|_| second[0].0.clone()),
            &joint(&q, &|_| second[0].1.clone()),
            alpha,
        );
        slacks.equal(independent, own + share * each[0], own + each[0], 1e-9);
    }
    slacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_constants_are_caught() {
        assert!(conversions(200, 1.0).unwrap().close().unwrap() >= 0.0);
        assert!(conversions(200, 0.2).unwrap().close().unwrap() < 0.0);
        assert!(gaussians(0.5).close().unwrap() >= 0.0);
        assert!(gaussians(0.25).close().unwrap() < 0.0);
        assert!(compositions(50, 1.0).close().unwrap() >= 0.0);
        assert!(compositions(50, 0.5).close().unwrap() < 0.0);
    }
}
