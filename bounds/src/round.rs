//! Outward rounding: upper sides go up, lower sides go down.

/// Relative error that every evaluation of this crate stays below; the rounding margin.
pub const RELATIVE_MARGIN: f64 = 1e-12;

/// The value moved up by [`RELATIVE_MARGIN`] of its size.
#[must_use]
pub fn round_up(value: f64) -> f64 {
    value + value.abs() * RELATIVE_MARGIN
}
