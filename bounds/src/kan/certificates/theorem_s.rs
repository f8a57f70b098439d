//! Theorem S: a pathwise comparator argument for any batches and any correlated noise.

use super::{
    Anchor, BATCH_RISK, BatchCap, Guarantee, Landscape, Optimisation, TRAINING_RISK, Training,
    clipping_check, ensure_representable, failure_check, ours, radius_check, with_checks,
};
use crate::domain;
use crate::error::Result;
use crate::kan::SELF_BOUNDING_CONSTANT;
use crate::warrant::{Bound, Check, Comparison};

/// Sizes that the noise meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Width m.
    pub width: u64,
    /// `N = m d p`, all trained parameters; the projection sees all of their noise.
    pub parameters: u64,
    /// N' in m..=N: the noise that the inputs see. N, or m times the rank of `h(x_1), .., h(x_K)`.
    pub noise_dimension: u64,
    /// K: distinct inputs; n for continuous data.
    pub inputs: u64,
}

/// How the failure probability of Theorem S is spent; nothing is spent on what is not random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetS {
    /// δ_M, in (0, 1): the martingale of noise and iterates.
    pub linear: f64,
    /// δ_V, in (0, 1): the norm of all noise.
    pub square: f64,
    /// δ_X, in (0, 1), counted twice: the noise seen by an input, and the noise that the projection sees.
    pub inputs: f64,
    /// Failure probability of the loss of the comparator, in [0, 1): 0, or what [`super::comparator_on_batches`]
    /// was given.
    pub comparator: f64,
}

impl BudgetS {
    /// Equal parts of `total`, which is the whole failure probability of correlated noise.
    #[must_use]
    pub fn equal(total: f64) -> Self {
        let part = total / 4.0;
        Self { linear: part, square: part, inputs: part, comparator: 0.0 }
    }
}

/// The arguments of [`theorem_s`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TheoremS {
    /// Constants over the inputs of the sample (of the support, for population risk).
    pub landscape: Landscape,
    /// Sizes.
    pub extent: Extent,
    /// τ, and a bound of `(1/T) Σ_t L_{B_t}(W*)`: `L_S(W*)` for full batches; ρ `max_i l_i(W*)` else, see
    /// [`BatchCap::ratio`].
    pub comparator: Anchor,
    /// The run.
    pub training: Training,
    /// How large batches get.
    pub batches: BatchCap,
    /// Failure probabilities.
    pub budget: BudgetS,
}

/// Theorem S: `(1/T) Σ_{t=1}^T L_{B_t}(W_{t−1}) ≤ A = R_bar²/(T coef)`.
///
/// ```text
/// z_x = sqrt m + sqrt(2 log(K(T−1)/δ_X))     V = (T−1)N' + 2 sqrt((T−1)N' log(1/δ_V)) + 2 log(1/δ_V)
/// b = 2(1−λ)ηc sqrt(2(T−1) log(1/δ_M))       a = τ² + 2ηT l* + (1−λ)²η²c² V
/// R_bar = (b + sqrt(b² + 4a))/2              q = ν(R_bar + ηc z_x)²/2
/// coef = 2η(1−q) − ρ C_0 η² G² − 2λη²c G z_x
/// ```
///
/// Hypotheses: `coef > 0`; `C_clip ≥ G`; `R_* ≥ R_bar + τ + ηc (sqrt N + sqrt(2 log((T−1)/δ_X)))`. It holds except with
/// probability `δ_M + δ_V + 2δ_X` (the noise; only `2δ_X` for λ = 1) plus that of large Poisson batches and of the
/// comparator: surely, if nothing of this is random. `l*` is the loss of the comparator. For full batches the result
/// bounds the training risk itself.
///
/// # Source
/// Ours; proof in docs/theory/certificates.md.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range or results beyond the range of doubles. A hypothesis that fails
/// gives a bound without a value.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{
///     Anchor, BatchCap, BudgetS, Extent, Landscape, TheoremS, Training, theorem_s,
/// };
/// let certificate = theorem_s(&TheoremS {
///     landscape: Landscape { gradient: 0.69, curvature: 0.0075, smoothness: 0.13 },
///     extent: Extent { width: 100_000, parameters: 200_000, noise_dimension: 200_000, inputs: 4 },
///     comparator: Anchor { distance: 8.0, loss: 0.075 },
///     training: Training::full_batch(0.1, 3777, 4),
///     batches: BatchCap::EXACT,
///     budget: BudgetS::equal(4e-3),
/// })?;
/// assert!((certificate.bound.value.unwrap() - 0.296_966_952_437_671_4).abs() < 1e-12);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn theorem_s(arguments: &TheoremS) -> Result<Optimisation> {
    let TheoremS { landscape, extent, comparator, training, batches, budget } = *arguments;
    let steps = training.checked()?.steps;
    let (landscape, comparator) = (landscape.checked()?, comparator.checked()?);
    let (eta, c, lambda) = (training.step_size, training.noise, training.lambda);
    let [width, parameters, noise_dimension, inputs] = [
        domain::count("width", extent.width)?,
        domain::count("parameters", extent.parameters)?,
        domain::count("noise_dimension", extent.noise_dimension)?,
        domain::count("inputs", extent.inputs)?,
    ];
    domain::probability("failure of the comparator", budget.comparator)?;
    let (mut at_inputs, mut square, mut linear, mut everywhere) = (0.0, 0.0, 0.0, 0.0);
    let mut failure = batches.failure() + budget.comparator;
    if training.is_noisy() {
        let log_inputs = -domain::open_probability("failure at the inputs", budget.inputs)?.ln();
        let updates = steps - 1.0;
        at_inputs = width.sqrt() + (2.0 * (updates.ln() + inputs.ln() + log_inputs)).sqrt();
        everywhere = parameters.sqrt() + (2.0 * (updates.ln() + log_inputs)).sqrt();
        failure += 2.0 * budget.inputs;
        if lambda < 1.0 {
            let log = -domain::open_probability("failure of the square", budget.square)?.ln();
            let mean = updates * noise_dimension;
            square = mean + 2.0 * (mean * log).sqrt() + 2.0 * log;
            let log = -domain::open_probability("failure of the linear", budget.linear)?.ln();
            linear = 2.0 * (1.0 - lambda) * eta * c * (2.0 * updates * log).sqrt();
            failure += budget.linear + budget.square;
        }
    }
    let tau = comparator.distance;
    let lagged = (1.0 - lambda) * eta * c;
    let loss_part = 2.0 * eta * steps * comparator.loss;
    let noise_part = lagged * lagged * square;
    let a = tau * tau + loss_part + noise_part;
    let distance = (linear + (linear * linear + 4.0 * a).sqrt()) / 2.0;
    let reach = distance + eta * c * at_inputs;
    let q = landscape.curvature * reach * reach / 2.0;
    let gradient = landscape.gradient;
    let batch_part = batches.ratio() * SELF_BOUNDING_CONSTANT * eta * eta * gradient * gradient;
    let noise_on_gradient = 2.0 * lambda * eta * eta * c * gradient * at_inputs;
    let coefficient = 2.0 * eta * (1.0 - q) - batch_part - noise_on_gradient;
    ensure_representable(&[distance, reach, q, coefficient])?;
    let positive = Check::new(
        "coef = 2 eta (1 - q) - rho C0 eta^2 G^2 - 2 lambda eta^2 c G z_x, positive beyond rounding",
        coefficient,
        Comparison::Above,
        SMALLEST_SHARE * eta,
    );
    let radius = (distance + tau + eta * c * everywhere).min(f64::MAX);
    let guarantee = Guarantee::of_failure(failure);
    let scale = steps * coefficient;
    // Without a positive coefficient the check below removes this value.
    let value = if positive.holds { distance * distance / scale } else { 0.0 };
    let condition = (2.0 * eta * (1.0 + q) + batch_part + noise_on_gradient) / coefficient;
    let quantity = if training.is_full() { TRAINING_RISK } else { BATCH_RISK };
    let source = ours("Theorem S", guarantee);
    let bound = Bound::upper_bound_of_parts(quantity, value, value * condition.max(1.0), source)?
        .with_term("initialisation tau^2/(T coef)", tau * tau / scale)
        .with_term("comparator 2 eta l*/coef", loss_part / scale)
        .with_term("noise, linear b R/(T coef)", linear * distance / scale)
        .with_term("noise, square (1-lambda)^2 eta^2 c^2 V/(T coef)", noise_part / scale);
    let checks = [
        Some(positive),
        clipping_check(&training, &landscape),
        radius_check(&training, radius),
        failure_check(failure),
    ];
    let bound = with_checks(bound, checks.into_iter().flatten());
    Ok(Optimisation { bound, guarantee, distance, reach, radius, failure })
}

/// Smallest coefficient in units of the step size that is told from 0.
const SMALLEST_SHARE: f64 = 2e-9;

impl Extent {
    /// The sizes of a network on K rows of inputs. The rank of their features is at most `min(K, d(p−1)+1)`, as every
    /// block of p features sums to 1.
    #[must_use]
    pub fn of(network: &crate::kan::Network, rows: usize) -> Self {
        let rank = rows.min(network.feature_count() - network.inputs() + 1);
        let size = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
        Self {
            width: size(network.width()),
            parameters: size(network.parameters()),
            noise_dimension: size(network.width() * rank),
            inputs: size(rows),
        }
    }
}
