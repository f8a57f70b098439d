//! Range checks shared by all calculators. Each returns the checked value or names the fault.

use crate::error::{BoundError, Result, Shown};

/// Largest count that a double holds exactly, 2^53.
pub const MAX_COUNT: u64 = 1 << 53;

fn ensure(
    holds: bool,
    parameter: &'static str,
    value: f64,
    allowed: &'static str,
    remedy: &'static str,
) -> Result<f64> {
    if holds {
        Ok(value)
    } else {
        Err(BoundError::OutOfRange { parameter, value: Shown(value), allowed, remedy })
    }
}

/// A count of records, steps or draws: `1 <= value <= 2^53`.
pub(crate) fn count(parameter: &'static str, value: u64) -> Result<f64> {
    #[allow(clippy::cast_precision_loss)] // exact up to 2^53
    let number = value as f64;
    ensure(
        (1..=MAX_COUNT).contains(&value),
        parameter,
        number,
        "an integer from 1 to 9007199254740992 (2^53)",
        "give the number of records, steps or draws",
    )
}

/// A finite number `>= 0`.
pub(crate) fn non_negative(parameter: &'static str, value: f64) -> Result<f64> {
    let holds = value >= 0.0 && value.is_finite();
    ensure(holds, parameter, value, "a finite number >= 0", "give a non-negative number")
        .map(|v| v + 0.0)
}

/// A finite number `> 0`.
pub(crate) fn positive(parameter: &'static str, value: f64) -> Result<f64> {
    let holds = value > 0.0 && value.is_finite();
    ensure(holds, parameter, value, "a finite number > 0", "give a positive number")
}

/// A number `> 0` whose squares and products with counts stay in the range of doubles.
pub(crate) fn moderate(parameter: &'static str, value: f64) -> Result<f64> {
    let holds = (1e-30..=1e30).contains(&value);
    ensure(holds, parameter, value, "1e-30 to 1e30", "give a positive number of ordinary size")
}

/// As [`moderate`], or 0.
pub(crate) fn moderate_or_zero(parameter: &'static str, value: f64) -> Result<f64> {
    let holds = (0.0..=1e30).contains(&value);
    ensure(holds, parameter, value, "0 to 1e30", "give 0 or a positive number of ordinary size")
        .map(|v| v + 0.0)
}

/// A finite number.
pub(crate) fn finite(parameter: &'static str, value: f64) -> Result<f64> {
    ensure(value.is_finite(), parameter, value, "a finite number", "give an ordinary number")
}

/// A probability strictly between 0 and 1.
pub(crate) fn open_probability(parameter: &'static str, value: f64) -> Result<f64> {
    let holds = value > 0.0 && value < 1.0;
    ensure(holds, parameter, value, "(0, 1), both ends excluded", "give a failure probability")
}

/// A probability in `[0, 1]`.
pub(crate) fn probability(parameter: &'static str, value: f64) -> Result<f64> {
    let holds = (0.0..=1.0).contains(&value);
    ensure(holds, parameter, value, "[0, 1]", "give a probability").map(|v| v + 0.0)
}

/// A Rényi order, returned as `order - 1`.
pub(crate) fn order_minus_one(parameter: &'static str, value: f64) -> Result<f64> {
    let holds = value > 1.0 && value.is_finite();
    ensure(holds, parameter, value, "a finite number > 1", "give a Renyi order above 1")
        .map(|v| v - 1.0)
}

/// A noise correlation in `[0, 1)`.
pub(crate) fn noise_correlation(parameter: &'static str, value: f64) -> Result<f64> {
    ensure(
        (0.0..1.0).contains(&value),
        parameter,
        value,
        "[0, 1), 1 excluded",
        "0 means independent noise",
    )
    .map(|v| v + 0.0)
}

/// The sampling rate `batch / n` of a batch no larger than the data.
pub(crate) fn batch_of(
    batch_name: &'static str,
    batch: u64,
    n_name: &'static str,
    n: u64,
) -> Result<f64> {
    let (size, records) = (count(batch_name, batch)?, count(n_name, n)?);
    if batch > n {
        return Err(BoundError::Conflict {
            parameter: batch_name,
            value: Shown(size),
            other: n_name,
            other_value: Shown(records),
            requirement: "a batch has at most n records; lower the batch",
        });
    }
    Ok(size / records)
}

/// A whole number from 0 to 2^53 given in floating point.
///
/// # Errors
/// [`BoundError::OutOfRange`] for a fraction, a negative number or one above 2^53.
pub fn whole(parameter: &'static str, value: f64) -> Result<u64> {
    #[allow(clippy::cast_precision_loss)] // exact: 2^53
    let holds = value >= 0.0 && value <= MAX_COUNT as f64 && value.fract() == 0.0;
    if holds {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked above
        return Ok(value as u64);
    }
    Err(BoundError::OutOfRange {
        parameter,
        value: Shown(value),
        allowed: "an integer from 1 to 9007199254740992 (2^53)",
        remedy: "give a whole number",
    })
}
