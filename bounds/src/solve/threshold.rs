//! The point at which a monotone condition changes, bracketed by two neighbouring doubles.

/// Two neighbouring doubles with the condition false at `below` and true at `above`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// Largest argument seen at which the condition is false.
    pub below: f64,
    /// Smallest argument seen at which the condition is true.
    pub above: f64,
}

/// Where `condition`, false then true for increasing positive arguments, becomes true.
///
/// Bisects the ordering of the doubles in `[low, high]`, `0 <= low < high`, so that any scale is
/// reached in at most 64 evaluations. Returns `None` if the condition is false at `high`; if it
/// already holds at `low`, both ends are `low`. The safe side is the caller's choice.
///
/// ```
/// let root = dpbounds_bounds::solve::bracket_positive(|x| x * x >= 2.0, 1e-300, 1e300).unwrap();
/// assert!(root.below < 2f64.sqrt() && 2f64.sqrt() <= root.above);
/// ```
#[must_use]
pub fn bracket_positive(
    mut condition: impl FnMut(f64) -> bool,
    low: f64,
    high: f64,
) -> Option<Bracket> {
    if condition(low) {
        return Some(Bracket { below: low, above: low });
    }
    if !condition(high) {
        return None;
    }
    // Non-negative doubles are ordered like their bit patterns.
    let (mut below, mut above) = (low.to_bits(), high.to_bits());
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if condition(f64::from_bits(middle)) { above = middle } else { below = middle }
    }
    Some(Bracket { below: f64::from_bits(below), above: f64::from_bits(above) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_adjacent_and_ends_are_reported() {
        let bracket = bracket_positive(|x| x >= 1e-200, 0.0, 1.0).unwrap();
        assert_eq!(bracket.above, 1e-200);
        assert_eq!(bracket.below.to_bits() + 1, bracket.above.to_bits());
        assert_eq!(bracket_positive(|_| false, 1.0, 2.0), None);
        assert_eq!(bracket_positive(|_| true, 1.0, 2.0).unwrap().above, 1.0);
    }
}
