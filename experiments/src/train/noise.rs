//! The normal numbers `Z_t` of every step.

use pulp::Arch;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

use crate::kan::{Layout, Real, kernels};

/// Numbers that are made at a time: their bytes stay in the cache.
const CHUNK: usize = 1024;

/// `Z_t` for a seed: stream `t` of ChaCha8, so that any step can be drawn again.
#[derive(Debug)]
pub(crate) struct NoiseSource {
    rng: ChaCha8Rng,
    arch: Arch,
    layout: Layout,
    bytes: Vec<u8>,
}

impl NoiseSource {
    pub(crate) fn new(seed: u64, layout: Layout, arch: Arch) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), arch, layout, bytes: Vec::new() }
    }

    /// `Z_t` for `t >= 1`, in the layout of the weights; idle units get none.
    pub(crate) fn draw<F: Real>(&mut self, t: u64, out: &mut [F]) {
        self.rng.set_stream(t);
        self.rng.set_word_pos(0);
        self.bytes.resize(CHUNK * F::RANDOM_BYTES, 0);
        for chunk in out.chunks_mut(CHUNK) {
            // Whole blocks of 32 numbers; the rows are multiples of 16.
            let bytes = chunk.len().next_multiple_of(32) * F::RANDOM_BYTES;
            self.rng.fill_bytes(&mut self.bytes[..bytes]);
            kernels::normals(self.arch, &self.bytes[..bytes], chunk);
        }
        if self.layout.units < self.layout.width {
            for row in out.chunks_exact_mut(self.layout.width) {
                row[self.layout.units..].fill(F::default());
            }
        }
    }
}
