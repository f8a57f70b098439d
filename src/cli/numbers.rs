//! Numbers on the command line: `60000`, `6e4`, lists `1,2,5`, ranges `0:0.9:10`, log ranges `1e3..1e6@7`.

use std::str::FromStr;

use dpbounds_bounds::domain::whole;

/// Largest number of values of one option.
const MAX_VALUES: u64 = 1_000_000;

/// The values of one numeric option.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The values, in the order given.
    pub values: Vec<f64>,
    /// Whether they come from a range, whose points may be rounded to whole numbers.
    pub from_range: bool,
}

impl Sweep {
    /// The values for a parameter that counts something: points of a range are rounded.
    #[must_use]
    pub fn counts(&self) -> Vec<f64> {
        if self.from_range {
            self.values.iter().map(|value| value.round()).collect()
        } else {
            self.values.clone()
        }
    }
}

/// Reads one finite number.
///
/// # Errors
/// What is wrong with the text.
pub fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("a value is empty; write a number such as 60000 or 6e4".into());
    }
    let value: f64 = text.parse().map_err(|_| {
        format!("cannot read {text:?} as a number; write 60000, 6e4, 1,2,5, 0:0.9:10 or 1e3..1e6@7")
    })?;
    if value.is_nan() {
        return Err("NaN is not a number; give a finite number".into());
    }
    if value.is_infinite() {
        return Err(format!("{text} is not a finite double (the largest is 1.8e308)"));
    }
    Ok(value)
}

/// Reads one whole number such as 1000 or 1e3.
///
/// # Errors
/// What is wrong with the text.
pub fn count(text: &str) -> Result<u64, String> {
    whole("the number", number(text)?).map_err(|_| {
        format!("{text} is out of range: give a whole number from 0 to 9007199254740992 (2^53)")
    })
}

fn points(text: &str) -> Result<u64, String> {
    let count: u64 = text.trim().parse().map_err(|_| {
        format!("cannot read {text:?} as the number of points; write a whole number of at least 2")
    })?;
    if (2..=MAX_VALUES).contains(&count) {
        Ok(count)
    } else {
        Err(format!("{count} points are out of range: allowed is 2 to {MAX_VALUES}"))
    }
}

fn ordered(start: f64, stop: f64) -> Result<(), String> {
    if start < stop {
        Ok(())
    } else {
        Err(format!(
            "the range starts at {start} and stops at {stop}; the start must be below the stop"
        ))
    }
}

#[allow(clippy::cast_precision_loss)] // at most MAX_VALUES
fn fraction(index: u64, count: u64) -> f64 {
    index as f64 / (count - 1) as f64
}

fn linear_range(parts: &[&str]) -> Result<Vec<f64>, String> {
    let [start, stop, count] = parts else {
        return Err("a range is start:stop:count, for example 0:0.9:10".into());
    };
    let (start, stop, count) = (number(start)?, number(stop)?, points(count)?);
    ordered(start, stop)?;
    let width = stop - start;
    let inner =
        |index| if index + 1 == count { stop } else { start + width * fraction(index, count) };
    Ok((0..count).map(inner).collect())
}

fn log_range(start: &str, rest: &str) -> Result<Vec<f64>, String> {
    let Some((stop, count)) = rest.split_once('@') else {
        return Err("a log range is start..stop@count, for example 1e3..1e6@7".into());
    };
    let (start, stop, count) = (number(start)?, number(stop)?, points(count)?);
    ordered(start, stop)?;
    if start <= 0.0 {
        return Err(format!("a log range needs a positive start, not {start}"));
    }
    let (low, high) = (start.log10(), stop.log10());
    let inner = |index| {
        if index == 0 {
            start
        } else if index + 1 == count {
            stop
        } else {
            snap(10f64.powf(low + (high - low) * fraction(index, count)))
        }
    };
    Ok((0..count).map(inner).collect())
}

/// The nearest number of 12 digits where rounding of the power is all that separates them.
fn snap(value: f64) -> f64 {
    let short: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    if (short / value - 1.0).abs() < 1e-14 { short } else { value }
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((start, rest)) = text.split_once("..") {
            return Ok(Self { values: log_range(start, rest)?, from_range: true });
        }
        if text.contains(':') {
            let parts: Vec<_> = text.split(':').collect();
            return Ok(Self { values: linear_range(&parts)?, from_range: true });
        }
        let values: Result<Vec<_>, _> = text.split(',').map(number).collect();
        Ok(Self { values: values?, from_range: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        text.parse::<Sweep>().unwrap().values
    }

    #[test]
    fn every_notation_is_understood() {
        assert_eq!(values("60000"), [60000.0]);
        assert_eq!(values("6e4"), [60000.0]);
        assert_eq!(values("1,2,5"), [1.0, 2.0, 5.0]);
        assert_eq!(values("0:0.9:10").len(), 10);
        assert_eq!(values("0:0.9:10")[9], 0.9);
        assert_eq!(values("1e3..1e6@7")[2], 1e4);
        assert_eq!(values("-1:1:3"), [-1.0, 0.0, 1.0]);
    }

    #[test]
    fn faults_are_named() {
        for (text, part) in [
            ("", "empty"),
            ("1,,2", "empty"),
            ("NaN", "NaN"),
            ("1e400", "1.8e308"),
            ("inf", "finite"),
            ("0.9:0:10", "below the stop"),
            ("1e6..1e3@7", "below the stop"),
            ("0..1@5", "positive start"),
            ("1..10", "@count"),
            ("0:1", "start:stop:count"),
            ("0:1:1", "2 to"),
            ("0:1:1e9", "whole number"),
            ("abc", "cannot read"),
        ] {
            let problem = text.parse::<Sweep>().unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
