//! Column definitions and what a table's columns must fulfil together.

use crate::ast::{ColumnSpec, ForeignKeySpec};
use crate::charset_words::CharsetWords;
use crate::ddl::comment::{Commented, comment};
use crate::ddl::constraint;
use crate::ddl::key_part::fixed_bytes;
use crate::ddl::unfit_default::{invalid_default, is_too_long, warn_of_default};
use crate::engine_name;
use narwal_types::errors;
use narwal_types::errors::codes;

use crate::env::StatementEnv;
use crate::lower::{is_text, too_big};
use crate::plan::dml::store_mode;
use crate::quote::quote_ident;
use narwal_engine::{ColumnDef, DefaultDef, GeneratedDef, IndexDef};
use narwal_syntax::SqlMode;
use narwal_types::convert::{NoWarnings, StoreTarget, default_input, store};
use narwal_types::{
    BlobSize, Charset, Collation, ColumnType, Member, Members, Name, SqlError, SqlResult, TypeKind,
    Value,
};
use std::collections::HashMap;

/// What a column as it is says of its collation.
pub(super) fn own_collation(def: &ColumnDef) -> CharsetWords {
    match def.ty.has_charset() {
        true => CharsetWords::exactly(def.ty.collation),
        false => CharsetWords::default(),
    }
}

/// The collation of a column with a character set.
fn column_collation(spec: &ColumnSpec, table: Collation) -> SqlResult<Collation> {
    Ok(spec.collation.collation(table, table)?.unwrap_or(table))
}

/// Makes a VARCHAR or VARBINARY that no row has room for a TEXT or BLOB; in strict mode it is error 1074.
fn fit_length(
    def: &mut ColumnDef,
    length: Option<u64>,
    width: u32,
    env: &StatementEnv,
) -> SqlResult<()> {
    let max = 65_532 / width;
    let (n, to, kind): (_, _, fn(BlobSize) -> TypeKind) = match def.ty.kind {
        TypeKind::VarChar(n) => (n, ("VARCHAR", "TEXT"), TypeKind::Text),
        TypeKind::VarBinary(n) => (n, ("VARBINARY", "BLOB"), TypeKind::Blob),
        TypeKind::Text(_) => {
            if let Some(n) = length {
                def.ty.kind = TypeKind::Text(BlobSize::for_bytes(n.saturating_mul(width.into())));
            }
            return Ok(());
        }
        _ => return Ok(()),
    };
    let n = length.unwrap_or(n.into());
    if n > max.into() {
        if env.sql_mode.strict() {
            return Err(too_big(&def.name, max));
        }
        let note = errors::AUTO_CONVERT.with([&def.name, &to.0, &to.1]);
        env.note(note.code, note.message);
        def.ty.kind = kind(BlobSize::for_bytes(n.saturating_mul(width.into())));
    } else if length.is_some() {
        def.ty.kind = match def.ty.kind {
            TypeKind::VarChar(_) => TypeKind::VarChar(n as u16),
            _ => TypeKind::VarBinary(n as u16),
        };
    }
    Ok(())
}

/// Error 1113 if `*` would mean nothing.
pub(super) fn some_are_visible(columns: &[ColumnDef]) -> SqlResult<()> {
    match columns.iter().all(|c| c.invisible) {
        true => Err(errors::TABLE_MUST_HAVE_COLUMNS.plain()),
        false => Ok(()),
    }
}

/// Gives a column its collation. Error 1074 if its characters may then take too much room; with the collation `binary` it
/// becomes a column of bytes.
fn settle_collation(
    def: &mut ColumnDef,
    spec: &ColumnSpec,
    table_collation: Collation,
    env: &StatementEnv,
) -> SqlResult<()> {
    if is_text(def.ty.kind) {
        let c = column_collation(spec, table_collation)?;
        fit_length(def, spec.length, c.charset().char_bytes(), env)?;
        if c == Collation::Binary {
            // A character column of the binary character set is a binary column.
            def.ty.kind = match def.ty.kind {
                TypeKind::Char(n) => TypeKind::Binary(n),
                TypeKind::VarChar(n) => TypeKind::VarBinary(n),
                TypeKind::Text(b) => TypeKind::Blob(b),
                k => k,
            };
        }
        def.ty.collation = c;
    } else if let TypeKind::Enum(of) | TypeKind::Set(of) = def.ty.kind {
        def.ty.collation = column_collation(spec, table_collation)?;
        let of = decode_members(def, of, spec)?;
        check_members(def, of, env)?;
    } else if let TypeKind::VarBinary(_) = def.ty.kind {
        fit_length(def, spec.length, 1, env)?;
    } else if def.ty.kind == TypeKind::Year && def.ty.year_digits() == 2 {
        let old = errors::WARN_DEPRECATED_SYNTAX.text(
            "'YEAR(2)' is deprecated and will be removed in a future release. Please use YEAR(4) instead",
        );
        env.note(old.code, old.message);
    }
    Ok(())
}

/// A TIMESTAMP of which the session's setting decides what the statement has left open (`timestamp.rs`).
pub(super) fn is_open(spec: &ColumnSpec, env: &StatementEnv) -> bool {
    spec.implicit && !env.explicit_timestamps && matches!(spec.def.ty.kind, TypeKind::Timestamp(_))
}

/// The definition of a column as the catalog keeps it.
pub(super) fn column_def(
    spec: &ColumnSpec,
    table_collation: Collation,
    db: &str,
    table: &str,
    env: &StatementEnv,
) -> SqlResult<ColumnDef> {
    if let Some(said) = spec
        .said_db
        .as_ref()
        .filter(|s| !s.eq_ignore_ascii_case(db))
    {
        return Err(errors::WRONG_DB_NAME.with([said]));
    }
    let mut def = spec.def.clone();
    let open = is_open(spec, env);
    if open {
        // DEFAULT NULL says nothing of it.
        def.nullable = false;
        if def.default == DefaultDef::Null {
            def.default = DefaultDef::None;
        }
    }
    let set = env.collation.charset();
    if let Some(e) = &spec.check {
        constraint::texts_fit(e, table_collation, env)?;
        def.check = Some(constraint::column_check(e, &def.name, (db, table), set)?);
    } else if spec.json {
        def.check = Some(format!("json_valid({})", quote_ident(&def.name)));
    }
    if let Some((e, stored)) = &spec.generated {
        constraint::texts_fit(e, table_collation, env)?;
        def.generated = Some(GeneratedDef {
            expr: constraint::generated(e, &def.name, (db, table), set, env)?,
            stored: *stored,
            late: false,
        });
    }
    def.comment = comment(&def.comment, Commented::Column, &def.name, env)?;
    settle_collation(&mut def, spec, table_collation, env)?;
    if let Some(e) = &spec.default {
        // Texts without an end keep what is said.
        let text = (!def.ty.is_blob()).then(|| constraint::literal_default(e, &def.ty));
        def.default = match text.flatten() {
            Some(text) => DefaultDef::Text(text),
            None => {
                let own = env.db.as_deref().unwrap_or(db);
                // What the column itself does not take is error 1067.
                let takes = constraint::texts_fit(e, def.ty.collation, env);
                if !def.ty.has_charset() || takes.is_ok() {
                    constraint::texts_fit(e, table_collation, env)?;
                }
                let table = (db, table);
                DefaultDef::Expr(constraint::default(e, &def.name, table, (own, set), env)?)
            }
        };
    }
    if !open {
        check_invisible(&def)?;
    }
    if def.auto_increment {
        let fits = def.ty.is_integer() || matches!(def.ty.kind, TypeKind::Float | TypeKind::Double);
        if !fits {
            return Err(errors::WRONG_FIELD_SPEC.with([&def.name]));
        }
        // A column that numbers itself has no default; NULL says the same.
        if !matches!(def.default, DefaultDef::None | DefaultDef::Null) {
            return Err(invalid_default(&def.name));
        }
        def.default = DefaultDef::None;
    }
    settle_default(&mut def, db, table, env)?;
    Ok(def)
}

/// A column that INSERT does not see needs a value.
pub(super) fn check_invisible(c: &ColumnDef) -> SqlResult<()> {
    let without = !c.nullable && !c.auto_increment && c.generated.is_none();
    match c.invisible && without && c.default == DefaultDef::None {
        true => Err(errors::INVISIBLE_NOT_NULL_WITHOUT_DEFAULT.with([&quote_ident(&c.name)])),
        false => Ok(()),
    }
}

/// Error 1067 if a column can't have its default, as the session's modes are now.
pub(super) fn checked_default(
    def: &ColumnDef,
    db: &str,
    table: &str,
    env: &StatementEnv,
) -> SqlResult<()> {
    settle_default(&mut def.clone(), db, table, env)
}

/// A default in the form that the catalog keeps. Error 1067 if the column can't have it.
pub(super) fn settle_default(
    def: &mut ColumnDef,
    db: &str,
    table: &str,
    env: &StatementEnv,
) -> SqlResult<()> {
    match &def.default {
        DefaultDef::None | DefaultDef::Expr(_) | DefaultDef::Moment(_) => {}
        DefaultDef::Null => {
            if !def.nullable {
                return Err(invalid_default(&def.name));
            }
        }
        DefaultDef::CurrentTimestamp(digits) => match def.ty.kind {
            // As many digits as the column has, if none or more are said.
            TypeKind::Timestamp(p) | TypeKind::DateTime(p) => {
                let said = Some(*digits).filter(|d| *d > 0);
                def.default = DefaultDef::CurrentTimestamp(said.map_or(p, |d| d.min(p)));
            }
            _ => def.default = DefaultDef::Expr(crate::show::current_timestamp(*digits)),
        },
        DefaultDef::Text(t) => {
            let mut mode = store_mode(env, false, false);
            mode.strict = true;
            let target = StoreTarget {
                ty: &def.ty,
                nullable: def.nullable,
                db,
                table,
                column: &def.name,
            };
            // A number names no member here.
            if let TypeKind::Enum(of) | TypeKind::Set(of) = def.ty.kind {
                let set = matches!(def.ty.kind, TypeKind::Set(_));
                if Member::parse(of, set, t.as_bytes(), def.ty.collation).1 {
                    return Err(invalid_default(&def.name));
                }
            }
            if is_too_long(t, &def.ty) {
                warn_of_default(def, t, codes::DATA_TOO_LONG, env);
                return Err(invalid_default(&def.name));
            }
            let v = store(
                default_input(t, &def.ty),
                &target,
                1,
                &mode,
                &mut NoWarnings,
            )
            .map_err(|e| {
                warn_of_default(def, t, e.code, env);
                invalid_default(&def.name)
            })?;
            if let (TypeKind::Timestamp(_), Value::DateTime(t)) = (def.ty.kind, &v)
                && !t.is_zero()
            {
                def.default = DefaultDef::Moment(t.unix_micros());
                return Ok(());
            }
            def.default = DefaultDef::Text(match v {
                Value::Bits(b) => format!("b'{:b}'", b.value),
                Value::Int(y) if def.ty.kind == TypeKind::Year && def.ty.year_digits() == 2 => {
                    format!("{:02}", y.rem_euclid(100))
                }
                Value::Int(0) if def.ty.kind == TypeKind::Year => "0000".into(),
                v => char_text(v.to_text(), &def.ty, env),
            });
        }
    }
    Ok(())
}

/// CHAR has no spaces at the end, and all that fit with PAD_CHAR_TO_FULL_LENGTH.
fn char_text(text: String, ty: &narwal_types::ColumnType, env: &StatementEnv) -> String {
    let TypeKind::Char(n) = ty.kind else {
        return text;
    };
    let short = text.trim_end_matches(' ');
    match env.sql_mode.has(SqlMode::PAD_CHAR_TO_FULL_LENGTH) {
        true => format!("{short:<width$}", width = n as usize),
        false => short.to_owned(),
    }
}

/// Whether members have every byte but NUL: MariaDB's files need one that separates them.
fn leave_no_separator(members: &[Box<str>], set: Charset) -> bool {
    // Most have few bytes.
    if members.iter().map(|m| m.len()).sum::<usize>() < 255 {
        return false;
    }
    let mut seen = [false; 256];
    for m in members {
        for b in set.encode(m.as_bytes()).iter() {
            seen[usize::from(*b)] = true;
        }
    }
    !seen[0] && seen[1..].iter().all(|s| *s)
}

/// Members that are bytes become text of the column's character set.
fn decode_members(def: &mut ColumnDef, of: Members, spec: &ColumnSpec) -> SqlResult<Members> {
    if spec.member_bytes.is_empty() {
        return Ok(of);
    }
    let set = def.ty.collation.charset();
    let mut list: Vec<String> = of.list().iter().map(|m| m.to_string()).collect();
    for (at, bytes) in &spec.member_bytes {
        let text = constraint::text_of_literal(bytes, set);
        let padded = set != Charset::Binary;
        list[*at] = (if padded {
            text.trim_end_matches(' ')
        } else {
            &*text
        })
        .into();
        if !padded && list[*at].as_bytes() != &**bytes {
            return Err(SqlError::unsupported("members of bytes that are no UTF-8"));
        }
    }
    let of = Members::new(list);
    def.ty.kind = match def.ty.kind {
        TypeKind::Set(_) => TypeKind::Set(of),
        _ => TypeKind::Enum(of),
    };
    Ok(of)
}

/// Two members of an ENUM or SET that its collation holds equal: an error in strict mode, else a note.
fn check_members(def: &ColumnDef, of: Members, env: &StatementEnv) -> SqlResult<()> {
    let list = of.list();
    if leave_no_separator(list, def.ty.collation.charset()) {
        return Err(errors::WRONG_FIELD_TERMINATORS.plain());
    }
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    for (i, m) in list.iter().enumerate() {
        let mut key = Vec::new();
        def.ty.collation.sort_key(m.as_bytes(), &mut key);
        let at = *known.entry(key).or_insert(i);
        if at != i {
            let first = &list[at];
            let text = format!(
                "Column '{}' has duplicated value '{first}' in {}",
                def.name,
                match def.ty.kind {
                    TypeKind::Set(_) => "SET",
                    _ => "ENUM",
                }
            );
            if store_mode(env, false, false).strict {
                return Err(errors::DUPLICATED_VALUE_IN_TYPE.text(text));
            }
            env.note(codes::DUPLICATED_VALUE_IN_TYPE, text);
        }
    }
    Ok(())
}

/// Looks for the AUTO_INCREMENT column in the indexes, and in those that `foreign` will bring. Some engines of MariaDB count in groups of rows, by a column that is
/// first in none; such a table keeps the engine's name (`said`: as the statement has it), so that its definition is one that
/// can be run.
pub(super) fn check_auto_increment(
    columns: &[ColumnDef],
    indexes: &[IndexDef],
    foreign: &[ForeignKeySpec],
    said: Option<&str>,
    engine: &mut String,
) -> SqlResult<()> {
    let mut auto = columns.iter().enumerate().filter(|(_, c)| c.auto_increment);
    let Some((at, _)) = auto.next() else {
        return Ok(());
    };
    if auto.next().is_some() {
        return Err(errors::WRONG_AUTO_KEY.plain());
    }
    let first = |i: &IndexDef| i.columns.first().is_some_and(|c| c.column == at);
    // A foreign key gets an index of its columns.
    let begins =
        |k: &ForeignKeySpec| (k.columns.first()).is_some_and(|c| columns[at].name.same_name(c));
    if indexes.iter().any(first) || foreign.iter().any(begins) {
        return Ok(());
    }
    let some = indexes
        .iter()
        .any(|i| i.columns.iter().any(|c| c.column == at));
    match said.and_then(engine_name::numbers_groups) {
        Some(name) if some => {
            *engine = name.to_string();
            Ok(())
        }
        _ => Err(errors::WRONG_AUTO_KEY.plain()),
    }
}

/// MariaDB's limit of a row, counted in MariaDB's in-memory row format, so that a table is refused here if and only if a replica
/// would refuse it.
pub(super) fn check_row_size(columns: &[ColumnDef]) -> SqlResult<()> {
    let nullable = columns.iter().filter(|c| c.nullable).count();
    let mut bytes = nullable.div_ceil(8) as u64;
    for c in columns {
        bytes += stored_bytes(&c.ty);
    }
    if bytes > 65_535 {
        return Err(errors::TOO_BIG_ROWSIZE.text("Row size too large. The maximum row size for the used table type, not counting BLOBs, is 65535. This includes storage overhead, check the manual. You have to change some columns to TEXT or BLOBs"));
    }
    Ok(())
}

/// The most bytes of a column in a row, lengths included; without what stands elsewhere.
pub(super) fn stored_bytes(ty: &ColumnType) -> u64 {
    match ty.kind {
        TypeKind::VarChar(_) | TypeKind::VarBinary(_) => {
            let n = ty.max_bytes().unwrap_or(0);
            n + if n < 256 { 1 } else { 2 }
        }
        TypeKind::Char(_) | TypeKind::Binary(_) => ty.max_bytes().unwrap_or(0),
        TypeKind::Text(b) | TypeKind::Blob(b) => {
            8 + match b {
                BlobSize::Tiny => 1,
                BlobSize::Normal => 2,
                BlobSize::Medium => 3,
                BlobSize::Long => 4,
            }
        }
        _ => fixed_bytes(ty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // MariaDB 10.11 gives error 1083 to all bytes but NUL, in one member or in several.
    #[test]
    fn members_of_all_bytes_leave_no_separator() {
        let latin1 = Charset::Latin1;
        let text = |bytes: std::ops::RangeInclusive<u8>| -> Box<str> {
            latin1
                .decode(&bytes.collect::<Vec<u8>>())
                .into_owned()
                .into()
        };
        assert!(leave_no_separator(&[text(1..=255)], latin1));
        assert!(leave_no_separator(
            &[text(1..=127), text(128..=255)],
            latin1
        ));
        assert!(!leave_no_separator(&[text(0..=255)], latin1));
        assert!(!leave_no_separator(&[text(2..=255), text(2..=9)], latin1));
        // UTF-8 never has 0xFF.
        assert!(!leave_no_separator(&[text(1..=255)], Charset::Utf8mb4));
    }
}
