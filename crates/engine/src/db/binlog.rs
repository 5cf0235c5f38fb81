//! The binary log, for programs.

use crate::Result;
use crate::binlog::holds::ReaderHold;
use crate::binlog::index::FileEntry;
use crate::binlog::retention::Target;
use crate::binlog::types::{BinlogFile, BinlogPosition, BinlogStats, PurgeReport, ReadStart};
use crate::binlog::write::view;
use crate::binlog::{admin, content, lookup, retention, visible};
use crate::db::database::Database;
use crate::groups::reader::{GroupKind, GroupReader};
use crate::groups::records::LiveRecords;
use std::sync::atomic::Ordering;

impl Database {
    /// Position behind the last reserved commit.
    pub fn binlog_position(&self) -> BinlogPosition {
        self.parts
            .binlog
            .log
            .with_order_state(|o, _| lookup::position(&o.binlog))
    }

    /// As [`Database::binlog_position`], after waiting until everything before it is durable, if commits wait for that
    /// (`innodb_flush_log_at_trx_commit=1`): a replica that starts there never stands in front of a log that a crash
    /// has cut shorter.
    ///
    /// # Errors
    /// The log has failed.
    pub fn durable_binlog_position(&self) -> Result<BinlogPosition> {
        if let Some(flat) = &self.parts.binlog.flat {
            let (file, offset, gtids) = flat.position();
            return Ok(BinlogPosition {
                file,
                offset,
                gtid_pos: gtids.position_text(),
            });
        }
        let log = &self.parts.binlog.log;
        let (position, end) = log.with_order_state(|o, at| (lookup::position(&o.binlog), at.lsn));
        if log.durable_lsn() < end && log.durability() == narwal_log::Durability::Synced {
            log.sync_all()?;
        }
        Ok(position)
    }

    /// `gtid_binlog_state`: the last GTID of every (domain, server).
    pub fn gtid_binlog_state(&self) -> String {
        self.parts
            .binlog
            .log
            .with_order_state(|o, _| o.binlog.gtids().to_string())
    }

    /// The virtual files, oldest first; the last one is being written.
    pub fn binlog_files(&self) -> Vec<BinlogFile> {
        let (index, current) = view(&self.parts.binlog);
        let name = |n| {
            self.parts
                .binlog
                .log
                .with_order_state(|o, _| o.binlog.file_name(n))
        };
        let stem = name(0);
        let stem = stem.trim_end_matches('0');
        let known = index.files.iter().chain([&current]);
        if let Some(flat) = &self.parts.binlog.flat {
            let time = |n| {
                known
                    .clone()
                    .find(|f| f.number == n)
                    .map_or(0, |f| f.last_time)
            };
            let of = |f: crate::classic::flat::FlatFile| BinlogFile {
                name: format!("{stem}{:06}", f.number),
                number: f.number,
                size: f.len,
                first_lsn: 0,
                last_event_time: time(f.number),
            };
            return flat.list().into_iter().map(of).collect();
        }
        known
            .map(|f| BinlogFile {
                name: format!("{stem}{:06}", f.number),
                number: f.number,
                size: f.size,
                first_lsn: f.first_lsn,
                last_event_time: f.last_time,
            })
            .collect()
    }

    /// Sets `gtid_binlog_state`; possible only while it is empty: in a new log, or after RESET MASTER.
    ///
    /// # Errors
    /// 1956 if it is not empty, 1941 if the text is no GTID list.
    pub fn set_gtid_binlog_state(&self, text: &str) -> Result<()> {
        admin::set_gtid_state(&self.parts.binlog, text)
    }

    /// BINLOG_GTID_POS(): the GTID position at an offset of a file, of the oldest file for an empty name. `None` if
    /// there is no such file, or no event ends there.
    pub fn binlog_gtid_pos(&self, file: &str, pos: u64) -> Result<Option<String>> {
        self.parts.binlog.one_log("BINLOG_GTID_POS")?;
        lookup::gtid_pos(&self.parts.binlog, file, pos)
    }

    /// Position behind commit `seq`; of a commit before the oldest group that is there, the position of that.
    pub fn position_at_seq(&self, seq: u64) -> Result<BinlogPosition> {
        self.parts.binlog.one_log("the position of a snapshot")?;
        lookup::by_seq(&self.parts.binlog, seq).map(|f| lookup::position(&f))
    }

    /// FLUSH BINARY LOGS [DELETE_DOMAIN_ID = (...)]. Returns warnings (MariaDB's 1076) about domains that are not in
    /// the GTID state; if none of them is, nothing happens.
    ///
    /// # Errors
    /// 1076 if files that are there have events of such a domain.
    pub fn flush_binary_logs(&self, delete_domains: &[u32]) -> Result<Vec<String>> {
        admin::flush(&self.parts.binlog, delete_domains)
    }

    /// RESET MASTER [TO n]: a new, empty binary log from file `first_file` (default 1) on.
    pub fn reset_master(&self, first_file: Option<u32>) -> Result<()> {
        admin::reset(&self.parts.binlog, first_file)
    }

    /// PURGE BINARY LOGS TO: files before `file` go.
    ///
    /// # Errors
    /// 1373 if there is no such file.
    pub fn purge_binary_logs_to(&self, file: &str) -> Result<PurgeReport> {
        let number = lookup::file_number(&self.parts.binlog, file)?;
        retention::purge(&self.parts.binlog, Target::To(number), file)
    }

    /// PURGE BINARY LOGS BEFORE: files go whose last event was logged before `unix_time`, from the oldest on.
    pub fn purge_binary_logs_before(&self, unix_time: u32) -> Result<PurgeReport> {
        retention::purge(&self.parts.binlog, Target::Before(unix_time), "")
    }

    /// Purges what the settings say should go; the background does so by itself.
    pub fn purge_expired_binary_logs(&self) -> Result<PurgeReport> {
        retention::purge(&self.parts.binlog, Target::Auto, "")
    }

    /// `binlog_expire_logs_seconds`: files go when their last event is older; 0: never.
    pub fn set_binlog_expire_logs_seconds(&self, seconds: u64) {
        let binlog = &self.parts.binlog;
        binlog
            .settings
            .expire_seconds
            .store(seconds, Ordering::Relaxed);
        binlog.look();
    }

    /// `max_binlog_total_size` in bytes: oldest files go while all together are longer; 0: no limit.
    pub fn set_max_binlog_total_size(&self, bytes: u64) {
        let binlog = &self.parts.binlog;
        binlog.settings.total_size.store(bytes, Ordering::Relaxed);
        binlog.look();
    }

    /// `slave_connections_needed_for_purge`: with fewer registered readers nothing goes by itself. Default 0.
    pub fn set_slave_connections_needed_for_purge(&self, replicas: u32) {
        let binlog = &self.parts.binlog;
        binlog
            .settings
            .connections_needed
            .store(replicas, Ordering::Relaxed);
        binlog.look();
    }

    /// `binlog_state_interval`: bytes of log between two State records, at least 4 KiB; default 2 MiB.
    pub fn set_binlog_state_interval(&self, bytes: u64) {
        self.parts
            .binlog
            .log
            .with_order_state(|o, _| o.track.set_interval(bytes));
    }

    /// `max_binlog_size` in bytes, for groups to come.
    pub fn set_max_binlog_size(&self, bytes: u32) {
        self.parts
            .binlog
            .log
            .with_order_state(|o, _| o.binlog.set_max_binlog_size(bytes));
    }

    /// Global `server_id`, for groups to come.
    pub fn set_server_id(&self, server_id: u32) {
        self.parts
            .binlog
            .log
            .with_order_state(|o, _| o.binlog.set_server_id(server_id));
    }

    /// Global `gtid_domain_id`, for groups to come.
    pub fn set_gtid_domain_id(&self, domain_id: u32) {
        self.parts
            .binlog
            .log
            .with_order_state(|o, _| o.binlog.set_domain_id(domain_id));
    }

    /// Keeps the log from `lsn` on until the hold is dropped. `name` is for the notes of purges. Register with 0 before
    /// a place is looked up and advance then: so no purge comes between.
    pub fn register_reader(&self, name: &str, lsn: u64) -> ReaderHold {
        self.parts.binlog.register_reader(name, lsn, true)
    }

    /// As [`Database::register_reader`], for a reader that is not a replica: `slave_connections_needed_for_purge` does not
    /// count it.
    pub fn hold_log(&self, name: &str, lsn: u64) -> ReaderHold {
        self.parts.binlog.register_reader(name, lsn, false)
    }

    /// Where the next record of the log will stand, and the last commit number given out, durable or not.
    pub fn log_end(&self) -> (u64, u64) {
        self.parts
            .binlog
            .log
            .with_order_state(|_, at| (at.lsn, at.seq))
    }

    /// The GTIDs before a virtual file; `None` if it is not there.
    pub fn gtids_before_file(&self, number: u32) -> Option<narwal_binlog::GtidState> {
        Some(self.file_entry(number)?.gtids)
    }

    /// The GTIDs before a virtual file, and the time of its first group, which the events at the file's head have, so that
    /// every reader gets the same bytes; of a file without groups, when it was begun. Seconds since 1970. `None` if it is
    /// not there.
    pub fn binlog_file_start(&self, number: u32) -> Option<(narwal_binlog::GtidState, u32)> {
        let found = self.file_entry(number)?;
        let time = self.first_group_time(number).unwrap_or(found.last_time);
        Some((found.gtids, time))
    }

    fn file_entry(&self, number: u32) -> Option<FileEntry> {
        let (index, current) = view(&self.parts.binlog);
        let mut files = index.files.iter().chain([&current]);
        files.find(|f| f.number == number).cloned()
    }

    /// `None` if the file has no durable group, or it can't be read: whoever reads on will meet that error.
    fn first_group_time(&self, number: u32) -> Option<u32> {
        let name = self.binlog_file_name(number);
        let mut reader = (self.binlog_reader(ReadStart::File { name, offset: 0 })).ok()?;
        while let Some(head) = reader.next_group().ok()? {
            match head.kind {
                GroupKind::Local => {}
                _ => return (head.file_no == number).then_some(head.timestamp),
            }
        }
        None
    }

    /// Name of the virtual file with this number.
    pub fn binlog_file_name(&self, number: u32) -> String {
        self.parts
            .binlog
            .log
            .with_order_state(|o, _| o.binlog.file_name(number))
    }

    /// The last GTID of every (domain, server), as [`Database::gtid_binlog_state`] has them.
    pub fn gtid_state(&self) -> narwal_binlog::GtidState {
        self.parts
            .binlog
            .log
            .with_order_state(|o, _| o.binlog.gtids().clone())
    }

    /// Whether a transaction with this GTID in MySQL's form stands or stood in the log, or was applied of a MySQL. Of what has its
    /// place in the log, visible or not.
    #[must_use]
    pub fn has_mysql_gtid(&self, gtid: &narwal_binlog::MysqlGtid) -> bool {
        let own = |g: narwal_binlog::Gtid| {
            gtid.number <= g.seq && gtid.uuid == narwal_binlog::gtid_uuid(g.domain, g.server)
        };
        self.parts.binlog.log.with_order_state(|o, _| {
            o.replica.mysql.has_mysql(gtid)
                || gtid.tag == narwal_binlog::Tag::NONE && o.binlog.gtids().iter().any(own)
        })
    }

    /// As [`Database::gtid_state`], of what readers see now: without the commits that the gate holds back, for which the end
    /// of the log is searched. Waits for what is on its way to the disk.
    ///
    /// # Errors
    /// [`crate::EngineError::LogFailed`], and those of reading the log.
    pub fn visible_gtid_state(&self) -> Result<narwal_binlog::GtidState> {
        visible::gtids(&self.parts.binlog)
    }

    /// As [`Database::replica_state`], of what readers see now. While the gate holds commits back it may be an older state.
    ///
    /// # Errors
    /// [`crate::EngineError::LogFailed`].
    pub fn visible_replica_state(&self) -> Result<crate::ReplicaState> {
        visible::applied(&self.parts.binlog)
    }

    /// Reads event groups from a place on, up to the durable end of the log. Does not keep the log from being purged:
    /// see [`Database::register_reader`]. Behind [`ReadStart::Gtid`] the first group is one that is missing; of those
    /// behind it [`crate::GtidFilter`] tells.
    ///
    /// # Errors
    /// 1373 for an unknown file, [`crate::EngineError::InsideGroup`], [`crate::EngineError::BehindFileEnd`], 1236 for
    /// GTIDs that are purged or not of this log's history, 1941 for a text that is not a GTID list.
    pub fn binlog_reader(&self, start: ReadStart) -> Result<GroupReader<LiveRecords>> {
        self.parts.binlog.one_log("reading the binary log")?;
        lookup::reader(&self.parts.binlog, start)
    }

    /// What the group with this GTID does, hashed: the same number on every server that has the same group under that
    /// name. `None` if the binary log does not have it, or not any more. Reads at most what lies between two points of
    /// the index, and the group.
    ///
    /// # Errors
    /// The log can't be read.
    pub fn content_hash(
        &self,
        gtid: narwal_binlog::Gtid,
    ) -> Result<Option<narwal_binlog::ContentHash>> {
        self.parts.binlog.one_log("reading the binary log")?;
        content::by_gtid(&self.parts.binlog, gtid)
    }

    /// Reads event groups from a place on that stands before all groups with these GTIDs, near the first of them; `None`
    /// if the log does not go back that far.
    ///
    /// # Errors
    /// The log can't be read.
    pub fn binlog_reader_before(
        &self,
        gtids: &[narwal_binlog::Gtid],
    ) -> Result<Option<GroupReader<LiveRecords>>> {
        self.parts.binlog.one_log("reading the binary log")?;
        content::reader_before(&self.parts.binlog, gtids)
    }

    /// Begins a new, empty binary log behind the GTIDs of `state`, in the file behind the current one: as
    /// [`reset_master`](Self::reset_master) and [`set_gtid_binlog_state`](Self::set_gtid_binlog_state) in one record, so
    /// that no crash comes between.
    ///
    /// # Errors
    /// 1105 if the log does not end with `expected`: something was committed meanwhile.
    pub fn end_binlog_at(
        &self,
        expected: &narwal_binlog::GtidState,
        state: &narwal_binlog::GtidState,
    ) -> Result<()> {
        admin::end_at(&self.parts.binlog, expected, state)
    }

    /// Everything below this LSN is durable.
    pub fn durable_lsn(&self) -> u64 {
        self.parts.binlog.log.durable_lsn()
    }

    /// Waits until the log is durable beyond `lsn`, the LSN where a reader's next record will be, or `timeout` has
    /// passed; returns the durable LSN. Where commits do not wait for a sync
    /// (`innodb_flush_log_at_trx_commit` 0 and 2) this call syncs what was committed.
    ///
    /// # Errors
    /// The log has failed or was closed: nothing more will come.
    pub fn wait_readable(&self, lsn: u64, timeout: std::time::Duration) -> Result<u64> {
        Ok(self.parts.binlog.log.wait_readable(lsn, timeout)?)
    }

    /// Counters.
    pub fn binlog_stats(&self) -> BinlogStats {
        let db = &self.parts;
        let log = db.binlog.log.stats();
        let bytes_written = db.counters.group_bytes.load(Ordering::Relaxed);
        let base_bytes_written = db.store.base.room.written();
        let spilled = db.counters.spill_bytes.load(Ordering::Relaxed);
        let flat = db.binlog.flat_stats();
        let permille = |n: u64| (n * 1000).checked_div(bytes_written).unwrap_or(0);
        BinlogStats {
            commits: log.binlog_commits,
            group_commits: log.binlog_groups,
            trigger_count: log.trigger_count,
            trigger_timeout: log.trigger_timeout,
            auto_count: log.auto_count,
            auto_timeout: log.auto_timeout,
            overlapped_syncs: log.overlapped,
            trigger_lock_wait: log.trigger_lock_wait,
            bytes_written,
            disk_use: log.disk_bytes,
            cache_use: db.counters.cache_use.load(Ordering::Relaxed),
            cache_disk_use: db.counters.oob_commits.load(Ordering::Relaxed),
            oob_chunks: db.counters.oob_chunks.load(Ordering::Relaxed),
            oob_chunk_bytes: log.chunk_bytes,
            checkpoint_lsn: db.binlog.checkpoint_lsn.load(Ordering::Relaxed),
            checkpoint_age: self.engine.checkpoints.age(),
            state_records: db.binlog.state_records.load(Ordering::Relaxed),
            fsyncs: log.syncs + log.prepare_syncs + flat.syncs,
            amplification_permille: permille(log.bytes_written + flat.bytes),
            base_bytes_written,
            write_amplification_permille: permille(
                log.bytes_written + flat.bytes + base_bytes_written + spilled,
            ),
            lookups: db.binlog.lookups.load(Ordering::Relaxed),
            lookup_records: db.binlog.lookup_records.load(Ordering::Relaxed),
            recovery_records: db.counters.recovery_records.load(Ordering::Relaxed),
            recovery_bytes: db.counters.recovery_bytes.load(Ordering::Relaxed),
        }
    }
}
