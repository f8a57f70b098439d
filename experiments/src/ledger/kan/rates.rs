//! Statements with suppressed constants: nothing that a run could violate. Experiments measure their slopes.

use super::super::claim::Claim;

const ORDER: &str = "the constants are suppressed, so no run can violate it; explicit forms are the entries cert-P and cert-S";
const POPULATION: &str = "the constants are suppressed, so no run can violate it; the explicit forms are the entries 5S and 5P, \
                          and the margin has to hold on the support, not on the sample (E7)";

/// The main text.
pub(super) const MAIN: &[Claim] = &[
    Claim::kan("K-4.1", "Theorem 4.1")
        .states("average training risk <~ A_corr for widths in a window")
        .never(ORDER, &["risk-steps", "risk-batch", "noise-kappa", "noise-lambda", "noise-width"]),
    Claim::kan("K-5.2", "Theorem 5.2")
        .states("average population risk <~ (1 + ηT/n)(A_corr + (sqrt m + R_*) δ)")
        .never(POPULATION, &["generalisation-n"]),
    Claim::kan("K-5.3", "Corollary 5.3")
        .states("risks <~ 1/(γ sqrt n) + sqrt d/(γ⁴ n ε) with B ~ n and correlated noise")
        .never("the constants are suppressed; the fourth power of γ is an artefact of the superfluous R_*² (E10)", &["risk-epsilon", "risk-dimension", "risk-margin"]),
    Claim::kan("K-5.6", "Corollary 5.6")
        .states("non-private mini-batch SGD: training risk <~ 1/n, population risk <~ 1/(γ² n)")
        .never(ORDER, &["risk-margin", "risk-step-size", "generalisation-n"]),
];

/// The appendix.
pub(super) const APPENDIX: &[Claim] = &[
    Claim::kan("K-C.23", "Theorem C.23")
        .states("Theorem 5.2, restated")
        .never(POPULATION, &["generalisation-n"]),
    Claim::kan("K-C.24", "Corollary C.24")
        .states("Corollary 5.3, restated")
        .never(ORDER, &["risk-epsilon", "risk-dimension"]),
    Claim::kan("K-D.14", "Theorem D.14")
        .states("average training risk <~ A_van with independent noise")
        .never("the constants are suppressed; the explicit form is the entry K-D.13. C_clip has to be of the order of G (E12)", &["risk-steps", "noise-kappa", "noise-dimension"]),
    Claim::kan("K-D.15", "Theorem D.15")
        .states("on-average argument stability of DP-SGD with independent noise")
        .never("the constants are suppressed, and a term with R_* was dropped (E11); the explicit form is the entry K-C.22", &["generalisation-n"]),
    Claim::kan("K-D.16", "Theorem D.16")
        .states("average population risk <~ (1 + ηT log(1/δ)/n)(A_van + δ sqrt(log(n/δ))) + ..")
        .never(POPULATION, &["generalisation-n"]),
    Claim::kan("K-E.1", "Theorem E.1")
        .states("training, generalisation and population risk of mini-batch SGD, <~ A_non")
        .never(ORDER, &["risk-steps", "risk-batch", "risk-margin"]),
];
