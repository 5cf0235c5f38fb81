//! Recovery with two logs: which prepared transactions were committed.

use crate::Result;
use crate::classic::tail::Tail;
use narwal_binlog::{Gtid, GtidState, VirtualFiles};
use narwal_log::{DirReader, Disk, Lsn, RecordKind, RecordRef, Seq, cut_behind};
use std::path::Path;
use std::sync::Arc;

/// GTIDs that a message names at most.
const NAMED: usize = 20;

/// What the replay of the engine's log asks of each commit.
pub(crate) struct Reconcile {
    pub(crate) tail: Tail,
    /// From the log's last commit mark: commits up to here were committed, whatever the binary log has; and how many
    /// commits stand from where it was looked up on, when it was first needed.
    marked: Option<(Seq, u64)>,
    /// Committed, and not in the binary log.
    missing: Vec<Gtid>,
    pub(crate) roll_back: Option<RollBack>,
}

/// Where the engine's log has to be cut: what is prepared from here on was never committed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RollBack {
    lsn: Lsn,
    /// Behind the record there.
    end: Lsn,
    /// Transactions there.
    commits: u64,
}

impl Reconcile {
    pub(crate) fn new(tail: Tail) -> Self {
        Reconcile {
            tail,
            marked: None,
            missing: Vec::new(),
            roll_back: None,
        }
    }

    /// Whether a transaction of the binary log, which stands before `files` there, was committed. If not
    /// [`Self::roll_back`] says where to cut.
    pub(crate) fn committed(
        &mut self,
        record: &RecordRef<'_>,
        files: &VirtualFiles,
        gtid: Gtid,
        disk: &Arc<dyn Disk>,
        log_dir: &Path,
    ) -> Result<bool> {
        if (files.file_no(), files.offset()) <= (self.tail.number, self.tail.end) {
            return Ok(true);
        }
        let (marked, commits) = match self.marked {
            Some(marked) => marked,
            None => *(self.marked).insert(look_ahead(disk, log_dir, record.lsn)?),
        };
        if record.seq <= marked {
            self.missing.push(gtid);
            return Ok(true);
        }
        self.roll_back = Some(RollBack {
            lsn: record.lsn,
            end: record.end_lsn,
            commits: commits.saturating_sub(self.missing.len() as u64),
        });
        Ok(false)
    }

    /// After the replay: says what one log has and the other lacks, and gives the GTID state that covers both. `files` is
    /// where the engine's log ends, `checkpoint` what the last checkpoint knew of.
    pub(crate) fn finish(
        &self,
        disk: &dyn Disk,
        dir: &Path,
        files: &VirtualFiles,
        checkpoint: &GtidState,
    ) -> Result<GtidState> {
        let ahead = if (self.tail.number, self.tail.end) > (files.file_no(), files.offset()) {
            self.tail.groups_behind(disk, dir, files)?
        } else {
            Vec::new()
        };
        if !ahead.is_empty() {
            tracing::warn!(
                "the binary log is ahead of the tables: it holds {} transactions that the engine's log has lost ({}). Replicas and archives that have them differ from this server for good",
                ahead.len(),
                names(&ahead)
            );
        }
        let behind: Vec<Gtid> = checkpoint
            .iter()
            .filter(|g| self.tail.gtids.last_of(g.domain, g.server) < Some(g.seq))
            .collect();
        if !self.missing.is_empty() || !behind.is_empty() {
            let mut list = self.missing.clone();
            list.extend(behind.iter().filter(|g| !self.missing.contains(g)));
            tracing::warn!(
                "the binary log is behind the tables: it has lost transactions that were committed, up to {}. Replicas and archives will never get them",
                names(&list)
            );
        }
        let mut both = files.gtids().clone();
        for gtid in self.tail.gtids.iter() {
            if both.last_of(gtid.domain, gtid.server) < Some(gtid.seq) {
                both.observe(gtid);
            }
        }
        Ok(both)
    }
}

impl RollBack {
    /// Takes the prepared transactions out of the log, for good: the last ones first, so that a crash in between leaves a
    /// log whose end the next start still judges in the same way.
    pub(crate) fn cut(&self, disk: &dyn Disk, log_dir: &Path) -> Result<()> {
        tracing::info!(
            lsn = self.lsn,
            "{} prepared transactions are not in the binary log: rolled back",
            self.commits
        );
        cut_behind(disk, log_dir, self.end)?;
        Ok(cut_behind(disk, log_dir, self.lsn)?)
    }
}

/// The last commit mark from `lsn` on (0: none), and how many commits stand there.
fn look_ahead(disk: &Arc<dyn Disk>, log_dir: &Path, lsn: Lsn) -> Result<(Seq, u64)> {
    let (mut marked, mut commits) = (0, 0);
    let Some(mut log) = DirReader::open_at(disk.clone(), log_dir, lsn)? else {
        return Ok((0, 0));
    };
    // What can't be read is behind the end: the replay judges that.
    while let Ok(Some(r)) = log.next() {
        commits += u64::from(r.kind.is_commit());
        if r.kind == RecordKind::CommitMark
            && let Some(seq) = r.body.first_chunk::<8>()
        {
            marked = u64::from_le_bytes(*seq);
        }
    }
    Ok((marked, commits))
}

fn names(gtids: &[Gtid]) -> String {
    let mut text = gtids
        .iter()
        .take(NAMED)
        .map(Gtid::to_string)
        .collect::<Vec<_>>()
        .join(",");
    if gtids.len() > NAMED {
        text.push_str(&format!(" and {} more", gtids.len() - NAMED));
    }
    text
}
