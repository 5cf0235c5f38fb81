//! FLUSH BINARY LOGS, RESET MASTER, SET gtid_binlog_state.

use crate::binlog::part::Binlog;
use crate::binlog::write::{view, write_state};
use crate::record::state::StateReason;
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, GtidState, VirtualFiles};
use narwal_types::SqlError;
use narwal_types::errors::codes;
use std::sync::atomic::Ordering;

fn sql(code: u16, text: impl Into<Box<str>>) -> EngineError {
    EngineError::Sql(SqlError::new(code, b"HY000", text))
}

/// FLUSH BINARY LOGS; returns warnings about domains.
pub(crate) fn flush(db: &Binlog, delete_domains: &[u32]) -> Result<Vec<String>> {
    let _admin = db.admin.lock();
    let mut notes = Vec::new();
    let mut delete = Vec::new();
    // The oldest file changes in a purge only, of which there is none now.
    let oldest = {
        let (index, current) = view(db);
        index.files.front().unwrap_or(&current).gtids.clone()
    };
    if !delete_domains.is_empty() {
        let now = db.log.with_order_state(|o, _| o.binlog.gtids().clone());
        for &domain in delete_domains {
            if now.last(domain).is_none() {
                notes.push(format!(
                    "The gtid domain being deleted ('{domain}') is not in the current binlog state"
                ));
            } else if !delete.contains(&domain) {
                delete.push(domain);
            }
        }
        if delete.is_empty() {
            return Ok(notes);
        }
    }
    let reason = if delete.is_empty() {
        StateReason::Rotate
    } else {
        StateReason::Set
    };
    let ticket = write_state(
        db,
        reason,
        0,
        |files| {
            // In the same step of the log's order: a commit may have been faster.
            if let Some(domain) = delete
                .iter()
                .find(|d| !same_in_domain(files.gtids(), &oldest, **d))
            {
                return Err(sql(
                    codes::BINLOG_CANT_DELETE_GTID_DOMAIN,
                    format!(
                        "Could not delete gtid domain. Reason: binlog files may contain gtids from the domain ('{domain}') being deleted. Make sure to first purge those files."
                    ),
                ));
            }
            if delete.is_empty() {
                files.rotate();
            } else {
                files.delete_domains(&delete);
            }
            Ok(())
        },
        |_, _| (),
    )?;
    db.log.wait(&ticket)?;
    db.look();
    Ok(notes)
}

/// Begins file `number`, unless the current one is that or a later one.
pub(crate) fn follow_file(db: &Binlog, number: u32) -> Result<()> {
    let behind = || db.log.with_order_state(|o, _| o.binlog.file_no() < number);
    if number > LARGEST_FIRST_FILE || !behind() {
        return Ok(());
    }
    let _admin = db.admin.lock();
    if !behind() {
        return Ok(());
    }
    write_state(
        db,
        StateReason::Rotate,
        0,
        |files| {
            files.rotate_to(number);
            Ok(())
        },
        |_, _| (),
    )?;
    db.look();
    Ok(())
}

/// Begins file `number` behind `gtids`, which may be more than the log knows of: they stand in a binary log file that is
/// ahead of it.
pub(crate) fn begin_file_behind(db: &Binlog, number: u32, gtids: &GtidState) -> Result<()> {
    let _admin = db.admin.lock();
    let ticket = write_state(
        db,
        StateReason::Set,
        gtids.len(),
        |files| {
            files.set_gtids(gtids.clone());
            files.rotate_to(number);
            Ok(())
        },
        |_, _| (),
    )?;
    Ok(db.log.wait(&ticket)?)
}

/// Whether both states say the same of a domain.
fn same_in_domain(a: &GtidState, b: &GtidState, domain: u32) -> bool {
    let of = |s: &GtidState| s.iter().filter(|g| g.domain == domain).collect::<Vec<_>>();
    of(a) == of(b)
}

/// Largest number that RESET MASTER TO takes, as MariaDB.
const LARGEST_FIRST_FILE: u32 = i32::MAX as u32 - 1;

/// RESET MASTER [TO n].
pub(crate) fn reset(db: &Binlog, first_file: Option<u32>) -> Result<()> {
    db.one_log("RESET MASTER")?;
    let number = first_file.unwrap_or(1).max(1);
    if number > LARGEST_FIRST_FILE {
        return Err(sql(
            codes::NO_UNIQUE_LOGFILE,
            format!(
                "Can't generate a unique log-filename with number {number}; the largest is {LARGEST_FIRST_FILE}"
            ),
        ));
    }
    begin_new(db, &|files| {
        files.reset(number);
        Ok(())
    })
}

/// A new log that goes on behind `state`.
pub(crate) fn end_at(db: &Binlog, expected: &GtidState, state: &GtidState) -> Result<()> {
    db.one_log("FLASHBACK BINARY LOGS")?;
    begin_new(db, &|files| {
        if files.gtids() != expected {
            return Err(sql(
                codes::UNKNOWN_ERROR,
                format!(
                    "The binary log ends at '{}' and not at '{expected}' any more: transactions were committed meanwhile",
                    files.gtids()
                ),
            ));
        }
        let next = files.file_no().saturating_add(1);
        files.reset(next.min(LARGEST_FIRST_FILE));
        files.set_gtids(state.clone());
        Ok(())
    })
}

/// Begins a new log. `change` makes its first state of the last of the old one.
fn begin_new(db: &Binlog, change: &dyn Fn(&mut VirtualFiles) -> Result<()>) -> Result<()> {
    let _admin = db.admin.lock();
    let (mut index, current) = view(db);
    // Readers inside the old log finish it.
    db.keep_for_readers(&index, &current);
    let ticket = write_state(db, StateReason::Reset, 0, change, |_, at| {
        db.start_moved.store(at.lsn, Ordering::Relaxed);
    })?;
    index.clear();
    drop(index);
    db.log.wait(&ticket)?;
    // A checkpoint frees the old log's segments.
    db.bell.wake();
    Ok(())
}

/// A list of GTIDs, the last of each (domain, server) counting.
fn parse_state(text: &str) -> Result<GtidState> {
    let list = text.trim();
    if list.is_empty() {
        return Ok(GtidState::new());
    }
    list.split(',')
        .map(|g| g.parse::<Gtid>())
        .collect::<std::result::Result<GtidState, _>>()
        .map_err(|_| sql(codes::INCORRECT_GTID_STATE, "Could not parse GTID list"))
}

/// SET GLOBAL gtid_binlog_state.
pub(crate) fn set_gtid_state(db: &Binlog, text: &str) -> Result<()> {
    let not_empty = || {
        sql(
            codes::BINLOG_MUST_BE_EMPTY,
            "This operation is not allowed if any GTID has been logged to the binary log. Run RESET MASTER first to erase the log",
        )
    };
    db.one_log("SET gtid_binlog_state")?;
    let _admin = db.admin.lock();
    let (mut index, current) = view(db);
    if !db.log.with_order_state(|o, _| o.binlog.gtids().is_empty()) {
        return Err(not_empty());
    }
    let state = parse_state(text)?;
    if state.is_empty() {
        return Ok(());
    }
    let ticket = write_state(
        db,
        StateReason::Set,
        state.len(),
        |files| {
            if !files.gtids().is_empty() {
                return Err(not_empty());
            }
            files.set_gtids(state.clone());
            Ok(())
        },
        |_, _| (),
    )?;
    index.begin_anew(current.number, ticket.lsn());
    drop(index);
    Ok(db.log.wait(&ticket)?)
}
