//! Damage of the base, found and named.

use crate::parts::Parts;
use crate::store::base::io_err;
use crate::store::damage::{Owned, in_use};
use crate::{EngineError, Result};
use parking_lot::Mutex;

/// Compares a part of the base's file with its checksums: what is damaged of pages in use. Each is logged. `writer`
/// is what the base's writer holds.
pub(crate) fn verify<T>(
    db: &Parts,
    writer: &Mutex<T>,
    from: u64,
    to: u64,
) -> Result<Vec<EngineError>> {
    let found = db.store.base.file.verify(from, to).map_err(io_err)?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let pending = writer.lock();
    db.folder.check_open()?;
    let owned = in_use(&db.store.base.redb, found)?;
    drop(pending);
    Ok(name(db, owned))
}

/// As errors; each is logged.
pub(crate) fn name(db: &Parts, owned: Vec<Owned>) -> Vec<EngineError> {
    let catalog = db.catalogs.current.load();
    let tell = |o: Owned| {
        let e = o.error(&catalog);
        db.store.base.file.note_whose(&o.damage, &e);
        e
    };
    owned.into_iter().map(tell).collect()
}
