//! Commits whose answers others send.
//!
//! A commit that ends its command need not be waited for while another thread leads the log's flush: that thread sends the
//! answer when the commit is durable (`Log::leave`), and the connection reads its next command.

use narwal_engine::{OnDone, Reserved};
use std::sync::Arc;

/// What a session knows of its answer to a commit.
#[derive(Default)]
pub(crate) struct LateAnswers {
    /// How others send it; `None`: they can't.
    by: Option<Arc<dyn OnDone>>,
    /// The commit that is being made ends the command: nothing comes behind its answer.
    is_last: bool,
    /// A commit that nobody has waited for yet.
    pending: Option<Reserved>,
}

impl LateAnswers {
    /// Others can send answers, by this.
    pub(crate) fn set(&mut self, by: Arc<dyn OnDone>) {
        self.by = Some(by);
    }

    /// Says whether the next commit ends its command.
    pub(crate) fn next_is_last(&mut self, yes: bool) {
        self.is_last = yes;
    }

    /// Keeps a commit that may be answered later, or gives it back: it has to be waited for. `led`: whether another thread
    /// leads the flush.
    #[inline]
    pub(crate) fn keep(
        &mut self,
        commit: Reserved,
        led: impl FnOnce() -> bool,
    ) -> Option<Reserved> {
        if std::mem::take(&mut self.is_last) && self.by.is_some() && led() {
            self.pending = Some(commit);
            return None;
        }
        Some(commit)
    }

    /// Whether there is a commit that nobody has waited for.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// That commit, to be waited for or left to others.
    pub(crate) fn take(&mut self) -> Option<Reserved> {
        self.pending.take()
    }

    /// How others send its answer.
    pub(crate) fn by(&self) -> Option<&Arc<dyn OnDone>> {
        self.by.as_ref()
    }
}
