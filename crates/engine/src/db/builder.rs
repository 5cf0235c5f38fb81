//! For programs that embed the store: table definitions, rows and keys without SQL.

use crate::catalog::change::{CatalogChange, Ddl};
use crate::catalog::def::{ColumnDef, DatabaseDef, IndexColumn, IndexDef, TableDef};
use crate::catalog::table::Table;
use crate::commit::reserved::CommitInfo;
use crate::db::database::Database;
use crate::txn::options::TxnOptions;
use crate::{EngineError, Result};
use narwal_types::key::encode_value;
use narwal_types::{Collation, ColumnType, Name, TypeKind, ValueRef};
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Builds a [`TableDef`] step by step.
///
/// ```
/// use narwal_engine::TableBuilder;
/// use narwal_types::TypeKind;
/// let accounts = TableBuilder::new("bank", "accounts")
///     .column("id", TypeKind::BigInt, false)
///     .column("owner", TypeKind::VarChar(40), false)
///     .column("balance", TypeKind::BigInt, false)
///     .primary_key(&["id"])
///     .index("by_owner", &["owner"], false)
///     .build()
///     .unwrap();
/// assert_eq!(accounts.columns.len(), 3);
/// ```
#[derive(Debug)]
pub struct TableBuilder {
    def: TableDef,
    error: Option<String>,
}

impl TableBuilder {
    /// An empty table `db.name`.
    pub fn new(db: &str, name: &str) -> Self {
        let def = TableDef {
            id: 0,
            db: db.into(),
            name: name.into(),
            columns: Vec::new(),
            indexes: Vec::new(),
            hidden_index_id: 0,
            collation: Collation::default(),
            comment: String::new(),
            auto_increment_start: 0,
            engine: "InnoDB".into(),
            created: 0,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            sequence: false,
            merge: None,
            period: None,
            declared: None,
            options: Vec::new(),
        };
        TableBuilder { def, error: None }
    }

    /// Adds a signed column without a default; character columns are `utf8mb4_general_ci`.
    pub fn column(self, name: &str, kind: TypeKind, nullable: bool) -> Self {
        let character = matches!(
            kind,
            TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_)
        );
        let collation = if character {
            Collation::Utf8mb4GeneralCi
        } else {
            Collation::Binary
        };
        self.column_of_type(
            name,
            ColumnType {
                kind,
                unsigned: false,
                collation,
                form: narwal_types::NumberForm::NONE,
            },
            nullable,
        )
    }

    /// Adds a column of any type.
    pub fn column_of_type(mut self, name: &str, ty: ColumnType, nullable: bool) -> Self {
        self.def.columns.push(ColumnDef::new(name, ty, nullable));
        self
    }

    fn add_index(mut self, name: &str, columns: &[&str], unique: bool) -> Self {
        let mut parts = Vec::new();
        for c in columns {
            match self.def.columns.iter().position(|d| d.name.same_name(c)) {
                Some(column) => parts.push(IndexColumn {
                    column,
                    prefix: None,
                    desc: false,
                }),
                None => self.error = Some(format!("index {name} names the unknown column {c}")),
            }
        }
        self.def.indexes.push(IndexDef {
            id: 0,
            name: name.into(),
            unique,
            columns: parts,
            comment: String::new(),
            implied: false,
            hashed: false,
            ignored: false,
            method: None,
            key_block_size: 0,
            without_overlaps: false,
        });
        self
    }

    /// Sets the primary key. Without one, rows are kept in the order of insertion under a hidden row id.
    pub fn primary_key(self, columns: &[&str]) -> Self {
        self.add_index("PRIMARY", columns, true)
    }

    /// Adds a secondary index.
    pub fn index(self, name: &str, columns: &[&str], unique: bool) -> Self {
        self.add_index(name, columns, unique)
    }

    /// The definition. Fails if an index names a column that is not there, or there are no columns.
    pub fn build(mut self) -> Result<TableDef> {
        if let Some(e) = self.error.take() {
            return Err(EngineError::Catalog(e));
        }
        if self.def.columns.is_empty() {
            return Err(EngineError::Catalog(format!(
                "table {} has no columns",
                self.def.name
            )));
        }
        Ok(self.def)
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The CREATE TABLE statement of a definition made by [`TableBuilder`]: what replicas will run.
fn create_statement(def: &TableDef) -> String {
    let mut sql = format!("CREATE TABLE {} (", quoted(&def.name));
    for (i, c) in def.columns.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let _ = write!(sql, "{comma}{} {}", quoted(&c.name), c.type_name());
        if c.ty.is_character() {
            let _ = write!(
                sql,
                " CHARACTER SET utf8mb4 COLLATE {}",
                c.ty.collation.name()
            );
        }
        sql.push_str(if c.nullable { " NULL" } else { " NOT NULL" });
    }
    for ix in &def.indexes {
        let columns: Vec<String> = ix
            .columns
            .iter()
            .map(|c| quoted(&def.columns[c.column].name))
            .collect();
        let columns = columns.join(", ");
        let _ = match (ix.name.as_str(), ix.unique) {
            ("PRIMARY", _) => write!(sql, ", PRIMARY KEY ({columns})"),
            (name, true) => write!(sql, ", UNIQUE KEY {} ({columns})", quoted(name)),
            (name, false) => write!(sql, ", KEY {} ({columns})", quoted(name)),
        };
    }
    let _ = write!(
        sql,
        ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE={}",
        def.collation.name()
    );
    sql
}

fn now() -> u32 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs() as u32)
}

impl Database {
    /// Makes a database (schema) unless it exists.
    pub fn create_database(&self, name: &str) -> Result<()> {
        if self.catalog().database(name).is_some() {
            return Ok(());
        }
        let def = DatabaseDef {
            name: name.into(),
            collation: Collation::default(),
            comment: String::new(),
        };
        let made = self.ddl(
            Ddl {
                sql: format!("CREATE DATABASE {}", quoted(name)),
                db: name.into(),
                changes: vec![CatalogChange::PutDatabase(def)],
                timestamp: now(),
                suppress_use: true,
                ..Ddl::default()
            },
            &TxnOptions::default(),
        );
        match made {
            // Another one made it meanwhile.
            Err(EngineError::Catalog(_)) if self.catalog().database(name).is_some() => Ok(()),
            made => made.map(drop),
        }
    }

    /// Makes a table from a definition made by [`TableBuilder`].
    pub fn create_table(&self, def: TableDef) -> Result<CommitInfo> {
        self.ddl(
            Ddl {
                sql: create_statement(&def),
                db: def.db.clone(),
                changes: vec![CatalogChange::CreateTable(def)],
                timestamp: now(),
                ..Ddl::default()
            },
            &TxnOptions::default(),
        )
    }
}

impl Table {
    /// A row image from one value per column. The values must be of the columns' own domains.
    pub fn row(&self, values: &[ValueRef<'_>]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(64);
        self.layout.encode(values, &mut out)?;
        Ok(out)
    }

    /// The key (or, with fewer values than parts, the key prefix) of index number `index`.
    pub fn key(&self, index: usize, values: &[ValueRef<'_>]) -> Result<Vec<u8>> {
        let ix = self.indexes.get(index).ok_or_else(|| {
            EngineError::Catalog(format!(
                "table {} has no index number {index}",
                self.def.name
            ))
        })?;
        let mut out = Vec::with_capacity(32);
        for (v, part) in values.iter().zip(&ix.parts) {
            encode_value(*v, &self.def.columns[part.column].ty, part, &mut out)?;
        }
        Ok(out)
    }

    /// All values of a row image.
    pub fn values<'a>(&self, row: &'a [u8]) -> Result<Vec<ValueRef<'a>>> {
        let mut out = Vec::with_capacity(self.def.columns.len());
        self.layout.decode_into(row, &mut out)?;
        Ok(out)
    }
}
