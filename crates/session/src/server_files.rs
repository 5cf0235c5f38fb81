//! Files of the server's host that statements name: where they may be, and LOAD_FILE().

use crate::instance::Instance;
use crate::privileges::PrivilegeSet;
use narwal_types::{SqlResult, errors};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file that a name means, in the database's folder if it is relative, where `secure_file_priv` allows it.
pub(crate) fn allowed_file(
    instance: &Instance,
    db: &str,
    name: &str,
    new: bool,
) -> SqlResult<PathBuf> {
    let mut path = PathBuf::from(name);
    if path.is_relative() {
        let base = PathBuf::from(instance.global_value("datadir").show());
        // A database has no folder of its own: what is beside it is in the data folder.
        path = match path.strip_prefix("..") {
            Ok(beside) => base.join(beside),
            Err(_) => base.join(db).join(path),
        };
    }
    let allowed = instance.global_value("secure_file_priv").show();
    if !allowed.is_empty() {
        // What the name means, symbolic links and all; a new file by its folder.
        let real = if new {
            path.parent().and_then(|p| p.canonicalize().ok())
        } else {
            path.canonicalize()
                .or_else(|_| path.parent().unwrap_or(&path).canonicalize())
                .ok()
        };
        let folder = Path::new(&allowed).canonicalize().ok();
        let inside = matches!((&real, &folder), (Some(r), Some(f)) if r.starts_with(f));
        if !inside {
            return Err(errors::OPTION_PREVENTS_STATEMENT.with([&"--secure-file-priv"]));
        }
    }
    // MariaDB looks whether the folder is the allowed one even if all are, and has this number for one that is not there.
    let folder = path.parent().unwrap_or(&path);
    let named = Path::new(name).parent();
    if named.is_some_and(|p| !p.as_os_str().is_empty()) && !folder.is_dir() {
        let said = errors::OPTION_PREVENTS_STATEMENT.with([&"--secure-file-priv"]);
        let told = format!(
            "{}: there is no folder '{}'",
            said.message,
            folder.display()
        );
        return Err(errors::OPTION_PREVENTS_STATEMENT.text(told));
    }
    Ok(path)
}

/// LOAD_FILE(): the bytes of a file that all may read; `None` if there is no such file, it is too long, or not for this
/// account.
pub(crate) fn load_file(
    instance: &Instance,
    name: &str,
    (user, role): (&str, Option<&str>),
    most: u64,
) -> SqlResult<Option<Vec<u8>>> {
    let account =
        (user.rsplit_once('@')).and_then(|(user, host)| instance.acl().effective(user, host, role));
    if !account.is_some_and(|a| a.global.has(PrivilegeSet::FILE)) {
        return Ok(None);
    }
    let Ok(path) = allowed_file(instance, "", name, false) else {
        return Ok(None);
    };
    let Ok(meta) = std::fs::metadata(&path) else {
        return Ok(None);
    };
    if !meta.is_file() || meta.len() > most || meta.permissions().mode() & 0o004 == 0 {
        return Ok(None);
    }
    narwal_memory::reserve(meta.len())?;
    let mut bytes = Vec::new();
    // No more than that: the kernel's own files have more than they say.
    let read = File::open(&path).and_then(|f| f.take(meta.len()).read_to_end(&mut bytes));
    Ok(read.ok().map(|_| bytes))
}
