//! Time of one call of the calculators. Targets: kl inverse 0.3 µs, eq. (7) 5 µs, a Rényi curve of
//! 100 points 2 ms.

#![allow(clippy::unwrap_used)] // the arguments are in range

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use dpbounds_bounds::catalogue::{self, Arguments, Value};
use dpbounds_bounds::max_information::renyi::{self, RenyiCurve, RenyiPoint};
use dpbounds_bounds::max_information::{
    FailureLevel, approximate_dp, correlated, gaussian, pure_dp, streaming,
};
use dpbounds_bounds::pac_bayes::{kl_inverse_lower, kl_inverse_upper};
use dpbounds_bounds::privacy::gaussian as mechanism;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Failure level of all max-information bounds.
fn level() -> FailureLevel {
    FailureLevel::from_beta(0.025).unwrap()
}

/// Risks in (0, 1) and complexities from 1e-6 to 10 nats per record.
fn risks_and_complexities() -> Vec<(f64, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut pair = || (rng.random_range(0.001..0.999), 10_f64.powf(rng.random_range(-6.0..1.0)));
    (0..1024).map(|_| pair()).collect()
}

fn kl(c: &mut Criterion) {
    let grid = risks_and_complexities();
    let mut group = c.benchmark_group("1024 kl inverses");
    for (name, inverse) in [
        ("upper", kl_inverse_upper as fn(f64, f64) -> dpbounds_bounds::Result<_>),
        ("lower", kl_inverse_lower),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let value = |(q, c): &(f64, f64)| inverse(*q, *c).unwrap().value.unwrap();
                black_box(&grid).iter().map(value).sum::<f64>()
            });
        });
    }
    group.finish();
}

fn max_information(c: &mut Criterion) {
    let nu = 60_000.0 / (4.0 * 50.0 * 50.0);
    c.bench_function("Gaussian (7)", |b| b.iter(|| gaussian::eq7(black_box(nu), level())));
    c.bench_function("Gaussian (7) hs", |b| b.iter(|| gaussian::eq7_hs(black_box(nu), level())));
    c.bench_function("Gaussian best", |b| {
        b.iter(|| gaussian::best(60_000, black_box(50.0), level()));
    });
    c.bench_function("streaming (10)", |b| {
        b.iter(|| streaming::eq10(black_box(0.625), 240, level()));
    });
    c.bench_function("correlated, 240 steps", |b| {
        b.iter(|| correlated::bound(black_box(0.625), 240, 0.3, level()));
    });
    c.bench_function("pure best", |b| {
        b.iter(|| pure_dp::best(60_000, black_box(0.01), level()));
    });
    c.bench_function("approximate best, 60000 records", |b| {
        b.iter(|| approximate_dp::best(60_000, black_box(0.01), 1e-8, level()));
    });
    c.bench_function("approximate best, 1000 records", |b| {
        b.iter(|| approximate_dp::best(1000, black_box(0.05), 1e-6, level()));
    });
}

fn renyi_curve(c: &mut Criterion) {
    c.bench_function("Renyi v* split", |b| {
        b.iter(|| renyi::v_star_split(60_000, black_box(32.0), 0.01, level()));
    });
    // A hundred orders of the Gaussian mechanism at noise multiplier 50.
    let point = |step: i32| {
        let alpha = 1.0 + 10_f64.powf(-2.0 + f64::from(step) * 0.05);
        RenyiPoint { alpha, epsilon: alpha / 5000.0 }
    };
    let curve = RenyiCurve::new((0..100).map(point).collect()).unwrap();
    c.bench_function("Renyi curve of 100 points", |b| {
        b.iter(|| renyi::best_over_curve(60_000, black_box(&curve), level()));
    });
}

fn other(c: &mut Criterion) {
    c.bench_function("analytic Gaussian inverse", |b| {
        b.iter(|| mechanism::noise_multiplier(black_box(1.0), 1e-6));
    });
    c.bench_function("catalogue lookup and evaluation", |b| {
        b.iter_batched(
            || [("nu".into(), Value::Number(0.5)), ("beta".into(), Value::Number(0.05))],
            |inputs| {
                let entry = catalogue::find(black_box("max_info_gaussian_eq8")).unwrap();
                entry.evaluate(&Arguments::new(entry, &inputs).unwrap())
            },
            BatchSize::SmallInput,
        );
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(40)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = kl, max_information, renyi_curve, other
}
criterion_main!(benches);
