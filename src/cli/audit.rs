//! `dpbounds audit`.

use clap::{Args, Subcommand, ValueEnum};
use dpbounds_bounds::BoundError;
use dpbounds_bounds::privacy::{self, Audit, Effort, Plan, Target, Verdict, closed_form};

use super::grid::{Grid, Point};
use super::numbers::Sweep;
use super::progress::Progress;
use super::run_options::{PaceOptions, RunOptions};
use super::{Failure, OutputOptions};
use crate::output::{
    Cell, Format, Input, Records, Side, display, display_exact, display_side, write_records,
    write_text,
};

/// Audit a claimed noise.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// The noise that a closed form prints, or any claimed number
    ClosedForm(ClosedForm),
}

impl AuditCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::ClosedForm(options) => options.run(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Formula {
    /// Theorem D.9 (= Theorem 5.4) of arXiv 2605.12648, false as printed
    D9,
    /// Theorem F.12 of arXiv 2605.12648, also outside its domain
    F12,
}

/// Is the noise of a closed form private enough?
#[derive(Debug, Args)]
#[command(
    mut_arg("batch", |arg| arg.required(true)),
    mut_arg("steps", |arg| arg.required(true)),
    after_help = "\
certified: a proven upper bound is within the target.
violated: explicit neighbouring data sets spend more. undecided: neither was shown.
The exit status is 0 for each of them.
over_calibration is the claimed kappa over the smallest one known to suffice.

Examples:
  dpbounds audit closed-form --n 1e4 --batch 100 --steps 100 --epsilon 4 --delta 1e-5 \\
      --sampler fixed --relation replace-one
  dpbounds audit closed-form --n 1e4 --batch 100 --steps 1e4 --epsilon 0.5,1 --delta 1e-5 \\
      --formula f12
  dpbounds audit closed-form --n 1e4 --batch 100 --steps 1000 --epsilon 1 --delta 1e-5 \\
      --kappa 1,1.4,1.42 --format csv"
)]
pub struct ClosedForm {
    #[command(flatten)]
    run: RunOptions,
    /// Claimed privacy epsilon, > 0 [nats]
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Sweep,
    /// Claimed privacy delta, in (0, 1) [probability]
    #[arg(long, allow_hyphen_values = true)]
    delta: Sweep,
    /// Whose noise; by default d9 where it is stated (fixed, replace-one, lambda 0), else f12
    #[arg(long)]
    formula: Option<Formula>,
    /// Claimed noise on the sum in place of a formula, > 0 [clipping norms]
    #[arg(long, allow_hyphen_values = true, conflicts_with = "formula")]
    kappa: Option<Sweep>,
    #[command(flatten)]
    pace: PaceOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// An audited claim.
struct Row {
    inputs: Vec<(String, Input)>,
    claim: &'static str,
    target: Target,
    found: Audit,
}

impl ClosedForm {
    fn run(self) -> Result<(), Failure> {
        self.pace.set_threads()?;
        let grid = self
            .run
            .grid()
            .axis("epsilon", &self.epsilon)
            .axis("delta", &self.delta)
            .axis("lambda", &self.run.lambda)
            .optional("kappa", self.kappa.as_ref());
        grid.each(|point| self.check(point))?;
        let rows = self.rows(&grid)?;
        match (&rows[..], self.output.format) {
            ([single], Format::Table) => write_text(single.in_sentences(), &self.output),
            _ => write_records(&table(&rows), &self.output),
        }
    }

    /// Finds faults before anything is computed.
    fn check(&self, point: &Point) -> Result<(), Failure> {
        let (plan, target) = (self.run.plan(point)?, target(point)?);
        privacy::route(&plan)?;
        self.claim(point, &plan, target)?;
        let nothing = Plan { steps: 0, ..plan };
        privacy::calibrate(&nothing, target, &Effort::default())?;
        Ok(())
    }

    fn rows(&self, grid: &Grid) -> Result<Vec<Row>, Failure> {
        let progress = Progress::new(grid.size()?);
        let stage = |name: &str| progress.stage(name);
        let effort = self.pace.effort(&stage)?;
        grid.in_parallel(
            || progress.point_done(),
            |point| {
                let (plan, target) = (self.run.plan(point)?, target(point)?);
                let (claim, kappa) = self.claim(point, &plan, target)?;
                let found = privacy::audit(&plan, kappa, target, &effort)?;
                let mut inputs = point.inputs();
                inputs.retain(|(name, _)| name != "kappa"); // it is the claimed one
                inputs.extend(self.run.words());
                Ok(Row { inputs, claim, target, found })
            },
        )
    }

    /// Who claims which noise.
    fn claim(
        &self,
        point: &Point,
        plan: &Plan,
        target: Target,
    ) -> Result<(&'static str, f64), BoundError> {
        let Plan { n, batch, steps, lambda, .. } = *plan;
        let Target { epsilon, delta } = target;
        if let Some(kappa) = point.get("kappa") {
            return Ok(("given", kappa));
        }
        let stated = plan.sampler == privacy::Sampler::Fixed
            && plan.relation == privacy::Relation::ReplaceOne
            && lambda == 0.0;
        let formula = self.formula.unwrap_or(if stated { Formula::D9 } else { Formula::F12 });
        Ok(match formula {
            Formula::D9 => {
                ("Theorem D.9", closed_form::d9_formula(n, batch, steps, epsilon, delta)?)
            }
            Formula::F12 => {
                ("Theorem F.12", closed_form::f12_formula(n, batch, steps, epsilon, delta, lambda)?)
            }
        })
    }
}

fn target(point: &Point) -> Result<Target, BoundError> {
    Ok(Target { epsilon: point.number("epsilon")?, delta: point.number("delta")? })
}

const COLUMNS: [&str; 17] = [
    "n",
    "batch",
    "steps",
    "epsilon",
    "delta",
    "lambda",
    "sampler",
    "relation",
    "claim",
    "claimed_kappa",
    "verdict",
    "epsilon_upper",
    "epsilon_lower",
    "delta_lower",
    "sufficient_kappa",
    "over_calibration",
    "witness",
];

fn table(rows: &[Row]) -> Records {
    let mut records = Records::new("audits", &COLUMNS).with_details(&["sampler", "relation"]);
    for Row { inputs, claim, found, .. } in rows {
        let side = |value: Option<f64>, side| value.map_or(Cell::Empty, |v| Cell::Bound(v, side));
        let mut row: Vec<Cell> = inputs
            .iter()
            .map(|(_, input)| match input {
                Input::Number(number) => Cell::Number(*number),
                Input::Word(word) => Cell::Text(word.clone()),
            })
            .collect();
        row.extend([
            (*claim).into(),
            found.kappa.into(),
            found.verdict.name().into(),
            side(found.epsilon_upper, Side::Upper),
            side(Some(found.epsilon_lower), Side::Lower),
            side(Some(found.delta_lower), Side::Lower),
            side(found.sufficient_kappa, Side::Upper),
            found.over_calibration.into(),
            found.witness.description().into(),
        ]);
        records.push(row);
    }
    records
}

impl Row {
    fn in_sentences(&self) -> String {
        let Self { inputs, claim, target, found } = self;
        let (epsilon, delta) = (display_exact(target.epsilon), display_exact(target.delta));
        let (up, down) =
            (|value| display_side(value, Side::Upper), |value| display_side(value, Side::Lower));
        let kappa = display(found.kappa);
        let claim = match *claim {
            "given" => format!("The claim that kappa = {kappa} gives ({epsilon}, {delta})-DP"),
            name => {
                format!("{name} prints kappa = {kappa} for ({epsilon}, {delta})-DP. This claim")
            }
        };
        let verdict = match found.verdict {
            Verdict::Certified => "is certified",
            Verdict::Violated => "is violated",
            Verdict::Undecided => "is undecided",
        };
        let mut text = format!("{claim} {verdict}.\n");
        if self.claim == "Theorem D.9" {
            text += "  Theorem D.9 is stated for fixed-size batches, a replaced record and lambda = 0.\n";
        }
        text += &match found.epsilon_upper {
            Some(upper) => {
                format!(
                    "  Proven from above: epsilon is at most {} at delta = {delta}.\n",
                    up(upper)
                )
            }
            None => format!("  No finite epsilon was proven from above at delta = {delta}.\n"),
        };
        text += &format!(
            "  Witness ({}):\n    epsilon is at least {} at delta = {delta}, delta at least {} at \
             epsilon = {epsilon}.\n",
            found.witness.description(),
            down(found.epsilon_lower),
            down(found.delta_lower)
        );
        text += &match (found.sufficient_kappa, found.over_calibration) {
            (Some(sufficient), Some(factor)) => format!(
                "  kappa = {} is proven to suffice; the claim is {} times that.\n",
                up(sufficient),
                display(factor)
            ),
            (Some(_), None) => "  No noise is needed for this target.\n".into(),
            (None, _) => "  No noise was proven to suffice.\n".into(),
        };
        let inputs: Vec<_> =
            inputs.iter().map(|(name, input)| format!("{name} = {input}")).collect();
        text + &format!("  {}\n", inputs.join(", "))
    }
}
