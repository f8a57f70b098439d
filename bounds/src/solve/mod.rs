//! Bracketed root finding and one-dimensional minimisation that return the safe side.

mod crossing;
mod doubling;
mod minimum;
mod threshold;

pub use crossing::{Crossing, Start, decreasing_crossing};
pub use doubling::power_by_doubling;
pub use minimum::{Minimum, minimize};
pub use threshold::{Bracket, bracket_positive};
