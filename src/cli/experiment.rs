//! `dpbounds experiment`.

use clap::Subcommand;

use super::Failure;
use super::experiment_bench::ExperimentBench;

/// Train networks.
#[derive(Debug, Subcommand)]
pub enum ExperimentCommand {
    /// Measure the speed of training on a fixed workload, on one thread
    Bench(ExperimentBench),
}

impl ExperimentCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Bench(options) => options.run(),
        }
    }
}
