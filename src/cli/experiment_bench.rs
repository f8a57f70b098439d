//! `dpbounds experiment bench`.

use std::time::Instant;

use clap::{Args, ValueEnum};
use dpbounds_experiments::kan::Real;
use dpbounds_experiments::train::{TrainError, Trainer, Workload};
use serde_json::json;

use super::{Failure, numbers};
use crate::output::write_bytes;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WorkloadWord {
    /// n 10,000, d 10, m 64, B 100
    #[value(name = "W1")]
    W1,
    /// n 60,000, d 784, m 64, B 600
    #[value(name = "W2")]
    W2,
    /// n 1,000, d 2, m 256, B 32
    #[value(name = "W3")]
    W3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TypeWord {
    /// Single precision
    F32,
    /// Double precision
    F64,
}

/// Measure the speed of training on a fixed workload, on one thread.
#[derive(Debug, Args)]
#[command(after_help = "\
The workloads are steps of DP-SGD with clipping, noise that is correlated over time, and
projection, on a network of cubic splines with 6 functions; inputs uniform in the unit ball,
random labels.

Prints one line of JSON: mode, the instructions that are used; steps_per_s from the median time of a step (p50_ms), quiet_steps_per_s
from the time that a tenth of the steps stay below (p10_ms), and rss_mb, the most memory used,
where the system tells it.

Examples:
  dpbounds experiment bench --workload W1 --seconds 0.2
  dpbounds experiment bench --workload W3 --dtype f64 --noise 0 --seconds 0.2")]
pub struct ExperimentBench {
    /// The workload
    #[arg(long, value_enum, ignore_case = true)]
    workload: WorkloadWord,
    /// Precision
    #[arg(long, value_enum, default_value_t = TypeWord::F32)]
    dtype: TypeWord,
    /// 1: fresh noise in every step; 0: none
    #[arg(long, value_name = "0|1", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=1))]
    noise: u8,
    /// How long steps are timed, > 0 and at most 86400 [seconds]
    #[arg(long, value_name = "S", default_value = "3", value_parser = seconds, allow_hyphen_values = true)]
    seconds: f64,
    /// Seed of data, batches and noise
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = numbers::count)]
    seed: u64,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = numbers::number(text)?;
    if seconds > 0.0 && seconds <= 86_400.0 {
        Ok(seconds)
    } else {
        Err(format!("{text} is out of range: give seconds > 0, at most 86400"))
    }
}

impl ExperimentBench {
    pub(super) fn run(self) -> Result<(), Failure> {
        let workload = match self.workload {
            WorkloadWord::W1 => Workload::W1,
            WorkloadWord::W2 => Workload::W2,
            WorkloadWord::W3 => Workload::W3,
        };
        let times = match self.dtype {
            TypeWord::F32 => self.times::<f32>(&workload),
            TypeWord::F64 => self.times::<f64>(&workload),
        };
        let times = times?;
        let (median, quiet) = (quantile(&times.sorted, 0.5), quantile(&times.sorted, 0.1));
        #[allow(clippy::cast_precision_loss)] // a batch
        let batch = workload.batch as f64;
        let line = json!({
            "impl": "dpbounds",
            "mode": times.mode,
            "workload": name(self.workload),
            "dtype": name(self.dtype),
            "noise": self.noise,
            "threads": 1,
            "steps_per_s": rounded(1.0 / median),
            "quiet_steps_per_s": rounded(1.0 / quiet),
            "p50_ms": rounded(1e3 * median),
            "p10_ms": rounded(1e3 * quiet),
            "timed_steps": times.steps,
            "examples_per_s": rounded(batch / median),
            "rss_mb": peak_memory(),
        });
        write_bytes(format!("{line}\n").as_bytes(), None)
    }

    fn times<F: Real>(&self, workload: &Workload) -> Result<Times, TrainError> {
        let task = workload.task::<F>(self.seed, self.noise == 1)?;
        let mut trainer =
            Trainer::new(&task.network, &task.weights, &task.examples, task.settings)?;
        let mode = trainer.instruction_set();
        let (sorted, steps) = time_steps(self.seconds, || {
            trainer.step();
        });
        Ok(Times { mode, sorted, steps })
    }
}

struct Times {
    /// The instructions that are used.
    mode: String,
    /// Seconds of a step.
    sorted: Vec<f64>,
    steps: u64,
}

/// So many times are kept at most: a few megabytes would count as memory of the training.
const SAMPLES: f64 = 50_000.0;
const FEWEST: usize = 5;

/// Seconds of a step, sorted, and the number of steps.
fn time_steps(seconds: f64, mut step: impl FnMut()) -> (Vec<f64>, u64) {
    let mut seconds_of = |steps: u32| {
        let start = Instant::now();
        (0..steps).for_each(|_| step());
        start.elapsed().as_secs_f64() / f64::from(steps)
    };
    let warm = seconds_of(3).min(seconds_of(3));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    let together = (seconds / warm / SAMPLES).ceil().max(1.0) as u32;
    let start = Instant::now();
    let mut sorted = Vec::new();
    while sorted.len() < FEWEST || start.elapsed().as_secs_f64() < seconds {
        sorted.push(seconds_of(together));
    }
    sorted.sort_by(f64::total_cmp);
    let steps = sorted.len() as u64 * u64::from(together);
    (sorted, steps)
}

/// By linear interpolation in sorted numbers.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn quantile(sorted: &[f64], level: f64) -> f64 {
    let place = level * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// To six places after the point.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn name<T: ValueEnum>(value: T) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The largest resident set of this process in MB, where the system tells it.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((kilobytes / 1024.0 * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!(quantile(&[7.0], 0.1), 7.0);
    }
}
