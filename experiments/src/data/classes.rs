//! Two labels out of many classes: a pair, or one group against another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::{ClassProblem, DataError, Result};

/// The classes with label −1 and those with label +1, written `A,B`; several of a side are joined by
/// `+`, as in `0+2+4,1+3+5`. Other classes are left out.
///
/// # Examples
/// ```
/// use dpbounds_experiments::data::Classes;
/// let classes: Classes = "4+9,7".parse()?;
/// assert_eq!((&*classes.negative, &*classes.positive), ("4+9", "7"));
/// # Ok::<(), dpbounds_experiments::data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Classes {
    /// Label −1: a class, or several joined by `+`.
    pub negative: String,
    /// Label +1: a class, or several joined by `+`.
    pub positive: String,
}

impl FromStr for Classes {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self> {
        match text.split(',').map(str::trim).collect::<Vec<_>>()[..] {
            [negative, positive] if !negative.is_empty() && !positive.is_empty() => {
                Ok(Self { negative: negative.to_owned(), positive: positive.to_owned() })
            }
            _ => Err(super::error::out_of_range(
                "classes",
                format!("{text:?}"),
                "two classes A,B or two groups A+B,C+D",
            )),
        }
    }
}

impl TryFrom<String> for Classes {
    type Error = DataError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Classes> for String {
    fn from(classes: Classes) -> Self {
        classes.to_string()
    }
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.negative, self.positive)
    }
}

/// Which rows are kept, with which labels.
#[derive(Debug)]
pub(super) struct Choice {
    /// Indices of the kept rows, increasing.
    pub rows: Vec<usize>,
    /// Their labels, −1 or +1.
    pub labels: Vec<f64>,
    /// What the two labels stand for.
    pub names: [String; 2],
}

/// Chooses rows by class. Without a wish there must be two classes: the first by number, or by
/// alphabet, is −1.
pub(super) fn choose(
    file: &str,
    wanted: Option<&Classes>,
    names: &[String],
    class_of: &[usize],
) -> Result<Choice> {
    let fault = |problem| DataError::Classes { file: file.to_owned(), problem };
    let (negative, positive, shown) = match wanted {
        Some(Classes { negative, positive }) => {
            let (low, high) = (group(file, negative, names)?, group(file, positive, names)?);
            if let Some(&both) = low.iter().find(|class| high.contains(class)) {
                return Err(fault(ClassProblem::Twice { name: names[both].clone() }));
            }
            (low, high, [negative.clone(), positive.clone()])
        }
        None => {
            let order = present(names, class_of);
            match order[..] {
                [low, high] => (vec![low], vec![high], [names[low].clone(), names[high].clone()]),
                [only] => {
                    let remedy = "add records of another class, or name another label column";
                    return Err(fault(ClassProblem::One { class: names[only].clone(), remedy }));
                }
                _ => {
                    let count = order.len();
                    return Err(fault(ClassProblem::Several { count, names: list(&order, names) }));
                }
            }
        }
    };
    let mut choice = Choice { rows: Vec::new(), labels: Vec::new(), names: shown };
    for (row, class) in class_of.iter().enumerate() {
        let label = match (negative.contains(class), positive.contains(class)) {
            (true, _) => -1.0,
            (_, true) => 1.0,
            _ => continue,
        };
        choice.rows.push(row);
        choice.labels.push(label);
    }
    for (label, name) in [(-1.0, 1), (1.0, 0)] {
        if !choice.labels.contains(&label) {
            let class = choice.names[name].clone();
            return Err(fault(ClassProblem::One { class, remedy: "choose a class that occurs" }));
        }
    }
    Ok(choice)
}

/// The classes that a text names: one class with exactly this name, or several joined by `+`.
fn group(file: &str, text: &str, names: &[String]) -> Result<Vec<usize>> {
    let find = |wanted: &str| names.iter().position(|name| name == wanted);
    if let Some(class) = find(text) {
        return Ok(vec![class]);
    }
    let parts = text.split('+').map(str::trim);
    parts
        .map(|part| {
            find(part).ok_or_else(|| DataError::Classes {
                file: file.to_owned(),
                problem: ClassProblem::Unknown {
                    wanted: part.to_owned(),
                    names: list(&(0..names.len()).collect::<Vec<_>>(), names),
                },
            })
        })
        .collect()
}

/// The classes that occur, by number if all are numbers, else by alphabet.
fn present(names: &[String], class_of: &[usize]) -> Vec<usize> {
    let mut occurs = vec![false; names.len()];
    for &class in class_of {
        occurs[class] = true;
    }
    let mut order: Vec<usize> = (0..names.len()).filter(|&class| occurs[class]).collect();
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    match numbers {
        Some(numbers) => order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b])),
        None => order.sort_by(|&a, &b| names[a].cmp(&names[b])),
    }
    order
}

fn list(classes: &[usize], names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text: Vec<&str> = classes.iter().take(SHOWN).map(|&class| &*names[class]).collect();
    if classes.len() > SHOWN {
        text.push("...");
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn two_classes_are_ordered_and_several_must_be_chosen() {
        let choice = choose("f", None, &names(&["10", "9"]), &[0, 1, 0]).unwrap();
        assert_eq!(choice.labels, [1.0, -1.0, 1.0]);
        assert_eq!(choice.names, ["9", "10"]);
        let error = choose("f", None, &names(&["a", "b", "c"]), &[0, 1, 2]).unwrap_err();
        assert!(error.to_string().contains("3 classes (a, b, c)"), "{error}");
        let error = choose("f", None, &names(&["a"]), &[0, 0]).unwrap_err();
        assert!(matches!(error, DataError::Classes { problem: ClassProblem::One { .. }, .. }));
    }

    #[test]
    fn groups_are_chosen_and_names_with_a_plus_stay_whole() {
        let wanted = "a+c,b".parse().unwrap();
        let choice =
            choose("f", Some(&wanted), &names(&["a", "b", "c", "d"]), &[3, 2, 1, 0]).unwrap();
        assert_eq!((choice.rows, choice.labels), (vec![1, 2, 3], vec![-1.0, 1.0, -1.0]));
        let wanted = "A+,B+".parse().unwrap();
        assert_eq!(
            choose("f", Some(&wanted), &names(&["B+", "A+"]), &[0, 1]).unwrap().labels,
            [1.0, -1.0]
        );
        for (wanted, part) in [("a,a", "both sides"), ("a,x", "\"x\" does not occur")] {
            let error = choose("f", Some(&wanted.parse().unwrap()), &names(&["a", "b"]), &[0, 1])
                .unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        assert!("a".parse::<Classes>().is_err() && "a,b,c".parse::<Classes>().is_err());
    }
}
