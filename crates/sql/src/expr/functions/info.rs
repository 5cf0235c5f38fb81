//! The session, its user and its database; what values are; numbers that are nowhere twice.

use super::typing::{bigint_not_null, int_not_null, unsigned_not_null};
use crate::expr::node::Operands;
use crate::expr::node::{Call, Coercibility, ExprType, Function};
use crate::expr::types::BIGINT_CHARS;
use crate::expr::value::Val;
use crate::expr::value::Warn;
use narwal_types::convert::{self, to_i64};
use narwal_types::errors::codes;
use narwal_types::{Collation, ColumnType, SqlResult, TypeKind, ValueRef};
use narwal_types::{Fixed, FixedKind};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What ROWNUM() is in a condition: only the parser's calls become this.
pub(crate) const NEXT_ROW: &str = " rownum_next";

/// What `id IS NULL` is compared with under `sql_auto_is_null`.
pub(crate) static FRESH_INSERT_ID: Function = Function::new(
    " fresh_insert_id",
    "",
    "The last number that AUTO_INCREMENT gave, once.",
    unsigned_not_null,
    |c| {
        let id = c.ctx.env.fresh_insert_id.read();
        Ok(id.map_or(Val::NULL, |id| Val::Ref(ValueRef::UInt(id))))
    },
)
.of_session()
.never_defined();

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        NEXT_ROW,
        "",
        "The number that the row will have if it is taken.",
        bigint_not_null,
        |c| Ok(Val::int(c.ctx.subqueries.rows_taken() as i64 + 1)),
    )
    .volatile()
    .never_defined(),
    &Function::new(
        "rownum",
        "",
        "The row's number among those that the SELECT has taken, counted from 1.",
        |_| Ok(ExprType::bigint(true, true).with_chars(BIGINT_CHARS, false)),
        |c| Ok(Val::int(c.ctx.subqueries.rows_taken() as i64)),
    )
    .volatile()
    .never_defined(),
    &Function::of_operands(
        "benchmark",
        "n, expression",
        "Evaluates an expression n times; the result is 0.",
        int_not_null,
        benchmark,
    )
    .no_fixed_first()
    .volatile()
    .never_defined(),
    &Function::of_operands(
        "charset",
        "text",
        "The text's character set.",
        |_| Ok(charset_name()),
        |o| Ok(Val::text(collation_of_arg(o).charset().name().to_string())),
    )
    .takes_null(),
    &Function::of_operands(
        "coercibility",
        "text",
        "How much the text's collation counts beside others: 0 the most, 6 the least.",
        int_not_null,
        |o| Ok(Val::int(coercibility(o))),
    )
    .takes_null(),
    &Function::of_operands(
        "collation",
        "text",
        "The text's collation.",
        |_| Ok(charset_name()),
        |o| Ok(Val::text(collation_of_arg(o).name().to_string())),
    )
    .takes_null(),
    &Function::new(
        "connection_id",
        "",
        "The connection's number.",
        |_| {
            Ok(ExprType::of_column(
                ColumnType::unsigned(TypeKind::Int),
                false,
            ))
        },
        |c| Ok(Val::Ref(ValueRef::UInt(c.ctx.env.connection_id))),
    )
    .of_session(),
    &Function::new(
        "current_role",
        "",
        "The role that is set, NULL if none is.",
        |_| Ok(system_text(128, true)),
        |c| match &c.ctx.env.current_role {
            Some(role) => Ok(Val::text(role.to_string())),
            None => Ok(Val::NULL),
        },
    )
    .of_session(),
    &Function::new(
        "current_user",
        "",
        "The account that the session was let in by.",
        |_| Ok(system_text(384, true)),
        |c| Ok(Val::text(c.ctx.env.current_user.to_string())),
    )
    .of_session(),
    &Function::new(
        "database",
        "",
        "The default database, NULL if there is none.",
        |_| Ok(system_text(64, true)),
        |c| {
            let db = c.ctx.env.db.as_ref();
            Ok(db.map_or(Val::NULL, |d| Val::text(d.to_string())))
        },
    )
    .or(&["schema"])
    .of_session(),
    &Function::new(
        "found_rows",
        "",
        "How many rows the last SELECT had, without its LIMIT if it had SQL_CALC_FOUND_ROWS.",
        bigint_not_null,
        |c| Ok(Val::int(c.ctx.env.found_rows as i64)),
    )
    .of_session()
    .never_defined(),
    &Function::new(
        "last_insert_id",
        "[n]",
        "The last number that AUTO_INCREMENT gave in this session; sets it if n is given.",
        |t| {
            let chars = match t.args.is_empty() {
                true => BIGINT_CHARS,
                false => u32::try_from(t.chars(0)).unwrap_or(u32::MAX),
            };
            Ok(ExprType::bigint(true, t.nullable()).with_chars(chars, false))
        },
        last_insert_id,
    )
    .takes_null()
    .volatile()
    .never_defined(),
    &Function::new(
        "row_count",
        "",
        "How many rows the statement before changed.",
        bigint_not_null,
        |c| Ok(Val::int(c.ctx.env.row_count)),
    )
    .of_session()
    .never_defined(),
    &Function::new(
        "sys_guid",
        "",
        "A number that is nowhere twice, in 32 hexadecimal digits.",
        |_| {
            let ascii = Collation::Latin1SwedishCi;
            Ok(ExprType::string(32, ascii, Coercibility::Coercible, false))
        },
        |c| Ok(Val::text(format!("{:016x}{:016x}", c.random(), c.random()))),
    )
    .volatile(),
    &Function::new(
        "user",
        "",
        "The user and host that the client connected as.",
        |_| Ok(system_text(384, false)),
        |c| Ok(Val::text(c.ctx.env.user.to_string())),
    )
    .or(&["session_user", "system_user"])
    .of_session(),
    &Function::new(
        "uuid",
        "",
        "A number that is nowhere twice, as a UUID.",
        |_| Ok(ExprType::new_uuid().with_nullable(false)),
        uuid,
    )
    .volatile(),
    &Function::new(
        "uuid_short",
        "",
        "A number of 64 bits that this server gives once.",
        unsigned_not_null,
        uuid_short,
    )
    .volatile(),
    &Function::new(
        "version",
        "",
        "The server's version.",
        |_| Ok(system_text(60, false)),
        |c| Ok(Val::text(c.ctx.env.version.to_string())),
    )
    .of_session(),
];

/// A text that the system gives: its collation gives way to that of a column.
/// The name of a character set or collation.
fn charset_name() -> ExprType {
    ExprType {
        coercibility: Coercibility::Coercible,
        ..system_text(64, false)
    }
}

/// A text that the system knows: names are in its character set.
fn system_text(chars: u64, nullable: bool) -> ExprType {
    let collation = Collation::Utf8mb3GeneralCi;
    ExprType::string(chars, collation, Coercibility::SysConst, nullable)
}

/// NULL, with a warning, for a negative number.
fn benchmark<'a>(o: &Operands<'a, '_>) -> SqlResult<Val<'a>> {
    let env = o.ctx.env;
    let times = o.args[0].eval_ref(o.ctx, o.row)?;
    if times.is_null() {
        return Ok(Val::NULL);
    }
    let times = to_i64(times.as_ref(), &mut Warn(env));
    if times < 0 {
        let told = format!("Incorrect count value: '{times}' for function benchmark");
        env.warn(codes::WRONG_VALUE_FOR_TYPE, told);
        return Ok(Val::NULL);
    }
    for _ in 0..times {
        o.args[1].eval_ref(o.ctx, o.row)?;
        env.check_interrupt()?;
    }
    Ok(Val::int(0))
}

fn collation_of_arg(o: &Operands<'_, '_>) -> Collation {
    match o.args.first() {
        Some(a) if a.ty.ty.is_string() => a.ty.ty.collation,
        _ => Collation::Binary,
    }
}

fn coercibility(o: &Operands<'_, '_>) -> i64 {
    match o.args.first().map(|a| a.ty.coercibility) {
        Some(Coercibility::Explicit) => 0,
        Some(Coercibility::NoOne) => 1,
        Some(Coercibility::Implicit) => 2,
        Some(Coercibility::SysConst) => 3,
        Some(Coercibility::Coercible) | None => 4,
        Some(Coercibility::Numeric) => 5,
        Some(Coercibility::Ignorable) => 6,
    }
}

fn last_insert_id<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let env = c.ctx.env;
    if c.args.is_empty() {
        return Ok(Val::Ref(ValueRef::UInt(env.last_insert_id)));
    }
    if c.v(0).is_null() {
        env.last_insert_id_set.set(Some(0));
        return Ok(Val::NULL);
    }
    let n = convert::to_u64(c.number(0), &mut Warn(env));
    env.last_insert_id_set.set(Some(n));
    Ok(Val::Ref(ValueRef::UInt(n)))
}

/// Of version 4: at random.
fn uuid<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (a, b) = (c.random(), c.random());
    let a = a & !0xf000 | 0x4000;
    let b = b & (u64::MAX >> 2) | 1 << 63;
    let bytes = (u128::from(a) << 64 | u128::from(b)).to_be_bytes();
    let uuid = Fixed::from_bytes(FixedKind::Uuid, &bytes);
    Ok(uuid.map_or(Val::NULL, |f| Val::Ref(ValueRef::Fixed(f))))
}

/// Server, start and a counter in one number.
fn uuid_short<'a>(_: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seconds = now.map_or(0, |d| d.as_secs()) & 0xffff_ffff;
        AtomicU64::new(1 << 56 | seconds << 24)
    });
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    Ok(Val::Ref(ValueRef::UInt(n)))
}
