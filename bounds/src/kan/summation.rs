//! Pairwise sums: the error grows with the logarithm of the number of terms.

/// Few enough that a plain sum costs no accuracy.
const SHORT: usize = 16;

/// The sum of `term(start..end)` by halves, so that two opposite halves of equal length cancel exactly.
pub(super) fn pairwise(start: usize, end: usize, term: &mut impl FnMut(usize) -> f64) -> f64 {
    if end - start <= SHORT {
        // An even short range is still split in the middle once.
        let middle = start + (end - start) / 2;
        let left = (start..middle).fold(0.0, |sum, index| sum + term(index));
        let right = (middle..end).fold(0.0, |sum, index| sum + term(index));
        return left + right;
    }
    let middle = start + (end - start) / 2;
    let left = pairwise(start, middle, term);
    left + pairwise(middle, end, term)
}

/// The pairwise sum of a slice.
pub(super) fn sum(values: &[f64]) -> f64 {
    pairwise(0, values.len(), &mut |index| values[index])
}
