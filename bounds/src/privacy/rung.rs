//! One deterministic rung of the ladder, ready to bound δ of a run at any noise and ε.

use super::correlated::ladder::triangle::{self, Profiles};
use super::correlated::ladder::{mixture::Mixture, participation_cap, replica, reverse_jensen};
use super::correlated::transfer::{Repulsion, Resolution, Transfer};
use super::gaussian::log_delta;
use super::{Method, Order, Pair, Plan, Route, participation_norm};
use crate::error::{BoundError, Result};
use crate::warrant::Source;

/// δ as a function of ε, at one noise.
pub(super) type Profile<'a> = Box<dyn Fn(f64) -> f64 + 'a>;

/// Grids of the transfer bounds, coarse first, with the names of their stages.
const GRIDS: [(Resolution, &str); 3] = [
    (Resolution::COARSE, "coarse grid"),
    (Resolution::FINE, "fine grid"),
    (Resolution::FINEST, "finest grid"),
];

/// The grids on which a method is evaluated, one after the other while time is left.
pub(super) fn grids(asked: Method, method: Method) -> &'static [(Resolution, &'static str)] {
    match (asked, method) {
        // Beside L2TD the value of L2T is for comparison.
        (Method::Auto, Method::L2t) => &GRIDS[..1],
        (_, Method::L2t | Method::L2td) => &GRIDS,
        _ => &GRIDS[..1],
    }
}

/// Grids for the order that rarely decides, crude first; strong correlation needs the second.
const CRUDE: [Resolution; 2] = [
    Resolution { spacing: 0.5, damping_ratio: 0.8, smoothing: 0.2 },
    Resolution { spacing: 0.35, damping_ratio: 0.2, smoothing: 0.2 },
];

/// A method that applies to a run, with what does not depend on the noise prepared.
pub(super) struct Rung {
    pub(super) method: Method,
    rate: f64,
    lambda: f64,
    steps: u64,
    route: Route,
    mixture: Option<Mixture>,
    resolution: Resolution,
}

impl Rung {
    /// Refuses a method that has no proof for the route.
    pub(super) fn new(
        method: Method,
        plan: &Plan,
        route: Route,
        resolution: Resolution,
    ) -> Result<Self> {
        let (rate, lambda, steps) = (plan.rate()?, plan.lambda, plan.steps);
        let exact = matches!(route, Route::Gaussian { .. });
        let applies = match method {
            Method::L1 | Method::L1b => true,
            Method::L2 | Method::L2t => matches!(route, Route::Pair { .. }),
            Method::L2td => matches!(route, Route::Pair { .. } | Route::Triangle { .. }),
            _ => false,
        };
        if !applies && !exact {
            return Err(refusal(method, route));
        }
        let mixture = match (exact, method) {
            (true, _) | (_, Method::L1) => None,
            _ => Some(Mixture::new(rate, lambda, steps)?),
        };
        Ok(Self { method, rate, lambda, steps, route, mixture, resolution })
    }

    pub(super) fn with_resolution(self, resolution: Resolution) -> Self {
        Self { resolution, ..self }
    }

    /// Whether a profile prepared for one ε is as good at every other.
    pub(super) fn is_sharp_everywhere(&self) -> bool {
        !matches!(self.method, Method::L2t | Method::L2td)
            || matches!(self.route, Route::Gaussian { .. })
    }

    pub(super) fn source(&self) -> Source {
        let statement = match (self.route, self.method) {
            (Route::Gaussian { .. }, _) => "Gaussian mechanism, exact (docs/theory/privacy.md)",
            (_, Method::L1) => "L1 participation cap (docs/theory/accounting.md)",
            (_, Method::L1b) => "L1b mixture over participations (docs/theory/accounting.md)",
            (_, Method::L2) => "L2 replica moments with L2R (docs/theory/accounting.md)",
            (_, Method::L2t) => "L2T transfer bound with L2R (docs/theory/accounting.md)",
            (Route::Triangle { .. }, _) => {
                "L2TD transfer bounds, weak triangle (docs/theory/accounting.md)"
            }
            _ => "L2TD transfer bounds, both orders (docs/theory/accounting.md)",
        };
        Source::new("ours", statement)
    }

    fn pair(&self, sensitivity: f64, kappa: f64) -> Result<Pair> {
        Pair::new(self.rate, kappa / sensitivity, self.lambda, self.steps)
    }

    /// An upper bound on δ for all ε, tight near `around`; `kappa > 0`.
    pub(super) fn profile(&self, kappa: f64, around: f64) -> Result<Profile<'_>> {
        if let Route::Gaussian { sensitivity, participations } = self.route {
            let norm = participation_norm(self.lambda, self.steps, participations)?;
            let mu = sensitivity * norm / kappa;
            return Ok(Box::new(move |epsilon| gaussian(mu, epsilon)));
        }
        let direct = self.pair(self.route.direct_sensitivity(), kappa)?;
        let plain = move |epsilon: f64| {
            let cap = participation_cap::delta(&direct, epsilon);
            let mixture = self.mixture.as_ref();
            let all = mixture.and_then(|m| m.delta(direct.noise_multiplier(), epsilon).ok());
            all.map_or(cap, |value| value.min(cap))
        };
        if matches!(self.method, Method::L1 | Method::L1b) {
            return Ok(Box::new(plain));
        }
        if let Route::Triangle { to_middle, from_middle, .. } = self.route {
            let first = self.transfers(self.pair(to_middle, kappa)?, around)?;
            let second = if to_middle == from_middle {
                None
            } else {
                Some(self.transfers(self.pair(from_middle, kappa)?, around)?)
            };
            return Ok(Box::new(move |epsilon| {
                let second = second.as_ref().unwrap_or(&first);
                let bound = triangle::delta(&profiles(&first), &profiles(second), epsilon);
                bound.min(plain(epsilon))
            }));
        }
        let forward: Profile<'_> = match self.method {
            Method::L2 => Box::new(move |epsilon| replica::delta(&direct, epsilon)),
            _ => {
                let repulsion =
                    if self.method == Method::L2t { Repulsion::Dropped } else { Repulsion::Kept };
                let bound =
                    Transfer::new(&direct, Order::Forward, around, repulsion, self.resolution)?;
                Box::new(move |epsilon| bound.delta(epsilon))
            }
        };
        let cheap = move |epsilon: f64| reverse_jensen::delta(&direct, epsilon);
        // The reverse order is followed in full only where Jensen's inequality does not settle it.
        let needs_reverse = self.method == Method::L2td && {
            let reverse = cheap(around).min(plain(around));
            reverse > forward(around).min(plain(around))
        };
        let reverse = if needs_reverse {
            Some(self.reverse(&direct, around, forward(around).min(plain(around)))?)
        } else {
            None
        };
        Ok(Box::new(move |epsilon| {
            let fallback = plain(epsilon);
            let full = reverse.as_ref().map_or(1.0, |bound| bound.delta(epsilon));
            let reverse = cheap(epsilon).min(full).min(fallback);
            forward(epsilon).min(fallback).max(reverse)
        }))
    }

    /// The reverse order on the crudest grid that leaves the forward order in charge.
    fn reverse(&self, pair: &Pair, around: f64, forward: f64) -> Result<Transfer> {
        let on =
            |resolution| Transfer::new(pair, Order::Reverse, around, Repulsion::Kept, resolution);
        for resolution in CRUDE {
            let bound = on(resolution)?;
            if bound.delta(around) <= forward {
                return Ok(bound);
            }
        }
        on(self.resolution)
    }

    fn transfers(&self, pair: Pair, around: f64) -> Result<[Transfer; 2]> {
        let near = around / 2.0;
        let one = |order| Transfer::new(&pair, order, near, Repulsion::Kept, self.resolution);
        Ok([one(Order::Forward)?, one(Order::Reverse)?])
    }
}

fn profiles(both: &[Transfer; 2]) -> Profiles<impl Fn(f64) -> f64, impl Fn(f64) -> f64> {
    let [forward, reverse] = both;
    Profiles { forward: |e| forward.delta(e), reverse: |e| reverse.delta(e) }
}

/// `BW(μ, ε)` rounded up.
pub(super) fn gaussian(mu: f64, epsilon: f64) -> f64 {
    if mu == 0.0 {
        return 0.0;
    }
    (log_delta(mu, epsilon).exp() * (1.0 + 1e-12)).min(1.0)
}

pub(super) fn refusal(method: Method, route: Route) -> BoundError {
    let request = format!("method {method} for this sampler, relation and lambda");
    let (why, nearest) = match (method, route) {
        (Method::ClosedForm, _) => (
            "the closed forms give a noise for a target, not a privacy for a noise",
            "dpbounds calibrate --method closed-form, or another method here",
        ),
        (Method::Rdp | Method::Pld, Route::Pair { .. } | Route::Triangle { .. }) => {
            ("the accountants of independent steps need lambda = 0", "method l2td, or lambda 0")
        }
        (Method::L2 | Method::L2t | Method::L2td | Method::L3, Route::Profile(_)) => (
            "one pair of distributions does not dominate this sampler and relation",
            "method pld, which composes the proven one-step profile",
        ),
        (Method::L2 | Method::L2t | Method::L3, Route::Triangle { .. }) => (
            "one pair of distributions does not dominate this sampler and relation",
            "method l2td, by the weak triangle, or sampler fixed under add-remove",
        ),
        _ => ("no proof covers it", "method auto"),
    };
    BoundError::Unproven { request, why, nearest }
}
