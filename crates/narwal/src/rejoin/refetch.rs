//! All data anew: the other server's is copied beside the folder, and takes its place when it is whole. The old folder stays.

use super::args::{RejoinArgs, agreed};
use crate::Failure;
use crate::diverge::side::Side;
use crate::replica;
use clap::ValueEnum;
use narwal_binlog::DEFAULT_BASE_NAME;
use narwal_log::{Disk, RealDisk};
use std::path::{Path, PathBuf};

/// A folder beside `dir`.
fn beside(dir: &Path, suffix: &str) -> Result<PathBuf, Failure> {
    let name = dir
        .file_name()
        .ok_or_else(|| Failure::Usage(format!("{}: not the name of a folder", dir.display())))?;
    let mut name = name.to_owned();
    name.push(suffix);
    Ok(dir.with_file_name(name))
}

/// A name for what the folder was, that nothing has yet.
fn kept(dir: &Path) -> Result<PathBuf, Failure> {
    let mut to = beside(dir, ".before-rejoin")?;
    let mut n = 1;
    while to.symlink_metadata().is_ok() {
        n += 1;
        to = beside(dir, &format!(".before-rejoin-{n}"))?;
    }
    Ok(to)
}

/// Whether something that only this folder has can't be undone from the log: then it is shown and saved.
pub fn needed(args: &RejoinArgs, dir: &Path, there: &Side) -> Result<bool, Failure> {
    let key_file = args.encryption_key_file.as_deref();
    let here = &Side::folder(dir, key_file, DEFAULT_BASE_NAME)?;
    // What can be undone is saved by what undoes it.
    let looked = args.output.look(here, there, false)?;
    if looked.report(here, there).not_undoable().is_empty() {
        return Ok(false);
    }
    let outcome = args.output.examine(here, there)?;
    print!("{}", outcome.report(here, there).text());
    Ok(true)
}

/// Replaces the folder, which is locked and of which what only it has is saved, by a copy of the other server, which follows
/// that as soon as it is started.
pub fn replace(args: &RejoinArgs, dir: &Path, there: &Side) -> Result<(), Failure> {
    let dir = &dir
        .canonicalize()
        .map_err(|e| Failure::run(dir.display(), e))?;
    let kept = kept(dir)?;
    let question = format!(
        "\nCopy all data anew from {}, and keep {} as {}?",
        there.name(),
        dir.display(),
        kept.display()
    );
    if !args.yes && !agreed(&question)? {
        return Err(Failure::Run("nothing was changed".into()));
    }
    let new = beside(dir, ".refetched")?;
    let mut words = vec![
        format!("--from={}", args.other.from),
        format!("--datadir={}", new.display()),
        format!("--user={}", args.other.user),
    ];
    if let Some(mode) = args.other.ssl_mode.to_possible_value() {
        words.push(format!("--ssl-mode={}", mode.get_name()));
    }
    for (name, path) in [
        ("password-file", &args.other.password_file),
        ("ssl-ca", &args.other.ssl_ca),
        ("encryption-key-file", &args.encryption_key_file),
    ] {
        words.extend(path.iter().map(|p| format!("--{name}={}", p.display())));
    }
    replica::make(&words)?;
    let failed = |e| Failure::run(format_args!("replacing {}", dir.display()), e);
    std::fs::rename(dir, &kept).map_err(failed)?;
    std::fs::rename(&new, dir).map_err(failed)?;
    if let Some(parent) = dir.parent() {
        RealDisk.sync_dir(parent).map_err(failed)?;
    }
    println!(
        "{} is a copy of {} now, and follows it when its server is started; what it was is {}",
        dir.display(),
        there.name(),
        kept.display()
    );
    Ok(())
}
