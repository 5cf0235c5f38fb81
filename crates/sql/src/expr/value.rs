//! A computed value, and what conversions of values tell the session.

use crate::env::{StatementEnv, WarningLevel};
use narwal_syntax::sql_mode::SqlMode;
use narwal_types::convert::{SqlWarning, Warnings, to_bool};
use narwal_types::temporal_parse::DateRules;
use narwal_types::{Value, ValueRef};

/// A computed value: borrowed from the row, the parameters or the plan, or made by an operator.
#[derive(Debug, Clone)]
pub enum Val<'a> {
    /// Borrowed.
    Ref(ValueRef<'a>),
    /// Owned.
    Owned(Value),
}

impl<'a> Val<'a> {
    /// SQL NULL.
    pub const NULL: Val<'static> = Val::Ref(ValueRef::Null);

    /// The value, borrowed.
    #[inline]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Val::Ref(v) => *v,
            Val::Owned(v) => v.as_ref(),
        }
    }

    /// The value, owned.
    pub fn into_value(self) -> Value {
        match self {
            Val::Ref(v) => v.to_value(),
            Val::Owned(v) => v,
        }
    }

    /// True for SQL NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.as_ref().is_null()
    }

    /// A truth value: 1, 0 or NULL.
    pub fn bool(b: Option<bool>) -> Val<'a> {
        Val::Ref(match b {
            Some(b) => ValueRef::Int(b as i64),
            None => ValueRef::Null,
        })
    }

    /// An integer.
    pub fn int(v: i64) -> Val<'a> {
        Val::Ref(ValueRef::Int(v))
    }

    /// An owned string, or bytes where they are no UTF-8.
    pub fn text(v: String) -> Val<'a> {
        Val::Owned(Value::Str(v.into()))
    }
}

/// Truth of a value.
#[inline]
pub(crate) fn truth(v: ValueRef<'_>, env: &StatementEnv) -> Option<bool> {
    to_bool(v, &mut Warn(env))
}

/// Puts warnings of conversions into the diagnostics area.
pub(crate) struct Warn<'a>(pub &'a StatementEnv);

/// The same, or nobody.
pub(crate) struct Told<'a>(pub Option<Warn<'a>>);

impl Warnings for Told<'_> {
    fn push(&mut self, w: SqlWarning) {
        if let Some(warn) = &mut self.0 {
            warn.push(w);
        }
    }
}

/// Puts a warning of a conversion into the diagnostics area.
pub fn push_warning(env: &StatementEnv, w: SqlWarning) {
    Warn(env).push(w);
}

impl Warnings for Warn<'_> {
    fn push(&mut self, w: SqlWarning) {
        let level = if w.note {
            WarningLevel::Note
        } else {
            WarningLevel::Warning
        };
        self.0.push_condition(level, w.code, w.message);
    }
}

/// Which dates the session's mode holds valid.
pub fn date_rules(env: &StatementEnv) -> DateRules {
    DateRules {
        no_zero_in_date: env.sql_mode.has(SqlMode::NO_ZERO_IN_DATE),
        no_zero_date: env.sql_mode.has(SqlMode::NO_ZERO_DATE),
        allow_invalid: env.sql_mode.has(SqlMode::ALLOW_INVALID_DATES),
        rounds: rounds(env),
    }
}

/// True if fractions of seconds are rounded (`sql_mode=TIME_ROUND_FRACTIONAL`), not cut off.
pub(crate) fn rounds(env: &StatementEnv) -> bool {
    env.sql_mode.has(SqlMode::TIME_ROUND_FRACTIONAL)
}

/// Calls `f` with the value's text; no copy for strings.
pub(crate) fn with_text<T>(v: ValueRef<'_>, f: impl FnOnce(&[u8]) -> T) -> T {
    match v {
        ValueRef::Str(s) | ValueRef::Bytes(s) => f(s),
        v => {
            let mut b = Vec::with_capacity(24);
            v.write_text(&mut b);
            f(&b)
        }
    }
}
