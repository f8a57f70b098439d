//! Order-form rates by name.

use super::parameters::*;
use super::{Arguments, Entry, entry};
use crate::error::Result;
use crate::kan::rates::{self, Run, Scenario};
use crate::warrant::Bound;

const PAPER: &str = "arXiv 2605.12648";
const WANG: &str = "Wang et al. 2026";

const RUN: &[Parameter] =
    &[GAMMA, ETA, STEPS, KAN_BATCH, WIDTH, DIMENSION, KAPPA, KAN_LAMBDA, N, OPEN_DELTA];
const SCENARIO: &[Parameter] = &[N, GAMMA, DIMENSION, POSITIVE_EPSILON];

fn run(f: fn(&Run) -> Result<Bound>, a: &Arguments<'_>) -> Result<Bound> {
    f(&parse(a)?)
}

fn parse(a: &Arguments<'_>) -> Result<Run> {
    Ok(Run {
        gamma: a.number("gamma")?,
        step_size: a.number("eta")?,
        steps: a.count("steps")?,
        batch: a.count("batch")?,
        width: a.count("width")?,
        dimension: a.count("dimension")?,
        kappa: a.number("kappa")?,
        lambda: a.number("lambda")?,
        n: a.count("n")?,
        delta: a.number("delta")?,
    })
}

fn scenario(f: fn(&Scenario) -> Result<Bound>, a: &Arguments<'_>) -> Result<Bound> {
    f(&Scenario {
        n: a.count("n")?,
        gamma: a.number("gamma")?,
        dimension: a.count("dimension")?,
        epsilon: a.number("epsilon")?,
    })
}

pub(super) const ENTRIES: &[Entry] = &[
    entry("kan_rate_a_corr", "A_corr (rate)", RUN, PAPER, |a| run(rates::a_corr, a)),
    entry("kan_rate_a_van", "A_van (rate)", RUN, PAPER, |a| run(rates::a_van, a)),
    entry("kan_rate_a_non", "A_non (rate)", RUN, PAPER, |a| run(rates::a_non, a)),
    entry("kan_step_size_condition", "step-size condition (rate)", RUN, PAPER, |a| {
        run(rates::step_size_condition, a)
    }),
    entry("kan_width_window", "width window (rate)", RUN, PAPER, |a| run(rates::width_window, a)),
    entry(
        "kan_population_width",
        "extra width of Theorem 5.2 (rate)",
        &[GAMMA, ETA, STEPS, KAN_BATCH, WIDTH, DIMENSION, KAPPA, KAN_LAMBDA, N, OPEN_DELTA, RADIUS],
        PAPER,
        |a| rates::population_width(&parse(a)?, a.number("radius")?),
    ),
    entry("kan_rate_corollary_5_3", "Corollary 5.3 (rate)", SCENARIO, PAPER, |a| {
        scenario(rates::corollary_5_3, a)
    }),
    entry("kan_rate_corollary_5_5", "Corollary 5.5 (rate)", SCENARIO, PAPER, |a| {
        scenario(rates::corollary_5_5, a)
    }),
    entry("kan_rate_corollary_5_6", "Corollary 5.6 (rate)", SCENARIO, PAPER, |a| {
        scenario(rates::corollary_5_6, a)
    }),
    entry("kan_rate_full_batch_gd", "full-batch GD (rate)", SCENARIO, PAPER, |a| {
        scenario(rates::full_batch_gd, a)
    }),
    entry("kan_rate_full_batch_dp_gd", "full-batch DP-GD (rate)", SCENARIO, PAPER, |a| {
        scenario(rates::full_batch_dp_gd, a)
    }),
    entry("kan_rate_wang_gd", "earlier full-batch GD (rate)", SCENARIO, WANG, |a| {
        scenario(rates::wang_gd, a)
    }),
    entry("kan_rate_wang_dp_gd", "earlier full-batch DP-GD (rate)", SCENARIO, WANG, |a| {
        scenario(rates::wang_dp_gd, a)
    }),
];
