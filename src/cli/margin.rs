//! `dpbounds margin`.

use clap::{Args, ValueEnum};
use dpbounds_bounds::BoundError;
use dpbounds_bounds::kan::{
    Activation, Initialisation, Knots, Linearisation, Margin, MarginOptions, Sample, SplineBasis,
    free_comparator, initialise, ntk_margin,
};
use dpbounds_experiments::data::{Dataset, prepare};

use super::data_options::DataOptions;
use super::grid::{Grid, Point};
use super::numbers::{self, Sweep};
use super::{Failure, OutputOptions};
use crate::output::{Answer, Derived, Input, Side, write_answers_with};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ActivationWord {
    /// Hyperbolic tangent
    Tanh,
    /// Logistic function
    Sigmoid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InitWord {
    /// Both layers standard normal, as in the paper
    Gaussian,
    /// Gaussian pairs of opposite units; the network starts at zero
    Antithetic,
    /// Opposite pairs with straight second-layer splines
    Greville,
}

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
    /// Data: name, family with parameters, or file
    #[arg(long, value_name = "NAME")]
    data: String,
    #[command(flatten)]
    options: DataOptions,
    /// Seed of a synthetic family of data
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = numbers::count)]
    data_seed: u64,
    /// Width m, even for antithetic and greville [count]
    #[arg(long, allow_hyphen_values = true)]
    width: Sweep,
    /// Degree k of the splines, 1 to 12
    #[arg(long, allow_hyphen_values = true)]
    degree: Sweep,
    /// Basis functions p of every spline, k + 1 or more [count]
    #[arg(long, allow_hyphen_values = true)]
    size: Sweep,
    /// Activation between the layers
    #[arg(long, value_enum, default_value_t = ActivationWord::Tanh)]
    activation: ActivationWord,
    /// How the second layer and the initial weights are drawn
    #[arg(long, value_enum, default_value_t = InitWord::Gaussian)]
    init: InitWord,
    /// Seed of the weights [default: 1]
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<Sweep>,
    /// Step size times steps, > 0; adds the comparator
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    horizon: Option<Sweep>,
    #[command(flatten)]
    output: OutputOptions,
}

const SCALED_BY_DATA: &str = "the scaling of the inputs was read off the data; see data prepare";
const CONTRADICTORY: &str = "some input has both labels, so the margin is exactly 0";
const NOT_SHOWN: &str = "no direction is known to separate the classes, so the assumption of the theory is \
                         not shown to hold";

impl MarginCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let data = prepare(&self.options.request(&self.data, self.data_seed))?;
        let sample = sample(&data)?;
        let one = Sweep { values: vec![1.0], from_range: false };
        let grid = Grid::default()
            .counts("width", &self.width)
            .counts("degree", &self.degree)
            .counts("size", &self.size)
            .counts("seed", self.seed.as_ref().unwrap_or(&one));
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
        let count =
            |name| point.count(name).map(|value| usize::try_from(value).unwrap_or(usize::MAX));
        let basis = SplineBasis::new(count("degree")?, count("size")?, Knots::Clamped)?;
        let activation = match self.activation {
            ActivationWord::Tanh => Activation::Tanh,
            ActivationWord::Sigmoid => Activation::Sigmoid,
        };
        let kind = match self.init {
            InitWord::Gaussian => Initialisation::Gaussian,
            InitWord::Antithetic => Initialisation::Antithetic,
            InitWord::Greville => Initialisation::Greville,
        };
        let (width, seed) = (count("width")?, point.count("seed")?);
        let (network, weights) =
            initialise(basis, activation, sample.dimension(), width, kind, seed)?;
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
        #[allow(clippy::cast_precision_loss)] // counts below 2^53
        let number = |value: u64| Input::Number(value as f64);
        let word = |value: Option<clap::builder::PossibleValue>| {
            Input::Word(value.map(|value| value.get_name().to_owned()).unwrap_or_default())
        };
        let mut inputs = vec![
            ("data".to_owned(), Input::Word(data.name.clone())),
            ("n".to_owned(), number(data.records())),
            ("d".to_owned(), number(data.dimension as u64)),
        ];
        inputs.extend(point.inputs());
        inputs.push(("activation".to_owned(), word(self.activation.to_possible_value())));
        inputs.push(("init".to_owned(), word(self.init.to_possible_value())));
        inputs.push(("iterations".to_owned(), number(margin.iterations)));
        inputs
    }
}

fn sample(data: &Dataset) -> Result<Sample, BoundError> {
    let (features, labels) = (data.features.clone(), data.labels.clone());
    let sample = match &data.multiplicities {
        Some(counts) => {
            Sample::with_multiplicities(data.dimension, features, labels, counts.clone())
        }
        None => Sample::new(data.dimension, features, labels),
    };
    Ok(sample?.merged())
}
