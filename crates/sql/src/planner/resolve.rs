//! Names to tables.

use crate::bind::scope::Source;
use crate::env::StatementEnv;
use crate::expr::node::Expr;
use crate::plan::query::Rows;
use crate::planner::estimate::Estimates;
use crate::planner::logical::Resolved;
use crate::planner::sequence_table::sequence_table;
use crate::privilege::Through;
use crate::privilege::{Needs, Privilege};
use crate::view_def::wrong_kind;
use crate::virtual_tables::{
    INFORMATION_SCHEMA, PERFORMANCE_SCHEMA, VirtualRows, VirtualTables, Wanted,
};
use narwal_engine::{Catalog, Database, Table};
use narwal_syntax::ast::Cte;
use narwal_syntax::ast::{TableName, TableRef};
use narwal_types::errors;
use narwal_types::{Name, SqlError, SqlResult, ValueRef};
use std::cell::Cell;
use std::cell::RefCell;
use std::sync::Arc;

/// Looks up tables and remembers which privileges are needed.
pub struct Resolver<'a> {
    /// One version of the catalog.
    pub catalog: &'a Catalog,
    /// The session.
    pub env: &'a StatementEnv,
    /// Virtual tables.
    pub virtual_tables: Option<&'a dyn VirtualTables>,
    /// Sizes of tables and of ranges.
    pub estimates: Estimates<'a>,
    /// Privileges needed so far.
    pub needs: RefCell<Vec<Needs>>,
    /// Tables of WITH that names may mean.
    pub ctes: Ctes,
    /// Sources of the next SELECT's join whose rows are to be locked for a change: their clustered keys stand behind
    /// the join's columns.
    pub row_keys: RefCell<Vec<usize>>,
    /// Conditions of CHECK OPTION that the next SELECT is to give for each row, behind its items.
    pub join_checks: RefCell<Vec<JoinCheck>>,
    /// The views whose SELECTs are being planned, the innermost last.
    pub open_views: RefCell<Vec<Open>>,
    /// The SELECT whose FROM is being planned numbers its rows.
    pub numbered: Cell<bool>,
    /// LIMIT ROWS EXAMINED, wherever in the statement it stands: it is for all of it.
    pub rows_examined: RefCell<Option<Expr>>,
    /// The next SELECT is the whole statement: `sql_select_limit` is for the rows that a client gets.
    pub whole: Cell<bool>,
    /// The MERGE tables that the statement writes.
    pub written_merge: RefCell<Option<WrittenMerge>>,
}

/// 1146.
pub fn no_such_table(db: &str, name: &str) -> SqlError {
    errors::NO_SUCH_TABLE.with([&db, &name])
}

impl<'a> Resolver<'a> {
    /// For one statement.
    pub fn new(
        db: &'a Database,
        catalog: &'a Catalog,
        env: &'a StatementEnv,
        virtual_tables: Option<&'a dyn VirtualTables>,
    ) -> Self {
        Resolver {
            catalog,
            env,
            virtual_tables,
            estimates: Estimates::new(db, env),
            needs: RefCell::default(),
            ctes: Ctes::default(),
            row_keys: RefCell::default(),
            numbered: Cell::default(),
            join_checks: RefCell::default(),
            open_views: RefCell::default(),
            rows_examined: RefCell::default(),
            whole: Cell::new(false),
            written_merge: RefCell::default(),
        }
    }

    /// The database that a name means.
    pub fn db_of<'n>(&'n self, name: &'n TableName) -> SqlResult<&'n str> {
        match &name.db {
            Some(d) => Ok(d),
            None => Ok(self.env.require_db()?),
        }
    }

    /// A virtual table, as the definer of the view sees it that names it.
    fn virtual_table(&self, db: &str, name: &str) -> Option<(Arc<Table>, VirtualRows)> {
        let reader = self.env.reads_as.borrow();
        self.virtual_tables?.table(db, name, reader.as_ref())
    }

    /// A table for reading.
    pub fn table(&self, t: &TableRef) -> SqlResult<Resolved> {
        let db = self.db_of(&t.name)?.to_string();
        let alias = t.alias.as_deref().unwrap_or(&t.name.name).to_string();
        if db.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
            let Some((table, rows)) = self.virtual_table(&db, &t.name.name) else {
                return Err(errors::UNKNOWN_TABLE.text(format!(
                    "Unknown table '{}' in information_schema",
                    t.name.name
                )));
            };
            return Ok(Resolved {
                source: Source::new(alias, table),
                rows: Rows::Virtual(rows),
            });
        }
        let made = db == "mysql" || db == "sys" || db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA);
        if made && let Some((table, rows)) = self.virtual_table(&db, &t.name.name) {
            self.need(&db, &t.name.name, Privilege::Select);
            return Ok(Resolved {
                source: Source::new(alias, table),
                rows: Rows::Virtual(rows),
            });
        }
        let table = match self.stored_as(&db, &t.name.name, Some(&alias), Privilege::Select) {
            Ok(table) => table,
            Err(e) => return sequence_table(&db, &t.name.name, &alias)?.ok_or(e),
        };
        if table.own_numbers().is_some() {
            let of = table.clone();
            let rows = move |_: &StatementEnv, _: &Wanted| {
                let row = of.own_numbers();
                Ok((row.iter())
                    .map(|r| r.values().iter().map(ValueRef::to_value).collect())
                    .collect())
            };
            return Ok(Resolved {
                source: Source::new(alias, table),
                rows: Rows::Virtual(Arc::new(rows)),
            });
        }
        if table.def.merge.is_some() {
            return self.merge_table(table, alias);
        }
        Ok(Resolved {
            source: Source::new(alias, table),
            rows: Rows::Stored,
        })
    }

    /// A stored table, with the privilege that the statement needs on it.
    pub fn stored(&self, db: &str, name: &str, privilege: Privilege) -> SqlResult<Arc<Table>> {
        self.stored_as(db, name, None, privilege)
    }

    /// The same of a table that the statement calls so.
    pub fn stored_as(
        &self,
        db: &str,
        name: &str,
        alias: Option<&str>,
        privilege: Privilege,
    ) -> SqlResult<Arc<Table>> {
        // A view means the tables that it was made for.
        if self.open_views.borrow().is_empty()
            && let Some(table) = self.env.temporary_table(db, name)
        {
            if self.env.unrepeatable.get().is_none() {
                self.env.unrepeatable.set(Some("temporary tables"));
            }
            return Ok(table);
        }
        self.need_as(db, name, alias, privilege);
        self.catalog
            .table(db, name)
            .cloned()
            .ok_or_else(|| match self.catalog.view(db, name) {
                Some(_) => wrong_kind(db, name, "BASE TABLE"),
                None => no_such_table(db, name),
            })
    }

    /// Notes a privilege.
    pub fn need(&self, db: &str, table: &str, privilege: Privilege) {
        self.need_as(db, table, None, privilege);
    }

    /// The same of a table that the statement calls so.
    pub fn need_as(&self, db: &str, table: &str, alias: Option<&str>, privilege: Privilege) {
        let direct = self.open_views.borrow().is_empty();
        let n = Needs {
            alias: alias.filter(|_| direct).map(str::to_string),
            db: db.to_string(),
            table: table.to_string(),
            privilege,
            through: through(&self.open_views.borrow()),
        };
        let mut needs = self.needs.borrow_mut();
        if !needs.contains(&n) {
            needs.push(n);
        }
    }
}

/// A condition of CHECK OPTION over several tables.
pub struct JoinCheck {
    /// Over the joined row.
    pub condition: Expr,
    /// Its columns that get a value: position in the joined row, and the item that is the value.
    pub assigned: Vec<(usize, usize)>,
}

/// MERGE tables that are written: the statement is planned once for each table behind them.
pub struct WrittenMerge {
    /// Which of the tables stands for the target now.
    pub(crate) at: usize,
    /// The same of each MERGE table in the join that the statement writes, by what it is called there.
    pub(crate) in_join: Vec<(String, usize)>,
}

/// A view whose SELECT is being planned.
pub struct Open {
    pub(crate) db: String,
    pub(crate) name: String,
    /// See [`Through::account`].
    pub(crate) account: Option<(String, String)>,
}

/// How a privilege is needed on a table of the innermost of these views.
pub(super) fn through(open: &[Open]) -> Option<Box<Through>> {
    let (outermost, innermost) = (open.first()?, open.last()?);
    Some(Box::new(Through {
        account: innermost.account.clone(),
        db: innermost.db.clone(),
        view: innermost.name.clone(),
        outermost: (outermost.db.clone(), outermost.name.clone()),
    }))
}

/// The tables of WITH whose names are known where something is planned, the innermost last.
#[derive(Default)]
pub struct Ctes {
    pub(crate) known: RefCell<Vec<Known>>,
    pub(crate) uses: Cell<usize>,
    /// Tables of WITH RECURSIVE that steps know by number, so far.
    pub(crate) recursive: Cell<usize>,
    /// Uses that there may be.
    pub(crate) most: Cell<usize>,
}

impl Ctes {
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.known
            .borrow()
            .iter()
            .any(|k| k.cte.name.same_name(name))
    }
}

#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) cte: Arc<Cte>,
    /// The tables of its WITH RECURSIVE that name each other, or itself alone: it is one of them.
    pub(crate) group: Option<Arc<[Arc<Cte>]>>,
    /// Its recursive part is being planned: the name means the rows of the step before, in this place.
    pub(crate) working: Option<(usize, Source)>,
}
