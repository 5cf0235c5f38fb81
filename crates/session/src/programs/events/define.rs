//! CREATE, ALTER and DROP EVENT.

use crate::privileges::PrivilegeSet;
use crate::programs::compiled::{Now, compile_definition, env_of};
use crate::programs::definition::{self, Definition, EventPart, EventStatus, Stored, body_text};
use crate::programs::every::Every;
use crate::session::ClientSession;
use narwal_sql::show::quote_ident;
use narwal_syntax::ast::TableName;
use narwal_syntax::ast::admin::Operand;
use narwal_syntax::ast::program::{self as ast, AlterEvent, CreateEvent, EventParts, Schedule};
use narwal_types::convert::to_datetime;
use narwal_types::temporal::SECOND;
use narwal_types::temporal_parse::DateRules;
use narwal_types::{Name, SqlResult, Value, errors};

/// Most characters of a comment; the rest is cut, as in MariaDB.
const COMMENT: usize = 64;

/// The last second that a TIMESTAMP knows.
const LAST: i64 = 2_147_483_647;

/// What a schedule says, in seconds since 1970.
struct Times {
    at: Option<i64>,
    every: Option<Every>,
    starts: Option<i64>,
    ends: Option<i64>,
}

/// Whether nothing is left of a schedule.
fn is_past(part: &EventPart, now: i64) -> bool {
    match part.at {
        Some(at) => at < now,
        None => part.ends.is_some_and(|e| e < now),
    }
}

fn status_of(s: ast::EventStatus) -> EventStatus {
    match s {
        ast::EventStatus::Enable => EventStatus::Enabled,
        ast::EventStatus::Disable => EventStatus::Disabled,
        ast::EventStatus::DisableOnSlave => EventStatus::ReplicaDisabled,
    }
}

fn comment(text: &str) -> String {
    text.chars().take(COMMENT).collect()
}

impl ClientSession {
    /// The database of an event, if it is there and the account may change its events. A statement that is refused here
    /// has committed the open transaction all the same, as in MariaDB.
    fn event_db(&mut self, name: &TableName) -> SqlResult<String> {
        let found = self.program_db(name).and_then(|db| {
            self.need_on_database(&db, PrivilegeSet::EVENT)?;
            Ok(db)
        });
        if found.is_err() {
            self.commit_open()?;
        }
        found
    }

    /// CREATE EVENT.
    pub(in crate::programs) fn create_event(
        &mut self,
        e: &CreateEvent,
        text: &str,
    ) -> SqlResult<()> {
        let db = self.event_db(&e.name)?;
        self.refuse_locked_tables()?;
        let mut def = self.definition(Stored::Event, db, &e.name.name, e.definer.as_ref())?;
        let parts = &e.parts;
        def.body = body_text(text, &parts.body_at);
        def.comment = comment(parts.comment.as_deref().unwrap_or_default());
        self.check_event_body(&def)?;
        let times = self.times(parts.schedule.as_ref())?;
        let status = parts.status.map_or(EventStatus::Enabled, status_of);
        let mut part = EventPart {
            at: times.at,
            starts: times.starts,
            ends: times.ends,
            every: times.every,
            time_zone: self.session_text("time_zone"),
            status: self.status_here(status),
            preserve: parts.preserve.unwrap_or(false),
            originator: self.originator(),
            last_executed: None,
            done: false,
        };
        self.commit_open()?;
        let instance = self.instance.clone();
        let _writer = instance.events.writer();
        let catalog = self.instance.database().catalog();
        let old = definition::find(&catalog, Stored::Event, &def.db, &def.name)?;
        if let Some(old) = &old
            && !self.may_replace(old, &e.name.name, e.creation)?
        {
            self.warn_if_off();
            return Ok(());
        }
        if is_past(&part, self.now_seconds()) {
            if !part.preserve {
                let note = errors::EVENT_CANNOT_CREATE_IN_THE_PAST.plain();
                self.env.note(note.code, note.message);
                return Ok(());
            }
            part.status = EventStatus::Disabled;
            self.note_past();
        }
        // A replica's log says what the source's says, or their histories would part here.
        let logged = match self.applying.is_some() {
            true => status,
            false => part.status,
        };
        def.event = Some(EventPart {
            status: logged,
            ..part.clone()
        });
        let log = def.create(super::super::define::verb(e.creation));
        def.event = Some(part);
        let change = def.put()?;
        self.store_program(log, def.db.clone(), vec![change])?;
        self.warn_if_off();
        self.instance.events.ring();
        Ok(())
    }

    fn note_past(&self) {
        let note = errors::EVENT_EXEC_TIME_IN_THE_PAST.plain();
        self.env.note(note.code, note.message);
    }

    /// As in MariaDB, also of an event that would not run anyhow.
    fn warn_if_off(&self) {
        if self.instance.global_value("event_scheduler").show() == "OFF" {
            let text =
                "Event scheduler is switched off, use SET GLOBAL event_scheduler=ON to enable it.";
            self.env.warn(errors::codes::UNKNOWN_ERROR, text);
        }
    }

    fn now_seconds(&self) -> i64 {
        self.env.now_micros.div_euclid(SECOND)
    }

    /// On a replica an event waits until it is enabled there.
    fn status_here(&self, status: EventStatus) -> EventStatus {
        match status {
            _ if self.applying.is_some() => EventStatus::ReplicaDisabled,
            s => s,
        }
    }

    /// The server that an event was made on.
    fn originator(&self) -> u32 {
        let applied = self.applying.as_ref().and_then(|a| a.gtid.server_id);
        applied.unwrap_or_else(|| self.instance.global_value("server_id").as_u32())
    }

    /// Parses and compiles a body, as far as that is possible without its tables.
    fn check_event_body(&self, def: &Definition) -> SqlResult<()> {
        let env = self.env.within(&env_of(def));
        let now = Now::new(&self.programs.store, &env, true);
        compile_definition(def, &env, &now, None).map(drop)
    }

    fn times(&mut self, schedule: Option<&Schedule>) -> SqlResult<Times> {
        let mut times = Times {
            at: None,
            every: None,
            starts: None,
            ends: None,
        };
        match schedule {
            None => {}
            Some(Schedule::At(at)) => times.at = Some(self.moment(at, "AT")?),
            Some(Schedule::Every {
                amount,
                unit,
                starts,
                ends,
            }) => {
                let v = self.constant(amount)?;
                times.every = Some(Every::from_value(&v, unit)?);
                let start = match starts {
                    Some(s) => self.moment(s, "STARTS")?,
                    None => self.now_seconds(),
                };
                times.starts = Some(start);
                if let Some(e) = ends {
                    let invalid = || errors::EVENT_ENDS_BEFORE_STARTS.plain();
                    let end = self.moment(e, "ENDS").map_err(|e| match e.code {
                        errors::codes::WRONG_VALUE => invalid(),
                        _ => e,
                    })?;
                    if end <= start {
                        return Err(invalid());
                    }
                    times.ends = Some(end);
                }
            }
        }
        Ok(times)
    }

    /// The value of an expression without tables; error 1970.
    fn constant(&self, o: &Operand) -> SqlResult<Value> {
        if !o.value.subqueries.is_empty() {
            return Err(errors::SUBQUERIES_NOT_SUPPORTED.with([&"CREATE/ALTER EVENT"]));
        }
        self.evaluate(o)
    }

    /// A time in seconds since 1970; error 1525.
    fn moment(&self, o: &Operand, clause: &str) -> SqlResult<i64> {
        let v = self.constant(o)?;
        let text = match &v {
            Value::Null => "NULL".into(),
            v => v.as_ref().to_text().to_string(),
        };
        let rules = DateRules {
            no_zero_in_date: true,
            no_zero_date: true,
            ..DateRules::default()
        };
        let seconds = to_datetime(v.as_ref(), rules)
            .map(|t| self.env.time_zone.utc(t.unix_micros()).0.div_euclid(SECOND));
        match seconds.filter(|s| (1..=LAST).contains(s)) {
            Some(s) => Ok(s),
            None => Err(errors::WRONG_VALUE.with([&clause, &text])),
        }
    }

    /// ALTER EVENT.
    pub(in crate::programs) fn alter_event(&mut self, e: &AlterEvent, text: &str) -> SqlResult<()> {
        let db = self.event_db(&e.name)?;
        self.refuse_locked_tables()?;
        self.commit_open()?;
        let fresh = self.definition(Stored::Event, db, &e.name.name, e.definer.as_ref())?;
        let target = self.new_name(e, &fresh)?;
        let times = self.times(e.parts.schedule.as_ref())?;
        let instance = self.instance.clone();
        let _writer = instance.events.writer();
        let catalog = self.instance.database().catalog();
        let unknown = || errors::EVENT_DOES_NOT_EXIST.with([&e.name.name]);
        let old = definition::find(&catalog, Stored::Event, &fresh.db, &fresh.name)?;
        if let Some((db, name)) = &target
            && definition::find(&catalog, Stored::Event, db, name)?.is_some()
        {
            return Err(errors::EVENT_ALREADY_EXISTS.with([name]));
        }
        let old = old.ok_or_else(unknown)?;
        let mut def = changed(&old, fresh, e, text);
        if let Some((db, name)) = &target {
            (def.db, def.name) = (db.clone(), name.clone());
        }
        if e.parts.body.is_some() {
            self.check_event_body(&def)?;
        }
        let mut part = def.event.take().ok_or_else(unknown)?;
        self.reschedule(&mut part, &e.parts, times)?;
        def.event = Some(part);
        let mut changes = Vec::new();
        if target.is_some() {
            changes.push(old.delete());
        }
        changes.push(def.put()?);
        let log = alter_text(&def, e, &old);
        self.store_program(log, old.db.clone(), changes)?;
        self.instance.events.ring();
        Ok(())
    }

    /// Where RENAME TO goes. Error 1551.
    fn new_name(
        &mut self,
        e: &AlterEvent,
        fresh: &Definition,
    ) -> SqlResult<Option<(String, String)>> {
        let Some(new) = &e.parts.rename else {
            return Ok(None);
        };
        let db = match &new.db {
            Some(db) => db.clone(),
            None => self.env.require_db()?.to_string(),
        };
        if db == fresh.db && new.name.same_name(&fresh.name) {
            return Err(errors::EVENT_SAME_NAME.plain());
        }
        let db = self.program_db(new)?;
        self.need_on_database(&db, PrivilegeSet::EVENT)?;
        Ok(Some((db, new.name.clone())))
    }

    /// Gives an event what ALTER says of its times and its status. Error 1589.
    fn reschedule(&self, part: &mut EventPart, parts: &EventParts, times: Times) -> SqlResult<()> {
        if let Some(preserve) = parts.preserve {
            part.preserve = preserve;
        }
        if let Some(s) = parts.status {
            part.status = self.status_here(status_of(s));
            part.originator = self.originator();
        }
        if times.at.is_some() {
            (part.at, part.every) = (times.at, None);
            (part.starts, part.ends) = (None, None);
        } else if times.every.is_some() {
            (part.at, part.every) = (None, times.every);
            part.starts = times.starts;
            part.ends = times.ends.or(part.ends);
        }
        if parts.schedule.is_some() {
            part.time_zone = self.session_text("time_zone");
            part.done = false;
        }
        let now = self.now_seconds();
        let asked = parts.schedule.is_some();
        let past = match asked {
            true => is_past(part, now) && (part.at.is_some() || times.ends.is_some()),
            false => parts.status.is_some() && part.at.is_some_and(|at| at < now),
        };
        if !past || (!asked && part.status != EventStatus::Enabled) {
            return Ok(());
        }
        if !part.preserve {
            return Err(errors::EVENT_CANNOT_ALTER_IN_THE_PAST.plain());
        }
        part.status = EventStatus::Disabled;
        self.note_past();
        Ok(())
    }
}

/// The definition that ALTER makes of the old one and of what the session gives. The definer is who alters it; the modes
/// go with the body.
fn changed(old: &Definition, fresh: Definition, e: &AlterEvent, text: &str) -> Definition {
    let mut def = Definition {
        body: old.body.clone(),
        comment: old.comment.clone(),
        sql_mode: old.sql_mode,
        created: old.created,
        event: old.event.clone(),
        name: old.name.clone(),
        ..fresh
    };
    if e.parts.body.is_some() {
        def.body = body_text(text, &e.parts.body_at);
        def.sql_mode = fresh.sql_mode;
    }
    if let Some(c) = &e.parts.comment {
        def.comment = comment(c);
    }
    def
}

/// ALTER EVENT as replicas run it: with its definer, and with times in place of expressions.
fn alter_text(def: &Definition, e: &AlterEvent, old: &Definition) -> String {
    let full = |db: &str, name: &str| format!("{}.{}", quote_ident(db), quote_ident(name));
    let name = full(&old.db, &old.name);
    let mut text = format!("ALTER {} EVENT {name}", def.definer_clause());
    let Some(part) = &def.event else { return text };
    if e.parts.schedule.is_some() {
        text.push_str(&format!(" ON SCHEDULE {}", part.schedule()));
    }
    if let Some(preserve) = e.parts.preserve {
        let not = if preserve { "" } else { "NOT " };
        text.push_str(&format!(" ON COMPLETION {not}PRESERVE"));
    }
    if e.parts.rename.is_some() {
        text.push_str(&format!(" RENAME TO {}", full(&def.db, &def.name)));
    }
    if let Some(s) = e.parts.status {
        text.push(' ');
        text.push_str(status_of(s).clause());
    }
    if e.parts.comment.is_some() {
        text.push_str(&format!(" COMMENT {}", definition::quoted(&def.comment)));
    }
    if e.parts.body.is_some() {
        text.push_str(&format!(" DO {}", def.body));
    }
    text
}
