//! JSON with a schema version.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Answer, Input, Records};
use crate::cli::{Failure, command_line};

/// Version of the JSON layout.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    version: &'static str,
    command: String,
    results: &'a [Answer],
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            inputs: Inputs<'a>,
            #[serde(flatten)]
            bound: &'a dpbounds_bounds::Bound,
            #[serde(skip_serializing_if = "Map::is_empty")]
            derived: Map<String, Value>,
            #[serde(skip_serializing_if = "<[String]>::is_empty")]
            notes: &'a [String],
        }
        let derived = self.derived.iter().map(|one| (one.name.to_owned(), one.value.into()));
        Row {
            inputs: Inputs(&self.inputs),
            bound: &self.bound,
            derived: derived.collect(),
            notes: &self.notes,
        }
        .serialize(serializer)
    }
}

struct Inputs<'a>(&'a [(String, Input)]);

impl Serialize for Inputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, input) in self.0 {
            match input {
                Input::Number(number) => map.serialize_entry(name, &as_number(*number))?,
                Input::Word(word) => map.serialize_entry(name, word)?,
            }
        }
        map.end()
    }
}

/// Whole numbers are written without a fraction.
fn as_number(number: f64) -> Value {
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    if number.fract() == 0.0 && number.abs() < 9.1e15 {
        return (number as i64).into();
    }
    number.into()
}

pub(super) fn answers(answers: &[Answer]) -> Result<String, Failure> {
    render(&Document {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        command: command_line(),
        results: answers,
    })
}

pub(super) fn records(records: &Records) -> Result<String, Failure> {
    let rows = records.rows.iter().map(|row| {
        let pairs = records.columns.iter().zip(row);
        Value::Object(pairs.map(|(name, cell)| ((*name).to_owned(), cell.for_json())).collect())
    });
    let mut document = Map::new();
    document.insert("schema".into(), SCHEMA.into());
    document.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    document.insert("command".into(), command_line().into());
    document.insert(records.name.into(), rows.collect());
    render(&document)
}

fn render(document: &impl Serialize) -> Result<String, Failure> {
    let mut text = serde_json::to_string_pretty(document)
        .map_err(|error| Failure::Stream(std::io::Error::other(error)))?;
    text.push('\n');
    Ok(text)
}
