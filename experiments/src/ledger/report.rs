//! The ledger as Markdown.

use std::fmt::Write;

use super::claim::{Claim, Level, Verdict, Work};
use super::runner::Entry;

/// A report of the entries of these claims, in the same order; `provenance` says where it comes from.
#[must_use]
pub fn markdown(claims: &[&Claim], entries: &[Entry], provenance: &str) -> String {
    let mut text = String::from("# Ledger\n\n");
    let _ = writeln!(text, "`{provenance}`\n");
    let level = entries.first().map_or(Level::Quick, |entry| entry.level);
    let _ = writeln!(
        text,
        "Every numbered claim of arXiv 2605.12648 (K) and arXiv 2605.26222 (M), and ours, at the level *{level}*. \
         A slack is relative: 0 is the border, 1 is far inside, a negative one is a violation. *Corrected* is the \
         slack of the statement after the corrections of docs/errata.md. What was not run counts for nothing.\n"
    );
    text.push_str(&summary(claims, entries));
    for work in [Work::Kan, Work::MaxInformation, Work::Ours] {
        let rows: Vec<_> = pairs(claims, entries).filter(|(claim, _)| claim.work == work).collect();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n## {}\n", work.cited());
        text.push_str("| claim | statement | how | verdict | slack | corrected | what was run |\n");
        text.push_str("|---|---|---|---|---|---|---|\n");
        for (claim, entry) in rows {
            let errata = match claim.errata {
                [] => String::new(),
                errata => format!(" ({})", errata.join(", ")),
            };
            let mark = if entry.is_expected(claim) { "" } else { "**UNEXPECTED** " };
            let _ = writeln!(
                text,
                "| {} {} | {} | {} | {mark}{}{errata} | {} | {} | {} |",
                claim.id,
                cell(claim.place),
                cell(claim.statement),
                claim.method.name(),
                entry.verdict.name(),
                slack(entry.slack),
                slack(entry.corrected_slack),
                cell(&entry.ran),
            );
        }
    }
    text
}

fn pairs<'a>(
    claims: &'a [&Claim],
    entries: &'a [Entry],
) -> impl Iterator<Item = (&'a Claim, &'a Entry)> {
    claims.iter().copied().zip(entries)
}

/// How many claims came to which verdict, as Markdown, and which verdicts are other than those on record.
///
/// # Examples
/// ```
/// use dpbounds_experiments::ledger::{LedgerOptions, Level, find, summary, verify};
/// let claims = find(&["K-B.2"]).unwrap();
/// let options = LedgerOptions { level: Level::Quick, directory: None, resume: false, threads: Some(1) };
/// let entries = verify(&claims, &options, &|_, _, _| ())?;
/// assert!(summary(&claims, &entries).contains("| holds | 1 |"));
/// # Ok::<(), dpbounds_experiments::ledger::LedgerError>(())
/// ```
#[must_use]
pub fn summary(claims: &[&Claim], entries: &[Entry]) -> String {
    let mut text = String::from("| verdict | claims |\n|---|---|\n");
    for verdict in Verdict::ALL {
        let count = entries.iter().filter(|entry| entry.verdict == verdict).count();
        if count > 0 {
            let _ = writeln!(text, "| {} | {count} |", verdict.name());
        }
    }
    let unexpected: Vec<&str> = pairs(claims, entries)
        .filter(|(claim, entry)| !entry.is_expected(claim))
        .map(|(claim, _)| claim.id)
        .collect();
    if !unexpected.is_empty() {
        let _ =
            writeln!(text, "\n**Other than the verdict on record: {}.**", unexpected.join(", "));
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn slack(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2e}"))
}
