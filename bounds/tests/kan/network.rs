use dpbounds_bounds::kan::{
    Activation, Initialisation, Knots, Network, SplineBasis, SupNorms, initialise, logistic_loss,
    logistic_slope, portable_normals,
};
use proptest::prelude::*;

use crate::oracle::{assert_close, basis, config, flat, key, network, real, rows};

#[test]
fn basis_and_its_derivatives_match_the_reference() {
    for row in rows("basis") {
        let basis = basis(row);
        assert_close(basis.knots(), &flat(&row["knots"]), 1e-15, "knots");
        for (index, v) in flat(&row["v"]).into_iter().enumerate() {
            for (order, name) in [(0, "h"), (1, "h1"), (2, "h2")] {
                // At a knot that is not a dyadic number the reference may lie on its other side.
                let knot = basis.knots().iter().any(|knot| (knot - v).abs() < 1e-14);
                let expected = flat(&row[name][index]);
                let found = [v, v + 1e-13, v - 1e-13].map(|v| basis.derivative(v, order));
                let near = |found: &[f64], tolerance| {
                    found
                        .iter()
                        .zip(&expected)
                        .all(|(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + b.abs()))
                };
                let close = near(&found[0], 3e-14)
                    || (knot && order > 0 && found[1..].iter().any(|f| near(f, 1e-10)));
                assert!(close, "{} {v} {order}: {:?} {expected:?}", row["p"], found[0]);
            }
        }
    }
}

#[test]
fn suprema_match_their_closed_forms() {
    let check = |row: &serde_json::Value, values: &serde_json::Value| {
        let norms = SupNorms::of(&basis(row)).unwrap();
        let found = [
            norms.function_slope,
            norms.vector_slope,
            norms.function_curvature,
            norms.vector_curvature,
        ];
        for (value, name) in found.iter().zip(["B1", "S1", "B2", "S2"]) {
            let expected = real(&values[name]);
            assert!((value - expected).abs() <= 3e-15 * expected, "{row}: {name} {value}");
        }
    };
    rows("sup_closed").iter().for_each(|row| check(row, row));
    rows("basis").iter().for_each(|row| check(row, &row["sup"]));
    assert!(SupNorms::of(&SplineBasis::new(3, 6, Knots::Cardinal).unwrap()).is_err());
}

#[test]
fn network_matches_the_reference() {
    for row in rows("net") {
        let (network, weights) = network(row);
        let features = network.features(&flat(&row["x"])).unwrap();
        assert_close(&features, &flat(&row["h"]), 1e-14, "h");
        let preactivations = network.preactivations(&weights, &features).unwrap();
        assert_close(&preactivations, &flat(&row["a"]), 1e-14, "a");
        let output = network.output(&weights, &features).unwrap();
        assert_close(&[output.value], &[real(&row["f"])], 1e-13, "f");
        assert_close(&output.slopes, &flat(&row["alpha"]), 1e-13, "alpha");
        let curvatures = network.curvatures(&weights, &features).unwrap();
        assert_close(&curvatures, &flat(&row["phi2"]), 1e-13, "phi2");
        let gradient = network.gradient(&weights, &features).unwrap();
        assert_close(&gradient.dense(), &flat(&row["grad"]), 1e-13, "grad");
        assert_close(&[gradient.norm()], &[real(&row["grad_norm"])], 1e-13, "norm");
        let y = real(&row["y"]);
        let margin = y * output.value;
        assert_close(&[logistic_loss(margin)], &[real(&row["loss"])], 1e-14, "loss");
        let factor = -y * logistic_slope(margin);
        let loss_gradient: Vec<f64> = gradient.dense().iter().map(|g| factor * g).collect();
        assert_close(&loss_gradient, &flat(&row["loss_grad"]), 1e-13, "loss gradient");
        hessian_blocks(row, &network, &weights, &features);
    }
}

/// Every entry of every block by polarisation of the quadratic form.
fn hessian_blocks(row: &serde_json::Value, network: &Network, weights: &[f64], features: &[f64]) {
    let count = network.feature_count();
    let form = |entries: &[(usize, f64)]| {
        let mut direction = vec![0.0; network.parameters()];
        entries.iter().for_each(|(index, value)| direction[*index] += value);
        network.hessian_form(weights, features, &direction).unwrap()
    };
    for unit in 0..network.width() {
        let mut block = Vec::new();
        for i in unit * count..(unit + 1) * count {
            for k in unit * count..(unit + 1) * count {
                block.push((form(&[(i, 1.0), (k, 1.0)]) - form(&[(i, 1.0), (k, -1.0)])) / 4.0);
            }
        }
        assert_close(&block, &flat(&row["hess_blocks"][unit]), 1e-13, "Hessian");
    }
}

#[test]
fn gradient_and_hessian_match_finite_differences() {
    for (degree, size, act) in
        [(1, 2, Activation::Tanh), (3, 7, Activation::Sigmoid), (4, 6, Activation::Tanh)]
    {
        for kind in [Knots::Clamped, Knots::Cardinal] {
            let basis = SplineBasis::new(degree, size, kind).unwrap();
            let (network, weights) =
                initialise(basis, act, 2, 6, Initialisation::Gaussian, 5).unwrap();
            let features = network.features(&[0.31, -0.77]).unwrap();
            let direction = portable_normals(9, weights.len());
            let at = |step: f64| {
                let moved: Vec<f64> =
                    weights.iter().zip(&direction).map(|(w, v)| w + step * v).collect();
                network.output(&moved, &features).unwrap().value
            };
            let gradient = network.gradient(&weights, &features).unwrap().dense();
            let along: f64 = gradient.iter().zip(&direction).map(|(g, v)| g * v).sum();
            let step = 1e-5;
            let first = (at(step) - at(-step)) / (2.0 * step);
            assert!((first - along).abs() < 1e-8 * (1.0 + along.abs()), "{first} {along}");
            let step = 1e-4;
            let second = (at(step) - 2.0 * at(0.0) + at(-step)) / (step * step);
            let form = network.hessian_form(&weights, &features, &direction).unwrap();
            assert!((second - form).abs() < 1e-5 * (1.0 + form.abs()), "{second} {form}");
        }
    }
}

#[test]
fn portable_stream_matches_the_reference() {
    let first = flat(&key("splitmix_normals")["first"]);
    assert_close(&portable_normals(1, first.len()), &first, 1e-15, "normals");
    assert_eq!(portable_normals(1, 7)[..], portable_normals(1, 8)[..7]);
}

#[test]
fn paired_initialisations_start_at_zero() {
    for initialisation in [Initialisation::Antithetic, Initialisation::Greville] {
        for width in [2, 6, 50, 1000, 4098] {
            let basis = SplineBasis::new(3, 5, Knots::Clamped).unwrap();
            let (network, weights) =
                initialise(basis, Activation::Tanh, 2, width, initialisation, 3).unwrap();
            let features = network.features(&[0.3, -0.9]).unwrap();
            assert_eq!(network.output(&weights, &features).unwrap().value, 0.0);
        }
    }
    let basis = SplineBasis::new(3, 5, Knots::Clamped).unwrap();
    let refused = |inputs, width, kind| {
        initialise(basis.clone(), Activation::Tanh, inputs, width, kind, 1).is_err()
    };
    assert!(refused(1, 3, Initialisation::Antithetic));
    for (inputs, width) in [(0, 2), (1, 0), (1, usize::MAX), (usize::MAX, 1), (1 << 20, 1 << 20)] {
        assert!(refused(inputs, width, Initialisation::Gaussian));
    }
}

#[test]
fn wrong_shapes_and_values_are_refused() {
    let basis = SplineBasis::new(1, 2, Knots::Clamped).unwrap();
    let new = |inputs, c: &[f64]| Network::new(basis.clone(), Activation::Tanh, inputs, c.to_vec());
    assert!(new(0, &[1.0, 2.0]).is_err() && new(1, &[]).is_err() && new(1, &[1.0]).is_err());
    assert!(new(1, &[1.0, f64::NAN]).is_err());
    let network = new(2, &[1.0, 2.0]).unwrap();
    assert!(network.features(&[0.1]).is_err() && network.features(&[0.1, 1.1]).is_err());
    assert!(network.features(&[0.1, f64::NAN]).is_err());
    let features = network.features(&[0.1, 0.2]).unwrap();
    assert!(network.output(&[0.0; 3], &features).is_err());
    assert!(network.output(&[f64::NAN; 4], &features).is_err());
    assert!(network.output(&[f64::MAX; 4], &features).is_err());
    assert!(network.output(&[1e307; 4], &features).unwrap().value.is_finite());
    assert!(network.output_at(&[0.0, 1.0]).is_err());
}

proptest! {
    #![proptest_config(config(3, 256))]
    #[test]
    fn logistic_loss_and_slope_agree(u in -800.0..800.0f64) {
        let (loss, slope) = (logistic_loss(u), logistic_slope(u));
        prop_assert!(loss >= 0.0 && (0.0..=1.0).contains(&slope) && slope <= loss * (1.0 + 1e-15));
        prop_assert!((slope + (-loss).exp_m1()).abs() < 1e-15);
        prop_assert!((loss - logistic_loss(-u) + u).abs() < 1e-12);
    }
}
