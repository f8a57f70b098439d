//! The examples of a batch in the order of their spans, for every input.

/// Input by input: examples, and where those of each span are among them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) examples: &'a [u32],
    pub(crate) bounds: &'a [(u32, u32)],
    /// [`room`] of an input, and the spans.
    pub(crate) room: usize,
    pub(crate) spans: usize,
}

impl<'a> Order<'a> {
    #[inline(always)]
    pub(crate) fn of(&self, input: usize) -> (&'a [u32], &'a [(u32, u32)]) {
        let examples = &self.examples[input * self.room..][..self.room];
        (examples, &self.bounds[input * self.spans..][..self.spans])
    }
}

/// Sorts the examples by their span, keeping their order: those of span `s` are at `bounds[s]` of `order`,
/// which has room for [`room`].
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // batches below 2^32
pub(super) fn sort(spans: &[u16], order: &mut [u32], bounds: &mut [(u32, u32)]) {
    if bounds.len() <= FEW && bounds.len() * spans.len() <= MOST {
        // Each span has room for all; the next places stand in one register.
        let mut places = 0_u64;
        for (span, bounds) in bounds.iter_mut().enumerate() {
            bounds.0 = (span * spans.len()) as u32;
            places |= u64::from(bounds.0) << (16 * span);
        }
        for (example, span) in (0..).zip(spans) {
            let shift = 16 * (span & 3);
            order[usize::from((places >> shift) as u16)] = example;
            places += 1 << shift;
        }
        for (span, bounds) in bounds.iter_mut().enumerate() {
            bounds.1 = u32::from((places >> (16 * span)) as u16);
        }
        return;
    }
    bounds.fill((0, 0));
    for span in spans {
        bounds[usize::from(*span)].1 += 1;
    }
    let mut sum = 0;
    for bounds in bounds.iter_mut() {
        let count = bounds.1;
        *bounds = (sum, sum);
        sum += count;
    }
    for (example, span) in (0..).zip(spans) {
        let end = &mut bounds[usize::from(*span)].1;
        order[*end as usize] = example;
        *end += 1;
    }
}

/// Spans whose places fit one register.
const FEW: usize = 4;
/// Places that fit their share of it.
const MOST: usize = u16::MAX as usize;

/// The room that sorting takes.
pub(crate) fn room(examples: usize, spans: usize) -> usize {
    if spans <= FEW && spans * examples <= MOST { spans * examples } else { examples }
}
