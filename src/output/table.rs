//! Tables for people.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use dpbounds_bounds::{Bound, Text, Warrant};

use super::{Answer, Cell, Derived, Input, Records, Side, display, display_bound, display_side};

/// Sides closer than this, relatively, are the same number.
const SAME: f64 = 1.001e-9;
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
fn one(Answer { inputs, bound, derived, notes }: &Answer) -> String {
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
    let inputs: Vec<_> = inputs.iter().map(|(name, input)| format!("{name} = {input}")).collect();
    let _ = writeln!(text, "  {}", inputs.join(", "));
    for line in bracket(bound).iter().chain(notes) {
        let _ = writeln!(text, "  {line}");
    }
    text.push_str(&derivations(derived, &bound.quantity));
    text.push_str(&terms(bound));
    text.push_str(&checks(bound));
    text.push_str(&alternatives(bound));
    text
}

/// The lower side where it says more than the value.
fn lower_side(bound: &Bound) -> Option<f64> {
    let lower = bound.lower.filter(|_| bound.upper.is_some() || bound.value.is_none())?;
    let says_more = match bound.value {
        Some(value) => (value - lower).abs() > SAME * value.abs(),
        None => lower > 0.0,
    };
    says_more.then_some(lower)
}

/// How far the value may be from the truth, in words.
fn bracket(bound: &Bound) -> Option<String> {
    let lower = lower_side(bound)?;
    let shown = display_side(lower, Side::Lower);
    let name = bound.quantity.replace('_', " ");
    let Some(value) = bound.value else {
        return Some(format!("{name} below {shown} is proven impossible"));
    };
    let gap = if lower > 0.0 {
        format!(" (gap {})", percent(value / lower - 1.0))
    } else {
        String::new()
    };
    Some(if name == "kappa" && lower <= 0.0 {
        "no positive noise is proven insufficient".into()
    } else if name == "kappa" {
        format!("smaller noise than {shown} is proven insufficient{gap}")
    } else {
        format!("proven bracket: [{shown}, {}]{gap}", display_bound(bound))
    })
}

/// A share in two or three digits.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        0.1..10.0 => format!("{percent:.1} %"),
        10.0..1000.0 => format!("{percent:.0} %"),
        1000.0.. => format!("factor {}", display_side(share + 1.0, Side::Upper)),
        _ => "below 0.1 %".into(),
    }
}

fn derivations(derived: &[Derived], quantity: &str) -> String {
    if derived.is_empty() {
        return String::new();
    }
    let title = match quantity {
        "ntk_margin" => "free comparator",
        _ if quantity.contains("average_") => "comparator and constants",
        _ => "compared with lambda = 0",
    };
    let mut table = new_table(&[title, "value", ""]);
    for one in derived {
        let side = if one.side == Side::Upper { "at most" } else { "never below" };
        table.add_row([one.name, &derived_text(one), side]);
    }
    right(&mut table, &[1]);
    format!("\n{}", lines(&table))
}

fn derived_text(derived: &Derived) -> String {
    derived.value.map_or_else(|| "-".into(), |value| display_side(value, derived.side))
}

/// Lines under a table.
pub(super) fn remarks(remarks: &[String]) -> String {
    let lines: String = remarks.iter().map(|remark| format!("{remark}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
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
        let title = match &*bound.quantity {
            "risk" => "term of the complexity (nats per record)",
            _ => "delta of each order (probability)",
        };
        table = new_table(&[title, "value", "share"]);
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
        let proven = other.warrant == Warrant::Proven;
        // Alternatives answer the same question, so their values round to the same side.
        let value = display_bound(&Bound {
            value: other.value,
            upper: bound.upper.and(other.value).filter(|_| proven),
            lower: bound.lower.and(other.value).filter(|_| proven && bound.upper.is_none()),
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
    let brackets = answers.iter().any(|answer| lower_side(&answer.bound).is_some());
    if brackets {
        headers.push("lower".into());
    }
    headers.extend(first.derived.iter().map(|derived| derived.name.to_owned()));
    let numbers_until = headers.len();
    if mixed {
        headers.push("quantity (unit)".into());
    }
    headers.extend(["warrant".into(), "source".into()]);
    let reasons = answers.iter().any(|answer| answer.bound.reason.is_some());
    if reasons {
        headers.push("reason".into());
    }
    let mut table = new_table(&headers);
    for Answer { inputs, bound, derived, .. } in answers {
        let mut row: Vec<String> = inputs.iter().map(|(_, input)| input.to_string()).collect();
        row.push(display_bound(bound));
        if brackets {
            let lower = bound.lower.filter(|lower| bound.value.is_some() || *lower > 0.0);
            row.push(lower.map_or_else(|| "-".into(), |lower| display_side(lower, Side::Lower)));
        }
        row.extend(derived.iter().map(derived_text));
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
        .chain(first.inputs.len()..numbers_until)
        .collect();
    right(&mut table, &numbers);
    let mut notes: Vec<String> = Vec::new();
    for note in answers.iter().flat_map(|answer| &answer.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    lines(&table) + &remarks(&notes)
}

pub(super) fn records(records: &Records) -> String {
    let shown = records.shown();
    let headers: Vec<_> = shown.iter().map(|&index| records.columns[index]).collect();
    let mut table = new_table(&headers);
    for row in &records.rows {
        table.add_row(shown.iter().map(|&index| row[index].for_people()));
    }
    let is_number = |index: usize| {
        records.rows.iter().any(|row| matches!(row[index], Cell::Number(_) | Cell::Bound(..)))
    };
    let numbers: Vec<usize> = (0..shown.len()).filter(|&place| is_number(shown[place])).collect();
    right(&mut table, &numbers);
    lines(&table)
}
