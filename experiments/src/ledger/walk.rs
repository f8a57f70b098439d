//! Algorithm 1 of arXiv 2605.12648 step by step, with everything that its proofs speak of.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use super::lab::{Lab, Look, normals, rng};
use super::linear::{dot, minus, norm, plus, project};
use super::measured::CheckError;

/// A run without clipping.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// η.
    pub eta: f64,
    /// `c = C_clip κ/B`.
    pub c: f64,
    /// λ.
    pub lambda: f64,
    /// B.
    pub batch: usize,
    /// Whether records join independently with probability B/n.
    pub poisson: bool,
    /// T steps, the last one of which only proofs make.
    pub steps: usize,
    /// `R_*`.
    pub radius: Option<f64>,
    pub seed: u64,
}

/// Step t, from 1.
#[derive(Debug)]
pub(super) struct Moment<'a> {
    /// `W_{t−1}`.
    pub weights: &'a [f64],
    /// What the network says there.
    pub look: &'a Look,
    /// Shares of the batch.
    pub shares: &'a [f64],
    /// Gradient `v_t` of the batch.
    pub batch_gradient: &'a [f64],
    /// Gradient `g_t` of the sample.
    pub gradient: &'a [f64],
    /// `Z_{t−1}`.
    pub noise_before: &'a [f64],
    /// `Z_t`.
    pub noise: &'a [f64],
    /// `W_t`.
    pub next: &'a [f64],
}

impl Moment<'_> {
    /// `U_{t−1}`.
    pub(super) fn shifted(&self, run: &Run) -> Vec<f64> {
        plus(self.weights, run.eta * run.c, self.noise_before)
    }

    /// `U_t`.
    pub(super) fn shifted_next(&self, run: &Run) -> Vec<f64> {
        plus(self.next, run.eta * run.c, self.noise)
    }

    /// `Δ_t = v_t − g_t`.
    pub(super) fn deviation(&self) -> Vec<f64> {
        minus(self.batch_gradient, self.gradient)
    }

    /// `L_B` and `S_B`.
    pub(super) fn batch_loss(&self) -> (f64, f64) {
        (dot(self.shares, &self.look.losses), dot(self.shares, &self.look.slopes))
    }
}

/// A uniform subset without replacement, or independent records.
pub(super) fn draw_batch(rng: &mut ChaCha8Rng, records: usize, run: &Run) -> Vec<usize> {
    if run.poisson {
        let rate = run.batch as f64 / records as f64;
        return (0..records).filter(|_| rng.random::<f64>() < rate).collect();
    }
    if run.batch == records {
        return (0..records).collect();
    }
    let mut left: Vec<usize> = (0..records).collect();
    (0..run.batch).map(|_| left.swap_remove(rng.random_range(0..left.len()))).collect()
}

/// Makes the T steps and shows each.
pub(super) fn walk(
    lab: &Lab,
    run: &Run,
    mut visit: impl FnMut(&Moment<'_>) -> Result<(), CheckError>,
) -> Result<(), CheckError> {
    let mut rng = rng(run.seed);
    let full = lab.full();
    let mut weights = lab.start.clone();
    let mut noise_before = vec![0.0; weights.len()];
    for _ in 0..run.steps {
        let batch = draw_batch(&mut rng, lab.len(), run);
        let shares = lab.shares(&batch, run.batch);
        let look = lab.look(&weights)?;
        let batch_gradient = lab.gradient(&look, &shares);
        let gradient = lab.gradient(&look, &full);
        let noise =
            if run.c > 0.0 { normals(&mut rng, weights.len()) } else { vec![0.0; weights.len()] };
        let mut next = weights.clone();
        for (index, place) in next.iter_mut().enumerate() {
            let push = run.c * (noise[index] - run.lambda * noise_before[index]);
            *place -= run.eta * (batch_gradient[index] + push);
        }
        if let Some(radius) = run.radius {
            project(&lab.start, radius, &mut next);
        }
        visit(&Moment {
            weights: &weights,
            look: &look,
            shares: &shares,
            batch_gradient: &batch_gradient,
            gradient: &gradient,
            noise_before: &noise_before,
            noise: &noise,
            next: &next,
        })?;
        (weights, noise_before) = (next, noise);
    }
    Ok(())
}

/// `||a − b||`.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    norm(&minus(a, b))
}
