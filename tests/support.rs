//! Helpers to run the real binary.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs `dpbounds` with these words.
pub fn dpbounds(words: &[&str]) -> Output {
    command().args(words).output().unwrap()
}

/// Runs `dpbounds` with these words and this standard input.
pub fn dpbounds_with_input(words: &[&str], input: &[u8]) -> Output {
    let mut child = command()
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input); // the program may stop reading early
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpbounds"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The standard output of a run that must succeed.
pub fn answer(words: &[&str]) -> String {
    let output = dpbounds(words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    stdout(&output)
}

/// A directory of its own that is removed afterwards.
pub fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}
