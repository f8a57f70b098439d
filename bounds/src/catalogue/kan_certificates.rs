//! Risk certificates by name, from constants that are given.

use super::parameters::*;
use super::{Arguments, Entry, entry};
use crate::error::{BoundError, Result};
use crate::kan::Constants;
use crate::kan::certificates::{
    Anchor, BatchCap, BudgetD, BudgetP, BudgetS, CertificateD, CertificateP, Extent, Landscape,
    Optimisation, PaperForm, TheoremS, TheoremSGd, Training, certificate_d, certificate_p,
    theorem_s, theorem_s_gd,
};
use crate::privacy::Sampler;
use crate::warrant::{Bound, Quantity, Source};

const OURS: &str = "ours, docs/theory/certificates.md";
const PAPER: &str = "arXiv 2605.12648, constants ours";

fn landscape(a: &Arguments<'_>) -> Result<Landscape> {
    let (gradient, curvature) = (a.number("gradient")?, a.number("curvature")?);
    Ok(Landscape::from(Constants { gradient, curvature }))
}

fn comparator(a: &Arguments<'_>) -> Result<Anchor> {
    Ok(Anchor { distance: a.number("distance")?, loss: a.number("loss")? })
}

/// Full batches; how many records they hold does not matter.
fn full_batch(a: &Arguments<'_>) -> Result<Training> {
    Ok(Training::full_batch(a.number("eta")?, a.count("steps")?, 1))
}

fn batches(a: &Arguments<'_>) -> Result<Training> {
    Ok(Training {
        batch: a.count("batch")?,
        records: a.count("n")?,
        sampler: Sampler::Fixed,
        noise: a.number("noise")?,
        ..full_batch(a)?
    })
}

/// The bound; numbers too large for doubles are no bound.
fn bound(result: Result<Optimisation>) -> Result<Bound> {
    match result {
        Ok(optimisation) => Ok(optimisation.bound),
        Err(BoundError::Numerical { what: "certificate", detail }) => {
            let quantity = Quantity { name: "average_training_risk", unit: "nats" };
            Ok(Bound::refused(quantity, Source::new("ours", "certificate"), detail))
        }
        Err(error) => Err(error),
    }
}

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        "kan_theorem_s",
        "training risk by Theorem S, full batches with correlated noise",
        &[
            GRADIENT,
            CURVATURE,
            WIDTH,
            TRAINED,
            INPUTS,
            DISTANCE,
            LOSS,
            ETA,
            STEPS,
            KAN_LAMBDA,
            COORDINATE_NOISE,
            OPEN_DELTA,
        ],
        OURS,
        |a| {
            let parameters = a.count("parameters")?;
            bound(theorem_s(&TheoremS {
                landscape: landscape(a)?,
                extent: Extent {
                    width: a.count("width")?,
                    parameters,
                    noise_dimension: parameters,
                    inputs: a.count("inputs")?,
                },
                comparator: comparator(a)?,
                training: Training {
                    lambda: a.number("lambda")?,
                    noise: a.number("noise")?,
                    ..full_batch(a)?
                },
                batches: BatchCap::EXACT,
                budget: BudgetS::equal(a.number("delta")?),
            }))
        },
    ),
    entry(
        "kan_theorem_s_gd",
        "training risk by Theorem S-GD, full batches without noise",
        &[GRADIENT, CURVATURE, DISTANCE, LOSS, ETA, STEPS],
        OURS,
        |a| {
            bound(theorem_s_gd(&TheoremSGd {
                landscape: landscape(a)?,
                comparator: comparator(a)?,
                training: full_batch(a)?,
            }))
        },
    ),
    entry(
        "kan_certificate_p",
        "training risk by the tight form of Theorem 4.1, fixed-size batches with correlated noise",
        &[
            GRADIENT,
            CURVATURE,
            TRAINED,
            DISTANCE,
            LOSS,
            ETA,
            STEPS,
            KAN_BATCH,
            N,
            KAN_LAMBDA,
            COORDINATE_NOISE,
            OPEN_DELTA,
        ],
        PAPER,
        |a| {
            bound(certificate_p(&CertificateP {
                landscape: landscape(a)?,
                parameters: a.count("parameters")?,
                comparator: comparator(a)?,
                training: Training { lambda: a.number("lambda")?, ..batches(a)? },
                form: PaperForm::Tight,
                budget: BudgetP::equal(a.number("delta")?),
            }))
        },
    ),
    entry(
        "kan_certificate_d",
        "training risk by Theorem 4.3, fixed-size batches with independent noise, projected",
        &[
            GRADIENT,
            CURVATURE,
            TRAINED,
            DISTANCE,
            LOSS,
            ETA,
            STEPS,
            KAN_BATCH,
            N,
            COORDINATE_NOISE,
            RADIUS,
            OPEN_DELTA,
        ],
        PAPER,
        |a| {
            bound(certificate_d(&CertificateD {
                landscape: landscape(a)?,
                parameters: a.count("parameters")?,
                comparator: comparator(a)?,
                training: Training { radius: Some(a.number("radius")?), ..batches(a)? },
                budget: BudgetD::equal(a.number("delta")?),
            }))
        },
    ),
];
