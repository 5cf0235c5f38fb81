//! GET_LOCK, RELEASE_LOCK, RELEASE_ALL_LOCKS, IS_FREE_LOCK and IS_USED_LOCK.

use super::Func;
use crate::env::StatementEnv;
use narwal_types::{SqlError, SqlResult, Value, ValueRef};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Characters of a lock's name, at most.
const MAX_NAME: usize = 192;

/// A lock's name; `None` if it is NULL or empty, and all these functions NULL with it.
fn name(func: Func, v: ValueRef<'_>) -> SqlResult<Option<Vec<u8>>> {
    let refused = match v {
        ValueRef::Int(_) => "int",
        ValueRef::UInt(_) => "bigint unsigned",
        ValueRef::Decimal(_) => "decimal",
        ValueRef::Float(_) | ValueRef::Double(_) => "double",
        _ => "",
    };
    if !refused.is_empty() {
        return Err(SqlError::new(
            4079,
            b"HY000",
            format!(
                "Illegal parameter data type {refused} for operation '{}'",
                func.name()
            ),
        ));
    }
    if v.is_null() {
        return Ok(None);
    }
    let text = v.to_text();
    if text.chars().count() > MAX_NAME {
        let head: String = text.chars().take(109).collect();
        return Err(SqlError::new(
            1059,
            b"42000",
            format!("Identifier name '{head}...' is too long"),
        ));
    }
    Ok((!text.is_empty()).then(|| text.into_bytes()))
}

/// Runs one of them. `seconds`: the second argument of GET_LOCK as a number.
pub(super) fn run(
    func: Func,
    args: &[ValueRef<'_>],
    seconds: f64,
    env: &StatementEnv,
) -> SqlResult<Value> {
    let locks = &env.variables;
    if func == Func::ReleaseAllLocks {
        return Ok(Value::UInt(locks.release_all_locks()));
    }
    let arg = |i: usize| args.get(i).copied().unwrap_or_default();
    if func == Func::GetLock && (arg(1).is_null() || seconds < 0.0) {
        let given = if arg(1).is_null() {
            "NULL".to_string()
        } else {
            arg(1).to_text()
        };
        env.warn(
            1411,
            format!("Incorrect timeout value: '{given}' for function get_lock"),
        );
        return Ok(Value::Null);
    }
    let Some(name) = name(func, arg(0))? else {
        return Ok(Value::Null);
    };
    Ok(match func {
        Func::GetLock => {
            let killed = || env.interrupt.load(Ordering::Relaxed);
            let wait = Duration::from_secs_f64(seconds.min(1e9));
            let got = locks.get_lock(&name, wait, &killed)?;
            if !got && killed() {
                Value::Null
            } else {
                Value::Int(i64::from(got))
            }
        }
        Func::ReleaseLock => locks
            .release_lock(&name)
            .map_or(Value::Null, |mine| Value::Int(i64::from(mine))),
        Func::IsFreeLock => Value::Int(i64::from(locks.lock_owner(&name).is_none())),
        _ => locks
            .lock_owner(&name)
            .map_or(Value::Null, |id| Value::Int(i64::from(id))),
    })
}
