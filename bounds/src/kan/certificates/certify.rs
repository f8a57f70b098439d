//! The best certificate of a network on a sample.

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::outlook::{Outlook, outlook};
use super::search::{Chosen, search};
use super::setting::Setting;
use super::{Extent, Landscape, Optimisation, Training, short_above};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::kan::{InputDomain, Linearisation, RealisedConstants, feature_norm2};
use crate::privacy::Sampler;
use crate::warrant::{Bound, Text};

/// Which statement certifies the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// [`super::theorem_s`].
    S,
    /// [`super::theorem_s_gd`].
    SGd,
    /// [`super::certificate_p`] in the tight form.
    P,
    /// [`super::certificate_d`].
    D,
}

impl Route {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::SGd, Self::S, Self::P, Self::D];

    /// Its name: `S`, `S-GD`, `P` or `D`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::SGd => "S-GD",
            Self::P => "P",
            Self::D => "D",
        }
    }
}

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// The training risk, averaged over the steps, in every run or with high probability.
    Probability,
    /// Its expectation over batches and noise.
    Expectation,
    /// The population risk, averaged over the steps, in expectation over samples, batches and noise. Needs the support
    /// of the distribution.
    Population,
}

impl Claim {
    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Probability => "probability",
            Self::Expectation => "expectation",
            Self::Population => "population",
        }
    }
}

/// The noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// None.
    None,
    /// κ, in clipping norms on the sum of the clipped gradients; 0 to 1e30.
    Multiplier(f64),
    /// `c = C_clip κ/B`; 0 to 1e30.
    Coordinate(f64),
}

/// The clipping norm `C_clip`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clipping {
    /// Nothing is clipped.
    None,
    /// G over the public domain of the inputs: the smallest public norm at which clipping never acts.
    Public,
    /// This: 1e-30 to 1e30.
    At(f64),
}

/// The radius `R_*`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// The iterates are not projected.
    None,
    /// The smallest radius that the certificate allows.
    Needed,
    /// This: 1e-30 to 1e30.
    At(f64),
}

/// Step size and steps: what is given is kept, the rest is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Schedule {
    /// η, 1e-30 to 1e30.
    pub step_size: Option<f64>,
    /// T.
    pub steps: Option<u64>,
    /// Most steps in the search.
    pub most_steps: Option<u64>,
}

impl Schedule {
    pub(super) fn is_given(&self) -> bool {
        self.step_size.is_some() && self.steps.is_some()
    }
}

/// Failure probabilities, each in (0, 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failures {
    /// Everything that certificates S, P and D spend on noise and batch gradients, in equal parts.
    pub noise: f64,
    /// δ_N: large Poisson batches.
    pub batches: f64,
    /// From batches to the sample: δ of the transfer, or δ_mb of 5P.
    pub transfer: f64,
    /// δ_cnt: frequent records.
    pub counts: f64,
    /// The loss of the comparator on batches; its largest loss is used if there is none.
    pub comparator: Option<f64>,
}

impl Default for Failures {
    fn default() -> Self {
        Self { noise: 4e-3, batches: 1e-3, transfer: 1e-3, counts: 1e-6, comparator: None }
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The routes that may answer; the best one leads.
    pub routes: Vec<Route>,
    /// What is bounded.
    pub claim: Claim,
    /// B; all records if there is none.
    pub batch: Option<u64>,
    /// How batches are drawn.
    pub sampler: Sampler,
    /// Correlation of the noise, in [0, 1].
    pub lambda: f64,
    /// The noise.
    pub noise: Noise,
    /// The clipping norm.
    pub clipping: Clipping,
    /// The projection.
    pub projection: Projection,
    /// η and T.
    pub schedule: Schedule,
    /// Horizons of the comparators; a grid from 3 to 3000 and `ηT` if there is none. 1e-30 to 1e30.
    pub horizons: Option<Vec<f64>>,
    /// Failure probabilities.
    pub failures: Failures,
    /// Whether the failure probabilities are re-divided for the best value: with the same total, or freely for an
    /// expectation.
    pub divide_failures: bool,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            routes: Route::ALL.to_vec(),
            claim: Claim::Probability,
            batch: None,
            sampler: Sampler::Full,
            lambda: 0.0,
            noise: Noise::None,
            clipping: Clipping::None,
            projection: Projection::Needed,
            schedule: Schedule::default(),
            horizons: None,
            failures: Failures::default(),
            divide_failures: false,
        }
    }
}

/// A network at its initial weights, the sample and, for population risk, the support.
#[derive(Debug, Clone)]
pub struct Ingredients<'a> {
    sample: &'a Linearisation<'a>,
    support: Option<&'a Linearisation<'a>>,
    realised: &'a RealisedConstants,
    domain: InputDomain,
    scaled_by_data: bool,
}

impl<'a> Ingredients<'a> {
    /// A network on a sample; `realised` its constants, `domain` where the inputs lie as far as it is public.
    #[must_use]
    pub fn new(
        sample: &'a Linearisation<'a>,
        realised: &'a RealisedConstants,
        domain: InputDomain,
    ) -> Self {
        Self { sample, support: None, realised, domain, scaled_by_data: false }
    }

    /// The same, with inputs whose scaling was read off the data.
    #[must_use]
    pub fn scaled_by_data(self) -> Self {
        Self { scaled_by_data: true, ..self }
    }

    /// With the support of the distribution: the same network at the same weights on every possible record, each as
    /// often as its probability says.
    ///
    /// # Errors
    /// [`BoundError`] if a record of the sample is not in the support, or the networks differ.
    pub fn with_support(self, support: &'a Linearisation<'a>) -> Result<Self> {
        let refuse = |problem: &str| {
            Err(BoundError::Input { parameter: "support".into(), problem: problem.into() })
        };
        if support.network() != self.sample.network() {
            return refuse("it has to be seen by the same network as the sample");
        }
        let known = support.sample();
        for row in 0..self.sample.sample().len() {
            let record = self.sample.sample().record(row);
            let Some(place) = (0..known.len()).find(|other| known.record(*other) == record) else {
                return refuse(
                    "a record of the sample is not in it; give every record that can occur",
                );
            };
            let (here, there) = (self.sample.outputs()[row], support.outputs()[place]);
            if (here - there).abs() > 1e-9 * (1.0 + here.abs()) {
                return refuse("it has to be seen at the same weights as the sample");
            }
        }
        Ok(Self { support: Some(support), ..self })
    }
}

/// Whether the run may be called private.
#[derive(Debug, Clone, PartialEq)]
pub enum Privacy {
    /// There is no noise and no claim.
    None,
    /// The certificate does not spoil the claim, provided that this holds.
    Conditional(Text),
    /// Something was chosen by looking at the sample: a claim of privacy is void.
    Void(Text),
}

/// A certificate and what it was made of.
///
/// All numbers are functions of the sample, unless population risk was asked for: they are for the holder of the data
/// and must not be published as if they were private.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The bound, or why there is none; the other routes are its alternatives.
    pub bound: Bound,
    /// The route that leads.
    pub route: Route,
    /// The run that is certified, or the one that comes closest.
    pub training: Training,
    /// The certificate for the losses along the training that it builds on.
    pub optimisation: Optimisation,
    /// Horizon of the comparator.
    pub horizon: f64,
    /// τ of the comparator.
    pub distance: f64,
    /// `L_S(W*)`, in nats.
    pub mean_loss: f64,
    /// `max_i l_i(W*)`, in nats.
    pub largest_loss: f64,
    /// The constants over the inputs in question.
    pub landscape: Landscape,
    /// G over the public domain, the smallest public clipping norm.
    pub public_gradient: f64,
    /// The failure probabilities.
    pub failures: Failures,
    /// Whether the run may be called private.
    pub privacy: Privacy,
    /// What a reader must know besides, in sentences.
    pub notes: Vec<Text>,
    /// What would help, where there is no value or a vacuous one.
    pub outlook: Option<Outlook>,
}

/// The best certificate over the routes, schedules, comparators and, if wanted, failure probabilities.
///
/// Searching is free for the schedule of a run that is not private, for comparators and for failure probabilities: the
/// theorems condition on the sample and on `(c, W_0)`. For a private run it is not: see [`Certificate::privacy`].
/// Population risk is certified from the support alone, so that the schedule does not depend on the sample.
///
/// # Source
/// Ours; docs/theory/certificates.md.
///
/// # Errors
/// [`BoundError`] for an argument out of range, a population claim without a support, and, if no route is left, the
/// refusal of the first one.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::certificates::{Ingredients, Question, Route, certify};
/// use dpbounds_bounds::kan::{
///     Activation, InputDomain, Initialisation, Knots, Linearisation, RealisedConstants, Sample, SplineBasis, initialise,
/// };
/// let basis = SplineBasis::new(1, 2, Knots::Clamped)?;
/// let (network, weights) = initialise(basis, Activation::Tanh, 1, 2000, Initialisation::Greville, 1)?;
/// let sample = Sample::new(1, vec![-0.95, -0.7, 0.7, 0.95], vec![-1.0, -1.0, 1.0, 1.0])?;
/// let sample = Linearisation::at(&network, &weights, &sample)?;
/// let realised = RealisedConstants::of(&network, 32)?;
/// let ingredients = Ingredients::new(&sample, &realised, InputDomain::Cube);
/// let certificate = certify(&ingredients, &Question::default())?;
/// assert_eq!(certificate.route, Route::SGd);
/// assert!(certificate.bound.value.unwrap() < 0.2602);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn certify(ingredients: &Ingredients<'_>, question: &Question) -> Result<Certificate> {
    ensure_question(question)?;
    let population = question.claim == Claim::Population;
    let seen = match (population, ingredients.support) {
        (false, _) => ingredients.sample,
        (true, Some(support)) => support,
        (true, None) => {
            return Err(BoundError::Unproven {
                request: "a population certificate without the support of the distribution".into(),
                why: "the comparator has to work for every sample, and a sample is not the support",
                nearest: "a certificate of the training risk, or a distribution on finitely many points",
            });
        }
    };
    let network = seen.network();
    let landscape = Landscape::from(ingredients.realised.constants(seen.feature_norm2())?);
    let public = feature_norm2(network.basis(), network.inputs(), ingredients.domain)?;
    let setting = Setting {
        question,
        landscape,
        public_gradient: short_above(ingredients.realised.constants(public)?.gradient, 9),
        extent: Extent::of(network, seen.sample().len()),
        records: ingredients.sample.sample().records(),
        initial_output: seen.outputs().iter().fold(0.0, |largest, f| largest.max(f.abs())),
        noise_factor: 1.0,
    };
    let Chosen { route, comparator, evaluated, failures, alternatives, comparators } =
        search(&setting, seen)?;
    let mut bound = evaluated.bound;
    bound.alternatives = alternatives;
    let realised = ingredients.realised;
    let outlook = match bound.value {
        Some(value) if value < LN_2 => None,
        Some(_) => Some(outlook(&setting, route, &comparators, realised, &[LN_2])),
        None => Some(outlook(&setting, route, &comparators, realised, &[f64::INFINITY, LN_2])),
    };
    let training = evaluated.training;
    let notes = notes(ingredients, question, &bound);
    Ok(Certificate {
        bound,
        route,
        training,
        optimisation: evaluated.optimisation,
        horizon: comparator.horizon,
        distance: comparator.losses.distance,
        mean_loss: comparator.losses.mean,
        largest_loss: comparator.losses.largest,
        landscape,
        public_gradient: setting.public_gradient,
        failures,
        privacy: privacy(question, &training, ingredients),
        notes,
        outlook,
    })
}

fn ensure_question(question: &Question) -> Result<()> {
    domain::probability("lambda", question.lambda)?;
    match question.noise {
        Noise::None => 0.0,
        Noise::Multiplier(kappa) => domain::moderate_or_zero("kappa", kappa)?,
        Noise::Coordinate(noise) => domain::moderate_or_zero("noise", noise)?,
    };
    if let Some(eta) = question.schedule.step_size {
        domain::moderate("step_size", eta)?;
    }
    if let Clipping::At(norm) = question.clipping {
        domain::moderate("clipping", norm)?;
    }
    if let Projection::At(radius) = question.projection {
        domain::moderate("radius", radius)?;
    }
    for (name, count) in
        [("steps", question.schedule.steps), ("most_steps", question.schedule.most_steps)]
    {
        if let Some(count) = count {
            domain::count(name, count)?;
        }
    }
    for horizon in question.horizons.iter().flatten() {
        domain::moderate("horizon", *horizon)?;
    }
    let failures = &question.failures;
    for (name, value) in [
        ("failure of the noise", Some(failures.noise)),
        ("failure of the batch sizes", Some(failures.batches)),
        ("failure of the transfer", Some(failures.transfer)),
        ("failure of the counts", Some(failures.counts)),
        ("failure of the comparator", failures.comparator),
    ] {
        if let Some(value) = value {
            domain::open_probability(name, value)?;
        }
    }
    if question.routes.is_empty() || question.horizons.as_ref().is_some_and(Vec::is_empty) {
        return Err(BoundError::Input {
            parameter: "routes and horizons".into(),
            problem: "an empty list; name one at least".into(),
        });
    }
    Ok(())
}

/// What the privacy of the run demands of the choices that were made here.
fn privacy(question: &Question, training: &Training, ingredients: &Ingredients<'_>) -> Privacy {
    if training.noise == 0.0 {
        return Privacy::None;
    }
    // Population certificates see the support only, and it is public.
    let on_sample = question.claim != Claim::Population;
    let mut searched = Vec::new();
    if on_sample && !question.schedule.is_given() {
        searched.push("step size and steps");
    }
    if on_sample && question.projection == Projection::Needed {
        searched.push("the projection radius");
    }
    if ingredients.scaled_by_data {
        searched.push("the scaling of the inputs");
    }
    if searched.is_empty() {
        let domain = match ingredients.domain {
            InputDomain::Cube => "the cube",
            InputDomain::Ball => "the unit ball",
        };
        return Privacy::Conditional(
            format!(
                "privacy needs step size, steps, batch, noise, clipping norm, radius, the map of the inputs into \
                 {domain} and the initial weights to be chosen without looking at the data, and kappa from an accountant \
                 that covers the sampler"
            )
            .into(),
        );
    }
    Privacy::Void(
        format!(
            "a claim of privacy is void: {} chosen by looking at the sample; give the values that were fixed beforehand",
            match searched.as_slice() {
                [one] if one.starts_with("the") => format!("{one} was"),
                all => format!("{} were", all.join(" and ")),
            }
        )
        .into(),
    )
}

fn notes(ingredients: &Ingredients<'_>, question: &Question, bound: &Bound) -> Vec<Text> {
    let mut notes: Vec<Text> = Vec::new();
    if bound.value.is_some_and(|value| value >= LN_2) {
        notes.push("vacuous: the zero predictor has a loss of log 2 = 0.6931 already".into());
    }
    let population = question.claim == Claim::Population;
    let seen = if population { ingredients.support } else { Some(ingredients.sample) };
    if seen.is_some_and(|seen| seen.sample().is_contradictory()) {
        notes.push(
            "some input has both labels: the margin is 0 and the assumption of the paper's rates fails; this certificate \
             does not need it"
                .into(),
        );
    }
    notes.push(if population {
        "holds if nothing of the run (step size, steps, batch, radius, initial weights) was chosen by looking at the sample"
            .into()
    } else {
        "a function of the data: do not publish it as if it were private".into()
    });
    notes
}
