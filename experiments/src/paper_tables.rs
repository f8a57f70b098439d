//! Tables 1–3 of arXiv 2605.26222: each printed risk bound against the bound of its printed inputs.
//!
//! A printed number stands for an interval of half a unit of its last digit. A row *agrees* when the
//! bounds that its printed inputs allow reach the interval of the printed bound. The max-information
//! values themselves cannot be recomputed: noise, steps and orders are not given (docs/errata.md, M4).

use dpbounds_bounds::pac_bayes::{complexity, kl_inverse_upper};
use dpbounds_bounds::{Bound, Result};

/// A number as it is printed, with half a unit of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// The printed number.
    pub value: f64,
    /// Half a unit of the last printed digit.
    pub half_unit: f64,
}

impl Printed {
    const fn thousandths(value: f64) -> Self {
        Self { value, half_unit: 0.0005 }
    }

    const fn whole(value: f64) -> Self {
        Self { value, half_unit: 0.5 }
    }

    /// The smallest number that is printed like this.
    #[must_use]
    pub fn low(self) -> f64 {
        self.value - self.half_unit
    }

    /// The largest number that is printed like this.
    #[must_use]
    pub fn high(self) -> f64 {
        self.value + self.half_unit
    }
}

/// What a row's complexity comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Complexity {
    /// The privately trained model itself: (15) with this max-information in nats and δ = 0.05.
    MaxInformation(Printed),
    /// The printed complexity per record, in nats.
    PerRecord(Printed),
}

/// One row of a published table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Number of the table.
    pub table: u8,
    /// Data set and model.
    pub model: &'static str,
    /// What is certified: `B(h0)` for the private model, `B(rho)` for the optimised posterior.
    pub certified: &'static str,
    /// Records in the empirical risk.
    pub n: u64,
    /// Printed empirical risk.
    pub empirical: Printed,
    /// Printed complexity.
    pub complexity: Complexity,
    /// Printed risk bound.
    pub bound: Printed,
}

/// A row recomputed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recomputed {
    /// Complexity per record at the printed inputs, in nats.
    pub complexity: f64,
    /// The bound at the printed inputs.
    pub bound: f64,
    /// The smallest bound that rounds of the inputs allow.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Whether `[low, high]` meets the interval of the printed bound.
    pub agrees: bool,
}

/// Total failure probability of the tables.
pub const DELTA: f64 = 0.05;

const fn model(table: u8, model: &'static str, n: u64, risk: f64, kappa: f64, bound: f64) -> Row {
    Row {
        table,
        model,
        certified: "B(h0)",
        n,
        empirical: Printed::thousandths(risk),
        complexity: Complexity::MaxInformation(Printed::whole(kappa)),
        bound: Printed::thousandths(bound),
    }
}

const fn posterior(
    table: u8,
    model: &'static str,
    n: u64,
    risk: f64,
    per_record: f64,
    bound: f64,
) -> Row {
    Row {
        table,
        model,
        certified: "B(rho)",
        n,
        empirical: Printed::thousandths(risk),
        complexity: Complexity::PerRecord(Printed::thousandths(per_record)),
        bound: Printed::thousandths(bound),
    }
}

const MNIST: u64 = 60_000;
const CIFAR: u64 = 50_000;

/// Every row with the inputs that its bound needs, as printed.
pub const ROWS: [Row; 12] = [
    model(1, "MNIST, DP-SGD streaming", MNIST, 0.238, 1381.0, 0.337),
    model(1, "MNIST, DP-SGD Poisson", MNIST, 0.164, 1224.0, 0.248),
    posterior(1, "MNIST, data-independent prior", MNIST, 0.104, 0.136, 0.325),
    posterior(1, "MNIST, DP-SGD streaming", MNIST, 0.163, 0.034, 0.273),
    posterior(1, "MNIST, DP-SGD Poisson", MNIST, 0.144, 0.025, 0.233),
    model(2, "CIFAR-10, 4 layers, DP-SGD", CIFAR, 0.705, 757.0, 0.780),
    model(2, "CIFAR-10, 9 layers, DP-SGD", CIFAR, 0.748, 342.0, 0.797),
    model(2, "CIFAR-10, 15 layers, DP-SGD", CIFAR, 0.782, 757.0, 0.848),
    posterior(3, "CIFAR-10, 4 layers, data-independent prior", CIFAR, 0.591, 0.051, 0.738),
    posterior(3, "CIFAR-10, 4 layers, DP-SGD", CIFAR, 0.534, 0.074, 0.716),
    posterior(3, "CIFAR-10, 9 layers, DP-SGD", CIFAR, 0.629, 0.061, 0.782),
    posterior(3, "CIFAR-10, 15 layers, DP-SGD", CIFAR, 0.648, 0.029, 0.757),
];

impl Row {
    /// The bound at the printed inputs, and what their rounding allows.
    ///
    /// # Errors
    /// [`dpbounds_bounds::BoundError`] if an input is out of range.
    ///
    /// # Examples
    /// ```
    /// let row = dpbounds_experiments::paper_tables::ROWS[0];
    /// let ours = row.recompute()?;
    /// assert!(ours.agrees && (ours.bound - 0.3368).abs() < 5e-5);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn recompute(&self) -> Result<Recomputed> {
        let at = |pick: fn(Printed) -> f64| -> Result<(f64, f64)> {
            let per_record = match self.complexity {
                Complexity::MaxInformation(kappa) => {
                    value(&complexity::private_prior(self.n, 0.0, pick(kappa), DELTA)?)
                }
                Complexity::PerRecord(printed) => pick(printed),
            };
            Ok((per_record, value(&kl_inverse_upper(pick(self.empirical), per_record)?)))
        };
        let (complexity, bound) = at(|printed| printed.value)?;
        let (low, high) = (at(Printed::low)?.1, at(Printed::high)?.1);
        let agrees = low <= self.bound.high() && self.bound.low() <= high;
        Ok(Recomputed { complexity, bound, low, high, agrees })
    }
}

/// A missing value becomes NaN, which agrees with nothing.
fn value(bound: &Bound) -> f64 {
    bound.value.unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_row_agrees() {
        for row in ROWS {
            let ours = row.recompute().unwrap();
            assert!(ours.agrees, "{row:?} {ours:?}");
            assert!(ours.low < ours.bound && ours.bound < ours.high);
        }
    }

    #[test]
    fn a_wrong_printed_bound_or_a_wrong_formula_is_noticed() {
        for row in ROWS {
            let off = Printed::thousandths(row.bound.value + 0.004);
            assert!(!Row { bound: off, ..row }.recompute().unwrap().agrees, "{row:?}");
        }
        // The max-information of another level or of a tenth of the records would not go unnoticed.
        let fewer = Row { n: 6000, ..ROWS[0] };
        assert!(!fewer.recompute().unwrap().agrees);
    }
}
