//! The table store, built again. It holds nothing that the log did not say: an older one, or none, and the log since make
//! the same rows.

use super::folder::{Folder, engine, io, old_name};
use super::log;
use super::sources::{Backup, Sources};
use crate::Failure;
use crate::backup::bar::{Bar, size};
use narwal_engine::{Database, Options};
use narwal_log::{Disk, FIRST_LSN};
use std::path::{Path, PathBuf};

/// The table store's file.
pub(super) const BASE: &str = narwal_engine::backup::BASE;

/// Bytes copied at a time.
const PIECE: usize = 1 << 20;

/// Puts a backup's table store, or none, in the place of the damaged one and lets recovery replay the log since.
pub(super) fn rebuild(
    folder: &Folder<'_>,
    sources: &Sources,
    dry_run: bool,
    aside: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    let base = folder.dir.join(BASE);
    let new = folder.dir.join("base.redb.new");
    let from = match &sources.backup {
        Some(b) => b.manifest.end.base_lsn,
        None => FIRST_LSN,
    };
    log::same_history(folder, sources)?;
    log::reach_back(folder, sources, from, dry_run)?;
    match &sources.backup {
        Some(b) => println!(
            "{}: of the backup {} ({}), and the log from LSN {from} on",
            base.display(),
            b.manifest.id,
            b.manifest.end.gtid_binlog_pos
        ),
        None => println!("{}: made anew from the whole log", base.display()),
    }
    if dry_run {
        return Ok(());
    }
    let disk = &*folder.disk;
    if let Some(b) = &sources.backup {
        copy(b, disk, &new)?;
    }
    let old = old_name(&base);
    if disk.exists(&base).map_err(io("looking for", &base))? {
        disk.rename(&base, &old).map_err(io("renaming", &base))?;
        aside.push(old);
    }
    if sources.backup.is_some() {
        disk.rename(&new, &base).map_err(io("renaming", &new))?;
    }
    disk.sync_dir(folder.dir)
        .map_err(io("syncing", folder.dir))?;
    replay(folder, sources.backup.as_ref())
}

fn copy(from: &Backup, disk: &dyn Disk, to: &Path) -> Result<(), Failure> {
    let path = from.dir.join(BASE);
    let copy = || -> std::io::Result<()> {
        let source = from.disk.open_read(&path)?;
        let len = source.len()?;
        let mut bar = Bar::new("copying the table store", len);
        let target = disk.create(to)?;
        let mut buf = vec![0; PIECE];
        let mut at = 0;
        while at < len {
            let n = source.read_at(&mut buf, at)?;
            if n == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            target.write_at(&buf[..n], at)?;
            at += n as u64;
            bar.add(n as u64);
        }
        target.sync_data()?;
        bar.clear();
        println!("{} of the table store copied", size(len));
        Ok(())
    };
    copy().map_err(io("copying the table store to", to))
}

/// Opens the folder once: recovery replays the log, and the checkpoint at the end makes it durable.
fn replay(folder: &Folder<'_>, backup: Option<&Backup>) -> Result<(), Failure> {
    let mut options = Options {
        memory_budget: folder.memory,
        disk: folder.disk.clone(),
        background: false,
        ..Options::default()
    };
    if let Some(b) = backup {
        options.server_id = b.manifest.end.server_id;
        options.gtid_domain_id = b.manifest.end.gtid_domain_id;
    }
    let db = Database::open_with(folder.dir, options).map_err(engine)?;
    db.checkpoint().map_err(engine)?;
    db.close().map_err(engine)
}
