//! The weak triangle inequality through a middle distribution.

/// Upper bounds on the two hockey-stick profiles of an ordered pair (P, Q), for ε >= 0.
///
/// `forward(e)` bounds `H_{e^e}(P‖Q)` and `reverse(e)` bounds `H_{e^e}(Q‖P)`; each is asked only for
/// `e >= 0`. Negative arguments follow from the identity `H_a(P‖Q) = 1 − a + a H_{1/a}(Q‖P)`.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::correlated::ladder::triangle::Profiles;
/// let perfect = Profiles { forward: |_: f64| 0.0, reverse: |_: f64| 0.0 };
/// assert!((perfect.forward_at(-1.0) - (1.0 - (-1f64).exp())).abs() < 1e-10);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Profiles<F, R> {
    /// Upper bound on `H_{e^e}(P‖Q)`, `e >= 0`.
    pub forward: F,
    /// Upper bound on `H_{e^e}(Q‖P)`, `e >= 0`.
    pub reverse: R,
}

impl<F: Fn(f64) -> f64, R: Fn(f64) -> f64> Profiles<F, R> {
    /// Upper bound on `H_{e^e}(P‖Q)` at any real `e` (nats), in [0, 1].
    ///
    /// # Examples
    /// See [`Profiles`].
    pub fn forward_at(&self, e: f64) -> f64 {
        extended(&self.forward, &self.reverse, e)
    }

    /// Upper bound on `H_{e^e}(Q‖P)` at any real `e` (nats), in [0, 1].
    ///
    /// # Examples
    /// See [`Profiles`].
    pub fn reverse_at(&self, e: f64) -> f64 {
        extended(&self.reverse, &self.forward, e)
    }
}

fn extended(own: &impl Fn(f64) -> f64, opposite: &impl Fn(f64) -> f64, e: f64) -> f64 {
    let value = if e >= 0.0 { own(e) } else { -e.exp_m1() + e.exp() * probability(opposite(-e)) };
    probability(value * (1.0 + 1e-14))
}

/// A bound on a probability: 1 if it is not a number.
fn probability(value: f64) -> f64 {
    if value.is_nan() { 1.0 } else { value.clamp(0.0, 1.0) }
}

/// Number of values of `e1` on the first scan, and steps of the refinement.
const SCAN: u32 = 32;
const REFINE: u32 = 24;

/// Upper bound on `H_{e^ε}(P‖R)` through a middle distribution N, in [0, 1], rounded up.
///
/// `min_{e1} d_PN(e1) + e^{e1} d_NR(ε − e1)`, valid for every real `e1`. `first` describes the pair
/// (P, N) and `second` the pair (R, N), so that `d_NR` is the reverse profile of `second`. About sixty
/// evaluations of each profile: `e1` is scanned on `[−1, ε + 1]` and the best place refined.
///
/// `epsilon` in nats, any real number.
///
/// # Source
/// Ours; docs/theory/accounting.md (weak triangle).
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::correlated::ladder::triangle::{Profiles, one_order};
/// let pure = |bound: f64| move |e: f64| f64::max(0.0, 1.0 - (e - bound).exp());
/// let half = Profiles { forward: pure(0.5), reverse: pure(0.5) };
/// assert!(one_order(&half, &half, 1.0) < 1e-9);
/// ```
pub fn one_order<F1, R1, F2, R2>(
    first: &Profiles<F1, R1>,
    second: &Profiles<F2, R2>,
    epsilon: f64,
) -> f64
where
    F1: Fn(f64) -> f64,
    R1: Fn(f64) -> f64,
    F2: Fn(f64) -> f64,
    R2: Fn(f64) -> f64,
{
    if epsilon.is_nan() {
        return 1.0;
    }
    let bound = |e1: f64| {
        let value = first.forward_at(e1) + e1.exp() * second.reverse_at(epsilon - e1);
        probability(value * (1.0 + 1e-12) + 1e-300)
    };
    let (low, high) = (epsilon.min(0.0) - 1.0, epsilon.max(0.0) + 1.0);
    let width = (high - low) / f64::from(SCAN);
    let mut best = (low, 1.0);
    // The ends of [0, ε] are where one of the two parts is a plain profile.
    for e1 in (0..=SCAN).map(|index| low + width * f64::from(index)).chain([0.0, epsilon]) {
        let value = bound(e1);
        if value < best.1 {
            best = (e1, value);
        }
    }
    let mut stride = width / 2.0;
    for _ in 0..REFINE / 2 {
        for candidate in [best.0 - stride, best.0 + stride] {
            let value = bound(candidate);
            if value < best.1 {
                best = (candidate, value);
            }
        }
        stride /= 2.0;
    }
    best.1
}

/// The larger of `H_{e^ε}(P‖R)` and `H_{e^ε}(R‖P)` bounded by [`one_order`].
///
/// # Source
/// Ours; docs/theory/accounting.md (weak triangle).
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::correlated::ladder::triangle::{Profiles, delta};
/// let perfect = Profiles { forward: |_: f64| 0.0, reverse: |_: f64| 0.0 };
/// assert!(delta(&perfect, &perfect, 0.1) < 1e-200);
/// ```
pub fn delta<F1, R1, F2, R2>(
    first: &Profiles<F1, R1>,
    second: &Profiles<F2, R2>,
    epsilon: f64,
) -> f64
where
    F1: Fn(f64) -> f64,
    R1: Fn(f64) -> f64,
    F2: Fn(f64) -> f64,
    R2: Fn(f64) -> f64,
{
    one_order(first, second, epsilon).max(one_order(second, first, epsilon))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::correlated::ladder::linear_test;
    use crate::privacy::{Order, Pair};
    use crate::special::normal_cdf;

    /// `(1−r)N(0,σ²) + rN(m,σ²)` at one threshold side: mass above `x`.
    fn above(x: f64, rate: f64, mean: f64, sigma: f64) -> f64 {
        (1.0 - rate) * normal_cdf(-x / sigma) + rate * normal_cdf((mean - x) / sigma)
    }

    #[test]
    fn the_triangle_bounds_an_exact_pair_of_mixtures() {
        // P moves up, R moves down; the middle distribution is N(0, σ²).
        for (rate, sigma, epsilon) in
            [(0.1, 1.0, 1.0_f64), (0.3, 2.0, 0.3), (0.5, 0.7, 2.0), (0.2, 1.5, 0.0)]
        {
            let pair = Pair::new(rate, sigma, 0.0, 1).unwrap();
            // Exact for one step.
            let profiles = Profiles {
                forward: |e: f64| linear_test::delta(&pair, e, Order::Forward) * (1.0 + 1e-9),
                reverse: |e: f64| linear_test::delta(&pair, e, Order::Reverse) * (1.0 + 1e-9),
            };
            // The likelihood ratio of P to R is increasing: a threshold test is optimal.
            let exact = (0..4000)
                .map(|i| {
                    let x = -6.0 * sigma + 12.0 * sigma * f64::from(i) / 4000.0;
                    above(x, rate, 1.0, sigma) - epsilon.exp() * above(x, rate, -1.0, sigma)
                })
                .fold(0.0, f64::max);
            let bound = one_order(&profiles, &profiles, epsilon);
            assert!(bound >= exact * (1.0 - 1e-9), "{rate} {sigma}: {bound} {exact}");
            assert!(bound <= 1.0 && bound < exact * 30.0 + 0.05, "{rate} {sigma}: {bound} {exact}");
            assert_eq!(delta(&profiles, &profiles, epsilon), bound);
            // The extension to negative arguments is the exact identity.
            for e in [-0.2, -1.0, -3.0] {
                let direct = linear_test::delta(&pair, e, Order::Forward);
                assert!((profiles.forward_at(e) - direct).abs() < 1e-8, "{e}");
            }
        }
        let lost = Profiles { forward: |_: f64| f64::NAN, reverse: |_: f64| 2.0 };
        assert_eq!(delta(&lost, &lost, 1.0), 1.0);
        assert_eq!(one_order(&lost, &lost, f64::NAN), 1.0);
    }
}
