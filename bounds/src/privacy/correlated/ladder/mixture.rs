//! L1b: the exact mixture over participation patterns.

use super::chain::{Chain, block_length};
use super::grid::{Grid, Rounding};
use super::kernel::{hockey_stick, upper};
use super::linear_test::Window;
use super::participation_cap;
use crate::error::Result;
use crate::privacy::Pair;

/// The law of `‖Cy‖²` of one record, bounded from above; serves every noise multiplier and ε.
///
/// `δ <= E_y BW(‖Cy‖/σ, ε)` for `y ~ Bern(r)^T`, in both orders: joint convexity without amplification.
/// λ = 0 has the binomial law exactly. Otherwise the law is replaced by larger ones, of which the better
/// result counts: a dynamic program over (accumulated participation, norm²), both rounded up, where it
/// is affordable (a few 10⁸ operations), and Chernoff bounds of the tail from exponential moments,
/// which work at any `T`.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::correlated::ladder::mixture::Mixture;
/// let mixture = Mixture::new(0.1, 0.5, 3)?;
/// let delta = mixture.delta(1.0, 0.5)?;
/// assert!(delta > 0.0817 && delta < 0.083);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mixture {
    rate: f64,
    lambda: f64,
    steps: u64,
    laws: Vec<Law>,
}

/// Atoms (norm², mass) and mass without a bound of its norm.
#[derive(Debug, Clone)]
struct Law {
    atoms: Vec<(f64, f64)>,
    unbounded: f64,
}

/// Operations that the dynamic program may cost.
const BUDGET: f64 = 3e8;
/// Probability that the grids may leave out.
const LOST: f64 = 1e-22;

impl Mixture {
    /// The law at participation rate `rate` in [0, 1], correlation `lambda` in [0, 1) and `steps <= 2^53`.
    ///
    /// # Source
    /// Ours; docs/theory/accounting.md (L1b).
    ///
    /// # Errors
    /// [`crate::BoundError::OutOfRange`] for an argument out of range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::privacy::correlated::ladder::mixture::Mixture;
    /// assert!(Mixture::new(0.01, 0.9, 100).is_ok());
    /// assert!(Mixture::new(0.01, 1.0, 100).is_err());
    /// ```
    pub fn new(rate: f64, lambda: f64, steps: u64) -> Result<Self> {
        let pair = Pair::new(rate, 1.0, lambda, steps)?;
        let (rate, lambda) = (pair.rate(), pair.lambda());
        let laws = if steps == 0 || rate == 0.0 || rate == 1.0 {
            vec![]
        } else if lambda == 0.0 {
            vec![Law::binomial(&pair)]
        } else {
            let tail = Law::chernoff(&pair);
            let program = tail.as_ref().and_then(|law| Law::program(&pair, law.largest()));
            tail.into_iter().chain(program).collect()
        };
        Ok(Self { rate, lambda, steps, laws })
    }

    /// Upper bound on δ at `noise_multiplier = σ > 0` (noise over sensitivity) and any real `epsilon`
    /// (nats), valid in both orders and never above the participation cap (L1); in [0, 1].
    ///
    /// # Source
    /// Ours; docs/theory/accounting.md (L1b).
    ///
    /// # Errors
    /// [`crate::BoundError::OutOfRange`] for a noise multiplier that is not positive and finite.
    ///
    /// # Examples
    /// See [`Mixture`].
    pub fn delta(&self, noise_multiplier: f64, epsilon: f64) -> Result<f64> {
        let pair = Pair::new(self.rate, noise_multiplier, self.lambda, self.steps)?;
        let capped = participation_cap::delta(&pair, epsilon);
        let mixed = |law: &Law| upper(law.expectation(noise_multiplier, epsilon));
        Ok(self.laws.iter().map(mixed).fold(capped, f64::min))
    }
}

impl Law {
    fn largest(&self) -> f64 {
        self.atoms.last().map_or(0.0, |atom| atom.0)
    }

    fn expectation(&self, noise_multiplier: f64, epsilon: f64) -> f64 {
        let part = |&(norm2, mass): &(f64, f64)| {
            mass * hockey_stick(norm2.sqrt() / noise_multiplier, epsilon)
        };
        self.unbounded + self.atoms.iter().map(part).sum::<f64>()
    }

    /// λ = 0: the norm² is the number of participations.
    fn binomial(pair: &Pair) -> Self {
        let Some(window) = Window::of(pair) else {
            return Self { atoms: vec![(0.0, 1.0)], unbounded: 0.0 };
        };
        let mut atoms = window.masses;
        if let Some(first) = atoms.first_mut() {
            first.1 += window.below;
        }
        Self { atoms, unbounded: window.above }
    }

    /// `P(‖Cy‖² > a) <= min_θ e^{−θa} E e^{θ‖Cy‖²}`; `None` if no moment was found.
    fn chernoff(pair: &Pair) -> Option<Self> {
        let lambda = pair.lambda();
        let chain = Chain {
            pair,
            replicas: 1.0,
            block: block_length(pair, if lambda > 0.999 { 0.1 } else { 0.03 }),
            ratio: 0.95,
            floor: 5e-3,
        };
        let gram = pair.gram_diagonal(pair.horizon());
        let mean = pair.rate() * pair.horizon() * gram * (1.0 + 2.0 * pair.rate() / (1.0 - lambda));
        let mut moments: Vec<(f64, f64)> = Vec::new();
        let mut theta = 0.05 / mean.max(gram);
        for _ in 0..90 {
            // θ‖Cy‖² has θG(n² + 2nq) in a step.
            let moment = chain.attraction(2.0 * theta, 0.5);
            if !moment.is_finite() {
                break;
            }
            let slope = moments.last().map(|last| (moment - last.1) / (theta - last.0));
            moments.push((theta, moment));
            if slope.is_some_and(|norm2| moment - theta * norm2 < LOST.ln()) {
                break;
            }
            theta *= 1.3;
        }
        moments.last()?;
        let survival = |norm2: f64| {
            let exponent = |&(theta, moment): &(f64, f64)| moment - theta * norm2;
            let best = moments.iter().map(exponent).fold(0.0, f64::min);
            best.exp() * (1.0 + 1e-9)
        };
        let absent = (pair.horizon() * (-pair.rate()).ln_1p()).exp();
        let mut left = (1.0 - absent * (1.0 - 1e-9)).min(1.0);
        let mut atoms = vec![(0.0, absent)];
        // A record that takes part at all has a norm of at least 1.
        let mut edge = 1.0;
        while left > LOST && edge < 1e300 {
            edge *= 1.003;
            let still = survival(edge).min(left);
            if still < left {
                atoms.push((edge, left - still));
            }
            left = still;
        }
        Some(Self { atoms, unbounded: left })
    }

    /// The dynamic program with norms up to `largest`; `None` where it costs too much.
    fn program(pair: &Pair, largest: f64) -> Option<Self> {
        let lambda = pair.lambda();
        let top = lambda / (1.0 - lambda) * (1.0 + 1e-12);
        let grid = Grid::new(lambda, lambda, top, 5e-3, 0.93, Rounding::Up)?;
        let gram = pair.gram_diagonal(pair.horizon()) * (1.0 + 1e-12);
        let cells_per_gram = [32.0, 16.0, 8.0, 4.0].into_iter().find(|cells| {
            pair.horizon() * (largest / gram * cells) * grid.len() as f64 <= BUDGET
        })?;
        // A lone participation of the first step moves by a whole number of cells.
        let cell = gram / cells_per_gram;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within the budget
        let cells = (largest / cell).ceil() as usize + 2;
        let states = grid.len();
        let moves: Vec<(usize, usize)> =
            (0..states).map(|state| (grid.next(state, 0.0), grid.next(state, 1.0))).collect();
        let (rate, miss) = (pair.rate(), 1.0 - pair.rate());
        let mut now = vec![0.0; states * cells];
        let mut then = now.clone();
        now[(states - 1) * cells] = 1.0;
        let mut unbounded = 0.0;
        let (mut rows_left, mut filled) = (pair.horizon(), 1_usize);
        while rows_left > 0.0 {
            then.iter_mut().for_each(|mass| *mass = 0.0);
            let diagonal = pair.gram_diagonal(rows_left);
            let mut farthest = filled;
            for (state, &(rest, join)) in moves.iter().enumerate() {
                let source = &now[state * cells..state * cells + filled];
                for (to, mass) in then[rest * cells..].iter_mut().zip(source) {
                    *to += miss * mass;
                }
                let added = diagonal * (1.0 + 2.0 * grid.value(state)) / cell;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let jump = (added * (1.0 + 1e-13)).ceil() as usize;
                let fits = cells.saturating_sub(jump).min(filled);
                unbounded += rate * source[fits..].iter().sum::<f64>();
                if fits > 0 {
                    let target = &mut then[join * cells + jump..join * cells + jump + fits];
                    for (to, mass) in target.iter_mut().zip(source) {
                        *to += rate * mass;
                    }
                    farthest = farthest.max(jump + fits);
                }
            }
            std::mem::swap(&mut now, &mut then);
            filled = farthest.min(cells);
            rows_left -= 1.0;
        }
        let rounding = 1.0 + 1e-12 + 1e-15 * pair.horizon();
        let mut atoms: Vec<(f64, f64)> = Vec::new();
        let mut pending = 0.0;
        let mut from = 0.0;
        for index in 0..filled {
            let mass: f64 = (0..states).map(|state| now[state * cells + index]).sum();
            let norm2 = index as f64 * cell;
            pending += mass * rounding;
            // Atoms closer than a thousandth are merged into the largest of them.
            if pending > 1e-30 && (norm2 >= from * 1.001 || index + 1 == filled) {
                atoms.push((norm2, pending));
                pending = 0.0;
                from = norm2;
            }
        }
        Some(Self { atoms, unbounded: unbounded * rounding + pending })
    }
}
