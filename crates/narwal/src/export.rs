//! `narwal export-binlog`: the log's event groups as a classic binary log file.

use crate::Failure;
use crate::options::Export;
use crate::verify::open_log;
use narwal_binlog::{FlatFileWriter, Gtid, VirtualConfig, VirtualFiles};
use narwal_engine::event_group;
use narwal_log::RecordKind;
use std::fs::File;
use std::io::{BufWriter, Write};

/// Version in the file's head: readers choose MariaDB's dialect by it.
pub const BINLOG_VERSION: &str = "10.11.0-MariaDB-narwal";

/// Writes the file.
pub fn run(o: Export) -> Result<(), Failure> {
    let from: Option<Gtid> = match &o.from {
        None => None,
        Some(text) => Some(
            text.parse()
                .map_err(|e| Failure::Usage(format!("--from={text}: {e}")))?,
        ),
    };
    let mut stopped = open_log(&o.datadir, o.key_file.as_deref())?;
    let log = &mut stopped.reader;
    let out: Box<dyn Write> = match &o.out {
        Some(path) => Box::new(File::create(path).map_err(|e| Failure::run(path.display(), e))?),
        None => Box::new(std::io::stdout().lock()),
    };
    let mut out = Some(BufWriter::with_capacity(1 << 20, out));
    let mut seen: Option<VirtualFiles> = None;
    let mut writer = None;
    let mut groups = 0u64;
    while let Some(record) = log
        .next()
        .map_err(|e| Failure::run("the log is damaged", e))?
    {
        if !matches!(record.kind, RecordKind::Commit | RecordKind::AnnexCommit) {
            continue;
        }
        let damaged =
            |e: &dyn std::fmt::Display| Failure::Run(format!("record at LSN {}: {e}", record.lsn));
        let group = event_group(record.kind, record.body)
            .ok_or_else(|| damaged(&"shorter than its annex"))?;
        if group.is_empty() {
            continue;
        }
        // The oldest group may be the first ever, or the first that retention has left.
        let seen = match &mut seen {
            Some(seen) => seen,
            none => {
                let before = VirtualFiles::before_group(VirtualConfig::default(), group);
                none.insert(before.map_err(|e| damaged(&e))?)
            }
        };
        let before = seen.gtids().clone();
        let placement = seen.observe(group).map_err(|e| damaged(&e))?;
        let gtid = placement.gtid;
        if from.is_some_and(|f| f.domain == gtid.domain && gtid.seq <= f.seq) {
            continue;
        }
        if writer.is_none() {
            let Some(out) = out.take() else { break };
            let made = FlatFileWriter::new(out, BINLOG_VERSION, gtid.server, 0, &before)
                .map_err(|e| damaged(&e))?;
            writer = Some(made);
        }
        if let Some(w) = &mut writer {
            w.append_moved(group).map_err(|e| damaged(&e))?;
            groups += 1;
        }
    }
    log.end()
        .map_err(|e| Failure::run("the log is damaged", e))?;
    let seen = seen.unwrap_or_else(|| VirtualFiles::new(VirtualConfig::default()));
    let writer = match (writer, out) {
        (Some(w), _) => w,
        (None, Some(out)) => FlatFileWriter::new(out, BINLOG_VERSION, 1, 0, seen.gtids())
            .map_err(|e| Failure::run("can't write", e))?,
        (None, None) => return Ok(()),
    };
    writer.stop().map_err(|e| Failure::run("can't write", e))?;
    eprintln!(
        "{groups} event groups, up to GTID position {}",
        seen.gtids().position_text()
    );
    Ok(())
}
