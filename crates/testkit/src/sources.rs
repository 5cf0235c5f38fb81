//! The text of source files, for tests that look whether what code names is there.

use std::io::Result;
use std::path::Path;

/// The texts of all Rust files below a folder.
///
/// # Errors
/// A folder or file can't be read.
pub fn sources(folder: &Path) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(sources(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push(std::fs::read_to_string(path)?);
        }
    }
    Ok(all)
}
