//! The settings of a certificate, and those that are taken when none are given.

use std::fmt;
use std::str::FromStr;

use dpbounds_bounds::privacy::Sampler;
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::certificate::max_information;
use super::error::{CertifyError, Result, out_of_range};
use super::posterior::PosteriorTraining;
use super::private_prior::PrivatePrior;

/// Where the mean of the prior comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The initial weights: nothing of the data.
    DataIndependent,
    /// DP-SGD that uses every record once, with independent noise.
    Streaming,
    /// DP-SGD with Poisson batches over several epochs.
    Poisson,
    /// DP-SGD that uses every record once, with noise that is correlated over time.
    Correlated,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::DataIndependent, Self::Streaming, Self::Poisson, Self::Correlated];

    /// The name in options and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DataIndependent => "data-independent",
            Self::Streaming => "streaming",
            Self::Poisson => "poisson",
            Self::Correlated => "correlated",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = CertifyError;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            out_of_range("method", text, "data-independent, streaming, poisson or correlated")
        })
    }
}

/// The network of a certificate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "network", rename_all = "kebab-case")]
pub enum Model {
    /// A two-layer KAN, for two classes.
    Kan(Kan),
    /// Dense layers with ReLU, for any number of classes.
    Dense(Dense),
}

/// Dense layers with ReLU between them; initial weights are normal with variance two over the inputs of the layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dense {
    /// Units of the hidden layers.
    pub hidden: Vec<usize>,
}

/// A two-layer KAN with `tanh` whose second layer is `±v` (Greville), so that the initial network is zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kan {
    /// Degree k of the splines, 1 to 7.
    pub degree: usize,
    /// Splines p of an input, at least k + 1.
    pub splines: usize,
    /// Units m, an even number.
    pub width: usize,
}

/// What a certificate is made with. Nothing in it may depend on the sample, but for what is paid for: several
/// priors, of which the one with the fewest training errors is taken, and several spreads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where the mean of the prior comes from.
    pub method: Method,
    /// The network.
    pub model: Model,
    /// How the mean is learned: one way, or several of which all are released; none if data-independent.
    pub priors: Vec<PrivatePrior>,
    /// Standard deviations s of a weight under prior and posterior, of which one is chosen.
    pub spreads: Vec<f64>,
    /// How the mean of the posterior is trained.
    pub posterior: PosteriorTraining,
    /// Draws of a network for every record in the estimate of the empirical risk.
    pub draws: u32,
    /// The failure probabilities.
    pub budget: Budget,
}

/// Spreads in units of the noise that the private prior has in a weight.
const RELATIVE_SPREADS: [f64; 8] = [0.06, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0];
/// Spreads around initial weights, which have standard deviation 1.
const SPREADS: [f64; 8] = [0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6];
/// Updates of a private prior; the noise of every one is kept track of.
pub const MOST_UPDATES: u64 = 1_000_000;
/// Records of a batch of the usual stream.
const STREAM_BATCH: usize = 700;
/// Draws are so many that their confidence limit costs less than a thousandth.
const ENOUGH_DRAWS: usize = 240_000;

impl Settings {
    /// What is taken for `records` records if nothing else is said.
    ///
    /// # Errors
    /// [`CertifyError`] for a `delta` outside (0, 1).
    pub fn new(method: Method, model: Model, records: usize, delta: f64) -> Result<Self> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(out_of_range("delta", delta, "above 0 and below 1"));
        }
        let budget = match method {
            Method::DataIndependent => Budget::data_independent(delta),
            _ => Budget::private(delta),
        };
        let level = budget.max_information;
        let nats = usual_max_information(&model, records);
        let priors = PrivatePrior::usual(method, &model, records, nats, level)?;
        #[allow(clippy::cast_possible_truncation)] // at most ENOUGH_DRAWS
        let draws = ENOUGH_DRAWS.div_ceil(records.max(1)).clamp(4, 200) as u32;
        let mut settings = Self {
            method,
            posterior: PosteriorTraining::of(method, &model, records),
            model,
            priors: priors.into_iter().collect(),
            spreads: Vec::new(),
            draws,
            budget,
        };
        settings.spreads = settings.usual_spreads();
        Ok(settings)
    }

    /// The usual grid of spreads: in units of the noise of the private prior, if there is one.
    #[must_use]
    pub fn usual_spreads(&self) -> Vec<f64> {
        if let Model::Dense(_) = self.model {
            // A posterior of a dense network has spreads of its own, and its training is long.
            let spreads =
                if self.priors.is_empty() { [0.02, 0.03, 0.04] } else { [0.003, 0.005, 0.01] };
            return spreads.to_vec();
        }
        let noise =
            self.priors.iter().map(PrivatePrior::weight_noise).fold(f64::INFINITY, f64::min);
        if noise.is_finite() && noise > 0.0 {
            RELATIVE_SPREADS.map(|relative| relative * noise).to_vec()
        } else {
            SPREADS.to_vec()
        }
    }

    /// Checks the settings against the number of records.
    ///
    /// # Errors
    /// [`CertifyError`] naming the setting, its value and what is allowed.
    pub fn check(&self, records: usize) -> Result<()> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        self.model.check(self.method, &self.priors)?;
        if self.draws == 0 {
            return Err(out_of_range("draws", 0, "at least 1 for each record"));
        }
        if self.spreads.is_empty() {
            return Err(out_of_range("spreads", "none", "at least one"));
        }
        if let Some(spread) = self.spreads.iter().find(|spread| !positive(**spread)) {
            return Err(out_of_range("spread", spread, "finite numbers > 0"));
        }
        self.posterior.check(records)?;
        self.budget.check(self.method != Method::DataIndependent)?;
        match (self.method, self.priors.len()) {
            (Method::DataIndependent, 0) => {}
            (Method::DataIndependent, _) => {
                let allowed = "none with the method data-independent";
                return Err(out_of_range("options of the private prior", "given", allowed));
            }
            (_, 0) => return Err(out_of_range("priors", "none", "at least one")),
            (Method::Streaming | Method::Correlated, several @ 2..) => {
                return Err(CertifyError::StreamedTwice { runs: several });
            }
            _ => {}
        }
        self.priors.iter().try_for_each(|prior| prior.check(self.method, records))
    }
}

fn stream_updates(records: usize) -> usize {
    (records / STREAM_BATCH).max(1)
}

impl Model {
    fn check(&self, method: Method, priors: &[PrivatePrior]) -> Result<()> {
        match self {
            Self::Kan(Kan { degree, splines, width }) => {
                if *width == 0 || !width.is_multiple_of(2) {
                    return Err(out_of_range("width", width, "an even number of at least 2"));
                }
                if !(1..=7).contains(degree) {
                    return Err(out_of_range("degree", degree, "1 to 7"));
                }
                if splines <= degree {
                    return Err(out_of_range("splines", splines, "at least the degree + 1"));
                }
            }
            Self::Dense(Dense { hidden }) => {
                if let Some(units) = hidden.iter().find(|units| !(1..=1 << 16).contains(*units)) {
                    return Err(out_of_range("hidden units", units, "1 to 65536 a layer"));
                }
                if method == Method::Correlated {
                    let allowed = "data-independent, streaming or poisson for a dense network";
                    return Err(out_of_range("method", method, allowed));
                }
                if priors.iter().any(|prior| prior.inverse_temperature != 1.0) {
                    let allowed = "1 for a dense network";
                    return Err(out_of_range("inverse temperature", "another", allowed));
                }
            }
        }
        Ok(())
    }
}

/// Max-information that the usual private prior may have [nats].
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn usual_max_information(model: &Model, records: usize) -> f64 {
    match model {
        Model::Kan(_) => 16.0,
        // A dense network has more to learn; this costs .0025 nats a record.
        Model::Dense(_) => (records as f64 / 400.0).max(4.0),
    }
}

impl PrivatePrior {
    /// The usual private prior for so many records, with the noise that keeps its max-information at level `level`
    /// below `nats`; none if the method has none.
    ///
    /// It depends on the number of records and on nothing else of them. The numbers in it were chosen on 5,000 digits
    /// of MNIST, which are in none of the data sets inside the program.
    ///
    /// # Errors
    /// [`CertifyError`] if no noise does.
    pub fn usual(
        method: Method,
        model: &Model,
        records: usize,
        nats: f64,
        level: f64,
    ) -> Result<Option<Self>> {
        Self::of(method, model, records)
            .map(|prior| prior.with_max_information(records, nats, level))
            .transpose()
    }

    /// The same with the least noise that keeps the max-information at level `level` below `nats`.
    ///
    /// # Errors
    /// [`CertifyError`] if no noise does.
    pub fn with_max_information(self, records: usize, nats: f64, level: f64) -> Result<Self> {
        if !(nats > 0.0 && nats.is_finite()) {
            return Err(out_of_range("max-information [nats]", nats, "finite numbers > 0"));
        }
        self.check_sizes(records)?;
        let with = |log_noise: f64| Self { noise_multiplier: log_noise.exp(), ..self };
        let (mut low, mut high) = (-5.0, 25.0);
        let is_enough = |log_noise: f64| -> Result<bool> {
            let bound = max_information(&[with(log_noise)], records as u64, level)?;
            Ok(bound.upper.is_some_and(|upper| upper <= nats))
        };
        if !is_enough(high)? {
            let allowed = "more: even without a signal the bound is not below";
            return Err(out_of_range("max-information [nats]", nats, allowed));
        }
        while high - low > 1e-3 {
            let middle = 0.5 * (low + high);
            if is_enough(middle)? { high = middle } else { low = middle }
        }
        Ok(with(high))
    }

    /// The usual private prior for so many records, without its noise; none if the method has none.
    fn of(method: Method, model: &Model, records: usize) -> Option<Self> {
        if let Model::Dense(_) = model {
            return Self::of_dense(method, records);
        }
        let (sampler, updates, lambda) = match method {
            Method::DataIndependent => return None,
            Method::Poisson => (Sampler::Poisson, 60, 0.0),
            Method::Streaming => (Sampler::Stream, stream_updates(records), 0.0),
            Method::Correlated => (Sampler::Stream, stream_updates(records).max(2), 0.5),
        };
        let batch = match sampler {
            Sampler::Poisson => records.div_ceil(10),
            _ => records / updates.max(1),
        };
        let mut prior = Self {
            sampler,
            batch: batch.max(1),
            updates: updates as u64,
            noise_multiplier: f64::NAN,
            lambda,
            clip: 0.1,
            inverse_temperature: 8.0,
            step_size: 1.0,
            momentum: 0.9,
            averaged: 0.3,
        };
        prior.step_size = prior.usual_step_size();
        Some(prior)
    }

    /// The step size was chosen on 5,000 digits of MNIST, with noise that leaves as much signal as there is in 60,000
    /// records.
    fn of_dense(method: Method, records: usize) -> Option<Self> {
        let (sampler, updates, batch) = match method {
            Method::DataIndependent => return None,
            Method::Poisson => (Sampler::Poisson, 200, records * 3 / 100),
            _ => (Sampler::Stream, 100, records / 100),
        };
        Some(Self {
            sampler,
            batch: batch.max(1),
            updates: updates.min(records as u64),
            noise_multiplier: f64::NAN,
            lambda: 0.0,
            clip: 1.0,
            inverse_temperature: 1.0,
            step_size: 0.03,
            momentum: 0.9,
            averaged: 0.3,
        })
    }

    /// The step size with which a weight moves by the usual way if all clipped gradients agree. For at most
    /// [`MOST_UPDATES`] updates; infinite without updates or with a clipping norm of 0, which no run accepts.
    #[must_use]
    pub fn usual_step_size(&self) -> f64 {
        let way = match (self.sampler, self.lambda > 0.0) {
            (Sampler::Stream, false) => 40.0,
            // Correlated noise cancels on a long way.
            (Sampler::Stream, true) => 80.0,
            _ => 90.0,
        };
        way / (self.clip * self.response())
    }

    fn check(&self, method: Method, records: usize) -> Result<()> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let wanted = match method {
            Method::Streaming | Method::Correlated => Sampler::Stream,
            Method::Poisson | Method::DataIndependent => Sampler::Poisson,
        };
        if self.sampler != wanted {
            return Err(out_of_range("sampler", self.sampler, "the one of the method"));
        }
        self.check_sizes(records)?;
        for (name, value) in [
            ("noise multiplier", self.noise_multiplier),
            ("clip", self.clip),
            ("inverse temperature", self.inverse_temperature),
            ("step size", self.step_size),
        ] {
            if !positive(value) {
                return Err(out_of_range(name, value, "finite numbers > 0"));
            }
        }
        if !(0.0..1.0).contains(&self.momentum) {
            return Err(out_of_range("momentum", self.momentum, "[0, 1)"));
        }
        if !(0.0..=1.0).contains(&self.averaged) {
            return Err(out_of_range("average", self.averaged, "[0, 1]"));
        }
        let largest = if method == Method::Correlated { 0.9999 } else { 0.0 };
        if !(0.0..=largest).contains(&self.lambda) {
            let allowed = "[0, 0.9999] with the method correlated, else 0";
            return Err(out_of_range("lambda", self.lambda, allowed));
        }
        Ok(())
    }

    /// Whether the updates and batches fit the records.
    fn check_sizes(&self, records: usize) -> Result<()> {
        if !(1..=MOST_UPDATES).contains(&self.updates) {
            return Err(out_of_range("steps", self.updates, format!("1 to {MOST_UPDATES}")));
        }
        if self.batch == 0 || self.batch > records {
            return Err(out_of_range("batch", self.batch, format!("1 to {records}, the records")));
        }
        let used = self.updates.saturating_mul(self.batch as u64);
        if self.sampler == Sampler::Stream && used > records as u64 {
            let (updates, batch) = (self.updates, self.batch);
            return Err(CertifyError::StreamTooLong { updates, batch, records });
        }
        Ok(())
    }
}

impl PosteriorTraining {
    /// The usual training for so many records.
    #[must_use]
    pub fn of(method: Method, model: &Model, records: usize) -> Self {
        if let Model::Dense(_) = model {
            let batch = records.clamp(1, 500);
            let passes = if method == Method::DataIndependent { 8 } else { 4 };
            return Self {
                steps: passes * records.div_ceil(batch) as u64,
                batch,
                rate: 200.0,
                momentum: 0.9,
            };
        }
        let steps = if method == Method::DataIndependent { 300 } else { 200 };
        Self { steps, batch: records.min(2000), rate: 10.0, momentum: 0.9 }
    }

    fn check(&self, records: usize) -> Result<()> {
        if self.batch == 0 || self.batch > records {
            let allowed = format!("1 to {records}, the records");
            return Err(out_of_range("posterior batch", self.batch, allowed));
        }
        if !(self.rate > 0.0 && self.rate.is_finite()) {
            return Err(out_of_range("posterior rate", self.rate, "finite numbers > 0"));
        }
        if !(0.0..1.0).contains(&self.momentum) {
            return Err(out_of_range("posterior momentum", self.momentum, "[0, 1)"));
        }
        Ok(())
    }
}
