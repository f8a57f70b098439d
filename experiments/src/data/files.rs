//! Bytes of a file, decompressed if need be.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::error::{DataError, FileProblem, Result};

/// More bytes than this are not read: a small compressed file may hold any number of them.
pub(super) const LARGEST: u64 = 1 << 30;

/// Reads a file; what starts like gzip is decompressed, whatever its name.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    let file = path.display().to_string();
    let fault = |source| DataError::Read { file: file.clone(), source };
    let mut bytes = Vec::new();
    let open = File::open(path).map_err(fault)?;
    open.take(LARGEST + 1).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() as u64 > LARGEST {
        return Err(DataError::File { file, problem: FileProblem::TooLarge { limit: LARGEST } });
    }
    decompress(&file, bytes, LARGEST)
}

/// Undoes gzip, if the bytes start like it.
pub(super) fn decompress(file: &str, bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut plain = Vec::new();
    let outcome = MultiGzDecoder::new(&*bytes).take(limit + 1).read_to_end(&mut plain);
    let problem = match outcome {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => FileProblem::TruncatedGzip,
        Err(error) => FileProblem::DamagedGzip { cause: error.to_string() },
        Ok(_) if plain.len() as u64 > limit => FileProblem::TooLarge { limit },
        Ok(_) => return Ok(plain),
    };
    Err(DataError::File { file: file.to_owned(), problem })
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::*;

    pub fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn problem(bytes: &[u8], limit: u64) -> FileProblem {
        match decompress("f", bytes.to_vec(), limit) {
            Err(DataError::File { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn gzip_is_undone_and_its_faults_are_told_apart() {
        let packed = gzip(b"1,2\n");
        assert_eq!(decompress("f", packed.clone(), LARGEST).unwrap(), b"1,2\n");
        assert_eq!(decompress("f", b"1,2\n".to_vec(), LARGEST).unwrap(), b"1,2\n");
        for length in 2..packed.len() {
            assert_eq!(problem(&packed[..length], LARGEST), FileProblem::TruncatedGzip, "{length}");
        }
        let mut damaged = packed;
        let checksum = damaged.len() - 6;
        damaged[checksum] ^= 1;
        assert!(matches!(problem(&damaged, LARGEST), FileProblem::DamagedGzip { .. }));
        assert_eq!(problem(&gzip(&[0; 100_000]), 1000), FileProblem::TooLarge { limit: 1000 });
    }
}
