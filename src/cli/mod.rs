//! The command line: one subcommand a file.

mod account;
mod audit;
mod bound;
mod calibrate;
mod certify;
mod certify_options;
mod completions;
mod data;
mod data_options;
mod eval;
mod experiment;
mod experiment_bench;
mod failure;
mod figure;
pub mod grid;
mod lambda_question;
mod man;
mod margin;
mod network_options;
pub mod numbers;
mod progress;
mod renyi_curve;
mod reproduce;
mod run_options;
mod verify;

use clap::{Args, Parser, Subcommand};

pub use failure::Failure;
use numbers::Sweep;

use crate::output::OutputOptions;

/// Privacy and risk guarantees of differentially private training, with a warrant for every number.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    max_term_width = 100,
    after_help = "Numbers: 60000, 6e4, lists 1,2,5, ranges 0:0.9:10 (start:stop:count), log ranges \
                  1e3..1e6@7.\nSeveral swept options give the grid, one row a point.\n\n\
                  Exit status: 0 answered, 1 a check failed, 2 bad input, 3 numerical failure.\n\n\
                  Examples:\n  dpbounds bound max-info gaussian --n 60000 --sigma 50 --beta 0.025\n  \
                  dpbounds calibrate --n 1e4 --batch 100 --steps 1000 --epsilon 1 --delta 1e-5\n  \
                  dpbounds account --n 1e4 --batch 100 --steps 1000 --kappa 1.5 --delta 1e-5\n  dpbounds reproduce --out reproduction"
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // one exists in a process
enum Command {
    /// Evaluate a bound: max-information, PAC-Bayes, KAN certificates and rates
    #[command(subcommand)]
    Bound(bound::BoundCommand),
    /// Find the noise for (epsilon, delta), or the longest run or largest batch for a noise
    Calibrate(calibrate::Calibrate),
    /// Find the privacy that a noise gives: epsilon at delta, or delta at epsilon
    Account(account::Account),
    /// Audit a claimed noise: certified, violated with a witness, or undecided
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// List the data sets, or prepare one for training
    #[command(subcommand)]
    Data(data::DataCommand),
    /// Find the NTK margin of data at the initial weights of a network, in a proven bracket
    Margin(margin::MarginCommand),
    /// Run an experiment file: train over a grid and seeds, measured beside predicted slopes
    #[command(subcommand)]
    Experiment(experiment::ExperimentCommand),
    /// Train with a private prior and certify the risk on the training set itself, by PAC-Bayes
    Certify(certify::Certify),
    /// Answer JSON Lines queries from a file or standard input, or list the catalogue
    Eval(eval::Eval),
    /// Draw a figure, or list the figures
    Figure(figure::FigureCommand),
    /// Recompute the published tables, check every claim and redraw the figures; exit 1 on a mismatch
    Reproduce(reproduce::Reproduce),
    /// Check every claim of the papers and of ours; exit 1 if a verdict is other than on record
    Verify(verify::Verify),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Print the manual page, or write one page a subcommand
    Man(man::Man),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`], which knows its exit code.
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Bound(command) => command.run(),
            Command::Calibrate(command) => command.run(),
            Command::Account(command) => command.run(),
            Command::Audit(command) => command.run(),
            Command::Data(command) => command.run(),
            Command::Margin(command) => command.run(),
            Command::Experiment(command) => command.run(),
            Command::Certify(command) => command.run(),
            Command::Eval(command) => command.run(),
            Command::Figure(command) => command.run(),
            Command::Reproduce(command) => command.run(),
            Command::Verify(command) => command.run(),
            Command::Completions(command) => command.run(),
            Command::Man(command) => command.run(),
        }
    }
}

/// The failure level: `--beta`, or its logarithm.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct LevelOptions {
    /// Failure level beta, in (0, 1) [probability]
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub beta: Option<Sweep>,
    /// Natural logarithm of beta, below 0, for values under 1e-300 [nats]
    #[arg(long, value_name = "LOG", allow_hyphen_values = true)]
    pub log_beta: Option<Sweep>,
}

/// The words of this process, for the record.
#[must_use]
pub fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| {
        let word = word.to_string_lossy().into_owned();
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=.,:/@+".contains(c));
        if plain && !word.is_empty() { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    std::iter::once("dpbounds".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
