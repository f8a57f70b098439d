//! Plans, draws and short forms shared by the tests of accounts.

use dpbounds_bounds::Bound;
use dpbounds_bounds::privacy::correlated::monte_carlo::Settings;
use dpbounds_bounds::privacy::{Effort, Method, Plan, Question, Relation, Sampler, account};

/// Deterministic numbers in [0, 1).
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn log_between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + (high / low).ln() * self.next()).exp()
    }

    pub fn count(&mut self, low: u64, high: u64) -> u64 {
        (self.log_between(low as f64, high as f64 + 0.99) as u64).clamp(low, high)
    }

    /// One of a few.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.next() * all.len() as f64) as usize]
    }
}

/// The pairs of a sampler and a relation whose batches are a strict subset of the records.
pub const SUBSAMPLED: [(Sampler, Relation); 6] = [
    (Sampler::Poisson, Relation::AddRemove),
    (Sampler::Poisson, Relation::ZeroOut),
    (Sampler::Poisson, Relation::ReplaceOne),
    (Sampler::Fixed, Relation::AddRemove),
    (Sampler::Fixed, Relation::ZeroOut),
    (Sampler::Fixed, Relation::ReplaceOne),
];

pub fn plan(n: u64, batch: u64, steps: u64, lambda: f64, of: (Sampler, Relation)) -> Plan {
    Plan { n, batch, steps, lambda, sampler: of.0, relation: of.1 }
}

pub fn effort(method: Method) -> Effort<'static> {
    // Without time for finer grids nothing depends on the speed of the machine.
    let monte_carlo = Settings::new(20_000, 1e-3, 5);
    Effort { method, monte_carlo, ..Effort::without_clock() }
}

pub fn spent(plan: &Plan, kappa: f64, question: Question, method: Method) -> Bound {
    account(plan, kappa, question, &effort(method))
        .unwrap_or_else(|error| panic!("{plan:?} {kappa} {question:?} {method}: {error}"))
}

/// Lower and upper side of δ at ε.
pub fn delta(plan: &Plan, kappa: f64, epsilon: f64, method: Method) -> (f64, f64) {
    let bound = spent(plan, kappa, Question::DeltaAt { epsilon }, method);
    (bound.lower.unwrap_or(0.0), bound.upper.unwrap())
}
