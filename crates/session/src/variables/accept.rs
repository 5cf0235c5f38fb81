//! Which values a variable takes: of SET, and of the command line.

use super::def::{Kind, VariableDef};
use super::value::VarValue;
use narwal_sql::expr::locale::Locale;
use narwal_sql::{SqlMode, StatementEnv, engine_name};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{Collation, SqlError, SqlResult, Value};

/// A value that was accepted, with the warning that it was changed to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The value.
    pub value: VarValue,
    /// What was given, if it was out of range.
    pub truncated: Option<String>,
}

fn ok(value: VarValue) -> SqlResult<Accepted> {
    Ok(Accepted {
        value,
        truncated: None,
    })
}

/// Error 1231.
pub(crate) fn wrong_value(name: &str, value: &str) -> SqlError {
    errors::WRONG_VALUE_FOR_VAR.with([&name, &value])
}

/// Error 1232.
fn wrong_type(name: &str) -> SqlError {
    errors::WRONG_TYPE_FOR_VAR.with([&name])
}

/// Error 1193.
pub fn unknown(name: &str) -> SqlError {
    errors::UNKNOWN_SYSTEM_VARIABLE.with([&name])
}

fn fit(d: &VariableDef, given: &str, v: u64, clipped: bool) -> Accepted {
    let Kind::UInt(min, max, block) = d.kind else {
        return Accepted {
            value: VarValue::UInt(v),
            truncated: None,
        };
    };
    let fitted = v.clamp(min, max) / block * block;
    Accepted {
        value: VarValue::UInt(fitted.max(min)),
        truncated: (clipped || fitted.max(min) != v).then(|| given.to_string()),
    }
}

impl VariableDef {
    /// The text of warning 1292: a value was changed to fit.
    pub(crate) fn truncated_text(&self, given: &str) -> String {
        format!("Truncated incorrect {} value: '{given}'", self.name)
    }

    /// Tells that a value was changed to fit. Error 1231: `STRICT_ALL_TABLES` lets no value be changed, not even this one's.
    pub(crate) fn tell_truncated(&self, given: Option<&str>, env: &StatementEnv) -> SqlResult<()> {
        let Some(given) = given else { return Ok(()) };
        if env.sql_mode.has(SqlMode::STRICT_ALL_TABLES) {
            return Err(wrong_value(self.name, given));
        }
        env.warn(codes::TRUNCATED_WRONG_VALUE, self.truncated_text(given));
        Ok(())
    }

    /// The default value.
    pub fn default_value(&self) -> VarValue {
        if self.hooks.null_default {
            return VarValue::Null;
        }
        let text = match self.hooks.mysql_default {
            Some(mysqls) if narwal_types::face::is_mysql() => mysqls,
            _ => self.default,
        };
        match self.kind {
            Kind::Bool => VarValue::Bool(text == "ON"),
            Kind::UInt(..) => VarValue::UInt(text.parse().unwrap_or(0)),
            Kind::Double(..) => VarValue::Double(text.parse().unwrap_or(0.0)),
            _ => VarValue::text(text),
        }
    }

    /// Checks the value of a SET statement. `value` is what the expression gave; a bare word comes as a string.
    pub fn accept(&self, value: &Value) -> SqlResult<Accepted> {
        self.accept_over(value, &self.default_value())
    }

    /// The same of a variable that has a value: flags that are not named stay as they are.
    pub fn accept_over(&self, value: &Value, before: &VarValue) -> SqlResult<Accepted> {
        // Bytes are what an expression makes of a user variable that is not set.
        let text = match value {
            Value::Bytes(b) => std::str::from_utf8(b).ok().map(Value::str),
            _ => None,
        };
        let value = text.as_ref().unwrap_or(value);
        // A DECIMAL without digits behind the point is an integer here.
        let whole = match value {
            Value::Decimal(d) if d.scale() == 0 && matches!(self.kind, Kind::UInt(..)) => {
                d.to_i128()
            }
            _ => None,
        };
        let whole = whole.map(|n| Value::Int(n.clamp(i64::MIN.into(), i64::MAX.into()) as i64));
        let value = whole.as_ref().unwrap_or(value);
        if value.is_null() {
            return if self.hooks.takes_null {
                ok(VarValue::Null)
            } else if matches!(self.kind, Kind::UInt(..) | Kind::Double(..)) {
                Err(wrong_type(self.name))
            } else {
                Err(wrong_value(self.name, "NULL"))
            };
        }
        match self.kind {
            Kind::Bool => self.switch(value),
            Kind::UInt(..) => match value {
                Value::Int(n) => Ok(fit(
                    self,
                    &n.to_string(),
                    u64::try_from(*n).unwrap_or(0),
                    *n < 0,
                )),
                Value::UInt(n) => Ok(fit(self, &n.to_string(), *n, false)),
                _ => Err(wrong_type(self.name)),
            },
            Kind::Double(min, max) => self.number(value, min, max),
            Kind::Enum(names) => self.one_of(value, names),
            Kind::SqlMode => self.sql_mode(value),
            Kind::Flags(names) => self.flags(names, value, &before.show()),
            Kind::Set(names) => {
                let given = match value {
                    Value::Str(s) => s.to_string(),
                    Value::Int(_) | Value::UInt(_) => show_value(value),
                    _ => return Err(wrong_type(self.name)),
                };
                let members = match value {
                    // What the slow log has can be said at once.
                    Value::Str(s)
                        if s.eq_ignore_ascii_case("all") && self.name.starts_with("log_slow_") =>
                    {
                        Ok(members(names, u64::MAX))
                    }
                    Value::Str(s) => set_named(names, s).map_err(str::to_string),
                    _ => set_numbered(names, &given).ok_or(given),
                };
                match members {
                    Ok(v) => ok(VarValue::text(v)),
                    Err(bad) => Err(wrong_value(self.name, &bad)),
                }
            }
            Kind::Locale => {
                let given = show_value(value);
                let found = match value {
                    Value::Str(s) => Locale::named(s),
                    Value::Int(_) | Value::UInt(_) => given.parse().ok().and_then(Locale::numbered),
                    _ => return Err(wrong_type(self.name)),
                };
                match found {
                    Some(l) => ok(VarValue::text(l.name)),
                    None => {
                        Err(errors::UNKNOWN_LOCALE.with([&format!("Unknown locale: '{given}'")]))
                    }
                }
            }
            Kind::Charset | Kind::Collation if matches!(value, Value::Int(_) | Value::UInt(_)) => {
                self.collation_numbered(&show_value(value))
            }
            Kind::Charset | Kind::Collation | Kind::TimeZone | Kind::Engine | Kind::Text => {
                match value {
                    Value::Str(s) => self.word(s),
                    _ => Err(wrong_type(self.name)),
                }
            }
        }
    }

    /// `name=on,name=off,name=default`, or the flags as bits. `before`: how they stand.
    fn flags(&self, names: &[&str], value: &Value, before: &str) -> SqlResult<Accepted> {
        let parse = |text: &str| -> Vec<bool> {
            let is_on = |n: &&str| {
                let mut parts = text.split(',').filter_map(|p| p.split_once('='));
                parts.any(|(name, v)| name == *n && v == "on")
            };
            names.iter().map(is_on).collect()
        };
        let usual = parse(self.default);
        let mut flags = parse(before);
        match value {
            Value::Int(_) | Value::UInt(_) => {
                let given = show_value(value);
                let bits = given.parse::<u64>().ok();
                // The bit behind the last one means all defaults.
                let Some(bits) = bits.filter(|b| b >> (names.len() + 1) == 0) else {
                    return Err(wrong_value(self.name, &given));
                };
                for (i, flag) in flags.iter_mut().enumerate() {
                    *flag = bits >> i & 1 == 1;
                }
            }
            Value::Str(s) => {
                let mut named = vec![false; names.len() + 1];
                for part in s.split(',').filter(|p| !p.is_empty()) {
                    let place = |n: &str| names.iter().position(|x| x.eq_ignore_ascii_case(n));
                    let (at, flag) = match part.split_once('=') {
                        None if part.eq_ignore_ascii_case("default") => (Some(names.len()), None),
                        None => (None, None),
                        Some((n, v)) => match place(n) {
                            Some(i) if v.eq_ignore_ascii_case("on") => (Some(i), Some(true)),
                            Some(i) if v.eq_ignore_ascii_case("off") => (Some(i), Some(false)),
                            Some(i) if v.eq_ignore_ascii_case("default") => {
                                (Some(i), Some(usual[i]))
                            }
                            _ => (None, None),
                        },
                    };
                    match (at, flag) {
                        (Some(i), _) if named[i] => return Err(wrong_value(self.name, part)),
                        (Some(i), Some(on)) => (named[i], flags[i]) = (true, on),
                        (Some(i), None) => {
                            named[i] = true;
                            // What is named stands, wherever it is named.
                            let rest = |j: &usize| !named[*j];
                            (0..names.len())
                                .filter(rest)
                                .for_each(|j| flags[j] = usual[j]);
                        }
                        _ => return Err(wrong_value(self.name, part)),
                    }
                }
            }
            _ => return Err(wrong_type(self.name)),
        }
        let shown = |(n, on): (&&str, &bool)| format!("{n}={}", if *on { "on" } else { "off" });
        let all: Vec<String> = names.iter().zip(&flags).map(shown).collect();
        ok(VarValue::text(all.join(",")))
    }

    fn switch(&self, value: &Value) -> SqlResult<Accepted> {
        match value {
            Value::Int(0) | Value::UInt(0) => ok(VarValue::Bool(false)),
            Value::Int(1) | Value::UInt(1) => ok(VarValue::Bool(true)),
            Value::Str(s) if s.eq_ignore_ascii_case("on") => ok(VarValue::Bool(true)),
            Value::Str(s) if s.eq_ignore_ascii_case("off") => ok(VarValue::Bool(false)),
            // MariaDB's engines take the beginning of a word.
            Value::Str(s) if s.eq_ignore_ascii_case("of") && self.is_of_an_engine() => {
                ok(VarValue::Bool(false))
            }
            Value::Int(_) | Value::UInt(_) | Value::Str(_) => {
                Err(wrong_value(self.name, &show_value(value)))
            }
            _ => Err(wrong_type(self.name)),
        }
    }

    fn number(&self, value: &Value, min: f64, max: f64) -> SqlResult<Accepted> {
        let v = match value {
            Value::Int(n) => *n as f64,
            Value::UInt(n) => *n as f64,
            Value::Double(d) => *d,
            Value::Float(d) => f64::from(*d),
            Value::Decimal(d) => d.to_string().parse().unwrap_or(0.0),
            _ => return Err(wrong_type(self.name)),
        };
        let fitted = v.clamp(min, max);
        Ok(Accepted {
            value: VarValue::Double(fitted),
            truncated: (fitted != v).then(|| v.to_string()),
        })
    }

    /// A variable of one of MariaDB's engines.
    fn is_of_an_engine(&self) -> bool {
        let of = |engine: &str| self.name.starts_with(engine);
        of("innodb_") || of("aria_") || of("myisam_")
    }

    /// A collation by its number, or the character set whose default collation has it.
    fn collation_numbered(&self, given: &str) -> SqlResult<Accepted> {
        let id = given.parse().ok();
        let found = id.and_then(Collation::from_id);
        let found = found.filter(|c| Some(c.id()) == id);
        match (self.kind, found) {
            (Kind::Collation, Some(c)) => ok(VarValue::text(c.name())),
            (Kind::Collation, None) => Err(errors::UNKNOWN_COLLATION.with([&given])),
            (_, Some(c)) if c.charset().default_collation() == c => {
                ok(VarValue::text(c.charset().name()))
            }
            _ => Err(errors::UNKNOWN_CHARACTER_SET.with([&given])),
        }
    }

    /// A name of a list, or its position there.
    fn one_of(&self, value: &Value, names: &[&'static str]) -> SqlResult<Accepted> {
        let at = |i: Option<usize>| i.and_then(|i| names.get(i));
        let found = match value {
            Value::Str(s) => names.iter().find(|n| n.eq_ignore_ascii_case(s.trim())),
            Value::Int(i) => at(usize::try_from(*i).ok()),
            Value::UInt(i) => at(usize::try_from(*i).ok()),
            _ => return Err(wrong_type(self.name)),
        };
        match found {
            Some(n) => ok(VarValue::text(*n)),
            None => Err(wrong_value(self.name, &show_value(value))),
        }
    }

    fn sql_mode(&self, value: &Value) -> SqlResult<Accepted> {
        let mode = match value {
            Value::Str(s) => SqlMode::parse(s).map_err(|bad| wrong_value(self.name, &bad))?,
            Value::Int(i) if *i >= 0 && *i < 1 << 35 => SqlMode(*i as u64),
            Value::UInt(i) if *i < 1 << 35 => SqlMode(*i),
            Value::Int(_) | Value::UInt(_) => {
                return Err(wrong_value(self.name, &show_value(value)));
            }
            _ => return Err(wrong_type(self.name)),
        };
        let mode = with_members(mode);
        ok(VarValue::text(mode.names()))
    }

    /// A value that is a name or free text.
    fn word(&self, s: &str) -> SqlResult<Accepted> {
        let name = match self.kind {
            Kind::Charset => crate::charset::charset(s)?.name().into(),
            Kind::Collation => crate::charset::collation(s)?.name().into(),
            Kind::TimeZone => match narwal_types::Zone::parse(s) {
                Some((_, name)) => name,
                None => return Err(errors::UNKNOWN_TIME_ZONE.with([&s])),
            },
            Kind::Engine => match engine_name::own(s).or_else(|| engine_name::stood_in_for(s)) {
                Some(name) => name.into(),
                None => return Err(errors::UNKNOWN_STORAGE_ENGINE.with([&s])),
            },
            _ => s.to_string(),
        };
        ok(VarValue::text(name))
    }

    /// Checks a value of the command line or an option file. Sizes may end in K, M, G or T. The error is a sentence
    /// for the person at the terminal.
    pub fn accept_option(&self, text: Option<&str>) -> Result<Accepted, String> {
        let bad = |what: &str| {
            format!(
                "--{}: {what}, but the value is '{}'",
                self.option_name(),
                text.unwrap_or_default()
            )
        };
        let value = match (self.kind, text) {
            (Kind::Bool, None) => Value::Int(1),
            (Kind::Bool, Some(t)) => match t.to_ascii_lowercase().as_str() {
                "1" | "on" | "true" | "yes" => Value::Int(1),
                "0" | "off" | "false" | "no" => Value::Int(0),
                _ => return Err(bad("it must be ON or OFF")),
            },
            (_, None) => return Err(format!("--{} needs a value", self.option_name())),
            (Kind::UInt(min, max, _), Some(t)) => {
                let n = parse_size(t).ok_or_else(|| bad("it must be a number"))?;
                if n < min || n > max {
                    return Err(bad(&format!("it must be {min} to {max}")));
                }
                Value::UInt(n)
            }
            (Kind::Double(..), Some(t)) => {
                Value::Double(t.trim().parse().map_err(|_| bad("it must be a number"))?)
            }
            (Kind::Enum(_) | Kind::Set(_) | Kind::SqlMode, Some(t)) if t.parse::<u32>().is_ok() => {
                Value::Int(t.parse().unwrap_or(0))
            }
            // As MariaDB's servers take it: the first of a list that there is.
            (Kind::Charset, Some(t)) => {
                let known = t
                    .split(',')
                    .find(|set| crate::charset::charset(set).is_ok());
                Value::str(known.unwrap_or(t))
            }
            (_, Some(t)) => Value::str(t),
        };
        self.accept(&value).map_err(|e| e.message.to_string())
    }
}

/// Members of a set by their names, with commas between, in the set's order; `all` alone names each. Else the name that is
/// none.
fn set_named<'g>(names: &[&str], given: &'g str) -> Result<String, &'g str> {
    if given.eq_ignore_ascii_case("all") {
        return Ok(names.join(","));
    }
    let mut mask = 0u64;
    // Blanks behind a name say nothing.
    let parts = given.split(',').map(|p| p.trim_end_matches(' '));
    for part in parts.filter(|p| !p.is_empty()) {
        let at = names.iter().position(|n| n.eq_ignore_ascii_case(part));
        mask |= 1 << at.ok_or(part)?;
    }
    Ok(members(names, mask))
}

/// Members of a set as a bit mask.
fn set_numbered(names: &[&str], given: &str) -> Option<String> {
    let mask = given.parse::<u64>().ok()?;
    (mask >> names.len() == 0).then(|| members(names, mask))
}

/// The names of a mask's bits.
fn members(names: &[&str], mask: u64) -> String {
    let members: Vec<&str> = names
        .iter()
        .enumerate()
        .filter(|(i, _)| mask >> i & 1 == 1)
        .map(|(_, n)| *n)
        .collect();
    members.join(",")
}

fn show_value(v: &Value) -> String {
    match v {
        Value::Int(i) => i.to_string(),
        Value::UInt(i) => i.to_string(),
        Value::Str(s) => s.to_string(),
        _ => String::new(),
    }
}

/// A number with an optional K, M, G or T.
pub fn parse_size(text: &str) -> Option<u64> {
    let t = text.trim();
    let (digits, unit) = match t.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&t[..t.len() - 1], 1 << 10),
        b'm' => (&t[..t.len() - 1], 1 << 20),
        b'g' => (&t[..t.len() - 1], 1 << 30),
        b't' => (&t[..t.len() - 1], 1u64 << 40),
        _ => (t, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Modes that stand for several set their members too, given by name or by number.
fn with_members(mode: SqlMode) -> SqlMode {
    const OTHER_SERVERS: &str =
        "PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,NO_KEY_OPTIONS,NO_TABLE_OPTIONS,NO_FIELD_OPTIONS";
    const MAXDB: &str = "PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,NO_KEY_OPTIONS,NO_TABLE_OPTIONS,NO_FIELD_OPTIONS,NO_AUTO_CREATE_USER";
    let mut all = SqlMode::parse(&mode.names()).unwrap_or(mode);
    for (i, name) in narwal_sql::sql_mode::SQL_MODE_NAMES.iter().enumerate() {
        let members = match *name {
            _ if mode.0 >> i & 1 == 0 => continue,
            "POSTGRESQL" | "MSSQL" | "DB2" => OTHER_SERVERS,
            "MAXDB" => MAXDB,
            "MYSQL323" | "MYSQL40" => "HIGH_NOT_PRECEDENCE",
            _ => continue,
        };
        all.0 |= SqlMode::parse(members).map_or(0, |m| m.0);
    }
    all
}
