//! The smallest width at which a certificate says something, by statement and data set.

use dpbounds_bounds::kan::Initialisation;
use dpbounds_bounds::kan::certificates::{Claim, Clipping, Noise, Outlook, Question, Route};
use dpbounds_bounds::privacy::{self, Effort, Relation, Sampler, Target};
use dpbounds_experiments::data::{Request, Scale};
use plotters_backend::DrawingBackend;

use crate::axes::{Axis, Panel};
use crate::canvas::{Canvas, Rect, Type};
use crate::certificates::{Material, obstacle, useful};
use crate::error::{FigureError, Result};
use crate::frame;
use crate::legend::{self, Entry, LINE, Mark};
use crate::render::Plot;
use crate::style::{BLUE, Colour, GREY, INK, SOLID, Stroke, VERMILLION, size};
use crate::table::{Table, number};
use crate::text::shortened;

pub(crate) const TITLE: &str = "Smallest width with a certificate below log 2";
pub(crate) const SUMMARY: &str = "Width m at which a certificate of the averaged risk is below the loss of the zero predictor, by \
    statement, data set and initialisation: found with networks of that width, estimated beyond, or none, \
    and the hypothesis or term that stands in the way.";

/// A statement with what is asked of it.
struct Statement {
    words: &'static str,
    question: Question,
}

fn statements(noise: Option<(f64, u64)>) -> Vec<Statement> {
    let ask = |route| Question { routes: vec![route], ..Question::default() };
    let population = |route| Question { claim: Claim::Population, ..ask(route) };
    let mut all = vec![
        Statement { words: "training, S-GD", question: ask(Route::SGd) },
        Statement { words: "training, S", question: ask(Route::S) },
        Statement { words: "training, P (paper)", question: ask(Route::P) },
        Statement { words: "training, D (paper)", question: ask(Route::D) },
        Statement { words: "population, 5S", question: population(Route::SGd) },
    ];
    if let Some((kappa, steps)) = noise {
        let mut question = Question {
            noise: Noise::Multiplier(kappa),
            clipping: Clipping::Public,
            ..ask(Route::S)
        };
        (question.schedule.step_size, question.schedule.steps) = (Some(0.3), Some(steps));
        all.push(Statement { words: "training, S, ε = 8, ηT = 6", question });
    }
    all
}

/// What came out for an initialisation.
#[derive(Clone)]
enum Found {
    /// A network of this width has a certificate, and one four fifths as wide has none.
    Certified(usize),
    /// About this width, from a network of the largest width.
    Estimate(u64),
    /// No width is known to help, and why.
    None(String),
}

struct Row {
    data: &'static str,
    statement: &'static str,
    init: Initialisation,
    /// The largest width that was tried.
    available: usize,
    found: Found,
}

struct Case {
    name: &'static str,
    material: Material,
    /// Largest width that is tried, for both initialisations.
    most: usize,
    inits: &'static [Initialisation],
    /// Fewer comparators where each takes long.
    horizons: Option<Vec<f64>>,
    noise: Option<(f64, u64)>,
}

const BOTH: &[Initialisation] = &[Initialisation::Greville, Initialisation::Gaussian];
const LEAST: usize = 16;

fn cases(quick: bool) -> Result<Vec<Case>> {
    let atoms = |name: &str, shape| Material::new(&Request::new(name), shape);
    let most = if quick { 1 << 11 } else { 1 << 14 };
    let mut all = vec![Case {
        name: "A4, (k, p) = (1, 2)",
        material: atoms("atoms:A4,n=4000", (1, 2))?,
        most,
        inits: BOTH,
        horizons: None,
        noise: None,
    }];
    if quick {
        return Ok(all);
    }
    all.push(Case {
        name: "XOR, (k, p) = (3, 6)",
        material: atoms("atoms:X4,n=4000", (3, 6))?,
        most,
        inits: BOTH,
        horizons: None,
        noise: None,
    });
    let cancer = Request { scale: Some(Scale::Squash), ..Request::new("breast-cancer") };
    all.push(Case {
        name: "Breast cancer, (k, p) = (1, 2)",
        material: Material::new(&cancer, (1, 2))?,
        most: 1 << 11,
        inits: &[Initialisation::Greville],
        horizons: Some(vec![20.0, 40.0, 80.0, 160.0, 320.0]),
        noise: Some((private_noise(569, 20)?, 20)),
    });
    Ok(all)
}

/// Noise on full batches that is proven to give (8, 10⁻⁴)-DP, zero-out.
fn private_noise(records: u64, steps: u64) -> Result<f64> {
    let plan = privacy::Plan {
        n: records,
        batch: records,
        steps: steps - 1,
        lambda: 0.0,
        sampler: Sampler::Full,
        relation: Relation::ZeroOut,
    };
    let target = Target { epsilon: 8.0, delta: 1e-4 };
    let found = privacy::calibrate(&plan, target, &Effort::default())?;
    found.value.ok_or_else(|| FigureError::Draw("no noise gives the privacy of a figure".into()))
}

/// By bisection, to a quarter.
#[allow(clippy::cast_precision_loss)] // small widths
fn smallest(case: &Case, statement: &Statement, init: Initialisation) -> Result<Found> {
    let question = Question { horizons: case.horizons.clone(), ..statement.question.clone() };
    let ask = |width: usize| case.material.certify((init, width), |ask| ask(&question));
    let largest = match ask(case.most)? {
        Ok(found) => found,
        Err(error) => return Ok(Found::None(error.to_string())),
    };
    if useful(&largest).is_none() {
        return Ok(match largest.outlook.as_ref().and_then(Outlook::useful_width) {
            Some(width) => Found::Estimate(width),
            None => Found::None(obstacle(&largest)),
        });
    }
    let is_certified = |width: usize| {
        Ok::<_, FigureError>(ask(width)?.is_ok_and(|found| useful(&found).is_some()))
    };
    let (mut low, mut high) = (LEAST, case.most);
    while high * 100 > low * 125 {
        let middle = even((low as f64 * high as f64).sqrt());
        if middle <= low || middle >= high {
            break;
        }
        if is_certified(middle)? { high = middle } else { low = middle }
    }
    Ok(Found::Certified(high))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small widths
fn even(width: f64) -> usize {
    2 * (width / 2.0).round() as usize
}

pub(crate) struct Plotted {
    rows: Vec<Row>,
}

impl Plotted {
    pub(crate) fn compute(quick: bool) -> Result<Self> {
        let mut rows = Vec::new();
        for case in cases(quick)? {
            for statement in statements(case.noise) {
                for &init in case.inits {
                    let found = smallest(&case, &statement, init)?;
                    let (data, available) = (case.name, case.most);
                    rows.push(Row { data, statement: statement.words, init, available, found });
                }
            }
        }
        Ok(Self { rows })
    }

    /// Data sets and statements, in the order of the lines.
    fn lines(&self) -> Vec<(&'static str, &'static str)> {
        let mut lines: Vec<_> = self.rows.iter().map(|row| (row.data, row.statement)).collect();
        lines.dedup();
        lines
    }
}

/// The two largest terms, or what is refused.
fn in_short(why: &str) -> String {
    match why.split_once(" is refused") {
        Some((request, _)) => format!("{request} is refused"),
        None => why.split("; ").take(2).collect::<Vec<_>>().join("; "),
    }
}

const fn colour(init: Initialisation) -> Colour {
    match init {
        Initialisation::Gaussian => VERMILLION,
        _ => BLUE,
    }
}

const STEP: f64 = 36.0;
/// Between the lines of the two initialisations.
const APART: f64 = 16.0;
const TOP: f64 = 84.0;
const LEFT: f64 = 330.0;

const CERTIFIED: [Entry; 2] = [
    Entry {
        label: "Greville: certified at this width",
        mark: Mark::Dotted(Stroke::curve(BLUE, SOLID)),
    },
    Entry {
        label: "Gaussian, as in the paper: certified at this width",
        mark: Mark::Dotted(Stroke::curve(VERMILLION, SOLID)),
    },
];
const ESTIMATED: [Entry; 1] =
    [Entry { label: "Estimate beyond the widths that were tried", mark: Mark::Hollow(INK) }];

impl Plot for Plotted {
    fn size(&self) -> (u32, u32) {
        (1060, (u32::try_from(self.lines().len()).unwrap_or(1) * 36 + 208).max(500))
    }

    #[allow(clippy::cast_precision_loss)] // few lines, widths below 2^53
    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()> {
        frame::title(
            canvas,
            TITLE,
            "Full batches, tanh; step size and horizon (to 3000) searched for. Bisection from 16 units to the largest width tried, the end of each line.",
        )?;
        let lines = self.lines();
        let bottom = TOP + STEP * lines.len() as f64;
        let area = Rect { left: LEFT, top: TOP, right: frame::SIDES.1, bottom };
        let panel = Panel { area, x: Axis::Log(10.0, 1e15), y: Axis::Linear(0.0, 1.0) };
        panel.vertical_grid(canvas)?;
        let label = Type::new(size::TICK, INK);
        let mut before = "";
        for (index, (data, statement)) in lines.iter().enumerate() {
            let y = TOP + STEP * (index as f64 + 0.5);
            if *data != before {
                canvas.text(data, (24.0, y + 4.0), label.bold())?;
                if index > 0 {
                    let edge = y - STEP / 2.0;
                    canvas.line(&[(24.0, edge), (area.right, edge)], &Stroke::solid(GREY, 0.75))?;
                }
                before = data;
            }
            canvas.text(statement, (LEFT - 10.0, y + 4.0), label.ending())?;
            let of_line = |row: &&Row| (row.data, row.statement) == (*data, *statement);
            let rows: Vec<&Row> = self.rows.iter().filter(of_line).collect();
            let middle = (rows.len() as f64 - 1.0) / 2.0;
            for (place, row) in rows.iter().enumerate() {
                let (y, colour) = (y + APART * (place as f64 - middle), colour(row.init));
                match &row.found {
                    Found::Certified(width) => {
                        if let Some(x) = panel.across(*width as f64) {
                            let end = panel.across(row.available as f64).unwrap_or(x);
                            canvas.line(&[(x, y), (end, y)], &Stroke::solid(colour, 1.0))?;
                            canvas.dot((x, y), legend::DOT + 1.0, colour)?;
                        }
                    }
                    Found::Estimate(width) => {
                        if let Some(x) = panel.across(*width as f64) {
                            canvas.ring((x, y), legend::RING - 1.0, colour)?;
                        }
                    }
                    Found::None(why) => {
                        let style = Type::new(size::NOTE, colour);
                        let text = format!("none found: {}", in_short(why));
                        let text = shortened(&text, style, area.right - LEFT - 12.0)?;
                        canvas.text(&text, (LEFT + 8.0, y + 4.0), style)?;
                    }
                }
            }
        }
        panel.x_axis(canvas, true)?;
        panel.x_name(canvas, "Width m (units)")?;
        let top = bottom + 50.0;
        let left = 24.0 + legend::column(canvas, (24.0, top), "", &CERTIFIED)? + 28.0;
        legend::column(canvas, (left, top), "", &ESTIMATED)?;
        let note = "Estimates carry constants, margin and comparator over from the widest network that was tried; they are no guarantee.";
        canvas.text(note, (24.0, top + 2.0 * LINE + 24.0), Type::new(size::NOTE, GREY))
    }

    #[allow(clippy::cast_precision_loss)] // widths below 2^53
    fn table(&self) -> Result<Table> {
        let mut table = Table::new(&[
            "data",
            "statement",
            "initialisation",
            "available",
            "kind",
            "required",
            "obstacle",
        ]);
        for row in &self.rows {
            let (kind, required, why) = match &row.found {
                Found::Certified(width) => ("certified", number(*width as f64)?, "none".into()),
                Found::Estimate(width) => ("estimate", number(*width as f64)?, "width".into()),
                Found::None(why) => ("none", "none".into(), why.clone()),
            };
            let init = if row.init == Initialisation::Gaussian { "gaussian" } else { "greville" };
            table.push(vec![
                row.data.into(),
                row.statement.into(),
                init.into(),
                number(row.available as f64)?,
                kind.into(),
                required,
                why,
            ]);
        }
        Ok(table)
    }
}

/// The labels of the legend.
#[cfg(test)]
pub(crate) fn labels() -> Vec<&'static str> {
    CERTIFIED.iter().chain(&ESTIMATED).map(|entry| entry.label).collect()
}
