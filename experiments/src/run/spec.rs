//! What an experiment is: a TOML file.

use std::collections::BTreeMap;
use std::fmt;

use dpbounds_bounds::kan::{Activation, Initialisation};
use serde::{Deserialize, Serialize};

use super::certificate::CertificateSpec;
use crate::data::Request;
use crate::train::Sampler;

/// An experiment.
///
/// # Examples
/// ```
/// use dpbounds_experiments::run::Spec;
/// let spec = Spec::parse("tiny.toml", r#"
///     name = "tiny"
///     seeds = 2
///     [data]
///     name = "atoms:A4"
///     [model]
///     degree = 1
///     size = 2
///     width = 8
///     [algorithm]
///     sampler = "full"
///     steps = 10
///     step_size = 0.5
///     [sweep]
///     steps = [10, 20]
/// "#)?;
/// assert_eq!(spec.points().len(), 2);
/// # Ok::<(), dpbounds_experiments::run::RunError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Name for reports.
    pub name: String,
    /// What is asked, in a sentence.
    #[serde(default)]
    pub summary: String,
    /// How many seeds, 0, 1, ..., or which.
    pub seeds: Seeds,
    /// Whether every seed draws its own sample (the seed is added to that of the data).
    #[serde(default)]
    pub fresh_data: bool,
    /// Whether every seed has initial weights of its own (the seed is added to that of the model).
    #[serde(default)]
    pub fresh_init: bool,
    /// Which data; see `dpbounds data prepare`.
    pub data: Request,
    /// The network.
    pub model: Model,
    /// Algorithm 1.
    pub algorithm: Algorithm,
    /// Noise from a privacy target instead of `algorithm.kappa`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Privacy>,
    /// Values of every swept parameter; the points are all combinations.
    #[serde(default)]
    pub sweep: BTreeMap<Axis, Vec<f64>>,
    /// Parameters that are swept together: every row is combined with the points of `sweep`.
    #[serde(default)]
    pub joint: Vec<BTreeMap<Axis, f64>>,
    /// What is measured.
    #[serde(default)]
    pub measure: Measure,
    /// What is proven about every run before it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateSpec>,
    /// Slopes that are fitted, with what the theory predicts.
    #[serde(default)]
    pub slope: Vec<SlopeSpec>,
    /// What `--quick` replaces.
    #[serde(default, skip_serializing)]
    pub quick: Option<Quick>,
}

/// Seeds: how many, or which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "seeds are a number such as 5, or a list such as [3, 4, 9]")]
pub enum Seeds {
    /// 0, 1, ...
    Count(u32),
    /// These.
    List(Vec<u64>),
}

impl Seeds {
    /// The seeds in increasing order.
    #[must_use]
    pub fn all(&self) -> Vec<u64> {
        match self {
            Self::Count(count) => (0..u64::from(*count)).collect(),
            Self::List(list) => {
                let mut list = list.clone();
                list.sort_unstable();
                list
            }
        }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "seeds 0 to {}", count.saturating_sub(1)),
            Self::List(list) => write!(f, "seeds {list:?}"),
        }
    }
}

/// Precision of the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dtype {
    /// Single precision.
    F32,
    /// Double precision.
    #[default]
    F64,
}

/// The activation by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActivationName {
    /// Hyperbolic tangent.
    #[default]
    Tanh,
    /// Logistic function.
    Sigmoid,
}

impl From<ActivationName> for Activation {
    fn from(name: ActivationName) -> Self {
        match name {
            ActivationName::Tanh => Self::Tanh,
            ActivationName::Sigmoid => Self::Sigmoid,
        }
    }
}

/// The initialisation by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialisationName {
    /// As in the paper.
    Gaussian,
    /// Opposite pairs of units.
    #[default]
    Antithetic,
    /// Opposite pairs with straight second-layer splines.
    Greville,
}

impl From<InitialisationName> for Initialisation {
    fn from(name: InitialisationName) -> Self {
        match name {
            InitialisationName::Gaussian => Self::Gaussian,
            InitialisationName::Antithetic => Self::Antithetic,
            InitialisationName::Greville => Self::Greville,
        }
    }
}

/// The network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Degree k of the splines, 1 to 7.
    pub degree: usize,
    /// Basis functions p of every spline, `k + 1` or more.
    pub size: usize,
    /// Width m.
    pub width: usize,
    /// Activation between the layers.
    #[serde(default)]
    pub activation: ActivationName,
    /// How the second layer and the initial weights are drawn.
    #[serde(default)]
    pub init: InitialisationName,
    /// Seed of the weights.
    #[serde(default = "one")]
    pub seed: u64,
    /// Precision of the training.
    #[serde(default)]
    pub dtype: Dtype,
}

fn one() -> u64 {
    1
}

/// Algorithm 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Algorithm {
    /// How batches are drawn.
    pub sampler: Sampler,
    /// Batch size B; all records if it is left out.
    pub batch: Option<usize>,
    /// The horizon T: `T − 1` updates.
    pub steps: u64,
    /// Step size η.
    pub step_size: f64,
    /// Clipping norm.
    pub clip: Option<f64>,
    /// Noise multiplier κ on the sum of clipped gradients.
    #[serde(default)]
    pub kappa: f64,
    /// Noise correlation λ in [0, 1].
    #[serde(default)]
    pub lambda: f64,
    /// Radius of the projection.
    pub radius: Option<f64>,
}

/// A privacy target from which κ follows, proven to suffice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Privacy {
    /// ε in nats.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// `add-remove`, `zero-out` or `replace-one`.
    pub relation: String,
    /// The statement that calibrates, as in `dpbounds calibrate --method`.
    #[serde(default = "auto")]
    pub method: String,
}

fn auto() -> String {
    "auto".to_owned()
}

/// A parameter that can be swept, or the abscissa of a slope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Records of a synthetic set.
    N,
    /// Features d of a synthetic family.
    Dimension,
    /// Parameter `gamma` of the families `margin` and `atoms`.
    Gamma,
    /// Parameter `separation` of the family `clusters`.
    Separation,
    /// Width m.
    Width,
    /// Batch size B.
    Batch,
    /// Horizon T.
    Steps,
    /// Step size η.
    StepSize,
    /// Noise multiplier κ.
    Kappa,
    /// Noise correlation λ.
    Lambda,
    /// Privacy ε; needs the table `privacy`.
    Epsilon,
    /// `1 − λ`, as the abscissa of a slope only.
    OneMinusLambda,
    /// The margin that was measured for every `gamma`, as the abscissa of a slope only.
    NtkMargin,
}

impl Axis {
    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::N => "n",
            Self::Dimension => "dimension",
            Self::Gamma => "gamma",
            Self::Separation => "separation",
            Self::Width => "width",
            Self::Batch => "batch",
            Self::Steps => "steps",
            Self::StepSize => "step_size",
            Self::Kappa => "kappa",
            Self::Lambda => "lambda",
            Self::Epsilon => "epsilon",
            Self::OneMinusLambda => "one_minus_lambda",
            Self::NtkMargin => "ntk_margin",
        }
    }

    /// The parameter that is swept for this abscissa.
    #[must_use]
    pub fn swept(self) -> Self {
        match self {
            Self::OneMinusLambda => Self::Lambda,
            Self::NtkMargin => Self::Gamma,
            _ => self,
        }
    }

    pub(super) fn is_count(self) -> bool {
        matches!(self, Self::N | Self::Dimension | Self::Width | Self::Batch | Self::Steps)
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// The risk is computed exactly at every k-th step; 0: estimated from the mini-batch losses.
    pub every: u64,
    /// With `every = 0`: steps between two anchors, at which every loss is computed for the control variate;
    /// n/B if it is left out, 0 for plain mini-batch losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<u64>,
    /// Whether the population risk is averaged too (at the same steps).
    pub population: bool,
    /// Records of the held-out sample where the distribution has no atoms; rows that are split off
    /// for a real set; 0 for none.
    pub held_out: usize,
    /// Whether every run is repeated without noise, same seed, for the noise excess.
    pub excess: bool,
    /// Whether the excess is the mean over the noise and its negative, which has the same expectation and no
    /// terms that are odd in the noise.
    pub mirror: bool,
    /// Whether the sum of the noise is measured.
    pub noise: bool,
    /// Whether the margin of the gradient features at the initial weights is found, in every run.
    pub margin: bool,
    /// The course of every run is recorded at every k-th step; 0: it is not.
    #[serde(skip_serializing_if = "is_zero")]
    pub curve: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            every: 1,
            anchor: None,
            population: false,
            held_out: 0,
            excess: false,
            mirror: false,
            noise: false,
            margin: false,
            curve: 0,
        }
    }
}

/// The ordinate of a slope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// Empirical risk averaged over the steps.
    AveragedRisk,
    /// Empirical risk at the end.
    FinalRisk,
    /// Population risk averaged over the steps.
    PopulationRisk,
    /// Averaged population risk less averaged empirical risk.
    GeneralisationGap,
    /// Averaged empirical risk less that of the same run without noise.
    NoiseExcess,
    /// Norm of the sum of the noise that was added to the mean gradients.
    CumulativeNoise,
    /// Accuracy at the end on the population or held-out sample, else on the training sample.
    Accuracy,
    /// `‖W_{T−1} − W_0‖`.
    Distance,
}

impl Response {
    /// Whether it is a risk, so that the least one is the best.
    pub(super) fn is_risk(self) -> bool {
        matches!(self, Self::AveragedRisk | Self::FinalRisk | Self::PopulationRisk)
    }

    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AveragedRisk => "averaged-risk",
            Self::FinalRisk => "final-risk",
            Self::PopulationRisk => "population-risk",
            Self::GeneralisationGap => "generalisation-gap",
            Self::NoiseExcess => "noise-excess",
            Self::CumulativeNoise => "cumulative-noise",
            Self::Accuracy => "accuracy",
            Self::Distance => "distance",
        }
    }
}

/// On which side the theory bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundName {
    /// From above: the ordinate grows no faster than predicted.
    Upper,
}

/// What a prediction is an exponent of, if not of the abscissa.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViaName {
    /// The κ that was calibrated for the abscissa.
    Kappa,
}

/// A slope and its prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlopeSpec {
    /// The abscissa.
    pub axis: Axis,
    /// The ordinate.
    pub response: Response,
    /// Values of other axes at which this slope is fitted; every value of the others.
    #[serde(default)]
    pub at: BTreeMap<Axis, f64>,
    /// A swept parameter (the horizon, say) over which the ordinate, a risk, is made as small as possible for every
    /// abscissa.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimise: Option<Axis>,
    /// The exponent that the theory predicts; none if it predicts no power.
    pub predicted: Option<f64>,
    /// The slopes that agree with the prediction, with logarithms and finite ranges allowed for.
    pub allowed: Option<[f64; 2]>,
    /// `upper` instead of `allowed` if the theory only bounds the ordinate from above by a power with this exponent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundName>,
    /// `kappa` if `predicted` and `allowed` are exponents of the calibrated κ; its own slope against the abscissa
    /// turns them into slopes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<ViaName>,
    /// Where the prediction and the allowance come from.
    #[serde(default)]
    pub why: String,
}

/// What `--quick` replaces.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quick {
    /// Seeds.
    pub seeds: Option<Seeds>,
    /// Horizon.
    pub steps: Option<u64>,
    /// Width.
    pub width: Option<usize>,
    /// Values of swept parameters.
    pub sweep: BTreeMap<Axis, Vec<f64>>,
    /// Rows of parameters that are swept together.
    pub joint: Option<Vec<BTreeMap<Axis, f64>>>,
}
