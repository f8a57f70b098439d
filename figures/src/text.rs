//! Texts of unknown length in a given width.

use crate::canvas::Type;
use crate::error::Result;

/// The text, or its beginning with an ellipsis where it is too wide.
pub(crate) fn shortened(text: &str, style: Type, width: f64) -> Result<String> {
    if style.width(text)? <= width {
        return Ok(text.to_owned());
    }
    let mut characters: Vec<char> = text.chars().collect();
    while characters.pop().is_some() {
        let beginning: String = characters.iter().collect();
        let candidate = format!("{}…", beginning.trim_end());
        if style.width(&candidate)? <= width {
            return Ok(candidate);
        }
    }
    Ok(String::new())
}

/// The text in at most `most` lines, broken at spaces; what does not fit is cut off.
pub(crate) fn wrapped(text: &str, style: Type, width: f64, most: usize) -> Result<Vec<String>> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() == most;
        match lines.last_mut() {
            Some(line) if full || style.width(&format!("{line} {word}"))? <= width => {
                *line = format!("{line} {word}");
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| shortened(line, style, width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::INK;

    #[test]
    fn every_line_fits_and_says_that_it_was_cut() {
        let style = Type::new(12.0, INK);
        let text = "one two three four five six seven eight nine ten eleven twelve";
        let lines = wrapped(text, style, 120.0, 2).unwrap();
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…') && text.starts_with(&lines[0]), "{lines:?}");
        assert!(lines.iter().all(|line| style.width(line).unwrap() <= 120.0));
        assert_eq!(wrapped(text, style, 1e4, 2).unwrap(), [text]);
        assert_eq!(shortened("wide", style, 1.0).unwrap(), "");
    }
}
