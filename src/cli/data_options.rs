//! Options that choose classes and scaling of data, shared by the commands that take data.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpbounds_experiments::data::{Classes, Header, Request, Scale};

use super::numbers;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScaleWord {
    /// Divide by the radius: --radius, or the largest norm in the data
    Ball,
    /// Map columns to [-1, 1]: from --range, the range of pixels, or their least and largest value
    Cube,
    /// Map columns to tanh(z/2), z their values less the mean, in standard deviations
    Squash,
    /// Refuse values outside [-1, 1]
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HeaderWord {
    /// The first row is a header if no feature in it is a number, or a field is `label`
    Auto,
    /// The first row is a header
    Yes,
    /// There is none
    No,
}

/// How data are read and made ready.
#[derive(Debug, Clone, Args)]
pub struct DataOptions {
    /// Classes of label -1 and +1: A,B or groups A+B,C+D
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    classes: Option<Classes>,
    /// How inputs are scaled; default cube for named sets and images, else none
    #[arg(long, value_enum)]
    scale: Option<ScaleWord>,
    /// Known radius for --scale ball, > 0
    #[arg(long, value_name = "R", value_parser = numbers::number, allow_hyphen_values = true)]
    radius: Option<f64>,
    /// Known range for --scale cube: one for all features, or one each separated by commas
    #[arg(
        long = "range",
        value_name = "LOW:HIGH",
        value_delimiter = ',',
        value_parser = range,
        allow_hyphen_values = true
    )]
    ranges: Vec<(f64, f64)>,
    /// CSV: column of the classes, by name or number from 1; default `label`, else the last
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// CSV: columns to leave out, by name or number from 1
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    drop: Vec<String>,
    /// CSV: whether the first row names the columns
    #[arg(long, value_enum, default_value_t = HeaderWord::Auto)]
    header: HeaderWord,
    /// CSV: what separates columns, a character or `tab`; default a comma
    #[arg(long, value_name = "C", value_parser = delimiter)]
    delimiter: Option<char>,
    /// IDX: file of the labels
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Draw a fresh sample of a family, or take the published test part
    #[arg(long)]
    held_out: bool,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    match text.split_once(':') {
        Some((low, high)) => Ok((numbers::number(low)?, numbers::number(high)?)),
        None => Err("a range is LOW:HIGH, for example 0:16".into()),
    }
}

fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(one), None) => Ok(one),
        _ => Err("give one character such as ; or the word tab".into()),
    }
}

impl DataOptions {
    /// Whether images come with all their classes: none were chosen, and they are Fashion-MNIST or an IDX file.
    pub(super) fn takes_all_classes(&self, name: &str) -> bool {
        self.classes.is_none() && (name == "fashion-mnist" || self.labels.is_some())
    }

    /// The request for the data of this name.
    pub(super) fn request(&self, name: &str, seed: u64) -> Request {
        Request {
            name: name.to_owned(),
            classes: self.classes.clone(),
            scale: self.scale.map(|scale| match scale {
                ScaleWord::Ball => Scale::Ball,
                ScaleWord::Cube => Scale::Cube,
                ScaleWord::Squash => Scale::Squash,
                ScaleWord::None => Scale::None,
            }),
            radius: self.radius,
            ranges: self.ranges.clone(),
            label: self.label.clone(),
            drop: self.drop.clone(),
            header: match self.header {
                HeaderWord::Auto => Header::Auto,
                HeaderWord::Yes => Header::Yes,
                HeaderWord::No => Header::No,
            },
            delimiter: self.delimiter,
            labels: self.labels.clone(),
            seed,
            held_out: self.held_out,
        }
    }
}
