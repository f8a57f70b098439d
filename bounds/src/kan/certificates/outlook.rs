//! What would help where there is no certificate.

use std::f64::consts::LN_2;

use super::certify::{Claim, Clipping, Noise, Projection, Question, Route, Schedule};
use super::search::{Candidate, Try, best, grid};
use super::setting::Setting;
use super::short_above;
use crate::kan::RealisedConstants;

/// What would have to change, one thing at a time: first for the hypotheses to hold, then for a value below log 2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outlook {
    /// Changes that help.
    pub remedies: Vec<Remedy>,
}

impl Outlook {
    /// About the width at which there would be a bound below log 2, where [`Remedy::Width`] names one: an estimate.
    #[must_use]
    pub fn useful_width(&self) -> Option<u64> {
        self.remedies.iter().find_map(|remedy| match remedy {
            Remedy::Width { width, value } if *value < LN_2 => Some(*width),
            _ => None,
        })
    }
}

/// One change after which there is a value by the formulas, at or near the smallest of its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Remedy {
    /// Another schedule for this very network: proven.
    Schedule {
        /// η.
        step_size: f64,
        /// T.
        steps: u64,
        /// The value there, in nats.
        value: f64,
    },
    /// The public clipping norm instead of a smaller one, for this very network: proven.
    Clipping {
        /// G over the public domain of the inputs.
        norm: f64,
        /// The value there, in nats.
        value: f64,
    },
    /// A larger projection radius for this very network: proven.
    Radius {
        /// `R_*`.
        radius: f64,
        /// Horizon of the comparator that needs no more.
        horizon: f64,
        /// The value there, in nats.
        value: f64,
    },
    /// A wider network. An estimate: constants, margin and comparators are carried over from this one.
    Width {
        /// About the smallest such m.
        width: u64,
        /// The value there, in nats.
        value: f64,
    },
    /// More records of the same distribution, in batches of the same size: proven for a balanced sample.
    Records {
        /// About the smallest such n.
        records: u64,
        /// The value there, in nats.
        value: f64,
    },
    /// Less noise on this very network: proven.
    Noise {
        /// About the largest such `c`.
        noise: f64,
        /// The value there, in nats.
        value: f64,
    },
}

/// Every how many horizons are looked at.
const STRIDE: usize = 4;

pub(super) fn outlook(
    setting: &Setting<'_>,
    route: Route,
    comparators: &[Candidate],
    realised: &RealisedConstants,
    targets: &[f64],
) -> Outlook {
    let mut outlook = Outlook::default();
    for &target in targets {
        for remedy in remedies(setting, route, comparators, realised, target) {
            if !outlook.remedies.contains(&remedy) {
                outlook.remedies.push(remedy);
            }
        }
    }
    outlook
}

/// The changes that bring the value below `target`.
fn remedies(
    setting: &Setting<'_>,
    route: Route,
    comparators: &[Candidate],
    realised: &RealisedConstants,
    target: f64,
) -> Vec<Remedy> {
    let stride = (comparators.len() / 10).max(1);
    let few: Vec<Candidate> = comparators.iter().step_by(stride).cloned().collect();
    let find = |setting: &Setting<'_>, route: Route| -> Option<(f64, Try)> {
        let plans = grid(setting, route, STRIDE);
        let found = best(setting, route, &few, &plans, &setting.question.failures).ok()?;
        let value = found.evaluated.bound.value.filter(|value| *value < target)?;
        Some((value, found))
    };
    let value = |setting: &Setting<'_>| find(setting, route).map(|(value, _)| value);
    let question = setting.question;
    // Another question may have another leader.
    let asked = |question: Question| {
        let routes = question.routes.iter();
        let found =
            routes.filter_map(|&route| find(&Setting { question: &question, ..*setting }, route));
        found.min_by(|one, other| one.0.total_cmp(&other.0))
    };
    let mut remedies = Vec::new();
    if question.schedule.step_size.is_some() || question.schedule.steps.is_some() {
        let schedule = Schedule { step_size: None, steps: None, ..question.schedule };
        if let Some((value, found)) = asked(Question { schedule, ..question.clone() }) {
            let plan = found.plan;
            remedies.push(Remedy::Schedule { step_size: plan.step_size, steps: plan.steps, value });
        }
    }
    if matches!(question.clipping, Clipping::At(norm) if norm < setting.public_gradient)
        && let Some((value, _)) = asked(Question { clipping: Clipping::Public, ..question.clone() })
    {
        remedies.push(Remedy::Clipping { norm: setting.public_gradient, value });
    }
    if let Projection::At(given) = question.projection
        && let Some((value, found)) =
            asked(Question { projection: Projection::Needed, ..question.clone() })
        && let Some(needed) = found.evaluated.training.radius.filter(|needed| *needed > given)
    {
        // Room for a comparator that is found again from another start.
        let radius = short_above(needed * (1.0 + 1e-6), 6);
        remedies.push(Remedy::Radius { radius, horizon: few[found.place].horizon, value });
    }
    let now = setting.extent.width;
    if let Some((width, value)) =
        smallest(now, MOST, |width| value(&wider(setting, realised, width)))
    {
        // Antithetic widths are even.
        remedies.push(Remedy::Width { width: width.next_multiple_of(2), value });
    }
    if question.claim == Claim::Population
        && let Some((records, value)) =
            smallest(setting.records, MOST, |records| value(&Setting { records, ..*setting }))
    {
        remedies.push(Remedy::Records { records, value });
    }
    if question.noise != Noise::None {
        let plan = grid(setting, route, STRIDE).first().copied();
        let full = plan.and_then(|plan| setting.training(plan, None).ok()).map(|run| run.noise);
        // Halvings of the noise, in steps of a fifth of a factor of 2.
        let found = (1..=150_u32).find_map(|step| {
            let noise_factor = 2.0_f64.powf(-f64::from(step) / 5.0);
            value(&Setting { noise_factor, ..*setting }).map(|value| (noise_factor, value))
        });
        if let (Some((factor, value)), Some(full)) = (found, full) {
            remedies.push(Remedy::Noise { noise: full * factor, value });
        }
    }
    remedies
}

const MOST: u64 = 1 << 50;

/// The smallest size above `now`, to a hundredth, at which there is a value; looked for by doubling, so that a window
/// narrower than a factor of 2 may be missed.
fn smallest(now: u64, most: u64, value: impl Fn(u64) -> Option<f64>) -> Option<(u64, f64)> {
    let mut low = now;
    let (mut high, mut found) = loop {
        let next = low.checked_mul(2).filter(|next| *next <= most)?;
        if let Some(found) = value(next) {
            break (next, found);
        }
        low = next;
    };
    while high - low > high / 100 + 1 {
        let middle = low + (high - low) / 2;
        match value(middle) {
            Some(better) => (high, found) = (middle, better),
            None => low = middle,
        }
    }
    Some((high, found))
}

/// The same network with more units: G, margin and comparators stay; the largest curvature of a unit stays, or grows like
/// `sqrt(log m)` where units differ.
#[allow(clippy::cast_precision_loss)] // an estimate
fn wider<'a>(setting: &Setting<'a>, realised: &RealisedConstants, width: u64) -> Setting<'a> {
    let curvatures = || realised.curvatures.iter().copied();
    let (least, most) =
        (curvatures().fold(f64::INFINITY, f64::min), curvatures().fold(0.0, f64::max));
    let now = setting.extent.width as f64;
    let factor = width as f64 / now;
    let growth = if least >= most * (1.0 - 1e-9) || now < 2.0 {
        1.0
    } else {
        ((width as f64).ln() / now.ln()).sqrt()
    };
    let mut landscape = setting.landscape;
    landscape.curvature *= growth / factor.sqrt();
    landscape.smoothness = landscape.gradient * landscape.gradient / 4.0 + landscape.curvature;
    let per_unit = |total: u64| total / setting.extent.width.max(1) * width;
    let extent = super::Extent {
        width,
        parameters: per_unit(setting.extent.parameters),
        noise_dimension: per_unit(setting.extent.noise_dimension),
        inputs: setting.extent.inputs,
    };
    Setting { landscape, extent, ..*setting }
}
