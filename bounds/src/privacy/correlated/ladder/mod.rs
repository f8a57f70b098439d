//! The ladder of bounds on δ of a [`crate::privacy::Pair`]: closed and recursive, no sampling.
//!
//! Upper bounds, cheapest first: the participation cap (L1, both orders), the exact mixture (L1b, both
//! orders), replica moments (L2, forward), Jensen's inequality (L2R, reverse). The linear test bounds δ
//! from below. A pair is covered by `max( min of the forward bounds, min of the reverse bounds )`.
//!
//! Every function rounds outward: upper bounds are raised by more than their rounding error and never
//! print an underflow as 0, lower bounds are lowered. An ε that is not a number gives the useless answer
//! (1 from above, 0 from below).

mod chain;
pub mod fixed_zero_out;
mod grid;
mod kernel;
pub mod linear_test;
pub mod mixture;
pub mod participation_cap;
pub mod replica;
pub mod reverse_jensen;
pub mod triangle;
