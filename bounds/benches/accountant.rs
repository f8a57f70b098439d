//! Speed of the accountant for independent noise: brackets of ε, and κ for a given ε.

#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dpbounds_bounds::privacy::pld::{OneStep, calibrate, epsilon};

fn brackets(c: &mut Criterion) {
    for (rate, steps, name) in [
        (0.01, 1000, "epsilon, q = .01, T = 1e3"),
        (0.01, 100_000, "epsilon, q = .01, T = 1e5"),
        (1e-4, 1_000_000, "epsilon, q = 1e-4, T = 1e6"),
    ] {
        let step = OneStep::poisson(rate, 1.0).unwrap();
        c.bench_function(name, |b| {
            b.iter(|| epsilon(black_box(&step), steps, 1e-5).unwrap());
        });
    }
}

fn calibrations(c: &mut Criterion) {
    c.bench_function("kappa, q = .01, T = 1e3, epsilon 1", |b| {
        b.iter(|| calibrate(|noise| OneStep::poisson(0.01, noise), 1000, black_box(1.0), 1e-5));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = brackets, calibrations
}
criterion_main!(benches);
