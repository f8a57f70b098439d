//! The same proofs with smaller constants (errata E13 to E17).

use super::super::claim::{Claim, Level, Method, Verdict};
use super::super::kan::{Event, Limits, exceedances, gaps, second_layers, segments};
use super::super::measured::{CheckError, Measured, Slacks};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours("sharper-C.7", "errata E13")
        .states("2 sqrt2 for 4 sqrt2 and for 4, and one-sided log(1/δ), in Lemmas C.7 to C.10")
        .checked(Method::Frequency, martingales)
        .erratum(&["E13"], Verdict::Holds),
    Claim::ours("sharper-C.15", "errata E15")
        .states("the generalisation gap is at most L ε, without the factor 2 of Lemma C.15")
        .checked(Method::BruteForce, |_| {
            Measured::of(gaps(&[10, 50], 1.0)?, "all 64 samples of 3 records from 4 atoms, 20 steps of gradient descent, widths 10, 50")
        })
        .erratum(&["E15"], Verdict::Holds),
    Claim::ours("sharper-B.5", "errata E16")
        .states("sqrt p and sqrt(2 log) for 4 sqrt p and 2 sqrt log in Lemma B.5")
        .checked(Method::Frequency, |level| {
            let draws = level.pick(400, 20_000);
            Measured::of(
                second_layers(draws, 1.0, 2.0_f64.sqrt())?,
                format!("{draws} Gaussian second layers of 16 units with 2 to 8 functions, δ = 0.2"),
            )
        })
        .erratum(&["E16"], Verdict::Holds),
    Claim::ours("sharper-B.4", "errata E17")
        .states("1/(1−νD²/8) for 1/(1−νD²/2) in Lemma B.4")
        .checked(Method::Inequality, |level| {
            let cases = level.pick(60, 2000);
            Measured::of(segments(cases, 0.125)?, format!("{cases} segments between random weights, 65 points each, and the cosine"))
        })
        .erratum(&["E17"], Verdict::Holds),
];

fn martingales(level: Level) -> Result<Measured, CheckError> {
    let seeds = level.pick(200, 4000);
    let mut slacks = Slacks::new();
    for (event, linear) in
        [(Event::Batches, 0.5), (Event::Noise, 0.5_f64.sqrt()), (Event::Cross, 0.5_f64.sqrt())]
    {
        slacks = slacks.and(exceedances(seeds, event, Limits { linear, one_sided: true })?);
    }
    Measured::of(
        slacks,
        format!("{seeds} seeds of 20 steps, 64 cubic units, n = 20, B = 5, λ = 0.4, δ = 0.1"),
    )
}
