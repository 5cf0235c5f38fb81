//! CREATE, ALTER and DROP SEQUENCE.

use super::database::reserved_schema;
use crate::ast::{ColumnSpec, SequenceOptions};
use crate::ddl::comment::{Commented, comment};
use crate::ddl::file_name;
use crate::ddl::run::engine_name;
use crate::ddl::run::{Run, db_of, may_be_called, unknown_database};
use crate::engine_name::is_merge;
use crate::expr::for_each_sequence;
use crate::lower::parse_expression;
use crate::planner::resolve::no_such_table;
use crate::quote::quote_ident;
use narwal_engine::{
    CatalogChange, ColumnDef, DefaultDef, EngineError, FillRows, SequenceRow, Steps, Table,
    TableDef, TableFill,
};
use narwal_syntax::ParseOptions;
use narwal_syntax::ast::{Expr as Ast, TableName};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{ColumnType, Name, SqlError, SqlResult, TypeKind};
use std::sync::Arc;

/// Numbers that a sequence takes at once if nothing is said.
const CACHE: u64 = 1000;

/// Error 4091 with the name as given.
pub fn unknown_sequence(name: &str) -> SqlError {
    errors::UNKNOWN_SEQUENCES.with([&name])
}

impl Run<'_> {
    /// The sequences that defaults name are there: error 1146, and 4089 for what is none.
    pub(super) fn check_default_sequences(&self, columns: &[ColumnSpec]) -> SqlResult<()> {
        self.check_sequences(columns.iter().filter_map(|c| c.default.clone()))
    }

    /// The same of a table's defaults as they are.
    pub(super) fn check_kept_sequences(&self, def: &TableDef) -> SqlResult<()> {
        let numbered =
            |c: &&ColumnDef| matches!(&c.default, DefaultDef::Expr(text) if text.contains("val("));
        let parsed = def.columns.iter().filter(numbered).filter_map(|c| {
            let DefaultDef::Expr(text) = &c.default else {
                return None;
            };
            parse_expression(text, &ParseOptions::default()).ok()
        });
        self.check_sequences(parsed)
    }

    fn check_sequences(&self, defaults: impl Iterator<Item = Ast>) -> SqlResult<()> {
        let mut names: Vec<TableName> = Vec::new();
        for mut e in defaults {
            for_each_sequence(&mut e, &mut |name| names.push(name.clone()));
        }
        for name in &names {
            let table = match self.source(db_of(name, self.env)?, &name.name) {
                Some(table) => table,
                None => self.table(name)?.clone(),
            };
            if !table.def.sequence {
                return Err(not_a_sequence(codes::NOT_SEQUENCE, &table));
            }
        }
        Ok(())
    }
}

/// The error of a table that is none; `code` is 4089 or, of DROP, 4090.
pub fn not_a_sequence(code: u16, table: &Table) -> SqlError {
    let def = &table.def;
    SqlError::new(
        code,
        b"42S02",
        format!("'{}.{}' is not a SEQUENCE", def.db, def.name),
    )
}

/// Error 4086: ALTER TABLE of the columns or indexes.
pub(super) fn wrong_structure(def: &TableDef) -> SqlError {
    errors::SEQUENCE_INVALID_TABLE_STRUCTURE.text(format!(
        "Sequence '{}.{}' table structure is invalid (Wrong number of columns)",
        def.db, def.name
    ))
}

/// The columns, with MariaDB's comments.
fn columns() -> Vec<ColumnDef> {
    let column = |name: &str, kind, width: u8, unsigned: bool, comment: &str| ColumnDef {
        name: name.to_string(),
        ty: ColumnType {
            unsigned,
            ..ColumnType::new(kind)
        },
        nullable: false,
        default: DefaultDef::None,
        auto_increment: false,
        on_update: None,
        comment: comment.to_string(),
        display_width: Some(width),
        generated: None,
        check: None,
        invisible: false,
        compressed: false,
        headed: false,
    };
    let big = |name, comment| column(name, TypeKind::BigInt, 21, false, comment);
    vec![
        big("next_not_cached_value", ""),
        big("minimum_value", ""),
        big("maximum_value", ""),
        big(
            "start_value",
            "start value when sequences is created or value if RESTART is used",
        ),
        big("increment", "increment value"),
        column("cache_size", TypeKind::BigInt, 21, true, ""),
        column(
            "cycle_option",
            TypeKind::TinyInt,
            1,
            true,
            "0 if no cycles are allowed, 1 if the sequence should begin a new cycle when maximum_value is passed",
        ),
        big("cycle_count", "How many cycles have been done"),
    ]
}

/// A table that SEQUENCE=1 makes a sequence has a sequence's columns and no indexes; otherwise error 4086.
pub(super) fn check_structure(def: &TableDef) -> SqlResult<()> {
    let wanted = columns();
    let alike = |(a, b): (&ColumnDef, &ColumnDef)| {
        let plain = !a.nullable && !a.auto_increment && a.check.is_none() && a.generated.is_none();
        a.name.same_name(&b.name) && a.ty == b.ty && plain
    };
    match def.columns.len() == wanted.len()
        && def.columns.iter().zip(&wanted).all(alike)
        && def.indexes.is_empty()
        && def.checks.is_empty()
    {
        true => Ok(()),
        false => Err(wrong_structure(def)),
    }
}

/// The row after what was said; `old`: the one before.
pub(super) fn row_of(o: &SequenceOptions, old: Option<&SequenceRow>) -> Option<SequenceRow> {
    let increment = o.increment.or(old.map(|r| r.increment)).unwrap_or(1);
    let up = increment >= 0;
    let least = if up { 1 } else { i64::MIN + 1 };
    let most = if up { i64::MAX - 1 } else { -1 };
    let or_old = |said: Option<Option<i64>>, old: Option<i64>, default: i64| match said {
        Some(said) => said.unwrap_or(default),
        None => old.unwrap_or(default),
    };
    let min = or_old(o.min, old.map(|r| r.min), least);
    let max = or_old(o.max, old.map(|r| r.max), most);
    let first = if up { min } else { max };
    let start = o.start.or(old.map(|r| r.start)).unwrap_or(first);
    let cache = match o.cache {
        Some(n) => u64::try_from(n).ok()?,
        None => old.map_or(CACHE, |r| r.cache),
    };
    let restarts = old.is_none() || o.restart.is_some();
    let row = SequenceRow {
        next: match old {
            Some(old) if !restarts => old.next,
            _ => o.restart.flatten().unwrap_or(start),
        },
        min,
        max,
        start,
        increment,
        cache,
        cycle: o.cycle.or(old.map(|r| r.cycle)).unwrap_or(false),
        round: old.filter(|_| !restarts).map_or(0, |r| r.round),
        steps: Steps::default(),
    };
    let fits = o.restart.flatten().is_none_or(|n| (min..=max).contains(&n));
    (fits && row.is_valid()).then_some(row)
}

pub(super) fn out_of_range(db: &str, name: &str) -> SqlError {
    errors::SEQUENCE_INVALID_DATA.with([&db, &name])
}

impl Run<'_> {
    pub(super) fn create_sequence(
        &self,
        or_replace: bool,
        if_not_exists: bool,
        name: &TableName,
        options: &SequenceOptions,
    ) -> SqlResult<u64> {
        let env = self.env;
        let db = db_of(name, env)?;
        reserved_schema(db, env)?;
        may_be_called(&name.name)?;
        file_name::table(db, &name.name, env)?;
        let row = row_of(options, None).ok_or_else(|| out_of_range(db, &name.name))?;
        let Some(database) = self.catalog.database(db) else {
            return Err(unknown_database(db));
        };
        let mut changes = match self.make_room(db, &name.name, or_replace, if_not_exists)? {
            Some(changes) => changes,
            None => return Ok(0),
        };
        if options.table.engine.as_deref().is_some_and(is_merge) {
            return Err(SqlError::unsupported("a MERGE table as a sequence"));
        }
        let def = TableDef {
            id: 0,
            db: db.to_string(),
            name: name.name.clone(),
            columns: columns(),
            indexes: Vec::new(),
            hidden_index_id: 0,
            collation: (options.table.collation)
                .collation(database.collation, database.collation)?
                .unwrap_or(database.collation),
            comment: match &options.table.comment {
                Some(text) => comment(text, Commented::Table, &name.name, env)?,
                None => String::new(),
            },
            auto_increment_start: 0,
            engine: engine_name(options.table.engine.as_deref(), &name.name, env)?,
            created: u64::from(env.timestamp()),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            sequence: true,
            merge: None,
            period: None,
            declared: None,
            options: Vec::new(),
        };
        if self.temporary.is_none() {
            return self.put_sequence(def, &row, changes);
        }
        changes.push(CatalogChange::CreateTable(def));
        self.submit(self.default_db(), self.text.to_string(), changes, false)?;
        if let Some(table) = env.temporary_table(db, &name.name) {
            table.begin_own_numbers(row);
        }
        Ok(0)
    }

    /// Makes a sequence with its row, which replicas make themselves.
    pub(super) fn put_sequence(
        &self,
        def: TableDef,
        row: &SequenceRow,
        mut changes: Vec<CatalogChange>,
    ) -> SqlResult<u64> {
        let (db, name) = (def.db.clone(), def.name.clone());
        changes.push(CatalogChange::CreateTable(def));
        let ddl = self.ddl_of(self.default_db(), self.text.to_string(), changes, false);
        let mut fill = |fill: &mut TableFill<'_>| -> Result<(), EngineError> {
            let table = fill.new_table(&db, &name)?;
            let image = table.row(&row.values())?;
            fill.insert(&table, &image, &[])
        };
        self.submit_filled(ddl, FillRows::Local, &mut fill)?;
        Ok(0)
    }

    pub(super) fn alter_sequence(
        &self,
        if_exists: bool,
        name: &TableName,
        options: &SequenceOptions,
    ) -> SqlResult<u64> {
        let db = db_of(name, self.env)?;
        let Some(table) = self.catalog.table(db, &name.name) else {
            if self.catalog.view(db, &name.name).is_some() {
                return Err(errors::NOT_SEQUENCE.with([&db, &name.name]));
            }
            if !if_exists {
                return Err(unknown_sequence(&name.name));
            }
            let e = unknown_sequence(&format!("{db}.{}", name.name));
            self.env.note(e.code, e.message);
            return Ok(0);
        };
        if !table.def.sequence {
            return Err(not_a_sequence(codes::NOT_SEQUENCE, table));
        }
        if let Some(row) = table.own_numbers() {
            let row = row_of(options, Some(&row)).ok_or_else(|| out_of_range(db, &name.name))?;
            table.begin_own_numbers(row);
            return Ok(0);
        }
        let last = self.env.variables.last_value(db, &name.name)?;
        // Replicas run the statement: MariaDB's take over no more than the next number from a row event.
        let change = CatalogChange::RebuildTable {
            db: db.to_string(),
            name: name.name.clone(),
            was: Box::new(table.def.clone()),
            def: table.def.clone(),
        };
        let sql = self.text.to_string();
        let ddl = self.ddl_of(self.default_db(), sql, vec![change], false);
        let mut fill = |fill: &mut TableFill<'_>| -> Result<(), EngineError> {
            let old = fill.old(db, &name.name)?;
            let new = fill.new_table(db, &name.name)?;
            fill.each_row(&old, &mut |fill, row| {
                let row = SequenceRow::of(&old, row)?;
                let row =
                    row_of(options, Some(&row)).ok_or_else(|| out_of_range(db, &name.name))?;
                fill.insert(&new, &new.row(&row.values())?, &[])
            })
        };
        self.submit_filled(ddl, FillRows::Local, &mut fill)?;
        if let Some(last) = last {
            self.env.variables.keep_last_value(db, &name.name, last);
        }
        Ok(0)
    }

    /// Error 1815: a table that becomes a sequence has one row. Error 4085: its numbers do not fit each other.
    pub(super) fn has_one_row(&self, table: &Arc<Table>) -> SqlResult<()> {
        let mut txn = self.db.begin(self.options.clone());
        let all = narwal_engine::KeyRange::all();
        let view = narwal_engine::ReadView::Current;
        let mut scan = txn.scan(table, 0, all, false, view, false)?;
        match scan.next()? {
            None => {
                return Err(errors::INTERNAL_ERROR.with([&"Fewer than one row in the table"]));
            }
            Some(item) => {
                let fits = SequenceRow::of(table, item.row).is_ok_and(|r| r.is_valid());
                if check_structure(&table.def).is_ok() && !fits {
                    return Err(out_of_range(&table.def.db, &table.def.name));
                }
            }
        }
        match scan.next()? {
            Some(_) => Err(errors::INTERNAL_ERROR.with([&"More than one row in the table"])),
            None => Ok(()),
        }
    }

    /// DROP TEMPORARY SEQUENCE in a session that has no temporary tables.
    pub(super) fn drop_temporary_sequences(
        &self,
        if_exists: bool,
        names: &[TableName],
    ) -> SqlResult<u64> {
        let full = |t: &TableName| Ok(format!("{}.{}", db_of(t, self.env)?, t.name));
        let names = names.iter().map(full).collect::<SqlResult<Vec<String>>>()?;
        self.env
            .refuse_all(vec![unknown_sequence(&names.join(","))], if_exists)?;
        Ok(0)
    }

    pub(super) fn drop_sequences(&self, if_exists: bool, names: &[TableName]) -> SqlResult<u64> {
        let mut changes: Vec<CatalogChange> = Vec::new();
        let mut written = Vec::new();
        let mut missing = Vec::new();
        let mut wrong = Vec::new();
        for t in names {
            let db = db_of(t, self.env)?;
            // DROP TEMPORARY SEQUENCE sees nothing else, and of nothing else's kind.
            let seen = self.catalog.table(db, &t.name);
            let seen = seen.filter(|table| self.temporary.is_none() || table.temporary);
            match seen {
                Some(table) if table.def.sequence => {
                    changes.push(CatalogChange::DropTable {
                        db: db.to_string(),
                        name: t.name.clone(),
                    });
                    written.push(match t.db {
                        Some(_) => format!("{}.{}", quote_ident(db), quote_ident(&t.name)),
                        None => quote_ident(&t.name),
                    });
                }
                // A temporary table is not looked at.
                Some(table) if !table.temporary => {
                    wrong.push(not_a_sequence(codes::NOT_SEQUENCE2, table));
                }
                None if self.temporary.is_none() && self.catalog.view(db, &t.name).is_some() => {
                    let text = format!("'{db}.{}' is a view", t.name);
                    wrong.push(errors::IT_IS_A_VIEW.text(text));
                }
                _ => missing.push(format!("{db}.{}", t.name)),
            }
        }
        if !changes.is_empty() {
            let exists = if if_exists { "IF EXISTS " } else { "" };
            let sql = format!(
                "DROP SEQUENCE {exists}{} /* generated by server */",
                written.join(",")
            );
            self.submit(self.default_db(), sql, changes, false)?;
        }
        if !missing.is_empty() {
            wrong.push(unknown_sequence(&missing.join(",")));
        }
        self.env.refuse_all(wrong, if_exists)?;
        Ok(0)
    }
}

/// The row of a sequence as it is now.
pub fn sequence_row(db: &narwal_engine::Database, table: &Arc<Table>) -> SqlResult<SequenceRow> {
    if let Some(row) = table.own_numbers() {
        return Ok(row);
    }
    let mut txn = db.begin(Default::default());
    let all = narwal_engine::KeyRange::all();
    let view = narwal_engine::ReadView::Snapshot;
    let mut scan = txn.scan(table, 0, all, false, view, false)?;
    match scan.next()? {
        Some(item) => Ok(SequenceRow::of(table, item.row)?),
        None => Err(no_such_table(&table.def.db, &table.def.name)),
    }
}

/// SHOW CREATE SEQUENCE.
pub fn show_create_sequence(table: &Table, row: &SequenceRow) -> String {
    let cache = match row.cache {
        0 => "nocache".to_string(),
        n => format!("cache {n}"),
    };
    let comment = match table.def.comment.as_str() {
        "" => String::new(),
        c => format!(" COMMENT={}", narwal_types::coltype::quoted(c)),
    };
    format!(
        "CREATE SEQUENCE {} start with {} minvalue {} maxvalue {} increment by {} {cache} {} ENGINE={}{comment}",
        quote_ident(&table.def.name),
        row.start,
        row.min,
        row.max,
        row.increment,
        if row.cycle { "cycle" } else { "nocycle" },
        table.def.engine,
    )
}
