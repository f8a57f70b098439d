//! `dpbounds data`.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use dpbounds_experiments::data::{Availability, Dataset, Domain, entries, prepare, sha256};

use super::data_options::DataOptions;
use super::{Failure, OutputOptions};
use crate::output::{Cell, Format, Records, provenance, write_bytes, write_records, write_text};

/// List the data sets, or prepare one for training.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// The sets that have a name: size, classes, source, licence, and how to get them
    List(List),
    /// Choose two classes, scale the inputs, check them and write them as CSV
    Prepare(Box<Prepare>),
}

impl DataCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::List(options) => options.run(),
            Self::Prepare(options) => options.run(),
        }
    }
}

/// List the data sets.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dpbounds data list
  dpbounds data list --format json")]
pub struct List {
    #[command(flatten)]
    output: OutputOptions,
}

impl List {
    fn run(&self) -> Result<(), Failure> {
        let columns = [
            "name",
            "n",
            "d",
            "classes",
            "available",
            "how to get it",
            "summary",
            "source",
            "licence",
        ];
        let mut records = Records::new("data", &columns).with_details(&["summary"]);
        #[allow(clippy::cast_precision_loss)] // sizes of data sets
        let number = |size: Option<u64>| Cell::from(size.map(|size| size as f64));
        for entry in entries() {
            let (available, how) = match entry.availability() {
                Availability::Ready if entry.is_synthetic() => (true, entry.example),
                Availability::Ready => (true, "inside the program"),
                Availability::Installed => (true, "installed"),
                Availability::Missing { remedy } => (false, remedy),
            };
            records.push(vec![
                entry.name.into(),
                number(entry.records),
                number(entry.dimension.map(|dimension| dimension as u64)),
                entry.classes.join(", ").into(),
                available.into(),
                how.into(),
                entry.summary.into(),
                entry.origin.into(),
                entry.licence.into(),
            ]);
        }
        write_records(&records, &self.output)
    }
}

/// Prepare a data set.
#[derive(Debug, Args)]
#[command(after_help = "\
NAME is a name of `dpbounds data list`, a family with parameters (atoms:FILE.csv for atoms of your
own), a CSV file, or an IDX file of images with --labels; files may be compressed with gzip. The
first class gets label -1, the second +1. The CSV that is written has the features, `label`, and
`multiplicity` for atoms; such a file can be read again. Without --output the set is only checked
and described.

A radius or range that is read off the data depends on them: what is trained on the result is
then not private. Give --radius or --range where they are known beforehand.

Examples:
  dpbounds data prepare digits --classes 3,8
  dpbounds data prepare wine --classes class_0,class_1+class_2 --scale ball --format json
  dpbounds data prepare margin:n=500,d=3,gamma=0.2,domain=ball --seed 7
  dpbounds data prepare breast-cancer --output breast-cancer.csv
  dpbounds data prepare my.csv --label diagnosis --classes B,M --range 0:200 --scale cube \\
      --output prepared.csv")]
pub struct Prepare {
    /// Name, family with parameters, or file
    name: String,
    #[command(flatten)]
    options: DataOptions,
    /// Seed of a synthetic family
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Output format of the description
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write the prepared data to this file, as CSV
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Prepare {
    fn run(self) -> Result<(), Failure> {
        let request = self.options.request(&self.name, self.seed);
        let data = prepare(&request)?;
        let file = match self.output {
            None => None,
            Some(path) => {
                let bytes = file_bytes(&data, request.seed)?;
                write_bytes(&bytes, Some(&path))?;
                Some((path, sha256(&bytes)))
            }
        };
        let options = OutputOptions { format: self.format, output: None };
        if self.format == Format::Table {
            return write_text(in_lines(&data, file.as_ref()), &options);
        }
        if data.scaled_by_data {
            anstream::eprintln!("note: {NOT_PRIVATE}");
        }
        write_records(&as_records(&data, file.as_ref()), &options)
    }
}

const NOT_PRIVATE: &str = "the scaling was read off the data, so training on them is not private; \
                           give --range or --radius if they are known beforehand";

/// The file: where it comes from, then the data.
fn file_bytes(data: &Dataset, seed: u64) -> Result<Vec<u8>, Failure> {
    let [negative, positive] = &data.classes;
    let head = [
        provenance(),
        format!("{}: {}; seed {seed}", data.name, data.description),
        format!("label -1: {negative}; label 1: {positive}"),
    ];
    let mut bytes = Vec::new();
    for line in head {
        // A line end in a name must not end the comment.
        let line = line.replace(char::is_control, " ");
        bytes.extend_from_slice(format!("# {line}\n").as_bytes());
    }
    data.write_csv(&mut bytes)?;
    Ok(bytes)
}

fn domain(data: &Dataset) -> &'static str {
    match data.domain {
        Domain::Cube => "cube",
        Domain::Ball => "ball",
    }
}

fn in_lines(data: &Dataset, file: Option<&(PathBuf, String)>) -> String {
    let ([negative, positive], counts) = (&data.classes, data.class_counts());
    let mut text = format!("{}: {}\n", data.name, data.description);
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<12}{value}");
    };
    line("records n", data.records().to_string());
    if data.multiplicities.is_some() {
        line("atoms", data.rows().to_string());
    }
    line("features d", data.dimension.to_string());
    line("label -1", format!("{} ({negative})", counts[0]));
    line("label +1", format!("{} ({positive})", counts[1]));
    line("domain", domain(data).to_owned());
    line("data sha256", data.checksum());
    if let Some((path, checksum)) = file {
        line("file sha256", checksum.clone());
        line("file", path.display().to_string());
    }
    if data.scaled_by_data {
        let _ = writeln!(text, "note: {NOT_PRIVATE}");
    }
    text
}

fn as_records(data: &Dataset, file: Option<&(PathBuf, String)>) -> Records {
    let columns = [
        "name",
        "description",
        "n",
        "rows",
        "d",
        "negative class",
        "negative count",
        "positive class",
        "positive count",
        "domain",
        "scaled by data",
        "data sha256",
        "file",
        "file sha256",
    ];
    let ([negative, positive], counts) = (&data.classes, data.class_counts());
    #[allow(clippy::cast_precision_loss)] // at most 2^53
    let number = |count: u64| Cell::Number(count as f64);
    let (path, checksum) = match file {
        Some((path, checksum)) => (path.display().to_string().into(), checksum.clone().into()),
        None => (Cell::Empty, Cell::Empty),
    };
    let mut records = Records::new("data", &columns);
    records.push(vec![
        data.name.as_str().into(),
        data.description.as_str().into(),
        number(data.records()),
        number(data.rows() as u64),
        number(data.dimension as u64),
        negative.as_str().into(),
        number(counts[0]),
        positive.as_str().into(),
        number(counts[1]),
        domain(data).into(),
        data.scaled_by_data.into(),
        data.checksum().into(),
        path,
        checksum,
    ]);
    records
}
