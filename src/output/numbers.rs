//! Numbers for people: six digits, and never on the wrong side of a bound.

use dpbounds_bounds::Bound;

use super::Side;

const DIGITS: usize = 6;

/// Six significant digits, rounded to nearest.
#[must_use]
pub fn display(value: f64) -> String {
    layout(&format!("{value:.*e}", DIGITS - 1))
}

/// A given number, with all its digits.
#[must_use]
pub fn display_exact(number: f64) -> String {
    if number != 0.0 && !(1e-4..1e10).contains(&number.abs()) {
        format!("{number:e}")
    } else {
        number.to_string()
    }
}

/// The value of a bound in six digits: upper bounds are rounded up, lower bounds down. Counts have all
/// their digits.
#[must_use]
pub fn display_bound(bound: &Bound) -> String {
    match (bound.value, bound.upper, bound.lower) {
        (None, ..) => "none".into(),
        (Some(value), ..) if matches!(&*bound.unit, "count" | "records") => value.to_string(),
        (Some(value), Some(_), None) => directed(value, true),
        (Some(value), None, Some(_)) => directed(value, false),
        // The value is the upper side of a bracket.
        (Some(value), Some(upper), Some(lower)) if value == upper && lower < value => {
            directed(value, true)
        }
        (Some(value), ..) => display(value),
    }
}

/// A side of a bound in six digits, on the safe side.
#[must_use]
pub fn display_side(value: f64, side: Side) -> String {
    directed(value, side == Side::Upper)
}

/// Rounds in one direction; differences below 1e-13 of the value count as rounding noise.
fn directed(value: f64, up: bool) -> String {
    let exact = format!("{value:.13e}");
    let Some((mantissa, exponent)) = exact.split_once('e') else { return exact };
    let (kept, rest) = mantissa.split_at(mantissa.len() - (14 - DIGITS));
    let away_from_zero = up == (value > 0.0);
    if rest.bytes().all(|digit| digit == b'0') || !away_from_zero {
        return layout(&format!("{kept}e{exponent}"));
    }
    let unit = kept.replace('.', "").parse::<i64>().unwrap_or(0);
    let (Ok(exponent), next) = (exponent.parse::<i32>(), unit + unit.signum()) else {
        return exact;
    };
    // The digits move up by one unit; a carry is absorbed by formatting the decimal again.
    let shift = exponent - i32::try_from(DIGITS - 1).unwrap_or(0);
    match format!("{next}e{shift}").parse::<f64>() {
        Ok(moved) => display(moved),
        Err(_) => exact,
    }
}

/// Plain notation for ordinary sizes, scientific for the rest; trailing zeros go.
fn layout(scientific: &str) -> String {
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific.to_owned();
    };
    let power: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if !(-4..=6).contains(&power) {
        return format!("{}e{exponent}", trim(mantissa));
    }
    let decimals = usize::try_from((5 - power).max(0)).unwrap_or(0);
    let value: f64 = scientific.parse().unwrap_or(f64::NAN);
    trim(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_bounds_are_rounded_safely() {
        assert_eq!(display(60000.0), "60000");
        assert_eq!(display(0.025), "0.025");
        assert_eq!(display(1e-12), "1e-12");
        assert_eq!(display(1_234_567.0), "1234570");
        assert_eq!(display(0.0), "0");
        assert_eq!(directed(50.317_831, true), "50.3179");
        assert_eq!(directed(50.317_891, false), "50.3178");
        assert_eq!(directed(600.000_000_000_000_1, true), "600");
        assert_eq!(directed(-0.051_293_294, true), "-0.0512932");
        assert_eq!(directed(9.999_999, true), "10");
        assert_eq!(directed(3.2e-74, true), "3.2e-74");
    }
}
