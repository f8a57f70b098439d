//! Every figure is written whole, with its font and its legend, and always the same.

use std::path::Path;

use crate::{Figure, FigureError, all, find, font};
use crate::{
    kappa_lambda, lambda_gain, max_information_noise, max_information_records, pac_bayes_table,
};

fn quick(figure: &Figure, directory: &Path) -> Vec<Vec<u8>> {
    let paths = figure.write(directory, true, "test & <command>\nsecond line").unwrap();
    assert_eq!(
        paths,
        ["svg", "png", "csv"].map(|kind| directory.join(format!("{}.{kind}", figure.id)))
    );
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn check(figure: &Figure, labels: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let files = quick(figure, directory.path());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3, "a temporary file is left");
    let svg = std::str::from_utf8(&files[0]).unwrap();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains(font::style_sheet().trim_end()), "no embedded font");
    assert!(svg.contains("font-family=\"DejaVu Sans,"));
    assert!(svg.contains("<metadata>test &amp; &lt;command&gt;\nsecond line</metadata>"));
    let mut texts = Vec::new();
    for text in svg.split("<text ").skip(1) {
        let text = text.split_once(">\n").unwrap().1.split_once("</text>").unwrap().0;
        let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        assert!(font::covers(&plain), "no glyphs for {plain:?}");
        texts.push(plain);
    }
    for label in labels {
        assert!(texts.iter().any(|text| text == label), "no legend entry {label:?}");
    }
    let decoder = png::Decoder::new(std::io::Cursor::new(&files[1]));
    let info = decoder.read_info().unwrap().info().clone();
    assert!(info.width >= 2000 && info.height >= 1000, "{info:?}");
    check_table(std::str::from_utf8(&files[2]).unwrap(), figure);
    assert!(files == quick(figure, directory.path()), "{} differs from run to run", figure.id);
}

fn check_table(csv: &str, figure: &Figure) {
    assert!(csv.starts_with("# test & <command>\n# second line\n# "), "{}", figure.id);
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(csv.as_bytes());
    let rows: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
    assert!(rows.len() > 30);
    for field in rows.iter().flat_map(|row| row.iter()) {
        assert!(!field.is_empty());
        assert!(field.parse::<f64>().is_ok_and(f64::is_finite) || field.parse::<f64>().is_err());
    }
}

#[test]
fn max_information_against_noise() {
    check(find("max-information-noise").unwrap(), &max_information_noise::labels());
}

#[test]
fn max_information_against_records() {
    check(find("max-information-records").unwrap(), &max_information_records::labels());
}

#[test]
fn pac_bayes_tables() {
    check(find("pac-bayes-table").unwrap(), &pac_bayes_table::labels());
}

#[test]
fn noise_against_correlation() {
    check(find("kappa-lambda").unwrap(), &kappa_lambda::labels());
}

#[test]
fn gain_from_correlation() {
    check(find("lambda-gain").unwrap(), &lambda_gain::labels());
}

#[test]
fn curves_of_a_panel_differ_in_colour_and_in_dash() {
    let panels = max_information_records::strokes();
    let others = [max_information_noise::strokes(), kappa_lambda::strokes()];
    for strokes in panels.iter().chain(&others) {
        for (index, one) in strokes.iter().enumerate() {
            for other in &strokes[..index] {
                assert!(one.colour != other.colour && one.dash != other.dash, "{one:?} {other:?}");
            }
        }
    }
}

#[test]
fn names_are_unique_and_found() {
    for figure in all() {
        assert_eq!(find(figure.id).unwrap().title, figure.title);
        assert_eq!(all().iter().filter(|other| other.id == figure.id).count(), 1);
        assert!(!figure.summary.is_empty() && font::covers(figure.title));
    }
    assert!(find("no-such-figure").is_none());
}

#[test]
fn a_missing_directory_is_named() {
    let directory = tempfile::tempdir().unwrap().path().join("missing");
    let error = find("pac-bayes-table").unwrap().write(&directory, true, "test").unwrap_err();
    assert!(matches!(error, FigureError::Io { .. }));
    assert!(error.to_string().contains("missing"), "{error}");
}
