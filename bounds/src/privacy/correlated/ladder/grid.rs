//! The grid of accumulated participation `q`, with strict rounding in one direction.

/// Which side of the true `q` the grid state stays on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    /// The state is at least the true value.
    Up,
    /// The state is at most the true value.
    Down,
}

/// States for `q' = d q + e n` with whole `n`: values falling geometrically, and then 0 as the last one.
///
/// `e` itself is a state, so one participation from rest is exact. Without participation a state moves by
/// a fixed number of places, and the values are built such that `d g_j` lies on the right side of the
/// state it moves to in exact arithmetic.
pub(super) struct Grid {
    values: Vec<f64>,
    decay: f64,
    entry: f64,
    shift: usize,
    rounding: Rounding,
}

/// Relative error of a rounded product, with room.
const ULP: f64 = 4.5e-16;

impl Grid {
    /// `decay = d` and `entry = e` in [0, 1); states from `top` to `floor`, neighbours about `ratio` apart.
    /// `top` must be at least the largest true `q` for [`Rounding::Up`]. `None` if there are too many.
    pub(super) fn new(
        decay: f64,
        entry: f64,
        top: f64,
        floor: f64,
        ratio: f64,
        rounding: Rounding,
    ) -> Option<Self> {
        if entry == 0.0 || decay == 0.0 {
            return Some(Self { values: vec![], decay, entry, shift: 1, rounding });
        }
        let shift = (decay.ln() / ratio.ln()).ceil().max(1.0);
        let per_state = -decay.ln() / shift;
        let up = ((top / entry).max(1.0).ln() / per_state).ceil() + 1.0;
        let down = ((entry / floor).max(1.0).ln() / per_state).ceil();
        if !(up + down < 30_000.0) {
            return None;
        }
        let push = if rounding == Rounding::Up { 1.0 + ULP } else { 1.0 - ULP };
        let pull = if rounding == Rounding::Up { 1.0 - ULP } else { 1.0 + ULP };
        // Any values will do inside one period; the others follow from those by multiplication.
        let base = |index: f64| entry * (decay.ln() * index / shift).exp();
        let mut below = vec![entry];
        let mut index = 1.0;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // small, except where unused
        let period = shift as usize;
        while index <= down {
            let value = if index < shift {
                base(index)
            } else {
                decay * below[below.len() - period] * push
            };
            below.push(value);
            index += 1.0;
        }
        let mut above: Vec<f64> = Vec::new();
        index = 1.0;
        while index <= up {
            // The state one period lower: among those above, or at or below the entry.
            let target = if index > shift {
                above[above.len() - period]
            } else {
                let place = period - above.len() - 1;
                below.get(place).copied().unwrap_or_else(|| base(shift - index))
            };
            above.push(target / decay * pull);
            index += 1.0;
        }
        above.reverse();
        above.extend(below);
        Some(Self { values: above, decay, entry, shift: period, rounding })
    }

    /// Number of states including 0, which is the last.
    pub(super) fn len(&self) -> usize {
        self.values.len() + 1
    }

    pub(super) fn value(&self, state: usize) -> f64 {
        self.values.get(state).copied().unwrap_or(0.0)
    }

    /// The state after `n` participations from a state.
    pub(super) fn next(&self, state: usize, n: f64) -> usize {
        let zero = self.values.len();
        if n == 0.0 {
            if state == zero {
                return zero;
            }
            let moved = state + self.shift;
            return match self.rounding {
                Rounding::Up => moved.min(zero - 1),
                Rounding::Down => moved.min(zero),
            };
        }
        if zero == 0 {
            return zero;
        }
        let exact = state == zero && n == 1.0;
        let target = self.decay * self.value(state) + self.entry * n;
        match self.rounding {
            Rounding::Up => {
                let safe = if exact { target } else { target * (1.0 + 3.0 * ULP) };
                self.values.partition_point(|&value| value >= safe).saturating_sub(1)
            }
            Rounding::Down => {
                let safe = if exact { target } else { target * (1.0 - 3.0 * ULP) };
                self.values.partition_point(|&value| value > safe)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stay_on_their_side_of_the_true_value() {
        for decay in [1e-9, 0.2, 0.5, 0.9, 0.99, 0.997] {
            for trials in [1.0, 3.0] {
                let top = trials * decay / (1.0 - decay) * (1.0 + 1e-12);
                for rounding in [Rounding::Up, Rounding::Down] {
                    let grid = Grid::new(decay, decay, top, 1e-3, 0.96, rounding).unwrap();
                    assert!(grid.values.windows(2).all(|pair| pair[0] > pair[1]));
                    let (mut state, mut q) = (grid.len() - 1, 0.0_f64);
                    for step in 0..3000_u32 {
                        let n = f64::from(step.wrapping_mul(2_654_435_761) >> 7 & 15).min(trials);
                        let n = if step % 5 < 2 { n } else { 0.0 };
                        state = grid.next(state, n);
                        q = decay * q + decay * n;
                        let value = grid.value(state);
                        match rounding {
                            Rounding::Up => assert!(value >= q * (1.0 - 1e-13), "{decay} {step}"),
                            Rounding::Down => assert!(value <= q * (1.0 + 1e-13), "{decay} {step}"),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn one_participation_from_rest_is_exact() {
        for rounding in [Rounding::Up, Rounding::Down] {
            let grid = Grid::new(0.7, 0.7, 3.0, 1e-3, 0.96, rounding).unwrap();
            assert_eq!(grid.value(grid.next(grid.len() - 1, 1.0)), 0.7);
        }
    }
}
