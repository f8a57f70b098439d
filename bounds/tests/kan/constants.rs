use dpbounds_bounds::kan::{
    Activation, Initialisation, InputDomain, Knots, Network, RealisedConstants,
    SELF_BOUNDING_CONSTANT, SplineBasis, SupNorms, feature_norm2, initialise, portable_normals,
    vector_constants, worst_case_constants,
};
use proptest::prelude::*;

use crate::oracle::{basis, config, flat, key, network, real, rows, size};

#[test]
fn realised_suprema_enclose_the_grid_and_match_the_reference() {
    for row in rows("net") {
        let (network, _) = network(row);
        let found = RealisedConstants::of(&network, 256).unwrap();
        for (values, name) in [(&found.slopes, "supL"), (&found.curvatures, "supK")] {
            let grid = flat(&row[format!("{name}_grid")]);
            let reference = flat(&row[format!("{name}_cert")]);
            for ((value, grid), reference) in values.iter().zip(&grid).zip(&reference) {
                assert!(value >= grid, "{name} {value} {grid}");
                assert!((value / reference - 1.0).abs() < 2e-4, "{name} {value} {reference}");
            }
        }
    }
}

/// The largest slope and curvature of a unit over a grid of preactivations.
fn grid(network: &Network, unit: usize) -> (f64, f64) {
    (-4000..=4000).fold((0.0_f64, 0.0_f64), |(slope, curvature), step| {
        let at = network.unit(unit, f64::from(step) / 500.0);
        (slope.max(at.slope.abs()), curvature.max(at.curvature.abs()))
    })
}

#[test]
fn realised_suprema_are_above_a_grid_and_not_far() {
    for act in [Activation::Tanh, Activation::Sigmoid] {
        for (degree, size) in [(1, 2), (2, 3), (2, 6), (3, 4), (3, 9), (5, 8), (8, 10), (12, 14)] {
            for kind in [Knots::Clamped, Knots::Cardinal] {
                let basis = SplineBasis::new(degree, size, kind).unwrap();
                let network = Network::new(basis, act, 1, portable_normals(4, 6 * size)).unwrap();
                let [coarse, fine] =
                    [4, 64].map(|pieces| RealisedConstants::of(&network, pieces).unwrap());
                for unit in 0..6 {
                    let (slope, curvature) = grid(&network, unit);
                    let (l, k) = (fine.slopes[unit], fine.curvatures[unit]);
                    let case = format!("{act:?} {degree} {size} {kind:?} {unit}");
                    assert!(l >= slope && k >= curvature, "{case}: {l} {slope} {k} {curvature}");
                    assert!(l <= 1.01 * slope && k <= 1.05 * curvature, "{case} {k} {curvature}");
                    let rounding = 1.0 + 1e-9;
                    assert!(coarse.slopes[unit] * rounding >= l, "{case}");
                    assert!(coarse.curvatures[unit] * rounding >= k, "{case}");
                }
            }
        }
    }
}

#[test]
fn greville_units_have_the_constants_of_the_activation() {
    for act in [Activation::Tanh, Activation::Sigmoid] {
        for (degree, size) in [(1, 2), (3, 4), (3, 8), (2, 5)] {
            let basis = SplineBasis::new(degree, size, Knots::Clamped).unwrap();
            let kind = Initialisation::Greville;
            let (network, _) = initialise(basis, act, 1, 4, kind, 1).unwrap();
            let found = RealisedConstants::of(&network, 64).unwrap();
            for (l, k) in found.slopes.iter().zip(&found.curvatures) {
                let (slope, curvature) = (l / act.largest_slope(), k / act.largest_curvature());
                assert!((1.0..1.001).contains(&slope), "{slope}");
                assert!((1.0..1.002).contains(&curvature), "{curvature}");
            }
        }
    }
}

#[test]
fn vector_level_matches_its_orientation_values() {
    for (degree, size, slope, curvature) in [
        (1, 2, 0.7072, 0.5444),
        (3, 4, 0.7590, 1.5001),
        (3, 6, 1.3297, 5.1736),
        (3, 8, 2.2536, 14.1255),
    ] {
        let basis = SplineBasis::new(degree, size, Knots::Clamped).unwrap();
        let mut unit = vec![0.0; size];
        unit[0] = 1.0;
        let network = Network::new(basis, Activation::Tanh, 1, unit).unwrap();
        let found = vector_constants(&network, 128, 1.0).unwrap();
        assert!((found.gradient / slope - 1.0).abs() < 1e-3, "{degree} {size} {found:?}");
        assert!((found.curvature / curvature - 1.0).abs() < 1e-3, "{degree} {size} {found:?}");
    }
}

#[test]
fn worst_case_matches_the_reference() {
    for row in rows("paper_consts") {
        let args = flat(&row["args"]);
        let (p, m) = (size(&row["args"][5]), size(&row["args"][6]));
        let act = if args[3] == 1.0 { Activation::Tanh } else { Activation::Sigmoid };
        let norms = SupNorms::of(&SplineBasis::new(3, p, Knots::Clamped).unwrap()).unwrap();
        assert_eq!([norms.function, norms.function_slope], [args[0], args[1]]);
        assert!((norms.function_curvature / args[2] - 1.0).abs() < 1e-15);
        let found = worst_case_constants(&norms, act, p, m, args[7]).unwrap();
        for (value, name) in
            [(found.gradient, "G"), (found.curvature, "nu"), (found.smoothness(), "beta")]
        {
            let expected = real(&row["out"][name]);
            assert!(value >= expected && value / expected - 1.0 < 4e-12, "{name} {value}");
        }
        assert!(worst_case_constants(&norms, act, p, m, 0.0).is_err());
    }
}

#[test]
fn self_bounding_constant_is_the_supremum_rounded_up() {
    assert!((SELF_BOUNDING_CONSTANT - real(&key("c0")["C0"])).abs() < 1e-15);
    for step in 1..100_000 {
        let x = f64::from(step) / 10_000.0;
        assert!((-x).exp_m1().powi(2) / x <= SELF_BOUNDING_CONSTANT);
    }
}

#[test]
fn feature_norms_are_above_the_supremum_and_near_the_reference() {
    for row in rows("hdom2") {
        let (basis, inputs) = (basis(row), size(&row["d"]));
        let found = feature_norm2(&basis, inputs, InputDomain::Ball).unwrap();
        let reference = real(&row["upper"]);
        assert!((found / reference - 1.0).abs() < 0.01, "{row} {found}");
        // Points of the ball with two different squares never exceed it.
        let g = |s: f64| {
            let norm = |v: f64| basis.values(v).iter().map(|b| b * b).sum::<f64>();
            norm(s.sqrt()).max(norm(-s.sqrt()))
        };
        let mut largest = 0.0_f64;
        #[allow(clippy::cast_precision_loss)]
        for many in 1..=inputs {
            let (d, share) = (inputs as f64, many as f64);
            for step in 0..=400 {
                let s = f64::from(step) / 400.0 / share;
                let rest = (1.0 - share * s).max(0.0) / (d - share).max(1.0);
                largest = largest.max((share * g(s) + (d - share) * g(rest)) / d);
            }
        }
        assert!(found >= largest, "{row} {found} {largest}");
        assert_eq!(feature_norm2(&basis, inputs, InputDomain::Cube).unwrap(), 1.0);
    }
}

#[test]
fn kinks_and_bad_arguments_are_refused() {
    let basis = SplineBasis::new(1, 3, Knots::Clamped).unwrap();
    let network = Network::new(basis.clone(), Activation::Tanh, 1, vec![1.0, 2.0, 0.5]).unwrap();
    assert!(RealisedConstants::of(&network, 32).is_err());
    assert!(vector_constants(&network, 32, 1.0).is_err());
    assert!(feature_norm2(&basis, 0, InputDomain::Cube).is_err());
    let basis = SplineBasis::new(2, 3, Knots::Clamped).unwrap();
    let network = Network::new(basis, Activation::Tanh, 1, vec![1.0, 2.0, 0.5]).unwrap();
    assert!(RealisedConstants::of(&network, 0).is_err());
    let found = RealisedConstants::of(&network, 8).unwrap();
    assert!(found.constants(1.5).is_err() && found.constants(f64::NAN).is_err());
}

proptest! {
    #![proptest_config(config(1, 40))]
    #[test]
    fn levels_are_ordered_and_bound_gradients_everywhere(
        seed in 0u64..1000, degree in 2usize..5, more in 1usize..5, scale in 0.1..20.0f64,
        x in -1.0..1.0f64, sigmoid: bool,
    ) {
        let basis = SplineBasis::new(degree, degree + more, Knots::Clamped).unwrap();
        let act = if sigmoid { Activation::Sigmoid } else { Activation::Tanh };
        let (network, weights) =
            initialise(basis, act, 1, 5, Initialisation::Gaussian, seed).unwrap();
        let weights: Vec<f64> = weights.iter().map(|w| scale * w).collect();
        let features = network.features(&[x]).unwrap();
        let h2: f64 = features.iter().map(|h| h * h).sum();
        let realised = RealisedConstants::of(&network, 32).unwrap().constants(h2.min(1.0)).unwrap();
        let vector = vector_constants(&network, 32, h2.min(1.0)).unwrap();
        prop_assert!(realised.gradient <= vector.gradient * (1.0 + 1e-12));
        prop_assert!(realised.curvature <= vector.curvature * (1.0 + 1e-12));
        prop_assert!(network.gradient(&weights, &features).unwrap().norm() <= realised.gradient);
        let direction = portable_normals(seed + 1, weights.len());
        let form = network.hessian_form(&weights, &features, &direction).unwrap();
        let length: f64 = direction.iter().map(|v| v * v).sum();
        prop_assert!(form.abs() <= realised.curvature * length);
    }
}
