//! Arrays that begin at a cache line: a vector register is one line, and reading across two takes twice
//! as long.

use std::ops::{Deref, DerefMut};

const LINE: usize = 64;

/// Numbers from the beginning of a cache line on.
#[derive(Debug, Default)]
pub(crate) struct Aligned<F> {
    room: Vec<F>,
    first: usize,
    len: usize,
}

impl<F: Copy + Default> Aligned<F> {
    /// So many zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        let room = vec![F::default(); len + LINE / size_of::<F>()];
        let first = room.as_ptr().align_offset(LINE).min(room.len() - len);
        Self { room, first, len }
    }

    /// Changes the length; the numbers are zeros where there was no room before, otherwise any.
    pub(crate) fn resize(&mut self, len: usize) {
        if self.first + len > self.room.len() {
            *self = Self::zeros(len);
        }
        self.len = len;
    }
}

impl<F> Deref for Aligned<F> {
    type Target = [F];

    #[inline(always)]
    fn deref(&self) -> &[F] {
        &self.room[self.first..self.first + self.len]
    }
}

impl<F> DerefMut for Aligned<F> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [F] {
        &mut self.room[self.first..self.first + self.len]
    }
}
