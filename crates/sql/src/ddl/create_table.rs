//! CREATE TABLE.

use super::column::{check_auto_increment, check_row_size, column_def, is_open, some_are_visible};
use super::database::reserved_schema;
use super::engine_limits;
use super::foreign_refused::Making;
use super::sequence::{check_structure, out_of_range, row_of, wrong_structure};
use crate::StatementEnv;
use crate::ast::{CreateTable, SequenceOptions};
use crate::ddl::comment::{Commented, comment};
use crate::ddl::constraint;
use crate::ddl::file_name;
use crate::ddl::index::{
    HOPELESS, MAX_KEYS, index_def, kept_method, note_twice, number_of_keys, settle_hashes,
};
use crate::ddl::merge;
use crate::ddl::pages;
use crate::ddl::period;
use crate::ddl::run::{Run, db_of, may_be_called, unknown_database};
use crate::ddl::run::{kept_engine, warn_of_engine};
use crate::ddl::table_options::{self, Fit};
use crate::ddl::timestamp;
use crate::ddl::whole;
use crate::engine_name::{declared, is_merge};
use crate::show::sort_indexes;
use crate::view_def::wrong_kind;
use narwal_engine::{CatalogChange, CheckDef, ColumnDef, DefaultDef, FillRows, IndexDef, TableDef};
use narwal_syntax::ast::TableName;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::face::is_mysql;
use narwal_types::{Collation, Name, SqlError, SqlResult};

/// The CHECK constraints of a new table.
fn checks_of(
    c: &CreateTable,
    table: (&str, &str),
    collation: Collation,
    env: &StatementEnv,
) -> SqlResult<Vec<CheckDef>> {
    for check in &c.elements.checks {
        constraint::texts_fit(&check.expr, collation, env)?;
    }
    let set = env.collation.charset();
    let columns = c.elements.columns.iter();
    let with_own = columns.filter(|c| c.check.is_some());
    let names = with_own.map(|c| c.def.name.as_str());
    constraint::checks(&c.elements.checks, &[], names, table, set)
}

impl Run<'_> {
    pub(super) fn create_table(&self, c: &CreateTable) -> SqlResult<u64> {
        let env = self.env;
        let db = db_of(&c.table, env)?;
        reserved_schema(db, env)?;
        let default = match self.catalog.database(db) {
            Some(database) => database.collation,
            None if c.temporary => Collation::default(),
            None => return Err(unknown_database(db)),
        };
        if !c.temporary {
            file_name::table(db, &c.table.name, env)?;
        }
        if c.temporary && !c.elements.foreign_keys.is_empty() {
            return Err(self.no_foreign_keys(db, &c.table.name));
        }
        if let Some(like) = &c.like
            && (db_of(like, env)?, &like.name) == (db, &c.table.name)
            && (c.or_replace || c.temporary || self.catalog.table(db, &like.name).is_none())
        {
            return Err(errors::NONUNIQ_TABLE.with([&like.name]));
        }
        let room = self.make_room(db, &c.table.name, c.or_replace, c.if_not_exists)?;
        let Some(mut changes) = room else {
            return Ok(0);
        };
        warn_in_vain(c.elements.warnings().chain(&c.options.in_vain), env);
        if c.select.is_some() {
            // MariaDB takes any table with UNION for a MERGE table here.
            let merge = c.options.engine.as_deref().is_some_and(is_merge);
            if merge || c.options.union.is_some() {
                return Err(wrong_kind(db, &c.table.name, "BASE TABLE"));
            }
            return self.create_select(c, db, default, changes);
        }
        let def = match &c.like {
            Some(like) => self.like(like, db, &c.table.name)?,
            None => self.table_def(c, db, default)?,
        };
        let sql = match &c.like {
            // A replica does not have it.
            Some(like)
                if self
                    .env
                    .temporary_table(db_of(like, env)?, &like.name)
                    .is_some() =>
            {
                self.written_out(&c.table, c.or_replace, &def)?
            }
            _ => self.text.to_string(),
        };
        if def.sequence {
            if c.temporary {
                return Err(SqlError::unsupported("temporary sequences"));
            }
            // LIKE takes over nothing of the other one's numbers.
            let row = row_of(&SequenceOptions::default(), None)
                .ok_or_else(|| out_of_range(db, &c.table.name))?;
            return self.put_sequence(def, &row, changes);
        }
        changes.push(CatalogChange::CreateTable(def));
        if let Some(rows) = &mut *env.made_rows.borrow_mut() {
            let ddl = self.ddl_of(self.default_db(), sql, changes, false);
            let annotate = rows.annotate.as_deref();
            self.submit_filled(ddl, FillRows::Logged { annotate }, &mut *rows.fill)?;
            return Ok(0);
        }
        self.submit(self.default_db(), sql, changes, false)?;
        Ok(0)
    }

    /// The changes that make room for a new table; `None` if there is one that stays.
    pub(super) fn make_room(
        &self,
        db: &str,
        name: &str,
        or_replace: bool,
        if_not_exists: bool,
    ) -> SqlResult<Option<Vec<CatalogChange>>> {
        if !self.catalog.has(db, name) {
            return Ok(Some(Vec::new()));
        }
        if or_replace && let Some(there) = self.catalog.table(db, name) {
            self.may_drop(there, &[])?;
            return Ok(Some(vec![CatalogChange::DropTable {
                db: db.to_string(),
                name: name.to_string(),
            }]));
        }
        let text = format!("Table '{name}' already exists");
        if if_not_exists {
            self.env.note(codes::TABLE_EXISTS_ERROR, text);
            return Ok(None);
        }
        Err(errors::TABLE_EXISTS_ERROR.text(text))
    }

    /// The definition of CREATE TABLE ... LIKE.
    fn like(&self, like: &TableName, db: &str, name: &str) -> SqlResult<TableDef> {
        may_be_called(name)?;
        let from = db_of(like, self.env)?;
        let mut def = match self.source(from, &like.name) {
            Some(table) => table.def.clone(),
            None => self.table(like)?.def.clone(),
        };
        def.db = db.to_string();
        def.name = name.to_string();
        def.auto_increment_start = 0;
        def.created = u64::from(self.env.timestamp());
        def.foreign_keys.clear();
        for i in &mut def.indexes {
            i.implied = false;
            i.method = kept_method(i, &def.columns, def.declared.as_deref())?;
        }
        if is_mysql() {
            // They are the new table's own.
            for (n, c) in def.checks.iter_mut().enumerate() {
                c.name = format!("{name}_chk_{}", n + 1);
            }
        }
        whole::check(&def, self.env)?;
        pages::check(&def, self.env)?;
        settle_hashes(&mut def);
        Ok(def)
    }

    pub(super) fn table_def(
        &self,
        c: &CreateTable,
        db: &str,
        default: Collation,
    ) -> SqlResult<TableDef> {
        let env = self.env;
        let name = &c.table.name;
        may_be_called(name)?;
        let mut engine = kept_engine(c.options.engine.as_deref(), env)?;
        let merge = merge::of_options(None, &engine, &c.options, env)?;
        let collation = c.options.collation.collation(default, default)?;
        let collation = collation.unwrap_or(default);
        if c.elements.columns.is_empty() {
            if let Some(p) = c.elements.periods.first() {
                return Err(period::unknown_column(&p.def.start, &p.def.name));
            }
            return Err(errors::TABLE_MUST_HAVE_COLUMNS.plain());
        }
        if c.elements.columns.len() > 4096 {
            return Err(errors::TOO_MANY_FIELDS.plain());
        }
        self.check_default_sequences(&c.elements.columns)?;
        let mut columns = self.named_columns(c, collation, db)?;
        // Behind what is wrong with a column: a handler of errors looks at the first condition.
        warn_of_engine(c.options.engine.as_deref(), name, env);
        let mut period = period::of_new_table(&c.elements.periods, c.temporary)?;
        if let Some(p) = &mut period {
            period::settle(p, columns.iter_mut())?;
        }
        let mut specs = c.elements.indexes.clone();
        if specs.iter().any(|s| !s.functional.is_empty()) {
            let mut so_far = bare_table(db, name, collation, std::mem::take(&mut columns));
            for spec in &mut specs {
                let hidden = self.hidden_columns(spec, &so_far)?;
                so_far.columns.extend(hidden);
            }
            columns = so_far.columns;
        }
        number_of_keys(specs.len(), HOPELESS)?;
        let mut indexes: Vec<IndexDef> = Vec::with_capacity(specs.len());
        for spec in &specs {
            let def = index_def(spec, &columns, &indexes, period.as_ref(), env)?;
            note_twice(&def, &indexes, env);
            indexes.push(def);
        }
        number_of_keys(indexes.len(), MAX_KEYS)?;
        let specs = &c.elements.columns;
        sort_indexes(&mut indexes, &columns, |i| {
            specs.get(i).is_some_and(|s| s.def.nullable)
        });
        let said = c.options.engine.as_deref().or(env.default_engine);
        let foreign = &c.elements.foreign_keys;
        check_auto_increment(&columns, &indexes, foreign, said, &mut engine)?;
        check_row_size(&columns)?;
        let mut def = TableDef {
            id: 0,
            db: db.to_string(),
            name: name.clone(),
            columns,
            indexes,
            hidden_index_id: 0,
            collation,
            comment: match &c.options.comment {
                Some(text) => comment(text, Commented::Table, name, env)?,
                None => String::new(),
            },
            auto_increment_start: c.options.auto_increment.unwrap_or(0),
            engine,
            created: u64::from(env.timestamp()),
            checks: checks_of(c, (db, name), collation, self.env)?,
            foreign_keys: Vec::new(),
            sequence: false,
            merge,
            period,
            declared: said.and_then(declared),
            options: table_options::kept(&[], &c.options.kept),
        };
        let of = match said {
            Some(e) if !e.eq_ignore_ascii_case("InnoDB") => Fit::AnotherEngines,
            _ => Fit::New,
        };
        table_options::fit(&mut def.options, db, name, env, of)?;
        self.becomes(c, &mut def)?;
        constraint::check_expressions(&mut def, env)?;
        if !is_mysql() {
            constraint::check_cascades(&def, &c.elements.foreign_keys)?;
        }
        let keys = &c.elements.foreign_keys;
        let making = (Making::Create, None);
        self.add_foreign_keys(&mut def, keys, &c.elements.indexes, making)?;
        whole::check(&def, env).inspect_err(|e| whole::told_by_engine(e, env))?;
        pages::check(&def, env)?;
        self.fits_children(&def)?;
        settle_hashes(&mut def);
        Ok(def)
    }

    /// The columns that the statement names; those of the primary key are NOT NULL.
    fn named_columns(
        &self,
        c: &CreateTable,
        collation: Collation,
        db: &str,
    ) -> SqlResult<Vec<ColumnDef>> {
        let name = &c.table.name;
        let mut columns: Vec<ColumnDef> = Vec::with_capacity(c.elements.columns.len());
        for spec in &c.elements.columns {
            if columns.iter().any(|x| x.name.same_name(&spec.def.name)) {
                return Err(errors::DUP_FIELDNAME.with([&spec.def.name]));
            }
            columns.push(column_def(spec, collation, db, name, self.env)?);
        }
        let open = (c.elements.columns.iter()).map(|s| is_open(s, self.env));
        timestamp::fill(columns.iter_mut().zip(open), (db, name), self.env)?;
        some_are_visible(&columns)?;
        if c.elements.indexes.iter().filter(|i| i.primary).count() > 1 {
            return Err(errors::MULTIPLE_PRI_KEY.plain());
        }
        if let Some(pk) = c.elements.indexes.iter().find(|i| i.primary) {
            for (name, ..) in &pk.columns {
                let named = |c: &&mut ColumnDef| c.name.same_name(name);
                if let Some(c) = columns.iter_mut().find(named) {
                    if c.default == DefaultDef::Null {
                        c.default = DefaultDef::None;
                    }
                    c.nullable = false;
                }
            }
        }
        Ok(columns)
    }

    /// What the statement's engine and SEQUENCE make of a definition, or refuse in it.
    fn becomes(&self, c: &CreateTable, def: &mut TableDef) -> SqlResult<()> {
        if def.merge.is_some() && !c.elements.foreign_keys.is_empty() {
            return Err(SqlError::unsupported("foreign keys of MERGE tables"));
        }
        let said = c.options.engine.as_deref().or(self.env.default_engine);
        engine_limits::check(said, def, self.env)?;
        engine_limits::check_transactional(said, &c.options.kept, self.env)?;
        engine_limits::check_folders(said, &c.options, &def.name, self.env)?;
        if c.options.sequence == Some(true) {
            if c.select.is_some() {
                return Err(wrong_structure(def));
            }
            check_structure(def)?;
            def.sequence = true;
        }
        Ok(())
    }
}

/// Tells of options that change nothing.
pub(super) fn warn_in_vain<'e>(told: impl Iterator<Item = &'e SqlError>, env: &StatementEnv) {
    for e in told {
        env.warn_error(e);
    }
}

/// A table with columns and nothing else.
fn bare_table(db: &str, name: &str, collation: Collation, columns: Vec<ColumnDef>) -> TableDef {
    TableDef {
        id: 0,
        db: db.to_string(),
        name: name.to_string(),
        columns,
        indexes: Vec::new(),
        hidden_index_id: 0,
        collation,
        comment: String::new(),
        auto_increment_start: 0,
        engine: String::new(),
        created: 0,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        sequence: false,
        merge: None,
        period: None,
        declared: None,
        options: Vec::new(),
    }
}
