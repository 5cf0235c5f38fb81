//! The log of a restored folder: where it is to end.

use super::args::{RestoreArgs, engine};
use crate::Failure;
use crate::binlog::localtime;
use crate::folder::open_disk;
use narwal_binlog::VirtualConfig;
use narwal_crypt::Access;
use narwal_engine::backup::{Cut, Manifest, Point, find_cut};
use narwal_log::{Lsn, cut_behind};

/// Time for people, in local time.
pub fn time_text(secs: u32) -> String {
    let (y, mo, d, h, mi, s) = localtime::fields(secs);
    format!("{y:04}-{mo:02}-{d:02} {h:02}:{mi:02}:{s:02}")
}

/// Makes the log of the restored folder what was asked for; where it ends.
pub fn complete(
    args: &RestoreArgs,
    manifest: &Manifest,
    point: Option<&Point>,
) -> Result<Cut, Failure> {
    let keys = args.encryption_key_file.as_deref();
    let disk = open_disk(&args.datadir, keys, Access::Serve)?.disk;
    let log = args.datadir.join("log");
    let end = &manifest.end;
    let cut_at = |lsn: Lsn| {
        cut_behind(&*disk, &log, lsn).map_err(|e| Failure::run("ending the restored log", e))
    };
    cut_at(end.log_end)?;
    if let Some(url) = &args.archive {
        let lsn = super::archive::fetch(args, manifest, point, url, &*disk, &log)?;
        cut_at(lsn)?;
    }
    let mut cut = Cut {
        lsn: end.log_end,
        last: None,
        gtids: end.gtid_binlog_state.clone(),
        time: 0,
    };
    if let Some(point) = point {
        let config = VirtualConfig {
            domain_id: end.gtid_domain_id,
            server_id: end.server_id,
            ..VirtualConfig::default()
        };
        let base = (end.base_seq, end.base_lsn, end.base_gtid_state.as_str());
        cut = find_cut(disk.clone(), &log, &config, base, point).map_err(engine)?;
        cut_at(cut.lsn)?;
    }
    Ok(cut)
}
