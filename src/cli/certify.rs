//! `dpbounds certify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpbounds_experiments::certify::{
    Method, Model, PrivatePrior, Record, Sample, Settings, Source, certify, check,
};
use dpbounds_experiments::data::Request;
use dpbounds_experiments::run::Options;
use indicatif::{ProgressBar, ProgressStyle};

use super::certify_options::{ModelOptions, PosteriorOptions, PriorOptions};
use super::data_options::DataOptions;
use super::{Failure, OutputOptions, command_line, numbers};
use crate::output::{Cell, Format, Records, Side, provenance, write_records};

/// Train a network and certify its risk by PAC-Bayes on its own training set, with a private prior.
#[derive(Debug, Args)]
#[command(after_help = "\
The prior is N(W, s^2 I). W is the initial network (data-independent), or was learned from the same
records by DP-SGD: each record once (streaming; correlated noise: correlated), or in Poisson
batches over several epochs (poisson). Max-information pays for it; no record is held out.

B(h0) bounds the risk of the private network itself, B(rho) the Gibbs risk of the posterior. Both
bounds of a seed and the sampled risk hold together with probability at least 1 - delta. A row
shows means over the seeds; each method and seed is a statement of its own. Settings must not be chosen by looking at these records. What is
given as a list is paid for: every private network of a list is accounted for and the best taken.

DIR gets METHOD-seedN.json (a certificate with all that it is computed from), its weights,
certificates.jsonl, summary.csv and certificates.png. Test records enter no certificate. --check
computes a certificate again from its file, --retrain also trains again; exit status 1 if it differs.

Examples:
  dpbounds certify --data digits --classes 0+2+4+6+8,1+3+5+7+9 --width 16 --out digits
  dpbounds certify --data breast-cancer --method poisson --seeds 1 --out cancer
  dpbounds certify --check cancer/poisson-seed0.json
  dpbounds certify --data fashion-mnist --network dense --method poisson --out dense")]
pub struct Certify {
    /// A data set of `dpbounds data list`, or a CSV file
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "check")]
    data: Option<String>,
    /// Where the mean of the prior comes from
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodWord::Compare)]
    method: MethodWord,
    /// Number of seeds: initial weights, noise, batches and draws [count]
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Directory for certificates, weights and the picture
    #[arg(long, value_name = "DIR", required_unless_present = "check")]
    out: Option<PathBuf>,
    /// Compute the certificate of this file again from its weights and data
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "out", "resume"])]
    check: Option<PathBuf>,
    /// With --check: train prior and posterior again too, and compare every bit
    #[arg(long, requires = "check")]
    retrain: bool,
    /// Total failure probability of a method and seed, in (0, 1) [probability]
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = numbers::number, allow_hyphen_values = true)]
    delta: f64,
    /// Test on this file instead of a part of the data
    #[arg(long, value_name = "FILE")]
    test: Option<String>,
    /// Share of the records that is kept for the test, if there is no other, in [0, 1)
    #[arg(long, value_name = "SHARE", default_value = "0.2", value_parser = numbers::number, allow_hyphen_values = true)]
    test_share: f64,
    /// Seed of the division into sample and test, and of a synthetic family
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    data_seed: u64,
    /// Go on with the certificates that DIR lacks
    #[arg(long)]
    resume: bool,
    /// Number of threads; default all cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    data_options: DataOptions,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    prior: PriorOptions,
    #[command(flatten)]
    posterior: PosteriorOptions,
    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodWord {
    /// The initial network
    DataIndependent,
    /// DP-SGD that uses each record once
    Streaming,
    /// DP-SGD with Poisson batches, several epochs
    Poisson,
    /// DP-SGD that uses each record once, with noise kappa(Z_t - lambda Z_{t-1})
    Correlated,
    /// All four; without correlated for dense networks
    Compare,
}

impl MethodWord {
    fn methods(self) -> Vec<Method> {
        match self {
            Self::DataIndependent => vec![Method::DataIndependent],
            Self::Streaming => vec![Method::Streaming],
            Self::Poisson => vec![Method::Poisson],
            Self::Correlated => vec![Method::Correlated],
            Self::Compare => Method::ALL.to_vec(),
        }
    }
}

impl Certify {
    pub(super) fn run(self) -> Result<(), Failure> {
        if let Some(file) = &self.check {
            return again(file, self.retrain, &self.output);
        }
        let (Some(data), Some(directory)) = (&self.data, &self.out) else {
            return Err(Failure::Usage("--data and --out are missing".into()));
        };
        let request = self.data_options.request(data, self.data_seed);
        if self.test.is_some() && request.labels.is_some() {
            let problem = "--test does not go with --labels, which are those of the sample; a share is kept for the test";
            return Err(Failure::Usage(problem.into()));
        }
        let test = self.test.as_ref().map(|file| Request { name: file.clone(), ..request.clone() });
        let all_classes = self.model.is_dense() && self.data_options.takes_all_classes(data);
        let source = Source {
            data: request,
            test,
            test_share: self.test_share,
            seed: self.data_seed,
            all_classes,
        };
        let model = self.model.model()?;
        let sample = Sample::load(&source)?;
        let mut methods = self.method.methods();
        if self.method == MethodWord::Compare && self.model.is_dense() {
            methods.retain(|method| *method != Method::Correlated);
        }
        if let [method] = methods[..] {
            self.prior.refuse_what_does_not_apply(method)?;
        }
        let settings: Result<Vec<Settings>, Failure> =
            methods.iter().map(|method| self.settings(*method, &model, sample.records())).collect();
        let options = Options {
            directory: directory.clone(),
            resume: self.resume,
            threads: self.threads.map(usize::from),
            command: command_line(),
        };
        let settings = settings?;
        let records = {
            let bar = bar();
            let tell = |done: usize, total: usize| {
                bar.set_length(total as u64);
                bar.set_position(bar.position().max(done as u64));
            };
            let records = certify(&sample, &settings, self.seeds, &options, &tell);
            bar.finish_and_clear();
            records?
        };
        let table = summary(&sample, &records);
        let file = Some(directory.join("summary.csv"));
        write_records(&table, &OutputOptions { format: Format::Csv, output: file })?;
        dpbounds_figures::write_certificates(
            &records,
            &sample.description,
            directory,
            &provenance(),
        )?;
        write_records(&table, &self.output)?;
        if self.output.format == Format::Table && self.output.output.is_none() {
            notes(&sample, &records);
        }
        Ok(())
    }

    fn settings(&self, method: Method, model: &Model, records: usize) -> Result<Settings, Failure> {
        let mut settings = Settings::new(method, model.clone(), records, self.delta)?;
        if method != Method::DataIndependent && self.prior.are_given() {
            let level = settings.budget.max_information;
            let usual: Vec<PrivatePrior> = std::mem::take(&mut settings.priors);
            settings.priors = self.prior.candidates(&usual, method, model, (records, level))?;
        }
        settings.spreads = self.posterior.spreads(settings.usual_spreads());
        settings.posterior = self.posterior.training(settings.posterior);
        settings.draws = self.posterior.draws(settings.draws);
        Ok(settings)
    }
}

fn bar() -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:24} {pos}/{len} certificates, {elapsed}, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

/// The table of the paper: means and standard deviations over the seeds, one row a method.
fn summary(sample: &Sample, records: &[Record]) -> Records {
    let columns = [
        "prior",
        "R^(h0)",
        "R^(rho)",
        "kappa [nats]",
        "complexity/n",
        "B(h0)",
        "+-",
        "B(rho)",
        "+- ",
        "test h0",
        "test rho",
        "KL [nats]",
        "n",
        "seeds",
        "delta a seed",
    ];
    let mut table = Records::new("certificates", &columns);
    for rows in records.chunk_by(|a, b| a.method == b.method) {
        let of = |value: &dyn Fn(&Record) -> Option<f64>| mean_and_deviation(rows, value);
        let model = of(&|row| row.certified.model_bound);
        let posterior = of(&|row| Some(row.certified.posterior_bound));
        let bound = |pair: Option<(f64, f64)>| {
            pair.map_or(Cell::Empty, |(mean, _)| Cell::Bound(mean, Side::Upper))
        };
        let mean = |value: &dyn Fn(&Record) -> Option<f64>| -> Cell {
            of(value).map(|(mean, _)| mean).into()
        };
        #[allow(clippy::cast_precision_loss)]
        table.push(vec![
            rows[0].method.name().into(),
            mean(&|row| row.certified.model_risk),
            mean(&|row| Some(row.certified.posterior_risk)),
            mean(&|row| row.certified.max_information),
            mean(&|row| Some(row.certified.posterior_complexity)),
            bound(model),
            model.map(|(_, deviation)| deviation).into(),
            bound(posterior),
            posterior.map(|(_, deviation)| deviation).into(),
            mean(&|row| row.test.model),
            mean(&|row| row.test.posterior),
            mean(&|row| Some(row.ingredients.kl)),
            (sample.records() as f64).into(),
            (rows.len() as f64).into(),
            rows[0].certified.failure_probability.into(),
        ]);
    }
    table
}

/// Over the rows that have the value; the standard deviation of the sample, 0 for one.
#[allow(clippy::cast_precision_loss)]
fn mean_and_deviation(
    rows: &[Record],
    value: &dyn Fn(&Record) -> Option<f64>,
) -> Option<(f64, f64)> {
    let values: Vec<f64> = rows.iter().filter_map(value).collect();
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, (squares / (count - 1.0).max(1.0)).sqrt()))
}

/// What the table does not say, on standard error.
fn notes(sample: &Sample, records: &[Record]) {
    if sample.scaling_records > 0 {
        anstream::eprintln!(
            "{} records were used up to read the scaling off them; they are not among the n",
            sample.scaling_records
        );
    }
    if sample.overlap > 0 {
        anstream::eprintln!(
            "{} test records are also in the sample, so that the test errors are a little low",
            sample.overlap
        );
    }
    let least = |method: Method| {
        let bounds = records.iter().filter(|row| row.method == method).map(|row| {
            let posterior = row.certified.posterior_bound;
            row.certified.model_bound.map_or(posterior, |model| model.min(posterior))
        });
        let (count, sum) =
            bounds.fold((0.0, 0.0), |(count, sum), bound| (count + 1.0, sum + bound));
        (count > 0.0).then_some(sum / count)
    };
    let Some(without) = least(Method::DataIndependent) else { return };
    for method in Method::ALL.into_iter().skip(1) {
        if let Some(with) = least(method).filter(|with| *with > without) {
            anstream::eprintln!(
                "the {method} prior loses here ({with:.4} against {without:.4}): at n = {} its max-information costs more than it spares in divergence",
                sample.records()
            );
        }
    }
}

/// `--check`.
fn again(file: &std::path::Path, retrain: bool, output: &OutputOptions) -> Result<(), Failure> {
    let findings = check(file, retrain)?;
    let mut table = Records::new("check", &["what", "stated", "found", "agrees"]);
    for finding in &findings {
        table.push(vec![
            finding.what.into(),
            finding.stated.as_str().into(),
            finding.found.as_str().into(),
            Cell::Flag(finding.agrees),
        ]);
    }
    write_records(&table, output)?;
    let wrong: Vec<&str> =
        findings.iter().filter(|finding| !finding.agrees).map(|finding| finding.what).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    anstream::eprintln!("{} does not agree in: {}", file.display(), wrong.join(", "));
    Err(Failure::Reported { code: 1 })
}
