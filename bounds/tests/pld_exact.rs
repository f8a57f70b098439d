//! The loss distributions against exact values of two steps, with a planted error that the check catches.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dpbounds_bounds::privacy::Order;
use dpbounds_bounds::privacy::pld::{OneStep, calibrate, delta_in_order, upper_delta};
use statrs::function::erf::erfc;

/// `P(Z > x)`.
fn tail(x: f64) -> f64 {
    0.5 * erfc(x / 2f64.sqrt())
}

/// The step `(1−q)N(0,1) + qN(1/σ,1)` against `N(0,1)`.
#[derive(Debug, Clone, Copy)]
struct Pair {
    rate: f64,
    shift: f64,
}

impl Pair {
    fn loss(self, x: f64) -> f64 {
        (self.rate * (self.shift * x - 0.5 * self.shift * self.shift).exp_m1()).ln_1p()
    }

    /// Where the loss takes a value; −∞ at or below its infimum.
    fn place(self, loss: f64) -> f64 {
        let odds = loss.exp_m1() / self.rate + 1.0;
        if odds > 0.0 { odds.ln() / self.shift + 0.5 * self.shift } else { f64::NEG_INFINITY }
    }

    /// `P(X > x)` of the mixture.
    fn mixture_tail(self, x: f64) -> f64 {
        (1.0 - self.rate) * tail(x) + self.rate * tail(x - self.shift)
    }

    /// δ of one step at any ε, also a negative one.
    fn one_step(self, order: Order, epsilon: f64) -> f64 {
        match order {
            Order::Forward => {
                let x = self.place(epsilon);
                self.mixture_tail(x) - epsilon.exp() * tail(x)
            }
            // The loss of this order is above ε below the place of −ε.
            Order::Reverse => {
                let x = self.place(-epsilon);
                let below = (1.0 - self.rate) * tail(-x) + self.rate * tail(self.shift - x);
                if x == f64::NEG_INFINITY { 0.0 } else { tail(-x) - epsilon.exp() * below }
            }
        }
    }

    fn density(self, order: Order, x: f64) -> f64 {
        let normal = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        if order == Order::Forward { normal * self.loss(x).exp() } else { normal }
    }

    /// δ of two steps: the loss of one is integrated, the other one is in closed form.
    fn two_steps(self, order: Order, epsilon: f64) -> f64 {
        let sign = if order == Order::Forward { 1.0 } else { -1.0 };
        let at =
            |x: f64| self.density(order, x) * self.one_step(order, epsilon - sign * self.loss(x));
        // Where the rest of ε leaves the range of the loss, the integrand has a kink of high order.
        let (low, high) = (-12.0, 12.0 + self.shift);
        let kink = match order {
            Order::Forward => self.place(epsilon - (-self.rate).ln_1p()),
            Order::Reverse => self.place(-epsilon - (-self.rate).ln_1p()),
        };
        let kink = kink.clamp(low, high);
        simpson(&at, low, kink) + simpson(&at, kink, high)
    }

    /// Two steps whose losses are rounded to a multiple of `width`, up or to the nearest one.
    fn two_rounded_steps(self, epsilon: f64, width: f64, up: bool) -> f64 {
        let (low, high) = (self.loss(-12.0), self.loss(12.0 + self.shift));
        let shift = if up { 1.0 } else { 0.5 };
        let first = (low / width).floor();
        let mut atoms = Vec::new();
        let mut index = first;
        while index * width <= high + width {
            // Everything in (index − shift, index − shift + 1] times the width.
            let (from, to) = ((index - shift) * width, (index - shift + 1.0) * width);
            let mass = self.mixture_tail(self.place(from)) - self.mixture_tail(self.place(to));
            atoms.push((index * width, mass));
            index += 1.0;
        }
        let mut delta = 0.0;
        for &(a, p) in &atoms {
            for &(b, q) in &atoms {
                if a + b > epsilon {
                    delta += p * q * -(epsilon - a - b).exp_m1();
                }
            }
        }
        delta
    }
}

fn simpson(at: &impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let pieces = 20_000;
    let h = (high - low) / f64::from(pieces);
    let inner: f64 =
        (1..pieces).map(|i| f64::from(2 + 2 * (i % 2)) * at(low + h * f64::from(i))).sum();
    if h > 0.0 { (at(low) + inner + at(high)) * h / 3.0 } else { 0.0 }
}

/// Rate, noise, ε.
const SETTINGS: [(f64, f64, f64); 12] = [
    (0.01, 1.0, 0.1),
    (0.01, 1.0, 1.0),
    (0.013, 0.62, 2.3),
    (0.2, 3.0, 0.15),
    (0.31, 1.7, 0.4),
    (0.0214, 5.99, 0.02),
    (0.5, 2.0, 0.5),
    (0.07, 0.8, 0.05),
    (0.9, 1.3, 1.1),
    (0.002, 0.5, 0.01),
    (0.45, 0.9, 3.0),
    (0.6, 10.0, 0.02),
];

#[test]
fn two_steps_lie_inside_the_bracket() {
    let mut narrow = 0;
    for (rate, noise, epsilon) in SETTINGS {
        for order in Order::ALL {
            let exact = Pair { rate, shift: 1.0 / noise }.two_steps(order, epsilon);
            let step = OneStep::poisson(rate, noise).unwrap();
            let ours = delta_in_order(&step, order, 2, epsilon).unwrap();
            // The quadrature is exact to about 1e-13 of the masses.
            let slack = 1e-8 * exact + 1e-14;
            assert!(ours.lower <= exact + slack, "{rate} {noise} {order:?}: {ours:?} {exact:e}");
            assert!(ours.upper >= exact - slack, "{rate} {noise} {order:?}: {ours:?} {exact:e}");
            narrow += usize::from(ours.lower > 0.0 && ours.relative_width() < 1e-2);
        }
    }
    assert!(narrow >= 18, "{narrow} narrow brackets");
}

/// A lattice that rounds losses to the nearest point instead of up looks like an upper bound and is none.
#[test]
fn rounding_to_nearest_is_caught() {
    let (mut caught, width) = (0, 0.02);
    for (rate, noise, epsilon) in SETTINGS {
        let pair = Pair { rate, shift: 1.0 / noise };
        let exact = pair.two_steps(Order::Forward, epsilon);
        let up = pair.two_rounded_steps(epsilon, width, true);
        assert!(up >= exact * (1.0 - 1e-8) - 1e-14, "{rate} {noise}: {up:e} {exact:e}");
        let nearest = pair.two_rounded_steps(epsilon, width, false);
        caught += usize::from(nearest < exact * (1.0 - 1e-4));
    }
    assert!(caught > 0);
}

/// The noise that calibration returns meets the target by a call of its own, exactly.
#[test]
fn calibrated_noise_meets_the_target_by_another_call() {
    for (rate, steps, epsilon, delta) in [
        (0.01, 1000, 1.0, 1e-5),
        (0.01, 1000, 8.0, 1e-5),
        (0.2, 50, 0.5, 1e-6),
        (1e-3, 10_000, 2.0, 1e-8),
        (0.7, 3, 1.0, 1e-3),
        // The search is short of work here.
        (0.1, 100, 1e5, 1e-5),
    ] {
        for make in [OneStep::poisson, OneStep::fixed_replace_one] {
            let noise = calibrate(|noise| make(rate, noise), steps, epsilon, delta).unwrap();
            let reached = upper_delta(&make(rate, noise.upper).unwrap(), steps, epsilon).unwrap();
            assert!(reached <= delta, "{rate} {steps} {epsilon}: {reached:e} at {noise:?}");
        }
    }
}

/// With hardly any noise a record is exposed whenever it takes part, and the worst known runs show it.
#[test]
fn tiny_noise_exposes_every_participation() {
    for kappa in [0.02, 0.003] {
        for make in [OneStep::fixed_zero_out, OneStep::poisson_replace_one] {
            for (steps, exposed) in [(1, 0.1), (3, 0.271)] {
                let step = make(0.1, kappa).unwrap();
                let ours = delta_in_order(&step, Order::Forward, steps, 5.0).unwrap();
                assert!(ours.lower <= exposed && exposed <= ours.upper * (1.0 + 1e-12), "{ours:?}");
                assert!(ours.relative_width() < 1e-6, "{ours:?}");
            }
        }
    }
}
