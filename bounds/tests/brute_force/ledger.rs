//! Comparisons of bounds with exact values, and how close each bound comes.

use std::collections::BTreeMap;

use dpbounds_bounds::{Bound, Result};

/// Relative slack for the rounding of the exact side.
const TOLERANCE: f64 = 1e-9;
/// Below this the exact value is mostly rounding and tells nothing about slack.
const SMALLEST: f64 = 1e-6;

#[derive(Default)]
struct Account {
    comparisons: usize,
    refusals: usize,
    closest: Option<(f64, String)>,
}

/// Faults, and for every bound the smallest ratio `bound/exact`.
#[derive(Default)]
pub struct Ledger {
    accounts: BTreeMap<&'static str, Account>,
    faults: Vec<String>,
}

impl Ledger {
    /// Compares the certified side of a bound with the exact value; returns the side.
    pub fn check(
        &mut self,
        name: &'static str,
        exact: f64,
        bound: Result<Bound>,
        place: impl Fn() -> String,
    ) -> Option<f64> {
        let account = self.accounts.entry(name).or_default();
        let Some(upper) = bound.unwrap().upper else {
            account.refusals += 1;
            return None;
        };
        account.comparisons += 1;
        if !(exact <= upper + TOLERANCE * exact.abs() + 1e-13) {
            self.faults.push(format!("{name}: {upper} is below the exact {exact} at {}", place()));
        }
        if exact > SMALLEST {
            let ratio = upper / exact;
            if account.closest.as_ref().is_none_or(|(smallest, _)| ratio < *smallest) {
                account.closest = Some((ratio, format!("exact {exact:.4} {}", place())));
            }
        }
        Some(upper)
    }

    /// Prints the slack of every bound and asserts that none fell below the exact value and that
    /// each came as close as `expected` says: a bound made trivially loose fails here.
    pub fn close(self, expected: &[(&str, f64)]) {
        for (name, Account { comparisons, refusals, closest }) in &self.accounts {
            let (ratio, place) = closest.clone().unwrap_or((f64::INFINITY, String::new()));
            println!("{name:>24} {comparisons:>6} {refusals:>6}  {ratio:.4}  {place}");
        }
        let (count, some) = (self.faults.len(), self.faults.iter().take(20));
        assert!(
            count == 0,
            "{count} violations:\n{}",
            some.cloned().collect::<Vec<_>>().join("\n")
        );
        if expected.is_empty() {
            return;
        }
        assert_eq!(self.accounts.len(), expected.len(), "one expectation for every bound");
        for (name, ceiling) in expected {
            let account = &self.accounts[name];
            let ratio = account.closest.as_ref().map_or(f64::INFINITY, |(ratio, _)| *ratio);
            assert!(account.comparisons >= 20, "{name}: only {} comparisons", account.comparisons);
            assert!(ratio >= 1.0 - TOLERANCE, "{name}: ratio {ratio} below 1");
            assert!(ratio <= *ceiling, "{name}: never closer than {ratio}, expected {ceiling}");
        }
    }
}
