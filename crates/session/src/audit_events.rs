//! What goes into the audit log.

use crate::audit::event;
use crate::client::ConnectOptions;
use crate::instance::Instance;
use crate::logins::FailedLogin;
use crate::session::ClientSession;
use narwal_sql::SqlMode;
use narwal_syntax::{Kw, glance, secrets};
use narwal_types::{SqlError, SqlResult};
use serde_json::{Map, Value as Json};

/// What kind of statement a text is, which need not parse.
fn class(text: &str, mode: SqlMode) -> (&'static str, u32) {
    let code = glance::behind_settings(text, mode);
    let [first, second, third, fourth] = glance::first_words(code.as_bytes(), mode);
    let object = match (second, third) {
        (Kw::OR, Kw::REPLACE) => fourth,
        _ => second,
    };
    match first {
        Kw::CREATE | Kw::ALTER | Kw::DROP | Kw::RENAME if matches!(object, Kw::USER | Kw::ROLE) => {
            ("dcl", event::DCL)
        }
        Kw::GRANT | Kw::REVOKE => ("dcl", event::DCL),
        Kw::SET if second == Kw::PASSWORD => ("dcl", event::DCL),
        Kw::DROP if second == Kw::PREPARE => ("other", 0),
        Kw::CREATE | Kw::ALTER | Kw::DROP | Kw::RENAME | Kw::TRUNCATE => ("ddl", event::DDL),
        Kw::SELECT | Kw::WITH | Kw::TABLE | Kw::VALUES => ("select", event::DML),
        Kw::INSERT
        | Kw::UPDATE
        | Kw::DELETE
        | Kw::REPLACE
        | Kw::LOAD
        | Kw::CALL
        | Kw::DO
        | Kw::HANDLER => ("dml", event::DML | event::DML_NO_SELECT),
        _ => ("other", 0),
    }
}

impl Instance {
    /// Writes what the audit log still has to write, for the server's end.
    pub fn stop_audit(&self) {
        self.audit.stop();
    }

    /// True unless the lists of users leave this one out.
    fn audits_user(&self, user: &str) -> bool {
        self.audit.wants_user(user)
    }

    /// A client was refused.
    pub(crate) fn audit_refused(&self, f: &FailedLogin<'_>) {
        if !self.audit.wants(event::CONNECT) {
            return;
        }
        let mut r = Map::new();
        r.insert("event".into(), "failed_connect".into());
        r.insert("connection".into(), f.id.into());
        r.insert("user".into(), f.user.into());
        r.insert("host".into(), f.host.into());
        r.insert("db".into(), f.db.into());
        r.insert("error".into(), f.error.code.into());
        r.insert("reason".into(), f.reason.into());
        self.audit.put(r, true);
    }

    /// A client came, went, or became another.
    pub(crate) fn audit_client(
        &self,
        what: &'static str,
        client: &ConnectOptions,
        e: Option<&SqlError>,
    ) {
        if !self.audit.wants(event::CONNECT) {
            return;
        }
        let mut r = self.audit_head(what, client);
        r.insert("db".into(), client.db.as_deref().into());
        if what != "disconnect" {
            let tls = client.tls.as_ref().map(|t| t.0.as_str());
            r.insert("tls".into(), tls.into());
            r.insert("error".into(), e.map_or(0, |e| e.code).into());
        }
        if let Some(e) = e {
            r.insert("reason".into(), e.message.to_string().into());
        }
        self.audit.put(r, true);
    }

    fn audit_head(&self, what: &str, client: &ConnectOptions) -> Map<String, Json> {
        let mut r = Map::new();
        r.insert("event".into(), what.into());
        r.insert("connection".into(), client.id.into());
        r.insert("user".into(), client.user.as_str().into());
        let account = format!("{}@{}", client.account_user, client.account_host);
        r.insert("account".into(), account.into());
        r.insert("host".into(), client.host.as_str().into());
        r.insert("ip".into(), client.ip.as_deref().into());
        r
    }
}

impl ClientSession {
    /// A statement has ended.
    pub(crate) fn audit_statement(&self, text: &str, r: &SqlResult<()>) {
        if self.internal {
            return;
        }
        let (class, bit) = class(text, self.env.sql_mode);
        let audit = &self.instance.audit;
        if !audit.wants(bit | event::QUERY) || !self.instance.audits_user(&self.client.user) {
            return;
        }
        let limit = audit.limit();
        let masked = secrets::mask(text);
        let end = masked.floor_char_boundary(limit);
        let mut record = self.instance.audit_head("query", &self.client);
        record.insert("db".into(), self.env.db.as_deref().into());
        record.insert("class".into(), class.into());
        record.insert("statement".into(), masked[..end].into());
        if end < masked.len() {
            record.insert("length".into(), masked.len().into());
        }
        let code = r.as_ref().err().map_or(0, |e| e.code);
        record.insert("error".into(), code.into());
        audit.put(record, bit & (event::DDL | event::DCL) != 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        for (text, want) in [
            ("create table t (a int)", "ddl"),
            ("CREATE OR REPLACE USER u", "dcl"),
            ("create or replace table user (a int)", "ddl"),
            ("drop user u", "dcl"),
            ("set password = ''", "dcl"),
            ("set a = 1", "other"),
            ("(select 1)", "other"),
            ("with x as (select 1) select 1", "select"),
            ("load data infile 'x' into table t", "dml"),
        ] {
            assert_eq!(class(text, SqlMode::DEFAULT).0, want, "{text}");
        }
    }
}
