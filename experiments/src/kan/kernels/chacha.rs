//! The keystream of ChaCha with eight rounds, a group of blocks at a time.

use pulp::Simd;

/// Blocks of a group.
pub(crate) const BLOCKS: usize = 16;
/// Words of a group.
pub(crate) const WORDS: usize = 16 * BLOCKS;

/// The key and the stream.
#[derive(Debug, Clone, Copy)]
pub struct Keystream {
    pub(crate) key: [u32; 8],
    pub(crate) stream: u64,
}

impl Keystream {
    /// Word `w` of block `BLOCKS·group + b` at `BLOCKS·w + b`.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // halves of 64-bit numbers
    pub(crate) fn group<S: Simd>(&self, simd: S, group: u64, out: &mut [u32; WORDS]) {
        const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
        let first = group * BLOCKS as u64;
        let splat = |word| simd.splat_u32s(word);
        let mut counters = [first as u32; BLOCKS];
        for (block, counter) in counters.iter_mut().enumerate() {
            // The first block of a group is a multiple of the blocks: no carry.
            *counter += block as u32;
        }
        let counters = S::as_simd_u32s(&counters).0;
        let out = S::as_mut_simd_u32s(out).0;
        for (part, counter) in counters.iter().enumerate() {
            let mut start = [splat(0); 16];
            for (word, constant) in start.iter_mut().zip(CONSTANTS.iter().chain(&self.key)) {
                *word = splat(*constant);
            }
            start[12] = *counter;
            start[13] = splat((first >> 32) as u32);
            start[14] = splat(self.stream as u32);
            start[15] = splat((self.stream >> 32) as u32);
            let mut state = start;
            for _ in 0..4 {
                for [a, b, c, d] in [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]] {
                    quarter_round(simd, &mut state, a, b, c, d);
                }
                for [a, b, c, d] in [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] {
                    quarter_round(simd, &mut state, a, b, c, d);
                }
            }
            for word in 0..16 {
                out[word * counters.len() + part] = simd.add_u32s(state[word], start[word]);
            }
        }
    }
}

#[inline(always)]
fn quarter_round<S: Simd>(
    simd: S,
    state: &mut [S::u32s; 16],
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) {
    let turn = |word, by| {
        let left = simd.wrapping_dyn_shl_u32s(word, simd.splat_u32s(by));
        simd.or_u32s(left, simd.wrapping_dyn_shr_u32s(word, simd.splat_u32s(32 - by)))
    };
    state[a] = simd.add_u32s(state[a], state[b]);
    state[d] = turn(simd.xor_u32s(state[d], state[a]), 16);
    state[c] = simd.add_u32s(state[c], state[d]);
    state[b] = turn(simd.xor_u32s(state[b], state[c]), 12);
    state[a] = simd.add_u32s(state[a], state[b]);
    state[d] = turn(simd.xor_u32s(state[d], state[a]), 8);
    state[c] = simd.add_u32s(state[c], state[d]);
    state[b] = turn(simd.xor_u32s(state[b], state[c]), 7);
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};
    use rand::rngs::ChaCha8Rng;
    use rand::{Rng, SeedableRng};

    use super::*;

    struct Group(Keystream, u64);
    impl WithSimd for Group {
        type Output = [u32; WORDS];
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> [u32; WORDS] {
            let mut out = [0; WORDS];
            self.0.group(simd, self.1, &mut out);
            out
        }
    }

    #[test]
    fn words_are_those_of_the_library_on_every_instruction_set() {
        let (group, stream) = (0x1_2345_6789, 0x9_8765_4321);
        let mut rng = ChaCha8Rng::from_seed(std::array::from_fn(|i| i as u8));
        let key = std::array::from_fn(|i| 0x0302_0100 + 0x0404_0404 * i as u32);
        rng.set_stream(stream);
        rng.set_word_pos(u128::from(group) * WORDS as u128);
        let ours = Arch::new().dispatch(Group(Keystream { key, stream }, group));
        for block in 0..BLOCKS {
            for word in 0..16 {
                assert_eq!(ours[word * BLOCKS + block], rng.next_u32(), "{word} of {block}");
            }
        }
        assert_eq!(ours, Arch::Scalar.dispatch(Group(Keystream { key, stream }, group)));
    }
}
