//! The Gaussian mechanism and the closed-form calibrations by name.

use super::parameters::*;
use super::{Entry, entry};
use crate::privacy::{closed_form, gaussian, participation_norm};
use crate::warrant::{Bound, Quantity, Source};

const KAN_PAPER: &str = "arXiv 2605.12648";
const BALLE_WANG: &str = "Balle and Wang 2018";

const RUN: &[Parameter] = &[N, KAN_BATCH, STEPS, POSITIVE_EPSILON, OPEN_DELTA];
const CORRELATED_RUN: &[Parameter] =
    &[N, KAN_BATCH, STEPS, POSITIVE_EPSILON, OPEN_DELTA, UNIT_CORRELATION.optional()];

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        "gaussian_delta",
        "delta from noise and epsilon",
        &[NOISE_MULTIPLIER, EPSILON],
        BALLE_WANG,
        |a| gaussian::delta(a.number("noise_multiplier")?, a.number("epsilon")?),
    ),
    entry(
        "gaussian_epsilon",
        "epsilon from noise and delta",
        &[NOISE_MULTIPLIER, OPEN_DELTA],
        BALLE_WANG,
        |a| gaussian::epsilon(a.number("noise_multiplier")?, a.number("delta")?),
    ),
    entry(
        "gaussian_noise_multiplier",
        "noise from epsilon and delta",
        &[EPSILON, OPEN_DELTA],
        BALLE_WANG,
        |a| gaussian::noise_multiplier(a.number("epsilon")?, a.number("delta")?),
    ),
    entry("balle_wang", "delta from mu and epsilon", &[MU, EPSILON], BALLE_WANG, |a| {
        gaussian::delta_at(a.number("mu")?, a.number("epsilon")?)
    }),
    entry("balle_wang_mu", "mu from epsilon and delta", &[EPSILON, OPEN_DELTA], BALLE_WANG, |a| {
        gaussian::mu(a.number("epsilon")?, a.number("delta")?)
    }),
    entry("kappa_f12", "Theorem F.12 with its hypotheses", CORRELATED_RUN, KAN_PAPER, |a| {
        let (n, batch, steps) = (a.count("n")?, a.count("batch")?, a.count("steps")?);
        let lambda = a.optional_number("lambda")?.unwrap_or(0.0);
        closed_form::f12(n, batch, steps, a.number("epsilon")?, a.number("delta")?, lambda)
    }),
    entry("kappa_d9_claim", "Theorem D.9: a claim to audit, not a bound", RUN, KAN_PAPER, |a| {
        let (n, batch, steps) = (a.count("n")?, a.count("batch")?, a.count("steps")?);
        closed_form::d9_claim(n, batch, steps, a.number("epsilon")?, a.number("delta")?)
    }),
    entry(
        "max_norm",
        "largest norm of one record's participation",
        &[UNIT_CORRELATION, STEPS, PARTICIPATIONS],
        "ours, docs/theory/privacy.md",
        |a| {
            let (steps, most) = (a.count("steps")?, a.count("participations")?);
            let value = participation_norm(a.number("lambda")?, steps, most)?;
            let source = Source::new("ours", "largest participation (docs/theory/privacy.md)");
            Bound::exact(Quantity { name: "participation_norm", unit: "1" }, value, source)
        },
    ),
];
