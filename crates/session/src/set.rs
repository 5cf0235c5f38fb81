//! SET: system and user variables, character sets.

use crate::acl;
use crate::admin::{SetItem, SetScope, SetValue};
use crate::binlog_admin::gtid_inside_transaction;
use crate::charset;
use crate::instance::inert_text;
use crate::replica::FILTER_VARIABLES;
use crate::session::ClientSession;
use crate::track;
use crate::variables::{self, Accepted, Effect, VARIABLES, VarValue, VariableDef};
use narwal_sql::VariableSource;
use narwal_types::{Charset, Collation, SqlError, SqlResult, Value};
use std::sync::atomic::Ordering;

/// An assignment that has been checked.
enum Checked {
    Session(usize, VarValue),
    Global(usize, VarValue),
    State(&'static str, Option<Value>),
    /// A filter variable of a connection.
    Filter(String, &'static str, String),
    User(String, Value),
    Names(Collation),
    /// SET CHARACTER SET.
    Charset(Charset),
}

/// MySQL's default collation, which there is not: SET NAMES takes it for MariaDB's.
const MYSQL_COLLATION: &str = "utf8mb4_0900_ai_ci";

/// False for what is often set between statements and no plan looks at.
fn plans_depend_on(item: &SetItem) -> bool {
    match item {
        SetItem::User { .. } => false,
        SetItem::System { name, .. } => ![
            "autocommit",
            "tx_isolation",
            "tx_read_only",
            "transaction_isolation",
            "transaction_read_only",
            "timestamp",
            "insert_id",
            "last_insert_id",
        ]
        .iter()
        .any(|n| name.eq_ignore_ascii_case(n)),
        _ => true,
    }
}

impl ClientSession {
    /// Runs a SET statement: all values are evaluated and checked first, then all are assigned.
    pub(crate) fn set_variables(&mut self, items: &[SetItem]) -> SqlResult<()> {
        let mut checked = Vec::with_capacity(items.len());
        for item in items {
            let c = match item {
                SetItem::User { name, value } => {
                    Checked::User(name.clone(), self.evaluate_query(value)?)
                }
                // What a client's library asks for by itself (sqlx): only the comparison of literals depends on it.
                SetItem::Names {
                    charset: Some(name),
                    collation: Some(collation),
                } if name.eq_ignore_ascii_case("utf8mb4")
                    && collation.eq_ignore_ascii_case(MYSQL_COLLATION) =>
                {
                    self.env
                        .warn(1105, format!("{collation} is taken for utf8mb4_general_ci"));
                    Checked::Names(Collation::default())
                }
                SetItem::Names { charset, collation } => {
                    names(charset.as_deref(), collation.as_deref())?
                }
                SetItem::Charset(None) => Checked::Charset(Charset::Utf8mb4),
                SetItem::Charset(Some(name)) => Checked::Charset(charset::charset(name)?),
                SetItem::System { scope, name, value } => self.check_system(*scope, name, value)?,
                // They have statements of their own.
                SetItem::Password(_) | SetItem::Role(_) | SetItem::DefaultRole(..) => {
                    return Err(SqlError::unsupported("this part of SET"));
                }
            };
            checked.push(c);
        }
        let mut refresh = false;
        for c in checked {
            match c {
                Checked::User(name, value) => {
                    self.vars.set_user(&name, value);
                    self.track.state_changed();
                }
                Checked::Names(coll) => {
                    self.set_names(coll);
                    refresh = true;
                }
                Checked::Charset(cs) => {
                    self.set_names(cs.default_collation());
                    let coll = self.vars.database_collation();
                    for (name, value) in [
                        ("character_set_connection", coll.charset().name()),
                        ("collation_connection", coll.name()),
                    ] {
                        self.vars.set_by_name(name, VarValue::text(value));
                    }
                    refresh = true;
                }
                Checked::Global(i, v) => self.instance.set_global(i, v),
                Checked::State(name, v) => self.set_state(name, v)?,
                Checked::Filter(connection, name, text) => {
                    self.instance.set_replica_filter(&connection, name, &text)?;
                }
                Checked::Session(i, v) => {
                    self.track.variable(i);
                    self.set_session(i, v)?;
                    refresh = true;
                }
            }
        }
        if refresh {
            self.refresh_settings();
        }
        if items.iter().any(plans_depend_on) {
            self.text_plans.clear();
        }
        Ok(())
    }

    fn set_session(&mut self, i: usize, v: VarValue) -> SqlResult<()> {
        match VARIABLES[i].name {
            "autocommit" if v.as_bool() && !self.settings.autocommit => {
                // Turning autocommit on commits what is open.
                self.commit_open()?;
            }
            "character_set_connection" => {
                let coll = charset::charset(v.as_str())?.default_collation();
                self.vars
                    .set_by_name("collation_connection", VarValue::text(coll.name()));
            }
            "collation_connection" => {
                let cs = charset::collation(v.as_str())?.charset();
                self.vars
                    .set_by_name("character_set_connection", VarValue::text(cs.name()));
            }
            _ => {}
        }
        self.vars.set(i, v);
        Ok(())
    }

    fn set_state(&mut self, name: &str, v: Option<Value>) -> SqlResult<()> {
        let int = |v: &Option<Value>| match v {
            Some(Value::Int(i)) => *i as u64,
            Some(Value::UInt(u)) => *u,
            _ => 0,
        };
        match name {
            "timestamp" => {
                let seconds = match &v {
                    Some(Value::Int(i)) => *i as f64,
                    Some(Value::UInt(u)) => *u as f64,
                    Some(Value::Double(d)) => *d,
                    Some(Value::Decimal(d)) => d.to_string().parse().unwrap_or(0.0),
                    _ => 0.0,
                };
                // 0 and DEFAULT let the clock count again.
                self.vars
                    .fixed_micros
                    .store((seconds * 1e6) as i64, Ordering::Relaxed);
            }
            "gtid_seq_no" => self.vars.gtid_seq_no.store(int(&v), Ordering::Relaxed),
            "gtid_binlog_state" => {
                let text = match &v {
                    Some(Value::Str(s)) => &**s,
                    _ => "",
                };
                self.instance.database().set_gtid_binlog_state(text)?;
            }
            "gtid_slave_pos" => {
                if let Some(Value::Str(s)) = &v {
                    self.instance.set_gtid_slave_pos(s.to_string())?;
                }
            }
            "sql_slave_skip_counter" => {
                let connection = self.default_connection();
                match self.instance.replica_control() {
                    Some(c) => c.set_skip_counter(&connection, int(&v))?,
                    None if int(&v) == 0 => {}
                    None => {
                        return Err(SqlError::unsupported(
                            "replication into an embedded database",
                        ));
                    }
                }
            }
            _ => self.env.last_insert_id = int(&v),
        }
        Ok(())
    }

    fn check_system(
        &mut self,
        scope: SetScope,
        name: &str,
        value: &SetValue,
    ) -> SqlResult<Checked> {
        // `connection.variable`
        let (connection, base) = name.rsplit_once('.').unwrap_or(("", name));
        let found = variables::index(base);
        let filtered = found.filter(|i| FILTER_VARIABLES.contains(&VARIABLES[*i].name));
        let found = if connection.is_empty() {
            found
        } else {
            filtered
        };
        let Some(i) = found else {
            return Err(match name.split_once('.') {
                Some(_) if variables::index(base).is_some() => SqlError::new(
                    1272,
                    b"HY000",
                    format!(
                        "Variable '{base}' is not a variable component (can't be used as XXXX.variable_name)"
                    ),
                ),
                Some((base, _)) => SqlError::new(
                    4081,
                    b"HY000",
                    format!("Unknown structured system variable or ROW routine variable '{base}'"),
                ),
                None => variables::unknown(name),
            });
        };
        let d = &VARIABLES[i];
        let global = scope == SetScope::Global;
        if matches!(d.effect, Effect::Computed | Effect::Startup) {
            // A session variable whose value is fixed says so; everything else is read-only altogether.
            return Err(SqlError::new(
                1238,
                b"HY000",
                format!("Variable '{}' is a read only variable", d.name),
            ));
        }
        if global && d.name == "sql_log_bin" {
            return Err(SqlError::new(
                1238,
                b"HY000",
                "Variable 'sql_log_bin' is a SESSION variable",
            ));
        }
        if global && !d.has_global() {
            return Err(SqlError::new(
                1228,
                b"HY000",
                format!(
                    "Variable '{}' is a SESSION variable and can't be used with SET GLOBAL",
                    d.name
                ),
            ));
        }
        if !global && !d.has_session() {
            return Err(SqlError::new(
                1229,
                b"HY000",
                format!(
                    "Variable '{}' is a GLOBAL variable and should be set with SET GLOBAL",
                    d.name
                ),
            ));
        }
        if !global && matches!(d.name, "max_allowed_packet" | "net_buffer_length") {
            return Err(SqlError::new(
                1621,
                b"HY000",
                format!(
                    "SESSION variable '{}' is read-only. Use SET GLOBAL to assign the value",
                    d.name
                ),
            ));
        }
        let needed = if global { d.needs } else { d.session_needs };
        if !needed.is_empty() && !self.account().global.has_any(needed) {
            return Err(acl::privilege_needed(needed));
        }
        if !global {
            self.check_outside_transaction(d.name)?;
        }
        if d.name == "gtid_binlog_state" && self.open.is_some() {
            return Err(SqlError::new(
                1179,
                b"25000",
                "You are not allowed to execute this command in a transaction",
            ));
        }
        if global {
            self.check_replica_setting(d.name)?;
        }
        if d.name == "read_only" {
            self.check_read_only_change()?;
        }
        if filtered.is_some() {
            return self.check_filter(connection, d, value);
        }
        if d.effect == Effect::State {
            return self.check_state(d, value);
        }
        let mut accepted = match value {
            SetValue::Default if global => Accepted {
                value: d.default_value(),
                truncated: None,
            },
            SetValue::Default => Accepted {
                value: self.instance.global(i),
                truncated: None,
            },
            other => {
                let v = self.set_value(other)?;
                if d.name == "session_track_system_variables" {
                    track::check_watched(&v)?;
                }
                d.accept(&v)?
            }
        };
        if d.name == "session_track_system_variables" {
            accepted.value = VarValue::text(track::watched_names(accepted.value.as_str())?);
        }
        if let Some(t) = &accepted.truncated {
            self.env.warn(1292, t.as_str());
        }
        let current = if global {
            self.instance.global(i)
        } else {
            self.vars.get(i)
        };
        self.check_effect(d, &accepted.value, &current)?;
        Ok(if global {
            Checked::Global(i, accepted.value)
        } else {
            Checked::Session(i, accepted.value)
        })
    }

    /// What decides about a whole transaction can't be changed inside one.
    fn check_outside_transaction(&self, name: &str) -> SqlResult<()> {
        if self.open.is_none() {
            return Ok(());
        }
        let code = match name {
            "sql_log_bin" => 1694,
            "binlog_format" => 1679,
            "gtid_domain_id" | "gtid_seq_no" => return Err(gtid_inside_transaction()),
            _ => return Ok(()),
        };
        Err(SqlError::new(
            code,
            b"HY000",
            format!("Cannot modify @@session.{name} inside a transaction"),
        ))
    }

    /// Checks a filter variable of a connection.
    fn check_filter(
        &mut self,
        connection: &str,
        d: &'static VariableDef,
        value: &SetValue,
    ) -> SqlResult<Checked> {
        self.check_variable_connection(connection)?;
        let text = match value {
            SetValue::Default => String::new(),
            other => match self.set_value(other)? {
                Value::Null => String::new(),
                given => d.accept(&given)?.value.show(),
            },
        };
        // What is wrong with it is said before anything is assigned.
        crate::replica::ReplicaFilter::default().set(d.name, &text)?;
        Ok(Checked::Filter(connection.to_string(), d.name, text))
    }

    /// Checks a variable that is state and not a setting.
    fn check_state(&mut self, d: &'static VariableDef, value: &SetValue) -> SqlResult<Checked> {
        let v = match value {
            SetValue::Default if matches!(d.name, "gtid_binlog_state" | "gtid_slave_pos") => {
                return Err(SqlError::new(
                    1230,
                    b"42000",
                    format!("Variable '{}' doesn't have a default value", d.name),
                ));
            }
            SetValue::Default => None,
            other => Some(self.set_value(other)?),
        };
        let Some(given) = &v else {
            return Ok(Checked::State(d.name, None));
        };
        if d.name == "gtid_slave_pos" && given.is_null() {
            return Err(SqlError::new(
                1231,
                b"42000",
                "Variable 'gtid_slave_pos' can't be set to the value of 'NULL'",
            ));
        }
        let accepted = d.accept(given)?;
        match d.name {
            "gtid_slave_pos" => {
                self.check_gtid_slave_pos(accepted.value.as_str())?;
                Ok(Checked::State(d.name, v))
            }
            "sql_slave_skip_counter" => {
                if let Some(t) = &accepted.truncated {
                    self.env.warn(1292, t.as_str());
                }
                let connection = self.default_connection();
                self.need_connection(&connection)?;
                let groups = accepted.value.as_u64();
                Ok(Checked::State(d.name, Some(Value::UInt(groups))))
            }
            "gtid_seq_no" => {
                if let Some(t) = &accepted.truncated {
                    self.env.warn(1292, t.as_str());
                }
                let seq = accepted.value.as_u64();
                self.check_gtid_seq_no(seq)?;
                Ok(Checked::State(d.name, Some(Value::UInt(seq))))
            }
            _ => Ok(Checked::State(d.name, v)),
        }
    }

    /// Refuses what Narwal does not have, and warns of what does nothing.
    fn check_effect(&self, d: &VariableDef, new: &VarValue, current: &VarValue) -> SqlResult<()> {
        if d.name == "rpl_semi_sync_master_enabled" && new.as_bool() {
            self.instance.database().one_log(d.name)?;
        }
        match d.effect {
            Effect::Fixed if *new != d.default_value() => {
                Err(SqlError::unsupported(format!("{}={}", d.name, new.show())))
            }
            Effect::Inert if d.name == "sync_binlog" && self.instance.database().is_classic() => {
                Ok(())
            }
            Effect::Inert if new != current => {
                self.env.warn(1105, inert_text(d.name));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn set_value(&mut self, v: &SetValue) -> SqlResult<Value> {
        match v {
            SetValue::Word(s) | SetValue::Str(s) => Ok(Value::str(s.as_str())),
            SetValue::Expr(e) => match e.text.parse::<i64>() {
                Ok(i) => Ok(Value::Int(i)),
                Err(_) => self.evaluate_query(e),
            },
            SetValue::Default => Ok(Value::Null),
        }
    }
}

fn names(charset: Option<&str>, collation: Option<&str>) -> SqlResult<Checked> {
    let Some(name) = charset else {
        return Ok(Checked::Names(Collation::default()));
    };
    let cs = charset::charset(name)?;
    let coll = match collation {
        None => cs.default_collation(),
        Some(c) => {
            let coll = charset::collation(c)?;
            if coll.charset() != cs {
                return Err(SqlError::new(
                    1253,
                    b"42000",
                    format!(
                        "COLLATION '{}' is not valid for CHARACTER SET '{}'",
                        coll.name(),
                        cs.name()
                    ),
                ));
            }
            coll
        }
    };
    Ok(Checked::Names(coll))
}
