//! Values of system variables.

use narwal_types::Value;
use std::sync::Arc;
use std::time::Duration;

/// A variable's value.
#[derive(Debug, Clone, PartialEq)]
pub enum VarValue {
    /// ON or OFF.
    Bool(bool),
    /// An integer.
    UInt(u64),
    /// A floating-point number.
    Double(f64),
    /// Anything else.
    Text(Arc<str>),
    /// NULL (`character_set_results` only).
    Null,
}

impl VarValue {
    /// As an expression sees it: ON and OFF are 1 and 0.
    pub fn to_value(&self) -> Value {
        match self {
            VarValue::Bool(b) => Value::Int(i64::from(*b)),
            VarValue::UInt(u) => Value::UInt(*u),
            VarValue::Double(d) => Value::Double(*d),
            VarValue::Text(t) => Value::str(&**t),
            VarValue::Null => Value::Null,
        }
    }

    /// As SHOW VARIABLES prints it.
    pub fn show(&self) -> String {
        match self {
            VarValue::Bool(b) => if *b { "ON" } else { "OFF" }.into(),
            VarValue::UInt(u) => u.to_string(),
            VarValue::Double(d) => format!("{d:.6}"),
            VarValue::Text(t) => t.to_string(),
            VarValue::Null => String::new(),
        }
    }

    /// True for ON.
    pub fn as_bool(&self) -> bool {
        matches!(self, VarValue::Bool(true))
    }

    /// The integer, 0 for other kinds.
    pub fn as_u64(&self) -> u64 {
        match self {
            VarValue::UInt(u) => *u,
            _ => 0,
        }
    }

    /// The integer, the largest if it does not fit.
    pub fn as_u32(&self) -> u32 {
        u32::try_from(self.as_u64()).unwrap_or(u32::MAX)
    }

    /// The integer as seconds.
    pub(crate) fn seconds(&self) -> Duration {
        Duration::from_secs(self.as_u64())
    }

    /// The number, 0 for other kinds.
    pub fn as_f64(&self) -> f64 {
        match self {
            VarValue::Double(d) => *d,
            VarValue::UInt(u) => *u as f64,
            _ => 0.0,
        }
    }

    /// The text, empty for other kinds.
    pub fn as_str(&self) -> &str {
        match self {
            VarValue::Text(t) => t,
            _ => "",
        }
    }

    /// Text.
    pub fn text(s: impl Into<Arc<str>>) -> Self {
        VarValue::Text(s.into())
    }
}
