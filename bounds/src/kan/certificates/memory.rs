//! How much memory a certificate takes.

/// Bytes that a network on `rows` inputs and its certificate take at their peak: weights and their transpose, four
/// arrays of m numbers per input, and five of n × n.
///
/// `width` m, `inputs` d, `size` p and `rows` n; saturates.
///
/// # Source
/// Ours.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::bytes_needed;
/// // 10^5 units on 4 inputs: 19 MB.
/// assert!(bytes_needed(100_000, 1, 2, 4) < 20_000_000);
/// assert_eq!(bytes_needed(usize::MAX, 1, 2, 4), u64::MAX);
/// ```
#[must_use]
pub fn bytes_needed(width: usize, inputs: usize, size: usize, rows: usize) -> u64 {
    let size_of = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let (m, d, p, n) = (size_of(width), size_of(inputs), size_of(size), size_of(rows));
    let per_unit = p
        .saturating_mul(1_u64.saturating_add(d.saturating_mul(2)))
        .saturating_add(n.saturating_mul(4))
        .saturating_add(2);
    let square = n.saturating_mul(n).saturating_mul(5);
    m.saturating_mul(per_unit).saturating_add(square).saturating_mul(8)
}
