//! NEXTVAL, LASTVAL and SETVAL of a session.

use crate::session_vars::SessionVars;
use narwal_engine::{EngineError, GtidChoice, SetValue, Table, TxnOptions};
use narwal_sql::ddl::{no_such_table, not_a_sequence, unknown_sequence};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl SessionVars {
    /// A sequence by name: errors 4091 and 4089.
    pub(crate) fn sequence(&self, db: &str, name: &str) -> SqlResult<Arc<Table>> {
        let catalog = self.instance.database().catalog();
        match catalog.table(db, name) {
            Some(t) if t.def.sequence => Ok(t.clone()),
            Some(t) => Err(not_a_sequence(codes::NOT_SEQUENCE, t)),
            None if catalog.view(db, name).is_some() => {
                Err(errors::NOT_SEQUENCE.with([&db, &name]))
            }
            None => Err(unknown_sequence(name)),
        }
    }

    fn run_out(&self, table: &Table) -> SqlError {
        self.last_values.lock().remove(&table.def.id);
        errors::SEQUENCE_RUN_OUT.with([&table.def.db, &table.def.name])
    }

    /// Takes numbers in commits of their own, whatever transaction is open.
    fn options(&self) -> TxnOptions {
        let id = |name: &str| u32::try_from(self.value(name).as_u64()).ok();
        TxnOptions {
            thread_id: self.facts.connection_id,
            lock_wait_timeout: Some(Duration::from_secs(
                self.value("innodb_lock_wait_timeout").as_u64(),
            )),
            held_tables: self.held_tables.lock().clone(),
            log_bin: self.value("sql_log_bin").as_bool(),
            gtid: GtidChoice {
                domain_id: id("gtid_domain_id"),
                server_id: id("server_id"),
                seq_no: None,
                strict: self.instance.switches.gtid_strict.load(Ordering::Relaxed),
            },
            ..TxnOptions::default()
        }
    }

    fn timestamp(&self) -> u32 {
        u32::try_from(self.facts.now_micros.load(Ordering::Relaxed) / 1_000_000).unwrap_or(0)
    }

    /// Runs something with a sequence, again if it is altered at the same time.
    fn with<T>(
        &self,
        db: &str,
        name: &str,
        run: impl Fn(&Arc<Table>) -> Result<T, EngineError>,
    ) -> SqlResult<(Arc<Table>, T)> {
        let mut tries = 0;
        loop {
            // Planning has found it, unless it is a DEFAULT's or has just been dropped.
            let table = self.sequence(db, name).map_err(|e| match e.code {
                codes::UNKNOWN_SEQUENCES => no_such_table(db, name),
                _ => e,
            })?;
            match run(&table).map_err(SqlError::from) {
                Err(e) if e.code == codes::TABLE_DEF_CHANGED && tries < 3 => tries += 1,
                done => return done.map(|v| (table, v)),
            }
        }
    }

    pub(crate) fn take_value(&self, db: &str, name: &str) -> SqlResult<i64> {
        self.check_locked(db, name, true)?;
        let engine = self.instance.database();
        let (options, now) = (self.options(), self.timestamp());
        let steps = || narwal_sql::sequence_steps(self);
        let (table, number) =
            self.with(db, name, |t| engine.next_value(t, &options, now, &steps))?;
        let number = number.ok_or_else(|| self.run_out(&table))?;
        self.last_values.lock().insert(table.def.id, number);
        Ok(number)
    }

    pub(crate) fn last_taken(&self, db: &str, name: &str) -> SqlResult<Option<i64>> {
        let table = self.sequence(db, name)?;
        Ok(self.last_values.lock().get(&table.def.id).copied())
    }

    pub(crate) fn go_on_from(&self, db: &str, name: &str, to: (i64, bool, i64)) -> SqlResult<bool> {
        let engine = self.instance.database();
        let (options, now) = (self.options(), self.timestamp());
        let steps = || narwal_sql::sequence_steps(self);
        let (table, set) =
            self.with(db, name, |t| engine.set_value(t, to, &options, now, &steps))?;
        match set {
            SetValue::Set => Ok(true),
            SetValue::Past => Ok(false),
            SetValue::RunOut => Err(self.run_out(&table)),
        }
    }
}
