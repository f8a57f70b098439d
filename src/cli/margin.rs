//! `dpbounds margin`.

use clap::Args;
use dpbounds_bounds::kan::{
    Linearisation, Margin, MarginOptions, Sample, free_comparator, ntk_margin,
};
use dpbounds_experiments::data::Dataset;

use super::grid::Point;
use super::network_options::{NetworkOptions, SCALED_BY_DATA};
use super::numbers::Sweep;
use super::{Failure, OutputOptions};
use crate::output::{Answer, Derived, Input, Side, write_answers_with};

/// Find the NTK margin of data at the initial weights of a network, in a proven bracket.
#[derive(Debug, Args)]
#[command(after_help = "\
The network has two layers of B-splines on clamped uniform knots; weights are drawn from a portable
stream. The margin gamma is the largest one that gradient features at the initial weights allow; a
lower side of 0 means that no direction is known to separate the classes.

With --horizon S, step size times steps, each row has a comparator that is chosen for it: tau, its
distance from the initial weights, and L*, its loss on the data [nats], both proven from above.

All of these are functions of the data: do not publish them as if they were private.

NAME and the options of the data are as for `dpbounds data prepare`.

Examples:
  dpbounds margin --data atoms:A4 --width 2000 --degree 1 --size 2 --init greville --horizon 333
  dpbounds margin --data iris --width 256,512 --degree 3 --size 6 --init antithetic --seed 1:3:3
  dpbounds margin --data iris --scale ball --width 64 --degree 3 --size 6")]
pub struct MarginCommand {
    #[command(flatten)]
    network: NetworkOptions,
    /// Step size times steps, > 0; adds the comparator
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    horizon: Option<Sweep>,
    #[command(flatten)]
    output: OutputOptions,
}

const CONTRADICTORY: &str = "some input has both labels, so the margin is exactly 0";
const NOT_SHOWN: &str = "no direction is known to separate the classes, so the assumption of the theory is \
                         not shown to hold";

impl MarginCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let (data, sample) = self.network.data()?;
        let grid = self.network.grid();
        let answers = grid.each(|point| self.answers(point, &data, &sample))?;
        let answers: Vec<Answer> = answers.into_iter().flatten().collect();
        let mut remarks = Vec::new();
        if data.scaled_by_data {
            remarks.push(SCALED_BY_DATA.to_owned());
        }
        if sample.is_contradictory() {
            remarks.push(CONTRADICTORY.to_owned());
        } else if answers.iter().any(|answer| answer.bound.lower == Some(0.0)) {
            remarks.push(NOT_SHOWN.to_owned());
        }
        write_answers_with(&answers, &remarks, &self.output)
    }

    /// The margin of one network, once for every horizon.
    fn answers(
        &self,
        point: &Point,
        data: &Dataset,
        sample: &Sample,
    ) -> Result<Vec<Answer>, Failure> {
        let (network, weights) = self.network.network(point, sample)?;
        let linearisation = Linearisation::at(&network, &weights, sample)?;
        let margin = ntk_margin(&linearisation, MarginOptions::default())?;
        let inputs = self.inputs(point, data, &margin);
        let Some(horizons) = &self.horizon else {
            return Ok(vec![Answer::new(inputs, margin.bound()?)]);
        };
        let mut start: Option<Vec<f64>> = None;
        let mut answers = Vec::new();
        for &horizon in &horizons.values {
            let comparator = free_comparator(&linearisation, horizon, start.as_deref())?;
            let derived = |name, value| Derived { name, value: Some(value), side: Side::Upper };
            let mut answer = Answer::new(inputs.clone(), margin.bound()?);
            answer.inputs.push(("horizon".into(), Input::Number(horizon)));
            answer.derived =
                vec![derived("tau", comparator.distance), derived("L*", comparator.mean_loss)];
            answers.push(answer);
            start = Some(comparator.coefficients);
        }
        Ok(answers)
    }

    fn inputs(&self, point: &Point, data: &Dataset, margin: &Margin) -> Vec<(String, Input)> {
        let mut inputs = self.network.inputs(data, point);
        #[allow(clippy::cast_precision_loss)] // counts below 2^53
        inputs.push(("iterations".to_owned(), Input::Number(margin.iterations as f64)));
        inputs
    }
}
