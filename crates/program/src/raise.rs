//! Conditions: which handler deals with one; SIGNAL, RESIGNAL and GET DIAGNOSTICS.

use crate::code::{Calc, Handler, SignalCode, Target, Wanted, is_fatal};
use crate::run::{Caught, Flow, Run, no_data};
use narwal_sql::{Condition, Raised, WarningLevel};
use narwal_types::errors::codes;
use narwal_types::face::is_mysql;
use narwal_types::{Collation, SqlError, SqlResult, Value, errors};

/// How well a handler's condition fits: the smallest number fits best. `None`: not at all.
fn fit(
    wanted: Wanted,
    code: u16,
    state: &[u8; 5],
    level: WarningLevel,
    own: Option<usize>,
) -> Option<u8> {
    let class = &state[..2];
    let fits = |yes: bool, rank: u8| yes.then_some(rank);
    match wanted {
        Wanted::Code(n) => fits(n == code, 0),
        Wanted::State(s) => fits(&s == state, 1),
        Wanted::Warning => {
            // MariaDB looks at the level as well: at that of SELECT ... INTO without a row, too.
            let warning = level == WarningLevel::Warning && (class != b"02" || !is_mysql());
            fits(class == b"01" || warning, 2)
        }
        Wanted::NotFound => fits(class == b"02", 2),
        Wanted::Own(n) => fits(own == Some(n), 0),
        Wanted::Others => fits(level != WarningLevel::Note, 3),
        Wanted::Exception => {
            let error = level == WarningLevel::Error;
            fits(error && class != b"01" && class != b"02", 2)
        }
    }
}

impl<'p> Run<'p, '_> {
    /// The handler for a condition: that of the innermost block that has one, and there the one that fits best. With the
    /// block's place.
    fn handler(&self, e: &SqlError, level: WarningLevel) -> Option<(usize, &'p Handler)> {
        for (at, block) in self.handlers.iter().enumerate().rev() {
            let mut best: Option<(u8, &'p Handler)> = None;
            for h in &block.handlers {
                for w in &h.wanted {
                    if let Some(rank) = fit(*w, e.code, &e.sqlstate, level, self.own)
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
        if std::mem::take(&mut self.uncaught) || is_fatal(e.code) {
            return Err(e);
        }
        let Some((at, handler)) = self.handler(&e, WarningLevel::Error) else {
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
        env.push_trace();
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
        let own = self.own.take();
        let handled = (error.code, error.message.clone());
        let known = self.host.env().mark_conditions();
        self.caught.push(Caught { error, level, own });
        self.tell_caught();
        let flow = self.step(&handler.body);
        self.caught.pop();
        self.tell_caught();
        self.handlers.truncate(at);
        self.handlers.extend(inner);
        self.uncaught = flow.is_err();
        self.dealt = true;
        Ok(match flow? {
            Flow::Next => {
                // What the handler itself has raised stays.
                self.host.env().forget_conditions(known);
                match handler.exit {
                    true => Flow::Leave(block.id),
                    false => Flow::Next,
                }
            }
            Flow::Return => {
                self.host.env().forget_condition(handled.0, &handled.1);
                Flow::Return
            }
            flow => flow,
        })
    }

    /// Puts the number and the text of what a handler is dealing with where SQLCODE and SQLERRM are looked for.
    pub(crate) fn tell_caught(&mut self) {
        let [code, text] = self.program.caught;
        let last = self.caught.last().map(|c| &c.error);
        if let Some(slot) = code {
            self.values[slot] = Value::Int(last.map_or(0, |e| i64::from(e.code)));
        }
        if let Some(slot) = text {
            let message = last.map_or("normal, successful completion", |e| &*e.message);
            self.values[slot] = Value::str(message);
        }
    }

    /// Raises a warning, or that there are no rows.
    pub(crate) fn warn(&mut self, w: &SqlError) -> SqlResult<Flow> {
        let env = self.host.env();
        env.warn(w.code, w.message.clone());
        if env.max_error_count == 0 {
            // Where no condition is kept, there is none to deal with.
            return Ok(Flow::Next);
        }
        match self.handler(w, WarningLevel::Warning) {
            Some((at, h)) => self.deal(at, h, w.clone(), WarningLevel::Warning),
            None => Ok(Flow::Next),
        }
    }

    /// Behind a statement: a handler runs for the last of its warnings and notes that there is one for.
    pub(crate) fn after_warnings(&mut self) -> SqlResult<Flow> {
        let env = self.host.env();
        if env.warning_count() == 0 || self.handlers.is_empty() {
            return Ok(Flow::Next);
        }
        let found = {
            let all = env.conditions();
            let mut warnings = all.iter().rev().filter(|c| c.level != WarningLevel::Error);
            warnings.find_map(|c| {
                let w = SqlError::new(c.code, errors::sqlstate(c.code), c.message.clone());
                let (at, h) = self.handler(&w, c.level)?;
                Some((at, h, w, c.level))
            })
        };
        match found {
            Some((at, h, w, level)) if !self.is_dealt_with(&w) => self.deal(at, h, w, level),
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
        self.own = match (s.raised, &caught) {
            (Some(Wanted::Own(n)), _) => Some(n),
            (None, Some(c)) => c.own,
            _ => None,
        };
        if let Some(Wanted::Code(code)) = s.raised {
            return self.raise_predefined(code);
        }
        let state = match s.raised {
            Some(Wanted::State(s)) => Some(s),
            Some(_) => Some(*b"45000"),
            None => None,
        };
        let mut e = match (s.again, state, caught) {
            (true, _, None) => return Err(errors::RESIGNAL_WITHOUT_ACTIVE_HANDLER.plain()),
            (true, None, Some(c)) if s.set.is_empty() && c.level == WarningLevel::Warning => {
                return self.warn(&c.error);
            }
            (true, None, Some(c)) => c.error,
            (again, Some(state), caught) => {
                let kind = match &state[..2] {
                    b"01" => errors::SIGNAL_WARN,
                    b"02" => errors::SIGNAL_NOT_FOUND,
                    _ => errors::SIGNAL_EXCEPTION,
                };
                // RESIGNAL keeps the text of what its handler deals with.
                match caught.filter(|_| again) {
                    Some(c) => SqlError::new(kind.code, &state, c.error.message),
                    None => SqlError::new(kind.code, &state, kind.template),
                }
            }
            (false, None, _) => return Err(errors::SIGNAL_BAD_CONDITION_TYPE.plain()),
        };
        let mut items = match s.again {
            true => self.items_of(&e),
            false => Vec::new(),
        };
        // A new condition stands alone; RESIGNAL that names none changes its handler's.
        if !s.again || (s.raised.is_none() && !s.set.is_empty()) {
            self.host.env().clear_conditions();
        }
        for (item, calc) in &s.set {
            let v = self.calc(calc)?;
            if v.is_null() {
                return Err(errors::WRONG_VALUE_FOR_VAR.with([item, &"NULL"]));
            }
            let mut text = v.as_ref().to_text().to_string();
            if *item != "MYSQL_ERRNO" {
                self.fit_item(item, &mut text)?;
            }
            match *item {
                "MESSAGE_TEXT" => e.message = text.into(),
                "MYSQL_ERRNO" => {
                    let code = number(&v).and_then(|n| u16::try_from(n).ok());
                    e.code = match code.filter(|c| (1..u16::MAX).contains(c)) {
                        Some(c) => c,
                        None => {
                            return Err(errors::WRONG_VALUE_FOR_VAR.with([item, &text]));
                        }
                    };
                }
                _ => {
                    items.retain(|(i, _): &(&str, _)| i != item);
                    items.push((*item, text.into()));
                }
            }
        }
        let raised = Raised {
            sqlstate: e.sqlstate,
            items,
        };
        *self.host.env().raised.borrow_mut() = Some((e.clone(), raised));
        match &e.sqlstate[..2] == b"01" {
            true => self.warn(&e),
            false => Err(e),
        }
    }

    /// Cuts the text of an item of a condition to what it may take: under a strict sql_mode error 1648, else a warning.
    fn fit_item(&self, item: &str, text: &mut String) -> SqlResult<()> {
        let most = match item {
            "MESSAGE_TEXT" => 512,
            _ => 64,
        };
        let Some((end, _)) = text.char_indices().nth(most) else {
            return Ok(());
        };
        let env = self.host.env();
        if env.sql_mode.strict() {
            return Err(errors::COND_ITEM_TOO_LONG.with([&item]));
        }
        text.truncate(end);
        let w = errors::WARN_COND_ITEM_TRUNCATED.with([&item]);
        env.warn(w.code, w.message);
        Ok(())
    }

    /// RAISE of an exception that sql_mode=ORACLE has a name for: as if what it is about had happened.
    fn raise_predefined(&mut self, code: u16) -> SqlResult<Flow> {
        let text = errors::bare_text(code);
        let text = match code == codes::SP_FETCH_NO_DATA {
            true => no_data(),
            false => SqlError::new(code, errors::sqlstate(code), text),
        };
        self.host.env().clear_conditions();
        match code == codes::SP_FETCH_NO_DATA {
            true => self.warn(&text),
            false => Err(text),
        }
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
        let n = self.calc(condition)?;
        let n = number(&n).and_then(|n| usize::try_from(n).ok());
        let env = self.host.env();
        let found = n.and_then(|n| n.checked_sub(1)).and_then(|at| {
            let all = env.conditions();
            all.get(at).cloned()
        });
        let Some(c) = found else {
            // As in MariaDB: told among the conditions, and no failure.
            let e = errors::DA_INVALID_CONDITION_NUMBER.plain();
            env.push_condition(WarningLevel::Error, e.code, e.message);
            return Ok(());
        };
        let state = match &c.raised {
            Some(r) => r.sqlstate,
            None => self.state_of(c.code, &c.message),
        };
        for (target, item) in items {
            let v = match *item {
                "RETURNED_SQLSTATE" => Value::str(String::from_utf8_lossy(&state).as_ref()),
                "MYSQL_ERRNO" => Value::Int(i64::from(c.code)),
                "MESSAGE_TEXT" => Value::str(&*c.message),
                "ROW_NUMBER" => {
                    let items = c.raised.iter().flat_map(|r| &r.items);
                    let said = items.into_iter().find(|(i, _)| *i == "ROW_NUMBER");
                    let said = said.and_then(|(_, text)| text.trim().parse::<i64>().ok());
                    Value::Int(said.unwrap_or(c.row as i64))
                }
                item => {
                    let items = c.raised.iter().flat_map(|r| &r.items);
                    let said = items.into_iter().find(|(i, _)| *i == item);
                    Value::str(said.map_or("", |(_, text)| &**text))
                }
            };
            match (target, v) {
                (Target::User(name), v @ Value::Str(_)) => {
                    let vars = &self.host.env().variables;
                    vars.set_user_text(name, v, Collation::Utf8mb3GeneralCi);
                }
                (target, v) => self.put(target, v)?,
            }
        }
        Ok(())
    }

    fn state_of(&self, code: u16, message: &str) -> [u8; 5] {
        let same = |e: &SqlError| e.code == code && &*e.message == message;
        if let Some(c) = self.caught.iter().rev().find(|c| same(&c.error)) {
            return c.error.sqlstate;
        }
        match &*self.host.env().raised.borrow() {
            Some((e, _)) if same(e) => e.sqlstate,
            _ => *errors::sqlstate(code),
        }
    }

    /// What SIGNAL said of a condition that is still in the diagnostics area.
    fn items_of(&self, e: &SqlError) -> Vec<(&'static str, Box<str>)> {
        let all = self.host.env().conditions();
        let same = |c: &&Condition| c.code == e.code && c.message == e.message;
        let known = all.iter().rev().find(same).and_then(|c| c.raised.as_ref());
        known.map_or_else(Vec::new, |r| r.items.clone())
    }
}

/// A value as a whole number: a fraction is cut, a text is read, bytes are digits.
fn number(v: &Value) -> Option<i64> {
    match v {
        Value::Int(n) => Some(*n),
        Value::UInt(n) => i64::try_from(*n).ok(),
        Value::Null => None,
        Value::Bytes(b) if b.len() <= 7 => Some(b.iter().fold(0, |n, b| n * 256 + i64::from(*b))),
        v => {
            let text = v.as_ref().to_text();
            let n: f64 = text.trim().parse().ok()?;
            // What is no number of a condition either way becomes a bound.
            Some(n as i64)
        }
    }
}
