//! Waiting for the log of a primary, and places in the log.

use super::typing::bigint_or_null;
use crate::expr::node::{Call, ExprType, Function};
use crate::expr::value::Val;
use narwal_binlog::GtidSet;
use narwal_types::SqlResult;
use narwal_types::errors::{self, codes};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "binlog_gtid_pos",
        "file, offset",
        "The GTIDs of a place in the binary log.",
        |_| Ok(ExprType::text(65_535, true)),
        binlog_gtid_pos,
    )
    .volatile()
    .never_defined(),
    &Function::new(
        "gtid_subset",
        "set, set",
        "1 if all transactions of the first set (MySQL's form, `uuid:1-5`) are in the second, else 0.",
        bigint_or_null,
        gtid_subset,
    ),
    &Function::new(
        "gtid_subtract",
        "set, set",
        "The transactions of the first set (MySQL's form) that are not in the second.",
        |_| Ok(ExprType::text(65_535, true)),
        gtid_subtract,
    ),
    &Function::new(
        "master_gtid_wait",
        "gtids[, seconds]",
        "Waits until these GTIDs have been applied; -1 if the seconds passed before.",
        bigint_or_null,
        master_gtid_wait,
    )
    .takes_null()
    .volatile()
    .never_defined(),
    &Function::new(
        "master_pos_wait",
        "file, offset[, seconds[, connection]]",
        "Waits until a place of the primary's log has been applied; how many event groups that took.",
        bigint_or_null,
        master_pos_wait,
    )
    .takes_null()
    .volatile()
    .never_defined(),
    &Function::new(
        "wait_for_executed_gtid_set",
        "set[, seconds]",
        "Waits until `gtid_executed` has these transactions (MySQL's form): 0, or 1 if the seconds passed before.",
        bigint_or_null,
        wait_for_executed_gtid_set,
    )
    .volatile()
    .never_defined(),
];

/// A set of GTIDs in MySQL's form.
fn gtid_set(c: &Call<'_, '_>, i: usize) -> SqlResult<GtidSet> {
    let text = c.text(i);
    text.parse()
        .map_err(|_| errors::MALFORMED_GTID_SET_SPECIFICATION.with([&text]))
}

fn gtid_subset<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (part, whole) = (gtid_set(c, 0)?, gtid_set(c, 1)?);
    Ok(Val::int(part.is_subset(&whole).into()))
}

fn gtid_subtract<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let left = gtid_set(c, 0)?.without(&gtid_set(c, 1)?);
    Ok(Val::text(left.to_string()))
}

/// 0 once the log has the transactions, 1 if the seconds passed before. Waits for ever if none are given.
fn wait_for_executed_gtid_set<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let env = c.ctx.env;
    let wanted = gtid_set(c, 0)?;
    let end = seconds(c, 1)
        .filter(|s| *s > 0.0)
        .map(|s| Instant::now() + as_duration(s));
    let mut step = Duration::from_micros(500);
    loop {
        if env.variables.has_executed(&wanted) {
            return Ok(Val::int(0));
        }
        step = (step * 2).min(Duration::from_millis(10));
        let left = end.map_or(step, |e| e.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(Val::int(1));
        }
        env.check_interrupt()?;
        std::thread::sleep(left.min(step));
    }
}

fn binlog_gtid_pos<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let file = c.text(0);
    let Ok(offset) = u64::try_from(c.int(1)) else {
        return Ok(Val::NULL);
    };
    let found = c.ctx.env.variables.binlog_gtid_pos(&file, offset)?;
    Ok(found.map_or(Val::NULL, Val::text))
}

/// The seconds that an argument allows; `None` if it is not given.
fn seconds(c: &Call<'_, '_>, i: usize) -> Option<f64> {
    match c.args.get(i) {
        Some(v) if !v.is_null() => Some(c.f64(i)),
        _ => None,
    }
}

fn as_duration(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.min(1e9))
}

/// Groups that it waited for until the position of a primary's log was applied, -1 if the seconds passed before; NULL
/// if nothing applies that log, or there is no such connection (with a warning).
fn master_pos_wait<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() || c.v(1).is_null() {
        return Ok(Val::NULL);
    }
    let env = c.ctx.env;
    let Ok(position) = u64::try_from(c.int(1)) else {
        return Ok(Val::NULL);
    };
    let timeout = seconds(c, 2).filter(|s| *s > 0.0);
    let connection = match c.args.get(3) {
        Some(v) if !v.is_null() => Some(c.text(3)),
        _ => None,
    };
    let killed = || env.interrupt.load(Ordering::Relaxed);
    let waited = env.variables.wait_for_source_position(
        connection.as_deref(),
        &c.text(0),
        position,
        timeout.map(as_duration),
        &killed,
    );
    env.check_interrupt()?;
    match waited {
        Ok(groups) => Ok(groups.map_or(Val::NULL, Val::int)),
        Err(e) if e.code == codes::WARN_NO_MASTER_INFO => {
            if connection.is_some() {
                env.warn(codes::WARN_NO_MASTER_INFO, e.message.to_string());
            }
            Ok(Val::NULL)
        }
        Err(e) => Err(e),
    }
}

/// 0 once the GTIDs have been applied, -1 if the seconds passed before. Waits for ever if none are given.
fn master_gtid_wait<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() {
        return Ok(Val::NULL);
    }
    let env = c.ctx.env;
    let gtids = c.text(0);
    let timeout = seconds(c, 1).filter(|s| *s >= 0.0);
    let end = timeout.map(|s| Instant::now() + as_duration(s));
    let mut step = Duration::from_micros(500);
    loop {
        if env.variables.replica_has_applied(&gtids)? {
            return Ok(Val::int(0));
        }
        step = (step * 2).min(Duration::from_millis(10));
        let left = end.map_or(step, |e| e.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(Val::int(-1));
        }
        env.check_interrupt()?;
        std::thread::sleep(left.min(step));
    }
}
