//! The arguments that functions of the catalogue take.

/// What an argument looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A real number.
    Number,
    /// A whole number.
    Count,
    /// A list of real numbers.
    List,
    /// One of a few words.
    Word,
}

impl Kind {
    /// The kind in words.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Count => "whole number",
            Self::List => "list of numbers",
            Self::Word => "word",
        }
    }
}

/// One argument: name, other accepted spellings, kind, unit and range.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Other spellings that are accepted.
    pub aliases: &'static [&'static str],
    /// What it looks like.
    pub kind: Kind,
    /// Unit.
    pub unit: &'static str,
    /// Allowed range.
    pub range: &'static str,
    /// Whether it may be left out.
    pub optional: bool,
}

const fn number(name: &'static str, unit: &'static str, range: &'static str) -> Parameter {
    Parameter { name, aliases: &[], kind: Kind::Number, unit, range, optional: false }
}

const fn count(name: &'static str, unit: &'static str) -> Parameter {
    Parameter { name, aliases: &[], kind: Kind::Count, unit, range: "1 to 2^53", optional: false }
}

const fn list(name: &'static str, range: &'static str) -> Parameter {
    Parameter { name, aliases: &[], kind: Kind::List, unit: "1", range, optional: false }
}

const fn word(name: &'static str, range: &'static str) -> Parameter {
    Parameter { name, aliases: &[], kind: Kind::Word, unit: "-", range, optional: false }
}

impl Parameter {
    const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The same argument, but it may be left out.
    pub(super) const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// Whether `name` means this argument.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

pub(super) const N: Parameter = count("n", "records");
pub(super) const EPSILON: Parameter = number("epsilon", "nats", ">= 0").or(&["eps"]);
pub(super) const POSITIVE_EPSILON: Parameter = number("epsilon", "nats", "> 0").or(&["eps"]);
pub(super) const DELTA: Parameter = number("delta", "probability", "[0, 1]");
pub(super) const OPEN_DELTA: Parameter = number("delta", "probability", "(0, 1)");
/// `beta`, or `log_beta` in its place.
pub(super) const BETA: Parameter =
    number("beta", "probability", "(0, 1); or log_beta < 0").or(&["log_beta"]);
pub(super) const BETA1: Parameter =
    number("beta1", "probability", "(0, 1); or log_beta1 < 0").or(&["log_beta1"]);
pub(super) const ALPHA: Parameter = number("alpha", "1", "> 1").or(&["order"]);
pub(super) const NU: Parameter = number("nu", "1", ">= 0");
pub(super) const POSITIVE_NU: Parameter = number("nu", "1", "> 0");
pub(super) const SIGMA: Parameter = number("sigma", "noise multiplier", "> 0");
pub(super) const TOY_SIGMA: Parameter = number("sigma", "noise multiplier", "[0.001, 1000]");
pub(super) const TOY_N: Parameter = Parameter { range: "1 to 100", ..N };
pub(super) const TARGET: Parameter = number("target", "nats", "> 0");
pub(super) const STEPS: Parameter = count("steps", "steps").or(&["T"]);
pub(super) const BATCH: Parameter = count("batch", "records").or(&["B", "m"]);
pub(super) const MOMENT: Parameter = number("lambda", "moment order", "> 0").or(&["lam"]);
pub(super) const CORRELATION: Parameter =
    number("lambda", "noise correlation", "finite").or(&["lam"]);
pub(super) const UNIT_CORRELATION: Parameter =
    number("lambda", "noise correlation", "[0, 1)").or(&["lam"]);
pub(super) const A: Parameter = number("a", "1", ">= 0");
pub(super) const P: Parameter = number("p", "probability", "(0, 1)");
pub(super) const THRESHOLD: Parameter = number("threshold", "nats", "finite");
pub(super) const ALPHAS: Parameter = list("alphas", "each > 1, no repetition");
pub(super) const EPSILONS: Parameter = list("epsilons", "each >= 0, one for each order");

pub(super) const RISK: Parameter = number("risk", "probability", "[0, 1]");
pub(super) const Q_RISK: Parameter = number("q", "probability", "[0, 1]");
pub(super) const P_RISK: Parameter = number("p", "probability", "[0, 1]");
pub(super) const COMPLEXITY: Parameter = number("complexity", "nats per record", ">= 0");
pub(super) const POSITIVE_COMPLEXITY: Parameter = number("complexity", "nats per record", "> 0");
pub(super) const KL: Parameter = number("kl", "nats", ">= 0");
pub(super) const MAX_INFORMATION: Parameter = number("max_information", "nats", "finite");
pub(super) const LEVEL: Parameter = number("level", "probability", "(0, delta)");
pub(super) const CHOICES: Parameter = count("choices", "priors");
pub(super) const CATONI_C: Parameter = number("c", "1", "> 0");
pub(super) const THIEMANN_LAMBDA: Parameter = number("lambda", "1", "(0, 2)");
pub(super) const ERRORS: Parameter = Parameter {
    name: "errors",
    aliases: &[],
    kind: Kind::Count,
    unit: "draws",
    range: "0 to draws",
    optional: false,
};
pub(super) const DRAWS: Parameter = count("draws", "draws");
pub(super) const DIMENSION: Parameter = count("dimension", "coordinates").or(&["d"]);
pub(super) const SQUARED_DISTANCE: Parameter = number("squared_distance", "1", ">= 0");
pub(super) const POSTERIOR_VARIANCE: Parameter = number("posterior_variance", "1", "> 0");
pub(super) const PRIOR_VARIANCE: Parameter = number("prior_variance", "1", "> 0");
pub(super) const POSTERIOR_MEANS: Parameter = list("posterior_mean", "finite");
pub(super) const PRIOR_MEANS: Parameter = list("prior_mean", "finite");
pub(super) const POSTERIOR_VARIANCES: Parameter =
    list("posterior_variance", "each > 0").or(&["posterior_scale"]);
pub(super) const PRIOR_VARIANCES: Parameter =
    list("prior_variance", "each > 0").or(&["prior_scale"]);
pub(super) const VARIANCE: Parameter = number("variance", "1", "(0, c)");
pub(super) const GRID_C: Parameter = number("c", "1", "> 0");
pub(super) const GRID_B: Parameter = number("b", "points per nat", "> 0");

pub(super) const NOISE_MULTIPLIER: Parameter =
    number("noise_multiplier", "noise / sensitivity", "> 0").or(&["sigma"]);
pub(super) const MU: Parameter = number("mu", "sensitivity / noise", ">= 0");
pub(super) const RUN_NOISE: Parameter =
    number("noise_multiplier", "noise / sensitivity", ">= 0").or(&["sigma"]);
pub(super) const SAMPLING_RATE: Parameter =
    number("sampling_rate", "probability", "[0, 1]").or(&["r", "q", "rate"]);
/// A run of no steps releases nothing.
pub(super) const RUN_STEPS: Parameter = Parameter { range: "0 to 2^53", ..STEPS };
/// Where counts of participations are summed one by one.
pub(super) const LADDER_STEPS: Parameter = Parameter { range: "0 to 1e7", ..STEPS };
pub(super) const TRANSFER_STEPS: Parameter = Parameter { range: "0 to 1e4", ..STEPS };
pub(super) const RENYI_ORDER: Parameter = number("order", "1", "> 1").or(&["alpha"]);
pub(super) const FIXED_SIZE_ORDER: Parameter =
    Parameter { range: "greater than 1, at most 1e6", ..RENYI_ORDER };
pub(super) const REPLICAS: Parameter =
    Parameter { range: "1 to 1000", ..count("alpha", "moment order").or(&["order"]) };
/// Of a pair at sensitivity 1, where κ and the noise multiplier are the same.
pub(super) const PAIR_KAPPA: Parameter =
    number("kappa", "noise / sensitivity", "> 0").or(&["noise_multiplier", "sigma"]);
pub(super) const TRANSFER_KAPPA: Parameter = Parameter { range: ">= 0.2", ..PAIR_KAPPA };
pub(super) const TRANSFER_CORRELATION: Parameter =
    Parameter { range: "[0, 0.95]", ..UNIT_CORRELATION };
/// What a search for the noise may be asked for.
pub(super) const SEARCHED_EPSILON: Parameter = Parameter { range: "[0, 1e4]", ..EPSILON };
pub(super) const OUTPUTS: Parameter = list("x", "finite, one for each step");
pub(super) const PAIR_ORDER: Parameter = word("order", "both (default), forward or reverse");
pub(super) const POSITION_SPACING: Parameter =
    number("spacing", "noise standard deviations", "[0.05, 1]").or(&["h_c_over_kappa"]);
pub(super) const RATIO_SPACING: Parameter = number("h_L", "nats", "> 0");
pub(super) const METHOD: Parameter =
    word("method", "auto (default), closed-form, l1, l1b, l2, l2t, l2td, l3, rdp or pld");
pub(super) const PARTICIPATIONS: Parameter = count("participations", "steps").or(&["k"]);
pub(super) const SAMPLER: Parameter = word("sampler", "poisson, fixed, full or stream");
pub(super) const RELATION: Parameter = word("relation", "add-remove, zero-out or replace-one");

pub(super) const GAMMA: Parameter = number("gamma", "NTK margin", "> 0");
pub(super) const ETA: Parameter = number("eta", "step size", "> 0").or(&["step_size"]);
pub(super) const WIDTH: Parameter = count("width", "units").or(&["m"]);
pub(super) const KAN_BATCH: Parameter = count("batch", "records").or(&["B"]);
pub(super) const KAPPA: Parameter = number("kappa", "clipping norms, on the sum", ">= 0");
pub(super) const KAN_LAMBDA: Parameter =
    number("lambda", "noise correlation", "[0, 1]").or(&["lam"]);
pub(super) const RADIUS: Parameter = number("radius", "norm of W - W_0", "> 0");
pub(super) const GRADIENT: Parameter =
    number("gradient", "largest gradient norm of the output", ">= 0").or(&["G"]);
pub(super) const CURVATURE: Parameter =
    number("curvature", "largest Hessian norm of the output", ">= 0").or(&["nu"]);
pub(super) const TRAINED: Parameter = count("parameters", "trained parameters").or(&["N"]);
pub(super) const INPUTS: Parameter = count("inputs", "distinct inputs").or(&["K"]);
pub(super) const DISTANCE: Parameter = number("distance", "norm of W* - W_0", ">= 0").or(&["tau"]);
pub(super) const LOSS: Parameter = number("loss", "nats, of the comparator", ">= 0");
pub(super) const COORDINATE_NOISE: Parameter =
    number("noise", "clipping norm times kappa over batch", ">= 0");
