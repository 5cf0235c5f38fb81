//! SET STATEMENT name = value, ... FOR statement: session variables that hold for one statement.
//!
//! MariaDB's Connector/J, and so Debezium, puts `SET STATEMENT max_statement_time = n FOR` before every statement of a
//! connection with a query time-out, transaction control and SET included.

use crate::admin::SetItem;
use crate::session::ClientSession;
use crate::status;
use crate::variables::parts::SessionParts;
use crate::variables::{self, VARIABLES, VarValue};
use narwal_syntax::Statement;
use narwal_types::errors;
use narwal_types::{ResultSink, SqlResult};

/// Puts state back.
type PutBack = fn(&mut dyn SessionParts, u64);

/// What the variables were before.
#[derive(Default)]
pub(crate) struct Before {
    stored: Vec<(usize, Option<VarValue>)>,
    /// State that is not a setting, with what puts it back. Only if it was set here: a statement under other settings leaves
    /// its own.
    state: Vec<(PutBack, u64)>,
}

impl ClientSession {
    /// Runs a statement under other settings, which end with it, whether it fails or not. Of settings inside settings only
    /// the innermost hold, as in MariaDB; the others are checked.
    pub(crate) fn run_with_settings(
        &mut self,
        settings: &[Vec<SetItem>],
        statement: Statement,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let before = match self.begin_settings(settings) {
            Ok(b) => b,
            Err(e) => {
                self.begin_statement(status::ADMIN_COMMANDS, false);
                return self.fail(e);
            }
        };
        self.announce_results(out);
        let r = self.dispatch(statement, text, out, more);
        self.put_back(before);
        self.announce_results(out);
        r
    }

    /// Sets variables for one statement; [`Self::put_back`] ends that.
    pub(crate) fn begin_settings(&mut self, settings: &[Vec<SetItem>]) -> SqlResult<Before> {
        let mut before = None;
        for items in settings {
            if let Some(earlier) = before.take() {
                self.put_back(earlier);
            }
            before = Some(self.assign_for_statement(items)?);
        }
        Ok(before.unwrap_or_default())
    }

    fn assign_for_statement(&mut self, items: &[SetItem]) -> SqlResult<Before> {
        let mut before = Before::default();
        for item in items {
            let SetItem::System { name, .. } = item else {
                continue;
            };
            let Some(i) = variables::index(name) else {
                continue;
            };
            let hooks = &VARIABLES[i].hooks;
            if !hooks.for_one_statement {
                return Err(errors::SET_STATEMENT_NOT_SUPPORTED.with([&name]));
            }
            match hooks.kept {
                Some((keep, put_back)) => before.state.push((put_back, keep(self))),
                None => before.stored.push((i, self.vars.own(i))),
            }
        }
        self.set_variables(items)?;
        Ok(before)
    }

    pub(crate) fn put_back(&mut self, before: Before) {
        // Backwards: of a variable named twice, the first one's value is the old one.
        for (i, own) in before.stored.into_iter().rev() {
            self.vars.restore(i, own);
        }
        for (put_back, v) in before.state.into_iter().rev() {
            put_back(self, v);
        }
        self.text_plans.clear();
        self.refresh_settings();
    }
}
