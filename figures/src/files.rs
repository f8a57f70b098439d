//! Files appear whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{FigureError, Result};
use crate::render::Rendered;

/// The three files of a figure: `<stem>.svg`, `.png` and `.csv`.
pub(crate) fn write_all(directory: &Path, stem: &str, rendered: Rendered) -> Result<Vec<PathBuf>> {
    [("svg", rendered.svg), ("png", rendered.png), ("csv", rendered.csv)]
        .into_iter()
        .map(|(extension, bytes)| {
            let path = directory.join(format!("{stem}.{extension}"));
            write(&path, &bytes)?;
            Ok(path)
        })
        .collect()
}

/// Writes to a temporary name in the same directory and renames.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
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
