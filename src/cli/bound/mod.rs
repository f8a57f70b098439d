//! `dpbounds bound`.

mod kan;
mod kan_certificate;
mod kan_rate;
mod max_info;
mod pac_bayes;

use clap::Subcommand;

use super::Failure;

/// Evaluate a bound.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // one exists in a process
pub enum BoundCommand {
    /// Approximate max-information of a private mechanism [nats]
    #[command(subcommand)]
    MaxInfo(max_info::MaxInfo),
    /// Risk certificate from training error, divergence and max-information [probability]
    PacBayes(pac_bayes::PacBayes),
    /// Kolmogorov-Arnold networks trained by DP-SGD
    #[command(subcommand)]
    Kan(kan::Kan),
}

impl BoundCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::MaxInfo(command) => command.run(),
            Self::PacBayes(command) => command.run(),
            Self::Kan(command) => command.run(),
        }
    }
}
