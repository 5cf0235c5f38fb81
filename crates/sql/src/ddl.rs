//! DDL statements as catalog changes.

use crate::ast::{AlterAction, ColumnSpec, CreateTable, DdlStmt, IndexSpec, TableName};
use crate::env::StatementEnv;
use crate::exec::dml::duplicate_entry;
use crate::parse::is_text;
use crate::plan::dml::store_mode;
use crate::plan::resolve::no_such_table;
use crate::prepared::Outcome;
use crate::privilege::{Needs, Privilege};
use crate::show::quote_ident;
use crate::sql_mode::SqlMode;
use narwal_engine::{
    Catalog, CatalogChange, ColumnDef, Database, DatabaseDef, Ddl, DefaultDef, EngineError,
    IndexColumn, IndexDef, Table, TableDef, TxnOptions,
};
use narwal_types::convert::{NoWarnings, StoreTarget, store};
use narwal_types::temporal::fraction_bytes;
use narwal_types::{
    BlobSize, Collation, ColumnType, Decimal, SqlError, SqlResult, TypeKind, ValueRef,
};

/// Longest key in bytes, as InnoDB's.
const MAX_KEY_BYTES: u64 = 3072;

fn err(code: u16, state: &[u8; 5], text: impl Into<Box<str>>) -> SqlError {
    SqlError::new(code, state, text)
}

fn db_of<'a>(t: &'a TableName, env: &'a StatementEnv) -> SqlResult<&'a str> {
    match &t.db {
        Some(d) => Ok(d),
        None => Ok(env.require_db()?),
    }
}

/// Privileges that a DDL statement needs.
pub fn ddl_needs(stmt: &DdlStmt, env: &StatementEnv) -> SqlResult<Vec<Needs>> {
    let on = |t: &TableName, privilege| -> SqlResult<Needs> {
        Ok(Needs {
            db: db_of(t, env)?.to_string(),
            table: t.name.clone(),
            privilege,
        })
    };
    let database = |name: &str, privilege| Needs {
        db: name.to_string(),
        table: String::new(),
        privilege,
    };
    Ok(match stmt {
        DdlStmt::CreateTable(c) => vec![on(&c.table, Privilege::Create)?],
        DdlStmt::DropTable { tables, .. } => tables
            .iter()
            .map(|t| on(t, Privilege::Drop))
            .collect::<SqlResult<_>>()?,
        DdlStmt::Truncate(t) => vec![on(t, Privilege::Drop)?],
        DdlStmt::CreateDatabase { name, .. } => vec![database(name, Privilege::Create)],
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
        DdlStmt::AlterTable { table, .. } => vec![on(table, Privilege::Alter)?],
    })
}

struct Run<'a> {
    db: &'a Database,
    catalog: &'a Catalog,
    options: &'a TxnOptions,
    env: &'a StatementEnv,
    text: &'a str,
}

/// Runs a DDL statement. `text`: the statement as written, for the log. The session has committed its transaction.
pub fn execute_ddl(
    stmt: &DdlStmt,
    text: &str,
    db: &Database,
    options: &TxnOptions,
    env: &StatementEnv,
) -> SqlResult<Outcome> {
    let catalog = db.catalog();
    let run = Run {
        db,
        catalog: &catalog,
        options,
        env,
        text,
    };
    let affected = run.statement(stmt)?;
    Ok(Outcome::Done {
        affected,
        last_insert_id: 0,
        info: if matches!(
            stmt,
            DdlStmt::CreateIndex { .. } | DdlStmt::DropIndex { .. } | DdlStmt::AlterTable { .. }
        ) {
            format!(
                "Records: 0  Duplicates: 0  Warnings: {}",
                env.warning_count()
            )
        } else {
            String::new()
        },
    })
}

impl Run<'_> {
    fn submit(
        &self,
        db: &str,
        sql: String,
        changes: Vec<CatalogChange>,
        suppress_use: bool,
    ) -> Result<(), EngineError> {
        let done = self.db.ddl(
            Ddl {
                sql,
                db: db.to_string(),
                changes,
                sql_mode: self.env.sql_mode.0,
                thread_id: self.env.connection_id as u32,
                timestamp: self.env.timestamp(),
                suppress_use,
            },
            self.options,
        )?;
        if !done.gtid.is_empty() {
            *self.env.gtid_written.borrow_mut() = Some(done.gtid);
        }
        Ok(())
    }

    /// The default database, for the log.
    fn default_db(&self) -> &str {
        self.env.db.as_deref().unwrap_or("")
    }

    fn table(&self, t: &TableName) -> SqlResult<&std::sync::Arc<Table>> {
        let db = db_of(t, self.env)?;
        self.catalog
            .table(db, &t.name)
            .ok_or_else(|| no_such_table(db, &t.name))
    }

    fn statement(&self, stmt: &DdlStmt) -> SqlResult<u64> {
        let env = self.env;
        match stmt {
            DdlStmt::CreateDatabase {
                if_not_exists,
                name,
                collation,
                comment,
            } => {
                reserved_schema(name, env)?;
                if self.catalog.database(name).is_some() {
                    let text = format!("Can't create database '{name}'; database exists");
                    if *if_not_exists {
                        env.note(1007, text);
                        return Ok(0);
                    }
                    return Err(err(1007, b"HY000", text));
                }
                let change = CatalogChange::PutDatabase(DatabaseDef {
                    name: name.clone(),
                    collation: collation.unwrap_or_default(),
                    comment: comment.clone().unwrap_or_default(),
                });
                self.submit(name, self.text.to_string(), vec![change], true)?;
                Ok(1)
            }
            DdlStmt::AlterDatabase {
                name,
                collation,
                comment,
            } => {
                let name = match name {
                    Some(n) => n.as_str(),
                    None => env.require_db()?,
                };
                let old = self
                    .catalog
                    .database(name)
                    .ok_or_else(|| unknown_database(name))?;
                let change = CatalogChange::PutDatabase(DatabaseDef {
                    name: name.to_string(),
                    collation: collation.unwrap_or(old.collation),
                    comment: comment.clone().unwrap_or_else(|| old.comment.clone()),
                });
                self.submit(name, self.text.to_string(), vec![change], true)?;
                Ok(1)
            }
            DdlStmt::DropDatabase { if_exists, name } => {
                reserved_schema(name, env)?;
                if self.catalog.database(name).is_none() {
                    let text = format!("Can't drop database '{name}'; database doesn't exist");
                    if *if_exists {
                        env.note(1008, text);
                        return Ok(0);
                    }
                    return Err(err(1008, b"HY000", text));
                }
                let tables = self.catalog.tables(name).count() as u64;
                self.submit(
                    name,
                    self.text.to_string(),
                    vec![CatalogChange::DropDatabase(name.clone())],
                    true,
                )?;
                Ok(tables)
            }
            DdlStmt::CreateTable(c) => self.create_table(c),
            DdlStmt::DropTable {
                if_exists,
                temporary,
                tables,
            } => self.drop_tables(*if_exists, *temporary, tables),
            DdlStmt::Truncate(t) => {
                let table = self.table(t)?;
                let change = CatalogChange::TruncateTable {
                    db: table.def.db.clone(),
                    name: table.def.name.clone(),
                };
                self.submit(
                    self.default_db(),
                    self.text.to_string(),
                    vec![change],
                    false,
                )?;
                Ok(0)
            }
            DdlStmt::CreateIndex {
                if_not_exists,
                table,
                index,
            } => {
                let table = self.table(table)?;
                let name = index.name.as_deref().unwrap_or_default();
                if find_index(table, name).is_some() {
                    let text = format!("Duplicate key name '{name}'");
                    if *if_not_exists {
                        env.note(1061, text);
                        return Ok(0);
                    }
                    return Err(err(1061, b"42000", text));
                }
                self.alter(table, &[AlterAction::AddIndex(index.clone())])
            }
            DdlStmt::DropIndex {
                if_exists,
                table,
                index,
            } => {
                let table = self.table(table)?;
                if find_index(table, index).is_none() && *if_exists {
                    env.note(1091, cant_drop(index));
                    return Ok(0);
                }
                self.alter(table, &[AlterAction::DropIndex(index.clone())])
            }
            DdlStmt::AlterTable { table, actions } => {
                let table = self.table(table)?;
                self.alter(table, actions)
            }
        }
    }

    fn drop_tables(
        &self,
        if_exists: bool,
        temporary: bool,
        tables: &[TableName],
    ) -> SqlResult<u64> {
        let mut changes = Vec::new();
        let mut names = Vec::new();
        let mut missing = Vec::new();
        for t in tables {
            let db = db_of(t, self.env)?;
            match self.catalog.table(db, &t.name) {
                Some(_) if !temporary => {
                    let change = CatalogChange::DropTable {
                        db: db.to_string(),
                        name: t.name.clone(),
                    };
                    if changes.contains(&change) {
                        return Err(err(
                            1066,
                            b"42000",
                            format!("Not unique table/alias: '{}'", t.name),
                        ));
                    }
                    changes.push(change);
                    names.push(if t.db.is_some() {
                        format!("{}.{}", quote_ident(db), quote_ident(&t.name))
                    } else {
                        quote_ident(&t.name)
                    });
                }
                _ => missing.push(format!("{db}.{}", t.name)),
            }
        }
        if !changes.is_empty() {
            let sql = format!(
                "DROP TABLE {}{} /* generated by server */",
                if if_exists { "IF EXISTS " } else { "" },
                names.join(",")
            );
            self.submit(self.default_db(), sql, changes, false)?;
        }
        if !missing.is_empty() {
            let text = format!("Unknown table '{}'", missing.join(","));
            if !if_exists {
                return Err(err(1051, b"42S02", text));
            }
            self.env.note(1051, text);
        }
        Ok(0)
    }

    fn create_table(&self, c: &CreateTable) -> SqlResult<u64> {
        let env = self.env;
        let db = db_of(&c.table, env)?;
        reserved_schema(db, env)?;
        let Some(database) = self.catalog.database(db) else {
            return Err(unknown_database(db));
        };
        if self.catalog.table(db, &c.table.name).is_some() {
            let text = format!("Table '{}' already exists", c.table.name);
            if c.if_not_exists {
                env.note(1050, text);
                return Ok(0);
            }
            return Err(err(1050, b"42S01", text));
        }
        let def = self.table_def(c, db, database.collation)?;
        self.submit(
            self.default_db(),
            self.text.to_string(),
            vec![CatalogChange::CreateTable(def)],
            false,
        )?;
        Ok(0)
    }

    fn table_def(&self, c: &CreateTable, db: &str, default: Collation) -> SqlResult<TableDef> {
        let env = self.env;
        let name = &c.table.name;
        if name.is_empty() || name.ends_with(' ') || name.chars().count() > 64 {
            return Err(err(
                1103,
                b"42000",
                format!("Incorrect table name '{name}'"),
            ));
        }
        let engine = engine_name(c.engine.as_deref(), name, env)?;
        let collation = c.collation.unwrap_or(default);
        if c.columns.is_empty() {
            return Err(err(1113, b"42000", "A table must have at least 1 column"));
        }
        if c.columns.len() > 4096 {
            return Err(err(1117, b"HY000", "Too many columns"));
        }
        let mut columns: Vec<ColumnDef> = Vec::with_capacity(c.columns.len());
        for spec in &c.columns {
            if columns
                .iter()
                .any(|x| x.name.eq_ignore_ascii_case(&spec.def.name))
            {
                return Err(err(
                    1060,
                    b"42S21",
                    format!("Duplicate column name '{}'", spec.def.name),
                ));
            }
            columns.push(column_def(spec, collation, db, name, env)?);
        }
        if c.indexes.iter().filter(|i| i.primary).count() > 1 {
            return Err(err(1068, b"42000", "Multiple primary key defined"));
        }
        if let Some(pk) = c.indexes.iter().find(|i| i.primary) {
            for (col, ..) in &pk.columns {
                if let Some(at) = columns
                    .iter()
                    .position(|x| x.name.eq_ignore_ascii_case(col))
                {
                    let spec = &c.columns[at];
                    if spec.null_given && spec.def.nullable {
                        return Err(err(
                            1171,
                            b"42000",
                            "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead",
                        ));
                    }
                    if columns[at].default == DefaultDef::Null {
                        return Err(invalid_default(col));
                    }
                    columns[at].nullable = false;
                }
            }
        }
        let mut indexes: Vec<IndexDef> = Vec::with_capacity(c.indexes.len());
        for spec in &c.indexes {
            let def = index_def(spec, &columns, &indexes, env)?;
            indexes.push(def);
        }
        if indexes.len() > 64 {
            return Err(err(
                1069,
                b"42000",
                "Too many keys specified; max 64 keys allowed",
            ));
        }
        indexes.sort_by_key(|i| index_rank(i, &columns));
        check_auto_increment(&columns, &indexes)?;
        check_row_size(&columns)?;
        Ok(TableDef {
            id: 0,
            db: db.to_string(),
            name: name.clone(),
            columns,
            indexes,
            hidden_index_id: 0,
            collation,
            comment: c.comment.clone(),
            auto_increment_start: c.auto_increment,
            engine,
            created: u64::from(env.timestamp()),
        })
    }

    fn alter(&self, table: &Table, actions: &[AlterAction]) -> SqlResult<u64> {
        let def = &table.def;
        let mut indexes = def.indexes.clone();
        let mut changes = Vec::new();
        let mut unique = None;
        for a in actions {
            match a {
                AlterAction::AddIndex(spec) => {
                    if spec.primary {
                        if indexes.iter().any(|i| i.name == "PRIMARY") {
                            return Err(err(1068, b"42000", "Multiple primary key defined"));
                        }
                        return Err(SqlError::unsupported("ADD PRIMARY KEY"));
                    }
                    let index = index_def(spec, &def.columns, &indexes, self.env)?;
                    if index.unique {
                        unique = Some(index.clone());
                    }
                    indexes.push(index.clone());
                    changes.push(CatalogChange::CreateIndex {
                        db: def.db.clone(),
                        table: def.name.clone(),
                        index,
                    });
                }
                AlterAction::DropIndex(name) => {
                    let at = indexes
                        .iter()
                        .position(|i| i.name.eq_ignore_ascii_case(name))
                        .ok_or_else(|| err(1091, b"42000", cant_drop(name)))?;
                    let gone = indexes.remove(at);
                    check_auto_increment(&def.columns, &indexes)?;
                    if gone.name == "PRIMARY" {
                        return Err(SqlError::unsupported("DROP PRIMARY KEY"));
                    }
                    changes.push(CatalogChange::DropIndex {
                        db: def.db.clone(),
                        table: def.name.clone(),
                        index: gone.name,
                    });
                }
                AlterAction::Engine(e) => {
                    let e = engine_name(Some(e), &def.name, self.env)?;
                    if !e.eq_ignore_ascii_case(&def.engine) {
                        return Err(SqlError::unsupported("ALTER TABLE ... ENGINE"));
                    }
                }
                AlterAction::KeysNoOp => {
                    self.env.note(
                        1031,
                        format!(
                            "Storage engine {} of the table `{}`.`{}` doesn't have this option",
                            def.engine, def.db, def.name
                        ),
                    );
                }
            }
        }
        check_auto_increment(&def.columns, &indexes)?;
        if changes.is_empty() {
            return Ok(0);
        }
        match self.submit(self.default_db(), self.text.to_string(), changes, false) {
            Err(EngineError::Duplicate { existing_pk, .. }) => {
                let Some(index) = unique else {
                    return Err(err(1062, b"23000", "Duplicate entry"));
                };
                let mut txn = self.db.begin(self.options.clone());
                let row = txn
                    .get(
                        self.table(&TableName {
                            db: Some(def.db.clone()),
                            name: def.name.clone(),
                        })?,
                        &existing_pk,
                    )?
                    .ok_or_else(|| err(1062, b"23000", "Duplicate entry"))?;
                let parts = index.columns.iter().map(|c| (c.column, c.prefix));
                Err(duplicate_entry(table, &index.name, parts, &row, self.env))
            }
            r => Ok(r.map(|()| 0)?),
        }
    }
}

fn reserved_schema(name: &str, env: &StatementEnv) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') || name.chars().count() > 64 {
        return Err(err(
            1102,
            b"42000",
            format!("Incorrect database name '{name}'"),
        ));
    }
    if name.eq_ignore_ascii_case("information_schema")
        || name.eq_ignore_ascii_case("performance_schema")
    {
        let (user, host) = env
            .current_user
            .rsplit_once('@')
            .unwrap_or((&env.current_user, ""));
        return Err(err(
            1044,
            b"42000",
            format!("Access denied for user '{user}'@'{host}' to database '{name}'"),
        ));
    }
    Ok(())
}

fn unknown_database(name: &str) -> SqlError {
    err(1049, b"42000", format!("Unknown database '{name}'"))
}

fn cant_drop(name: &str) -> String {
    format!(
        "Can't DROP INDEX {}; check that it exists",
        quote_ident(name)
    )
}

fn invalid_default(column: &str) -> SqlError {
    err(
        1067,
        b"42000",
        format!("Invalid default value for '{column}'"),
    )
}

fn find_index<'t>(table: &'t Table, name: &str) -> Option<&'t IndexDef> {
    table
        .def
        .indexes
        .iter()
        .find(|i| i.name.eq_ignore_ascii_case(name))
}

/// The order in which MariaDB lists indexes: primary, unique without NULL, unique, others.
pub(crate) fn index_rank(i: &IndexDef, columns: &[ColumnDef]) -> u8 {
    if i.name == "PRIMARY" {
        0
    } else if !i.unique {
        3
    } else if i
        .columns
        .iter()
        .all(|c| columns.get(c.column).is_some_and(|c| !c.nullable))
    {
        1
    } else {
        2
    }
}

fn engine_name(engine: Option<&str>, table: &str, env: &StatementEnv) -> SqlResult<String> {
    match engine {
        None => Ok("InnoDB".to_string()),
        Some(e) if e.eq_ignore_ascii_case("InnoDB") => Ok("InnoDB".to_string()),
        Some(e) if e.eq_ignore_ascii_case("Narwal") => Ok("Narwal".to_string()),
        Some(e) => {
            let text = format!("Unknown storage engine '{e}'");
            if env.sql_mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) {
                return Err(err(1286, b"42000", text));
            }
            env.warn(1286, text);
            env.warn(
                1266,
                format!("Using storage engine InnoDB for table '{table}'"),
            );
            Ok("InnoDB".to_string())
        }
    }
}

fn column_def(
    spec: &ColumnSpec,
    table_collation: Collation,
    db: &str,
    table: &str,
    env: &StatementEnv,
) -> SqlResult<ColumnDef> {
    let mut def = spec.def.clone();
    if is_text(def.ty.kind) {
        let c = spec.collation.unwrap_or(table_collation);
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
    } else if spec.collation.is_some_and(|c| c != Collation::Binary) {
        return Err(err(
            1064,
            b"42000",
            format!(
                "You have an error in your SQL syntax; column '{}' has no character set",
                def.name
            ),
        ));
    }
    if def.auto_increment {
        let fits = def.ty.is_integer() || matches!(def.ty.kind, TypeKind::Float | TypeKind::Double);
        if !fits {
            return Err(err(
                1063,
                b"42000",
                format!("Incorrect column specifier for column '{}'", def.name),
            ));
        }
        if def.default != DefaultDef::None {
            return Err(invalid_default(&def.name));
        }
    }
    match &def.default {
        DefaultDef::None | DefaultDef::Expr(_) => {}
        DefaultDef::Null => {
            if !def.nullable {
                return Err(invalid_default(&def.name));
            }
        }
        DefaultDef::CurrentTimestamp(digits) => match def.ty.kind {
            TypeKind::Timestamp(p) | TypeKind::DateTime(p) if *digits <= p => {}
            TypeKind::Timestamp(_) | TypeKind::DateTime(_) => {
                return Err(invalid_default(&def.name));
            }
            _ => return Err(SqlError::unsupported("expressions as DEFAULT")),
        },
        DefaultDef::Text(t) => {
            let mut mode = store_mode(env, false, false);
            mode.strict = true;
            // TIMESTAMP defaults are kept as written, in the session's time zone.
            mode.time_zone_offset = 0;
            let target = StoreTarget {
                ty: &def.ty,
                nullable: def.nullable,
                db,
                table,
                column: &def.name,
            };
            let v = store(
                ValueRef::Str(t.as_bytes()),
                &target,
                1,
                &mode,
                &mut NoWarnings,
            )
            .map_err(|_| invalid_default(&def.name))?;
            def.default = DefaultDef::Text(v.as_ref().to_text());
        }
    }
    Ok(def)
}

fn index_def(
    spec: &IndexSpec,
    columns: &[ColumnDef],
    others: &[IndexDef],
    env: &StatementEnv,
) -> SqlResult<IndexDef> {
    if spec.columns.len() > 32 {
        return Err(err(
            1070,
            b"42000",
            "Too many key parts specified; max 32 parts allowed",
        ));
    }
    let mut parts: Vec<IndexColumn> = Vec::with_capacity(spec.columns.len());
    let mut total = 0;
    for (name, prefix, desc) in &spec.columns {
        let column = columns
            .iter()
            .position(|c| c.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                err(
                    1072,
                    b"42000",
                    format!("Key column '{name}' doesn't exist in table"),
                )
            })?;
        if parts.iter().any(|p| p.column == column) {
            return Err(err(
                1060,
                b"42S21",
                format!("Duplicate column name '{name}'"),
            ));
        }
        let ty = &columns[column].ty;
        if spec.primary
            && prefix.is_none()
            && matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_))
        {
            return Err(err(
                1170,
                b"42000",
                format!("BLOB/TEXT column '{name}' used in key specification without a key length"),
            ));
        }
        let prefix = prefix_of(name, ty, *prefix, spec.unique, env)?;
        total += part_bytes(ty, prefix);
        parts.push(IndexColumn {
            column,
            prefix,
            desc: *desc,
        });
    }
    if total > MAX_KEY_BYTES {
        return Err(err(
            1071,
            b"42000",
            format!("Specified key was too long; max key length is {MAX_KEY_BYTES} bytes"),
        ));
    }
    let taken = |n: &str| others.iter().any(|i| i.name.eq_ignore_ascii_case(n));
    let name = if spec.primary {
        "PRIMARY".to_string()
    } else if let Some(n) = &spec.name {
        if n.eq_ignore_ascii_case("PRIMARY") || n.is_empty() || n.ends_with(' ') {
            return Err(err(1280, b"42000", format!("Incorrect index name '{n}'")));
        }
        if taken(n) {
            return Err(err(1061, b"42000", format!("Duplicate key name '{n}'")));
        }
        n.clone()
    } else {
        let base = &columns[parts[0].column].name;
        let mut n = base.clone();
        let mut i = 2;
        while taken(&n) || n.eq_ignore_ascii_case("PRIMARY") {
            n = format!("{base}_{i}");
            i += 1;
        }
        n
    };
    Ok(IndexDef {
        id: 0,
        name,
        unique: spec.unique,
        columns: parts,
        comment: spec.comment.clone(),
    })
}

/// Checks a key part's length and drops it where it says nothing.
fn prefix_of(
    name: &str,
    ty: &ColumnType,
    prefix: Option<u32>,
    unique: bool,
    env: &StatementEnv,
) -> SqlResult<Option<u16>> {
    let long = matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
    let width = if ty.collation == Collation::Binary {
        1
    } else {
        4
    };
    let max = (MAX_KEY_BYTES / width) as u32;
    let wrong = || {
        err(
            1089,
            b"HY000",
            "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or the storage engine doesn't support unique prefix keys",
        )
    };
    let full = ty.max_length().unwrap_or(0);
    match prefix {
        Some(0) => Err(err(
            1391,
            b"HY000",
            format!("Key part '{name}' length cannot be 0"),
        )),
        Some(_) if !ty.is_string() => Err(wrong()),
        Some(p) if !long && u64::from(p) > full => Err(wrong()),
        Some(p) if !long && u64::from(p) == full => Ok(None),
        Some(p) if p > max => {
            let text =
                format!("Specified key was too long; max key length is {MAX_KEY_BYTES} bytes");
            if unique {
                return Err(err(1071, b"42000", text));
            }
            env.note(1071, text);
            Ok(Some(max as u16))
        }
        Some(p) => Ok(Some(p as u16)),
        None if long || (ty.is_string() && full > u64::from(max)) => {
            if unique {
                // MariaDB makes a hash index of it.
                return Err(SqlError::unsupported(
                    "UNIQUE indexes longer than 3072 bytes",
                ));
            }
            env.note(
                1071,
                format!("Specified key was too long; max key length is {MAX_KEY_BYTES} bytes"),
            );
            Ok(Some(max as u16))
        }
        None => Ok(None),
    }
}

fn part_bytes(ty: &ColumnType, prefix: Option<u16>) -> u64 {
    let width = if ty.collation == Collation::Binary {
        1
    } else {
        4
    };
    match prefix {
        Some(p) => u64::from(p) * width,
        None if ty.is_string() => ty.max_bytes().unwrap_or(0),
        None => 8,
    }
}

fn check_auto_increment(columns: &[ColumnDef], indexes: &[IndexDef]) -> SqlResult<()> {
    let mut auto = columns.iter().enumerate().filter(|(_, c)| c.auto_increment);
    let Some((at, _)) = auto.next() else {
        return Ok(());
    };
    let keyed = indexes
        .iter()
        .any(|i| i.columns.first().is_some_and(|c| c.column == at));
    if auto.next().is_some() || !keyed {
        return Err(err(
            1075,
            b"42000",
            "Incorrect table definition; there can be only one auto column and it must be defined as a key",
        ));
    }
    Ok(())
}

/// MariaDB's limit of a row, counted in MariaDB's in-memory row format, so that a table is refused here if and only if a replica
/// would refuse it.
fn check_row_size(columns: &[ColumnDef]) -> SqlResult<()> {
    let nullable = columns.iter().filter(|c| c.nullable).count();
    let mut bytes = nullable.div_ceil(8) as u64;
    for c in columns {
        bytes += match c.ty.kind {
            TypeKind::VarChar(_) | TypeKind::VarBinary(_) => {
                let n = c.ty.max_bytes().unwrap_or(0);
                n + if n < 256 { 1 } else { 2 }
            }
            TypeKind::Char(_) | TypeKind::Binary(_) => c.ty.max_bytes().unwrap_or(0),
            TypeKind::Text(b) | TypeKind::Blob(b) => {
                8 + match b {
                    BlobSize::Tiny => 1,
                    BlobSize::Normal => 2,
                    BlobSize::Medium => 3,
                    BlobSize::Long => 4,
                }
            }
            TypeKind::TinyInt | TypeKind::Year => 1,
            TypeKind::SmallInt => 2,
            TypeKind::MediumInt | TypeKind::Date => 3,
            TypeKind::Int | TypeKind::Float => 4,
            TypeKind::BigInt | TypeKind::Double => 8,
            TypeKind::Decimal(p, s) => Decimal::binary_len(p, s) as u64,
            TypeKind::Time(f) => 3 + fraction_bytes(f) as u64,
            TypeKind::Timestamp(f) => 4 + fraction_bytes(f) as u64,
            TypeKind::DateTime(f) => 5 + fraction_bytes(f) as u64,
        };
    }
    if bytes > 65_535 {
        return Err(err(
            1118,
            b"42000",
            "Row size too large. The maximum row size for the used table type, not counting BLOBs, is 65535. This includes storage overhead, check the manual. You have to change some columns to TEXT or BLOBs",
        ));
    }
    Ok(())
}
