//! Appendix B of arXiv 2605.26222. The copies at hand lost most headings: a number in brackets is inferred from the
//! order of the text.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use super::super::claim::{Claim, Level, Method};
use super::super::lab::{normals, rng};
use super::super::linear::{dot, minus, norm, plus, square};
use super::super::measured::{CheckError, Measured, Slacks};

const LOST: &str = "the statement of this number cannot be made out in the copies at hand";

pub(super) const CLAIMS: &[Claim] = &[
    Claim::max_information("M-B.1", "Lemma B.1")
        .states("the information density of Ψ(S) + Z is at most <Ψ, Z> + ‖Ψ‖²/2 + E‖Ψ‖²/2 for centred Ψ")
        .checked(Method::Inequality, density),
    Claim::max_information("M-B.2", "Lemma B.2 (inferred)")
        .states("log E e^{t<Z, a> + b} = log E e^{t²‖a‖²/2 + b} for an independent Gaussian Z")
        .checked(Method::ExactDensities, gaussian_moment),
    Claim::max_information("M-B.3", "Lemma B.3")
        .states("log E e^{t‖x+V‖²} <= c²t/2 + t‖x‖²/(1 − c²t/2) for a centred V of diameter c")
        .checked(Method::BruteForce, |level| shifted_square(level, Shift::Diameter)),
    Claim::max_information("M-B.4", "Proposition B.4")
        .states("log E e^{λ‖f−Ef‖²} <= −log(1 − nc²λ/2) and E‖f−Ef‖² <= nc²/2 for differences bounded by c")
        .checked(Method::BruteForce, bounded_differences),
    Claim::max_information("M-B.5", "Lemma B.5")
        .states("the function of λ in (7) is strictly convex")
        .checked(Method::Inequality, |_| convexity(false)),
    Claim::max_information("M-B.6", "Lemma B.6").states("unreadable: presumably Lemma B.1 for streaming DP-SGD").missing(LOST),
    Claim::max_information("M-B.7", "Lemma B.7")
        .states("log E e^{t‖x+V̄‖²} <= r²t + t‖x‖²/(1 − 2r²t) for a centred V̄ = V − EV with ‖V‖ <= r")
        .checked(Method::BruteForce, |level| shifted_square(level, Shift::Radius)),
    Claim::max_information("M-B.8", "Proposition B.8 (inferred)")
        .states("log E e^{λ‖f−Ef‖²} <= −log(1 − 2mr²λ)/2 and E‖f−Ef‖² <= mr² for sums of m vectors of norm at most r")
        .checked(Method::BruteForce, bounded_sums),
    Claim::max_information("M-B.9", "Lemma B.9 (inferred)")
        .states("the function of λ in (10) is strictly convex")
        .checked(Method::Inequality, |_| convexity(true)),
    Claim::max_information("M-B.10", "Lemma B.10")
        .states("∫ w^α dμ ∫ w^{1−α} dμ of the posterior of one record has mean at most e^{(α−1)ε} under (α, ε)-RDP")
        .checked(Method::BruteForce, symmetrised),
    Claim::max_information("M-B.12", "Lemma B.12")
        .states("ψ(u) = asinh² sqrt u is increasing, concave and at most log²(4(1+u))/4, so v* <= v")
        .checked(Method::Inequality, |_| Measured::of(psi(4.0), "2000 points u from 1e-12 to 1e12; v* and v at 400 settings")),
    Claim::max_information("M-B.13", "Lemma B.13")
        .states("the infimum over λ of v* + (α−1)v*λ/((α−1)−λ) + L_2/λ is v* + 2 sqrt(v* L_2) + L_2/(α−1)")
        .checked(Method::Identity, |_| Measured::of(infimum(2.0), "fine grids of λ at 400 settings; tolerance 1e-6")),
    Claim::max_information("M-B.14", "Lemma B.14 (inferred)")
        .states("Var V <= ψ(AB−1)/h² if E e^{hV} <= A and E e^{−hV} <= B")
        .checked(Method::BruteForce, variance),
    Claim::max_information("M-B.15", "Lemma B.15")
        .states("the log-moments g of a density w obey g'' <= ψ(M−1)/(α−1)² on [−1, 0], hence KL <= ψ(M−1)/(2(α−1)²)")
        .checked(Method::BruteForce, relative_entropy),
];

/// `asinh² sqrt u`.
pub(super) fn psi_of(u: f64) -> f64 {
    u.sqrt().asinh().powi(2)
}

fn psi(factor: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let at = |step: i32| 10.0_f64.powf(f64::from(step) / 80.0 - 12.0);
    for step in 0..1920 {
        let (a, b, c) = (at(step), at(step + 1), at(step + 2));
        slacks.at_most(psi_of(a), psi_of(b));
        // Slopes fall.
        let (left, right) = ((psi_of(b) - psi_of(a)) / (b - a), (psi_of(c) - psi_of(b)) / (c - b));
        slacks.at_most_of(right, left * (1.0 + 1e-9), left);
        slacks.at_most(psi_of(a), (factor * (1.0 + a)).ln().powi(2) / 4.0);
    }
    for h in [0.1_f64, 1.0, 10.0, 100.0] {
        for epsilon in [1e-3_f64, 0.1, 1.0, 5.0] {
            for level in [0.5_f64, 1e-2, 1e-6] {
                let sharp = psi_of((h * epsilon).exp_m1() / level) / (2.0 * h * h);
                let printed = (epsilon + (factor / level).ln() / h).powi(2) / 8.0;
                slacks.at_most(sharp, printed);
            }
        }
    }
    slacks
}

fn infimum(root: f64) -> Slacks {
    let mut slacks = Slacks::new();
    for h in [0.1_f64, 1.0, 10.0, 100.0] {
        for v in [1e-6, 1e-3, 1.0, 100.0] {
            for log in [0.1, 1.0, 10.0, 50.0] {
                let at = |l: f64| v + h * v * l / (h - l) + log / l;
                // 1/λ = 1/h + sqrt(v/L) is the stationary point; the grid knows nothing of it.
                let smallest = (1..100_000)
                    .map(|step| at(h / (1.0 + (f64::from(step) / 2000.0 - 25.0).exp())))
                    .fold(f64::INFINITY, f64::min);
                let closed = v + root * (v * log).sqrt() + log / h;
                slacks.equal(smallest, closed, closed, 1e-6);
            }
        }
    }
    slacks
}

fn convexity(streaming: bool) -> Result<Measured, CheckError> {
    let mut slacks = Slacks::new();
    for nu in [1e-6_f64, 1e-3, 0.1, 1.0, 100.0] {
        for log in [0.1, 1.0, 10.0, 100.0] {
            for steps in if streaming { vec![1.0, 10.0, 1000.0] } else { vec![1.0] } {
                let (scale, weight) = if streaming { (4.0 * nu, steps / 2.0) } else { (nu, 1.0) };
                let end = 2.0 / (scale + scale.sqrt() * (scale + 4.0).sqrt());
                let at = |l: f64| (log - weight * (-(l + l * l) * scale).ln_1p()) / l;
                for step in 1..200 {
                    let l = end * f64::from(step) / 200.0;
                    let width = end / 1000.0;
                    let (left, middle, right) = (at(l - width), at(l), at(l + width));
                    slacks.at_most(2.0 * middle, left + right);
                }
            }
        }
    }
    Measured::of(
        slacks,
        "second differences at 199 points of the range for ν from 1e-6 to 100 and L from 0.1 to 100",
    )
}

/// A centred law of random points: masses and points.
fn centred(rng: &mut ChaCha8Rng, count: usize, size: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let raw: Vec<f64> = (0..count).map(|_| rng.random_range(0.01..1.0)).collect();
    let total: f64 = raw.iter().sum();
    let masses: Vec<f64> = raw.iter().map(|mass| mass / total).collect();
    let points: Vec<Vec<f64>> = (0..count).map(|_| normals(rng, size)).collect();
    (masses, points)
}

fn mean(masses: &[f64], points: &[Vec<f64>]) -> Vec<f64> {
    let mut mean = vec![0.0; points[0].len()];
    for (mass, point) in masses.iter().zip(points) {
        mean = plus(&mean, *mass, point);
    }
    mean
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shift {
    Diameter,
    Radius,
}

fn shifted_square(level: Level, shift: Shift) -> Result<Measured, CheckError> {
    let cases = level.pick(3000, 200_000);
    Measured::of(
        shifted_squares(cases, shift, 1.0),
        format!(
            "{cases} random laws on 2 to 5 points in 1 to 3 dimensions, shifts, t up to 99 % of its range"
        ),
    )
}

/// `scale` shrinks c² or r².
fn shifted_squares(cases: usize, shift: Shift, scale: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(11);
    for _ in 0..cases {
        let (count, size) = (rng.random_range(2..=5), rng.random_range(1..=3));
        let (masses, mut points) = centred(&mut rng, count, size);
        // Half c², or 2r² and r² below.
        let radius2 = points.iter().map(|v| square(v)).fold(0.0, f64::max);
        let centre = mean(&masses, &points);
        points.iter_mut().for_each(|point| *point = minus(point, &centre));
        let mut diameter2 = 0.0_f64;
        for a in &points {
            for b in &points {
                diameter2 = diameter2.max(square(&minus(a, b)));
            }
        }
        let (leading, inverse) = match shift {
            Shift::Diameter => (scale * diameter2 / 2.0, scale * diameter2 / 2.0),
            Shift::Radius => (scale * radius2, 2.0 * scale * radius2),
        };
        let t = rng.random_range(0.01..0.99) / inverse;
        let length = rng.random_range(0.0..2.0);
        let x: Vec<f64> = normals(&mut rng, size).iter().map(|z| length * z).collect();
        let exponents: Vec<f64> = points.iter().map(|v| t * square(&plus(&x, 1.0, v))).collect();
        let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 =
            masses.iter().zip(&exponents).map(|(mass, e)| mass * (e - largest).exp()).sum();
        let limit = leading * t + t / (1.0 - inverse * t) * square(&x);
        slacks.at_most(largest + sum.ln(), limit);
    }
    slacks
}

fn bounded_differences(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(500, 30_000);
    Measured::of(
        differences(cases, 0.5),
        format!("{cases} random functions of 1 to 4 biased bits in 1 to 3 dimensions, all inputs"),
    )
}

/// The proposition with `half n c²`.
fn differences(cases: usize, half: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(12);
    for case in 0..cases {
        let (bits, size) = (rng.random_range(1..=4), rng.random_range(1..=3));
        let p: f64 = rng.random_range(0.05..0.95);
        let values: Vec<Vec<f64>> = if case % 2 == 0 {
            (0..1 << bits).map(|_| normals(&mut rng, size)).collect()
        } else {
            // Sums, which come closest.
            let steps: Vec<Vec<f64>> = (0..bits)
                .map(|_| {
                    let step = normals(&mut rng, size);
                    let length = norm(&step);
                    step.iter().map(|x| x / length).collect()
                })
                .collect();
            let of = |input: usize| {
                let chosen = (0..bits).filter(move |bit| input >> bit & 1 == 1);
                chosen.fold(vec![0.0; size], |sum, bit| plus(&sum, 1.0, &steps[bit]))
            };
            (0..1 << bits).map(of).collect()
        };
        let masses: Vec<f64> = (0..1_usize << bits)
            .map(|input| {
                let ones = input.count_ones() as i32;
                p.powi(ones) * (1.0 - p).powi(bits as i32 - ones)
            })
            .collect();
        let mut c2 = 0.0_f64;
        for input in 0..1_usize << bits {
            for bit in 0..bits {
                c2 = c2.max(square(&minus(&values[input], &values[input ^ (1 << bit)])));
            }
        }
        moments(&mut slacks, &mut rng, &masses, &values, half * bits as f64 * c2, 1.0);
    }
    slacks
}

/// `E‖f−Ef‖² <= size` and `log E e^{λ‖f−Ef‖²} <= −power log(1 − size λ/power)`.
fn moments(
    slacks: &mut Slacks,
    rng: &mut ChaCha8Rng,
    masses: &[f64],
    values: &[Vec<f64>],
    size: f64,
    power: f64,
) {
    let centre = mean(masses, values);
    let squares: Vec<f64> = values.iter().map(|value| square(&minus(value, &centre))).collect();
    slacks.at_most(dot(masses, &squares), size);
    let share: f64 = rng.random_range(0.01..0.99);
    let lambda = share * power / size;
    let moment: f64 = masses.iter().zip(&squares).map(|(mass, s)| mass * (lambda * s).exp()).sum();
    slacks.at_most(moment.ln(), -power * (-share).ln_1p());
}

fn bounded_sums(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(500, 30_000);
    Measured::of(
        sums(cases, 1.0),
        format!(
            "{cases} sums of 1 to 4 independent two-valued vectors in 1 to 3 dimensions, all values"
        ),
    )
}

fn sums(cases: usize, factor: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(13);
    for _ in 0..cases {
        let (count, size) = (rng.random_range(1..=4), rng.random_range(1..=3));
        let mut masses = vec![1.0];
        let mut values = vec![vec![0.0; size]];
        for _ in 0..count {
            let p: f64 = rng.random_range(0.05..0.95);
            let mut vector = || {
                let v = normals(&mut rng, size);
                let length = norm(&v);
                v.iter().map(|x| x / length).collect::<Vec<_>>()
            };
            let (a, b) = (vector(), vector());
            let with =
                |v: &Vec<f64>| values.iter().map(|value| plus(value, 1.0, v)).collect::<Vec<_>>();
            let (first, second) = (with(&a), with(&b));
            values = [first, second].concat();
            masses =
                masses.iter().map(|m| m * p).chain(masses.iter().map(|m| m * (1.0 - p))).collect();
        }
        moments(&mut slacks, &mut rng, &masses, &values, factor * count as f64, 0.5);
    }
    slacks
}

fn density(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(300, 10_000);
    Measured::of(
        densities(cases, 0.5),
        format!(
            "{cases} random centred Ψ on 2 to 5 data sets in 1 to 3 dimensions, 20 draws of Z each"
        ),
    )
}

fn densities(cases: usize, half: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(14);
    for _ in 0..cases {
        let (count, size) = (rng.random_range(2..=5), rng.random_range(1..=3));
        let (masses, mut points) = centred(&mut rng, count, size);
        let centre = mean(&masses, &points);
        points.iter_mut().for_each(|point| *point = minus(point, &centre));
        let average: f64 = masses.iter().zip(&points).map(|(m, v)| m * square(v)).sum();
        for _ in 0..20 {
            let z = normals(&mut rng, size);
            let own = &points[rng.random_range(0..count)];
            let y = plus(own, 1.0, &z);
            let exponent = |v: &Vec<f64>| -0.5 * square(&minus(&y, v));
            let mixture: f64 = masses.iter().zip(&points).map(|(m, v)| m * exponent(v).exp()).sum();
            let density = exponent(own) - mixture.ln();
            let limit = dot(own, &z) + half * square(own) + half * average;
            slacks.at_most_of(density, limit, 1.0 + limit.abs());
        }
    }
    slacks
}

fn gaussian_moment(_: Level) -> Result<Measured, CheckError> {
    let mut slacks = Slacks::new();
    for t in [-1.5_f64, 0.3, 2.0] {
        for (a, b) in [(0.5_f64, 0.2), (1.0, -1.0), (2.0, 0.4)] {
            // Two values of (a, b), each with probability one half; Z by the trapezoidal rule.
            let pairs = [(a, b), (0.3 * a, -b)];
            let mut left = 0.0;
            for step in 0..=40_000 {
                let z = f64::from(step) / 1000.0 - 20.0;
                let weight = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() / 1000.0;
                left +=
                    pairs.iter().map(|(a, b)| 0.5 * weight * (t * z * a + b).exp()).sum::<f64>();
            }
            let right: f64 = pairs.iter().map(|(a, b)| 0.5 * (0.5 * t * t * a * a + b).exp()).sum();
            slacks.equal(left.ln(), right.ln(), 1.0 + right.ln().abs(), 1e-9);
        }
    }
    Measured::of(slacks, "9 settings with random (a, b), quadrature; tolerance 1e-9")
}

fn symmetrised(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(2000, 100_000);
    Measured::of(
        symmetrised_moments(cases, 1.0),
        format!(
            "{cases} random mechanisms on one record of 2 to 4 values with 2 to 5 outputs, exact ε, α from 1.05 to 10"
        ),
    )
}

fn symmetrised_moments(cases: usize, share: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(15);
    for _ in 0..cases {
        let (values, outputs) = (rng.random_range(2..=4), rng.random_range(2..=5));
        let (prior, _) = centred(&mut rng, values, 1);
        let rows: Vec<Vec<f64>> = (0..values).map(|_| centred(&mut rng, outputs, 1).0).collect();
        let alpha: f64 = rng.random_range(1.05..10.0);
        let moment = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).map(|(a, b)| a.powf(alpha) * b.powf(1.0 - alpha)).sum()
        };
        let mut worst = 1.0_f64;
        for a in &rows {
            for b in &rows {
                worst = worst.max(moment(a, b));
            }
        }
        let mut average = 0.0;
        for y in 0..outputs {
            let marginal: f64 = prior.iter().zip(&rows).map(|(p, row)| p * row[y]).sum();
            let power = |exponent: f64| -> f64 {
                prior.iter().zip(&rows).map(|(p, row)| p * (row[y] / marginal).powf(exponent)).sum()
            };
            average += marginal * power(alpha) * power(1.0 - alpha);
        }
        slacks.at_most(average, worst.powf(share));
    }
    slacks
}

fn variance(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(3000, 200_000);
    Measured::of(
        variances(cases, 1.0),
        format!("{cases} random laws on 2 to 5 values with their exact moments, h from 0.1 to 10"),
    )
}

fn variances(cases: usize, factor: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(16);
    for _ in 0..cases {
        let count = rng.random_range(2..=5);
        let (masses, points) = centred(&mut rng, count, 1);
        let h = 10.0_f64.powf(rng.random_range(-1.0..1.0));
        let average: f64 = masses.iter().zip(&points).map(|(m, v)| m * v[0]).sum();
        let spread: f64 =
            masses.iter().zip(&points).map(|(m, v)| m * (v[0] - average).powi(2)).sum();
        // A − 1 and B − 1: where both are small AB − 1 would lose its digits.
        let excess = |h: f64| -> f64 {
            masses.iter().zip(&points).map(|(m, v)| m * (h * (v[0] - average)).exp_m1()).sum()
        };
        let (up, down) = (excess(h), excess(-h));
        let product_excess = up + down + up * down;
        slacks.at_most(spread, factor * psi_of(product_excess.max(0.0)) / (h * h) * (1.0 + 1e-9));
    }
    slacks
}

fn relative_entropy(level: Level) -> Result<Measured, CheckError> {
    let cases = level.pick(3000, 200_000);
    Measured::of(
        entropies(cases, 0.5),
        format!(
            "{cases} random densities on 2 to 5 values, α from 1.05 to 10; KL, and g'' by differences at 9 points"
        ),
    )
}

fn entropies(cases: usize, half: f64) -> Slacks {
    let mut slacks = Slacks::new();
    let mut rng = rng(17);
    for _ in 0..cases {
        let count = rng.random_range(2..=5);
        let (base, _) = centred(&mut rng, count, 1);
        let (law, _) = centred(&mut rng, count, 1);
        let h: f64 = rng.random_range(0.05..9.0);
        let moment = |exponent: f64| -> f64 {
            base.iter().zip(&law).map(|(m, w)| m * (w / m).powf(exponent)).sum()
        };
        let product = moment(1.0 + h) * moment(-h);
        let limit = psi_of((product - 1.0).max(0.0)) / (h * h);
        let entropy: f64 = base.iter().zip(&law).map(|(m, w)| w * (w / m).ln()).sum();
        slacks.at_most(entropy, half * limit * (1.0 + 1e-9));
        let g = |t: f64| moment(1.0 + t).ln();
        for step in 1..10 {
            let (t, width) = (-f64::from(step) / 10.0, 1e-3);
            let second = (g(t + width) + g(t - width) - 2.0 * g(t)) / (width * width);
            slacks.at_most_of(second, 2.0 * half * limit + 1e-6, second.abs().max(1e-3));
        }
    }
    slacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_constants_are_caught() {
        assert!(psi(4.0).close().unwrap() >= 0.0 && psi(2.0).close().unwrap() < 0.0);
        assert!(infimum(2.0).close().unwrap() >= 0.0 && infimum(1.9).close().unwrap() < 0.0);
        for shift in [Shift::Diameter, Shift::Radius] {
            assert!(shifted_squares(3000, shift, 1.0).close().unwrap() >= 0.0);
            assert!(shifted_squares(3000, shift, 0.4).close().unwrap() < 0.0, "{shift:?}");
        }
        assert!(differences(200, 0.5).close().unwrap() >= 0.0);
        assert!(differences(200, 0.2).close().unwrap() < 0.0);
        assert!(sums(200, 1.0).close().unwrap() >= 0.0 && sums(200, 0.5).close().unwrap() < 0.0);
        assert!(
            densities(100, 0.5).close().unwrap() >= 0.0
                && densities(100, 0.2).close().unwrap() < 0.0
        );
        assert!(symmetrised_moments(500, 0.3).close().unwrap() < 0.0);
        assert!(variances(1000, 0.8).close().unwrap() < 0.0);
        assert!(entropies(1000, 0.2).close().unwrap() < 0.0);
    }
}
