//! Whose are the damaged blocks of the base?

use crate::base::{base_err, io_err, table_name};
use crate::catalog::Catalog;
use crate::db::Inner;
use crate::verified::{BaseFile, Damage};
use crate::{Database, EngineError, Result, Table};
use redb::ReadableDatabase;

/// Tables of redb that could not be dropped, because a page of theirs is damaged, get this in front of their name.
pub(crate) const LOST: &str = "lost-";

/// Bytes of a table that are read at once.
const PART: u64 = 1 << 20;

/// A damaged block that is in use.
#[derive(Debug, Clone)]
pub(crate) struct Owned {
    pub(crate) damage: Damage,
    /// The index's id; `None`: of what the base says about itself.
    pub(crate) index: Option<u32>,
}

/// Those of `damages` that are in pages in use. Nobody may write the base meanwhile.
pub(crate) fn in_use(db: &redb::Database, mut damages: Vec<Damage>) -> Result<Vec<Owned>> {
    damages.sort_by_key(|d| d.offset);
    let places: Vec<u64> = (damages.iter())
        .map(|d| BaseFile::content_offset(d.offset).unwrap_or(0))
        .collect();
    let mut owners: Vec<Option<Option<u32>>> = vec![None; places.len()];
    let told = db.begin_read().map_err(base_err).and_then(|txn| {
        txn.tell_pages(&mut |table, range| {
            if table.is_some_and(|t| t.starts_with(LOST)) {
                return;
            }
            let index = table.and_then(|t| t.strip_prefix('i')?.parse().ok());
            let first = places.partition_point(|p| *p < range.start);
            for (p, owner) in places[first..].iter().zip(&mut owners[first..]) {
                if *p >= range.end {
                    break;
                }
                *owner = Some(index);
            }
        })
        .map_err(base_err)
    });
    match told {
        Ok(()) => {}
        // Without the tree of tables nobody can tell.
        Err(EngineError::Damaged { .. }) => owners.fill(Some(None)),
        Err(e) => return Err(e),
    }
    Ok((damages.into_iter().zip(owners))
        .filter_map(|(damage, owner)| owner.map(|index| Owned { damage, index }))
        .collect())
}

impl Owned {
    /// As an error, with the names of table and index.
    pub(crate) fn error(&self, catalog: &Catalog) -> EngineError {
        let id = self.index.unwrap_or(0);
        let of = |t: &std::sync::Arc<Table>| {
            let ix = t.indexes.iter().find(|i| i.id == id)?;
            Some((format!("{}.{}", t.def.db, t.def.name), ix.name.clone()))
        };
        let (table, index) = (catalog.by_id.values().find_map(of)).unwrap_or_default();
        EngineError::Damaged {
            id,
            table,
            index,
            damage: Box::new(self.damage.clone()),
        }
    }
}

/// Compares a part of the base's file with its checksums: what is damaged of pages in use. Each is logged.
pub(crate) fn verify(db: &Inner, from: u64, to: u64) -> Result<Vec<EngineError>> {
    let found = db.base_file.verify(from, to).map_err(io_err)?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let pending = db.checkpoint.lock();
    if !db.is_open() {
        return Err(EngineError::LogFailed("the database is closed".into()));
    }
    let owned = in_use(&db.redb, found)?;
    drop(pending);
    Ok(name(db, owned))
}

/// As errors; each is logged.
pub(crate) fn name(db: &Inner, owned: Vec<Owned>) -> Vec<EngineError> {
    let catalog = db.catalog.load();
    let tell = |o: Owned| {
        let e = o.error(&catalog);
        db.base_file.note_whose(&o.damage, &e);
        e
    };
    owned.into_iter().map(tell).collect()
}

impl Database {
    /// Reads all that the base has of a table from the disk and compares it with its checksums: an error for each damaged
    /// block. `f` is asked now and then whether to go on.
    ///
    /// # Errors
    /// Errors of reading, and what `f` says.
    pub fn verify_table(
        &self,
        table: &Table,
        mut f: impl FnMut() -> Result<()>,
    ) -> Result<Vec<EngineError>> {
        let db = &self.inner;
        // While it lives, no page of the table is used for something else.
        let txn = db.redb.begin_read().map_err(base_err)?;
        let mut found = Vec::new();
        for ix in &table.indexes {
            let mut pages = Vec::new();
            txn.tell_table_pages(&table_name(ix.id), &mut |range| pages.push(range))
                .map_err(base_err)?;
            pages.sort_unstable_by_key(|r| r.start);
            // What lies together is read together.
            let mut parts = pages.into_iter().peekable();
            while let Some(mut part) = parts.next() {
                while let Some(next) =
                    parts.next_if(|n| n.start == part.end && n.end - part.start <= PART)
                {
                    part.end = next.end;
                }
                f()?;
                let damaged = db.base_file.verify_content(part).map_err(io_err)?;
                found.extend(damaged.into_iter().map(|damage| Owned {
                    damage,
                    index: Some(ix.id),
                }));
            }
        }
        Ok(name(db, found))
    }
}
