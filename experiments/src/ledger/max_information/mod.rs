//! Claims of arXiv 2605.26222, and ours about max-information.

mod bounds;
mod composition;
mod gaussian;
mod lemmas;
mod mechanisms;
mod pac_bayes;
mod tables;

use super::claim::Claim;

pub(super) const CLAIMS: &[&[Claim]] = &[
    bounds::CLAIMS,
    gaussian::CLAIMS,
    pac_bayes::CLAIMS,
    lemmas::CLAIMS,
    composition::CLAIMS,
    tables::CLAIMS,
];
/// Ours.
pub(super) const OURS: &[&[Claim]] = &[bounds::OURS, gaussian::OURS, pac_bayes::OURS];
