//! IDX files of unsigned bytes, the format of MNIST and its relatives.

use std::path::Path;

use super::classes::{Classes, choose};
use super::dataset::MOST_COLUMNS;
use super::error::{DataError, FileProblem, Place, Result, RowProblem};
use super::files;
use super::table::Table;

/// Unsigned bytes in one or more dimensions, the first of which counts the records.
#[derive(Debug)]
struct Idx {
    dimensions: Vec<usize>,
    values: Vec<u8>,
}

/// Whether bytes start like an IDX file of unsigned bytes with several dimensions.
pub(super) fn looks_like_images(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, 8, 2..=4, ..])
}

/// Reads the bytes of an IDX file whose number of dimensions lies in `allowed`.
fn parse(
    file: &str,
    mut bytes: Vec<u8>,
    allowed: std::ops::RangeInclusive<u8>,
    expected: &'static str,
) -> Result<Idx> {
    let fault = |problem| DataError::File { file: file.to_owned(), problem };
    let count = match bytes[..] {
        [0, 0, 8, count, ..] if allowed.contains(&count) => usize::from(count),
        _ => {
            let start = &bytes[..bytes.len().min(4)];
            let words: Vec<String> = start.iter().map(|byte| format!("{byte:02x}")).collect();
            let found = if words.is_empty() { "nothing".to_owned() } else { words.join(" ") };
            return Err(fault(FileProblem::IdxMagic { found, expected }));
        }
    };
    let header = 4 + 4 * count;
    let found = (bytes.len().saturating_sub(header)) as u64;
    let sizes: Vec<u32> = bytes[4..]
        .chunks_exact(4)
        .take(count)
        .map(|word| word.iter().fold(0, |number, &byte| number << 8 | u32::from(byte)))
        .collect();
    let promised = sizes.iter().fold(1_u64, |product, &size| product.saturating_mul(size.into()));
    if sizes.len() < count || promised != found {
        return Err(fault(FileProblem::IdxSize { promised, found }));
    }
    bytes.drain(..header);
    Ok(Idx { dimensions: sizes.iter().map(|&size| size as usize).collect(), values: bytes })
}

/// Reads images and their labels, plain or compressed, and keeps the two labels that are wanted.
/// `class_names` may replace the numbers of the first classes.
pub(super) fn read(
    images: &Path,
    labels: &Path,
    classes: Option<&Classes>,
    class_names: &[&str],
) -> Result<Table> {
    let (file, label_file) = (images.display().to_string(), labels.display().to_string());
    let label_bytes = files::read(labels)?;
    table(&file, files::read(images)?, &label_file, label_bytes, classes, class_names)
}

/// Images and as many labels.
fn pair(
    file: &str,
    image_bytes: Vec<u8>,
    label_file: &str,
    label_bytes: Vec<u8>,
) -> Result<(Idx, Idx)> {
    let labels = parse(label_file, label_bytes, 1..=1, "01 for labels")?;
    let images = parse(file, image_bytes, 2..=4, "02 to 04 for images")?;
    let fault = |problem| DataError::File { file: file.to_owned(), problem };
    let (count, dimension) =
        (images.dimensions[0], images.dimensions[1..].iter().product::<usize>());
    if count != labels.values.len() {
        return Err(fault(FileProblem::IdxCounts {
            images: count,
            labels: labels.values.len(),
            label_file: label_file.to_owned(),
        }));
    }
    if count == 0 || dimension == 0 {
        return Err(fault(FileProblem::NoRows));
    }
    if dimension > MOST_COLUMNS {
        let problem = RowProblem::TooManyColumns { found: dimension, limit: MOST_COLUMNS };
        return Err(DataError::Row { file: file.to_owned(), place: Place::Record(1), problem });
    }
    Ok((images, labels))
}

/// Reads images and their labels and keeps all classes: pixels, numbers of a pixel row, labels.
pub(super) fn read_all(images: &Path, labels: &Path) -> Result<(Vec<u8>, usize, Vec<u8>)> {
    let (file, label_file) = (images.display().to_string(), labels.display().to_string());
    let label_bytes = files::read(labels)?;
    let (images, labels) = pair(&file, files::read(images)?, &label_file, label_bytes)?;
    Ok((images.values, images.dimensions[1..].iter().product(), labels.values))
}

fn table(
    file: &str,
    image_bytes: Vec<u8>,
    label_file: &str,
    label_bytes: Vec<u8>,
    classes: Option<&Classes>,
    class_names: &[&str],
) -> Result<Table> {
    let (images, labels) = pair(file, image_bytes, label_file, label_bytes)?;
    let dimension = images.dimensions[1..].iter().product::<usize>();
    let largest = usize::from(labels.values.iter().copied().max().unwrap_or(0));
    let names: Vec<String> = (0..=largest)
        .map(|class| class_names.get(class).map_or(class.to_string(), |&name| name.to_owned()))
        .collect();
    let class_of: Vec<usize> = labels.values.iter().map(|&label| label.into()).collect();
    let wanted = classes.map(|classes| by_name(classes, &names));
    let choice = choose(file, wanted.as_ref(), &names, &class_of)?;
    let mut features = Vec::with_capacity(choice.rows.len() * dimension);
    for &row in &choice.rows {
        let pixels = &images.values[row * dimension..(row + 1) * dimension];
        features.extend(pixels.iter().map(|&pixel| f64::from(pixel)));
    }
    Ok(Table {
        file: file.to_owned(),
        columns: pixel_names(&images.dimensions[1..]),
        numbers: Vec::new(),
        places: choice.rows.iter().map(|&row| Place::Record(row as u64 + 1)).collect(),
        features,
        labels: choice.labels,
        multiplicities: None,
        classes: choice.names,
    })
}

/// Replaces the numbers of classes by their names, so that both are understood.
fn by_name(classes: &Classes, names: &[String]) -> Classes {
    let side = |text: &str| {
        let parts = text.split('+').map(str::trim);
        let named = parts.map(|part| match part.parse::<usize>() {
            Ok(number) if number < names.len() => names[number].clone(),
            _ => part.to_owned(),
        });
        named.collect::<Vec<_>>().join("+")
    };
    Classes { negative: side(&classes.negative), positive: side(&classes.positive) }
}

/// `pixel_ROW_COLUMN` from 0 for images.
pub(super) fn pixel_names(shape: &[usize]) -> Vec<String> {
    match shape {
        &[rows, columns] => (0..rows)
            .flat_map(|row| (0..columns).map(move |column| format!("pixel_{row}_{column}")))
            .collect(),
        _ => (0..shape.iter().product()).map(|index| format!("pixel_{index}")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idx(shape: &[u32], values: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, u8::try_from(shape.len()).unwrap()];
        bytes.extend(shape.iter().flat_map(|size| size.to_be_bytes()));
        bytes.extend(values);
        bytes
    }

    fn images() -> Vec<u8> {
        idx(&[3, 1, 2], &[0, 1, 2, 3, 4, 255])
    }

    fn read(images: Vec<u8>, labels: Vec<u8>, classes: &str) -> Result<Table> {
        table("i", images, "l", labels, Some(&classes.parse()?), &["shirt", "boot"])
    }

    #[test]
    fn images_are_chosen_by_number_or_name() {
        for classes in ["2,0", "2,shirt"] {
            let table = read(images(), idx(&[3], &[0, 1, 2]), classes).unwrap();
            assert_eq!(table.features, [0.0, 1.0, 4.0, 255.0]);
            assert_eq!(table.labels, [1.0, -1.0]);
            assert_eq!(table.classes, ["2", "shirt"]);
            assert_eq!(table.columns, ["pixel_0_0", "pixel_0_1"]);
        }
        let groups = read(images(), idx(&[3], &[0, 1, 2]), "0+1,2").unwrap();
        assert_eq!(groups.labels, [-1.0, -1.0, 1.0]);
    }

    #[test]
    fn every_fault_of_a_file_is_told_apart() {
        let labels = || idx(&[3], &[0, 1, 1]);
        let message = |images, labels| read(images, labels, "0,1").unwrap_err().to_string();
        assert!(message(labels(), labels()).contains("starts with 00 00 08 01"));
        assert!(message(images(), images()).contains("l: the file starts with 00 00 08 03"));
        assert!(message(vec![], labels()).contains("starts with nothing"));
        let floats = [vec![0, 0, 0x0d], images()[3..].to_vec()].concat();
        assert!(message(floats, labels()).contains("00 00 0d 03"));
        assert!(message(images(), idx(&[2], &[0, 1])).contains("3 images but 2 labels in l"));
        let mut short = images();
        short.pop();
        assert!(message(short, labels()).contains("promises 6 bytes of data but 5 follow"));
        assert!(message(images()[..9].to_vec(), labels()).contains("0 follow"));
        let huge = idx(&[u32::MAX; 4], &[]);
        assert!(message(huge, labels()).contains("promises 18446744073709551615 bytes"));
        let wide = idx(&[1, 70_000, 1], &[0; 70_000]);
        assert!(message(wide, idx(&[1], &[0])).contains("70000 columns"));
    }
}
