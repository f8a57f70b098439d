//! Files appear whole or not at all.

use std::io::Write;
use std::path::Path;

use crate::error::{FigureError, Result};

/// Writes to a temporary name in the same directory and renames.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let fault = |source| FigureError::Io { path: path.into(), source };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = builder().tempfile_in(directory).map_err(fault)?;
    file.write_all(bytes).map_err(fault)?;
    file.persist(path).map_err(|error| fault(error.error))?;
    Ok(())
}

/// Temporary files are private; figures are ordinary files.
fn builder() -> tempfile::Builder<'static, 'static> {
    #[allow(unused_mut)] // used on Unix
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666)); // reduced by the umask
    }
    builder
}
