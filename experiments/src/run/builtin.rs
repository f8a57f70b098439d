//! The experiments inside the program.

use super::{Result, Spec};

/// An experiment inside the program.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

macro_rules! specs {
    ($($name:literal),* $(,)?) => {
        const ALL: &[BuiltIn] = &[$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../specs/", $name, ".toml")),
        }),*];
    };
}

specs![
    "risk-steps",
    "risk-batch",
    "risk-step-size",
    "risk-margin",
    "risk-epsilon",
    "risk-dimension",
    "generalisation-n",
    "noise-kappa",
    "noise-lambda",
    "noise-epsilon",
    "noise-width",
    "noise-dimension",
    "cumulative-noise",
    "accuracy-epsilon",
    "training-curves",
    "certified-full-batch",
    "certified-mini-batch",
    "certified-private",
    "certified-population",
    "certified-real",
];

/// All of them.
#[must_use]
pub fn built_ins() -> &'static [BuiltIn] {
    ALL
}

/// The one of this name.
#[must_use]
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|one| one.name == name)
}

impl BuiltIn {
    /// The experiment.
    ///
    /// # Errors
    /// None: the files are tested.
    pub fn spec(&self) -> Result<Spec> {
        Spec::parse(self.name, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Plan, Privacy};
    use super::*;

    #[test]
    fn the_noise_of_the_training_curves_suffices_for_their_epsilon() {
        let spec = built_in("training-curves").unwrap().spec().unwrap();
        for (row, method) in spec.joint.iter().filter(|row| row[&Axis::Kappa] > 0.0).map(|row| {
            // The method that is best there; trying all takes twice as long.
            (row, if row[&Axis::Lambda] == 0.0 { "pld" } else { "l2td" })
        }) {
            let mut same = Spec { joint: Vec::new(), ..spec.clone() };
            same.sweep.insert(Axis::Lambda, vec![row[&Axis::Lambda]]);
            same.privacy = Some(Privacy {
                epsilon: 2.0,
                delta: 1e-4,
                relation: "add-remove".into(),
                method: method.into(),
            });
            let needed = Plan::new("test", &same).unwrap().points()[0].settings().kappa;
            let kappa = row[&Axis::Kappa];
            assert!(needed <= kappa && kappa < 1.01 * needed, "{row:?}: {needed}");
        }
    }

    #[test]
    fn the_files_are_good_and_bear_their_names() {
        for one in built_ins() {
            let spec = one.spec().unwrap();
            assert_eq!(spec.name, one.name);
            assert!(!spec.summary.is_empty() && spec.quick.is_some(), "{}", one.name);
            Plan::new(one.name, &spec.quick()).unwrap();
        }
    }
}
