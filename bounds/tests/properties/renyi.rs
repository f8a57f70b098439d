//! Order, monotony and minima of the bounds from Rényi guarantees.

use dpbounds_bounds::max_information::renyi::{self, RenyiCurve, RenyiPoint};
use dpbounds_bounds::max_information::{FailureLevel, gaussian};
use proptest::prelude::*;

use crate::support::{OfTwo, config, count, levels, log_uniform, ordered, records, value};

fn alphas() -> impl Strategy<Value = f64> {
    prop_oneof![log_uniform(1e-3, 1e4), log_uniform(1e-12, 1e12)].prop_map(|h| 1.0 + h)
}

fn epsilons() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        6 => log_uniform(1e-9, 100.0),
        3 => log_uniform(1e-270, 1e140),
    ]
}

proptest! {
    #![proptest_config(config(11, 400))]

    #[test]
    fn renyi_bounds_are_ordered(
        n in records(), alpha in alphas(), epsilon in epsilons(), level in levels(),
    ) {
        let get = |f: OfTwo| value(f(n, alpha, epsilon, level));
        let half = get(renyi::v_star_half);
        let gamma = get(renyi::gamma_half);
        ordered!(get(renyi::gamma_half_hs) => gamma);
        ordered!(gamma => half);
        ordered!(half => get(renyi::theorem2_quadratic));
        ordered!(get(renyi::v_star_split) => half);
        ordered!(get(renyi::linear_hs) => get(renyi::linear));
        ordered!(get(renyi::theorem2) => get(renyi::linear));
        ordered!(get(renyi::theorem2) => get(renyi::theorem2_quadratic));
        ordered!(value(renyi::v_star(n, alpha, epsilon, level)) => value(renyi::v(n, alpha, epsilon, level)));
    }

    #[test]
    fn renyi_bounds_grow_with_records_privacy_and_confidence(
        n in count(1e9), alpha in alphas(), epsilon in log_uniform(1e-9, 100.0), level in levels(),
        more in log_uniform(1.001, 3.0), extra in 1..1000_u64,
    ) {
        const ALL: [OfTwo; 9] = [
            renyi::linear, renyi::linear_hs, renyi::theorem2_quadratic, renyi::v, renyi::v_star,
            renyi::v_star_half, renyi::v_star_split, renyi::gamma_half, renyi::gamma_half_hs,
        ];
        let tougher = FailureLevel::from_log_beta(-level.log_inverse() * more).unwrap();
        for (index, bound) in ALL.into_iter().enumerate() {
            let here = value(bound(n, alpha, epsilon, level));
            // Close to β = 1 the linear branch with hockey-stick conversion is negative and falls
            // with n; it stays valid, since the records may be counted too high.
            if index != 1 {
                ordered!(here => value(bound(n + extra, alpha, epsilon, level)));
            }
            ordered!(here => value(bound(n, alpha, epsilon * more, level)));
            ordered!(here => value(bound(n, alpha, epsilon, tougher)));
        }
    }
}

proptest! {
    #![proptest_config(config(12, 60))]

    #[test]
    fn the_smallest_renyi_bound_is_the_smallest(
        n in records(), alpha in alphas(), epsilon in epsilons(), level in levels(),
    ) {
        let best = renyi::best(n, alpha, epsilon, level).unwrap();
        let smallest = best.value.unwrap_or(f64::INFINITY);
        prop_assert!(best.alternatives.iter().all(|a| a.value.unwrap_or(f64::INFINITY) >= smallest));
        let split = value(renyi::optimised_split(n, alpha, epsilon, level));
        ordered!(smallest => split);
        ordered!(smallest => value(renyi::theorem2(n, alpha, epsilon, level)));
        ordered!(split => value(renyi::gamma_half_hs(n, alpha, epsilon, level)));
        ordered!(split => value(renyi::v_star_split(n, alpha, epsilon, level)));
    }

    /// The search over a curve visits only promising points; nothing may be missed.
    #[test]
    fn no_point_of_a_curve_beats_the_smallest_bound_over_it(
        n in count(1e7), level in levels(),
        raw in prop::collection::vec((log_uniform(1e-3, 1e4), log_uniform(1e-6, 10.0)), 1..12),
    ) {
        let points: Vec<_> =
            raw.iter().map(|(h, epsilon)| RenyiPoint { alpha: 1.0 + h, epsilon: *epsilon }).collect();
        let curve = RenyiCurve::new(points.clone()).unwrap();
        let over_curve = value(renyi::best_over_curve(n, &curve, level));
        let mut single = f64::INFINITY;
        for point in points {
            single = single.min(value(renyi::best(n, point.alpha, point.epsilon, level)));
        }
        prop_assert!((over_curve - single).abs() <= 1e-9 * single.abs() + 1e-12, "{over_curve} {single}");
    }

    #[test]
    fn all_orders_are_at_least_as_good_as_a_grid_of_orders(
        n in count(1e6), sigma in log_uniform(0.5, 300.0), level in levels(),
    ) {
        let all = value(renyi::best_over_orders(n, |alpha| alpha / sigma / sigma / 2.0, level));
        let grid = RenyiCurve::gaussian(sigma).unwrap();
        for point in grid.points() {
            let RenyiPoint { alpha, epsilon } = *point;
            ordered!(all => value(renyi::theorem2(n, alpha, epsilon, level)));
            ordered!(all => value(renyi::gamma_half_hs(n, alpha, epsilon, level)));
        }
        ordered!(value(gaussian::best(n, sigma, level)) => all);
    }
}
