//! DDL statements as catalog changes.

mod alter;
mod alter_text;
mod alter_way;
mod column;
mod comment;
mod constraint;
mod create_select;
mod create_table;
mod database;
mod drop;
mod engine_limits;
mod file_name;
mod foreign;
mod foreign_refused;
mod functional;
mod index;
mod key_part;
mod merge;
mod padding;
mod pages;
mod period;
mod rebuild;
mod rename;
mod rounding;
mod row_order;
mod run;
mod sequence;
mod subtraction;
mod table_options;
mod temporary;
mod timestamp;
mod unfit_default;
mod view;
mod whole;

use crate::ast::{AlterAction, CreateTable, DdlStmt, ForeignKeySpec, TableOptions, ViewCreation};
use crate::ddl::run::{InOpen, Run, db_of};
use crate::engine_name;
use crate::env::StatementEnv;
use crate::exec::outcome::Outcome;
use crate::expr::for_each_operand;
pub use crate::planner::resolve::no_such_table;
use crate::prepared::Prepared;
use crate::privilege::{Needs, Privilege};
use narwal_engine::{Catalog, Database, Transaction, TxnOptions};
use narwal_syntax::ast::{Expr as AstExpr, Special, TableName};
use narwal_types::SqlResult;
use narwal_types::errors;
use narwal_types::errors::codes;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

pub use sequence::{not_a_sequence, sequence_row, show_create_sequence, unknown_sequence};
pub use temporary::is_temporary_ddl;

fn on_table(t: &TableName, privilege: Privilege, env: &StatementEnv) -> SqlResult<Needs> {
    // A statement may name hundreds of thousands of tables.
    env.check_interrupt()?;
    Ok(Needs {
        db: db_of(t, env)?.to_string(),
        table: t.name.clone(),
        privilege,
        through: None,
        alias: None,
    })
}

fn on_database(name: &str, privilege: Privilege) -> Needs {
    Needs {
        db: name.to_string(),
        table: String::new(),
        privilege,
        through: None,
        alias: None,
    }
}

fn create_table_needs(c: &CreateTable, env: &StatementEnv) -> SqlResult<Vec<Needs>> {
    let mut needs = Vec::new();
    if c.temporary {
        needs.push(on_database(
            db_of(&c.table, env)?,
            Privilege::CreateTemporary,
        ));
    } else {
        needs.push(on_table(&c.table, Privilege::Create, env)?);
        if c.or_replace {
            needs.push(on_table(&c.table, Privilege::Drop, env)?);
        }
        if c.select.is_some() {
            needs.push(on_table(&c.table, Privilege::Insert, env)?);
        }
    }
    needs.extend(union_needs(&c.options, env)?);
    let defaults = (c.elements.columns.iter()).filter_map(|c| c.default.as_ref());
    needs.extend(default_needs(defaults, env)?);
    needs.extend(parent_needs(&c.elements.foreign_keys, env)?);
    if let Some(like) = &c.like
        && env.temporary_table(db_of(like, env)?, &like.name).is_none()
    {
        needs.push(on_table(like, Privilege::Select, env)?);
    }
    Ok(needs)
}

/// Who gives a column a DEFAULT that draws from a sequence needs the rights on it that those who store it need.
fn default_needs<'a>(
    defaults: impl Iterator<Item = &'a AstExpr>,
    env: &StatementEnv,
) -> SqlResult<Vec<Needs>> {
    fn sequences(e: &mut AstExpr, found: &mut Vec<TableName>) {
        if let AstExpr::Special(s) = e
            && let Special::NextValue(name) | Special::LastValue(name) = &**s
        {
            found.push(name.clone());
        }
        for_each_operand(e, &mut |e| sequences(e, found));
    }
    let mut found = Vec::new();
    defaults.for_each(|e| sequences(&mut e.clone(), &mut found));
    let mut needs = Vec::new();
    for name in &found {
        if env.temporary_table(db_of(name, env)?, &name.name).is_none() {
            needs.push(on_table(name, Privilege::Select, env)?);
            needs.push(on_table(name, Privilege::Insert, env)?);
        }
    }
    Ok(needs)
}

/// What foreign keys need on the tables that they name.
fn parent_needs(keys: &[ForeignKeySpec], env: &StatementEnv) -> SqlResult<Vec<Needs>> {
    (keys.iter())
        .map(|k| on_table(&k.parent, Privilege::References, env))
        .collect()
}

/// What an action of ALTER TABLE needs beside ALTER.
fn action_needs(action: &AlterAction, env: &StatementEnv) -> SqlResult<Vec<Needs>> {
    match action {
        AlterAction::Options(o) => union_needs(o, env),
        AlterAction::Add { elements, .. } | AlterAction::Change { elements, .. } => {
            let defaults = elements.columns.iter().filter_map(|c| c.default.as_ref());
            let mut needs = default_needs(defaults, env)?;
            needs.extend(parent_needs(&elements.foreign_keys, env)?);
            Ok(needs)
        }
        AlterAction::SetDefault {
            default: Some(Err(e)),
            ..
        } => default_needs(std::iter::once(e), env),
        _ => Ok(Vec::new()),
    }
}

/// What a MERGE table's maker may do with the tables behind it, others may do through it.
fn union_needs(options: &TableOptions, env: &StatementEnv) -> SqlResult<Vec<Needs>> {
    let mut needs = Vec::new();
    let merge = options.engine.as_deref().is_none_or(engine_name::is_merge);
    for t in options.union.iter().flatten().filter(|_| merge) {
        if env.temporary_table(db_of(t, env)?, &t.name).is_none() {
            for privilege in [Privilege::Select, Privilege::Update, Privilege::Delete] {
                needs.push(on_table(t, privilege, env)?);
            }
        }
    }
    Ok(needs)
}

/// Privileges that a DDL statement needs.
pub fn ddl_needs(stmt: &DdlStmt, env: &StatementEnv) -> SqlResult<Vec<Needs>> {
    let on = |t: &TableName, privilege| on_table(t, privilege, env);
    let database = on_database;
    let temporary = |t: &TableName| -> SqlResult<bool> {
        Ok(env.temporary_table(db_of(t, env)?, &t.name).is_some())
    };
    let each = |tables: &[TableName], privilege| -> SqlResult<Vec<Needs>> {
        tables.iter().map(|t| on(t, privilege)).collect()
    };
    // What the statement asks for is dropped, too, where it takes the place of something.
    let replacing = |t: &TableName, privilege, replaces: bool| -> SqlResult<Vec<Needs>> {
        let mut needs = vec![on(t, privilege)?];
        if replaces {
            needs.push(on(t, Privilege::Drop)?);
        }
        Ok(needs)
    };
    // A table moves: what goes with the old name, and what with the new one.
    let renamed = |from: &TableName, to: &TableName| -> SqlResult<[Needs; 3]> {
        Ok([
            on(from, Privilege::Drop)?,
            on(to, Privilege::Create)?,
            on(to, Privilege::Insert)?,
        ])
    };
    Ok(match stmt {
        DdlStmt::CreateTable(c) => create_table_needs(c, env)?,
        DdlStmt::CreateSequence {
            temporary: true,
            name,
            ..
        } => vec![on_database(db_of(name, env)?, Privilege::CreateTemporary)],
        _ if is_temporary_ddl(stmt, env) => Vec::new(),
        DdlStmt::DropTable { tables, .. } => {
            let mut needs = Vec::new();
            for t in tables {
                if !temporary(t)? {
                    needs.push(on(t, Privilege::Drop)?);
                }
            }
            needs
        }
        DdlStmt::CreateSequence {
            name, or_replace, ..
        } => replacing(name, Privilege::Create, *or_replace)?,
        DdlStmt::AlterSequence { name, .. } => vec![on(name, Privilege::Alter)?],
        DdlStmt::DropSequence {
            temporary: true, ..
        } => Vec::new(),
        DdlStmt::DropSequence { names, .. } => each(names, Privilege::Drop)?,
        DdlStmt::Truncate(t) => vec![on(t, Privilege::Drop)?],
        DdlStmt::CreateDatabase {
            name, or_replace, ..
        } => {
            let drop = or_replace.then(|| database(name, Privilege::Drop));
            std::iter::once(database(name, Privilege::Create))
                .chain(drop)
                .collect()
        }
        DdlStmt::AlterDatabase { name, .. } => {
            let name = match name {
                Some(n) => n.clone(),
                None => env.require_db()?.to_string(),
            };
            vec![database(&name, Privilege::Alter)]
        }
        DdlStmt::DropDatabase { name, .. } => vec![database(name, Privilege::Drop)],
        DdlStmt::CreateIndex { table, .. } | DdlStmt::DropIndex { table, .. } => {
            vec![on(table, Privilege::Index)?]
        }
        DdlStmt::CreateView(v) => {
            let replaces = matches!(v.creation, ViewCreation::OrReplace | ViewCreation::Alter);
            replacing(&v.view, Privilege::CreateView, replaces)?
        }
        DdlStmt::DropView { views, .. } => each(views, Privilege::Drop)?,
        DdlStmt::AlterTable { table, actions, .. } => {
            let mut needs = vec![on(table, Privilege::Alter)?];
            for a in actions {
                match a {
                    AlterAction::RenameTo(to) => needs.extend(renamed(table, to)?),
                    a => needs.extend(action_needs(a, env)?),
                }
            }
            needs
        }
        DdlStmt::RenameTable { pairs, .. } => {
            let mut needs = Vec::new();
            for (from, to) in pairs {
                needs.push(on(from, Privilege::Alter)?);
                needs.extend(renamed(from, to)?);
            }
            needs
        }
    })
}

/// Runs a DDL statement. `text`: the statement as written, for the log. The session has committed its transaction.
pub fn execute_ddl(
    stmt: &DdlStmt,
    text: &str,
    db: &Database,
    options: &TxnOptions,
    env: &StatementEnv,
) -> SqlResult<Outcome> {
    execute_ddl_with(stmt, text, db, options, env, None, None)
}

/// As [`execute_ddl`]; `select`: the plan of the SELECT that CREATE TABLE has its rows from; `open`: the transaction that
/// goes on around a statement about temporary tables, and that the SELECT is part of.
pub fn execute_ddl_with(
    stmt: &DdlStmt,
    text: &str,
    db: &Database,
    options: &TxnOptions,
    env: &StatementEnv,
    select: Option<&Prepared>,
    open: Option<&mut Transaction>,
) -> SqlResult<Outcome> {
    let open = open.map(RefCell::new);
    let in_open = |run: &mut dyn FnMut(&mut Transaction) -> SqlResult<()>| match &open {
        Some(txn) => run(&mut txn.borrow_mut()),
        None => Ok(()),
    };
    let in_open: Option<InOpen<'_>> = match open {
        Some(_) => Some(&in_open),
        None => None,
    };
    // A new definition is made from the present one, which another statement may have changed meanwhile.
    for _ in 0..10 {
        let catalog = db.catalog();
        match attempt(stmt, text, db, &catalog, options, env, select, in_open) {
            Err(e)
                if e.code == codes::TABLE_DEF_CHANGED
                    && db.catalog_version() != catalog.version => {}
            done => return done,
        }
    }
    Err(errors::TABLE_DEF_CHANGED.plain())
}

#[allow(clippy::too_many_arguments)]
fn attempt(
    stmt: &DdlStmt,
    text: &str,
    db: &Database,
    base: &Arc<Catalog>,
    options: &TxnOptions,
    env: &StatementEnv,
    select: Option<&Prepared>,
    open: Option<InOpen<'_>>,
) -> SqlResult<Outcome> {
    let temporary = temporary::target(stmt, env)?;
    let catalog = temporary::catalog_of(temporary.as_deref(), base);
    let run = Run {
        db,
        base,
        catalog: &catalog,
        temporary,
        options,
        env,
        text,
        select,
        open,
        copied: Cell::default(),
    };
    let affected = run.statement(stmt)?;
    Ok(Outcome::Done {
        affected,
        last_insert_id: 0,
        info: if matches!(
            stmt,
            DdlStmt::CreateIndex { .. } | DdlStmt::DropIndex { .. } | DdlStmt::AlterTable { .. }
        ) || run.select.is_some()
        {
            let (rows, duplicates) = run.copied.get();
            let records = if run.select.is_some() { rows } else { affected };
            format!(
                "Records: {records}  Duplicates: {duplicates}  Warnings: {}",
                env.warning_count()
            )
        } else {
            String::new()
        },
    })
}

impl Run<'_> {
    fn statement(&self, stmt: &DdlStmt) -> SqlResult<u64> {
        match stmt {
            DdlStmt::CreateDatabase { .. }
            | DdlStmt::AlterDatabase { .. }
            | DdlStmt::DropDatabase { .. } => self.database_statement(stmt),
            DdlStmt::CreateTable(c) => self.create_table(c),
            DdlStmt::DropTable {
                if_exists,
                temporary,
                tables,
            } => self.drop_tables(*if_exists, *temporary, tables),
            DdlStmt::Truncate(t) => {
                let db = db_of(t, self.env)?;
                if self.catalog.view(db, &t.name).is_some() {
                    return Err(no_such_table(db, &t.name));
                }
                self.may_truncate(t)?;
                let table = self.table(t)?;
                if table.def.sequence {
                    return Err(narwal_engine::not_for_sequences(table).to_sql());
                }
                let changes = self.truncated(table)?;
                if !changes.is_empty() {
                    self.submit(self.default_db(), self.text.to_string(), changes, false)?;
                }
                Ok(0)
            }
            DdlStmt::CreateIndex {
                or_replace,
                table,
                index,
                ways,
            } => self.create_index(*or_replace, table, index, ways),
            DdlStmt::DropIndex {
                if_exists,
                table,
                index,
            } => self.drop_index(*if_exists, table, index),
            DdlStmt::AlterTable {
                ignore,
                if_exists,
                table,
                actions,
            } => self.alter_table(*ignore, *if_exists, table, actions),
            DdlStmt::CreateView(v) => self.create_view(v),
            DdlStmt::DropView { if_exists, views } => self.drop_views(*if_exists, views),
            DdlStmt::RenameTable { if_exists, pairs } => self.rename_tables(*if_exists, pairs),
            DdlStmt::CreateSequence {
                or_replace,
                if_not_exists,
                name,
                options,
                ..
            } => self.create_sequence(*or_replace, *if_not_exists, name, options),
            DdlStmt::AlterSequence {
                if_exists,
                name,
                options,
            } => self.alter_sequence(*if_exists, name, options),
            DdlStmt::DropSequence {
                temporary: true,
                if_exists,
                names,
            } if self.temporary.is_none() => self.drop_temporary_sequences(*if_exists, names),
            DdlStmt::DropSequence {
                if_exists, names, ..
            } => self.drop_sequences(*if_exists, names),
        }
    }
}
