//! Lemmas C.15 to C.22: how far two runs drift apart when one record is replaced.

use super::super::claim::{Claim, Level, Method, Verdict};
use super::super::lab::{Lab, Look, rng};
use super::super::linear::{dot, plus, project};
use super::super::measured::{CheckError, Measured, Slacks};
use super::super::walk::{Run, distance, draw_batch, walk};
use super::comparator::initial_outputs;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::kan("K-C.15", "Lemma C.15")
        .states("on-average argument stability ε and a Lipschitz loss give a generalisation gap of at most 2Lε")
        .checked(Method::BruteForce, gap),
    Claim::kan("K-C.16", "Lemma C.16")
        .states("Δ_{t+1} <= (1 + 2νη(L_B + L_B^(i))) Δ_t + (ηG/B) 1{i in B}(l_i + l_i') for two coupled runs")
        .checked(Method::Coupled, recursion),
    Claim::kan("K-C.17", "Lemma C.17")
        .states("initial outputs are at most B_b sqrt(2p log(4n/δ)), and along projected runs |f| <= F and l <= log(1+e^F)")
        .checked(Method::Coupled, outputs),
    Claim::kan("K-C.19", "Lemma C.19")
        .states("Σ L_B(W_t) <= Σ L_S(W_t) + sqrt(2TU² log(1/δ)/B) + (2/3)U log(1/δ) for both runs, except with probability 2δ")
        .checked(Method::Frequency, batch_losses),
    Claim::kan("K-C.20", "Lemma C.20")
        .states("wide enough, Σ M_t <= 1: here if 4νη(TA + X) <= 1")
        .checked(Method::Coupled, exponents),
    Claim::kan("K-C.21", "Lemma C.21")
        .states("then Δ_{t+1} <= e Σ R_k")
        .checked(Method::Coupled, drift),
    Claim::kan("K-C.22", "Theorem C.22")
        .states("E (1/n) Σ ‖W_T − W_T^(i)‖ <= (2eηG/n) Σ E L_S(W_t) + 2R_* δ_stab")
        .checked(Method::BruteForce, average_drift)
        .erratum(&["E6"], Verdict::HoldsCorrected),
];

/// All samples of three records from four atoms, trained by gradient descent: end points and summed risks.
struct Enumeration {
    lab: Lab,
    eta: f64,
    ends: Vec<(Vec<usize>, Vec<f64>, f64)>,
}

const ATOMS: usize = 4;
const RECORDS: usize = 3;

impl Enumeration {
    fn new(width: usize, steps: usize, share: f64) -> Result<Self, CheckError> {
        let lab = Lab::wide(width, 1, 3.0)?;
        let eta = share / lab.smoothness();
        let mut ends = Vec::new();
        for number in 0..ATOMS.pow(RECORDS as u32) {
            let sample: Vec<usize> =
                (0..RECORDS).map(|record| number / ATOMS.pow(record as u32) % ATOMS).collect();
            let shares = lab.shares(&sample, RECORDS);
            let mut weights = lab.start.clone();
            let mut risk = 0.0;
            for _ in 0..steps {
                let look = lab.look(&weights)?;
                risk += dot(&shares, &look.losses);
                weights = plus(&weights, -eta, &lab.gradient(&look, &shares));
            }
            ends.push((sample, weights, risk));
        }
        Ok(Self { lab, eta, ends })
    }

    /// The mean of `‖W(S) − W(S^(i))‖` over samples, records and replacements.
    fn stability(&self) -> f64 {
        let mut total = 0.0;
        for (number, (sample, weights, _)) in self.ends.iter().enumerate() {
            for (record, old) in sample.iter().enumerate() {
                let place = ATOMS.pow(record as u32);
                for new in 0..ATOMS {
                    let other = number - old * place + new * place;
                    total += distance(weights, &self.ends[other].1);
                }
            }
        }
        total / (self.ends.len() * RECORDS * ATOMS) as f64
    }

    /// The mean of the population risk less the empirical risk of the end point.
    fn gap(&self) -> Result<f64, CheckError> {
        let mut total = 0.0;
        for (sample, weights, _) in &self.ends {
            let losses = self.lab.look(weights)?.losses;
            let population = losses.iter().sum::<f64>() / ATOMS as f64;
            total += population - dot(&self.lab.shares(sample, RECORDS), &losses);
        }
        Ok(total / self.ends.len() as f64)
    }
}

fn gap(level: Level) -> Result<Measured, CheckError> {
    let widths = level.pick_from::<[usize]>(&[10, 50], &[10, 50, 200, 1000]);
    Measured::of(
        gaps(widths, 2.0)?,
        format!(
            "all 64 samples of 3 records from 4 atoms, 20 steps of gradient descent, widths {widths:?}"
        ),
    )
}

/// The lemma with a factor of `L ε`.
pub(in super::super) fn gaps(widths: &[usize], factor: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for width in widths {
        let all = Enumeration::new(*width, 20, 0.9)?;
        slacks.at_most(all.gap()?, factor * all.lab.constants.gradient * all.stability());
    }
    Ok(slacks)
}

fn average_drift(level: Level) -> Result<Measured, CheckError> {
    let width = level.pick(400, 2000);
    Measured::corrected(
        None,
        average_drifts(width, 2.0 * std::f64::consts::E)?,
        format!(
            "all 64 samples of 3 records from 4 atoms, 10 steps of gradient descent, {width} units, given (c, W_0): nothing \
             can fail, which avoids the conditioning that E6 is about"
        ),
    )
}

fn average_drifts(width: usize, factor: f64) -> Result<Slacks, CheckError> {
    let all = Enumeration::new(width, 10, 0.1)?;
    let constants = all.lab.constants;
    let mut slacks = Slacks::new();
    let largest = all.ends.iter().map(|(_, _, risk)| *risk).fold(0.0, f64::max);
    if 4.0 * constants.curvature * all.eta * largest > 1.0 {
        return Ok(slacks); // too narrow: Σ M > 1
    }
    let risk = all.ends.iter().map(|(_, _, risk)| risk).sum::<f64>() / all.ends.len() as f64;
    slacks.at_most(all.stability(), factor * all.eta * constants.gradient / RECORDS as f64 * risk);
    Ok(slacks)
}

/// Two runs at the same step.
struct Pair<'a> {
    look: &'a Look,
    other_look: &'a Look,
    shares: &'a [f64],
    other_shares: &'a [f64],
    /// Whether the replaced record is in the batch.
    drawn: bool,
    before: f64,
    after: f64,
}

impl Pair<'_> {
    fn batch_losses(&self) -> (f64, f64) {
        (dot(self.shares, &self.look.losses), dot(self.other_shares, &self.other_look.losses))
    }
}

/// The lab of the second run: record 0 becomes a copy of a row with the other label.
fn replaced(lab: &Lab) -> (Lab, usize) {
    let mut other = lab.clone();
    let row = other.features.len();
    other.features.push(lab.features[1].clone());
    other.labels.push(-lab.labels[1]);
    other.records[0] = row;
    (other, row)
}

/// Both runs with the same batches, without noise (it cancels); `lab` has the new row too.
fn coupled(
    lab: &Lab,
    run: &Run,
    mut visit: impl FnMut(&Lab, usize, &Pair<'_>) -> Result<(), CheckError>,
) -> Result<(), CheckError> {
    let (other, row) = replaced(lab);
    let mut own = other.clone();
    own.records.clone_from(&lab.records);
    let mut rng = rng(run.seed);
    let (mut w, mut v) = (lab.start.clone(), lab.start.clone());
    for _ in 0..run.steps {
        let batch = draw_batch(&mut rng, lab.len(), run);
        let (shares, other_shares) =
            (own.shares(&batch, run.batch), other.shares(&batch, run.batch));
        let (look, other_look) = (own.look(&w)?, other.look(&v)?);
        let before = distance(&w, &v);
        let mut next = plus(&w, -run.eta, &own.gradient(&look, &shares));
        let mut other_next = plus(&v, -run.eta, &other.gradient(&other_look, &other_shares));
        if let Some(radius) = run.radius {
            project(&lab.start, radius, &mut next);
            project(&lab.start, radius, &mut other_next);
        }
        let pair = Pair {
            look: &look,
            other_look: &other_look,
            shares: &shares,
            other_shares: &other_shares,
            drawn: batch.contains(&0),
            before,
            after: distance(&next, &other_next),
        };
        visit(&own, row, &pair)?;
        (w, v) = (next, other_next);
    }
    Ok(())
}

fn small_pair(seed: u64) -> Result<(Lab, Run), CheckError> {
    let lab = Lab::small(seed)?;
    let eta = 0.9 / lab.smoothness();
    let run = Run {
        eta,
        c: 0.0,
        lambda: 0.5,
        batch: 5,
        poisson: false,
        steps: 40,
        radius: Some(distance(&lab.target, &lab.start)),
        seed,
    };
    Ok((lab, run))
}

fn recursion(level: Level) -> Result<Measured, CheckError> {
    let runs = level.pick(10, 300);
    Measured::of(
        recursions(runs, 2.0, 1.0)?,
        format!(
            "every step of {runs} pairs of runs, 64 cubic units, n = 20, B = 5, 40 steps, η = 0.9/β, where ν Δ_t² <= 1, \
             realised constants"
        ),
    )
}

/// The recursion with its factors of ν and of G.
fn recursions(runs: usize, growth: f64, push: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..runs as u64 {
        let (lab, run) = small_pair(seed)?;
        coupled(&lab, &run, |lab, row, pair| {
            let (nu, g) = (lab.constants.curvature, lab.constants.gradient);
            if nu * pair.before * pair.before > 1.0 {
                return Ok(());
            }
            let (own, other) = pair.batch_losses();
            let kick = if pair.drawn {
                let losses = pair.look.losses[lab.records[0]] + pair.other_look.losses[row];
                push * run.eta * g / run.batch as f64 * losses
            } else {
                0.0
            };
            let right = (1.0 + growth * nu * run.eta * (own + other)) * pair.before + kick;
            if right > 0.0 {
                slacks.at_most(pair.after, right);
            }
            Ok(())
        })?;
    }
    Ok(slacks)
}

/// The recursion of certificate 5S with its factor of G, wherever the runs are.
pub(in super::super) fn recursions_5s(runs: usize, push: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..runs as u64 {
        let (lab, run) = small_pair(seed)?;
        coupled(&lab, &run, |lab, row, pair| {
            let (nu, g) = (lab.constants.curvature, lab.constants.gradient);
            let kick = if pair.drawn {
                let slopes = pair.look.slopes[lab.records[0]] + pair.other_look.slopes[row];
                push * run.eta * g / run.batch as f64 * slopes
            } else {
                0.0
            };
            let slope = dot(pair.shares, &pair.look.slopes);
            let growth = 1.0 + run.eta * nu * (g * pair.before).exp() * slope;
            let right = growth * pair.before + kick;
            if right > 0.0 {
                slacks.at_most(pair.after, right);
            }
            Ok(())
        })?;
    }
    Ok(slacks)
}

fn outputs(level: Level) -> Result<Measured, CheckError> {
    let runs = level.pick(10, 200);
    let seeds = level.pick(60, 1000);
    let slacks = initial_outputs(seeds, 4.0)?.and(outputs_along(runs, 1.0)?);
    Measured::of(
        slacks,
        format!(
            "initial outputs of {seeds} Gaussian networks, δ = 0.2; {runs} pairs of projected runs with 40 steps"
        ),
    )
}

/// The bounds along runs with a factor of the term `G R_*` of F.
fn outputs_along(runs: usize, factor: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..runs as u64 {
        let (lab, run) = small_pair(seed)?;
        let start = replaced(&lab).0.look(&lab.start)?.outputs;
        let largest = start.iter().fold(0.0_f64, |most, f| most.max(f.abs()));
        let f = largest + factor * lab.constants.gradient * run.radius.unwrap_or(f64::INFINITY);
        let u = f + (-f).exp().ln_1p();
        coupled(&lab, &run, |_, _, pair| {
            for look in [pair.look, pair.other_look] {
                look.outputs.iter().for_each(|output| slacks.at_most(output.abs(), f));
                look.losses.iter().for_each(|loss| slacks.at_most(*loss, u));
            }
            Ok(())
        })?;
    }
    Ok(slacks)
}

fn batch_losses(level: Level) -> Result<Measured, CheckError> {
    let seeds = level.pick(200, 4000);
    Measured::of(
        batch_excesses(seeds, 1.0)?,
        format!(
            "{seeds} seeds of 20 steps, 64 cubic units, n = 20, B = 5, δ = 0.05 for each of two runs"
        ),
    )
}

fn batch_excesses(seeds: usize, factor: f64) -> Result<Slacks, CheckError> {
    let delta = 0.05_f64;
    let (lab, run) = small_pair(1)?;
    let (other, _) = replaced(&lab);
    let start = other.look(&lab.start)?.outputs;
    let largest = start.iter().fold(0.0_f64, |most, f| most.max(f.abs()));
    let f = largest + lab.constants.gradient * run.radius.unwrap_or(f64::INFINITY);
    let u = f + (-f).exp().ln_1p();
    let steps = 20;
    let log = -delta.ln();
    let excess = factor
        * ((2.0 * f64::from(steps) * u * u * log / run.batch as f64).sqrt() + 2.0 / 3.0 * u * log);
    let mut outside = 0;
    for seed in 0..seeds as u64 {
        let run = Run { steps: steps as usize, seed, ..run };
        let mut failed = false;
        for lab in [&lab, &other] {
            let full = lab.full();
            let (mut batch, mut whole) = (0.0, 0.0);
            walk(lab, &run, |m| {
                batch += m.batch_loss().0;
                whole += dot(&full, &m.look.losses);
                Ok(())
            })?;
            failed |= batch > whole + excess;
        }
        outside += usize::from(failed);
    }
    let mut slacks = Slacks::new();
    slacks.frequency(outside, seeds, 2.0 * delta)?;
    Ok(slacks)
}

/// What a pair of wide runs adds up to.
struct Drift {
    /// Σ M_t.
    growth: f64,
    /// `4νη(TA + X)` with realised A and X.
    condition: f64,
    /// The smallest slack of `Δ_{t+1} <= factor Σ R`.
    slacks: Slacks,
}

fn wide_drift(seed: u64, factor: f64) -> Result<Drift, CheckError> {
    let lab = Lab::wide(2000, 4, 6.0)?;
    let (nu, g) = (lab.constants.curvature, lab.constants.gradient);
    let eta = 0.2 / lab.smoothness();
    let run = Run {
        eta,
        c: 0.0,
        lambda: 0.5,
        batch: [4, 8, 16][(seed % 3) as usize],
        poisson: false,
        steps: 30,
        radius: None,
        seed,
    };
    let mut drift = Drift { growth: 0.0, condition: 0.0, slacks: Slacks::new() };
    let (mut kicks, mut own_sum, mut other_sum) = (0.0, 0.0, 0.0);
    coupled(&lab, &run, |lab, row, pair| {
        let (own, other) = pair.batch_losses();
        drift.growth += 2.0 * nu * eta * (own + other);
        (own_sum, other_sum) = (own_sum + own, other_sum + other);
        if pair.drawn {
            let losses = pair.look.losses[lab.records[0]] + pair.other_look.losses[row];
            kicks += eta * g / run.batch as f64 * losses;
        }
        if kicks > 0.0 {
            drift.slacks.at_most(pair.after, factor * kicks);
        }
        Ok(())
    })?;
    drift.condition = 4.0 * nu * eta * own_sum.max(other_sum);
    Ok(drift)
}

fn exponents(level: Level) -> Result<Measured, CheckError> {
    let runs = level.pick(6, 60);
    let mut slacks = Slacks::new();
    for seed in 0..runs as u64 {
        let drift = wide_drift(seed, std::f64::consts::E)?;
        if drift.condition <= 1.0 {
            slacks.at_most(drift.growth, 1.0);
        }
    }
    Measured::of(
        slacks,
        format!(
            "{runs} pairs of runs with 30 steps, 2000 units, n = 16, B = 4, 8, 16; TA + X as realised"
        ),
    )
}

fn drift(level: Level) -> Result<Measured, CheckError> {
    let runs = level.pick(6, 60);
    Measured::of(
        drifts(runs, std::f64::consts::E)?,
        format!(
            "every step of {runs} pairs of runs with 30 steps, 2000 units, n = 16, B = 4, 8, 16, with Σ M <= 1"
        ),
    )
}

fn drifts(runs: usize, factor: f64) -> Result<Slacks, CheckError> {
    let mut slacks = Slacks::new();
    for seed in 0..runs as u64 {
        let drift = wide_drift(seed, factor)?;
        if drift.growth <= 1.0 {
            slacks = slacks.and(drift.slacks);
        }
    }
    Ok(slacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coupled_runs_differ_in_one_record() {
        let lab = Lab::small(3).unwrap();
        let (other, row) = replaced(&lab);
        assert_eq!(other.records[0], row);
        assert_eq!(other.records[1..], lab.records[1..]);
    }

    #[test]
    fn smaller_constants_are_caught() {
        assert!(recursions(2, 2.0, 1.0).unwrap().close().unwrap() >= 0.0);
        assert!(recursions(2, 0.0, 0.1).unwrap().close().unwrap() < 0.0);
        assert!(recursions_5s(2, 1.0).unwrap().close().unwrap() >= 0.0);
        assert!(recursions_5s(2, 0.01).unwrap().close().unwrap() < 0.0);
        // E11: the bound of the loss without the part of R_*.
        assert!(outputs_along(4, 0.0).unwrap().close().unwrap() < 0.0);
        assert!(gaps(&[10], 2.0).unwrap().close().unwrap() >= 0.0);
        assert!(gaps(&[10], 0.02).unwrap().close().unwrap() < 0.0);
        assert!(drifts(2, 0.05).unwrap().close().unwrap() < 0.0);
        assert!(average_drifts(400, 0.05).unwrap().close().unwrap() < 0.0);
        assert!(batch_excesses(40, -0.2).unwrap().close().unwrap() < 0.0);
    }
}
