//! Runs with a closed form, and closed-form bounds of all others.

use super::step::OneStep;
use crate::error::Result;
use crate::privacy::{Bracket, gaussian};
use crate::solve::bracket_positive;

/// Relative rounding error allowed to a closed form.
const ROUNDING: f64 = 1e-11;

/// What is known about a run without composing anything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    form: Form,
    /// Probability that the record takes part at all: `δ(ε)` is never larger.
    exposed: f64,
    /// Distance of the two runs over the noise when the record takes part in every step.
    mu: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// The record never takes part.
    Untouched,
    /// There is no noise.
    Bare,
    /// The record takes part in each step.
    Gaussian,
    /// Beyond the range in which a lattice is of use.
    Extreme,
    General,
}

impl Case {
    pub fn of(step: &OneStep, steps: u64) -> Self {
        #[allow(clippy::cast_precision_loss)] // at most 2^53
        let count = steps as f64;
        let shift = step.full_shift();
        let form = if steps == 0 || step.rate() == 0.0 {
            Form::Untouched
        } else if step.noise() == 0.0 {
            Form::Bare
        } else if step.rate() == 1.0 {
            Form::Gaussian
        } else if !(1e-9..=1.5e3).contains(&shift) || step.rate() < 1e-13 || count > 1e10 {
            Form::Extreme
        } else {
            Form::General
        };
        let exposed = -(count * (-step.rate()).ln_1p()).exp_m1();
        Self { form, exposed, mu: shift * count.sqrt() }
    }

    /// Whether the closed forms are all there is.
    pub fn is_settled(&self) -> bool {
        self.form != Form::General
    }

    /// `log δ(ε)` of the run in which the record takes part in each step.
    fn log_gaussian(&self, epsilon: f64) -> f64 {
        if self.mu == 0.0 || epsilon / self.mu == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        if !self.mu.is_finite() || epsilon > 1e12 {
            0.0
        } else {
            gaussian::log_delta(self.mu, epsilon)
        }
    }

    pub fn delta(&self, epsilon: f64) -> Bracket {
        let up = |value: f64| (value * (1.0 + ROUNDING)).min(1.0);
        match self.form {
            Form::Untouched => Bracket::exact(0.0),
            Form::Bare => {
                Bracket { lower: self.exposed * (1.0 - ROUNDING), upper: up(self.exposed) }
            }
            Form::Gaussian => {
                let value = self.log_gaussian(epsilon).exp();
                Bracket { lower: value * (1.0 - ROUNDING), upper: up(value).max(1e-300) }
            }
            Form::Extreme | Form::General => {
                let value = self.log_gaussian(epsilon).exp().min(self.exposed);
                Bracket { lower: 0.0, upper: up(value).max(1e-300) }
            }
        }
    }

    pub fn epsilon(&self, delta: f64) -> Result<Bracket> {
        let free = delta >= 1.0 || delta >= self.exposed * (1.0 + ROUNDING);
        if self.form == Form::Untouched || free {
            return Ok(Bracket::exact(0.0));
        }
        if delta == 0.0 {
            return Ok(Bracket::exact(f64::INFINITY));
        }
        if self.form == Form::Bare {
            let lower = if delta < self.exposed * (1.0 - ROUNDING) { f64::INFINITY } else { 0.0 };
            return Ok(Bracket { lower, upper: f64::INFINITY });
        }
        let at = |log_delta: f64| {
            let meets = |epsilon: f64| self.log_gaussian(epsilon) <= log_delta;
            if meets(0.0) {
                0.0
            } else {
                bracket_positive(meets, 0.0, 1e12).map_or(f64::INFINITY, |b| b.above)
            }
        };
        let upper = at(delta.ln() - ROUNDING);
        let lower = match self.form {
            Form::Gaussian => {
                let value = at(delta.ln() + ROUNDING);
                if value.is_finite() { value * (1.0 - ROUNDING) } else { 0.0 }
            }
            _ => 0.0,
        };
        Ok(Bracket { lower, upper: upper * (1.0 + ROUNDING) })
    }

    /// A computed bracket where the closed forms do not say more.
    pub fn within(&self, computed: Bracket, known: Bracket) -> Bracket {
        let upper = computed.upper.min(known.upper);
        Bracket { lower: computed.lower.max(known.lower).min(upper), upper }
    }
}
