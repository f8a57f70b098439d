//! Equally spaced losses.

/// The losses `origin + (first + i)·width`, `i = 0, 1, …`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    pub origin: f64,
    pub first: i64,
    pub width: f64,
}

impl Grid {
    /// The loss of the point with this index.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)] // below 2^53
    pub fn at(&self, index: usize) -> f64 {
        self.origin + (self.first + index as i64) as f64 * self.width
    }

    /// The grid of `points` points in the opposite direction.
    #[allow(clippy::cast_possible_wrap)] // a vector has fewer than 2^63 entries
    pub fn mirrored(&self, points: usize) -> Self {
        let last = self.first + points as i64 - 1;
        Self { origin: -self.origin, first: -last, width: self.width }
    }

    /// The grid without its first points.
    #[allow(clippy::cast_possible_wrap)]
    pub fn without(&self, points: usize) -> Self {
        Self { first: self.first + points as i64, ..*self }
    }
}
