//! The profile of the subsampled Gaussian pair on a lattice of losses, and how far its chords lie above it.
//!
//! With likelihood ratio `α = e^L`, the profile `h(α) = E_Q (e^L − α)_+` is convex. Joining its values
//! at the lattice points by chords is the upper bound; the pair it belongs to has an atom at each
//! lattice point, with `Q` mass equal to the jump of the slope there. These masses are integrals of
//! hat functions, all of one sign, so nothing cancels.

use super::grid::Grid;
use super::mixture::{DENSITY_AT_ZERO, Mixture, Node, UNIT};
use super::quadrature::{LEGENDRE_3, LEGENDRE_8, small_exp_m1};
use crate::special::normal_cdf;

/// Beyond this many standard deviations `N(0,1)` has no mass in double precision.
const FAR: f64 = 40.0;

/// Masses of the two runs outside the lattice.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tail {
    pub first_run: f64,
    pub second_run: f64,
}

/// Atoms of the chord interpolation at the losses of a grid.
#[derive(Debug, Clone)]
pub(super) struct Chords {
    pub grid: Grid,
    /// Mass under the first distribution.
    pub mass: Vec<f64>,
    pub gap: Vec<Gap>,
    /// Masses below the first and above the last lattice point.
    pub below: Tail,
    pub above: Tail,
    /// Relative error of a mass, and error of the loss of one step, from rounding.
    pub mass_error: f64,
    pub loss_error: f64,
}

/// What a bin gives to its two ends, in mass of the first distribution.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bin {
    pub to_lower: f64,
    pub to_upper: f64,
}

impl Bin {
    /// `largest` bounds the distance between chord and profile.
    pub fn gap(&self, step: f64, growth: f64, largest: f64) -> Gap {
        let from_lower = step * self.to_upper / growth * GAP_MARGIN;
        let from_upper = step * self.to_lower * GAP_MARGIN;
        let total = from_lower + from_upper;
        let tangents = if total > 0.0 { from_lower * (from_upper / total) } else { 0.0 };
        let largest = largest * GAP_MARGIN;
        let largest = if largest < tangents { largest } else { tangents };
        Gap { from_lower, from_upper, largest }
    }
}

/// The distance between the chord over a bin and the convex profile below it.
///
/// At the place `λ` of the bin it is at most `min(λ B, (1−λ) A)` by the tangents at the two ends, where `A`
/// and `B` are the first moments of the bin from its lower and its upper end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gap {
    from_lower: f64,
    from_upper: f64,
    largest: f64,
}

/// Covers the rounding of the moments.
const GAP_MARGIN: f64 = 1.0 + 1e-9;

impl Gap {
    /// The smallest drops of the two ends after which the chord stays below the profile.
    pub fn cheapest_drops(&self) -> [f64; 2] {
        let both = 2.0 * self.largest;
        if both <= self.from_lower.min(self.from_upper) {
            [self.largest; 2]
        } else if self.from_lower <= self.from_upper {
            [self.from_lower, 0.0]
        } else {
            [0.0, self.from_upper]
        }
    }

    /// A sufficient drop `b` of the upper end when the lower one drops by `a`: `a/A + b/B >= 1`, or both
    /// above the largest distance.
    pub fn upper_drop(&self, lower: f64) -> f64 {
        other_drop(self.from_upper, self.from_lower, self.largest, lower)
    }

    /// The same for the lower end.
    pub fn lower_drop(&self, upper: f64) -> f64 {
        other_drop(self.from_lower, self.from_upper, self.largest, upper)
    }

    fn exchanged(&self, lower: f64, upper: f64) -> Self {
        // A drop over the likelihood ratio at the place where it happens.
        Self {
            from_lower: self.from_upper * upper,
            from_upper: self.from_lower * lower,
            largest: self.largest * lower,
        }
    }
}

fn other_drop(own: f64, across: f64, largest: f64, dropped: f64) -> f64 {
    let by_tangents = if across > 0.0 { own * (1.0 - dropped / across).max(0.0) } else { 0.0 };
    if dropped >= largest { by_tangents.min(largest) } else { by_tangents }
}

impl Chords {
    /// The lattice through the loss `origin` that covers `z` in `[low, high]`.
    pub fn new(mixture: &Mixture, origin: f64, width: f64, low: f64, high: f64) -> Self {
        let first = ((mixture.loss(low) - origin) / width).floor().min(0.0);
        let last = ((mixture.loss(high) - origin) / width).ceil().max(first + 4.0);
        let step = width.exp_m1();
        let growth = width.exp();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded by the caller
        let (first, bins) = (first as i64, (last - first) as usize);
        let grid = Grid { origin, first, width };
        let at = |i: usize| grid.at(i);
        let mut mass = vec![0.0; bins + 1];
        let mut gap = Vec::with_capacity(bins);
        let mut lower = mixture.node(at(0));
        let lowest = lower;
        for i in 0..bins {
            let Some(upper) = mixture.node(at(i + 1)) else {
                gap.push(Gap::default());
                continue;
            };
            let bin = bin(mixture, lower, upper, at(i), width);
            mass[i] += bin.to_lower;
            mass[i + 1] += bin.to_upper;
            let highest = highest_density(mixture, lower, &upper, at(i), growth);
            gap.push(bin.gap(step, growth, step * step / 8.0 * highest));
            lower = Some(upper);
        }
        let below = lowest.filter(|node| node.z > -FAR).map_or_else(Tail::default, |node| Tail {
            first_run: mixture.lower_tail(node.z),
            second_run: normal_cdf(node.z),
        });
        let highest = lower.map_or(0.0, |node| node.z);
        let above =
            Tail { first_run: mixture.upper_tail(highest), second_run: normal_cdf(-highest) };
        let (bottom, top) = (at(0).abs(), at(bins).abs());
        let exponent = highest.powi(2) + low.powi(2) + bottom + top;
        let share = (top.exp_m1() / mixture.keep()).min(1.0);
        let log_odds = mixture.mu * (highest.abs() + mixture.mu);
        Self {
            grid,
            mass,
            gap,
            below,
            above,
            mass_error: UNIT * (200.0 + 4.0 * exponent),
            loss_error: 16.0 * UNIT * (bottom + top + share * log_odds),
        }
    }

    /// The same lattice with the two distributions exchanged: losses change sign.
    pub fn exchanged(&self) -> Self {
        let points = self.mass.len();
        let turn = |i: usize, mass: f64| mass * (-self.grid.at(i)).exp();
        let mut mass: Vec<f64> = self.mass.iter().enumerate().map(|(i, &m)| turn(i, m)).collect();
        mass.reverse();
        let factor = |i: usize| (-self.grid.at(i)).exp();
        let mut gap: Vec<Gap> = self
            .gap
            .iter()
            .enumerate()
            .map(|(i, gap)| gap.exchanged(factor(i), factor(i + 1)))
            .collect();
        gap.reverse();
        let swap = |tail: Tail| Tail { first_run: tail.second_run, second_run: tail.first_run };
        Self {
            grid: self.grid.mirrored(points),
            mass,
            gap,
            below: swap(self.above),
            above: swap(self.below),
            ..*self
        }
    }
}

/// What the bin from `loss` to `loss + width` gives to its two ends.
fn bin(mixture: &Mixture, lower: Option<Node>, upper: Node, loss: f64, width: f64) -> Bin {
    let Some(lower) = lower else { return edge_bin(mixture, upper, loss, width) };
    let span = upper.z - lower.z;
    let steepness = lower.z.abs().max(upper.z.abs()) + mixture.mu;
    if span * steepness > 0.05 {
        let mu = mixture.mu;
        // Between Gaussians that are far apart every density underflows.
        if lower.z > FAR && upper.z < mu - FAR {
            return Bin::default();
        }
        let whole = (-mu * span).exp_m1();
        let weight = |z: f64| {
            let up = (mu * (z - upper.z)).exp() * (-mu * (z - lower.z)).exp_m1() / whole;
            (up, (-mu * (upper.z - z)).exp_m1() / whole)
        };
        return integrate(mixture, lower.z, upper.z, loss, width, weight);
    }
    let whole = small_exp_m1(mixture.mu * span);
    let (mut up, mut down) = (0.0, 0.0);
    for (node, weight) in LEGENDRE_3 {
        let t = node * span;
        let part = weight * (1.0 + small_exp_m1(-t * (lower.z + 0.5 * t)));
        let rise = small_exp_m1(mixture.mu * t);
        up += part * rise;
        down += part * (whole - rise);
    }
    let scale = lower.density * span / whole;
    Bin { to_lower: scale * down, to_upper: scale * up * width.exp() }
}

/// The bin that contains the infimum of the loss.
fn edge_bin(mixture: &Mixture, upper: Node, loss: f64, width: f64) -> Bin {
    let whole = loss.exp() * width.exp_m1();
    let offset = mixture.keep() * -(loss - mixture.infimum).exp_m1();
    let top = mixture.keep() * (loss + width - mixture.infimum).exp_m1();
    let weight = |z: f64| {
        let up = (mixture.excess(z) + offset) / whole;
        (up, top * -(mixture.mu * (z - upper.z)).exp_m1() / whole)
    };
    integrate(mixture, f64::NEG_INFINITY, upper.z, loss, width, weight)
}

/// Gauss–Legendre on pieces short enough for full accuracy.
fn integrate(
    mixture: &Mixture,
    from: f64,
    to: f64,
    loss: f64,
    width: f64,
    weight: impl Fn(f64) -> (f64, f64),
) -> Bin {
    let (mut up, mut down) = (0.0, 0.0);
    let mut start = from.max(-FAR);
    while start < to {
        let piece = (2.0 / (start.abs() + mixture.mu + 1.0)).min(to - start);
        for (node, share) in LEGENDRE_8 {
            let z = start + node * piece;
            let density = (loss - 0.5 * z * z).exp() * DENSITY_AT_ZERO;
            let (to_upper, to_lower) = weight(z);
            up += share * piece * density * to_upper;
            down += share * piece * density * to_lower;
        }
        // A piece below the resolution of `start` would never end.
        start = if start + piece > start { start + piece } else { to };
    }
    Bin { to_lower: down, to_upper: up * width.exp() }
}

/// `Δ²` times the largest density of the likelihood ratio in a bin, over `(e^h − 1)²`.
fn highest_density(
    mixture: &Mixture,
    lower: Option<Node>,
    upper: &Node,
    loss: f64,
    growth: f64,
) -> f64 {
    let density = |node: &Node| node.density * node.inverse_share / mixture.mu;
    let mut highest = density(upper) / (growth * growth);
    if let Some(node) = &lower {
        highest = highest.max(density(node));
    }
    let start = lower.map_or(f64::NEG_INFINITY, |node| node.z);
    if start < -mixture.mu && -mixture.mu < upper.z {
        // The density rises up to z = −μ and falls after it.
        let peak = DENSITY_AT_ZERO * (mixture.mu * mixture.mu - mixture.log_rate).exp();
        highest = highest.max(peak / mixture.mu * (2.0 * loss).exp());
    }
    if highest.is_nan() { f64::INFINITY } else { highest }
}
