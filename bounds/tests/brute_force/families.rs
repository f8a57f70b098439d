//! The bounds by the guarantee they start from.

use dpbounds_bounds::max_information::{FailureLevel, approximate_dp, pure_dp, renyi};
use dpbounds_bounds::{Bound, Result};

/// `(n, epsilon, delta, level)` or `(n, alpha, epsilon, level)`.
pub type OfTwo = fn(u64, f64, f64, FailureLevel) -> Result<Bound>;
/// `(n, epsilon, level)`.
pub type OfOne = fn(u64, f64, FailureLevel) -> Result<Bound>;

pub const APPROXIMATE: [(&str, OfTwo); 10] = [
    ("A", approximate_dp::a),
    ("B", approximate_dp::b),
    ("B+", approximate_dp::b_plus),
    ("B+ hs", approximate_dp::b_plus_hs),
    ("B+ exact", approximate_dp::b_plus_exact),
    ("C", approximate_dp::c),
    ("C hs", approximate_dp::c_hs),
    ("D", approximate_dp::d),
    ("D'", approximate_dp::d_prime),
    // The nested search takes a millisecond: on some cases only.
    ("D split", approximate_dp::d_split),
];

pub const PURE: [(&str, OfOne); 7] = [
    ("classic", pure_dp::classic),
    ("Theorem 1", pure_dp::theorem1),
    ("Theorem 1 sqrt", pure_dp::theorem1_sqrt),
    ("BR", pure_dp::bounded_range),
    ("BR hs", pure_dp::bounded_range_hs),
    ("pure best", pure_dp::best),
    ("composition", approximate_dp::randomized_response_composition),
];

pub const RENYI: [(&str, OfTwo); 10] = [
    ("linear", renyi::linear),
    ("linear hs", renyi::linear_hs),
    ("Theorem 2", renyi::theorem2),
    ("Theorem 2 quadratic", renyi::theorem2_quadratic),
    ("v* half", renyi::v_star_half),
    ("v* split", renyi::v_star_split),
    ("gamma half", renyi::gamma_half),
    ("gamma half hs", renyi::gamma_half_hs),
    // Nested searches, as above.
    ("gamma split hs", renyi::optimised_split),
    ("Renyi best", renyi::best),
];

pub fn is_slow(name: &str) -> bool {
    matches!(name, "D split" | "gamma split hs" | "Renyi best")
}
