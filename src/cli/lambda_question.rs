//! Does correlated noise help? The noise terms of the risk bound against independent noise.

use dpbounds_bounds::privacy::{Bracket, LambdaGain, lambda_gain};
use dpbounds_bounds::{Bound, BoundError, Warrant};

use super::Failure;
use super::grid::{Grid, Point};
use crate::output::{Answer, Derived, Format, Input, Side, display_exact, display_side};

const NOT_COMPARED: &str = "no t1 and t2 at lambda > 0: for this sampler and relation only the weak \
                            triangle and bounds without amplification are proven there, which say nothing \
                            about a gain; sampler poisson or fixed under add-remove has both";
const NO_REFERENCE: &str =
    "no t1 and t2 where independent noise has no proven positive bracket to compare with";

/// The question, for answers whose last axis is λ.
pub struct LambdaQuestion<'a> {
    /// Step size η.
    pub eta: f64,
    /// The λ of one group of answers.
    pub lambdas: &'a [f64],
    /// The axes that span the groups.
    pub others: Grid,
}

impl LambdaQuestion<'_> {
    /// Finds faults before anything is computed.
    pub fn check(&self) -> Result<(), BoundError> {
        let one = Bracket::exact(1.0);
        match lambda_gain(0.0, self.eta, one, one) {
            Err(BoundError::OutOfRange { value, allowed, .. }) => Err(BoundError::OutOfRange {
                parameter: "eta",
                value,
                allowed,
                remedy: "give the step size of the training, for example 0.01",
            }),
            other => other.map(|_| ()),
        }
    }

    /// Adds the factors and their floors to all answers; returns what to say about them.
    /// `reference` calibrates one group at λ = 0; `compared` tells whether a group has factors at a λ.
    pub fn answer(
        &self,
        answers: &mut [Answer],
        reference: impl Fn(&Point) -> Result<Bound, BoundError> + Sync,
        compared: impl Fn(&Point, f64) -> bool + Sync,
        format: Format,
    ) -> Result<Vec<String>, Failure> {
        let references = self.others.in_parallel(
            || (),
            |point| {
                let compared: Vec<_> =
                    self.lambdas.iter().map(|&lambda| compared(point, lambda)).collect();
                Ok((point.inputs(), reference(point)?, compared))
            },
        )?;
        let mut remarks = Vec::new();
        let (mut gaps, mut refused) = (false, false);
        let groups = answers.chunks_mut(self.lambdas.len().max(1));
        for (group, (inputs, reference, compared)) in groups.zip(&references) {
            let reference = bracket(reference).filter(|reference| reference.lower > 0.0);
            gaps |= reference.is_none();
            let lambdas = self.lambdas.iter().zip(compared);
            for (answer, (&lambda, &compared)) in group.iter_mut().zip(lambdas) {
                let gain = match (reference, bracket(&answer.bound)) {
                    (Some(reference), Some(mut noise)) => {
                        if lambda == 0.0 {
                            // The same question, perhaps by a looser method.
                            noise.lower = noise.lower.max(reference.lower).min(noise.upper);
                        }
                        Some(lambda_gain(lambda, self.eta, noise, reference)?)
                    }
                    _ => None,
                };
                answer.derived = derived(gain, compared);
                refused |= !compared;
            }
            if format == Format::Table && self.lambdas.len() > 1 {
                remarks.extend(self.best(group).map(|best| self.label(inputs) + &best));
            }
        }
        if refused {
            remarks.push(NOT_COMPARED.into());
        }
        if gaps {
            remarks.push(NO_REFERENCE.into());
        }
        Ok(remarks)
    }

    /// The λ with the smallest factors of a group.
    fn best(&self, group: &[Answer]) -> Option<String> {
        let smallest = |place: usize| {
            let rows = group.iter().zip(self.lambdas);
            let known = rows.filter_map(|(answer, &lambda)| {
                let value = answer.derived.get(place)?.value?;
                Some((value, lambda, answer.bound.warrant))
            });
            known.min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let (first, second) = (smallest(0)?, smallest(2)?);
        let shown = |value| display_side(value, Side::Upper);
        let warrant = if first.2 == Warrant::Proven { second.2 } else { first.2 }.label();
        let gain = if first.0 < 1.0 || second.0 < 1.0 {
            "below 1 is a gain"
        } else {
            "no gain over lambda = 0 is proven"
        };
        Some(format!(
            "smallest t1 = {} at lambda = {}, smallest t2 = {} at lambda = {} ({warrant}; {gain})",
            shown(first.0),
            first.1,
            shown(second.0),
            second.1
        ))
    }

    /// What tells this group from the others.
    fn label(&self, inputs: &[(String, Input)]) -> String {
        let mut label = String::new();
        for (name, input) in inputs {
            if let Input::Number(number) = input
                && self.others.is_swept(name)
            {
                label += &format!("{name} = {}, ", display_exact(*number));
            }
        }
        if label.is_empty() { label } else { format!("{}: ", label.trim_end_matches(", ")) }
    }
}

/// The noise that is known to suffice and the noise known not to; `None` without the former.
fn bracket(bound: &Bound) -> Option<Bracket> {
    let trusted = matches!(bound.warrant, Warrant::Proven | Warrant::Confidence(_));
    let upper = bound.upper.filter(|_| trusted)?;
    Some(Bracket { lower: bound.lower.unwrap_or(0.0).min(upper), upper })
}

fn derived(gain: Option<LambdaGain>, compared: bool) -> Vec<Derived> {
    let upper = |name, value: Option<f64>| {
        let value = value.filter(|_| compared);
        Derived { name, value, side: Side::Upper }
    };
    let lower = |name, value| Derived { name, value, side: Side::Lower };
    vec![
        upper("t1", gain.map(|gain| gain.linear)),
        lower("t1_floor", gain.map(|gain| gain.linear_floor)),
        upper("t2", gain.map(|gain| gain.quadratic)),
        lower("t2_floor", gain.map(|gain| gain.quadratic_floor)),
    ]
}
