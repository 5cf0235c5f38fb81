//! `gtid_next`: the name, in MySQL's form, that a session's next transaction is to have, and who holds which name.
//!
//! A name is one session's from SET until its transaction ends; another that asks for it waits. So two clients that replay
//! the same log bring each transaction once. A name that the server has already is held by nobody: its transaction is
//! passed over.

use narwal_binlog::MysqlGtid;
use narwal_engine::{Origin, SourceGtid};
use narwal_types::{SqlError, SqlResult, errors, work};
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Stands in a log record where a source's connection has its number.
const NO_CHANNEL: u32 = u32::MAX;
/// How often one who waits looks whether its statement is to end.
const LOOK: Duration = Duration::from_millis(50);

/// The names that sessions hold, and the connections that hold them.
#[derive(Debug, Default)]
pub(crate) struct HeldNames {
    held: Mutex<HashMap<MysqlGtid, u32>>,
    released: Condvar,
}

impl HeldNames {
    /// `@@global.gtid_owned`: `uuid:number#connection`, a comma between two.
    pub(crate) fn text(&self) -> String {
        let mut list: Vec<String> = (self.held.lock().iter())
            .map(|(gtid, connection)| format!("{gtid}#{connection}"))
            .collect();
        list.sort();
        list.join(",")
    }

    /// Takes a name once nobody else holds it; `None` if the server has it by then.
    fn take(
        self: &Arc<Self>,
        gtid: MysqlGtid,
        connection: u32,
        is_known: &dyn Fn(&MysqlGtid) -> bool,
    ) -> SqlResult<Option<Held>> {
        let mut held = self.held.lock();
        while held.contains_key(&gtid) {
            self.released.wait_for(&mut held, LOOK);
            if work::stopped() {
                return Err(errors::QUERY_INTERRUPTED.plain());
            }
        }
        if is_known(&gtid) {
            return Ok(None);
        }
        held.insert(gtid, connection);
        Ok(Some(Held {
            gtid,
            names: self.clone(),
        }))
    }
}

/// A name that a session holds; dropping it lets it go.
#[derive(Debug)]
struct Held {
    gtid: MysqlGtid,
    names: Arc<HeldNames>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.names.held.lock().remove(&self.gtid);
        self.names.released.notify_all();
    }
}

#[derive(Debug, Default)]
enum State {
    /// The server names transactions itself.
    #[default]
    Automatic,
    /// The next transaction has this name.
    Holds(Held),
    /// The server has a transaction of this name: the next one is passed over.
    Known(MysqlGtid),
    /// The transaction of this name has ended, and nothing was said of the next.
    Spent(MysqlGtid),
}

/// What a session does with a statement that would have to be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It runs.
    Runs,
    /// It belongs to a transaction that is here already.
    PassedOver,
}

/// A session's `gtid_next`.
#[derive(Debug, Default)]
pub(crate) struct GtidNext {
    state: Mutex<State>,
    /// The state is not [`State::Automatic`]: what each statement asks for.
    named: AtomicBool,
}

impl GtidNext {
    /// Whether something was said of the next transaction's name.
    #[inline]
    pub(crate) fn is_named(&self) -> bool {
        self.named.load(Ordering::Relaxed)
    }

    fn set(&self, state: State) {
        self.named
            .store(!matches!(state, State::Automatic), Ordering::Relaxed);
        *self.state.lock() = state;
    }

    /// The variable's value.
    pub(crate) fn text(&self) -> String {
        match &*self.state.lock() {
            State::Automatic => AUTOMATIC.to_owned(),
            State::Holds(Held { gtid, .. }) | State::Known(gtid) | State::Spent(gtid) => {
                gtid.to_string()
            }
        }
    }

    /// `@@session.gtid_owned`.
    pub(crate) fn held(&self) -> Option<MysqlGtid> {
        match &*self.state.lock() {
            State::Holds(h) => Some(h.gtid),
            _ => None,
        }
    }

    /// Where the next transaction comes from, as its log record says.
    pub(crate) fn origin(&self) -> Option<Arc<Origin>> {
        self.held().map(|gtid| {
            Arc::new(Origin {
                channel: NO_CHANNEL,
                file: "".into(),
                pos: 0,
                gtid: SourceGtid::Mysql(gtid),
            })
        })
    }

    /// SET gtid_next.
    ///
    /// # Errors
    /// 1790: a name is held, whose transaction has not ended.
    pub(crate) fn say(
        &self,
        next: Option<MysqlGtid>,
        names: &Arc<HeldNames>,
        connection: u32,
        is_known: &dyn Fn(&MysqlGtid) -> bool,
    ) -> SqlResult<()> {
        if let Some(held) = self.held() {
            return Err(errors::CANT_SET_GTID_NEXT_WHEN_OWNING_GTID.with([&held]));
        }
        let Some(gtid) = next else {
            self.set(State::Automatic);
            return Ok(());
        };
        self.set(match names.take(gtid, connection, is_known)? {
            Some(held) => State::Holds(held),
            None => State::Known(gtid),
        });
        Ok(())
    }

    /// Whether a statement runs that would have to be logged.
    ///
    /// # Errors
    /// 1837: the name was used already.
    pub(crate) fn turn(&self) -> SqlResult<Turn> {
        match &*self.state.lock() {
            State::Automatic | State::Holds(_) => Ok(Turn::Runs),
            State::Known(_) => Ok(Turn::PassedOver),
            State::Spent(gtid) => Err(errors::GTID_NEXT_TYPE_UNDEFINED_GTID.with([gtid])),
        }
    }

    /// The transaction has ended: its name is used, or given up.
    #[inline]
    pub(crate) fn end(&self) {
        // Every commit and rollback comes here.
        if !self.is_named() {
            return;
        }
        let mut state = self.state.lock();
        if let State::Holds(Held { gtid, .. }) | State::Known(gtid) = *state {
            *state = State::Spent(gtid);
        }
    }

    /// A reset of the connection.
    pub(crate) fn forget(&self) {
        self.set(State::Automatic);
    }
}

/// The value that leaves names to the server.
pub(crate) const AUTOMATIC: &str = "AUTOMATIC";

/// Reads the variable's value; `None`: AUTOMATIC.
///
/// # Errors
/// 1774 for what is no name, 1782 for ANONYMOUS, since every transaction has a name here, 1235 for AUTOMATIC with a tag.
pub(crate) fn gtid_next(text: &str) -> SqlResult<Option<MysqlGtid>> {
    let plain = text.trim();
    if plain.eq_ignore_ascii_case(AUTOMATIC) {
        return Ok(None);
    }
    if plain.eq_ignore_ascii_case("ANONYMOUS") {
        return Err(errors::CANT_SET_GTID_NEXT_TO_ANONYMOUS_WHEN_GTID_MODE_IS_ON.plain());
    }
    let tagged = plain.split_once(':').map(|(kind, _)| kind.trim());
    if tagged.is_some_and(|kind| kind.eq_ignore_ascii_case(AUTOMATIC)) {
        return Err(SqlError::unsupported("gtid_next = 'AUTOMATIC:tag'"));
    }
    let malformed = || errors::MALFORMED_GTID_SPECIFICATION.with([&text]);
    plain.parse().map(Some).map_err(|_| malformed())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1";

    #[test]
    fn values() {
        assert_eq!(gtid_next("automatic").unwrap(), None);
        let tagged = gtid_next(" AAAAAAAA-aaaa-aaaa-aaaa-aaaaaaaaaaaa:Tag:7 ").unwrap();
        assert_eq!(
            tagged.unwrap().to_string(),
            "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:tag:7"
        );
        for (text, code) in [
            ("", 1774),
            ("x", 1774),
            ("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:0", 1774),
            ("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1-2", 1774),
            ("Anonymous", 1782),
            ("AUTOMATIC:tag", 1235),
        ] {
            assert_eq!(gtid_next(text).unwrap_err().code, code, "{text}");
        }
    }

    #[test]
    fn a_name_is_held_until_its_transaction_ends() {
        let names = Arc::new(HeldNames::default());
        let (a, b) = (GtidNext::default(), GtidNext::default());
        let gtid = gtid_next(NAME).unwrap();
        a.say(gtid, &names, 7, &|_| false).unwrap();
        assert!(a.is_named() && a.origin().is_some());
        assert_eq!(names.text(), format!("{NAME}#7"));
        assert_eq!(a.say(None, &names, 7, &|_| false).unwrap_err().code, 1790);
        std::thread::scope(|s| {
            let other = s.spawn(|| b.say(gtid, &names, 8, &|_| true));
            a.end();
            other.join().unwrap().unwrap();
        });
        assert_eq!(a.turn().unwrap_err().code, 1837);
        assert_eq!(b.turn().unwrap(), Turn::PassedOver);
        assert_eq!(names.text(), "");
        b.end();
        assert_eq!(b.turn().unwrap_err().code, 1837);
        b.forget();
        assert_eq!(b.turn().unwrap(), Turn::Runs);
        assert_eq!(b.text(), AUTOMATIC);
    }
}
