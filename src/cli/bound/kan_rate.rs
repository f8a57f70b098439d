//! `dpbounds bound kan rate`.

use clap::{Args, ValueEnum};
use dpbounds_bounds::kan::rates::{self, Run, SLOPES, Scenario};
use dpbounds_bounds::{Bound, BoundError};

use super::super::grid::{Grid, Point};
use super::super::numbers::Sweep;
use super::super::{Failure, OutputOptions};
use crate::output::{Answer, Input, write_answers};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Risk with correlated noise: --gamma --eta --steps --batch --width --dimension --kappa --lambda
    ACorr,
    /// Risk with independent noise: the same and --n --delta, without --lambda
    AVan,
    /// Risk without noise: --gamma --eta --steps --batch --width --dimension
    ANon,
    /// Step-size condition and width window: as a-corr; with --radius also Theorem 5.2's width
    Windows,
    /// --n --gamma --dimension --epsilon
    #[value(name = "corollary-5-3")]
    Corollary53,
    /// --n --gamma --dimension --epsilon (its privacy claim is false)
    #[value(name = "corollary-5-5")]
    Corollary55,
    /// --n --gamma (no noise)
    #[value(name = "corollary-5-6")]
    Corollary56,
    /// Full-batch recoveries: --n --gamma --dimension --epsilon
    FullBatch,
    /// Every corollary beside the earlier full-batch results: --n --gamma --dimension --epsilon
    Comparison,
    /// Predicted log-log slopes
    Slopes,
}

/// Options of `rate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dpbounds bound kan rate --which a-corr --gamma 0.3 --eta 0.2 --steps 500 --batch 64 \\\n      --width 2000 --dimension 7 --kappa 1.5 --lambda 0:0.9:4
  dpbounds bound kan rate --which comparison --n 1e6 --gamma 0.3 --dimension 10 --epsilon 1
  dpbounds bound kan rate --which slopes")]
pub struct Rate {
    /// Which quantity; each names the options it needs
    #[arg(long)]
    which: Which,
    /// NTK margin, > 0
    #[arg(long, allow_hyphen_values = true)]
    gamma: Option<Sweep>,
    /// Step size, > 0
    #[arg(long, allow_hyphen_values = true)]
    eta: Option<Sweep>,
    /// Number of steps T [count]
    #[arg(long, allow_hyphen_values = true)]
    steps: Option<Sweep>,
    /// Batch size B [count]
    #[arg(long, allow_hyphen_values = true)]
    batch: Option<Sweep>,
    /// Width m [count]
    #[arg(long, allow_hyphen_values = true)]
    width: Option<Sweep>,
    /// Input dimension d [count]
    #[arg(long, allow_hyphen_values = true)]
    dimension: Option<Sweep>,
    /// Noise on the sum of clipped gradients, >= 0 [clipping norms]; default 0
    #[arg(long, allow_hyphen_values = true)]
    kappa: Option<Sweep>,
    /// Noise correlation, in [0, 1]; default 0
    #[arg(long, allow_hyphen_values = true)]
    lambda: Option<Sweep>,
    /// Number of records [count]; default the batch, where only an upper limit of it is needed
    #[arg(long, allow_hyphen_values = true)]
    n: Option<Sweep>,
    /// Failure probability of the statement, in (0, 1) [probability]; default 1e-5
    #[arg(long, allow_hyphen_values = true)]
    delta: Option<Sweep>,
    /// Privacy epsilon, > 0 [nats]
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Option<Sweep>,
    /// Radius R_* of the projection, > 0
    #[arg(long, allow_hyphen_values = true)]
    radius: Option<Sweep>,
    #[command(flatten)]
    output: OutputOptions,
}

type Row = (&'static str, fn(&Point) -> Result<Bound, BoundError>);

impl Rate {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.which == Which::Slopes {
            let answers: Result<Vec<_>, BoundError> = SLOPES
                .iter()
                .map(|slope| {
                    let word =
                        |name: &str, text: &str| (name.to_owned(), Input::Word(text.to_owned()));
                    let inputs =
                        vec![word("measured", slope.measured), word("against", slope.against)];
                    Ok(Answer::new(inputs, slope.as_rate()?))
                })
                .collect();
            return write_answers(&answers?, &self.output);
        }
        let grid = self.grid();
        let rows = self.rows();
        let mut answers = Vec::new();
        for (label, row) in &rows {
            for mut answer in grid.answers(row)? {
                if rows.len() > 1 {
                    answer.inputs.insert(0, ("rate".into(), Input::Word((*label).into())));
                }
                answers.push(answer);
            }
        }
        write_answers(&answers, &self.output)
    }

    fn grid(&self) -> Grid {
        let mut grid = Grid::default();
        for (name, sweep) in [
            ("n", &self.n),
            ("steps", &self.steps),
            ("batch", &self.batch),
            ("width", &self.width),
            ("dimension", &self.dimension),
        ] {
            if let Some(sweep) = sweep {
                grid = grid.counts(name, sweep);
            }
        }
        grid.optional("gamma", self.gamma.as_ref())
            .optional("eta", self.eta.as_ref())
            .optional("kappa", self.kappa.as_ref())
            .optional("lambda", self.lambda.as_ref())
            .optional("delta", self.delta.as_ref())
            .optional("epsilon", self.epsilon.as_ref())
            .optional("radius", self.radius.as_ref())
    }

    fn rows(&self) -> Vec<Row> {
        match self.which {
            Which::ACorr => vec![("a-corr", |p| rates::a_corr(&run(p)?))],
            Which::AVan => vec![("a-van", |p| rates::a_van(&run(p)?))],
            Which::ANon => vec![("a-non", |p| rates::a_non(&run(p)?))],
            Which::Windows => {
                let mut rows: Vec<Row> = vec![
                    ("step size", |p| rates::step_size_condition(&run(p)?)),
                    ("width", |p| rates::width_window(&run(p)?)),
                ];
                if self.radius.is_some() {
                    rows.push(("population width", |p| {
                        rates::population_width(&run(p)?, p.number("radius")?)
                    }));
                }
                rows
            }
            Which::Corollary53 => vec![("corollary 5.3", |p| rates::corollary_5_3(&scenario(p)?))],
            Which::Corollary55 => vec![("corollary 5.5", |p| rates::corollary_5_5(&scenario(p)?))],
            Which::Corollary56 => vec![("corollary 5.6", |p| rates::corollary_5_6(&noiseless(p)?))],
            Which::FullBatch => vec![
                ("GD", |p| rates::full_batch_gd(&scenario(p)?)),
                ("DP-GD", |p| rates::full_batch_dp_gd(&scenario(p)?)),
            ],
            Which::Comparison => vec![
                ("corollary 5.3, correlated noise", |p| rates::corollary_5_3(&scenario(p)?)),
                ("corollary 5.5, independent noise", |p| rates::corollary_5_5(&scenario(p)?)),
                ("corollary 5.6, no noise", |p| rates::corollary_5_6(&scenario(p)?)),
                ("full batch, GD", |p| rates::full_batch_gd(&scenario(p)?)),
                ("full batch, GD, earlier", |p| rates::wang_gd(&scenario(p)?)),
                ("full batch, DP-GD", |p| rates::full_batch_dp_gd(&scenario(p)?)),
                ("full batch, DP-GD, earlier", |p| rates::wang_dp_gd(&scenario(p)?)),
            ],
            Which::Slopes => Vec::new(),
        }
    }
}

fn run(point: &Point) -> Result<Run, BoundError> {
    let batch = point.count("batch")?;
    Ok(Run {
        gamma: point.number("gamma")?,
        step_size: point.number("eta")?,
        steps: point.count("steps")?,
        batch,
        width: point.count("width")?,
        dimension: point.count("dimension")?,
        kappa: point.get("kappa").unwrap_or(0.0),
        lambda: point.get("lambda").unwrap_or(0.0),
        n: if point.get("n").is_some() { point.count("n")? } else { batch },
        delta: point.get("delta").unwrap_or(1e-5),
    })
}

fn scenario(point: &Point) -> Result<Scenario, BoundError> {
    Ok(Scenario {
        n: point.count("n")?,
        gamma: point.number("gamma")?,
        dimension: point.count("dimension")?,
        epsilon: point.number("epsilon")?,
    })
}

/// The scenario of a rate that uses neither dimension nor privacy.
fn noiseless(point: &Point) -> Result<Scenario, BoundError> {
    Ok(Scenario { n: point.count("n")?, gamma: point.number("gamma")?, dimension: 1, epsilon: 1.0 })
}
