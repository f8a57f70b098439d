//! `dpbounds completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Failure};

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpbounds completions bash > ~/.local/share/bash-completion/completions/dpbounds\n  \
                        dpbounds completions zsh > ~/.zfunc/_dpbounds"
)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "dpbounds", &mut script);
        crate::output::write_bytes(&script, None)
    }
}
