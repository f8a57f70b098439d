//! Files that appear under their names only when complete.

use std::fs::File;
use std::io::{Error, Write};
use std::path::Path;

/// Names of files that are being written.
const UNFINISHED: (&str, &str) = (".dpbounds-", ".unfinished");

/// Writes a file that appears under its name only when complete.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED.0).suffix(UNFINISHED.1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666)); // reduced by the umask
    }
    let mut file = builder.tempfile_in(directory.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    let _: File = file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Removes what a process that was killed had not finished to write. One that stays does no harm.
pub(crate) fn remove_leftovers(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name
            .to_str()
            .is_some_and(|name| name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1));
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
