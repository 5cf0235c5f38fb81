//! Administration of the binary log, and what the session asks of the GTIDs of its transactions.

use crate::admin::{BinlogStatement, Operand};
use crate::gtids::{gtid_inside_transaction, gtid_list};
use crate::privileges::PrivilegeSet;
use crate::rows::Grid;
use crate::session::ClientSession;
use crate::variables::forget_applied;
use crate::variables::parts::LastGtid;
use narwal_engine::{GtidChoice, PurgeReport};
use narwal_syntax::ast::{CastType, Expr};
use narwal_types::errors::codes;
use narwal_types::{SqlResult, Value, errors};
use std::sync::atomic::Ordering;

impl ClientSession {
    /// What the session's variables say of the next GTID.
    pub(crate) fn gtid_choice(&self) -> GtidChoice {
        if let Some(applying) = &self.applying {
            return applying.gtid;
        }
        let seq_no = self.vars.facts.gtid_seq_no.load(Ordering::Relaxed);
        GtidChoice {
            domain_id: Some(self.settings.gtid_domain_id),
            server_id: Some(self.settings.server_id),
            seq_no: (seq_no != 0).then_some(seq_no),
            strict: self.instance.switches.gtid_strict.load(Ordering::Relaxed),
        }
    }

    /// A GTID was written, or none: it is the last one, and `gtid_seq_no` is used up.
    pub(crate) fn note_gtid(&mut self, gtid: impl Into<LastGtid>) {
        let gtid = gtid.into();
        if gtid != LastGtid::None {
            *self.vars.facts.last_gtid.lock() = gtid;
            self.vars.facts.gtid_seq_no.store(0, Ordering::Relaxed);
            self.vars.facts.gtid_next.end();
            self.track.gtid();
        }
    }

    /// SET gtid_seq_no: strict mode refuses at once what it would refuse at the commit.
    pub(crate) fn check_gtid_seq_no(&self, seq: u64) -> SqlResult<()> {
        if self.tx.open.is_some() {
            return Err(gtid_inside_transaction());
        }
        if seq == 0 || !self.instance.switches.gtid_strict.load(Ordering::Relaxed) {
            return Ok(());
        }
        let domain = self.settings.gtid_domain_id;
        let state = gtid_list(&self.instance.database().gtid_binlog_state())?;
        match state.last(domain) {
            Some(last) if seq <= last.seq => Err(errors::GTID_STRICT_OUT_OF_ORDER.text(format!(
                    "GTID {domain}-{}-{seq} would be out of order: the log has {last} already, and gtid strict mode is enabled",
                    self.settings.server_id
                ))),
            _ => Ok(()),
        }
    }

    /// A statement of the binary log.
    pub(crate) fn binlog_statement(&mut self, b: &BinlogStatement) -> SqlResult<Option<Grid>> {
        match b {
            BinlogStatement::PurgeTo(file) => self.purge_to(file)?,
            BinlogStatement::PurgeBefore(time) => self.purge_before(time)?,
            BinlogStatement::Reset { first, gtids } => {
                self.reset_master(*first)?;
                if *gtids {
                    forget_applied(self.instance.database())?;
                }
            }
            BinlogStatement::Flashback(list) => return Ok(Some(self.flashback(list)?)),
            BinlogStatement::Replay(text) => self.replay(text)?,
        }
        Ok(None)
    }

    // ---- PURGE, FLUSH, RESET ----

    fn need_binlog_admin(&mut self) -> SqlResult<()> {
        self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::BINLOG_ADMIN))
    }

    /// What a purge could not do becomes notes.
    fn report(&self, report: PurgeReport) {
        for note in report.notes {
            self.env.note(codes::WARN_PURGE_LOG_IN_USE, note);
        }
    }

    /// PURGE BINARY LOGS TO.
    fn purge_to(&mut self, file: &str) -> SqlResult<()> {
        self.need_binlog_admin()?;
        let db = self.instance.database();
        if !db.binlog_files().iter().any(|f| f.name == file) {
            return Err(errors::UNKNOWN_TARGET_BINLOG.plain());
        }
        let report = db.purge_binary_logs_to(file)?;
        self.report(report);
        Ok(())
    }

    /// PURGE BINARY LOGS BEFORE: what is no time purges nothing.
    fn purge_before(&mut self, time: &Operand) -> SqlResult<()> {
        self.need_binlog_admin()?;
        let value = self.evaluate_expr(&Expr::Cast {
            expr: Box::new(time.value.expr.clone()),
            ty: CastType::DateTime(None),
        })?;
        let Value::DateTime(t) = value else {
            return Ok(());
        };
        let seconds = self
            .env
            .time_zone
            .utc(t.unix_micros())
            .0
            .div_euclid(1_000_000);
        let Ok(seconds) = u64::try_from(seconds) else {
            return Ok(());
        };
        let before = u32::try_from(seconds).unwrap_or(u32::MAX);
        let report = self.instance.database().purge_binary_logs_before(before)?;
        self.report(report);
        Ok(())
    }

    /// FLUSH BINARY LOGS: begins a new file, after taking domains out of the GTID state.
    pub(crate) fn flush_binary_logs(&mut self, domains: &[u64]) -> SqlResult<()> {
        let mut ids = Vec::with_capacity(domains.len());
        for &d in domains {
            ids.push(
                u32::try_from(d).map_err(|_| errors::BINLOG_CANT_DELETE_GTID_DOMAIN.with([&d]))?,
            );
        }
        for warning in self.instance.database().flush_binary_logs(&ids)? {
            self.env
                .warn(codes::BINLOG_CANT_DELETE_GTID_DOMAIN, warning);
        }
        Ok(())
    }

    /// RESET MASTER [TO n].
    fn reset_master(&mut self, first: Option<u64>) -> SqlResult<()> {
        self.need_any(PrivilegeSet::RELOAD)?;
        let first = match first {
            None | Some(0) => None,
            Some(n) => Some(
                u32::try_from(n)
                    .ok()
                    .filter(|n| *n <= 0x7FFF_FFFF)
                    .ok_or_else(|| errors::NO_UNIQUE_LOGFILE.with([&n]))?,
            ),
        };
        self.instance.database().reset_master(first)?;
        // Commits that wait for replicas to read the log that is gone.
        self.instance.source().semi_sync().reset();
        Ok(())
    }
}
