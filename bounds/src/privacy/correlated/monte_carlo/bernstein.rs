//! Empirical Bernstein limits of the mean of bounded samples (Maurer and Pontil 2009, Theorem 4).

/// Count, mean, sum of squared deviations and largest value of some samples.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    count: f64,
    pub mean: f64,
    squares: f64,
    pub largest: f64,
    /// How many samples are not 0.
    pub hits: u64,
}

impl Moments {
    /// Of at least one sample, each `>= 0`.
    pub(super) fn of(values: &[f64]) -> Self {
        let count = super::precondition::real(values.len());
        let mean = values.iter().sum::<f64>() / count;
        Self {
            count,
            mean,
            squares: values.iter().map(|value| (value - mean).powi(2)).sum(),
            largest: values.iter().copied().fold(0.0, f64::max),
            hits: values.iter().filter(|&&value| value > 0.0).count() as u64,
        }
    }

    /// Of two sets together; rounding depends on the order, so the caller fixes it.
    pub(super) fn and(self, other: Self) -> Self {
        if self.count == 0.0 {
            return other;
        }
        let count = self.count + other.count;
        let step = other.mean - self.mean;
        Self {
            count,
            mean: self.mean + step * (other.count / count),
            squares: self.squares
                + other.squares
                + step * step * (self.count * (other.count / count)),
            largest: self.largest.max(other.largest),
            hits: self.hits + other.hits,
        }
    }

    /// The unbiased variance; 0 for a single sample.
    pub(super) fn variance(self) -> f64 {
        self.squares / (self.count - 1.0).max(1.0)
    }

    /// Standard error of the mean.
    pub(super) fn standard_error(self) -> f64 {
        (self.variance() / self.count).sqrt()
    }

    /// `sqrt(2 V ln(2/β)/N) + 7 M ln(2/β)/(3(N − 1))` for samples in `[0, M]`: the mean differs
    /// from its expectation by more on a given side with probability at most β.
    pub(super) fn margin(self, largest: f64, failure_probability: f64) -> f64 {
        let level = (2.0 / failure_probability).ln();
        (2.0 * self.variance() * level / self.count).sqrt()
            + bounded_part(largest, self.count, failure_probability)
    }
}

/// The part of the margin that no variance removes.
pub(super) fn bounded_part(largest: f64, count: f64, failure_probability: f64) -> f64 {
    7.0 * largest * (2.0 / failure_probability).ln() / (3.0 * (count - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_parts_are_those_of_the_whole() {
        let values: Vec<f64> = (0..57).map(|i| f64::from(i * i % 23)).collect();
        let whole = Moments::of(&values);
        let parts = values.chunks(16).map(Moments::of).fold(Moments::default(), Moments::and);
        let mean = values.iter().sum::<f64>() / 57.0;
        // N − 1, not N.
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 56.0;
        for moments in [whole, parts] {
            assert!((moments.mean / mean - 1.0).abs() < 1e-14);
            assert!((moments.variance() / variance - 1.0).abs() < 1e-13);
            assert_eq!((moments.largest, moments.hits), (18.0, 54));
        }
    }

    #[test]
    fn the_margin_is_that_of_the_theorem() {
        let moments = Moments::of(&[0.0, 1.0, 0.0, 1.0]);
        let level = (2f64 / 0.05).ln();
        let by_hand = (2.0 / 3.0 * level / 4.0).sqrt() + 7.0 * 3.0 * level / 9.0;
        assert!((moments.margin(3.0, 0.05) / by_hand - 1.0).abs() < 1e-15);
    }
}
