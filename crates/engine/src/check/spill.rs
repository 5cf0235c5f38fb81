//! The run files of large transactions whose rows the base does not have yet.

use crate::check::finding::{Check, Finding};
use crate::record::annex::Spill;
use crate::store::run::cache::RunCache;
use crate::store::run::reader::Run;
use narwal_log::Lsn;
use std::collections::HashSet;

/// Memory for blocks of run files, bytes.
const CACHE: usize = 4 << 20;

impl Check<'_> {
    /// Reads all run files that commits behind the checkpoint name. Others are what a crash leaves; a start removes them.
    pub(super) fn check_spill(&mut self, spills: &[(Lsn, Spill)]) {
        let dir = self.dir.join("spill");
        let disk = self.options.disk.clone();
        let cache = RunCache::new(CACHE);
        let mut named = HashSet::new();
        let runs: u64 = spills.iter().map(|s| s.1.runs.len() as u64).sum();
        for (lsn, spill) in spills {
            for meta in &spill.runs {
                self.observer
                    .progress("files of large transactions", self.report.runs, runs);
                self.report.runs += 1;
                named.insert(meta.name.clone());
                let path = dir.join(&meta.name);
                let finding = match Run::open_as(&disk, &dir, meta, &cache) {
                    // What is in it follows from the chunks. A recovery that had to do that once may have written its
                    // own files under these names.
                    Err(e) => Some(Finding::note(format!(
                        "it can't be used ({e}); the next start builds these rows again from the log"
                    ))),
                    // Nobody would notice before the rows are read.
                    Ok(run) => run.verify().err().map(|e| {
                        Finding::damage(format!(
                            "{e} (without this file the next start builds these rows again from the log)"
                        ))
                    }),
                };
                if let Some(mut f) = finding {
                    f.lsn = Some(*lsn);
                    self.found(f.in_file(path));
                }
            }
        }
        let left = disk.list(&dir).unwrap_or_default();
        let left = left.iter().filter(|n| !named.contains(*n)).count();
        if left > 0 {
            self.found(
                Finding::note(format!(
                    "{left} files of transactions that did not end, or that the base holds; the next start removes them"
                ))
                .in_file(dir),
            );
        }
    }
}
