//! A file of lines that survives interruptions: one process writes, and only complete lines count.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, Write};
use std::path::Path;

/// A file that ends in a complete line, locked while it is open.
#[derive(Debug)]
pub(crate) struct LinesFile {
    file: File,
    length: u64,
}

/// Why it cannot be opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// Another process has it.
    Busy,
    Read(Error),
    Write(Error),
}

impl LinesFile {
    /// Opens or makes it, cuts off what was being written when a process was killed, and gives what is left.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<u8>), OpenError> {
        let file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(OpenError::Write)?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(OpenError::Busy);
        }
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(OpenError::Write(Error::other("it is no ordinary file")));
        }
        let mut bytes = std::fs::read(path).map_err(OpenError::Read)?;
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        let length = bytes.len() as u64;
        file.set_len(length).map_err(OpenError::Write)?;
        Ok((Self { file, length }, bytes))
    }

    /// Adds a line with its end; takes back what was written of one that does not fit.
    pub(crate) fn append(&mut self, line: &str) -> Result<(), Error> {
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            let _ = self.file.set_len(self.length); // if not, the next start cuts it off
            return Err(error);
        }
        self.length += line.len() as u64;
        Ok(())
    }
}
