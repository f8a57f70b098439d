//! `dpbounds bound kan`.

use clap::Subcommand;

use super::super::Failure;
use super::kan_certificate::CertificateCommand;
use super::kan_rate::Rate;

/// Kolmogorov-Arnold networks trained by DP-SGD.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // one exists in a process
pub enum Kan {
    /// Risk certificate of a network on data: constants explicit, every hypothesis checked
    Certificate(CertificateCommand),
    /// Order-form rates of arXiv 2605.12648: constants suppressed, never bounds
    Rate(Rate),
}

impl Kan {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Certificate(options) => options.run(),
            Self::Rate(options) => options.run(),
        }
    }
}
