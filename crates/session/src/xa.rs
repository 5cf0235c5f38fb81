//! XA statements: the states of a session's branch, and what is refused in each. See docs/xa.md.

use crate::process::Stage;
use crate::rows::{Grid, column};
use crate::session::ClientSession;
use crate::status;
use crate::words::{XaModifier as Modifier, XaStatement as Statement};
use crate::xa_branch::*;
use narwal_engine::Reserved;
use narwal_engine::xa::{XaBranch, XaContext, Xid};
use narwal_types::{SqlResult, TypeKind, Value};

impl ClientSession {
    /// Refuses statements that end a transaction, or can't be part of one, in a session that has a branch.
    pub(crate) fn refuse_in_xa(&self) -> SqlResult<()> {
        match &self.tx.xa {
            Some(xa) => Err(xa.wrong_state()),
            None => Ok(()),
        }
    }

    /// Refuses statements that work on tables behind XA END.
    pub(crate) fn refuse_behind_xa_end(&self) -> SqlResult<()> {
        match &self.tx.xa {
            Some(xa) if xa.state != State::Active => Err(xa.wrong_state()),
            _ => Ok(()),
        }
    }

    /// A deadlock or a conflict has rolled back the branch's transaction: nothing may become part of it any more.
    pub(crate) fn xa_lost(&mut self, code: u16) {
        if let Some(xa) = &mut self.tx.xa {
            xa.lost = Some(code);
            xa.state = State::RollbackOnly;
        }
    }

    /// The connection ends or begins anew: what is not prepared is rolled back, what is prepared is nobody's then.
    pub(crate) fn forget_xa(&mut self) {
        if self.tx.xa.take().is_some() {
            self.rollback_open();
        }
    }

    /// Runs an XA statement; XA RECOVER gives rows.
    pub(crate) fn xa(&mut self, statement: &Statement) -> SqlResult<Option<Grid>> {
        match statement {
            Statement::Start(xid, option) => self.xa_start(xid, *option)?,
            Statement::End(xid, option) => self.xa_end(xid, *option)?,
            Statement::Prepare(xid) => self.xa_prepare(xid)?,
            Statement::Commit(xid, option) => self.xa_commit(xid, *option)?,
            Statement::Rollback(xid) => self.xa_rollback(xid)?,
            Statement::Recover(as_sql) => return Ok(Some(self.xa_recover(*as_sql))),
        }
        Ok(None)
    }

    fn xa_start(&mut self, xid: &Option<Xid>, option: Modifier) -> SqlResult<()> {
        if let (Some(xa), Modifier::Resume) = (&mut self.tx.xa, option)
            && xa.state == State::Idle
        {
            if !xa.is(xid) {
                return Err(unknown());
            }
            xa.state = State::Active;
            self.tx.open = xa.open.take();
            self.tx.explicit = true;
            return Ok(());
        }
        let Some(xid) = xid.as_ref().filter(|_| option == Modifier::None) else {
            return Err(invalid());
        };
        self.refuse_in_xa()?;
        if self.works_outside_xa() {
            return Err(outside());
        }
        let branch = self.instance.database().xa_begin(xid)?;
        let open = self.begin_transaction(None);
        self.tx.xa = Some(Xa {
            branch,
            state: State::Active,
            open: None,
            read_only: open.read_only,
            lost: None,
        });
        self.tx.open = Some(open);
        self.tx.explicit = true;
        Ok(())
    }

    /// A transaction or LOCK TABLES is under way.
    fn works_outside_xa(&self) -> bool {
        self.tx.open.is_some() || self.tx.explicit || self.locks.tables.is_some()
    }

    fn xa_end(&mut self, xid: &Option<Xid>, option: Modifier) -> SqlResult<()> {
        if option != Modifier::None {
            return Err(invalid());
        }
        let xa = self.in_xa_state(State::Active, xid)?;
        xa.state = State::Idle;
        let open = self.tx.open.take();
        if let Some(xa) = &mut self.tx.xa {
            xa.open = open;
        }
        self.tx.explicit = false;
        Ok(())
    }

    /// The session's branch, if it is in this state and of this name.
    fn in_xa_state(&mut self, state: State, xid: &Option<Xid>) -> SqlResult<&mut Xa> {
        match &mut self.tx.xa {
            Some(xa) if xa.state != state => Err(xa.wrong_state()),
            Some(xa) if !xa.is(xid) => Err(unknown()),
            Some(xa) => Ok(xa),
            None => Err(wrong_state("NON-EXISTING")),
        }
    }

    fn xa_context(&self) -> XaContext {
        XaContext {
            thread_id: self.client.id,
            timestamp: self.env.timestamp(),
            db: self.env.db.as_deref().unwrap_or_default().to_owned(),
            sql_mode: self.env.sql_mode.0,
        }
    }

    fn xa_prepare(&mut self, xid: &Option<Xid>) -> SqlResult<()> {
        self.in_xa_state(State::Idle, xid)?;
        let Some(mut xa) = self.tx.xa.take() else {
            return Err(unknown());
        };
        let Some(open) = xa.open.take() else {
            return Err(rolled_back(None));
        };
        let mut txn = open.txn;
        let writes = !txn.is_read_only();
        let instance = self.instance.clone();
        let prepared = self.may_commit(writes).and_then(|()| {
            let _permit = match writes {
                true => Some(instance.read_lock.enter(false, &self.patience())?),
                false => None,
            };
            self.process.stage(Stage::Commit);
            txn.set_gtid(self.gtid_choice());
            let reserved = xa.branch.prepare(txn, &self.xa_context())?;
            self.xa_done(&reserved)
        });
        match prepared {
            Ok(()) => {
                xa.state = State::Prepared;
                self.tx.xa = Some(xa);
                Ok(())
            }
            Err(e) => {
                self.process.counters.add(status::ROLLBACKS, 1);
                Err(e)
            }
        }
    }

    /// What a commit of changes is refused for.
    fn may_commit(&mut self, writes: bool) -> SqlResult<()> {
        if writes {
            self.refuse_under_read_only()?;
            self.refuse_under_read_lock()?;
        }
        Ok(())
    }

    /// Waits until a step is durable.
    fn xa_done(&mut self, reserved: &Reserved) -> SqlResult<()> {
        let db = self.instance.database();
        db.wait_committed_or_killed(reserved, &self.process.kill_flag)?;
        if let Some(gtid) = reserved.gtid {
            self.note_gtid(gtid);
        }
        Ok(())
    }

    fn xa_commit(&mut self, xid: &Option<Xid>, option: Modifier) -> SqlResult<()> {
        let one_phase = option == Modifier::OnePhase;
        let Some(xa) = self.tx.xa.take_if(|xa| xa.is(xid)) else {
            return self.end_other(xid, true, one_phase);
        };
        match xa.state {
            State::Idle if one_phase => {
                let Xa { branch, open, .. } = xa;
                let committed = open.map_or(Ok(()), |o| self.commit_transaction(o.txn));
                drop(branch);
                committed
            }
            State::Prepared if one_phase => {
                self.tx.xa = Some(xa);
                Err(invalid())
            }
            State::Prepared => self.end_prepared(xa, true),
            State::RollbackOnly => Err(rolled_back(xa.lost)),
            State::Active | State::Idle => {
                let refused = xa.wrong_state();
                self.tx.xa = Some(xa);
                Err(refused)
            }
        }
    }

    fn xa_rollback(&mut self, xid: &Option<Xid>) -> SqlResult<()> {
        let Some(xa) = self.tx.xa.take_if(|xa| xa.is(xid)) else {
            return self.end_other(xid, false, false);
        };
        match xa.state {
            State::Active => {
                let refused = xa.wrong_state();
                self.tx.xa = Some(xa);
                Err(refused)
            }
            State::Prepared => self.end_prepared(xa, false),
            State::Idle | State::RollbackOnly => {
                self.process.counters.add(status::ROLLBACKS, 1);
                Ok(())
            }
        }
    }

    /// Ends the session's own prepared branch.
    fn end_prepared(&mut self, mut xa: Xa, commit: bool) -> SqlResult<()> {
        let ended = self.end_branch(&mut xa.branch, commit);
        if ended.is_err() {
            self.tx.xa = Some(xa);
        }
        ended
    }

    /// Ends a prepared branch that is not this session's.
    fn end_other(&mut self, xid: &Option<Xid>, commit: bool, one_phase: bool) -> SqlResult<()> {
        let locked = self.locks.tables.is_some() && !self.settings.autocommit;
        if self.tx.xa.is_some() || self.tx.open.is_some() || self.tx.explicit || locked {
            return Err(outside());
        }
        if one_phase {
            return Err(invalid());
        }
        let xid = xid.as_ref().ok_or_else(unknown)?;
        let mut branch = self.instance.database().xa_take(xid)?;
        self.end_branch(&mut branch, commit)
    }

    fn end_branch(&mut self, branch: &mut XaBranch, commit: bool) -> SqlResult<()> {
        let instance = self.instance.clone();
        self.may_commit(true)?;
        let _permit = instance.read_lock.enter(false, &self.patience())?;
        self.process.stage(if commit {
            Stage::Commit
        } else {
            Stage::Rollback
        });
        let origin = self.origin();
        let reserved = branch.end(commit, &self.xa_context(), self.gtid_choice(), origin)?;
        self.xa_done(&reserved)?;
        let counter = if commit {
            status::COMMITS
        } else {
            status::ROLLBACKS
        };
        self.process.counters.add(counter, 1);
        Ok(())
    }

    fn xa_recover(&self, as_sql: bool) -> Grid {
        let mut g = recover_columns(as_sql);
        for xid in self.instance.database().xa_prepared() {
            let data = match as_sql {
                true => Value::str(as_written(&xid)),
                false => Value::Bytes([xid.gtrid(), xid.bqual()].concat().into()),
            };
            g.row(vec![
                Value::Int(i64::from(xid.format())),
                Value::Int(xid.gtrid().len() as i64),
                Value::Int(xid.bqual().len() as i64),
                data,
            ]);
        }
        g
    }
}

/// The columns of XA RECOVER.
pub(crate) fn recover_columns(as_sql: bool) -> Grid {
    let mut g = Grid::new();
    for name in ["formatID", "gtrid_length", "bqual_length"] {
        let c = column(name, TypeKind::BigInt, false, 11, false);
        g.columns.push(c);
    }
    let data = match as_sql {
        true => column("data", TypeKind::VarChar(285), false, 285, false),
        false => column("data", TypeKind::VarBinary(128), false, 128, false),
    };
    g.columns.push(data);
    g
}

/// A name as XA statements take it, without what is as if it were not said. In hexadecimal if a character is not plain.
fn as_written(xid: &Xid) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'-' | b'_');
    let (gtrid, bqual) = (xid.gtrid(), xid.bqual());
    let all_plain = gtrid.iter().chain(bqual).all(plain);
    let text = |part: &[u8]| match all_plain {
        true => format!("'{}'", String::from_utf8_lossy(part)),
        false => {
            let hex: String = part.iter().map(|b| format!("{b:02x}")).collect();
            format!("X'{hex}'")
        }
    };
    let mut out = text(gtrid);
    if !bqual.is_empty() || xid.format() != 1 {
        out.push(',');
        out += &text(bqual);
    }
    if xid.format() != 1 {
        out += &format!(",{}", xid.format());
    }
    out
}
