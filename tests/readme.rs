//! The README is true: every command in it runs, every output is the real one.

use std::path::Path;

use crate::support::{dpbounds, dpbounds_with_input, stdout};

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The blocks of one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("\n```").next().unwrap().to_owned()).collect()
}

#[test]
fn worked_queries_print_what_the_readme_shows() {
    let queries = blocks(&read("README.md"), "console");
    assert!(queries.len() >= 5);
    for query in queries {
        let (command, expected) = query.split_once('\n').unwrap();
        let command = command.strip_prefix("$ ").unwrap();
        let output = match command.strip_prefix("echo '") {
            Some(rest) => {
                let (input, program) = rest.split_once("' | dpbounds ").unwrap();
                let words: Vec<_> = program.split_whitespace().collect();
                dpbounds_with_input(&words, input.as_bytes())
            }
            None => dpbounds(&command.split_whitespace().skip(1).collect::<Vec<_>>()),
        };
        assert!(output.status.success(), "{command}");
        assert_eq!(stdout(&output).trim_end(), expected, "{command}");
    }
}

#[test]
fn the_gate_runs_the_test_command_and_the_reproduction_is_tested() {
    let readme = read("README.md");
    let commands = blocks(&readme, "sh");
    let test = commands.iter().find(|command| command.contains("cargo test")).unwrap();
    assert_eq!(read(".ci/run").lines().last().unwrap(), test);
    // The other commands: tests/reproduction.rs runs the reproduction, cargo itself installs.
    let reproduce = "cargo run --release --locked -- reproduce --out reproduction";
    assert!(commands.iter().any(|command| command == reproduce));
    assert!(commands.iter().any(|command| command == "cargo install --path . --locked"));
    assert_eq!(commands.len(), 3, "a new command in the README needs a test here");
}

#[test]
fn every_link_to_a_file_leads_somewhere() {
    for page in ["README.md", "CONTRIBUTING.md", "docs/README.md", "docs/errata.md"] {
        let text = read(page);
        let folder = Path::new(page).parent().unwrap();
        for target in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(file);
            assert!(path.exists(), "{page}: {target}");
        }
    }
}
