//! Claims of arXiv 2605.12648 about optimisation and generalisation (appendices B, C, D.2, D.3 and E).

mod bootstrap;
mod comparator;
mod concentration;
mod curvature;
mod lemmas;
mod martingales;
mod one_step;
mod rates;
mod stability;

use super::claim::Claim;

pub(super) use bootstrap::{anchor, average_risk, training};
pub(super) use curvature::{derivatives, segments};
pub(super) use lemmas::second_layers;
pub(super) use martingales::{Event, Limits, exceedances};
pub(super) use one_step::small_runs;
pub(super) use stability::{gaps, recursions_5s};

pub(super) const CLAIMS: &[&[Claim]] = &[
    rates::MAIN,
    lemmas::CLAIMS,
    curvature::CLAIMS,
    one_step::CLAIMS,
    concentration::CLAIMS,
    martingales::CLAIMS,
    bootstrap::CLAIMS,
    comparator::CLAIMS,
    stability::CLAIMS,
    rates::APPENDIX,
];
