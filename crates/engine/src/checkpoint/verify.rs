use crate::parts::Inner;
use crate::store::base::io_err;
use crate::store::damage::{Owned, in_use};
use crate::{EngineError, Result};

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
