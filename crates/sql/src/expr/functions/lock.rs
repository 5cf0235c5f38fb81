//! GET_LOCK, RELEASE_LOCK, RELEASE_ALL_LOCKS, IS_FREE_LOCK, IS_USED_LOCK and SLEEP.

use super::typing::{int_not_null, int_or_null};
use crate::expr::node::{Call, ExprType, Function};
use crate::expr::value::Val;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{ColumnType, TypeKind};
use narwal_types::{SqlResult, ValueRef};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "get_lock",
        "name, seconds",
        "Takes a lock: 1, or 0 if another session had it for so long.",
        int_or_null,
        get_lock,
    )
    .takes_null()
    .volatile()
    .never_defined(),
    &Function::new(
        "is_free_lock",
        "name",
        "Whether no session has the lock.",
        int_or_null,
        |c| with_lock(c, |name| Val::int(owner(c, name).is_none().into())),
    )
    .volatile()
    .never_defined(),
    &Function::new(
        "is_used_lock",
        "name",
        "The connection that has the lock.",
        int_or_null,
        |c| {
            with_lock(c, |name| {
                owner(c, name).map_or(Val::NULL, |id| Val::int(id.into()))
            })
        },
    )
    .volatile()
    .never_defined(),
    &Function::new(
        "release_all_locks",
        "",
        "Gives back all locks of the session; how many there were.",
        |_| {
            let ty = ColumnType::unsigned(TypeKind::Int);
            Ok(ExprType::of_column(ty, false))
        },
        |c| {
            let n = c.ctx.env.variables.release_all_locks();
            Ok(Val::Ref(ValueRef::UInt(n)))
        },
    )
    .volatile()
    .never_defined(),
    &Function::new(
        "release_lock",
        "name",
        "Gives a lock back: 1, or 0 if another session has it.",
        int_or_null,
        |c| {
            with_lock(c, |name| {
                let mine = c.ctx.env.variables.release_lock(name);
                mine.map_or(Val::NULL, |mine| Val::int(mine.into()))
            })
        },
    )
    .volatile()
    .never_defined(),
    &Function::new(
        "sleep",
        "seconds",
        "Waits; 0, or 1 if KILL ended it.",
        int_not_null,
        sleep,
    )
    .no_fixed()
    .takes_null()
    .volatile()
    .never_defined(),
];

/// Characters of a lock's name, at most.
const MAX_NAME: usize = 192;

/// A lock's name; `None` if it is NULL or empty, and all these functions NULL with it.
fn name(c: &Call<'_, '_>) -> SqlResult<Option<Vec<u8>>> {
    let v = c.v(0);
    let refused = match v {
        ValueRef::Int(_) => "int",
        ValueRef::UInt(_) => "bigint unsigned",
        ValueRef::Decimal(_) => "decimal",
        ValueRef::Float(_) | ValueRef::Double(_) => "double",
        _ => "",
    };
    if !refused.is_empty() {
        let function = c.func.name();
        return Err(errors::ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION.with([&refused, &function]));
    }
    if v.is_null() {
        return Ok(None);
    }
    let text = v.to_text();
    if text.chars().count() > MAX_NAME {
        let head: String = text.chars().take(109).collect();
        return Err(errors::TOO_LONG_IDENT.text(format!("Identifier name '{head}...' is too long")));
    }
    Ok((!text.is_empty()).then(|| text.into_bytes()))
}

/// Does something with the lock that the first argument names.
fn with_lock<'a>(c: &Call<'a, '_>, f: impl FnOnce(&[u8]) -> Val<'a>) -> SqlResult<Val<'a>> {
    Ok(name(c)?.map_or(Val::NULL, |n| f(&n)))
}

fn owner(c: &Call<'_, '_>, name: &[u8]) -> Option<u32> {
    c.ctx.env.variables.lock_owner(name)
}

fn get_lock<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let env = c.ctx.env;
    let seconds = if c.v(1).is_null() { -1.0 } else { c.f64(1) };
    if seconds < 0.0 {
        let given = match c.v(1) {
            ValueRef::Null => "NULL".to_string(),
            v => v.to_text(),
        };
        let told = format!("Incorrect timeout value: '{given}' for function get_lock");
        env.warn(codes::WRONG_VALUE_FOR_TYPE, told);
        return Ok(Val::NULL);
    }
    let Some(name) = name(c)? else {
        return Ok(Val::NULL);
    };
    let killed = || env.interrupt.load(Ordering::Relaxed);
    let wait = Duration::from_secs_f64(seconds.min(1e9));
    let got = env.variables.get_lock(&name, wait, &killed)?;
    Ok(match got {
        false if killed() => Val::NULL,
        got => Val::int(got.into()),
    })
}

/// Waits in small steps, so that KILL ends it.
fn sleep<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() || c.f64(0) < 0.0 {
        return Ok(Val::int(0));
    }
    let end = Instant::now() + Duration::from_secs_f64(c.f64(0).min(1e9));
    let env = c.ctx.env;
    env.variables.show_state("User sleep");
    let ended_early = loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break false;
        }
        if env.interrupt.load(Ordering::Relaxed) {
            break true;
        }
        std::thread::sleep(left.min(Duration::from_millis(20)));
    };
    env.variables.show_state("");
    Ok(Val::int(ended_early.into()))
}
