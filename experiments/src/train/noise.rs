//! The normal numbers `Z_t` of every step.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use crate::kan::kernels::Keystream;
use crate::kan::{Core, Layout, Real};

/// The key of ChaCha8 that belongs to a seed.
pub(crate) fn noise_key(seed: u64) -> [u32; 8] {
    let bytes = ChaCha8Rng::seed_from_u64(seed).get_seed();
    let mut key = [0; 8];
    for (word, bytes) in key.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    key
}

/// `Z_t` for a seed: stream `t` of ChaCha8, so that any step can be drawn again.
#[derive(Debug)]
pub(crate) struct NoiseSource {
    key: [u32; 8],
    layout: Layout,
}

impl NoiseSource {
    pub(crate) fn new(seed: u64, layout: Layout) -> Self {
        Self { key: noise_key(seed), layout }
    }

    /// `Z_t` for `t >= 1`, in the layout of the weights; idle units get none.
    pub(crate) fn draw<F: Real>(&self, t: u64, core: &dyn Core<F>, out: &mut [F]) {
        core.normals(Keystream { key: self.key, stream: t }, out);
        if self.layout.units < self.layout.width {
            for row in out.chunks_exact_mut(self.layout.width) {
                row[self.layout.units..].fill(F::default());
            }
        }
    }
}
