//! The smallest noise κ that meets (ε, δ).

use std::time::Instant;

use super::account::{methods, one_step};
use super::closed_form::KAPPA;
use super::correlated::ladder::linear_test;
use super::correlated::monte_carlo;
use super::correlated::transfer::Resolution;
use super::gaussian::largest_mu;
use super::rung::{self, Rung};
use super::{
    Effort, Method, Pair, Plan, Question, Relation, Route, Sampler, Target, account, closed_form,
    lower, participation_norm, pld, route,
};
use crate::domain;
use crate::error::{BoundError, Result};
use crate::solve::{Crossing, Start, decreasing_crossing};
use crate::warrant::{Bound, Check, Comparison, Source, Warrant};

/// Relative width at which a calibration stops, on the safe side.
const TOLERANCE: f64 = 3e-4;
const LARGEST_KAPPA: f64 = 1e12;
/// About the share of the noise that a finer grid proves, for the grids after the coarse one.
const FINER: [f64; 2] = [0.985, 0.996];

/// `κ` from (ε, δ): the smallest proven value first, the others as alternatives.
///
/// `value` is sufficient: it has been evaluated once more, and the δ found there is in `checks`. `lower` is
/// the largest κ known to be insufficient. [`Method::Auto`] tries every rung that applies, Theorem F.12
/// inside its domain, and lists the claim of Theorem D.9 where it is stated.
///
/// # Source
/// Ours; docs/theory/accounting.md.
///
/// # Errors
/// [`BoundError::Unproven`] for a sampler, relation, λ or method without a proof, other variants for
/// arguments out of range.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::{Effort, Plan, Relation, Sampler, Target, calibrate};
/// let plan = Plan { n: 10_000, batch: 100, steps: 1000, lambda: 0.0,
///     sampler: Sampler::Poisson, relation: Relation::AddRemove };
/// let target = Target { epsilon: 1.0, delta: 1e-5 };
/// let kappa = calibrate(&plan, target, &Effort::default())?.value.unwrap();
/// assert!((kappa / 1.414_8 - 1.0).abs() < 1e-3);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn calibrate(plan: &Plan, target: Target, effort: &Effort<'_>) -> Result<Bound> {
    let target = target.check()?;
    let plan = &plan.simplified();
    let route = route(plan)?;
    if plan.steps == 0 {
        return Bound::exact(KAPPA, 0.0, Source::new("ours", "no step releases anything"));
    }
    #[allow(clippy::cast_precision_loss)] // checked by the plan
    let exposed = -(plan.steps as f64 * (-plan.rate()?).ln_1p()).exp_m1();
    if !matches!(route, Route::Gaussian { .. }) && exposed * (1.0 + 1e-12) <= target.delta {
        let why = "the record takes part with probability at most delta, so no noise is needed";
        return Bound::exact(KAPPA, 0.0, Source::new("ours", why));
    }
    let start = Instant::now();
    let refuted = refuted_noise(plan, route, target)?;
    let mut bounds = closed_forms(plan, target, effort.method)?;
    if effort.method != Method::ClosedForm {
        for method in methods(effort.method, route, plan.lambda) {
            (effort.progress)(&method.to_string());
            let search = Search { plan, route, target, effort, refuted, start };
            bounds.push(search.run(method, &bounds)?);
        }
    }
    // Every lower side holds, also that of a method whose value another one beats.
    let known = bounds.iter().filter_map(|bound| bound.lower).fold(refuted, f64::max);
    let mut best = Bound::best_of(bounds)?;
    if let Some(value) = best.value {
        best.lower = Some(known.min(value));
    }
    Ok(best)
}

/// Theorem F.12 where it applies, and the claim of Theorem D.9.
fn closed_forms(plan: &Plan, target: Target, method: Method) -> Result<Vec<Bound>> {
    let Plan { n, batch, steps, lambda, sampler, relation } = *plan;
    let Target { epsilon, delta } = target;
    let mut bounds = Vec::new();
    if !matches!(method, Method::Auto | Method::ClosedForm) {
        return Ok(bounds);
    }
    if closed_form::covers(sampler, relation) {
        bounds.push(closed_form::f12(n, batch, steps, epsilon, delta, lambda)?);
    } else if method == Method::ClosedForm {
        return Err(BoundError::Unproven {
            request: format!("method closed-form with sampler {sampler}"),
            why: "Theorem F.12 is proved for batches drawn anew in each step",
            nearest: "method auto, which uses the exact Gaussian bound for a stream",
        });
    }
    if method == Method::Auto {
        bounds.extend(closed_form_from_the_domain(plan, target)?);
    }
    if (sampler, relation, lambda) == (Sampler::Fixed, Relation::ReplaceOne, 0.0) {
        bounds.push(closed_form::d9_claim(n, batch, steps, epsilon, delta)?);
    }
    Ok(bounds)
}

/// Theorem F.12 for a smaller ε and a longer run inside its domain, which imply what is asked for: a
/// smaller ε is a stronger guarantee, and a run is the beginning of a longer one.
fn closed_form_from_the_domain(plan: &Plan, target: Target) -> Result<Option<Bound>> {
    let Plan { n, batch, steps, lambda, sampler, relation } = *plan;
    let rate = plan.rate()?;
    if !closed_form::covers(sampler, relation) {
        return Ok(None);
    }
    let epsilon = target.epsilon.min(1.0);
    let least = (3.0 * (2f64.ln() - target.delta.ln()) / rate).ceil();
    for extra in [0.0, 1.0] {
        // Rounding may leave the first one just outside.
        let Ok(least) = domain::whole("steps", least + extra) else { return Ok(None) };
        let longer = least.max(steps);
        if longer == steps && epsilon == target.epsilon {
            return Ok(None);
        }
        let mut bound = closed_form::f12(n, batch, longer, epsilon, target.delta, lambda)?;
        if bound.value.is_some() {
            bound.source.statement =
                format!("Theorem F.12 at epsilon = {epsilon} and {longer} steps, which imply it")
                    .into();
            return Ok(Some(bound));
        }
    }
    Ok(None)
}

/// The largest κ that explicit data sets refute.
fn refuted_noise(plan: &Plan, route: Route, target: Target) -> Result<f64> {
    if matches!(route, Route::Gaussian { .. }) {
        return Ok(0.0);
    }
    let by_event = |kappa: f64| {
        let event = lower::LargestStep::new(plan, route, kappa)?;
        let event = event.map_or(0.0, |step| step.delta(target.epsilon));
        Ok::<_, BoundError>(event > target.delta)
    };
    let witness = lower::witness(plan, route);
    if witness == lower::Witness::OppositeRecordZeroed {
        let shows = |kappa: f64| {
            let linear = lower::delta(plan, route, kappa, target.epsilon)?;
            Ok(linear > target.delta || by_event(kappa)?)
        };
        return largest_shown(0.0, shows);
    }
    let s = match (plan.sampler, witness) {
        (Sampler::Fixed, lower::Witness::OppositeRecord) => 2.0,
        _ => 1.0,
    };
    let Target { epsilon, delta } = target;
    let (rate, lambda, steps) = (plan.rate()?, plan.lambda, plan.steps);
    let noise = linear_test::largest_refuted_noise(rate, lambda, steps, epsilon, delta)?;
    largest_shown(noise.map_or(0.0, |noise| noise * s), by_event)
}

/// The largest noise found at which something is shown, from one on at which something is known.
fn largest_shown(known: f64, shows: impl Fn(f64) -> Result<bool>) -> Result<f64> {
    let (mut refuted, mut open) = (known, known.max(1e-3));
    while shows(open)? && open < LARGEST_KAPPA {
        refuted = open;
        open *= 2.0;
    }
    while open - refuted > 1e-4 * open && open > 1e-6 {
        let middle = 0.5 * (refuted + open);
        if shows(middle)? { refuted = middle } else { open = middle }
    }
    Ok(refuted)
}

struct Search<'a> {
    plan: &'a Plan,
    route: Route,
    target: Target,
    effort: &'a Effort<'a>,
    /// Noise that is certainly too small.
    refuted: f64,
    start: Instant,
}

impl Search<'_> {
    fn run(&self, method: Method, known: &[Bound]) -> Result<Bound> {
        let proven = known.iter().filter(|bound| bound.warrant == Warrant::Proven);
        let smallest = proven.filter_map(|bound| bound.value).fold(f64::INFINITY, f64::min);
        match method {
            Method::Pld => self.by_loss_distribution(),
            Method::Rdp => self.by_renyi(),
            Method::L3 => self.by_monte_carlo(),
            Method::L2t | Method::L2td if !matches!(self.route, Route::Gaussian { .. }) => {
                self.by_transfer(method, smallest)
            }
            _ if matches!(self.route, Route::Gaussian { .. }) => self.exactly(),
            _ => {
                let rung = Rung::new(method, self.plan, self.route, Resolution::FINE)?;
                self.by_rung(&rung, self.first_guess(smallest)?)
            }
        }
    }

    /// Where to start: above the noise that is certainly too small, below one that suffices.
    fn first_guess(&self, sufficient: f64) -> Result<f64> {
        let refuted = self.refuted;
        if refuted > 0.0 && sufficient.is_finite() {
            return Ok((1.2 * refuted).min(0.5 * (refuted + sufficient)));
        }
        if sufficient.is_finite() {
            return Ok(0.5 * sufficient);
        }
        let norm = participation_norm(self.plan.lambda, self.plan.steps, self.plan.steps)?;
        let mu = largest_mu(self.target.epsilon, self.target.delta)?;
        let share = self.plan.rate()?.sqrt();
        Ok((self.route.direct_sensitivity() * norm * share / mu).clamp(1e-6, 1e9))
    }

    /// `s·norm/μ(ε, δ)`: equality, the smallest noise there is.
    fn exactly(&self) -> Result<Bound> {
        let Route::Gaussian { sensitivity, participations } = self.route else {
            return Err(rung::refusal(Method::Auto, self.route));
        };
        let norm = participation_norm(self.plan.lambda, self.plan.steps, participations)?;
        let value = sensitivity * norm / largest_mu(self.target.epsilon, self.target.delta)?;
        let statement = if self.plan.sampler == Sampler::Stream {
            "Gaussian mechanism, one participation (docs/theory/privacy.md)"
        } else {
            "Gaussian mechanism, exact for full batches (docs/theory/privacy.md)"
        };
        let mut bound = Bound::upper_bound(KAPPA, value, Source::new("ours", statement))?;
        bound.lower = bound.value.map(|value| value * (1.0 - 1e-9));
        Ok(bound)
    }

    fn by_rung(&self, rung: &Rung, guess: f64) -> Result<Bound> {
        match self.root(rung, Start::at(guess), TOLERANCE)? {
            Some(root) => self.verified(root.argument, root.value, rung.source()),
            None => Ok(Bound::refused(KAPPA, rung.source(), self.nothing_found(rung.method))),
        }
    }

    fn root(&self, rung: &Rung, start: Start, tolerance: f64) -> Result<Option<Crossing>> {
        let Target { epsilon, delta } = self.target;
        let value = |kappa: f64| {
            if self.is_late() {
                return Ok(f64::NAN);
            }
            Ok(rung.profile(kappa, epsilon)?(epsilon))
        };
        decreasing_crossing(value, delta, start, LARGEST_KAPPA, tolerance)
    }

    fn is_late(&self) -> bool {
        self.start.elapsed() > self.effort.budget.max(self.effort.patience)
    }

    fn nothing_found(&self, method: Method) -> String {
        if self.is_late() {
            return format!("method {method} found no noise in time; allow more seconds");
        }
        format!("method {method} proves nothing here at any noise")
    }

    fn verified(&self, kappa: f64, delta: f64, source: Source) -> Result<Bound> {
        let check = Check::new("delta at this kappa", delta, Comparison::AtMost, self.target.delta);
        let mut bound = Bound::upper_bound(KAPPA, kappa, source)?.with_check(check);
        bound.upper = bound.value;
        Ok(bound)
    }

    /// A coarse search, then finer ones from its result while time is left.
    fn by_transfer(&self, method: Method, sufficient: f64) -> Result<Bound> {
        let mut rung = Rung::new(method, self.plan, self.route, Resolution::COARSE)?;
        let refuted = self.refuted;
        let guess = if sufficient.is_finite() && refuted > 0.0 {
            (0.9 * sufficient).min(1.2 * refuted)
        } else {
            self.first_guess(sufficient)?
        };
        let mut begun = Instant::now();
        let Some(mut best) = self.root(&rung, Start::at(guess), 2e-3)? else {
            return Ok(Bound::refused(KAPPA, rung.source(), self.nothing_found(rung.method)));
        };
        let finer = &rung::grids(self.effort.method, method)[1..];
        for (&(resolution, name), shift) in finer.iter().zip(FINER) {
            // A finer search takes up to three times as long as the one before.
            if self.start.elapsed() + 3 * begun.elapsed() > self.effort.budget {
                break;
            }
            (self.effort.progress)(name);
            begun = Instant::now();
            rung = rung.with_resolution(resolution);
            let start = Start { guess: shift * best.argument, slope: best.slope };
            match self.root(&rung, start, TOLERANCE)? {
                Some(root) if root.argument <= best.argument => best = root,
                _ => break,
            }
        }
        self.verified(best.argument, best.value, rung.source())
    }

    fn by_loss_distribution(&self) -> Result<Bound> {
        let make = |kappa: f64| one_step(self.plan, self.route, kappa);
        let Target { epsilon, delta } = self.target;
        let bracket = pld::calibrate(make, self.plan.steps, epsilon, delta)?;
        let source = Source::new("ours", "privacy-loss distribution (docs/theory/accounting.md)");
        // The calibration itself ends with this evaluation, on the safe side.
        let kappa = bracket.upper;
        let reached = pld::upper_delta(&make(kappa)?, self.plan.steps, epsilon)?;
        let mut bound = self.verified(kappa, reached, source)?;
        bound.lower = bound.value.map(|value| bracket.lower.min(value));
        Ok(bound)
    }

    fn by_renyi(&self) -> Result<Bound> {
        let Target { epsilon, delta } = self.target;
        let effort = Effort { method: Method::Rdp, ..Effort::default() };
        let mut source = None;
        let value = |kappa: f64| {
            let bound = account(self.plan, kappa, Question::DeltaAt { epsilon }, &effort)?;
            source = Some(bound.source);
            Ok(bound.upper.unwrap_or(1.0))
        };
        let guess = self.first_guess(f64::INFINITY)?;
        let root = decreasing_crossing(value, delta, Start::at(guess), LARGEST_KAPPA, TOLERANCE)?;
        let source = source.unwrap_or(Source::new("ours", "Renyi differential privacy"));
        match root {
            Some(root) => self.verified(root.argument, root.value, source),
            None => Ok(Bound::refused(KAPPA, source, "no noise was found that suffices")),
        }
    }

    /// Pilot, then one verification with fresh seeds; on failure more noise and half the failure
    /// probability.
    fn by_monte_carlo(&self) -> Result<Bound> {
        let Route::Pair { sensitivity } = self.route else {
            return Err(rung::refusal(Method::L3, self.route));
        };
        const ATTEMPTS: u32 = 12;
        let Target { epsilon, delta } = self.target;
        let settings = self.effort.monte_carlo;
        let make = |kappa: f64| {
            Pair::new(self.plan.rate()?, kappa / sensitivity, self.plan.lambda, self.plan.steps)
        };
        let pilot = monte_carlo::Settings { samples: settings.samples.min(4000), ..settings };
        let value = |kappa: f64| {
            let pair = make(kappa)?;
            Ok(monte_carlo::forward_pilot(&pair, epsilon, &pilot, &|_| true)?.value)
        };
        let guess = self.by_transfer(Method::L2td, f64::INFINITY)?.value.unwrap_or(1.0);
        let Some(root) = decreasing_crossing(value, delta, Start::at(guess), LARGEST_KAPPA, 3e-3)?
        else {
            return Ok(Bound::refused(KAPPA, super::account::L3, "the pilot found no noise"));
        };
        let mut kappa = root.argument * 1.012;
        let mut last = None;
        for attempt in 0..ATTEMPTS {
            (self.effort.progress)("l3, verification");
            let settings = monte_carlo::Settings { attempt, ..settings };
            let certified =
                match monte_carlo::certify(&make(kappa)?, epsilon, delta, &settings, &|_| true) {
                    Ok(certified) => certified,
                    // Too few samples: the reason names how many it takes.
                    Err(error @ BoundError::Unproven { .. }) => {
                        return Ok(Bound::refused(KAPPA, super::account::L3, error.to_string()));
                    }
                    Err(error) => return Err(error),
                };
            if certified.upper() <= delta {
                let mut bound = self.verified(kappa, certified.upper(), super::account::L3)?;
                bound.warrant = Warrant::Confidence(1.0 - settings.failure_probability);
                return Ok(bound
                    .with_term("forward", certified.forward.upper)
                    .with_term("reverse", certified.reverse.upper));
            }
            last = Some(certified.upper());
            // In proportion to what is missing, at least half a percent.
            let missing = (certified.upper() / delta).ln() / 12.0;
            kappa *= 1.0 + missing.clamp(0.005, 0.1);
        }
        let reason = format!(
            "no noise was certified in {ATTEMPTS} attempts (last upper limit {}); raise the number of \
             samples, or use method l2td",
            crate::error::Shown::short(last.unwrap_or(1.0))
        );
        Ok(Bound::refused(KAPPA, super::account::L3, reason))
    }
}
