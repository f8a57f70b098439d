//! `dpbounds man`.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use super::{Cli, Failure};

/// Print the manual page, or write one page a subcommand.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpbounds man | man -l -\n  dpbounds man --out ~/.local/share/man/man1"
)]
pub struct Man {
    /// Directory for the pages of all subcommands
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self) -> Result<(), Failure> {
        let command = Cli::command();
        let Some(directory) = self.out else {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            return crate::output::write_bytes(&page, None);
        };
        let fault = |source| Failure::File { action: "write", path: directory.clone(), source };
        std::fs::create_dir_all(&directory).map_err(fault)?;
        clap_mangen::generate_to(command, &directory).map_err(fault)
    }
}
