//! SHOW statements about databases and tables.

use crate::acl;
use crate::admin::{Filter, TableRef};
use crate::information_schema::tables::{
    column_privileges, default_expression, index_part, sees_column, table_status, table_type,
    view_status, visible_and_expression, visible_databases, visible_tables, visible_views,
};
use crate::information_schema::{self, InformationSchema, definition};
use crate::privileges::PrivilegeSet;
use crate::rows::{Grid, opt};
use crate::session::{ClientSession, is_virtual, unknown_database};
use crate::show::title;
use crate::system_schemas::{MYSQL, is_information_schema, is_shown, system_schema};
use narwal_engine::{Catalog, ColumnDef, Table, ViewDef};
use narwal_sql::SqlMode;
use narwal_sql::merge_table::tables_behind;
use narwal_sql::virtual_tables::{INFORMATION_SCHEMA, PERFORMANCE_SCHEMA};
use narwal_sql::{show, view};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::face::is_mysql;
use narwal_types::{BlobSize, Collation, SqlError, SqlResult, TypeKind, Value, Zone};
use std::sync::Arc;

/// Error 1146.
fn no_table(db: &str, name: &str) -> SqlError {
    errors::NO_SUCH_TABLE.with([&db, &name])
}

impl ClientSession {
    /// The database that a statement means; checks that it exists and that the account sees it.
    pub(crate) fn database_named(&mut self, db: Option<&str>) -> SqlResult<String> {
        let db = match db {
            Some(d) => d.to_string(),
            None => self.env.require_db()?.to_string(),
        };
        if is_virtual(&db) {
            return Ok(db.to_ascii_lowercase());
        }
        let account = self.account();
        if !account.sees_database(&db) {
            return Err(acl::database_denied(&account, &db));
        }
        let catalog = self.instance.database().catalog();
        if let Some(system) = system_schema(&catalog, &db) {
            return Ok(system.into());
        }
        if self.instance.database().catalog().database(&db).is_none() {
            return Err(unknown_database(&db));
        }
        Ok(db)
    }

    /// A table that a statement means; `command` is denied (1142) without any privilege on it.
    fn table_named(&mut self, t: &TableRef, command: &str) -> SqlResult<Arc<Table>> {
        let db = match &t.db {
            Some(d) => d.clone(),
            None => self.env.require_db()?.to_string(),
        };
        if is_virtual(&db) {
            return definition(&t.name)
                .cloned()
                .ok_or_else(|| errors::UNKNOWN_TABLE.with([&t.name, &"information_schema"]));
        }
        if let Some(table) = self.env.temporary_table(&db, &t.name) {
            return self.with_tables_behind(table);
        }
        if command == "SHOW" {
            self.check_locked(&db, &t.name)?;
        }
        let account = self.account();
        let may = match command {
            // A definition tells of all columns.
            "SHOW" => {
                let any = PrivilegeSet::ALL_TABLE.with(PrivilegeSet::GRANT_OPTION);
                account.on_table(&db, &t.name).has_any(any)
            }
            _ => {
                let wide = account.global.with(account.on_database(&db));
                wide.has(PrivilegeSet::SELECT) || account.has_grant_on(&db, &t.name)
            }
        };
        if !may {
            return Err(acl::table_denied(
                command,
                &account,
                &self.client.host,
                &db,
                &t.name,
            ));
        }
        let catalog = self.instance.database().catalog();
        if let Some(v) = catalog.view(&db, &t.name) {
            return self.described(v, &catalog);
        }
        if let Some(schema) = system_schema(&catalog, &db)
            && let Some(table) = information_schema::table_of_system(schema, &t.name)
            && is_shown(&catalog, schema, &t.name)
        {
            return Ok(table.clone());
        }
        catalog
            .table(&db, &t.name)
            .cloned()
            .ok_or_else(|| no_table(&db, &t.name))
            .and_then(|t| self.with_tables_behind(t))
    }

    /// Error 1168 for a MERGE table without its tables: there is no such table then, also for SHOW.
    fn with_tables_behind(&self, table: Arc<Table>) -> SqlResult<Arc<Table>> {
        if table.def.merge.is_some() {
            tables_behind(&table, &self.instance.database().catalog(), &self.env)?;
        }
        Ok(table)
    }

    /// A view as a table.
    fn described(&self, v: &ViewDef, catalog: &Arc<Catalog>) -> SqlResult<Arc<Table>> {
        let db = self.instance.database();
        view::describe(v, db, catalog, &self.env, Some(&InformationSchema(self)))
    }

    pub(super) fn show_databases(&mut self, filter: &Filter) -> SqlResult<Grid> {
        let account = self.account();
        let mut names = visible_databases(&self.instance, &account);
        names.push(INFORMATION_SCHEMA.into());
        // Tools that dump all databases ask for all names: a dump must not put this server's accounts in the place of another's.
        if matches!(filter, Filter::None) {
            names.retain(|n| n != MYSQL);
        }
        names.sort_unstable();
        let mut g = Grid::new();
        g.text(&title("Database", filter), 64);
        for n in names {
            g.row(vec![Value::str(n)]);
        }
        // In WHERE the column has its plain name.
        if filter.is_where() {
            filter.apply(&mut g)?;
        } else {
            // Its name has no case.
            let matches = |name: &str| match name {
                "information_schema" => filter.may_match(name),
                name => filter.may_match_table(name),
            };
            g.rows
                .retain(|r| matches!(&r[0], Value::Str(s) if matches(s)));
        }
        Ok(g)
    }

    /// The tables that the account sees in a database.
    fn tables_of(&mut self, db: &str) -> Vec<Arc<Table>> {
        if is_virtual(db) && db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) {
            return information_schema::mysql_performance::all()
                .cloned()
                .collect();
        }
        if is_virtual(db) {
            return information_schema::all().cloned().collect();
        }
        let account = self.account();
        visible_tables(&self.instance, &account, db)
    }

    pub(super) fn show_tables(
        &mut self,
        full: bool,
        db: Option<&str>,
        filter: &Filter,
    ) -> SqlResult<Grid> {
        let db = self.database_named(db)?;
        let mut g = Grid::new();
        g.text(&title(&format!("Tables_in_{db}"), filter), 64);
        if full {
            g.text("Table_type", 64);
        }
        let kind = if is_virtual(&db) {
            "SYSTEM VIEW"
        } else {
            "BASE TABLE"
        };
        let mut names: Vec<(String, &str)> = self
            .tables_of(&db)
            .iter()
            .map(|t| {
                (
                    t.def.name.clone(),
                    if is_virtual(&db) { kind } else { table_type(t) },
                )
            })
            .collect();
        names.extend(self.views_of(&db).iter().map(|v| (v.name.clone(), "VIEW")));
        names.sort_unstable();
        for (name, kind) in names {
            let mut row = vec![Value::str(name)];
            if full {
                row.push(Value::str(kind));
            }
            g.row(row);
        }
        filter.apply_to_tables(&mut g)?;
        Ok(g)
    }

    pub(super) fn show_table_status(
        &mut self,
        db: Option<&str>,
        filter: &Filter,
    ) -> SqlResult<Grid> {
        let db = self.database_named(db)?;
        let mut g = Grid::new();
        g.text("Name", 64)
            .text_null("Engine", 64)
            .uint("Version", true)
            .text_null("Row_format", 10)
            .uint("Rows", true)
            .uint("Avg_row_length", true)
            .uint("Data_length", true)
            .uint("Max_data_length", true)
            .uint("Index_length", true)
            .uint("Data_free", true)
            .uint("Auto_increment", true)
            .any("Create_time", TypeKind::DateTime(0), true)
            .any("Update_time", TypeKind::DateTime(0), true)
            .any("Check_time", TypeKind::DateTime(0), true)
            .text_null("Collation", 64)
            .uint("Checksum", true)
            .text_null("Create_options", 2048)
            .text("Comment", 2048);
        // MariaDB's columns.
        let more = !is_mysql();
        if more {
            g.uint("Max_index_length", true).text_null("Temporary", 1);
        }
        let zone = self.env.time_zone;
        let mut rows: Vec<(String, Vec<Value>)> = Vec::new();
        for t in self.tables_of(&db) {
            if filter.may_match(&t.def.name) {
                rows.push((t.def.name.clone(), table_status(&self.instance, &t, zone)));
            }
        }
        let catalog = self.instance.database().catalog();
        for v in self.views_of(&db) {
            if filter.may_match(&v.name) {
                let comment = match self.described(&v, &catalog) {
                    Ok(_) => "VIEW".to_string(),
                    Err(e) => {
                        self.env.warn_error(&e);
                        e.message.to_string()
                    }
                };
                rows.push((v.name.clone(), view_status(&comment)));
            }
        }
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, status) in rows {
            let mut row = vec![Value::str(name)];
            row.extend(status);
            row.truncate(g.columns.len());
            g.row(row);
        }
        filter.apply_to_tables(&mut g)?;
        Ok(g)
    }

    pub(super) fn show_columns(
        &mut self,
        full: bool,
        table: &TableRef,
        filter: &Filter,
    ) -> SqlResult<Grid> {
        let t = self.table_named(table, "SELECT")?;
        let (account, zone) = (self.account(), self.env.time_zone);
        let mut g = Grid::new();
        g.text("Field", 64)
            .any("Type", TypeKind::Text(BlobSize::Medium), false);
        if full {
            g.text_null("Collation", 64);
        }
        g.text("Null", 3)
            .text("Key", 3)
            .any("Default", TypeKind::Text(BlobSize::Medium), true)
            .text("Extra", 80);
        if full {
            g.text("Privileges", 80).text("Comment", 1024);
        }
        for (i, c) in t.columns().iter().enumerate() {
            let privileges = column_privileges(&account, &t, &c.name);
            // Columns that the account may do nothing with are not shown.
            if privileges.is_empty() && !t.temporary || is_mysql() && c.is_hidden() {
                continue;
            }
            let mut row = vec![Value::str(c.name.as_str()), Value::str(c.type_name())];
            if full {
                row.push(if c.ty.has_charset() {
                    Value::str(c.ty.collation.name())
                } else {
                    Value::Null
                });
            }
            row.extend([
                Value::str(if c.nullable { "YES" } else { "NO" }),
                Value::str(show::show_key(&t, i)),
                match c.ty.kind {
                    TypeKind::Text(_) | TypeKind::Blob(_)
                        if show::show_default(c, zone).is_some()
                            && !information_schema::is_view(&t) =>
                    {
                        default_expression(c, zone)
                    }
                    _ => opt(show::show_default(c, zone)),
                },
                Value::str(show::show_extra(c)),
            ]);
            if full {
                row.push(Value::str(privileges.as_str()));
                row.push(Value::str(c.comment.as_str()));
            }
            g.row(row);
        }
        filter.apply(&mut g)?;
        Ok(g)
    }

    pub(super) fn show_index(&mut self, table: &TableRef, filter: &Filter) -> SqlResult<Grid> {
        let t = self.table_named(table, "SELECT")?;
        let mut g = Grid::new();
        g.text("Table", 64)
            .int("Non_unique", false)
            .text("Key_name", 64)
            .any("Seq_in_index", TypeKind::Int, false)
            .text("Column_name", 64)
            .text_null("Collation", 1)
            .int("Cardinality", true)
            .int("Sub_part", true)
            .text_null("Packed", 10)
            .text("Null", 3)
            .text("Index_type", 16)
            .text_null("Comment", 16)
            .text("Index_comment", 1024);
        match is_mysql() {
            true => g.text("Visible", 3).text_null("Expression", 1024),
            false => g.text("Ignored", 3),
        };
        let account = self.account();
        let own = self.env.temporary_table(&t.def.db, &t.def.name).is_some();
        for ix in &t.def.indexes {
            let column = |n: usize| t.columns()[ix.columns[n].column].name.as_str();
            let seen = |n: &usize| own || sees_column(&account, &t, column(*n));
            for n in (0..ix.columns.len()).filter(seen) {
                let mut row = vec![
                    Value::str(t.def.name.as_str()),
                    Value::Int(i64::from(!ix.unique)),
                    Value::str(ix.name.as_str()),
                ];
                row.extend(index_part(&self.instance, &t, ix, n));
                if is_mysql() {
                    row.pop();
                    row.extend(visible_and_expression(&t, ix, n));
                }
                g.row(row);
            }
        }
        filter.apply(&mut g)?;
        Ok(g)
    }

    /// The views that the account sees in a database.
    fn views_of(&mut self, db: &str) -> Vec<Arc<ViewDef>> {
        let account = self.account();
        visible_views(&self.instance, &account, db)
    }

    /// SHOW CREATE VIEW.
    pub(super) fn show_create_view(&mut self, table: &TableRef) -> SqlResult<Grid> {
        let db = match &table.db {
            Some(d) => d.clone(),
            None => self.env.require_db()?.to_string(),
        };
        let catalog = self.instance.database().catalog();
        let account = self.account();
        let have = account.on_table(&db, &table.name);
        let some = account.about_table(&db, &table.name);
        let asked = [
            (some, PrivilegeSet::SELECT),
            (have, PrivilegeSet::SHOW_VIEW),
        ];
        let missing = (asked.into_iter())
            .find(|(have, p)| !have.has(*p) && !is_virtual(&db))
            .map(|(_, p)| p);
        if let Some(missing) = missing {
            let host = &self.client.host;
            let what = missing.names().join(", ");
            return Err(acl::table_denied(&what, &account, host, &db, &table.name));
        }
        let Some(v) = catalog.view(&db, &table.name) else {
            return Err(match catalog.table(&db, &table.name) {
                Some(_) => view::wrong_kind(&db, &table.name, "VIEW"),
                None => no_table(&db, &table.name),
            });
        };
        self.check_locked(&db, &table.name)?;
        let described = self.described(v, &catalog).map(drop);
        if let Err(e) = &described {
            self.env.warn_error(e);
        }
        let definer = self.check_definers(v, &catalog);
        if let (Ok(()), Err(e)) = (&described, &definer) {
            self.env.note(e.code, e.message.to_string());
        }
        let opens = described.is_ok() && definer.is_ok();
        let mut g = Grid::new();
        g.text("View", 64)
            .text("Create View", 1024)
            .text("character_set_client", 32)
            .text("collation_connection", 64);
        g.row(vec![
            Value::str(v.name.as_str()),
            Value::str(self.quoted(view::show_create(
                v,
                self.env.db.as_deref(),
                self.env.sql_mode,
                opens,
            )?)),
            Value::str(v.charset.0.as_str()),
            Value::str(v.charset.1.as_str()),
        ]);
        Ok(g)
    }

    /// A definition's text as `sql_quote_show_create` wants its names.
    pub(super) fn quoted(&self, text: String) -> String {
        match self.settings.quote_show_create {
            true => text,
            false => narwal_sql::quote::without_quotes(&text),
        }
    }

    pub(super) fn show_create_table(&mut self, table: &TableRef) -> SqlResult<Grid> {
        let db = table.db.as_deref().or(self.env.db.as_deref());
        if let Some(db) = db
            && self
                .instance
                .database()
                .catalog()
                .view(db, &table.name)
                .is_some()
        {
            return self.show_create_view(table);
        }
        let t = self.table_named(table, "SHOW")?;
        let next = if t.auto_increment.is_some() {
            self.instance.database().auto_increment(&t)
        } else {
            0
        };
        let mut g = Grid::new();
        g.text("Table", 64)
            .any("Create Table", TypeKind::Text(BlobSize::Medium), false);
        g.row(vec![
            Value::str(t.def.name.as_str()),
            Value::str(
                self.quoted(match is_information_schema(&t.def.db) && !is_mysql() {
                    true => made_for_a_statement(&t, self.env.sql_mode),
                    false => {
                        let zone = self.env.time_zone;
                        show::show_create_table(&t, next, self.env.sql_mode, zone)
                    }
                }),
            ),
        ]);
        Ok(g)
    }

    pub(super) fn show_create_sequence(&mut self, table: &TableRef) -> SqlResult<Grid> {
        let db = table
            .db
            .clone()
            .or(self.env.db.as_deref().map(str::to_string));
        let t = (self.table_named(table, "SHOW")).map_err(|e| match (e.code, db) {
            // A view that can't be read is none either.
            (codes::VIEW_INVALID, Some(db)) => errors::NOT_SEQUENCE.with([&db, &table.name]),
            _ => e,
        })?;
        if !t.def.sequence {
            return Err(narwal_sql::ddl::not_a_sequence(codes::NOT_SEQUENCE, &t));
        }
        let row = narwal_sql::ddl::sequence_row(self.instance.database(), &t)?;
        let mut g = Grid::new();
        g.text("Table", 64)
            .any("Create Table", TypeKind::Text(BlobSize::Medium), false);
        g.row(vec![
            Value::str(t.def.name.as_str()),
            Value::str(self.quoted(show::in_mode(
                narwal_sql::ddl::show_create_sequence(&t, &row),
                self.env.sql_mode,
            ))),
        ]);
        Ok(g)
    }

    pub(super) fn show_create_database(
        &mut self,
        if_not_exists: bool,
        name: &str,
    ) -> SqlResult<Grid> {
        let db = self.database_named(Some(name))?;
        let catalog = self.instance.database().catalog();
        let system = system_schema(&catalog, &db);
        let text = if is_virtual(&db) || system.is_some() {
            let collation = match system {
                Some(schema) => information_schema::system_collation(schema),
                None => Collation::Utf8mb3GeneralCi,
            };
            let (charset, collation) = (collation.charset().name(), collation.name());
            format!(
                "CREATE DATABASE `{db}` /*!40100 DEFAULT CHARACTER SET {charset} COLLATE {collation} */"
            )
        } else {
            let d = catalog.database(&db).ok_or_else(|| unknown_database(&db))?;
            show::show_create_database(d)
        };
        let text = self.quoted(show::in_mode(text, self.env.sql_mode));
        let text = if if_not_exists {
            text.replacen(
                "CREATE DATABASE ",
                "CREATE DATABASE /*!32312 IF NOT EXISTS*/ ",
                1,
            )
        } else {
            text
        };
        let mut g = Grid::new();
        g.text("Database", 64).text("Create Database", 1024);
        g.row(vec![Value::str(db), Value::str(text)]);
        Ok(g)
    }
}

/// SHOW CREATE TABLE of a table of `information_schema`, which MariaDB makes for each statement: a temporary table without
/// defaults, of the engine that has place for its columns.
fn made_for_a_statement(t: &Table, mode: SqlMode) -> String {
    let text = show::show_create_table(t, 0, mode, Zone::UTC);
    let text = text
        .replacen("CREATE TABLE", "CREATE TEMPORARY TABLE", 1)
        .replace(" DEFAULT NULL", "");
    let long = |c: &ColumnDef| matches!(c.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
    match t.columns().iter().any(long) {
        true => text.replacen("ENGINE=MEMORY", "ENGINE=Aria", 1) + " PAGE_CHECKSUM=0",
        false => text,
    }
}
