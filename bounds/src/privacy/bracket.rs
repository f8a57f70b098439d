//! A number known to lie between two others.

/// `lower <= truth <= upper`. `upper` may be `+inf` where no finite bound was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// A proven lower bound.
    pub lower: f64,
    /// A proven upper bound.
    pub upper: f64,
}

impl Bracket {
    /// A value known exactly.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { lower: value, upper: value }
    }

    /// The bracket of the larger of two bracketed numbers.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }

    /// `upper/lower − 1`, or the absolute width where `lower` is 0.
    #[must_use]
    pub fn relative_width(self) -> f64 {
        if self.lower > 0.0 { self.upper / self.lower - 1.0 } else { self.upper - self.lower }
    }
}
