//! Applying event groups that another server wrote: events in, transactions with the groups' own GTIDs out.
//!
//! The owner of such events (an import of binary log files, a replica) names each group's GTID with [`Applier::begin`]
//! and hands over its events with [`Applier::event`]; the one that ends the group commits it. Row events go to the
//! tables through [`RowApplier`]; statements (DDL, accounts) run in a session of the applier's own, with the settings
//! that the event carries: `sql_mode`, default database, time, time zone.
//!
//! Every group becomes exactly one group here. A group that changes nothing (its tables are left out, or a statement
//! such as ANALYZE TABLE) is logged as a statement without effect, so that GTIDs have no gaps that the source has not.
//!
//! A statement that changes rows (`binlog_format` STATEMENT or MIXED) runs in the group's transaction if its text says
//! everything (`apply/change.rs`); one that needs events beside it is refused.

use crate::acl::Account;
pub use crate::apply_error::ApplyError;
use crate::apply_made::Made;
use crate::apply_mysql::{
    MysqlSettings, dropping_if_exists, from_mysql, is_sources_own, makes_expression_index,
};
use crate::applying::{Applying, EMPTY_TRANSACTION};
use crate::client::ConnectOptions;
use crate::instance::Instance;
use crate::privileges::PrivilegeSet;
use crate::read_lock::Patience;
use crate::replica::ReplicaFilter;
use crate::session::ClientSession;
use crate::statement::trim;
use crate::system_schemas::MYSQL;
use crate::system_tables::store_for_source;
use crate::variables::VarValue;
use narwal_binlog::{
    Event, EventHeader, EventReader, Gtid, GtidChoice, QueryEvent, RawEvent, RowsKind, TableMap,
    decompressed_body, event_flags, event_type, uncompressed_type,
};
use narwal_engine::apply::RowApplier;
pub use narwal_engine::apply::TypeConversions;
use narwal_engine::xa::{XaContext, Xid};
use narwal_engine::{
    Catalog, Database, Ddl, Isolation, Origin, Reserved, Savepoint, SourceGtid, Transaction,
    TxnOptions,
};
use narwal_sql::SqlMode;
use narwal_syntax::ast::admin::Admin;
use narwal_syntax::{Kw, ParseOptions, Statement, Tok, glance};
use narwal_types::errors::codes;
use narwal_types::{Collation, Discard, SqlError, SqlResult};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

mod change;
mod copied;
mod copied_rows;
mod said;

use copied_rows::CopiedRows;
use said::Said;

/// Event types that an applier refuses or passes over, beyond those that [`Event`] tells apart.
mod code {
    pub(super) const LOAD: u8 = 6;
    pub(super) const CREATE_FILE: u8 = 8;
    pub(super) const NEW_LOAD: u8 = 12;
    pub(super) const INTVAR: u8 = 5;
    pub(super) const RAND: u8 = 13;
    pub(super) const USER_VAR: u8 = 14;
    pub(super) const BEGIN_LOAD_QUERY: u8 = 17;
    pub(super) const EXECUTE_LOAD_QUERY: u8 = 18;
    pub(super) const PRE_GA_WRITE_ROWS: u8 = 20;
    pub(super) const PRE_GA_DELETE_ROWS: u8 = 22;
    pub(super) const INCIDENT: u8 = 26;
    pub(super) const ROWS_QUERY: u8 = 29;
    pub(super) const PARTIAL_UPDATE_ROWS: u8 = 39;
    pub(super) const TRANSACTION_PAYLOAD: u8 = 40;
    pub(super) const BINLOG_CHECKPOINT: u8 = 161;
}

/// What an applier does beyond applying.
#[derive(Debug, Clone, Default)]
pub struct ApplyOptions {
    /// Compare every column of before images with the rows, instead of the key only.
    pub compare: bool,
    /// Refuse GTIDs that do not come after the last one of their domain (`gtid_strict_mode`).
    pub strict: bool,
    /// Databases whose rows and statements are left out.
    pub ignore_databases: HashSet<String>,
    /// Tables, `database.table`, whose rows are left out.
    pub ignore_tables: HashSet<String>,
    /// Statements that Narwal does not support (error 1235) are logged without effect if they can't change what rows
    /// mean: views, triggers, routines, events and the like. Otherwise they end the work.
    pub skip_unsupported: bool,
    /// Collations of utf8mb4 and utf8mb3 that Narwal does not have become `utf8mb4_general_ci`.
    pub replace_collations: bool,
    /// `replicate_do_db` and its kin.
    pub filter: Arc<ReplicaFilter>,
    /// `slave_exec_mode=IDEMPOTENT`: a row to insert that is there already is overwritten, a row to delete or change that
    /// is not there is passed over.
    pub idempotent: bool,
    /// `slave_ddl_exec_mode=IDEMPOTENT`: a table that is to be made and is there already is replaced, one that is to be
    /// dropped may be missing.
    pub ddl_idempotent: bool,
    /// `slave_type_conversions`.
    pub conversions: TypeConversions,
}

/// A group that was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// Its GTID.
    pub gtid: Gtid,
    /// Rows inserted, changed and deleted.
    pub rows: u64,
    /// It was a statement (DDL, accounts), not rows.
    pub statement: bool,
    /// It was logged, but nothing was done: left out, or without effect here.
    pub nothing: bool,
}

/// The group that is being applied.
struct Group {
    gtid: Gtid,
    origin: Option<Arc<Origin>>,
    /// The group is one statement; `None`: the first event will tell.
    standalone: Option<bool>,
    begun: bool,
    txn: Option<Transaction>,
    savepoints: Vec<(String, Savepoint)>,
    statement_open: bool,
    annotate: Option<Vec<u8>>,
    rows: u64,
    timestamp: u32,
    /// The connection that prepares it, if it is an XA transaction.
    about: XaContext,
    /// It began with a statement that makes a table.
    made: Option<Box<Made>>,
    /// What events said of the statement that follows them.
    said: Said,
    /// Its rows are of a table that is made of accounts or programs.
    copied: Option<Box<CopiedRows>>,
}

impl Group {
    /// It comes from a MySQL.
    fn is_mysqls(&self) -> bool {
        let origin = self.origin.as_ref();
        origin.is_some_and(|o| o.gtid != SourceGtid::MariaDb)
    }
}

/// What a group's events have come to.
pub enum Executed {
    /// Its rows are written, and it waits for its commit: [`Applier::commit_ready`].
    Ready(Ready),
    /// It was a statement and is committed.
    Done(Applied),
}

/// A group whose rows are written and that has no place in the log yet. Dropping it rolls back.
pub struct Ready {
    gtid: Gtid,
    origin: Option<Arc<Origin>>,
    timestamp: u32,
    rows: u64,
    txn: Option<Box<Transaction>>,
    /// It is prepared instead: its name, and by whom.
    xa: Option<(Xid, XaContext)>,
}

impl Ready {
    /// Where it comes from was not known before its end.
    pub fn set_origin(&mut self, origin: Arc<Origin>) {
        if let Some(txn) = &mut self.txn {
            txn.set_origin(origin.clone());
        }
        self.origin = Some(origin);
    }
}

/// Applies groups, one at a time.
pub struct Applier {
    instance: Arc<Instance>,
    db: Database,
    /// Made when the first statement comes.
    session: Option<Box<ClientSession>>,
    id: u32,
    interrupt: Arc<AtomicBool>,
    lock_wait: Duration,
    rows: RowApplier,
    catalog: Arc<Catalog>,
    filters: bool,
    options: ApplyOptions,
    group: Option<Group>,
    /// What was skipped or replaced, once each, for the person who waits for it.
    notes: Vec<String>,
}

impl Applier {
    /// An applier with a session of its own for statements, which may do everything. `id`: its connection id, one that no
    /// client has.
    pub fn new(instance: &Arc<Instance>, id: u32, options: ApplyOptions) -> Applier {
        Self::with_interrupt(instance, id, options, Arc::default())
    }

    /// The same; `interrupt`, once set, ends its waits for locks and its statements (error 1317).
    pub fn with_interrupt(
        instance: &Arc<Instance>,
        id: u32,
        options: ApplyOptions,
        interrupt: Arc<AtomicBool>,
    ) -> Applier {
        let db = instance.database().clone();
        Applier {
            instance: instance.clone(),
            catalog: db.catalog(),
            db,
            session: None,
            id,
            interrupt,
            lock_wait: Duration::from_secs(50),
            rows: RowApplier::new(options.compare)
                .idempotent(options.idempotent)
                .converting(options.conversions)
                .completing(narwal_sql::with_hidden_columns)
                .regenerating(narwal_sql::with_generated_columns),
            filters: !options.filter.is_empty(),
            options,
            group: None,
            notes: Vec::new(),
        }
    }

    /// Changes how long a row lock is waited for (50 s at first).
    pub fn set_lock_wait(&mut self, timeout: Duration) {
        self.lock_wait = timeout;
    }

    fn session(&mut self) -> SqlResult<&mut ClientSession> {
        let session = match self.session.take() {
            Some(s) => s,
            None => {
                let mut account = Account::new("", "");
                account.global = PrivilegeSet::ALL_GLOBAL.with(PrivilegeSet::GRANT_OPTION);
                let client = ConnectOptions {
                    user: "system user".into(),
                    account_user: String::new(),
                    account_host: String::new(),
                    host: String::new(),
                    ..ConnectOptions::local(self.id)
                };
                Box::new(ClientSession::for_applier(
                    self.instance.clone(),
                    client,
                    Arc::new(account),
                    self.interrupt.clone(),
                )?)
            }
        };
        Ok(self.session.insert(session))
    }

    /// Begins a group. `standalone`: whether it consists of one statement, as MariaDB's GTID event tells; `None` where
    /// nobody tells (MySQL), then the group's first event decides.
    ///
    /// # Errors
    /// A group is under way.
    pub fn begin(&mut self, gtid: Gtid, standalone: Option<bool>) -> Result<(), ApplyError> {
        self.begin_from(gtid, standalone, None)
    }

    /// As [`Applier::begin`], with what the commit's log record says of where the group comes from.
    ///
    /// # Errors
    /// A group is under way.
    pub fn begin_from(
        &mut self,
        gtid: Gtid,
        standalone: Option<bool>,
        origin: Option<Arc<Origin>>,
    ) -> Result<(), ApplyError> {
        if let Some(g) = &self.group {
            return Err(ApplyError::new(format!(
                "group {gtid} begins before group {} has ended",
                g.gtid
            )));
        }
        self.rows.clear();
        if self.db.catalog_version() != self.catalog.version {
            self.catalog = self.db.catalog();
        }
        self.group = Some(Group {
            gtid,
            origin,
            standalone,
            begun: false,
            txn: None,
            savepoints: Vec::new(),
            statement_open: false,
            annotate: None,
            rows: 0,
            timestamp: 0,
            about: XaContext::default(),
            made: None,
            said: Said::default(),
            copied: None,
        });
        Ok(())
    }

    /// True between [`Applier::begin`] and the event that ends the group.
    #[must_use]
    pub fn in_group(&self) -> bool {
        self.group.is_some()
    }

    /// Rolls back the group that is under way, if there is one.
    pub fn abandon(&mut self) {
        self.group = None;
        self.rows.clear();
    }

    /// What was skipped or replaced so far, a sentence each; given once.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Applies the next event of the group; `Some` if that ended (and committed) it. Compressed events are taken as
    /// they are.
    ///
    /// # Errors
    /// The event can't be applied; the group has then been rolled back as by [`Applier::abandon`].
    pub fn event(&mut self, event: &RawEvent<'_>) -> Result<Option<Applied>, ApplyError> {
        match self.step(event)? {
            None => Ok(None),
            Some(Executed::Done(applied)) => Ok(Some(applied)),
            Some(Executed::Ready(ready)) => {
                let (reserved, applied) = self.commit_ready(ready, || ())?;
                self.db.wait_committed(&reserved)?;
                Ok(Some(applied))
            }
        }
    }

    /// Applies events of the group without committing it: whole ones, back to back, without checksums. `Some` with the one
    /// that ends it, which must be the last.
    ///
    /// # Errors
    /// As [`Applier::event`].
    pub fn execute(&mut self, events: &[u8]) -> Result<Option<Executed>, ApplyError> {
        let mut reader = EventReader::new(events).without_checksums();
        while let Some(event) = reader.next() {
            let executed = match event {
                Ok(event) => self.step(&event)?,
                Err(e) => {
                    self.abandon();
                    return Err(e.into());
                }
            };
            if executed.is_some() {
                if reader.next().is_some() {
                    return Err(ApplyError::new("events behind the end of a group"));
                }
                return Ok(executed);
            }
        }
        Ok(None)
    }

    /// Commits a group without waiting until it is durable ([`Database::wait_committed`]). `placed` is called when it has
    /// its place in the log. While FLUSH TABLES WITH READ LOCK is held it waits.
    ///
    /// # Errors
    /// Those of the commit; the group is rolled back.
    pub fn commit_ready(
        &self,
        ready: Ready,
        placed: impl FnOnce(),
    ) -> Result<(Reserved, Applied), ApplyError> {
        let patience = Patience {
            interrupt: &self.interrupt,
            until: Instant::now() + Duration::from_secs(1 << 30),
            inside: false,
            process: None,
        };
        let _permit = self.instance.read_lock.enter(false, &patience)?;
        let mut applied = Applied {
            gtid: ready.gtid,
            rows: ready.rows,
            statement: false,
            nothing: false,
        };
        let mut placed = Some(placed);
        let mut call = || {
            if let Some(placed) = placed.take() {
                placed();
            }
        };
        if let Some(txn) = ready.txn {
            let reserved = match ready.xa {
                // Nothing of it is left here: no name is kept.
                Some(_) if txn.is_read_only() => Reserved::default(),
                Some((xid, about)) => {
                    let reserved = self.db.xa_begin(&xid)?.prepare(*txn, &about)?;
                    call();
                    reserved
                }
                None => txn.commit_reserved_then(&mut call)?,
            };
            if reserved.seq != 0 {
                // Without a GTID all of its tables are filtered here: a local commit, which moved the replica state.
                applied.nothing = reserved.gtid.is_none();
                return Ok((reserved, applied));
            }
        }
        applied.nothing = true;
        let reserved = self.db.ddl_reserved(
            &Ddl {
                sql: EMPTY_TRANSACTION.to_owned(),
                timestamp: ready.timestamp,
                ..Ddl::default()
            },
            &self.txn_options(ready.gtid, ready.origin),
            call,
        )?;
        Ok((reserved, applied))
    }

    /// Logs a group without effect, under its GTID: it is left out. Waits as little as [`Applier::commit_ready`].
    ///
    /// # Errors
    /// Those of logging.
    pub fn skip(
        &self,
        gtid: Gtid,
        origin: Option<Arc<Origin>>,
        timestamp: u32,
    ) -> Result<(Reserved, Applied), ApplyError> {
        let ready = Ready {
            gtid,
            origin,
            timestamp,
            rows: 0,
            txn: None,
            xa: None,
        };
        self.commit_ready(ready, || ())
    }

    fn step(&mut self, event: &RawEvent<'_>) -> Result<Option<Executed>, ApplyError> {
        let result = match decompressed_body(event) {
            Ok(None) => self.plain_event(event),
            Ok(Some(body)) => {
                let mut header = event.header;
                header.event_type =
                    uncompressed_type(header.event_type).unwrap_or(header.event_type);
                self.plain_event(&RawEvent {
                    header,
                    bytes: &[],
                    body: &body,
                })
            }
            Err(e) => Err(e.into()),
        };
        if result.is_err() {
            self.abandon();
        }
        result
    }

    fn plain_event(&mut self, event: &RawEvent<'_>) -> Result<Option<Executed>, ApplyError> {
        let header = event.header;
        let Some(group) = &mut self.group else {
            return Err(ApplyError::new("an event outside of a group"));
        };
        group.timestamp = header.timestamp;
        if let Some(made) = &mut group.made {
            return match event.decode()? {
                Event::Xid(_) => self.make_table(&header).map(Some),
                Event::Query(q) if q.sql == b"COMMIT" => self.make_table(&header).map(Some),
                Event::Query(q) => Err(statement_format().of(&String::from_utf8_lossy(q.sql))),
                _ => made.keep(event).map(|()| None),
            };
        }
        if header.event_type == event_type::TABLE_MAP
            && self.rows.known_map(&self.catalog, event.body)
        {
            return Ok(None);
        }
        match event.decode()? {
            Event::Annotate(text) => {
                group.annotate = Some(text.to_vec());
                Ok(None)
            }
            Event::TableMap(map) => self.table_map(&map, event.body, header.timestamp),
            Event::Rows(rows) => {
                self.begin_rows(&header);
                let image = self.rows.row_image(&rows);
                let Some(group) = &mut self.group else {
                    return Ok(None);
                };
                let Some(txn) = &mut group.txn else {
                    return Ok(None);
                };
                let end = rows.is_statement_end();
                // The log here says of a row what the source's says: then positions are the same, too.
                if let Some(image) = image.filter(|_| group.origin.is_some()) {
                    txn.set_row_image(image);
                }
                // A rows event without columns ends a statement whose rows were all filtered.
                if !rows.data.is_empty() {
                    let done = self.rows.rows(txn, &rows, header.timestamp).map_err(|e| {
                        let table = self
                            .rows
                            .table(rows.table_id)
                            .map(|t| format!("{}.{}", t.def.db, t.def.name));
                        let mut e = ApplyError::from(e);
                        e.event = Some(match rows.kind {
                            RowsKind::Write => "Write_rows_v1",
                            RowsKind::Update => "Update_rows_v1",
                            RowsKind::Delete => "Delete_rows_v1",
                        });
                        match table {
                            Some(t) => e.on(t),
                            None => e,
                        }
                    })?;
                    group.rows += done.rows;
                }
                if end {
                    txn.end_statement();
                    group.statement_open = false;
                    group.annotate = None;
                    if let Some(copied) = &mut group.copied {
                        copied.ended = true;
                    }
                    self.rows.clear();
                }
                Ok(None)
            }
            Event::Xid(_) => self.finish(None).map(Some),
            Event::Unknown(event_type::XA_PREPARE) => match event.xa_prepare()? {
                Some(prepare) if !prepare.one_phase => self.finish(Some(prepare.xid)).map(Some),
                _ => self.finish(None).map(Some),
            },
            Event::Query(q) => self.query(&header, &q),
            Event::Unknown(kind) => self.other(kind, &header, event.body),
            Event::Heartbeat(_) | Event::GtidList { .. } => Ok(None),
            Event::Gtid(_)
            | Event::FormatDescription { .. }
            | Event::Rotate { .. }
            | Event::Stop => Err(ApplyError::new(
                "the group is cut short: another file or group begins before its end",
            )),
        }
    }

    fn other(
        &mut self,
        kind: u8,
        header: &EventHeader,
        body: &[u8],
    ) -> Result<Option<Executed>, ApplyError> {
        match kind {
            code::ROWS_QUERY => {
                // One byte of (truncated) length, then the text.
                if let (Some(g), Some(text)) = (&mut self.group, body.get(1..)) {
                    g.annotate = Some(text.to_vec());
                }
                Ok(None)
            }
            code::BINLOG_CHECKPOINT => Ok(None),
            code::INTVAR | code::USER_VAR | code::RAND => {
                let said = self.group.as_mut().map(|g| &mut g.said);
                let taken = match kind {
                    code::INTVAR => said.map_or(Some(()), |s| s.number(body)),
                    code::RAND => said.map_or(Some(()), |s| s.seeds(body)),
                    _ => said.map_or(Some(()), |s| s.variable(body)),
                };
                match taken {
                    Some(()) => Ok(None),
                    None => Err(ApplyError::new(
                        "an event of a statement's values is cut short",
                    )),
                }
            }
            code::LOAD
            | code::CREATE_FILE..=code::NEW_LOAD
            | code::BEGIN_LOAD_QUERY
            | code::EXECUTE_LOAD_QUERY => Err(ApplyError::unsupported(
                "LOAD DATA was logged as a statement: such are not supported (binlog_format=ROW on the source)",
            )),
            code::PRE_GA_WRITE_ROWS..=code::PRE_GA_DELETE_ROWS => Err(ApplyError::unsupported(
                "row events in the format before MySQL 5.1.18",
            )),
            code::INCIDENT => Err(ApplyError::new(
                "the source lost events here (INCIDENT event): what follows does not continue what came before",
            )),
            code::PARTIAL_UPDATE_ROWS => Err(ApplyError::unsupported(
                "partial updates of JSON are not supported (binlog_row_value_options on the source)",
            )),
            code::TRANSACTION_PAYLOAD => Err(ApplyError::unsupported(
                "MySQL's compressed transactions are not supported (binlog_transaction_compression on the source)",
            )),
            _ if header.flags & event_flags::IGNORABLE != 0 => Ok(None),
            _ => Err(ApplyError::unsupported(format!(
                "event type {kind} is not supported"
            ))),
        }
    }

    fn table_map(
        &mut self,
        map: &TableMap<'_>,
        body: &[u8],
        timestamp: u32,
    ) -> Result<Option<Executed>, ApplyError> {
        let name = format!("{}.{}", map.db, map.table);
        if self.options.ignore_databases.contains(map.db)
            || self.options.ignore_tables.contains(&name)
            || (self.filters && !self.options.filter.wants_table(map.db, map.table))
        {
            self.rows.skip_table(map);
            return Ok(None);
        }
        if map.db == MYSQL && self.copy_for(map, body)? {
            return Ok(None);
        }
        if map.db == MYSQL {
            let options = TxnOptions {
                interrupt: Some(self.interrupt.clone()),
                ..TxnOptions::default()
            };
            let stored = store_for_source(&self.db, map.table, timestamp, options)
                .map_err(|e| ApplyError::from(e).on(name.clone()))?;
            if stored {
                self.catalog = self.db.catalog();
            }
        }
        self.rows
            .table_map(&self.catalog, map, body)
            .map_err(|e| ApplyError::from(e).on(name))?;
        Ok(None)
    }

    fn choice(&self, gtid: Gtid) -> GtidChoice {
        GtidChoice {
            domain_id: Some(gtid.domain),
            server_id: Some(gtid.server),
            // A source that has none of MariaDB's form: it is given at the commit.
            seq_no: (gtid.seq != 0).then_some(gtid.seq),
            strict: self.options.strict,
        }
    }

    /// Whether a group of a MySQL is here already, whoever brought it: MySQL's servers pass over such groups by their GTID.
    #[must_use]
    pub fn has_applied(&self, source: &SourceGtid) -> bool {
        matches!(source, SourceGtid::Mysql(gtid) if self.db.has_mysql_gtid(gtid))
    }

    fn txn_options(&self, gtid: Gtid, origin: Option<Arc<Origin>>) -> TxnOptions {
        TxnOptions {
            // What the source serialised needs no snapshot here.
            isolation: Isolation::ReadCommitted,
            lock_wait_timeout: Some(self.lock_wait),
            interrupt: Some(self.interrupt.clone()),
            gtid: self.choice(gtid),
            origin,
            ..TxnOptions::default()
        }
    }

    fn begin_rows(&mut self, header: &EventHeader) {
        let Some(mut group) = self.group.take() else {
            return;
        };
        group.begun = true;
        if group.txn.is_none() {
            let options = self.txn_options(group.gtid, group.origin.clone());
            group.txn = Some(self.db.begin(options));
        }
        let group = self.group.insert(group);
        let Some(txn) = &mut group.txn else { return };
        if let Some(copied) = &group.copied {
            txn.set_temporary(copied.tables());
        }
        if !group.statement_open {
            txn.begin_statement(header.timestamp, group.annotate.as_deref());
            group.statement_open = true;
        }
    }

    /// The group's last event has come; with `xid` it prepares an XA transaction of that name.
    fn finish(&mut self, xid: Option<Xid>) -> Result<Executed, ApplyError> {
        let Some(group) = self.group.take() else {
            return Err(ApplyError::new("a commit outside of a group"));
        };
        self.rows.clear();
        if group.copied.is_some() {
            return self.take_copied(group);
        }
        Ok(Executed::Ready(Ready {
            gtid: group.gtid,
            origin: group.origin,
            timestamp: group.timestamp,
            rows: group.rows,
            txn: group.txn.map(Box::new),
            xa: xid.map(|xid| (xid, group.about)),
        }))
    }

    /// Logs a statement that has no effect here, to keep the group's GTID.
    fn log_without_effect(
        &self,
        group: &Group,
        sql: &str,
        db: &str,
        sql_mode: u64,
        thread_id: u32,
    ) -> Result<(), ApplyError> {
        self.db.ddl(
            Ddl {
                sql: sql.to_owned(),
                db: db.to_owned(),
                changes: Vec::new(),
                sql_mode,
                thread_id,
                timestamp: group.timestamp,
                suppress_use: false,
                implicit_timestamps: false,
                if_exists: false,
            },
            &self.txn_options(group.gtid, group.origin.clone()),
        )?;
        Ok(())
    }

    fn query(
        &mut self,
        header: &EventHeader,
        q: &QueryEvent<'_>,
    ) -> Result<Option<Executed>, ApplyError> {
        let vars = StatusVars::parse(q.status_vars)?;
        let sql = text(q.sql, vars.charset_client)?;
        let sql = trim(&sql);
        let words = first_words(sql);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(group) = &mut self.group else {
            return Ok(None);
        };
        match words.as_slice() {
            ["BEGIN", ..] | ["START", "TRANSACTION", ..] => {
                group.begun = true;
                return Ok(None);
            }
            ["COMMIT", ..] => return self.finish(None).map(Some),
            ["ROLLBACK", rest @ ..] if !rest.iter().any(|w| w.starts_with("TO")) => {
                // What could not be rolled back on the source stands in groups of its own.
                group.txn = None;
                group.copied = None;
                group.rows = 0;
                return self.finish(None).map(Some);
            }
            ["SAVEPOINT", ..] => {
                let name = savepoint_name(sql, vars.sql_mode).unwrap_or_default();
                if let Some(txn) = &mut group.txn {
                    group.savepoints.push((name, txn.savepoint()));
                }
                return Ok(None);
            }
            ["ROLLBACK", ..] => {
                let name = savepoint_name(sql, vars.sql_mode).unwrap_or_default();
                let at = group.savepoints.iter().rposition(|s| s.0 == name);
                match (at, &mut group.txn) {
                    (Some(at), Some(txn)) => txn.rollback_to(&group.savepoints[at].1.clone()),
                    // Set before the first row.
                    (None, Some(_)) => group.txn = None,
                    _ => {}
                }
                return Ok(None);
            }
            ["RELEASE", "SAVEPOINT", ..] => return Ok(None),
            // The group's own XA_PREPARE decides.
            ["XA", "START" | "BEGIN" | "END", ..] => {
                group.begun = true;
                group.about = XaContext {
                    thread_id: q.thread_id,
                    timestamp: header.timestamp,
                    db: String::from_utf8_lossy(q.db).into_owned(),
                    sql_mode: vars.sql_mode.unwrap_or(SqlMode::DEFAULT.0),
                };
                return Ok(None);
            }
            _ => {}
        }
        let alone = group.standalone.unwrap_or(!group.begun);
        if !alone {
            if matches!(words.as_slice(), ["CREATE", ..]) && group.txn.is_none() {
                group.made = Some(Box::new(Made::new(header, q)));
                return Ok(None);
            }
            // What can't be parsed here runs too: its error says why.
            if changes_rows(sql, vars.sql_mode) != Some(false) {
                return self.change(header, q, sql, &vars).map(|()| None);
            }
            return Err(statement_format().of(sql));
        }
        match words.first().copied().unwrap_or_default() {
            "LOAD" | "CALL" | "SELECT" => return Err(statement_format().of(sql)),
            _ if changes_rows(sql, vars.sql_mode) == Some(true) => {
                return self.change_alone(header, q, sql, &vars).map(Some);
            }
            _ => {}
        }
        let Some(group) = self.group.take() else {
            return Ok(None);
        };
        self.run_statement(header, group, q).map(Some)
    }

    /// The end of a group that makes a table. `end`: of the event that ends it.
    fn make_table(&mut self, end: &EventHeader) -> Result<Executed, ApplyError> {
        let Some(mut group) = self.group.take() else {
            return Err(ApplyError::new("a commit outside of a group"));
        };
        let Some(mut made) = group.made.take() else {
            return Err(ApplyError::new("a group without its statement"));
        };
        // Of a large group the end was not known when it began.
        if let Some(origin) = group.origin.as_mut().filter(|o| o.pos == 0) {
            Arc::make_mut(origin).pos = end.end_log_pos.into();
        }
        let applier = RowApplier::new(self.options.compare)
            .idempotent(self.options.idempotent)
            .converting(self.options.conversions)
            .completing(narwal_sql::with_hidden_columns)
            .regenerating(narwal_sql::with_generated_columns);
        let (rows, count) = made.rows(applier);
        *self.session()?.env.made_rows.borrow_mut() = Some(rows);
        let done = self.run_statement(&made.header, group, &made.query());
        *self.session()?.env.made_rows.borrow_mut() = None;
        let mut done = done?;
        if let Executed::Done(applied) = &mut done {
            applied.rows = count.load(Ordering::Relaxed);
        }
        Ok(done)
    }

    /// Runs the statement that a group consists of.
    fn run_statement(
        &mut self,
        header: &EventHeader,
        group: Group,
        q: &QueryEvent<'_>,
    ) -> Result<Executed, ApplyError> {
        let mysql = group.is_mysqls();
        let vars = StatusVars::parse(q.status_vars)?.of(mysql);
        let sql = text(q.sql, vars.charset_client)?;
        let sql = trim(&sql);
        let sql = match mysql {
            true => from_mysql(sql, &vars.for_mysql()),
            false => sql.into(),
        };
        let words = first_words(&sql);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let db = String::from_utf8_lossy(q.db).into_owned();
        let sql = self.replaced(&sql, &words, &vars);
        let nothing = self
            .statement(header, &group, q, &db, &sql, &words, &vars)
            .map_err(|e| e.of(&sql))?;
        Ok(Executed::Done(Applied {
            gtid: group.gtid,
            rows: 0,
            statement: true,
            nothing,
        }))
    }

    /// The session for statements, with an event's settings.
    fn fit_session(
        &mut self,
        timestamp: u32,
        db: &str,
        vars: &StatusVars,
    ) -> SqlResult<&mut ClientSession> {
        let s = self.session()?;
        let micros = i64::from(timestamp) * 1_000_000 + i64::from(vars.micros);
        s.vars.facts.fixed_micros.store(micros, Ordering::Relaxed);
        let known = (1u64 << narwal_sql::sql_mode::SQL_MODE_NAMES.len()) - 1;
        let mode = SqlMode(vars.sql_mode.unwrap_or(SqlMode::DEFAULT.0) & known);
        s.vars.set_by_name("sql_mode", VarValue::text(mode.names()));
        let zone = vars
            .time_zone
            .as_deref()
            .and_then(narwal_types::Zone::parse)
            .map_or_else(|| "+00:00".to_owned(), |z| z.1);
        s.vars.set_by_name("time_zone", VarValue::text(zone));
        let checks = VarValue::Bool(!vars.no_foreign_key_checks);
        s.vars.set_by_name("foreign_key_checks", checks);
        let checks = VarValue::Bool(!vars.no_check_constraint_checks);
        s.vars.set_by_name("check_constraint_checks", checks);
        let if_exists = VarValue::Bool(vars.if_exists);
        s.vars.set_by_name("sql_if_exists", if_exists);
        // What the source took is taken.
        let lax = VarValue::Bool(false);
        s.vars.set_by_name("innodb_strict_mode", lax);
        let explicit = VarValue::Bool(!vars.implicit_timestamps);
        s.vars
            .set_by_name("explicit_defaults_for_timestamp", explicit);
        let (step, offset) = vars.numbering.unwrap_or((1, 1));
        for (name, n) in [
            ("auto_increment_increment", step),
            ("auto_increment_offset", offset),
        ] {
            s.vars.set_by_name(name, VarValue::UInt(n.into()));
        }
        // Literals and new databases are the source's; what is not known here is as if nothing had been said.
        for (name, id) in [
            ("collation_connection", vars.collation_connection),
            ("collation_server", vars.collation_server),
        ] {
            let collation = id.and_then(Collation::from_id).unwrap_or_default();
            s.vars.set_by_name(name, VarValue::text(collation.name()));
        }
        s.refresh_settings();
        s.env.of_mysql = vars.mysql;
        s.set_db((!db.is_empty()).then(|| db.into()));
        Ok(s)
    }

    /// Runs a statement with the event's settings. True if it was logged without effect.
    #[allow(clippy::too_many_arguments)]
    fn statement(
        &mut self,
        header: &EventHeader,
        group: &Group,
        q: &QueryEvent<'_>,
        db: &str,
        sql: &str,
        words: &[&str],
        vars: &StatusVars,
    ) -> Result<bool, ApplyError> {
        let sql_mode = vars.sql_mode.unwrap_or(SqlMode::DEFAULT.0);
        let without_effect = |this: &Self| {
            this.log_without_effect(group, sql, db, sql_mode, q.thread_id)
                .map(|()| true)
        };
        // What MySQL alone knows is nothing for those who read this server's log either.
        if group.is_mysqls() && (is_sources_own(sql, words) || makes_expression_index(sql)) {
            self.log_without_effect(group, EMPTY_TRANSACTION, "", sql_mode, q.thread_id)?;
            return Ok(true);
        }
        // What was prepared is ended, whatever the default database is.
        let xa = words.first() == Some(&"XA");
        if !xa && self.options.ignore_databases.contains(db)
            || words.first() == Some(&"DO")
            || changes_nothing(words)
        {
            return without_effect(self);
        }
        if matches!(words, ["CREATE", "DATABASE" | "SCHEMA", ..])
            && let Some(id) = vars.collation_server
            && !self.options.replace_collations
            && Collation::from_id(id).is_none()
            && !names_charset(sql)
        {
            return Err(ApplyError::unsupported(format!(
                "the database gets the source's default collation (id {id}), which Narwal does not have"
            )));
        }
        let choice = self.choice(group.gtid);
        let idempotent = self.options.ddl_idempotent;
        let filters = self.filters;
        let leaves_out = filters
            || !self.options.ignore_databases.is_empty()
            || !self.options.ignore_tables.is_empty();
        let filter = self.options.filter.clone();
        let s = self.fit_session(header.timestamp, db, vars)?;
        group.said.tell(s)?;
        if filters && !xa && !wanted_statement(s, &filter, db, sql) {
            return without_effect(self);
        }
        s.applying = Some(Applying {
            gtid: choice,
            origin: group.origin.clone(),
        });
        let ran = match s.run_text(sql, &mut Discard, false) {
            // An index on an expression was left out when it should be made.
            Err(e) if e.code == codes::CANT_DROP_FIELD_OR_KEY && group.is_mysqls() => {
                s.run_text(&dropping_if_exists(sql), &mut Discard, false)
            }
            Err(e) if idempotent && e.code == codes::TABLE_EXISTS_ERROR && makes_table(words) => {
                s.run_text(&or_replacing(sql), &mut Discard, false)
            }
            ran => ran,
        };
        s.applying = None;
        match ran {
            Ok(()) if q.error_code != 0 => {
                return Err(ApplyError::new(format!(
                    "the statement ended with error {} on the source and without one here",
                    q.error_code
                )));
            }
            Ok(()) => {}
            // Those of the tables that are there are gone.
            Err(e) if idempotent && is_missing(&e) && drops(words) => {}
            // It failed there as well, after it had done a part.
            Err(e) if q.error_code != 0 && e.code == q.error_code => {}
            // Nothing of it was prepared here.
            Err(e) if xa && e.code == codes::XAER_NOTA && leaves_out => {
                return without_effect(self);
            }
            Err(e)
                if e.code == codes::NOT_SUPPORTED_YET
                    && self.options.skip_unsupported
                    && skippable(words) =>
            {
                self.note(format!("logged without effect: {}", words.join(" ")));
                return without_effect(self);
            }
            Err(e) => return Err(e.into()),
        }
        if self.is_logged(group) {
            Ok(false)
        } else {
            without_effect(self)
        }
    }

    /// The statement that has run has written its group.
    fn is_logged(&self, group: &Group) -> bool {
        match &group.origin {
            // Its GTID was not known before.
            Some(origin) if group.gtid.seq == 0 => {
                let state = self.db.replica_state();
                let at = state.channels.get(&origin.channel);
                at.is_some_and(|(file, pos)| *file == origin.file && *pos == origin.pos)
            }
            _ => {
                let wanted = group.gtid.to_string();
                self.db.gtid_binlog_state().split(',').any(|g| g == wanted)
            }
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The statement's text with collations that Narwal has.
    fn replaced<'t>(&mut self, sql: &'t str, words: &[&str], vars: &StatusVars) -> Cow<'t, str> {
        // Where nothing is said, what the source's settings said is said.
        let implicit =
            matches!(words, ["CREATE", "DATABASE" | "SCHEMA", ..]) && !names_charset(sql);
        if implicit
            && let Some(c) = vars.collation_server.and_then(Collation::from_id)
            && c != Collation::default()
        {
            return format!("{sql} COLLATE {}", c.name()).into();
        }
        if !self.options.replace_collations || !matches!(words.first(), Some(&("CREATE" | "ALTER")))
        {
            return sql.into();
        }
        let (text, replaced) = replace_collations(sql);
        for name in replaced {
            self.note(format!(
                "collation or character set {name} replaced by utf8mb4_general_ci"
            ));
        }
        text
    }
}

/// Whether a filter lets a statement pass, by the tables or the database that it names.
fn wanted_statement(s: &ClientSession, filter: &ReplicaFilter, db: &str, sql: &str) -> bool {
    let options = narwal_sql::ParseOptions {
        sql_mode: s.env.sql_mode,
        ..narwal_sql::ParseOptions::default()
    };
    let Ok(narwal_sql::Stmt::Ddl(stmt)) = narwal_sql::parse_statement(sql, &options) else {
        // Accounts, and what is not supported: by the default database.
        return filter.wants_statement(db, &[]);
    };
    let Ok(needs) = narwal_sql::ddl_needs(&stmt, &s.env) else {
        return filter.wants_statement(db, &[]);
    };
    if let [only] = needs.as_slice()
        && only.table.is_empty()
    {
        return filter.wants_database(&only.db);
    }
    let tables: Vec<(&str, &str)> = needs
        .iter()
        .map(|n| (n.db.as_str(), n.table.as_str()))
        .collect();
    filter.wants_statement(db, &tables)
}

fn statement_format() -> ApplyError {
    ApplyError::unsupported(
        "a statement that changes rows and can't be run here (set binlog_format=ROW on the source)",
    )
}

fn makes_table(words: &[&str]) -> bool {
    matches!(words, ["CREATE", "TABLE", ..])
}

fn drops(words: &[&str]) -> bool {
    matches!(words, ["DROP", "TABLE" | "TEMPORARY" | "SEQUENCE", ..])
}

fn is_missing(e: &SqlError) -> bool {
    matches!(e.code, codes::BAD_TABLE_ERROR | codes::UNKNOWN_SEQUENCES)
}

/// CREATE TABLE as CREATE OR REPLACE TABLE.
fn or_replacing(sql: &str) -> String {
    let at = sql
        .to_ascii_uppercase()
        .find("CREATE")
        .map_or(0, |at| at + "CREATE".len());
    format!("{} OR REPLACE{}", &sql[..at], &sql[at..])
}

/// What a QUERY event's status variables say, as far as it matters here.
#[derive(Debug, Default, PartialEq, Eq)]
struct StatusVars {
    sql_mode: Option<u64>,
    charset_client: Option<u16>,
    collation_connection: Option<u16>,
    collation_server: Option<u16>,
    time_zone: Option<String>,
    micros: u32,
    /// `foreign_key_checks=0`.
    no_foreign_key_checks: bool,
    /// `check_constraint_checks=0`.
    no_check_constraint_checks: bool,
    /// `explicit_defaults_for_timestamp=0`. Sources that do not know the setting for a session never say it is on.
    implicit_timestamps: bool,
    /// `auto_increment_increment` and `auto_increment_offset`, if they are not 1.
    numbering: Option<(u16, u16)>,
    /// `sql_if_exists=1`.
    if_exists: bool,
    /// MySQL's `default_collation_for_utf8mb4`.
    utf8mb4: Option<u16>,
    /// MySQL's `explicit_defaults_for_timestamp`.
    mysql_explicit: Option<bool>,
    /// A MySQL has written them.
    mysql: bool,
}

impl StatusVars {
    /// As a MySQL has written them: its modes beyond the 32nd are others than ours.
    fn of(mut self, mysql: bool) -> StatusVars {
        if mysql {
            self.sql_mode = self.sql_mode.map(|mode| mode & u64::from(u32::MAX));
            self.implicit_timestamps = self.mysql_explicit == Some(false);
        }
        self.mysql = mysql;
        self
    }

    fn for_mysql(&self) -> MysqlSettings {
        MysqlSettings {
            sql_mode: self.sql_mode.map_or(SqlMode::DEFAULT, SqlMode),
            utf8mb4: self.utf8mb4,
            server: self.collation_server,
        }
    }

    /// Reads until a variable of unknown length.
    fn parse(mut rest: &[u8]) -> Result<StatusVars, ApplyError> {
        fn take<'a>(rest: &mut &'a [u8], n: usize) -> Result<&'a [u8], ApplyError> {
            let (head, tail) = rest
                .split_at_checked(n)
                .ok_or_else(|| ApplyError::new("status variables of a statement are cut short"))?;
            *rest = tail;
            Ok(head)
        }
        fn counted<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], ApplyError> {
            let n = usize::from(take(rest, 1)?[0]);
            take(rest, n)
        }
        fn number(bytes: &[u8]) -> u64 {
            bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
        }
        let mut vars = StatusVars::default();
        while !rest.is_empty() {
            match take(&mut rest, 1)?[0] {
                0x00 => {
                    let flags2 = number(take(&mut rest, 4)?);
                    vars.no_foreign_key_checks = flags2 & 1 << 26 != 0;
                    vars.no_check_constraint_checks = flags2 & 1 << 15 != 0;
                    vars.implicit_timestamps = flags2 & 1 << 24 == 0;
                    vars.if_exists = flags2 & 1 << 28 != 0;
                }
                0x0a => drop(take(&mut rest, 4)?),
                0x01 => vars.sql_mode = Some(number(take(&mut rest, 8)?)),
                // The old catalog has a NUL behind its text.
                0x02 => {
                    counted(&mut rest)?;
                    take(&mut rest, 1)?;
                }
                0x03 => {
                    let steps = take(&mut rest, 4)?;
                    vars.numbering = Some((number(&steps[..2]) as u16, number(&steps[2..]) as u16));
                }
                0x04 => {
                    let ids = take(&mut rest, 6)?;
                    vars.charset_client = Some(number(&ids[..2]) as u16);
                    vars.collation_connection = Some(number(&ids[2..4]) as u16);
                    vars.collation_server = Some(number(&ids[4..]) as u16);
                }
                0x05 => {
                    vars.time_zone =
                        Some(String::from_utf8_lossy(counted(&mut rest)?).into_owned());
                }
                0x06 => drop(counted(&mut rest)?),
                0x07 | 0x08 => drop(take(&mut rest, 2)?),
                0x12 => vars.utf8mb4 = Some(number(take(&mut rest, 2)?) as u16),
                // Names of databases, each with a NUL behind it; too many are not listed.
                0x0c => {
                    let count = take(&mut rest, 1)?[0];
                    for _ in 0..if count == 254 { 0 } else { count } {
                        let len = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
                        take(&mut rest, len + 1)?;
                    }
                }
                0x09 | 0x11 | 0x81 => drop(take(&mut rest, 8)?),
                0x0b => {
                    counted(&mut rest)?;
                    counted(&mut rest)?;
                }
                0x0d | 0x80 => vars.micros = number(take(&mut rest, 3)?) as u32,
                0x10 => vars.mysql_explicit = Some(take(&mut rest, 1)?[0] != 0),
                0x13 | 0x14 => drop(take(&mut rest, 1)?),
                _ => break,
            }
        }
        Ok(vars)
    }
}

/// A statement's text as UTF-8, by the client character set that the event names.
fn text(sql: &[u8], charset_client: Option<u16>) -> Result<Cow<'_, str>, ApplyError> {
    let set = charset_client
        .and_then(Collation::from_id)
        .map(Collation::charset)
        .filter(|s| !s.stores_utf8());
    if let Ok(text) = std::str::from_utf8(sql)
        && (sql.is_ascii() || set.is_none())
    {
        return Ok(text.into());
    }
    match (set, charset_client) {
        (Some(set), _) => match crate::raw_literals::decoded(sql, set, false) {
            Some(text) => Ok(text.into()),
            None => Ok(set.decode(sql).into_owned().into()),
        },
        // Bytes of another set stand behind their introducers.
        (None, id) => match crate::raw_literals::to_hex(sql, false) {
            Some(text) => Ok(text.into()),
            None => Err(ApplyError::unsupported(format!(
                "the statement is not UTF-8 (character_set_client has collation id {})",
                id.unwrap_or(0)
            ))),
        },
    }
}

/// Up to four leading words in upper case.
fn first_words(sql: &str) -> Vec<String> {
    let tokens = glance::first_tokens(sql.as_bytes(), SqlMode::DEFAULT, 4);
    let words = tokens.iter().take_while(|t| matches!(t.tok, Tok::Word(_)));
    words.map(|t| t.of(sql).to_ascii_uppercase()).collect()
}

/// A statement of a source; `None` if it can't be parsed here.
fn parsed(sql: &str, sql_mode: Option<u64>) -> Option<Statement> {
    let options = ParseOptions {
        sql_mode: SqlMode(sql_mode.unwrap_or(SqlMode::DEFAULT.0)),
        ..ParseOptions::default()
    };
    narwal_syntax::parse_statement(sql, &options).ok()
}

/// The name in SAVEPOINT and ROLLBACK TO.
fn savepoint_name(sql: &str, sql_mode: Option<u64>) -> Option<String> {
    let Statement::Admin(a) = parsed(sql, sql_mode)? else {
        return None;
    };
    match *a {
        Admin::Savepoint(name) | Admin::RollbackTo(name) => Some(name),
        _ => None,
    }
}

/// True for a statement that changes rows and can be run here, maybe under settings of its own; `None` for a text that can't be
/// parsed here.
fn changes_rows(sql: &str, sql_mode: Option<u64>) -> Option<bool> {
    use Statement as S;
    let statement = match parsed(sql, sql_mode)? {
        S::SetStatement(s) => *s.statement,
        s => s,
    };
    Some(matches!(
        statement,
        S::Insert(_) | S::Update(_) | S::Delete(_) | S::WriteJoin(_)
    ))
}

/// Statements that maintain tables on the source and change no content.
fn changes_nothing(words: &[&str]) -> bool {
    matches!(
        words,
        [
            "ANALYZE" | "OPTIMIZE" | "REPAIR" | "CHECK" | "FLUSH" | "RESET" | "KILL",
            ..
        ]
    )
}

/// Statements whose absence does not change what later row events mean.
fn skippable(words: &[&str]) -> bool {
    let kind = |w: &str| {
        matches!(
            w,
            "VIEW" | "TRIGGER" | "PROCEDURE" | "FUNCTION" | "EVENT" | "PACKAGE" | "SERVER" | "ROLE"
        )
    };
    match words {
        ["CREATE" | "ALTER" | "DROP", rest @ ..] => {
            // CREATE OR REPLACE [DEFINER=..] VIEW: the object's kind may stand behind what is kept of the words.
            rest.iter().any(|w| kind(w))
                || rest
                    .iter()
                    .any(|w| matches!(*w, "DEFINER" | "AGGREGATE" | "ALGORITHM" | "SQL"))
        }
        ["INSTALL" | "UNINSTALL", ..] => true,
        _ => false,
    }
}

fn names_charset(sql: &str) -> bool {
    let tokens = glance::tokens(sql, SqlMode::DEFAULT);
    tokens
        .iter()
        .any(|t| matches!(t.tok, Tok::Word(Kw::CHARACTER | Kw::CHARSET | Kw::COLLATE)))
}

/// Replaces names of Unicode collations and character sets outside of quotes; also gives the names replaced.
fn replace_collations(sql: &str) -> (Cow<'_, str>, Vec<String>) {
    let mut out = String::new();
    let mut replaced = Vec::new();
    let mut copied = 0;
    for t in glance::tokens(sql, SqlMode::DEFAULT) {
        if !matches!(t.tok, Tok::Word(_)) {
            continue;
        }
        let lower = t.of(sql).to_ascii_lowercase();
        let unicode = ["utf8mb4_", "utf8mb3_", "utf8_", "uca1400_"];
        if Collation::from_name(&lower).is_some() || !unicode.iter().any(|p| lower.starts_with(p)) {
            continue;
        }
        out.push_str(&sql[copied..t.start as usize]);
        out.push_str(match lower.ends_with("_bin") {
            true => "utf8mb4_bin",
            false => "utf8mb4_general_ci",
        });
        copied = t.end as usize;
        if !replaced.contains(&lower) {
            replaced.push(lower);
        }
    }
    if replaced.is_empty() {
        return (sql.into(), replaced);
    }
    out.push_str(&sql[copied..]);
    (out.into(), replaced)
}

/// True for the events that can begin a group where there is no GTID event before it.
#[must_use]
pub fn begins_group(event_type: u8) -> bool {
    event_type == event_type::QUERY || uncompressed_type(event_type) == Some(event_type::QUERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_change_rows_are_told_by_the_parser() {
        for (sql, changes) in [
            ("/* c */ INSERT INTO t VALUES (1)", Some(true)),
            (
                "SET STATEMENT max_statement_time = 1 FOR UPDATE t SET a = 1",
                Some(true),
            ),
            ("DELETE t FROM t JOIN u USING (a)", Some(true)),
            ("WITH c AS (SELECT 1) SELECT * FROM c", Some(false)),
            ("CREATE TABLE t (a INT)", Some(false)),
            ("INSERT INTO", None),
        ] {
            assert_eq!(changes_rows(sql, None), changes, "{sql}");
        }
    }

    #[test]
    fn status_variables_of_a_capture() {
        let vars = b"\x00\x00\x00\x00\x01\x01\x00\x00\x20\x54\x00\x00\x00\x00\x06\x03std\x04\x2d\x00\x2d\x00\x08\x00\x05\x06+02:00\x80\x01\x00\x00";
        let v = StatusVars::parse(vars).unwrap();
        assert_eq!(
            v,
            StatusVars {
                sql_mode: Some(0x5420_0000),
                charset_client: Some(45),
                collation_connection: Some(45),
                collation_server: Some(8),
                time_zone: Some("+02:00".into()),
                micros: 1,
                no_foreign_key_checks: false,
                no_check_constraint_checks: false,
                implicit_timestamps: false,
                numbering: None,
                if_exists: false,
                utf8mb4: None,
                mysql_explicit: None,
                mysql: false,
            }
        );
        for n in [3, 8, 16, 20, 27, 33] {
            assert!(StatusVars::parse(&vars[..n]).is_err(), "{n}");
        }
    }

    #[test]
    fn words_and_names() {
        assert_eq!(
            first_words("  /* c */ create  table t"),
            ["CREATE", "TABLE", "T"]
        );
        assert_eq!(first_words("/*!50003 CREATE*/"), ["CREATE"]);
        assert_eq!(first_words("# c\nDROP TABLE `x`"), ["DROP", "TABLE"]);
        assert!(first_words("").is_empty());
        for sql in [
            "SAVEPOINT `a``b`",
            "ROLLBACK TO SAVEPOINT `a``b`",
            "rollback to `a``b`",
        ] {
            assert_eq!(savepoint_name(sql, None).as_deref(), Some("a`b"));
        }
        assert_eq!(text(b"caf\xe9 \x80", Some(8)).unwrap(), "café €");
        assert!(text(b"caf\xe9", Some(45)).is_err());
        assert!(skippable(&["CREATE", "ALGORITHM", "UNDEFINED", "DEFINER"]));
        assert!(!skippable(&["CREATE", "TABLE", "VIEW_T"]));
    }

    #[test]
    fn collations_outside_of_quotes() {
        let (sql, names) = replace_collations(
            "CREATE TABLE `utf8` (a char(1) COLLATE utf8mb4_ja_0900_as_cs DEFAULT 'utf8', b char(1) collate utf8_bin) CHARSET=utf8mb3",
        );
        assert_eq!(
            sql,
            "CREATE TABLE `utf8` (a char(1) COLLATE utf8mb4_general_ci DEFAULT 'utf8', b char(1) collate utf8_bin) CHARSET=utf8mb3"
        );
        assert_eq!(names, ["utf8mb4_ja_0900_as_cs"]);
        assert!(matches!(
            replace_collations("DROP TABLE t").0,
            Cow::Borrowed(_)
        ));
    }
}
