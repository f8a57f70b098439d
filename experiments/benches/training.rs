//! Time of one step of training on the workloads by which programs are compared.

#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use dpbounds_experiments::kan::Real;
use dpbounds_experiments::train::{Trainer, Workload};

/// W2 with fewer records, which only shortens the preparation.
const W2_SMALL: Workload = Workload { records: 6_000, ..Workload::W2 };

fn step<F: Real>(c: &mut Criterion, name: &str, workload: Workload, noise: bool) {
    let task = workload.task::<F>(0, noise).unwrap();
    let mut trainer =
        Trainer::new(&task.network, &task.weights, &task.examples, task.settings).unwrap();
    let precision = 8 * size_of::<F>();
    let noise = if noise { "noise" } else { "no noise" };
    c.bench_function(&format!("{name}, f{precision}, {noise}"), |b| b.iter(|| trainer.step()));
}

fn steps(c: &mut Criterion) {
    for (name, workload) in
        [("W1", Workload::W1), ("W3", Workload::W3), ("W2 of 6,000 records", W2_SMALL)]
    {
        for noise in [true, false] {
            step::<f32>(c, name, workload, noise);
            step::<f64>(c, name, workload, noise);
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = steps
}
criterion_main!(benches);
