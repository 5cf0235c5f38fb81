//! `gtid_next`: the name, in MySQL's form, that a session's next transaction is to have, and who holds which name.
//!
//! A name is one session's from SET until its transaction ends; another that asks for it waits. So two clients that replay
//! the same log bring each transaction once. A name that the server has already is held by nobody: its transaction is
//! passed over.

use narwal_binlog::{GtidSet, MysqlGtid, Tag};
use narwal_engine::{Origin, SourceGtid};
use narwal_types::{SqlResult, errors, work};
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

    /// Takes the first number of a tag that no transaction has and nobody holds. `executed`: the names that the server has.
    fn take_free(self: &Arc<Self>, tag: Tag, taker: Taker, executed: &dyn Fn() -> GtidSet) -> Held {
        let mut held = self.held.lock();
        // Asked under the lock: a name is let go once the server has it.
        let executed = executed();
        let mut gtid = MysqlGtid { tag, ..taker.first };
        loop {
            gtid.number = executed.first_free(&gtid);
            if !held.contains_key(&gtid) {
                break;
            }
            gtid.number += 1;
        }
        held.insert(gtid, taker.connection);
        Held {
            gtid,
            names: self.clone(),
        }
    }
}

/// Whose numbers a session takes under AUTOMATIC with a tag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taker {
    /// The first number of the server's, without a tag.
    pub(crate) first: MysqlGtid,
    pub(crate) connection: u32,
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
    /// The server gives transactions numbers of this tag; the present one has this name.
    Tagged(Tag, Option<Held>),
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
            State::Tagged(tag, _) => format!("{AUTOMATIC}:{}", tag.name()),
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

    /// Where the next transaction comes from, as its log record says. `taker` and `executed`: for names that the server gives.
    pub(crate) fn origin(
        &self,
        names: &Arc<HeldNames>,
        taker: Taker,
        executed: &dyn Fn() -> GtidSet,
    ) -> Option<Arc<Origin>> {
        let gtid = match &mut *self.state.lock() {
            State::Holds(h) => h.gtid,
            State::Tagged(tag, held) => {
                held.get_or_insert_with(|| names.take_free(*tag, taker, executed))
                    .gtid
            }
            _ => return None,
        };
        Some(Arc::new(Origin {
            channel: NO_CHANNEL,
            file: "".into(),
            pos: 0,
            gtid: SourceGtid::Mysql(gtid),
        }))
    }

    /// A name is held that a client or the server gave.
    pub(crate) fn is_held(&self) -> bool {
        let state = self.state.lock();
        matches!(&*state, State::Holds(_) | State::Tagged(_, Some(_)))
    }

    /// The next transaction has the name that a client gave it: statements that commit it first are refused.
    pub(crate) fn is_given(&self) -> bool {
        matches!(&*self.state.lock(), State::Holds(_) | State::Known(_))
    }

    /// SET gtid_next.
    ///
    /// # Errors
    /// 1790: a name is held, whose transaction has not ended.
    pub(crate) fn say(
        &self,
        next: Next,
        names: &Arc<HeldNames>,
        connection: u32,
        is_known: &dyn Fn(&MysqlGtid) -> bool,
    ) -> SqlResult<()> {
        if let Some(held) = self.held() {
            return Err(errors::CANT_SET_GTID_NEXT_WHEN_OWNING_GTID.with([&held]));
        }
        let gtid = match next {
            Next::Automatic => {
                self.set(State::Automatic);
                return Ok(());
            }
            Next::Tagged(tag) => {
                self.set(State::Tagged(tag, None));
                return Ok(());
            }
            Next::Named(gtid) => gtid,
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
            State::Automatic | State::Tagged(..) | State::Holds(_) => Ok(Turn::Runs),
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
        match &mut *state {
            State::Tagged(_, held) => *held = None,
            State::Holds(Held { gtid, .. }) | State::Known(gtid) => *state = State::Spent(*gtid),
            State::Automatic | State::Spent(_) => {}
        }
    }

    /// A reset of the connection.
    pub(crate) fn forget(&self) {
        self.set(State::Automatic);
    }
}

/// The value that leaves names to the server.
pub(crate) const AUTOMATIC: &str = "AUTOMATIC";

/// What `gtid_next` was set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The server names transactions itself.
    Automatic,
    /// The server gives them numbers of a tag.
    Tagged(Tag),
    /// The next one has this name.
    Named(MysqlGtid),
}

/// Reads the variable's value.
///
/// # Errors
/// 1774 for what is no name, 1782 for ANONYMOUS, since every transaction has a name here.
pub(crate) fn gtid_next(text: &str) -> SqlResult<Next> {
    let plain = text.trim();
    if plain.eq_ignore_ascii_case(AUTOMATIC) {
        return Ok(Next::Automatic);
    }
    if plain.eq_ignore_ascii_case("ANONYMOUS") {
        return Err(errors::CANT_SET_GTID_NEXT_TO_ANONYMOUS_WHEN_GTID_MODE_IS_ON.plain());
    }
    let malformed = || errors::MALFORMED_GTID_SPECIFICATION.with([&text]);
    match plain.split_once(':') {
        Some((kind, tag)) if kind.trim().eq_ignore_ascii_case(AUTOMATIC) => {
            let tag = Tag::new(tag.trim().as_bytes()).filter(|tag| !tag.is_none());
            tag.map(Next::Tagged).ok_or_else(malformed)
        }
        _ => plain.parse().map(Next::Named).map_err(|_| malformed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1";

    #[test]
    fn values() {
        assert_eq!(gtid_next("automatic").unwrap(), Next::Automatic);
        let tagged = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:tag:7"
            .parse()
            .unwrap();
        let text = " AAAAAAAA-aaaa-aaaa-aaaa-aaaaaaaaaaaa:Tag:7 ";
        assert_eq!(gtid_next(text).unwrap(), Next::Named(tagged));
        let tag = Tag::new(b"blue").unwrap();
        assert_eq!(gtid_next("Automatic:Blue").unwrap(), Next::Tagged(tag));
        for (text, code) in [
            ("", 1774),
            ("x", 1774),
            ("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:0", 1774),
            ("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1-2", 1774),
            ("Anonymous", 1782),
            ("AUTOMATIC:", 1774),
            ("AUTOMATIC:1", 1774),
            ("AUTOMATIC:tag:1", 1774),
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
        assert!(a.is_named() && a.held().is_some());
        assert_eq!(names.text(), format!("{NAME}#7"));
        let automatic = a.say(Next::Automatic, &names, 7, &|_| false);
        assert_eq!(automatic.unwrap_err().code, 1790);
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

    #[test]
    fn a_tag_has_the_first_number_that_is_free() {
        let names = Arc::new(HeldNames::default());
        let tagged = gtid_next("automatic:t").unwrap();
        let next = |connection| {
            let next = GtidNext::default();
            next.say(tagged, &names, connection, &|_| false).unwrap();
            next
        };
        let (a, b) = (next(7), next(8));
        let first: MysqlGtid = NAME.parse().unwrap();
        let executed = || format!("{NAME}-4:t:1-2:4").parse().unwrap();
        let number = |next: &GtidNext, connection| {
            let origin = next.origin(&names, Taker { first, connection }, &executed);
            match origin.unwrap().gtid {
                SourceGtid::Mysql(gtid) => gtid.number,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((number(&a, 7), number(&b, 8), number(&a, 7)), (3, 5, 3));
        // The first is rolled back: its number is free again.
        a.end();
        assert_eq!(names.text(), format!("{}:t:5#8", first.uuid));
        assert_eq!(number(&a, 7), 3);
        assert_eq!(a.text(), "AUTOMATIC:t");
        assert!(!a.is_given() && a.held().is_none());
        assert_eq!(a.turn().unwrap(), Turn::Runs);
    }
}
