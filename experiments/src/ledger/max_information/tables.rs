//! Tables 1 to 3, from the inputs that they print.

use super::super::claim::{Claim, Method, Verdict};
use super::super::measured::{CheckError, Measured, Slacks};
use crate::paper_tables::ROWS;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::max_information("M-Table-1", "Table 1")
        .states("risk bounds for MNIST from the printed empirical risks and max-information")
        .checked(Method::Recomputed, |_| table(1, 0.0))
        .erratum(&["M4"], Verdict::Holds),
    Claim::max_information("M-Table-2", "Table 2")
        .states("risk bounds of privately trained CIFAR-10 models from the printed inputs")
        .checked(Method::Recomputed, |_| table(2, 0.0))
        .erratum(&["M4"], Verdict::Holds),
    Claim::max_information("M-Table-3", "Table 3")
        .states("risk bounds of posteriors for CIFAR-10 from the printed inputs")
        .checked(Method::Recomputed, |_| table(3, 0.0))
        .erratum(&["M4"], Verdict::Holds),
];

/// The rows of a table; `shift` is added to the printed bounds.
fn table(number: u8, shift: f64) -> Result<Measured, CheckError> {
    let mut slacks = Slacks::new();
    for row in ROWS.iter().filter(|row| row.table == number) {
        let ours = row.recompute()?;
        slacks.at_most(ours.low, row.bound.high() + shift);
        slacks.at_most(row.bound.low() + shift, ours.high);
    }
    let rows = slacks.count / 2;
    Measured::of(
        slacks,
        format!(
            "{rows} rows: what the rounding of the inputs allows reaches the rounding interval of the printed bound; the max-information itself is an input (M4)"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_bound_that_is_off_is_caught() {
        for number in 1..=3 {
            assert!(table(number, 0.0).unwrap().printed.unwrap() >= 0.0);
            assert!(table(number, 0.05).unwrap().printed.unwrap() < 0.0);
            assert!(table(number, -0.05).unwrap().printed.unwrap() < 0.0);
        }
    }
}
