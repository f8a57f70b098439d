//! The corollaries as printed, the full-batch recoveries and the earlier results they are compared with.

use super::{RISK_RATE, paper};
use crate::domain;
use crate::error::Result;
use crate::warrant::{Bound, Check, Comparison, Source};

/// What the corollaries depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scenario {
    /// Number of records.
    pub n: u64,
    /// NTK margin γ, `> 0`.
    pub gamma: f64,
    /// Input dimension d.
    pub dimension: u64,
    /// Privacy ε, `> 0`; unused by the rates without privacy.
    pub epsilon: f64,
}

struct Checked {
    n: f64,
    gamma: f64,
    root_dimension: f64,
    epsilon: f64,
}

impl Checked {
    fn new(scenario: &Scenario) -> Result<Self> {
        Ok(Self {
            n: domain::count("n", scenario.n)?,
            gamma: domain::positive("gamma", scenario.gamma)?,
            root_dimension: domain::count("dimension", scenario.dimension)?.sqrt(),
            epsilon: domain::positive("epsilon", scenario.epsilon)?,
        })
    }

    fn sampling(&self) -> f64 {
        1.0 / (self.gamma * self.n.sqrt())
    }

    fn privacy(&self, power: i32) -> f64 {
        self.root_dimension / (self.gamma.powi(power) * self.n * self.epsilon)
    }

    fn optimisation(&self, power: i32) -> f64 {
        1.0 / (self.gamma.powi(power) * self.n)
    }
}

fn two_terms(sampling: f64, privacy: f64, power: i32, source: Source) -> Result<Bound> {
    let name = format!("privacy sqrt(d)/(gamma^{power} n eps)");
    Ok(Bound::rate(RISK_RATE, sampling + privacy, source)?
        .with_term("sampling 1/(gamma sqrt n)", sampling)
        .with_term(name, privacy))
}

/// Corollary 5.3 (correlated noise): `1/(γ sqrt n) + sqrt d/(γ⁴nε)` for `η ~ 1`, `B ~ n`, `m ~ γ⁻⁶`, `T ~ min(sqrt n/γ, nεγ²/sqrt d)`.
///
/// The alternative is the rate with `γ³`: the gap is an artefact of a superfluous factor (docs/errata.md, E10).
///
/// # Source
/// arXiv 2605.12648, Corollary 5.3.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Scenario, corollary_5_3};
/// let scenario = Scenario { n: 1_000_000, gamma: 0.5, dimension: 16, epsilon: 1.0 };
/// let rate = corollary_5_3(&scenario)?;
/// assert!((rate.value.unwrap() - (0.002 + 6.4e-5)).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn corollary_5_3(scenario: &Scenario) -> Result<Bound> {
    let s = Checked::new(scenario)?;
    let mut rate = two_terms(
        s.sampling(),
        s.privacy(4),
        4,
        paper(
            "Corollary 5.3 (eta ~ 1, B ~ n, m ~ gamma^-6, T ~ min(sqrt n/gamma, n eps gamma^2/sqrt d))",
        ),
    )?;
    let corrected = two_terms(
        s.sampling(),
        s.privacy(3),
        3,
        paper("Corollary 5.3 without the superfluous R_*^2 (docs/errata.md E10, order-level)"),
    )?;
    rate.alternatives.push(corrected.into());
    Ok(rate)
}

/// Corollary 5.5 (independent noise, mini-batches): `1/(γ sqrt n) + sqrt d/(γ³nε)` for `B ~ γ sqrt n`, `T ~ sqrt n/γ`, `m ~ γ⁻⁴`.
///
/// **Its privacy claim is false** (docs/errata.md, E3): the check that says so fails.
///
/// # Source
/// arXiv 2605.12648, Corollary 5.5.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Scenario, corollary_5_5};
/// let scenario = Scenario { n: 1_000_000, gamma: 0.1, dimension: 16, epsilon: 1.0 };
/// assert!(!corollary_5_5(&scenario)?.checks[0].holds);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn corollary_5_5(scenario: &Scenario) -> Result<Bound> {
    let s = Checked::new(scenario)?;
    let source = paper("Corollary 5.5 (B ~ gamma sqrt n, T ~ sqrt n/gamma, m ~ gamma^-4)");
    Ok(two_terms(s.sampling(), s.privacy(3), 3, source)?.with_check(Check::new(
        "privacy claim: expected participations T B/n = 1 reach 3 log(2/delta) at delta = 1e-5 (docs/errata.md E3)",
        1.0,
        Comparison::AtLeast,
        3.0 * 2e5_f64.ln(),
    )))
}

/// Corollary 5.6 (no noise): population rate `1/(γ²n)` for `B <~ γ sqrt n`, `η ~ B/n`, `T ~ n²/(γ²B)`; its optimisation rate `1/n` is the alternative.
///
/// # Source
/// arXiv 2605.12648, Corollary 5.6.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Scenario, corollary_5_6};
/// let scenario = Scenario { n: 1000, gamma: 0.5, dimension: 16, epsilon: 1.0 };
/// assert!((corollary_5_6(&scenario)?.value.unwrap() - 0.004).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn corollary_5_6(scenario: &Scenario) -> Result<Bound> {
    let s = Checked::new(scenario)?;
    let source =
        paper("Corollary 5.6, population (B <~ gamma sqrt n, eta ~ B/n, T ~ n^2/(gamma^2 B))");
    let mut rate = Bound::rate(RISK_RATE, s.optimisation(2), source)?;
    let optimisation = paper("Corollary 5.6, optimisation 1/n");
    rate.alternatives.push(Bound::rate(RISK_RATE, 1.0 / s.n, optimisation)?.into());
    Ok(rate)
}

/// Full-batch gradient descent: `1/(γ²n)`.
///
/// # Source
/// arXiv 2605.12648, full-batch recovery of Theorem 5.2.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Scenario, full_batch_gd, wang_gd};
/// let scenario = Scenario { n: 1000, gamma: 0.5, dimension: 16, epsilon: 1.0 };
/// assert!(full_batch_gd(&scenario)?.value < wang_gd(&scenario)?.value);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn full_batch_gd(scenario: &Scenario) -> Result<Bound> {
    let s = Checked::new(scenario)?;
    Bound::rate(RISK_RATE, s.optimisation(2), paper("full batch, GD (m ~ gamma^-4)"))
}

/// Full-batch DP gradient descent: `sqrt d/(γ³nε)`.
///
/// # Source
/// arXiv 2605.12648, full-batch recovery of Theorem 5.2.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Scenario, full_batch_dp_gd};
/// let scenario = Scenario { n: 1000, gamma: 0.5, dimension: 16, epsilon: 1.0 };
/// assert!((full_batch_dp_gd(&scenario)?.value.unwrap() - 0.032).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn full_batch_dp_gd(scenario: &Scenario) -> Result<Bound> {
    let s = Checked::new(scenario)?;
    Bound::rate(RISK_RATE, s.privacy(3), paper("full batch, DP-GD (m ~ gamma^-4)"))
}

const WANG: &str = "Wang et al. 2026, as quoted by arXiv 2605.12648";

/// The earlier full-batch result without privacy: `1/(γ⁴n)` at width `γ⁻⁶`.
///
/// # Source
/// Wang et al. (2026), as quoted by arXiv 2605.12648.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Scenario, wang_gd};
/// let scenario = Scenario { n: 1000, gamma: 0.5, dimension: 16, epsilon: 1.0 };
/// assert!((wang_gd(&scenario)?.value.unwrap() - 0.016).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn wang_gd(scenario: &Scenario) -> Result<Bound> {
    let s = Checked::new(scenario)?;
    Bound::rate(RISK_RATE, s.optimisation(4), Source::new(WANG, "GD (m ~ gamma^-6)"))
}

/// The earlier full-batch result with privacy: `sqrt d/(γ⁴nε)` at width `γ⁻⁶`.
///
/// # Source
/// Wang et al. (2026), as quoted by arXiv 2605.12648.
///
/// # Errors
/// [`crate::BoundError`] for an argument out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::rates::{Scenario, wang_dp_gd};
/// let scenario = Scenario { n: 1000, gamma: 0.5, dimension: 16, epsilon: 1.0 };
/// assert!((wang_dp_gd(&scenario)?.value.unwrap() - 0.064).abs() < 1e-15);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn wang_dp_gd(scenario: &Scenario) -> Result<Bound> {
    let s = Checked::new(scenario)?;
    Bound::rate(RISK_RATE, s.privacy(4), Source::new(WANG, "DP-GD (m ~ gamma^-6)"))
}
