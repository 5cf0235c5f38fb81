//! Folders that a backup makes.

use crate::error::io_error;

/// Makes `dir` if it is not there; what is in it is an error that ends with `hint`.
pub(crate) fn make_empty(
    disk: &dyn narwal_log::Disk,
    dir: &std::path::Path,
    hint: &str,
) -> crate::Result<()> {
    disk.create_dir_all(dir)
        .map_err(|e| io_error("making", dir, &e))?;
    let names = disk
        .list(dir)
        .map_err(|e| io_error("looking into", dir, &e))?;
    // What a backup that failed leaves.
    let left = |name: &String| {
        name == "log"
            && disk
                .list(&dir.join(name))
                .is_ok_and(|inside| inside.is_empty())
    };
    match names.iter().find(|name| !left(name)) {
        None => Ok(()),
        Some(name) => Err(crate::error::EngineError::Io(format!(
            "{} is not empty ({name} is there): {hint}",
            dir.display()
        ))),
    }
}
