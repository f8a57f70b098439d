//! Powers of an associative operation.

/// `one ∘ one ∘ … ∘ one` with `count` factors, `count` a whole number of at least 1, by repeated doubling.
///
/// ```
/// let sum = dpbounds_bounds::solve::power_by_doubling(13.0, |a: f64, b: f64| a + b, 2.0);
/// assert_eq!(sum, 26.0);
/// ```
#[must_use]
pub fn power_by_doubling<T: Copy>(count: f64, combine: impl Fn(T, T) -> T, one: T) -> T {
    let (mut block, mut left) = (one, count - 1.0);
    let mut result = one;
    while left > 0.0 {
        if left % 2.0 == 1.0 {
            result = combine(result, block);
        }
        left = (left / 2.0).floor();
        if left > 0.0 {
            block = combine(block, block);
        }
    }
    result
}
