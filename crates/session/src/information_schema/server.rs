//! Tables about the server: engines, character sets, connections, variables, status, plugins.

use super::rows::Rows;
use crate::key_caches::Shown;
use crate::privileges::PrivilegeSet;
use crate::show::server as show;
use crate::show::status;
use crate::variables::VARIABLES;
use crate::view::View;
use narwal_sql::virtual_tables::Wanted;
use narwal_sql::{StatementEnv, VariableScope};
use narwal_types::{Collation, Decimal, SqlResult, Value};

fn text(s: &str) -> Value {
    Value::str(s)
}

pub(super) fn engines(_: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    Ok(show::engines().rows)
}

pub(super) fn character_sets(_: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    // SHOW CHARACTER SET has description and collation the other way round.
    let mut rows = show::all_character_sets().rows;
    for r in &mut rows {
        r.swap(1, 2);
    }
    Ok(rows)
}

pub(super) fn collations(_: &View, env: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    Ok(show::all_collations(show::has_collation_ids(env)).rows)
}

pub(super) fn applicability(_: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    Ok(Collation::all()
        .map(|c| {
            let default = c.charset().default_collation() == c;
            vec![
                text(c.shared_name().unwrap_or(c.name())),
                text(c.charset().name()),
                text(c.name()),
                Value::Int(i64::from(c.id())),
                text(if default { "Yes" } else { "" }),
            ]
        })
        .collect())
}

pub(super) fn process_list(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let all = view.account.global.has(PrivilegeSet::PROCESS);
    let processes = &view.instance.processes;
    let now = processes.now();
    Ok(processes
        .all()
        .iter()
        .map(|p| p.line(now))
        .filter(|l| all || l.user == view.user)
        .map(|l| {
            let info = l.info.as_deref().map_or(Value::Null, text);
            let binary = l.info.as_deref().map_or(Value::Null, |i| {
                let bytes = i.as_bytes();
                Value::bytes(&bytes[..bytes.len().min(65_535)])
            });
            vec![
                Value::Int(i64::from(l.id)),
                text(&l.user),
                text(&l.host),
                l.db.as_deref().map_or(Value::Null, text),
                text(l.command),
                Value::Int(l.seconds as i64),
                text(l.state),
                info,
                Value::Decimal(Decimal::from(l.seconds * 1000)),
                Value::Int(0),
                Value::Int(0),
                Value::Decimal(Decimal::from(0u64)),
                Value::Int(l.memory.0),
                Value::Int(l.memory.1),
                Value::Int(0),
                Value::Int(l.query as i64),
                binary,
                Value::Int(0),
            ]
        })
        .collect())
}

/// The default key cache and those that SET GLOBAL has named. No table here uses one.
pub(super) fn key_caches(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let global = |name| view.instance.global_value(name).as_u64();
    let mut caches = vec![Shown::new(
        "default".into(),
        global("key_buffer_size"),
        global("key_cache_block_size"),
        global("key_cache_segments"),
    )];
    caches.extend(view.instance.key_caches.shown());
    let mut rows = Vec::new();
    for c in caches {
        let count = match c.segments {
            0 => Value::Null,
            n => Value::UInt(n),
        };
        for segment in 0..=c.segments {
            let (number, bytes) = match segment {
                0 => (Value::Null, c.bytes),
                n => (Value::UInt(n), c.bytes / c.segments),
            };
            let mut row = vec![text(&c.name), count.clone(), number];
            row.extend([bytes, c.block, 0, bytes / c.block.max(1), 0, 0, 0, 0, 0].map(Value::UInt));
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The authentication plugins and the store: what is built in.
pub(super) fn plugins(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let switched = view.instance.plugins.listed();
    let switched = switched
        .into_iter()
        .map(|(name, kind, library)| (name, kind, "1.1", "Part of the server", Some(library)));
    Ok([
        (
            "mysql_native_password",
            "AUTHENTICATION",
            "2.2",
            "Native MySQL authentication",
        ),
        (
            "mysql_old_password",
            "AUTHENTICATION",
            "1.0",
            "Old MySQL-4.0 authentication",
        ),
        (
            "caching_sha2_password",
            "AUTHENTICATION",
            "2.2",
            "SHA-256 authentication with a cache",
        ),
        (
            "InnoDB",
            "STORAGE ENGINE",
            "101100.0",
            "Narwal's table store",
        ),
    ]
    .into_iter()
    .map(|(name, kind, version, description)| (name, kind, version, description, None))
    .chain(switched)
    .map(|(name, kind, version, description, library)| {
        vec![
            text(name),
            text("1.0"),
            text("ACTIVE"),
            text(kind),
            text(version),
            library.map_or(Value::Null, text),
            library.map_or(Value::Null, |_| text("1.15")),
            text("Narwal"),
            text(description),
            text("Apache-2.0"),
            text(if library.is_some() { "ON" } else { "FORCE" }),
            text("Stable"),
            text("1.0"),
        ]
    })
    .collect())
}

fn variables(view: &View, scope: VariableScope) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for (i, d) in VARIABLES.iter().enumerate() {
        if scope == VariableScope::Global && !d.has_global() {
            continue;
        }
        let value = view.vars.read(scope, i)?.show();
        for name in d.shown_names() {
            rows.push(vec![
                Value::str(name.to_ascii_uppercase()),
                Value::str(value.as_str()),
            ]);
        }
    }
    Ok(rows)
}

pub(super) fn global_variables(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    variables(view, VariableScope::Global)
}

pub(super) fn session_variables(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    variables(view, VariableScope::Any)
}

/// Status variables with their names as SHOW STATUS writes them.
pub(super) fn status_as_shown(view: &View, global: bool) -> SqlResult<Rows> {
    let pairs = status::status_pairs(view, global, &crate::admin::Filter::None)?;
    let row = |(n, v): (String, String)| vec![Value::str(n), Value::str(v)];
    Ok(pairs.into_iter().map(row).collect())
}

fn status(view: &View, global: bool) -> SqlResult<Rows> {
    Ok(
        status::status_pairs(view, global, &crate::admin::Filter::None)?
            .into_iter()
            .map(|(n, v)| vec![Value::str(n.to_ascii_uppercase()), Value::str(v)])
            .collect(),
    )
}

pub(super) fn global_status(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    status(view, true)
}

pub(super) fn session_status(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    status(view, false)
}
