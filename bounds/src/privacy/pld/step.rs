//! One step of a run with independent noise.

use super::mixture::Mixture;
use crate::domain;
use crate::error::Result;

/// Which statement dominates the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Poisson,
    PoissonReplaceOne,
    FixedReplaceOne,
    FixedZeroOut,
}

/// One step of a run with independent noise, by the pair or the profile that dominates it.
///
/// A run of `T` such steps composes the pair with itself; gradients may depend on everything
/// released before. With `H_a = H_a(N(m/κ, 1) ‖ N(0, 1)) = BW(m/κ, log a)` written `H_a(m)`,
/// `a = 1 + (α − 1)/r` and `β = α/a`:
///
/// | constructor | dominated by | source |
/// |---|---|---|
/// | [`OneStep::poisson`] | `(1−q)N(0,σ²) + qN(1,σ²)` against `N(0,σ²)`, both orders | Zhu, Dong, Wang 2022; Lemma M of docs/theory/privacy.md |
/// | [`OneStep::poisson_replace_one`] | `r[(1−β)H_a(1) + βH_a(2)]`, both orders | Balle, Barthe, Gaboardi 2018 |
/// | [`OneStep::fixed_replace_one`] | `r H_a(2)`, both orders | Balle, Barthe, Gaboardi 2018 |
/// | [`OneStep::fixed_zero_out`] | `r[(1−β)H_a(2) + βH_a(1)]`, opposite order `r H_a(1)` | Balle, Barthe, Gaboardi 2018 |
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::pld::OneStep;
/// let step = OneStep::poisson(0.01, 1.0)?;
/// assert_eq!(step.rate(), 0.01);
/// assert!(OneStep::poisson(1.5, 1.0).is_err());
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneStep {
    pub(super) kind: Kind,
    rate: f64,
    noise: f64,
}

impl OneStep {
    fn new(kind: Kind, rate: f64, name: &'static str, noise: f64) -> Result<Self> {
        let rate = domain::probability("sampling_rate", rate)?;
        let noise = domain::non_negative(name, noise)?;
        Ok(Self { kind, rate, noise })
    }

    /// The subsampled Gaussian pair: each record joins the step with probability `rate`.
    ///
    /// `rate` in [0, 1]; `noise_multiplier = σ = κ/s >= 0` is the noise standard deviation on the sum
    /// over the sensitivity `s` of the relation (1 for Poisson batches under add/remove or zero-out,
    /// 2 for fixed-size batches under add/remove). `σ = 0` means no noise.
    ///
    /// # Errors
    /// [`crate::BoundError::OutOfRange`] for a parameter out of its range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::privacy::pld::{OneStep, upper_epsilon};
    /// let epsilon = upper_epsilon(&OneStep::poisson(0.01, 1.0)?, 1000, 1e-5)?;
    /// assert!((epsilon / 1.828 - 1.0).abs() < 1e-3);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn poisson(rate: f64, noise_multiplier: f64) -> Result<Self> {
        Self::new(Kind::Poisson, rate, "noise_multiplier", noise_multiplier)
    }

    /// Poisson batches under replace-one.
    ///
    /// `rate` in [0, 1]; `kappa >= 0` is the noise standard deviation on the sum of clipped
    /// gradients in units of the clipping norm.
    ///
    /// # Errors
    /// [`crate::BoundError::OutOfRange`] for a parameter out of its range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::privacy::pld::{OneStep, upper_epsilon};
    /// let add_remove = upper_epsilon(&OneStep::poisson(0.01, 2.0)?, 1000, 1e-5)?;
    /// let replace = upper_epsilon(&OneStep::poisson_replace_one(0.01, 2.0)?, 1000, 1e-5)?;
    /// assert!(replace > add_remove);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn poisson_replace_one(rate: f64, kappa: f64) -> Result<Self> {
        Self::new(Kind::PoissonReplaceOne, rate, "kappa", kappa)
    }

    /// Batches of a fixed size, drawn afresh in each step, under replace-one.
    ///
    /// `rate = B/n` in [0, 1]; `kappa >= 0` is the noise standard deviation on the sum of clipped
    /// gradients in units of the clipping norm. The direction of the difference may change in each
    /// step, so the pair is symmetric.
    ///
    /// # Errors
    /// [`crate::BoundError::OutOfRange`] for a parameter out of its range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::privacy::pld::{OneStep, upper_epsilon};
    /// let epsilon = upper_epsilon(&OneStep::fixed_replace_one(0.01, 2.0)?, 1000, 1e-5)?;
    /// assert!((epsilon / 2.199 - 1.0).abs() < 1e-3);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn fixed_replace_one(rate: f64, kappa: f64) -> Result<Self> {
        Self::new(Kind::FixedReplaceOne, rate, "kappa", kappa)
    }

    /// Batches of a fixed size, drawn afresh in each step, when one record's contribution may be
    /// replaced by zero.
    ///
    /// `rate = B/n` in [0, 1]; `kappa >= 0` is the noise standard deviation on the sum of clipped
    /// gradients in units of the clipping norm. The order is fixed over the run, so each order is
    /// composed with itself: [`Forward`](crate::privacy::Order::Forward) has the record present in
    /// the first run.
    ///
    /// # Errors
    /// [`crate::BoundError::OutOfRange`] for a parameter out of its range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::privacy::pld::{OneStep, upper_epsilon};
    /// let zero_out = upper_epsilon(&OneStep::fixed_zero_out(0.01, 2.0)?, 1000, 1e-5)?;
    /// let replace = upper_epsilon(&OneStep::fixed_replace_one(0.01, 2.0)?, 1000, 1e-5)?;
    /// assert!(zero_out < replace);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn fixed_zero_out(rate: f64, kappa: f64) -> Result<Self> {
        Self::new(Kind::FixedZeroOut, rate, "kappa", kappa)
    }

    /// Probability that one record takes part in the step.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The noise as it was given: `σ` for [`OneStep::poisson`], otherwise `κ`.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The largest distance between the two runs' sums in one step, over the noise.
    pub(super) fn full_shift(&self) -> f64 {
        let sensitivity = match self.kind {
            Kind::Poisson | Kind::FixedZeroOut => 1.0,
            Kind::PoissonReplaceOne | Kind::FixedReplaceOne => 2.0,
        };
        sensitivity / self.noise
    }

    /// `(1−r)N(0) + rN(distance/noise)` against `N(0)`, the building block of every statement.
    pub(super) fn mixture(&self, distance: f64) -> Mixture {
        Mixture::new(self.rate, distance / self.noise)
    }
}
