//! `init_file`: statements that a start runs before the first client comes in.

use crate::{Failure, glue};
use std::path::Path;

/// Runs them one after the other, up to one that fails: that is logged, and the server starts without the rest, as in MariaDB.
///
/// # Errors
/// The file can't be read.
pub fn run(instance: &glue::Instance, datadir: &Path) -> Result<(), Failure> {
    let name = instance.init_file();
    if name.is_empty() {
        return Ok(());
    }
    // A name without a folder stands in the data folder.
    let path = datadir.join(&name);
    let statements = std::fs::read(&path)
        .map_err(|e| Failure::run(format!("init_file {}", path.display()), e))?;
    match instance.local()?.run_all(&statements) {
        Ok(()) => tracing::info!(file = %path.display(), "ran the statements of init_file"),
        Err(e) => tracing::error!(
            file = %path.display(),
            error = crate::local::text(&e),
            "a statement of init_file failed; those behind it did not run"
        ),
    }
    Ok(())
}
