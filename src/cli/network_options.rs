//! The options that every question about a network on data shares.

use clap::{Args, ValueEnum};
use dpbounds_bounds::kan::certificates::bytes_needed;
use dpbounds_bounds::kan::{
    Activation, Initialisation, InputDomain, Knots, Network, Sample, SplineBasis, initialise,
};
use dpbounds_experiments::data::{Dataset, Domain, Request, prepare, support};

use super::Failure;
use super::data_options::DataOptions;
use super::grid::{Grid, Point};
use super::numbers::{self, Sweep};
use crate::output::Input;

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

/// Data and the network on them.
#[derive(Debug, Args)]
pub struct NetworkOptions {
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
    /// Most memory that one network and its data may take [GiB]
    #[arg(long, value_name = "GIB", default_value = "8", value_parser = numbers::number)]
    memory: f64,
}

pub const SCALED_BY_DATA: &str =
    "the scaling of the inputs was read off the data; see data prepare";

impl NetworkOptions {
    fn request(&self) -> Request {
        self.options.request(&self.data, self.data_seed)
    }

    /// The data, and the records with equal ones merged.
    pub fn data(&self) -> Result<(Dataset, Sample), Failure> {
        let data = prepare(&self.request())?;
        let sample = data.sample()?;
        Ok((data, sample))
    }

    /// Every record that can occur, if the distribution of the data is known and has finitely many.
    pub fn support(&self) -> Result<Option<Sample>, Failure> {
        let support = support(&self.request())?;
        Ok(support.as_ref().map(Dataset::sample).transpose()?)
    }

    /// The axes of the network.
    pub fn grid(&self) -> Grid {
        let one = Sweep { values: vec![1.0], from_range: false };
        Grid::default()
            .counts("width", &self.width)
            .counts("degree", &self.degree)
            .counts("size", &self.size)
            .counts("seed", self.seed.as_ref().unwrap_or(&one))
    }

    /// The network at a point and its initial weights, for inputs of this many coordinates and rows.
    pub fn network(&self, point: &Point, sample: &Sample) -> Result<(Network, Vec<f64>), Failure> {
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
        let bytes = bytes_needed(width, sample.dimension(), basis.size(), sample.len());
        #[allow(clippy::cast_precision_loss)] // an estimate
        let gibibytes = bytes as f64 / f64::from(1_u32 << 30);
        if !(gibibytes <= self.memory) {
            return Err(Failure::Usage(format!(
                "width = {width} needs about {gibibytes:.2} GiB of memory with {} inputs of {} coordinates and {} \
                 functions: allowed is {} GiB; lower the width, or raise --memory",
                sample.len(),
                sample.dimension(),
                basis.size(),
                self.memory
            )));
        }
        Ok(initialise(basis, activation, sample.dimension(), width, kind, seed)?)
    }

    /// What answers say about the network: before the axes, and after them.
    pub fn inputs(&self, data: &Dataset, point: &Point) -> Vec<(String, Input)> {
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
        inputs
    }
}

/// Where the inputs lie.
pub fn domain(data: &Dataset) -> InputDomain {
    match data.domain {
        Domain::Cube => InputDomain::Cube,
        Domain::Ball => InputDomain::Ball,
    }
}
