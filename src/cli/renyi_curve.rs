//! Rényi curves from CSV files.

use std::path::Path;

use dpbounds_bounds::max_information::renyi::{RenyiCurve, RenyiPoint};

use super::Failure;

/// Reads pairs `alpha,epsilon`; an optional header may name the columns in either order. Blank lines
/// and lines that start with `#` are skipped.
pub(super) fn read(path: &Path) -> Result<RenyiCurve, Failure> {
    let text = std::fs::read_to_string(path).map_err(|source| Failure::File {
        action: "read",
        path: path.into(),
        source,
    })?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let mut points: Vec<(u64, RenyiPoint)> = Vec::new();
    let (mut alpha_column, mut seen) = (0, false);
    for record in reader.records() {
        let record = record.map_err(|error| Failure::Content {
            path: path.into(),
            line: error.position().map_or(0, csv::Position::line),
            problem: format!("cannot be read as CSV ({error}); write pairs alpha,epsilon"),
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let fault = |problem: String| Failure::Content { path: path.into(), line, problem };
        let fields: Vec<&str> = record.iter().collect();
        if fields.iter().all(|field| field.is_empty()) {
            continue;
        }
        let &[first, second] = fields.as_slice() else {
            return Err(fault(format!(
                "{} fields; each line is one pair alpha,epsilon",
                fields.len()
            )));
        };
        let is_first = !std::mem::replace(&mut seen, true);
        if is_first && first.parse::<f64>().is_err() && second.parse::<f64>().is_err() {
            alpha_column = header(first, second).ok_or_else(|| {
                fault(format!(
                    "header {first:?},{second:?} is unknown; name the columns alpha and epsilon"
                ))
            })?;
            continue;
        }
        let pair = if alpha_column == 0 { [first, second] } else { [second, first] };
        let read = |name: &str, field: &str| -> Result<f64, Failure> {
            let value: f64 =
                field.parse().map_err(|_| fault(format!("{name} = {field:?} is not a number")))?;
            if value.is_finite() {
                Ok(value)
            } else {
                Err(fault(format!("{name} = {field} is not finite")))
            }
        };
        let point =
            RenyiPoint { alpha: read("alpha", pair[0])?, epsilon: read("epsilon", pair[1])? };
        RenyiCurve::new(vec![point]).map_err(|error| fault(error.to_string()))?;
        if let Some((earlier, _)) = points.iter().find(|(_, other)| other.alpha == point.alpha) {
            return Err(fault(format!(
                "order alpha = {} was already given in line {earlier}; keep one epsilon for each order",
                point.alpha
            )));
        }
        points.push((line, point));
    }
    RenyiCurve::new(points.into_iter().map(|(_, point)| point).collect()).map_err(|_| {
        Failure::Content {
            path: path.into(),
            line: 1,
            problem: "no pairs alpha,epsilon; write at least one".into(),
        }
    })
}

/// The column of the order.
fn header(first: &str, second: &str) -> Option<usize> {
    let is_order =
        |name: &str| ["alpha", "order", "orders", "a"].contains(&name.to_lowercase().as_str());
    let is_epsilon = |name: &str| {
        ["epsilon", "eps", "rdp", "divergence", "rdp_epsilon"]
            .contains(&name.to_lowercase().as_str())
    };
    match (is_order(first) && is_epsilon(second), is_epsilon(first) && is_order(second)) {
        (true, _) => Some(0),
        (_, true) => Some(1),
        _ => None,
    }
}
