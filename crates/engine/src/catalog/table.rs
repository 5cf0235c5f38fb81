//! A table at run time: its definition with everything derived from it.

use crate::catalog::counters::{Sampled, TableCounters, TableStats};
use crate::catalog::def::{ColumnDef, DefaultDef, TableDef};
use crate::catalog::image::ImageColumns;
use crate::catalog::index::Index;
use crate::catalog::sequence::SequenceRow;
use crate::catalog::steps::Steps;
use crate::{EngineError, Result};
use narwal_binlog::{ColumnMeta, HASH_COLUMN, RowMetadata, TableMapTemplate};
use narwal_types::errors;
use narwal_types::key;
use narwal_types::key::KeyPart;
use narwal_types::row::HashedKey;
use narwal_types::{Collation, ColumnType, Name, RowLayout, TypeKind};
use narwal_types::{SqlResult, ValueRef};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

impl Table {
    /// What was last found out by samples of an index: the table's rows then, and about how many different values the
    /// index's first part had, its first two parts, and so on.
    pub fn sampled(&self, index: u32) -> Option<(u64, Arc<[u64]>)> {
        let all = self.counters.sampled.lock();
        let s = all.iter().find(|s| s.index == index)?;
        Some((s.rows, s.distinct.clone()))
    }

    /// Keeps it, in memory only.
    pub fn set_sampled(&self, index: u32, rows: u64, distinct: Arc<[u64]>) {
        let mut all = self.counters.sampled.lock();
        all.retain(|s| s.index != index);
        all.push(Sampled {
            index,
            rows,
            distinct,
        });
    }
}

/// Gives a row's image the values of columns that it does not have yet: those that the layer above computes.
pub type CompleteRow = fn(&Arc<Table>, Vec<u8>) -> SqlResult<Vec<u8>>;

/// Error 1031: a sequence's row is replaced, never updated nor deleted.
#[must_use]
pub fn not_for_sequences(table: &Table) -> EngineError {
    EngineError::Sql(errors::ILLEGAL_HA.with([&"SEQUENCE", &table.def.db, &table.def.name]))
}

/// A table at run time. `indexes[0]` is always the clustered index (the primary key, or the hidden one);
/// the others follow in declaration order. Secondary index keys are the encoded parts, the clustered key, and the
/// clustered key's length (2 bytes, big-endian).
#[derive(Debug)]
pub struct Table {
    /// The definition.
    pub def: TableDef,
    /// Where columns are in a row.
    pub layout: RowLayout,
    /// Clustered first.
    pub indexes: Vec<Index>,
    /// True if rows are keyed by a hidden row id.
    pub hidden_pk: bool,
    /// One of a session's temporary tables.
    pub temporary: bool,
    /// Position of the AUTO_INCREMENT column.
    pub auto_increment: Option<usize>,
    /// It stands behind other columns of an index, and first in none: each group of rows has numbers of its own.
    pub numbered_in: Option<NumberedIn>,
    /// With FULL metadata.
    template: TableMapTemplate,
    /// With NO_LOG and MINIMAL metadata, made when first wanted.
    lesser_templates: [OnceLock<TableMapTemplate>; 2],
    /// Columns of row images that are not full; `None` without a usable key.
    pub(crate) image: Option<ImageColumns>,
    pub(crate) counters: Arc<TableCounters>,
    /// Foreign keys in the definition's order.
    pub(crate) foreign: Vec<crate::catalog::foreign::ForeignKey>,
    /// It has a key WITHOUT OVERLAPS.
    pub(crate) without_overlaps: bool,
    /// It has expressions: CHECK, generated columns, DEFAULT expressions.
    pub has_expressions: bool,
    /// What the layer above has made of the expressions, kept with this version of the table.
    pub expressions: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// What tells apart the groups of rows in which an AUTO_INCREMENT column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedIn {
    /// Position in [`Table::indexes`].
    pub index: usize,
    /// So many of its columns are the same in a group; the next one is the numbers'.
    pub parts: usize,
}

impl NumberedIn {
    fn of(indexes: &[Index], column: usize) -> Option<NumberedIn> {
        let place = |i: &Index| i.parts.iter().position(|p| p.column == column);
        let mut found = None;
        for (index, i) in indexes.iter().enumerate() {
            match place(i) {
                Some(0) => return None,
                Some(parts) if found.is_none() => found = Some(NumberedIn { index, parts }),
                _ => {}
            }
        }
        found
    }
}

/// The columns as table maps tell them.
fn log_columns(def: &TableDef) -> Vec<ColumnMeta> {
    let hashed = def.hashed_keys().into_iter().enumerate();
    (def.columns.iter())
        .map(|c| {
            let (code, meta) = c.binlog_type();
            let mut m = ColumnMeta::new(&c.name, code, &meta);
            m.unsigned = c.ty.unsigned;
            m.numeric = c.ty.is_numeric() && !matches!(c.ty.kind, TypeKind::Bit(_));
            m.nullable = c.nullable;
            m.collation = if c.ty.has_charset() {
                Some(c.ty.collation.id())
            } else if c.ty.is_binary_string() || c.ty.fixed().is_some() {
                Some(Collation::Binary.id())
            } else {
                None
            };
            if let TypeKind::Enum(of) | TypeKind::Set(of) = c.ty.kind {
                m.labels = of.list().iter().map(|l| l.as_bytes().to_vec()).collect();
            }
            m
        })
        .chain(hashed.map(|(n, key)| hash_column(def, n + 1, &key)))
        .collect()
}

/// The column of a key's hash, as MariaDB calls it.
fn hash_column(def: &TableDef, n: usize, key: &HashedKey) -> ColumnMeta {
    let (code, meta) = ColumnType::unsigned(TypeKind::BigInt).binlog_type();
    let mut m = ColumnMeta::new(&format!("{HASH_COLUMN}{n}"), code, &meta);
    m.unsigned = true;
    m.numeric = true;
    m.nullable = (key.parts.iter()).any(|(c, _)| def.columns.get(*c).is_some_and(|c| c.nullable));
    m
}

impl Table {
    /// What ANALYZE TABLE found last, since the table was made.
    pub fn stats(&self) -> Option<Arc<TableStats>> {
        self.counters.stats.load_full()
    }

    /// Keeps what ANALYZE TABLE found; the next checkpoint stores it.
    pub fn set_stats(&self, stats: TableStats) {
        self.counters.stats.store(Some(Arc::new(stats)));
    }

    /// The form of a table that is stored nowhere: its rows are made when they are read (virtual and derived tables).
    pub fn made(def: TableDef) -> Result<Arc<Table>> {
        let types: Vec<ColumnType> = def.columns.iter().map(|c| c.ty).collect();
        let mut table = Table::new(def, None)?;
        if let Some(t) = Arc::get_mut(&mut table) {
            t.layout = RowLayout::in_utf8(&types);
        }
        Ok(table)
    }

    /// Derives the run-time form. `counters` of an earlier version of the table are carried over.
    pub(crate) fn new(def: TableDef, counters: Option<Arc<TableCounters>>) -> Result<Arc<Table>> {
        let types: Vec<ColumnType> = def.columns.iter().map(|c| c.ty).collect();
        let parts = |ix: &crate::catalog::def::IndexDef| -> Result<Vec<KeyPart>> {
            ix.columns
                .iter()
                .map(|c| {
                    let col = def.columns.get(c.column).ok_or_else(|| {
                        EngineError::Catalog(format!(
                            "index {} of {}.{} names column {}",
                            ix.name, def.db, def.name, c.column
                        ))
                    })?;
                    Ok(KeyPart {
                        column: c.column,
                        prefix: c.prefix,
                        nullable: col.nullable,
                        desc: c.desc,
                    })
                })
                .collect()
        };
        let pk = def.indexes.iter().find(|i| i.name == "PRIMARY");
        let mut indexes = Vec::with_capacity(def.indexes.len() + 1);
        match pk {
            Some(p) => indexes.push(Index {
                id: p.id,
                name: p.name.clone(),
                unique: true,
                parts: parts(p)?,
                without_overlaps: p.without_overlaps,
                since: AtomicU64::new(0),
            }),
            None => {
                indexes.push(Index {
                    id: def.hidden_index_id,
                    name: String::new(),
                    unique: true,
                    parts: Vec::new(),
                    without_overlaps: false,
                    since: AtomicU64::new(0),
                });
            }
        }
        for ix in def.indexes.iter().filter(|i| i.name != "PRIMARY") {
            indexes.push(Index {
                id: ix.id,
                name: ix.name.clone(),
                unique: ix.unique,
                parts: parts(ix)?,
                without_overlaps: ix.without_overlaps,
                since: AtomicU64::new(0),
            });
        }
        let columns = log_columns(&def);
        let pk_columns: Vec<(usize, u32)> = pk
            .map(|p| {
                p.columns
                    .iter()
                    .map(|c| (c.column, c.prefix.map_or(0, u32::from)))
                    .collect()
            })
            .unwrap_or_default();
        let template = TableMapTemplate::new(def.id, &def.db, &def.name, &columns, &pk_columns)
            .map_err(|e| EngineError::Catalog(format!("table {}.{}: {e}", def.db, def.name)))?;
        let counters = counters.unwrap_or_else(|| {
            let c = TableCounters::default();
            c.auto_increment
                .store(def.auto_increment_start.max(1), Ordering::Relaxed);
            c.row_id.store(1, Ordering::Relaxed);
            Arc::new(c)
        });
        Ok(Arc::new(Table {
            foreign: crate::catalog::foreign::of_table(&def, &indexes)?,
            layout: (RowLayout::new(&types).with_headed(|i| def.columns[i].headed))
                .with_hashed(def.hashed_keys()),
            hidden_pk: pk.is_none(),
            temporary: crate::key::is_temporary(def.hidden_index_id),
            numbered_in: (def.columns.iter().position(|c| c.auto_increment))
                .and_then(|c| NumberedIn::of(&indexes, c)),
            auto_increment: def.columns.iter().position(|c| c.auto_increment),
            image: ImageColumns::new(&def),
            without_overlaps: indexes.iter().any(|i| i.without_overlaps),
            indexes,
            template,
            lesser_templates: Default::default(),
            has_expressions: !def.checks.is_empty()
                || def.period.is_some()
                || def.columns.iter().any(|c| {
                    c.check.is_some()
                        || c.generated.is_some()
                        || matches!(c.default, DefaultDef::Expr(_))
                }),
            expressions: OnceLock::new(),
            counters,
            def,
        }))
    }

    /// Notes the commit that made those of the indexes that `old` (an earlier version of the table) did not have; the
    /// others are as old as they were.
    pub(crate) fn set_since(&self, seq: u64, old: Option<&Table>) {
        for ix in &self.indexes {
            let known = old.and_then(|t| t.indexes.iter().find(|o| o.id == ix.id));
            let since = known.map_or(seq, |o| o.since.load(Ordering::Relaxed));
            ix.since.store(since, Ordering::Relaxed);
        }
    }

    /// A sequence's numbers that were taken and not handed out are lost, as in MariaDB when the table is closed.
    pub fn forget_numbers(&self) {
        self.counters.sequence.forget();
    }

    /// The row of a temporary sequence, which is stored nowhere.
    pub fn own_numbers(&self) -> Option<SequenceRow> {
        self.counters.sequence.row()
    }

    /// A temporary sequence begins, or is altered: `row` says how it goes on.
    pub fn begin_own_numbers(&self, row: SequenceRow) {
        self.counters.sequence.begin(row);
    }

    /// NEXTVAL of a temporary sequence; `None` if it has run out. `steps`: how the server counts, for INCREMENT BY 0.
    pub fn next_own_number(&self, steps: &dyn Fn() -> Steps) -> Option<i64> {
        self.counters.sequence.next(steps)
    }

    /// LASTVAL of a temporary sequence.
    pub fn last_own_number(&self) -> Option<i64> {
        self.counters.sequence.last()
    }

    /// SETVAL of a temporary sequence: true if it goes on from there, false if it is past it; `None` if it has run out.
    pub fn set_own_number(&self, to: (i64, bool, i64)) -> Option<bool> {
        self.counters.sequence.set(to)
    }

    /// The table map with so much metadata (`binlog_row_metadata`).
    #[inline]
    pub(crate) fn template(&self, metadata: RowMetadata) -> &TableMapTemplate {
        let lesser = match metadata {
            RowMetadata::Full => return &self.template,
            RowMetadata::NoLog => &self.lesser_templates[0],
            RowMetadata::Minimal => &self.lesser_templates[1],
        };
        lesser.get_or_init(|| self.template.with_metadata(metadata))
    }

    /// The columns as the log's table maps tell them: rows are images of these.
    #[must_use]
    pub fn log_columns(&self) -> Vec<ColumnMeta> {
        log_columns(&self.def)
    }

    /// Foreign keys may refer to the table.
    #[must_use]
    pub fn is_referenced(&self) -> bool {
        self.counters.referenced.load(Ordering::Relaxed)
    }

    /// Position of a column by name, without case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.def.columns.iter().position(|c| c.name.same_name(name))
    }

    /// The columns.
    pub fn columns(&self) -> &[ColumnDef] {
        &self.def.columns
    }

    /// The clustered key of a row image, appended to `out`. Not for tables with a hidden key.
    pub fn primary_key(&self, row: &[u8], out: &mut Vec<u8>) -> Result<()> {
        key::encode_from_row(&self.layout, row, &self.indexes[0].parts, out)?;
        Ok(())
    }

    /// The parts of a secondary key, without the clustered key. Returns true if one of them is NULL.
    pub fn secondary_parts(&self, index: usize, row: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        Ok(key::encode_from_row(
            &self.layout,
            row,
            &self.indexes[index].parts,
            out,
        )?)
    }
}

impl SequenceRow {
    /// Out of a row image of a sequence's table.
    pub fn of(table: &Table, row: &[u8]) -> Result<SequenceRow> {
        let int = |i: usize| -> Result<i64> {
            Ok(match table.layout.column(row, i)? {
                ValueRef::Int(v) => v,
                ValueRef::UInt(v) => i64::try_from(v).unwrap_or(i64::MAX),
                _ => 0,
            })
        };
        Ok(SequenceRow {
            next: int(0)?,
            min: int(1)?,
            max: int(2)?,
            start: int(3)?,
            increment: int(4)?,
            cache: int(5)?.unsigned_abs(),
            cycle: int(6)? != 0,
            round: int(7)?,
            steps: Steps::default(),
        })
    }
}
