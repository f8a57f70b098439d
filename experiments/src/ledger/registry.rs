//! All claims, in the order of the papers.

use super::claim::Claim;
use super::{kan, max_information, ours, privacy};

/// Every claim.
pub fn claims() -> impl Iterator<Item = &'static Claim> {
    let families: [&'static [&'static [Claim]]; 4] =
        [kan::CLAIMS, privacy::CLAIMS, max_information::CLAIMS, ours::CLAIMS];
    families.into_iter().flatten().flat_map(|family| family.iter())
}

/// The claims of these names, without regard to case; a name also stands for all that begin with it and go on with
/// a dot, so `K-C` is appendix C.
///
/// # Errors
/// The first name that is unknown.
pub fn find<'a>(names: &[&'a str]) -> Result<Vec<&'static Claim>, &'a str> {
    let matches = |claim: &Claim, name: &str| {
        let start = claim.id.get(..name.len());
        let rest = claim.id.get(name.len()..).unwrap_or_default();
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
            && (rest.is_empty() || rest.starts_with(['.', '-']))
    };
    let unknown = |name: &&&str| name.is_empty() || !claims().any(|claim| matches(claim, name));
    match names.iter().find(unknown) {
        Some(name) => Err(name),
        None => {
            Ok(claims().filter(|claim| names.iter().any(|name| matches(claim, name))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::claim::{Check, Verdict, Work};
    use super::*;
    use crate::run::built_in;

    #[test]
    fn names_are_unique_and_every_claim_says_what_it_is() {
        let mut names = HashSet::new();
        for claim in claims() {
            assert!(names.insert(claim.id.to_lowercase()), "{}", claim.id);
            assert!(claim.statement.len() > 10 && !claim.statement.contains('\n'), "{}", claim.id);
            let corrected =
                matches!(claim.expected, Verdict::HoldsCorrected | Verdict::FalseAsPrinted);
            assert!(!corrected || !claim.errata.is_empty(), "{}", claim.id);
            match claim.check {
                Check::Never(why, experiments) => {
                    assert!(why.len() > 10 && claim.expected == Verdict::NotCheckable);
                    for name in experiments {
                        assert!(built_in(name).is_some(), "{}: {name}", claim.id);
                    }
                }
                Check::Missing(why) => assert!(why.len() > 10, "{}", claim.id),
                Check::Run(_) | Check::FullOnly(_) => {}
            }
            assert!(claim.work != Work::Ours || claim.expected != Verdict::FalseAsPrinted);
        }
    }

    /// The numbers of all lemmas, theorems, corollaries and tables of both papers.
    #[test]
    fn every_numbered_claim_of_both_papers_is_listed() {
        let mut wanted: Vec<String> = Vec::new();
        let mut add = |start: &str, numbers: &[u32]| {
            wanted.extend(numbers.iter().map(|number| format!("{start}{number}")));
        };
        add("K-4.", &[1]);
        add("K-5.", &[1, 2, 3, 4, 5, 6]);
        add("K-B.", &(1..=7).collect::<Vec<_>>());
        add("K-C.", &(1..=24).filter(|number| *number != 14).collect::<Vec<_>>()); // C.14 is a definition
        add("K-D.", &[2, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16]); // D.1 and D.3 too; there is no D.8
        add("K-E.", &[1]);
        add("K-F.", &(6..=12).collect::<Vec<_>>()); // F.1 to F.5 are definitions
        add("M-", &(1..=9).collect::<Vec<_>>());
        add("M-B.", &(1..=15).collect::<Vec<_>>());
        add("M-Table-", &[1, 2, 3]);
        for name in wanted {
            assert!(claims().any(|claim| claim.id == name), "{name}");
        }
    }

    #[test]
    fn a_name_stands_for_one_claim_or_for_its_family() {
        assert_eq!(find(&["k-b.2"]).unwrap().len(), 1);
        assert_eq!(find(&["K-B"]).unwrap().len(), 7);
        assert_eq!(find(&["K-C.1"]).unwrap().len(), 1);
        assert_eq!(find(&["K-B.2", "nothing"]).unwrap_err(), "nothing");
        assert_eq!(find(&[""]).unwrap_err(), "");
    }
}
