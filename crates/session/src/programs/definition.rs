//! Definitions of stored programs, as the catalog keeps them: named objects that the engine does not look into. So they are
//! in the log's annexes, checkpoints, backups and clones as accounts are.

use super::every::Every;
use crate::acl::RoutineKind;
use crate::system_schemas::fault;
use narwal_engine::{Catalog, CatalogChange};
use narwal_sql::show::quote_ident;
use narwal_sql::{RowEvent, SqlMode};
use narwal_syntax::ast::ddl::{Characteristic, DataAccess};
use narwal_syntax::ast::program::{CreateRoutine, TriggerHead};
use narwal_types::temporal::SECOND;
use narwal_types::{DateTime, SqlError, SqlResult, Value, Zone};
use serde::{Deserialize, Serialize};

/// What a stored program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Stored {
    Procedure,
    Function,
    Trigger,
    Event,
    /// A package's specification.
    Package,
    PackageBody,
}

impl Stored {
    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Stored::Procedure => "PROCEDURE",
            Stored::Function => "FUNCTION",
            Stored::Trigger => "TRIGGER",
            Stored::Event => "EVENT",
            Stored::Package => "PACKAGE",
            Stored::PackageBody => "PACKAGE BODY",
        }
    }

    /// A kind of routine.
    pub(crate) fn of(kind: RoutineKind) -> Stored {
        match kind {
            RoutineKind::Procedure => Stored::Procedure,
            RoutineKind::Function => Stored::Function,
            RoutineKind::Package => Stored::Package,
            RoutineKind::PackageBody => Stored::PackageBody,
        }
    }

    /// As privileges name it, if there are any on its kind.
    pub(crate) fn routine(self) -> Option<RoutineKind> {
        match self {
            Stored::Procedure => Some(RoutineKind::Procedure),
            Stored::Function => Some(RoutineKind::Function),
            Stored::Package => Some(RoutineKind::Package),
            Stored::PackageBody => Some(RoutineKind::PackageBody),
            Stored::Trigger | Stored::Event => None,
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Stored::Procedure => "program/procedure/",
            Stored::Function => "program/function/",
            Stored::Trigger => "program/trigger/",
            Stored::Event => "program/event/",
            Stored::Package => "program/package/",
            Stored::PackageBody => "program/package_body/",
        }
    }
}

/// What is said of a trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TriggerPart {
    pub table: String,
    pub before: bool,
    /// INSERT, UPDATE or DELETE.
    pub event: String,
    /// Its place among those of its kind, from 1.
    pub order: u32,
    /// The text in front of the body as it was written; `None`: as this server would write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<WrittenHead>,
}

/// The words of CREATE TRIGGER in front of its body, but for CREATE and DEFINER, as they were written: SHOW CREATE has them so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenHead {
    /// From TRIGGER up to ON.
    start: String,
    /// ON and the table's name.
    table: String,
    /// The rest, up to the body or to FOLLOWS and PRECEDES.
    rest: String,
    /// The space in front of the body.
    space: String,
}

impl WrittenHead {
    /// Takes it from the statement's text. `None` where an executable comment begins or ends in it.
    pub(crate) fn of(text: &str, at: TriggerHead, body: usize) -> Option<Self> {
        let part = |from: usize, to: usize| text.get(from..to).map(str::to_owned);
        let whole = text.get(at.start..body)?;
        if whole.contains("*/") && whole.contains("/*!")
            || whole.matches("/*").count() != whole.matches("*/").count()
        {
            return None;
        }
        let space = whole.len() - whole.trim_end().len();
        Some(WrittenHead {
            start: part(at.start, at.on)?,
            table: part(at.on, at.behind_table)?,
            rest: part(at.behind_table, at.end)?,
            space: part(body - space, body)?,
        })
    }

    /// The table has another name now.
    pub(crate) fn rename(&mut self, table: &str) {
        self.table = format!("ON {table}");
        self.rest = format!(" {}", self.rest.trim_start());
    }
}

impl TriggerPart {
    /// The words in front of the body, but for CREATE and DEFINER. `order`: FOLLOWS or PRECEDES and another trigger.
    fn head(&self, name: &str, table: &str, order: Option<&str>) -> String {
        let order = order.map(|o| format!(" {o}")).unwrap_or_default();
        match &self.written {
            Some(w) => format!("{}{}{}{order}{}", w.start, w.table, w.rest, w.space),
            None => {
                let (timing, event) = (self.timing(), &self.event);
                format!("TRIGGER {name} {timing} {event} ON {table} FOR EACH ROW{order} ")
            }
        }
    }

    pub(crate) fn event(&self) -> RowEvent {
        match self.event.as_str() {
            "INSERT" => RowEvent::Insert,
            "UPDATE" => RowEvent::Update,
            _ => RowEvent::Delete,
        }
    }

    pub(crate) fn timing(&self) -> &'static str {
        if self.before { "BEFORE" } else { "AFTER" }
    }
}

/// Whether an event runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EventStatus {
    Enabled,
    Disabled,
    /// On a replica: it runs where it was made.
    ReplicaDisabled,
}

impl EventStatus {
    /// Its word in lists.
    pub(crate) fn name(self) -> &'static str {
        match self {
            EventStatus::Enabled => "ENABLED",
            EventStatus::Disabled => "DISABLED",
            EventStatus::ReplicaDisabled => "SLAVESIDE_DISABLED",
        }
    }

    /// Its words in a statement.
    pub(crate) fn clause(self) -> &'static str {
        match self {
            EventStatus::Enabled => "ENABLE",
            EventStatus::Disabled => "DISABLE",
            EventStatus::ReplicaDisabled => "DISABLE ON SLAVE",
        }
    }
}

/// What is said of an event. Times are seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventPart {
    pub at: Option<i64>,
    pub every: Option<Every>,
    pub starts: Option<i64>,
    pub ends: Option<i64>,
    pub time_zone: String,
    pub status: EventStatus,
    /// ON COMPLETION PRESERVE.
    pub preserve: bool,
    /// `server_id` of the server where it was made.
    pub originator: u32,
    pub last_executed: Option<i64>,
    /// It has run at its one time.
    pub done: bool,
}

impl EventPart {
    /// The zone that its times are shown in.
    pub(crate) fn zone(&self) -> Zone {
        Zone::parse(&self.time_zone).map_or(Zone::UTC, |z| z.0)
    }

    /// When it runs next, from a time on. A single time that has passed is now.
    pub(crate) fn next(&self, from: i64) -> Option<i64> {
        if self.at.is_some() {
            return self.at.filter(|_| !self.done);
        }
        let starts = self.starts.unwrap_or(from);
        let next = self.every.as_ref()?.first_from(starts, from, self.zone())?;
        self.ends.is_none_or(|e| next <= e).then_some(next)
    }

    fn shown(&self, seconds: i64) -> String {
        let local = self.zone().local(seconds * SECOND);
        let text = DateTime::from_unix_micros(local, 0).map_or(Value::Null, Value::DateTime);
        format!("'{}'", text.as_ref().to_text())
    }

    /// What stands behind ON SCHEDULE.
    pub(crate) fn schedule(&self) -> String {
        let Some(every) = &self.every else {
            return format!("AT {}", self.shown(self.at.unwrap_or(0)));
        };
        let mut text = format!("EVERY {} {}", every.text(), every.unit);
        for (word, time) in [("STARTS", self.starts), ("ENDS", self.ends)] {
            if let Some(t) = time {
                text.push_str(&format!(" {word} {}", self.shown(t)));
            }
        }
        text
    }
}

/// A stored program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Definition {
    pub kind: Stored,
    pub db: String,
    pub name: String,
    /// Parameters as written, without the parentheses.
    pub parameters: String,
    /// A function's type as written.
    pub returns: String,
    /// Its body as written.
    pub body: String,
    pub definer: (String, String),
    /// SQL SECURITY INVOKER.
    pub invoker: bool,
    pub deterministic: bool,
    /// CONTAINS SQL and so on.
    pub access: String,
    pub comment: String,
    /// Modes that it was made under.
    pub sql_mode: u64,
    /// `character_set_client`, `collation_connection`, and the database's collation.
    pub charset: (String, String, String),
    /// Microseconds since 1970.
    pub created: i64,
    pub modified: i64,
    pub trigger: Option<TriggerPart>,
    /// AGGREGATE: a function over the rows of a group.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aggregate: bool,
    #[serde(default)]
    pub event: Option<EventPart>,
}

/// A comment as it stands in a statement: quotes are doubled, as SHOW CREATE has them.
pub(crate) fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\'', "''");
    format!("'{}'", text.replace('\n', "\\n").replace('\r', "\\r"))
}

/// A body as it is kept: with a comment behind it, but without what ends the statement.
pub(crate) fn body_text(text: &str, at: &std::ops::Range<usize>) -> String {
    let body = without_marks(text.get(at.clone()).unwrap_or_default().trim());
    let behind = text.get(at.end..).unwrap_or_default();
    let behind = behind.split(';').next().unwrap_or_default().trim_end();
    // The end of an executable comment that the whole statement stands in is no comment.
    let is_comment = behind.trim_start().starts_with("/*")
        && !behind.trim_start().starts_with("/*!")
        && behind.matches("/*").count() == behind.matches("*/").count();
    match is_comment {
        true => format!("{body}{behind}"),
        false => body,
    }
}

fn access(a: DataAccess) -> &'static str {
    match a {
        DataAccess::ContainsSql => "CONTAINS SQL",
        DataAccess::NoSql => "NO SQL",
        DataAccess::ReadsSqlData => "READS SQL DATA",
        DataAccess::ModifiesSqlData => "MODIFIES SQL DATA",
    }
}

/// Takes what is said of a routine beside its body.
pub(super) fn apply(def: &mut Definition, list: &[Characteristic]) {
    for c in list {
        match c {
            Characteristic::Comment(text) => def.comment.clone_from(text),
            Characteristic::LanguageSql => {}
            Characteristic::Deterministic(yes) => def.deterministic = *yes,
            Characteristic::DataAccess(a) => def.access = access(*a).into(),
            Characteristic::Invoker(yes) => def.invoker = *yes,
        }
    }
}

/// Takes what CREATE PROCEDURE or CREATE FUNCTION says into a definition.
pub(super) fn take_written(def: &mut Definition, r: &CreateRoutine, text: &str) {
    let part = |at: &std::ops::Range<usize>| text.get(at.clone()).unwrap_or_default();
    // With the white space that stands around them, as SHOW CREATE has it: a function's not in front.
    let parameters = &*without_marks(part(&r.parameters_at));
    def.parameters = match def.kind {
        Stored::Function => parameters.trim_start().to_string(),
        _ => parameters.to_string(),
    };
    def.aggregate = r.aggregate;
    def.returns = part(&r.returns_at).trim().to_string();
    def.body = body_text(text, &r.body_at);
    apply(def, &r.characteristics);
}

/// A text whose executable comments have become part of it, or are gone if they are for later versions.
pub(crate) fn without_marks(text: &str) -> String {
    const VERSION: u32 = 101_199;
    // What `/*!` alone says is for MySQL's versions then, as the parser has it.
    const OTHERS: std::ops::RangeInclusive<u32> = 50_700..=99_999;
    if !text.contains("/*!") && !text.contains("/*M!") {
        return text.to_string();
    }
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut done, mut i) = (0, 0);
    // The quote that a string or a name ends with; inside of an executable comment.
    let (mut quote, mut inside) = (None, false);
    while i < bytes.len() {
        // Every byte that is looked for begins a character.
        let rest = text.get(i..).unwrap_or_default();
        match (quote, bytes[i]) {
            (Some(b'\'' | b'"'), b'\\') => i += 1,
            (Some(q), b) if q == b => quote = None,
            (Some(_), _) => {}
            (None, b @ (b'\'' | b'"' | b'`')) => quote = Some(b),
            (None, b'*') if inside && rest.starts_with("*/") => {
                add_apart(&mut out, &text[done..i]);
                (inside, done) = (false, i + 2);
                i += 1;
            }
            (None, b'/') if rest.starts_with("/*!") || rest.starts_with("/*M!") => {
                let start = i + rest.find('!').unwrap_or(0) + 1;
                let digits = bytes[start..]
                    .iter()
                    .take(6)
                    .take_while(|b| b.is_ascii_digit());
                let digits = match digits.count() {
                    n @ (5 | 6) => n,
                    _ => 0,
                };
                let version: u32 = text[start..start + digits].parse().unwrap_or(0);
                add_apart(&mut out, &text[done..i]);
                done = start + digits;
                let others = rest.starts_with("/*!")
                    && OTHERS.contains(&version)
                    && !narwal_types::face::is_mysql();
                inside = version <= VERSION && !others;
                if !inside {
                    done = text[done..].find("*/").map_or(text.len(), |n| done + n + 2);
                }
                i = done;
                continue;
            }
            (None, b'/') if rest.starts_with("/*") => {
                i += rest.find("*/").map_or(rest.len(), |n| n + 1);
            }
            (None, b'#') => i += rest.find('\n').unwrap_or(rest.len()),
            (None, b'-') if rest.starts_with("-- ") => i += rest.find('\n').unwrap_or(rest.len()),
            _ => {}
        }
        i += 1;
    }
    add_apart(&mut out, text.get(done..).unwrap_or_default());
    out
}

/// Adds a piece of a text. Two words that a comment stood between stay two: `INSERT/*!INTO*/t`.
fn add_apart(out: &mut String, piece: &str) {
    let is_word = |b: &u8| narwal_syntax::is_word_byte(*b);
    if out.as_bytes().last().is_some_and(is_word) && piece.as_bytes().first().is_some_and(is_word) {
        out.push(' ');
    }
    out.push_str(piece);
}

/// The key of a program. Names of routines have no case.
pub(crate) fn key(kind: Stored, db: &str, name: &str) -> String {
    let name = match kind {
        Stored::Trigger => name.to_string(),
        _ => name.to_lowercase(),
    };
    format!("{}{db}/{name}", kind.folder())
}

/// The table of the schema `mysql` that lists programs of a kind.
fn table_of(kind: Stored) -> Option<&'static str> {
    match kind {
        Stored::Trigger => None,
        Stored::Event => Some("event"),
        _ => Some("proc"),
    }
}

/// Refuses what needs the table that lists such programs, where somebody has damaged it: 1146, 1545, 1728, 1805.
pub(crate) fn check_table(catalog: &Catalog, kind: Stored) -> SqlResult<()> {
    match table_of(kind).and_then(|t| Some((t, fault(catalog, t)?))) {
        Some((table, fault)) => Err(fault.error(table)),
        None => Ok(()),
    }
}

/// A program's definition.
///
/// # Errors
/// Those of [`check_table`].
pub(crate) fn find(
    catalog: &Catalog,
    kind: Stored,
    db: &str,
    name: &str,
) -> SqlResult<Option<Definition>> {
    check_table(catalog, kind)?;
    read_object(catalog, kind, db, name)
}

/// The same, whatever has become of the table that lists it.
pub(super) fn read_object(
    catalog: &Catalog,
    kind: Stored,
    db: &str,
    name: &str,
) -> SqlResult<Option<Definition>> {
    catalog
        .object(&key(kind, db, name))
        .map(|text| read(text))
        .transpose()
}

fn read(text: &str) -> SqlResult<Definition> {
    serde_json::from_str(text)
        .map_err(|e| SqlError::unknown(format!("a stored program's definition: {e}")))
}

/// All programs of a kind, by database and name.
pub(crate) fn all(catalog: &Catalog, kind: Stored) -> Vec<Definition> {
    catalog
        .objects(kind.folder())
        .filter_map(|(_, text)| read(text).ok())
        .collect()
}

/// A change puts an event into the catalog.
pub(crate) fn makes_event(change: &CatalogChange) -> bool {
    matches!(change, CatalogChange::PutObject { key, .. } if key.starts_with(Stored::Event.folder()))
}

/// There is a program of this kind.
pub(crate) fn any(catalog: &Catalog, kind: Stored) -> bool {
    catalog.objects(kind.folder()).next().is_some()
}

/// The triggers of a table in the order that they run in. Definitions are read only where the text has the table's name:
/// a database may have thousands.
pub(crate) fn triggers_of(catalog: &Catalog, db: &str, table: &str) -> Vec<Definition> {
    let folder = format!("{}{db}/", Stored::Trigger.folder());
    let name = serde_json::to_string(table).unwrap_or_default();
    let about = format!("\"table\":{name}");
    let mut list: Vec<Definition> = catalog
        .objects(&folder)
        .filter(|(_, text)| text.contains(&about))
        .filter_map(|(_, text)| read(text).ok())
        .filter(|d| d.db == db && d.trigger.as_ref().is_some_and(|t| t.table == table))
        .collect();
    list.sort_by_key(|d| d.trigger.as_ref().map_or(0, |t| t.order));
    list
}

impl Definition {
    /// Its key in the catalog.
    pub(crate) fn key(&self) -> String {
        key(self.kind, &self.db, &self.name)
    }

    pub(crate) fn put(&self) -> SqlResult<CatalogChange> {
        Ok(CatalogChange::PutObject {
            key: self.key(),
            value: serde_json::to_string(self)
                .map_err(|e| SqlError::unknown(format!("a stored program's definition: {e}")))?,
        })
    }

    pub(crate) fn delete(&self) -> CatalogChange {
        CatalogChange::DeleteObject { key: self.key() }
    }

    pub(crate) fn mode(&self) -> SqlMode {
        SqlMode(self.sql_mode)
    }

    /// The modes as `mysql.proc` and `mysql.event` name them.
    pub(crate) fn mode_in_tables(&self) -> String {
        let names = self.mode().names();
        names.replace("ALLOW_INVALID_DATES", "INVALID_DATES")
    }

    pub(crate) fn definer_clause(&self) -> String {
        format!("DEFINER={}", narwal_sql::view::definer_text(&self.definer))
    }

    /// What stands between the head and the body, a line each.
    fn characteristics(&self) -> String {
        let mut out = String::new();
        if self.access != "CONTAINS SQL" {
            out.push_str(&format!("    {}\n", self.access));
        }
        if self.deterministic {
            out.push_str("    DETERMINISTIC\n");
        }
        if self.invoker {
            out.push_str("    SQL SECURITY INVOKER\n");
        }
        if !self.comment.is_empty() {
            let text = quoted(&self.comment);
            out.push_str(&format!("    COMMENT {text}\n"));
        }
        out
    }

    /// A trigger's table has another name now.
    pub(crate) fn rename_table(&mut self, db: &str, table: &str) {
        self.db = db.to_owned();
        let quoted = self.quoted_name(table);
        if let Some(t) = &mut self.trigger {
            t.table = table.to_owned();
            if let Some(w) = &mut t.written {
                w.rename(&quoted);
            }
        }
    }

    /// A name in quotes, which are those of the modes that it was made under.
    fn quoted_name(&self, name: &str) -> String {
        match self.mode().has(SqlMode::ANSI_QUOTES) {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => quote_ident(name),
        }
    }

    /// Who it is of, and what stands behind it, as SHOW CREATE has it.
    fn quoted_definer(&self) -> String {
        let text = self.definer_clause();
        match self.mode().has(SqlMode::ANSI_QUOTES) {
            true => text.replace('`', "\""),
            false => text,
        }
    }

    /// The statement that makes it.
    pub(crate) fn create(&self, verb: &str) -> String {
        self.create_in_order(verb, None)
    }

    /// The same, a trigger before or behind another one: `order` says FOLLOWS or PRECEDES and its name.
    pub(crate) fn create_in_order(&self, verb: &str, order: Option<&str>) -> String {
        let (definer, name) = (self.quoted_definer(), self.quoted_name(&self.name));
        let oracle = self.mode().has(SqlMode::ORACLE);
        if let Some(e) = &self.event {
            let comment = match self.comment.as_str() {
                "" => String::new(),
                c => format!(" COMMENT {}", quoted(c)),
            };
            return format!(
                "{verb} {definer} EVENT {name} ON SCHEDULE {} ON COMPLETION {}PRESERVE {}{comment} DO {}",
                e.schedule(),
                if e.preserve { "" } else { "NOT " },
                e.status.clause(),
                self.body
            );
        }
        match &self.trigger {
            Some(t) => {
                let head = t.head(&name, &self.quoted_name(&t.table), order);
                format!("{verb} {definer} {head}{}", self.body)
            }
            None => {
                let returns = match self.kind {
                    Stored::Function if oracle => format!(" RETURN {}", self.returns),
                    Stored::Function => format!(" RETURNS {}", self.returns),
                    _ => String::new(),
                };
                let is_package = matches!(self.kind, Stored::Package | Stored::PackageBody);
                let parameters = match is_package || oracle && self.parameters.is_empty() {
                    true => String::new(),
                    false => format!("({})", self.parameters),
                };
                let characteristics = self.characteristics();
                // Behind a package's name MariaDB has no end of line, and a space in front of its body.
                let (end, space) = match is_package {
                    false => ("\n", ""),
                    true => ("", " "),
                };
                let aggregate = if self.aggregate { "AGGREGATE " } else { "" };
                format!(
                    "{verb} {definer} {aggregate}{} {name}{parameters}{returns}{end}{characteristics}{space}{}",
                    self.kind.word(),
                    self.body
                )
            }
        }
    }
}
