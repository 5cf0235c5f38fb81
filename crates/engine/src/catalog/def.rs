//! Databases and tables as they are stored.

use narwal_binlog::column_type;
use narwal_types::row::HashedKey;
use narwal_types::{Collation, ColumnType, DateTime, Name, RowLayout, TypeKind, Zone};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A database (schema).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseDef {
    /// Name, compared by bytes (as `lower_case_table_names=0`).
    pub name: String,
    /// Collation of tables that name none.
    pub collation: Collation,
    /// COMMENT.
    pub comment: String,
}

/// A column's DEFAULT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DefaultDef {
    /// No DEFAULT clause: NULL if nullable, else a value must be given.
    None,
    /// DEFAULT NULL.
    Null,
    /// A constant, as text that is converted to the column's type when used.
    Text(String),
    /// CURRENT_TIMESTAMP with its digits.
    CurrentTimestamp(u8),
    /// Any other expression, as SQL text.
    Expr(String),
    /// A constant of a TIMESTAMP: a moment, in microseconds since 1970 UTC. Sessions see it in their time zones. Zero is a
    /// text, and so is what earlier versions kept: the time as it was written.
    Moment(i64),
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnDef {
    /// Name, compared without case.
    pub name: String,
    /// Type.
    pub ty: ColumnType,
    /// NULL allowed.
    pub nullable: bool,
    /// DEFAULT.
    pub default: DefaultDef,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// ON UPDATE CURRENT_TIMESTAMP with its digits.
    pub on_update: Option<u8>,
    /// COMMENT.
    pub comment: String,
    /// Display width of an integer column, if one was given; it is only shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_width: Option<u8>,
    /// GENERATED ALWAYS AS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<GeneratedDef>,
    /// CHECK among the column's attributes: a condition as SQL text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// INVISIBLE: `*` does not mean it, and INSERT without names gives it no value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invisible: bool,
    /// COMPRESSED. Values are not compressed one by one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,
    /// COMPRESSED columns have the byte in front of their values that MariaDB's row events have. Those that older versions made
    /// do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub headed: bool,
}

/// How a generated column's value is made. Both kinds are stored with the row and stand in row events, but for virtual columns
/// that are `late`; they differ in what SHOW says and in what DDL allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedDef {
    /// The expression as SQL text.
    pub expr: String,
    /// STORED (PERSISTENT) rather than VIRTUAL.
    pub stored: bool,
    /// VIRTUAL, and computed when it is read: the row has NULL in its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// A CHECK constraint of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckDef {
    /// Name.
    pub name: String,
    /// The condition as SQL text.
    pub expr: String,
    /// NOT ENFORCED: kept and shown, and no row is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_enforced: bool,
}

/// What happens to child rows when their parent row goes or changes its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ForeignAction {
    /// The statement fails; the default.
    #[default]
    Restrict,
    /// The same under another name.
    NoAction,
    /// They go or change as well.
    Cascade,
    /// Their columns become NULL.
    SetNull,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKeyDef {
    /// Name, unique in the database.
    pub name: String,
    /// Columns of this table by name.
    pub columns: Vec<String>,
    /// Database of the referenced table.
    pub parent_db: String,
    /// The referenced table. It may be missing (made under `foreign_key_checks=0`).
    pub parent: String,
    /// Its columns by name.
    pub parent_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: ForeignAction,
    /// ON UPDATE.
    pub on_update: ForeignAction,
}

/// What the names of functional indexes' columns begin with, as in MySQL.
pub const HIDDEN_COLUMN: &str = "!hidden!";

impl ColumnDef {
    /// A default that is a moment, as clocks of this zone show it.
    pub fn default_moment(&self, zone: Zone) -> Option<DateTime> {
        let DefaultDef::Moment(micros) = self.default else {
            return None;
        };
        let digits = match self.ty.kind {
            TypeKind::Timestamp(n) | TypeKind::DateTime(n) => n,
            _ => 0,
        };
        DateTime::from_unix_micros(zone.local(micros), digits)
    }

    /// A column of which nothing more is said: no default, no attributes.
    pub fn new(name: impl Into<String>, ty: ColumnType, nullable: bool) -> Self {
        ColumnDef {
            name: name.into(),
            ty,
            nullable,
            default: DefaultDef::None,
            auto_increment: false,
            on_update: None,
            comment: String::new(),
            display_width: None,
            generated: None,
            check: None,
            invisible: false,
            compressed: false,
            headed: false,
        }
    }

    /// The column's values in row images.
    pub fn layout(&self) -> RowLayout {
        RowLayout::new(&[self.ty]).with_headed(|_| self.headed)
    }

    /// Type code and metadata in a TABLE_MAP event.
    pub fn binlog_type(&self) -> (u8, SmallVec<[u8; 2]>) {
        let (code, meta) = self.ty.binlog_type();
        match (self.headed, code, meta.as_slice()) {
            (true, column_type::VARCHAR, &[a, b]) => {
                let most = u16::from_le_bytes([a, b]).saturating_add(1).to_le_bytes();
                (column_type::VARCHAR_COMPRESSED, SmallVec::from_slice(&most))
            }
            (true, column_type::BLOB, _) => (column_type::BLOB_COMPRESSED, meta),
            _ => (code, meta),
        }
    }

    /// The type as SHOW COLUMNS prints it.
    pub fn type_name(&self) -> String {
        if narwal_types::face::is_mysql() {
            return self.mysql_type_name();
        }
        let mut name = self.ty.name_with_width(self.display_width);
        if self.compressed {
            name.push_str(" /*M!100301 COMPRESSED*/");
        }
        name
    }

    /// The same as MySQL shows it: numbers have a width with ZEROFILL only, and `tinyint(1)` keeps its one.
    fn mysql_type_name(&self) -> String {
        if self.is_json() {
            return "json".into();
        }
        let name = self.ty.sql_name();
        let (Some(from), Some(to)) = (name.find('('), name.find(')')) else {
            return name;
        };
        let has_width = self.ty.is_integer() || matches!(self.ty.kind, TypeKind::Year);
        match self.display_width {
            _ if !has_width => name,
            Some(n) if self.ty.form.zeros > 0 => format!("{}({n}{}", &name[..from], &name[to..]),
            _ if self.ty.form.zeros > 0 => name,
            Some(1) if self.ty.kind == TypeKind::TinyInt && !self.ty.unsigned => {
                "tinyint(1)".into()
            }
            _ => format!("{}{}", &name[..from], &name[to + 1..]),
        }
    }

    /// True for the column of a functional index: generated, invisible, and under MySQL's face not there at all.
    pub fn is_hidden(&self) -> bool {
        self.invisible && self.generated.is_some() && self.name.starts_with(HIDDEN_COLUMN)
    }

    /// True for a column that was declared as JSON: a text that only JSON fits into.
    pub fn is_json(&self) -> bool {
        let valid =
            |check: &str| check == format!("json_valid(`{}`)", self.name.replace('`', "``"));
        self.ty.collation == Collation::Utf8mb4Bin && self.check.as_deref().is_some_and(valid)
    }
}

/// One column of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexColumn {
    /// Position in [`TableDef::columns`].
    pub column: usize,
    /// Prefix length in characters (bytes for binary types).
    pub prefix: Option<u16>,
    /// DESC.
    pub desc: bool,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDef {
    /// Unique over all indexes ever made; assigned by the engine (0 when a definition is handed in).
    pub id: u32,
    /// Name; `PRIMARY` for the primary key.
    pub name: String,
    /// UNIQUE (always true for PRIMARY).
    pub unique: bool,
    /// Columns in order.
    pub columns: Vec<IndexColumn>,
    /// COMMENT.
    pub comment: String,
    /// Made for a foreign key that had no index: it goes when a declared index takes its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implied: bool,
    /// A UNIQUE index whose hash stands in rows, in a column behind those of the table: MariaDB's replicas look for rows by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hashed: bool,
    /// IGNORED: kept, and used for no query.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// USING, as it was written: shown, and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<IndexMethod>,
    /// KEY_BLOCK_SIZE, 0 if it was not given. Only shown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub key_block_size: u64,
    /// WITHOUT OVERLAPS: rows with the same values before them have no time in common. The last two columns are the end and
    /// the start of the table's period.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_overlaps: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What USING may say of an index. All are trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexMethod {
    /// BTREE.
    BTree,
    /// HASH.
    Hash,
}

/// A table. `indexes` holds the declared indexes in SHOW order, PRIMARY first if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDef {
    /// Unique over all tables ever made, also the table id of row events; assigned by the engine (0 when handed in).
    pub id: u64,
    /// Database name.
    pub db: String,
    /// Table name.
    pub name: String,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// Declared indexes.
    pub indexes: Vec<IndexDef>,
    /// Id of the clustered index when there is no primary key (rows are keyed by a hidden row id); assigned by the engine.
    pub hidden_index_id: u32,
    /// Default collation.
    pub collation: Collation,
    /// COMMENT.
    pub comment: String,
    /// AUTO_INCREMENT= start value given in DDL, 0 or 1 if none.
    pub auto_increment_start: u64,
    /// ENGINE= as written, shown back (`InnoDB` by default: tools expect it).
    pub engine: String,
    /// Seconds since 1970 of CREATE TABLE.
    pub created: u64,
    /// CHECK constraints that are not a column's attribute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckDef>,
    /// Foreign keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// It is a sequence: a table of one row, see [`crate::SequenceRow`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sequence: bool,
    /// Options that change nothing here and are shown back (`ROW_FORMAT`, `MAX_ROWS`): names in upper case and values, in the
    /// order in which SHOW CREATE TABLE has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// It is a MERGE table: it has no rows of its own, and shows those of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<MergeDef>,
    /// PERIOD FOR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<PeriodDef>,
    /// The engine of MariaDB that its definition named, if this store stands in for it: ALTER TABLE tells as many rows as there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
}

/// An application-time period: two columns that say from when until when a row holds, the end excluded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodDef {
    /// Name.
    pub name: String,
    /// Name of the column that it starts with.
    pub start: String,
    /// Name of the column that it ends with.
    pub end: String,
}

impl PeriodDef {
    /// True for its two columns.
    pub fn has(&self, column: &str) -> bool {
        [&self.start, &self.end].iter().any(|c| c.same_name(column))
    }
}

impl TableDef {
    /// The keys whose hashes stand in rows, in columns behind those of the table.
    pub fn hashed_keys(&self) -> Vec<HashedKey> {
        let hashed = self.indexes.iter().filter(|i| i.hashed);
        hashed
            .map(|i| HashedKey {
                parts: i.columns.iter().map(|c| (c.column, c.prefix)).collect(),
            })
            .collect()
    }

    /// The CHECK that a period brings with it. It has the period's name, or that with a number if another one is called so.
    pub fn period_check(&self) -> Option<CheckDef> {
        let period = self.period.as_ref()?;
        let taken = |n: &str| self.checks.iter().any(|c| c.name.same_name(n));
        let numbered = (1..).map(|i| format!("{}_{i}", period.name));
        let name = std::iter::once(period.name.clone())
            .chain(numbered)
            .find(|n| !taken(n))?;
        let quoted = |n: &str| format!("`{}`", n.replace('`', "``"));
        Some(CheckDef {
            name,
            expr: format!("{} < {}", quoted(&period.start), quoted(&period.end)),
            not_enforced: false,
        })
    }
}

/// The tables that a MERGE table stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MergeDef {
    /// UNION: database and name of each. They may be missing, or of another form: whoever uses the table is told.
    pub tables: Vec<(String, String)>,
    /// INSERT_METHOD.
    pub insert: MergeInsert,
}

impl MergeDef {
    /// Which of its tables gets new rows, by its place, where there are so many of them; `None` if none does.
    #[must_use]
    pub fn place_for_inserts(&self, tables: usize) -> Option<usize> {
        match self.insert {
            MergeInsert::First if tables > 0 => Some(0),
            MergeInsert::Last => tables.checked_sub(1),
            MergeInsert::First | MergeInsert::No => None,
        }
    }
}

/// Which table of a MERGE table gets new rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum MergeInsert {
    /// None of them.
    #[default]
    No,
    /// The first.
    First,
    /// The last.
    Last,
}
