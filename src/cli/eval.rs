//! `dpbounds eval`: JSON Lines in, JSON Lines out, in order, one line at a time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use clap::Args;
use dpbounds_bounds::catalogue::{self, Arguments, Entry, Value};
use dpbounds_bounds::{Bound, Source, Warrant};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{Failure, OutputOptions};
use crate::output::{Records, write_file, write_records};

/// A line longer than this is refused, so that memory stays bounded.
const MAX_LINE: u64 = 256 << 20;

/// Answer JSON Lines queries, or list the catalogue.
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is {\"id\": ..., \"function\": NAME, \"inputs\": {...}}; the answer carries the same id. A bad \
line is answered by an error object with its line number and does not stop the others; the exit \
status is then 2.

Examples:
  dpbounds eval --list
  echo '{\"id\": 1, \"function\": \"gaussian_r_nu\", \"inputs\": {\"nu\": 0.5}}' | dpbounds eval
  dpbounds eval queries.jsonl --output answers.jsonl")]
pub struct Eval {
    /// File of queries; `-` or nothing for standard input
    file: Option<PathBuf>,
    /// List the functions with their parameters and sources
    #[arg(long, conflicts_with = "file")]
    list: bool,
    #[command(flatten)]
    output: OutputOptions,
}

impl Eval {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.list {
            return list(&self.output);
        }
        let input: Box<dyn Read> = match self.file.filter(|path| path.as_os_str() != "-") {
            None => Box::new(io::stdin().lock()),
            Some(path) => Box::new(File::open(&path).map_err(|source| Failure::File {
                action: "read",
                path,
                source,
            })?),
        };
        let input = BufReader::with_capacity(1 << 16, input);
        let bad = match &self.output.output {
            None => answer_all(input, BufWriter::with_capacity(1 << 16, io::stdout().lock()))?,
            Some(path) => write_file(path, |file| answer_all(input, BufWriter::new(file)))?,
        };
        if bad > 0 {
            anstream::eprintln!(
                "error: {bad} of the lines could not be understood; each answer says why"
            );
            return Err(Failure::Reported { code: 2 });
        }
        Ok(())
    }
}

fn list(options: &OutputOptions) -> Result<(), Failure> {
    let mut records =
        Records::new("functions", &["function", "summary", "parameters (unit, range)", "source"]);
    for entry in catalogue::entries() {
        let parameters: Vec<_> = entry
            .parameters
            .iter()
            .map(|parameter| {
                let mark = if parameter.optional { "?" } else { "" };
                format!("{}{mark} ({}, {})", parameter.name, parameter.unit, parameter.range)
            })
            .collect();
        records.push(vec![
            entry.name.into(),
            entry.summary.into(),
            parameters.join("; ").into(),
            entry.source.into(),
        ]);
    }
    write_records(&records, options)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    function: Cow<'a, str>,
    #[serde(borrow)]
    inputs: Inputs<'a>,
}

/// The inputs in the order given.
struct Inputs<'a>(Vec<(Cow<'a, str>, Value)>);

impl<'de: 'a, 'a> Deserialize<'de> for Inputs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Pairs<'a> {
            type Value = Inputs<'a>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of inputs")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut pairs = Vec::with_capacity(8);
                while let Some(Name(name)) = map.next_key()? {
                    let value: Input = map
                        .next_value()
                        .map_err(|error| M::Error::custom(format!("{name}: {error}")))?;
                    pairs.push((name, value.into()));
                }
                Ok(Inputs(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(std::marker::PhantomData))
    }
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, a list of numbers or a word")]
enum Input {
    Number(f64),
    List(Vec<f64>),
    Word(String),
}

impl From<Input> for Value {
    fn from(input: Input) -> Self {
        match input {
            Input::Number(number) => Self::Number(number),
            Input::List(numbers) => Self::List(numbers),
            Input::Word(word) => Self::Word(word),
        }
    }
}

#[derive(Serialize)]
struct Reply<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    value: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    warrant: Warrant,
    source: &'a Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Refusal<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    value: Option<f64>,
    reason: String,
}

#[derive(Serialize)]
struct BadLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    line: u64,
    error: String,
}

/// Answers every line and returns how many could not be understood.
fn answer_all(mut input: BufReader<impl Read>, mut output: impl Write) -> Result<u64, Failure> {
    let functions: HashMap<&str, &Entry> =
        catalogue::entries().map(|entry| (entry.name, entry)).collect();
    let (mut line, mut number, mut bad) = (Vec::new(), 0_u64, 0_u64);
    loop {
        if input.buffer().is_empty() {
            output.flush()?; // the writer of the queries may wait for the answers so far
        }
        line.clear();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        if line.len() as u64 == MAX_LINE && line.last() != Some(&b'\n') {
            skip_line(&mut input)?;
            line = b"too long".to_vec();
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        bad += u64::from(!answer(&line, number, &functions, &mut output)?);
    }
    output.flush()?;
    Ok(bad)
}

fn skip_line(input: &mut impl BufRead) -> Result<(), Failure> {
    loop {
        let buffer = input.fill_buf()?;
        let (used, done) = match buffer.iter().position(|&byte| byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

/// Writes the answer to one line and returns whether the line was understood.
fn answer(
    line: &[u8],
    number: u64,
    functions: &HashMap<&str, &Entry>,
    output: &mut impl Write,
) -> Result<bool, Failure> {
    let mut bad = |id: Option<&RawValue>, error: String| {
        write_line(output, &BadLine { id, line: number, error }).map(|()| false)
    };
    let Ok(text) = std::str::from_utf8(line) else {
        return bad(None, "not UTF-8; write JSON in UTF-8".into());
    };
    let query: Query<'_> = match serde_json::from_str(text) {
        Ok(query) => query,
        Err(error) => {
            let wanted = r#"{"id": ..., "function": NAME, "inputs": {...}}"#;
            return bad(None, format!("{error}; expected {wanted}"));
        }
    };
    let Some(entry) = functions.get(query.function.as_ref()) else {
        return bad(query.id, unknown_function(&query.function));
    };
    let bound = Arguments::new(entry, &query.inputs.0).and_then(|inputs| entry.evaluate(&inputs));
    match bound {
        Ok(bound) => write_line(output, &reply(query.id, &bound))?,
        Err(error) => {
            write_line(output, &Refusal { id: query.id, value: None, reason: error.to_string() })?;
        }
    }
    Ok(true)
}

fn reply<'a>(id: Option<&'a RawValue>, bound: &'a Bound) -> Reply<'a> {
    Reply {
        id,
        value: bound.value,
        lower: bound.lower,
        upper: bound.upper,
        warrant: bound.warrant,
        source: &bound.source,
        reason: bound.reason.as_deref(),
    }
}

fn unknown_function(name: &str) -> String {
    let nearest = catalogue::entries()
        .map(|entry| (strsim::jaro_winkler(name, entry.name), entry.name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((likeness, known)) if likeness > 0.8 => {
            format!("unknown function {name:?}; did you mean {known:?}? eval --list names all")
        }
        _ => format!("unknown function {name:?}; eval --list names all"),
    }
}

fn write_line(output: &mut impl Write, value: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *output, value).map_err(|error| Failure::Stream(error.into()))?;
    output.write_all(b"\n")?;
    Ok(())
}
