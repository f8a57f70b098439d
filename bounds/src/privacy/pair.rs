//! The pair of distributions that dominates a subsampled run, with its parameters checked.

use crate::domain;
use crate::error::Result;

/// Which way round the two distributions of a pair are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// `H(P‖Q)`: the record is in the first run ("remove").
    Forward,
    /// `H(Q‖P)`: the record is in the second run ("add").
    Reverse,
}

impl Order {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Forward, Self::Reverse];
}

/// `P = Σ_y Bern(r)^T(y) N(Cy, σ²I)` against `Q = N(0, σ²I)`, with `C_{tu} = λ^{t−u}` for `t >= u`.
///
/// `y` says in which steps the record takes part; `σ = κ/s` is the noise over the sensitivity.
/// λ = 0 is the subsampled Gaussian mechanism composed `T` times.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// let pair = Pair::new(0.01, 2.5, 0.5, 1000)?;
/// assert_eq!(pair.steps(), 1000);
/// assert!(Pair::new(0.01, 2.5, 1.0, 1000).is_err());
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    rate: f64,
    noise_multiplier: f64,
    lambda: f64,
    steps: u64,
}

impl Pair {
    /// A pair with participation rate `r` in [0, 1], noise multiplier `σ > 0` (noise over
    /// sensitivity), noise correlation `λ` in [0, 1) and `steps = T <= 2^53`.
    ///
    /// # Errors
    /// [`crate::BoundError::OutOfRange`] for a parameter out of its range.
    pub fn new(rate: f64, noise_multiplier: f64, lambda: f64, steps: u64) -> Result<Self> {
        domain::probability("sampling_rate", rate)?;
        domain::positive("noise_multiplier", noise_multiplier)?;
        domain::noise_correlation("lambda", lambda)?;
        if steps > 0 {
            domain::count("steps", steps)?;
        }
        Ok(Self { rate, noise_multiplier, lambda, steps })
    }

    /// Participation rate `r` of the record in each step, in [0, 1].
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Noise standard deviation over the sensitivity, `σ = κ/s`.
    #[must_use]
    pub fn noise_multiplier(&self) -> f64 {
        self.noise_multiplier
    }

    /// Noise correlation λ in [0, 1).
    #[must_use]
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Number of noisy steps `T`.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// `T` as a number; exact, since `T <= 2^53`.
    #[allow(clippy::cast_precision_loss)] // checked by `new`
    pub(crate) fn horizon(&self) -> f64 {
        self.steps as f64
    }

    /// `(C'C)_vv = (1 − λ^{2k})/(1 − λ²)` for a step with `k = T − v + 1` rows from it to the end.
    pub(crate) fn gram_diagonal(&self, rows_left: f64) -> f64 {
        if self.lambda == 0.0 {
            return 1.0;
        }
        -(2.0 * rows_left * self.lambda.ln()).exp_m1() / ((1.0 - self.lambda) * (1.0 + self.lambda))
    }
}
