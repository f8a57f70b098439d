//! A stream of standard normals that any language reproduces.

/// The first `count` standard normals of the portable stream of `seed`.
///
/// SplitMix64 from the state `seed` gives words `z_1, z_2, ..`; `u = (z >> 11)·2^{−53}`; every pair gives
/// `sqrt(−2 log(1 − u_1))·(cos 2πu_2, sin 2πu_2)` (Box and Muller). Not for privacy noise.
///
/// # Source
/// Steele, Lea and Flood 2014 (SplitMix64); Box and Muller 1958.
///
/// # Examples
/// ```
/// let stream = dpbounds_bounds::kan::portable_normals(1, 3);
/// assert!((stream[0] + 0.034_267_321_791_851_144).abs() < 1e-15);
/// ```
#[must_use]
pub fn portable_normals(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        #[allow(clippy::cast_precision_loss)] // 53 bits
        let mantissa = (z >> 11) as f64;
        mantissa * 2.0_f64.powi(-53)
    };
    let mut normals = Vec::with_capacity(count + 1);
    while normals.len() < count {
        let (first, second) = (uniform(), uniform());
        let radius = (-2.0 * libm::log1p(-first)).sqrt();
        let angle = 2.0 * std::f64::consts::PI * second;
        normals.extend([radius * libm::cos(angle), radius * libm::sin(angle)]);
    }
    normals.truncate(count);
    normals
}
