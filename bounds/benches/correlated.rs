//! Speed of the accountant for correlated noise: n = 10,000, B = 100, T = 1000, λ = 0.5, δ near 1e-5.

#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dpbounds_bounds::privacy::correlated::ladder::mixture::Mixture;
use dpbounds_bounds::privacy::correlated::ladder::{linear_test, replica, reverse_jensen};
use dpbounds_bounds::privacy::correlated::transfer::{Repulsion, Resolution, delta};
use dpbounds_bounds::privacy::{
    Effort, Method, Order, Pair, Plan, Relation, Sampler, Target, calibrate,
};

fn rungs(c: &mut Criterion) {
    let pair = Pair::new(0.01, 2.555, 0.5, 1000).unwrap();
    c.bench_function("linear test, delta", |b| {
        b.iter(|| linear_test::delta(black_box(&pair), 1.0, Order::Forward));
    });
    c.bench_function("L2R, delta", |b| b.iter(|| reverse_jensen::delta(black_box(&pair), 1.0)));
    c.bench_function("L2, delta", |b| b.iter(|| replica::delta(black_box(&pair), 1.0)));
    c.bench_function("L1b, law", |b| b.iter(|| Mixture::new(black_box(0.01), 0.5, 1000).unwrap()));
    for (name, repulsion) in [("L2T", Repulsion::Dropped), ("L2TD", Repulsion::Kept)] {
        for (level, resolution) in [("coarse", Resolution::COARSE), ("fine", Resolution::FINE)] {
            c.bench_function(&format!("{name} {level}, delta at epsilon 1"), |b| {
                let order = Order::Forward;
                b.iter(|| delta(black_box(&pair), order, 1.0, repulsion, resolution).unwrap());
            });
        }
    }
    let tight = Pair::new(0.01, 0.773, 0.5, 1000).unwrap();
    c.bench_function("L2TD fine, delta at epsilon 8", |b| {
        let (order, kept) = (Order::Forward, Repulsion::Kept);
        b.iter(|| delta(black_box(&tight), order, 8.0, kept, Resolution::FINE).unwrap());
    });
}

fn calibrations(c: &mut Criterion) {
    let plan = Plan {
        n: 10_000,
        batch: 100,
        steps: 1000,
        lambda: 0.5,
        sampler: Sampler::Poisson,
        relation: Relation::AddRemove,
    };
    let effort = Effort { method: Method::L2td, ..Effort::default() };
    c.bench_function("kappa by L2TD, epsilon 1", |b| {
        let target = Target { epsilon: 1.0, delta: 1e-5 };
        b.iter(|| calibrate(black_box(&plan), target, &effort).unwrap());
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = rungs, calibrations
}
criterion_main!(benches);
