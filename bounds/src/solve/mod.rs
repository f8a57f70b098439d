//! Bracketed root finding and one-dimensional minimisation that return the safe side.

mod minimum;
mod threshold;

pub use minimum::{Minimum, minimize};
pub use threshold::{Bracket, bracket_positive};
