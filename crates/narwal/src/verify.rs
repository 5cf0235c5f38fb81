//! `narwal verify-log`: reads every record and its events.

use crate::Failure;
use crate::folder::open_disk;
use crate::options::Verify;
use narwal_binlog::EventReader;
use narwal_crypt::Access;
use narwal_engine::event_group;
use narwal_log::{DirReader, LogError};
use std::path::Path;

/// The log of a data folder, which no server can open meanwhile.
pub struct StoppedLog {
    /// Its records.
    pub reader: DirReader,
    _lock: Box<dyn Send + Sync>,
}

/// Opens the log of a data folder that no server uses.
pub fn open_log(datadir: &Path, key_file: Option<&Path>) -> Result<StoppedLog, Failure> {
    let at = datadir.display();
    if !datadir.is_dir() {
        return Err(Failure::Run(format!("{at}: no such data folder")));
    }
    let disk = open_disk(datadir, key_file, Access::Read)?.disk;
    // A server's log has an end that moves and bytes behind it that are not yet records.
    let lock = disk
        .lock(&datadir.join("narwal.lock"))
        .map_err(|e| Failure::run(format!("{at} is in use; stop its server first"), e))?;
    let log = datadir.join("log");
    let reader = DirReader::open(disk, &log)
        .map_err(|e| Failure::run(log.display(), e))?
        .ok_or_else(|| Failure::Run(format!("{}: holds no log", log.display())))?;
    Ok(StoppedLog {
        reader,
        _lock: lock,
    })
}

/// Checks the log and says what it found.
pub fn run(o: Verify) -> Result<(), Failure> {
    let mut stopped = open_log(&o.datadir, o.key_file.as_deref())?;
    let log = &mut stopped.reader;
    let (mut records, mut commits, mut events, mut bytes) = (0u64, 0u64, 0u64, 0u64);
    loop {
        let found = log.next();
        let record = match found {
            Ok(Some(r)) => r,
            Ok(None) => break,
            Err(e) => return Err(damage(&e)),
        };
        records += 1;
        bytes += record.body.len() as u64;
        let (lsn, kind) = (record.lsn, record.kind);
        let checked = match event_group(kind, record.body) {
            None => Err("the parts of a commit record do not fit together".to_owned()),
            Some(group) => EventReader::new(&group)
                .try_fold(0u64, |n, e| e.map(|_| n + 1))
                .map_err(|e| e.to_string()),
        };
        match checked {
            Ok(n) => events += n,
            Err(why) => {
                let (file, offset) = log.place(lsn);
                return Err(Failure::Run(format!(
                    "damaged events in the record at {}, offset {offset} (LSN {lsn}): {why}",
                    file.display()
                )));
            }
        }
        if kind.is_commit() {
            commits += 1;
        }
    }
    let end = log.end().map_err(|e| damage(&e))?;
    println!(
        "{records} records, {commits} commits, {events} events, {bytes} bytes of records: no damage"
    );
    println!(
        "the log ends at LSN {}, commit {}, in {}, offset {}{}",
        end.end_lsn,
        end.last_seq,
        end.file.display(),
        end.offset,
        match &end.torn {
            Some(why) => format!(", with a torn tail that the next start cuts off ({why})"),
            None if end.clean_shutdown => ", after a clean shutdown".to_owned(),
            None => ", without a clean shutdown".to_owned(),
        }
    );
    Ok(())
}

fn damage(e: &LogError) -> Failure {
    Failure::Run(format!("the log is damaged: {e}"))
}
