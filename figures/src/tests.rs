//! Every figure is written whole, with its font and its legend, and always the same.

use std::path::{Path, PathBuf};

use crate::{Figure, FigureError, all, find, font};
use crate::{
    certificate_width, certificate_window, kappa_lambda, lambda_gain, max_information_noise,
    max_information_records, pac_bayes_table,
};

/// What the files say about themselves.
pub(crate) const PROVENANCE: &str = "test & <command>\nsecond line";

fn check(figure: &Figure, labels: &[&str]) {
    let draw = |directory: &Path| figure.write(directory, true, PROVENANCE, &|_, _| {}).unwrap();
    let rows = check_files(figure.id, draw, labels);
    assert!(rows.len() > 30);
}

/// Draws twice, checks the three files and returns the rows of the table.
pub(crate) fn check_files(
    id: &str,
    draw: impl Fn(&Path) -> Vec<PathBuf>,
    labels: &[&str],
) -> Vec<csv::StringRecord> {
    let directory = tempfile::tempdir().unwrap();
    let quick = || -> Vec<Vec<u8>> {
        let paths = draw(directory.path());
        let expected = ["svg", "png", "csv"].map(|kind| format!("{id}.{kind}"));
        assert_eq!(paths, expected.map(|name| directory.path().join(name)));
        paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
    };
    let files = quick();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3, "a temporary file is left");
    let svg = std::str::from_utf8(&files[0]).unwrap();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains(font::style_sheet().trim_end()), "no embedded font");
    assert!(svg.contains("font-family=\"DejaVu Sans,"));
    assert!(svg.contains("<metadata>test &amp; &lt;command&gt;\nsecond line"));
    let mut texts = Vec::new();
    for text in svg.split("<text ").skip(1) {
        let text = text.split_once(">\n").unwrap().1.split_once("</text>").unwrap().0;
        let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        assert!(font::covers(&plain), "no glyphs for {plain:?}");
        texts.push(plain);
    }
    for label in labels {
        assert!(texts.iter().any(|text| text == label), "no text {label:?} among {texts:?}");
    }
    let decoder = png::Decoder::new(std::io::Cursor::new(&files[1]));
    let info = decoder.read_info().unwrap().info().clone();
    assert!(info.width >= 2000 && info.height >= 1000, "{info:?}");
    assert!(files == quick(), "{id} differs from run to run");
    check_table(std::str::from_utf8(&files[2]).unwrap(), id)
}

fn check_table(csv: &str, id: &str) -> Vec<csv::StringRecord> {
    assert!(csv.starts_with("# test & <command>\n# second line\n# "), "{id}");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(csv.as_bytes());
    let rows: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
    for field in rows.iter().flat_map(|row| row.iter()) {
        assert!(!field.is_empty());
        assert!(field.parse::<f64>().is_ok_and(f64::is_finite) || field.parse::<f64>().is_err());
    }
    rows
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
fn smallest_widths() {
    let figure = find("certificate-width").unwrap();
    let draw = |directory: &Path| figure.write(directory, true, PROVENANCE, &|_, _| {}).unwrap();
    let rows = check_files(figure.id, draw, &certificate_width::labels());
    let cell = |statement: &str, init: &str, column: usize| {
        let row = rows.iter().find(|row| &row[1] == statement && &row[2] == init);
        row.unwrap()[column].to_owned()
    };
    let width = |statement, init| cell(statement, init, 5).parse::<f64>().unwrap();
    // Theorem S-GD needs the least, the paper's statement is beyond what was tried, and so is its initialisation.
    assert_eq!(cell("training, S", "greville", 4), "certified");
    assert!(width("training, S-GD", "greville") < width("training, S", "greville"));
    assert!(width("training, S-GD", "greville") <= width("population, 5S", "greville"));
    assert_eq!(cell("training, P (paper)", "greville", 4), "estimate");
    assert_eq!(cell("training, D (paper)", "greville", 4), "estimate");
    assert!(width("training, D (paper)", "greville") > width("training, S", "greville"));
    assert!(width("training, S", "gaussian") > width("training, S", "greville"));
}

#[test]
fn window_of_widths() {
    let figure = find("certificate-window").unwrap();
    let draw = |directory: &Path| figure.write(directory, true, PROVENANCE, &|_, _| {}).unwrap();
    let rows = check_files(figure.id, draw, &certificate_window::labels()[..2]);
    let kappa = |width: &str, lambda: &str| {
        let row = rows.iter().find(|row| &row[1] == width && &row[2] == lambda).unwrap();
        row[3].parse::<f64>().ok()
    };
    // At a fixed noise the correlation helps; too narrow a network has no certificate at all.
    assert!(kappa("2048", "0.5") > kappa("2048", "0"));
    assert!(kappa("256", "0").is_none() && kappa("2048", "0").is_some());
    for strokes in certificate_window::strokes() {
        for pair in strokes.windows(2) {
            assert!(pair[0].colour != pair[1].colour && pair[0].dash != pair[1].dash);
        }
    }
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
        assert!(!figure.summary.is_empty() && font::covers(&figure.title));
    }
    assert!(find("no-such-figure").is_none());
}

#[test]
fn a_missing_directory_is_named() {
    let directory = tempfile::tempdir().unwrap().path().join("missing");
    let figure = find("pac-bayes-table").unwrap();
    let error = figure.write(&directory, true, "test", &|_, _| {}).unwrap_err();
    assert!(matches!(error, FigureError::Io { .. }));
    assert!(error.to_string().contains("missing"), "{error}");
}
