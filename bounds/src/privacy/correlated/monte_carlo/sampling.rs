//! Random streams, and sums over samples that do not depend on the number of threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rayon::prelude::*;

use super::bernstein::Moments;
use super::kernel::LANES;
use crate::error::{BoundError, Result};
use crate::privacy::Pair;

/// Called with the fraction done, in [0, 1], possibly from several threads; `false` stops.
pub type Watch<'a> = &'a (dyn Fn(f64) -> bool + Sync);

const INTERRUPTED: &str = "watch";

/// Whether an error says that the caller's `watch` stopped the computation.
///
/// # Examples
/// ```
/// use dpbounds_bounds::privacy::Pair;
/// use dpbounds_bounds::privacy::correlated::monte_carlo::{Settings, interrupted, reverse};
/// let pair = Pair::new(0.1, 2.0, 0.5, 3)?;
/// let error = reverse(&pair, 1.0, &Settings::new(1000, 1e-6, 1), &|_| false).unwrap_err();
/// assert!(interrupted(&error));
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
#[must_use]
pub fn interrupted(error: &BoundError) -> bool {
    matches!(error, BoundError::Input { parameter, .. } if parameter == INTERRUPTED)
}

fn stop() -> BoundError {
    BoundError::Input {
        parameter: INTERRUPTED.into(),
        problem: "interrupted by the caller before all samples were drawn; there is no result"
            .into(),
    }
}

/// What the samples are for. Streams of different purposes never meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Choosing parameters; the same numbers for every pair, so that differences are smooth.
    ForwardPilot = 1,
    Forward,
    ForwardLower,
    ReversePilot,
    Reverse,
    PlainForward,
    PlainReverse,
    Estimate,
}

/// One ChaCha8 key; every chunk of samples has its own stream of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams([u8; 32]);

impl Streams {
    /// The key says what is computed: seed, purpose and attempt word for word, and a hash of pair
    /// and ε, so that noise chosen by looking at one certificate is checked with other numbers.
    pub(super) fn new(
        seed: u64,
        purpose: Purpose,
        attempt: u32,
        inputs: Option<(&Pair, f64)>,
    ) -> Self {
        let hash = inputs.map_or(0, |(pair, epsilon)| {
            [pair.rate(), pair.noise_multiplier(), pair.lambda(), pair.horizon(), epsilon]
                .iter()
                .fold(1, |hash, value| mixed(hash ^ value.to_bits()))
        });
        let mut key = [0; 32];
        let words = [seed, purpose as u64, u64::from(attempt), hash];
        for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Self(key)
    }

    pub(super) fn chunk(&self, chunk: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::from_seed(self.0);
        rng.set_stream(chunk);
        rng
    }
}

/// The finaliser of SplitMix64, a bijection.
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Chunks whose results are held at the same time.
const BLOCK: u64 = 1 << 14;

/// Runs `work(memory, chunk, lanes)` for every chunk of sixteen samples, the last one with fewer
/// `lanes`; `take` gets the results in the order of the chunks whatever the number of threads.
pub(super) fn chunks<W, T: Send>(
    samples: u64,
    watch: Watch<'_>,
    memory: impl Fn() -> W + Sync + Send,
    work: impl Fn(&mut W, u64, usize) -> Result<T> + Sync + Send,
    mut take: impl FnMut(T),
) -> Result<()> {
    let width = LANES as u64;
    let count = samples.div_ceil(width);
    let (done, stopped) = (AtomicU64::new(0), AtomicBool::new(!watch(0.0)));
    let one = |memory: &mut W, chunk: u64| {
        if stopped.load(Ordering::Relaxed) {
            return Err(stop());
        }
        #[allow(clippy::cast_possible_truncation)] // at most LANES
        let lanes = (samples - chunk * width).min(width) as usize;
        let result = work(memory, chunk, lanes)?;
        let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
        // Small problems finish chunks faster than a caller wants to be called.
        if finished.is_multiple_of(16) || finished == count {
            #[allow(clippy::cast_precision_loss)] // a fraction for display
            let fraction = finished as f64 / count as f64;
            if !watch(fraction) {
                stopped.store(true, Ordering::Relaxed);
                return Err(stop());
            }
        }
        Ok(result)
    };
    let mut start = 0;
    while start < count {
        let size = BLOCK.min(count - start);
        #[allow(clippy::cast_possible_truncation)] // at most BLOCK
        let results: Result<Vec<T>> = (0..size as usize)
            .into_par_iter()
            .with_min_len(4)
            .map_init(&memory, |memory, index| one(memory, start + index as u64))
            .collect();
        results?.into_iter().for_each(&mut take);
        start += size;
    }
    Ok(())
}

/// The moments of all samples, each chunk giving its own.
pub(super) fn moments<W>(
    samples: u64,
    watch: Watch<'_>,
    memory: impl Fn() -> W + Sync + Send,
    work: impl Fn(&mut W, u64, usize) -> Result<Moments> + Sync + Send,
) -> Result<Moments> {
    let mut total = Moments::default();
    chunks(samples, watch, memory, work, |part| total = total.and(part))?;
    Ok(total)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    #[test]
    fn streams_of_different_purposes_attempts_and_inputs_never_meet() {
        let pair = Pair::new(0.1, 2.0, 0.5, 10).unwrap();
        let other = Pair::new(0.1, 2.0 + 1e-12, 0.5, 10).unwrap();
        let first = |streams: Streams, chunk| streams.chunk(chunk).random::<u64>();
        let mut seen = Vec::new();
        for purpose in [
            Purpose::ForwardPilot,
            Purpose::Forward,
            Purpose::ForwardLower,
            Purpose::ReversePilot,
            Purpose::Reverse,
            Purpose::PlainForward,
            Purpose::PlainReverse,
            Purpose::Estimate,
        ] {
            for attempt in [0, 1] {
                for inputs in [None, Some((&pair, 1.0)), Some((&pair, 2.0)), Some((&other, 1.0))] {
                    for chunk in [0, 1] {
                        seen.push(first(Streams::new(7, purpose, attempt, inputs), chunk));
                    }
                }
            }
        }
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }

    #[test]
    fn results_come_in_order_and_the_last_chunk_is_short() {
        let samples = 16 * BLOCK + 5;
        let mut taken = Vec::new();
        let work = |(): &mut (), chunk, lanes| Ok((chunk, lanes));
        chunks(samples, &|_| true, || (), work, |result| taken.push(result)).unwrap();
        assert!(taken.iter().zip(0..).all(|(&(chunk, _), index)| chunk == index));
        assert_eq!(taken.iter().map(|&(_, lanes)| lanes as u64).sum::<u64>(), samples);
    }
}
