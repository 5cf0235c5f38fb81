//! Rules that several variables share.

use super::parts::SessionParts;
use super::value::VarValue;
use crate::replica::errors::must_stop;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter's value.
pub(super) fn count(a: &AtomicU64) -> VarValue {
    VarValue::UInt(a.load(Ordering::Relaxed))
}

/// What decides about a whole transaction can't be changed inside one: the session's value of this variable.
pub(super) fn outside_transaction(
    s: &dyn SessionParts,
    global: bool,
    code: u16,
    name: &str,
) -> SqlResult<()> {
    if global || !s.in_transaction() {
        return Ok(());
    }
    Err(SqlError::new(
        code,
        b"HY000",
        format!("Cannot modify @@session.{name} inside a transaction"),
    ))
}

/// Error 1621: the session's value follows the global one when the session begins.
pub(super) fn global_only(global: bool, name: &str) -> SqlResult<()> {
    if global {
        return Ok(());
    }
    Err(errors::VARIABLE_IS_READONLY.with([&"SESSION", &name, &"GLOBAL"]))
}

/// Error 1198 while a connection to a source runs.
pub(super) fn while_replicas_stand(s: &dyn SessionParts, global: bool) -> SqlResult<()> {
    match s.server().running_replica().filter(|_| global) {
        Some(running) => Err(must_stop(&running)),
        None => Ok(()),
    }
}
