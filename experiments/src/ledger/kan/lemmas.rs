//! Appendix B: general lemmas.

use rand::RngExt;

use super::super::claim::{Claim, Level, Method};
use super::super::lab::{normals, rng};
use super::super::linear::{dot, minus, norm, plus, project, square};
use super::super::measured::{CheckError, Measured, Slacks};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::kan("K-B.1", "Lemma B.1")
        .states("the norm of a block diagonal matrix is the largest norm of its blocks")
        .checked(Method::Identity, blocks),
    Claim::kan("K-B.2", "Lemma B.2")
        .states("a mean of B of n vectors without replacement has variance (n−B)/(B(n−1)) times theirs, at most G²/B")
        .checked(Method::BruteForce, subset_variance),
    Claim::kan("K-B.3", "Lemma B.3")
        .states("<g, W−W*> <= (‖W−W*‖² − ‖W⁺−W*‖²)/(2η) + η‖g‖²/2 for a projected step")
        .checked(Method::Inequality, mirror_descent),
    Claim::kan("K-B.5", "Lemma B.5")
        .states("‖c‖ <= 4 sqrt(pm) + 2 sqrt(log(2/δ)) and ‖c_j‖ <= 4 sqrt p + 2 sqrt(log(2m/δ)) for all j, except with probability δ")
        .checked(Method::Frequency, second_layer),
];

fn blocks(level: Level) -> Result<Measured, CheckError> {
    let mut slacks = Slacks::new();
    let cases = level.pick(40, 400);
    for seed in 0..cases as u64 {
        let mut rng = rng(seed);
        let blocks: Vec<Vec<[f64; 2]>> = (0..3)
            .map(|_| {
                let rows = rng.random_range(1..5);
                normals(&mut rng, 2 * rows).chunks_exact(2).map(|row| [row[0], row[1]]).collect()
            })
            .collect();
        let largest = blocks.iter().map(|block| gram_norm(block)).fold(0.0, f64::max);
        // Power iteration for the whole matrix.
        let mut v = normals(&mut rng, 6);
        let mut value = 0.0;
        for _ in 0..4000 {
            let length = norm(&v);
            v.iter_mut().for_each(|x| *x /= length);
            let mut next = vec![0.0; 6];
            value = 0.0;
            for (index, block) in blocks.iter().enumerate() {
                for row in block {
                    let product = row[0] * v[2 * index] + row[1] * v[2 * index + 1];
                    value += product * product;
                    next[2 * index] += row[0] * product;
                    next[2 * index + 1] += row[1] * product;
                }
            }
            v = next;
        }
        slacks.equal(value.sqrt(), largest, largest, 1e-6);
        slacks.at_most(value.sqrt(), largest);
    }
    Measured::of(
        slacks,
        format!("{cases} matrices of 3 blocks, power iteration against the blocks' own norms"),
    )
}

/// The spectral norm of a matrix with two columns.
fn gram_norm(rows: &[[f64; 2]]) -> f64 {
    let a: f64 = rows.iter().map(|row| row[0] * row[0]).sum();
    let b: f64 = rows.iter().map(|row| row[0] * row[1]).sum();
    let c: f64 = rows.iter().map(|row| row[1] * row[1]).sum();
    ((a + c) / 2.0 + (((a - c) / 2.0).powi(2) + b * b).sqrt()).sqrt()
}

/// All subsets of `size` of `count` numbers, as bits.
pub(super) fn subsets(count: usize, size: usize) -> impl Iterator<Item = Vec<usize>> {
    (0_u32..1 << count)
        .filter(move |bits| bits.count_ones() as usize == size)
        .map(move |bits| (0..count).filter(|index| bits >> index & 1 == 1).collect())
}

/// The share of the population variance that is left, as printed.
fn printed_share(records: f64, batch: f64) -> f64 {
    (records - batch) / (batch * (records - 1.0))
}

fn subset_variance(level: Level) -> Result<Measured, CheckError> {
    let largest = level.pick(8, 10);
    let slacks = subset_variances(largest, printed_share);
    Measured::of(
        slacks,
        format!("every subset of 2 to {largest} random vectors in three dimensions"),
    )
}

fn subset_variances(largest: usize, share: fn(f64, f64) -> f64) -> Slacks {
    let mut slacks = Slacks::new();
    for records in 2..=largest {
        let mut rng = rng(records as u64);
        let vectors: Vec<Vec<f64>> = (0..records).map(|_| normals(&mut rng, 3)).collect();
        let mean_of = |chosen: &[usize]| {
            let mut mean = vec![0.0; 3];
            for index in chosen {
                mean = plus(&mean, 1.0 / chosen.len() as f64, &vectors[*index]);
            }
            mean
        };
        let mean = mean_of(&(0..records).collect::<Vec<_>>());
        let own = vectors.iter().map(|x| square(&minus(x, &mean))).sum::<f64>() / records as f64;
        let radius = vectors.iter().map(|x| square(x)).fold(0.0, f64::max);
        for batch in 1..=records {
            let deviations: Vec<f64> =
                subsets(records, batch).map(|s| square(&minus(&mean_of(&s), &mean))).collect();
            let variance = deviations.iter().sum::<f64>() / deviations.len() as f64;
            let expected = share(records as f64, batch as f64) * own;
            slacks.equal(variance, expected, own, 1e-12);
            slacks.at_most(variance, radius / batch as f64);
        }
    }
    slacks
}

fn mirror_descent(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(2000, 200_000);
    let slacks = mirror_descents(cases, 0.5);
    Measured::of(
        slacks,
        format!("{cases} random steps in 1 to 6 dimensions, projected onto a ball"),
    )
}

fn mirror_descents(cases: usize, factor: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(3);
    for _ in 0..cases {
        let size = rng.random_range(1..=6);
        let radius = rng.random_range(0.1..2.0);
        let centre = vec![0.0; size];
        let mut point = || {
            let mut point = normals(&mut rng, size);
            project(&centre, radius, &mut point);
            point
        };
        let (from, target) = (point(), point());
        let gradient = normals(&mut rng, size);
        let eta = rng.random_range(0.01..3.0);
        let mut next = plus(&from, -eta, &gradient);
        project(&centre, radius, &mut next);
        let before = square(&minus(&from, &target));
        let after = square(&minus(&next, &target));
        let push = square(&gradient);
        let right = (before - after) / (2.0 * eta) + factor * eta * push;
        let scale = before / (2.0 * eta) + eta * push / 2.0;
        slacks.at_most_of(dot(&gradient, &minus(&from, &target)), right, scale);
    }
    slacks
}

fn second_layer(level: Level) -> Result<Measured, CheckError> {
    let draws = level.pick(400, 20_000);
    let slacks = second_layers(draws, 4.0, 2.0)?;
    Measured::of(
        slacks,
        format!("{draws} Gaussian second layers of 16 units with 2 to 8 functions, δ = 0.2"),
    )
}

/// The event with `root sqrt(pm) + tail sqrt(log ..)`.
pub(in super::super) fn second_layers(
    draws: usize,
    root: f64,
    tail: f64,
) -> Result<Slacks, CheckError> {
    let (width, delta) = (16, 0.2_f64);
    let mut slacks = Slacks::new();
    for size in [2, 4, 8] {
        let mut rng = rng(size as u64);
        let p = size as f64;
        let whole = root * (p * width as f64).sqrt() + tail * (2.0 / delta).ln().sqrt();
        let row = root * p.sqrt() + tail * (2.0 * width as f64 / delta).ln().sqrt();
        let outside = (0..draws)
            .filter(|_| {
                let c = normals(&mut rng, width * size);
                norm(&c) > whole || c.chunks_exact(size).any(|c| norm(c) > row)
            })
            .count();
        slacks.frequency(outside, draws, delta)?;
    }
    Ok(slacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variance_with_replacement_is_caught() {
        assert!(subset_variances(5, printed_share).close().unwrap() >= 0.0);
        assert!(subset_variances(5, |_, batch| 1.0 / batch).close().unwrap() < 0.0);
    }

    #[test]
    fn half_the_square_of_the_step_is_needed() {
        assert!(mirror_descents(500, 0.5).close().unwrap() >= 0.0);
        assert!(mirror_descents(500, 0.25).close().unwrap() < 0.0);
    }

    #[test]
    fn norms_without_their_tails_are_caught() {
        assert!(second_layers(400, 1.0, 0.0).unwrap().close().unwrap() < 0.0);
    }
}
