//! Conditions: which handler deals with one; SIGNAL, RESIGNAL and GET DIAGNOSTICS.

use crate::code::{Calc, Handler, SignalCode, Target, Wanted};
use crate::run::{Caught, Flow, Run};
use narwal_sql::WarningLevel;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult, Value, errors};

/// How well a handler's condition fits: the smallest number fits best. `None`: not at all.
fn fit(wanted: Wanted, code: u16, state: &[u8; 5], warning: bool) -> Option<u8> {
    let class = &state[..2];
    let fits = |yes: bool, rank: u8| yes.then_some(rank);
    match wanted {
        Wanted::Code(n) => fits(n == code, 0),
        Wanted::State(s) => fits(&s == state, 1),
        Wanted::Warning => fits(class == b"01" || (warning && class != b"02"), 2),
        Wanted::NotFound => fits(class == b"02", 2),
        Wanted::Exception => fits(!warning && class != b"01" && class != b"02", 2),
    }
}

/// What ends a program whatever handlers it has.
fn is_fatal(code: u16) -> bool {
    matches!(
        code,
        codes::QUERY_INTERRUPTED
            | codes::CONNECTION_KILLED
            | codes::STATEMENT_TIMEOUT
            | codes::OUT_OF_RESOURCES
            | codes::OPTION_PREVENTS_STATEMENT
    )
}

impl<'p> Run<'p, '_> {
    /// The handler for a condition: that of the innermost block that has one, and there the one that fits best. With the
    /// block's place.
    fn handler(&self, e: &SqlError, warning: bool) -> Option<(usize, &'p Handler)> {
        for (at, block) in self.handlers.iter().enumerate().rev() {
            let mut best: Option<(u8, &'p Handler)> = None;
            for h in &block.handlers {
                for w in &h.wanted {
                    if let Some(rank) = fit(*w, e.code, &e.sqlstate, warning)
                        && best.is_none_or(|(r, _)| rank < r)
                    {
                        best = Some((rank, h));
                    }
                }
            }
            if let Some((_, h)) = best {
                return Some((at, h));
            }
        }
        None
    }

    /// Looks for a handler of an error and runs it; without one the error goes on.
    pub(crate) fn catch(&mut self, e: SqlError) -> SqlResult<Flow> {
        if is_fatal(e.code) {
            return Err(e);
        }
        let Some((at, handler)) = self.handler(&e, false) else {
            return Err(e);
        };
        let env = self.host.env();
        let known = {
            let all = env.conditions();
            let last = all.last();
            last.is_some_and(|c| c.level == WarningLevel::Error && c.code == e.code)
        };
        if !known {
            env.clear_conditions();
            env.push_condition(WarningLevel::Error, e.code, e.message.clone());
        }
        self.deal(at, handler, e, WarningLevel::Error)
    }

    fn deal(
        &mut self,
        at: usize,
        handler: &'p Handler,
        error: SqlError,
        level: WarningLevel,
    ) -> SqlResult<Flow> {
        let block = self.handlers[at];
        let inner = self.handlers.split_off(at);
        self.caught.push(Caught { error, level });
        let flow = self.step(&handler.body);
        self.caught.pop();
        self.handlers.truncate(at);
        self.handlers.extend(inner);
        Ok(match flow? {
            Flow::Next => {
                self.host.env().clear_conditions();
                match handler.exit {
                    true => Flow::Leave(block.id),
                    false => Flow::Next,
                }
            }
            flow => flow,
        })
    }

    /// Raises a warning, or that there are no rows.
    pub(crate) fn warn(&mut self, w: &SqlError) -> SqlResult<Flow> {
        self.host.env().warn(w.code, w.message.clone());
        match self.handler(w, true) {
            Some((at, h)) => self.deal(at, h, w.clone(), WarningLevel::Warning),
            None => Ok(Flow::Next),
        }
    }

    /// Behind a statement: a handler for its last warning runs.
    pub(crate) fn after_warnings(&mut self) -> SqlResult<Flow> {
        let env = self.host.env();
        if env.warning_count() == 0 || self.handlers.is_empty() {
            return Ok(Flow::Next);
        }
        let last = {
            let all = env.conditions();
            let warning = all.iter().rev().find(|c| c.level == WarningLevel::Warning);
            warning.map(|c| (c.code, c.message.clone()))
        };
        let Some((code, message)) = last else {
            return Ok(Flow::Next);
        };
        let w = SqlError::new(code, errors::sqlstate(code), message);
        match self.handler(&w, true) {
            Some((at, h)) if !self.is_dealt_with(&w) => self.deal(at, h, w, WarningLevel::Warning),
            _ => Ok(Flow::Next),
        }
    }

    /// The warning is what a handler runs for: it is not raised again by the handler's own statements.
    fn is_dealt_with(&self, w: &SqlError) -> bool {
        let same = |c: &Caught| c.error.code == w.code && c.error.message == w.message;
        self.caught.iter().any(same)
    }

    /// SIGNAL and RESIGNAL.
    pub(crate) fn signal(&mut self, s: &SignalCode) -> SqlResult<Flow> {
        let caught = self.caught.last().cloned();
        let mut e = match (s.again, s.state, caught) {
            (true, _, None) => return Err(errors::RESIGNAL_WITHOUT_ACTIVE_HANDLER.plain()),
            (true, None, Some(c)) if s.set.is_empty() && c.level == WarningLevel::Warning => {
                return self.warn(&c.error);
            }
            (true, None, Some(c)) => c.error,
            (_, Some(state), _) => {
                let kind = match &state[..2] {
                    b"01" => errors::SIGNAL_WARN,
                    b"02" => errors::SIGNAL_NOT_FOUND,
                    _ => errors::SIGNAL_EXCEPTION,
                };
                SqlError::new(kind.code, &state, kind.template)
            }
            (false, None, _) => return Err(errors::SIGNAL_BAD_CONDITION_TYPE.plain()),
        };
        for (item, calc) in &s.set {
            let v = self.calc(calc)?;
            match *item {
                "MESSAGE_TEXT" => {
                    if v.is_null() {
                        return Err(errors::WRONG_VALUE_FOR_VAR.with([&"MESSAGE_TEXT", &"NULL"]));
                    }
                    let mut text = Vec::new();
                    v.as_ref().write_text(&mut text);
                    let text = String::from_utf8_lossy(&text);
                    let cut: String = text.chars().take(128).collect();
                    e.message = cut.into();
                }
                "MYSQL_ERRNO" => {
                    let code = match v {
                        Value::Int(n) => u16::try_from(n).ok(),
                        Value::UInt(n) => u16::try_from(n).ok(),
                        _ => None,
                    };
                    e.code = match code.filter(|c| *c > 0) {
                        Some(c) => c,
                        None => {
                            let mut text = Vec::new();
                            v.as_ref().write_text(&mut text);
                            let text = String::from_utf8_lossy(&text).into_owned();
                            return Err(errors::WRONG_VALUE_FOR_VAR.with([&"MYSQL_ERRNO", &text]));
                        }
                    };
                }
                // What other items say, nobody asks for but GET DIAGNOSTICS, which gives them as empty.
                _ => {}
            }
        }
        if &e.sqlstate[..2] == b"01" {
            if !s.again {
                self.host.env().clear_conditions();
            }
            return self.warn(&e);
        }
        *self.host.env().raised.borrow_mut() = Some(e.clone());
        if !s.again {
            self.host.env().clear_conditions();
        }
        Err(e)
    }

    /// GET DIAGNOSTICS.
    pub(crate) fn diagnostics(
        &mut self,
        condition: Option<&Calc>,
        items: &[(Target, &'static str)],
    ) -> SqlResult<()> {
        let Some(condition) = condition else {
            for (target, item) in items {
                let env = self.host.env();
                let v = match *item {
                    "NUMBER" => Value::Int(env.warning_count() as i64),
                    _ => Value::Int(env.row_count),
                };
                self.put(target, v)?;
            }
            return Ok(());
        };
        let n = match self.calc(condition)? {
            Value::Int(n) => usize::try_from(n).unwrap_or(0),
            Value::UInt(n) => usize::try_from(n).unwrap_or(0),
            _ => 0,
        };
        let env = self.host.env();
        let found = n.checked_sub(1).and_then(|at| {
            let all = env.conditions();
            all.get(at).map(|c| (c.code, c.message.clone()))
        });
        let Some((code, message)) = found else {
            return Err(errors::DA_INVALID_CONDITION_NUMBER.plain());
        };
        let state = self.state_of(code, &message);
        for (target, item) in items {
            let v = match *item {
                "RETURNED_SQLSTATE" => Value::str(String::from_utf8_lossy(&state).as_ref()),
                "MYSQL_ERRNO" => Value::Int(i64::from(code)),
                "MESSAGE_TEXT" => Value::str(&*message),
                "ROW_NUMBER" => Value::Int(0),
                "CLASS_ORIGIN" | "SUBCLASS_ORIGIN" => Value::str("ISO 9075"),
                _ => Value::str(""),
            };
            self.put(target, v)?;
        }
        Ok(())
    }

    fn state_of(&self, code: u16, message: &str) -> [u8; 5] {
        let same = |e: &SqlError| e.code == code && &*e.message == message;
        if let Some(c) = self.caught.iter().rev().find(|c| same(&c.error)) {
            return c.error.sqlstate;
        }
        match &*self.host.env().raised.borrow() {
            Some(e) if same(e) => e.sqlstate,
            _ => *errors::sqlstate(code),
        }
    }
}
