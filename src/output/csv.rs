//! Tidy CSV: one row an answer, full precision.

use super::{Answer, Input, Records};
use crate::cli::Failure;

const COLUMNS: [&str; 10] = [
    "quantity",
    "unit",
    "value",
    "lower",
    "upper",
    "warrant",
    "confidence",
    "work",
    "statement",
    "reason",
];

fn finish(writer: csv::Writer<Vec<u8>>) -> Result<String, Failure> {
    let bytes = writer
        .into_inner()
        .map_err(|error| Failure::Stream(std::io::Error::other(error.to_string())))?;
    String::from_utf8(bytes).map_err(|error| Failure::Stream(std::io::Error::other(error)))
}

fn fault(error: csv::Error) -> Failure {
    Failure::Stream(std::io::Error::other(error))
}

pub(super) fn answers(answers: &[Answer]) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let Some(first) = answers.first() else { return Ok(String::new()) };
    let names = first.inputs.iter().map(|(name, _)| name.as_str());
    let derived = first.derived.iter().map(|derived| derived.name);
    writer.write_record(names.chain(COLUMNS).chain(derived)).map_err(fault)?;
    for Answer { inputs, bound, derived, .. } in answers {
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let inputs = inputs.iter().map(|(_, input)| match input {
            Input::Number(number) => number.to_string(),
            Input::Word(word) => word.clone(),
        });
        let rest = [
            bound.quantity.to_string(),
            bound.unit.to_string(),
            number(bound.value),
            number(bound.lower),
            number(bound.upper),
            bound.warrant.kind().to_owned(),
            number(bound.warrant.confidence()),
            bound.source.work.to_string(),
            bound.source.statement.to_string(),
            bound.reason.as_deref().unwrap_or_default().to_owned(),
        ];
        let derived = derived.iter().map(|derived| number(derived.value));
        writer.write_record(inputs.chain(rest).chain(derived)).map_err(fault)?;
    }
    finish(writer)
}

pub(super) fn records(records: &Records) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&records.columns).map_err(fault)?;
    for row in &records.rows {
        writer.write_record(row.iter().map(super::Cell::for_csv)).map_err(fault)?;
    }
    finish(writer)
}
