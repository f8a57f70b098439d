//! Claims of docs/theory.

mod certificates;
mod constants;
mod sharper;
mod steps;

use super::claim::Claim;
use super::{max_information, privacy};

pub(super) const CLAIMS: &[&[Claim]] = &[
    constants::CLAIMS,
    steps::CLAIMS,
    sharper::CLAIMS,
    certificates::CLAIMS,
    privacy::OURS,
    max_information::OURS[0],
    max_information::OURS[1],
    max_information::OURS[2],
];
