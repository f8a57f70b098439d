//! Replace-one curves of DP-SGD runs, at orders around those that matter for max-information.

use super::{RenyiCurve, RenyiPoint};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::privacy::{Relation, rdp};

/// Orders: `α − 1` from `1/64` to 64 times the effective noise, in 49 geometric steps.
const STEPS_EACH_WAY: i32 = 24;
const LARGEST_EXCESS: f64 = 9e5;

impl RenyiCurve {
    /// A curve that was computed under `relation`; only replace-one is accepted.
    ///
    /// Theorem 2 needs the divergence between data sets that differ in one **replaced** record. An
    /// add/remove or zero-out curve understates it (at Poisson rate 0.01 and noise 2 by a factor 3.5), so a
    /// certificate made from one would be false.
    ///
    /// # Errors
    /// [`BoundError::Input`] for any other relation, and those of [`RenyiCurve::new`].
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::max_information::renyi::{RenyiCurve, RenyiPoint};
    /// use dpbounds_bounds::privacy::Relation;
    /// let points = vec![RenyiPoint { alpha: 8.0, epsilon: 0.02 }];
    /// assert!(RenyiCurve::of_relation(Relation::AddRemove, points.clone()).is_err());
    /// assert!(RenyiCurve::of_relation(Relation::ReplaceOne, points).is_ok());
    /// ```
    pub fn of_relation(relation: Relation, points: Vec<RenyiPoint>) -> Result<Self> {
        Self::require_replace_one(relation)?;
        Self::new(points)
    }

    /// Refuses every relation but replace-one; see [`RenyiCurve::of_relation`].
    ///
    /// # Errors
    /// [`BoundError::Input`] for any other relation.
    pub fn require_replace_one(relation: Relation) -> Result<()> {
        if relation == Relation::ReplaceOne {
            return Ok(());
        }
        Err(BoundError::Input {
            parameter: "relation".into(),
            problem: format!(
                "max-information needs a replace-one Renyi curve, and {relation} curves are smaller; \
                 recompute the curve under replace-one (for DP-SGD: max-info dp-sgd)"
            ),
        })
    }

    /// The curve of `steps` steps on Poisson batches, [`rdp::poisson_replace_one`] summed over the steps.
    ///
    /// `sampling_rate = q` in (0, 1], `sigma > 0` the noise on the **sum** of clipped gradients over the
    /// clipping norm, `steps = T` (1 to 2^53).
    ///
    /// # Errors
    /// [`BoundError::OutOfRange`] for an argument out of range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::max_information::renyi::RenyiCurve;
    /// let curve = RenyiCurve::poisson_dp_sgd(0.1, 62.0, 60)?;
    /// assert!(curve.points().len() > 40);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn poisson_dp_sgd(sampling_rate: f64, sigma: f64, steps: u64) -> Result<Self> {
        Self::poisson_dp_sgd_runs(&[(sampling_rate, sigma, steps)])
    }

    /// The curve of several runs on Poisson batches of the same records, all of them released: the sum of theirs.
    ///
    /// `runs` are triples of sampling rate, noise and steps as in [`RenyiCurve::poisson_dp_sgd`], at least one.
    ///
    /// # Errors
    /// [`BoundError`] for an argument out of range or no run.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::max_information::renyi::RenyiCurve;
    /// let two = RenyiCurve::poisson_dp_sgd_runs(&[(0.1, 62.0, 30), (0.1, 62.0, 30)])?;
    /// assert_eq!(two, RenyiCurve::poisson_dp_sgd(0.1, 62.0, 60)?);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn poisson_dp_sgd_runs(runs: &[(f64, f64, u64)]) -> Result<Self> {
        let mut signal = 0.0;
        for &(rate, sigma, steps) in runs {
            let rate = domain::probability("sampling_rate", rate)?;
            let sigma = domain::positive("sigma", sigma)?;
            signal += domain::count("steps", steps)? * (rate / sigma).powi(2);
        }
        let orders = orders(signal.powf(-0.5));
        let mut total = vec![0.0; orders.len()];
        for &(rate, sigma, steps) in runs {
            let steps = domain::count("steps", steps)?;
            let of_run = rdp::poisson_replace_one_curve(rate, sigma, &orders)?;
            total.iter_mut().zip(of_run).for_each(|(total, one)| *total += one * steps);
        }
        of_finite(&orders, total)
    }

    /// The curve of `steps` steps on batches of `batch` of `n` records, drawn without replacement,
    /// [`rdp::fixed_size_replace_one`] summed over the steps.
    ///
    /// `n` records, `batch = B <= n`, `sigma` and `steps` as in [`RenyiCurve::poisson_dp_sgd`].
    ///
    /// # Errors
    /// [`BoundError::OutOfRange`] or [`BoundError::Conflict`] for an argument out of range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::max_information::renyi::RenyiCurve;
    /// let curve = RenyiCurve::fixed_size_dp_sgd(12_000, 1200, 62.0, 60)?;
    /// assert!(curve.points().len() > 40);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn fixed_size_dp_sgd(n: u64, batch: u64, sigma: f64, steps: u64) -> Result<Self> {
        let rate = domain::batch_of("batch", batch, "n", n)?;
        composed(rate, sigma, steps, |orders| {
            rdp::fixed_size_replace_one_curve(rate, sigma, orders)
        })
    }

    /// The curve of `steps` steps on the whole data set, `2αT/σ²`.
    ///
    /// `sigma` and `steps` as in [`RenyiCurve::poisson_dp_sgd`].
    ///
    /// # Errors
    /// [`BoundError::OutOfRange`] for an argument out of range.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_bounds::max_information::renyi::RenyiCurve;
    /// let curve = RenyiCurve::full_batch_dp_sgd(620.0, 60)?;
    /// let point = curve.points()[0];
    /// assert!((point.epsilon / (120.0 * point.alpha / 620.0 / 620.0) - 1.0).abs() < 1e-11);
    /// # Ok::<(), dpbounds_bounds::BoundError>(())
    /// ```
    pub fn full_batch_dp_sgd(sigma: f64, steps: u64) -> Result<Self> {
        composed(1.0, sigma, steps, |orders| {
            orders.iter().map(|&order| rdp::full_batch_replace_one(sigma, order)).collect()
        })
    }
}

/// Divergences of one step add up over steps, whatever is chosen from the earlier releases.
fn composed(
    rate: f64,
    sigma: f64,
    steps: u64,
    curve: impl Fn(&[f64]) -> Result<Vec<f64>>,
) -> Result<RenyiCurve> {
    let rate = domain::probability("sampling_rate", rate)?;
    let sigma = domain::positive("sigma", sigma)?;
    let steps = domain::count("steps", steps)?;
    let orders = orders(sigma / rate / steps.sqrt());
    let epsilons = curve(&orders)?;
    of_finite(&orders, epsilons.into_iter().map(|epsilon| epsilon * steps).collect())
}

/// Orders around the effective noise, where those that matter lie.
fn orders(effective_noise: f64) -> Vec<f64> {
    let effective_noise = effective_noise.clamp(0.01, LARGEST_EXCESS);
    (-STEPS_EACH_WAY..=STEPS_EACH_WAY)
        .map(|step| effective_noise * (f64::from(step) / 4.0).exp2())
        .filter(|&excess| excess <= LARGEST_EXCESS)
        .map(|excess| 1.0 + excess)
        .collect()
}

fn of_finite(orders: &[f64], epsilons: Vec<f64>) -> Result<RenyiCurve> {
    let points: Vec<_> = orders
        .iter()
        .zip(epsilons)
        .map(|(&alpha, epsilon)| RenyiPoint { alpha, epsilon })
        .filter(|point| point.epsilon.is_finite())
        .collect();
    if points.is_empty() {
        return Err(BoundError::Numerical {
            what: "Renyi curve",
            detail: "every order is beyond double precision at so little noise; raise sigma",
        });
    }
    RenyiCurve::new(points)
}
