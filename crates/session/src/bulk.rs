//! A prepared statement for many sets of parameters (COM_STMT_BULK_EXECUTE): one statement for the client, with one result,
//! of which all happens or nothing.

use crate::process::Command;
use crate::session::ClientSession;
use crate::slots::{Execution, Slot, SlotKind};
use crate::status;
use narwal_sql::ast::InsertSource;
use narwal_sql::{Condition, ParamDefault, Stmt};
use narwal_types::{BulkValue, OkInfo, ResultColumn, ResultSink, SqlError, SqlResult, ValueRef};

/// True for a statement that changes rows one by one.
pub(crate) fn is_bulk(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Insert(i) => matches!(
            i.source,
            InsertSource::Values(_) | InsertSource::Literals(_)
        ),
        Stmt::Update(_) | Stmt::Delete(_) => true,
        _ => false,
    }
}

/// What the runs of the statement gave so far.
struct Gather<'o> {
    out: &'o mut dyn ResultSink,
    /// Rows of RETURNING have begun.
    rows_began: bool,
    rows: u64,
    affected: u64,
    /// The numbers of the runs' texts, added up.
    counts: [u64; 2],
    insert_id: u64,
    /// The last set has an id, and not that of a row that was there already.
    generated: bool,
    /// INSERT IGNORE: a row that changed nothing was there already.
    ignore: bool,
}

impl ResultSink for Gather<'_> {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        if std::mem::replace(&mut self.rows_began, true) {
            return Ok(());
        }
        self.out.begin_rows(columns)
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.rows += 1;
        self.out.row(values)
    }

    fn end_rows(&mut self, _warnings: u16, _status: u16, _more: bool) -> SqlResult<()> {
        Ok(())
    }

    fn ok(&mut self, info: &OkInfo, _status: u16, _more: bool) -> SqlResult<()> {
        self.affected += info.affected_rows;
        self.generated = false;
        if info.last_insert_id != 0 {
            self.insert_id = info.last_insert_id;
            self.generated = info.affected_rows != 2;
        }
        if info.info.is_empty() {
            // One row: `Records: 1`.
            let duplicate = info.affected_rows == 2 || (self.ignore && info.affected_rows == 0);
            self.counts[0] += 1;
            self.counts[1] += u64::from(duplicate);
            return Ok(());
        }
        for (count, part) in self.counts.iter_mut().zip(info.info.split("  ")) {
            let n = part.split_once(": ").and_then(|(_, n)| n.parse().ok());
            *count += n.unwrap_or(0u64);
        }
        Ok(())
    }
}

impl Gather<'_> {
    fn info(&self, stmt: &Stmt, warnings: usize) -> String {
        let labels: Vec<&str> = match stmt {
            Stmt::Insert(_) if self.counts[0] > 1 => vec!["Records", "Duplicates"],
            Stmt::Update(_) => vec!["Rows matched", "Changed"],
            _ => return String::new(),
        };
        let mut text = String::new();
        for (label, n) in labels.iter().zip(self.counts) {
            text.push_str(&format!("{label}: {n}  "));
        }
        text + &format!("Warnings: {warnings}")
    }
}

impl ClientSession {
    /// Runs a prepared statement for many sets of parameters, whose values follow one another.
    ///
    /// # Errors
    /// Those of a run: nothing of the statement has happened then.
    pub fn execute_bulk(
        &mut self,
        handle: u32,
        values: &[BulkValue<'_>],
        wire_types: &[(u8, u8)],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let Some(Slot {
            text,
            kind: SlotKind::Sql { stmt, plan, .. },
            ..
        }) = self.prepared.get(handle)
        else {
            return Err(SqlError::unknown("the statement is gone"));
        };
        let (text, stmt, params) = (text.clone(), stmt.clone(), plan.params().max(1));
        self.begin_command(Command::Execute, text.as_bytes());
        self.process.counters.add(status::STMT_EXECUTE, 1);
        let mut gather = Gather {
            out,
            rows_began: false,
            rows: 0,
            affected: 0,
            counts: [0; 2],
            insert_id: 0,
            generated: false,
            ignore: matches!(&*stmt, Stmt::Insert(i) if i.ignore),
        };
        let r = self.run_sets(
            handle,
            &text,
            values.chunks(params),
            wire_types,
            &mut gather,
        );
        let r = r.and_then(|()| {
            let (rows, affected, id) = (gather.rows, gather.affected, gather.insert_id);
            if gather.rows_began {
                return self.finish_rows(rows, rows, gather.out, false);
            }
            let info = gather.info(&stmt, self.env.warning_count() as usize);
            self.finish_ok(affected, id, info, gather.out, false)
        });
        if self.instance.audit.wants_statements() {
            self.audit_statement(&text, &r);
        }
        self.command_ends();
        r
    }

    /// Runs the statement for each set, in the open transaction or in one of its own.
    fn run_sets<'v>(
        &mut self,
        handle: u32,
        text: &str,
        sets: impl Iterator<Item = &'v [BulkValue<'v>]>,
        wire_types: &[(u8, u8)],
        gather: &mut Gather<'_>,
    ) -> SqlResult<()> {
        let outer = self.tx.open.is_some();
        let savepoint = match &mut self.tx.open {
            Some(o) => Some(o.txn.savepoint()),
            None => {
                let open = self.begin_transaction(None);
                self.tx.open = Some(open);
                None
            }
        };
        let mut conditions: Vec<Condition> = Vec::new();
        let mut first_id = 0;
        for set in sets {
            let r = self.run_set(handle, text, set, wire_types, gather);
            if let Err(e) = r {
                match (&mut self.tx.open, &savepoint) {
                    // The whole transaction is gone.
                    (None, _) => {}
                    (Some(o), Some(s)) => o.txn.rollback_to(s),
                    (Some(_), None) => self.rollback_open(),
                }
                return Err(e);
            }
            // What counts is the first id that was generated, or else the last that was given.
            let generated = gather.generated && self.env.explicit_insert_id.get() == 0;
            if generated && first_id == 0 {
                first_id = gather.insert_id;
            }
            conditions.extend(self.env.conditions().iter().cloned());
        }
        if first_id != 0 {
            gather.insert_id = first_id;
            self.env.last_insert_id = first_id;
        }
        if !outer
            && self.settings.autocommit
            && let Err(e) = self.commit_open()
        {
            return self.fail(e);
        }
        self.env.clear_conditions();
        for c in conditions {
            self.env.push_condition(c.level, c.code, c.message);
        }
        Ok(())
    }

    fn run_set(
        &mut self,
        handle: u32,
        text: &str,
        set: &[BulkValue<'_>],
        wire_types: &[(u8, u8)],
        gather: &mut Gather<'_>,
    ) -> SqlResult<()> {
        let params: Vec<ValueRef<'_>> = set
            .iter()
            .map(|v| match v {
                BulkValue::Value(v) => *v,
                BulkValue::Default | BulkValue::Ignore => ValueRef::Null,
            })
            .collect();
        if set.iter().any(|v| !matches!(v, BulkValue::Value(_))) {
            *self.env.param_defaults.borrow_mut() = set
                .iter()
                .map(|v| match v {
                    BulkValue::Value(_) => None,
                    BulkValue::Default => Some(ParamDefault::Default),
                    BulkValue::Ignore => Some(ParamDefault::Ignore),
                })
                .collect();
        }
        let run = Execution {
            handle,
            text,
            params: &params,
            out: gather,
            more: false,
        };
        let r = self.execute_converted(run, wire_types);
        self.env.param_defaults.borrow_mut().clear();
        r
    }
}
