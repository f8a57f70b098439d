//! Networks and questions of the figures about certificates.

use std::f64::consts::LN_2;

use dpbounds_bounds::BoundError;
use dpbounds_bounds::kan::certificates::{Certificate, Ingredients, Question, certify};
use dpbounds_bounds::kan::{
    Activation, Initialisation, InputDomain, Knots, Linearisation, RealisedConstants, Sample,
    SplineBasis, initialise,
};
use dpbounds_experiments::data::{Dataset, Request, prepare, support};

use crate::error::{Result, draw_error};

/// A data set with the shape of the network for it.
pub(crate) struct Material {
    sample: Sample,
    support: Option<Sample>,
    degree: usize,
    size: usize,
}

impl Material {
    pub(crate) fn new(request: &Request, (degree, size): (usize, usize)) -> Result<Self> {
        let sample = prepare(request).map_err(draw_error)?.sample()?;
        let support = support(request).map_err(draw_error)?;
        let support = support.as_ref().map(Dataset::sample).transpose()?;
        Ok(Self { sample, support, degree, size })
    }

    /// A certificate of the network of this width, for each question.
    pub(crate) fn certify<T>(
        &self,
        (init, width): (Initialisation, usize),
        ask: impl FnOnce(&dyn Fn(&Question) -> std::result::Result<Certificate, BoundError>) -> T,
    ) -> Result<T> {
        let basis = SplineBasis::new(self.degree, self.size, Knots::Clamped)?;
        let inputs = self.sample.dimension();
        let (network, weights) = initialise(basis, Activation::Tanh, inputs, width, init, 1)?;
        let realised = RealisedConstants::of(&network, 32)?;
        let seen = Linearisation::at(&network, &weights, &self.sample)?;
        let known = self.support.as_ref();
        let known =
            known.map(|support| Linearisation::at(&network, &weights, support)).transpose()?;
        let mut ingredients = Ingredients::new(&seen, &realised, InputDomain::Cube);
        if let Some(known) = &known {
            ingredients = ingredients.with_support(known)?;
        }
        Ok(ask(&|question| certify(&ingredients, question)))
    }
}

/// The bound, if it says something.
pub(crate) fn useful(found: &Certificate) -> Option<f64> {
    found.bound.upper.filter(|value| *value < LN_2)
}

/// The hypothesis that fails, or the parts of a bound that says nothing, the largest first.
pub(crate) fn obstacle(found: &Certificate) -> String {
    let bound = &found.bound;
    if let Some(reason) = &bound.reason {
        return reason.to_string();
    }
    let mut terms: Vec<_> = bound.terms.iter().collect();
    terms.sort_by(|one, other| other.value.total_cmp(&one.value));
    let words = terms.iter().map(|term| format!("{} = {:.3}", term.name, term.value));
    words.collect::<Vec<_>>().join("; ")
}
