//! The grid of the damping `D` that later participations put on earlier ones.

use crate::privacy::Order;

/// Nodes 0 and a geometric sequence up to the largest damping that can occur.
///
/// One participation long ago is the usual case, and it is met without error where possible: what one
/// participation adds is a node, and a step without participation moves by whole nodes.
pub(super) struct Damping {
    pub(super) nodes: Vec<f64>,
    rule: Rule,
}

/// How a damping between two nodes is moved to them at random.
#[derive(Clone, Copy)]
enum Rule {
    /// Mean preserved: `E e^{−qD}` can only grow (forward order).
    Mean,
    /// `E e^{−qD}` preserved at this `q`, hence not larger at any smaller `q > 0` (reverse order).
    Laplace(f64),
}

/// A value moved to node `cell` with probability `1 − weight`, to `cell + 1` with `weight`.
#[derive(Clone, Copy)]
pub(super) struct Split {
    pub(super) cell: usize,
    pub(super) weight: f64,
}

impl Damping {
    /// No damping is kept: the forward bound of the additive chain.
    pub(super) fn dropped() -> Self {
        Self { nodes: vec![0.0], rule: Rule::Mean }
    }

    /// How many nodes [`Self::kept`] makes; as a number, since it may be huge.
    pub(super) fn size(lambda: f64, increment: f64, ratio: f64) -> f64 {
        let Spread { below, above, .. } = Spread::new(lambda, increment, ratio);
        below + above + 2.0
    }

    /// `increment` is the damping one participation adds, `ratio` about the logarithmic node spacing.
    pub(super) fn kept(order: Order, lambda: f64, increment: f64, ratio: f64) -> Self {
        let Spread { ratio, below, above } = Spread::new(lambda, increment, ratio);
        #[allow(clippy::cast_possible_truncation)] // some dozens
        let exponents = -(below as i32)..=above as i32;
        let geometric = exponents.map(|k| increment * (ratio * f64::from(k)).exp());
        let nodes = std::iter::once(0.0).chain(geometric).collect();
        let rule = match order {
            Order::Forward => Rule::Mean,
            // All earlier bits together see the damping with weights λ + λ² + ….
            Order::Reverse => Rule::Laplace(lambda / (1.0 - lambda)),
        };
        Self { nodes, rule }
    }

    pub(super) fn split(&self, value: f64) -> Split {
        let last = self.nodes.len() - 1;
        if last == 0 {
            return Split { cell: 0, weight: 0.0 };
        }
        let cell = self.nodes.partition_point(|node| *node <= value).clamp(1, last) - 1;
        let (low, high) = (self.nodes[cell], self.nodes[cell + 1]);
        if value <= 0.0 {
            return Split { cell: 0, weight: 0.0 };
        }
        // Rounding goes to the side of the order: a smaller damping raises the ratio.
        let rounding = 16.0 * f64::EPSILON * high / (high - low);
        let weight = match self.rule {
            Rule::Mean => (value - low) / (high - low) - rounding,
            Rule::Laplace(q) => {
                (-q * (value - low)).exp_m1() / (-q * (high - low)).exp_m1()
                    + rounding * (1.0 + q * (high - low))
            }
        };
        Split { cell, weight: weight.clamp(0.0, 1.0) }
    }
}

/// Where damping decays more slowly than this in a step (logarithm, λ above .905), whole nodes in a step
/// would be too many.
const SLOWEST: f64 = 0.1;

/// Logarithmic spacing, and how many nodes lie below and above what one participation adds.
struct Spread {
    ratio: f64,
    below: f64,
    above: f64,
}

impl Spread {
    fn new(lambda: f64, increment: f64, ratio: f64) -> Self {
        let decay = -lambda.ln();
        let ratio = if decay < SLOWEST && decay < ratio {
            ratio
        } else {
            decay / (decay / ratio).round().max(1.0)
        };
        let lowest = f64::min(0.06, increment / 20.0);
        let top = (1.0 + 1e-9) / (1.0 - lambda);
        Self {
            ratio,
            below: ((increment / lowest).ln() / ratio).ceil(),
            above: (top.ln() / ratio).ceil(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_participation_is_followed_without_error() {
        let (lambda, increment) = (0.6_f64, 0.9);
        let grid = Damping::kept(Order::Forward, lambda, increment, 0.3);
        for steps in 0..5 {
            let Split { cell, weight } = grid.split(increment * lambda.powi(steps));
            assert!(weight.min(1.0 - weight) < 1e-12, "{steps} {cell} {weight}");
        }
        assert!(grid.nodes[grid.nodes.len() - 1] >= increment / (1.0 - lambda));
    }

    #[test]
    fn splits_err_to_the_side_of_their_order() {
        for lambda in [0.2, 0.5, 0.9] {
            let most = lambda / (1.0 - lambda);
            for order in Order::ALL {
                let grid = Damping::kept(order, lambda, 0.7, 0.3);
                for value in [0.0, 1e-3, 0.05, 0.33, 0.7, 0.7 / (1.0 - lambda)] {
                    let Split { cell, weight } = grid.split(value);
                    for q in [0.01, 0.3, 1.0].map(|share| share * most) {
                        let after = (1.0 - weight) * (-q * grid.nodes[cell]).exp()
                            + weight * (-q * grid.nodes[cell + 1]).exp();
                        let excess = after / (-q * value).exp() - 1.0;
                        let sign = if order == Order::Forward { 1.0 } else { -1.0 };
                        assert!(sign * excess > -1e-12, "{lambda} {order:?} {value} {q} {excess}");
                        let fine = excess.abs() < 0.05 * (1.0 + (q * value).powi(2));
                        assert!(fine, "{lambda} {order:?} {value} {q} {excess}");
                    }
                }
            }
        }
    }
}
