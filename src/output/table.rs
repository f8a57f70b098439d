//! Tables for people.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use dpbounds_bounds::{Bound, Text, Warrant};

use super::{Answer, Cell, Input, Records, display, display_bound};

const TITLE: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Wraps cells to the terminal; where there is none every row is one line.
fn new_table<T: AsRef<str>>(headers: &[T]) -> Table {
    let mut table = Table::new();
    let arrangement = match terminal_size::terminal_size_of(std::io::stdout()) {
        Some((terminal_size::Width(width), _)) => {
            table.set_width(width.max(60));
            ContentArrangement::Dynamic
        }
        None => ContentArrangement::Disabled,
    };
    table.load_style(presets::NOTHING).set_content_arrangement(arrangement);
    table.set_header(headers.iter().map(AsRef::as_ref));
    table
}

fn right(table: &mut Table, columns: &[usize]) {
    for &index in columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_constraint(ColumnConstraint::ContentWidth); // a number is never split
        }
    }
}

/// The table without trailing blanks.
fn lines(table: &Table) -> String {
    let mut text: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    if text.is_empty() {
        text.push('\n');
    }
    text
}

fn input_text(input: &Input) -> String {
    match input {
        Input::Number(number) => exact(*number),
        Input::Word(word) => word.clone(),
    }
}

/// An input as it was given.
fn exact(number: f64) -> String {
    if number != 0.0 && !(1e-4..1e10).contains(&number.abs()) {
        format!("{number:e}")
    } else {
        number.to_string()
    }
}

fn source(bound: &Bound) -> String {
    format!("{}, {}", bound.source.work, bound.source.statement)
}

pub(super) fn answers(answers: &[Answer]) -> String {
    match answers {
        [] => String::new(),
        [single] => one(single),
        several => grid(several),
    }
}

/// One answer in full.
fn one(Answer { inputs, bound }: &Answer) -> String {
    let mut text = String::new();
    let value = display_bound(bound);
    let unit = if bound.value.is_some() { format!(" {}", bound.unit) } else { String::new() };
    let name = bound.quantity.replace('_', " ");
    let _ =
        writeln!(text, "{}   {}", styled(TITLE, &format!("{name}: {value}{unit}")), warrant(bound));
    if let Some(reason) = &bound.reason {
        let _ = writeln!(text, "  {}", styled(BAD, reason));
    }
    let _ = writeln!(text, "  {}", source(bound));
    let inputs: Vec<_> =
        inputs.iter().map(|(name, input)| format!("{name} = {}", input_text(input))).collect();
    let _ = writeln!(text, "  {}", inputs.join(", "));
    text.push_str(&terms(bound));
    text.push_str(&checks(bound));
    text.push_str(&alternatives(bound));
    text
}

fn warrant(bound: &Bound) -> String {
    let label = if bound.value.is_none() { "no value".into() } else { bound.warrant.label() };
    let style = match bound.warrant {
        _ if bound.value.is_none() => BAD,
        Warrant::Proven | Warrant::Confidence(_) => GOOD,
        _ => AnsiColor::Yellow.on_default(),
    };
    styled(style, &label)
}

fn terms(bound: &Bound) -> String {
    let Some(total) = bound.value.filter(|_| !bound.terms.is_empty()) else { return String::new() };
    let mut table = new_table(&[format!("term ({})", bound.unit), "value".into(), "share".into()]);
    let sum: f64 = bound.terms.iter().map(|term| term.value).sum();
    // Where the terms break down another quantity (the complexity behind a risk) shares refer to their sum.
    let whole = if (sum - total).abs() <= 1e-9 * total.abs() { total } else { sum };
    if whole == sum && whole != total {
        table = new_table(&["term of the complexity (nats per record)", "value", "share"]);
    }
    for term in &bound.terms {
        let share =
            if whole == 0.0 { "-".into() } else { format!("{:.1} %", 100.0 * term.value / whole) };
        table.add_row([term.name.as_ref(), &display(term.value), &share]);
    }
    right(&mut table, &[1, 2]);
    format!("\n{}", lines(&table))
}

fn checks(bound: &Bound) -> String {
    if bound.checks.is_empty() {
        return String::new();
    }
    let title = if bound.warrant == Warrant::Rate {
        "hypothesis (orders, constant 1)"
    } else {
        "hypothesis"
    };
    let mut table = new_table(&[title, "left", "", "right", "holds"]);
    for check in &bound.checks {
        table.add_row([
            check.name.as_ref(),
            &display(check.left),
            check.relation.symbol(),
            &display(check.right),
            if check.holds { "yes" } else { "NO" },
        ]);
    }
    right(&mut table, &[1, 3]);
    format!("\n{}", lines(&table))
}

fn alternatives(bound: &Bound) -> String {
    if bound.alternatives.is_empty() {
        return String::new();
    }
    let mut table = new_table(&[
        "other statements".into(),
        format!("value ({})", bound.unit),
        "warrant".into(),
        String::new(),
    ]);
    for other in &bound.alternatives {
        let statement = format!("{}, {}", other.source.work, other.source.statement);
        // Alternatives answer the same question, so their values round to the same side.
        let value = display_bound(&Bound {
            value: other.value,
            upper: bound.upper.and(other.value).filter(|_| other.warrant == Warrant::Proven),
            lower: bound.lower.and(other.value).filter(|_| other.warrant == Warrant::Proven),
            ..bound.clone()
        });
        let reason = other.reason.as_deref().unwrap_or_default();
        let warrant = if other.value.is_some() { other.warrant.label() } else { "no value".into() };
        table.add_row([statement.as_str(), &value, &warrant, reason]);
    }
    right(&mut table, &[1]);
    format!("\n{}", lines(&table))
}

/// Several answers, one row each.
fn grid(answers: &[Answer]) -> String {
    let first = &answers[0];
    let mut headers: Vec<String> = first.inputs.iter().map(|(name, _)| name.clone()).collect();
    let mixed = answers.iter().any(|answer| answer.bound.quantity != first.bound.quantity);
    headers.push(if mixed {
        "value".into()
    } else {
        format!("{} ({})", first.bound.quantity, first.bound.unit)
    });
    if mixed {
        headers.push("quantity (unit)".into());
    }
    headers.extend(["warrant".into(), "source".into()]);
    let reasons = answers.iter().any(|answer| answer.bound.reason.is_some());
    if reasons {
        headers.push("reason".into());
    }
    let mut table = new_table(&headers);
    for Answer { inputs, bound } in answers {
        let mut row: Vec<String> = inputs.iter().map(|(_, input)| input_text(input)).collect();
        row.push(display_bound(bound));
        if mixed {
            row.push(format!("{} ({})", bound.quantity, bound.unit));
        }
        row.push(if bound.value.is_some() { bound.warrant.label() } else { "no value".into() });
        row.push(source(bound));
        if reasons {
            row.push(bound.reason.as_ref().map(Text::to_string).unwrap_or_default());
        }
        table.add_row(row);
    }
    let numbers: Vec<usize> = first
        .inputs
        .iter()
        .enumerate()
        .filter(|(_, (_, input))| matches!(input, Input::Number(_)))
        .map(|(index, _)| index)
        .chain([first.inputs.len()])
        .collect();
    right(&mut table, &numbers);
    lines(&table)
}

pub(super) fn records(records: &Records) -> String {
    let shown = records.shown();
    let headers: Vec<_> = shown.iter().map(|&index| records.columns[index]).collect();
    let mut table = new_table(&headers);
    for row in &records.rows {
        table.add_row(shown.iter().map(|&index| row[index].for_people()));
    }
    let is_number =
        |index: usize| records.rows.iter().any(|row| matches!(row[index], Cell::Number(_)));
    let numbers: Vec<usize> = (0..shown.len()).filter(|&place| is_number(shown[place])).collect();
    right(&mut table, &numbers);
    lines(&table)
}
