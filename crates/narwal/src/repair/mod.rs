//! `narwal repair`: makes a damaged data folder whole again.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command, its options, the order of the steps |
//! | `sources.rs` | where whole copies come from: a backup, an archive |
//! | `log.rs` | damaged and missing segments of the log |
//! | `base.rs` | the table store, built again from a backup's and the log |
//! | `tables.rs` | damaged tables, from a replica |
//!
//! The log is mended first, because the table store is built from it. Nothing that was in the folder is removed before the
//! folder has been checked again and found whole.

mod args;
mod base;
mod folder;
mod log;
mod sources;
mod tables;

use crate::Failure;
use crate::folder::open_disk;
use args::RepairArgs;
use folder::{Damage, Folder, OLD, io, old_name};
use narwal_crypt::Access;
use narwal_engine::check::AgainstLog;
use sources::Sources;
use std::path::PathBuf;

/// Runs the command with the arguments behind `repair`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<RepairArgs>("narwal repair", args)? else {
        return Ok(());
    };
    let dir = args.folder();
    if !dir.is_dir() {
        return Err(Failure::Run(format!(
            "{}: no such data folder",
            dir.display()
        )));
    }
    let keys = args.encryption_key_file.as_deref();
    let folder = Folder {
        dir,
        disk: open_disk(dir, keys, Access::Serve)?.disk,
        memory: args.memory.max(16) << 20,
    };
    println!("checking {}", dir.display());
    let (found, _) = folder.check(AgainstLog::Never)?;
    for f in &found.findings {
        println!("{f}");
    }
    let missing_base = !folder
        .disk
        .exists(&dir.join(base::BASE))
        .map_err(io("looking into", dir))?;
    let damage = Damage::of(dir, &found);
    if found.findings.is_empty() && !args.rebuild && !missing_base {
        println!("no damage: nothing to repair");
        return Ok(());
    }
    let sources = Sources::open(&args, &folder)?;
    let outcome = mend(&folder, &args, &damage, &sources, missing_base);
    sources.close(&folder)?;
    let done = outcome?;
    if args.dry_run {
        return Ok(());
    }
    println!("checking again");
    let (left, report) = folder.check(AgainstLog::Short)?;
    for f in &left.findings {
        println!("{f}");
    }
    if !left.findings.is_empty() {
        return Err(Failure::Damaged(format!(
            "{}: {} damages are left; what was replaced is beside its place, with the ending {}",
            dir.display(),
            left.findings.len(),
            OLD
        )));
    }
    for old in &done {
        folder.disk.remove(old).map_err(io("removing", old))?;
    }
    println!(
        "no damage: {} tables, {} rows, GTID position '{}'",
        report.tables, report.rows, report.gtid_pos
    );
    Ok(())
}

/// The steps; the files that were put aside.
fn mend(
    folder: &Folder<'_>,
    args: &RepairArgs,
    damage: &Damage,
    sources: &Sources,
    missing_base: bool,
) -> Result<Vec<PathBuf>, Failure> {
    let mut aside = Vec::new();
    if damage.log {
        log::mend(folder, damage, sources, args.dry_run, &mut aside)?;
    }
    for run in &damage.runs {
        println!("{}: its rows are built again from the log", run.display());
        if !args.dry_run {
            let old = old_name(run);
            folder.disk.rename(run, &old).map_err(io("renaming", run))?;
            aside.push(old);
        }
    }
    if let Some(replica) = args.replica.as_ref().filter(|_| damage.base) {
        tables::refetch(folder, args, replica, &damage.tables)?;
    } else if !damage.log && damage.base || missing_base || args.rebuild {
        base::rebuild(folder, sources, args.dry_run, &mut aside)?;
    } else if damage.base && !args.dry_run {
        // What the check could not read because of the log is known only now.
        let (found, _) = folder.check(AgainstLog::Never)?;
        if Damage::of(folder.dir, &found).base {
            base::rebuild(folder, sources, args.dry_run, &mut aside)?;
        }
    }
    Ok(aside)
}
