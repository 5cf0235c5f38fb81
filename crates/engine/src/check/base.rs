//! The base file: page checksums, and the checkpoint in it.

use crate::binlog::index::{FileEntry, Index};
use crate::binlog::store;
use crate::check::finding::{Check, Finding, quietly};
use crate::check::recount::{Counted, text};
use crate::checkpoint::meta::{CheckpointMeta, from_hex};
use crate::store::base::{base_err, io_err};
use crate::store::damage;
use crate::store::damage::Owned;
use crate::store::file::BaseFile;
use crate::{EngineError, Result};
use narwal_binlog::{VirtualConfig, VirtualFiles};
use narwal_log::Lsn;
use std::path::PathBuf;
use std::sync::Arc;

/// What the base says about the log.
pub(crate) struct Stored {
    pub(super) meta: CheckpointMeta,
    /// The index and the file that was written; `None` if an older version made the base.
    index: Result<Option<(Index, FileEntry)>>,
}

impl Check<'_> {
    /// The checkpoint and the index in the base, if they can be read.
    pub(super) fn stored(&self) -> Option<Stored> {
        quietly(|| {
            let (db, _) = self.open_base().ok()?;
            let meta = crate::checkpoint::meta::read_meta(&db).ok()??;
            let index = store::load(&db);
            Some(Stored { meta, index })
        })
        .ok()?
    }

    /// Checkpoint and index against what the groups of the log make.
    pub(super) fn check_binlog_index(&mut self, stored: &Stored, counted: Option<&Counted>) {
        let path = self.base_path();
        let (index, current) = match &stored.index {
            Ok(Some((index, current))) => (index, current),
            Ok(None) => {
                self.found(
                    Finding::note(
                        "it has no index over the log, which the next start makes: an older version wrote it",
                    )
                    .in_file(&path),
                );
                return;
            }
            Err(e) => {
                self.found(Finding::damage(format!("the index can't be read: {e}")).in_file(&path));
                return;
            }
        };
        self.report.index_points = (index.files.len() + 1 + index.points.len()) as u64;
        let Some(counted) = counted else {
            self.found(
                Finding::note(
                    "the index over the log was not compared with it: the log has no state record before the checkpoint, or is damaged there",
                )
                .in_file(&path),
            );
            return;
        };
        let mut bad = |lsn: Lsn, what: String| {
            let mut f = Finding::damage(what).in_file(&path);
            f.lsn = Some(lsn);
            self.found(f);
        };
        let meta = &stored.meta;
        let files = from_hex(&meta.binlog)
            .and_then(|b| VirtualFiles::from_bytes(VirtualConfig::default(), &b).ok());
        match files {
            Some(f) if f == counted.files => {}
            Some(f) => bad(
                meta.lsn,
                format!(
                    "the checkpoint says {}, the log up to it makes {}",
                    text(&f),
                    text(&counted.files)
                ),
            ),
            None => bad(meta.lsn, "the checkpoint's position can't be read".into()),
        }
        if meta.seq != counted.seq && counted.seq != 0 {
            bad(
                meta.lsn,
                format!(
                    "the checkpoint holds commit {}, the log up to it ends with {}",
                    meta.seq, counted.seq
                ),
            );
        }
        for (lsn, what) in counted.differences(index, current) {
            bad(lsn, what);
        }
    }

    fn base_path(&self) -> PathBuf {
        self.dir.join("base.redb")
    }

    /// Opens the base on an overlay.
    fn open_base(&self) -> Result<(redb::Database, Arc<BaseFile>)> {
        let path = self.base_path();
        let file = (self.overlay([]))
            .file(&path)
            .map_err(|e| EngineError::Io(format!("{}: {e}", path.display())))?;
        let room = Arc::<crate::store::room::Room>::default();
        let file =
            BaseFile::open(file, &path, room.clone(), self.options.memory / 64).map_err(io_err)?;
        let file = Arc::new(file);
        let db = redb::Builder::new()
            // Every read shall reach the file.
            .set_cache_size(0)
            .create_with_backend(crate::store::backend::Backend::new(file.clone(), room))
            .map_err(base_err)?;
        Ok((db, file))
    }

    /// Compares all blocks with their checksums, then the trees with theirs; and what the last checkpoint says.
    pub(super) fn check_base(&mut self, oldest: Option<Lsn>) {
        self.observer.progress("base", 0, 0);
        let path = self.base_path();
        let verified = quietly(|| -> Result<(bool, Vec<Owned>)> {
            let (mut db, file) = self.open_base()?;
            let damaged = file.verify(0, u64::MAX).map_err(io_err)?;
            let damaged = damage::in_use(&db, damaged)?;
            if !damaged.is_empty() {
                return Ok((false, damaged));
            }
            match db.check_integrity() {
                Ok(whole) => Ok((whole, damaged)),
                Err(redb::DatabaseError::Storage(redb::StorageError::Corrupted(_))) => {
                    Ok((false, damaged))
                }
                // Of an index that was dropped.
                Err(e) => match base_err(e) {
                    EngineError::Damaged { .. } => Ok((true, damaged)),
                    e => Err(e),
                },
            }
        });
        match verified {
            Ok(Ok((true, _))) => {}
            Ok(Ok((false, damaged))) if damaged.is_empty() => {
                self.found(Finding::damage("its pages do not verify").in_file(&path));
            }
            Ok(Ok((false, damaged))) => self.name_blocks(damaged),
            Ok(Err(e)) => {
                let mut finding = Finding::damage(format!("it does not open: {e}")).in_file(&path);
                if let EngineError::Damaged { damage, .. } = &e {
                    finding.offset = Some(damage.offset);
                }
                self.found(finding);
            }
            Err(why) => self.found(
                Finding::damage(format!("it holds what no page can hold ({why})")).in_file(&path),
            ),
        }
        let meta = quietly(|| {
            let (db, _) = self.open_base()?;
            crate::checkpoint::meta::read_meta(&db)
        });
        match meta {
            Ok(Ok(Some(m))) => {
                if oldest.is_some_and(|o| m.lsn < o) {
                    self.found(
                        Finding::damage(format!(
                            "the checkpoint wants the log from LSN {} on, and it begins at {}",
                            m.lsn,
                            oldest.unwrap_or(0)
                        ))
                        .in_file(&path),
                    );
                }
                if self.report.end_lsn != 0 && m.lsn > self.report.end_lsn {
                    self.found(
                        Finding::damage(format!(
                            "the checkpoint stands at LSN {}, and the log ends at {}",
                            m.lsn, self.report.end_lsn
                        ))
                        .in_file(&path),
                    );
                }
                if self.report.last_seq != 0 && m.seq > self.report.last_seq {
                    self.found(
                        Finding::damage(format!(
                            "the checkpoint holds commit {}, and the log ends with {}",
                            m.seq, self.report.last_seq
                        ))
                        .in_file(&path),
                    );
                }
                self.check_ids(&m.catalog);
            }
            Ok(Ok(None)) => self.found(
                Finding::note("it holds no checkpoint: tables come from the log alone")
                    .in_file(&path),
            ),
            Ok(Err(e)) => self.found(
                Finding::damage(format!("the checkpoint can't be read: {e}")).in_file(&path),
            ),
            Err(why) => self.found(
                Finding::damage(format!("the checkpoint can't be read ({why})")).in_file(&path),
            ),
        }
    }

    /// Ids in the stored catalog must be unique and below the next ones.
    fn check_ids(&mut self, catalog: &crate::catalog::resolve::StoredCatalog) {
        let path = self.base_path();
        let mut tables = std::collections::HashSet::new();
        let mut indexes = std::collections::HashSet::new();
        for t in &catalog.tables {
            let name = format!("{}.{}", t.def.db, t.def.name);
            let mut bad = |what: String| {
                let mut f = Finding::damage(what).in_file(&path);
                f.table = Some(name.clone());
                self.found(f);
            };
            if !tables.insert(t.def.id) || t.def.id >= catalog.next_table_id {
                bad(format!(
                    "table id {} in the catalog is another table's",
                    t.def.id
                ));
            }
            let ids = t
                .def
                .indexes
                .iter()
                .map(|i| i.id)
                .chain([t.def.hidden_index_id]);
            for id in ids {
                if !indexes.insert(id) || id >= catalog.next_index_id {
                    bad(format!("index id {id} in the catalog is another index's"));
                }
            }
        }
    }

    /// Names damaged blocks by what they are part of.
    fn name_blocks(&mut self, damaged: Vec<Owned>) {
        let path = self.base_path();
        for owned in damaged {
            let mut finding = Finding::damage(owned.damage.what).in_file(&path);
            finding.offset = Some(owned.damage.offset);
            if let Some(id) = owned.index {
                match self.index_name(id) {
                    Some((table, name)) => {
                        finding.table = Some(table);
                        finding.index = Some(name);
                    }
                    None => finding.index = Some(format!("id {id}")),
                }
            }
            self.found(finding);
        }
    }

    /// Table and index of an index id, by the stored catalog.
    fn index_name(&self, id: u32) -> Option<(String, String)> {
        let meta = quietly(|| {
            let (db, _) = self.open_base().ok()?;
            crate::checkpoint::meta::read_meta(&db).ok()?
        });
        for t in meta.ok()??.catalog.tables {
            let table = format!("{}.{}", t.def.db, t.def.name);
            if t.def.hidden_index_id == id {
                return Some((table, String::new()));
            }
            if let Some(ix) = t.def.indexes.iter().find(|i| i.id == id) {
                return Some((table, ix.name.clone()));
            }
        }
        None
    }
}
