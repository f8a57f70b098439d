//! Claims about privacy: appendices D.1 and F of arXiv 2605.12648, and our accountant.

mod accountant;
mod closed_form;
mod densities;
mod lambda_gain;
mod mixture;
mod renyi;
mod subsampled;

use super::claim::Claim;

pub(super) const CLAIMS: &[&[Claim]] =
    &[renyi::CLAIMS, subsampled::CLAIMS, mixture::CLAIMS, closed_form::CLAIMS];
/// Ours.
pub(super) const OURS: &[Claim] = accountant::CLAIMS;
