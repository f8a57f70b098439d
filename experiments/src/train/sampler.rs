//! Which records take part in a step.

use dpbounds_bounds::privacy::Sampler;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// The batches of one run. Every step has random numbers of its own, so that it can be drawn again.
#[derive(Debug)]
pub(crate) struct Batches {
    sampler: Sampler,
    batch: usize,
    rng: ChaCha8Rng,
    /// The records in the order of a stream, otherwise in their own.
    records: Vec<u32>,
    swaps: Vec<(u32, u32)>,
}

/// Streams of the batches, apart from those of the noise, which are numbered by the steps.
const STREAM: u64 = 1 << 63;

impl Batches {
    #[allow(clippy::cast_possible_truncation)] // below 2^32, checked by the settings
    pub(crate) fn new(sampler: Sampler, records: usize, batch: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut records: Vec<u32> = (0..records as u32).collect();
        if sampler == Sampler::Stream {
            rng.set_stream(STREAM);
            for i in 0..records.len() {
                let j = rng.random_range(i..records.len());
                records.swap(i, j);
            }
        }
        Self { sampler, batch, rng, records, swaps: Vec::new() }
    }

    /// The batch of step `t >= 1`, written over `out`.
    pub(crate) fn draw(&mut self, t: u64, out: &mut Vec<u32>) {
        out.clear();
        self.rng.set_stream(STREAM + t);
        self.rng.set_word_pos(0);
        match self.sampler {
            Sampler::Full => out.extend_from_slice(&self.records),
            Sampler::Stream => {
                #[allow(clippy::cast_possible_truncation)] // checked: t·B <= n
                let first = (t as usize - 1) * self.batch;
                out.extend_from_slice(&self.records[first..first + self.batch]);
            }
            Sampler::Fixed => self.subset(out),
            Sampler::Poisson => self.independent(out),
        }
    }

    /// The beginning of a random permutation, which is undone so that a step does not depend on the ones
    /// before.
    #[allow(clippy::cast_possible_truncation)] // records below 2^32
    fn subset(&mut self, out: &mut Vec<u32>) {
        self.swaps.clear();
        let n = self.records.len() as u32;
        for i in 0..self.batch as u32 {
            let j = self.rng.random_range(i..n);
            self.records.swap(i as usize, j as usize);
            self.swaps.push((i, j));
            out.push(self.records[i as usize]);
        }
        for (i, j) in self.swaps.iter().rev() {
            self.records.swap(*i as usize, *j as usize);
        }
    }

    /// Gaps between the records that join are geometric.
    #[allow(clippy::cast_precision_loss)]
    fn independent(&mut self, out: &mut Vec<u32>) {
        let n = self.records.len() as f64;
        let log_stay = (-(self.batch as f64) / n).ln_1p();
        if log_stay == f64::NEG_INFINITY {
            out.extend_from_slice(&self.records);
            return;
        }
        let mut next = 0.0;
        loop {
            let uniform: f64 = self.rng.random();
            next += ((-uniform).ln_1p() / log_stay).floor();
            if next >= n {
                return;
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            out.push(next as u32);
            next += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(batches: &mut Batches, t: u64) -> Vec<u32> {
        let mut out = Vec::new();
        batches.draw(t, &mut out);
        out
    }

    #[test]
    fn a_step_draws_the_same_batch_whatever_came_before() {
        for sampler in [Sampler::Fixed, Sampler::Poisson, Sampler::Full] {
            let mut one = Batches::new(sampler, 100, 10, 7);
            let mut other = Batches::new(sampler, 100, 10, 7);
            for t in 1..30 {
                draw(&mut one, t);
            }
            assert_eq!(draw(&mut one, 30), draw(&mut other, 30), "{sampler}");
        }
    }

    #[test]
    fn subsets_have_no_duplicates_and_every_record_is_as_likely() {
        let mut batches = Batches::new(Sampler::Fixed, 12, 5, 3);
        let mut counts = [0_u32; 12];
        for t in 1..=12_000 {
            let mut batch = draw(&mut batches, t);
            batch.sort_unstable();
            batch.dedup();
            assert_eq!(batch.len(), 5);
            batch.iter().for_each(|record| counts[*record as usize] += 1);
        }
        // 5,000 expected, standard deviation 54: wrong with probability below 1e-6.
        assert!(counts.iter().all(|count| count.abs_diff(5_000) < 300), "{counts:?}");
    }

    #[test]
    fn independent_records_join_at_their_rate() {
        let mut batches = Batches::new(Sampler::Poisson, 50, 5, 3);
        let mut counts = [0_u32; 50];
        for t in 1..=20_000 {
            for record in draw(&mut batches, t) {
                counts[record as usize] += 1;
            }
        }
        // 2,000 expected, standard deviation 42: wrong with probability below 1e-6.
        assert!(counts.iter().all(|count| count.abs_diff(2_000) < 250), "{counts:?}");
    }

    #[test]
    fn a_stream_uses_every_record_once() {
        let mut batches = Batches::new(Sampler::Stream, 60, 10, 1);
        let mut seen: Vec<u32> = (1..=6).flat_map(|t| draw(&mut batches, t)).collect();
        assert!(seen.windows(2).any(|pair| pair[0] > pair[1]));
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..60));
    }
}
