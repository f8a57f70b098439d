//! The `dpbounds` command.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use dpbounds::cli::{Cli, Failure};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, Failure::Reported { .. }) {
                let _ = writeln!(anstream::stderr(), "error: {failure}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}
