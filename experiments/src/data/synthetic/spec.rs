//! Families as texts: `clusters:n=500,d=3`.

use std::str::FromStr;

use super::{AtomDraw, Atoms, Family, Synthetic, TeacherKind};
use crate::data::dataset::Domain;
use crate::data::error::{DataError, Result, out_of_range};

/// Parameters that are taken one after the other; what remains is unknown.
struct Parameters<'a> {
    family: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
    known: Vec<&'static str>,
}

impl<'a> Parameters<'a> {
    fn new(family: &'a str, text: &'a str) -> Result<Self> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (key, value) = match item.split_once('=') {
                Some((key, value)) => (key.trim(), value.trim()),
                None if family == "atoms" => ("which", item),
                None => {
                    return Err(out_of_range(family, format!("{item:?}"), "NAME=VALUE,..."));
                }
            };
            if pairs.iter().any(|(other, _)| *other == key) {
                return Err(out_of_range(&format!("{family}: {key}"), value, "one value"));
            }
            pairs.push((key, value));
        }
        Ok(Self { family, pairs, known: Vec::new() })
    }

    fn take(&mut self, key: &'static str) -> Option<&'a str> {
        self.known.push(key);
        let place = self.pairs.iter().position(|(other, _)| *other == key)?;
        Some(self.pairs.remove(place).1)
    }

    fn number(&mut self, key: &'static str, default: f64) -> Result<f64> {
        Ok(self.given_number(key)?.unwrap_or(default))
    }

    fn given_number(&mut self, key: &'static str) -> Result<Option<f64>> {
        let Some(text) = self.take(key) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(out_of_range(&self.name(key), format!("{text:?}"), "finite numbers")),
        }
    }

    /// The remaining parameters of atoms.
    fn atoms(&mut self, mut atoms: Atoms) -> Result<Family> {
        let draw = self.word("draw", &DRAWS)?;
        if let Some(gamma) = self.given_number("gamma")? {
            atoms = atoms.with_gap(gamma)?;
        }
        Ok(Family::Atoms { atoms, draw })
    }

    fn count(&mut self, key: &'static str, default: u64) -> Result<u64> {
        let Some(text) = self.take(key) else { return Ok(default) };
        match text.parse::<f64>() {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked
            Ok(value)
                if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value) =>
            {
                Ok(value as u64)
            }
            _ => {
                let allowed = "whole numbers such as 1000 or 1e6, at most 2^53";
                Err(out_of_range(&self.name(key), format!("{text:?}"), allowed))
            }
        }
    }

    fn size(&mut self, key: &'static str, default: u64) -> Result<usize> {
        let count = self.count(key, default)?;
        usize::try_from(count).map_err(|_| out_of_range(&self.name(key), count, "smaller sizes"))
    }

    fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Result<T> {
        let Some(text) = self.take(key) else { return Ok(words[0].1) };
        let known = words.iter().find(|(word, _)| *word == text);
        known.map(|(_, value)| *value).ok_or_else(|| {
            let allowed: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            out_of_range(&self.name(key), format!("{text:?}"), allowed.join(", "))
        })
    }

    fn name(&self, key: &str) -> String {
        format!("{}: {key}", self.family)
    }

    /// Refuses what is left.
    fn end(self) -> Result<()> {
        match self.pairs.first() {
            None => Ok(()),
            Some((key, value)) => {
                let known = self.known.join(", ");
                Err(out_of_range(&self.name(key), value, format!("the parameters {known}")))
            }
        }
    }
}

const DOMAINS: [(&str, Domain); 2] = [("cube", Domain::Cube), ("ball", Domain::Ball)];

const DRAWS: [(&str, AtomDraw); 2] =
    [("balanced", AtomDraw::Balanced), ("independent", AtomDraw::Independent)];

impl Synthetic {
    /// Atoms of one's own with the other parameters as a text such as `n=1e6,draw=independent`; n is
    /// the sum of the weights if it is not given.
    ///
    /// # Errors
    /// [`DataError`] for a parameter that is unknown or cannot be read.
    pub fn with_atoms(atoms: Atoms, parameters: &str) -> Result<Self> {
        let mut given = Parameters::new("atoms", parameters)?;
        let total = atoms.weights.iter().fold(0, |sum: u64, weight| sum.saturating_add(*weight));
        let records = given.count("n", total)?;
        let family = given.atoms(atoms)?;
        given.end()?;
        Ok(Self { family, records })
    }
}

impl FromStr for Synthetic {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut given = Parameters::new(name, rest)?;
        let default_records = if name == "atoms" { 4 } else { 1000 };
        let records = given.count("n", default_records)?;
        let family = match name {
            "atoms" => {
                let a4 = given.word("which", &[("A4", true), ("X4", false)])?;
                given.atoms(if a4 { Atoms::a4() } else { Atoms::x4() })?
            }
            "clusters" => Family::Clusters {
                dimension: given.size("d", 2)?,
                separation: given.number("separation", 1.0)?,
                spread: given.number("spread", 0.2)?,
            },
            "margin" => Family::Margin {
                dimension: given.size("d", 2)?,
                margin: given.number("gamma", 0.1)?,
                domain: given.word("domain", &DOMAINS)?,
            },
            "xor" => Family::Xor { dimension: given.size("d", 2)?, gap: given.number("gap", 0.1)? },
            "teacher" => {
                let network = given.word("kind", &[("kan", true), ("linear", false)])?;
                Family::Teacher {
                    dimension: given.size("d", 2)?,
                    kind: if network {
                        TeacherKind::Kan {
                            degree: given.size("degree", 3)?,
                            size: given.size("size", 6)?,
                            width: given.size("width", 16)?,
                        }
                    } else {
                        TeacherKind::Linear
                    },
                    domain: given.word("domain", &DOMAINS)?,
                    flip: given.number("flip", 0.0)?,
                }
            }
            _ => {
                return Err(DataError::UnknownName {
                    name: name.to_owned(),
                    hint: "the families are atoms, clusters, margin, xor and teacher".to_owned(),
                });
            }
        };
        given.end()?;
        Ok(Self { family, records })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_and_the_rest_is_refused() {
        let set: Synthetic = "margin: n=1e3, d=5, gamma=0.25, domain=ball".parse().unwrap();
        let expected = Family::Margin { dimension: 5, margin: 0.25, domain: Domain::Ball };
        assert_eq!(set, Synthetic { family: expected, records: 1000 });
        for (text, parts) in [
            ("margin:gama=0.1", ["margin: gama", "n, d, gamma, domain"]),
            ("margin:gamma=x", ["margin: gamma", "finite"]),
            ("margin:n=1.5", ["margin: n", "whole numbers"]),
            ("margin:n=-3", ["margin: n", "whole numbers"]),
            ("margin:domain=disc", ["margin: domain", "cube, ball"]),
            ("margin:A4", ["margin", "NAME=VALUE"]),
            ("margin:n=3,n=4", ["margin: n", "one value"]),
            ("atoms:B4", ["atoms: which", "A4, X4"]),
            ("teacher:kind=linear,width=3", ["teacher: width", "kind"]),
            ("spirals", ["spirals", "families are"]),
        ] {
            let error = text.parse::<Synthetic>().unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
    }
}
