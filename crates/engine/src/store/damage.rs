//! Which tables own the damaged blocks of the base.

use crate::catalog::names::Catalog;
use crate::catalog::table::Table;
use crate::error::Damage;
use crate::store::base::base_err;
use crate::store::file::BaseFile;
use crate::{EngineError, Result};
use redb::ReadableDatabase;

/// Tables of redb that could not be dropped, because a page of theirs is damaged, get this in front of their name.
pub(crate) const LOST: &str = "lost-";

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
