use dpbounds_bounds::Warrant;
use dpbounds_bounds::kan::{
    Activation, Initialisation, Knots, Linearisation, MarginOptions, Sample, SplineBasis,
    initialise, margin_of_gram, ntk_margin, portable_normals,
};
use proptest::prelude::*;

use crate::oracle::{assert_close, config, flat, network, real, rows, size};

#[test]
fn gram_matrix_and_margin_match_the_reference() {
    for row in rows("gram") {
        let (network, weights) = network(row);
        let sample = Sample::new(size(&row["d"]), flat(&row["X"]), flat(&row["y"])).unwrap();
        let at = Linearisation::at(&network, &weights, &sample).unwrap();
        let (n, y) = (sample.len(), sample.labels());
        let signed: Vec<f64> = flat(&row["K"])
            .iter()
            .enumerate()
            .map(|(index, k)| y[index / n] * y[index % n] * k)
            .collect();
        assert_close(at.gram(), &signed, 1e-14, "gram matrix");
        let found = ntk_margin(&at, MarginOptions::default()).unwrap();
        let (lower, upper) = (real(&row["gamma_lower"]), real(&row["gamma_upper"]));
        eprintln!("{:e} {:e} {lower:e} {upper:e} {}", found.lower, found.upper, found.iterations);
        assert!(found.converged && found.lower <= upper && found.upper >= lower, "{found:?}");
        assert!((found.lower - lower).abs() <= 1e-6 * lower, "{found:?}");
        assert!((found.upper - upper).abs() <= 1e-6 * upper, "{found:?}");
        assert_close(&found.weights, &flat(&row["beta"]), 1e-4, "weights");
    }
}

#[test]
fn margin_has_a_bracket_with_a_warrant() {
    let found = margin_of_gram(&[2.0, 1.0, 1.0, 3.0], 2, MarginOptions::default()).unwrap();
    let bound = found.bound().unwrap();
    assert_eq!(bound.warrant, Warrant::Proven);
    // β = (2, 1)/3 and βᵀQβ = 5/3.
    let exact = (5.0_f64 / 3.0).sqrt();
    assert!(bound.lower.unwrap() <= exact && bound.upper.unwrap() >= exact);
    assert!(bound.upper.unwrap() - bound.lower.unwrap() < 1e-8);
}

#[test]
fn contradictions_have_margin_zero_and_early_stops_a_valid_bracket() {
    let basis = SplineBasis::new(3, 4, Knots::Clamped).unwrap();
    let (network, weights) =
        initialise(basis, Activation::Tanh, 1, 8, Initialisation::Gaussian, 2).unwrap();
    let sample = |x: &[f64], y: &[f64]| Sample::new(1, x.to_vec(), y.to_vec()).unwrap();
    let twice = sample(&[0.2, 0.0, -0.0], &[1.0, 1.0, -1.0]);
    let at = Linearisation::at(&network, &weights, &twice).unwrap();
    let found = ntk_margin(&at, MarginOptions::default()).unwrap();
    assert_eq!((found.lower, found.upper, found.converged), (0.0, 0.0, true));
    // Without knowing the inputs: zero up to rounding.
    let blind = margin_of_gram(at.gram(), 3, MarginOptions::default()).unwrap();
    assert!(blind.lower == 0.0 && blind.upper < 1e-5 && blind.converged);
    let apart = sample(&[-0.9, -0.3, 0.4, 0.8], &[-1.0, -1.0, 1.0, 1.0]);
    let at = Linearisation::at(&network, &weights, &apart).unwrap();
    let full = ntk_margin(&at, MarginOptions::default()).unwrap();
    for iterations in [0, 1, 2, 5] {
        let options = MarginOptions { iterations, ..MarginOptions::default() };
        let early = ntk_margin(&at, options).unwrap();
        assert!(early.lower <= full.upper && early.upper >= full.lower);
        assert!(early.iterations <= iterations);
    }
}

#[test]
fn samples_that_no_weights_separate_have_margin_zero_up_to_rounding() {
    for (degree, size) in [(1, 2), (3, 4)] {
        let basis = SplineBasis::new(degree, size, Knots::Clamped).unwrap();
        let (network, weights) =
            initialise(basis, Activation::Tanh, 1, 40, Initialisation::Gaussian, 3).unwrap();
        let draws = portable_normals(8, 160);
        let inputs = draws[..80].iter().map(|z| z.tanh()).collect();
        let labels = draws[80..].iter().map(|z| z.signum()).collect();
        let sample = Sample::new(1, inputs, labels).unwrap();
        let at = Linearisation::at(&network, &weights, &sample).unwrap();
        let found = ntk_margin(&at, MarginOptions::default()).unwrap();
        assert!(found.lower == 0.0 && found.upper < 1e-5 && found.converged, "{found:?}");
    }
    let nothing = margin_of_gram(&[0.0; 4], 2, MarginOptions::default()).unwrap();
    assert_eq!((nothing.lower, nothing.upper), (0.0, 0.0));
}

#[test]
fn merging_equal_records_keeps_the_margin() {
    let basis = SplineBasis::new(2, 4, Knots::Clamped).unwrap();
    let (network, weights) =
        initialise(basis, Activation::Sigmoid, 1, 20, Initialisation::Gaussian, 2).unwrap();
    let x = vec![0.5, -0.5, 0.5, 0.1, -0.5, 0.5];
    let y = vec![1.0, -1.0, 1.0, 1.0, -1.0, 1.0];
    let sample = Sample::new(1, x, y).unwrap();
    let merged = sample.merged();
    assert_eq!((merged.len(), merged.records(), sample.records()), (3, 6, 6));
    let margin = |sample: &Sample| {
        let at = Linearisation::at(&network, &weights, sample).unwrap();
        ntk_margin(&at, MarginOptions::default()).unwrap()
    };
    let (all, few) = (margin(&sample), margin(&merged));
    assert!((all.upper / few.upper - 1.0).abs() < 1e-8, "{all:?} {few:?}");
}

#[test]
fn bad_matrices_samples_and_options_are_refused() {
    let margin = |gram: &[f64], n| margin_of_gram(gram, n, MarginOptions::default());
    assert!(margin(&[], 0).is_err() && margin(&[1.0, 2.0], 2).is_err());
    assert!(margin(&[1.0, 0.5, 0.4, 1.0], 2).is_err() && margin(&[-1.0], 1).is_err());
    assert!(margin(&[f64::NAN], 1).is_err());
    let options = MarginOptions { tolerance: 0.0, ..MarginOptions::default() };
    assert!(margin_of_gram(&[1.0], 1, options).is_err());
    assert!(margin(&[4.0], 1).unwrap().upper >= 2.0);
    assert!(Sample::new(1, vec![], vec![]).is_err());
    assert!(Sample::new(1, vec![0.5], vec![0.0]).is_err());
    assert!(Sample::new(1, vec![1.5], vec![1.0]).is_err());
    assert!(Sample::new(2, vec![0.5], vec![1.0]).is_err());
    assert!(Sample::with_multiplicities(1, vec![0.5], vec![1.0], vec![0]).is_err());
}

proptest! {
    #![proptest_config(config(2, 60))]
    #[test]
    fn margin_scales_falls_with_more_records_and_has_a_witness(
        seed in 0u64..10_000, n in 2usize..12, dimension in 2usize..20, scale in 0.01..100.0f64,
    ) {
        // Vectors with a common direction, so that they are separable now and then.
        let mut vectors = portable_normals(seed, n * dimension);
        for vector in vectors.chunks_exact_mut(dimension) {
            vector[0] += 2.0;
        }
        let row = |i: usize| &vectors[i * dimension..(i + 1) * dimension];
        let gram = |n: usize, scale: f64| -> Vec<f64> {
            let entry = |i: usize, k: usize| {
                scale * row(i).iter().zip(row(k)).map(|(a, b)| a * b).sum::<f64>()
            };
            (0..n * n).map(|index| entry(index / n, index % n)).collect()
        };
        let options = MarginOptions { iterations: 20_000, ..MarginOptions::default() };
        let all = margin_of_gram(&gram(n, 1.0), n, options).unwrap();
        let fewer = margin_of_gram(&gram(n - 1, 1.0), n - 1, options).unwrap();
        let scaled = margin_of_gram(&gram(n, scale * scale), n, options).unwrap();
        prop_assert!(all.lower <= all.upper && all.lower <= fewer.upper);
        prop_assert!(all.lower * scale <= scaled.upper && scaled.lower <= all.upper * scale);
        // The direction Σ β_i g_i attains the lower side.
        let mut direction = vec![0.0; dimension];
        for (index, weight) in all.weights.iter().enumerate() {
            for (value, entry) in direction.iter_mut().zip(row(index)) {
                *value += weight * entry;
            }
        }
        let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        let attained = (0..n)
            .map(|i| row(i).iter().zip(&direction).map(|(a, b)| a * b).sum::<f64>() / length)
            .fold(f64::INFINITY, f64::min);
        prop_assert!(all.lower <= attained.max(0.0), "{} {attained}", all.lower);
        prop_assert!(all.upper >= length);
    }
}
